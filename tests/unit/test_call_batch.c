/* Covers: server/analysis/call_batch.c */
#include "server/analysis/call_batch.h"

#include <stdlib.h>
#include <string.h>

#include "tests/support/unit.h"

static const int64_t one[CALL_TREE_WEIGHTS] = {1, 0};

/* Numbers that are drawn for a test. */
static uint32_t draw(uint64_t *state, uint32_t below)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((*state >> 33) % below);
}

/* Of two stacks, outermost first: below 0, 0 or above, as their order is. */
static int compare(const struct call_batch *b, const struct call_waiting *x,
                   const struct call_waiting *y)
{
    const uint32_t *f = b->functions + x->first, *g = b->functions + y->first;
    for (uint32_t i = 0; i < x->count && i < y->count; i++) {
        if (f[i] != g[i])
            return f[i] < g[i] ? -1 : 1;
    }
    return (x->count > y->count) - (x->count < y->count);
}

/* What is taken is in order, all of it, and each stack once. */
static void take_all(struct call_batch *b, size_t want)
{
    const struct call_waiting *last = NULL, *s;
    bool *seen = calloc(b->count + 1, sizeof(*seen));
    size_t taken = 0;
    call_batch_sort(b);
    for (; (s = call_batch_next(b)); b->at++, taken++) {
        ck_assert(!seen[s - b->stacks]);
        seen[s - b->stacks] = true;
        if (last)
            ck_assert_int_le(compare(b, last, s), 0);
        last = s;
    }
    ck_assert_uint_eq(taken, want);
    call_batch_clear(b);
    ck_assert_ptr_null(call_batch_next(b));
    free(seen);
}

START_TEST(functions_are_turned)
{
    struct call_batch b = {.count = 0};
    const uint32_t functions[] = {3, 2, 1};
    const int64_t weights[CALL_TREE_WEIGHTS] = {7, 9};
    ck_assert(call_batch_put(&b, functions, 3, weights));
    call_batch_sort(&b);
    const struct call_waiting *s = call_batch_next(&b);
    ck_assert_uint_eq(s->count, 3);
    for (uint32_t i = 0; i < 3; i++)
        ck_assert_uint_eq(b.functions[s->first + i], i + 1);
    ck_assert_int_eq(s->weights[0], 7);
    ck_assert_int_eq(s->weights[1], 9);
    call_batch_done(&b);
}
END_TEST

/* Few and many functions, short and long stacks, equal ones and those that go on from others. */
START_TEST(stacks_come_in_order)
{
    struct call_batch b = {.count = 0};
    uint64_t state = 5;
    for (size_t round = 0; round < 200; round++) {
        const uint32_t kinds = 1 + draw(&state, round % 2 ? 3 : 5000);
        const uint32_t longest = 1 + draw(&state, 20), count = draw(&state, 400);
        for (uint32_t i = 0; i < count; i++) {
            uint32_t functions[20];
            const uint32_t n = draw(&state, longest + 1);
            for (uint32_t k = 0; k < n; k++)
                functions[k] = draw(&state, 8) ? UINT32_MAX - 1 - draw(&state, kinds) : 0;
            ck_assert(call_batch_put(&b, functions, n, one));
        }
        ck_assert_uint_le(b.longest, longest);
        take_all(&b, count);
    }
    call_batch_done(&b);
}
END_TEST

/* In order already, the other way round, and all the same. */
START_TEST(rows_come_in_order)
{
    struct call_batch b = {.count = 0};
    for (int way = 0; way < 3; way++) {
        for (uint32_t i = 0; i < CALL_BATCH_STACKS; i++) {
            const uint32_t function = way == 0 ? i : way == 1 ? 10000 - i : 7;
            ck_assert(!call_batch_full(&b));
            ck_assert(call_batch_put(&b, &function, 1, one));
        }
        ck_assert(call_batch_full(&b));
        take_all(&b, CALL_BATCH_STACKS);
    }
    call_batch_done(&b);
}
END_TEST

/* What was taken stays taken when the rest is put in order anew. */
START_TEST(the_rest_is_sorted_again)
{
    struct call_batch b = {.count = 0};
    for (uint32_t i = 0; i < 100; i++) {
        const uint32_t function = i * 37 % 100;
        ck_assert(call_batch_put(&b, &function, 1, one));
    }
    call_batch_sort(&b);
    b.at = 40;
    for (size_t i = b.at; i < b.count; i++)
        b.functions[b.stacks[b.turns[i].stack].first] = 1000 - (uint32_t)i;
    take_all(&b, 60);
    call_batch_done(&b);
}
END_TEST

START_TEST(many_functions_fill_it)
{
    struct call_batch b = {.count = 0};
    static uint32_t functions[CALL_BATCH_WORDS];
    ck_assert(call_batch_put(&b, functions, 1, one));
    ck_assert(!call_batch_full(&b));
    ck_assert(call_batch_put(&b, functions, CALL_BATCH_WORDS, one));
    ck_assert(call_batch_full(&b));
    ck_assert_uint_eq(b.longest, CALL_BATCH_WORDS);
    take_all(&b, 2);
    ck_assert(!call_batch_full(&b));
    call_batch_done(&b);
}
END_TEST

UNIT_MAIN("call_batch", functions_are_turned, stacks_come_in_order, rows_come_in_order,
          the_rest_is_sorted_again, many_functions_fill_it)
