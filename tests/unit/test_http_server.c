/* Covers: server/http/http_server.c server/http/http_intake.c server/http/http_request.c server/http/http_door.c server/http/api_health.c server/http/api_assets.c server/http/asset.c */
#include "server/http/http_server.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/clock.h"
#include "server/http/auth.h"
#include "server/http/listen_socket.h"
#include "tests/support/http_fixture.h"
#include "tests/support/temp_dir.h"
#include "tests/support/unit.h"

static int post_text(const char *body)
{
    return http_post_json("/v1/reports", INGEST_TOKEN, body);
}

/* Sends `head` as it is, then perhaps a body, and reads one answer; whether it closes then. */
static bool raw_request(const char *head, const char *body)
{
    int fd = raw_connect(http_fixture.port);
    raw_puts(fd, head);
    raw_puts(fd, body);
    raw_answer_done(&http_answer);
    raw_read(fd, false, &http_answer);
    bool closes = http_answer.status == 0 ||
                  (http_header("Connection") &&
                   strcasecmp(http_header("Connection"), "close") == 0 && raw_closes(fd));
    close(fd);
    return closes;
}

#define HEAD                                                                                       \
    "POST /v1/reports HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " INGEST_TOKEN "\r\n" HTTP_JSON

/* Bytes that look like the beginning of a zip. */
static char *fake_zip(size_t len, char fill)
{
    char *zip = malloc(len);
    memset(zip, fill, len);
    memcpy(zip, "PK\x03\x04", 4);
    return zip;
}

START_TEST(open_routes_and_wrong_ones)
{
    http_fixture_start(&http_fixture);
    ck_assert_int_eq(http_ask("GET", "/healthz", NULL), 200);
    ck_assert_str_eq(http_answer.body, "{\"status\":\"ok\"}");
    ck_assert_int_eq(http_ask("GET", "/readyz", NULL), 200);
    ck_assert_int_eq(http_ask("HEAD", "/healthz", NULL), 200);
    ck_assert_str_eq(http_header("Content-Length"), "15");
    ck_assert_int_eq(http_ask("GET", "/nope", NULL), 404);
    http_expect_problem(404);
    ck_assert_int_eq(http_ask("PUT", "/v1/symbols", ADMIN_TOKEN), 405);
    ck_assert_str_eq(http_header("Allow"), "POST, GET, HEAD, OPTIONS");
    http_expect_problem(405);
    ck_assert_int_eq(http_ask("BREW", "/v1/reports", NULL), 405);
    ck_assert_int_eq(http_ask("HEAD", "/v1/reports", NULL), 405);
    ck_assert_int_eq(http_ask("OPTIONS", "/v1/reports", NULL), 204);
    ck_assert_str_eq(http_header("Allow"), "POST, OPTIONS");
    http_server_quiesce(http_fixture.server);
    ck_assert_int_eq(http_ask("GET", "/readyz", NULL), 503);
    ck_assert_int_eq(http_ask("GET", "/healthz", NULL), 200);
    http_stop();
}
END_TEST

START_TEST(request_ids)
{
    static const struct {
        const char *given;
        bool kept;
    } cases[] = {{"abc-123", true}, {"a b", false}, {"\"x\"", false}, {"", false}};
    http_fixture_start(&http_fixture);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char header[64];
        snprintf(header, sizeof(header), "X-Request-Id: %s\r\n", cases[i].given);
        raw_answer_done(&http_answer);
        http_fixture_ask(&http_fixture, "GET", "/healthz", NULL, header, NULL, 0, &http_answer);
        const char *id = http_header("X-Request-Id");
        ck_assert_int_eq(strcmp(id, cases[i].given) == 0, cases[i].kept);
        ck_assert_uint_gt(strlen(id), 0);
    }
    http_stop();
}
END_TEST

