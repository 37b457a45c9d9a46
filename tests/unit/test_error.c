#include "base/error.h"

#include <errno.h>
#include <string.h>

#include "tests/support/unit.h"

START_TEST(sets_code_and_text)
{
    struct error e;
    ck_assert_int_eq(error_set(&e, ERR_FORMAT, "bad %s at %d", "tag", 7), ERR_FORMAT);
    ck_assert_str_eq(e.text, "bad tag at 7");
    ck_assert_int_eq(e.code, ERR_FORMAT);
}
END_TEST

START_TEST(prefix_keeps_code)
{
    struct error e;
    error_errno(&e, ENOENT, "cannot open %s", "x");
    ck_assert_int_eq(error_prefix(&e, "slice %d", 2), ERR_IO);
    ck_assert_str_eq(e.text, "slice 2: cannot open x: No such file or directory");
}
END_TEST

START_TEST(long_texts_are_cut)
{
    struct error e;
    char text[2000];
    memset(text, 'a', sizeof(text) - 1);
    text[sizeof(text) - 1] = 0;
    error_set(&e, ERR_LIMIT, "%s", text);
    ck_assert_uint_eq(strlen(e.text), sizeof(e.text) - 1);
    error_prefix(&e, "%s", text);
    ck_assert_uint_lt(strlen(e.text), sizeof(e.text));
}
END_TEST

START_TEST(null_error_is_allowed)
{
    ck_assert_int_eq(error_set(NULL, ERR_LIMIT, "x"), ERR_LIMIT);
    ck_assert_int_eq(error_errno(NULL, ENOMEM, "x"), ERR_NO_MEMORY);
    ck_assert_int_eq(error_errno(NULL, EFBIG, "x"), ERR_LIMIT);
    ck_assert_int_eq(error_errno(NULL, ENOSPC, "x"), ERR_IO);
}
END_TEST

START_TEST(every_code_has_a_name)
{
    for (int c = ERR_OK; c <= ERR_INTERNAL; c++)
        ck_assert_str_ne(err_name((enum err)c), "unknown");
    ck_assert_str_eq(err_name((enum err)999), "unknown");
}
END_TEST

UNIT_MAIN("error", sets_code_and_text, prefix_keeps_code, long_texts_are_cut, null_error_is_allowed,
          every_code_has_a_name)
