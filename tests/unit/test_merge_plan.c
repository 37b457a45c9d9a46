/* Which merges shall be in force: what is alike, what people said, and what is so already. */
#include "server/analysis/merge_plan.h"

#include <string.h>

#include "tests/support/unit.h"

#define PARTS 6

static struct arena arena;
static struct error err;
static struct similar_part parts[PARTS];
static struct similar_pair related[4];
static struct similar_result result;
static struct plan_rule rules[16];
static size_t rule_count;
static struct merge_plan plan;

/* Part n has the key { n + 1 }; nothing is alike. */
static void start(void)
{
    arena_done(&arena);
    arena_init(&arena, 1 << 20);
    memset(parts, 0, sizeof(parts));
    rule_count = 0;
    result = (struct similar_result){.parts = parts, .part_count = PARTS, .related = related};
    for (size_t i = 0; i < PARTS; i++) {
        parts[i].key[0] = (uint8_t)(i + 1);
        parts[i].into = i;
        parts[i].score = 1;
    }
}

static void alike(size_t part, size_t taker, double score)
{
    parts[part].into = taker;
    parts[part].score = score;
}

static void rule(enum plan_rule_kind kind, bool by_hand, size_t from, size_t into, double score)
{
    struct plan_rule *r = &rules[rule_count++];
    *r = (struct plan_rule){.id = 100 + rule_count,
                            .kind = kind,
                            .by_hand = by_hand,
                            .score = (int64_t)(score * PLAN_SCORE_ONE)};
    r->from[0] = (uint8_t)(from + 1);
    r->into[0] = (uint8_t)(into + 1);
}

static void make_plan(void)
{
    ck_assert_int_eq(merge_plan_of(&result, rules, rule_count, &arena, &plan, &err), ERR_OK);
}

/* The plan comes into force. */
static void follow(void)
{
    for (size_t i = 0; i < plan.undo_count; i++) {
        size_t at = 0;
        while (rules[at].id != plan.undo[i])
            at++;
        memmove(&rules[at], &rules[at + 1], (--rule_count - at) * sizeof(rules[0]));
    }
    for (size_t i = 0; i < plan.merge_count; i++)
        rule(PLAN_MERGE, false, plan.merges[i].part, plan.merges[i].taker,
             (double)plan.merges[i].score / PLAN_SCORE_ONE);
}

static uint8_t root(size_t part)
{
    struct merge_map map;
    ck_assert_int_eq(merge_map_of(rules, rule_count, &arena, &map, &err), ERR_OK);
    return merge_map_root(&map, parts[part].key)[0];
}

START_TEST(what_is_alike_is_merged_once)
{
    start();
    alike(1, 0, .8);
    alike(2, 0, .6);
    make_plan();
    ck_assert_uint_eq(plan.merge_count, 2);
    ck_assert_uint_eq(plan.undo_count, 0);
    ck_assert_int_eq(plan.merges[0].score, 800000); /* best first */
    follow();
    make_plan();
    ck_assert_uint_eq(plan.merge_count + plan.undo_count, 0);
    ck_assert_uint_eq(root(1), 1);
    ck_assert_uint_eq(root(2), 1);
    ck_assert_uint_eq(root(3), 4);
    /* Another score is news, but no other merge. */
    alike(2, 0, .7);
    make_plan();
    ck_assert_uint_eq(plan.merge_count, 1);
    ck_assert_uint_eq(plan.undo_count, 0);
    ck_assert_int_eq(plan.merges[0].score, 700000);
}
END_TEST

START_TEST(what_is_alike_no_more_is_undone)
{
    start();
    rule(PLAN_MERGE, false, 1, 0, .8);
    rule(PLAN_MERGE, false, 2, 0, .8);
    alike(2, 3, .9);
    make_plan();
    ck_assert_uint_eq(plan.undo_count, 2);
    ck_assert_uint_eq(plan.merge_count, 1);
    ck_assert_uint_eq(plan.merges[0].into[0], 4);
}
END_TEST

