/* Covers: symbolizer/string_table.c base/vec.c */
#include "symbolizer/string_table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "tests/support/unit.h"

START_TEST(equal_texts_are_one)
{
    struct string_table t;
    char text[32];
    ck_assert(string_table_init(&t));
    ck_assert_uint_eq(string_table_add(&t, "", 0), 0);
    ck_assert_uint_eq(string_table_add(&t, "one", 3), 1);
    ck_assert_uint_eq(string_table_add(&t, "two and more", 3), 2);
    ck_assert_uint_eq(string_table_add(&t, "one", 3), 1);
    ck_assert_uint_eq(t.size, 9);
    ck_assert_str_eq(string_table_text(&t, 0), "");
    ck_assert_str_eq(string_table_text(&t, 1), "one");
    ck_assert_str_eq(string_table_text(&t, 2), "two");
    /* Borrowed or copied, equal texts are equal. */
    static const char lasting[] = "two";
    ck_assert_uint_eq(string_table_borrow(&t, lasting), 2);
    ck_assert_ptr_ne(string_table_text(&t, 2), lasting);
    for (unsigned i = 0; i < 20000; i++) {
        int n = snprintf(text, sizeof(text), "name_%u", i % 10000);
        ck_assert_uint_eq(string_table_add(&t, text, (size_t)n), 3 + i % 10000);
    }
    ck_assert_str_eq(string_table_text(&t, 3 + 77), "name_77");
    static const char other[] = "borrowed";
    uint32_t entry = string_table_borrow(&t, other);
    ck_assert_ptr_eq(string_table_text(&t, entry), other);
    ck_assert_uint_eq(string_table_add(&t, "borrowed", 8), entry);
    ck_assert_uint_eq(t.count, 10004);
    ck_assert(!t.failed);
    string_table_done(&t);
    string_table_done(NULL);
}
END_TEST

START_TEST(past_its_limit_it_fails_for_good)
{
    struct string_table t;
    ck_assert(string_table_init(&t));
    t.limit = 8;
    ck_assert_uint_eq(string_table_add(&t, "one", 3), 1);
    ck_assert_uint_eq(string_table_add(&t, "too long", 8), 0);
    ck_assert(t.failed);
    ck_assert_uint_eq(string_table_add(&t, "one", 3), 0);
    string_table_done(&t);
}
END_TEST

UNIT_MAIN("string_table", equal_texts_are_one, past_its_limit_it_fails_for_good)
