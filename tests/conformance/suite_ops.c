#include "tests/conformance/suite_ops.h"

#include <check.h>
#include <string.h>

#include "base/buf.h"
#include "tests/conformance/suite.h"

/* --- batches ------------------------------------------------------------------------------ */

static const void *bytes_of(struct arena *arena, struct buf *b, size_t *ret_len)
{
    const void *copy = arena_memdup(arena, b->data ? b->data : "", b->len + 1);
    ck_assert_ptr_nonnull(copy);
    *ret_len = b->len;
    buf_done(b);
    return copy;
}

static const void *addresses_of(struct arena *arena, uint32_t k, size_t *ret_len)
{
    struct buf b;
    struct raw_stack s = suite_stack(arena, k);
    uint64_t addresses[4];
    for (size_t i = 0; i < s.count; i++)
        addresses[i] = s.frames[i].image_kind == IMAGE_NONE ? 0xfffffff000000000u + k
                                                            : 0x100000000u + s.frames[i].offset;
    buf_init(&b, 1 << 16);
    ck_assert(stack_addresses_encode(&s, addresses, &b));
    return bytes_of(arena, &b, ret_len);
}

/* Index of stack number `k` in the batch, added when it is new there. */
static uint32_t stack_index(struct arena *arena, struct op_batch *b, uint32_t k)
{
    uint8_t hash[STACK_HASH_SIZE];
    suite_stack_hash(b->bundle_id, k, hash);
    for (uint32_t i = 0; i < b->stack_count; i++) {
        if (memcmp(b->stacks[i].hash, hash, sizeof(hash)) == 0)
            return i;
    }
    struct buf raw;
    struct op_stack *o = &b->stacks[b->stack_count];
    struct raw_stack s = suite_stack(arena, k);
    buf_init(&raw, 1 << 16);
    ck_assert(raw_stack_encode(&s, &raw));
    o->raw = bytes_of(arena, &raw, &o->raw_len);
    o->frame_count = (uint32_t)s.count;
    memcpy(o->hash, hash, sizeof(hash));
    return (uint32_t)b->stack_count++;
}

static void fill_samples(struct arena *arena, struct op_batch *b, struct op_report *o,
                         const struct suite_report *r)
{
    struct op_sample *samples = arena_array(arena, r->samples + 1, sizeof(*samples));
    struct op_thread *threads = arena_array(arena, r->threads + 1, sizeof(*threads));
    ck_assert(samples && threads);
    for (uint32_t i = 0; i < r->samples; i++) {
        struct op_sample *x = &samples[i];
        x->offset_ms = (int32_t)i * 100 - 50;
        x->stack = stack_index(arena, b, r->stack + 1 + i);
        x->repeat_count = i + 1;
        x->cpu_usage = (int16_t)(i % 2 ? 97 : -1);
        x->thread_state = i % 3 ? "running" : NULL;
        x->addresses = addresses_of(arena, r->stack + 1 + i, &x->addresses_len);
    }
    for (uint32_t i = 0; i < r->threads; i++) {
        struct op_thread *t = &threads[i];
        *t = (struct op_thread){.tid = 700 + i,
                                .name = i ? NULL : "main",
                                .state = i ? "running" : "waiting",
                                .stalled = i == 0,
                                .stack = NO_STACK,
                                .owner_tid = i ? -1 : 701};
        if (i == 0) {
            t->waits_kind = "mutex";
            t->waits_address = 0xffffffff00002818u;
        }
        if (i % 2 == 0) {
            t->stack = stack_index(arena, b, r->stack + 100 + i);
            t->addresses = addresses_of(arena, r->stack + 100 + i, &t->addresses_len);
        }
    }
    o->samples = samples;
    o->sample_count = r->samples;
    o->threads = threads;
    o->thread_count = r->threads;
}

static void fill_rich(struct op_report *o)
{
    static const int32_t gaps[] = {33, -1, 2000000000};
    o->threshold_type = "runloop_800";
    o->device_time_ms = o->time_ms - 77;
    o->clock_skew = true;
    o->tags = "{\"experiment\":\"b\"}";
    o->path = "Home->Detail";
    o->os_build = "21B74";
    o->arch = "arm64e";
    o->frame_gaps_ms = gaps;
    o->frame_gap_count = 3;
    o->cpu_usage = 78;
    o->memory_usage = 345;
}

static void fill_report(struct arena *arena, struct op_batch *b, struct op_report *o,
                        const struct suite_report *r)
{
    *o = (struct op_report){
        .id = arena_strdup(arena, r->id),
        .kind = r->kind,
        .time_ms = r->time_ms ? r->time_ms : SUITE_NOW,
        .device_time_ms = INT64_MIN,
        .duration_ms = r->duration_ms ? r->duration_ms : 1000,
        .weight = r->weight > 0 ? r->weight : 1,
        .version = r->version ? r->version : "1.0",
        .build = r->build ? r->build : "100",
        .device = r->device ? r->device : "iPhone14,7",
        .os_version = r->os ? r->os : "17.1",
        .os_build = "",
        .arch = "arm64",
        .page = r->page ? r->page : "Home",
        .path = "",
        .cpu_usage = -1,
        .memory_usage = -1,
        .stack_skipped = r->stack == SUITE_NO_STACK ? "cpu_high" : NULL,
        .stack = NO_STACK,
    };
    if (r->stack % 2 == 0) /* the device told its time */
        o->device_time_ms = o->time_ms;
    o->received_ms = r->received_ms ? r->received_ms : o->time_ms;
    report_id_hash(b->bundle_id, o->id, o->id_hash);
    if (r->rich)
        fill_rich(o);
    if (r->stack != SUITE_NO_STACK) {
        o->stack = stack_index(arena, b, r->stack);
        o->addresses = addresses_of(arena, r->stack, &o->addresses_len);
    }
    fill_samples(arena, b, o, r);
}

