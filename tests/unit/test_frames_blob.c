#include "storage/frames_blob.h"

#include <stdlib.h>
#include <string.h>

#include "tests/support/unit.h"

static const char *names[64];
static int64_t name_count;
static struct error err;

static enum err name_id(void *ctx, const char *name, int64_t *ret, struct error *e)
{
    (void)ctx;
    (void)e;
    for (int64_t i = 0; i < name_count; i++) {
        if (strcmp(names[i], name) == 0) {
            *ret = i + 1;
            return ERR_OK;
        }
    }
    names[name_count++] = name;
    *ret = name_count;
    return ERR_OK;
}

static enum err name_text(void *ctx, int64_t id, const char **ret, struct error *e)
{
    (void)ctx;
    if (id < 1 || id > name_count)
        return error_set(e, ERR_FORMAT, "no such name");
    *ret = names[id - 1];
    return ERR_OK;
}

static const struct frame inner[] = {
    {"f()", "_Zf", "/a.cc", 12, true, false, 0},
    {"g", "g", NULL, 0, false, true, 0},
    {"device", NULL, NULL, 0, false, false, 0},
};

static void make(struct raw_frame raw[3], struct resolved_frame frames[3])
{
    memset(raw, 0, 3 * sizeof(*raw));
    memset(frames, 0, 3 * sizeof(*frames));
    raw[0] = (struct raw_frame){{{1}}, 0x10, IMAGE_UUID, FRAME_LEAF, NULL};
    raw[1] = (struct raw_frame){{{2}}, UINT64_MAX, IMAGE_GROUP, FRAME_RETURN, "device"};
    raw[2] = (struct raw_frame){.image_kind = IMAGE_NONE, .kind = FRAME_RETURN};
    for (int i = 0; i < 3; i++)
        frames[i] =
            (struct resolved_frame){.raw = raw[i], .image = raw[i].image, .offset = raw[i].offset};
    frames[0].in_app = frames[0].has_index = true;
    frames[0].image_name = "Shop";
    frames[0].frames = inner;
    frames[0].frame_count = 2;
    frames[0].has_function_offset = true;
    frames[0].function_offset = 0x1234;
    frames[1].status = FRAME_NO_SYMBOLS;
    frames[1].approximate = true;
    frames[1].image.bytes[0] = 9;
    frames[1].offset = 0x77;
    frames[1].frames = &inner[2];
    frames[1].frame_count = 1;
    frames[2].status = FRAME_NO_IMAGE;
}

START_TEST(given_up_as_a_whole)
{
    struct raw_frame raw[3];
    struct resolved_frame frames[3];
    struct resolved_stack none = {.count = 0}, back;
    struct raw_stack stack = {raw, 3};
    struct arena arena;
    struct buf out;
    make(raw, frames);
    arena_init(&arena, 65536);
    buf_init(&out, 65536);
    ck_assert_int_eq(frames_blob_encode(&none, name_id, NULL, NULL, &out, &err), ERR_OK);
    ck_assert_int_eq(
        frames_blob_decode(&stack, out.data, out.len, name_text, NULL, &arena, &back, &err),
        ERR_OK);
    ck_assert_uint_eq(back.count, 3);
    for (int i = 0; i < 3; i++) {
        ck_assert_int_eq(back.frames[i].status, FRAME_NO_SYMBOLS);
        ck_assert_uint_eq(back.frames[i].frame_count, 0);
        ck_assert_uint_eq(back.frames[i].offset, raw[i].offset);
    }
    buf_done(&out);
    arena_done(&arena);
}
END_TEST

/* The number of names that were asked for. */
static enum err counting_id(void *ctx, const char *name, int64_t *ret, struct error *error)
{
    ++*(size_t *)ctx;
    return name_id(NULL, name, ret, error);
}

static void same_with(const struct resolved_stack *s, struct frames_memo *memo, struct buf *plain,
                      struct buf *out)
{
    buf_clear(plain);
    buf_clear(out);
    ck_assert_int_eq(frames_blob_encode(s, name_id, NULL, NULL, plain, &err), ERR_OK);
    ck_assert_int_eq(frames_blob_encode(s, name_id, NULL, memo, out, &err), ERR_OK);
    ck_assert_uint_eq(out->len, plain->len);
    ck_assert_mem_eq(out->data, plain->data, plain->len);
}

