/*
 * suite - one set of cases that every storage backend has to pass.
 *
 * Purpose: says what the functions of storage.h and storage_read.h mean, by example
 * (cases_*.c, `suite_cases`), and by comparison: dump.h writes out everything that can be read, so
 * that two backends that went through one history (history.h) can be compared word for word.
 *
 * The world of the suite: images are suite_uuid(n), stacks are numbers (suite_stack), reports are
 * struct suite_report with defaults (suite_ops.h), and the jobs are played (suite_jobs.h).
 *
 * Threads: one. Memory: ops are freed by suite_apply(); the arena of the environment is emptied by
 * nobody but its end.
 */
#ifndef STALLSYM_TESTS_SUITE_H
#define STALLSYM_TESTS_SUITE_H

#include "storage/read_life.h"
#include "storage/storage.h"
#include "storage/storage_read.h"
#include "tests/conformance/suite_jobs.h"
#include "tests/conformance/suite_ops.h"

#define SUITE_DAY0       ((int64_t)20454) /* 2026-01-01, a Thursday */
#define SUITE_NOW        (SUITE_DAY0 * 86400000 + 43200000)
#define SUITE_APP        "com.example.shop"
#define SUITE_ANY_ORIGIN ((const struct upload_origin){.system = false})

struct suite {
    const char *backend;
    char dir[64];
    char path[96];
    struct storage_options options;
    struct storage *storage;
    struct storage_reader *reader;
    struct arena arena;
};

void suite_open(struct suite *s, const char *backend);
/* Closes and opens again: what a restart sees (SQLite only). */
void suite_reopen(struct suite *s);
/* At the begin of a case: so many new values of a kind a day. */
void suite_cap_values(struct suite *s, uint32_t daily_values);
void suite_close(struct suite *s);

struct uuid suite_uuid(uint32_t n);

/* What suite_stack() numbers mean: image of the first frame, and in which cluster it ends. */
#define SUITE_IMAGES   4  /* application images 1 to 4: stack k lies in 1 + k % 4 */
#define SUITE_SYSTEM   20 /* every stack's outer frame, a system image */
#define SUITE_GROUP    90 /* slide group; stacks of k % 5 == 4 have a frame in it */
#define SUITE_FUNCTION 8  /* stacks k and k + 1 share a function unless k + 1 % 8 is 0 */
struct raw_stack suite_stack(struct arena *arena, uint32_t k);
void suite_stack_hash(const char *bundle_id, uint32_t k, uint8_t out[STACK_HASH_SIZE]);

void suite_expect(enum err rc, const struct error *err);
/* Begins, applies, commits and expects success; or a failure that leaves the group going. */
void suite_apply(struct suite *s, struct write_op *op);
enum err suite_try(struct suite *s, struct write_op *op, struct error *err);
/* As suite_apply, but the op is kept. */
void suite_apply_keep(struct suite *s, struct write_op *op);
/* Uploads and indexes images in one go. */
void suite_index(struct suite *s, const uint32_t *images, size_t count, uint64_t richness);

size_t suite_pending(struct suite *s);
/* The only cluster, or the one with that title. */
struct cluster_row suite_cluster(struct suite *s, const char *title);
size_t suite_cluster_count(struct suite *s);
/* Of an app, NULL: of all. */
uint64_t suite_stack_count(struct suite *s, const char *bundle_id);

