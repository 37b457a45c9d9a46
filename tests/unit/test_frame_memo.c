#include "server/analysis/frame_memo.h"

#include <stdio.h>
#include <string.h>

#include "server/analysis/cluster_key.h"
#include "server/analysis/normalize.h"
#include "server/analysis/similar.h"
#include "tests/support/stacks.h"
#include "tests/support/unit.h"

static void check_equal(const struct frame_decision *a, const struct frame_decision *b)
{
    ck_assert_str_eq(a->key, b->key);
    ck_assert_uint_eq(a->key_len, b->key_len);
    ck_assert_pstr_eq(a->drop, b->drop);
    ck_assert_str_eq(a->rule, b->rule);
    ck_assert_pstr_eq(a->owner, b->owner);
    ck_assert_ptr_eq(a->group.action, b->group.action);
    ck_assert_ptr_eq(a->category.action, b->category.action);
    ck_assert_uint_eq(a->depth, b->depth);
    ck_assert(a->named == b->named && a->in_app == b->in_app && a->vendor == b->vendor &&
              a->boundary == b->boundary && a->plumbing == b->plumbing);
}

static void check_same(const struct rules *rules, struct frame_memo *memo,
                       const struct frame_question *q)
{
    char key[KEY_NAME_MAX];
    char key2[KEY_NAME_MAX];
    struct frame_decision with;
    struct frame_decision without;
    frame_memo_begin(memo);
    check_equal(frame_decide(rules, NULL, NULL, q, key, &without), &without);
    check_equal(frame_decide(rules, memo, NULL, q, key2, &with), &without);
    check_equal(frame_decide(rules, memo, NULL, q, key2, &with), &without);
}

START_TEST(with_and_without_are_the_same)
{
    static const char *const NAMES[] = {"mach_msg2_trap", "Feed.reload(_:)",
                                        "<redacted>",     "swift_retain",
                                        "read",           "UIApplicationMain",
                                        "-[SentryHub a]", "-[FMDatabase b]",
                                        "tick",           "closure #1 in Feed.reload(_:)"};
    static const char *const IMAGES[] = {"Shop", "libsystem_kernel.dylib", "GRDB", "", NULL};
    struct rules *rules = NULL;
    ck_assert_int_eq(rules_new_default(&rules, NULL), ERR_OK);
    struct frame_memo *memo = frame_memo_new(rules, 1000);
    ck_assert_ptr_nonnull(memo);
    for (size_t n = 0; n < 11; n++) {
        for (size_t i = 0; i < 5; i++) {
            for (uint32_t bits = 0; bits < 64; bits++) {
                struct frame_question q = {.image = IMAGES[i],
                                           .function = n < 10 ? NAMES[n] : NULL,
                                           .file = bits & 1 ? "clock.c" : NULL,
                                           .local = bits & 2,
                                           .in_app = bits & 4,
                                           .module = bits & 32 ? "Alamofire" : NULL,
                                           .position = (bits >> 3 & 3) * 5};
                check_same(rules, memo, &q);
            }
        }
    }
    frame_memo_free(memo);
    rules_free(rules);
}
END_TEST

START_TEST(positions_that_a_rule_tells_apart)
{
    static const char TEXT[] = "drop=top position=0-2: a\ndrop=deep position=7-: b\n";
    struct rules *rules = NULL;
    ck_assert_int_eq(rules_new(TEXT, strlen(TEXT), &rules, NULL), ERR_OK);
    ck_assert_uint_eq(rules_position_cap(rules), 7);
    struct frame_memo *memo = frame_memo_new(rules, 64);
    for (uint32_t position = 0; position < 12; position++) {
        check_same(rules, memo, &(struct frame_question){.function = "a", .position = position});
        check_same(rules, memo, &(struct frame_question){.function = "b", .position = position});
    }
    frame_memo_free(memo);
    rules_free(rules);
}
END_TEST

