/* What alerts are made of, and the outbox. */
#include <stdlib.h>
#include <string.h>

#include "storage/read_plan.h"
#include "storage/sqlite_alerts.h"
#include "storage/sqlite_read.h"

#define MINUTE_MS    60000
#define CLUSTER_WORK 16 /* of a look at a cluster, in reports read */

static enum err no_memory(struct error *err)
{
    return error_set(err, ERR_NO_MEMORY, "no memory for alerts");
}

enum err sqlite_read_alert_settings(struct storage_reader *base, struct arena *arena,
                                    struct alert_settings *ret, struct error *err)
{
    struct sqlite_reader *r = sqlite_reader_of(base);
    bool row = false;
    bool failed = false;
    struct alert_settings out = {0};
    sqlite3_stmt *st = sql_bind(&r->conn, SQL_ALERT_RULES_GET, NULL, 0, err);
    enum err rc = st ? sql_step(&r->conn, st, &row, err) : err->code;
    if (rc)
        return rc;
    if (row) {
        out.revision = sqlite3_column_int64(st, 0);
        out.document = sql_column_text(st, 1, arena, &failed);
        out.since_ms = sqlite3_column_int64(st, 2);
        out.updated_ms = sqlite3_column_int64(st, 3);
        out.who = sql_column_text(st, 4, arena, &failed);
        sql_end(st);
    }
    if (failed)
        return no_memory(err);
    *ret = out;
    return ERR_OK;
}

/* The eleven columns of a cluster, from `first` on. */
static bool fill_cluster_at(sqlite3_stmt *st, int first, struct arena *arena,
                            struct alert_cluster *c)
{
    bool failed = false;
    c->id = (uint64_t)sqlite3_column_int64(st, first);
    const char **const texts[] = {&c->bundle_id, &c->title,    &c->function, &c->file,
                                  &c->image,     &c->category, &c->owner};
    for (int i = 0; i < 7; i++)
        *texts[i] = sql_column_text(st, first + 1 + i, arena, &failed);
    c->count = (uint64_t)sqlite3_column_int64(st, first + 8);
    c->first_seen_ms = sqlite3_column_int64(st, first + 9);
    c->created_ms = sqlite3_column_int64(st, first + 10);
    return !failed;
}

static bool fill_cluster(sqlite3_stmt *st, struct arena *arena, void *row)
{
    return fill_cluster_at(st, 0, arena, row);
}

enum err sqlite_read_alert_cluster(struct storage_reader *base, uint64_t id, struct arena *arena,
                                   struct alert_cluster *ret, struct error *err)
{
    struct sqlite_reader *r = sqlite_reader_of(base);
    struct row_list rows;
    row_list_init(&rows, sizeof(*ret), arena);
    enum err rc =
        sqlite_rows(&r->conn, sql_start(&r->conn, SQL_ALERT_CLUSTER, err, sql_int((int64_t)id)),
                    fill_cluster, &rows, err);
    if (rc)
        return rc;
    if (!rows.count)
        return error_set(err, ERR_NOT_FOUND, "there is no cluster %llu", (unsigned long long)id);
    *ret = *(struct alert_cluster *)rows.items;
    return ERR_OK;
}

static bool fill_regression(sqlite3_stmt *st, struct arena *arena, void *row)
{
    struct alert_regression *g = row;
    bool failed = false;
    g->change_id = (uint64_t)sqlite3_column_int64(st, 0);
    g->at_ms = sqlite3_column_int64(st, 1);
    g->version = sql_column_text(st, 2, arena, &failed);
    g->build = sql_column_text(st, 3, arena, &failed);
    g->resolved_in = sql_column_text(st, 4, arena, &failed);
    g->resolved_build = sql_column_text(st, 5, arena, &failed);
    g->stands = sqlite3_column_int(st, 17);
    return fill_cluster_at(st, 6, arena, &g->cluster) && !failed;
}

enum err sqlite_read_alert_regressions(struct storage_reader *base, uint64_t after_id, size_t limit,
                                       struct arena *arena, struct alert_regression **ret,
                                       size_t *ret_count, struct error *err)
{
    struct sqlite_reader *r = sqlite_reader_of(base);
    int64_t after = (int64_t)after_id;
    enum err rc = ERR_OK;
    if (!after)
        rc = sql_get(&r->conn, SQL_SEQUENCE_GET, 0, &after, err, sql_text("alert_regressions"));
    if (rc)
        return rc;
    sqlite3_stmt *st =
        sql_start(&r->conn, SQL_ALERT_REGRESSIONS, err, sql_int(after), sql_int((int64_t)limit));
    return sqlite_row_array(&r->conn, st, fill_regression, arena, ret, ret_count, err);
}

