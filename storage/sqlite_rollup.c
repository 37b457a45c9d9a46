#include "storage/sqlite_rollup.h"

#include <stdlib.h>

#include "base/clock.h"
#include "storage/sqlite_heft.h"

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

struct place {
    int64_t cluster_id;
    int64_t stacks;
    bool rolled; /* it has the three tables */
    struct cube cube;
};

static enum err place_get(struct sqlite_storage *s, int64_t cluster_id, struct place *ret,
                          struct error *err)
{
    bool row = false;
    *ret = (struct place){.cluster_id = cluster_id};
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

static enum err place_set(struct sqlite_storage *s, const struct place *p, struct error *err)
{
    buf_clear(&s->blob);
    if (!cube_encode(&p->cube, &s->blob))
        return no_memory(err);
    return sql_run(&s->conn, SQL_CUBE_SET, err, sql_int(p->cluster_id), sql_int(p->rolled),
                   sql_blob(s->blob.data, s->blob.len));
}

#define TABLES 3

/* One statement for each of the three tables. */
static enum err run_tables(struct sqlite_storage *s, const enum sql_query queries[TABLES],
                           int64_t cluster_id, int64_t stack_id, struct error *err)
{
    const struct sql_value values[] = {sql_int(cluster_id), sql_int(stack_id)};
    enum err rc = ERR_OK;
    for (int i = 0; i < TABLES && !rc; i++)
        rc = sql_run_values(&s->conn, queries[i], values, 2, err);
    return rc;
}

static enum err fill_tables(struct sqlite_storage *s, int64_t cluster_id, struct error *err)
{
    static const enum sql_query fill[] = {SQL_ROLLED_COUNTERS_FILL, SQL_ROLLED_DEVICES_FILL,
                                          SQL_ROLLED_PAGES_FILL};
    return run_tables(s, fill, cluster_id, 0, err);
}

/* --- rolling up ------------------------------------------------------------------------------- */

/* Reports of one cluster. */
static enum err roll_cluster(struct sqlite_storage *s, const struct rolled_report *reports,
                             size_t count, struct fold *tables, struct error *err)
{
    struct place p;
    struct cube_row row;
    bool ok = true;
    enum err rc = place_get(s, reports[0].cluster_id, &p, err);
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
    if (!rc && !p.rolled && p.stacks > (int64_t)s->rollup_stacks) {
        p.rolled = true;
        rc = fill_tables(s, p.cluster_id, err);
        if (!rc)
            rc = sqlite_heft_cluster(s, p.cluster_id, err);
    }
    if (!rc)
        rc = place_set(s, &p, err);
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

void rollup_move_init(struct rollup_move *m, int64_t from, int64_t to, struct arena *arena)
{
    *m = (struct rollup_move){.from = from, .to = to};
    row_list_init(&m->stacks, sizeof(int64_t), arena);
    row_list_init(&m->later, sizeof(struct rolled_report), arena);
}

void rollup_move_done(struct rollup_move *m)
{
    cube_done(&m->cube);
}

enum err sqlite_rollup_gather(struct sqlite_storage *s, struct rollup_move *m,
                              const struct rolled_limits *limits, int64_t stack_id,
                              struct error *err)
{
    struct cube_row add;
    const size_t before = m->later.count;
    int64_t *stack = row_list_add(&m->stacks, err);
    if (!stack)
        return ERR_NO_MEMORY;
    *stack = stack_id;
    sqlite3_stmt *st = sql_start(&s->conn, SQL_REPORTS_AFTER_OF_STACK, err, sql_int(limits->until),
                                 sql_int(stack_id));
    enum err rc = sqlite_rows(&s->conn, st, fill_report, &m->later, err);
    const struct rolled_report *later = m->later.items;
    for (size_t i = before; i < m->later.count && !rc; i++) {
        sqlite_rolled_cube_row(&later[i].adds, &add);
        cube_negate(&add);
        if (!cube_add(&m->cube, &add))
            rc = no_memory(err);
    }
    return rc;
}

/* Later reports of the stacks as they would be in the tables of a cluster. */
static enum err fold_later(struct fold *f, int64_t cluster_id, const struct row_list *later,
                           struct error *err)
{
    const struct rolled_report *items = later->items;
    enum err rc = ERR_OK;
    for (size_t i = 0; i < later->count && !rc; i++)
        rc = fold_rolled(f, cluster_id, &items[i].adds, err);
    return rc;
}

/* The stacks' counters know nothing of later: their later reports are added first and leave with
 * them, or come with them and are taken away again. */
static enum err move_tables(struct sqlite_storage *s, const struct rollup_move *m,
                            int64_t cluster_id, bool leaves, struct error *err)
{
    static const enum sql_query join[] = {SQL_ROLLED_COUNTERS_JOIN, SQL_ROLLED_DEVICES_JOIN,
                                          SQL_ROLLED_PAGES_JOIN};
    static const enum sql_query leave[] = {SQL_ROLLED_COUNTERS_LEAVE, SQL_ROLLED_DEVICES_LEAVE,
                                           SQL_ROLLED_PAGES_LEAVE};
    static const enum sql_query drop[] = {SQL_ROLLED_COUNTERS_DROP, SQL_ROLLED_DEVICES_DROP,
                                          SQL_ROLLED_PAGES_DROP};
    const int64_t *stacks = m->stacks.items;
    struct fold fold;
    fold_init(&fold, &s->scratch);
    enum err rc = fold_later(&fold, cluster_id, &m->later, err);
    if (!rc && leaves)
        rc = sqlite_fold_write(s, &fold, err);
    for (size_t i = 0; i < m->stacks.count && !rc; i++)
        rc = run_tables(s, leaves ? leave : join, cluster_id, stacks[i], err);
    if (!rc && leaves)
        rc = run_tables(s, drop, cluster_id, 0, err);
    if (!rc && !leaves)
        rc = sqlite_fold_take(s, &fold, err);
    fold_done(&fold);
    return rc;
}

static enum err move_cube(struct sqlite_storage *s, int64_t cluster_id, const struct cube *moved,
                          bool leaves, bool *ret_rolled, struct error *err)
{
    struct place p;
    enum err rc = place_get(s, cluster_id, &p, err);
    if (!rc && !(leaves ? cube_take : cube_merge)(&p.cube, moved))
        rc = no_memory(err);
    if (!rc)
        rc = place_set(s, &p, err);
    *ret_rolled = p.rolled;
    cube_done(&p.cube);
    return rc;
}

enum err sqlite_rollup_move(struct sqlite_storage *s, const struct rollup_move *m,
                            struct error *err)
{
    const int64_t places[2] = {m->from, m->to};
    const int64_t *stacks = m->stacks.items;
    enum err rc = ERR_OK;
    if (m->stacks.count == 0)
        return ERR_OK;
    bool rolled = false;
    for (int i = 0; i < 2 && !rc; i++) {
        if (places[i] == 0)
            continue;
        rc = move_cube(s, places[i], &m->cube, i == 0, &rolled, err);
        if (!rc && rolled)
            rc = move_tables(s, m, places[i], i == 0, err);
    }
    /* Without tables hefts are made when it gets them. */
    for (size_t i = 0; i < m->stacks.count && rolled && !rc; i++)
        rc = sqlite_heft_stack(s, stacks[i], err);
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
