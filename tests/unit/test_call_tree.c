#include "server/analysis/call_tree.h"

#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "tests/support/unit.h"

#define TREE_BYTES ((size_t)1 << 20)

/* "a b c", outermost first, to frames innermost first; a name in upper case is the app's. */
static size_t frames_of(const char *text, struct call_frame *out, char names[32][16], bool lasting)
{
    size_t n = 0;
    struct call_frame turned[32];
    for (const char *word = text + strspn(text, " "); *word; word += strspn(word, " ")) {
        size_t len = strcspn(word, " ");
        snprintf(names[n], 16, "%.*s", (int)len, word);
        turned[n] = (struct call_frame){.function = names[n],
                                        .image = "Shop",
                                        .file = *word == 'b' ? "b.c" : NULL,
                                        .in_app = *word >= 'A' && *word <= 'Z',
                                        .lasting = lasting};
        word += len;
        n++;
    }
    for (size_t i = 0; i < n; i++)
        out[i] = turned[n - 1 - i];
    return n;
}

static void add(struct call_tree *t, const char *text, int64_t w0, int64_t w1)
{
    struct call_frame frames[32];
    char names[32][16];
    struct error err;
    const int64_t weights[2] = {w0, w1};
    size_t n = frames_of(text, frames, names, false);
    ck_assert_int_eq(call_tree_add(t, frames, n, weights, &err), ERR_OK);
}

/* "all 7/0(2) {a 5(5)} …" */
static const char *describe(struct call_tree *t)
{
    static struct buf b;
    struct error err;
    size_t count, up, depth = 0;
    ck_assert_int_eq(call_tree_sort(t, &err), ERR_OK);
    const struct call_node *nodes = call_tree_nodes(t, &count);
    const struct call_function *functions = call_tree_functions(t, &count);
    buf_done(&b);
    buf_init(&b, 1 << 20);
    for (uint32_t n = 0; n != CALL_TREE_NONE; n = call_tree_next(t, n, &up)) {
        if (n) {
            for (size_t i = 0; i < up; i++)
                buf_puts(&b, "}");
            depth += 1 - up;
            buf_puts(&b, " {");
        }
        buf_printf(&b, "%s %lld/%lld(%lld)", n ? functions[nodes[n].function].name : "all",
                   (long long)nodes[n].value[0], (long long)nodes[n].value[1],
                   (long long)call_tree_self(t, n, 0));
    }
    for (size_t i = 0; i < depth; i++)
        buf_puts(&b, "}");
    return b.data;
}

START_TEST(stacks_merge)
{
    struct call_tree *t = call_tree_new(TREE_BYTES);
    add(t, "a b c", 5, 0);
    add(t, "a b", 1, 2);
    add(t, "a d", 3, 0);
    add(t, "e", 0, 4);
    add(t, "", 1, 0);
    ck_assert_str_eq(describe(t), "all 10/6(1) {a 9/2(0) {b 6/2(1) {c 5/0(5)}} {d 3/0(3)}} "
                                  "{e 0/4(0)}");
    call_tree_free(t);
}
END_TEST

/* Recursion is what it is: a function under itself is another node. */
START_TEST(recursion_is_kept)
{
    struct call_tree *t = call_tree_new(TREE_BYTES);
    add(t, "a a a", 1, 0);
    add(t, "a a", 1, 0);
    ck_assert_str_eq(describe(t), "all 2/0(0) {a 2/0(0) {a 2/0(1) {a 1/0(1)}}}");
    call_tree_free(t);
}
END_TEST

START_TEST(order_of_arrival_does_not_matter)
{
    static const char *const stacks[] = {"a b c", "a b", "x", "a x", "a b d", "z a", "a A b"};
    char want[1024];
    for (size_t turn = 0; turn < 7; turn++) {
        struct call_tree *t = call_tree_new(TREE_BYTES);
        for (size_t i = 0; i < 7; i++)
            add(t, stacks[(i * 3 + turn) % 7], 1, 0);
        if (turn == 0)
            snprintf(want, sizeof(want), "%s", describe(t));
        ck_assert_str_eq(describe(t), want);
        call_tree_free(t);
    }
}
END_TEST