enum err sqlite_read_alert_new_clusters(struct storage_reader *base, int64_t since_ms,
                                        uint64_t after_id, uint64_t min_count, size_t limit,
                                        struct arena *arena, struct alert_cluster **ret,
                                        size_t *ret_count, struct error *err)
{
    struct sqlite_reader *r = sqlite_reader_of(base);
    sqlite3_stmt *st =
        sql_start(&r->conn, SQL_ALERT_NEW_CLUSTERS, err, sql_int(since_ms),
                  sql_int((int64_t)min_count), sql_int((int64_t)limit), sql_int((int64_t)after_id));
    return sqlite_row_array(&r->conn, st, fill_cluster, arena, ret, ret_count, err);
}

/* The first report received at that time or later: ids are in the order of receipt. */
static enum err first_received(struct sqlite_reader *r, int64_t time_ms, int64_t max_id,
                               int64_t *ret, struct error *err)
{
    int64_t from = 1;
    int64_t to = max_id + 1;
    while (from < to) {
        int64_t mid = from + (to - from) / 2;
        int64_t at = 0;
        enum err rc = sql_get(&r->conn, SQL_REPORT_RECEIVED, INT64_MAX, &at, err, sql_int(mid));
        if (rc)
            return rc;
        if (at < time_ms)
            from = mid + 1;
        else
            to = mid;
    }
    *ret = from;
    return ERR_OK;
}

static bool fill_minute(sqlite3_stmt *st, struct arena *arena, void *row)
{
    (void)arena;
    *(struct alert_minute *)row =
        (struct alert_minute){(uint64_t)sqlite3_column_int64(st, 0), sqlite3_column_int64(st, 1),
                              (uint64_t)sqlite3_column_int64(st, 2)};
    return true;
}

/* A cluster that was seen of late. */
struct active {
    uint64_t id;
    int64_t app_id;
    uint64_t stacks;
};

static bool fill_active(sqlite3_stmt *st, struct arena *arena, void *row)
{
    (void)arena;
    *(struct active *)row =
        (struct active){(uint64_t)sqlite3_column_int64(st, 0), sqlite3_column_int64(st, 1),
                        (uint64_t)sqlite3_column_int64(st, 2)};
    return true;
}

static size_t count_apps(const struct active *rows, size_t count)
{
    size_t apps = 0;
    for (size_t i = 0; i < count; i++)
        apps += i == 0 || rows[i].app_id != rows[i - 1].app_id;
    return apps;
}

/* Reports [first, end) of the window that begins at `begin_ms`. */
struct earlier {
    int64_t first, end, begin_ms, end_ms;
    struct arena *arena;
    struct alert_minute *items;
    size_t count, room;
};

static enum err add_cluster(struct sqlite_reader *r, struct earlier *e, const struct active *c,
                            uint64_t max, uint64_t *ret_read, struct error *err)
{
    struct alert_minute *rows = NULL;
    size_t count = 0;
    *ret_read = 0;
    sqlite3_stmt *st =
        sql_start(&r->conn, SQL_ALERT_CLUSTER_MINUTES, err, sql_int((int64_t)c->id),
                  sql_int(e->first), sql_int(e->end), sql_int(e->begin_ms), sql_int((int64_t)max));
    enum err rc = sqlite_row_array(&r->conn, st, fill_minute, e->arena, &rows, &count, err);
    for (size_t i = 0; i < count && !rc; i++) {
        const int64_t at = rows[i].minute * MINUTE_MS;
        *ret_read += rows[i].count;
        if (at < e->begin_ms || at >= e->end_ms)
            continue;
        if (!arena_room(e->arena, (void **)&e->items, e->count, &e->room, sizeof(*e->items)))
            return no_memory(err);
        e->items[e->count++] = rows[i];
    }
    return rc;
}

