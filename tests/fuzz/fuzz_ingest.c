/*
 * fuzz_ingest - any bytes are a body of reports.
 *
 * The first byte chooses the media type and whether the token is bound to an app. What must hold:
 * each report of the body is either in the op or refused, once; stacks are what the reports refer
 * to; every text is UTF-8 without control characters; a refusal has a reason.
 */
#include "server/ingest/report.h"
#include "tests/fuzz/fuzz_body.h"

#define REPORTS_MAX 200

static const struct ingest_limits limits = {
    .reports = REPORTS_MAX,
    .frames = 64,
    .images = 64,
    .samples = 20,
    .threads = 20,
    .path_bytes = 64,
    .tags = 8,
    .arena_bytes = (size_t)64 << 20,
};

static void check_stack(const struct op_batch *b, uint32_t stack, const void *addresses, size_t len)
{
    REQUIRE(stack == NO_STACK || stack < b->stack_count);
    REQUIRE(addresses || len == 0);
}

static void check_report(const struct op_batch *b, const struct op_report *r)
{
    const char *const texts[] = {r->id,         r->version,  r->build, r->device,
                                 r->os_version, r->os_build, r->arch,  r->page};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        require_text(texts[i]);
    REQUIRE(r->id[0] && r->weight >= 1 && r->duration_ms >= -1 && r->kind < REPORT_KINDS);
    REQUIRE(strlen(r->path) <= limits.path_bytes);
    REQUIRE(strlen(r->page) <= REPORT_TEXT_MAX && strlen(r->device) <= REPORT_TEXT_MAX);
    REQUIRE(r->sample_count <= limits.samples && r->thread_count <= limits.threads);
    check_stack(b, r->stack, r->addresses, r->addresses_len);
    for (size_t i = 0; i < r->sample_count; i++)
        check_stack(b, r->samples[i].stack, r->samples[i].addresses, r->samples[i].addresses_len);
    for (size_t i = 0; i < r->thread_count; i++)
        check_stack(b, r->threads[i].stack, r->threads[i].addresses, r->threads[i].addresses_len);
}

static void check_stacks(const struct op_batch *b, struct arena *arena)
{
    for (size_t i = 0; i < b->stack_count; i++) {
        const struct op_stack *s = &b->stacks[i];
        struct raw_stack raw;
        uint8_t hash[STACK_HASH_SIZE];
        REQUIRE(raw_stack_decode(s->raw, s->raw_len, arena, &raw, NULL) == ERR_OK);
        REQUIRE(raw.count == s->frame_count && raw.count <= limits.frames);
        raw_stack_hash(b->bundle_id, &raw, hash);
        REQUIRE(memcmp(hash, s->hash, sizeof(hash)) == 0);
    }
    for (size_t i = 0; i < b->image_count; i++)
        require_text(b->images[i].name);
}

static void check(const struct ingest_result *r)
{
    bool seen[REPORTS_MAX] = {false};
    size_t total = r->reports + r->rejected_count, in_op = 0;
    REQUIRE(total <= REPORTS_MAX && (r->op != NULL) == (r->reports > 0));
    for (size_t i = 0; r->op && i < r->op->u.batches.count; i++) {
        const struct op_batch *b = &r->op->u.batches.items[i];
        require_text(b->bundle_id);
        check_stacks(b, r->arena);
        for (size_t k = 0; k < b->report_count; k++) {
            check_report(b, &b->reports[k]);
            REQUIRE(b->reports[k].position < total && !seen[b->reports[k].position]);
            seen[b->reports[k].position] = true;
            in_op++;
        }
    }
    REQUIRE(in_op == r->reports);
    for (size_t i = 0; i < r->rejected_count; i++) {
        REQUIRE(r->rejected[i].index < total && !seen[r->rejected[i].index]);
        seen[r->rejected[i].index] = true;
        require_text(r->rejected[i].path);
        require_text(r->rejected[i].reason);
    }
    for (size_t i = 0; i < r->dropped_count; i++) {
        REQUIRE(r->dropped[i].index < total && r->dropped[i].reason[0]);
        require_text(r->dropped[i].path);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return fuzz_body(data, size, &limits, ingest_body, check);
}