START_TEST(functions_know_their_place)
{
    struct call_tree *t = call_tree_new(TREE_BYTES);
    struct error err;
    size_t count;
    const int64_t one[2] = {1, 0};
    const struct call_frame frames[] = {
        {.function = "f", .image = "Shop", .file = "z.c"},
        {.function = "f", .image = "UIKit", .file = NULL},
        {.function = "f", .image = NULL},
        {.function = "f", .image = "Shop", .file = "a.c", .in_app = true},
        {.function = "f", .image = "Shop", .file = "m.c"},
    };
    ck_assert_int_eq(call_tree_add(t, frames, 5, one, &err), ERR_OK);
    const struct call_function *f = call_tree_functions(t, &count);
    ck_assert_uint_eq(count, 3);
    for (size_t i = 0; i < count; i++) {
        bool shop = f[i].image && strcmp(f[i].image, "Shop") == 0;
        ck_assert_int_eq(f[i].in_app, shop);
        if (shop)
            ck_assert_str_eq(f[i].file, "a.c");
        else
            ck_assert_ptr_null(f[i].file);
    }
    call_tree_free(t);
}
END_TEST

/* Names that stay where they are may be told by their address; others must not be. */
START_TEST(names_that_last_and_names_that_do_not)
{
    struct call_tree *t = call_tree_new(TREE_BYTES);
    struct error err;
    size_t count;
    const int64_t one[2] = {1, 0};
    char twin[2] = "a";
    char reused[16] = "first";
    struct call_frame lasting = {.function = "a", .lasting = true};
    struct call_frame copy = {.function = twin, .lasting = true};
    struct call_frame passing = {.function = reused};
    ck_assert_int_eq(call_tree_add(t, &lasting, 1, one, &err), ERR_OK);
    ck_assert_int_eq(call_tree_add(t, &copy, 1, one, &err), ERR_OK);
    ck_assert_int_eq(call_tree_add(t, &passing, 1, one, &err), ERR_OK);
    snprintf(reused, sizeof(reused), "second");
    ck_assert_int_eq(call_tree_add(t, &passing, 1, one, &err), ERR_OK);
    (void)call_tree_functions(t, &count);
    ck_assert_uint_eq(count, 3);
    ck_assert_str_eq(describe(t), "all 4/0(0) {a 2/0(2)} {first 1/0(1)} {second 1/0(1)}");
    call_tree_free(t);
}
END_TEST

/* Thousands of stacks: the root is their sum, every node the sum of what is under it and its own. */
START_TEST(sums_hold)
{
    struct call_tree *t = call_tree_new((size_t)64 << 20);
    uint64_t state = 7;
    int64_t total[2] = {0, 0};
    struct error err;
    size_t count;
    for (int i = 0; i < 20000; i++) {
        char text[256];
        size_t n = 0;
        for (int k = 0; k < 12; k++) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            n += (size_t)snprintf(text + n, sizeof(text) - n, "f%u ",
                                  (unsigned)(state >> 33) % (k < 6 ? 2 : 50));
        }
        int64_t w0 = (int64_t)(state >> 40) % 1000, w1 = (int64_t)(state >> 50) % 7;
        total[0] += w0;
        total[1] += w1;
        add(t, text, w0, w1);
    }
    ck_assert_int_eq(call_tree_sort(t, &err), ERR_OK);
    const struct call_node *nodes = call_tree_nodes(t, &count);
    ck_assert_int_eq(nodes[0].value[0], total[0]);
    ck_assert_int_eq(nodes[0].value[1], total[1]);
    int64_t selves = 0;
    size_t visited = 0, up;
    for (uint32_t n = 0; n != CALL_TREE_NONE; n = call_tree_next(t, n, &up)) {
        ck_assert_int_ge(call_tree_self(t, n, 0), 0);
        selves += call_tree_self(t, n, 0);
        visited++;
    }
    ck_assert_int_eq(selves, total[0]);
    ck_assert_uint_eq(visited, count);
    call_tree_free(t);
}
END_TEST

