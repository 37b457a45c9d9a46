/*
 * storage_read - the questions that are asked of the database, one function a use case.
 *
 * Purpose: shaped by what the resolver, the door and the API need, not by rows.
 *
 * Invariants: every call is one consistent snapshot. Lists come in pages: `cursor` is opaque text
 * ("" or NULL: from the start), `ret_next` is NULL at the end. Not found is ERR_NOT_FOUND. A bad
 * cursor is ERR_INVALID.
 *
 * Threads: one thread per reader. Memory: results live in the caller's arena.
 */
#ifndef STALLSYM_STORAGE_STORAGE_READ_H
#define STALLSYM_STORAGE_STORAGE_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/stack.h"
#include "base/uuid.h"
#include "storage/read_symbols.h"
#include "storage/storage.h"

#define READ_LIMIT_MAX 1000

/* --- for the resolver ----------------------------------------------------------------------- */

struct pending_stack {
    uint64_t stack_id;
    uint32_t generation;
    uint64_t app_id;
    const char *bundle_id;
    bool give_up; /* waited long enough: unresolved images may be skipped */
    const void *raw;
    size_t raw_len;
};

/* Pending stacks with id above `after_id`, ascending. Zero items: none left there. */
enum err read_pending(struct storage_reader *r, uint64_t after_id, size_t limit,
                      struct arena *arena, struct pending_stack **ret, size_t *ret_count,
                      struct error *err);

struct image_row {
    struct uuid id;
    enum image_kind kind;
    enum image_class class; /* a symbol file uploaded as system or app counts too */
    const char *name;
    const char *arch; /* NULL */
};
/* One image of an app (the resolver caches). */
enum err read_image(struct storage_reader *r, const char *bundle_id, const struct uuid *id,
                    struct arena *arena, struct image_row *ret, struct error *err);

/* Members of a slide group that a symbol file gave a place, ascending by it: those that reports of the
 * app named (NULL: of any). */
struct layout_row {
    struct uuid uuid;
    uint64_t vmaddr;
    uint64_t size;
    const char *own; /* the app that it is for, "" all; of read_layouts() alone */
};
enum err read_group(struct storage_reader *r, const char *bundle_id, const struct uuid *group,
                    struct arena *arena, struct layout_row **ret, size_t *ret_count,
                    struct error *err);
/* Places that symbol files told, newest first, at most `limit`: the door loads them at start. */
enum err read_layouts(struct storage_reader *r, size_t limit, struct arena *arena,
                      struct layout_row **ret, size_t *ret_count, struct error *err);
/* So those that reports told, each for its own app. */
struct layout_claim_row {
    struct uuid uuid;
    uint64_t vmaddr;
    const char *bundle_id;
};
enum err read_layout_claims(struct storage_reader *r, size_t limit, struct arena *arena,
                            struct layout_claim_row **ret, size_t *ret_count, struct error *err);

/* --- for the door --------------------------------------------------------------------------- */

/* The bytes a client's image set was stored with; none of them when its name stands for several. */
enum err read_image_set(struct storage_reader *r, const char *bundle_id, const char *image_set,
                        struct arena *arena, const void **ret, size_t *ret_len, struct error *err);

struct token_row {
    uint64_t id;
    uint8_t hash[SHA256_SIZE];
    uint32_t scopes;
    const char *name;
    const char *bundle_id; /* NULL: any app */
    int64_t created_ms;
};
enum err read_tokens(struct storage_reader *r, struct arena *arena, struct token_row **ret,
                     size_t *ret_count, struct error *err);

/* --- symbols -------------------------------------------------------------------------------- */

struct slice_row {
    uint64_t id;
    struct uuid shelf; /* shelf.h */
    struct uuid image; /* the UUID that the file has */
    const char *name;
    const char *member;
    const char *arch;
    const char *reason; /* NULL */
    bool indexed;
    bool has_dwarf;
    uint64_t functions, lines, inlines, index_bytes;
    uint64_t text_vmaddr, text_size;
    uint8_t object_sha256[SHA256_SIZE];
    uint64_t object_bytes;
    uint64_t upload_id;
    int64_t created_ms;
    bool current;     /* its index is the one in use */
    bool lost;        /* its index is gone, and so is the object: to be sent again */
    bool object_kept; /* the object file is in the store */
    bool system;
    bool bound;            /* sent with a token bound to bundle_id, serves that app alone */
    const char *bundle_id; /* "" when not given; so the next three */
    const char *version;
    const char *build;
    const char *os_build;
};

