#include "server/http/media_type.h"

#include <string.h>

#include "tests/support/unit.h"

START_TEST(types)
{
    ck_assert(media_type_is("application/json", "application/json"));
    ck_assert(media_type_is(" Application/JSON ; charset=UTF-8", "application/json"));
    ck_assert(media_type_is("application/json;charset=\"utf-8\"", "application/json"));
    ck_assert(!media_type_is("application/json; charset=latin1", "application/json"));
    ck_assert(!media_type_is("application/jsonp", "application/json"));
    ck_assert(!media_type_is("application/x-ndjson", "application/json"));
    ck_assert(!media_type_is("", "application/json"));
    ck_assert(!media_type_is(NULL, "application/json"));
}
END_TEST

START_TEST(parameters)
{
    char out[16];
    ck_assert(media_type_param("multipart/form-data; boundary=abc", "boundary", out, sizeof(out)));
    ck_assert_str_eq(out, "abc");
    ck_assert(media_type_param("m/f; a=b; Boundary=\"x\\\"; y\"; c", "boundary", out, sizeof(out)));
    ck_assert_str_eq(out, "x\"; y");
    ck_assert(!media_type_param("m/f; boundary=\"open", "boundary", out, sizeof(out)));
    ck_assert(!media_type_param("m/f; boundary=0123456789abcdef", "boundary", out, sizeof(out)));
    ck_assert(!media_type_param("m/f", "boundary", out, sizeof(out)));
    ck_assert(!media_type_param("m/f; boundary", "boundary", out, sizeof(out)));
}
END_TEST

UNIT_MAIN("media_type", types, parameters)
