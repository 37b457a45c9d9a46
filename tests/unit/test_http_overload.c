/* Too many clients and large bodies, at a door with few places.
 *
 * Covers: server/http/http_intake.c server/http/http_request.c server/http/http_server.c server/http/http_slots.c server/http/http_workers.c */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "server/http/http_slots.h"
#include "server/http/inflate.h"
#include "tests/support/http_fixture.h"
#include "tests/support/unit.h"

#define PLACES 16
#define POST                                                                                       \
    "POST /v1/reports HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " INGEST_TOKEN "\r\n" HTTP_JSON

static void few_places(void)
{
    http_fixture_prepare(&http_fixture, NULL);
    http_fixture.options.connections = PLACES;
    http_fixture.options.threads = 1;
    http_fixture_open(&http_fixture);
}

static void close_all(const int *fds, size_t count)
{
    for (size_t i = 0; i < count; i++)
        close(fds[i]);
}

/* A batch of one report, made `len` long by blanks. */
static char *long_batch(const char *id, size_t len)
{
    const char *text = http_batch(id);
    char *body = malloc(len);
    memset(body, ' ', len);
    memcpy(body, text, strlen(text));
    return body;
}

START_TEST(idle_clients_make_room)
{
    int fds[3 * PLACES];
    few_places();
    for (size_t i = 0; i < 3 * PLACES; i++) {
        fds[i] = raw_connect(http_fixture.port);
        if (i % 2)
            raw_puts(fds[i], "GET /healthz HTTP/1.1\r\nX: ");
        ck_assert_int_eq(http_ask("GET", "/healthz", NULL), 200);
    }
    ck_assert_int_eq(http_post_json("/v1/reports", INGEST_TOKEN, http_batch("room")), 202);
    ck_assert(raw_closes(fds[0]) && raw_closes(fds[1]));
    raw_puts(fds[3 * PLACES - 1], "y\r\nHost: x\r\n\r\n"); /* who came last still has its place */
    raw_answer_done(&http_answer);
    raw_read(fds[3 * PLACES - 1], false, &http_answer);
    ck_assert_int_eq(http_answer.status, 200);
    close_all(fds, 3 * PLACES);
    http_stop();
}
END_TEST

START_TEST(slow_bodies_make_room)
{
    int fds[3 * PLACES];
    few_places();
    for (size_t i = 0; i < 3 * PLACES; i++) {
        fds[i] = raw_connect(http_fixture.port);
        raw_puts(fds[i], POST "Content-Length: 1000\r\n\r\n{");
        ck_assert_int_eq(http_ask("GET", "/healthz", NULL), 200);
    }
    ck_assert_int_eq(http_post_json("/v1/reports", INGEST_TOKEN, http_batch("room")), 202);
    close_all(fds, 3 * PLACES);
    http_stop();
}
END_TEST

START_TEST(uploads_at_a_time)
{
    static const char head[] =
        "POST /v1/symbols HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " SYMBOLS_TOKEN
        "\r\nContent-Length: 100000\r\n";
    int fds[2];
    http_fixture_prepare(&http_fixture, NULL);
    http_fixture.options.uploads = 2;
    http_fixture_open(&http_fixture);
    for (int i = 0; i < 2; i++) {
        fds[i] = raw_connect(http_fixture.port);
        raw_printf(fds[i], "%sExpect: 100-continue\r\n\r\n", head);
        raw_answer_done(&http_answer);
        raw_read(fds[i], false, &http_answer);
        ck_assert_int_eq(http_answer.status, 100);
    }
    int third = raw_connect(http_fixture.port);
    raw_printf(third, "%sExpect: 100-continue\r\n\r\n", head);
    raw_answer_done(&http_answer);
    raw_read(third, false, &http_answer);
    http_expect_problem(503);
    ck_assert_str_eq(http_header("Retry-After"), "5");
    ck_assert(raw_closes(third));
    close(third);
    close(fds[0]);
    int status = 503;
    for (int i = 0; i < 500 && status == 503; i++) {
        usleep(10000);
        third = raw_connect(http_fixture.port);
        raw_printf(third, "%sExpect: 100-continue\r\n\r\n", head);
        raw_answer_done(&http_answer);
        raw_read(third, false, &http_answer);
        status = http_answer.status;
        close(third);
    }
    ck_assert_int_eq(status, 100);
    close(fds[1]);
    http_stop();
}
END_TEST