/* Cluster by cluster, each app until its share of the work is spent. */
static enum err add_earlier(struct sqlite_reader *r, struct earlier *e, uint64_t max_work,
                            struct error *err)
{
    struct active *rows = NULL;
    size_t count = 0;
    uint64_t left = 0;
    sqlite3_stmt *st = sql_start(&r->conn, SQL_ALERT_ACTIVE, err, sql_int(e->begin_ms));
    enum err rc = sqlite_row_array(&r->conn, st, fill_active, e->arena, &rows, &count, err);
    const size_t apps = rc ? 0 : count_apps(rows, count);
    for (size_t i = 0; i < count && !rc; i++) {
        uint64_t seen = 0;
        if (i == 0 || rows[i].app_id != rows[i - 1].app_id)
            left = max_work / apps;
        const uint64_t cost = CLUSTER_WORK + rows[i].stacks;
        if (cost >= left)
            continue;
        rc = add_cluster(r, e, &rows[i], left - cost, &seen, err);
        left -= cost + seen;
    }
    return rc;
}

/* The recent ones and the earlier ones. */
static enum err join_minutes(const struct earlier *e, struct alert_minute **rows, size_t *count,
                             struct error *err)
{
    const size_t all = *count + e->count;
    size_t kept = 0;
    if (e->count == 0)
        return ERR_OK;
    struct alert_minute *joined = arena_array(e->arena, all, sizeof(*joined));
    if (!joined)
        return no_memory(err);
    if (*count > 0)
        memcpy(joined, *rows, *count * sizeof(*joined));
    memcpy(joined + *count, e->items, e->count * sizeof(*joined));
    qsort(joined, all, sizeof(*joined), alert_minutes_compare);
    for (size_t i = 0; i < all; i++) {
        if (kept > 0 && alert_minutes_compare(&joined[kept - 1], &joined[i]) == 0)
            joined[kept - 1].count += joined[i].count;
        else
            joined[kept++] = joined[i];
    }
    *rows = joined;
    *count = kept;
    return ERR_OK;
}

enum err sqlite_read_alert_minutes(struct storage_reader *base, int64_t begin_ms, int64_t end_ms,
                                   uint64_t max_reports, struct arena *arena,
                                   struct alert_minute **ret, size_t *ret_count, struct error *err)
{
    struct sqlite_reader *r = sqlite_reader_of(base);
    struct earlier e = {.begin_ms = begin_ms, .end_ms = end_ms, .arena = arena};
    int64_t max_id = 0;
    enum err rc = sql_get_values(&r->conn, SQL_REPORT_NEWEST, NULL, 0, 0, &max_id, err);
    if (!rc)
        rc = first_received(r, begin_ms, max_id, &e.first, err);
    if (rc)
        return rc;
    e.end = e.first;
    if (max_id - e.first >= (int64_t)max_reports)
        e.end = max_id - (int64_t)max_reports + 1;
    sqlite3_stmt *st = sql_start(&r->conn, SQL_ALERT_RECENT, err, sql_int(e.end), sql_int(begin_ms),
                                 sql_int(end_ms));
    rc = sqlite_row_array(&r->conn, st, fill_minute, arena, ret, ret_count, err);
    if (!rc && e.first < e.end)
        rc = add_earlier(r, &e, max_reports, err);
    return rc ? rc : join_minutes(&e, ret, ret_count, err);
}

static bool fill_rate(sqlite3_stmt *st, struct arena *arena, void *row)
{
    bool failed = false;
    *(struct alert_rate *)row = (struct alert_rate){
        sql_column_text(st, 0, arena, &failed), (int32_t)sqlite3_column_int64(st, 1),
        (uint64_t)sqlite3_column_int64(st, 2), (uint64_t)sqlite3_column_int64(st, 3),
        (uint64_t)sqlite3_column_int64(st, 4)};
    return !failed;
}

enum err sqlite_read_alert_rates(struct storage_reader *base, int32_t since_day,
                                 struct arena *arena, struct alert_rate **ret, size_t *ret_count,
                                 struct error *err)
{
    struct sqlite_reader *r = sqlite_reader_of(base);
    sqlite3_stmt *st = sql_start(&r->conn, SQL_ALERT_SYMBOLICATION, err, sql_int(since_day));
    return sqlite_row_array(&r->conn, st, fill_rate, arena, ret, ret_count, err);
}