struct write_op *suite_batch(const char *bundle_id, const struct suite_report *r, size_t count)
{
    size_t stacks = 1;
    struct write_op *op = write_op_new(WRITE_BATCHES, SUITE_OP_BYTES);
    ck_assert_ptr_nonnull(op);
    struct op_batch *b = arena_alloc(op->arena, sizeof(*b));
    op->u.batches.items = b;
    op->u.batches.count = 1;
    for (size_t i = 0; i < count; i++)
        stacks += 1 + r[i].samples + r[i].threads;
    b->bundle_id = arena_strdup(op->arena, bundle_id);
    b->reports = arena_array(op->arena, count + 1, sizeof(*b->reports));
    b->stacks = arena_array(op->arena, stacks, sizeof(*b->stacks));
    ck_assert(b->bundle_id && b->reports && b->stacks);
    b->report_count = count;
    for (size_t i = 0; i < count; i++) {
        fill_report(op->arena, b, &b->reports[i], &r[i]);
        b->reports[i].position = (uint32_t)i;
    }
    return op;
}

struct op_image *suite_image(struct write_op *op, uint32_t n, enum image_kind kind)
{
    struct op_batch *b = op->u.batches.items;
    struct op_image *images = arena_array(op->arena, b->image_count + 1, sizeof(*images));
    ck_assert_ptr_nonnull(images);
    if (b->image_count)
        memcpy(images, b->images, b->image_count * sizeof(*images));
    struct op_image *i = &images[b->image_count++];
    i->id = suite_uuid(n);
    i->kind = kind;
    i->class = n >= SUITE_SYSTEM ? IMAGE_CLASS_SYSTEM : IMAGE_CLASS_APP;
    i->name = arena_printf(op->arena, "Image%u", n);
    i->arch = "arm64";
    b->images = images;
    return i;
}

/* --- uploads ------------------------------------------------------------------------------ */

struct write_op *suite_upload(uint32_t sha, int64_t now_ms)
{
    struct write_op *op = write_op_new(WRITE_UPLOAD, SUITE_OP_BYTES);
    ck_assert_ptr_nonnull(op);
    op->u.upload = (struct op_upload){.size = 1000 + sha,
                                      .spool_file = "1-0123456789abcdef.part",
                                      .bundle_id = SUITE_APP,
                                      .version = "1.0",
                                      .build = "100",
                                      .os_build = "",
                                      .now_ms = now_ms};
    memcpy(op->u.upload.sha256, &sha, sizeof(sha));
    return op;
}

void suite_own(struct op_slice *slice, uint32_t shelf)
{
    slice->image = slice->shelf;
    slice->shelf = suite_uuid(shelf);
}

struct write_op *suite_indexed(uint64_t upload_id, const uint32_t *images, size_t count,
                               uint64_t richness)
{
    struct write_op *op = write_op_new(WRITE_UPLOAD_STATE, SUITE_OP_BYTES);
    ck_assert_ptr_nonnull(op);
    struct op_slice *slices = arena_array(op->arena, count + 1, sizeof(*slices));
    ck_assert_ptr_nonnull(slices);
    for (size_t i = 0; i < count; i++) {
        slices[i] = (struct op_slice){.shelf = suite_uuid(images[i]),
                                      .name = arena_printf(op->arena, "File%u", images[i]),
                                      .member = "a.dSYM",
                                      .arch = "arm64",
                                      .indexed = true,
                                      .installed = true,
                                      .has_dwarf = richness > 0,
                                      .functions = 10 + richness,
                                      .lines = 100 * richness,
                                      .inlines = 3,
                                      .index_bytes = 4096,
                                      .text_vmaddr = images[i] >= SUITE_SYSTEM
                                                         ? 0x180000000u + images[i] * 0x10000u
                                                         : 0x100000000u,
                                      .text_size = 0x8000,
                                      .object_bytes = 5000};
        memcpy(slices[i].object_sha256, &images[i], sizeof(images[i]));
    }
    op->u.upload_state = (struct op_upload_state){.id = upload_id,
                                                  .state = UPLOAD_INDEXED,
                                                  .slices = slices,
                                                  .slice_count = count,
                                                  .now_ms = SUITE_NOW};
    return op;
}

/* --- usage -------------------------------------------------------------------------------- */

static const char *text_or(const char *text, const char *otherwise)
{
    return text ? text : otherwise;
}

struct write_op *suite_usage_op(const char *bundle_id, const struct suite_usage *items,
                                size_t count)
{
    struct write_op *op = write_op_new(WRITE_USAGE, SUITE_OP_BYTES);
    struct op_usage_item *out = arena_array(op->arena, count, sizeof(*out));
    for (size_t i = 0; i < count; i++) {
        const struct suite_usage *u = &items[i];
        const int64_t received = u->received_ms ? u->received_ms : SUITE_NOW;
        out[i] = (struct op_usage_item){.bundle_id = bundle_id,
                                        .received_ms = received,
                                        .day = u->day ? u->day : (int32_t)(received / 86400000),
                                        .version = text_or(u->version, "1.0"),
                                        .build = text_or(u->build, "100"),
                                        .device = text_or(u->device, "iPhone14,7"),
                                        .arch = "",
                                        .os_version = text_or(u->os, "17.1"),
                                        .os_build = "",
                                        .page = text_or(u->page, "Home"),
                                        .weight = u->weight > 0 ? u->weight : 1,
                                        .foreground_ms = u->foreground_ms,
                                        .launches = u->launches};
        usage_id_hash(bundle_id, u->id, out[i].id_hash);
    }
    op->u.usage = (struct op_usage){out, count};
    return op;
}
