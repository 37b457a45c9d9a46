#include "storage/read_alerts.h"

#include "storage/storage_backend.h"

enum err read_alert_settings(struct storage_reader *r, struct arena *arena,
                             struct alert_settings *ret, struct error *err)
{
    return READ_WITHIN(r, err, read_alert_settings(r, arena, ret, err));
}

enum err read_alert_cluster(struct storage_reader *r, uint64_t id, struct arena *arena,
                            struct alert_cluster *ret, struct error *err)
{
    return READ_WITHIN(r, err, read_alert_cluster(r, id, arena, ret, err));
}

enum err read_alert_regressions(struct storage_reader *r, uint64_t after_id, size_t limit,
                                struct arena *arena, struct alert_regression **ret,
                                size_t *ret_count, struct error *err)
{
    enum err rc = read_limit_check(limit, err);
    return rc ? rc
              : READ_WITHIN(r, err,
                            read_alert_regressions(r, after_id, limit, arena, ret, ret_count, err));
}

enum err read_alert_new_clusters(struct storage_reader *r, int64_t since_ms, uint64_t after_id,
                                 uint64_t min_count, size_t limit, struct arena *arena,
                                 struct alert_cluster **ret, size_t *ret_count, struct error *err)
{
    enum err rc = read_limit_check(limit, err);
    return rc ? rc
              : READ_WITHIN(r, err,
                            read_alert_new_clusters(r, since_ms, after_id, min_count, limit, arena,
                                                    ret, ret_count, err));
}

enum err read_alert_minutes(struct storage_reader *r, int64_t begin_ms, int64_t end_ms,
                            uint64_t max_reports, struct arena *arena, struct alert_minute **ret,
                            size_t *ret_count, struct error *err)
{
    return READ_WITHIN(
        r, err, read_alert_minutes(r, begin_ms, end_ms, max_reports, arena, ret, ret_count, err));
}

enum err read_alert_rates(struct storage_reader *r, int32_t since_day, struct arena *arena,
                          struct alert_rate **ret, size_t *ret_count, struct error *err)
{
    return READ_WITHIN(r, err, read_alert_rates(r, since_day, arena, ret, ret_count, err));
}

enum err read_deliveries_due(struct storage_reader *r, int64_t now_ms, size_t limit,
                             struct arena *arena, struct delivery_due **ret, size_t *ret_count,
                             int64_t *ret_next_ms, uint64_t *ret_pending, struct error *err)
{
    enum err rc = read_limit_check(limit, err);
    return rc ? rc
              : READ_WITHIN(r, err,
                            read_deliveries_due(r, now_ms, limit, arena, ret, ret_count,
                                                ret_next_ms, ret_pending, err));
}

enum err read_deliveries(struct storage_reader *r, const struct delivery_filter *f, size_t limit,
                         const char *cursor, struct arena *arena, struct delivery_row **ret,
                         size_t *ret_count, const char **ret_next, struct error *err)
{
    enum err rc = read_limit_check(limit, err);
    return rc ? rc
              : READ_WITHIN(
                    r, err,
                    read_deliveries(r, f, limit, cursor, arena, ret, ret_count, ret_next, err));
}

int alert_minutes_compare(const void *a, const void *b)
{
    const struct alert_minute *x = a;
    const struct alert_minute *y = b;
    if (x->cluster_id != y->cluster_id)
        return x->cluster_id < y->cluster_id ? -1 : 1;
    return (x->minute > y->minute) - (x->minute < y->minute);
}
