/*
 * fuzz_frames_blob - any bytes are a stored resolved stack.
 *
 * The first byte is the number of frames of the raw stack. The dictionary knows the numbers 1 to
 * NAMES. What must hold: no frame without a function, and what is encoded again is the same.
 */
#include "storage/frames_blob.h"
#include "tests/fuzz/fuzz.h"

#define NAMES 200

static char names[NAMES + 1][16];

static enum err name_text(void *ctx, int64_t id, const char **ret, struct error *err)
{
    (void)ctx;
    if (id < 1 || id > NAMES)
        return error_set(err, ERR_FORMAT, "no such name");
    *ret = names[id];
    return ERR_OK;
}

static enum err name_id(void *ctx, const char *name, int64_t *ret, struct error *err)
{
    (void)ctx;
    (void)err;
    *ret = strtol(name + 1, NULL, 10);
    return ERR_OK;
}

static void check_same(const struct resolved_frame *a, const struct resolved_frame *b)
{
    REQUIRE(a->status == b->status && a->approximate == b->approximate);
    REQUIRE(a->in_app == b->in_app && a->has_index == b->has_index);
    REQUIRE(uuid_equal(&a->image, &b->image) && a->offset == b->offset);
    REQUIRE(same_text(a->image_name, b->image_name) && a->frame_count == b->frame_count);
    for (size_t i = 0; i < a->frame_count; i++) {
        const struct frame *f = &a->frames[i], *g = &b->frames[i];
        REQUIRE(f->function && same_text(f->function, g->function));
        REQUIRE(same_text(f->mangled, g->mangled) && same_text(f->file, g->file));
        REQUIRE(f->line == g->line && f->inlined == g->inlined && f->local == g->local);
    }
}

static void check(const struct raw_stack *raw, const struct resolved_stack *s, struct arena *arena)
{
    struct buf out;
    struct resolved_stack back;
    uint32_t app = 0, named = 0;
    buf_init(&out, (size_t)1 << 24);
    REQUIRE(s->count == raw->count);
    REQUIRE(frames_blob_encode(s, name_id, NULL, NULL, &out, NULL) == ERR_OK);
    REQUIRE(frames_blob_decode(raw, out.data, out.len, name_text, NULL, arena, &back, NULL) ==
            ERR_OK);
    for (size_t i = 0; i < s->count; i++)
        check_same(&s->frames[i], &back.frames[i]);
    frames_count_app(s, &app, &named);
    REQUIRE(named <= app && app <= s->count);
    buf_done(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena arena;
    struct resolved_stack s;
    struct raw_frame frames[256];
    struct error err = {.code = ERR_OK};
    if (size < 1)
        return 0;
    memset(frames, 0, sizeof(frames));
    for (size_t i = 0; i < data[0]; i++)
        frames[i] = (struct raw_frame){.image_kind = IMAGE_UUID, .offset = i, .image = {{1}}};
    for (int i = 1; i <= NAMES; i++)
        snprintf(names[i], sizeof(names[i]), "n%d", i);
    const struct raw_stack raw = {frames, data[0]};
    arena_init(&arena, (size_t)64 << 20);
    enum err rc = frames_blob_decode(&raw, data + 1, size - 1, name_text, NULL, &arena, &s, &err);
    REQUIRE(rc == ERR_OK || (err.code == rc && err.text[0]));
    if (rc == ERR_OK)
        check(&raw, &s, &arena);
    arena_done(&arena);
    return 0;
}
