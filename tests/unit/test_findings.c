/* With real parts all round: database, writer, resolver, index files. */
#include "server/jobs/findings.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "storage/read_findings.h"
#include "tests/support/rig.h"
#include "tests/support/unit.h"

#define APP   "com.example.shop"
#define PLACE 3 /* stacks of a report */

static struct rig rig;
static struct rules *rules;
static struct resolver *resolver;
static struct findings *findings;
static struct uuid shop;

static void start_jobs(void)
{
    struct error err;
    struct resolver_options options = {.workers = 1, .page = 64, .frame_cache_entries = 256};
    ck_assert_int_eq(resolver_start(rig.storage, rig.writer, rig.cache, rules, &options,
                                    rig.metrics, &resolver, &err),
                     ERR_OK);
    atomic_store(&rig.resolver, resolver);
    ck_assert_int_eq(findings_start(rig.storage, rig.writer, rules, rig.metrics, &findings, &err),
                     ERR_OK);
}

static void stop_jobs(void)
{
    findings_stop(findings);
    findings = NULL;
    atomic_store(&rig.resolver, NULL);
    resolver_stop(resolver);
    resolver = NULL;
}

static void setup(void)
{
    struct error err;
    memset(shop.bytes, 0x51, sizeof(shop.bytes));
    rig_start(&rig);
    ck_assert_msg(rules_new_default(&rules, &err) == ERR_OK, "%s", err.text);
}

static void teardown(void)
{
    stop_jobs();
    rules_free(rules);
    rig_stop(&rig);
}

static struct op_stack stack_at(struct write_op *op, uint64_t offset)
{
    struct raw_frame frame = {
        .image = shop, .offset = offset, .image_kind = IMAGE_UUID, .kind = FRAME_LEAF};
    struct raw_stack raw = {&frame, 1};
    struct op_stack s = {.frame_count = 1};
    struct buf bytes;
    buf_init(&bytes, 4096);
    raw_stack_hash(APP, &raw, s.hash);
    ck_assert(raw_stack_encode(&raw, &bytes));
    s.raw = arena_memdup(op->arena, bytes.data, bytes.len);
    s.raw_len = bytes.len;
    buf_done(&bytes);
    return s;
}

/* Samples at two places inside the function of rig_put_index, one outside of it: 300 + 300 + 400 ms.
 * Without symbols the last one is the longest stage, with them the first two are. */
static struct write_op *report(const char *id)
{
    static const uint64_t places[PLACE] = {0x1010, 0x1020, 0x3000};
    struct raw_frame leaf = {
        .image = shop, .offset = 0x3000, .image_kind = IMAGE_UUID, .kind = FRAME_LEAF};
    struct op_image image = {
        .id = shop, .kind = IMAGE_UUID, .class = IMAGE_CLASS_APP, .name = "Shop"};
    struct write_op *op = ops_report(APP, id, &leaf, 1, &image, 1);
    struct op_batch *b = op->u.batches.items;
    struct op_stack *stacks = arena_array(op->arena, PLACE, sizeof(*stacks));
    struct op_sample *samples = arena_array(op->arena, PLACE, sizeof(*samples));
    ck_assert(stacks && samples);
    for (uint32_t i = 0; i < PLACE; i++) {
        stacks[i] = stack_at(op, places[i]);
        samples[i] = (struct op_sample){
            .offset_ms = (int32_t)i * 300, .stack = i, .repeat_count = 1, .cpu_usage = -1};
    }
    b->stacks = stacks;
    b->stack_count = PLACE;
    b->reports[0].samples = samples;
    b->reports[0].sample_count = PLACE;
    b->reports[0].stack = 2;
    return op;
}

static struct stats_row stats(void)
{
    struct stats_row s;
    struct error err;
    ck_assert_int_eq(read_stats(rig.reader, NULL, &s, &err), ERR_OK);
    return s;
}