START_TEST(a_full_memo_starts_again)
{
    struct rules *rules = NULL;
    ck_assert_int_eq(rules_new("drop=x: Feed.load1*\n", 20, &rules, NULL), ERR_OK);
    struct frame_memo *memo = frame_memo_new(rules, 8);
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 100; i++) {
            char name[32];
            snprintf(name, sizeof(name), "Feed.load%d()", i);
            check_same(rules, memo, &(struct frame_question){.image = "Shop", .function = name});
        }
    }
    frame_memo_free(memo);
    memo = frame_memo_new(rules, 1u << 20); /* long names: by bytes */
    char *name = malloc(60000);
    ck_assert_ptr_nonnull(name);
    for (int i = 0; i < 600; i++) {
        memset(name, 'a', 59999);
        name[59999] = 0;
        snprintf(name, 16, "f%d", i);
        name[strlen(name)] = '_';
        check_same(rules, memo, &(struct frame_question){.image = "Shop", .function = name});
    }
    free(name);
    frame_memo_free(memo);
    frame_memo_free(NULL);
    rules_free(rules);
}
END_TEST

START_TEST(another_rule_set_is_not_answered_from_it)
{
    struct rules *a = NULL;
    struct rules *b = NULL;
    char key[KEY_NAME_MAX];
    struct frame_decision room;
    ck_assert_int_eq(rules_new("drop=x: f\n", 10, &a, NULL), ERR_OK);
    ck_assert_int_eq(rules_new("keep: f\n", 8, &b, NULL), ERR_OK);
    struct frame_memo *memo = frame_memo_new(a, 8);
    const struct frame_question q = {.function = "f"};
    ck_assert_str_eq(frame_decide(a, memo, NULL, &q, key, &room)->drop, "x");
    ck_assert_ptr_null(frame_decide(b, memo, NULL, &q, key, &room)->drop);
    frame_memo_free(memo);
    rules_free(a);
    rules_free(b);
}
END_TEST

/* What has one number is one frame. */
START_TEST(frames_are_found_by_number)
{
    static const char TEXT[] = "drop=top position=0-2: a\n";
    struct rules *rules = NULL, *others = NULL;
    char image[] = "Shop", key[KEY_NAME_MAX];
    struct frame_decision room;
    ck_assert_int_eq(rules_new(TEXT, strlen(TEXT), &rules, NULL), ERR_OK);
    ck_assert_int_eq(rules_new("keep: f\n", 8, &others, NULL), ERR_OK);
    struct frame_memo *memo = frame_memo_new(rules, 8);
    const struct frame_place place = {7, 1, 3, image, true};
    const struct frame_question q = {
        .image = image, .function = "a", .position = 3, .in_app = true};
    ck_assert_ptr_null(frame_memo_placed(memo, rules, &place));
    const struct frame_decision *d = frame_decide(rules, memo, &place, &q, key, &room);
    ck_assert(d != &room && !d->everywhere);
    ck_assert_str_eq(d->key, "a");
    ck_assert_ptr_eq(frame_memo_placed(memo, rules, &place), d);
    struct frame_place other = place;
    other.image = "Shop"; /* the text is asked for, not where it lies */
    other.position = 9;   /* no rule tells it from 3 */
    ck_assert_ptr_eq(frame_memo_placed(memo, rules, &other), d);
    other.position = 2;
    ck_assert_ptr_null(frame_memo_placed(memo, rules, &other));
    other = place;
    other.image = "Feed";
    ck_assert_ptr_null(frame_memo_placed(memo, rules, &other));
    other = place;
    other.in_app = false;
    ck_assert_ptr_null(frame_memo_placed(memo, rules, &other));
    other = place;
    other.index = 0;
    ck_assert_ptr_null(frame_memo_placed(memo, rules, &other));
    other = place;
    other.frames_id = 8;
    ck_assert_ptr_null(frame_memo_placed(memo, rules, &other));
    ck_assert_ptr_null(frame_memo_placed(memo, others, &place));
    ck_assert_ptr_null(frame_memo_placed(NULL, rules, &place));
    ck_assert_ptr_eq(frame_decide(others, memo, &place, &q, key, &room), &room);
    ck_assert_ptr_eq(frame_memo_placed(memo, rules, &place), d);
    frame_memo_free(memo);
    rules_free(rules);
    rules_free(others);
}
END_TEST

