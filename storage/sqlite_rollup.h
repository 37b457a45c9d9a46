/*
 * sqlite_rollup - sums of clusters that need none of their stacks: the writer's side.
 *
 * Purpose: of each cluster a cube (storage/cube.h); of those with many stacks, their counters added
 * up in three tables of the same form. So a list of one version reads a row a cluster, and a trend
 * of a large cluster some hundred rows, however many stacks there are.
 *
 * Invariants: a report up to `rolled_report` (sequences) is in the roll-ups of the cluster that its
 * stack points to, a later one in none; reads add those (storage/sqlite_rolled.h), which are few:
 * the commit that makes them more than `rollup_lag` rolls them up, which costs less for many at once
 * than for each. A stack of which all reports are later (its id is at least `rolled_stack`) has
 * nothing there that could move. Retention rolls up what it would delete.
 *
 * A cube that is damaged counts as full: it is derived, and reads do without.
 *
 * Threads: the writer's; rows of reports, the last rolled one and cube_sum those of the connection.
 * Memory: the storage's scratch arena.
 */
#ifndef STALLSYM_STORAGE_SQLITE_ROLLUP_H
#define STALLSYM_STORAGE_SQLITE_ROLLUP_H

#include "storage/cube.h"
#include "storage/sqlite_counters.h"
#include "storage/sqlite_rows.h"

/* Without a word in storage_options. */
#define ROLLUP_LAG    8192 /* reports */
#define ROLLUP_STACKS 256  /* of a cluster with tables of its own */

struct rolled_report {
    int64_t cluster_id, app_id, stack_id;
    struct fold_report adds;
};
/* A row of SQL_REPORTS_AFTER. */
void sqlite_rolled_report(sqlite3_stmt *st, struct rolled_report *ret);
void sqlite_rolled_cube_row(const struct fold_report *r, struct cube_row *ret);

/* The last report that is rolled up. */
enum err sqlite_rolled_until(struct sql_conn *c, int64_t *ret, struct error *err);

/* How far roll-ups go: up to that report, of stacks below that one. */
struct rolled_limits {
    int64_t until, first_new;
};
enum err sqlite_rolled_limits(struct sqlite_storage *s, struct rolled_limits *ret,
                              struct error *err);

/* All reports of now; sums of the group are written. */
enum err sqlite_rollup(struct sqlite_storage *s, struct error *err);
/* The same when there are more than `rollup_lag`. */
enum err sqlite_rollup_due(struct sqlite_storage *s, struct error *err);
/* What stands with a cluster beside its tables. */
struct rollup_place {
    int64_t cluster_id;
    int64_t stacks; /* with reports */
    bool rolled;    /* it has the three tables */
    struct cube cube;
};
/* `ret->cube`: cube_done(), also after a failure. */
enum err sqlite_rollup_place(struct sqlite_storage *s, int64_t cluster_id, struct rollup_place *ret,
                             struct error *err);
enum err sqlite_rollup_place_set(struct sqlite_storage *s, const struct rollup_place *p,
                                 struct error *err);
/* Reports of a stack (struct rolled_report) that are among its counters and not in the roll-ups. */
enum err sqlite_rollup_later(struct sqlite_storage *s, const struct rolled_limits *limits,
                             int64_t stack_id, struct row_list *ret, struct error *err);
/* Stacks came to the cluster: if they are many by now it has tables of its own. Here and not with the
 * next report, so that no commit has to fill those of all clusters of an app at once. */
enum err sqlite_rollup_grown(struct sqlite_storage *s, int64_t cluster_id, struct error *err);
/* A report leaves the stacks of one cluster for those of another (0: none). */
enum err sqlite_rollup_move_report(struct sqlite_storage *s, int64_t report_id, int64_t from,
                                   int64_t to, const struct fold_report *adds, struct error *err);

/* cube_sum(build, day, kind, count, weighted, stall_ms, above_ms) in SQL. An SQLite result code. */
int sqlite_cube_functions(sqlite3 *db);

#endif
