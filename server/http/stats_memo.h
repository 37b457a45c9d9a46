/*
 * stats_memo - what /v1/stats counted over all stacks, kept for a while.
 *
 * Purpose: with many stacks that counting takes seconds, and dashboards ask again and again. An
 * answer may be told for STATS_FRESH_MS; then the first who asks still gets it and is told to have
 * it counted anew (STATS_DUE), for the next one; after STATS_KEPT_MS nobody gets it any more.
 *
 * Invariants: at most STATS_ENTRIES_MAX are kept, the oldest goes. When a new count does not come,
 * another one is due after STATS_FRESH_MS. Of several counts the one that began last stands,
 * whichever is ready first. One is counted at a time, for whatever app: nobody else is told to until
 * stats_memo_counted(), or for STATS_TURN_MS.
 *
 * Threads: any. Memory: stats_memo_new/stats_memo_free.
 */
#ifndef STALLSYM_HTTP_STATS_MEMO_H
#define STALLSYM_HTTP_STATS_MEMO_H

#include <stdint.h>

#include "base/arena.h"

#define STATS_FRESH_MS    60000
#define STATS_KEPT_MS     900000
#define STATS_TURN_MS     15000
#define STATS_ENTRIES_MAX 64

enum stats_age { STATS_NONE, STATS_FRESH, STATS_DUE };

struct stats_memo;

struct stats_memo *stats_memo_new(void);
void stats_memo_free(struct stats_memo *m);

/* Of an app, NULL: of all. STATS_DUE: the caller has it counted. *ret is a copy in the arena, untouched for STATS_NONE. */
enum stats_age stats_memo_get(struct stats_memo *m, const char *bundle_id, int64_t mono_ms,
                              struct arena *arena, const char **ret);
/* What STATS_DUE asked for is over, whatever came of it. */
void stats_memo_counted(struct stats_memo *m);
/* `mono_ms`: when it began to be counted. Without memory it is not kept. */
void stats_memo_put(struct stats_memo *m, const char *bundle_id, int64_t mono_ms, const char *text);
/* By a count that began then there is nothing worth keeping any more. */
void stats_memo_forget(struct stats_memo *m, const char *bundle_id, int64_t mono_ms);

#endif
