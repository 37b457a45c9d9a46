/*
 * sqlite_seen - the first and the last report of a cluster that stacks leave.
 *
 * Purpose: when the stack goes that a cluster was first (or last) seen by, another one of its stacks
 * says when that was. A symbol file that comes late empties a cluster in the order in which its
 * stacks came: to look at all that are left each time takes a time that grows with their square. A
 * look therefore remembers the SEEN_ITEMS earliest (latest) stacks, and the next ones are taken from
 * there as long as they still are where they were.
 *
 * Invariants: what is remembered is checked against the stack's row before it is answered; to be told of
 * stacks that leave (sqlite_seen_left()) saves the looks at their rows. A stack that comes to the
 * cluster is told by sqlite_seen_stack(). Of reports that come to its stacks
 * (sqlite_seen_reports()) no stack is told: nothing behind them is answered without another look.
 * Any other change of stacks, and whatever is rolled back, is followed by sqlite_seen_forget().
 *
 * Threads: the writer's. Memory: of clusters that stacks left, SEEN_LISTS lists of each kind at most;
 * sqlite_seen_forget().
 */
#ifndef STALLSYM_STORAGE_SQLITE_SEEN_H
#define STALLSYM_STORAGE_SQLITE_SEEN_H

#include "storage/sqlite_storage.h"

/* Of the stacks with reports that point to the cluster now; INT64_MAX (INT64_MIN): there is none. */
enum err sqlite_seen_first(struct sqlite_storage *s, int64_t cluster_id, int64_t *ret,
                           struct error *err);
enum err sqlite_seen_last(struct sqlite_storage *s, int64_t cluster_id, int64_t *ret,
                          struct error *err);
/* A stack with reports has come. */
void sqlite_seen_stack(struct sqlite_storage *s, int64_t cluster_id, int64_t stack_id,
                       int64_t first_ms, int64_t last_ms);
/* A stack with reports, that was seen first and last at these times, has left. */
void sqlite_seen_left(struct sqlite_storage *s, int64_t cluster_id, int64_t stack_id,
                      int64_t first_ms, int64_t last_ms);
/* Reports have come, the first and the last of them of these times. */
void sqlite_seen_reports(struct sqlite_storage *s, int64_t cluster_id, int64_t first_ms,
                         int64_t last_ms);
void sqlite_seen_forget(struct sqlite_storage *s);

#endif
