/*
 * write_op - everything that changes the database, as values.
 *
 * Purpose: threads describe a change as an op and hand it to the writer (server/jobs/writer.h);
 * only the writer's thread applies it, many ops in one transaction, each in a savepoint.
 *
 * Invariants: an op is applied whole or not at all; applying one twice (retry of a batch, a resolver
 * that was late) changes nothing the second time. Results are written into the op.
 *
 * Threads: an op has one owner at a time: who made it, then the writer, then who is told by
 * `done`. Memory: an op and all it points to live in `arena`, which the op owns: write_op_free().
 */
#ifndef STALLSYM_STORAGE_WRITE_OP_H
#define STALLSYM_STORAGE_WRITE_OP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/stack.h"
#include "base/uuid.h"
#include "storage/op_alerts.h"
#include "storage/op_config.h"
#include "storage/op_findings.h"
#include "storage/op_hours.h"
#include "storage/op_life.h"
#include "storage/op_merges.h"
#include "storage/op_quota.h"
#include "storage/op_stand_ins.h"
#include "storage/op_symbols.h"
#include "storage/op_usage.h"

#define REPORT_ID_HASH_SIZE 16
#define NO_STACK            UINT32_MAX

enum report_kind {
    REPORT_STALL,
    REPORT_SLIGHT_STALL,
    REPORT_HANG,
    REPORT_FRAME_DROP,
    REPORT_LAUNCH,
};
#define REPORT_KINDS 5
const char *report_kind_name(enum report_kind kind); /* "stall", "slight_stall", … */
bool report_kind_parse(const char *name, enum report_kind *ret);

/* How op_report.id_hash is made: reads by a report's id make it again. */
void report_id_hash(const char *bundle_id, const char *id, uint8_t out[REPORT_ID_HASH_SIZE]);

/* --- WRITE_BATCH: reports of one app -------------------------------------------------------- */

struct op_image {
    struct uuid id; /* UUID, or the pseudo-UUID of a named image or slide group (stack.h) */
    enum image_kind kind;
    enum image_class class;
    const char *name;
    const char *arch; /* NULL */
    bool has_vmaddr;  /* slide and load address were both given */
    uint64_t vmaddr;
    bool in_group; /* member of the batch's slide group: `group` */
    struct uuid group;
};

struct op_stack {
    uint8_t hash[STACK_HASH_SIZE];
    const void *raw; /* raw_stack_encode() */
    size_t raw_len;
    uint32_t frame_count;
    uint64_t added_id; /* result: the stack's row when it was new and is pending, else 0 */
};

struct op_sample {
    int32_t offset_ms;
    uint32_t stack; /* index into stacks */
    uint32_t repeat_count;
    int16_t cpu_usage;        /* -1: not given */
    const char *thread_state; /* NULL */
    const void *addresses;    /* stack_addresses_encode() */
    size_t addresses_len;
};

struct op_thread {
    int64_t tid;
    const char *name;  /* NULL */
    const char *state; /* NULL */
    bool stalled;
    uint32_t stack;          /* index into stacks or NO_STACK */
    const char *queue;       /* label of the dispatch queue it works for, NULL */
    const char *waits_kind;  /* NULL: waits for nothing */
    const char *waits_queue; /* label of the queue it waits for, NULL */
    uint64_t waits_address;
    int64_t owner_tid; /* -1: not given */
    const void *addresses;
    size_t addresses_len;
};

