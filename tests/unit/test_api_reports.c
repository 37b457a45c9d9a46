/* Covers: server/http/api_reports.c server/http/report_json.c server/http/finding_json.c */
#include "server/http/api.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "server/http/inflate.h"
#include "tests/support/http_fixture.h"
#include "tests/support/temp_dir.h"
#include "tests/support/unit.h"

static int post_text(const char *body)
{
    return http_post_json("/v1/reports", INGEST_TOKEN, body);
}

#define HEAD                                                                                       \
    "POST /v1/reports HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " INGEST_TOKEN "\r\n" HTTP_JSON

START_TEST(bound_tokens_see_their_app_only)
{
    static const char other[] = "{\"app\":{\"bundle_id\":\"com.b\"},\"reports\":[{\"id\":\"b1\","
                                "\"kind\":\"stall\",\"duration_ms\":1,\"stack\":[\"0x1\"]}]}";
    http_fixture_start(&http_fixture);
    ck_assert_int_eq(post_text(http_batch("a1")), 202);
    ck_assert_int_eq(post_text(other), 202);
    /* Another app's report under a bound token is refused, one way or the other. */
    ck_assert_int_ne(http_post("/v1/reports", BOUND_INGEST, HTTP_JSON, other, strlen(other)), 202);
    ck_assert_int_ne(http_answer.status, 500);
    ck_assert_int_eq(http_post("/v1/reports", BOUND_INGEST, HTTP_JSON, http_batch("a2"),
                               strlen(http_batch("a2"))),
                     202);
    ck_assert_int_eq(http_ask("GET", "/v1/reports/b1", READ_TOKEN), 200);
    ck_assert_int_eq(http_ask("GET", "/v1/reports/b1", BOUND_READ), 404);
    ck_assert_int_eq(http_ask("GET", "/v1/reports/a1", BOUND_READ), 200);
    ck_assert_int_eq(http_ask("GET", "/v1/clusters?bundle_id=com.b", BOUND_READ), 403);
    ck_assert_int_eq(http_ask("GET", "/v1/stats", BOUND_READ), 200);
    ck_assert_int_eq(http_number("reports"), 2);
    http_stop();
}
END_TEST

START_TEST(bodies_in_every_shape)
{
    char text[2048];
    http_fixture_start(&http_fixture);
    ck_assert_int_eq(post_text(http_batch("one")), 202);
    ck_assert_int_eq(http_number("accepted"), 1);
    ck_assert_int_eq(post_text(http_batch("one")), 202);
    ck_assert_int_eq(http_number("duplicates"), 1);

    /* Byte by byte, which also cuts the é in two. */
    snprintf(text, sizeof(text), "%s", http_batch("bytes"));
    int fd = raw_connect(http_fixture.port);
    raw_printf(fd,
               "POST /v1/reports HTTP/1.1\r\nHost: x\r\n" HTTP_JSON
               "Authorization: Bearer " INGEST_TOKEN "\r\nContent-Length: %zu\r\n\r\n",
               strlen(text));
    for (const char *p = text; *p; p++)
        ck_assert(raw_send(fd, p, 1));
    raw_answer_done(&http_answer);
    raw_read(fd, false, &http_answer);
    ck_assert_int_eq(http_answer.status, 202);

    /* Chunked, on the same connection. */
    snprintf(text, sizeof(text), "%s", http_batch("chunked"));
    raw_puts(fd, "POST /v1/reports HTTP/1.1\r\nHost: x\r\n" HTTP_JSON
                 "Authorization: Bearer " INGEST_TOKEN "\r\nTransfer-Encoding: chunked\r\n\r\n");
    for (size_t at = 0, len = strlen(text); at < len; at += 100)
        raw_printf(fd, "%zx\r\n%.*s\r\n", len - at < 100 ? len - at : 100, 100, text + at);
    raw_puts(fd, "0\r\n\r\n");
    raw_answer_done(&http_answer);
    raw_read(fd, false, &http_answer);
    ck_assert_int_eq(http_answer.status, 202);

    /* Expect: 100-continue. */
    snprintf(text, sizeof(text), "%s", http_batch("expect"));
    raw_printf(fd,
               "POST /v1/reports HTTP/1.1\r\nHost: x\r\n" HTTP_JSON
               "Authorization: Bearer " INGEST_TOKEN "\r\nExpect: 100-continue\r\n"
               "Content-Length: %zu\r\n\r\n",
               strlen(text));
    raw_answer_done(&http_answer);
    raw_read(fd, true, &http_answer);
    ck_assert_int_eq(http_answer.status, 100);
    raw_puts(fd, text);
    raw_answer_done(&http_answer);
    raw_read(fd, false, &http_answer);
    ck_assert_int_eq(http_answer.status, 202);
    close(fd);
    ck_assert_int_eq(http_stored(), 4);
    http_stop();
}
END_TEST

