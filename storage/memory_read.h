/*
 * memory_read - the memory backend's answers to storage_read.h.
 *
 * Purpose: declares what memory_read_*.c define and memory_backend.c puts into its table.
 *
 * Threads: one reader, one thread. Memory: results in the caller's arena; texts are the storage's
 * and live as long as it.
 */
#ifndef STALLSYM_STORAGE_MEMORY_READ_H
#define STALLSYM_STORAGE_MEMORY_READ_H

#include "storage/memory_state.h"
#include "storage/read_findings.h"
#include "storage/read_plan.h"

static inline const struct mem_state *mem_read_state(struct storage_reader *r)
{
    return ((struct mem_reader *)r)->state;
}

/* A fact under a filter: its app, its time and what else is asked for. */
bool mem_fact_matches(const struct mem_state *s, const struct mem_fact *f,
                      const struct read_filter *filter);
bool mem_report_matches(const struct mem_state *s, const struct mem_report *r,
                        const struct read_filter *filter);
/* The fact that the report added, as if it was added now (for filters and sums of reports). */
struct mem_fact mem_fact_of_report(const struct mem_report *r);
/* Facts for ever, or those of reports that are still there. */
size_t mem_source_count(const struct mem_state *s, enum read_source source);
struct mem_fact mem_source_at(const struct mem_state *s, enum read_source source, size_t i);
/* A fact of the cluster (0: of any, or, if the filter speaks of clusters, of one that matches). */
bool mem_fact_is_of(const struct mem_state *s, const struct mem_fact *fact, uint64_t cluster_id,
                    const struct read_filter *filter, bool clustered);
uint64_t mem_cluster_of_stack(const struct mem_state *s, uint64_t stack_id);
/* 0: there is none and never was. */
uint64_t mem_living(const struct mem_state *s, uint64_t cluster_id);
/* All its stacks are. */
bool mem_is_approximate(const struct mem_state *s, uint64_t cluster_id);
enum err mem_fill_stack(const struct mem_state *s, const struct mem_stack *k, struct arena *arena,
                        struct stack_row *ret, struct error *err);

enum err mem_read_apps(struct storage_reader *r, const char *bundle_id, int32_t since_day,
                       size_t limit, const char *cursor, struct arena *arena, struct app_row **ret,
                       size_t *ret_count, const char **ret_next, struct error *err);
enum err mem_read_pending(struct storage_reader *r, uint64_t after_id, size_t limit,
                          struct arena *arena, struct pending_stack **ret, size_t *ret_count,
                          struct error *err);
enum err mem_read_image(struct storage_reader *r, const char *bundle_id, const struct uuid *id,
                        struct arena *arena, struct image_row *ret, struct error *err);
enum err mem_read_group(struct storage_reader *r, const char *bundle_id, const struct uuid *group,
                        struct arena *arena, struct layout_row **ret, size_t *ret_count,
                        struct error *err);
enum err mem_read_layouts(struct storage_reader *r, size_t limit, struct arena *arena,
                          struct layout_row **ret, size_t *ret_count, struct error *err);
enum err mem_read_layout_claims(struct storage_reader *r, size_t limit, struct arena *arena,
                                struct layout_claim_row **ret, size_t *ret_count,
                                struct error *err);
enum err mem_read_image_set(struct storage_reader *r, const char *bundle_id, const char *image_set,
                            struct arena *arena, const void **ret, size_t *ret_len,
                            struct error *err);
enum err mem_read_tokens(struct storage_reader *r, struct arena *arena, struct token_row **ret,
                         size_t *ret_count, struct error *err);
enum err mem_read_upload(struct storage_reader *r, uint64_t id, struct arena *arena,
                         struct upload_row *ret, struct error *err);
enum err mem_read_upload_by_sha256(struct storage_reader *r, const uint8_t sha256[SHA256_SIZE],
                                   const struct upload_origin *origin, struct arena *arena,
                                   struct upload_row *ret, struct error *err);
enum err mem_read_uploads_waiting(struct storage_reader *r, struct arena *arena,
                                  struct upload_waiting **ret, size_t *ret_count,
                                  struct error *err);
