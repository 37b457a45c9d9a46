/* Covers: server/http/api_symbolicate.c server/http/symbolicate_text.c */
#include "server/http/api.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "server/http/inflate.h"
#include "tests/support/http_fixture.h"
#include "tests/support/temp_dir.h"
#include "tests/support/unit.h"

START_TEST(symbolicate_without_symbols)
{
    static const char body[] =
        "{\"images\":[{\"uuid\":\"4c4c44dc55553144a100c10e3a4b6d1e\",\"name\":\"Feed\","
        "\"load_address\":\"0x102f3c000\",\"size\":32768}],\"stacks\":[[\"0x102f4001c\",\"0x5\"],"
        "\"0x102f40038\"]}";
    http_fixture_start(&http_fixture);
    raw_answer_done(&http_answer);
    http_fixture_ask(&http_fixture, "POST", "/v1/symbolicate", READ_TOKEN, HTTP_JSON, body,
                     sizeof(body) - 1, &http_answer);
    ck_assert_int_eq(http_answer.status, 200);
    ck_assert_str_eq(http_answer.body,
                     "{\"stacks\":[[{\"address\":\"0x102f4001c\",\"image\":\"Feed\",\"uuid\":"
                     "\"4C4C44DC-5555-3144-A100-C10E3A4B6D1E\",\"offset\":\"0x401c\",\"status\":"
                     "\"no_symbols\",\"approximate\":false,\"frames\":[]},{\"address\":\"0x5\","
                     "\"image\":null,\"uuid\":null,\"offset\":null,\"status\":\"no_image\","
                     "\"approximate\":false,\"frames\":[]}],[{\"address\":\"0x102f40038\","
                     "\"image\":\"Feed\",\"uuid\":\"4C4C44DC-5555-3144-A100-C10E3A4B6D1E\","
                     "\"offset\":\"0x4038\",\"status\":\"no_symbols\",\"approximate\":false,"
                     "\"frames\":[]}]]}");
    static const char *const bad[] = {"{}",
                                      "[]",
                                      "{\"stacks\":7}",
                                      "{\"stacks\":[[\"x\"]]}",
                                      "{\"images\":[{}],\"stacks\":[]}",
                                      "{\"images\":[{\"name\":\"a\",\"slide\":1},{\"name\":\"b\","
                                      "\"slide\":1,\"uuid\":\"4C4C\"}],\"stacks\":[]}"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        raw_answer_done(&http_answer);
        http_fixture_ask(&http_fixture, "POST", "/v1/symbolicate", READ_TOKEN, HTTP_JSON, bad[i],
                         strlen(bad[i]), &http_answer);
        ck_assert_msg(http_answer.status == 422, "%s: %d %s", bad[i], http_answer.status,
                      http_answer.body);
    }
    raw_answer_done(&http_answer);
    http_fixture_ask(&http_fixture, "POST", "/v1/symbolicate", READ_TOKEN, HTTP_JSON,
                     "{\"stacks\":[]}", 13, &http_answer);
    ck_assert_str_eq(http_answer.body, "{\"stacks\":[]}");
    /* A misspelt name is no riddle of frames without an image. */
    http_post_json("/v1/symbolicate", READ_TOKEN,
                   "{\"stacks\":[],\"imgs\":[],\"images\":[{\"slide\":1,\"lib\":\"a\"}]}");
    ck_assert_str_eq(http_answer.body,
                     "{\"stacks\":[],\"ignored_fields\":[{\"path\":\"imgs\",\"count\":1},"
                     "{\"path\":\"images[].lib\",\"count\":1}]}");
    http_stop();
}
END_TEST