START_TEST(hand_goes_first)
{
    start();
    rule(PLAN_MERGE, true, 1, 2, 0);
    alike(1, 0, .9); /* merged elsewhere by hand */
    alike(2, 1, .9); /* would be a circle */
    alike(3, 1, .9); /* follows it to 2 */
    make_plan();
    ck_assert_uint_eq(plan.merge_count, 1);
    ck_assert_uint_eq(plan.merges[0].part, 3);
    follow();
    ck_assert_uint_eq(root(1), 3);
    ck_assert_uint_eq(root(3), 3);
    /* A merge of an epoch before that leads away from the same key is none. */
    rule(PLAN_MERGE, false, 2, 0, .9);
    alike(2, 0, .9);
    make_plan();
    ck_assert_uint_eq(plan.merge_count + plan.undo_count, 0);
}
END_TEST

START_TEST(two_that_are_said_to_be_two)
{
    start();
    rule(PLAN_APART, true, 1, 0, 0);
    alike(1, 0, .9);
    make_plan();
    ck_assert_uint_eq(plan.merge_count, 0);
    alike(1, 1, 1);
    alike(0, 1, .9); /* nor the other way */
    make_plan();
    ck_assert_uint_eq(plan.merge_count, 0);
    alike(0, 2, .9); /* nor by way of a third: the better one wins */
    alike(1, 2, .8);
    make_plan();
    ck_assert_uint_eq(plan.merge_count, 1);
    ck_assert_uint_eq(plan.merges[0].part, 0);
}
END_TEST

START_TEST(what_was_split_stays_split)
{
    start();
    for (size_t i = 0; i < 2; i++) {
        parts[i].deepened = true;
        parts[i].origin[0] = 77;
    }
    alike(0, 1, .9);
    make_plan();
    ck_assert_uint_eq(plan.merge_count, 0);
    alike(0, 3, .9);
    alike(1, 3, .9);
    make_plan();
    ck_assert_uint_eq(plan.merge_count, 1);
    parts[1].origin[0] = 78; /* out of another part */
    make_plan();
    ck_assert_uint_eq(plan.merge_count, 2);
}
END_TEST

START_TEST(related_pairs_are_of_clusters)
{
    start();
    alike(1, 0, .9);
    rule(PLAN_APART, true, 4, 0, 0);
    related[0] = (struct similar_pair){.part = 1, .other = 2, .score = .3};
    related[1] = (struct similar_pair){.part = 0, .other = 2, .score = .4};
    related[2] = (struct similar_pair){.part = 1, .other = 0, .score = .5};
    related[3] = (struct similar_pair){.part = 4, .other = 1, .score = .5};
    result.related_count = 4;
    make_plan();
    ck_assert_uint_eq(plan.related_count, 2); /* one pair, both ways; its better score */
    ck_assert_uint_eq(plan.related[0].key[0], 1);
    ck_assert_uint_eq(plan.related[0].other[0], 3);
    ck_assert_uint_eq(plan.related[1].key[0], 3);
    ck_assert_uint_eq(plan.related[1].other[0], 1);
    ck_assert_int_eq(plan.related[0].score, 400000);
}
END_TEST

START_TEST(nothing_at_all)
{
    start();
    result.part_count = 0;
    make_plan();
    ck_assert_uint_eq(plan.merge_count + plan.undo_count + plan.related_count, 0);
    rule(PLAN_MERGE, false, 1, 0, .8); /* of parts that are gone */
    rule(PLAN_MERGE, true, 2, 3, 0);
    make_plan();
    ck_assert_uint_eq(plan.undo_count, 1);
    ck_assert_uint_eq(plan.undo[0], 101);
}
END_TEST

UNIT_MAIN("merge_plan", what_is_alike_is_merged_once, what_is_alike_no_more_is_undone,
          hand_goes_first, two_that_are_said_to_be_two, what_was_split_stays_split,
          related_pairs_are_of_clusters, nothing_at_all)
