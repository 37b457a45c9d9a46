#include "base/stack.h"

#include <string.h>

#include "base/buf.h"
#include "tests/support/unit.h"

static struct uuid uuid_of(uint8_t first)
{
    struct uuid u = {{first, 1, 2, 3}};
    return u;
}

static const struct raw_frame *some_frames(void)
{
    static struct raw_frame f[5];
    f[0] = (struct raw_frame){uuid_of(1), 0x10, IMAGE_UUID, FRAME_LEAF, NULL};
    f[1] = (struct raw_frame){uuid_of(1), UINT64_MAX, IMAGE_UUID, FRAME_RETURN, "mach_msg"};
    f[2] = (struct raw_frame){uuid_of(2), 0x180001234, IMAGE_GROUP, FRAME_ASYNC, NULL};
    f[3] = (struct raw_frame){.image_kind = IMAGE_NONE, .kind = FRAME_EXACT};
    f[4] = (struct raw_frame){uuid_of(3), 7, IMAGE_NAMED, FRAME_RETURN, ""};
    return f;
}

START_TEST(encoding_keeps_everything)
{
    struct raw_stack s = {some_frames(), 5}, back;
    struct buf out;
    struct arena arena;
    struct error err;
    buf_init(&out, 10000);
    arena_init(&arena, 100000);
    ck_assert(raw_stack_encode(&s, &out));
    ck_assert_int_eq(raw_stack_decode(out.data, out.len, &arena, &back, &err), ERR_OK);
    ck_assert_uint_eq(back.count, 5);
    for (size_t i = 0; i < 5; i++) {
        ck_assert(uuid_equal(&back.frames[i].image, &s.frames[i].image));
        ck_assert_uint_eq(back.frames[i].offset, s.frames[i].offset);
        ck_assert_int_eq(back.frames[i].image_kind, s.frames[i].image_kind);
        ck_assert_int_eq(back.frames[i].kind, s.frames[i].kind);
        ck_assert_pstr_eq(back.frames[i].symbol, s.frames[i].symbol);
    }
    uint8_t a[STACK_HASH_SIZE], b[STACK_HASH_SIZE];
    raw_stack_hash("app", &s, a);
    raw_stack_hash("app", &back, b);
    ck_assert_int_eq(memcmp(a, b, sizeof(a)), 0);
    for (size_t len = 0; len < out.len; len++)
        ck_assert_int_eq(raw_stack_decode(out.data, len, &arena, &back, &err), ERR_FORMAT);
    buf_done(&out);
    arena_done(&arena);
}
END_TEST

/* That is no damage: the stack may be read another time. */
START_TEST(memory_that_is_not_there)
{
    struct raw_stack s = {some_frames(), 5}, back;
    struct buf out;
    struct arena arena;
    struct error err;
    buf_init(&out, 10000);
    ck_assert(raw_stack_encode(&s, &out));
    for (size_t limit = 16; limit < 5 * sizeof(struct raw_frame) + 16; limit += 16) {
        arena_init(&arena, limit);
        ck_assert_int_eq(raw_stack_decode(out.data, out.len, &arena, &back, &err), ERR_NO_MEMORY);
        arena_done(&arena);
    }
    buf_done(&out);
}
END_TEST

START_TEST(more_images_than_the_table_holds)
{
    enum { FRAMES = 700 };
    static struct raw_frame frames[FRAMES];
    uint64_t addresses[FRAMES], got[FRAMES];
    for (size_t i = 0; i < FRAMES; i++) {
        frames[i] = (struct raw_frame){.offset = i, .image_kind = IMAGE_UUID, .kind = FRAME_RETURN};
        frames[i].image.bytes[0] = (uint8_t)i;
        frames[i].image.bytes[1] = (uint8_t)(i >> 8) + 1;
        addresses[i] = 0x100000000u + i * 4096;
    }
    struct raw_stack s = {frames, FRAMES}, back;
    struct buf out;
    struct arena arena;
    struct error err;
    buf_init(&out, 1000000);
    arena_init(&arena, 1000000);
    ck_assert(raw_stack_encode(&s, &out));
    ck_assert_int_eq(raw_stack_decode(out.data, out.len, &arena, &back, &err), ERR_OK);
    for (size_t i = 0; i < FRAMES; i++)
        ck_assert(uuid_equal(&back.frames[i].image, &frames[i].image));
    buf_clear(&out);
    ck_assert(stack_addresses_encode(&s, addresses, &out));
    stack_addresses_decode(&s, out.data, out.len, got);
    ck_assert_int_eq(memcmp(addresses, got, sizeof(got)), 0);
    buf_done(&out);
    arena_done(&arena);
}
END_TEST

