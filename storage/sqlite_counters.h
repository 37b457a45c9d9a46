/*
 * sqlite_counters - everything that is summed, folded and written once a group.
 *
 * Purpose: a batch adds its reports to a fold; equal rows (stack, build, kind, day; by week stack,
 * device, OS and stack, page, build; the sums of a stack and of its cluster; the same of the app)
 * meet there. The folds of the ops that succeeded meet in the group's, which is written before
 * anything that reads sums (every op but a batch) and before the commit.
 *
 * Invariants: cluster = sum of its stacks = sum of their counters, because all of them grow by the
 * same fold. A fold is bounded by the reports of its group.
 *
 * Threads: the writer's. Memory: entries in the arena given, histograms freed by fold_done().
 */
#ifndef STALLSYM_STORAGE_SQLITE_COUNTERS_H
#define STALLSYM_STORAGE_SQLITE_COUNTERS_H

#include "storage/figures.h"
#include "storage/hours.h"
#include "storage/sqlite_storage.h"

enum fold_table {
    FOLD_COUNTERS,
    FOLD_DEVICES,
    FOLD_PAGES,
    FOLD_STACK,
    FOLD_CLUSTER,
    /* As the first three, by cluster: sqlite_rollup.h. */
    FOLD_ROLLED_COUNTERS,
    FOLD_ROLLED_DEVICES,
    FOLD_ROLLED_PAGES,
};

struct fold_entry;

struct fold {
    struct arena *arena;
    struct fold_entry **slots;
    size_t slot_count; /* power of two */
    struct fold_entry *first, *last;
    size_t count;
    bool moved; /* its reports counted elsewhere before: they may be in roll-ups already */
};

/* What one report adds. */
struct fold_report {
    int64_t day, week, build_id, kind, device_id, os_id, page_id;
    int64_t time_ms;
    int64_t weighted;
    int64_t duration_ms;
};

/* A row of one of the first three tables, without whose it is. */
struct fold_row {
    enum fold_table table;
    int64_t key[3]; /* day, build, kind; week, device, OS; week, page, build */
    struct hour_sums sums;
    const void *hist, *hours; /* encoded; hours: of FOLD_COUNTERS */
    size_t hist_len, hours_len;
};

void fold_init(struct fold *f, struct arena *arena);
void fold_done(struct fold *f);
/* Adds to the three counters and the sums of a row of stacks. */
enum err fold_stack(struct fold *f, int64_t stack_id, const struct fold_report *r,
                    struct error *err);
enum err fold_cluster(struct fold *f, int64_t cluster_id, const struct fold_report *r,
                      struct error *err);
/* All that a report adds where its stack and the stack's cluster (0: none) are concerned: what a
 * batch adds, and what moves when another stack comes to stand for the report. */
enum err fold_stack_and_cluster(struct fold *f, int64_t stack_id, int64_t cluster_id,
                                const struct fold_report *r, struct error *err);

/* Adds to the three tables of roll-ups. */
enum err fold_rolled(struct fold *f, int64_t cluster_id, const struct fold_report *r,
                     struct error *err);
/* Adds a row of a stack's to them. */
enum err fold_rolled_row(struct fold *f, int64_t cluster_id, const struct fold_row *row,
                         struct error *err);

/* Adds an op's fold to the group's. After a failure the group has to be given up. */
enum err sqlite_fold_keep(struct sqlite_storage *s, const struct fold *f, struct error *err);
/* Writes and empties the group's fold. After a failure the group has to be given up. */
enum err sqlite_fold_flush(struct sqlite_storage *s, struct error *err);
/* Writes a fold that is not the group's. */
enum err sqlite_fold_write(struct sqlite_storage *s, const struct fold *f, struct error *err);
/* Takes away what is in `f`. The reports whose sums these are point to other stacks already; the
 * group's fold is empty. */
enum err sqlite_fold_take(struct sqlite_storage *s, const struct fold *f, struct error *err);
void sqlite_fold_forget(struct sqlite_storage *s);

#endif
