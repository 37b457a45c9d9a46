/* Covers: server/ingest/usage.c server/ingest/format_body.c server/ingest/format_place.c
 * Covers: storage/op_usage.c */
#include "server/ingest/usage.h"

#include <string.h>

#include "base/clock.h"
#include "tests/support/unit.h"

#define NOW   ((int64_t)1795300000000)
#define TODAY 20778 /* 2026-11-21 */
#define APP   "\"app\":{\"bundle_id\":\"com.a\",\"version\":\"2\",\"build\":\"20\"}"

static struct ingest_result result;
static struct error err;

static enum err take_as(const char *body, enum ingest_media media, const char *bound)
{
    struct ingest_limits limits = INGEST_LIMITS_DEFAULT;
    limits.reports = 5;
    struct ingest_request request = {.body = body,
                                     .len = strlen(body),
                                     .media = media,
                                     .bundle_id = bound,
                                     .now_ms = NOW,
                                     .limits = &limits};
    memset(&result, 0, sizeof(result));
    return ingest_usage(&request, &result, &err);
}

static const struct op_usage_item *take(const char *body)
{
    ck_assert_msg(take_as(body, INGEST_JSON, NULL) == ERR_OK, "%s", err.text);
    return result.op ? result.op->u.usage.items : NULL;
}

START_TEST(a_batch)
{
    const struct op_usage_item *u =
        take("{" APP ",\"device\":{\"model\":\"D\",\"os_version\":\"17.1\"},\"sample_rate\":0.5,"
             "\"items\":[{\"day\":\"2026-11-20\",\"page\":\"Home\",\"foreground_ms\":1000,"
             "\"launches\":2},{\"foreground_ms\":5,\"sample_rate\":0.1,\"device\":\"E\"},"
             "{\"launches\":1,\"sample_rate\":0.00001}]}");
    ck_assert_uint_eq(result.op->u.usage.count, 3);
    ck_assert_uint_eq(result.dropped_count, 1);
    ck_assert_uint_eq(result.dropped[0].index, 2);
    ck_assert_str_eq(result.dropped[0].path, "sample_rate");
    ck_assert_int_eq(clock_day(NOW), TODAY);
    ck_assert_int_eq(u[0].day, TODAY - 1);
    ck_assert_str_eq(u[0].bundle_id, "com.a");
    ck_assert_str_eq(u[0].version, "2");
    ck_assert_str_eq(u[0].build, "20");
    ck_assert_str_eq(u[0].device, "D");
    ck_assert_str_eq(u[0].os_version, "17.1");
    ck_assert_str_eq(u[0].page, "Home");
    ck_assert_int_eq(usage_foreground(&u[0]), 2000);
    ck_assert_int_eq(usage_launches(&u[0]), 4000000);
    ck_assert_int_eq(u[1].day, TODAY);
    ck_assert_str_eq(u[1].device, "E");
    ck_assert_str_eq(u[1].page, "");
    ck_assert_int_eq(usage_foreground(&u[1]), 50);
    ck_assert_int_eq(usage_launches(&u[1]), 0);
    ingest_result_done(&result);
}
END_TEST

START_TEST(flat_items_and_lines)
{
    ck_assert_int_eq(take_as("{\"bundle_id\":\"com.a\",\"launches\":1}\n\nno json\n"
                             "{" APP ",\"items\":[{\"foreground_ms\":7}]}\n{}\n",
                             INGEST_NDJSON, NULL),
                     ERR_OK);
    ck_assert_uint_eq(result.op->u.usage.count, 2);
    ck_assert_uint_eq(result.rejected_count, 2);
    ck_assert_uint_eq(result.rejected[0].index, 1);
    ck_assert_uint_eq(result.rejected[0].line, 3);
    ck_assert_uint_eq(result.rejected[1].index, 3);
    ck_assert_uint_eq(result.rejected[1].line, 5);
    ingest_result_done(&result);
}
END_TEST

