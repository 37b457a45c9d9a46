#include "storage/write_op.h"

#include <string.h>

#include "tests/support/unit.h"

START_TEST(kinds_have_names_both_ways)
{
    for (int k = 0; k < REPORT_KINDS; k++) {
        enum report_kind back = REPORT_KINDS;
        ck_assert(report_kind_parse(report_kind_name((enum report_kind)k), &back));
        ck_assert_int_eq(back, k);
    }
    enum report_kind kept = REPORT_HANG;
    ck_assert(!report_kind_parse("Stall", &kept));
    ck_assert(!report_kind_parse("", &kept));
    ck_assert_int_eq(kept, REPORT_HANG);
    ck_assert_str_eq(report_kind_name(REPORT_SLIGHT_STALL), "slight_stall");
    ck_assert_str_eq(upload_state_name(UPLOAD_QUEUED), "queued");
    ck_assert_str_eq(upload_state_name(UPLOAD_FAILED), "failed");
}
END_TEST

START_TEST(an_op_owns_its_arena)
{
    struct write_op *op = write_op_new(WRITE_TOKEN, 4096);
    ck_assert_ptr_nonnull(op);
    ck_assert_int_eq(op->kind, WRITE_TOKEN);
    op->u.token.name = arena_strdup(op->arena, "ci");
    ck_assert_str_eq(op->u.token.name, "ci");
    ck_assert_ptr_null(arena_alloc(op->arena, 8192));
    write_op_free(op);
    write_op_free(NULL);
    ck_assert_ptr_null(write_op_new(WRITE_TOKEN, 16));
}
END_TEST

static struct write_op *resolutions(size_t limit, uint64_t first, size_t count)
{
    struct write_op *op = write_op_new(WRITE_RESOLUTIONS, limit);
    struct op_resolutions *r = &op->u.resolutions;
    r->items = arena_array(op->arena, count, sizeof(*r->items));
    r->count = count;
    for (size_t i = 0; i < count; i++)
        r->items[i].stack_id = first + i;
    return op;
}

/* A sanitizer sees that the parts go with the op, and when. */
START_TEST(parts_become_one_op)
{
    struct write_op *op = resolutions(1 << 20, 1, 2);
    ck_assert(write_op_join(op, resolutions(1 << 20, 3, 0)));
    ck_assert(write_op_join(op, resolutions(1 << 20, 3, 3)));
    ck_assert_uint_eq(op->u.resolutions.count, 5);
    for (size_t i = 0; i < 5; i++)
        ck_assert_uint_eq(op->u.resolutions.items[i].stack_id, i + 1);
    write_op_free(op);
}
END_TEST

START_TEST(parts_that_do_not_fit_stay_apart)
{
    struct write_op *op = resolutions(4096, 1, 2);
    struct write_op *other = resolutions(1 << 20, 3, 64);
    ck_assert(!write_op_join(op, other));
    ck_assert_uint_eq(op->u.resolutions.count, 2);
    ck_assert_uint_eq(other->u.resolutions.count, 64);
    write_op_free(op);
    write_op_free(other);
}
END_TEST

UNIT_MAIN("write_op", kinds_have_names_both_ways, an_op_owns_its_arena, parts_become_one_op,
          parts_that_do_not_fit_stay_apart)