START_TEST(tokens_and_scopes)
{
    http_fixture_start(&http_fixture);
    ck_assert_int_eq(http_ask("GET", "/v1/clusters", NULL), 401);
    ck_assert_str_eq(http_header("WWW-Authenticate"), "Bearer realm=\"stallsym\"");
    http_expect_problem(401);
    ck_assert_int_eq(http_ask("GET", "/v1/clusters", "nonsense"), 401);
    ck_assert_int_eq(http_ask("GET", "/v1/clusters", INGEST_TOKEN), 403);
    ck_assert_int_eq(http_ask("GET", "/v1/clusters", SYMBOLS_TOKEN), 403);
    ck_assert_int_eq(http_ask("GET", "/v1/clusters", READ_TOKEN), 200);
    ck_assert_int_eq(http_ask("GET", "/v1/clusters", ADMIN_TOKEN), 200);
    ck_assert_int_eq(http_ask("GET", "/v1/symbols", READ_TOKEN), 403);
    ck_assert_int_eq(http_ask("GET", "/v1/symbols", SYMBOLS_TOKEN), 200);
    ck_assert_int_eq(http_ask("GET", "/v1/admin/tokens", READ_TOKEN), 403);
    ck_assert_int_eq(http_ask("GET", "/metrics", NULL), 401);
    ck_assert_int_eq(http_ask("GET", "/metrics", READ_TOKEN), 200);
    ck_assert_ptr_nonnull(strstr(http_answer.body, "stallsym_http_requests_total"));
    ck_assert_int_eq(http_ask("GET", "/metrics", BOUND_READ), 403);
    raw_answer_done(&http_answer);
    http_fixture_ask(&http_fixture, "GET", "/v1/clusters", NULL,
                     "X-Stallsym-Token: " READ_TOKEN "\r\n", NULL, 0, &http_answer);
    ck_assert_int_eq(http_answer.status, 200);
    http_stop();
}
END_TEST

START_TEST(lengths_that_lie)
{
    http_fixture_start(&http_fixture);
    int64_t start = clock_mono_ms();
    ck_assert(raw_request(HEAD "Content-Length: 1099511627776\r\n\r\n", ""));
    http_expect_problem(413);
    ck_assert_int_lt(clock_mono_ms() - start, 2000);
    raw_request(HEAD "Content-Length: -1\r\n\r\n", "{}");
    ck_assert_int_eq(http_answer.status, 400);
    raw_request(HEAD "Content-Length: 18446744073709551617\r\n\r\n", "{}");
    ck_assert(http_answer.status == 400 || http_answer.status == 413);
    raw_request(HEAD "Content-Length: 2x\r\n\r\n", "{}");
    ck_assert_int_eq(http_answer.status, 400);
    /* Two requests for somebody who believes the other header. */
    ck_assert(raw_request(HEAD "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n",
                          "0\r\n\r\nGET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"));
    ck_assert_int_eq(http_answer.status, 400);
    ck_assert(raw_request(HEAD "Content-Length: 2\r\nContent-Length: 40\r\n\r\n",
                          "{}GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"));
    ck_assert_int_eq(http_answer.status, 400);
    ck_assert(raw_request(HEAD "Transfer-Encoding: gzip, chunked\r\n\r\n", "0\r\n\r\n"));
    ck_assert(http_answer.status >= 400 && http_answer.status <= 501);
    ck_assert(raw_request(HEAD "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n",
                          "0\r\n\r\n"));
    ck_assert_int_eq(http_answer.status, 400);
    ck_assert(raw_request("GET /healthz HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n", ""));
    ck_assert_int_eq(http_answer.status, 400);
    ck_assert_int_eq(http_stored(), 0);
    http_stop();
}
END_TEST