struct upload_row {
    uint64_t id;
    enum upload_state state;
    const char *reason; /* NULL */
    const char *spool_file;
    const char *bundle_id; /* "" when not given */
    uint8_t sha256[SHA256_SIZE];
    uint64_t size;
    int64_t created_ms;
    bool system;
    bool bound; /* its token was bound to bundle_id */
    struct slice_row *slices;
    size_t slice_count;
};

enum err read_upload(struct storage_reader *r, uint64_t id, struct arena *arena,
                     struct upload_row *ret, struct error *err);
/* Digests of the objects whose indexes are in use and serve all, at most KNOWN_OBJECTS_MAX. */
#define KNOWN_OBJECTS_MAX ((size_t)1 << 20)
struct known_object {
    struct uuid uuid;
    uint8_t sha256[SHA256_SIZE];
};
enum err read_known_objects(struct storage_reader *r, struct arena *arena,
                            struct known_object **ret, size_t *ret_count, struct error *err);
/* What an uploader says of its files; "" and NULL: nothing. */
struct upload_origin {
    const char *bundle_id, *version, *build, *os_build;
    bool system;
    bool bound; /* what serves bundle_id alone will do */
};
/* The newest indexed upload of a body with that SHA-256 whose slices are all still there, none of
 * them lost, and of which everything was said that `origin` says: under another version the same
 * body is another upload. */
enum err read_upload_by_sha256(struct storage_reader *r, const uint8_t sha256[SHA256_SIZE],
                               const struct upload_origin *origin, struct arena *arena,
                               struct upload_row *ret, struct error *err);
/* Uploads that are queued or were being indexed when the daemon went down, oldest first. */
struct upload_waiting {
    uint64_t id;
    const char *bundle_id; /* "" */
};
enum err read_uploads_waiting(struct storage_reader *r, struct arena *arena,
                              struct upload_waiting **ret, size_t *ret_count, struct error *err);
/* Which images have an index that serves the app, "": all apps; present[i]. */
enum err read_symbols_present(struct storage_reader *r, const char *bundle_id,
                              const struct uuid *uuids, size_t count, bool *present,
                              struct error *err);
/* Those in use: `bundle_id` NULL all, else what was sent for the app, and what serves it of images that
 * its reports named. */
enum err read_symbols(struct storage_reader *r, const char *bundle_id, size_t limit,
                      const char *cursor, struct arena *arena, struct slice_row **ret,
                      size_t *ret_count, const char **ret_next, struct error *err);
/* All objects of a shelf, the current one first. */
enum err read_symbol(struct storage_reader *r, const struct uuid *shelf, struct arena *arena,
                     struct slice_row **ret, size_t *ret_count, struct error *err);

/* A symbol file of another UUID that may stand in: the same image name and architecture, uploaded
 * for the same app and version. */
#define CANDIDATES_MAX 3
struct missing_candidate {
    struct uuid uuid;
    const char *version, *build; /* of its upload; build "" when not given */
    bool same_build;
    bool has_dwarf;
};

struct missing_row {
    struct uuid uuid;
    const char *name;
    const char *arch; /* NULL */
    enum image_class class;
    const char *bundle_id;
    const char **versions; /* "7.2.1 (7210)", newest seen first, at most 10 */
    size_t version_count;
    const struct missing_candidate *candidates; /* nearest build first */
    size_t candidate_count;
    const struct uuid *stand_in; /* NULL: none that serves the app */
    uint64_t reports;
    uint64_t frames; /* frames of distinct stacks that wait */
    int64_t first_seen_ms;
    int64_t last_seen_ms;
};
/* Images that reports wait for, most wanted first; app images before system ones. */
enum err read_missing(struct storage_reader *r, const char *bundle_id, size_t limit,
                      const char *cursor, struct arena *arena, struct missing_row **ret,
                      size_t *ret_count, const char **ret_next, struct error *err);

/* --- clusters and reports ------------------------------------------------------------------- */

/* NULL / -1 / INT64_MIN: not asked for. A filter that is NULL asks for everything. Times that are
 * midnights UTC are answered from counters, for ever; others from reports, inside their
 * retention. */
struct read_filter {
    const char *bundle_id;
    const char *version;
    const char *build;
    const char *device;
    const char *os_version;
    const char *page;
    const char *category;
    const char *state; /* "open", "resolved", "ignored" */
    const char *text;  /* q=: in title, function or file, ASCII case ignored */
    int kind;          /* enum report_kind, -1 */
    int64_t since_ms;  /* inclusive; INT64_MIN */
    int64_t until_ms;  /* exclusive; INT64_MIN */
    int64_t min_duration_ms;
    bool include_hidden; /* idle clusters too */
    bool deadlock;       /* read_cluster_reports: deadlocked ones alone */
};
void read_filter_init(struct read_filter *f);

