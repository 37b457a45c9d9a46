#include "server/jobs/symbol_owner.h"

#include "tests/support/unit.h"

START_TEST(the_first_upload_says_whose_it_is)
{
    const struct slice_row rows[] = {{.id = 9, .bundle_id = "b"}, {.id = 3, .bundle_id = "a"}};
    ck_assert_ptr_null(symbol_owner_of(NULL, 0));
    const char *owner = symbol_owner_of(rows, 2);
    ck_assert_str_eq(owner, "a");
    ck_assert(symbol_is_foreign(owner, true, "b"));
    ck_assert(!symbol_is_foreign(owner, true, "a"));
    ck_assert(!symbol_is_foreign(owner, false, "b"));
    ck_assert(!symbol_is_foreign(NULL, true, "b"));
    /* sent for no app, by the installation itself */
    ck_assert(symbol_is_foreign("", true, "a"));
}
END_TEST

UNIT_MAIN("symbol_owner", the_first_upload_says_whose_it_is)