START_TEST(compressed_bodies)
{
    struct buf packed;
    static const uint8_t broken[] = {0x1f, 0x8b, 0x08, 0x00, 0x00};
    http_fixture_start(&http_fixture);
    buf_init(&packed, 65536);
    ck_assert(deflate_gzip(http_batch("gz"), strlen(http_batch("gz")), &packed));
    ck_assert_int_eq(http_post("/v1/reports", INGEST_TOKEN, HTTP_JSON "Content-Encoding: gzip\r\n",
                               packed.data, packed.len),
                     202);
    ck_assert_int_eq(http_post("/v1/reports", INGEST_TOKEN, HTTP_JSON "Content-Encoding: gzip\r\n",
                               packed.data, packed.len - 1),
                     400);
    http_expect_problem(400);
    ck_assert_int_eq(http_post("/v1/reports", INGEST_TOKEN, HTTP_JSON "Content-Encoding: gzip\r\n",
                               broken, sizeof(broken)),
                     400);
    ck_assert_int_eq(http_post("/v1/reports", INGEST_TOKEN, HTTP_JSON "Content-Encoding: zstd\r\n",
                               packed.data, packed.len),
                     400);
    ck_assert_int_eq(http_post("/v1/reports", INGEST_TOKEN, HTTP_JSON "Content-Encoding: br\r\n",
                               packed.data, packed.len),
                     415);
    buf_done(&packed);

    /* A bomb: 64 MB of blanks in a few kB, above the cap of 8 MB. */
    char *blanks = malloc((size_t)64 << 20);
    memset(blanks, ' ', (size_t)64 << 20);
    buf_init(&packed, (size_t)128 << 20);
    ck_assert(deflate_gzip(blanks, (size_t)64 << 20, &packed));
    free(blanks);
    ck_assert_uint_lt(packed.len, 300000);
    ck_assert_int_eq(http_post("/v1/reports", INGEST_TOKEN, HTTP_JSON "Content-Encoding: gzip\r\n",
                               packed.data, packed.len),
                     413);
    http_expect_problem(413);
    buf_done(&packed);
    ck_assert_int_eq(http_stored(), 1);
    http_stop();
}
END_TEST

START_TEST(wrong_bodies)
{
    http_fixture_start(&http_fixture);
    ck_assert_int_eq(post_text("{bad"), 400);
    http_expect_problem(400);
    ck_assert_int_eq(post_text(""), 400);
    ck_assert_int_eq(post_text("[7]"), 422);
    http_expect_problem(422);
    ck_assert_int_eq(
        http_post("/v1/reports", INGEST_TOKEN, "Content-Type: text/plain\r\n", "{}", 2), 415);
    ck_assert_int_eq(http_post("/v1/reports", INGEST_TOKEN, "", "{}", 2), 415);
    ck_assert_int_eq(post_text("{\"app\":{\"bundle_id\":\"com.a\"},\"reports\":[{\"stack\":["
                               "\"0x1\",\"zzz\"]}]}"),
                     422);
    http_expect_problem(422);
    ck_assert_int_eq(http_number("accepted"), 0);
    ck_assert_ptr_nonnull(
        strstr(http_answer.body, "\"rejected\":[{\"index\":0,\"path\":\"reports[0]"));
    ck_assert_ptr_nonnull(strstr(http_answer.body, "\"dropped\":[]"));
    ck_assert_int_eq(post_text("{\"app\":{\"bundle_id\":\"com.a\"},\"image_set\":\"nope\","
                               "\"reports\":[{\"id\":\"1\",\"stack\":[\"0x1\"],"
                               "\"kind\":\"stall\"}]}"),
                     422);
    ck_assert_ptr_nonnull(strstr(http_answer.body, "\"need_image_sets\":[\"nope\"]"));
    ck_assert_int_eq(http_stored(), 0);
    http_stop();
}
END_TEST

/* --- reports that wait for the writer ------------------------------------------------------------ */

static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;

/* On the writer's thread: it goes on when the test does. */
static void hold_writer(struct write_op *op, enum err rc, const struct error *err)
{
    (void)rc;
    (void)err;
    pthread_mutex_lock(&gate);
    pthread_mutex_unlock(&gate);
    write_op_free(op);
}

/* What bodies became counts as buffered until it is written: a disk that stalls fills no memory. */
START_TEST(parsed_bodies_count_until_they_are_written)
{
    struct error err;
    struct buf body;
    struct metrics *metrics;
    http_fixture_prepare(&http_fixture, NULL);
    http_fixture.options.buffered_bytes = 200000;
    http_fixture_open(&http_fixture);
    metrics = http_fixture.services.metrics;
    pthread_mutex_lock(&gate);
    struct write_op *op = write_op_new(WRITE_GIVE_UP, 4096);
    op->u.give_up.before_ms = INT64_MIN;
    op->done = hold_writer;
    ck_assert_int_eq(writer_submit(http_fixture.services.writer, op, &err), ERR_OK);

    buf_init(&body, 1 << 20);
    buf_puts(&body, "{\"app\":{\"bundle_id\":\"com.a\"},\"reports\":[{}");
    for (int i = 0; i < 500; i++)
        buf_printf(&body, ",{\"stack\":[%d]}", 4096 + i);
    buf_puts(&body, "]}");
    ck_assert_uint_lt(body.len, 20000);
    int fd = raw_connect(http_fixture.port);
    raw_printf(fd,
               "POST /v1/reports HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\n"
               "Content-Type: application/json\r\nContent-Length: %zu\r\n\r\n",
               INGEST_TOKEN, body.len);
    raw_send(fd, body.data, body.len);
    while (metrics_get(metrics, METRIC_REPORTS_REJECTED) == 0)
        sched_yield();
    int refused = http_post_json("/v1/reports", INGEST_TOKEN, http_batch("more"));
    pthread_mutex_unlock(&gate);
    ck_assert_int_eq(refused, 503);
    raw_answer_done(&http_answer);
    raw_read(fd, false, &http_answer);
    ck_assert_int_eq(http_answer.status, 202);
    ck_assert_int_eq(http_number("accepted"), 500);
    close(fd);
    int after;
    do /* the request ends a moment after its answer was read */
        after = http_post_json("/v1/reports", INGEST_TOKEN, http_batch("more"));
    while (after == 503);
    ck_assert_int_eq(after, 202);
    buf_done(&body);
    http_stop();
}
END_TEST

UNIT_MAIN("api_reports", parsed_bodies_count_until_they_are_written,
          bound_tokens_see_their_app_only, bodies_in_every_shape, compressed_bodies, wrong_bodies)