START_TEST(chunked_bodies_have_the_same_cap)
{
    char chunk[4096];
    http_fixture_prepare(&http_fixture, NULL);
    http_fixture.options.body_bytes = 10000;
    http_fixture_open(&http_fixture);
    int fd = raw_connect(http_fixture.port);
    memset(chunk, ' ', sizeof(chunk));
    raw_puts(fd, HEAD "Transfer-Encoding: chunked\r\n\r\n");
    for (int i = 0; i < 5; i++) {
        raw_puts(fd, "1000\r\n");
        raw_send(fd, chunk, sizeof(chunk));
        raw_puts(fd, "\r\n");
    }
    raw_puts(fd, "0\r\n\r\n");
    raw_answer_done(&http_answer);
    raw_read(fd, false, &http_answer);
    http_expect_problem(413);
    /* What came was read to its end: the connection goes on. */
    raw_puts(fd, "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n");
    raw_answer_done(&http_answer);
    raw_read(fd, false, &http_answer);
    ck_assert_int_eq(http_answer.status, 200);
    close(fd);
    /* One that never ends is cut off. */
    fd = raw_connect(http_fixture.port);
    raw_puts(fd, HEAD "Transfer-Encoding: chunked\r\n\r\n");
    bool taken = true;
    for (int i = 0; taken && i < 4096; i++)
        taken =
            raw_puts(fd, "1000\r\n") && raw_send(fd, chunk, sizeof(chunk)) && raw_puts(fd, "\r\n");
    ck_assert(!taken);
    close(fd);
    http_stop();
}
END_TEST

START_TEST(refused_bodies_do_not_end_the_connection)
{
    char text[2048];
    http_fixture_start(&http_fixture);
    int fd = raw_connect(http_fixture.port);
    raw_puts(fd, HEAD "Content-Length: 4\r\n\r\n{bad");
    raw_answer_done(&http_answer);
    raw_read(fd, false, &http_answer);
    ck_assert_int_eq(http_answer.status, 400);
    raw_puts(fd, "POST /v1/reports HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello");
    raw_answer_done(&http_answer);
    raw_read(fd, false, &http_answer);
    ck_assert_int_eq(http_answer.status, 401);
    raw_puts(fd, "POST /nope HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello");
    raw_answer_done(&http_answer);
    raw_read(fd, false, &http_answer);
    ck_assert_int_eq(http_answer.status, 404);
    raw_puts(fd, "GET /healthz HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello");
    raw_answer_done(&http_answer);
    raw_read(fd, false, &http_answer);
    ck_assert_int_eq(http_answer.status, 200);
    snprintf(text, sizeof(text), HEAD "Content-Length: %zu\r\n\r\n%s", strlen(http_batch("x")),
             http_batch("x"));
    raw_puts(fd, text);
    raw_answer_done(&http_answer);
    raw_read(fd, false, &http_answer);
    ck_assert_int_eq(http_answer.status, 202);
    close(fd);
    http_stop();
}
END_TEST

START_TEST(pipelined_requests)
{
    char text[8192];
    size_t n = 0;
    http_fixture_start(&http_fixture);
    int fd = raw_connect(http_fixture.port);
    for (int i = 0; i < 5; i++) {
        char id[16];
        snprintf(id, sizeof(id), "p%d", i);
        n += (size_t)snprintf(text + n, sizeof(text) - n, HEAD "Content-Length: %zu\r\n\r\n%s",
                              strlen(http_batch(id)), http_batch(id));
    }
    raw_send(fd, text, n);
    for (int i = 0; i < 5; i++) {
        raw_answer_done(&http_answer);
        raw_read(fd, false, &http_answer);
        ck_assert_int_eq(http_answer.status, 202);
        ck_assert_int_eq(http_number("accepted"), 1);
    }
    close(fd);
    ck_assert_int_eq(http_stored(), 5);
    http_stop();
}
END_TEST

