/* Covers: server/analysis/call_functions.c server/analysis/call_fold.c */
#include "server/analysis/call_tree.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "tests/support/unit.h"

#define TREE_BYTES ((size_t)1 << 20)

typedef enum err add_stack(struct call_tree *t, const uint32_t *functions, size_t count,
                           const int64_t weights[CALL_TREE_WEIGHTS], struct error *err);

/* "a b c", outermost first; a name in upper case is the app's. */
static enum err put_text(struct call_tree *t, add_stack *to, const char *text,
                         const int64_t weights[2], struct error *err)
{
    size_t n = 0;
    char name[16];
    uint32_t turned[32], functions[32];
    for (const char *word = text + strspn(text, " "); *word; word += strspn(word, " ")) {
        size_t len = strcspn(word, " ");
        snprintf(name, sizeof(name), "%.*s", (int)len, word);
        const struct call_frame frame = {.function = name,
                                         .image = "Shop",
                                         .file = *word == 'b' ? "b.c" : NULL,
                                         .in_app = *word >= 'A' && *word <= 'Z'};
        enum err rc = call_tree_function(t, &frame, &turned[n++], err);
        if (rc != ERR_OK)
            return rc;
        word += len;
    }
    for (size_t i = 0; i < n; i++)
        functions[i] = turned[n - 1 - i];
    return to(t, functions, n, weights, err);
}

/* One that waits for no other one. */
static enum err add_alone(struct call_tree *t, const uint32_t *functions, size_t count,
                          const int64_t weights[CALL_TREE_WEIGHTS], struct error *err)
{
    enum err rc = call_tree_gather(t, functions, count, weights, err);
    return rc == ERR_OK ? call_tree_settle(t, err) : rc;
}

static enum err add_text(struct call_tree *t, const char *text, const int64_t weights[2],
                         struct error *err)
{
    return put_text(t, add_alone, text, weights, err);
}

static void add(struct call_tree *t, const char *text, int64_t w0, int64_t w1)
{
    struct error err;
    const int64_t weights[2] = {w0, w1};
    ck_assert_int_eq(add_text(t, text, weights, &err), ERR_OK);
}

static void put_node(struct buf *b, const struct call_tree *t, const struct call_node *n,
                     const char *name)
{
    buf_printf(b, "%s %lld/%lld(%lld)", name, (long long)n->value[0], (long long)n->value[1],
               (long long)call_tree_self(t, n, 0));
}

