/*
 * object_shares - how much each holder of object files may keep when all together are too much.
 *
 * Purpose: who holds most gives first, so that one app's uploads never push out another's: with n
 * holders each is left at least an n-th of the cap. What protected builds hold is never given: it
 * counts against its holder's share, and what is above that against everybody's.
 *
 * Threads: any. Memory: none.
 */
#ifndef STALLSYM_JOBS_OBJECT_SHARES_H
#define STALLSYM_JOBS_OBJECT_SHARES_H

#include <stddef.h>
#include <stdint.h>

#include "storage/read_symbols.h"

/* What no holder may be above but for its fixed bytes, so that all are within `cap` together, as far as
 * can be; UINT64_MAX: they are. */
uint64_t object_share_of(const struct object_holder_row *rows, size_t count, uint64_t cap);

#endif