START_TEST(clients_that_break_off)
{
    http_fixture_start(&http_fixture);
    for (int i = 0; i < 20; i++) {
        int fd = raw_connect(http_fixture.port);
        raw_printf(fd, HEAD "Content-Length: %zu\r\n\r\n%.100s", strlen(http_batch("x")),
                   http_batch("x"));
        close(fd);
        fd = raw_connect(http_fixture.port);
        raw_puts(fd, "POST /v1/symbols HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " SYMBOLS_TOKEN
                     "\r\nContent-Length: 100000\r\n\r\nPK\x03\x04");
        for (int k = 0; k < 100; k++)
            raw_puts(fd, "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef");
        close(fd);
        /* Gone while the answer is waited for. */
        fd = raw_connect(http_fixture.port);
        raw_printf(fd, HEAD "Content-Length: %zu\r\n\r\n%s", strlen(http_batch("gone")),
                   http_batch("gone"));
        close(fd);
    }
    usleep(300000);
    ck_assert_int_eq(post_text(http_batch("next")), 202);
    ck_assert_int_le(http_stored(), 2);
    char spool[600];
    snprintf(spool, sizeof(spool), "%s/spool", http_fixture.dir);
    ck_assert_uint_eq(temp_dir_count(spool), 0);
    http_stop();
}
END_TEST

START_TEST(slow_bodies_are_cut_off)
{
    http_fixture_prepare(&http_fixture, NULL);
    http_fixture.options.timeout_s = 1;
    http_fixture_open(&http_fixture);
    int fd = raw_connect(http_fixture.port);
    raw_puts(fd, HEAD "Content-Length: 1000\r\n\r\n");
    bool taken = true;
    int64_t start = clock_mono_ms();
    /* Never idle for the connection's time-out, yet far too slow. */
    while (taken && clock_mono_ms() - start < 8000) {
        taken = raw_puts(fd, " ");
        usleep(100000);
    }
    ck_assert(!taken);
    close(fd);
    fd = raw_connect(http_fixture.port);
    raw_puts(fd, "GET /healthz HTTP/1.1\r\nHost:");
    ck_assert(raw_closes(fd));
    close(fd);
    http_stop();
}
END_TEST

START_TEST(half_open_clients_keep_nobody_out)
{
    int fds[200];
    http_fixture_start(&http_fixture);
    for (int i = 0; i < 200; i++) {
        fds[i] = raw_connect(http_fixture.port);
        raw_puts(fds[i], "POST /v1/reports HTTP/1.1\r\nHost: x\r\nX-A: ");
    }
    int64_t start = clock_mono_ms();
    ck_assert_int_eq(post_text(http_batch("slow")), 202);
    ck_assert_int_lt(clock_mono_ms() - start, 2000);
    for (int i = 0; i < 200; i++)
        close(fds[i]);
    http_stop();
}
END_TEST

START_TEST(targets_that_are_tricks)
{
    static const struct {
        const char *target;
        int status;
    } cases[] = {
        {"/..%2f..%2fetc/passwd", 404},
        {"/%00", 400},
        {"/healthz%00x", 400},
        {"//", 404},
        {"/?a=%zz&b", 400},
        {"/%e0%80%af%e0%80%af", 400},
        {"/v1/../healthz", 404},
        {"/healthz/", 404},
        {"/healthz?x=1", 200},
        {"http://evil/healthz", 200},
        {"/healthz#a", 400},
        {"/v1/reports/%2e%2e%2f", 404},
    };
    http_fixture_start(&http_fixture);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        ck_assert_msg(http_get(cases[i].target) == cases[i].status, "%s: %d", cases[i].target,
                      http_answer.status);
    char *huge = malloc(200000);
    memset(huge, 'a', 199999);
    huge[199999] = 0;
    int fd = raw_connect(http_fixture.port);
    raw_puts(fd, "GET /");
    raw_puts(fd, huge);
    raw_puts(fd, " HTTP/1.1\r\nHost: x\r\n\r\n");
    raw_answer_done(&http_answer);
    raw_read(fd, false, &http_answer);
    ck_assert(http_answer.status == 0 || http_answer.status == 414 || http_answer.status == 431 ||
              http_answer.status == 400);
    close(fd);
    fd = raw_connect(http_fixture.port);
    raw_puts(fd, "GET /healthz HTTP/1.1\r\nHost: x\r\nX-Large: ");
    raw_puts(fd, huge);
    raw_puts(fd, "\r\n\r\n");
    raw_answer_done(&http_answer);
    raw_read(fd, false, &http_answer);
    ck_assert(http_answer.status == 0 || http_answer.status == 431 || http_answer.status == 400 ||
              http_answer.status == 413);
    close(fd);
    free(huge);
    ck_assert_int_eq(http_get("/healthz"), 200);
    http_stop();
}
END_TEST

