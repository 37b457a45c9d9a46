/*
 * Covers: server/analysis/similar_shapes.c server/analysis/similar_stack.c
 */
#include "server/analysis/similar.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/stacks.h"
#include "tests/support/unit.h"

#define ROWS_MAX 256
#define NOISE    40 /* unrelated stacks: without other stacks no frame is rare */

static struct arena arena;
static struct similar_stack rows[ROWS_MAX];
static size_t row_count;
static struct similar_result result;

/* "a < b < c" calling `operation`; the first stage's key is its first frame. */
static size_t add_row(const char *operation, const char *frames, uint64_t weight)
{
    struct similar_stack *row = &rows[row_count];
    const char **names = arena_array(&arena, 16, sizeof(*names));
    char *text = arena_strdup(&arena, frames);
    *row = (struct similar_stack){.kind = CLUSTER_APP, .weight = weight, .names = names};
    if (strncmp(operation, "system", 6) == 0)
        row->kind = CLUSTER_SYSTEM_ONLY;
    row->operation = row->kind == CLUSTER_APP ? arena_strdup(&arena, operation) : "";
    for (char *at = text; at; row->count++) {
        char *end = strstr(at, " < ");
        if (end)
            *end = 0;
        names[row->count] = at;
        at = end ? end + 3 : NULL;
    }
    uint8_t digest[SHA256_SIZE];
    sha256_of(names[0], strlen(names[0]), digest);
    memcpy(row->cluster, digest, CLUSTER_KEY_SIZE);
    return row_count++;
}

static void start(void)
{
    arena_init(&arena, 64 << 20);
    row_count = 0;
    for (int i = 0; i < NOISE; i++) {
        char frames[64];
        char operation[32];
        snprintf(frames, sizeof(frames), "N%d.a() < M%d.b() < AppDelegate.go()", i, i);
        snprintf(operation, sizeof(operation), "op%d", i);
        add_row(operation, frames, 1);
    }
}

static void compare(void)
{
    struct error err = {0};
    enum err e = similar_of(rows, row_count, &arena, &result, &err);
    ck_assert_msg(e == ERR_OK, "%s", err.text);
}

static size_t cluster_of(size_t row)
{
    return result.parts[result.part_of[row]].into;
}

static const uint8_t *key_of(size_t row)
{
    return result.parts[cluster_of(row)].key;
}

static bool together(size_t a, size_t b)
{
    return cluster_of(a) == cluster_of(b);
}

START_TEST(a_cause_inlined_into_its_caller)
{
    start();
    size_t a = add_row("read", "Store.load() < Feed.reload() < Tab.show()", 5);
    size_t b = add_row("read", "Feed.reload() < Tab.show()", 3);
    size_t d = add_row("read", "Cart.open() < Tab.show()", 3);
    compare();
    ck_assert(together(a, b));
    ck_assert(!together(a, d));
    ck_assert_mem_eq(key_of(b), rows[a].cluster, CLUSTER_KEY_SIZE);
    ck_assert(result.parts[result.part_of[b]].score >= SIMILAR_SCORE_MIN);
    arena_done(&arena);
}
END_TEST

START_TEST(another_operation_is_another_cause)
{
    start();
    size_t a = add_row("read", "Store.load() < Feed.reload() < Tab.show()", 5);
    size_t b = add_row("write", "Feed.reload() < Tab.show()", 3);
    size_t c = add_row("", "Feed.draw() < Feed.layout() < Tab.show()", 5);
    size_t d = add_row("", "Feed.layout() < Tab.show()", 3);
    compare();
    ck_assert(!together(a, b));
    ck_assert(!together(c, d)); /* work of its own */
    arena_done(&arena);
}
END_TEST

START_TEST(a_helper_on_top)
{
    start();
    size_t a = add_row("step", "Archive.mapRow() < Archive.migrate() < Feed.reload()", 50);
    size_t b = add_row("step", "Archive.migrate() < Feed.reload()", 20);
    size_t c = add_row("step", "Archive.migrate() < Feed.reload() < Tab.show()", 20);
    compare();
    ck_assert(together(a, b));
    ck_assert(together(a, c));
    arena_done(&arena);
}
END_TEST

START_TEST(a_parameter_more)
{
    start();
    size_t a = add_row("step", "Feed.show(_:) < Tab.open() < App.run()", 5);
    size_t b = add_row("step", "Feed.show(_:animated:) < Tab.open() < App.run()", 9);
    size_t c = add_row("draw", "Feed.show(at:) < Box.fill() < App.run()", 9);
    compare();
    ck_assert(together(a, b));
    ck_assert(!together(a, c));
    ck_assert_mem_eq(key_of(a), rows[b].cluster, CLUSTER_KEY_SIZE); /* the heavier one stays */
    arena_done(&arena);
}
END_TEST

