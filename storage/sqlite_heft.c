#include "storage/sqlite_heft.h"

#include <stdlib.h>

#include "storage/figures.h"
#include "storage/sqlite_rolled.h"

#define EXACT 16 /* reports; above, a step is a power of two */

int64_t sqlite_heft_of(int64_t weighted)
{
    int64_t reports = weighted / FIGURES_WEIGHT_ONE;
    int64_t heft = EXACT - 1;
    if (weighted <= FIGURES_WEIGHT_ONE)
        return 0;
    if (reports < EXACT)
        return reports;
    for (reports /= EXACT; reports; reports /= 2)
        heft++;
    return heft;
}

static void heft_function(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
    (void)argc;
    sqlite3_result_int64(ctx, sqlite_heft_of(sqlite3_value_int64(argv[0])));
}

int sqlite_heft_functions(sqlite3 *db)
{
    return sqlite3_create_function_v2(db, "stack_heft", 1,
                                      SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_DIRECTONLY, NULL,
                                      heft_function, NULL, NULL, NULL);
}

enum err sqlite_heft_stack(struct sqlite_storage *s, int64_t stack_id, struct error *err)
{
    return sql_run(&s->conn, SQL_STACK_HEFT, err, sql_int(stack_id));
}

enum err sqlite_heft_stacks(struct sqlite_storage *s, const struct sql_ids *stacks,
                            struct error *err)
{
    struct sql_given given = {.list = *stacks};
    return sqlite_write_ids(&s->conn, SQL_STACKS_HEFT_OF, &given, sql_null(), err);
}

enum err sqlite_heft_cluster(struct sqlite_storage *s, int64_t cluster_id, struct error *err)
{
    return sql_run(&s->conn, SQL_STACKS_HEFT, err, sql_int(cluster_id));
}

/* --- reading -------------------------------------------------------------------------------- */

struct weighed {
    int64_t id, weighted;
};

static int by_id(const void *a, const void *b)
{
    const struct weighed *x = a;
    const struct weighed *y = b;
    return (x->id > y->id) - (x->id < y->id);
}

static int by_weight(const void *a, const void *b)
{
    const struct weighed *x = a;
    const struct weighed *y = b;
    if (x->weighted != y->weighted)
        return x->weighted > y->weighted ? -1 : 1;
    return by_id(a, b);
}

static bool fill(sqlite3_stmt *st, struct arena *arena, void *row)
{
    (void)arena;
    *(struct weighed *)row =
        (struct weighed){sqlite3_column_int64(st, 0), sqlite3_column_int64(st, 1)};
    return true;
}

/* Stacks by their hefts: all from the step on in which the last of the heaviest is; when there are
 * not so many, light ones, too. */
static enum err by_heft(struct sqlite_reader *r, int64_t cluster_id, size_t limit,
                        struct row_list *rows, struct error *err)
{
    const struct sql_value id = sql_int(cluster_id);
    int64_t floor = 0;
    enum err rc = sql_get(&r->conn, SQL_HEFT_FLOOR, 0, &floor, err, id,
                          sql_int(limit ? (int64_t)limit - 1 : 0));
    if (!rc)
        rc = sqlite_rows(&r->conn, sql_start(&r->conn, SQL_STACKS_HEAVY, err, id, sql_int(floor)),
                         fill, rows, err);
    if (!rc && floor == 0)
        rc = sqlite_rows(&r->conn,
                         sql_start(&r->conn, SQL_STACKS_LIGHT, err, id, sql_int((int64_t)limit)),
                         fill, rows, err);
    return rc;
}

static enum err with_later(struct sqlite_reader *r, int64_t cluster_id, struct row_list *rows,
                           struct error *err)
{
    const int64_t *ids;
    size_t count = 0;
    enum err rc = sqlite_later_stacks(r, cluster_id, rows->arena, &ids, &count, err);
    for (size_t i = 0; i < count && !rc; i++)
        rc = sqlite_rows(&r->conn, sql_start(&r->conn, SQL_STACK_WEIGHS, err, sql_int(ids[i])),
                         fill, rows, err);
    return rc;
}

enum err sqlite_heaviest(struct sqlite_reader *r, int64_t cluster_id, size_t limit,
                         struct arena *arena, int64_t **ret_ids, size_t *ret_count,
                         struct error *err)
{
    struct row_list rows;
    size_t kept = 0;
    row_list_init(&rows, sizeof(struct weighed), arena);
    enum err rc = by_heft(r, cluster_id, limit, &rows, err);
    if (!rc)
        rc = with_later(r, cluster_id, &rows, err);
    struct weighed *items = rows.items;
    int64_t *ids = rc ? NULL : arena_array(arena, limit + 1, sizeof(*ids));
    if (!rc && !ids)
        rc = error_set(err, ERR_NO_MEMORY, "no memory for an answer");
    if (rc)
        return rc;
    if (rows.count)
        qsort(items, rows.count, sizeof(*items), by_weight);
    /* A stack may be there twice, then one after the other. */
    for (size_t i = 0; i < rows.count && kept < limit; i++) {
        if (kept == 0 || ids[kept - 1] != items[i].id)
            ids[kept++] = items[i].id;
    }
    *ret_ids = ids;
    *ret_count = kept;
    return ERR_OK;
}
