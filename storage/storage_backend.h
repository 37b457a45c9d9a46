/*
 * storage_backend - what a storage has to be able to do: a const table of functions.
 *
 * Purpose: storage.c picks a backend by name and calls through its table; the conformance suite
 * (tests/conformance) says what each function means and runs over every backend.
 *
 * Invariants: a backend embeds struct storage and struct storage_reader as first members. Reads run
 * between read_begin and read_end, which the facade calls: one consistent snapshot. Arguments were
 * checked by the facade: limits are 1 to READ_LIMIT_MAX, filters are not NULL.
 *
 * Threads, memory: as storage.h says.
 */
#ifndef STALLSYM_STORAGE_STORAGE_BACKEND_H
#define STALLSYM_STORAGE_STORAGE_BACKEND_H

#include "storage/read_alerts.h"
#include "storage/read_apps.h"
#include "storage/read_compare.h"
#include "storage/read_config.h"
#include "storage/read_context.h"
#include "storage/read_findings.h"
#include "storage/read_hours.h"
#include "storage/read_life.h"
#include "storage/read_quota.h"
#include "storage/read_shelves.h"
#include "storage/read_stack_weights.h"
#include "storage/read_stand_ins.h"
#include "storage/read_trend.h"
#include "storage/storage.h"
#include "storage/storage_read.h"

/* That an image set was used is noted at most so often. */
#define IMAGE_SET_TOUCH_MS ((int64_t)3600000)

/* Members of slide groups an app may bring a day, for each of its daily values: one new OS build has
 * as many as a process has system images. */
#define GROUP_MEMBERS_PER_VALUE 16
/* New pairs of values that usage, and reports, of an app may bring a day, for each daily value. */
#define USAGE_PAIRS_PER_VALUE 20

struct storage_backend;

struct storage {
    const struct storage_backend *backend;
};

struct storage_reader {
    const struct storage_backend *backend;
};

struct snapshot {
    const struct storage_backend *backend;
};
struct snapshot_watch;

struct storage_backend {
    const char *name;

    enum err (*open)(const struct storage_options *options, struct storage **ret,
                     struct error *err);
    void (*close)(struct storage *s);
    enum err (*begin)(struct storage *s, struct error *err);
    enum err (*apply)(struct storage *s, struct write_op *op, struct error *err);
    enum err (*commit)(struct storage *s, struct error *err);
    void (*rollback)(struct storage *s);
    enum err (*checkpoint)(struct storage *s, bool truncate, uint64_t *ret_wal_bytes,
                           struct error *err);
    enum err (*last_checkpoint)(struct storage *s, struct error *err);
    uint64_t (*wal_bytes)(struct storage *s);
    enum err (*used_bytes)(struct storage *s, uint64_t *ret, struct error *err);
    enum storage_trouble (*trouble)(struct storage *s, char *text, size_t size);
    enum err (*check)(struct storage *s, bool (*go_on)(void *ctx), void *ctx, struct error *err);
    const struct storage_upgrade *(*upgrade)(const struct storage *s);

    /* NULL where nothing is kept (snapshot.h). */
    enum err (*snapshot_open)(struct storage *s, struct snapshot **ret, struct error *err);
    void (*snapshot_close)(struct snapshot *s);
    uint64_t (*snapshot_bytes)(const struct snapshot *s);
    enum err (*snapshot_write)(struct snapshot *s, const char *path,
                               const struct snapshot_watch *watch, struct error *err);

    enum err (*reader_open)(struct storage *s, struct storage_reader **ret, struct error *err);
    void (*reader_close)(struct storage_reader *r);
    void (*reader_deadline)(struct storage_reader *r, int64_t deadline_mono_ms);
    enum err (*read_begin)(struct storage_reader *r, struct error *err);
    void (*read_end)(struct storage_reader *r);