START_TEST(large_bodies_are_read_elsewhere)
{
    static const size_t sizes[] = {1000, 256 << 10, (256 << 10) + 1, 7 << 20};
    char id[32];
    http_fixture_start(&http_fixture);
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        struct buf packed;
        snprintf(id, sizeof(id), "plain-%zu", i);
        char *body = long_batch(id, sizes[i]);
        ck_assert_int_eq(http_post("/v1/reports", INGEST_TOKEN, HTTP_JSON, body, sizes[i]), 202);
        ck_assert_int_eq(http_number("accepted"), 1);
        free(body);
        snprintf(id, sizeof(id), "packed-%zu", i);
        body = long_batch(id, sizes[i]);
        buf_init(&packed, 16 << 20);
        ck_assert(deflate_gzip(body, sizes[i], &packed));
        ck_assert_int_eq(http_post("/v1/reports", INGEST_TOKEN,
                                   HTTP_JSON "Content-Encoding: gzip\r\n", packed.data, packed.len),
                         202);
        ck_assert_int_eq(http_number("accepted"), 1);
        /* A handler that reads, and one that refuses, of the same body. */
        ck_assert_int_eq(http_post("/v1/symbolicate", READ_TOKEN,
                                   HTTP_JSON "Content-Encoding: gzip\r\n", packed.data, packed.len),
                         422);
        ck_assert_int_eq(http_post("/v1/reports", INGEST_TOKEN,
                                   "Content-Type: text/html\r\nContent-Encoding: gzip\r\n",
                                   packed.data, packed.len),
                         415);
        http_expect_problem(415);
        /* Cut short, and garbled. */
        ck_assert_int_eq(http_post("/v1/reports", INGEST_TOKEN,
                                   HTTP_JSON "Content-Encoding: gzip\r\n", packed.data,
                                   packed.len - 1),
                         400);
        packed.data[packed.len - 2] ^= 1; /* its length */
        ck_assert_int_eq(http_post("/v1/reports", INGEST_TOKEN,
                                   HTTP_JSON "Content-Encoding: gzip\r\n", packed.data, packed.len),
                         400);
        http_expect_problem(400);
        buf_done(&packed);
        free(body);
    }
    ck_assert_int_eq(http_stored(), 8);
    http_stop();
}
END_TEST

START_TEST(what_inflates_too_far_is_refused)
{
    struct buf packed;
    size_t len = 9 << 20; /* the cap of a body is 8 MB */
    http_fixture_start(&http_fixture);
    char *body = long_batch("bomb", len);
    buf_init(&packed, 16 << 20);
    ck_assert(deflate_gzip(body, len, &packed));
    ck_assert_int_eq(http_post("/v1/reports", INGEST_TOKEN, HTTP_JSON "Content-Encoding: gzip\r\n",
                               packed.data, packed.len),
                     413);
    http_expect_problem(413);
    ck_assert_int_eq(http_stored(), 0);
    buf_done(&packed);
    free(body);
    http_stop();
}
END_TEST

