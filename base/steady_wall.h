/*
 * steady_wall - the time of day, for those who drop what is old.
 *
 * Purpose: a clock that was set wrong for a minute must not cost a month of data. A step ahead of what
 * the monotonic clock says is believed when it stood for STEADY_DOUBT_MS; until then the answer goes
 * on from the time before. A step back is believed at once: it drops nothing.
 *
 * Invariants: pure; both clocks are parameters. What the first look says is believed.
 *
 * Threads: one owner. Memory: none.
 */
#ifndef STALLSYM_BASE_STEADY_WALL_H
#define STALLSYM_BASE_STEADY_WALL_H

#include <stdbool.h>
#include <stdint.h>

#define STEADY_STEP_MS  ((int64_t)6 * 3600 * 1000)
#define STEADY_DOUBT_MS ((int64_t)24 * 3600 * 1000)

struct steady_wall {
    bool started;
    bool doubting;
    int64_t wall_ms, mono_ms; /* a moment both were right */
    int64_t doubt_mono_ms;    /* since when */
};

/* `*ret_doubt_begins` (may be NULL): a step ahead was seen in this call. */
int64_t steady_wall(struct steady_wall *s, int64_t wall_ms, int64_t mono_ms,
                    bool *ret_doubt_begins);

#endif