static bool fill_due(sqlite3_stmt *st, struct arena *arena, void *row)
{
    bool failed = false;
    *(struct delivery_due *)row = (struct delivery_due){
        .id = (uint64_t)sqlite3_column_int64(st, 0),
        .alert_id = (uint64_t)sqlite3_column_int64(st, 1),
        .kind = (enum alert_kind)sqlite3_column_int(st, 2),
        .target = sql_column_text(st, 3, arena, &failed),
        .attempts = (uint32_t)sqlite3_column_int64(st, 4),
        .created_ms = sqlite3_column_int64(st, 5),
        .body = sql_column_text(st, 6, arena, &failed),
    };
    return !failed;
}

enum err sqlite_read_deliveries_due(struct storage_reader *base, int64_t now_ms, size_t limit,
                                    struct arena *arena, struct delivery_due **ret,
                                    size_t *ret_count, int64_t *ret_next_ms, uint64_t *ret_pending,
                                    struct error *err)
{
    struct sqlite_reader *r = sqlite_reader_of(base);
    struct row_list rows;
    int64_t next = 0;
    int64_t pending = 0;
    row_list_init(&rows, sizeof(**ret), arena);
    enum err rc = sqlite_rows(
        &r->conn,
        sql_start(&r->conn, SQL_DELIVERIES_DUE, err, sql_int(now_ms), sql_int((int64_t)limit)),
        fill_due, &rows, err);
    if (!rc)
        rc = sql_get_values(&r->conn, SQL_DELIVERIES_NEXT, NULL, 0, INT64_MAX, &next, err);
    if (!rc)
        rc = sql_get_values(&r->conn, SQL_DELIVERIES_COUNT, NULL, 0, 0, &pending, err);
    if (rc)
        return rc;
    *ret = rows.items;
    *ret_count = rows.count;
    *ret_next_ms = next;
    *ret_pending = (uint64_t)pending;
    return ERR_OK;
}

static bool fill_delivery(sqlite3_stmt *st, struct arena *arena, void *row)
{
    bool failed = false;
    *(struct delivery_row *)row = (struct delivery_row){
        .id = (uint64_t)sqlite3_column_int64(st, 0),
        .alert_id = (uint64_t)sqlite3_column_int64(st, 1),
        .kind = (enum alert_kind)sqlite3_column_int(st, 2),
        .bundle_id = sql_column_text(st, 3, arena, &failed),
        .cluster_id = (uint64_t)sqlite3_column_int64(st, 4),
        .subject = sql_column_text(st, 5, arena, &failed),
        .target = sql_column_text(st, 6, arena, &failed),
        .state = (enum delivery_state)sqlite3_column_int(st, 7),
        .attempts = (uint32_t)sqlite3_column_int64(st, 8),
        .next_ms = sqlite3_column_int64(st, 9),
        .done_ms = sql_column_null(st, 10) ? INT64_MIN : sqlite3_column_int64(st, 10),
        .status = sqlite3_column_int(st, 11),
        .error = sql_column_text(st, 12, arena, &failed),
        .created_ms = sqlite3_column_int64(st, 13),
        .body = sql_column_text(st, 14, arena, &failed),
    };
    return !failed;
}

enum err sqlite_read_deliveries(struct storage_reader *base, const struct delivery_filter *f,
                                size_t limit, const char *cursor, struct arena *arena,
                                struct delivery_row **ret, size_t *ret_count, const char **ret_next,
                                struct error *err)
{
    struct sqlite_reader *r = sqlite_reader_of(base);
    struct row_list rows;
    int64_t below = INT64_MAX;
    bool started = false;
    row_list_init(&rows, sizeof(**ret), arena);
    enum err rc = read_cursor_parse(cursor, 'd', &below, 1, &started, err);
    if (!rc)
        rc = sqlite_rows(&r->conn,
                         sql_start(&r->conn, SQL_DELIVERIES_LIST, err,
                                   sql_int(started ? below : INT64_MAX), sql_int(f->state),
                                   sql_text(f->bundle_id), sql_int((int64_t)f->alert_id),
                                   sql_int((int64_t)limit + 1)),
                         fill_delivery, &rows, err);
    if (rc)
        return rc;
    const struct delivery_row *all = rows.items;
    bool more = rows.count > limit;
    const int64_t last = more ? (int64_t)all[limit - 1].id : 0;
    const char *next = more ? read_cursor_make(arena, 'd', &last, 1) : NULL;
    if (more && !next)
        return no_memory(err);
    *ret = rows.items;
    *ret_count = more ? limit : rows.count;
    *ret_next = next;
    return ERR_OK;
}
