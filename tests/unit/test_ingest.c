/* Covers: server/ingest/[a-z]*.c */
#include "server/ingest/ingest.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "server/jobs/json_fields.h"
#include "tests/support/unit.h"

#define NOW ((int64_t)1795300000000)

#define APP    "\"bundle_id\":\"com.example.shop\""
#define UUID_A "4C4C44DC-5555-3144-A100-C10E3A4B6D1E"
#define IMAGES                                                                                     \
    "\"images\":[{\"uuid\":\"" UUID_A "\",\"name\":\"Shop\",\"load_address\":\"0x100400000\","     \
    "\"size\":65536}]"

static struct ingest_result result;
static struct error err;

static enum err take_as(const char *body, enum ingest_media media, const char *bound,
                        struct layouts *layouts)
{
    struct ingest_request request = {.body = body,
                                     .len = strlen(body),
                                     .media = media,
                                     .bundle_id = bound,
                                     .now_ms = NOW,
                                     .limits = &INGEST_LIMITS_DEFAULT,
                                     .layouts = layouts};
    memset(&result, 0, sizeof(result));
    return ingest_body(&request, &result, &err);
}

static enum err take(const char *body)
{
    return take_as(body, INGEST_JSON, NULL, NULL);
}

static const struct op_batch *batch(size_t i)
{
    ck_assert_ptr_nonnull(result.op);
    ck_assert_uint_lt(i, result.op->u.batches.count);
    return &result.op->u.batches.items[i];
}

static void raw_of(const struct op_batch *b, uint32_t stack, struct arena *arena,
                   struct raw_stack *ret)
{
    ck_assert_uint_lt(stack, b->stack_count);
    ck_assert_int_eq(
        raw_stack_decode(b->stacks[stack].raw, b->stacks[stack].raw_len, arena, ret, &err), ERR_OK);
}

START_TEST(batch_object)
{
    ck_assert_int_eq(
        take("{\"app\":{\"bundle_id\":\"com.example.shop\",\"version\":\"7.2.1\",\"build\":"
             "\"7210\"},"
             "\"device\":{\"model\":\"iPhone14,7\",\"os_version\":\"16.6\",\"os_build\":\"20G75\","
             "\"arch\":\"arm64e\"}," IMAGES ",\"sample_rate\":0.2,\"reports\":[{\"id\":\"r1\","
             "\"kind\":\"stall\",\"timestamp\":1795299990000,\"duration_ms\":1240,"
             "\"page\":\"HomeViewController\",\"path\":[\"HomePage\",\"DetailPage\"],"
             "\"cpu_usage\":78,\"memory_usage\":345,\"tags\":{\"experiment\":\"b\"},"
             "\"stack\":[\"0x10040a2db\",\"0x100403e10\"]}]}"),
        ERR_OK);
    const struct op_batch *b = batch(0);
    ck_assert_uint_eq(b->report_count, 1);
    const struct op_report *r = &b->reports[0];
    ck_assert_str_eq(b->bundle_id, "com.example.shop");
    ck_assert_str_eq(r->id, "r1");
    ck_assert_str_eq(r->version, "7.2.1");
    ck_assert_str_eq(r->build, "7210");
    ck_assert_str_eq(r->device, "iPhone14,7");
    ck_assert_str_eq(r->os_version, "16.6");
    ck_assert_str_eq(r->os_build, "20G75");
    ck_assert_str_eq(r->arch, "arm64e");
    ck_assert_str_eq(r->path, "HomePage->DetailPage");
    ck_assert_str_eq(r->tags, "{\"experiment\":\"b\"}");
    ck_assert_int_eq(r->cpu_usage, 78);
    ck_assert_int_eq(r->memory_usage, 345);
    ck_assert_int_eq(r->time_ms, 1795299990000);
    ck_assert(!r->clock_skew);
    ck_assert_double_eq_tol(r->weight, 5, 1e-9);
    struct arena arena;
    struct raw_stack raw;
    uint64_t addresses[2];
    arena_init(&arena, 100000);
    raw_of(b, r->stack, &arena, &raw);
    ck_assert_uint_eq(raw.count, 2);
    ck_assert_int_eq(raw.frames[0].kind, FRAME_LEAF);
    ck_assert_int_eq(raw.frames[1].kind, FRAME_RETURN);
    ck_assert_uint_eq(raw.frames[0].offset, 0xa2db);
    ck_assert_uint_eq(raw.frames[1].offset, 0x3e10);
    stack_addresses_decode(&raw, r->addresses, r->addresses_len, addresses);
    ck_assert_uint_eq(addresses[0], 0x10040a2db);
    ck_assert_uint_eq(addresses[1], 0x100403e10);
    ck_assert_uint_eq(b->image_count, 1);
    ck_assert_str_eq(b->images[0].name, "Shop");
    arena_done(&arena);
    ingest_result_done(&result);
}
END_TEST

START_TEST(flat_report_as_documented)
{
    ck_assert_int_eq(
        take_as("{ \"stack\":\"0x10040a2db 0x100403e10\", \"cpu_usage\":78, \"memory_usage\":345, "
                "\"page\":\"Home\", \"path\":\"A->B\", \"device\":\"iPhone 14\", "
                "\"os_version\":\"16.6\", \"app_version\":\"7.2.1\", \"timestamp\":1795299990000, "
                "\"threshold_type\":\"runloop_500\" }",
                INGEST_JSON, "com.example.bound", NULL),
        ERR_OK);
    const struct op_report *r = &batch(0)->reports[0];
    ck_assert_str_eq(batch(0)->bundle_id, "com.example.bound");
    ck_assert_int_eq(r->kind, REPORT_SLIGHT_STALL);
    ck_assert_int_eq(r->duration_ms, -1);
    ck_assert_str_eq(r->device, "iPhone 14");
    ck_assert_str_eq(r->version, "7.2.1");
    ck_assert_str_eq(r->path, "A->B");
    ck_assert_int_eq(strncmp(r->id, "content-", 8), 0);
    ingest_result_done(&result);
}
END_TEST