START_TEST(parameters_are_checked)
{
    static const char *const bad[] = {
        "/v1/clusters?limit=0",     "/v1/clusters?limit=x",
        "/v1/clusters?sort=size",   "/v1/clusters?versoin=1",
        "/v1/clusters?since=today", "/v1/clusters?cursor=%F0%9F%98%80",
        "/v1/clusters?kind=x",      "/v1/breakdown",
        "/v1/breakdown?by=color",   "/v1/breakdown?by=page,page",
        "/v1/symbols/not-a-uuid",   "/v1/symbols?limit=1001",
    };
    http_fixture_start(&http_fixture);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        ck_assert_msg(http_get(bad[i]) == 400, "%s: %d %s", bad[i], http_answer.status,
                      http_answer.body);
    ck_assert_int_eq(http_get("/v1/clusters?limit=1001"), 400);
    ck_assert_ptr_nonnull(strstr(http_answer.body, "limit:"));
    static const char *const missing[] = {"/v1/clusters/1",
                                          "/v1/clusters/x",
                                          "/v1/clusters/-1",
                                          "/v1/clusters/99999999999999999999",
                                          "/v1/clusters/1/reports",
                                          "/v1/reports/nope",
                                          "/v1/clusters/1/breakdown?by=day",
                                          "/v1/symbols/uploads/7",
                                          "/v1/symbols/4C4C44DC55553144A100C10E3A4B6D1E"};
    for (size_t i = 0; i < sizeof(missing) / sizeof(missing[0]); i++) {
        ck_assert_msg(http_get(missing[i]) == 404, "%s: %d %s", missing[i], http_answer.status,
                      http_answer.body);
        http_expect_problem(404);
    }
    http_stop();
}
END_TEST

/* A proxy may add its X-Forwarded-For as a header of its own, behind what the client made up. */
START_TEST(made_up_addresses_do_not_hide_who_guesses)
{
    char headers[128];
    int status = 0;
    http_fixture_prepare(&http_fixture, NULL);
    http_fixture.options.trusted_proxies = "127.0.0.1";
    http_fixture_open(&http_fixture);
    for (int i = 0; i < 2 * AUTH_FAILURES_BURST && status != 429; i++) {
        snprintf(headers, sizeof(headers),
                 "X-Forwarded-For: 198.51.100.%d\r\nX-Forwarded-For: 203.0.113.7\r\n", i);
        raw_answer_done(&http_answer);
        http_fixture_ask(&http_fixture, "GET", "/v1/stats", "a-wrong-token", headers, NULL, 0,
                         &http_answer);
        status = http_answer.status;
    }
    ck_assert_int_eq(status, 429);
    /* Nobody else is kept out. */
    raw_answer_done(&http_answer);
    http_fixture_ask(&http_fixture, "GET", "/v1/stats", READ_TOKEN,
                     "X-Forwarded-For: 203.0.113.8\r\n", NULL, 0, &http_answer);
    ck_assert_int_eq(http_answer.status, 200);
    http_stop();
}
END_TEST

START_TEST(load_is_refused_before_the_body)
{
    http_fixture_prepare(&http_fixture, NULL);
    http_fixture.options.buffered_bytes = 1000;
    http_fixture_open(&http_fixture);
    int fd = raw_connect(http_fixture.port);
    raw_puts(fd, HEAD "Expect: 100-continue\r\nContent-Length: 2000\r\n\r\n");
    raw_answer_done(&http_answer);
    raw_read(fd, false, &http_answer);
    http_expect_problem(503);
    ck_assert_ptr_nonnull(http_header("Retry-After"));
    ck_assert(raw_closes(fd));
    close(fd);
    ck_assert_int_eq(post_text(http_batch("small")), 202);
    http_stop();
}
END_TEST

