/* Reports by the hour, from the counters of days. */
#include "storage/read_plan.h"
#include "storage/sqlite_figures.h"
#include "storage/sqlite_numbers.h"

enum err sqlite_hours_known(struct sqlite_reader *r, int64_t *ret_day, struct error *err)
{
    return sql_get_values(&r->conn, SQL_HOURS_FROM, NULL, 0, INT32_MIN, ret_day, err);
}

struct wanted {
    int64_t begin;
    size_t count;
    struct hour_row *rows;
};

/* The row's hours that lie among the wanted ones. */
static enum err add_day(void *ctx, const struct figure_row *row, struct error *err)
{
    const struct wanted *w = ctx;
    struct hours h = {0};
    const struct hour_sums day = {row->count, row->weighted, row->stall_ms, row->above_ms};
    if (!hours_add_encoded(&h, row->hours, row->hours_len, &day))
        return error_set(err, ERR_FORMAT, "the hours of a day are damaged");
    for (int i = 0; i < HOURS_A_DAY; i++) {
        const int64_t at = row->day * HOURS_A_DAY + i - w->begin;
        if (at < 0 || at >= (int64_t)w->count)
            continue;
        struct hour_row *to = &w->rows[at];
        to->count += (uint64_t)h.at[i].count;
        to->weighted += (double)h.at[i].weighted / FIGURES_WEIGHT_ONE;
        to->stall_ms += (uint64_t)h.at[i].stall_ms;
        to->weighted_stall_ms += (uint64_t)(h.at[i].stall_ms + h.at[i].above_ms);
    }
    return ERR_OK;
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
    struct wanted wanted = {begin, count, rows};
    days.category = days.state = NULL; /* a cluster, or whole apps */
    rc = sqlite_scan_figures(r, READ_COUNTERS, id ? (int64_t)id : FIGURES_APPS, &days, add_day,
                             &wanted, err);
    if (rc)
        return rc;
    *ret = rows;
    *ret_known = known == INT32_MIN ? INT64_MIN : known * HOURS_A_DAY;
    return ERR_OK;
}