START_TEST(a_memo_changes_no_byte)
{
    static struct frames_memo memo;
    struct raw_frame raw[3];
    struct resolved_frame frames[3];
    const struct resolved_stack s = {frames, 3};
    struct buf plain, out;
    size_t asked[3] = {0};
    make(raw, frames);
    buf_init(&plain, 65536);
    buf_init(&out, 65536);
    frames[0].status = FRAME_RESOLVED;
    frames[0].frames_id = 7;
    ck_assert_int_eq(frames_blob_encode(&s, counting_id, &asked[0], NULL, &plain, &err), ERR_OK);
    for (int i = 1; i <= 2; i++) {
        buf_clear(&out);
        ck_assert_int_eq(frames_blob_encode(&s, counting_id, &asked[i], &memo, &out, &err), ERR_OK);
        ck_assert_uint_eq(out.len, plain.len);
        ck_assert_mem_eq(out.data, plain.data, plain.len);
    }
    ck_assert_uint_eq(asked[1], asked[0]);
    ck_assert_uint_lt(asked[2], asked[0]);
    /* What is no index's word is asked anew: a device names the same frames in another way. */
    frames[0].status = FRAME_NO_SYMBOLS;
    same_with(&s, &memo, &plain, &out);
    /* Nor is an image's name taken for that of another one of its place. */
    frames[0].image_name = "Another";
    same_with(&s, &memo, &plain, &out);
    /* Other frames have another id, and those without one are asked each time. */
    const struct frame other = {.function = "other"};
    frames[0].status = FRAME_RESOLVED;
    frames[0].frames = &other;
    frames[0].frame_count = 1;
    frames[0].frames_id = 7 + FRAMES_MEMO;
    same_with(&s, &memo, &plain, &out);
    frames[0].frames = frames[1].frames;
    frames[0].frame_count = frames[1].frame_count;
    frames[0].frames_id = 0;
    same_with(&s, &memo, &plain, &out);
    /* Where names of images are written over. */
    char name[] = "First";
    frames[0].image_name = name;
    same_with(&s, &memo, &plain, &out);
    name[0] = 'f';
    frames_memo_begin(&memo);
    same_with(&s, &memo, &plain, &out);
    buf_done(&plain);
    buf_done(&out);
}
END_TEST

START_TEST(comes_back_equal)
{
    struct raw_frame raw[3];
    struct resolved_frame frames[3];
    struct arena arena;
    struct buf b;
    struct resolved_stack back;
    make(raw, frames);
    const struct raw_stack raw_stack = {raw, 3};
    const struct resolved_stack s = {frames, 3};
    arena_init(&arena, 1 << 20);
    buf_init(&b, 1 << 20);
    ck_assert_int_eq(frames_blob_encode(&s, name_id, NULL, NULL, &b, &err), ERR_OK);
    ck_assert_int_eq(
        frames_blob_decode(&raw_stack, b.data, b.len, name_text, NULL, &arena, &back, &err),
        ERR_OK);
    ck_assert_uint_eq(back.count, 3);
    for (size_t i = 0; i < 3; i++) {
        const struct resolved_frame *x = &back.frames[i];
        ck_assert_int_eq(x->status, frames[i].status);
        ck_assert_int_eq(x->approximate, frames[i].approximate);
        ck_assert_int_eq(x->in_app, frames[i].in_app);
        ck_assert_int_eq(x->has_index, frames[i].has_index);
        ck_assert(uuid_equal(&x->image, &frames[i].image));
        ck_assert_uint_eq(x->offset, frames[i].offset);
        ck_assert_int_eq(x->has_function_offset, frames[i].has_function_offset);
        ck_assert_uint_eq(x->function_offset, frames[i].function_offset);
        ck_assert_uint_eq(x->frame_count, frames[i].frame_count);
        ck_assert_int_eq(x->raw.kind, raw[i].kind);
    }
    ck_assert_str_eq(back.frames[0].image_name, "Shop");
    ck_assert_str_eq(back.frames[0].frames[0].mangled, "_Zf");
    ck_assert_uint_eq(back.frames[0].frames[0].line, 12);
    ck_assert(back.frames[0].frames[0].inlined);
    ck_assert_str_eq(back.frames[0].frames[1].mangled, "g");
    ck_assert(back.frames[0].frames[1].local);
    ck_assert_ptr_null(back.frames[0].frames[1].file);
    ck_assert_ptr_null(back.frames[1].frames[0].mangled);
    ck_assert_ptr_null(back.frames[1].image_name);
    uint32_t app, named;
    frames_count_app(&back, &app, &named);
    ck_assert_uint_eq(app, 1);
    ck_assert_uint_eq(named, 1);
    static const struct frame hidden = {.function = "<hidden>", .mangled = "__hidden#1_"};
    frames[0].frames = &hidden;
    frames[0].frame_count = 1;
    frames_count_app(&s, &app, &named);
    ck_assert_uint_eq(app, 1);
    ck_assert_uint_eq(named, 0);
    buf_done(&b);
    arena_done(&arena);
}
END_TEST