struct op_report {
    uint8_t id_hash[REPORT_ID_HASH_SIZE]; /* report_id_hash(app, id) */
    const char *id;
    enum report_kind kind;
    int64_t time_ms; /* effective time: the device's, or that of receipt */
    int64_t received_ms;
    bool clock_skew; /* the device's time was out of range; device_time_ms says what it was */
    int64_t device_time_ms;     /* INT64_MIN: not given */
    int64_t duration_ms;        /* -1: not given */
    double weight;              /* 1 / sample rate, >= 1 */
    const char *threshold_type; /* NULL */
    const char *version;        /* app version, "" when not given */
    const char *build;          /* "" when not given */
    const char *device;         /* model, "" */
    const char *os_version;     /* "" */
    const char *os_build;       /* "" */
    const char *arch;           /* "" */
    const char *page;           /* "" */
    const char *path;           /* "A->B->C", "" */
    int32_t cpu_usage;          /* percent, -1: not given */
    int32_t memory_usage;       /* MB, -1: not given */
    const char *stack_skipped;  /* reason, NULL */
    const char *tags;           /* compact JSON object, NULL */
    const int32_t *frame_gaps_ms;
    size_t frame_gap_count;
    uint32_t stack; /* index into stacks: the report's stack (provisional culprit), or NO_STACK */
    const void *addresses;
    size_t addresses_len;
    const struct op_sample *samples;
    size_t sample_count;
    const struct op_thread *threads;
    size_t thread_count;
    uint32_t position;   /* index over the whole body, for the answer */
    bool duplicate;      /* result: this id was counted before */
    bool stacks_dropped; /* result: above the app's cap of new stacks, see stack_budget.h */
};

/* Several samples, or a thread that waits: its culprit or deadlock is to be found. */
bool op_report_wants_finding(const struct op_report *r);

/* What a list of images sent under a name is to the one stored under it. */
enum image_set_standing {
    IMAGE_SET_OTHER, /* no list of one process: the name stands for none any more */
    IMAGE_SET_HELD,  /* all of it is there */
    IMAGE_SET_GROWN, /* all of the stored one, and more */
};

struct op_batch {
    const char *bundle_id;
    struct op_report *reports;
    size_t report_count;
    struct op_stack *stacks;
    size_t stack_count;
    const struct op_image *images; /* only those that stacks refer to, and group members */
    size_t image_count;
    const char *image_set;      /* client's ID to remember, NULL */
    const void *image_set_data; /* opaque bytes that ingest reads back; NULL: it was only used */
    size_t image_set_len;       /* 0 with data: the name stands for several lists */
    /* NULL: only equal bytes are the same list. */
    enum image_set_standing (*image_set_compare)(const void *stored, size_t stored_len,
                                                 const void *sent, size_t sent_len,
                                                 struct arena *arena);
    bool findings_due; /* result: reports came in that have several samples, or waiting threads */
};

/* What is to be stored under the name instead of `stored`: `*ret_len` bytes of `image_set_data`, none for
 * a name that stands for several lists; false: nothing changes. */
bool op_image_set_changes(const struct op_batch *b, const void *stored, size_t stored_len,
                          struct arena *arena, size_t *ret_len);

/* --- WRITE_RESOLUTION: answers of the resolver ---------------------------------------------- */

struct op_resolution {
    uint64_t stack_id;
    uint32_t generation; /* of the pending row it answers; another one by now: ignored */
    const struct resolved_stack *stack;
    const struct uuid *missing;
    size_t missing_count;
    size_t gone_count; /* the last of them: indexed, says the database, but the file is lost */
    uint8_t key[16];
    uint8_t variant[16];
    uint8_t cluster_kind; /* analysis' enum cluster_kind */
    bool provisional;
    bool hidden; /* idle: not listed by default */
    bool approximate;
    const char *key_text;
    const char *title;
    const char *function; /* culprit, NULL */
    const char *file;     /* NULL */
    const char *image;    /* NULL */
    const char *category;
    const char *owner; /* NULL */
    uint64_t overlay;  /* version of the app's overlay that `key` was made with; 0: it has none */
    bool applied; /* result: false when it came too late, or an image was indexed or the overlay
                          changed meanwhile */
};

struct op_resolutions {
    struct op_resolution *items;
    size_t count;
    const char *rules_version;
    bool findings_due; /* result: samples or threads of reports refer to some of the stacks */
    int64_t now_ms;
};

