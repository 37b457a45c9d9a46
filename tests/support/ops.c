#include "tests/support/ops.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"

#define ARENA_LIMIT ((size_t)4 << 20)

static struct write_op *new_op(enum write_op_kind kind)
{
    struct write_op *op = write_op_new(kind, ARENA_LIMIT);
    if (!op)
        abort();
    return op;
}

static void *keep(void *p)
{
    if (!p)
        abort();
    return p;
}

static void fill_stack(struct write_op *op, const char *bundle_id, const struct raw_frame *frames,
                       size_t frame_count, struct op_stack *s)
{
    struct raw_stack raw = {.frames = frames, .count = frame_count};
    struct buf bytes;
    buf_init(&bytes, ARENA_LIMIT);
    raw_stack_hash(bundle_id, &raw, s->hash);
    if (!raw_stack_encode(&raw, &bytes))
        abort();
    s->raw = keep(arena_memdup(op->arena, bytes.data, bytes.len));
    s->raw_len = bytes.len;
    s->frame_count = (uint32_t)frame_count;
    buf_done(&bytes);
}

static void fill_report(struct write_op *op, const char *bundle_id, const char *id,
                        struct op_report *r)
{
    struct sha256 hash;
    uint8_t digest[SHA256_SIZE];
    sha256_init(&hash);
    sha256_update(&hash, bundle_id, strlen(bundle_id) + 1);
    sha256_update(&hash, id, strlen(id));
    sha256_final(&hash, digest);
    memcpy(r->id_hash, digest, sizeof(r->id_hash));
    r->id = keep(arena_strdup(op->arena, id));
    r->kind = REPORT_STALL;
    r->time_ms = r->received_ms = r->device_time_ms = OPS_TIME_MS;
    r->duration_ms = 1000;
    r->weight = 1;
    r->version = "7.2.1";
    r->build = "7210";
    r->device = "iPhone14,7";
    r->os_version = "16.6";
    r->os_build = "20G75";
    r->arch = "arm64";
    r->page = r->path = "";
    r->cpu_usage = r->memory_usage = -1;
}

struct write_op *ops_report(const char *bundle_id, const char *report_id,
                            const struct raw_frame *frames, size_t frame_count,
                            const struct op_image *images, size_t image_count)
{
    struct write_op *op = new_op(WRITE_BATCHES);
    struct op_batch *b = keep(arena_array(op->arena, 1, sizeof(*b)));
    op->u.batches.items = b;
    op->u.batches.count = 1;
    b->bundle_id = keep(arena_strdup(op->arena, bundle_id));
    b->reports = keep(arena_array(op->arena, 1, sizeof(*b->reports)));
    b->report_count = 1;
    b->stacks = keep(arena_array(op->arena, 1, sizeof(*b->stacks)));
    b->stack_count = 1;
    if (image_count)
        b->images = keep(arena_memdup(op->arena, images, image_count * sizeof(*images)));
    b->image_count = image_count;
    fill_report(op, bundle_id, report_id, b->reports);
    fill_stack(op, bundle_id, frames, frame_count, b->stacks);
    return op;
}

struct write_op *ops_token(uint32_t n)
{
    struct write_op *op = new_op(WRITE_TOKEN);
    sha256_of(&n, sizeof(n), op->u.token.hash);
    op->u.token.scopes = SCOPE_READ;
    op->u.token.name = "test";
    op->u.token.now_ms = OPS_TIME_MS;
    return op;
}

struct write_op *ops_refused(void)
{
    struct write_op *op = new_op(WRITE_UPLOAD_STATE);
    op->u.upload_state.id = 999999999;
    op->u.upload_state.state = UPLOAD_INDEXING;
    op->u.upload_state.now_ms = OPS_TIME_MS;
    return op;
}

void ops_tally_init(struct ops_tally *t)
{
    memset(t, 0, sizeof(*t));
    pthread_mutex_init(&t->lock, NULL);
    pthread_cond_init(&t->changed, NULL);
}

void ops_tally_done(struct write_op *op, enum err rc, const struct error *err)
{
    struct ops_tally *t = op->user;
    pthread_mutex_lock(&t->lock);
    t->done++;
    t->failed += rc != ERR_OK;
    if (rc != ERR_OK)
        t->last = *err;
    pthread_cond_broadcast(&t->changed);
    pthread_mutex_unlock(&t->lock);
    write_op_free(op);
}

void ops_tally_wait(struct ops_tally *t, size_t done)
{
    pthread_mutex_lock(&t->lock);
    while (t->done < done)
        pthread_cond_wait(&t->changed, &t->lock);
    pthread_mutex_unlock(&t->lock);
}
