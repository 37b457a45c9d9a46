/* Reports by the hour, from the counters of days. */
#include "storage/read_plan.h"
#include "storage/sqlite_figures.h"
#include "storage/sqlite_numbers.h"

enum err sqlite_hours_known(struct sqlite_reader *r, int64_t *ret_day, struct error *err)
{
    return sql_get_values(&r->conn, SQL_HOURS_FROM, NULL, 0, INT32_MIN, ret_day, err);
}

/* The row's hours that lie among the wanted ones. */
static bool add_day(sqlite3_stmt *st, int64_t begin, size_t count, struct hour_row *rows)
{
    struct hours h = {0};
    const int64_t first = sqlite3_column_int64(st, 0) * HOURS_A_DAY;
    const struct hour_sums day = {sqlite3_column_int64(st, 1), sqlite3_column_int64(st, 2),
                                  sqlite3_column_int64(st, 3), sqlite3_column_int64(st, 5)};
    const void *data = sqlite3_column_blob(st, 4);
    if (!hours_add_encoded(&h, data, (size_t)sqlite3_column_bytes(st, 4), &day))
        return false;
    for (int i = 0; i < HOURS_A_DAY; i++) {
        const int64_t at = first + i - begin;
        if (at < 0 || at >= (int64_t)count)
            continue;
        rows[at].count += (uint64_t)h.at[i].count;
        rows[at].weighted += (double)h.at[i].weighted / FIGURES_WEIGHT_ONE;
        rows[at].stall_ms += (uint64_t)h.at[i].stall_ms;
        rows[at].weighted_stall_ms += (uint64_t)(h.at[i].stall_ms + h.at[i].above_ms);
    }
    return true;
}

static enum err add_days(struct sqlite_reader *r, uint64_t cluster_id, const struct read_filter *f,
                         int64_t begin, size_t count, struct hour_row *rows, struct error *err)
{
    struct sql_value values[FILTER_VALUES + 1];
    bool row = true;
    enum err rc = sqlite_filter_values(r, f, READ_COUNTERS, values, err);
    if (rc)
        return rc;
    values[FILTER_VALUES] = sql_int((int64_t)cluster_id);
    sqlite3_stmt *st = sql_bind(&r->conn, cluster_id ? SQL_HOURS_CLUSTER : SQL_HOURS_APP, values,
                                FILTER_VALUES + 1, err);
    if (!st)
        return err->code;
    for (;;) {
        rc = sql_step(&r->conn, st, &row, err);
        if (rc || !row)
            return rc;
        if (!add_day(st, begin, count, rows)) {
            sql_end(st);
            return error_set(err, ERR_FORMAT, "the hours of a day are damaged");
        }
    }
}

enum err sqlite_read_hours(struct storage_reader *base, uint64_t cluster_id,
                           const struct read_filter *f, int64_t begin, size_t count,
                           struct arena *arena, struct hour_row **ret, int64_t *ret_known,
                           struct error *err)
{
    struct sqlite_reader *r = sqlite_reader_of(base);
    struct read_filter days = *f;
    int64_t known = 0;
    uint64_t id = 0;
    enum err rc = cluster_id ? sqlite_cluster_living(r, cluster_id, &id, err) : ERR_OK;
    if (!rc)
        rc = sqlite_hours_known(r, &known, err);
    if (rc)
        return rc;
    struct hour_row *rows = arena_array(arena, count, sizeof(*rows));
    if (!rows)
        return error_set(err, ERR_NO_MEMORY, "no memory for hours");
    for (size_t i = 0; i < count; i++)
        rows[i].hour = begin + (int64_t)i;
    days.since_ms = (begin > known * HOURS_A_DAY ? begin : known * HOURS_A_DAY) * HOUR_MS;
    days.until_ms = (begin + (int64_t)count + HOURS_A_DAY - 1) * HOUR_MS;
    rc = add_days(r, id, &days, begin, count, rows, err);
    if (rc)
        return rc;
    *ret = rows;
    *ret_known = known == INT32_MIN ? INT64_MIN : known * HOURS_A_DAY;
    return ERR_OK;
}
