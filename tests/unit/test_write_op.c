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

UNIT_MAIN("write_op", kinds_have_names_both_ways, an_op_owns_its_arena)