static void settle(void)
{
    int64_t deadline = clock_mono_ms() + 20000;
    for (;;) {
        struct stats_row s = stats();
        if (s.pending_stacks == 0 && s.pending_findings == 0)
            return;
        ck_assert_msg(clock_mono_ms() < deadline, "%d stacks, %d findings", (int)s.pending_stacks,
                      (int)s.pending_findings);
        findings_ring(findings); /* the rig's writer rings the resolver alone */
        usleep(2000);
    }
}

static struct report_row show(const char *id)
{
    struct report_row r;
    struct error err;
    arena_reset(&rig.arena);
    ck_assert_msg(read_report(rig.reader, APP, id, &rig.arena, &r, &err) == ERR_OK, "%s", err.text);
    return r;
}

static void send_symbols(void)
{
    struct write_op *op = write_op_new(WRITE_UPLOAD, 4096);
    struct op_slice slice = {.shelf = shop,
                             .name = "Shop",
                             .member = "",
                             .arch = "arm64",
                             .indexed = true,
                             .installed = true,
                             .functions = 1,
                             .text_vmaddr = 0x100000000,
                             .text_size = 0x8000};
    struct error err;
    rig_put_index(&rig, &shop, "Feed_decode");
    op->u.upload = (struct op_upload){.size = 1,
                                      .spool_file = "x",
                                      .bundle_id = APP,
                                      .version = "",
                                      .build = "",
                                      .os_build = "",
                                      .now_ms = OPS_TIME_MS};
    ck_assert_int_eq(rig_call(&rig, op, &err), ERR_OK);
    struct write_op *state = write_op_new(WRITE_UPLOAD_STATE, 4096);
    state->u.upload_state = (struct op_upload_state){.id = op->u.upload.id,
                                                     .state = UPLOAD_INDEXED,
                                                     .slices = &slice,
                                                     .slice_count = 1,
                                                     .now_ms = OPS_TIME_MS};
    ck_assert_int_eq(rig_call(&rig, state, &err), ERR_OK);
    write_op_free(state);
    write_op_free(op);
}

START_TEST(symbols_change_the_culprit)
{
    setup();
    start_jobs();
    rig_apply(&rig, report("a"));
    settle();
    struct report_row r = show("a");
    ck_assert(r.finding.has_culprit);
    ck_assert_uint_eq(r.finding.sample, 2);
    ck_assert_int_eq(r.finding.stage_ms, 400);
    send_symbols();
    settle();
    r = show("a");
    ck_assert_uint_eq(r.finding.sample, 1);
    ck_assert_int_eq(r.finding.stage_ms, 600);
    ck_assert_int_eq(r.finding.total_ms, 1000);
    ck_assert_double_eq_tol(r.finding.confidence, .6, 1e-6);
    ck_assert_uint_eq(r.stack.stack_id, r.samples[1].stack.stack_id);
    rig_apply(&rig, report("b")); /* after its symbols: the same */
    settle();
    ck_assert_uint_eq(show("b").finding.sample, 1);
    ck_assert_uint_eq(show("b").cluster_id, show("a").cluster_id);
    stop_jobs(); /* counted after the commit */
    ck_assert_int_ge(metrics_get(rig.metrics, METRIC_FINDINGS_MOVED), 1);
    teardown();
}
END_TEST

START_TEST(a_restart_goes_on)
{
    char id[16];
    setup();
    start_jobs();
    for (int i = 0; i < 300; i++) {
        snprintf(id, sizeof(id), "r%d", i);
        rig_apply(&rig, report(id));
        if (i % 100 == 50) {
            stop_jobs();
            rig_restart(&rig);
            send_symbols();
            start_jobs();
        }
    }
    settle();
    for (int i = 0; i < 300; i++) {
        snprintf(id, sizeof(id), "r%d", i);
        ck_assert_uint_eq(show(id).finding.sample, 1);
    }
    struct cluster_findings found;
    struct error err;
    ck_assert_int_eq(read_cluster_findings(rig.reader, show("r0").cluster_id, &found, &err),
                     ERR_OK);
    ck_assert_uint_eq(found.culprits, 300);
    ck_assert_double_eq_tol(found.mean_confidence, .6, 1e-6);
    teardown();
}
END_TEST

UNIT_MAIN("findings", symbols_change_the_culprit, a_restart_goes_on)