/* A name that no rule with a position meets is decided once, wherever it stands. */
START_TEST(positions_that_no_rule_asked_for)
{
    static const char TEXT[] = "drop=top position=0-2: aaaa\ndrop=any: bbbb\n"
                               "drop=c image=cc position=1-\nkeep file=d position=0: dddd\n";
    static const struct {
        struct frame_question q;
        bool everywhere;
    } CASES[] = {
        {{.function = "aaaa"}, false},
        {{.function = "bbbb"}, true},
        {{.function = "eeee", .image = "ee"}, true},
        {{.function = "eeee", .image = "cc"}, false},
        {{.image = "ee"}, true},
        {{.function = "dddd", .file = "other"}, false}, /* to be sure */
    };
    struct rules *rules = NULL;
    char key[KEY_NAME_MAX];
    struct frame_decision room;
    ck_assert_int_eq(rules_new(TEXT, strlen(TEXT), &rules, NULL), ERR_OK);
    struct frame_memo *memo = frame_memo_new(rules, 64);
    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
        struct frame_question q = CASES[i].q;
        const struct frame_decision *first = frame_decide(rules, memo, NULL, &q, key, &room);
        ck_assert_msg(first->everywhere == CASES[i].everywhere, "case %zu", i);
        for (q.position = 1; q.position < 5; q.position++) {
            const struct frame_decision *d = frame_decide(rules, memo, NULL, &q, key, &room);
            ck_assert((d == first) == CASES[i].everywhere);
            check_same(rules, memo, &q);
        }
    }
    frame_memo_free(memo);
    rules_free(rules);
}
END_TEST

/* All of it goes at once, and not while a stack is at hand. */
START_TEST(it_forgets_between_stacks)
{
    struct rules *rules = NULL;
    char key[KEY_NAME_MAX], name[] = "f0";
    struct frame_decision room;
    ck_assert_int_eq(rules_new("drop=x: f\n", 10, &rules, NULL), ERR_OK);
    struct frame_memo *memo = frame_memo_new(rules, 2);
    const struct frame_question q = {.function = name, .image = "Shop"};
    struct frame_place place = {1, 0, 0, "Shop", false};
    for (; place.frames_id <= 3; place.frames_id++, name[1]++) {
        const struct frame_decision *d = frame_decide(rules, memo, &place, &q, key, &room);
        ck_assert((d == &room) == (place.frames_id == 3));
    }
    place.frames_id = 1;
    ck_assert_str_eq(frame_memo_placed(memo, rules, &place)->key, "f0");
    place.frames_id = 3;
    ck_assert_ptr_null(frame_memo_placed(memo, rules, &place));
    frame_memo_begin(memo);
    place.frames_id = 1;
    ck_assert_ptr_null(frame_memo_placed(memo, rules, &place));
    ck_assert(frame_decide(rules, memo, &place, &q, key, &room) != &room);
    frame_memo_begin(memo);
    ck_assert_ptr_nonnull(frame_memo_placed(memo, rules, &place));
    frame_memo_begin(NULL);
    frame_memo_free(memo);
    rules_free(rules);
}
END_TEST

START_TEST(verdicts_are_the_same)
{
    static const char TEXT[] =
        "libsystem_kernel.dylib pread\nlibsqlite3.dylib sqlite3_step\nShop!Feed.reload(_:)\n"
        "Shop!Feed.reload(_:)\nUIKitCore -[UIApplication _run]\nUIKitCore UIApplicationMain\n"
        "Shop!main\n";
    struct rules *rules = NULL;
    struct arena arena;
    struct cluster_verdict a;
    struct cluster_verdict b;
    arena_init(&arena, 1 << 20);
    ck_assert_int_eq(rules_new_default(&rules, NULL), ERR_OK);
    struct key_options options = {.memo = frame_memo_new(rules, 64)};
    struct resolved_stack stack = stack_from_text(TEXT, &arena);
    ck_assert_int_eq(cluster_key_of(rules, NULL, "a", &stack, &arena, &a, NULL), ERR_OK);
    for (int i = 0; i < 3; i++) {
        ck_assert_int_eq(cluster_key_of(rules, &options, "a", &stack, &arena, &b, NULL), ERR_OK);
        ck_assert_mem_eq(a.key, b.key, sizeof(a.key));
        ck_assert_mem_eq(a.variant, b.variant, sizeof(a.variant));
        ck_assert_str_eq(a.category, b.category);
        for (size_t k = 0; k < a.fate_count; k++)
            ck_assert_str_eq(a.fates[k].rule, b.fates[k].rule);
    }
    frame_memo_free(options.memo);
    rules_free(rules);
    arena_done(&arena);
}
END_TEST

