#include "server/http/problem.h"

#include <jansson.h>
#include <string.h>

#include "tests/support/unit.h"

START_TEST(is_a_whole_problem)
{
    struct buf out;
    buf_init(&out, 4096);
    problem_print(&out, 404, "no \"such\" thing", NULL);
    json_t *o = json_loadb(out.data, out.len, 0, NULL);
    ck_assert_ptr_nonnull(o);
    ck_assert_str_eq(json_string_value(json_object_get(o, "type")), "about:blank");
    ck_assert_str_eq(json_string_value(json_object_get(o, "title")), "Not Found");
    ck_assert_int_eq(json_integer_value(json_object_get(o, "status")), 404);
    ck_assert_str_eq(json_string_value(json_object_get(o, "detail")), "no \"such\" thing");
    ck_assert_uint_eq(json_object_size(o), 4);
    json_decref(o);
    buf_done(&out);
}
END_TEST

START_TEST(says_where_a_body_is_at_fault)
{
    static const struct {
        struct problem_place place;
        const char *errors;
    } cases[] = {
        {{.path = "scopes[1]", .reason = "no"}, "[{\"path\":\"scopes[1]\",\"reason\":\"no\"}]"},
        {{.path = "", .reason = "no"}, "[{\"path\":\"\",\"reason\":\"no\"}]"},
        {{.line = 3, .reason = "no"}, "[{\"line\":3,\"reason\":\"no\"}]"},
        {{.line = 0, .reason = "no"}, NULL},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct buf out;
        buf_init(&out, 4096);
        problem_print(&out, 422, "why", &cases[i].place);
        const char *errors = strstr(out.data, "\"errors\":");
        if (cases[i].errors) {
            ck_assert_ptr_nonnull(errors);
            errors += strlen("\"errors\":");
            ck_assert_int_eq(strncmp(errors, cases[i].errors, strlen(cases[i].errors)), 0);
            ck_assert_str_eq(errors + strlen(cases[i].errors), "}");
        } else {
            ck_assert_ptr_null(errors);
        }
        buf_done(&out);
    }
}
END_TEST

START_TEST(every_error_has_a_status_with_a_title)
{
    for (int code = ERR_NOT_FOUND; code <= ERR_INTERNAL; code++) {
        struct error err;
        const char *detail = NULL;
        bool log = false;
        error_set(&err, (enum err)code, "select * from t in /var/lib/x.db");
        int status = problem_from_error(&err, &detail, &log);
        ck_assert_int_ge(status, 400);
        ck_assert_str_ne(problem_title(status), "");
        /* What the disk or the database says stays here. */
        if (code == ERR_IO || code == ERR_INTERNAL || code == ERR_NO_MEMORY) {
            ck_assert(log);
            ck_assert_ptr_null(strstr(detail, "select"));
            ck_assert_int_ge(status, 500);
        }
    }
    ck_assert_str_eq(problem_title(299), "");
}
END_TEST

START_TEST(statuses_of_the_contract)
{
    static const struct {
        enum err code;
        int status;
    } cases[] = {{ERR_NOT_FOUND, 404}, {ERR_INVALID, 400},  {ERR_FORMAT, 400},
                 {ERR_LIMIT, 413},     {ERR_CONFLICT, 409}, {ERR_UNSUPPORTED, 415},
                 {ERR_DENIED, 403},    {ERR_BUSY, 503},     {ERR_INTERNAL, 500}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct error err;
        const char *detail;
        bool log;
        error_set(&err, cases[i].code, "x");
        ck_assert_int_eq(problem_from_error(&err, &detail, &log), cases[i].status);
    }
}
END_TEST

UNIT_MAIN("problem", is_a_whole_problem, says_where_a_body_is_at_fault,
          every_error_has_a_status_with_a_title, statuses_of_the_contract)