    enum err (*read_pending)(struct storage_reader *r, uint64_t after_id, size_t limit,
                             struct arena *arena, struct pending_stack **ret, size_t *ret_count,
                             struct error *err);
    enum err (*read_image)(struct storage_reader *r, const char *bundle_id, const struct uuid *id,
                           struct arena *arena, struct image_row *ret, struct error *err);
    enum err (*read_group)(struct storage_reader *r, const char *bundle_id,
                           const struct uuid *group, struct arena *arena, struct layout_row **ret,
                           size_t *ret_count, struct error *err);
    enum err (*read_layouts)(struct storage_reader *r, size_t limit, struct arena *arena,
                             struct layout_row **ret, size_t *ret_count, struct error *err);
    enum err (*read_layout_claims)(struct storage_reader *r, size_t limit, struct arena *arena,
                                   struct layout_claim_row **ret, size_t *ret_count,
                                   struct error *err);
    enum err (*read_image_set)(struct storage_reader *r, const char *bundle_id,
                               const char *image_set, struct arena *arena, const void **ret,
                               size_t *ret_len, struct error *err);
    enum err (*read_tokens)(struct storage_reader *r, struct arena *arena, struct token_row **ret,
                            size_t *ret_count, struct error *err);
    enum err (*read_upload)(struct storage_reader *r, uint64_t id, struct arena *arena,
                            struct upload_row *ret, struct error *err);
    enum err (*read_upload_by_sha256)(struct storage_reader *r, const uint8_t sha256[SHA256_SIZE],
                                      const struct upload_origin *origin, struct arena *arena,
                                      struct upload_row *ret, struct error *err);
    enum err (*read_uploads_waiting)(struct storage_reader *r, struct arena *arena,
                                     struct upload_waiting **ret, size_t *ret_count,
                                     struct error *err);
    enum err (*read_symbols_present)(struct storage_reader *r, const char *bundle_id,
                                     const struct uuid *uuids, size_t count, bool *present,
                                     struct error *err);
    enum err (*read_shelf)(struct storage_reader *r, const char *own, const struct uuid *image,
                           struct uuid *ret, struct error *err);
    enum err (*read_shelf_image)(struct storage_reader *r, const struct uuid *shelf,
                                 struct arena *arena, struct uuid *ret, const char **ret_own,
                                 struct error *err);
    enum err (*read_shelf_for)(struct storage_reader *r, const char *bundle_id,
                               const struct uuid *image, struct uuid *ret, struct error *err);
    enum err (*read_owns_shelves)(struct storage_reader *r, const char *bundle_id, bool *ret,
                                  struct error *err);
    enum err (*read_symbol_files)(struct storage_reader *r, const char *bundle_id,
                                  const struct uuid *image, struct arena *arena,
                                  struct slice_row **ret, size_t *ret_count, struct error *err);
    enum err (*read_symbols)(struct storage_reader *r, const char *bundle_id, size_t limit,
                             const char *cursor, struct arena *arena, struct slice_row **ret,
                             size_t *ret_count, const char **ret_next, struct error *err);
    enum err (*read_known_objects)(struct storage_reader *r, struct arena *arena,
                                   struct known_object **ret, size_t *ret_count, struct error *err);
    enum err (*read_symbol)(struct storage_reader *r, const struct uuid *uuid, struct arena *arena,
                            struct slice_row **ret, size_t *ret_count, struct error *err);
    enum err (*read_refits)(struct storage_reader *r, size_t limit, struct arena *arena,
                            struct refit_row **ret, size_t *ret_count, struct error *err);
    enum err (*read_turn_backs)(struct storage_reader *r, size_t limit, struct arena *arena,
                                struct turn_back_row **ret, size_t *ret_count, struct error *err);
    enum err (*read_idle_objects)(struct storage_reader *r, int64_t app_before_ms,
                                  int64_t system_before_ms, size_t limit, struct arena *arena,
                                  struct object_row **ret, size_t *ret_count, struct error *err);
    enum err (*read_object_holders)(struct storage_reader *r, struct arena *arena,
                                    struct object_holder_row **ret, size_t *ret_count,
                                    struct error *err);
    enum err (*read_held_objects)(struct storage_reader *r, const char *holder, size_t limit,
                                  struct arena *arena, struct object_row **ret, size_t *ret_count,
                                  struct error *err);
    enum err (*read_object_totals)(struct storage_reader *r, const char *bundle_id,
                                   struct object_totals *ret, struct error *err);
    enum err (*read_kept_index_bytes)(struct storage_reader *r, const char *bundle_id,
                                      uint64_t *ret, struct error *err);
    enum err (*read_protected)(struct storage_reader *r, const char *bundle_id, struct arena *arena,
                               struct protected_row **ret, size_t *ret_count, struct error *err);
    enum err (*read_open_upload)(struct storage_reader *r, const uint8_t id[OPEN_UPLOAD_ID_SIZE],
                                 struct arena *arena, struct open_upload_row *ret,
                                 struct error *err);
    enum err (*read_open_uploads)(struct storage_reader *r, const uint8_t *after, int64_t before_ms,
                                  size_t limit, struct arena *arena, struct open_upload_row **ret,
                                  size_t *ret_count, struct error *err);
    enum err (*read_missing)(struct storage_reader *r, const char *bundle_id, size_t limit,
                             const char *cursor, struct arena *arena, struct missing_row **ret,
                             size_t *ret_count, const char **ret_next, struct error *err);
    enum err (*read_clusters)(struct storage_reader *r, const struct read_filter *f,
                              enum cluster_sort sort, size_t limit, const char *cursor,
                              struct arena *arena, struct cluster_row **ret, size_t *ret_count,
                              const char **ret_next, struct error *err);
    enum err (*read_cluster)(struct storage_reader *r, uint64_t id, const struct read_filter *f,
                             struct arena *arena, struct cluster_row *ret, struct error *err);
    enum err (*read_cluster_aliases)(struct storage_reader *r, uint64_t id, struct arena *arena,
                                     uint64_t **ret, size_t *ret_count, struct error *err);
    enum err (*read_cluster_stacks)(struct storage_reader *r, uint64_t id, size_t limit,
                                    struct arena *arena, struct stack_row **ret, size_t *ret_count,
                                    struct error *err);
    enum err (*read_breakdown)(struct storage_reader *r, uint64_t cluster_id,
                               const struct read_filter *f, enum breakdown_by by,
                               enum breakdown_by by2, size_t limit, struct arena *arena,
                               struct breakdown_row **ret, size_t *ret_count,
                               struct breakdown_scope *ret_scope, struct error *err);
    enum err (*read_cluster_reports)(struct storage_reader *r, uint64_t cluster_id,
                                     const struct read_filter *f, size_t limit, const char *cursor,
                                     struct arena *arena, struct report_row **ret,
                                     size_t *ret_count, const char **ret_next, struct error *err);
    enum err (*read_report)(struct storage_reader *r, const char *bundle_id, const char *id,
                            struct arena *arena, struct report_row *ret, struct error *err);
    enum err (*read_stats)(struct storage_reader *r, const char *bundle_id, struct stats_row *ret,
                           struct error *err);
    enum err (*read_stack_totals)(struct storage_reader *r, const char *bundle_id,
                                  struct stack_totals *ret, struct error *err);
    enum err (*read_alert_settings)(struct storage_reader *r, struct arena *arena,
                                    struct alert_settings *ret, struct error *err);
    enum err (*read_alert_cluster)(struct storage_reader *r, uint64_t id, struct arena *arena,
                                   struct alert_cluster *ret, struct error *err);
    enum err (*read_alert_regressions)(struct storage_reader *r, uint64_t after_id, size_t limit,
                                       struct arena *arena, struct alert_regression **ret,
                                       size_t *ret_count, struct error *err);
    enum err (*read_alert_new_clusters)(struct storage_reader *r, int64_t since_ms,
                                        uint64_t after_id, uint64_t min_count, size_t limit,
                                        struct arena *arena, struct alert_cluster **ret,
                                        size_t *ret_count, struct error *err);
    enum err (*read_alert_minutes)(struct storage_reader *r, int64_t begin_ms, int64_t end_ms,
                                   uint64_t max_reports, struct arena *arena,
                                   struct alert_minute **ret, size_t *ret_count, struct error *err);
    enum err (*read_alert_rates)(struct storage_reader *r, int32_t since_day, struct arena *arena,
                                 struct alert_rate **ret, size_t *ret_count, struct error *err);
    enum err (*read_deliveries_due)(struct storage_reader *r, int64_t now_ms, size_t limit,
                                    struct arena *arena, struct delivery_due **ret,
                                    size_t *ret_count, int64_t *ret_next_ms, uint64_t *ret_pending,
                                    struct error *err);
    enum err (*read_deliveries)(struct storage_reader *r, const struct delivery_filter *f,
                                size_t limit, const char *cursor, struct arena *arena,
                                struct delivery_row **ret, size_t *ret_count, const char **ret_next,
                                struct error *err);
    enum err (*read_cluster_history)(struct storage_reader *r, uint64_t id, size_t limit,
                                     const char *cursor, struct arena *arena,
                                     struct cluster_change **ret, size_t *ret_count,
                                     const char **ret_next, struct error *err);
    enum err (*read_symbolication)(struct storage_reader *r, const char *bundle_id, const char *by,
                                   size_t limit, struct arena *arena,
                                   struct symbolication_row **ret, size_t *ret_count,
                                   struct error *err);
    enum err (*read_hours)(struct storage_reader *r, uint64_t cluster_id,
                           const struct read_filter *f, int64_t begin, size_t count,
                           struct arena *arena, struct hour_row **ret, int64_t *ret_known,
                           struct error *err);
    enum err (*read_stack_weights)(struct storage_reader *r, uint64_t cluster_id,
                                   const struct read_filter *filters, size_t filter_count,
                                   struct arena *arena, stack_weight_visit *visit, void *ctx,
                                   struct breakdown_scope *ret_scopes, struct error *err);
    enum err (*read_trend)(struct storage_reader *r, const struct read_filter *f,
                           const struct trend_query *q, struct arena *arena, struct trend *ret,
                           struct error *err);
    enum err (*read_context)(struct storage_reader *r, uint64_t cluster_id,
                             const struct read_filter *f, enum breakdown_by by,
                             enum breakdown_by by2, struct arena *arena, struct context *ret,
                             struct error *err);
    enum err (*read_compare)(struct storage_reader *r, const struct read_filter *f,
                             const char *const versions[2], struct arena *arena,
                             struct compare_cell **ret, size_t *ret_count, struct error *err);
    enum err (*read_totals)(struct storage_reader *r, const struct read_filter *f,
                            struct totals_row *ret, struct error *err);
    enum err (*read_overlays)(struct storage_reader *r, uint64_t after_version, struct arena *arena,
                              struct overlay_row **ret, size_t *ret_count, struct error *err);
    enum err (*read_keyed_stacks)(struct storage_reader *r, const char *bundle_id,
                                  uint64_t cluster_id, uint64_t after_id, size_t limit,
                                  struct arena *arena, struct keyed_stack **ret, size_t *ret_count,
                                  struct error *err);
    enum err (*read_stack_floor)(struct storage_reader *r, const char *bundle_id, size_t heaviest,
                                 struct stack_floor *ret, uint64_t *ret_total, struct error *err);
    enum err (*read_cluster_rules)(struct storage_reader *r, const char *bundle_id, bool undone,
                                   size_t limit, const char *cursor, struct arena *arena,
                                   struct cluster_rule_row **ret, size_t *ret_count,
                                   const char **ret_next, struct error *err);
    enum err (*read_cluster_parts)(struct storage_reader *r, uint64_t cluster_id, size_t limit,
                                   struct arena *arena, struct cluster_part **ret,
                                   size_t *ret_count, struct error *err);
    enum err (*read_related)(struct storage_reader *r, const char *bundle_id, uint64_t cluster_id,
                             struct arena *arena, struct related_row **ret, size_t *ret_count,
                             struct error *err);
    enum err (*read_cluster_work)(struct storage_reader *r, struct arena *arena,
                                  struct cluster_work_row **ret, size_t *ret_count,
                                  struct error *err);
    enum err (*read_cluster_work_last)(struct storage_reader *r, const char *bundle_id,
                                       struct arena *arena, struct cluster_work_row **ret,
                                       size_t *ret_count, struct error *err);
    enum err (*read_cluster_apps)(struct storage_reader *r, const char *rules_version,
                                  struct arena *arena, struct cluster_app_row **ret,
                                  size_t *ret_count, struct error *err);
    enum err (*read_quotas)(struct storage_reader *r, struct arena *arena, struct quota_row **ret,
                            size_t *ret_count, struct error *err);
    enum err (*read_app_names)(struct storage_reader *r, struct arena *arena, const char ***ret,
                               size_t *ret_count, struct error *err);
    enum err (*read_apps)(struct storage_reader *r, const char *bundle_id, int32_t since_day,
                          size_t limit, const char *cursor, struct arena *arena,
                          struct app_row **ret, size_t *ret_count, const char **ret_next,
                          struct error *err);
    enum err (*read_new_stacks)(struct storage_reader *r, const char *bundle_id, int32_t day,
                                struct new_stacks_row *ret, struct error *err);
    enum err (*read_config)(struct storage_reader *r, const char *bundle_id, uint32_t revision,
                            struct arena *arena, struct config_row *ret, struct error *err);
    enum err (*read_config_history)(struct storage_reader *r, const char *bundle_id,
                                    struct arena *arena, struct config_row **ret, size_t *ret_count,
                                    struct error *err);
    enum err (*read_findings_due)(struct storage_reader *r, size_t limit, struct arena *arena,
                                  struct finding_due **ret, size_t *ret_count, struct error *err);
    enum err (*read_stand_ins)(struct storage_reader *r, const struct uuid *uuid,
                               struct arena *arena, struct stand_in_row **ret, size_t *ret_count,
                               struct error *err);
    enum err (*read_cluster_findings)(struct storage_reader *r, uint64_t cluster_id,
                                      struct cluster_findings *ret, struct error *err);
};

/* What is stored is damaged: that is no fault of whoever asks, as ERR_FORMAT would say. */
static inline enum err read_blame(enum err rc, struct error *err)
{
    if (rc == ERR_FORMAT && err)
        err->code = ERR_INTERNAL;
    return rc == ERR_FORMAT ? ERR_INTERNAL : rc;
}

/* An answer from one snapshot: the backend's `call`, as in read_image(r, …), between read_begin and
 * read_end. */
#define READ_WITHIN(r, err, call)                                                                  \
    ({                                                                                             \
        enum err within_ = (r)->backend->read_begin((r), (err));                                   \
        if (!within_) {                                                                            \
            within_ = (r)->backend->call;                                                          \
            (r)->backend->read_end(r);                                                             \
        }                                                                                          \
        read_blame(within_, (err));                                                                \
    })
/* ERR_INVALID outside of 1 to READ_LIMIT_MAX. */
enum err read_limit_check(size_t limit, struct error *err);

extern const struct storage_backend storage_backend_sqlite;
extern const struct storage_backend storage_backend_memory;

#endif
