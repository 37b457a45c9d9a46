#include "storage/write_op.h"

#include <string.h>

static const char *const kind_names[REPORT_KINDS] = {
    [REPORT_STALL] = "stall",   [REPORT_SLIGHT_STALL] = "slight_stall",
    [REPORT_HANG] = "hang",     [REPORT_FRAME_DROP] = "frame_drop",
    [REPORT_LAUNCH] = "launch",
};

static const char *const state_names[] = {
    [UPLOAD_QUEUED] = "queued",
    [UPLOAD_INDEXING] = "indexing",
    [UPLOAD_INDEXED] = "indexed",
    [UPLOAD_FAILED] = "failed",
};

static const char *const cluster_state_names[CLUSTER_STATES] = {
    [CLUSTER_OPEN] = "open",
    [CLUSTER_RESOLVED] = "resolved",
    [CLUSTER_IGNORED] = "ignored",
};

static const char *const alert_kind_names[ALERT_KINDS] = {
    [ALERT_NEW_CLUSTER] = "new_cluster",         [ALERT_SPIKE] = "spike",
    [ALERT_REGRESSION] = "regression",           [ALERT_SYMBOLICATION_RATE] = "symbolication_rate",
    [ALERT_MISSING_SYMBOLS] = "missing_symbols", [ALERT_TEST] = "test",
};

static const char *const delivery_state_names[] = {
    [DELIVERY_PENDING] = "pending",
    [DELIVERY_SENT] = "sent",
    [DELIVERY_FAILED] = "failed",
};

const char *report_kind_name(enum report_kind kind)
{
    return kind_names[kind];
}

bool report_kind_parse(const char *name, enum report_kind *ret)
{
    for (size_t i = 0; i < REPORT_KINDS; i++) {
        if (strcmp(name, kind_names[i]) == 0) {
            *ret = (enum report_kind)i;
            return true;
        }
    }
    return false;
}

void report_id_hash(const char *bundle_id, const char *id, uint8_t out[REPORT_ID_HASH_SIZE])
{
    struct sha256 h;
    uint8_t digest[SHA256_SIZE];
    sha256_init(&h);
    sha256_update(&h, bundle_id, strlen(bundle_id) + 1);
    sha256_update(&h, id, strlen(id));
    sha256_final(&h, digest);
    memcpy(out, digest, REPORT_ID_HASH_SIZE);
}

const char *cluster_state_merged(const char *a, const char *b)
{
    static const char *const states[] = {"open", "ignored"};
    for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++) {
        if (strcmp(a, states[i]) == 0 || strcmp(b, states[i]) == 0)
            return states[i];
    }
    return a;
}

bool op_report_wants_finding(const struct op_report *r)
{
    bool wants = r->sample_count > 1;
    for (size_t i = 0; i < r->thread_count && !wants; i++)
        wants = r->threads[i].waits_kind != NULL;
    return wants;
}

const char *upload_state_name(enum upload_state state)
{
    return state_names[state];
}

const char *cluster_state_name(enum cluster_state state)
{
    return cluster_state_names[state];
}

bool cluster_state_parse(const char *name, enum cluster_state *ret)
{
    for (size_t i = 0; i < CLUSTER_STATES; i++) {
        if (strcmp(name, cluster_state_names[i]) == 0) {
            *ret = (enum cluster_state)i;
            return true;
        }
    }
    return false;
}

const char *alert_kind_name(enum alert_kind kind)
{
    return alert_kind_names[kind];
}

bool alert_kind_parse(const char *name, enum alert_kind *ret)
{
    for (size_t i = 0; i < ALERT_KINDS; i++) {
        if (strcmp(name, alert_kind_names[i]) == 0) {
            *ret = (enum alert_kind)i;
            return true;
        }
    }
    return false;
}

const char *delivery_state_name(enum delivery_state state)
{
    return delivery_state_names[state];
}

struct write_op *write_op_new(enum write_op_kind kind, size_t arena_limit)
{
    struct arena *arena = arena_new(arena_limit);
    struct write_op *op = arena ? arena_alloc(arena, sizeof(*op)) : NULL;
    if (!op) {
        arena_free(arena);
        return NULL;
    }
    op->kind = kind;
    op->arena = arena;
    return op;
}

void write_op_free(struct write_op *op)
{
    while (op) {
        struct write_op *next = op->parts;
        arena_free(op->arena);
        op = next;
    }
}

bool write_op_join(struct write_op *op, struct write_op *other)
{
    struct op_resolutions *a = &op->u.resolutions;
    const struct op_resolutions *b = &other->u.resolutions;
    struct op_resolution *items = arena_array(op->arena, a->count + b->count, sizeof(*items));
    struct write_op *last = op;
    if (!items)
        return false;
    if (a->count > 0)
        memcpy(items, a->items, a->count * sizeof(*items));
    if (b->count > 0)
        memcpy(items + a->count, b->items, b->count * sizeof(*items));
    a->items = items;
    a->count += b->count;
    while (last->parts)
        last = last->parts;
    last->parts = other;
    return true;
}

bool op_image_set_changes(const struct op_batch *b, const void *stored, size_t stored_len,
                          struct arena *arena, size_t *ret_len)
{
    size_t len = b->image_set_len;
    enum image_set_standing standing = IMAGE_SET_OTHER;
    if (stored_len == 0 || (stored_len == len && memcmp(stored, b->image_set_data, len) == 0))
        return false;
    if (len > 0 && b->image_set_compare)
        standing = b->image_set_compare(stored, stored_len, b->image_set_data, len, arena);
    *ret_len = standing == IMAGE_SET_GROWN ? len : 0;
    return standing != IMAGE_SET_HELD;
}
