#include "storage/sqlite_rollup.h"

#include <stdlib.h>

#include "base/clock.h"
#include "storage/sqlite_heft.h"
#include "storage/sqlite_stack_rows.h"

/* --- rows ------------------------------------------------------------------------------------- */

void sqlite_rolled_report(sqlite3_stmt *st, struct rolled_report *ret)
{
    *ret = (struct rolled_report){
        .cluster_id = sqlite3_column_int64(st, 0),
        .app_id = sqlite3_column_int64(st, 1),
        .stack_id = sqlite3_column_int64(st, 10),
        .adds = {.build_id = sqlite3_column_int64(st, 2),
                 .device_id = sqlite3_column_int64(st, 3),
                 .os_id = sqlite3_column_int64(st, 4),
                 .page_id = sqlite3_column_int64(st, 5),
                 .time_ms = sqlite3_column_int64(st, 6),
                 .weighted = sqlite3_column_int64(st, 7),
                 .duration_ms = sql_column_null(st, 8) ? -1 : sqlite3_column_int64(st, 8),
                 .kind = sqlite3_column_int64(st, 9)},
    };
    ret->adds.day = clock_day(ret->adds.time_ms);
    ret->adds.week = figures_week((int32_t)ret->adds.day);
}

void sqlite_rolled_cube_row(const struct fold_report *r, struct cube_row *ret)
{
    *ret = (struct cube_row){.build_id = r->build_id,
                             .day = (int32_t)r->day,
                             .kind = (int32_t)r->kind,
                             .count = 1,
                             .weighted = r->weighted,
                             .stall_ms = figures_stall(r->duration_ms),
                             .above_ms = figures_above(r->weighted, r->duration_ms)};
}

static int by_place(const void *a, const void *b)
{
    const struct rolled_report *x = a;
    const struct rolled_report *y = b;
    const int64_t keys[][2] = {{x->cluster_id, y->cluster_id},
                               {x->adds.build_id, y->adds.build_id},
                               {x->adds.day, y->adds.day},
                               {x->stack_id, y->stack_id}};
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        if (keys[i][0] != keys[i][1])
            return keys[i][0] < keys[i][1] ? -1 : 1;
    }
    return 0;
}

static enum err no_memory(struct error *err)
{
    return error_set(err, ERR_NO_MEMORY, "no memory for roll-ups");
}

struct reports {
    struct rolled_report *items;
    size_t count;
};

static bool fill_report(sqlite3_stmt *st, struct arena *arena, void *row)
{
    (void)arena;
    sqlite_rolled_report(st, row);
    return true;
}

/* Reports of a statement's rows; `st` NULL: *err says why not. */
static enum err reports_of(struct sqlite_storage *s, sqlite3_stmt *st, struct reports *ret,
                           struct error *err)
{
    return sqlite_row_array(&s->conn, st, fill_report, &s->scratch, &ret->items, &ret->count, err);
}

enum err sqlite_rolled_until(struct sql_conn *c, int64_t *ret, struct error *err)
{
    return sql_get(c, SQL_SEQUENCE_GET, 0, ret, err, sql_text("rolled_report"));
}

/* --- what stands with a cluster --------------------------------------------------------------- */

enum err sqlite_rollup_place(struct sqlite_storage *s, int64_t cluster_id, struct rollup_place *ret,
                             struct error *err)
{
    bool row = false;
    *ret = (struct rollup_place){.cluster_id = cluster_id};
    sqlite3_stmt *st = sql_start(&s->conn, SQL_CUBE_GET, err, sql_int(cluster_id));
    enum err rc = st ? sql_step(&s->conn, st, &row, err) : err->code;
    if (rc)
        return rc;
    if (!row)
        return error_set(err, ERR_FORMAT, "cluster %lld has no sums", (long long)cluster_id);
    ret->stacks = sqlite3_column_int64(st, 0);
    ret->rolled = sqlite3_column_int(st, 1);
    const void *cube = sqlite3_column_blob(st, 2);
    const size_t len = (size_t)sqlite3_column_bytes(st, 2);
    bool ok = cube_add_encoded(&ret->cube, cube, len);
    if (!ok && cube_is_damaged(cube, len)) {
        /* It is derived, and reads can do without: as one that is full. */
        cube_done(&ret->cube);
        ret->cube.full = ok = true;
    }
    sql_end(st);
    return ok ? ERR_OK : no_memory(err);
}

enum err sqlite_rollup_place_set(struct sqlite_storage *s, const struct rollup_place *p,
                                 struct error *err)
{
    buf_clear(&s->blob);
    if (!cube_encode(&p->cube, &s->blob))
        return no_memory(err);
    return sql_run(&s->conn, SQL_CUBE_SET, err, sql_int(p->cluster_id), sql_int(p->rolled),
                   sql_blob(s->blob.data, s->blob.len));
}

/* --- tables of a cluster ---------------------------------------------------------------------- */

