/* Which symbol files are offered, and in which order. */
#include "storage/candidates.h"

#include <stdio.h>
#include <string.h>

#include "tests/support/unit.h"

static struct arena arena;
static struct candidates list;

static void begin(const struct build_seen *seen, size_t count)
{
    arena_init(&arena, (size_t)1 << 20);
    ck_assert(candidates_init(&list, seen, count, &arena));
}

static void offer(uint8_t n, const char *version, const char *build)
{
    const struct missing_candidate c = {
        .uuid = {{n, 1}}, .version = version, .build = build, .has_dwarf = true};
    ck_assert(candidates_offer(&list, &c, n, &arena));
}

static void expect(const char *order)
{
    char got[8] = "";
    for (size_t i = 0; i < list.count; i++)
        got[i] = (char)('0' + list.items[i].uuid.bytes[0]);
    ck_assert_str_eq(got, order);
    arena_done(&arena);
}

START_TEST(other_versions_are_not_offered)
{
    const struct build_seen seen[] = {{"2.0", "100"}, {"", "7"}};
    begin(seen, 2);
    offer(1, "2.0.0", "100");
    offer(2, "2.1", "100");
    offer(3, "", "7");
    expect("");
}
END_TEST

START_TEST(the_nearest_build_comes_first)
{
    const struct build_seen seen[] = {{"2.0", "100"}};
    begin(seen, 1);
    offer(1, "2.0", "90");
    offer(2, "2.0", "105");
    offer(3, "2.0", "abc");
    offer(4, "2.0", "");
    offer(5, "2.0", "100");
    ck_assert(list.items[0].same_build);
    ck_assert(!list.items[1].same_build);
    expect("521");
}
END_TEST

START_TEST(builds_that_are_no_numbers)
{
    const struct build_seen seen[] = {{"2.0", "1A2"}, {"2.0", ""}};
    begin(seen, 2);
    offer(1, "2.0", "");
    offer(2, "2.0", "1A3");
    offer(3, "2.0", "1A2");
    offer(4, "2.0", "99999999999999999999999");
    expect("342"); /* the younger of equals; unknown builds last */
}
END_TEST

START_TEST(one_uuid_of_several_builds)
{
    const struct build_seen seen[] = {{"2.0", "100"}};
    begin(seen, 1);
    offer(1, "2.0", "90");
    offer(2, "2.0", "95");
    offer(1, "2.0", "100"); /* nearer */
    offer(1, "2.0", "80");  /* farther */
    offer(1, "3.0", "100"); /* of another version */
    ck_assert_str_eq(list.items[0].build, "100");
    ck_assert(list.items[0].same_build);
    expect("12");
}
END_TEST

START_TEST(numbers_that_differ_as_texts)
{
    const struct build_seen seen[] = {{"2.0", "7"}};
    begin(seen, 1);
    offer(1, "2.0", "07");
    offer(2, "2.0", "9");
    ck_assert(!list.items[0].same_build);
    expect("12");
}
END_TEST

START_TEST(each_uuid_once_and_three_at_most)
{
    const struct build_seen seen[] = {{"2.0", "5"}, {"2.0", "8"}};
    begin(seen, 2);
    for (uint8_t n = 1; n < 9; n++) {
        char build[8];
        snprintf(build, sizeof(build), "%u", n);
        offer(n, "2.0", build);
    }
    offer(8, "2.0", "8");
    ck_assert(list.items[0].same_build && list.items[1].same_build && !list.items[2].same_build);
    expect("857");
}
END_TEST

UNIT_MAIN("candidates", other_versions_are_not_offered, the_nearest_build_comes_first,
          builds_that_are_no_numbers, numbers_that_differ_as_texts, one_uuid_of_several_builds,
          each_uuid_once_and_three_at_most)