START_TEST(addresses_come_back_as_reported)
{
    struct raw_stack s = {some_frames(), 5};
    uint64_t addresses[] = {0x102f4001c, 0x9b0ea28102f4001c, 0x1a4c40000, UINT64_MAX, 0}, got[5];
    struct buf out;
    buf_init(&out, 10000);
    ck_assert(stack_addresses_encode(&s, addresses, &out));
    stack_addresses_decode(&s, out.data, out.len, got);
    ck_assert_int_eq(memcmp(addresses, got, sizeof(got)), 0);
    for (size_t len = 0; len < out.len; len++)
        stack_addresses_decode(&s, out.data, len, got);
    stack_addresses_decode(&s, NULL, 0, got);
    ck_assert_uint_eq(got[0], 0);
    buf_done(&out);
}
END_TEST

/* Far apart, the other way round, at no page: as they were; pages take the fewest bytes. */
START_TEST(images_load_anywhere)
{
    static const uint64_t starts[][3] = {
        {0x102f40000, 0x18f3c2000, 0x102f48000},
        {0x8000000000000000, 0x1000, 0xfffffffffffff000},
        {0x102f40001, 0x18f3c2fff, 1},
        {0xffffffffffffffff, 0, 0x7fffffffffffffff},
        {0, 0, 0},
    };
    struct raw_frame frames[3] = {{.image_kind = IMAGE_UUID}};
    for (size_t i = 0; i < 3; i++) {
        frames[i] = (struct raw_frame){.image_kind = IMAGE_UUID, .kind = FRAME_RETURN};
        frames[i].image.bytes[0] = (uint8_t)(i + 1);
        frames[i].offset = 0x1234 * i;
    }
    const struct raw_stack s = {frames, 3};
    for (size_t k = 0; k < sizeof(starts) / sizeof(starts[0]); k++) {
        uint64_t addresses[3], got[3];
        struct buf out;
        buf_init(&out, 10000);
        for (size_t i = 0; i < 3; i++)
            addresses[i] = starts[k][i] + frames[i].offset;
        ck_assert(stack_addresses_encode(&s, addresses, &out));
        stack_addresses_decode(&s, out.data, out.len, got);
        ck_assert_mem_eq(addresses, got, sizeof(got));
        if (k == 0)
            ck_assert_uint_eq(out.len, 12);
        buf_done(&out);
    }
}
END_TEST

START_TEST(hash_tells_apart_what_differs)
{
    struct raw_frame f[2];
    uint8_t first[STACK_HASH_SIZE], other[STACK_HASH_SIZE];
    struct raw_stack s = {f, 2};
#define RESET() memcpy(f, some_frames(), sizeof(f))
    RESET();
    raw_stack_hash("app", &s, first);
#define DIFFERS(change)                                                                            \
    do {                                                                                           \
        RESET();                                                                                   \
        change;                                                                                    \
        raw_stack_hash("app", &s, other);                                                          \
        ck_assert_int_ne(memcmp(first, other, sizeof(first)), 0);                                  \
    } while (0)
    DIFFERS(f[0].offset++);
    DIFFERS(f[0].kind = FRAME_RETURN);
    DIFFERS(f[0].image.bytes[15]++);
    DIFFERS(f[0].symbol = "x");
    DIFFERS(f[0].image_kind = IMAGE_NAMED);
    raw_stack_hash("app2", &s, other);
    ck_assert_int_ne(memcmp(first, other, sizeof(first)), 0);
    /* Outside every image the address is no part of the identity. */
    f[0] = f[1] = (struct raw_frame){.image_kind = IMAGE_NONE, .offset = 5};
    raw_stack_hash("app", &s, first);
    f[0].offset = 77;
    raw_stack_hash("app", &s, other);
    ck_assert_int_eq(memcmp(first, other, sizeof(first)), 0);
}
END_TEST

UNIT_MAIN("stack", encoding_keeps_everything, memory_that_is_not_there,
          more_images_than_the_table_holds, addresses_come_back_as_reported, images_load_anywhere,
          hash_tells_apart_what_differs)
