/* Covers: storage/sqlite_memory.c */
#include "storage/sqlite_memory.h"

#include <malloc.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

#include "tests/support/unit.h"

START_TEST(piece_is_used_again)
{
    sqlite_memory_set();
    char *first = sqlite3_malloc(SQLITE_PIECE_BYTES);
    ck_assert_ptr_nonnull(first);
    memset(first, 1, SQLITE_PIECE_BYTES);
    /* One that is not the same as the kept one: as large as two. */
    char *larger = sqlite3_malloc(2 * SQLITE_PIECE_BYTES);
    sqlite3_free(first);
    sqlite3_free(larger);
    struct mallinfo2 before = mallinfo2();
    char *again = sqlite3_malloc(SQLITE_PIECE_BYTES);
    struct mallinfo2 after = mallinfo2();
    ck_assert_ptr_nonnull(again);
#ifndef __SANITIZE_ADDRESS__
    ck_assert_ptr_eq(again, first);
    ck_assert_uint_eq(after.hblkhd, before.hblkhd);
#endif
    (void)before;
    (void)after;
    sqlite3_free(again);
}
END_TEST

START_TEST(kept_piece_is_not_given_for_more)
{
    sqlite_memory_set();
    sqlite3_free(sqlite3_malloc(SQLITE_PIECE_BYTES));
    char *more = sqlite3_malloc(3 * SQLITE_PIECE_BYTES);
    ck_assert_ptr_nonnull(more);
    ck_assert_uint_ge(malloc_usable_size(more), 3 * (size_t)SQLITE_PIECE_BYTES);
    memset(more, 1, 3 * (size_t)SQLITE_PIECE_BYTES);
    sqlite3_free(more);
}
END_TEST

START_TEST(two_at_a_time_are_two)
{
    sqlite_memory_set();
    char *a = sqlite3_malloc(SQLITE_PIECE_BYTES);
    char *b = sqlite3_malloc(SQLITE_PIECE_BYTES);
    ck_assert(a && b && a != b);
    memset(a, 1, SQLITE_PIECE_BYTES);
    memset(b, 2, SQLITE_PIECE_BYTES);
    ck_assert_int_eq(a[SQLITE_PIECE_BYTES - 1], 1);
    sqlite3_free(a);
    sqlite3_free(b);
}
END_TEST

START_TEST(small_ones_grow_with_what_is_in_them)
{
    sqlite_memory_set();
    char *p = sqlite3_malloc(5);
    ck_assert_ptr_nonnull(p);
    memcpy(p, "abcd", 5);
    p = sqlite3_realloc(p, 100000);
    ck_assert_str_eq(p, "abcd");
    ck_assert_uint_ge(sqlite3_msize(p), 100000);
    sqlite3_free(p);
    ck_assert_int_eq(sqlite3_memory_used(), 0); /* nobody counts */
}
END_TEST

static long resident_pages(void)
{
    long pages = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    ck_assert(f && fscanf(f, "%*s %ld", &pages) == 1);
    fclose(f);
    return pages;
}

START_TEST(kept_piece_is_not_all_in_memory)
{
    sqlite_memory_set();
    char *p = sqlite3_malloc(SQLITE_PIECE_BYTES);
    ck_assert_ptr_nonnull(p);
    memset(p, 1, SQLITE_PIECE_BYTES);
    const long filled = resident_pages();
    sqlite3_free(p);
#ifndef __SANITIZE_ADDRESS__
    ck_assert_int_lt(resident_pages(), filled - (SQLITE_PIECE_BYTES - (20 << 20)) / 4096);
    p = sqlite3_malloc(SQLITE_PIECE_BYTES); /* and is as good as before */
    memset(p, 2, SQLITE_PIECE_BYTES);
    ck_assert_int_eq(p[SQLITE_PIECE_BYTES - 1], 2);
    sqlite3_free(p);
#endif
    (void)filled;
}
END_TEST

UNIT_MAIN("sqlite_memory", kept_piece_is_not_all_in_memory, piece_is_used_again,
          kept_piece_is_not_given_for_more, two_at_a_time_are_two,
          small_ones_grow_with_what_is_in_them)
