#include "tests/conformance/suite_jobs.h"

#include <check.h>
#include <string.h>

#include "storage/read_findings.h"
#include "storage/read_stand_ins.h"
#include "tests/conformance/suite.h"

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
    f->frames_id = present ? 1 + (raw->offset << 1 | (raw->kind == FRAME_LEAF)) : 0;
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
    suite_expect(read_overlays(s->reader, 0, arena, &rows, &count, &err), &err);
    for (size_t i = 0; i < count; i++) {
        if (strcmp(rows[i].bundle_id, bundle_id) == 0)
            return rows[i].version;
    }
    return 0;
}

/* Has the image a stand-in with an index? */
static bool stands_in(struct suite *s, struct arena *arena, const char *bundle_id,
                      const struct uuid *image)
{
    struct error err = {0};
    struct stand_in_row *rows = NULL;
    size_t count = 0;
    bool present = false;
    suite_expect(read_stand_ins(s->reader, image, arena, &rows, &count, &err), &err);
    const struct stand_in_row *own = NULL; /* behind that of all */
    for (size_t i = 0; i < count; i++) {
        if (!*rows[i].bundle_id || strcmp(rows[i].bundle_id, bundle_id) == 0)
            own = &rows[i];
    }
    if (own)
        suite_expect(read_symbols_present(s->reader, bundle_id, &own->stand_in, 1, &present, &err),
                     &err);
    return present;
}

static void answer(struct suite *s, struct arena *arena, const struct pending_stack *p,
                   struct op_resolution *r)
{
    struct error err = {0};
    struct raw_stack raw;
    suite_expect(raw_stack_decode(p->raw, p->raw_len, arena, &raw, &err), &err);
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
            suite_expect(read_symbols_present(s->reader, p->bundle_id, &raw.frames[i].image, 1,
                                              &present, &err),
                         &err);
        if (raw.frames[i].image_kind == IMAGE_GROUP)
            suite_expect(read_group(s->reader, p->bundle_id, &raw.frames[i].image, arena, &places,
                                    &count, &err),
                         &err);
        bool own = present;
        if (raw.frames[i].image_kind == IMAGE_UUID && !present)
            present = stands_in(s, arena, p->bundle_id, &raw.frames[i].image);
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
    struct write_op *op = write_op_new(WRITE_RESOLUTIONS, SUITE_OP_BYTES);
    ck_assert_ptr_nonnull(op);
    suite_expect(read_pending(s->reader, 0, 50, op->arena, &page, &count, &err), &err);
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
    suite_expect(read_stats(s->reader, NULL, &stats, &err), &err);
    if (stats.pending_findings == 0)
        return NULL;
    struct write_op *op = write_op_new(WRITE_FINDINGS, SUITE_OP_BYTES);
    ck_assert_ptr_nonnull(op);
    suite_expect(read_findings_due(s->reader, limit, op->arena, &due, &count, &err), &err);
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