/* --- WRITE_UPLOAD, WRITE_UPLOAD_STATE: symbol uploads --------------------------------------- */

enum upload_state { UPLOAD_QUEUED, UPLOAD_INDEXING, UPLOAD_INDEXED, UPLOAD_FAILED };
const char *upload_state_name(enum upload_state state);

struct op_upload {
    uint8_t sha256[SHA256_SIZE]; /* of the body as received */
    uint64_t size;
    const char *spool_file; /* name inside the spool folder */
    const char *bundle_id;  /* "" when not given */
    const char *version;
    const char *build;
    const char *os_build;
    bool system;            /* kind=system */
    bool bound;             /* the token was bound to bundle_id */
    bool protect;           /* its build is protected from now on, see op_protect */
    const uint8_t *open_id; /* the upload in pieces that it was, NULL */
    int64_t now_ms;
    uint64_t id; /* result */
};

struct op_slice {
    struct uuid shelf; /* shelf.h; nil: the object had none and was refused */
    struct uuid image; /* the UUID that the file has; nil: the same */
    const char *name;
    const char *member;
    const char *arch;
    const char *reason; /* NULL */
    bool indexed;
    bool installed; /* the index file of this slice is the one in use now */
    bool has_dwarf;
    uint64_t functions, lines, inlines, index_bytes;
    uint64_t text_vmaddr, text_size;
    uint8_t object_sha256[SHA256_SIZE];
    uint64_t object_bytes;
    bool object_kept; /* the object file is in the store */
};

static inline const struct uuid *op_slice_image(const struct op_slice *s)
{
    return uuid_is_nil(&s->image) ? &s->shelf : &s->image;
}

/* State change of an upload. With UPLOAD_INDEXED or UPLOAD_FAILED its slices are stored; for each
 * installed one the stacks of whom it serves that miss the image (or a slide group it is a member of)
 * go back to pending, as do those that perhaps used another index, at most `REPEND_CHUNK`: where
 * there may be more the UUIDs are noted for the rest (read_turn_backs, WRITE_REPEND). */
struct op_upload_state {
    uint64_t id;
    enum upload_state state;
    const char *reason; /* NULL */
    const struct op_slice *slices;
    size_t slice_count;
    int64_t now_ms;
};

#define REPEND_CHUNK 2000
struct op_repend {
    struct uuid uuid;          /* shelf or slide group whose facts changed */
    const struct uuid *others; /* more of them, NULL */
    size_t other_count;
    bool all_users; /* also stacks that did not miss it (its index was replaced or removed) */
    bool settles; /* the last chunk takes the UUIDs off those whose stacks are to be turned back */
    uint64_t after_id; /* in: stacks above this id; out: where the next chunk begins */
    bool more;         /* result */
    uint64_t count;    /* result: stacks turned back */
};

/* --- the small ones ------------------------------------------------------------------------- */

/* All objects of these shelves; they are queued for the indexer, which removes their files. */
struct op_symbol_delete {
    struct uuid shelf;
    const struct uuid *others; /* more of them, NULL */
    size_t other_count;
    bool existed; /* result */
};

#define SCOPE_INGEST  1u
#define SCOPE_SYMBOLS 2u
#define SCOPE_READ    4u
#define SCOPE_ADMIN   8u

struct op_token {
    uint8_t hash[SHA256_SIZE]; /* of the token's text; the text is never stored */
    uint32_t scopes;
    const char *name;
    const char *bundle_id; /* app it is bound to, NULL */
    int64_t now_ms;
    uint64_t id;  /* result; for WRITE_TOKEN_REVOKE: which */
    bool existed; /* result of WRITE_TOKEN_REVOKE */
};

