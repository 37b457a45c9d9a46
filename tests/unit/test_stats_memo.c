/* Covers: server/http/stats_memo.c */
#include "server/http/stats_memo.h"

#include <stdio.h>
#include <string.h>

#include "tests/support/unit.h"

static struct arena arena;
static struct stats_memo *memo;
static const char *text;

static enum stats_age get(const char *app, int64_t at)
{
    text = NULL;
    return stats_memo_get(memo, app, at, &arena, &text);
}

static void begin(void)
{
    arena_init(&arena, 1 << 20);
    memo = stats_memo_new();
}

static void end(void)
{
    stats_memo_free(memo);
    arena_done(&arena);
}

START_TEST(an_answer_ages)
{
    begin();
    ck_assert_int_eq(get("a", 5), STATS_NONE);
    stats_memo_put(memo, "a", 5, "one");
    stats_memo_put(memo, NULL, 5, "all");
    ck_assert_int_eq(get("a", 5 + STATS_FRESH_MS - 1), STATS_FRESH);
    ck_assert_str_eq(text, "one");
    ck_assert_int_eq(get(NULL, 6), STATS_FRESH);
    ck_assert_str_eq(text, "all");
    /* One is to count, the others are not. */
    ck_assert_int_eq(get("a", 5 + STATS_FRESH_MS), STATS_DUE);
    ck_assert_str_eq(text, "one");
    ck_assert_int_eq(get("a", 6 + STATS_FRESH_MS), STATS_FRESH);
    /* It did not come of it. */
    ck_assert_int_eq(get("a", 5 + 2 * STATS_FRESH_MS), STATS_DUE);
    stats_memo_put(memo, "a", 6 + 2 * STATS_FRESH_MS, "two");
    ck_assert_int_eq(get("a", 5 + 3 * STATS_FRESH_MS), STATS_FRESH);
    ck_assert_str_eq(text, "two");
    ck_assert_int_eq(get("a", 6 + 2 * STATS_FRESH_MS + STATS_KEPT_MS), STATS_NONE);
    ck_assert_ptr_null(text);
    end();
}
END_TEST

START_TEST(the_oldest_goes)
{
    char key[16];
    begin();
    for (int i = 0; i <= STATS_ENTRIES_MAX; i++) {
        snprintf(key, sizeof(key), "app%d", i);
        stats_memo_put(memo, key, i, key);
    }
    ck_assert_int_eq(get("app0", 100), STATS_NONE);
    ck_assert_int_eq(get("app1", 100), STATS_FRESH);
    ck_assert_int_eq(get(key, 100), STATS_FRESH);
    ck_assert_str_eq(text, key);
    end();
}
END_TEST

/* Two count at once; what began last is what stands. */
START_TEST(an_older_count_replaces_none)
{
    begin();
    stats_memo_put(memo, "a", 20, "new");
    stats_memo_put(memo, "a", 10, "old");
    ck_assert_int_eq(get("a", 30), STATS_FRESH);
    ck_assert_str_eq(text, "new");
    stats_memo_forget(memo, "a", 10);
    stats_memo_forget(memo, "b", 30);
    ck_assert_int_eq(get("a", 30), STATS_FRESH);
    stats_memo_forget(memo, "a", 30);
    ck_assert_int_eq(get("a", 30), STATS_NONE);
    stats_memo_put(memo, NULL, 10, "all");
    stats_memo_forget(memo, NULL, 10);
    ck_assert_int_eq(get(NULL, 30), STATS_NONE);
    end();
}
END_TEST

/* Many apps are due at once: one counts, or no reader were left for other questions. */
START_TEST(one_is_counted_at_a_time)
{
    begin();
    stats_memo_put(memo, "a", 0, "one");
    stats_memo_put(memo, "b", 0, "two");
    ck_assert_int_eq(get("a", STATS_FRESH_MS), STATS_DUE);
    ck_assert_int_eq(get("b", STATS_FRESH_MS + 1), STATS_FRESH);
    stats_memo_counted(memo);
    ck_assert_int_eq(get("b", STATS_FRESH_MS + 2), STATS_DUE);
    ck_assert_int_eq(get("a", STATS_FRESH_MS + 3), STATS_FRESH);
    /* Who was to count never came back. */
    stats_memo_put(memo, "c", 0, "three");
    ck_assert_int_eq(get("c", STATS_FRESH_MS + 1 + STATS_TURN_MS), STATS_FRESH);
    ck_assert_int_eq(get("c", STATS_FRESH_MS + 2 + STATS_TURN_MS), STATS_DUE);
    end();
}
END_TEST

UNIT_MAIN("stats_memo", one_is_counted_at_a_time, an_answer_ages, the_oldest_goes,
          an_older_count_replaces_none)
