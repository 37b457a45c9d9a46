/* The questions of storage_read.h: arguments checked, one snapshot around each. */
#include "storage/storage_read.h"

#include <string.h>

#include "storage/storage_backend.h"

void read_filter_init(struct read_filter *f)
{
    memset(f, 0, sizeof(*f));
    f->kind = -1;
    f->since_ms = INT64_MIN;
    f->until_ms = INT64_MIN;
    f->min_duration_ms = -1;
}

/* Nothing asked for. */
static const struct read_filter everything = {
    .kind = -1,
    .since_ms = INT64_MIN,
    .until_ms = INT64_MIN,
    .min_duration_ms = -1,
};

enum err read_limit_check(size_t limit, struct error *err)
{
    if (limit == 0 || limit > READ_LIMIT_MAX)
        return error_set(err, ERR_INVALID, "limit must be 1 to %d", READ_LIMIT_MAX);
    return ERR_OK;
}

enum err read_pending(struct storage_reader *r, uint64_t after_id, size_t limit,
                      struct arena *arena, struct pending_stack **ret, size_t *ret_count,
                      struct error *err)
{
    return READ_WITHIN(r, err, read_pending(r, after_id, limit, arena, ret, ret_count, err));
}

enum err read_image(struct storage_reader *r, const char *bundle_id, const struct uuid *id,
                    struct arena *arena, struct image_row *ret, struct error *err)
{
    return READ_WITHIN(r, err, read_image(r, bundle_id, id, arena, ret, err));
}

enum err read_group(struct storage_reader *r, const char *bundle_id, const struct uuid *group,
                    struct arena *arena, struct layout_row **ret, size_t *ret_count,
                    struct error *err)
{
    return READ_WITHIN(r, err, read_group(r, bundle_id, group, arena, ret, ret_count, err));
}

enum err read_layouts(struct storage_reader *r, size_t limit, struct arena *arena,
                      struct layout_row **ret, size_t *ret_count, struct error *err)
{
    return READ_WITHIN(r, err, read_layouts(r, limit, arena, ret, ret_count, err));
}

enum err read_layout_claims(struct storage_reader *r, size_t limit, struct arena *arena,
                            struct layout_claim_row **ret, size_t *ret_count, struct error *err)
{
    return READ_WITHIN(r, err, read_layout_claims(r, limit, arena, ret, ret_count, err));
}

enum err read_image_set(struct storage_reader *r, const char *bundle_id, const char *image_set,
                        struct arena *arena, const void **ret, size_t *ret_len, struct error *err)
{
    return READ_WITHIN(r, err, read_image_set(r, bundle_id, image_set, arena, ret, ret_len, err));
}

enum err read_tokens(struct storage_reader *r, struct arena *arena, struct token_row **ret,
                     size_t *ret_count, struct error *err)
{
    return READ_WITHIN(r, err, read_tokens(r, arena, ret, ret_count, err));
}

enum err read_upload(struct storage_reader *r, uint64_t id, struct arena *arena,
                     struct upload_row *ret, struct error *err)
{
    return READ_WITHIN(r, err, read_upload(r, id, arena, ret, err));
}

enum err read_upload_by_sha256(struct storage_reader *r, const uint8_t sha256[SHA256_SIZE],
                               const struct upload_origin *origin, struct arena *arena,
                               struct upload_row *ret, struct error *err)
{
    return READ_WITHIN(r, err, read_upload_by_sha256(r, sha256, origin, arena, ret, err));
}

enum err read_uploads_waiting(struct storage_reader *r, struct arena *arena,
                              struct upload_waiting **ret, size_t *ret_count, struct error *err)
{
    return READ_WITHIN(r, err, read_uploads_waiting(r, arena, ret, ret_count, err));
}

enum err read_symbols_present(struct storage_reader *r, const char *bundle_id,
                              const struct uuid *uuids, size_t count, bool *present,
                              struct error *err)
{
    return READ_WITHIN(r, err, read_symbols_present(r, bundle_id, uuids, count, present, err));
}

enum err read_symbols(struct storage_reader *r, const char *bundle_id, size_t limit,
                      const char *cursor, struct arena *arena, struct slice_row **ret,
                      size_t *ret_count, const char **ret_next, struct error *err)
{
    enum err rc = read_limit_check(limit, err);
    return rc ? rc
              : READ_WITHIN(r, err,
                            read_symbols(r, bundle_id, limit, cursor, arena, ret, ret_count,
                                         ret_next, err));
}

enum err read_symbol(struct storage_reader *r, const struct uuid *uuid, struct arena *arena,
                     struct slice_row **ret, size_t *ret_count, struct error *err)
{
    return READ_WITHIN(r, err, read_symbol(r, uuid, arena, ret, ret_count, err));
}

enum err read_known_objects(struct storage_reader *r, struct arena *arena,
                            struct known_object **ret, size_t *ret_count, struct error *err)
{
    return READ_WITHIN(r, err, read_known_objects(r, arena, ret, ret_count, err));
}

