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

UNIT_MAIN("image_set", round_trip_keeps_what_the_map_needs, any_bytes_are_safe)
