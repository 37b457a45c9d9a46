/* Covers: storage/stack_budget.c */
#include "storage/stack_budget.h"

#include "tests/support/unit.h"

/* A report of stack 0 with samples of stacks 1 and 2, fitted into what is left. */
static struct op_report fitted(struct stack_budget *b)
{
    static const struct op_sample samples[] = {{.stack = 1}, {.stack = 2}};
    struct op_report r = {.stack = 0, .samples = samples, .sample_count = 2};
    struct op_report ret;
    struct arena arena;
    struct error err;
    arena_init(&arena, 4096);
    enum err rc = stack_budget_fit(b, &r, &arena, &ret, &err);
    ck_assert_msg(!rc, "%s", err.text);
    ck_assert(ret.stacks_dropped == r.stacks_dropped);
    arena_done(&arena);
    return ret;
}

START_TEST(a_cap_that_was_lowered_keeps_known_stacks)
{
    enum stack_standing standing[] = {STACK_KNOWN, STACK_KNOWN, STACK_KNOWN};
    struct stack_budget b = {.left = -5, .standing = standing, .count = 3};
    struct op_report r = fitted(&b);
    ck_assert(!r.stacks_dropped);
    ck_assert_uint_eq(r.stack, 0);
    ck_assert_uint_eq(r.sample_count, 2);
    ck_assert_int_eq(b.left, -5);
}
END_TEST

START_TEST(a_cap_that_was_lowered_lets_no_new_stack_in)
{
    enum stack_standing standing[] = {STACK_NEW, STACK_KNOWN, STACK_NEW};
    struct stack_budget b = {.left = -5, .standing = standing, .count = 3};
    struct op_report r = fitted(&b);
    ck_assert(r.stacks_dropped);
    ck_assert_uint_eq(r.stack, NO_STACK);
    ck_assert_str_eq(r.stack_skipped, STACK_BUDGET_REASON);
    ck_assert_uint_eq(r.sample_count, 0);
    ck_assert_int_eq(b.left, -5);
    ck_assert_int_eq(standing[0], STACK_NEW);
    ck_assert_int_eq(standing[2], STACK_NEW);
}
END_TEST

START_TEST(samples_come_whole_or_not_at_all)
{
    enum stack_standing standing[] = {STACK_NEW, STACK_NEW, STACK_NEW};
    struct stack_budget b = {.left = 2, .standing = standing, .count = 3};
    struct op_report r = fitted(&b);
    ck_assert(r.stacks_dropped);
    ck_assert_uint_eq(r.stack, 0); /* a report's own stack goes first */
    ck_assert_ptr_null(r.stack_skipped);
    ck_assert_uint_eq(r.sample_count, 0);
    ck_assert_int_eq(b.left, 1);
    b.left = 2;
    r = fitted(&b);
    ck_assert(!r.stacks_dropped);
    ck_assert_uint_eq(r.sample_count, 2);
    ck_assert_int_eq(b.left, 0);
}
END_TEST

UNIT_MAIN("stack_budget", a_cap_that_was_lowered_keeps_known_stacks,
          a_cap_that_was_lowered_lets_no_new_stack_in, samples_come_whole_or_not_at_all)
