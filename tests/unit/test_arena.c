#include "base/arena.h"

#include <stdint.h>
#include <string.h>

#include "tests/support/unit.h"

START_TEST(zeroed_and_aligned)
{
    struct arena a;
    arena_init(&a, 1 << 20);
    for (size_t n = 0; n < 200; n++) {
        unsigned char *p = arena_alloc(&a, n);
        ck_assert_ptr_nonnull(p);
        ck_assert_uint_eq((uintptr_t)p % 16, 0);
        for (size_t i = 0; i < n; i++)
            ck_assert_uint_eq(p[i], 0);
        memset(p, 0xff, n);
    }
    arena_reset(&a);
    unsigned char *p = arena_alloc(&a, 4000);
    for (size_t i = 0; i < 4000; i++)
        ck_assert_uint_eq(p[i], 0);
    arena_done(&a);
}
END_TEST

START_TEST(limit_holds)
{
    struct arena a;
    arena_init(&a, 1000);
    size_t got = 0;
    while (arena_alloc(&a, 16))
        got += 16;
    ck_assert_uint_eq(got, 992);
    ck_assert_ptr_null(arena_alloc(&a, 1));
    arena_reset(&a);
    ck_assert_ptr_nonnull(arena_alloc(&a, 992));
    arena_done(&a);
}
END_TEST

START_TEST(absurd_sizes_fail)
{
    struct arena a;
    arena_init(&a, SIZE_MAX);
    ck_assert_ptr_null(arena_alloc(&a, SIZE_MAX));
    ck_assert_ptr_null(arena_alloc(&a, SIZE_MAX - 15));
    ck_assert_ptr_null(arena_array(&a, SIZE_MAX / 2, 3));
    ck_assert_ptr_null(arena_strndup(&a, "x", SIZE_MAX));
    arena_done(&a);
}
END_TEST

START_TEST(large_pieces_beside_small_ones)
{
    struct arena *a = arena_new((size_t)64 << 20);
    char *small = arena_strdup(a, "small");
    char *large = arena_alloc(a, (size_t)5 << 20);
    char *text = arena_printf(a, "%s-%d", "x", 7);
    memset(large, 1, (size_t)5 << 20);
    ck_assert_str_eq(small, "small");
    ck_assert_str_eq(text, "x-7");
    ck_assert_str_eq(arena_strndup(a, "abcdef", 3), "abc");
    arena_reset(a);
    ck_assert_uint_eq(a->used, 0);
    ck_assert_ptr_nonnull(arena_alloc(a, 100));
    arena_free(a);
    arena_free(NULL);
}
END_TEST

START_TEST(room_doubles_and_keeps)
{
    struct arena a;
    int *items = NULL;
    size_t room = 0, count = 0;
    arena_init(&a, 4096);
    while (arena_room(&a, (void **)&items, count, &room, sizeof(*items))) {
        items[count] = (int)count;
        count++;
    }
    ck_assert_uint_eq(count, room); /* full, and the limit holds */
    ck_assert_uint_ge(count, 256);
    for (size_t i = 0; i < count; i++)
        ck_assert_int_eq(items[i], (int)i);
    arena_done(&a);
}
END_TEST

UNIT_MAIN("arena", room_doubles_and_keeps, zeroed_and_aligned, limit_holds, absurd_sizes_fail,
          large_pieces_beside_small_ones)
