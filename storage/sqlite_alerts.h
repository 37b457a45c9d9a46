/*
 * sqlite_alerts - alerts in SQLite.
 *
 * Purpose: the SQLite backend's side of op_alerts.h and read_alerts.h.
 *
 * Threads, memory: as storage.h says.
 */
#ifndef STALLSYM_STORAGE_SQLITE_ALERTS_H
#define STALLSYM_STORAGE_SQLITE_ALERTS_H

#include "storage/read_alerts.h"
#include "storage/sqlite_storage.h"

enum err sqlite_write_alert_rules(struct sqlite_storage *s, struct write_op *op, struct error *err);
enum err sqlite_write_alerts(struct sqlite_storage *s, struct write_op *op, struct error *err);
enum err sqlite_write_delivery(struct sqlite_storage *s, struct write_op *op, struct error *err);

enum err sqlite_read_alert_settings(struct storage_reader *r, struct arena *arena,
                                    struct alert_settings *ret, struct error *err);
enum err sqlite_read_alert_cluster(struct storage_reader *r, uint64_t id, struct arena *arena,
                                   struct alert_cluster *ret, struct error *err);
enum err sqlite_read_alert_regressions(struct storage_reader *r, uint64_t after_id, size_t limit,
                                       struct arena *arena, struct alert_regression **ret,
                                       size_t *ret_count, struct error *err);
enum err sqlite_read_alert_new_clusters(struct storage_reader *r, int64_t since_ms,
                                        uint64_t after_id, uint64_t min_count, size_t limit,
                                        struct arena *arena, struct alert_cluster **ret,
                                        size_t *ret_count, struct error *err);
enum err sqlite_read_alert_minutes(struct storage_reader *r, int64_t begin_ms, int64_t end_ms,
                                   uint64_t max_reports, struct arena *arena,
                                   struct alert_minute **ret, size_t *ret_count, struct error *err);
enum err sqlite_read_alert_rates(struct storage_reader *r, int32_t since_day, struct arena *arena,
                                 struct alert_rate **ret, size_t *ret_count, struct error *err);
enum err sqlite_read_deliveries_due(struct storage_reader *r, int64_t now_ms, size_t limit,
                                    struct arena *arena, struct delivery_due **ret,
                                    size_t *ret_count, int64_t *ret_next_ms, uint64_t *ret_pending,
                                    struct error *err);
enum err sqlite_read_deliveries(struct storage_reader *r, const struct delivery_filter *f,
                                size_t limit, const char *cursor, struct arena *arena,
                                struct delivery_row **ret, size_t *ret_count, const char **ret_next,
                                struct error *err);

#endif