/* Cut at every byte, and every byte changed: an answer or an error, never more. */
START_TEST(damage_is_an_error)
{
    struct raw_frame raw[3];
    struct resolved_frame frames[3];
    struct arena arena;
    struct buf b;
    struct resolved_stack back;
    make(raw, frames);
    const struct raw_stack raw_stack = {raw, 3};
    const struct raw_stack other = {raw, 2};
    const struct resolved_stack s = {frames, 3};
    arena_init(&arena, 1 << 24);
    buf_init(&b, 1 << 20);
    ck_assert_int_eq(frames_blob_encode(&s, name_id, NULL, NULL, &b, &err), ERR_OK);
    ck_assert_int_eq(
        frames_blob_decode(&other, b.data, b.len, name_text, NULL, &arena, &back, &err),
        ERR_FORMAT);
    for (size_t len = 0; len < b.len; len++)
        ck_assert_int_eq(
            frames_blob_decode(&raw_stack, b.data, len, name_text, NULL, &arena, &back, &err),
            ERR_FORMAT);
    for (size_t i = 0; i < b.len; i++) {
        for (int bit = 0; bit < 8; bit++) {
            b.data[i] = (char)(b.data[i] ^ 1 << bit);
            (void)frames_blob_decode(&raw_stack, b.data, b.len, name_text, NULL, &arena, &back,
                                     &err);
            b.data[i] = (char)(b.data[i] ^ 1 << bit);
        }
        arena_reset(&arena);
    }
    buf_done(&b);
    arena_done(&arena);
}
END_TEST

/* What devices make up goes with its stack: the dictionary hears nothing of it. */
START_TEST(names_of_devices_are_no_words_of_the_dictionary)
{
    const struct frame plain = {.function = "main"};
    const struct frame shown = {.function = "net::poll(int)", .mangled = "_ZN3net4pollEi"};
    const struct frame same = {.function = "start", .mangled = "start"};
    struct raw_frame raw[3] = {{.image_kind = IMAGE_NONE, .symbol = "main"},
                               {.image_kind = IMAGE_NONE, .symbol = "_ZN3net4pollEi"},
                               {.image_kind = IMAGE_NONE, .symbol = "start"}};
    struct resolved_frame frames[3];
    const struct frame *given[3] = {&plain, &shown, &same};
    struct resolved_stack back, s = {frames, 3};
    const struct raw_stack raw_stack = {raw, 3};
    struct arena arena;
    struct buf b;
    for (int i = 0; i < 3; i++)
        frames[i] = (struct resolved_frame){
            .raw = raw[i], .status = FRAME_NO_SYMBOLS, .frames = given[i], .frame_count = 1};
    arena_init(&arena, 1 << 16);
    buf_init(&b, 1 << 16);
    int64_t before = name_count;
    ck_assert_int_eq(frames_blob_encode(&s, name_id, NULL, NULL, &b, &err), ERR_OK);
    ck_assert_int_eq(name_count, before);
    ck_assert_int_eq(
        frames_blob_decode(&raw_stack, b.data, b.len, name_text, NULL, &arena, &back, &err),
        ERR_OK);
    for (int i = 0; i < 3; i++) {
        ck_assert_str_eq(back.frames[i].frames[0].function, given[i]->function);
        ck_assert_int_eq(back.frames[i].frames[0].mangled == NULL, given[i]->mangled == NULL);
        if (given[i]->mangled)
            ck_assert_str_eq(back.frames[i].frames[0].mangled, given[i]->mangled);
    }
    /* Every cut is damage. */
    for (size_t n = 0; n < b.len; n++)
        ck_assert_int_eq(
            frames_blob_decode(&raw_stack, b.data, n, name_text, NULL, &arena, &back, &err),
            ERR_FORMAT);
    raw[1].symbol = NULL;
    ck_assert_int_eq(
        frames_blob_decode(&raw_stack, b.data, b.len, name_text, NULL, &arena, &back, &err),
        ERR_FORMAT);
    buf_done(&b);
    arena_done(&arena);
}
END_TEST

