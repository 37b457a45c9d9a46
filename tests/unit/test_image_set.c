#include "server/ingest/image_set.h"

#include <string.h>

#include "tests/support/unit.h"

static struct image_entry entry(const char *name, const char *path)
{
    struct image_entry e = {.name = name, .path = path, .has_load_address = true};
    e.uuid.bytes[0] = (uint8_t)name[0];
    return e;
}

START_TEST(round_trip_keeps_what_the_map_needs)
{
    struct image_entry in[4];
    in[0] = entry("Shop", "/private/var/containers/Bundle/Application/1A2B/Shop.app/Shop");
    in[0].has_load_address = false;
    in[0].has_slide = true;
    in[0].slide = 0x4f4000;
    in[1] = entry("Feed", "/private/var/containers/Bundle/Application/1A2B/Shop.app/Frameworks/"
                          "Feed.framework/Feed");
    in[1].load_address = UINT64_MAX;
    in[1].arch = "arm64e";
    in[2] = entry("UIKitCore", "/System/Library/PrivateFrameworks/UIKitCore.framework/UIKitCore");
    in[2].size = (uint64_t)1 << 40;
    in[3] = entry("x", NULL);
    memset(&in[3].uuid, 0, sizeof(in[3].uuid));
    struct buf out;
    struct arena arena;
    struct image_entry *back = NULL;
    size_t count = 0;
    struct error err;
    buf_init(&out, 100000);
    arena_init(&arena, 100000);
    ck_assert(image_set_encode(in, 4, &out));
    ck_assert_ptr_null(memmem(out.data, out.len, "1A2B", 4)); /* no container's path on disk */
    ck_assert_int_eq(image_set_decode(out.data, out.len, &arena, &back, &count, &err), ERR_OK);
    ck_assert_uint_eq(count, 4);
    for (size_t i = 0; i < 4; i++) {
        ck_assert_str_eq(back[i].name, in[i].name);
        ck_assert(uuid_equal(&back[i].uuid, &in[i].uuid));
        ck_assert_int_eq(back[i].has_slide, in[i].has_slide);
        ck_assert_int_eq(back[i].has_load_address, in[i].has_load_address);
        ck_assert_uint_eq(back[i].slide, in[i].slide);
        ck_assert_uint_eq(back[i].load_address, in[i].load_address);
        ck_assert_uint_eq(back[i].size, in[i].size);
        ck_assert_int_eq(image_class_of_path(back[i].path), image_class_of_path(in[i].path));
    }
    ck_assert_str_eq(back[1].arch, "arm64e");
    ck_assert_ptr_null(back[0].arch);
    for (size_t len = 0; len < out.len; len++)
        ck_assert_int_eq(image_set_decode(out.data, len, &arena, &back, &count, &err), ERR_FORMAT);
    buf_done(&out);
    arena_done(&arena);
}
END_TEST

START_TEST(any_bytes_are_safe)
{
    uint32_t seed = 7;
    for (int round = 0; round < 2000; round++) {
        uint8_t bytes[64];
        struct arena arena;
        struct image_entry *back = NULL;
        size_t count = 0;
        struct error err;
        for (size_t i = 0; i < sizeof(bytes); i++) {
            seed = seed * 1664525 + 1013904223;
            bytes[i] = (uint8_t)(seed >> 24);
        }
        bytes[0] = 1;
        bytes[1] &= 3;
        arena_init(&arena, 1000000);
        enum err rc = image_set_decode(bytes, sizeof(bytes), &arena, &back, &count, &err);
        ck_assert(rc == ERR_OK || rc == ERR_FORMAT);
        arena_done(&arena);
    }
}
END_TEST

static enum image_set_standing standing_of(const struct image_entry *stored, size_t stored_count,
                                           const struct image_entry *sent, size_t sent_count)
{
    struct buf a, b;
    struct arena arena;
    buf_init(&a, 100000);
    buf_init(&b, 100000);
    arena_init(&arena, 100000);
    ck_assert(image_set_encode(stored, stored_count, &a));
    ck_assert(image_set_encode(sent, sent_count, &b));
    enum image_set_standing s = image_set_compare(a.data, a.len, b.data, b.len, &arena);
    buf_done(&a);
    buf_done(&b);
    arena_done(&arena);
    return s;
}

START_TEST(one_process_adds_images)
{
    const struct image_entry a = entry("A", "/usr/lib/A"), b = entry("B", NULL);
    struct image_entry c = entry("C", NULL);
    c.load_address = 0x4000;
    const struct image_entry two[] = {a, c}, three[] = {c, b, a}, twice[] = {a, c, a};
    ck_assert_int_eq(standing_of(two, 2, two, 2), IMAGE_SET_HELD);
    ck_assert_int_eq(standing_of(two, 2, twice, 3), IMAGE_SET_HELD);
    ck_assert_int_eq(standing_of(two, 2, three, 3), IMAGE_SET_GROWN);
    ck_assert_int_eq(standing_of(three, 3, two, 2), IMAGE_SET_HELD);
    ck_assert_int_eq(standing_of(two, 0, two, 2), IMAGE_SET_GROWN);
    const struct image_entry other[] = {a, b};
    ck_assert_int_eq(standing_of(two, 2, other, 2), IMAGE_SET_OTHER);
}
END_TEST

START_TEST(another_place_is_another_process)
{
    struct image_entry was[2] = {entry("A", NULL), entry("n", NULL)}, is[6][2];
    memset(&was[1].uuid, 0, sizeof(was[1].uuid));
    for (size_t i = 0; i < 6; i++)
        memcpy(is[i], was, sizeof(was));
    is[0][0].load_address = 0x4000;
    is[1][0].has_slide = true;
    is[2][0].has_load_address = false;
    is[3][0].uuid.bytes[15] = 1;
    is[4][1].name = "m"; /* what stands for its UUID */
    is[5][0].has_slide = true;
    is[5][0].slide = 0x4000;
    for (size_t i = 0; i < 6; i++)
        ck_assert_int_eq(standing_of(was, 2, is[i], 2), IMAGE_SET_OTHER);
    is[0][0] = was[0];
    is[0][0].name = "Other";
    is[0][0].size = 5;
    ck_assert_int_eq(standing_of(was, 2, is[0], 2), IMAGE_SET_HELD);
}
END_TEST

START_TEST(damaged_bytes_are_no_list)
{
    struct arena arena;
    arena_init(&arena, 100000);
    ck_assert_int_eq(image_set_compare("", 0, "\1\0", 2, &arena), IMAGE_SET_OTHER);
    ck_assert_int_eq(image_set_compare("\1\0", 2, "\1\1", 2, &arena), IMAGE_SET_OTHER);
    ck_assert_int_eq(image_set_compare("\2\0", 2, "\1\0", 2, &arena), IMAGE_SET_OTHER);
    arena_done(&arena);
}
END_TEST

UNIT_MAIN("image_set", round_trip_keeps_what_the_map_needs, any_bytes_are_safe,
          one_process_adds_images, another_place_is_another_process, damaged_bytes_are_no_list)