START_TEST(shared_helpers_fall_apart)
{
    static const char *const CAUSES[] = {"Auth.token()", "Cart.sum()", "Feed.ids()"};
    size_t first[3];
    char frames[128];
    start();
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 3; k++) {
            snprintf(frames, sizeof(frames),
                     "Bridge.wait(_:) < Bridge.run(_:) < %s < Glue%d%d.go()", CAUSES[i], i, k);
            size_t row = add_row("sema", frames, 2);
            if (k == 0)
                first[i] = row;
        }
    }
    size_t inlined = add_row("sema", "Cart.sum() < Glue10.go()", 1);
    compare();
    ck_assert_uint_eq(result.plumbing_count, 2);
    ck_assert_str_eq(result.plumbing[0], "Bridge.run");
    ck_assert_str_eq(result.plumbing[1], "Bridge.wait");
    ck_assert(!together(first[0], first[1]));
    ck_assert(!together(first[0], first[2]));
    ck_assert(!together(first[1], first[2]));
    for (size_t i = 0; i < 3; i++) {
        ck_assert(together(first[i], first[i] + 1));
        ck_assert(together(first[i], first[i] + 2));
    }
    ck_assert(together(first[1], inlined));
    ck_assert_mem_ne(key_of(first[0]), rows[first[0]].cluster, CLUSTER_KEY_SIZE);
    arena_done(&arena);
}
END_TEST

START_TEST(a_cause_with_many_callers_is_no_plumbing)
{
    char frames[128];
    start();
    size_t first = row_count;
    for (int i = 0; i < 8; i++) {
        snprintf(frames, sizeof(frames), "Store.load() < Caller%d.go() < Entry%d.run()", i, i);
        add_row("read", frames, 2);
    }
    compare();
    ck_assert_uint_eq(result.plumbing_count, 0);
    for (size_t i = first; i < row_count; i++)
        ck_assert(together(first, i));
    arena_done(&arena);
}
END_TEST

/* `causes` functions, each called by three routers that are reached in three ways each. */
static size_t learnt_below_routers(int causes)
{
    char frames[128];
    start();
    for (int i = 0; i < causes; i++) {
        for (int k = 0; k < 9; k++) {
            snprintf(frames, sizeof(frames), "Store%d.load() < Router%d.open() < Entry%d.run()", i,
                     k / 3, k % 3);
            add_row("read", frames, 2);
        }
    }
    compare();
    size_t learnt = result.plumbing_count;
    arena_done(&arena);
    return learnt;
}

START_TEST(causes_below_routers_are_no_plumbing)
{
    ck_assert_uint_eq(learnt_below_routers(5), 5); /* five callees still make a cause */
    ck_assert_uint_eq(learnt_below_routers(6), 0);
    ck_assert_uint_eq(learnt_below_routers(12), 0);
}
END_TEST

START_TEST(merges_do_not_chain)
{
    start();
    size_t a = add_row("read", "A.a() < B.b() < C.c() < D.d()", 5);
    size_t b = add_row("read", "B.b() < C.c() < D.d()", 5);
    size_t c = add_row("read", "C.c() < D.d()", 5);
    size_t d = add_row("read", "D.d()", 5);
    compare();
    ck_assert(together(a, b));
    ck_assert(together(a, c));  /* two frames less, and like `a` itself */
    ck_assert(!together(a, d)); /* three frames less: like `b` and `c` alone */
    for (size_t i = 0; i < result.part_count; i++)
        ck_assert_uint_eq(result.parts[result.parts[i].into].into, result.parts[i].into);
    arena_done(&arena);
}
END_TEST

START_TEST(between_two_causes_nothing_is_taken)
{
    start();
    size_t a = add_row("read", "Store.load() < Feed.reload() < Tab.show()", 5);
    size_t b = add_row("read", "Cache.open() < Feed.reload() < Tab.show()", 5);
    size_t c = add_row("read", "Feed.reload() < Tab.show()", 5);
    compare();
    ck_assert(!together(a, b));
    ck_assert(!together(a, c));
    ck_assert(!together(b, c));
    size_t named = 0;
    for (size_t i = 0; i < result.related_count; i++)
        named += result.related[i].part == result.part_of[c];
    ck_assert_uint_eq(named, 2); /* offered, not done */
    arena_done(&arena);
}
END_TEST

START_TEST(what_all_stacks_share_is_no_evidence)
{
    start();
    size_t a = add_row("op0", "Feed.reload() < AppDelegate.go()", 5);
    size_t b = add_row("op1", "AppDelegate.go()", 5);
    size_t c = add_row("op1", "Cart.sum() < AppDelegate.go()", 5);
    for (int i = 0; i < 60; i++) {
        char frames[64];
        snprintf(frames, sizeof(frames), "P%d.x() < AppDelegate.go()", i);
        add_row("op1", frames, 1);
    }
    compare();
    ck_assert(!together(a, b));
    ck_assert(!together(c, b));
    arena_done(&arena);
}
END_TEST

START_TEST(the_moment_of_a_system_stack)
{
    start();
    size_t a = add_row("system", "prepare < start_app < link_all", 9);
    size_t b = add_row("system", "fixups < prepare < start_app < link_all", 5);
    size_t c = add_row("system", "rebase < prepare < start_app < link_all", 5);
    size_t d = add_row("system", "snapshot < other", 5);
    size_t e = add_row("read", "prepare < start_app < link_all", 5); /* the app's of that name */
    compare();
    ck_assert(together(a, b));
    ck_assert(together(a, c));
    ck_assert(!together(a, d));
    ck_assert_mem_eq(key_of(b), rows[a].cluster, CLUSTER_KEY_SIZE);
    (void)e;
    arena_done(&arena);
}
END_TEST

