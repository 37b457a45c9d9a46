#include "tests/conformance/suite.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "storage/read_findings.h"
#include "storage/read_stand_ins.h"

#define OP_LIMIT ((size_t)64 << 20)

#define SUITE_ROW(name) {#name, suite_##name},
const struct suite_case suite_cases[] = {SUITE_CASES(SUITE_ROW)};
#undef SUITE_ROW
const size_t suite_case_count = sizeof(suite_cases) / sizeof(suite_cases[0]);

static void expect(enum err rc, const struct error *err)
{
    ck_assert_msg(rc == ERR_OK, "%s: %s", err_name(rc), err->text);
}

void suite_reopen(struct suite *s)
{
    struct error err = {0};
    storage_reader_close(s->reader);
    storage_close(s->storage);
    s->storage = NULL;
    s->reader = NULL;
    expect(storage_open(&s->options, &s->storage, &err), &err);
    expect(storage_reader_open(s->storage, &s->reader, &err), &err);
}

void suite_open(struct suite *s, const char *backend)
{
    memset(s, 0, sizeof(*s));
    s->backend = backend;
    snprintf(s->dir, sizeof(s->dir), "/tmp/stallsym-suite-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(s->dir));
    snprintf(s->path, sizeof(s->path), "%s/stallsym.db", s->dir);
    s->options = (struct storage_options){
        .backend = backend,
        .path = s->path,
        .synchronous_full = false,
        .busy_ms = 2000,
        .retry_days = 3,
        .daily_values = 1000,
        .migrate = true,
    };
    arena_init(&s->arena, (size_t)1 << 30);
    suite_reopen(s);
}

void suite_close(struct suite *s)
{
    static const char *const left[] = {"", "-wal", "-shm"};
    char path[128];
    storage_reader_close(s->reader);
    storage_close(s->storage);
    for (size_t i = 0; i < sizeof(left) / sizeof(left[0]); i++) {
        snprintf(path, sizeof(path), "%s%s", s->path, left[i]);
        (void)unlink(path);
    }
    (void)rmdir(s->dir);
    arena_done(&s->arena);
}

struct uuid suite_uuid(uint32_t n)
{
    struct uuid u;
    memset(u.bytes, (int)(0xa0 + n % 64), sizeof(u.bytes));
    memcpy(u.bytes + 4, &n, sizeof(n));
    return u;
}

struct raw_stack suite_stack(struct arena *arena, uint32_t k)
{
    struct raw_frame *f = arena_array(arena, 4, sizeof(*f));
    struct raw_stack s = {f, 2};
    ck_assert_ptr_nonnull(f);
    f[0] = (struct raw_frame){suite_uuid(1 + k % SUITE_IMAGES), 0x1000 + (uint64_t)k * 4,
                              IMAGE_UUID, FRAME_LEAF, NULL};
    f[1] =
        (struct raw_frame){suite_uuid(SUITE_SYSTEM), 0x2000, IMAGE_UUID, FRAME_RETURN, "mach_msg"};
    if (k % 5 == 4)
        f[s.count++] = (struct raw_frame){suite_uuid(SUITE_GROUP), 0x180001000 + k, IMAGE_GROUP,
                                          FRAME_RETURN, NULL};
    if (k % 7 == 6)
        f[s.count++] = (struct raw_frame){.image_kind = IMAGE_NONE, .kind = FRAME_RETURN};
    return s;
}

void suite_stack_hash(const char *bundle_id, uint32_t k, uint8_t out[STACK_HASH_SIZE])
{
    struct arena arena;
    arena_init(&arena, 1 << 16);
    struct raw_stack s = suite_stack(&arena, k);
    raw_stack_hash(bundle_id, &s, out);
    arena_done(&arena);
}

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
    struct write_op *op = write_op_new(WRITE_BATCHES, OP_LIMIT);
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
    struct write_op *op = write_op_new(WRITE_UPLOAD, OP_LIMIT);
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

struct write_op *suite_indexed(uint64_t upload_id, const uint32_t *images, size_t count,
                               uint64_t richness)
{
    struct write_op *op = write_op_new(WRITE_UPLOAD_STATE, OP_LIMIT);
    ck_assert_ptr_nonnull(op);
    struct op_slice *slices = arena_array(op->arena, count + 1, sizeof(*slices));
    ck_assert_ptr_nonnull(slices);
    for (size_t i = 0; i < count; i++) {
        slices[i] = (struct op_slice){.uuid = suite_uuid(images[i]),
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

void suite_index(struct suite *s, const uint32_t *images, size_t count, uint64_t richness)
{
    struct write_op *op = suite_upload(images[0], SUITE_NOW);
    suite_apply_keep(s, op);
    suite_apply(s, suite_indexed(op->u.upload.id, images, count, richness));
    write_op_free(op);
}

/* --- applying ----------------------------------------------------------------------------- */

void suite_apply_keep(struct suite *s, struct write_op *op)
{
    struct error err = {0};
    expect(storage_begin(s->storage, &err), &err);
    expect(storage_apply(s->storage, op, &err), &err);
    expect(storage_commit(s->storage, &err), &err);
}

void suite_apply(struct suite *s, struct write_op *op)
{
    suite_apply_keep(s, op);
    write_op_free(op);
}

enum err suite_try(struct suite *s, struct write_op *op, struct error *err)
{
    struct error ignored = {0};
    expect(storage_begin(s->storage, &ignored), &ignored);
    enum err rc = storage_apply(s->storage, op, err);
    expect(storage_commit(s->storage, &ignored), &ignored);
    return rc;
}

/* --- the resolver ------------------------------------------------------------------------- */

static void fill_frame(struct arena *arena, const struct raw_frame *raw, bool present,
                       struct resolved_frame *f)
{
    *f = (struct resolved_frame){.raw = *raw, .image = raw->image, .offset = raw->offset};
    f->in_app = raw->image_kind == IMAGE_UUID && raw->image.bytes[0] < 0xa0 + SUITE_SYSTEM;
    f->has_index = present;
    f->status = present                         ? FRAME_RESOLVED
                : raw->image_kind == IMAGE_NONE ? FRAME_NO_IMAGE
                                                : FRAME_NO_SYMBOLS;
    if (raw->image_kind != IMAGE_NONE)
        f->image_name = arena_printf(arena, "Image%u", raw->image.bytes[0] - 0xa0u);
    if (!present && !raw->symbol)
        return;
    struct frame *frames = arena_array(arena, 2, sizeof(*frames));
    ck_assert_ptr_nonnull(frames);
    uint64_t function = raw->offset / (4 * SUITE_FUNCTION);
    frames[0] = (struct frame){
        .function =
            present ? arena_printf(arena, "f%llu()", (unsigned long long)function) : raw->symbol};
    f->frames = frames;
    f->frame_count = 1;
    if (present && raw->kind == FRAME_LEAF) {
        frames[0].inlined = true;
        frames[0].mangled = arena_printf(arena, "_Zf%llu", (unsigned long long)function);
        frames[0].file = "/src/feed.cc";
        frames[0].line = (uint32_t)(raw->offset & 0xffff);
        frames[1] = (struct frame){.function = "outer", .mangled = "outer", .local = true};
        f->frame_count = 2;
    }
}

void suite_key(const char *text, uint8_t key[16])
{
    uint8_t digest[SHA256_SIZE];
    sha256_of(text, strlen(text), digest);
    memcpy(key, digest, 16);
}

static uint64_t overlay_of(struct suite *s, struct arena *arena, const char *bundle_id)
{
    struct error err = {0};
    struct overlay_row *rows = NULL;
    size_t count = 0;
    expect(read_overlays(s->reader, 0, arena, &rows, &count, &err), &err);
    for (size_t i = 0; i < count; i++) {
        if (strcmp(rows[i].bundle_id, bundle_id) == 0)
            return rows[i].version;
    }
    return 0;
}

/* Has the image a stand-in with an index? */
static bool stands_in(struct suite *s, struct arena *arena, const struct uuid *image)
{
    struct error err = {0};
    struct stand_in_row *rows = NULL;
    size_t count = 0;
    bool present = false;
    expect(read_stand_ins(s->reader, image, arena, &rows, &count, &err), &err);
    if (count)
        expect(read_symbols_present(s->reader, &rows[0].stand_in, 1, &present, &err), &err);
    return present;
}

static void answer(struct suite *s, struct arena *arena, const struct pending_stack *p,
                   struct op_resolution *r)
{
    struct error err = {0};
    struct raw_stack raw;
    expect(raw_stack_decode(p->raw, p->raw_len, arena, &raw, &err), &err);
    struct resolved_stack *stack = arena_alloc(arena, sizeof(*stack));
    struct resolved_frame *frames = arena_array(arena, raw.count, sizeof(*frames));
    struct uuid *missing = arena_array(arena, raw.count, sizeof(*missing));
    ck_assert(stack && frames && missing);
    *stack = (struct resolved_stack){frames, raw.count};
    for (size_t i = 0; i < raw.count; i++) {
        bool present = false;
        struct layout_row *places = NULL;
        size_t count = 0;
        if (raw.frames[i].image_kind == IMAGE_UUID)
            expect(read_symbols_present(s->reader, &raw.frames[i].image, 1, &present, &err), &err);
        if (raw.frames[i].image_kind == IMAGE_GROUP)
            expect(read_group(s->reader, &raw.frames[i].image, arena, &places, &count, &err), &err);
        bool own = present;
        if (raw.frames[i].image_kind == IMAGE_UUID && !present)
            present = stands_in(s, arena, &raw.frames[i].image);
        fill_frame(arena, &raw.frames[i], present, &frames[i]);
        frames[i].approximate = present && !own;
        r->approximate |= frames[i].approximate;
        if (count) {
            frames[i].image = places[0].uuid;
            frames[i].offset = raw.frames[i].offset - places[0].vmaddr;
        } else if (!own && raw.frames[i].image_kind != IMAGE_NONE) {
            missing[r->missing_count++] = raw.frames[i].image;
        }
    }
    bool named = frames[0].frame_count > 0 || p->give_up;
    r->stack_id = p->stack_id;
    r->generation = p->generation;
    r->overlay = overlay_of(s, arena, p->bundle_id);
    r->stack = stack;
    r->missing = missing;
    r->provisional = !named;
    r->title = named && frames[0].frame_count ? frames[0].frames[0].function
               : named                        ? "given up"
                       : arena_printf(arena, "Image%u+0x%llx", raw.frames[0].image.bytes[0] - 0xa0u,
                                      (unsigned long long)raw.frames[0].offset);
    ck_assert_ptr_nonnull(r->title);
    r->cluster_kind = named ? 0 : 4;
    r->key_text = r->title;
    r->function = frames[0].frame_count ? frames[0].frames[0].function : NULL;
    r->file = frames[0].frame_count ? frames[0].frames[0].file : NULL;
    r->image = frames[0].image_name;
    r->category = named && raw.frames[0].offset / 32 % 2 ? "lock" : "unknown";
    r->hidden = named && strcmp(r->title, "f130()") == 0;
    suite_key(r->key_text, r->key);
    suite_key(r->title, r->variant);
}

struct write_op *suite_resolution(struct suite *s)
{
    struct error err = {0};
    struct pending_stack *page = NULL;
    size_t count = 0;
    struct write_op *op = write_op_new(WRITE_RESOLUTIONS, OP_LIMIT);
    ck_assert_ptr_nonnull(op);
    expect(read_pending(s->reader, 0, 50, op->arena, &page, &count, &err), &err);
    if (count == 0) {
        write_op_free(op);
        return NULL;
    }
    struct op_resolution *items = arena_array(op->arena, count, sizeof(*items));
    ck_assert_ptr_nonnull(items);
    for (size_t i = 0; i < count; i++)
        answer(s, op->arena, &page[i], &items[i]);
    op->u.resolutions = (struct op_resolutions){
        .items = items, .count = count, .rules_version = SUITE_RULES, .now_ms = SUITE_NOW};
    return op;
}

size_t suite_resolve(struct suite *s)
{
    size_t applied = 0;
    for (;;) {
        size_t before = applied;
        struct write_op *op = suite_resolution(s);
        if (!op)
            return applied;
        suite_apply_keep(s, op);
        for (size_t i = 0; i < op->u.resolutions.count; i++)
            applied += op->u.resolutions.items[i].applied;
        write_op_free(op);
        ck_assert_msg(applied > before, "pending stacks that cannot be resolved");
    }
}

/* --- findings ----------------------------------------------------------------------------- */

static const char *shown_name(const struct stack_row *k)
{
    return k->resolved.count && k->resolved.frames[0].frame_count
               ? k->resolved.frames[0].frames[0].function
               : "";
}

static void find(struct arena *arena, const struct finding_due *due, struct op_finding *f)
{
    const struct report_row *r = &due->report;
    *f = (struct op_finding){.report_id = due->report_id, .generation = due->generation};
    for (size_t i = 0; i < r->sample_count; i++) {
        f->unknown |= r->samples[i].stack.pending;
        if (i == 0 ||
            strcmp(shown_name(&r->samples[i].stack), shown_name(&r->samples[f->sample].stack)) >= 0)
            f->sample = (uint32_t)i;
    }
    f->has_culprit = r->sample_count > 1;
    f->stage_ms = 10 * (int64_t)f->sample;
    f->total_ms = 1000;
    f->confidence = (f->sample + 1) / 7.0;
    for (size_t i = 0; i < r->thread_count; i++) {
        f->unknown |= r->threads[i].has_stack && r->threads[i].stack.pending;
        if (i % 2 == 0 && r->threads[i].has_stack && *shown_name(&r->threads[i].stack))
            f->deadlock = arena_printf(arena, "[0,%zu]", i);
    }
}

struct write_op *suite_findings(struct suite *s, size_t limit, uint32_t refill)
{
    struct error err = {0};
    struct finding_due *due = NULL;
    size_t count = 0;
    struct stats_row stats;
    expect(read_stats(s->reader, NULL, &stats, &err), &err);
    if (stats.pending_findings == 0)
        return NULL;
    struct write_op *op = write_op_new(WRITE_FINDINGS, OP_LIMIT);
    ck_assert_ptr_nonnull(op);
    expect(read_findings_due(s->reader, limit, op->arena, &due, &count, &err), &err);
    struct op_finding *items = arena_array(op->arena, count + 1, sizeof(*items));
    ck_assert_ptr_nonnull(items);
    for (size_t i = 0; i < count; i++)
        find(op->arena, &due[i], &items[i]);
    op->u.findings =
        (struct op_findings){.items = items, .count = count, .refill = refill, .now_ms = SUITE_NOW};
    return op;
}

size_t suite_find(struct suite *s)
{
    struct write_op *op;
    size_t moved = 0;
    for (int looks = 0; (op = suite_findings(s, 50, 50)); looks++) {
        suite_apply_keep(s, op);
        for (size_t i = 0; i < op->u.findings.count; i++)
            moved += op->u.findings.items[i].moved;
        write_op_free(op);
        ck_assert_msg(looks < 1000, "findings that are due for ever");
    }
    return moved;
}

/* --- looking ------------------------------------------------------------------------------ */

size_t suite_pending(struct suite *s)
{
    struct error err = {0};
    struct pending_stack *page = NULL;
    size_t count = 0;
    expect(read_pending(s->reader, 0, 100000, &s->arena, &page, &count, &err), &err);
    return count;
}

static size_t all_clusters(struct suite *s, struct cluster_row **ret)
{
    struct error err = {0};
    size_t count = 0;
    const char *next = NULL;
    struct read_filter f;
    read_filter_init(&f);
    f.include_hidden = true;
    expect(read_clusters(s->reader, &f, SORT_COUNT, READ_LIMIT_MAX, NULL, &s->arena, ret, &count,
                         &next, &err),
           &err);
    ck_assert_ptr_null(next);
    return count;
}

static const char * or (const char *text, const char *otherwise)
{
    return text ? text : otherwise;
}

struct write_op *suite_usage_op(const char *bundle_id, const struct suite_usage *items,
                                size_t count)
{
    struct write_op *op = write_op_new(WRITE_USAGE, OP_LIMIT);
    struct op_usage_item *out = arena_array(op->arena, count, sizeof(*out));
    for (size_t i = 0; i < count; i++) {
        const struct suite_usage *u = &items[i];
        const int64_t received = u->received_ms ? u->received_ms : SUITE_NOW;
        out[i] = (struct op_usage_item){.bundle_id = bundle_id,
                                        .received_ms = received,
                                        .day = u->day ? u->day : (int32_t)(received / 86400000),
                                        .version = or (u->version, "1.0"),
                                        .build = or (u->build, "100"),
                                        .device = or (u->device, "iPhone14,7"),
                                        .arch = "",
                                        .os_version = or (u->os, "17.1"),
                                        .os_build = "",
                                        .page = or (u->page, "Home"),
                                        .weight = u->weight > 0 ? u->weight : 1,
                                        .foreground_ms = u->foreground_ms,
                                        .launches = u->launches};
        usage_id_hash(bundle_id, u->id, out[i].id_hash);
    }
    op->u.usage = (struct op_usage){out, count};
    return op;
}

size_t suite_cluster_count(struct suite *s)
{
    struct cluster_row *rows = NULL;
    return all_clusters(s, &rows);
}

struct cluster_row suite_cluster(struct suite *s, const char *title)
{
    struct cluster_row *rows = NULL;
    size_t count = all_clusters(s, &rows);
    if (!title) {
        ck_assert_uint_eq(count, 1);
        return rows[0];
    }
    for (size_t i = 0; i < count; i++) {
        if (strcmp(rows[i].title, title) == 0)
            return rows[i];
    }
    ck_abort_msg("there is no cluster %s", title);
    return (struct cluster_row){0};
}