START_TEST(answers_are_compressed_and_cached)
{
    http_fixture_prepare(&http_fixture, NULL);
    http_fixture.options.cors_origins = "https://board.example https://b2.example";
    http_fixture_open(&http_fixture);
    raw_answer_done(&http_answer);
    http_fixture_ask(&http_fixture, "GET", "/openapi.json", NULL, "Accept-Encoding: gzip\r\n", NULL,
                     0, &http_answer);
    ck_assert_int_eq(http_answer.status, 200);
    ck_assert_str_eq(http_header("Content-Encoding"), "gzip");
    ck_assert_int_eq((unsigned char)http_answer.body[0], 0x1f);
    char header[600];
    snprintf(header, sizeof(header), "If-None-Match: %s\r\n", http_header("ETag"));
    size_t packed = http_answer.len;
    raw_answer_done(&http_answer);
    http_fixture_ask(&http_fixture, "GET", "/openapi.json", NULL, header, NULL, 0, &http_answer);
    ck_assert_int_eq(http_answer.status, 304);
    ck_assert_uint_eq(http_answer.len, 0);
    ck_assert_int_eq(http_ask("GET", "/openapi.json", NULL), 200);
    ck_assert_uint_gt(http_answer.len, packed);
    ck_assert_ptr_null(http_header("Content-Encoding"));

    raw_answer_done(&http_answer);
    http_fixture_ask(&http_fixture, "OPTIONS", "/v1/clusters", NULL,
                     "Origin: https://b2.example\r\nAccess-Control-Request-Method: GET\r\n", NULL,
                     0, &http_answer);
    ck_assert_int_eq(http_answer.status, 204);
    ck_assert_str_eq(http_header("Access-Control-Allow-Origin"), "https://b2.example");
    ck_assert_ptr_nonnull(http_header("Access-Control-Allow-Methods"));
    raw_answer_done(&http_answer);
    http_fixture_ask(&http_fixture, "GET", "/healthz", NULL, "Origin: https://evil.example\r\n",
                     NULL, 0, &http_answer);
    ck_assert_ptr_null(http_header("Access-Control-Allow-Origin"));
    http_stop();
}
END_TEST

START_TEST(a_stop_answers_those_who_wait)
{
    char *zip = fake_zip(1000, 'z');
    http_fixture_prepare(&http_fixture, "sleep 60");
    http_fixture_open(&http_fixture);
    int waiting[20], idle = raw_connect(http_fixture.port), half = raw_connect(http_fixture.port);
    for (int i = 0; i < 20; i++) {
        waiting[i] = raw_connect(http_fixture.port);
        zip[10] = (char)i;
        raw_puts(
            waiting[i],
            "POST /v1/symbols?wait=1 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " SYMBOLS_TOKEN
            "\r\nContent-Length: 1000\r\n\r\n");
        raw_send(waiting[i], zip, 1000);
    }
    raw_puts(half, HEAD "Content-Length: 1000\r\n\r\n{");
    usleep(500000);
    /* The door alone is stopped: the indexer's waiters come late, after the connections are gone. */
    int64_t start = clock_mono_ms();
    struct http_server *server = http_fixture.server;
    http_server_stop(server, 200);
    ck_assert_int_lt(clock_mono_ms() - start, 4000);
    for (int i = 0; i < 20; i++) {
        raw_answer_done(&http_answer);
        raw_read(waiting[i], false, &http_answer);
        http_expect_problem(503);
        close(waiting[i]);
    }
    ck_assert(raw_closes(idle));
    ck_assert(raw_closes(half));
    close(idle);
    close(half);
    free(zip);
    raw_answer_done(&http_answer);
    http_fixture.server = NULL;
    http_fixture_stop(&http_fixture);
}
END_TEST