/* Housekeeping: drops what is older than the limits, at most `max_rows` rows a call. */
struct op_expire {
    int64_t now_ms;
    int64_t reports_before_ms;    /* raw reports */
    int64_t report_ids_before_ms; /* ids remembered for retries */
    int64_t image_sets_before_ms; /* not used since */
    uint32_t max_rows;
    uint64_t dropped; /* result: raw reports */
    bool more;        /* result */
};

/* Turns provisional stacks older than `before_ms` back to pending, so that the resolver may skip
 * images that never came (clustering.md 3.4). */
struct op_give_up {
    int64_t before_ms;
    uint64_t count; /* result */
};

enum write_op_kind {
    WRITE_BATCHES,
    WRITE_RESOLUTIONS,
    WRITE_UPLOAD,
    WRITE_UPLOAD_STATE,
    WRITE_REPEND,
    WRITE_SYMBOL_DELETE,
    WRITE_TOKEN,
    WRITE_TOKEN_REVOKE,
    WRITE_EXPIRE,
    WRITE_GIVE_UP,
    WRITE_HOURS_EXPIRE,
    WRITE_REKEY,
    WRITE_CLUSTER_RULE,
    WRITE_CLUSTER_RULE_UNDO,
    WRITE_EPOCH,
    WRITE_CLUSTER_WORK,
    WRITE_CONFIG,
    WRITE_QUOTA,
    WRITE_UPLOAD_DELETE,
    WRITE_REFIT,
    WRITE_REFITTED,
    WRITE_OBJECTS,
    WRITE_PROTECT,
    WRITE_OPEN_UPLOAD,
    WRITE_PIECE,
    WRITE_OPEN_DROP,
    WRITE_USAGE,
    WRITE_FINDINGS,
    WRITE_CLUSTER_STATE,
    WRITE_ALERT_RULES,
    WRITE_ALERTS,
    WRITE_DELIVERY,
    WRITE_STAND_IN,
    WRITE_CLUSTER_CARRY,
};

struct write_op {
    enum write_op_kind kind;
    struct arena *arena;
    /* Called once, from the writer's thread, after the commit (rc ERR_OK) or failure; owns the op
     * again. Must be quick. */
    void (*done)(struct write_op *op, enum err rc, const struct error *err);
    void *user;
    struct write_op *parts; /* freed with it: what it points to lives in their arenas, too */
    enum err rc;            /* while a group is open: how applying this op went */
    struct error error;
    union {
        struct {
            struct op_batch *items; /* one per app in the body */
            size_t count;
        } batches;
        struct op_resolutions resolutions;
        struct op_upload upload;
        struct op_upload_state upload_state;
        struct op_repend repend;
        struct op_symbol_delete symbol_delete;
        struct op_token token;
        struct op_expire expire;
        struct op_give_up give_up;
        struct op_hours_expire hours_expire;
        struct op_rekey rekey;
        struct op_cluster_rule cluster_rule;
        struct op_cluster_rule_undo cluster_rule_undo;
        struct op_epoch epoch;
        struct op_cluster_work cluster_work;
        struct op_config config;
        struct op_quota quota;
        struct op_upload_delete upload_delete;
        struct op_refit refit;
        struct op_refitted refitted;
        struct op_objects objects;
        struct op_protect protect;
        struct op_open_upload open_upload;
        struct op_piece piece;
        struct op_open_drop open_drop;
        struct op_usage usage;
        struct op_findings findings;
        struct op_cluster_state cluster_state;
        struct op_alert_rules alert_rules;
        struct op_alerts alerts;
        struct op_delivery delivery;
        struct op_stand_in stand_in;
        struct op_cluster_carry cluster_carry;
    } u;
};

/* An op in an arena of its own with that limit; NULL without memory. */
struct write_op *write_op_new(enum write_op_kind kind, size_t arena_limit);
/* Puts the resolutions of `other`, which is part of `op` from then on, behind its own. False without
 * memory: both are as they were. */
bool write_op_join(struct write_op *op, struct write_op *other);
void write_op_free(struct write_op *op);

#endif
