/*
 * symbol_owner - whose a UUID is, among apps that do not trust each other.
 *
 * Purpose: a token bound to an app uploads symbols for that app. UUIDs can be read in every shipped
 * binary, so what another app's token sends for one must not be used for it: the first upload of a
 * UUID says whose it is, later ones of tokens bound to other apps are foreign. Tokens bound to no app
 * are the installation's own, never foreign.
 *
 * Threads: any. Memory: borrowed from the rows.
 */
#ifndef STALLSYM_JOBS_SYMBOL_OWNER_H
#define STALLSYM_JOBS_SYMBOL_OWNER_H

#include <stdbool.h>
#include <stddef.h>

#include "storage/storage_read.h"

/* Bundle id of the first of a UUID's objects, "" when it was sent for no app; NULL: none is there. */
const char *symbol_owner_of(const struct slice_row *rows, size_t count);
/* `bound`: sent with a token bound to `bundle_id`. */
bool symbol_is_foreign(const char *owner, bool bound, const char *bundle_id);

#endif