/* "all 7/0(2) {a 5(5)} …" */
static const char *describe(struct call_tree *t)
{
    static struct buf b;
    struct error err;
    size_t count, up, depth = 0;
    ck_assert_int_eq(call_tree_sort(t, &err), ERR_OK);
    struct call_node n;
    const struct call_function *functions = call_tree_functions(t, &count);
    buf_done(&b);
    buf_init(&b, 1 << 20);
    call_tree_root(t, &n);
    ck_assert_uint_eq(n.function, CALL_TREE_NONE);
    put_node(&b, t, &n, "all");
    while (call_tree_next(t, &n, &up)) {
        for (size_t i = 0; i < up; i++)
            buf_puts(&b, "}");
        depth += 1 - up;
        buf_puts(&b, " {");
        put_node(&b, t, &n, functions[n.function].name);
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
    uint32_t number;
    const struct call_frame frames[] = {
        {.function = "f", .image = "Shop", .file = "z.c"},
        {.function = "f", .image = "UIKit", .file = NULL},
        {.function = "f", .image = NULL},
        {.function = "f", .image = "Shop", .file = "a.c", .in_app = true},
        {.function = "f", .image = "Shop", .file = "m.c"},
    };
    for (size_t i = 0; i < 5; i++)
        ck_assert_int_eq(call_tree_function(t, &frames[i], &number, &err), ERR_OK);
    ck_assert_uint_eq(number, 0);
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

/* Thousands of stacks: the root is their sum, every node the sum of what is under it and its own. */
START_TEST(sums_hold)
{
    struct call_tree *t = call_tree_new((size_t)64 << 20);
    uint64_t state = 7;
    int64_t total[2] = {0, 0};
    struct error err;
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
    struct call_node n;
    call_tree_root(t, &n);
    ck_assert_int_eq(call_tree_total(t, 0), total[0]);
    ck_assert_int_eq(call_tree_total(t, 1), total[1]);
    int64_t selves = 0;
    size_t visited = 0, up;
    do {
        ck_assert_int_ge(call_tree_self(t, &n, 0), 0);
        selves += call_tree_self(t, &n, 0);
        visited++;
    } while (call_tree_next(t, &n, &up));
    ck_assert_int_eq(selves, total[0]);
    ck_assert_uint_eq(visited, call_tree_count(t));
    call_tree_free(t);
}
END_TEST

START_TEST(memory_is_bounded)
{
    struct call_tree *t = call_tree_new((size_t)64 << 10);
    struct error err = {0};
    const int64_t one[2] = {1, 0};
    enum err rc = ERR_OK;
    size_t added = 0;
    for (int i = 0; rc == ERR_OK && i < 100000; i++) {
        char text[64];
        snprintf(text, sizeof(text), "f%d g%d", i, i);
        rc = add_text(t, text, one, &err);
        added += rc == ERR_OK;
    }
    ck_assert_int_eq(rc, ERR_LIMIT);
    ck_assert_uint_gt(added, 50);
    ck_assert_int_eq(call_tree_total(t, 0), (int64_t)added);
    call_tree_free(t);
    call_tree_free(NULL);
}
END_TEST

/* A stack of up to 12 calls of few functions. */
static void draw_text(uint64_t *state, char text[256])
{
    size_t n = 0;
    *text = '\0';
    for (uint64_t i = *state >> 60; i < 12; i++) {
        *state = *state * 6364136223846793005u + 1442695040888963407u;
        n += (size_t)snprintf(text + n, 256 - n, "f%u ",
                              (unsigned)(*state >> 33) % (i % 3 ? 2 : 40));
    }
    *state = *state * 6364136223846793005u + 1442695040888963407u;
}

/* Stacks that wait for each other make the tree that they make one by one. */
START_TEST(gathered_stacks_merge)
{
    struct call_tree *t = call_tree_new((size_t)64 << 20), *plain = call_tree_new((size_t)64 << 20);
    struct error err;
    uint64_t state = 11;
    for (int i = 0; i < 20000; i++) {
        char text[256];
        draw_text(&state, text);
        const int64_t weights[2] = {i % 7, i % 3};
        ck_assert_int_eq(put_text(t, call_tree_gather, text, weights, &err), ERR_OK);
        ck_assert_int_eq(add_text(plain, text, weights, &err), ERR_OK);
        if (i % 7000 == 6999) {
            ck_assert_int_eq(call_tree_settle(t, &err), ERR_OK);
            char *want = strdup(describe(plain));
            ck_assert_str_eq(describe(t), want);
            free(want);
        }
    }
    ck_assert_int_lt(call_tree_total(t, 0), call_tree_total(plain, 0));
    ck_assert_int_eq(call_tree_settle(t, &err), ERR_OK);
    ck_assert_int_eq(call_tree_settle(t, &err), ERR_OK);
    ck_assert_int_eq(call_tree_total(t, 0), call_tree_total(plain, 0));
    ck_assert_uint_eq(call_tree_count(t), call_tree_count(plain));
    call_tree_free(t);
    call_tree_free(plain);
}
END_TEST

/* What does not fit goes on waiting while the tree is folded; nothing is lost, or counted twice. */
START_TEST(gathered_stacks_outlive_a_fold)
{
    struct call_tree *t = call_tree_new((size_t)64 << 10);
    struct error err;
    const int64_t one[2] = {1, 2};
    size_t folds = 0;
    enum err rc;
    for (int i = 0; i < 600; i++) {
        char text[64];
        snprintf(text, sizeof(text), "f%d g%d h%d k%d l%d m%d", i % 3, i % 40, i % 50, i % 60,
                 i % 70, i % 80);
        ck_assert_int_eq(put_text(t, call_tree_gather, text, one, &err), ERR_OK);
    }
    while ((rc = call_tree_settle(t, &err)) == ERR_LIMIT) {
        bool folded;
        ck_assert_int_eq(call_tree_fold(t, call_tree_count(t) / 2, &folded, &err), ERR_OK);
        ck_assert(folded);
        folds++;
    }
    ck_assert_int_eq(rc, ERR_OK);
    ck_assert_uint_gt(folds, 0);
    ck_assert_int_eq(call_tree_total(t, 0), 600);
    ck_assert_int_eq(call_tree_total(t, 1), 1200);
    size_t up, count;
    int64_t selves = 0;
    struct call_node n;
    ck_assert_int_eq(call_tree_sort(t, &err), ERR_OK);
    (void)call_tree_functions(t, &count);
    call_tree_root(t, &n);
    do {
        if (n.function != CALL_TREE_NONE)
            ck_assert_uint_lt(n.function, count);
        ck_assert_int_ge(call_tree_self(t, &n, 0), 0);
        selves += call_tree_self(t, &n, 0);
    } while (call_tree_next(t, &n, &up));
    ck_assert_int_eq(selves, 600);
    const char *all = describe(t);
    ck_assert_ptr_nonnull(strstr(all, "{f0 200/400("));
    ck_assert_ptr_nonnull(strstr(all, "{f1 200/400("));
    ck_assert_ptr_nonnull(strstr(all, "{f2 200/400("));
    call_tree_free(t);
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

/* --- folding, as the header tells it: by rank, node by node -------------------------------------- */

#define PLAIN_NODES 4096

struct plain {
    const char *name;
    int64_t weight;
    size_t parent, place;
    bool kept;
};

static int by_rank(const void *a, const void *b)
{
    const struct plain *const *x = a, *const *y = b;
    if ((*x)->weight != (*y)->weight)
        return (*x)->weight > (*y)->weight ? -1 : 1;
    return ((*x)->place > (*y)->place) - ((*x)->place < (*y)->place);
}

/* The sums of what `t` would be once folded, by name: of what stays, and of the others. */
static void fold_plainly(struct call_tree *t, size_t max, struct buf *ret)
{
    static struct plain nodes[PLAIN_NODES];
    static struct plain *ranks[PLAIN_NODES];
    static size_t path[PLAIN_NODES];
    size_t count = 0, depth = 0, up, ignored;
    struct call_node n;
    struct error err;
    const struct call_function *functions = call_tree_functions(t, &ignored);
    ck_assert_int_eq(call_tree_sort(t, &err), ERR_OK);
    call_tree_root(t, &n);
    while (call_tree_next(t, &n, &up)) {
        depth += 1 - up;
        nodes[count] = (struct plain){functions[n.function].name, n.value[0] + n.value[1],
                                      depth > 1 ? path[depth - 2] : SIZE_MAX, count, false};
        ranks[count] = &nodes[count];
        path[depth - 1] = count++;
        ck_assert_uint_lt(count, PLAIN_NODES);
    }
    qsort(ranks, count, sizeof(ranks[0]), by_rank);
    for (size_t i = 0; i < count && i + 1 < max / 2; i++)
        ranks[i]->kept = true;
    for (size_t i = 0; i < count; i++) {
        const struct plain *p = &nodes[i];
        if (p->kept)
            buf_printf(ret, "%zu %s %lld\n", p->place, p->name, (long long)p->weight);
    }
    for (size_t at = 0; at <= count; at++) {
        int64_t others = 0;
        for (size_t i = 0; i < count; i++)
            others +=
                !nodes[i].kept && nodes[i].parent == (at ? at - 1 : SIZE_MAX) ? nodes[i].weight : 0;
        if (others && (at == 0 || nodes[at - 1].kept))
            buf_printf(ret, "others %lld\n", (long long)others);
    }
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Lines in order, without the places. */
static void sorted_lines(struct buf *b, struct buf *ret)
{
    static char *lines[PLAIN_NODES];
    size_t count = 0;
    for (char *rest, *line = strtok_r(b->data, "\n", &rest); line;
         line = strtok_r(NULL, "\n", &rest))
        lines[count++] = line + (*line == 'o' ? 0 : strcspn(line, " ") + 1);
    qsort(lines, count, sizeof(lines[0]), by_text);
    for (size_t i = 0; i < count; i++)
        buf_printf(ret, "%s\n", lines[i]);
}

static void lines_of(struct call_tree *t, struct buf *ret)
{
    size_t up, ignored;
    struct call_node n;
    const struct call_function *functions = call_tree_functions(t, &ignored);
    call_tree_root(t, &n);
    for (size_t i = 0; call_tree_next(t, &n, &up); i++) {
        const char *name = functions[n.function].name;
        if (strcmp(name, CALL_TREE_OTHER) == 0)
            buf_printf(ret, "others %lld\n", (long long)(n.value[0] + n.value[1]));
        else
            buf_printf(ret, "%zu %s %lld\n", i, name, (long long)(n.value[0] + n.value[1]));
    }
}

/* Many weights are the same, so that the border runs through runs and between brothers. */
START_TEST(folding_is_by_rank)
{
    static const size_t limits[] = {1500, 700, 200, 61, 30, 7, 4};
    for (uint64_t seed = 1; seed <= 20; seed++) {
        for (size_t k = 0; k < sizeof(limits) / sizeof(limits[0]); k++) {
            struct call_tree *t = call_tree_new((size_t)16 << 20);
            struct buf want, got, a, b;
            struct error err;
            bool folded;
            uint64_t state = seed;
            struct buf *const all[] = {&want, &got, &a, &b};
            for (size_t i = 0; i < 4; i++)
                buf_init(all[i], 1 << 20);
            for (int i = 0; i < 200; i++) {
                char text[256] = "";
                size_t len = 0;
                for (int d = 0; d < 14; d++) {
                    state = state * 6364136223846793005u + 1442695040888963407u;
                    len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%u ",
                                            state >> 62 ? "f" : "g",
                                            (unsigned)(state >> 33) % (d < 5 ? 2 : 9));
                }
                add(t, text, 1 + (int64_t)(state >> 60) % 3, i % 5 == 0);
            }
            fold_plainly(t, limits[k], &a);
            ck_assert_int_eq(call_tree_fold(t, limits[k], &folded, &err), ERR_OK);
            ck_assert(folded);
            ck_assert_uint_le(call_tree_count(t), limits[k]);
            lines_of(t, &b);
            sorted_lines(&a, &want);
            sorted_lines(&b, &got);
            ck_assert_str_eq(got.data, want.data);
            for (size_t i = 0; i < 4; i++)
                buf_done(all[i]);
            call_tree_free(t);
        }
    }
}
END_TEST

/* No character is cut in two, and what is the same up to there is one function. */
START_TEST(long_texts_are_cut)
{
    static char name[2049], other[2049];
    struct call_tree *t = call_tree_new(TREE_BYTES);
    struct error err;
    size_t count;
    uint32_t numbers[2];
    memset(name, 'n', 2048);
    memcpy(name + CALL_TREE_TEXT_MAX - 1, "\xe5\x8d\xa1", 3);
    memcpy(other, name, 2048);
    other[2047] = 'x';
    const struct call_frame frames[] = {{.function = name, .image = name, .file = name},
                                        {.function = other, .image = name}};
    for (size_t i = 0; i < 2; i++)
        ck_assert_int_eq(call_tree_function(t, &frames[i], &numbers[i], &err), ERR_OK);
    ck_assert_uint_eq(numbers[0], numbers[1]);
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
          order_of_arrival_does_not_matter, functions_know_their_place, sums_hold,
          memory_is_bounded, folding_is_by_rank, gathered_stacks_merge,
          gathered_stacks_outlive_a_fold)
