/* Covers: symbolizer/object_names.c */
#include "symbolizer/object_names.h"

#include <stdlib.h>
#include <string.h>

#include "tests/support/unit.h"

START_TEST(names_are_read)
{
    struct object_names n;
    struct error err = {0};
    object_names_begin(&n, cursor_of("\0main\0tail", 10));
    ck_assert_str_eq(object_names_at(&n, 0), "");
    ck_assert_str_eq(object_names_at(&n, 1), "main");
    ck_assert_str_eq(object_names_at(&n, 3), "in");
    ck_assert_ptr_null(object_names_at(&n, 6));
    ck_assert_ptr_null(object_names_at(&n, 10));
    ck_assert_ptr_null(object_names_at(&n, UINT64_MAX));
    ck_assert_int_eq(object_names_check(&n, &err), ERR_OK);
}
END_TEST

/* Each symbol that begins in a long text costs what is left of it, with its NUL or without. */
START_TEST(shared_texts_are_paid_for)
{
    const size_t size = (size_t)1 << 20;
    for (int end = 0; end < 2; end++) {
        char *text = malloc(size);
        struct object_names n;
        struct error err = {0};
        size_t read = 0;
        memset(text, 'x', size);
        text[size - 1] = end ? '\0' : 'x';
        object_names_begin(&n, cursor_of(text, size));
        for (; !n.spent && read < 1000; read++)
            ck_assert(object_names_at(&n, 0) || !end || n.spent);
        ck_assert_uint_eq(read, OBJECT_NAMES_LEAST / size + 1);
        ck_assert_ptr_null(object_names_at(&n, size - 1));
        ck_assert_int_eq(object_names_check(&n, &err), ERR_LIMIT);
        free(text);
    }
}
END_TEST

UNIT_MAIN("object_names", names_are_read, shared_texts_are_paid_for)
