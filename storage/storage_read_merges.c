/* The questions of read_merges.h: arguments checked, one snapshot around each. */
#include "storage/storage_backend.h"

enum err read_overlays(struct storage_reader *r, uint64_t after_version, struct arena *arena,
                       struct overlay_row **ret, size_t *ret_count, struct error *err)
{
    return READ_WITHIN(r, err, read_overlays(r, after_version, arena, ret, ret_count, err));
}

enum err read_keyed_stacks(struct storage_reader *r, const char *bundle_id, uint64_t cluster_id,
                           uint64_t after_id, size_t limit, struct arena *arena,
                           struct keyed_stack **ret, size_t *ret_count, struct error *err)
{
    enum err rc = read_limit_check(limit, err);
    return rc ? rc
              : READ_WITHIN(r, err,
                            read_keyed_stacks(r, bundle_id, cluster_id, after_id, limit, arena, ret,
                                              ret_count, err));
}

enum err read_stack_floor(struct storage_reader *r, const char *bundle_id, size_t heaviest,
                          struct stack_floor *ret, uint64_t *ret_total, struct error *err)
{
    return READ_WITHIN(r, err, read_stack_floor(r, bundle_id, heaviest, ret, ret_total, err));
}

enum err read_cluster_rules(struct storage_reader *r, const char *bundle_id, bool undone,
                            size_t limit, const char *cursor, struct arena *arena,
                            struct cluster_rule_row **ret, size_t *ret_count, const char **ret_next,
                            struct error *err)
{
    enum err rc = read_limit_check(limit, err);
    return rc ? rc
              : READ_WITHIN(r, err,
                            read_cluster_rules(r, bundle_id, undone, limit, cursor, arena, ret,
                                               ret_count, ret_next, err));
}

enum err read_cluster_parts(struct storage_reader *r, uint64_t cluster_id, size_t limit,
                            struct arena *arena, struct cluster_part **ret, size_t *ret_count,
                            struct error *err)
{
    enum err rc = read_limit_check(limit, err);
    return rc ? rc
              : READ_WITHIN(r, err,
                            read_cluster_parts(r, cluster_id, limit, arena, ret, ret_count, err));
}

enum err read_related(struct storage_reader *r, const char *bundle_id, uint64_t cluster_id,
                      struct arena *arena, struct related_row **ret, size_t *ret_count,
                      struct error *err)
{
    return READ_WITHIN(r, err, read_related(r, bundle_id, cluster_id, arena, ret, ret_count, err));
}

enum err read_cluster_work(struct storage_reader *r, struct arena *arena,
                           struct cluster_work_row **ret, size_t *ret_count, struct error *err)
{
    return READ_WITHIN(r, err, read_cluster_work(r, arena, ret, ret_count, err));
}

enum err read_cluster_work_last(struct storage_reader *r, const char *bundle_id,
                                struct arena *arena, struct cluster_work_row **ret,
                                size_t *ret_count, struct error *err)
{
    return READ_WITHIN(r, err, read_cluster_work_last(r, bundle_id, arena, ret, ret_count, err));
}

enum err read_cluster_apps(struct storage_reader *r, const char *rules_version, struct arena *arena,
                           struct cluster_app_row **ret, size_t *ret_count, struct error *err)
{
    return READ_WITHIN(r, err, read_cluster_apps(r, rules_version, arena, ret, ret_count, err));
}