/* --- numbers alone ------------------------------------------------------------------------------ */

#define WALKED 120

static uint64_t state;

static uint32_t draw(uint32_t below)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state >> 33) % below;
}

/* A name that says its own number, of one to four bytes. */
static const char *numbered(struct arena *arena)
{
    return arena_printf(arena, "%u", 1 + draw(1u << (draw(4) * 7 + 7)) % UINT32_MAX);
}

static enum err number_of(void *ctx, const char *name, int64_t *ret, struct error *e)
{
    (void)ctx;
    (void)e;
    *ret = strtoll(name, NULL, 10);
    return ERR_OK;
}

static void make_many(struct arena *arena, struct resolved_frame frames[WALKED])
{
    for (size_t i = 0; i < WALKED; i++) {
        struct resolved_frame *r = &frames[i];
        const size_t count = draw(5) ? 1 : 1 + draw(3);
        struct frame *inside = arena_array(arena, count, sizeof(*inside));
        *r = (struct resolved_frame){.in_app = draw(2),
                                     .image_name = draw(4) ? numbered(arena) : NULL,
                                     .offset = draw(3) ? 0 : (uint64_t)draw(1u << 30) << draw(30),
                                     .has_function_offset = draw(2),
                                     .function_offset = draw(1u << 30),
                                     .frames = inside,
                                     .frame_count = count};
        for (size_t k = 0; k < count; k++)
            inside[k] = (struct frame){.function = numbered(arena),
                                       .mangled = draw(2) ? numbered(arena) : NULL,
                                       .file = draw(3) ? numbered(arena) : NULL,
                                       .line = draw(3) ? draw(1u << 31) : 0};
    }
}

static void check_walked(const struct resolved_frame *frames, const struct blob_frame *walked)
{
    for (size_t i = 0; i < WALKED; i++) {
        for (size_t k = 0; k < frames[i].frame_count; k++, walked++) {
            const struct frame *f = &frames[i].frames[k];
            const char *image = frames[i].image_name;
            ck_assert_uint_eq(walked->function, strtoull(f->function, NULL, 10));
            ck_assert_uint_eq(walked->file, f->file ? strtoull(f->file, NULL, 10) : 0);
            ck_assert_uint_eq(walked->image, image ? strtoull(image, NULL, 10) : 0);
            ck_assert_int_eq(walked->in_app, frames[i].in_app);
        }
    }
}

START_TEST(numbers_are_those_that_were_written)
{
    static struct resolved_frame frames[WALKED];
    static struct blob_frame walked[4 * WALKED];
    struct arena arena;
    struct buf b;
    size_t count;
    bool whole;
    arena_init(&arena, 1 << 20);
    buf_init(&b, 1 << 20);
    for (state = 1; state < 50; state++) {
        const uint64_t seed = state;
        const struct resolved_stack s = {frames, WALKED};
        arena_reset(&arena);
        buf_clear(&b);
        make_many(&arena, frames);
        ck_assert_int_eq(frames_blob_encode(&s, number_of, NULL, NULL, &b, &err), ERR_OK);
        ck_assert_int_eq(frames_blob_walk(b.data, b.len, walked, 4 * WALKED, &count, &whole, &err),
                         ERR_OK);
        ck_assert(whole);
        check_walked(frames, walked);
        /* Room for one less, and bytes that are cut off. */
        ck_assert_int_eq(frames_blob_walk(b.data, b.len, walked, count - 1, &count, &whole, &err),
                         ERR_OK);
        ck_assert(!whole);
        for (size_t len = 1; len < b.len; len += 7) {
            whole = false;
            (void)frames_blob_walk(b.data, len, walked, 4 * WALKED, &count, &whole, &err);
            ck_assert(!whole);
        }
        /* A number that takes more than 32 bits. */
        frames[draw(WALKED)].image_name = "4294967296";
        buf_clear(&b);
        ck_assert_int_eq(frames_blob_encode(&s, number_of, NULL, NULL, &b, &err), ERR_OK);
        ck_assert_int_eq(frames_blob_walk(b.data, b.len, walked, 4 * WALKED, &count, &whole, &err),
                         ERR_OK);
        ck_assert(!whole);
        state = seed;
    }
    buf_done(&b);
    arena_done(&arena);
}
END_TEST

UNIT_MAIN("frames_blob", numbers_are_those_that_were_written, given_up_as_a_whole,
          names_of_devices_are_no_words_of_the_dictionary, comes_back_equal, a_memo_changes_no_byte,
          damage_is_an_error)