enum err mem_read_symbols_present(struct storage_reader *r, const char *bundle_id,
                                  const struct uuid *uuids, size_t count, bool *present,
                                  struct error *err);
enum err mem_read_shelf(struct storage_reader *r, const char *own, const struct uuid *image,
                        struct uuid *ret, struct error *err);
enum err mem_read_shelf_image(struct storage_reader *r, const struct uuid *shelf,
                              struct arena *arena, struct uuid *ret, const char **ret_own,
                              struct error *err);
enum err mem_read_shelf_for(struct storage_reader *r, const char *bundle_id,
                            const struct uuid *image, struct uuid *ret, struct error *err);
enum err mem_read_owns_shelves(struct storage_reader *r, const char *bundle_id, bool *ret,
                               struct error *err);
enum err mem_read_symbol_files(struct storage_reader *r, const char *bundle_id,
                               const struct uuid *image, struct arena *arena,
                               struct slice_row **ret, size_t *ret_count, struct error *err);
enum err mem_read_symbols(struct storage_reader *r, const char *bundle_id, size_t limit,
                          const char *cursor, struct arena *arena, struct slice_row **ret,
                          size_t *ret_count, const char **ret_next, struct error *err);
enum err mem_read_known_objects(struct storage_reader *r, struct arena *arena,
                                struct known_object **ret, size_t *ret_count, struct error *err);
enum err mem_read_symbol(struct storage_reader *r, const struct uuid *uuid, struct arena *arena,
                         struct slice_row **ret, size_t *ret_count, struct error *err);
/* memory_read_store.c */
enum err mem_read_refits(struct storage_reader *r, size_t limit, struct arena *arena,
                         struct refit_row **ret, size_t *ret_count, struct error *err);
enum err mem_read_turn_backs(struct storage_reader *r, size_t limit, struct arena *arena,
                             struct turn_back_row **ret, size_t *ret_count, struct error *err);
enum err mem_read_idle_objects(struct storage_reader *r, int64_t app_before_ms,
                               int64_t system_before_ms, size_t limit, struct arena *arena,
                               struct object_row **ret, size_t *ret_count, struct error *err);
enum err mem_read_object_holders(struct storage_reader *r, struct arena *arena,
                                 struct object_holder_row **ret, size_t *ret_count,
                                 struct error *err);
enum err mem_read_held_objects(struct storage_reader *r, const char *holder, size_t limit,
                               struct arena *arena, struct object_row **ret, size_t *ret_count,
                               struct error *err);
enum err mem_read_object_totals(struct storage_reader *r, const char *bundle_id,
                                struct object_totals *ret, struct error *err);
enum err mem_read_stand_ins(struct storage_reader *r, const struct uuid *uuid, struct arena *arena,
                            struct stand_in_row **ret, size_t *ret_count, struct error *err);
enum err mem_read_kept_index_bytes(struct storage_reader *r, const char *bundle_id, uint64_t *ret,
                                   struct error *err);
enum err mem_read_protected(struct storage_reader *r, const char *bundle_id, struct arena *arena,
                            struct protected_row **ret, size_t *ret_count, struct error *err);
enum err mem_read_open_upload(struct storage_reader *r, const uint8_t id[OPEN_UPLOAD_ID_SIZE],
                              struct arena *arena, struct open_upload_row *ret, struct error *err);
enum err mem_read_open_uploads(struct storage_reader *r, const uint8_t *after, int64_t before_ms,
                               size_t limit, struct arena *arena, struct open_upload_row **ret,
                               size_t *ret_count, struct error *err);
enum err mem_read_missing(struct storage_reader *r, const char *bundle_id, size_t limit,
                          const char *cursor, struct arena *arena, struct missing_row **ret,
                          size_t *ret_count, const char **ret_next, struct error *err);
enum err mem_read_clusters(struct storage_reader *r, const struct read_filter *f,
                           enum cluster_sort sort, size_t limit, const char *cursor,
                           struct arena *arena, struct cluster_row **ret, size_t *ret_count,
                           const char **ret_next, struct error *err);
enum err mem_read_cluster(struct storage_reader *r, uint64_t id, const struct read_filter *f,
                          struct arena *arena, struct cluster_row *ret, struct error *err);