START_TEST(memory_is_bounded)
{
    struct call_tree *t = call_tree_new((size_t)64 << 10);
    struct call_frame frames[32];
    char names[32][16];
    struct error err = {0};
    const int64_t one[2] = {1, 0};
    enum err rc = ERR_OK;
    size_t count, added = 0;
    for (int i = 0; rc == ERR_OK && i < 100000; i++) {
        char text[64];
        snprintf(text, sizeof(text), "f%d g%d", i, i);
        size_t n = frames_of(text, frames, names, false);
        rc = call_tree_add(t, frames, n, one, &err);
        added += rc == ERR_OK;
    }
    ck_assert_int_eq(rc, ERR_LIMIT);
    ck_assert_uint_gt(added, 50);
    ck_assert_int_eq(call_tree_nodes(t, &count)->value[0], (int64_t)added);
    call_tree_free(t);
    call_tree_free(NULL);
}
END_TEST

/* The lightest go, wherever they are; what they weigh stays. */
START_TEST(light_nodes_are_folded)
{
    struct call_tree *t = call_tree_new(TREE_BYTES);
    struct error err;
    bool folded;
    add(t, "a b c", 50, 0);
    add(t, "a d", 2, 5);
    add(t, "a e f", 3, 0);
    add(t, "a", 1, 0);
    add(t, "g", 4, 0);
    add(t, "h i", 2, 0);
    ck_assert_int_eq(call_tree_fold(t, 100, &folded, &err), ERR_OK);
    ck_assert(!folded);
    ck_assert_int_eq(call_tree_fold(t, 8, &folded, &err), ERR_OK);
    ck_assert(folded);
    ck_assert_str_eq(describe(t), "all 62/5(0) {a 56/5(1) {b 50/0(0) {c 50/0(50)}} "
                                  "{(other) 5/5(5)}} {(other) 6/0(6)}");
    /* More comes, and what was folded stays folded. */
    add(t, "g", 1, 0);
    add(t, "a b", 7, 0);
    ck_assert_int_eq(call_tree_fold(t, 6, &folded, &err), ERR_OK);
    ck_assert_str_eq(describe(t), "all 70/5(0) {a 63/5(1) {b 57/0(7) {(other) 50/0(50)}} "
                                  "{(other) 5/5(5)}} {(other) 7/0(7)}");
    for (size_t max = 6; max > 0; max--)
        ck_assert_int_eq(call_tree_fold(t, max, &folded, &err), ERR_OK);
    ck_assert_str_eq(describe(t), "all 70/5(0) {(other) 70/5(70)}");
    call_tree_free(t);
}
END_TEST

/* No character is cut in two, and what is the same up to there is one function. */
START_TEST(long_texts_are_cut)
{
    static char name[2049], other[2049];
    struct call_tree *t = call_tree_new(TREE_BYTES);
    struct error err;
    const int64_t one[2] = {1, 0};
    size_t count;
    memset(name, 'n', 2048);
    memcpy(name + CALL_TREE_TEXT_MAX - 1, "\xe5\x8d\xa1", 3);
    memcpy(other, name, 2048);
    other[2047] = 'x';
    const struct call_frame frames[] = {{.function = name, .image = name, .file = name},
                                        {.function = other, .image = name, .lasting = true}};
    ck_assert_int_eq(call_tree_add(t, frames, 2, one, &err), ERR_OK);
    const struct call_function *f = call_tree_functions(t, &count);
    ck_assert_uint_eq(count, 1);
    ck_assert_uint_eq(strlen(f[0].name), CALL_TREE_TEXT_MAX - 1 + 3);
    ck_assert_str_eq(f[0].name + CALL_TREE_TEXT_MAX - 2, "n...");
    ck_assert_str_eq(f[0].image, f[0].name);
    ck_assert_str_eq(f[0].file, f[0].name);
    call_tree_free(t);
}
END_TEST

UNIT_MAIN("call_tree", light_nodes_are_folded, long_texts_are_cut, stacks_merge, recursion_is_kept,
          order_of_arrival_does_not_matter, functions_know_their_place,
          names_that_last_and_names_that_do_not, sums_hold, memory_is_bounded)