/* By count and by stall time: sampling undone. */
enum cluster_sort { SORT_COUNT, SORT_STALL_MS, SORT_LAST_SEEN, SORT_FIRST_SEEN, SORT_P90 };

struct duration_figures {
    uint64_t count;
    double weighted;
    uint64_t stall_ms;
    uint64_t weighted_stall_ms;     /* sampling undone */
    int64_t p50_ms, p90_ms, p99_ms; /* -1: no duration known */
};

/* How much an app was used, sampling undone. */
struct usage_figures {
    bool known; /* false: not kept in this crossing; the rest is 0 */
    uint64_t foreground_ms;
    double launches;
};

struct trend_point {
    int32_t day;
    uint64_t count;
};

#define TREND_DAYS 14
struct cluster_row {
    uint64_t id;
    const char *bundle_id;
    const char *title;
    const char *function; /* NULL; so file, image, owner, resolved_in, note */
    const char *file;
    const char *image;
    const char *category;
    const char *owner;
    const char *state;
    const char *resolved_in;
    const char *note;
    const char *key_text;
    const char *rules_version;
    uint8_t cluster_kind;
    bool provisional;
    bool hidden;
    bool approximate;           /* all its stacks are: named by stand-ins (op_stand_ins.h) */
    const char *resolved_build; /* with resolved_in; NULL: any build */
    /* It was resolved and came back in that release; INT64_MIN, NULL: it did not. */
    int64_t regressed_ms;
    const char *regressed_in, *regressed_build;
    struct duration_figures figures; /* under the filter */
    uint64_t devices; /* distinct models that ever were touched, whatever the filter */
    uint64_t versions;
    /* Oldest and newest release it was ever seen in (base/app_version.h); NULL: none is a version. */
    const char *first_version, *first_build, *last_version, *last_build;
    uint64_t stacks;
    int64_t first_seen_ms;
    int64_t last_seen_ms;
    /* Last 14 days up to the app's newest report, oldest first, whatever the filter. */
    struct trend_point trend[TREND_DAYS];
    size_t trend_count;
};

enum err read_clusters(struct storage_reader *r, const struct read_filter *f,
                       enum cluster_sort sort, size_t limit, const char *cursor,
                       struct arena *arena, struct cluster_row **ret, size_t *ret_count,
                       const char **ret_next, struct error *err);

/* One cluster, by its id or an alias of it (ret->id is the living one). */
enum err read_cluster(struct storage_reader *r, uint64_t id, const struct read_filter *f,
                      struct arena *arena, struct cluster_row *ret, struct error *err);
enum err read_cluster_aliases(struct storage_reader *r, uint64_t id, struct arena *arena,
                              uint64_t **ret, size_t *ret_count, struct error *err);

struct stack_row {
    uint64_t stack_id;
    uint64_t count;
    double weighted;
    uint64_t stall_ms;
    uint64_t weighted_stall_ms; /* sampling undone */
    bool pending;
    bool provisional;
    bool approximate; /* frames of the last resolution are named by a stand-in */
    int64_t first_seen_ms;
    int64_t last_seen_ms;
    const char *bundle_id;
    struct raw_stack raw;
    struct resolved_stack resolved; /* of the last resolution; count 0 before the first one */
    uint8_t part[PART_KEY_SIZE];    /* its own key in that; zeros before */
    uint8_t cluster_kind;           /* analysis' enum cluster_kind; of the cluster it is in */
};
/* A cluster's stacks, heaviest first (ties: smallest hash). */
enum err read_cluster_stacks(struct storage_reader *r, uint64_t id, size_t limit,
                             struct arena *arena, struct stack_row **ret, size_t *ret_count,
                             struct error *err);

