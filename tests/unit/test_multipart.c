#include "server/http/multipart.h"

#include <stdio.h>
#include <string.h>

#include "tests/support/unit.h"

static struct error err;

/* What a body parsed to, as text: "[name|filename]data;" for each part. */
static char seen[8192];
static bool over;

static void note(const void *data, size_t len)
{
    size_t n = strlen(seen);
    ck_assert_uint_lt(n + len, sizeof(seen));
    memcpy(seen + n, data, len);
    seen[n + len] = 0;
}

/* Feeds in pieces of `piece` bytes; of each DATA item only `most` bytes are taken at a time. */
static enum err parse(const char *boundary, const char *body, size_t len, size_t piece, size_t most)
{
    struct multipart *m = NULL;
    enum err rc = multipart_new(boundary, &m, &err);
    size_t at = 0;
    seen[0] = 0;
    ck_assert_int_eq(rc, ERR_OK);
    for (int idle = 0; rc == ERR_OK && at < len && idle < 4;) {
        struct multipart_item item;
        size_t used = 0, n = len - at < piece ? len - at : piece;
        char name[600];
        rc = multipart_step(m, body + at, n, &used, &item, &err);
        if (rc != ERR_OK)
            break;
        at += used;
        if (item.kind == MULTIPART_PART) {
            snprintf(name, sizeof(name), "[%s|%s]", item.name, item.filename ? item.filename : "-");
            note(name, strlen(name));
        } else if (item.kind == MULTIPART_DATA) {
            size_t take = item.len < most ? item.len : most;
            note(item.data, take);
            at -= multipart_untake(m, &item, item.len - take);
        } else if (item.kind == MULTIPART_PART_END) {
            note(";", 1);
        }
        idle = used == 0 && item.kind == MULTIPART_NONE ? idle + 1 : 0;
        ck_assert_int_lt(idle, 3);
    }
    over = multipart_is_over(m);
    multipart_free(m);
    return rc;
}

static void expect(const char *body, const char *result)
{
    size_t len = strlen(body);
    for (size_t piece = 1; piece <= len; piece++) {
        for (size_t most = 1; most < 5; most++) {
            ck_assert_msg(parse("AaB", body, len, piece, most) == ERR_OK, "%s", err.text);
            ck_assert_str_eq(seen, result);
            ck_assert(over);
        }
    }
}

START_TEST(one_and_several_parts)
{
    expect("--AaB\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.zip\"\r\n"
           "Content-Type: application/zip\r\n\r\nPK\x03\x04\r\n--AaB--\r\n",
           "[file|a.zip]PK\x03\x04;");
    expect("--AaB\r\ncontent-disposition: form-data; name=file\r\n\r\none\r\n"
           "--AaB \t\r\nContent-Disposition: form-data; name=\"x\"\r\n\r\ntwo\r\n\r\n--AaB--",
           "[file|-]one;[x|-]two\r\n;");
}
END_TEST

START_TEST(preamble_epilogue_and_empty_parts)
{
    expect("preamble\r\n--Aa\r\n--AaB\r\n\r\n\r\n--AaB--\r\nepilogue\r\n--AaB\r\n", "[|-];");
    expect("--AaB\r\n\r\n--AaB--", "[|-];"); /* no line of its own for nothing */
}
END_TEST

START_TEST(what_looks_like_a_delimiter_is_data)
{
    expect("--AaB\r\n\r\n\r\n\r\r\n-\r\n--\r\n--A\r\n--Aa\r\r\n--AaC--AaB\r\n--AaB--",
           "[|-]\r\n\r\r\n-\r\n--\r\n--A\r\n--Aa\r\r\n--AaC--AaB;");
    expect("--AaB\r\n\r\n-\r\n--AaB--", "[|-]-;");
    expect("--AaB\r\n\r\n--Aa\r\n--AaB--", "[|-]--Aa;");
}
END_TEST

START_TEST(refusals)
{
    struct multipart *m = NULL;
    char large[8000];
    ck_assert_int_eq(multipart_new("", &m, &err), ERR_INVALID);
    ck_assert_int_eq(multipart_new("a\r\nb", &m, &err), ERR_INVALID);
    memset(large, 'b', sizeof(large));
    large[MULTIPART_BOUNDARY_MAX + 1] = 0;
    ck_assert_int_eq(multipart_new(large, &m, &err), ERR_INVALID);
    ck_assert_ptr_null(m);
    ck_assert_int_eq(parse("AaB", "--AaBx\r\n\r\n", 10, 3, 1), ERR_FORMAT);
    memset(large, 'h', sizeof(large));
    memcpy(large, "--AaB\r\n", 7);
    ck_assert_int_eq(parse("AaB", large, sizeof(large), 100, 1), ERR_LIMIT);
    /* Many short header lines cost no less. */
    for (size_t i = 7; i + 3 < sizeof(large); i += 3)
        memcpy(large + i, "h\r\n", 3);
    ck_assert_int_eq(parse("AaB", large, sizeof(large), 100, 1), ERR_LIMIT);
}
END_TEST

START_TEST(cut_short_is_not_over)
{
    static const char body[] = "--AaB\r\nA: b\r\n\r\ndata\r\n--AaB--";
    for (size_t len = 0; len < sizeof(body) - 2; len++) {
        ck_assert_int_eq(parse("AaB", body, len, 7, 9), ERR_OK);
        ck_assert(!over);
    }
}
END_TEST

START_TEST(any_epilogue_is_passed_over)
{
    static char body[3 * MULTIPART_HEADERS_MAX];
    static const size_t pieces[] = {1, 7, 4096, sizeof(body)};
    size_t n = (size_t)snprintf(body, sizeof(body), "--AaB\r\n\r\nx\r\n--AaB--");
    memset(body + n, 'e', sizeof(body) - n); /* without a line end */
    for (size_t i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++) {
        ck_assert_msg(parse("AaB", body, sizeof(body), pieces[i], 9) == ERR_OK, "%s", err.text);
        ck_assert_str_eq(seen, "[|-]x;");
        ck_assert(over);
    }
}
END_TEST

UNIT_MAIN("multipart", one_and_several_parts, preamble_epilogue_and_empty_parts,
          what_looks_like_a_delimiter_is_data, refusals, cut_short_is_not_over,
          any_epilogue_is_passed_over)