struct filling {
    struct fold tables;
    int64_t cluster_id;
};

static enum err fill_row(void *ctx, size_t at, const struct fold_row *row, struct error *err)
{
    struct filling *f = ctx;
    (void)at;
    return fold_rolled_row(&f->tables, f->cluster_id, row, err);
}

/* From the counters of all its stacks; nothing is later. */
static enum err fill_tables(struct sqlite_storage *s, int64_t cluster_id, struct error *err)
{
    static const enum fold_table tables[] = {FOLD_COUNTERS, FOLD_DEVICES, FOLD_PAGES};
    struct filling f = {.cluster_id = cluster_id};
    int64_t *ids = NULL;
    size_t count = 0;
    fold_init(&f.tables, &s->scratch);
    enum err rc =
        sqlite_row_array(&s->conn, sql_start(&s->conn, SQL_STACKS_SEEN, err, sql_int(cluster_id)),
                         sqlite_fill_int, &s->scratch, &ids, &count, err);
    const struct sql_ids stacks = {ids, count};
    for (size_t t = 0; t < sizeof(tables) / sizeof(tables[0]) && !rc; t++)
        rc = sqlite_stack_rows(s, tables[t], &stacks, fill_row, &f, err);
    if (!rc)
        rc = sqlite_fold_write(s, &f.tables, err);
    fold_done(&f.tables);
    return rc ? rc : sqlite_heft_cluster(s, cluster_id, err);
}

static bool lacks_tables(const struct sqlite_storage *s, const struct rollup_place *p)
{
    return !p->rolled && p->stacks > (int64_t)s->rollup_stacks;
}

static enum err give_tables(struct sqlite_storage *s, struct rollup_place *p, struct error *err)
{
    p->rolled = true;
    return fill_tables(s, p->cluster_id, err);
}

/* --- rolling up ------------------------------------------------------------------------------- */

/* Reports of one cluster. */
static enum err roll_cluster(struct sqlite_storage *s, const struct rolled_report *reports,
                             size_t count, struct fold *tables, struct error *err)
{
    struct rollup_place p;
    struct cube_row row;
    bool ok = true;
    enum err rc = sqlite_rollup_place(s, reports[0].cluster_id, &p, err);
    for (size_t i = 0; i < count && !rc && ok; i++) {
        sqlite_rolled_cube_row(&reports[i].adds, &row);
        ok = cube_add(&p.cube, &row);
        if (ok && p.rolled)
            rc = fold_rolled(tables, p.cluster_id, &reports[i].adds, err);
        if (!rc && p.rolled && (i == 0 || reports[i].stack_id != reports[i - 1].stack_id))
            rc = sqlite_heft_stack(s, reports[i].stack_id, err);
    }
    if (!rc && !ok)
        rc = no_memory(err);
    if (!rc && lacks_tables(s, &p))
        rc = give_tables(s, &p, err);
    if (!rc)
        rc = sqlite_rollup_place_set(s, &p, err);
    cube_done(&p.cube);
    return rc;
}

enum err sqlite_rollup(struct sqlite_storage *s, struct error *err)
{
    struct reports all = {0};
    struct fold tables;
    int64_t until = 0;
    enum err rc = sqlite_rolled_until(&s->conn, &until, err);
    if (rc || until == s->next_report - 1)
        return rc;
    fold_init(&tables, &s->scratch);
    rc = reports_of(s, sql_start(&s->conn, SQL_REPORTS_AFTER, err, sql_int(until)), &all, err);
    if (!rc && all.count)
        qsort(all.items, all.count, sizeof(*all.items), by_place);
    for (size_t i = 0, end; i < all.count && !rc; i = end) {
        for (end = i + 1; end < all.count && all.items[end].cluster_id == all.items[i].cluster_id;)
            end++;
        rc = roll_cluster(s, &all.items[i], end - i, &tables, err);
    }
    if (!rc)
        rc = sqlite_fold_write(s, &tables, err);
    fold_done(&tables);
    if (!rc)
        rc = sql_run(&s->conn, SQL_SEQUENCE_SET, err, sql_text("rolled_report"),
                     sql_int(s->next_report - 1));
    if (!rc)
        rc = sql_run(&s->conn, SQL_SEQUENCE_SET, err, sql_text("rolled_stack"),
                     sql_int(s->next_stack));
    return rc;
}

enum err sqlite_rollup_due(struct sqlite_storage *s, struct error *err)
{
    int64_t until = 0;
    enum err rc = sqlite_rolled_until(&s->conn, &until, err);
    if (rc || s->next_report - 1 - until <= (int64_t)s->rollup_lag)
        return rc;
    arena_reset(&s->scratch);
    return sqlite_rollup(s, err);
}

/* --- moving ----------------------------------------------------------------------------------- */

