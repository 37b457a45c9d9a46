/*
 * memory_state - the memory backend's tables.
 *
 * Purpose: a storage without a file, for tests and as the other opinion in the conformance suite.
 * Where SQLite folds reports into counters, this one keeps a small fact of every report for ever
 * and adds facts up at each question: slow, and hard to get wrong.
 *
 * Invariants: tables are flat arrays in order of insertion; what their pointers point to is never
 * changed, only replaced, and lives until close. So a copy of the arrays is a snapshot: one is made
 * before each op, one is published at each commit.
 *
 * Threads: see storage.h. Memory: mem_state_copy/mem_state_free; texts in `struct mem_storage`'s
 * arena.
 */
#ifndef STALLSYM_STORAGE_MEMORY_STATE_H
#define STALLSYM_STORAGE_MEMORY_STATE_H

#include <pthread.h>

#include "base/arena.h"
#include "storage/candidates.h"
#include "storage/figures.h"
#include "storage/storage_backend.h"

enum mem_value_kind {
    MEM_BUILD,
    MEM_DEVICE,
    MEM_OS,
    MEM_PAGE,
    MEM_PATH,
    MEM_THRESHOLD,
    MEM_IMAGE,
    MEM_IMAGE_SET,
    MEM_LAYOUT,
    MEM_MEMBER,
    MEM_STACK,
    MEM_STACK_DROPPED,
    MEM_USAGE_DEVICE,
    MEM_USAGE_PAGE,
    MEM_PAIR_DEVICE,
    MEM_PAIR_PAGE,
    MEM_PAIR_DROPPED,
};

struct mem_app {
    const char *bundle_id;
    int64_t total_id; /* a stack id that is not a stack: ids are those of the SQLite backend */
};

struct mem_value {
    size_t app;
    enum mem_value_kind kind;
    const char *value, *value2;
};

/* A pair that the week has; the texts are those of `values`. */
struct mem_pair {
    size_t app;
    enum mem_value_kind kind;
    int32_t week;
    const char *value, *with;
};

struct mem_day {
    size_t app;
    enum mem_value_kind kind;
    int32_t day;
    uint32_t added;
};

struct mem_image {
    size_t app;
    struct image_row row;
};

struct mem_member {
    size_t app;
    struct uuid group, uuid;
};

struct mem_layout {
    struct layout_row row;
};

struct mem_claim {
    size_t app;
    struct uuid uuid;
    uint64_t vmaddr;
};

struct mem_set {
    size_t app;
    const char *client_id;
    int64_t used_ms;
    const void *data;
    size_t len;
};

struct mem_cluster {
    uint64_t id;
    size_t app;
    uint8_t key[16];
    struct cluster_row row;           /* texts and flags */
    bool borrowed;                    /* they are those of a part that was merged into it */
    int64_t created_ms, announced_ms; /* 0: unknown, not yet */
    uint64_t origin_id;               /* whose stack made it; 0: a new one */
    bool decided;
};

struct mem_change {
    uint64_t cluster_id;
    struct cluster_change row;
};

struct mem_alert {
    uint64_t id;
    enum alert_kind kind;
    size_t app; /* SIZE_MAX: none */
    uint64_t cluster_id;
    const char *subject, *body;
    int64_t created_ms;
};

struct mem_delivery {
    uint64_t id, alert_id;
    const char *target;
    enum delivery_state state;
    uint32_t attempts;
    int64_t next_ms, done_ms;
    int32_t status;
    const char *error;
};

struct mem_alias {
    uint64_t alias, cluster_id;
    size_t app;
    uint8_t key[16]; /* that it stood for */
};

struct mem_rule {
    size_t app;
    struct cluster_rule_row row; /* cluster_id is not kept here */
};

struct mem_related {
    size_t app;
    struct op_related row;
};

struct mem_overlay {
    size_t app;
    uint64_t version, epoch;
    const void *data;
    size_t len;
};

struct mem_work {
    size_t app;
    struct cluster_work_row row;
};

struct mem_move {
    uint64_t from, to;
    int64_t weighted, count;
};

struct mem_stack {
    uint64_t id;
    size_t app;
    uint8_t hash[STACK_HASH_SIZE];
    const void *raw;
    size_t raw_len;
    bool pending, provisional, give_up, approximate;
    uint32_t generation;
    uint64_t cluster_id; /* 0: none */
    uint8_t part[16];    /* its own key, once it has a cluster */
    int64_t created_ms;
    const struct resolved_stack *resolved; /* NULL before the first resolution */
    const struct uuid *missing;
    size_t missing_count;
};

/* What one report added to the sums. */
struct mem_fact {
    size_t app;
    uint64_t report_id; /* which may be gone */
    uint64_t stack_id;  /* 0: none */
    int64_t time_ms;
    enum report_kind kind;
    const char *version, *build, *device, *os_version, *page;
    int64_t weighted;
    int64_t duration_ms;
};

