/* What an overlay makes of a stack's key, its bytes, and what it says of frames. */
#include "server/analysis/overlay.h"

#include <stdio.h>
#include <string.h>

#include "tests/support/stacks.h"
#include "tests/support/unit.h"

static struct arena arena;
static struct error err;
static const char *plumbing[] = {"Db.sync", "Lock.with"};

static void start(void)
{
    arena_done(&arena);
    arena_init(&arena, 16 << 20);
}

static struct similar_stack stack_of(const char *const *names, size_t count)
{
    struct similar_stack s = {
        .kind = CLUSTER_APP, .weight = 1, .names = names, .count = count, .operation = "read"};
    uint8_t digest[SHA256_SIZE];
    sha256_of(names[0], strlen(names[0]), digest);
    memcpy(s.cluster, digest, CLUSTER_KEY_SIZE);
    return s;
}

static struct overlay_place place(const struct overlay *o, const struct similar_stack *s)
{
    struct overlay_place p;
    overlay_place(o, s, &p);
    return p;
}

static bool same(const uint8_t *a, const uint8_t *b)
{
    return memcmp(a, b, CLUSTER_KEY_SIZE) == 0;
}

START_TEST(plumbing_in_front_is_skipped)
{
    static const char *const a[] = {"Lock.with(_:)", "Lock.with(_:_:)", "Db.sync(_:)",
                                    "Feed.load()", "Feed.show()"};
    static const char *const b[] = {"Lock.with(_:)", "Cart.load()"};
    static const char *const alone[] = {"Lock.with(_:)"};
    static const char *const other[] = {"Lock.without()", "Feed.load()"};
    const struct overlay none = {.hold_count = 0};
    const struct overlay o = {.plumbing = {plumbing, 2}};
    struct similar_stack x = stack_of(a, 5), y = stack_of(b, 2), z = stack_of(alone, 1);
    struct similar_stack w = stack_of(other, 2);
    ck_assert(same(place(&none, &x).key, x.cluster));
    struct overlay_place p = place(&o, &x);
    ck_assert_uint_eq(p.skipped, 2); /* overloads that follow each other are one */
    ck_assert_uint_eq(p.head, 3);
    ck_assert(!p.deepened && !same(p.key, x.cluster));
    ck_assert_uint_eq(place(&o, &y).skipped, 1);
    ck_assert(!same(place(&o, &y).key, p.key));
    ck_assert(same(place(&o, &z).key, z.cluster)); /* never all of them */
    ck_assert(same(place(&o, &w).key, w.cluster));
    x.kind = CLUSTER_SYSTEM_ONLY;
    ck_assert(same(place(&o, &x).key, x.cluster));
    x.kind = CLUSTER_APP;
    x.count = 0;
    ck_assert(same(place(&o, &x).key, x.cluster));
}
END_TEST

START_TEST(what_people_split_falls_apart)
{
    static const char *const a[] = {"Lock.with(_:)", "Feed.load()", "Feed.show()"};
    static const char *const b[] = {"Lock.with(_:)", "Cart.load(_:)", "Cart.show()"};
    static const char *const c[] = {"Lock.with(_:)", "Cart.load(_:_:)", "Tap.now()"};
    static const char *const alone[] = {"Lock.with(_:)"};
    struct similar_stack x = stack_of(a, 3), y = stack_of(b, 3), z = stack_of(c, 3);
    struct similar_stack w = stack_of(alone, 1);
    struct overlay_depth depth = {.depth = 2};
    const struct overlay o = {.depths = &depth, .depth_count = 1};
    memcpy(depth.key, x.cluster, CLUSTER_KEY_SIZE);
    struct overlay_place p = place(&o, &x);
    ck_assert(p.deepened && same(p.origin, x.cluster) && !same(p.key, x.cluster));
    ck_assert_uint_eq(p.end_count, 1);
    ck_assert_uint_eq(p.ends[0], 1);
    ck_assert(!same(place(&o, &y).key, p.key));
    ck_assert(same(place(&o, &y).key, place(&o, &z).key)); /* labels make no cause */
    ck_assert(same(place(&o, &w).key, w.cluster));
    depth.depth = 3;
    ck_assert(!same(place(&o, &y).key, place(&o, &z).key));
    depth.depth = KEY_DEPTH_MAX;
    ck_assert_uint_eq(place(&o, &y).end_count, 2);
}
END_TEST