START_TEST(one_bad_report_is_refused_alone)
{
    static const struct {
        const char *report, *path, *reason;
    } cases[] = {
        {"{\"id\":7,\"stack\":[\"0x1\"]}", "reports[1].id", "not a string"},
        {"{\"id\":\"x\",\"stack\":[\"0x1\",\"12\"]}", "reports[1].stack[1]", NOT_AN_ADDRESS},
        {"{\"id\":\"x\",\"stack\":\"0x1 y\"}", "reports[1].stack[1]", NOT_AN_ADDRESS},
        {"{\"id\":\"x\",\"stack\":\"1004f8084\"}", "reports[1].stack[0]",
         "not an address: hexadecimal with 0x before it, or a whole number, is wanted"},
        {"{\"id\":\"x\",\"stack\":[1],\"images\":[{\"slide\":\"4f4000\"}]}",
         "reports[1].images[0].slide", NOT_AN_ADDRESS},
        {"{\"id\":\"x\",\"stack\":[-1]}", "reports[1].stack[0]", NOT_AN_ADDRESS},
        {"{\"id\":\"x\",\"stack\":[1.5]}", "reports[1].stack[0]", NOT_AN_ADDRESS},
        {"{\"id\":\"x\",\"stack\":[{}]}", "reports[1].stack[0]",
         "neither address nor uuid and offset"},
        {"{\"id\":\"x\",\"stack\":[{\"address\":1,\"kind\":\"odd\"}]}", "reports[1].stack[0].kind",
         "not one of leaf, return, async, exact"},
        {"{\"id\":\"x\"}", "reports[1].stack", "no stack"},
        {"{\"id\":\"x\",\"stack\":[1],\"duration_ms\":-5}", "reports[1].duration_ms",
         "out of range: from 0 to 604800000"},
        {"{\"id\":\"x\",\"stack\":[1],\"duration_ms\":1e30}", "reports[1].duration_ms",
         "out of range: from 0 to 604800000"},
        {"{\"id\":\"x\",\"threads\":[{\"stack\":[1],\"tid\":-1}]}", "reports[1].threads[0].tid",
         "out of range: from 0 to 9223372036854775807"},
        {"{\"id\":\"x\",\"stack\":[1],\"duration_ms\":\"5\"}", "reports[1].duration_ms",
         "not a number"},
        {"{\"id\":\"x\",\"stack\":[1],\"kind\":\"nap\"}", "reports[1].kind",
         "not one of stall, slight_stall, hang, frame_drop, launch"},
        {"{\"id\":\"x\",\"stack\":[1],\"timestamp\":\"2024-02-30T10:00:00Z\"}",
         "reports[1].timestamp", "not an RFC 3339 time with its zone, like 2026-11-30T08:00:00Z"},
        {"{\"id\":\"x\",\"stack\":[1],\"timestamp\":\"\"}", "reports[1].timestamp",
         "not an RFC 3339 time with its zone, like 2026-11-30T08:00:00Z"},
        {"{\"id\":\"x\",\"stack\":[1],\"timestamp\":1795299990000000000}", "reports[1].timestamp",
         "out of range: milliseconds since 1970 are wanted"},
        {"{\"id\":\"x\",\"stack\":[1],\"timestamp\":1e300}", "reports[1].timestamp",
         "out of range: milliseconds since 1970 are wanted"},
        {"{\"id\":\"x\",\"stack\":[1],\"sample_rate\":0}", "reports[1].sample_rate",
         "out of range: from 1e-06 to 1"},
        {"{\"id\":\"x\",\"stack\":[1],\"memory_usage\":358000000}", "reports[1].memory_usage",
         "out of range: from 0 to 10000000"},
        {"{\"id\":\"x\",\"stack\":[1],\"images\":\"none\"}", "reports[1].images", "not an array"},
        {"{\"id\":\"x\",\"stack\":[1],\"images\":[{\"load_address\":1,\"arch\":\"0123456789abcdef"
         "0123456789abcdef!\"}]}",
         "reports[1].images[0].arch", "too long: 32 bytes at most"},
        {"{\"id\":\"x\",\"stack\":[1],\"images\":[{\"uuid\":\"zz\",\"load_address\":1}]}",
         "reports[1].images[0].uuid", "not a UUID"},
        {"{\"id\":\"x\",\"stack\":[1],\"images\":[{\"name\":\"a\"}]}", "reports[1].images[0]",
         "neither slide nor load_address"},
        {"{\"id\":\"x\",\"stack\":[1],\"bundle_id\":\"a\\u0000b\"}", "reports[1].bundle_id",
         "contains control characters"},
        {"{\"id\":\"x\",\"samples\":[{\"stack\":[1]},{\"stack\":[1],\"offset_ms\":\"a\"}]}",
         "reports[1].samples[1].offset_ms", "not a number"},
        {"{\"id\":\"x\",\"threads\":[{\"stack\":3}]}", "reports[1].threads[0].stack",
         "neither an array nor a string of addresses"},
        {"5", "reports[1]", "not an object"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char body[1024];
        snprintf(body, sizeof(body),
                 "{" APP
                 ",\"reports\":[{\"id\":\"a\",\"stack\":[1]},%s,{\"id\":\"b\",\"stack\":[2]}]}",
                 cases[i].report);
        ck_assert_msg(take(body) == ERR_OK, "%s: %s", body, err.text);
        ck_assert_uint_eq(result.reports, 2);
        ck_assert_uint_eq(result.rejected_count, 1);
        ck_assert_uint_eq(result.rejected[0].index, 1);
        ck_assert_str_eq(result.rejected[0].path, cases[i].path);
        ck_assert_str_eq(result.rejected[0].reason, cases[i].reason);
        ck_assert_uint_eq(batch(0)->reports[1].position, 2);
        ingest_result_done(&result);
    }
}
END_TEST

START_TEST(ndjson_lines_fail_alone)
{
    ck_assert_int_eq(take_as("{" APP ",\"id\":\"a\",\"stack\":[1]}\n"
                             "\n"
                             "{\"id\":\n"
                             "{" APP
                             ",\"reports\":[{\"id\":\"b\",\"stack\":[1]},{\"id\":\"c\"}]}\r\n"
                             "[]\n"
                             "{" APP ",\"id\":\"d\",\"stack\":[1]}",
                             INGEST_NDJSON, NULL, NULL),
                     ERR_OK);
    ck_assert_uint_eq(result.reports, 3);
    ck_assert_uint_eq(result.rejected_count, 3);
    static const uint32_t lines[] = {3, 4, 5}, indexes[] = {1, 3, 4};
    for (size_t i = 0; i < 3; i++) {
        ck_assert_uint_eq(result.rejected[i].line, lines[i]);
        ck_assert_uint_eq(result.rejected[i].index, indexes[i]);
    }
    ck_assert_str_eq(result.rejected[1].path, "reports[1].stack");
    ck_assert_uint_eq(batch(0)->reports[2].position, 5);
    ingest_result_done(&result);
}
END_TEST

START_TEST(bodies_that_are_no_batch)
{
    static const struct {
        const char *body;
        enum err rc;
    } cases[] = {
        {"", ERR_FORMAT},
        {"{", ERR_FORMAT},
        {"[]", ERR_INVALID},
        {"{}", ERR_INVALID},
        {"5", ERR_FORMAT},
        {"{\"reports\":5}", ERR_INVALID},
        {"{\"reports\":[]}", ERR_INVALID},
        {"{" APP ",\"reports\":[{\"id\":\"a\",\"stack\":[1]}]} trailing", ERR_FORMAT},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        ck_assert_msg(take(cases[i].body) == cases[i].rc, "%s: %s", cases[i].body, err.text);
    ck_assert_int_eq(take_as(" \n \n", INGEST_NDJSON, NULL, NULL), ERR_FORMAT);
}
END_TEST

START_TEST(all_refused_is_no_error)
{
    ck_assert_int_eq(take("{\"reports\":[{\"id\":\"a\",\"stack\":[1]}]}"), ERR_OK);
    ck_assert_ptr_null(result.op);
    ck_assert_uint_eq(result.rejected_count, 1);
    ck_assert_str_eq(result.rejected[0].reason, "no app is named");
    ingest_result_done(&result);
}
END_TEST

START_TEST(shapes_that_are_none_are_named)
{
    ck_assert_int_eq(take("{\"app\":\"com.example.shop\",\"reports\":[{\"stack\":[1]}]}"), ERR_OK);
    ck_assert_str_eq(result.rejected[0].path, "reports[0].app");
    ck_assert_str_eq(result.rejected[0].reason, "not an object with a `bundle_id`");
    ingest_result_done(&result);
    ck_assert_int_eq(take("{" APP ",\"reports\":{\"stack\":[1]}}"), ERR_INVALID);
    ck_assert_str_eq(err.text, "`reports` is no array");
    /* A flat report may call its app what it likes. */
    ck_assert_int_eq(take("{" APP ",\"app\":\"Shop\",\"stack\":[1]}"), ERR_OK);
    ck_assert_uint_eq(result.reports, 1);
    ingest_result_done(&result);
}
END_TEST

START_TEST(bound_token_takes_no_other_app)
{
    ck_assert_int_eq(
        take_as("{" APP ",\"id\":\"a\",\"stack\":[1]}", INGEST_JSON, "com.other", NULL), ERR_OK);
    ck_assert_ptr_null(result.op);
    ck_assert_str_eq(result.rejected[0].path, "bundle_id");
    ingest_result_done(&result);
}
END_TEST

START_TEST(device_clock)
{
    static const struct {
        const char *timestamp;
        int64_t time;
        const char *skew; /* what is told of it; NULL: the device's time is the report's */
    } cases[] = {
        {"1795299990000", 1795299990000, NULL},
        {"1795299990000.0", 1795299990000, NULL},
        {"\"2026-11-22T08:59:50+00:30\"", 1795335, NULL}, /* filled below */
        {"\"2124-01-01T00:00:00Z\"", NOW, "more than a day ahead"},
        {"\"1970-01-01T00:00:05Z\"", NOW, "more than 30 days ago"},
        {"-1", NOW, "more than 30 days ago"},
        {"1710072000", NOW, "milliseconds since 1970 are wanted, not seconds"},
        {"1795299990.25", NOW, "milliseconds since 1970 are wanted, not seconds"},
        {"816992790.5", NOW, "milliseconds since 1970 are wanted, not seconds since 2001"},
        {"816992790500", NOW, "milliseconds since 1970 are wanted, not since 2001"},
        {"1795299990000000", NOW, "milliseconds since 1970 are wanted, not microseconds"},
        {"null", NOW, NULL},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char body[300];
        int64_t want = cases[i].time;
        if (i == 2)
            ck_assert(clock_parse_rfc3339("2026-11-22T08:29:50Z", 20, &want));
        snprintf(body, sizeof(body), "{" APP ",\"id\":\"a\",\"stack\":[1],\"timestamp\":%s}",
                 cases[i].timestamp);
        ck_assert_int_eq(take(body), ERR_OK);
        const struct op_report *r = &batch(0)->reports[0];
        ck_assert_msg(r->time_ms == want, "%s", cases[i].timestamp);
        ck_assert_int_eq(r->clock_skew, cases[i].skew != NULL);
        ck_assert_int_eq(r->received_ms, NOW);
        ck_assert_uint_eq(result.dropped_count, r->clock_skew);
        if (cases[i].skew) {
            char reason[120];
            snprintf(reason, sizeof(reason), "%s; the time of receipt stands in its place",
                     cases[i].skew);
            ck_assert_str_eq(result.dropped[0].path, "timestamp");
            ck_assert_str_eq(result.dropped[0].reason, reason);
        }
        ingest_result_done(&result);
    }
}
END_TEST

START_TEST(equal_stacks_are_folded)
{
    ck_assert_int_eq(
        take("{" APP "," IMAGES ",\"reports\":["
             "{\"id\":\"a\",\"stack\":[\"0x100400010\",\"0x100400020\"]},"
             "{\"id\":\"b\",\"images\":[{\"uuid\":\"4c4c44dc55553144a100c10e3a4b6d1e\","
             "\"name\":\"Shop\",\"load_address\":\"0x200000000\",\"size\":65536}],"
             "\"stack\":[\"0x200000010\",\"0x200000020\"]},"
             "{\"id\":\"c\",\"stack\":[{\"uuid\":\"" UUID_A
             "\",\"offset\":\"0x10\"},{\"uuid\":\"" UUID_A "\",\"offset\":32}]}]}"),
        ERR_OK);
    ck_assert_uint_eq(batch(0)->stack_count, 1);
    ck_assert_uint_eq(batch(0)->image_count, 1);
    ck_assert_uint_eq(batch(0)->report_count, 3);
    ingest_result_done(&result);
}
END_TEST

START_TEST(outermost_first_is_turned)
{
    struct arena arena;
    struct raw_stack raw;
    arena_init(&arena, 100000);
    ck_assert_int_eq(
        take("{" APP "," IMAGES ",\"order\":\"outermost_first\",\"id\":\"a\","
             "\"stack\":[\"0x100400020\",{\"address\":\"0x100400010\",\"kind\":\"exact\"}]}"),
        ERR_OK);
    raw_of(batch(0), 0, &arena, &raw);
    ck_assert_uint_eq(raw.frames[0].offset, 0x10);
    ck_assert_int_eq(raw.frames[0].kind, FRAME_EXACT);
    ck_assert_int_eq(raw.frames[1].kind, FRAME_RETURN);
    ingest_result_done(&result);
    arena_done(&arena);
}
END_TEST

START_TEST(stalled_thread_is_the_stack)
{
    static const struct {
        const char *threads;
        uint64_t offset; /* UINT64_MAX: no stack at all */
    } cases[] = {
        {"[{\"tid\":5,\"stack\":[\"0x100400005\"]},{\"tid\":9,\"stalled\":true,"
         "\"stack\":[\"0x100400009\"]}]",
         9},
        {"[{\"tid\":5,\"stack\":[\"0x100400005\"]},{\"tid\":0,\"stack\":[\"0x100400001\"]}]", 1},
        {"[{\"tid\":5,\"stack\":[\"0x100400005\"]},{\"tid\":6,\"stack\":[\"0x100400006\"]}]", 5},
        {"[{\"stack\":[]},{\"tid\":6,\"stack\":[\"0x100400006\"]}]", UINT64_MAX},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char body[600];
        struct arena arena;
        struct raw_stack raw;
        arena_init(&arena, 100000);
        snprintf(body, sizeof(body), "{" APP "," IMAGES ",\"id\":\"a\",\"threads\":%s}",
                 cases[i].threads);
        ck_assert_int_eq(take(body), ERR_OK);
        const struct op_report *r = &batch(0)->reports[0];
        if (cases[i].offset == UINT64_MAX) {
            ck_assert_uint_eq(r->stack, NO_STACK);
        } else {
            raw_of(batch(0), r->stack, &arena, &raw);
            ck_assert_uint_eq(raw.frames[0].offset, cases[i].offset);
        }
        ck_assert_uint_eq(r->thread_count, 2);
        ingest_result_done(&result);
        arena_done(&arena);
    }
}
END_TEST

START_TEST(longest_stage_of_samples_is_the_culprit)
{
    /* Stage 1 lasts 300 ms, stage 2 (leaf moves) 700, stage 3 200. */
    struct arena arena;
    struct raw_stack raw;
    arena_init(&arena, 100000);
    ck_assert_int_eq(take("{" APP "," IMAGES ",\"id\":\"a\",\"duration_ms\":1200,\"samples\":["
                          "{\"offset_ms\":0,\"stack\":[\"0x100400001\",\"0x100400100\"]},"
                          "{\"offset_ms\":300,\"stack\":[\"0x100400001\",\"0x100400200\"]},"
                          "{\"offset_ms\":900,\"stack\":[\"0x100400002\",\"0x100400200\"]},"
                          "{\"offset_ms\":1000,\"stack\":[\"0x100400001\",\"0x100400300\"],"
                          "\"repeat_count\":3,\"cpu_usage\":97,\"thread_state\":\"running\"}]}"),
                     ERR_OK);
    const struct op_report *r = &batch(0)->reports[0];
    raw_of(batch(0), r->stack, &arena, &raw);
    ck_assert_uint_eq(raw.frames[0].offset, 2);
    ck_assert_uint_eq(raw.frames[1].offset, 0x200);
    ck_assert_uint_eq(r->sample_count, 4);
    ck_assert_uint_eq(r->samples[3].repeat_count, 3);
    ck_assert_str_eq(r->samples[3].thread_state, "running");
    ingest_result_done(&result);
    arena_done(&arena);
}
END_TEST

START_TEST(slide_alone_gives_the_same_stack)
{
    static const char *const images[] = {
        "{\"uuid\":\"" UUID_A "\",\"name\":\"Shop\",\"path\":\"/var/containers/Bundle/Application/"
        "X/Shop.app/Shop\",\"load_address\":\"0x1004f4000\",\"size\":65536}",
        "{\"uuid\":\"" UUID_A "\",\"name\":\"Shop\",\"path\":\"/var/containers/Bundle/Application/"
        "X/Shop.app/Shop\",\"slide\":\"0x4f4000\",\"size\":65536}",
        "{\"uuid\":\"" UUID_A "\",\"name\":\"Shop\",\"path\":\"/var/containers/Bundle/Application/"
        "X/Shop.app/Shop\",\"slide\":\"0x4f4000\",\"load_address\":\"0x1004f4000\",\"size\":65536}",
    };
    uint8_t first[STACK_HASH_SIZE];
    for (size_t i = 0; i < 3; i++) {
        char body[600];
        snprintf(body, sizeof(body),
                 "{" APP ",\"images\":[%s],\"id\":\"a\",\"stack\":[\"0x1004f5010\"]}", images[i]);
        ck_assert_int_eq(take(body), ERR_OK);
        if (i == 0)
            memcpy(first, batch(0)->stacks[0].hash, sizeof(first));
        ck_assert_int_eq(memcmp(first, batch(0)->stacks[0].hash, sizeof(first)), 0);
        ck_assert_int_eq(batch(0)->images[0].has_vmaddr, i == 2);
        if (i == 2)
            ck_assert_uint_eq(batch(0)->images[0].vmaddr, 0x100000000);
        ingest_result_done(&result);
    }
}
END_TEST

static uint64_t offset_in(size_t which, const char *bundle_id)
{
    struct raw_stack raw;
    ck_assert_str_eq(batch(which)->bundle_id, bundle_id);
    raw_of(batch(which), batch(which)->reports[0].stack, result.arena, &raw);
    ck_assert_int_eq(raw.frames[0].image_kind, IMAGE_UUID);
    return raw.frames[0].offset;
}

/* What another app's reports said of the place of this app's image moves none of its frames, also
 * where one list of images is of reports of both. */
START_TEST(each_app_places_by_its_own_word)
{
    static const char body[] =
        "{\"images\":[{\"uuid\":\"" UUID_A "\",\"name\":\"Shop\",\"path\":\"/var/containers/Bundle/"
        "Application/X/Shop.app/Shop\",\"slide\":\"0x4f4000\"}],\"reports\":["
        "{\"app\":{\"bundle_id\":\"com.b\"},\"id\":\"b\",\"stack\":[\"0x1004f5010\"]},"
        "{\"app\":{\"bundle_id\":\"com.a\"},\"id\":\"a\",\"stack\":[\"0x1004f5010\"]}]}";
    struct layouts *layouts = layouts_new(10);
    struct uuid uuid;
    ck_assert(uuid_parse(UUID_A, strlen(UUID_A), &uuid));
    layouts_claim(layouts, "com.b", &uuid, 0x100001000);
    ck_assert_int_eq(take_as(body, INGEST_JSON, NULL, layouts), ERR_OK);
    ck_assert_uint_eq(offset_in(0, "com.b"), 0x10);
    ck_assert_uint_eq(offset_in(1, "com.a"), 0x1010);
    ingest_result_done(&result);
    layouts_learn(layouts, "", &uuid, 0x100000800); /* the symbol file came */
    ck_assert_int_eq(take_as(body, INGEST_JSON, NULL, layouts), ERR_OK);
    ck_assert_uint_eq(offset_in(0, "com.b"), 0x810);
    ck_assert_uint_eq(offset_in(1, "com.a"), 0x810);
    ingest_result_done(&result);
    layouts_free(layouts);
}
END_TEST

/* Devices may share a list of images without sharing a shared cache: the group is of the OS. */
START_TEST(slide_group_is_that_of_each_report_s_os)
{
    struct raw_stack old, new;
    ck_assert_int_eq(take("{" APP ",\"images\":["
                          "{\"name\":\"UIKit\",\"path\":\"/System/UIKit\",\"slide\":\"0x4000000\"},"
                          "{\"name\":\"libA\",\"path\":\"/usr/lib/libA\",\"slide\":\"0x4000000\"}],"
                          "\"reports\":[{\"os_version\":\"16.6\",\"stack\":[\"0x184001000\"]},"
                          "{\"os_version\":\"17.1\",\"stack\":[\"0x184001000\"]}]}"),
                     ERR_OK);
    const struct op_batch *b = batch(0);
    ck_assert_uint_eq(b->stack_count, 2);
    raw_of(b, b->reports[0].stack, result.arena, &old);
    raw_of(b, b->reports[1].stack, result.arena, &new);
    ck_assert_int_eq(old.frames[0].image_kind, IMAGE_GROUP);
    ck_assert_int_eq(new.frames[0].image_kind, IMAGE_GROUP);
    struct uuid want_old = image_group_id("16.6", ""), want_new = image_group_id("17.1", "");
    ck_assert(uuid_equal(&old.frames[0].image, &want_old));
    ck_assert(uuid_equal(&new.frames[0].image, &want_new));
    ingest_result_done(&result);
}
END_TEST

START_TEST(image_sets)
{
    ck_assert_int_eq(take_as("{" APP "," IMAGES ",\"image_set\":\"s1\",\"reports\":[{\"id\":\"a\","
                             "\"stack\":[\"0x100400010\"]}]}\n"
                             "{" APP ",\"image_set\":\"s1\",\"reports\":[{\"id\":\"b\","
                             "\"stack\":[\"0x100400010\"]}]}\n"
                             "{" APP ",\"image_set\":\"s2\",\"reports\":[{\"id\":\"c\","
                             "\"stack\":[\"0x100400010\"]}]}",
                             INGEST_NDJSON, NULL, NULL),
                     ERR_OK);
    ck_assert_uint_eq(result.reports, 2);
    ck_assert_uint_eq(batch(0)->stack_count, 1);
    ck_assert_str_eq(batch(0)->image_set, "s1");
    ck_assert_uint_gt(batch(0)->image_set_len, 0);
    ck_assert_uint_eq(result.need_image_set_count, 1);
    ck_assert_str_eq(result.need_image_sets[0], "s2");
    ck_assert_str_eq(result.rejected[0].reason, "unknown_image_set");
    ingest_result_done(&result);
}
END_TEST

#define IMAGES_OF(address)                                                                         \
    "\"images\":[{\"uuid\":\"" UUID_A "\",\"name\":\"Shop\",\"load_address\":\"" address "\"}]"
#define STACK(id) "\"reports\":[{\"id\":\"" id "\",\"stack\":[\"0x100400010\"]}]"
#define NAMED     "{" APP ",\"image_set\":\"s1\","

START_TEST(two_lists_of_one_name_in_a_body)
{
    ck_assert_int_eq(take_as(NAMED IMAGES_OF("0x100400000") "," STACK("a") "}\n" /* */
                             NAMED STACK("b") "}\n"                              /* */
                             NAMED IMAGES_OF("0x100000000") "," STACK("c") "}\n" /* */
                             NAMED STACK("d") "}",
                             INGEST_NDJSON, NULL, NULL),
                     ERR_OK);
    ck_assert_uint_eq(result.reports, 3);
    ck_assert_uint_eq(result.rejected_count, 1);
    ck_assert_uint_eq(result.rejected[0].index, 3);
    ck_assert_uint_eq(result.need_image_set_count, 1);
    ck_assert_str_eq(batch(0)->image_set, "s1");
    ck_assert_ptr_nonnull(batch(0)->image_set_data);
    ck_assert_uint_eq(batch(0)->image_set_len, 0);
    ck_assert_uint_eq(batch(0)->stack_count, 2);
    ingest_result_done(&result);
}
END_TEST

START_TEST(each_image_set_is_remembered)
{
    ck_assert_int_eq(take_as("{" APP "," IMAGES ",\"image_set\":\"s1\",\"reports\":[{\"id\":\"a\","
                             "\"stack\":[\"0x100400010\"]}]}\n"
                             "{" APP "," IMAGES ",\"image_set\":\"s2\",\"reports\":[{\"id\":\"b\","
                             "\"stack\":[\"0x100400010\"]}]}\n"
                             "{" APP ",\"image_set\":\"s1\",\"reports\":[{\"id\":\"c\","
                             "\"stack\":[\"0x100400010\"]}]}",
                             INGEST_NDJSON, NULL, NULL),
                     ERR_OK);
    ck_assert_uint_eq(result.op->u.batches.count, 2);
    ck_assert_str_eq(batch(0)->image_set, "s1");
    ck_assert_str_eq(batch(1)->image_set, "s2");
    ck_assert_ptr_nonnull(batch(0)->image_set_data);
    ck_assert_ptr_nonnull(batch(1)->image_set_data);
    ck_assert_uint_eq(batch(0)->report_count, 2);
    ingest_result_done(&result);
}
END_TEST

START_TEST(empty_stacks_count_without_one)
{
    static const char *const cases[] = {"\"stack\":[]", "\"stack\":\"\"", "\"samples\":[]",
                                        "\"threads\":[]", "\"threads\":[{\"stack\":[]}]"};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char body[200];
        snprintf(body, sizeof(body), "{" APP ",\"id\":\"a\",%s}", cases[i]);
        ck_assert_msg(take(body) == ERR_OK && result.op, "%s", cases[i]);
        ck_assert_uint_eq(batch(0)->reports[0].stack, NO_STACK);
        ck_assert_uint_eq(batch(0)->stack_count, 0);
        ingest_result_done(&result);
    }
}
END_TEST

#define LINE(id) "{" APP ",\"id\":\"" id "\",\"stack\":[1]}"
/* A body under the other one's Content-Type: the answer says which one it needs. */
START_TEST(media_types_that_are_mixed_up)
{
    static const struct {
        const char *body;
        enum ingest_media media;
        unsigned line;
        const char *text;
    } cases[] = {
        {LINE("a") "\n" LINE("b"), INGEST_JSON, 2,
         "a second document follows in line 2: lines of JSON (NDJSON) need Content-Type: "
         "application/x-ndjson"},
        {"\n" LINE("a") "\r\n \n" LINE("b") "\n", INGEST_JSON, 4,
         "a second document follows in line 4: lines of JSON (NDJSON) need Content-Type: "
         "application/x-ndjson"},
        {LINE("a") " x\n", INGEST_JSON, 1,
         "not valid JSON: more follows the value near 'x' (line 1, column 55)"},
        {"[\n" LINE("a") "\n]\n", INGEST_NDJSON, 0,
         "one JSON document over several lines needs Content-Type: application/json; NDJSON has a "
         "document a line"},
        {"\n{" APP ",\n\"id\":\"a\",\"stack\":[1]}", INGEST_NDJSON, 0,
         "one JSON document over several lines needs Content-Type: application/json; NDJSON has a "
         "document a line"},
        {"\x1f\x8b\x08\n\n", INGEST_NDJSON, 0,
         "not JSON: a gzip'd body needs Content-Encoding: gzip"},
        {" \n\n", INGEST_NDJSON, 0, "the body is empty"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        ck_assert_int_eq(take_as(cases[i].body, cases[i].media, NULL, NULL), ERR_FORMAT);
        ck_assert_str_eq(err.text, cases[i].text);
        ck_assert_uint_eq(err.line, cases[i].line);
    }
    ck_assert_int_eq(take_as("[" LINE("a") "]", INGEST_NDJSON, NULL, NULL), ERR_OK);
    ck_assert_uint_eq(result.rejected_count, 1);
    ck_assert_str_eq(result.rejected[0].reason,
                     "an array: a line holds one document, an array needs Content-Type: "
                     "application/json");
    ingest_result_done(&result);
    /* A body that is neither: each line has its own fault. */
    ck_assert_int_eq(take_as("[\n" LINE("a") "\n", INGEST_NDJSON, NULL, NULL), ERR_OK);
    ck_assert_uint_eq(result.reports, 1);
    ck_assert_uint_eq(result.rejected_count, 1);
    ingest_result_done(&result);
}
END_TEST

START_TEST(skipped_stacks_and_frame_drops)
{
    ck_assert_int_eq(
        take("{" APP ",\"reports\":[{\"id\":\"a\",\"stack_skipped\":\"cpu_high\"},"
             "{\"id\":\"b\",\"threshold_type\":\"fps_30\",\"frame_gaps_ms\":[33,50.5]}]}"),
        ERR_OK);
    const struct op_batch *b = batch(0);
    ck_assert_uint_eq(b->report_count, 2);
    ck_assert_uint_eq(b->reports[0].stack, NO_STACK);
    ck_assert_str_eq(b->reports[0].stack_skipped, "cpu_high");
    ck_assert_int_eq(b->reports[1].kind, REPORT_FRAME_DROP);
    ck_assert_uint_eq(b->reports[1].frame_gap_count, 2);
    ck_assert_int_eq(b->reports[1].frame_gaps_ms[1], 50);
    ingest_result_done(&result);
}
END_TEST

/* A hang whose kind was left out is no stall in silence. */
START_TEST(odd_thresholds_are_told)
{
    static const struct {
        const char *fields;
        enum report_kind kind;
        bool told;
    } cases[] = {
        {"\"threshold_type\":\"runloop_800\"", REPORT_STALL, false},
        {"\"threshold_type\":\"runloop_500_ui\"", REPORT_SLIGHT_STALL, false},
        {"\"threshold_type\":\"\"", REPORT_STALL, false},
        {"\"threshold_type\":null", REPORT_STALL, false},
        {"\"threshold_type\":\"hang_2000\",\"kind\":\"hang\"", REPORT_HANG, false},
        {"\"threshold_type\":\"hang_2000\"", REPORT_STALL, true},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char body[200];
        snprintf(body, sizeof(body), "{" APP ",\"id\":\"a\",\"stack\":[1],%s}", cases[i].fields);
        ck_assert_int_eq(take(body), ERR_OK);
        ck_assert_int_eq(batch(0)->reports[0].kind, cases[i].kind);
        ck_assert_uint_eq(result.dropped_count, cases[i].told);
        if (cases[i].told)
            ck_assert_str_eq(result.dropped[0].path, "threshold_type");
        ingest_result_done(&result);
    }
}
END_TEST

START_TEST(rates_below_the_least_are_told)
{
    static const struct {
        const char *rates[2]; /* the batch's, the report's */
        bool told;
    } cases[] = {{{"1", "0.0001"}, false},
                 {{"1", "0.00001"}, true},
                 {{"0.00001", "null"}, true},
                 {{"0.00001", "1"}, false}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char body[200];
        snprintf(body, sizeof(body),
                 "{" APP ",\"sample_rate\":%s,\"reports\":[{\"id\":\"a\",\"stack\":[1],"
                 "\"sample_rate\":%s}]}",
                 cases[i].rates[0], cases[i].rates[1]);
        ck_assert_int_eq(take(body), ERR_OK);
        ck_assert_uint_eq(result.dropped_count, cases[i].told);
        if (cases[i].told) {
            ck_assert_str_eq(result.dropped[0].path, "sample_rate");
            ck_assert_str_eq(result.dropped[0].reason, "below 0.0001: it counts as that");
        }
        ingest_result_done(&result);
    }
}
END_TEST

START_TEST(what_must_not_be_stored_is_dropped)
{
    ck_assert_int_eq(take("{" APP ",\"id\":\"a\",\"stack\":[1],\"page\":\"user a@example.com\","
                          "\"path\":[\"Home\",\"10.1.2.3\"],\"idfv\":\"x\",\"tags\":{\"mail\":"
                          "\"a@example.com\",\"ok\":true,\"deep\":{\"x\":1},\"b@example.com\":1}}"),
                     ERR_OK);
    const struct op_report *r = &batch(0)->reports[0];
    ck_assert_str_eq(r->page, "(removed)");
    ck_assert_str_eq(r->path, "(removed)");
    ck_assert_str_eq(r->tags, "{\"ok\":true}");
    static const char *const paths[] = {"page", "path", "tags.mail", "tags.deep", "tags"};
    ck_assert_uint_eq(result.dropped_count, 5);
    for (size_t i = 0; i < 5; i++)
        ck_assert_str_eq(result.dropped[i].path, paths[i]);
    ingest_result_done(&result);
}
END_TEST

/* What only describes is no reason to lose a report; what is cut is looked at as a whole before. */
START_TEST(long_texts_are_cut)
{
    char page[300], word[80], path[1100], symbol[2100], body[6000];
    memset(page, 'p', sizeof(page));
    memset(word, 'w', sizeof(word));
    memset(path, 'f', sizeof(path));
    memset(symbol, 's', sizeof(symbol));
    page[255] = '\xc3'; /* a letter of two bytes over the boundary */
    page[256] = '\xa9';
    page[299] = word[79] = path[1099] = symbol[2099] = 0;
    snprintf(body, sizeof(body),
             "{" APP ",\"device\":\"%s\",\"images\":[{\"uuid\":\"" UUID_A "\",\"slide\":0,\"name\":"
             "\"%s\",\"path\":\"%s\"}],\"reports\":[{\"id\":\"a\",\"page\":\"%s\","
             "\"threshold_type\":\"runloop_800%s\",\"stack\":[{\"address\":1,\"symbol\":\"%s\"}]},"
             "{\"id\":\"b\",\"device\":\"x\",\"page\":\"%.250sa@example.com\",\"stack_skipped\":\"%"
             "s\"}]}",
             page, page, path, page, word, symbol, page, word);
    ck_assert_msg(take(body) == ERR_OK, "%s", err.text);
    ck_assert_uint_eq(result.reports, 2);
    const struct op_report *r = batch(0)->reports;
    ck_assert_uint_eq(strlen(r[0].page), 255);
    ck_assert_uint_eq(strlen(r[0].device), 255);
    ck_assert_uint_eq(strlen(r[0].threshold_type), 64);
    ck_assert_str_eq(r[1].page, "(removed)");
    ck_assert_uint_eq(strlen(r[1].stack_skipped), 64);
    static const struct {
        unsigned index;
        const char *path, *reason;
    } told[] = {{0, "device", "cut: longer than 256 bytes"},
                {0, "threshold_type", "cut: longer than 64 bytes"},
                {0, "page", "cut: longer than 256 bytes"},
                {0, "images[0].name", "cut: too long, as are 1 more"},
                {0, "stack[0]", "its symbol is left out: longer than 2048 bytes"},
                {1, "page", "looks like personal data"},
                {1, "stack_skipped", "cut: longer than 64 bytes"}};
    ck_assert_uint_eq(result.dropped_count, sizeof(told) / sizeof(told[0]));
    for (size_t i = 0; i < result.dropped_count; i++) {
        ck_assert_uint_eq(result.dropped[i].index, told[i].index);
        ck_assert_str_eq(result.dropped[i].path, told[i].path);
        ck_assert_str_eq(result.dropped[i].reason, told[i].reason);
    }
    ingest_result_done(&result);
    /* What names something is not cut: two of them would be one. */
    snprintf(body, sizeof(body), "{" APP ",\"id\":\"a\",\"app_version\":\"%s\",\"stack\":[1]}",
             page);
    ck_assert_int_eq(take(body), ERR_OK);
    ck_assert_str_eq(result.rejected[0].reason, "too long: 256 bytes at most");
    ingest_result_done(&result);
}
END_TEST

/* They stay in their image's report, and the sender learns of them: once a list of images. */
START_TEST(empty_uuids_are_told)
{
#define AT "\"name\":\"A\",\"load_address\":\"0x100400000\",\"size\":64"
    static const struct {
        const char *uuids[3];
        const char *path, *reason; /* NULL: nothing is told */
    } cases[] = {
        {{"\"uuid\":\"" UUID_A "\",", "", ""}, NULL, NULL},
        {{"\"uuid\":\"" UUID_A "\",", "", "\"uuid\":null,"},
         "images[2].uuid",
         "empty: no symbol file names this image's frames"},
        {{"\"uuid\":\"\",", "", ""},
         "images[0].uuid",
         "empty: no symbol file names this image's frames"},
        {{"", "\"uuid\":\"00000000-0000-0000-0000-000000000000\",", "\"uuid\":\"\","},
         "images[1].uuid",
         "empty: no symbol file names this image's frames, nor those of 1 more"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char body[1000];
        const char *const *u = cases[i].uuids;
        snprintf(body, sizeof(body),
                 "[{\"reports\":[{" APP ",\"id\":\"z\",\"stack\":[1]}]},{" APP ",\"images\":[{%s" AT
                 "},{%s" AT "},{%s" AT "}],\"reports\":["
                 "{\"id\":\"a\",\"stack\":[1]},{\"id\":\"b\",\"stack\":[2]}]}]",
                 u[0], u[1], u[2]);
        ck_assert_int_eq(take(body), ERR_OK);
        ck_assert_uint_eq(result.reports, 3);
        ck_assert_uint_eq(result.rejected_count, 0);
        ck_assert_uint_eq(result.dropped_count, cases[i].path ? 1 : 0);
        if (cases[i].path) {
            ck_assert_uint_eq(result.dropped[0].index, 1);
            ck_assert_str_eq(result.dropped[0].path, cases[i].path);
            ck_assert_str_eq(result.dropped[0].reason, cases[i].reason);
        }
        ingest_result_done(&result);
    }
#undef AT
}
END_TEST

START_TEST(content_id_is_stable)
{
    static const char *const bodies[] = {
        "{" APP ",\"stack\":[1],\"timestamp\":1795299990000}",
        "{\"timestamp\":1795299990000, \"stack\":[1]," APP "}",
        "{" APP ",\"stack\":[2],\"timestamp\":1795299990000}",
    };
    char id[3][64];
    for (size_t i = 0; i < 3; i++) {
        ck_assert_int_eq(take(bodies[i]), ERR_OK);
        snprintf(id[i], sizeof(id[i]), "%s", batch(0)->reports[0].id);
        ingest_result_done(&result);
    }
    ck_assert_str_eq(id[0], id[1]);
    ck_assert_str_ne(id[0], id[2]);
}
END_TEST

START_TEST(apps_are_kept_apart)
{
    ck_assert_int_eq(take("[{\"bundle_id\":\"a\",\"id\":\"x\",\"stack\":[1]},"
                          "{\"bundle_id\":\"b\",\"id\":\"x\",\"stack\":[1]}]"),
                     ERR_OK);
    ck_assert_uint_eq(result.op->u.batches.count, 2);
    ck_assert_int_ne(memcmp(batch(0)->stacks[0].hash, batch(1)->stacks[0].hash, STACK_HASH_SIZE),
                     0);
    ck_assert_int_ne(memcmp(batch(0)->reports[0].id_hash, batch(1)->reports[0].id_hash, 16), 0);
    ingest_result_done(&result);
}
END_TEST

START_TEST(deep_stacks_are_cut_at_the_outer_end)
{
    size_t frames = INGEST_LIMITS_DEFAULT.frames + 5;
    char *body = malloc(frames * 8 + 200);
    size_t n = (size_t)snprintf(body, 100, "{" APP ",\"id\":\"a\",\"stack\":[");
    for (size_t i = 0; i < frames; i++)
        n += (size_t)snprintf(body + n, 16, "%s%zu", i ? "," : "", i + 1);
    snprintf(body + n, 16, "]}");
    ck_assert_int_eq(take(body), ERR_OK);
    ck_assert_uint_eq(batch(0)->stacks[0].frame_count, INGEST_LIMITS_DEFAULT.frames);
    ck_assert_uint_eq(result.dropped_count, 1);
    ck_assert_str_eq(result.dropped[0].path, "stack");
    ingest_result_done(&result);
    free(body);
}
END_TEST

START_TEST(memory_is_capped)
{
    struct ingest_limits tight = INGEST_LIMITS_DEFAULT;
    tight.arena_bytes = 4096;
    char body[20000];
    size_t n = (size_t)snprintf(body, sizeof(body), "{" APP ",\"reports\":[");
    for (int i = 0; i < 200; i++)
        n += (size_t)snprintf(body + n, sizeof(body) - n, "%s{\"id\":\"r%d\",\"stack\":[1,2,3]}",
                              i ? "," : "", i);
    snprintf(body + n, sizeof(body) - n, "]}");
    struct ingest_request request = {
        .body = body, .len = strlen(body), .media = INGEST_JSON, .now_ms = NOW, .limits = &tight};
    ck_assert_int_eq(ingest_body(&request, &result, &err), ERR_LIMIT);
    tight = INGEST_LIMITS_DEFAULT;
    tight.reports = 199;
    ck_assert_int_eq(ingest_body(&request, &result, &err), ERR_LIMIT);
    tight.reports = 200;
    ck_assert_int_eq(ingest_body(&request, &result, &err), ERR_OK);
    ck_assert_uint_eq(result.reports, 200);
    ingest_result_done(&result);
}
END_TEST

/* A body may be let in and then take too much memory to become an op: whatever memory there is, it
 * takes nothing of the quota when nothing of it comes in. */
START_TEST(what_fails_takes_no_quota)
{
    const struct admission_options options = {.standard = {0, 20, 1}};
    struct admission *admission = admission_new(&options);
    struct ingest_limits limits = INGEST_LIMITS_DEFAULT;
    char body[4000];
    size_t failed = 0;
    size_t len =
        (size_t)snprintf(body, sizeof(body), "{\"app\":{" APP "}," IMAGES ",\"reports\":[");
    for (int i = 0; i < 20; i++)
        len += (size_t)snprintf(body + len, sizeof(body) - len,
                                "%s{\"id\":\"q%d\",\"stack\":[\"0x10040a2db\",%d]}", i ? "," : "",
                                i, 4096 + i);
    snprintf(body + len, sizeof(body) - len, "]}");
    struct ingest_request request = {.body = body,
                                     .len = strlen(body),
                                     .media = INGEST_JSON,
                                     .now_ms = NOW,
                                     .limits = &limits,
                                     .admission = admission};
    for (limits.arena_bytes = 4096; failed < 1000; limits.arena_bytes += 512) {
        if (ingest_body(&request, &result, &err) == ERR_OK)
            break;
        ck_assert_int_eq(err.code, ERR_LIMIT);
        failed++;
    }
    ck_assert_uint_gt(failed, 4);
    ck_assert_uint_eq(result.reports, 20);
    ck_assert_uint_eq(result.rejected_count, 0);
    ingest_give_back(admission, result.op, false);
    ingest_result_done(&result);
    admission_free(admission);
}
END_TEST

UNIT_MAIN("ingest", batch_object, flat_report_as_documented, one_bad_report_is_refused_alone,
          ndjson_lines_fail_alone, bodies_that_are_no_batch, media_types_that_are_mixed_up,
          all_refused_is_no_error, shapes_that_are_none_are_named, bound_token_takes_no_other_app,
          device_clock, equal_stacks_are_folded, outermost_first_is_turned,
          stalled_thread_is_the_stack, longest_stage_of_samples_is_the_culprit,
          slide_group_is_that_of_each_report_s_os, slide_alone_gives_the_same_stack,
          each_app_places_by_its_own_word, image_sets, two_lists_of_one_name_in_a_body,
          each_image_set_is_remembered, empty_stacks_count_without_one,
          skipped_stacks_and_frame_drops, what_must_not_be_stored_is_dropped,
          odd_thresholds_are_told, rates_below_the_least_are_told, long_texts_are_cut,
          empty_uuids_are_told, content_id_is_stable, apps_are_kept_apart,
          deep_stacks_are_cut_at_the_outer_end, memory_is_capped, what_fails_takes_no_quota)