/* A stack that is too long is refused by name: it was a crash once. */
START_TEST(long_stacks_are_refused)
{
    static char body[8192];
    http_fixture_start(&http_fixture);
    for (size_t frames = 512; frames <= 513; frames++) {
        size_t n = (size_t)snprintf(body, sizeof(body), "{\"stacks\":[[1],\"");
        for (size_t i = 0; i < frames; i++)
            n += (size_t)snprintf(body + n, sizeof(body) - n, "0x1 ");
        n += (size_t)snprintf(body + n, sizeof(body) - n, "\"]}");
        raw_answer_done(&http_answer);
        http_fixture_ask(&http_fixture, "POST", "/v1/symbolicate", READ_TOKEN, HTTP_JSON, body, n,
                         &http_answer);
        ck_assert_int_eq(http_answer.status, frames == 512 ? 200 : 422);
    }
    ck_assert_msg(strstr(http_answer.body, "stacks[1]: too many frames"), "%s", http_answer.body);
    http_stop();
}
END_TEST

/* --- slide groups ----------------------------------------------------------------------------- */

#define MEMBERS  900
#define SLIDE    0x4000000u
#define VMADDR   0x180000000u
#define SIZE_ONE 0x10000u

static struct uuid member_id(uint32_t n)
{
    struct uuid u = {{0xca, 0xce}};
    memcpy(u.bytes + 8, &n, sizeof(n));
    return u;
}

static void put_images(struct buf *b, uint32_t count)
{
    char text[UUID_TEXT_SIZE];
    buf_puts(b, "\"images\":[");
    for (uint32_t i = 0; i < count; i++) {
        struct uuid u = member_id(i);
        buf_printf(b, "%s{\"uuid\":\"%s\",\"name\":\"m%u\",\"slide\":%u,", i ? "," : "",
                   uuid_format(&u, text), i, SLIDE);
        buf_printf(b, "\"path\":\"/System/Library/m%u\"}", i);
    }
    buf_puts(b, "]");
}

/* Where each member lies, as symbol files would tell it. */
static void index_members(void)
{
    struct error err;
    struct write_op *op = write_op_new(WRITE_UPLOAD, 65536);
    op->u.upload.spool_file = op->u.upload.bundle_id = op->u.upload.version = op->u.upload.build =
        op->u.upload.os_build = "";
    ck_assert_int_eq(writer_call(http_fixture.services.writer, op, &err), ERR_OK);
    uint64_t id = op->u.upload.id;
    write_op_free(op);
    op = write_op_new(WRITE_UPLOAD_STATE, 1 << 20);
    struct op_slice *slices = arena_array(op->arena, MEMBERS, sizeof(*slices));
    for (uint32_t i = 0; i < MEMBERS; i++)
        slices[i] = (struct op_slice){.shelf = member_id(i),
                                      .name = "",
                                      .member = "",
                                      .arch = "",
                                      .indexed = true,
                                      .installed = true,
                                      .text_vmaddr = VMADDR + (uint64_t)i * SIZE_ONE,
                                      .text_size = SIZE_ONE};
    op->u.upload_state = (struct op_upload_state){
        .id = id, .state = UPLOAD_INDEXED, .slices = slices, .slice_count = MEMBERS};
    ck_assert_msg(writer_call(http_fixture.services.writer, op, &err) == ERR_OK, "%s", err.text);
    write_op_free(op);
}

