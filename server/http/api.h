/*
 * api - the handlers of the table in routes.c, one file a resource.
 *
 * Purpose: declarations only; what each does is in openapi.yaml.
 *
 * Threads: `handle` functions run on the door's threads, `read` functions on a reader's.
 * Memory: none.
 */
#ifndef STALLSYM_HTTP_API_H
#define STALLSYM_HTTP_API_H

#include "server/http/http_request.h"

/* api_health.c */
void api_healthz(struct http_request *r);
void api_readyz(struct http_request *r);
void api_metrics(struct http_request *r);

/* api_assets.c */
void api_get_asset(struct http_request *r);

/* api_reports.c */
void api_post_reports(struct http_request *r);
enum err api_get_report(struct http_request *r, const struct read_tools *tools, struct error *err);

/* api_symbols.c */
enum err api_get_symbols(struct http_request *r, const struct read_tools *tools, struct error *err);
enum err api_get_symbol(struct http_request *r, const struct read_tools *tools, struct error *err);
enum err api_get_symbol_file(struct http_request *r, const struct read_tools *tools,
                             struct error *err);
enum err api_get_missing(struct http_request *r, const struct read_tools *tools, struct error *err);
enum err api_check_symbols(struct http_request *r, const struct read_tools *tools,
                           struct error *err);

/* api_symbol_delete.c */
void api_delete_symbol(struct http_request *r);
void api_delete_upload(struct http_request *r);

/* api_uploads.c */
extern const struct body_stream api_symbols_stream;
void api_post_symbols(struct http_request *r);
enum err api_get_upload(struct http_request *r, const struct read_tools *tools, struct error *err);

/* api_protected.c */
enum err api_get_protected(struct http_request *r, const struct read_tools *tools,
                           struct error *err);
void api_put_protected(struct http_request *r);
void api_delete_protected(struct http_request *r);

/* api_stand_ins.c */
void api_put_stand_in(struct http_request *r);
void api_delete_stand_in(struct http_request *r);

/* api_pieces.c */
extern const struct body_stream api_piece_stream;
void api_post_open_upload(struct http_request *r);
void api_put_piece(struct http_request *r);
/* DELETE and GET of an upload in pieces. */
void api_delete_open_upload(struct http_request *r);
enum err api_get_open_upload(struct http_request *r, const struct read_tools *tools,
                             struct error *err);

/* api_symbolicate.c */
enum err api_symbolicate(struct http_request *r, const struct read_tools *tools, struct error *err);

/* api_usage.c */
void api_post_usage(struct http_request *r);

/* api_clusters.c */
enum err api_get_clusters(struct http_request *r, const struct read_tools *tools,
                          struct error *err);
enum err api_get_cluster(struct http_request *r, const struct read_tools *tools, struct error *err);
enum err api_get_cluster_reports(struct http_request *r, const struct read_tools *tools,
                                 struct error *err);

/* api_alerts.c */
enum err api_get_alerts(struct http_request *r, const struct read_tools *tools, struct error *err);
enum err api_get_deliveries(struct http_request *r, const struct read_tools *tools,
                            struct error *err);
void api_put_alerts(struct http_request *r);
void api_post_alerts_test(struct http_request *r);

/* api_life.c */
void api_patch_cluster(struct http_request *r);
enum err api_get_cluster_history(struct http_request *r, const struct read_tools *tools,
                                 struct error *err);

/* api_merges.c */
enum err api_get_cluster_rules(struct http_request *r, const struct read_tools *tools,
                               struct error *err);
void api_post_merge(struct http_request *r);
void api_post_split(struct http_request *r);
void api_delete_cluster_rule(struct http_request *r);

/* api_recluster.c */
enum err api_get_recluster(struct http_request *r, const struct read_tools *tools,
                           struct error *err);
void api_post_recluster(struct http_request *r);

/* api_breakdown.c */
enum err api_get_cluster_breakdown(struct http_request *r, const struct read_tools *tools,
                                   struct error *err);
enum err api_get_breakdown(struct http_request *r, const struct read_tools *tools,
                           struct error *err);

/* api_trends.c */
enum err api_get_trends(struct http_request *r, const struct read_tools *tools, struct error *err);

/* api_compare.c */
enum err api_get_compare(struct http_request *r, const struct read_tools *tools, struct error *err);

/* api_flamegraph.c */
enum err api_get_flamegraph(struct http_request *r, const struct read_tools *tools,
                            struct error *err);

/* api_stats.c */
enum err api_get_apps(struct http_request *r, const struct read_tools *tools, struct error *err);
enum err api_get_stats(struct http_request *r, const struct read_tools *tools, struct error *err);

/* api_quota.c */
void api_get_quota(struct http_request *r);
void api_put_quota(struct http_request *r);
void api_delete_quota(struct http_request *r);

/* api_config.c */
enum err api_get_config(struct http_request *r, const struct read_tools *tools, struct error *err);
enum err api_get_config_revision(struct http_request *r, const struct read_tools *tools,
                                 struct error *err);
enum err api_get_config_revisions(struct http_request *r, const struct read_tools *tools,
                                  struct error *err);
void api_put_config(struct http_request *r);
void api_post_config_rollback(struct http_request *r);

/* api_backups.c */
enum err api_get_backups(struct http_request *r, const struct read_tools *tools, struct error *err);
enum err api_post_backup(struct http_request *r, const struct read_tools *tools, struct error *err);

/* api_tokens.c */
void api_post_tokens(struct http_request *r);
enum err api_get_tokens(struct http_request *r, const struct read_tools *tools, struct error *err);
void api_delete_token(struct http_request *r);

#endif
