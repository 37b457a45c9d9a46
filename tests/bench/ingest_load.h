/*
 * ingest_load - seeded batches for the ingest benches.
 *
 * Purpose: batches of LOAD_REPORTS reports with LOAD_FRAMES frames. A report's cause is drawn by a
 * Zipf law; its stack is one of those the cause is known by, or a new one of the same cause. Frames
 * of the app lie in real functions (load_images.h), between those of the system. Images stand in
 * each batch or are named by an image set.
 *
 * Invariants: same seed and calls, same bytes but for the timestamps. What was made says what a
 * database has to hold of it.
 *
 * Threads: one. Memory: load_make/load_free.
 */
#ifndef STALLSYM_BENCH_INGEST_LOAD_H
#define STALLSYM_BENCH_INGEST_LOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tests/bench/load_images.h"

#define LOAD_REPORTS 20
#define LOAD_FRAMES  40
#define LOAD_SETS    16 /* launches of the app: each its load addresses */
#define LOAD_CAUSES  500
#define LOAD_KNOWN   40 /* stacks a cause is known by */
#define LOAD_POOL    (LOAD_CAUSES * LOAD_KNOWN)

struct load_body {
    char *data;
    size_t len;
};

/* What was acknowledged, all loads together. */
struct load_sum {
    uint64_t reports, stacks, stall_ms;
    bool known[LOAD_POOL];
};

struct load {
    struct load_body *bodies;
    size_t count;
    size_t reports;
    size_t bytes;
};

enum load_list { LOAD_IMAGES_FULL, LOAD_IMAGES_DEFINE, LOAD_IMAGES_NAMED };

struct load_plan {
    const struct load_images *images;
    struct load_sum *sum;
    size_t next_batch; /* number of the next one: ids of reports */
    uint64_t next_new; /* number of the next new stack */
    int64_t now_ms;    /* of the reports; 0: now */
};

/* `known`: share of known stacks, 0 to 1; below 0: every stack of the pool once, in order. */
struct load load_make(struct load_plan *plan, size_t count, enum load_list list, double known);
void load_free(struct load *l);

#endif
