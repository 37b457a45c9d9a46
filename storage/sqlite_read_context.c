/* What the newest reports tell of CPU, memory, pages and paths. */
#include "storage/context.h"
#include "storage/sqlite_numbers.h"
#include "storage/sqlite_split.h"

struct texts {
    struct sqlite_reader *r;
    enum breakdown_by by, by2;
    struct arena *arena;
};

static enum err fact_of(struct texts *t, int64_t report_id, struct context_fact *fact,
                        struct error *err)
{
    struct figure_row row;
    bool found = false;
    bool failed = false;
    sqlite3_stmt *st = sql_start(&t->r->conn, SQL_FIGURES_REPORT, err, sql_int(report_id));
    enum err rc = st ? sql_step(&t->r->conn, st, &found, err) : err->code;
    if (rc || !found)
        return rc ? rc : error_set(err, ERR_FORMAT, "a report is not there");
    sqlite_figure_row(st, true, &row);
    fact->time_ms = row.time_ms;
    fact->cpu = row.cpu;
    fact->memory = row.memory;
    fact->page = sql_column_text(st, 13, t->arena, &failed);
    fact->path = sql_column_text(st, 14, t->arena, &failed);
    const enum breakdown_by dimensions[] = {t->by, t->by2};
    const char **const values[] = {&fact->value, &fact->value2};
    for (int i = 0; i < 2 && !rc && !failed; i++) {
        if (dimensions[i] == BY_CATEGORY)
            *values[i] = sql_column_text(st, 12, t->arena, &failed);
        else
            rc = split_text(t->r, split_key(&row, dimensions[i]), dimensions[i], t->arena,
                            values[i], err);
    }
    sql_end(st);
    return failed ? error_set(err, ERR_NO_MEMORY, "no memory for an answer") : rc;
}

enum err sqlite_read_context(struct storage_reader *base, uint64_t cluster_id,
                             const struct read_filter *f, enum breakdown_by by,
                             enum breakdown_by by2, struct arena *arena, struct context *ret,
                             struct error *err)
{
    struct sqlite_reader *r = sqlite_reader_of(base);
    struct texts t = {r, by, by2, arena};
    struct row_list ids;
    int64_t newest = 0;
    uint64_t id = 0;
    row_list_init(&ids, sizeof(int64_t), arena);
    enum err rc = cluster_id ? sqlite_cluster_living(r, cluster_id, &id, err) : ERR_OK;
    if (!rc)
        rc = sql_get_values(&r->conn, SQL_REPORT_NEWEST, NULL, 0, 0, &newest, err);
    if (!rc)
        rc = sqlite_report_ids(r, id, f, newest - CONTEXT_SPAN + 1, INT64_MAX, CONTEXT_REPORTS,
                               &ids, err);
    if (rc)
        return rc;
    struct context_fact *facts = arena_array(arena, ids.count + 1, sizeof(*facts));
    if (!facts)
        return error_set(err, ERR_NO_MEMORY, "no memory for an answer");
    for (size_t i = 0; i < ids.count && !rc; i++)
        rc = fact_of(&t, ((const int64_t *)ids.items)[i], &facts[i], err);
    return rc ? rc : context_make(facts, ids.count, by != BY_NONE, arena, ret, err);
}