struct suite_case {
    const char *name;
    void (*run)(struct suite *s);
};
extern const struct suite_case suite_cases[];
extern const size_t suite_case_count;
/* The cases are in several files. */
#define SUITE_CASES(X)                                                                             \
    X(batch_counts_and_duplicates)                                                                 \
    X(batch_retry_window)                                                                          \
    X(batch_that_fails_burns_no_id)                                                                \
    X(changed_duplicate_leaves_no_trace)                                                           \
    X(reports_without_a_stack)                                                                     \
    X(report_comes_back_whole)                                                                     \
    X(huge_addresses_survive)                                                                      \
    X(daily_values_are_capped)                                                                     \
    X(report_pairs_are_capped)                                                                     \
    X(daily_stacks_are_capped)                                                                     \
    X(daily_stacks_of_samples_and_threads)                                                         \
    X(image_sets_are_remembered)                                                                   \
    X(image_sets_of_two_devices)                                                                   \
    X(images_first_seen_wins)                                                                      \
    X(sampling_is_undone_in_orders)                                                                \
    X(resolution_makes_a_cluster)                                                                  \
    X(late_resolution_is_ignored)                                                                  \
    X(resolutions_in_any_order)                                                                    \
    X(index_between_page_and_answer)                                                               \
    X(provisional_becomes_an_alias)                                                                \
    X(alias_follows_the_weight)                                                                    \
    X(alias_chains_are_flat)                                                                       \
    X(order_of_reports_and_symbols)                                                                \
    X(repend_in_chunks)                                                                            \
    X(repend_all_users)                                                                            \
    X(richer_index_replaces)                                                                       \
    X(slide_groups)                                                                                \
    X(group_members_are_capped)                                                                    \
    X(layouts_are_learnt)                                                                          \
    X(members_are_the_apps_own)                                                                    \
    X(give_up_on_old_ones)                                                                         \
    X(uploads_and_slices)                                                                          \
    X(deleting_an_upload)                                                                          \
    X(lost_indexes)                                                                                \
    X(objects_and_their_use)                                                                       \
    X(holders_of_objects)                                                                          \
    X(protected_builds_have_a_cap)                                                                 \
    X(uploads_in_pieces)                                                                           \
    X(own_indexes_serve_their_app)                                                                 \
    X(own_indexes_wake_their_app)                                                                  \
    X(an_app_is_served_by_the_richer_index)                                                        \
    X(own_places_count_for_their_app)                                                              \
    X(own_places_outlive_their_index)                                                              \
    X(own_stand_ins_are_the_apps)                                                                  \
    X(own_indexes_that_are_gone)                                                                   \
    X(own_candidates_are_the_apps)                                                                 \
    X(own_uploads_are_not_what_serves_all)                                                         \
    X(symbol_pages)                                                                                \
    X(missing_list)                                                                                \
    X(tokens_come_and_go)                                                                          \
    X(cluster_filters)                                                                             \
    X(cluster_pages)                                                                               \
    X(cluster_percentiles)                                                                         \
    X(days_are_utc)                                                                                \
    X(breakdowns)                                                                                  \
    X(breakdown_sources)                                                                           \
    X(cluster_reports_pages)                                                                       \
    X(alerts_once_a_window)                                                                        \
    X(deliveries_end)                                                                              \
    X(causes_of_alerts)                                                                            \
    X(a_flood_hides_no_spike)                                                                      \
    X(states_by_hand)                                                                              \
    X(resolved_without_a_version)                                                                  \
    X(regression_by_a_report)                                                                      \
    X(regression_by_a_build)                                                                       \
    X(regression_by_a_stack_that_moves)                                                            \
    X(regression_in_any_order)                                                                     \
    X(decision_follows_the_heir)                                                                   \
    X(history_is_capped)                                                                           \
    X(expiry_keeps_the_counters)                                                                   \
    X(group_of_many_ops)                                                                           \
    X(rollback_leaves_nothing)                                                                     \
    X(names_of_a_lost_group)                                                                       \
    X(finding_moves_the_counts)                                                                    \
    X(finding_of_another_generation)                                                               \
    X(finding_queue_is_refilled)                                                                   \
    X(findings_in_any_order)                                                                       \
    X(findings_and_retention)                                                                      \
    X(deadlocks_are_listed)                                                                        \
    X(snapshot_of_a_reader)                                                                        \
    X(deadline_of_a_reader)                                                                        \
    X(limits_and_cursors_are_checked)                                                              \
    X(merged_by_hand)                                                                              \
    X(merges_are_refused)                                                                          \
    X(parts_set_apart)                                                                             \
    X(epochs_merge)                                                                                \
    X(hand_goes_first)                                                                             \
    X(decisions_are_carried)                                                                       \
    X(decisions_that_say_nothing_new_end)                                                          \
    X(overlays_make_answers_late)                                                                  \
    X(keys_made_anew)                                                                              \
    X(work_is_remembered)                                                                          \
    X(retention_within_parts)                                                                      \
    X(statistics)                                                                                  \
    X(hours_add_up)                                                                                \
    X(hours_follow_their_stacks)                                                                   \
    X(hours_expire)                                                                                \
    X(quotas)                                                                                      \
    X(configurations)                                                                              \
    X(usage_counts_once)                                                                           \
    X(usage_by_its_dimensions)                                                                     \
    X(usage_pairs_are_capped)                                                                      \
    X(usage_goes_with_the_reports_kept)                                                            \
    X(stacks_have_weights)                                                                         \
    X(weights_of_a_cluster)                                                                        \
    X(samples_have_the_time)                                                                       \
    X(trends_by_day)                                                                               \
    X(trends_by_hour)                                                                              \
    X(totals_of_an_app)                                                                            \
    X(candidates_nearest_build_first)                                                              \
    X(candidates_of_every_version)                                                                 \
    X(stand_in_names_frames)                                                                       \
    X(stand_in_is_taken_back)                                                                      \
    X(stand_in_is_checked)                                                                         \
    X(stand_in_without_a_name)                                                                     \
    X(stand_in_follows_its_index)                                                                  \
    X(pending_stack_is_retired_later)                                                              \
    X(stand_in_beside_exact_stacks)
#define SUITE_DECLARE(name) void suite_##name(struct suite *s);
SUITE_CASES(SUITE_DECLARE)
#undef SUITE_DECLARE

#endif
