/* Covers: server/jobs/json_fields.c */
#include "server/jobs/json_text.h"

#include <stdio.h>
#include <string.h>

#include "base/utf8.h"
#include "tests/support/scarce.h"
#include "tests/support/unit.h"

static enum err load(const char *text, json_t **ret, struct error *err)
{
    return json_text_load(text, strlen(text), ret, err);
}

START_TEST(large_integers_become_addresses)
{
    static const struct {
        const char *json;
        uint64_t value;
    } cases[] = {
        {"[9223372036854775808]", 0x8000000000000000u},
        {"[18446744073709551615]", UINT64_MAX},
        {"[ 11169112211440173084 , 1]", 0x9b00e9f38a8c2e9cu},
        {"[9223372036854775807]", INT64_MAX},
        {"[\"9999999999999999999 in a text\", 12345678901234567890]", 12345678901234567890u},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        json_t *root = NULL;
        struct error err;
        uint64_t value = 0;
        ck_assert_int_eq(load(cases[i].json, &root, &err), ERR_OK);
        json_t *v = json_array_get(root, json_is_string(json_array_get(root, 0)) && i == 4 ? 1 : 0);
        ck_assert(json_address(v, &value));
        if (i != 2)
            ck_assert_uint_eq(value, cases[i].value);
        else
            ck_assert_uint_eq(value, 11169112211440173084u);
        json_decref(root);
    }
}
END_TEST

START_TEST(damaged_bodies_are_refused)
{
    static const char *const cases[] = {
        "",
        "{",
        "[1] x",
        "{\"a\":1,\"a\":2}",
        "[\"\\ud800\"]",
        "[\"\xff\"]",
        "[\"\xc0\xaf\"]",
        "[NaN]",
        "[1e999]",
        "[18446744073709551616]",
        "[-9223372036854775809]",
        "[123456789012345678901234567890]",
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        json_t *root = NULL;
        struct error err;
        ck_assert_msg(load(cases[i], &root, &err) == ERR_FORMAT, "case %zu: %s", i, cases[i]);
        ck_assert_ptr_null(root);
    }
}
END_TEST

