/*
 * fuzz_usage - any bytes are a body of times of use.
 *
 * The first byte chooses the media type and whether the token is bound to an app. What must hold:
 * each item is either in the op or refused, once, with a reason; times, launches and weights are
 * inside their bounds, also with the sampling undone; a day is one that counts.
 */
#include "base/clock.h"
#include "server/ingest/usage.h"
#include "storage/op_usage.h"
#include "tests/fuzz/fuzz_body.h"

#define ITEMS_MAX 100

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

static void check_item(const struct op_usage_item *u)
{
    const char *const texts[] = {u->bundle_id, u->version,    u->build,    u->device,
                                 u->arch,      u->os_version, u->os_build, u->page};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        require_text(texts[i]);
    REQUIRE(u->bundle_id[0] && u->weight >= 1);
    REQUIRE(u->foreground_ms >= 0 && u->foreground_ms <= USAGE_FOREGROUND_MAX);
    REQUIRE(u->launches >= 0 && u->launches <= USAGE_LAUNCHES_MAX);
    REQUIRE(usage_foreground(u) >= u->foreground_ms && usage_launches(u) >= u->launches);
    int32_t today = clock_day(FUZZ_NOW_MS);
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
        require_text(r->rejected[i].path);
        require_text(r->rejected[i].reason);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return fuzz_body(data, size, &limits, ingest_usage, check);
}