enum err sqlite_rolled_limits(struct sqlite_storage *s, struct rolled_limits *ret,
                              struct error *err)
{
    enum err rc =
        sql_get(&s->conn, SQL_SEQUENCE_GET, 0, &ret->first_new, err, sql_text("rolled_stack"));
    return rc ? rc : sqlite_rolled_until(&s->conn, &ret->until, err);
}

enum err sqlite_rollup_later(struct sqlite_storage *s, const struct rolled_limits *limits,
                             int64_t stack_id, struct row_list *ret, struct error *err)
{
    if (limits->until == s->next_report - 1)
        return ERR_OK;
    return sqlite_rows(&s->conn,
                       sql_start(&s->conn, SQL_REPORTS_AFTER_OF_STACK, err, sql_int(limits->until),
                                 sql_int(stack_id)),
                       fill_report, ret, err);
}

enum err sqlite_rollup_grown(struct sqlite_storage *s, int64_t cluster_id, struct error *err)
{
    struct rollup_place p;
    enum err rc = sqlite_rollup_place(s, cluster_id, &p, err);
    bool lacks = !rc && lacks_tables(s, &p);
    cube_done(&p.cube);
    if (!lacks)
        return rc;
    rc = sqlite_rollup(s, err); /* gives them to those that had a report */
    if (!rc)
        rc = sqlite_rollup_place(s, cluster_id, &p, err);
    if (!rc && !p.rolled) {
        rc = give_tables(s, &p, err);
        if (!rc)
            rc = sqlite_rollup_place_set(s, &p, err);
    }
    cube_done(&p.cube);
    return rc;
}

static enum err move_cube(struct sqlite_storage *s, int64_t cluster_id, const struct cube *moved,
                          bool leaves, bool *ret_rolled, struct error *err)
{
    struct rollup_place p;
    enum err rc = sqlite_rollup_place(s, cluster_id, &p, err);
    if (!rc && !(leaves ? cube_take : cube_merge)(&p.cube, moved))
        rc = no_memory(err);
    if (!rc)
        rc = sqlite_rollup_place_set(s, &p, err);
    *ret_rolled = p.rolled;
    cube_done(&p.cube);
    return rc;
}

enum err sqlite_rollup_move_report(struct sqlite_storage *s, int64_t report_id, int64_t from,
                                   int64_t to, const struct fold_report *adds, struct error *err)
{
    struct cube moved = {0};
    struct cube_row row;
    const int64_t places[2] = {from, to};
    int64_t until = 0;
    enum err rc = sqlite_rolled_until(&s->conn, &until, err);
    if (rc || report_id > until)
        return rc;
    sqlite_rolled_cube_row(adds, &row);
    if (!cube_add(&moved, &row))
        rc = no_memory(err);
    for (int i = 0; i < 2 && !rc; i++) {
        struct fold fold;
        bool rolled = false;
        if (places[i] == 0)
            continue;
        rc = move_cube(s, places[i], &moved, i == 0, &rolled, err);
        if (rc || !rolled)
            continue;
        fold_init(&fold, &s->scratch);
        rc = fold_rolled(&fold, places[i], adds, err);
        if (!rc)
            rc = i == 0 ? sqlite_fold_take(s, &fold, err) : sqlite_fold_write(s, &fold, err);
        fold_done(&fold);
    }
    cube_done(&moved);
    return rc;
}

/* --- in SQL ----------------------------------------------------------------------------------- */

static void sum_step(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
    struct cube *c = sqlite3_aggregate_context(ctx, sizeof(*c));
    if (!c || argc != 7) {
        sqlite3_result_error_nomem(ctx);
        return;
    }
    const struct cube_row row = {.build_id = sqlite3_value_int64(argv[0]),
                                 .day = sqlite3_value_int(argv[1]),
                                 .kind = sqlite3_value_int(argv[2]),
                                 .count = sqlite3_value_int64(argv[3]),
                                 .weighted = sqlite3_value_int64(argv[4]),
                                 .stall_ms = sqlite3_value_int64(argv[5]),
                                 .above_ms = sqlite3_value_int64(argv[6])};
    if (!cube_add(c, &row))
        sqlite3_result_error_nomem(ctx);
}

static void sum_end(sqlite3_context *ctx)
{
    static const struct cube none;
    struct cube *c = sqlite3_aggregate_context(ctx, 0);
    struct buf out;
    buf_init(&out, CUBE_BYTES);
    if (cube_encode(c ? c : &none, &out))
        sqlite3_result_blob(ctx, out.len ? out.data : "", (int)out.len, SQLITE_TRANSIENT);
    else
        sqlite3_result_error_nomem(ctx);
    buf_done(&out);
    if (c)
        cube_done(c);
}

int sqlite_cube_functions(sqlite3 *db)
{
    return sqlite3_create_function_v2(db, "cube_sum", 7,
                                      SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_DIRECTONLY, NULL,
                                      NULL, sum_step, sum_end, NULL);
}