static void shuffle(uint32_t seed)
{
    for (size_t i = row_count - 1; i > 0; i--) {
        seed = seed * 1664525u + 1013904223u;
        size_t k = (seed >> 8) % (i + 1);
        struct similar_stack t = rows[i];
        rows[i] = rows[k];
        rows[k] = t;
    }
}

START_TEST(order_and_repetition_change_nothing)
{
    static uint8_t keys[ROWS_MAX][CLUSTER_KEY_SIZE];
    static const char *heads[ROWS_MAX];
    start();
    for (int i = 0; i < 12; i++) {
        char frames[128];
        snprintf(frames, sizeof(frames), "H.h() < C%d.c() < G%d.g() < E%d.e()", i % 4, i % 3,
                 i % 2);
        add_row("sema", frames, 1 + (uint64_t)i % 3);
        snprintf(frames, sizeof(frames), "C%d.c() < G%d.g() < E%d.e()", i % 4, i % 3, i % 2);
        add_row("sema", frames, 1);
        snprintf(frames, sizeof(frames), "L%d.l() < K%d.k() < E%d.e()", i % 5, i % 4, i % 2);
        add_row("read", frames, 1);
    }
    compare();
    size_t count = row_count;
    for (size_t i = 0; i < count; i++) {
        memcpy(keys[i], key_of(i), CLUSTER_KEY_SIZE);
        heads[i] = (const char *)rows[i].names; /* tells the row, wherever it goes */
    }
    for (uint32_t seed = 1; seed < 20; seed++) {
        shuffle(seed);
        if (seed == 10) { /* each twice */
            memcpy(rows + count, rows, count * sizeof(*rows));
            row_count = 2 * count;
        }
        compare();
        for (size_t i = 0; i < row_count; i++) {
            size_t was = 0;
            while (heads[was] != (const char *)rows[i].names)
                was++;
            ck_assert_mem_eq(key_of(i), keys[was], CLUSTER_KEY_SIZE);
        }
    }
    arena_done(&arena);
}
END_TEST

START_TEST(nothing_and_what_is_never_merged)
{
    arena_init(&arena, 1 << 20);
    row_count = 0;
    compare();
    ck_assert_uint_eq(result.part_count, 0);
    size_t a = add_row("read", "x", 1);
    size_t b = add_row("read", "y", 1);
    size_t c = add_row("read", "z", 1);
    rows[a].kind = CLUSTER_IDLE;
    rows[b].kind = CLUSTER_PROVISIONAL;
    rows[c].kind = CLUSTER_UNMAPPABLE;
    rows[a].count = rows[b].count = rows[c].count = 0;
    compare();
    ck_assert_uint_eq(result.part_count, 3);
    ck_assert_mem_eq(key_of(a), rows[a].cluster, CLUSTER_KEY_SIZE);
    arena_done(&arena);
}
END_TEST

START_TEST(what_of_a_stack_is_compared)
{
    struct rules *rules = NULL;
    struct cluster_verdict v;
    struct similar_stack s;
    arena_init(&arena, 4 << 20);
    ck_assert_int_eq(rules_new_default(&rules, NULL), ERR_OK);
    struct resolved_stack stack = stack_from_text(
        "libsystem_kernel.dylib pread\nlibsqlite3.dylib sqlite3_step\nGRDB!Row.next()\n"
        "Shop!closure #1 in Feed.reload(_:)\nShop!Feed.reload(_:)\nUIKitCore -[UIView x]\n"
        "Shop!Cart.open()\nUIKitCore UIApplicationMain\nShop!main\n",
        &arena);
    ck_assert_int_eq(cluster_key_of(rules, NULL, "a", &stack, &arena, &v, NULL), ERR_OK);
    ck_assert_int_eq(similar_stack_of(rules, NULL, &stack, &v, 7, &arena, &s, NULL), ERR_OK);
    ck_assert_uint_eq(s.count, 2);
    ck_assert_str_eq(s.names[0], "Feed.reload(_:)");
    ck_assert_str_eq(s.names[1], "Cart.open()");
    ck_assert_str_eq(s.operation, "sqlite3_step");
    ck_assert_uint_eq(s.weight, 7);
    ck_assert_mem_eq(s.cluster, v.key, CLUSTER_KEY_SIZE);
    rules_free(rules);
    arena_done(&arena);
}
END_TEST

UNIT_MAIN("similar", a_cause_inlined_into_its_caller, another_operation_is_another_cause,
          a_helper_on_top, a_parameter_more, shared_helpers_fall_apart,
          a_cause_with_many_callers_is_no_plumbing, causes_below_routers_are_no_plumbing,
          merges_do_not_chain, between_two_causes_nothing_is_taken,
          what_all_stacks_share_is_no_evidence, the_moment_of_a_system_stack,
          order_and_repetition_change_nothing, nothing_and_what_is_never_merged,
          what_of_a_stack_is_compared)