enum err mem_read_cluster_aliases(struct storage_reader *r, uint64_t id, struct arena *arena,
                                  uint64_t **ret, size_t *ret_count, struct error *err);
enum err mem_read_cluster_stacks(struct storage_reader *r, uint64_t id, size_t limit,
                                 struct arena *arena, struct stack_row **ret, size_t *ret_count,
                                 struct error *err);
enum err mem_read_breakdown(struct storage_reader *r, uint64_t cluster_id,
                            const struct read_filter *f, enum breakdown_by by,
                            enum breakdown_by by2, size_t limit, struct arena *arena,
                            struct breakdown_row **ret, size_t *ret_count,
                            struct breakdown_scope *ret_scope, struct error *err);
enum err mem_read_cluster_reports(struct storage_reader *r, uint64_t cluster_id,
                                  const struct read_filter *f, size_t limit, const char *cursor,
                                  struct arena *arena, struct report_row **ret, size_t *ret_count,
                                  const char **ret_next, struct error *err);
enum err mem_read_report(struct storage_reader *r, const char *bundle_id, const char *id,
                         struct arena *arena, struct report_row *ret, struct error *err);
enum err mem_read_stats(struct storage_reader *r, const char *bundle_id, struct stats_row *ret,
                        struct error *err);
enum err mem_read_stack_totals(struct storage_reader *r, const char *bundle_id,
                               struct stack_totals *ret, struct error *err);
enum err mem_read_symbolication(struct storage_reader *r, const char *bundle_id, const char *by,
                                size_t limit, struct arena *arena, struct symbolication_row **ret,
                                size_t *ret_count, struct error *err);
enum err mem_read_overlays(struct storage_reader *r, uint64_t after_version, struct arena *arena,
                           struct overlay_row **ret, size_t *ret_count, struct error *err);
enum err mem_read_keyed_stacks(struct storage_reader *r, const char *bundle_id, uint64_t cluster_id,
                               uint64_t after_id, size_t limit, struct arena *arena,
                               struct keyed_stack **ret, size_t *ret_count, struct error *err);
enum err mem_read_stack_floor(struct storage_reader *r, const char *bundle_id, size_t heaviest,
                              struct stack_floor *ret, uint64_t *ret_total, struct error *err);
enum err mem_read_cluster_rules(struct storage_reader *r, const char *bundle_id, bool undone,
                                size_t limit, const char *cursor, struct arena *arena,
                                struct cluster_rule_row **ret, size_t *ret_count,
                                const char **ret_next, struct error *err);
enum err mem_read_cluster_parts(struct storage_reader *r, uint64_t cluster_id, size_t limit,
                                struct arena *arena, struct cluster_part **ret, size_t *ret_count,
                                struct error *err);
enum err mem_read_related(struct storage_reader *r, const char *bundle_id, uint64_t cluster_id,
                          struct arena *arena, struct related_row **ret, size_t *ret_count,
                          struct error *err);
enum err mem_read_cluster_work(struct storage_reader *r, struct arena *arena,
                               struct cluster_work_row **ret, size_t *ret_count, struct error *err);
enum err mem_read_cluster_work_last(struct storage_reader *r, const char *bundle_id,
                                    struct arena *arena, struct cluster_work_row **ret,
                                    size_t *ret_count, struct error *err);
enum err mem_read_cluster_apps(struct storage_reader *r, const char *rules_version,
                               struct arena *arena, struct cluster_app_row **ret, size_t *ret_count,
                               struct error *err);
enum err mem_read_findings_due(struct storage_reader *r, size_t limit, struct arena *arena,
                               struct finding_due **ret, size_t *ret_count, struct error *err);
enum err mem_read_cluster_findings(struct storage_reader *r, uint64_t cluster_id,
                                   struct cluster_findings *ret, struct error *err);

/* NULL: nothing was found. */
const struct mem_finding *mem_finding_of(const struct mem_state *s, uint64_t report_id);
/* A whole report. */
enum err mem_show_report(const struct mem_state *s, const struct mem_report *m, struct arena *arena,
                         struct report_row *ret, struct error *err);

#endif
