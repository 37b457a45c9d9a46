/* Covers: server/http/api_tokens.c */
#include "server/http/api.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "server/http/inflate.h"
#include "tests/support/http_fixture.h"
#include "tests/support/temp_dir.h"
#include "tests/support/unit.h"

static int token_request(const char *method, const char *target, const char *body)
{
    raw_answer_done(&http_answer);
    http_fixture_ask(&http_fixture, method, target, ADMIN_TOKEN, HTTP_JSON, body, strlen(body),
                     &http_answer);
    return http_answer.status;
}

START_TEST(tokens_are_made_and_revoked)
{
    char target[64], text[128];
    http_fixture_start(&http_fixture);
    ck_assert_int_eq(token_request("POST", "/v1/admin/tokens",
                                   "{\"name\":\"ci\",\"scopes\":[\"read\",\"symbols\"]}"),
                     201);
    json_t *o = http_json();
    snprintf(text, sizeof(text), "%s", json_string_value(json_object_get(o, "token")));
    snprintf(target, sizeof(target), "/v1/admin/tokens/%lld",
             (long long)json_integer_value(json_object_get(o, "id")));
    json_decref(o);
    ck_assert_str_eq(http_header("Location"), target);
    ck_assert_int_eq(http_ask("GET", "/v1/clusters", text), 200);
    ck_assert_int_eq(http_ask("GET", "/v1/symbols", text), 200);
    ck_assert_int_eq(http_ask("GET", "/v1/admin/tokens", text), 403);
    ck_assert_int_eq(http_get("/v1/admin/tokens"), 200);
    ck_assert_ptr_nonnull(strstr(http_answer.body, "\"name\":\"ci\""));
    ck_assert_ptr_null(strstr(http_answer.body, text));
    ck_assert_int_eq(http_ask("DELETE", target, ADMIN_TOKEN), 204);
    ck_assert_int_eq(http_ask("GET", "/v1/clusters", text), 401);
    ck_assert_int_eq(http_ask("DELETE", target, ADMIN_TOKEN), 404);
    ck_assert_int_eq(http_ask("DELETE", "/v1/admin/tokens/1", ADMIN_TOKEN), 409);
    http_expect_problem(409);
    static const char *const bad[] = {"[]",
                                      "{}",
                                      "{\"scopes\":[]}",
                                      "{\"scopes\":[\"root\"]}",
                                      "{\"scopes\":\"read\"}",
                                      "{\"scopes\":[\"read\"],\"bundle_id\":\"\"}",
                                      "{\"scopes\":[\"read\"],\"name\":7}",
                                      "{\"scopes\":[\"read\"],\"bundle\":\"com.example.shop\"}"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        ck_assert_msg(token_request("POST", "/v1/admin/tokens", bad[i]) == 422, "%s: %d", bad[i],
                      http_answer.status);
    ck_assert_ptr_nonnull(strstr(
        http_answer.body, "\"errors\":[{\"path\":\"bundle\",\"reason\":\"not known here\"}]"));
    ck_assert_int_eq(token_request("POST", "/v1/admin/tokens", "{\n\n7}"), 400);
    ck_assert_ptr_nonnull(strstr(http_answer.body, "\"errors\":[{\"line\":3,"));
    http_stop();
}
END_TEST

UNIT_MAIN("api_tokens", tokens_are_made_and_revoked)