/* Addresses of the shared cache are placed in its members, the last of many as well as the first. */
START_TEST(shared_cache_addresses_are_placed)
{
    struct buf body;
    http_fixture_start(&http_fixture);
    buf_init(&body, 1 << 20);
    buf_puts(&body, "{\"app\":{\"bundle_id\":\"com.a\"},\"device\":{\"os_build\":\"20G75\","
                    "\"arch\":\"arm64\"},");
    put_images(&body, MEMBERS);
    buf_printf(&body, ",\"reports\":[{\"stack\":[%zu]}]}", (size_t)VMADDR + SLIDE + 4);
    ck_assert_msg(http_post("/v1/reports", INGEST_TOKEN, HTTP_JSON, body.data, body.len) == 202,
                  "%s", http_answer.body);
    index_members();
    buf_clear(&body);
    buf_puts(&body, "{\"os_build\":\"20G75\",\"arch\":\"arm64\",");
    put_images(&body, 2);
    buf_puts(&body, ",\"stacks\":[");
    for (uint32_t i = 0; i < 5000; i++)
        buf_printf(&body, "%s%zu%s",
                   i % 500 ? ","
                   : i     ? ",["
                           : "[",
                   (size_t)VMADDR + SLIDE + i % MEMBERS * SIZE_ONE + 4, i % 500 == 499 ? "]" : "");
    buf_puts(&body, "]}");
    ck_assert_msg(http_post("/v1/symbolicate", READ_TOKEN, HTTP_JSON, body.data, body.len) == 200,
                  "%s", http_answer.body);
    ck_assert_ptr_null(strstr(http_answer.body, "\"uuid\":null"));
    ck_assert_ptr_nonnull(strstr(http_answer.body, "\"offset\":\"0x4\""));
    buf_done(&body);
    http_stop();
}
END_TEST

/* --- texts ------------------------------------------------------------------------------------ */

#define PLAIN "Content-Type: text/plain; charset=utf-8\r\n"
#define IPS   "Content-Type: application/x-ips\r\n"

static int post_text(const char *query, const char *type, const char *body)
{
    char target[64];
    snprintf(target, sizeof(target), "/v1/symbolicate%s", query);
    return http_post(target, READ_TOKEN, type, body, strlen(body));
}

/* What symbols make of texts is for test_fill_text and the end-to-end test. */
START_TEST(texts_come_back)
{
    static const char crash[] = "Process: Shop [1]\r\n0  Shop  0x102f4001c 0x102f3c000 + 16412\r\n";
    static const char ips[] =
        "{\"bug_type\":\"309\"}\n{\"threads\":[{\"frames\":[{\"imageOffset\":7,"
        "\"imageIndex\":0}]}],\"usedImages\":[]}";
    http_fixture_start(&http_fixture);
    ck_assert_int_eq(post_text("", PLAIN, crash), 200);
    ck_assert_str_eq(http_answer.body, crash);
    ck_assert_str_eq(http_header("Content-Type"), "text/plain; charset=utf-8");
    ck_assert_int_eq(post_text("?callers=return", PLAIN, crash), 200);
    const char *const types[] = {PLAIN, IPS, HTTP_JSON};
    for (size_t i = 0; i < 3; i++) {
        ck_assert_int_eq(post_text("", types[i], ips), 200);
        ck_assert_ptr_nonnull(strstr(http_answer.body, "0x7 0x0 + 7\n"));
        ck_assert_str_eq(http_header("Content-Type"), "text/plain; charset=utf-8");
    }
    http_stop();
}
END_TEST

START_TEST(texts_that_are_refused)
{
    http_fixture_start(&http_fixture);
    static const struct {
        const char *query, *type, *body;
        int status;
    } rows[] = {
        {"", PLAIN, "Dear all,\n", 422},
        {"", PLAIN, "", 422},
        {"", IPS, "{\"bug_type\":\"309\"}\n{\"threads\":7}", 422},
        {"", IPS, "{\"bug_type\":\"309\"}\n{\"threads\":[", 400},
        {"?callers=some", PLAIN, "0 a 0x1 b", 400},
        {"?caller=exact", PLAIN, "0 a 0x1 b", 400},
        {"", "Content-Type: text/plain; charset=utf-16\r\n", "0 a 0x1 b", 415},
        {"", "Content-Type: text/html\r\n", "0 a 0x1 b", 415},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        (void)post_text(rows[i].query, rows[i].type, rows[i].body);
        http_expect_problem(rows[i].status);
    }
    http_stop();
}
END_TEST

UNIT_MAIN("api_symbolicate", symbolicate_without_symbols, long_stacks_are_refused,
          shared_cache_addresses_are_placed, texts_come_back, texts_that_are_refused)