/* Many names of images, at one place of memory one after another. */
START_TEST(images_are_known_by_name)
{
    static const char TEXT[] = "owner=seven image=*7\nowner=other image=*\n";
    struct rules *rules = NULL;
    char key[KEY_NAME_MAX], image[16];
    struct frame_decision room;
    int found = 0;
    ck_assert_int_eq(rules_new(TEXT, strlen(TEXT), &rules, NULL), ERR_OK);
    struct frame_memo *memo = frame_memo_new(rules, 4000);
    for (int i = 0; i < 9000; i++) {
        const struct frame_place place = {.image = image};
        const struct frame_question q = {.image = image};
        snprintf(image, sizeof(image), "image%d", i % 3000);
        frame_memo_begin(memo);
        const struct frame_decision *d = frame_memo_placed(memo, rules, &place);
        if (!d)
            d = frame_decide(rules, memo, &place, &q, key, &room);
        ck_assert(d != &room);
        ck_assert_str_eq(d->owner, i % 10 == 7 ? "seven" : "other");
        ck_assert_ptr_eq(frame_memo_placed(memo, rules, &place), d);
    }
    for (int i = 0; i < 300; i++) { /* few are found nearly always */
        const struct frame_place place = {.image = image};
        const struct frame_question q = {.image = image};
        snprintf(image, sizeof(image), "few%d", i % 30);
        frame_memo_begin(memo);
        found += frame_memo_placed(memo, rules, &place) != NULL;
        frame_decide(rules, memo, &place, &q, key, &room);
    }
    ck_assert_int_ge(found, 240);
    frame_memo_free(memo);
    rules_free(rules);
}
END_TEST

/* What is said of a stack outlives what the memo has of it. */
START_TEST(names_of_similar_stacks_are_kept)
{
    struct rules *rules = NULL;
    struct arena arena;
    struct cluster_verdict verdict;
    struct similar_stack a, b;
    arena_init(&arena, 1 << 20);
    ck_assert_int_eq(rules_new_default(&rules, NULL), ERR_OK);
    struct key_options options = {.memo = frame_memo_new(rules, 2)};
    struct resolved_stack one =
        stack_from_text("libsqlite3.dylib sqlite3_step\nShop!Feed.a()\n", &arena);
    struct resolved_stack two =
        stack_from_text("libsqlite3.dylib another\nShop!Feed.bcd()\n", &arena);
    ck_assert_int_eq(cluster_key_of(rules, &options, "a", &one, &arena, &verdict, NULL), ERR_OK);
    ck_assert_int_eq(similar_stack_of(rules, &options, &one, &verdict, 1, &arena, &a, NULL),
                     ERR_OK);
    ck_assert_int_eq(cluster_key_of(rules, &options, "a", &two, &arena, &verdict, NULL), ERR_OK);
    ck_assert_int_eq(similar_stack_of(rules, &options, &two, &verdict, 1, &arena, &b, NULL),
                     ERR_OK);
    ck_assert_uint_eq(a.count, 1);
    ck_assert_str_eq(a.names[0], "Feed.a()");
    ck_assert_str_eq(a.operation, "sqlite3_step");
    frame_memo_free(options.memo);
    rules_free(rules);
    arena_done(&arena);
}
END_TEST

UNIT_MAIN("frame_memo", images_are_known_by_name, names_of_similar_stacks_are_kept,
          frames_are_found_by_number, positions_that_no_rule_asked_for, it_forgets_between_stacks,
          with_and_without_are_the_same, positions_that_a_rule_tells_apart,
          a_full_memo_starts_again, another_rule_set_is_not_answered_from_it, verdicts_are_the_same)