enum breakdown_by {
    BY_NONE,
    BY_VERSION,
    BY_BUILD,
    BY_DEVICE,
    BY_OS_VERSION,
    BY_PAGE,
    BY_DAY,
    BY_KIND,
    BY_CATEGORY, /* of its cluster: reports in no cluster are left out */
};
#define BREAKDOWN_DIMENSIONS (BY_CATEGORY + 1)
struct breakdown_row {
    const char *value;
    const char *value2; /* NULL without a second dimension */
    struct duration_figures figures;
    double share;               /* of the cluster's (or app's) weighted count under the filter */
    double app_share;           /* the same value's share in the whole app */
    struct usage_figures usage; /* of the app with that value */
};
struct breakdown_scope {
    const char *source; /* "counters" (for ever) or "reports" (inside their retention) */
    int64_t since_ms;   /* how far back the source reaches; INT64_MIN: all */
};
/* `cluster_id` 0: the whole app. Largest first, at most `limit` rows. */
enum err read_breakdown(struct storage_reader *r, uint64_t cluster_id, const struct read_filter *f,
                        enum breakdown_by by, enum breakdown_by by2, size_t limit,
                        struct arena *arena, struct breakdown_row **ret, size_t *ret_count,
                        struct breakdown_scope *ret_scope, struct error *err);

struct sample_row {
    int32_t offset_ms;
    uint32_t repeat_count;
    int16_t cpu_usage;
    const char *thread_state;
    const uint64_t *addresses;
    struct stack_row stack;
};
struct thread_row {
    int64_t tid;
    const char *name, *state;
    bool stalled;
    const char *queue; /* NULL; so the next two */
    const char *waits_kind;
    const char *waits_queue;
    uint64_t waits_address;
    int64_t owner_tid;
    bool has_stack;
    const uint64_t *addresses;
    struct stack_row stack;
};
/* What was found out about a report with several samples, or with threads that wait. */
struct finding_row {
    bool has_culprit; /* else none of the next four */
    uint32_t sample;  /* which one stands for the report */
    int64_t stage_ms, total_ms;
    double confidence;
    const char *deadlock; /* indexes of the cycle's threads, compact JSON; NULL: none */
};
struct report_row {
    const char *id;
    const char *bundle_id;
    uint64_t cluster_id;  /* 0: none */
    const char *category; /* the cluster's, NULL */
    enum report_kind kind;
    int64_t time_ms, received_ms, device_time_ms;
    bool clock_skew;
    int64_t duration_ms;
    double weight;
    const char *threshold_type, *version, *build, *device, *os_version, *os_build, *arch, *page,
        *path, *stack_skipped, *tags;
    int32_t cpu_usage, memory_usage;
    const int32_t *frame_gaps_ms;
    size_t frame_gap_count;
    bool has_stack;
    struct finding_row finding;
    /* From here on filled by read_report and read_findings_due only. */
    const uint64_t *addresses; /* as many as the stack has raw frames */
    struct stack_row stack;
    struct sample_row *samples;
    size_t sample_count;
    struct thread_row *threads;
    size_t thread_count;
};
/* In the order of receipt, newest first. `cluster_id` 0: of all. No stacks, samples, threads. */
enum err read_cluster_reports(struct storage_reader *r, uint64_t cluster_id,
                              const struct read_filter *f, size_t limit, const char *cursor,
                              struct arena *arena, struct report_row **ret, size_t *ret_count,
                              const char **ret_next, struct error *err);
/* By the client's id; `bundle_id` NULL: in any app (the newest). */
enum err read_report(struct storage_reader *r, const char *bundle_id, const char *id,
                     struct arena *arena, struct report_row *ret, struct error *err);

struct stats_row {
    uint64_t apps, reports, pending_stacks, clusters, symbol_files, uploads_waiting;
    uint64_t pending_findings; /* reports and stacks in the queue of read_findings_due */
    uint64_t database_bytes, wal_bytes;
    uint64_t database_used_bytes; /* of database_bytes; the rest is used before the file grows */
};
enum err read_stats(struct storage_reader *r, const char *bundle_id, struct stats_row *ret,
                    struct error *err);

/* What is counted over all stacks: with half a million of them it takes a second, and so does
 * read_symbolication. */
struct stack_totals {
    uint64_t stacks, provisional_stacks;
    double symbolication_rate; /* application frames with a name / all, over distinct stacks
                                  weighted by reports; NAN when there are none */
};
enum err read_stack_totals(struct storage_reader *r, const char *bundle_id,
                           struct stack_totals *ret, struct error *err);

struct symbolication_row {
    const char *key; /* app, "app version", or image name (of the stacks reported most often) */
    const char *bundle_id, *version; /* by version: the two of the key; else NULL */
    uint64_t frames, resolved;
};
enum err read_symbolication(struct storage_reader *r, const char *bundle_id, const char *by,
                            size_t limit, struct arena *arena, struct symbolication_row **ret,
                            size_t *ret_count, struct error *err);

#include "storage/read_merges.h"

#endif