/* What an item of usage added, sampling undone. */
struct mem_usage {
    size_t app;
    int32_t day;
    const char *version, *build, *device, *os_version, *page;
    int64_t foreground_ms, launches;
};

struct mem_id {
    int32_t day;
    uint8_t hash[REPORT_ID_HASH_SIZE];
    uint64_t report_id;
};

struct mem_report {
    uint64_t id;
    size_t app;
    uint64_t stack_id;          /* 0: none */
    const struct op_report *op; /* a copy; its stack indexes mean nothing */
    const uint64_t *sample_stacks;
    const uint64_t *thread_stacks; /* 0: none */
};

struct mem_finding {
    uint64_t report_id;
    struct finding_row row;
};

struct mem_due {
    uint64_t report_id;
    uint32_t generation;
};

/* A stack with new frames: its reports above `after_id` are not due yet. */
struct mem_due_stack {
    uint64_t stack_id;
    uint64_t after_id;
};

struct mem_upload {
    struct upload_row row; /* without slices */
    const char *bundle_id, *version, *build, *os_build;
    size_t slice_count;
};

struct mem_slice {
    uint64_t id;
    struct slice_row row;
};

/* Of what an app owns (shelf.h). */
struct mem_shelf {
    struct uuid shelf, image;
    const char *bundle_id;
};

struct mem_refit {
    struct refit_row row;
};

struct mem_turn_back {
    struct turn_back_row row;
};

struct mem_object {
    struct object_row row;
    bool system;
};

struct mem_protected {
    struct protected_row row;
};

struct mem_open {
    struct open_upload_row row;
};

struct mem_stand_in {
    struct stand_in_row row;
};

/* A stack that lost its last report while it was pending. */
struct mem_left {
    uint64_t stack_id;
};

struct mem_token {
    struct token_row row;
};

struct mem_quota {
    struct quota_row row;
};

struct mem_config {
    const char *bundle_id;
    uint64_t token_id;
    struct config_row row;
};

#define MEM_TABLES(X)                                                                              \
    X(app, apps)                                                                                   \
    X(value, values)                                                                               \
    X(day, days)                                                                                   \
    X(image, images)                                                                               \
    X(member, members)                                                                             \
    X(layout, layouts)                                                                             \
    X(claim, claims)                                                                               \
    X(set, sets)                                                                                   \
    X(cluster, clusters)                                                                           \
    X(alert, alerts)                                                                               \
    X(delivery, deliveries)                                                                        \
    X(change, changes)                                                                             \
    X(alias, aliases)                                                                              \
    X(move, moves)                                                                                 \
    X(stack, stacks)                                                                               \
    X(fact, facts)                                                                                 \
    X(pair, pairs)                                                                                 \
    X(usage, usages)                                                                               \
    X(id, ids)                                                                                     \
    X(report, reports)                                                                             \
    X(finding, findings)                                                                           \
    X(due, dues)                                                                                   \
    X(due_stack, due_stacks)                                                                       \
    X(upload, uploads)                                                                             \
    X(slice, slices)                                                                               \
    X(shelf, shelves)                                                                              \
    X(token, tokens)                                                                               \
    X(rule, rules)                                                                                 \
    X(related, related)                                                                            \
    X(overlay, overlays)                                                                           \
    X(work, works)                                                                                 \
    X(quota, quotas)                                                                               \
    X(config, configs)                                                                             \
    X(refit, refits)                                                                               \
    X(turn_back, turn_backs)                                                                       \
    X(object, objects)                                                                             \
    X(protected, protecteds)                                                                       \
    X(open, opens)                                                                                 \
    X(stand_in, stand_ins)                                                                         \
    X(left, lefts)

struct mem_state {
#define MEM_FIELD(type, name)                                                                      \
    struct mem_##type *name;                                                                       \
    size_t name##_count, name##_cap;
    MEM_TABLES(MEM_FIELD)
#undef MEM_FIELD
    uint64_t next_stack, next_report, next_cluster, next_upload, next_slice, next_token,
        next_change;
    int32_t hours_from; /* first day whose hours are known */
    uint64_t next_rule, next_work;
    uint64_t next_alert, next_delivery, regressions_seen;
    struct alert_settings alert_settings;
    unsigned users; /* readers of a published state */
};

struct mem_storage {
    struct storage base;
    uint32_t daily_values, daily_stacks;
    struct arena arena;     /* everything rows point to */
    struct mem_state *work; /* the writer's */
    bool in_group;
    pthread_mutex_t lock;
    struct mem_state *published;
};

struct mem_reader {
    struct storage_reader base;
    struct mem_storage *storage;
    struct mem_state *state; /* between read_begin and read_end */
    int64_t deadline_mono_ms;
};