START_TEST(what_was_decided_is_held)
{
    static const char *const a[] = {"Lock.with(_:)", "Feed.load()"};
    static const char *const b[] = {"Lock.with(_:)", "Cart.load()"};
    static const char *const c[] = {"Db.sync(_:)", "Cart.load()"};
    const struct overlay now = {.plumbing = {plumbing + 1, 1}};
    const struct overlay none = {.hold_count = 0};
    struct similar_stack stacks[] = {stack_of(a, 2), stack_of(b, 2), stack_of(c, 2)};
    struct overlay o = {.plumbing = {plumbing, 2}};
    uint8_t keys[2][CLUSTER_KEY_SIZE];
    start();
    /* Somebody merged the part Feed.load() of the lock, and Db.sync as a whole. */
    memcpy(keys[0], place(&now, &stacks[0]).key, CLUSTER_KEY_SIZE);
    memcpy(keys[1], stacks[2].cluster, CLUSTER_KEY_SIZE);
    if (memcmp(keys[0], keys[1], CLUSTER_KEY_SIZE) > 0) {
        uint8_t key[CLUSTER_KEY_SIZE];
        memcpy(key, keys[0], sizeof(key));
        memcpy(keys[0], keys[1], sizeof(key));
        memcpy(keys[1], key, sizeof(key));
    }
    ck_assert_int_eq(overlay_holds(&now, stacks, 3, (const uint8_t(*)[CLUSTER_KEY_SIZE])keys, 2,
                                   &arena, &o, &err),
                     ERR_OK);
    ck_assert_uint_eq(o.hold_count, 2);
    /* Db.sync is plumbing now; Lock.with is none any more. */
    o.plumbing = (struct overlay_names){plumbing, 1};
    for (size_t i = 0; i < 3; i++)
        ck_assert(same(place(&o, &stacks[i]).key, place(&now, &stacks[i]).key));
    ck_assert(!same(place(&o, &stacks[0]).key, stacks[0].cluster));
    ck_assert(same(place(&o, &stacks[2]).key, stacks[2].cluster));
    /* Held again by what is held: the same. Without decisions nothing is. */
    struct overlay again = {.hold_count = 0};
    ck_assert_int_eq(overlay_holds(&o, stacks, 3, (const uint8_t(*)[CLUSTER_KEY_SIZE])keys, 2,
                                   &arena, &again, &err),
                     ERR_OK);
    ck_assert_uint_eq(again.hold_count, 2);
    for (size_t i = 0; i < 2; i++)
        ck_assert_uint_eq(again.holds[i].plumbing.count, o.holds[i].plumbing.count);
    ck_assert_int_eq(overlay_holds(&none, stacks, 3, NULL, 0, &arena, &again, &err), ERR_OK);
    ck_assert_uint_eq(again.hold_count, 0);
}
END_TEST