START_TEST(a_stop_under_load_loses_nothing_answered)
{
    enum { CONNECTIONS = 40 };
    int fds[CONNECTIONS], answered = 0;
    http_fixture_start(&http_fixture);
    for (int i = 0; i < CONNECTIONS; i++)
        fds[i] = raw_connect(http_fixture.port);
    for (int round = 0; round < 5; round++) {
        for (int i = 0; i < CONNECTIONS; i++) {
            char id[32];
            snprintf(id, sizeof(id), "load-%d-%d", round, i);
            raw_printf(fds[i], HEAD "Content-Length: %zu\r\n\r\n%s", strlen(http_batch(id)),
                       http_batch(id));
        }
    }
    http_server_stop(http_fixture.server, 3000);
    http_fixture.server = NULL;
    for (int i = 0; i < CONNECTIONS; i++) {
        for (;;) {
            raw_answer_done(&http_answer);
            raw_read(fds[i], false, &http_answer);
            if (http_answer.status <= 0)
                break;
            ck_assert(http_answer.status == 202 || http_answer.status == 503);
            answered += http_answer.status == 202;
        }
        close(fds[i]);
    }
    /* Every 202 is in the database. */
    http_fixture_open(&http_fixture);
    ck_assert_int_ge(http_stored(), answered);
    http_stop();
}
END_TEST

START_TEST(many_clients_at_once)
{
    enum { CONNECTIONS = 100, ROUNDS = 10 };
    int fds[CONNECTIONS];
    http_fixture_start(&http_fixture);
    for (int i = 0; i < CONNECTIONS; i++)
        fds[i] = raw_connect(http_fixture.port);
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < CONNECTIONS; i++) {
            char id[32];
            snprintf(id, sizeof(id), "many-%d-%d", round, i);
            if (i % 3 == 2)
                raw_puts(fds[i],
                         "GET /v1/clusters HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " READ_TOKEN
                         "\r\n\r\n");
            else
                raw_printf(fds[i], HEAD "Content-Length: %zu\r\n\r\n%s", strlen(http_batch(id)),
                           http_batch(id));
        }
        for (int i = 0; i < CONNECTIONS; i++) {
            raw_answer_done(&http_answer);
            raw_read(fds[i], false, &http_answer);
            ck_assert_int_eq(http_answer.status, i % 3 == 2 ? 200 : 202);
        }
    }
    for (int i = 0; i < CONNECTIONS; i++)
        close(fds[i]);
    ck_assert_int_eq(http_stored(), ROUNDS * 67);
    http_stop();
}
END_TEST

START_TEST(bad_options_are_said)
{
    struct http_server *server = NULL;
    struct error err;
    http_fixture_prepare(&http_fixture, NULL);
    http_fixture.options.trusted_proxies = "x";
    ck_assert_int_eq(listen_socket_bind("127.0.0.1", 0, &http_fixture.options.listen_fd, &err),
                     ERR_OK);
    ck_assert_int_eq(
        http_server_start(&http_fixture.options, &http_fixture.services, &server, &err),
        ERR_INVALID);
    ck_assert_int_eq(fcntl(http_fixture.options.listen_fd, F_GETFD), -1);
    http_fixture.options.trusted_proxies = "";
    http_fixture_open(&http_fixture);
    ck_assert_ptr_null(server);
    http_stop();
}
END_TEST

UNIT_MAIN("http_server", open_routes_and_wrong_ones, request_ids, tokens_and_scopes,
          lengths_that_lie, chunked_bodies_have_the_same_cap,
          refused_bodies_do_not_end_the_connection, pipelined_requests, clients_that_break_off,
          slow_bodies_are_cut_off, half_open_clients_keep_nobody_out, targets_that_are_tricks,
          parameters_are_checked, made_up_addresses_do_not_hide_who_guesses,
          load_is_refused_before_the_body, answers_are_compressed_and_cached,
          a_stop_answers_those_who_wait, a_stop_under_load_loses_nothing_answered,
          many_clients_at_once, bad_options_are_said)