START_TEST(bad_items_are_refused_alone)
{
    static const struct {
        const char *item, *path, *reason;
    } cases[] = {
        {"{}", "items[1].foreground_ms", "neither foreground_ms nor launches"},
        {"{\"foreground_ms\":-1}", "items[1].foreground_ms", NULL},
        {"{\"foreground_ms\":100000000001}", "items[1].foreground_ms", NULL},
        {"{\"launches\":\"many\"}", "items[1].launches", NULL},
        {"{\"launches\":1,\"day\":\"yesterday\"}", "items[1].day", "not a day like 2026-11-29"},
        {"{\"launches\":1,\"day\":1795300000}", "items[1].day", "not a day like 2026-11-29"},
        {"{\"launches\":1,\"sample_rate\":0}", "items[1].sample_rate", NULL},
        {"{\"launches\":1,\"bundle_id\":\"com.b\"}", "items[1].bundle_id",
         "the token is bound to another app"},
        {"7", "items[1]", "not an object"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char body[400];
        snprintf(body, sizeof(body), "{%s,\"items\":[{\"launches\":1},%s,{\"launches\":3}]}", APP,
                 cases[i].item);
        ck_assert_int_eq(take_as(body, INGEST_JSON, "com.a"), ERR_OK);
        ck_assert_uint_eq(result.op->u.usage.count, 2);
        ck_assert_uint_eq(result.rejected_count, 1);
        ck_assert_uint_eq(result.rejected[0].index, 1);
        ck_assert_str_eq(result.rejected[0].path, cases[i].path);
        if (cases[i].reason)
            ck_assert_str_eq(result.rejected[0].reason, cases[i].reason);
        ingest_result_done(&result);
    }
    ck_assert_ptr_null(take("{\"items\":[{\"launches\":1}]}")); /* of no app */
    ck_assert_str_eq(result.rejected[0].path, "items[0].bundle_id");
    ingest_result_done(&result);
}
END_TEST

START_TEST(bodies_that_are_none)
{
    ck_assert_int_eq(take_as("{", INGEST_JSON, NULL), ERR_FORMAT);
    ck_assert_int_eq(take_as("{\"items\":{}}", INGEST_JSON, NULL), ERR_INVALID);
    ck_assert_int_eq(take_as("{\"items\":[]}", INGEST_JSON, NULL), ERR_INVALID);
    ck_assert_int_eq(take_as("{\"reports\":[]}", INGEST_JSON, NULL), ERR_INVALID);
    ck_assert_int_eq(take_as("[]", INGEST_JSON, NULL), ERR_INVALID);
    ck_assert_int_eq(take_as("{\"items\":[1,1,1,1,1,1]}", INGEST_JSON, NULL), ERR_LIMIT);
}
END_TEST

START_TEST(days_far_away_and_persons_are_left_out)
{
    const struct op_usage_item *u =
        take("{" APP ",\"items\":[{\"launches\":1,\"day\":\"2026-10-22\"},"
             "{\"launches\":1,\"day\":\"2026-10-21\",\"page\":\"anna@example.org\"},"
             "{\"launches\":1,\"day\":\"2026-11-22\"},{\"launches\":1,\"day\":\"2026-11-23\"}]}");
    ck_assert_int_eq(u[0].day, TODAY - 30);
    ck_assert_int_eq(u[1].day, TODAY);
    ck_assert_str_eq(u[1].page, "(removed)");
    ck_assert_int_eq(u[2].day, TODAY + 1);
    ck_assert_int_eq(u[3].day, TODAY);
    ck_assert_uint_eq(result.dropped_count, 3);
    ck_assert_uint_eq(result.dropped[0].index, 1);
    ck_assert_str_eq(result.dropped[0].path, "day");
    ck_assert_str_eq(result.dropped[0].reason,
                     "not from 30 days ago to tomorrow; today stands in its place");
    ck_assert_str_eq(result.dropped[1].path, "page");
    ck_assert_uint_eq(result.dropped[2].index, 3);
    ingest_result_done(&result);
}
END_TEST

/* The id hash of the item at `i` of a body. */
static void id_of(const char *body, size_t i, uint8_t out[16])
{
    memcpy(out, take(body)[i].id_hash, 16);
    ingest_result_done(&result);
}

START_TEST(what_a_retry_is)
{
    static const char one[] = "{" APP ",\"items\":[{\"launches\":1},{\"launches\":1}]}";
    static const char other_device[] =
        "{" APP ",\"device\":\"E\",\"items\":[{\"launches\":1},{\"launches\":1}]}";
    static const char named[] = "{" APP ",\"id\":\"x\",\"items\":[{\"launches\":1}]}";
    static const char renamed[] = "{" APP ",\"id\":\"y\",\"items\":[{\"launches\":1}]}";
    static const char changed[] = "{" APP ",\"id\":\"x\",\"items\":[{\"launches\":2}]}";
    static const char own[] = "{" APP ",\"id\":\"y\",\"items\":[{\"id\":\"x#0\",\"launches\":2}]}";
    uint8_t a[16], b[16], report[REPORT_ID_HASH_SIZE];
    id_of(one, 0, a);
    id_of(one, 0, b);
    ck_assert_mem_eq(a, b, 16); /* the same again */
    id_of(one, 1, b);
    ck_assert_mem_ne(a, b, 16); /* twice in one body is twice */
    id_of(other_device, 0, b);
    ck_assert_mem_ne(a, b, 16);
    id_of(named, 0, a);
    id_of(renamed, 0, b);
    ck_assert_mem_ne(a, b, 16);
    id_of(changed, 0, b);
    ck_assert_mem_eq(a, b, 16); /* a name says it all */
    id_of(own, 0, b);
    ck_assert_mem_eq(a, b, 16);
    report_id_hash("com.a", "x#0", report);
    ck_assert_mem_ne(a, report, 16);
}
END_TEST

UNIT_MAIN("usage", a_batch, flat_items_and_lines, bad_items_are_refused_alone, bodies_that_are_none,
          days_far_away_and_persons_are_left_out, what_a_retry_is)
