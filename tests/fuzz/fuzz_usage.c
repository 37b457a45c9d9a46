/*
 * fuzz_usage - any bytes are a body of times of use.
 *
 * The first byte chooses the media type and whether the token is bound to an app. What must hold:
 * each item is either in the op or refused, once, with a reason; times, launches and weights are
 * inside their bounds, also with the sampling undone; a day is one that counts.
 */
#include "base/clock.h"
#include "base/utf8.h"
#include "server/ingest/usage.h"
#include "storage/op_usage.h"
#include "tests/fuzz/fuzz.h"

#define ITEMS_MAX 100
#define NOW_MS    INT64_C(1796000000000)

static const struct ingest_limits limits = {
    .reports = ITEMS_MAX,
    .frames = 8,
    .images = 8,
    .samples = 8,
    .threads = 8,
    .path_bytes = 64,
    .tags = 8,
    .arena_bytes = (size_t)16 << 20,
};

static void check_text(const char *s)
{
    REQUIRE(s && utf8_valid(s, strlen(s)));
    for (; *s; s++)
        REQUIRE((unsigned char)*s >= 0x20 && *s != 0x7f);
}

static void check_item(const struct op_usage_item *u)
{
    const char *const texts[] = {u->bundle_id, u->version,    u->build,    u->device,
                                 u->arch,      u->os_version, u->os_build, u->page};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        check_text(texts[i]);
    REQUIRE(u->bundle_id[0] && u->weight >= 1);
    REQUIRE(u->foreground_ms >= 0 && u->foreground_ms <= USAGE_FOREGROUND_MAX);
    REQUIRE(u->launches >= 0 && u->launches <= USAGE_LAUNCHES_MAX);
    REQUIRE(usage_foreground(u) >= u->foreground_ms && usage_launches(u) >= u->launches);
    int32_t today = clock_day(NOW_MS);
    REQUIRE(u->day >= today - 30 && u->day <= today + 1);
}

static void check(const struct ingest_result *r)
{
    const struct op_usage *u = r->op ? &r->op->u.usage : NULL;
    REQUIRE(r->reports + r->rejected_count <= ITEMS_MAX && (u != NULL) == (r->reports > 0));
    REQUIRE(!u || u->count == r->reports);
    for (size_t i = 0; u && i < u->count; i++)
        check_item(&u->items[i]);
    for (size_t i = 0; i < r->rejected_count; i++) {
        REQUIRE(r->rejected[i].reason[0]);
        check_text(r->rejected[i].path);
        check_text(r->rejected[i].reason);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct ingest_result result;
    struct error err = {.code = ERR_OK};
    if (size < 1)
        return 0;
    const struct ingest_request request = {
        .body = (const char *)data + 1,
        .len = size - 1,
        .media = data[0] & 1 ? INGEST_NDJSON : INGEST_JSON,
        .bundle_id = data[0] & 2 ? "com.example.shop" : NULL,
        .now_ms = NOW_MS,
        .limits = &limits,
    };
    enum err rc = ingest_usage(&request, &result, &err);
    if (rc == ERR_OK) {
        check(&result);
        ingest_result_done(&result);
    } else {
        REQUIRE(rc == ERR_FORMAT || rc == ERR_INVALID || rc == ERR_LIMIT);
        REQUIRE(err.code == rc && err.text[0]);
    }
    return 0;
}