START_TEST(bytes_come_back)
{
    const char *held[] = {"x"};
    struct overlay_hold holds[] = {{.cluster = {1}, .plumbing = {held, 1}},
                                   {.cluster = {2}, .plumbing = {NULL, 0}}};
    struct overlay_depth depths[] = {{.key = {9}, .depth = 4}};
    const struct overlay o = {.plumbing = {plumbing, 2},
                              .holds = holds,
                              .hold_count = 2,
                              .depths = depths,
                              .depth_count = 1};
    struct overlay back;
    struct buf bytes, again;
    start();
    buf_init(&bytes, 1 << 16);
    buf_init(&again, 1 << 16);
    ck_assert(overlay_encode(&o, &bytes));
    ck_assert_int_eq(overlay_decode(bytes.data, bytes.len, &arena, &back, &err), ERR_OK);
    ck_assert_uint_eq(back.plumbing.count, 2);
    ck_assert_str_eq(back.plumbing.items[1], "Lock.with");
    ck_assert_uint_eq(back.hold_count, 2);
    ck_assert_str_eq(back.holds[0].plumbing.items[0], "x");
    ck_assert_uint_eq(back.depths[0].depth, 4);
    ck_assert(overlay_encode(&back, &again));
    ck_assert_uint_eq(bytes.len, again.len);
    ck_assert_mem_eq(bytes.data, again.data, bytes.len);
    for (size_t len = 0; len < bytes.len; len++)
        ck_assert_int_eq(overlay_decode(bytes.data, len, &arena, &back, &err), ERR_FORMAT);
    for (size_t at = 0; at < bytes.len; at++) { /* any answer, no fault */
        char kept = bytes.data[at];
        bytes.data[at] = (char)0xff;
        (void)overlay_decode(bytes.data, bytes.len, &arena, &back, &err);
        bytes.data[at] = kept;
    }
    buf_putc(&bytes, 'x');
    ck_assert_int_eq(overlay_decode(bytes.data, bytes.len, &arena, &back, &err), ERR_FORMAT);
    buf_done(&bytes);
    buf_done(&again);
}
END_TEST

static const char *fate_of(const struct cluster_verdict *v, size_t raw)
{
    for (size_t i = 0; i < v->fate_count; i++) {
        if (v->fates[i].raw_index == raw)
            return v->fates[i].rule;
    }
    return "";
}

START_TEST(titles_and_fates_say_so)
{
    struct rules *rules = NULL;
    struct cluster_verdict v, plain;
    struct overlay_depth depth = {.depth = 2};
    struct overlay o = {.plumbing = {plumbing, 2}, .depths = &depth};
    start();
    ck_assert_int_eq(rules_new_default(&rules, &err), ERR_OK);
    const struct resolved_stack s = stack_from_text("libsystem_kernel.dylib read\n"
                                                    "Shop!Lock.with(_:)\n"
                                                    "Shop!Feed.load()\n"
                                                    "Shop!Feed.show()\n"
                                                    "UIKitCore -[UIView layout]\n",
                                                    &arena);
    ck_assert_int_eq(overlay_key_of(NULL, rules, NULL, "a", &s, true, &arena, &plain, &err),
                     ERR_OK);
    ck_assert_str_eq(plain.title, "Lock.with(_:)");
    ck_assert_int_eq(overlay_key_of(&o, rules, NULL, "a", &s, true, &arena, &v, &err), ERR_OK);
    ck_assert_str_eq(v.title, "Lock.with(_:) < Feed.load()");
    ck_assert(!same(v.key, plain.key));
    ck_assert_str_eq(fate_of(&v, 1), "plumbing learnt from this app's stacks");
    ck_assert_str_eq(fate_of(&v, 2), "behind learnt plumbing");
    ck_assert_str_ne(fate_of(&plain, 2), "behind learnt plumbing");
    /* Split by hand on top of it. */
    memcpy(depth.key, v.key, CLUSTER_KEY_SIZE);
    o.depth_count = 1;
    ck_assert_int_eq(overlay_key_of(&o, rules, NULL, "a", &s, true, &arena, &v, &err), ERR_OK);
    ck_assert_str_eq(v.title, "Lock.with(_:) < Feed.load() < Feed.show()");
    ck_assert_str_eq(fate_of(&v, 3), "split by hand");
    rules_free(rules);
}
END_TEST

UNIT_MAIN("overlay", plumbing_in_front_is_skipped, what_people_split_falls_apart,
          what_was_decided_is_held, bytes_come_back, titles_and_fates_say_so)
