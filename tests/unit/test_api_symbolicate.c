/* Covers: server/http/api_symbolicate.c */
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
    static const char *const bad[] = {"{}", "[]", "{\"stacks\":7}", "{\"stacks\":[[\"x\"]]}",
                                      "{\"images\":[{}],\"stacks\":[]}"};
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

UNIT_MAIN("api_symbolicate", symbolicate_without_symbols, long_stacks_are_refused)