START_TEST(what_is_no_json_is_named)
{
    static const struct {
        const char *bytes;
        size_t len;
        const char *text;
    } cases[] = {
        {"", 0, "the body is empty"},
        {" \r\n", 3, "the body is empty"},
        {"\xef\xbb\xbf", 3, "the body is empty"},
        {"\x1f\x8b\x08\0", 4, "not JSON: a gzip'd body needs Content-Encoding: gzip"},
        {"\x28\xb5\x2f\xfd\0", 5, "not JSON: a zstd body needs Content-Encoding: zstd"},
        {"\xff\xfe{\0}\0", 6, "not JSON: UTF-16, where UTF-8 is wanted"},
        {"\xfe\xff\0{\0}", 6, "not JSON: UTF-16, where UTF-8 is wanted"},
        {"[\0]\0", 4, "not JSON: UTF-16 or UTF-32, where UTF-8 is wanted"},
        {"\0\0\0{", 4, "not JSON: UTF-16 or UTF-32, where UTF-8 is wanted"},
        {"[1]\n[2]", 7, "not valid JSON: more follows the value near '[' (line 2, column 1)"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        json_t *root = NULL;
        struct error err;
        ck_assert_int_eq(json_text_load(cases[i].bytes, cases[i].len, &root, &err), ERR_FORMAT);
        ck_assert_str_eq(err.text, cases[i].text);
    }
}
END_TEST

START_TEST(deep_nesting_is_refused)
{
    enum { DEPTH = 100000 };
    char *deep = malloc(DEPTH);
    memset(deep, '[', DEPTH);
    json_t *root = NULL;
    struct error err;
    ck_assert_int_eq(json_text_load(deep, DEPTH, &root, &err), ERR_FORMAT);
    free(deep);
}
END_TEST

START_TEST(byte_order_mark_is_skipped)
{
    json_t *root = NULL;
    struct error err;
    ck_assert_int_eq(load("\xef\xbb\xbf{}", &root, &err), ERR_OK);
    json_decref(root);
}
END_TEST

START_TEST(addresses)
{
    static const struct {
        const char *text;
        bool valid;
        uint64_t value;
    } cases[] = {
        {"0x10011a2db", true, 0x10011a2db},
        {"0X10011A2DB", true, 0x10011a2db},
        {"0x0", true, 0},
        {"0xffffffffffffffff", true, UINT64_MAX},
        {"0x00000000000000001", true, 1},
        {"0x1ffffffffffffffff", false, 0},
        {"0x", false, 0},
        {"10011a2db", false, 0},
        {"0x12g", false, 0},
        {" 0x12", false, 0},
        {"-0x12", false, 0},
        {"", false, 0},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        uint64_t v = 0;
        bool valid = hex_address(cases[i].text, strlen(cases[i].text), &v);
        ck_assert_msg(valid == cases[i].valid, "%s", cases[i].text);
        if (valid)
            ck_assert_uint_eq(v, cases[i].value);
    }
}
END_TEST

START_TEST(first_refusal_wins_and_sticks)
{
    struct fields f;
    struct error err;
    json_t *o = NULL;
    int64_t v = 5;
    ck_assert_int_eq(load("{\"a\":\"x\",\"b\":true,\"c\":3}", &o, &err), ERR_OK);
    fields_init(&f, NULL);
    ck_assert(!fields_int(&f, o, "reports[1]", "a", 0, 9, &v));
    ck_assert_str_eq(f.path, "reports[1].a");
    ck_assert_str_eq(f.reason, "not a whole number");
    ck_assert(!fields_int(&f, o, "", "c", 0, 9, &v));
    ck_assert_ptr_null(fields_text(&f, o, "", "b", 9));
    ck_assert_str_eq(f.path, "reports[1].a");
    ck_assert_int_eq(v, 5);
    json_decref(o);
}
END_TEST

START_TEST(whole_numbers_are_not_rounded)
{
    struct fields f;
    struct error err;
    json_t *o = NULL;
    int64_t v = 5;
    ck_assert_int_eq(load("{\"a\":30.0,\"b\":29.5,\"c\":1e300}", &o, &err), ERR_OK);
    fields_init(&f, NULL);
    ck_assert(fields_int(&f, o, "", "a", 0, 99, &v));
    ck_assert_int_eq(v, 30);
    ck_assert(fields_rounded(&f, o, "", "b", 0, 99, &v));
    ck_assert_int_eq(v, 30);
    ck_assert(!fields_int(&f, o, "", "b", 0, 99, &v));
    ck_assert_str_eq(f.path, "b");
    ck_assert_str_eq(f.reason, "not a whole number");
    fields_init(&f, NULL);
    ck_assert(!fields_int(&f, o, "", "c", 0, INT64_MAX, &v));
    ck_assert_str_eq(f.reason, "not a whole number");
    ck_assert_int_eq(v, 30);
    json_decref(o);
}
END_TEST

START_TEST(texts_with_control_characters_are_refused)
{
    struct fields f;
    struct error err;
    json_t *o = NULL;
    ck_assert_int_eq(load("{\"a\":\"x\\u0000y\",\"b\":\"x\\ny\",\"c\":\"xy\"}", &o, &err), ERR_OK);
    static const char *const keys[] = {"a", "b"};
    for (size_t i = 0; i < 2; i++) {
        fields_init(&f, NULL);
        ck_assert_ptr_null(fields_text(&f, o, "", keys[i], 10));
        ck_assert(f.failed);
    }
    fields_init(&f, NULL);
    ck_assert_str_eq(fields_text(&f, o, "", "c", 2), "xy");
    ck_assert_ptr_null(fields_text(&f, o, "", "c", 1));
    ck_assert_str_eq(f.reason, "too long: 1 bytes at most");
    json_decref(o);
}
END_TEST

START_TEST(reasons_are_printable)
{
    struct error err;
    json_t *root = NULL;
    ck_assert_int_eq(load("{}\x1b[1m", &root, &err), ERR_FORMAT);
    ck_assert_ptr_null(strchr(err.text, 0x1b));
    ck_assert_msg(strstr(err.text, "'?'") != NULL, "%s", err.text);
    /* The quoted part of a long body is cut anywhere: also inside a character. */
    for (int n = 0; n < 200; n++) {
        char filler[201] = "", body[300];
        memset(filler, 'x', (size_t)n);
        snprintf(body, sizeof(body), "[\"%s\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9", filler);
        ck_assert_int_eq(load(body, &root, &err), ERR_FORMAT);
        ck_assert_msg(utf8_valid(err.text, strlen(err.text)), "%d", n);
    }
}
END_TEST

static char *repeated(const char *head, const char *each, size_t times, const char *tail)
{
    size_t n = strlen(head), len = strlen(each);
    char *out = malloc(n + times * len + strlen(tail) + 1);
    memcpy(out, head, n);
    for (size_t i = 0; i < times; i++, n += len)
        memcpy(out + n, each, len);
    memcpy(out + n, tail, strlen(tail) + 1);
    return out;
}

/* Bodies that are all brackets are refused, real ones of any size are read. */
START_TEST(memory_is_bounded_by_the_size_of_the_body)
{
    static const struct {
        const char *each, *last;
        enum err expected;
    } cases[] = {
        {"[],", "[]]", ERR_LIMIT},
        {"{},", "{}]", ERR_LIMIT},
        {"\"0x10011a2db\",", "0]", ERR_OK},
        {"4296123099,", "0]", ERR_OK},
        {"18446744073709551615,", "0]", ERR_OK},
        {"{\"address\":\"0x10011a2db\"},", "0]", ERR_OK},
        {"{\"frame_gaps_ms\":[16,17,16,17,33,16,17,16,17,33,16,17,16,17,33,16,17,16,17,33]},", "0]",
         ERR_OK},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char *body = repeated("[", cases[i].each, 4000000 / strlen(cases[i].each), cases[i].last);
        json_t *root = NULL;
        struct error err;
        ck_assert_msg(load(body, &root, &err) == cases[i].expected, "%s", cases[i].each);
        ck_assert_int_eq(root != NULL, cases[i].expected == ERR_OK);
        json_decref(root);
        free(body);
    }
    json_t *root = NULL; /* nothing of that lasts */
    struct error err;
    ck_assert_int_eq(load("[[],[]]", &root, &err), ERR_OK);
    json_decref(root);
}
END_TEST

/* Whatever malloc says no to: the tree is whole, or there is none. So are texts made of it. */
START_TEST(no_byte_is_lost_without_memory)
{
    static const char TEXT[] = "{\"bundle_id\":\"com.example.shop\",\"n\":18446744073709551615,"
                               "\"of\":[\"a text that is longer than jansson's first buffer\"]}";
    struct error err;
    json_t *whole = NULL;
    ck_assert_int_eq(load(TEXT, &whole, &err), ERR_OK);
    unsigned n = 1;
    for (bool failed = true; failed; n++) {
        json_t *root = NULL;
        scarce_begin(n);
        enum err rc = load(TEXT, &root, &err);
        failed = scarce_end();
        ck_assert_msg(rc == (failed ? ERR_NO_MEMORY : ERR_OK) ||
                          (rc == ERR_OK && json_equal(root, whole)),
                      "%u: %d", n, rc);
        json_decref(root);
    }
    ck_assert_uint_gt(n, 20);
    char *right = json_dumps(whole, JSON_COMPACT | JSON_SORT_KEYS);
    n = 1;
    for (bool failed = true; failed; n++) {
        scarce_begin(n);
        char *text = json_dumps(whole, JSON_COMPACT | JSON_SORT_KEYS);
        failed = scarce_end();
        ck_assert_msg(!text || strcmp(text, right) == 0, "%u: %s", n, text);
        ck_assert(text || failed);
        free(text);
    }
    ck_assert_uint_gt(n, 3);
    free(right);
    json_decref(whole);
}
END_TEST

UNIT_MAIN("json_text", no_byte_is_lost_without_memory, memory_is_bounded_by_the_size_of_the_body,
          large_integers_become_addresses, damaged_bodies_are_refused, what_is_no_json_is_named,
          deep_nesting_is_refused, byte_order_mark_is_skipped, addresses,
          first_refusal_wins_and_sticks, whole_numbers_are_not_rounded,
          texts_with_control_characters_are_refused, reasons_are_printable)
