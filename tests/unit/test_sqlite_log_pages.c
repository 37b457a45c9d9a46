#include "storage/sqlite_log_pages.h"

#include "tests/support/unit.h"

START_TEST(as_the_last_commit_says)
{
    struct sqlite_log_pages p = {0};
    ck_assert_int_eq(sqlite_log_pages(&p), 0);
    sqlite_log_pages_committed(&p, sqlite_log_pages_mark(&p), 7);
    sqlite_log_pages_committed(&p, sqlite_log_pages_mark(&p), 9);
    ck_assert_int_eq(sqlite_log_pages(&p), 9);
    sqlite_log_pages_committed(&p, sqlite_log_pages_mark(&p), 3); /* it began anew */
    ck_assert_int_eq(sqlite_log_pages(&p), 3);
}
END_TEST

START_TEST(a_truncation_told_before_the_commit_it_followed)
{
    struct sqlite_log_pages p = {0};
    const uint32_t mark = sqlite_log_pages_mark(&p);
    sqlite_log_pages_truncated(&p);
    sqlite_log_pages_committed(&p, mark, 7);
    ck_assert_int_eq(sqlite_log_pages(&p), 0);
    sqlite_log_pages_committed(&p, sqlite_log_pages_mark(&p), 8);
    ck_assert_int_eq(sqlite_log_pages(&p), 8);
}
END_TEST

START_TEST(a_truncation_told_after_the_commit_it_preceded)
{
    struct sqlite_log_pages p = {0};
    sqlite_log_pages_committed(&p, sqlite_log_pages_mark(&p), 7);
    sqlite_log_pages_truncated(&p);
    ck_assert_int_eq(sqlite_log_pages(&p), 0);
}
END_TEST

START_TEST(what_is_copied_begins_anew)
{
    struct sqlite_log_pages p = {0};
    sqlite_log_pages_truncated(&p);
    const uint32_t mark = sqlite_log_pages_mark(&p);
    sqlite_log_pages_committed(&p, mark, 7);
    sqlite_log_pages_copied(&p, 6); /* a commit came meanwhile */
    ck_assert_int_eq(sqlite_log_pages(&p), 7);
    sqlite_log_pages_copied(&p, 7);
    ck_assert_int_eq(sqlite_log_pages(&p), 0);
    ck_assert_uint_eq(sqlite_log_pages_mark(&p), mark);
}
END_TEST

UNIT_MAIN("sqlite_log_pages", as_the_last_commit_says,
          a_truncation_told_before_the_commit_it_followed,
          a_truncation_told_after_the_commit_it_preceded, what_is_copied_begins_anew)