struct mem_state *mem_state_copy(const struct mem_state *s);
void mem_state_free(struct mem_state *s);
/* Room for one more row, zeroed; NULL without memory. */
void *mem_add_row(void **rows, size_t *count, size_t *cap, size_t size);
#define mem_add(s, name)                                                                           \
    (mem_add_row((void **)&(s)->name, &(s)->name##_count, &(s)->name##_cap, sizeof(*(s)->name))    \
         ? &(s)->name[(s)->name##_count - 1]                                                       \
         : NULL)
/* Removes row `i`, keeping the order. */
void mem_remove_row(void *rows, size_t *count, size_t size, size_t i);
#define mem_remove(s, name, i) mem_remove_row((s)->name, &(s)->name##_count, sizeof(*(s)->name), i)

static inline enum err mem_no_memory(struct error *err)
{
    return error_set(err, ERR_NO_MEMORY, "no memory");
}

/* SIZE_MAX: there is no such app. NULL asks for any and matches every app. */
size_t mem_app_of(const struct mem_state *s, const char *bundle_id);
struct mem_stack *mem_stack_of(const struct mem_state *s, uint64_t id);
struct mem_cluster *mem_cluster_of(const struct mem_state *s, uint64_t id);
/* The current slice of a shelf, or NULL. */
const struct mem_slice *mem_current_slice(const struct mem_state *s, const struct uuid *uuid);
/* Sums of a stack. */
struct mem_sums {
    int64_t count, weighted, stall_ms;
    int64_t above_ms; /* what weights above 1 add to it */
    int64_t first_ms, last_ms;
};
struct mem_sums mem_stack_sums(const struct mem_state *s, uint64_t stack_id);

/* memory_write_*.c */
enum err mem_write_batches(struct mem_storage *m, struct write_op *op, struct error *err);
enum err mem_write_resolutions(struct mem_storage *m, struct write_op *op, struct error *err);
enum err mem_write_give_up(struct mem_storage *m, struct write_op *op, struct error *err);
enum err mem_write_upload(struct mem_storage *m, struct write_op *op, struct error *err);
enum err mem_write_upload_state(struct mem_storage *m, struct write_op *op, struct error *err);
enum err mem_write_repend(struct mem_storage *m, struct write_op *op, struct error *err);
enum err mem_write_symbol_delete(struct mem_storage *m, struct write_op *op, struct error *err);
enum err mem_write_token(struct mem_storage *m, struct write_op *op, struct error *err);
enum err mem_write_token_revoke(struct mem_storage *m, struct write_op *op, struct error *err);
enum err mem_write_expire(struct mem_storage *m, struct write_op *op, struct error *err);
enum err mem_write_rekey(struct mem_storage *m, struct write_op *op, struct error *err);
enum err mem_write_cluster_rule(struct mem_storage *m, struct write_op *op, struct error *err);
enum err mem_write_cluster_rule_undo(struct mem_storage *m, struct write_op *op, struct error *err);
enum err mem_write_epoch(struct mem_storage *m, struct write_op *op, struct error *err);
enum err mem_write_cluster_carry(struct mem_storage *m, struct write_op *op, struct error *err);
enum err mem_write_cluster_work(struct mem_storage *m, struct write_op *op, struct error *err);

/* memory_write_store.c */
enum err mem_write_upload_delete(struct mem_storage *m, struct write_op *op, struct error *err);
enum err mem_write_refit(struct mem_storage *m, struct write_op *op, struct error *err);
enum err mem_write_refitted(struct mem_storage *m, struct write_op *op, struct error *err);
enum err mem_write_objects(struct mem_storage *m, struct write_op *op, struct error *err);
enum err mem_write_protect(struct mem_storage *m, struct write_op *op, struct error *err);
enum err mem_write_open_upload(struct mem_storage *m, struct write_op *op, struct error *err);
enum err mem_write_piece(struct mem_storage *m, struct write_op *op, struct error *err);
enum err mem_write_open_drop(struct mem_storage *m, struct write_op *op, struct error *err);
enum err mem_queue_refit(struct mem_storage *m, const struct uuid *uuid, bool deleted,
                         struct error *err);
enum err mem_queue_turn_back(struct mem_storage *m, const struct uuid *uuid, bool all_users,
                             struct error *err);
/* The upload in pieces became an ordinary one. */
enum err mem_end_open_upload(struct mem_storage *m, const struct op_upload *u, struct error *err);
enum err mem_note_object(struct mem_storage *m, const struct op_slice *x, bool system,
                         int64_t now_ms, struct error *err);
/* Objects that no slice is left of go at the next look. */
void mem_orphan_objects(struct mem_state *s);
enum err mem_write_findings(struct mem_storage *m, struct write_op *op, struct error *err);

/* memory_write_findings.c */
enum err mem_finding_due(struct mem_state *s, uint64_t report_id, struct error *err);
/* A stack has new frames; *ret_due: samples or threads refer to it. */
enum err mem_finding_stack_due(struct mem_state *s, uint64_t stack_id, bool *ret_due,
                               struct error *err);
void mem_finding_forget_report(struct mem_state *s, uint64_t report_id);
void mem_finding_forget_stack(struct mem_state *s, uint64_t stack_id);

/* memory_stand_ins.c */
enum err mem_write_stand_in(struct mem_storage *m, struct write_op *op, struct error *err);
/* The one that counts for the app. */
const struct stand_in_row *mem_stand_in_of(const struct mem_state *s, const char *bundle_id,
                                           const struct uuid *uuid);
/* The true file came. */
void mem_stand_in_end(struct mem_state *s, const struct uuid *uuid);
/* The index of `uuid` changed: stacks it stood in for are resolved anew. */
void mem_stand_in_changed(struct mem_state *s, const struct uuid *uuid);
/* Candidates of a row whose versions are known. */
enum err mem_fill_candidates(const struct mem_state *s, const struct build_seen *seen, size_t count,
                             struct missing_row *m, struct arena *arena, struct error *err);

/* memory_shelves.c */
/* NULL: it is no app's own. */
const struct mem_shelf *mem_shelf_of(const struct mem_state *s, const struct uuid *shelf);
const struct uuid *mem_shelf_image(const struct mem_state *s, const struct uuid *shelf);
bool mem_shelf_serves(const struct mem_state *s, const struct uuid *shelf, const char *bundle_id);
enum err mem_shelf_note(struct mem_storage *m, const struct uuid *shelf, const struct uuid *image,
                        const char *bundle_id, struct error *err);
/* Where nothing lies there any more, nobody has to be told, and no place is known from it. */
void mem_shelf_end(struct mem_state *s, const struct uuid *shelf);
/* The slice in use of an image for an app (`any`: for whichever), or NULL. */
const struct mem_slice *mem_serving_slice(const struct mem_state *s, const char *bundle_id,
                                          bool any, const struct uuid *image);
/* Whether the image has an index on another shelf for those whom this one serves. */
bool mem_has_rival(const struct mem_state *s, const struct uuid *shelf, const struct uuid *image);
/* An image whose index cannot be used: of the app's own, and of what serves all. */
enum err mem_queue_gone(struct mem_storage *m, size_t app, const struct uuid *image,
                        struct error *err);

/* memory_images.c */
enum err mem_learn_images(struct mem_storage *m, size_t app, int32_t day,
                          const struct op_image *images, size_t count, struct error *err);
enum err mem_learn_layout(struct mem_storage *m, const struct uuid *uuid, uint64_t vmaddr,
                          uint64_t size, bool *ret_changed, struct error *err);
/* `app` SIZE_MAX: of any. */
bool mem_is_member(const struct mem_state *s, size_t app, const struct uuid *group,
                   const struct uuid *uuid);
/* A facts about `uuid` changed: pending stacks with a frame in it get a new generation. */
void mem_disturb(struct mem_state *s, const struct uuid *uuid);
bool mem_uses(const struct mem_stack *k, const struct uuid *uuid);
bool mem_misses(const struct mem_stack *k, const struct uuid *uuid);
/* Whether a symbol file placed the image for the app. */
bool mem_is_placed(const struct mem_state *s, size_t app, const struct uuid *image);
void mem_repend_stack(struct mem_stack *k);
/* So many more of a kind on a day. */
enum err mem_day_add(struct mem_storage *m, size_t app, enum mem_value_kind kind, int32_t day,
                     uint32_t count, struct error *err);
uint32_t mem_day_get(const struct mem_state *s, size_t app, enum mem_value_kind kind, int32_t day);
/* One more new value of a kind on a day; false above the cap. */
enum err mem_daily(struct mem_storage *m, size_t app, enum mem_value_kind kind, int32_t day,
                   bool *ret_allowed, struct error *err);

/* memory_write_resolve.c */
void mem_reap(struct mem_state *s, uint64_t cluster_id);
struct mem_cluster *mem_cluster_of_key(const struct mem_state *s, size_t app,
                                       const uint8_t key[PART_KEY_SIZE]);

/* memory_write_merges.c */
/* The merge that leads away from a key; NULL: none does. */
struct mem_rule *mem_merge_of(const struct mem_state *s, size_t app,
                              const uint8_t key[PART_KEY_SIZE]);
const uint8_t *mem_key_root(const struct mem_state *s, size_t app,
                            const uint8_t key[PART_KEY_SIZE]);
uint64_t mem_overlay_version(const struct mem_state *s, size_t app);

#endif
