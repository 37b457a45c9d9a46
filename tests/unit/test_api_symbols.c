/* Covers: server/http/api_symbols.c */
#include "server/http/api.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "server/http/inflate.h"
#include "tests/support/http_fixture.h"
#include "tests/support/temp_dir.h"
#include "tests/support/unit.h"

START_TEST(check_tells_what_is_missing)
{
    static const char body[] = "{\"uuids\":[\"4c4c44dc55553144a100c10e3a4b6d1e\"]}";
    http_fixture_start(&http_fixture);
    http_post_json("/v1/symbols/check", SYMBOLS_TOKEN, body);
    ck_assert_int_eq(http_answer.status, 200);
    ck_assert_str_eq(http_answer.body,
                     "{\"present\":[],\"missing\":[\"4C4C44DC-5555-3144-A100-C10E3A4B6D1E\"]}");
    static const char *const bad[] = {"{}", "[]", "{\"uuids\":{}}", "{\"uuids\":[7]}",
                                      "{\"uuids\":[\"x\"]}"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        raw_answer_done(&http_answer);
        http_fixture_ask(&http_fixture, "POST", "/v1/symbols/check", SYMBOLS_TOKEN, HTTP_JSON,
                         bad[i], strlen(bad[i]), &http_answer);
        http_expect_problem(422);
    }
    ck_assert_ptr_nonnull(
        strstr(http_answer.body, "\"errors\":[{\"path\":\"uuids[0]\",\"reason\":\"not a UUID\"}]"));
    ck_assert_int_eq(http_post_json("/v1/symbols/check", SYMBOLS_TOKEN, "{"), 400);
    ck_assert_int_eq(http_post_json("/v1/symbols/check", INGEST_TOKEN, body), 403);
    ck_assert_ptr_nonnull(strstr(http_answer.body, "scope symbols is needed"));
    http_stop();
}
END_TEST

START_TEST(symbol_files_that_are_not_there_cannot_be_deleted)
{
    http_fixture_start(&http_fixture);
    ck_assert_int_eq(
        http_ask("DELETE", "/v1/symbols/4C4C44DC55553144A100C10E3A4B6D1E", ADMIN_TOKEN), 404);
    ck_assert_int_eq(
        http_ask("DELETE", "/v1/symbols/4C4C44DC55553144A100C10E3A4B6D1E", SYMBOLS_TOKEN), 403);
    ck_assert_int_eq(http_ask("DELETE", "/v1/symbols/x", ADMIN_TOKEN), 400);
    http_stop();
}
END_TEST

UNIT_MAIN("api_symbols", check_tells_what_is_missing,
          symbol_files_that_are_not_there_cannot_be_deleted)