enum err read_missing(struct storage_reader *r, const char *bundle_id, size_t limit,
                      const char *cursor, struct arena *arena, struct missing_row **ret,
                      size_t *ret_count, const char **ret_next, struct error *err)
{
    enum err rc = read_limit_check(limit, err);
    return rc ? rc
              : READ_WITHIN(r, err,
                            read_missing(r, bundle_id, limit, cursor, arena, ret, ret_count,
                                         ret_next, err));
}

enum err read_clusters(struct storage_reader *r, const struct read_filter *f,
                       enum cluster_sort sort, size_t limit, const char *cursor,
                       struct arena *arena, struct cluster_row **ret, size_t *ret_count,
                       const char **ret_next, struct error *err)
{
    if (!f)
        f = &everything;
    enum err rc = read_limit_check(limit, err);
    return rc ? rc
              : READ_WITHIN(
                    r, err,
                    read_clusters(r, f, sort, limit, cursor, arena, ret, ret_count, ret_next, err));
}

enum err read_cluster(struct storage_reader *r, uint64_t id, const struct read_filter *f,
                      struct arena *arena, struct cluster_row *ret, struct error *err)
{
    if (!f)
        f = &everything;
    return READ_WITHIN(r, err, read_cluster(r, id, f, arena, ret, err));
}

enum err read_cluster_aliases(struct storage_reader *r, uint64_t id, struct arena *arena,
                              uint64_t **ret, size_t *ret_count, struct error *err)
{
    return READ_WITHIN(r, err, read_cluster_aliases(r, id, arena, ret, ret_count, err));
}

enum err read_cluster_stacks(struct storage_reader *r, uint64_t id, size_t limit,
                             struct arena *arena, struct stack_row **ret, size_t *ret_count,
                             struct error *err)
{
    enum err rc = read_limit_check(limit, err);
    return rc ? rc
              : READ_WITHIN(r, err, read_cluster_stacks(r, id, limit, arena, ret, ret_count, err));
}

enum err read_breakdown(struct storage_reader *r, uint64_t cluster_id, const struct read_filter *f,
                        enum breakdown_by by, enum breakdown_by by2, size_t limit,
                        struct arena *arena, struct breakdown_row **ret, size_t *ret_count,
                        struct breakdown_scope *ret_scope, struct error *err)
{
    if (!f)
        f = &everything;
    if (by == BY_NONE)
        return error_set(err, ERR_INVALID, "a breakdown needs a dimension");
    if (by == by2)
        return error_set(err, ERR_INVALID, "the two dimensions of a breakdown must differ");
    enum err rc = read_limit_check(limit, err);
    return rc ? rc
              : READ_WITHIN(r, err,
                            read_breakdown(r, cluster_id, f, by, by2, limit, arena, ret, ret_count,
                                           ret_scope, err));
}

enum err read_cluster_reports(struct storage_reader *r, uint64_t cluster_id,
                              const struct read_filter *f, size_t limit, const char *cursor,
                              struct arena *arena, struct report_row **ret, size_t *ret_count,
                              const char **ret_next, struct error *err)
{
    if (!f)
        f = &everything;
    enum err rc = read_limit_check(limit, err);
    return rc ? rc
              : READ_WITHIN(r, err,
                            read_cluster_reports(r, cluster_id, f, limit, cursor, arena, ret,
                                                 ret_count, ret_next, err));
}

enum err read_report(struct storage_reader *r, const char *bundle_id, const char *id,
                     struct arena *arena, struct report_row *ret, struct error *err)
{
    return READ_WITHIN(r, err, read_report(r, bundle_id, id, arena, ret, err));
}

enum err read_stats(struct storage_reader *r, const char *bundle_id, struct stats_row *ret,
                    struct error *err)
{
    return READ_WITHIN(r, err, read_stats(r, bundle_id, ret, err));
}

enum err read_stack_totals(struct storage_reader *r, const char *bundle_id,
                           struct stack_totals *ret, struct error *err)
{
    return READ_WITHIN(r, err, read_stack_totals(r, bundle_id, ret, err));
}

enum err read_symbolication(struct storage_reader *r, const char *bundle_id, const char *by,
                            size_t limit, struct arena *arena, struct symbolication_row **ret,
                            size_t *ret_count, struct error *err)
{
    if (strcmp(by, "app") != 0 && strcmp(by, "version") != 0 && strcmp(by, "image") != 0)
        return error_set(err, ERR_INVALID, "symbolication is by app, version or image");
    enum err rc = read_limit_check(limit, err);
    return rc ? rc
              : READ_WITHIN(
                    r, err,
                    read_symbolication(r, bundle_id, by, limit, arena, ret, ret_count, err));
}

enum err read_findings_due(struct storage_reader *r, size_t limit, struct arena *arena,
                           struct finding_due **ret, size_t *ret_count, struct error *err)
{
    enum err rc = read_limit_check(limit, err);
    return rc ? rc : READ_WITHIN(r, err, read_findings_due(r, limit, arena, ret, ret_count, err));
}

enum err read_cluster_findings(struct storage_reader *r, uint64_t cluster_id,
                               struct cluster_findings *ret, struct error *err)
{
    return READ_WITHIN(r, err, read_cluster_findings(r, cluster_id, ret, err));
}
