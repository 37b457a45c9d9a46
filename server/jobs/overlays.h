/*
 * overlays - the overlays of all apps, as the database has them.
 *
 * Purpose: what the resolver and the epochs key stacks by beside the rules. Only what changed is
 * read again.
 *
 * Invariants: an answer made by an overlay that has changed meanwhile is refused by the writer
 * (op_resolution.overlay), so being late costs time and nothing else. A damaged overlay counts as an
 * empty one, until the next epoch writes another.
 *
 * Threads: overlays_refresh by one, while nobody asks. Memory: overlays_new/overlays_free; answers
 * live until the next refresh.
 */
#ifndef STALLSYM_JOBS_OVERLAYS_H
#define STALLSYM_JOBS_OVERLAYS_H

#include "server/analysis/overlay.h"
#include "storage/storage_read.h"

struct overlays;

struct overlays *overlays_new(void);
void overlays_free(struct overlays *o);
enum err overlays_refresh(struct overlays *o, struct storage_reader *reader, struct error *err);
/* NULL and version 0: the app has none. */
const struct overlay *overlays_of(const struct overlays *o, uint64_t app_id, uint64_t *ret_version);

#endif
