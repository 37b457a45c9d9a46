/* Covers: server/http/api_uploads.c server/http/upload.c server/http/symbols_json.c */
#include "server/http/api.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "server/http/inflate.h"
#include "tests/support/http_fixture.h"
#include "tests/support/temp_dir.h"
#include "tests/support/unit.h"

static void upload(const char *query, const char *headers, const void *body, size_t len)
{
    char target[256];
    snprintf(target, sizeof(target), "/v1/symbols%s", query);
    raw_answer_done(&http_answer);
    http_fixture_ask(&http_fixture, "POST", target, SYMBOLS_TOKEN, headers, body, len,
                     &http_answer);
}

/* Bytes that look like the beginning of a zip. */
static char *fake_zip(size_t len, char fill)
{
    char *zip = malloc(len);
    memset(zip, fill, len);
    memcpy(zip, "PK\x03\x04", 4);
    return zip;
}

START_TEST(uploads)
{
    static const char form[] =
        "--AaB\r\nContent-Disposition: form-data; name=\"note\"\r\n\r\nnot a file\r\n"
        "--AaB\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a\"\r\n\r\n"
        "PK\x03\x04one\r\n--AaB\r\nContent-Disposition: form-data; name=\"file\"\r\n\r\n"
        "PK\x03\x04two\r\n--AaB--\r\n";
    char *zip = fake_zip(100000, 'x');
    http_fixture_start(&http_fixture);
    upload("", "", "hello", 5);
    http_expect_problem(400);
    upload("", "", "", 0);
    http_expect_problem(400);
    upload("?kind=other", "", zip, 1000);
    http_expect_problem(400);
    upload("?vresion=1", "", zip, 1000);
    http_expect_problem(400);
    char *junk = malloc(1 << 20);
    memset(junk, 'j', 1 << 20);
    upload("", "", junk, 1 << 20);
    http_expect_problem(400);
    free(junk);
    upload("", "", zip, 100000);
    ck_assert_int_eq(http_answer.status, 202);
    ck_assert_int_gt(http_number("upload_id"), 0);
    ck_assert_ptr_nonnull(strstr(http_answer.body, "\"state\":\"queued\""));
    upload("?wait=1", "", zip, 100000);
    http_expect_problem(422);
    ck_assert_ptr_nonnull(strstr(http_answer.body, "\"state\":\"failed\""));
    ck_assert_ptr_nonnull(strstr(http_answer.body, "\"slices\":[]"));
    char target[64];
    snprintf(target, sizeof(target), "/v1/symbols/uploads/%d", (int)http_number("upload_id"));
    ck_assert_int_eq(http_get(target), 200);
    upload("", "Content-Type: multipart/form-data; boundary=AaB\r\n", form, sizeof(form) - 1);
    ck_assert_int_eq(http_answer.status, 202);
    json_t *o = http_json();
    ck_assert_uint_eq(json_array_size(json_object_get(o, "uploads")), 2);
    json_decref(o);
    upload("", "Content-Type: multipart/form-data; boundary=AaB\r\n", form, sizeof(form) - 10);
    http_expect_problem(400);
    upload("", "Content-Type: multipart/form-data\r\n", form, sizeof(form) - 1);
    http_expect_problem(400);
    upload("", "Content-Encoding: gzip\r\n", zip, 1000);
    http_expect_problem(400);
    free(zip);
    http_stop();
}
END_TEST

/* One that failed has no slices that would tell whose it is. */
START_TEST(a_bound_token_sees_uploads_of_its_app_alone)
{
    char target[128], token[256];
    char *zip = fake_zip(1000, 'b');
    http_fixture_start(&http_fixture);
    upload("?bundle_id=com.b&wait=1", "", zip, 1000);
    http_expect_problem(422);
    snprintf(target, sizeof(target), "/v1/symbols/uploads/%lld",
             (long long)http_number("upload_id"));
    ck_assert_int_eq(http_post_json("/v1/admin/tokens", ADMIN_TOKEN,
                                    "{\"scopes\":[\"symbols\"],\"bundle_id\":\"com.a\"}"),
                     201);
    json_t *made = http_json();
    snprintf(token, sizeof(token), "%s", json_string_value(json_object_get(made, "token")));
    json_decref(made);
    ck_assert_int_eq(http_ask("GET", target, token), 404);
    ck_assert_int_eq(http_ask("GET", target, SYMBOLS_TOKEN), 200);
    free(zip);
    http_stop();
}
END_TEST

START_TEST(large_uploads_keep_their_cap)
{
    size_t len = (size_t)17 << 20;
    char *zip = fake_zip(len, 'y');
    http_fixture_start(&http_fixture);
    upload("?wait=1", "", zip, (size_t)12 << 20);
    ck_assert_int_eq(http_answer.status, 422);
    upload("", "Expect: 100-continue\r\n", zip, len);
    ck_assert_int_eq(http_answer.status, 413);
    struct buf packed;
    buf_init(&packed, (size_t)64 << 20);
    ck_assert(deflate_gzip(zip, len, &packed));
    upload("", "Content-Encoding: gzip\r\n", packed.data, packed.len);
    http_expect_problem(413);
    buf_done(&packed);
    free(zip);
    char spool[600];
    snprintf(spool, sizeof(spool), "%s/spool", http_fixture.dir);
    usleep(200000);
    ck_assert_uint_eq(temp_dir_count(spool), 0);
    http_stop();
}
END_TEST

UNIT_MAIN("api_uploads", uploads, a_bound_token_sees_uploads_of_its_app_alone,
          large_uploads_keep_their_cap)
