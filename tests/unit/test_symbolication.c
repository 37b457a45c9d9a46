#include "storage/symbolication.h"

#include <stdio.h>
#include <time.h>

#include "tests/support/unit.h"

static struct arena arena;
static struct error err;

static void add(struct symbolication *s, const char *key, uint64_t frames, uint64_t resolved)
{
    ck_assert_int_eq(symbolication_add(s, key, frames, resolved, &err), ERR_OK);
}

START_TEST(keys_are_summed_and_ranked)
{
    struct symbolication s = {.arena = &arena};
    struct symbolication_row *rows = NULL;
    size_t count = 0;
    arena_init(&arena, 65536);
    symbolication_rows(&s, 10, &rows, &count);
    ck_assert_uint_eq(count, 0);
    add(&s, "Shop", 5, 5);
    add(&s, "", 1, 0);
    add(&s, "Feed", 7, 1);
    add(&s, "Shop", 2, 0);
    symbolication_rows(&s, 2, &rows, &count);
    ck_assert_uint_eq(count, 2);
    ck_assert_str_eq(rows[0].key, "Feed");
    ck_assert_str_eq(rows[1].key, "Shop");
    ck_assert_uint_eq(rows[1].frames, 7);
    ck_assert_uint_eq(rows[1].resolved, 5);
    arena_done(&arena);
}
END_TEST

START_TEST(versions_have_their_app_beside_them)
{
    struct symbolication s = {.arena = &arena};
    struct symbolication_row *rows = NULL;
    size_t count = 0;
    arena_init(&arena, 65536);
    ck_assert_int_eq(symbolication_add_version(&s, "com.a", "7 1", 5, 4, &err), ERR_OK);
    ck_assert_int_eq(symbolication_add_version(&s, "com.a", "", 2, 1, &err), ERR_OK);
    ck_assert_int_eq(symbolication_add_version(&s, "com.a", "7 1", 1, 1, &err), ERR_OK);
    symbolication_rows(&s, 9, &rows, &count);
    ck_assert_uint_eq(count, 2);
    ck_assert_str_eq(rows[0].key, "com.a 7 1");
    ck_assert_str_eq(rows[0].bundle_id, "com.a");
    ck_assert_str_eq(rows[0].version, "7 1");
    ck_assert_uint_eq(rows[0].frames, 6);
    ck_assert_str_eq(rows[1].key, "com.a");
    ck_assert_str_eq(rows[1].version, "");
    arena_done(&arena);
}
END_TEST

/* Clients choose names. Above the cap the known ones are still counted; no key is looked for in a
 * list: ten million additions over all names took minutes. */
START_TEST(many_keys)
{
    enum { KEYS = SYMBOLICATION_KEYS_MAX + 1000, ROUNDS = 20 };
    struct symbolication s = {.arena = &arena};
    struct symbolication_row *rows = NULL;
    size_t count = 0;
    arena_init(&arena, (size_t)16 << 20);
    clock_t begin = clock();
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < KEYS; i++) {
            char key[32];
            snprintf(key, sizeof(key), "Image%d", i);
            add(&s, key, 1, (uint64_t)i % 2);
        }
    }
    ck_assert_msg(clock() - begin < 10 * CLOCKS_PER_SEC, "%ld", (long)(clock() - begin));
    symbolication_rows(&s, SIZE_MAX, &rows, &count);
    ck_assert_uint_eq(count, SYMBOLICATION_KEYS_MAX);
    for (size_t i = 0; i < count; i++)
        ck_assert_uint_eq(rows[i].frames, ROUNDS);
    arena_done(&arena);
}
END_TEST

UNIT_MAIN("symbolication", keys_are_summed_and_ranked, versions_have_their_app_beside_them,
          many_keys)