START_TEST(packed_bytes_are_counted_as_inflated)
{
    struct buf packed;
    size_t len = 3 << 20;
    http_fixture_prepare(&http_fixture, NULL);
    http_fixture.options.buffered_bytes = 1 << 20;
    http_fixture_open(&http_fixture);
    char *body = long_batch("one", len);
    buf_init(&packed, 16 << 20);
    ck_assert(deflate_gzip(body, len, &packed));
    /* One alone may always be read, and nothing of it stays counted. The one before may not be quite
     * over when the next begins. */
    for (int i = 0; i < 20; i++) {
        int status = 503;
        for (int k = 0; k < 500 && status == 503; k++) {
            usleep(k ? 10000 : 0);
            status = http_post("/v1/reports", INGEST_TOKEN, HTTP_JSON "Content-Encoding: gzip\r\n",
                               packed.data, packed.len);
        }
        ck_assert_int_eq(status, 202);
    }
    json_int_t stored = -1;
    for (int k = 0; k < 500 && stored < 0; k++) {
        usleep(k ? 10000 : 0);
        stored = http_stored();
    }
    ck_assert_int_eq(stored, 1);
    buf_done(&packed);
    free(body);
    http_stop();
}
END_TEST

START_TEST(a_stop_while_large_bodies_are_read)
{
    size_t len = 6 << 20;
    int fds[8];
    http_fixture_start(&http_fixture);
    char *body = long_batch("late", len);
    for (int i = 0; i < 8; i++) {
        fds[i] = raw_connect(http_fixture.port);
        raw_printf(fds[i], POST "Content-Length: %zu\r\n\r\n", len);
        raw_send(fds[i], body, len);
    }
    http_server_stop(http_fixture.server, 0);
    http_fixture.server = NULL;
    for (int i = 0; i < 8; i++) { /* stored and told, refused, or an end; never nothing */
        struct raw_answer a = {0};
        raw_read(fds[i], false, &a);
        ck_assert(a.status == 202 || a.status == 503 || a.status == 0);
        raw_answer_done(&a);
        close(fds[i]);
    }
    free(body);
    http_stop();
}
END_TEST

START_TEST(heads_above_the_cap)
{
    char head[40000];
    http_fixture_start(&http_fixture);
    memset(head, 'a', sizeof(head));
    int fd = raw_connect(http_fixture.port);
    raw_puts(fd, "GET /healthz HTTP/1.1\r\nHost: x\r\nX: ");
    raw_send(fd, head, sizeof(head));
    raw_puts(fd, "\r\n\r\n");
    raw_answer_done(&http_answer);
    raw_read(fd, false, &http_answer);
    http_expect_problem(431);
    ck_assert(raw_closes(fd));
    close(fd);
    http_stop();
}
END_TEST

/* It would cut all slow clients off, as often as somebody asks, and be refused all the same. */
START_TEST(for_what_never_fits_nobody_goes)
{
    static const char part[] = "{\"app\":";
    http_fixture_prepare(&http_fixture, NULL);
    http_fixture.options.buffered_bytes = 1 << 20;
    http_fixture_open(&http_fixture);
    int slow = raw_connect(http_fixture.port);
    raw_printf(slow, POST "Content-Length: %zu\r\n\r\n%s", sizeof(part), part);
    usleep((SLOT_LONG_MS + 100) * 1000);
    int large = raw_connect(http_fixture.port);
    raw_printf(large, POST "Expect: 100-continue\r\nContent-Length: %d\r\n\r\n", (1 << 20) + 1);
    raw_answer_done(&http_answer);
    raw_read(large, false, &http_answer);
    http_expect_problem(503);
    raw_puts(slow, "}");
    raw_answer_done(&http_answer);
    raw_read(slow, false, &http_answer);
    ck_assert_int_eq(http_answer.status, 400);
    close(large);
    close(slow);
    http_stop();
}
END_TEST

UNIT_MAIN("http_overload", for_what_never_fits_nobody_goes, idle_clients_make_room,
          slow_bodies_make_room, uploads_at_a_time, large_bodies_are_read_elsewhere,
          what_inflates_too_far_is_refused, packed_bytes_are_counted_as_inflated,
          a_stop_while_large_bodies_are_read, heads_above_the_cap)
