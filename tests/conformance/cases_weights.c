/* What stacks weigh: sums from whatever table can tell, and the time of samples. */
#include <check.h>
#include <string.h>

#include "base/clock.h"
#include "storage/read_stack_weights.h"
#include "tests/conformance/suite.h"

static const uint32_t all_images[] = {1, 2, 3, 4};

static enum err take_other(void *ctx, const struct weighed_stack *stack, struct error *err)
{
    (void)err;
    ck_assert_str_eq(weighed_frame_at(stack, 0)->function, WEIGHT_OTHER_NAME);
    *(int64_t *)ctx += stack->weights[0].weighted;
    return ERR_OK;
}

/* Names come from clients: those that there is no room for do not take the answer away. */
static void names_that_do_not_fit(struct suite *s, const struct read_filter *f)
{
    struct breakdown_scope scope;
    struct error err = {0};
    struct arena small;
    int64_t weighted = 0;
    arena_init(&small, 4);
    enum err rc =
        read_stack_weights(s->reader, 0, f, 1, &small, take_other, &weighted, &scope, &err);
    ck_assert_msg(rc == ERR_OK, "%s", err.text);
    ck_assert_int_eq(weighted, 6500000);
    arena_done(&small);
}

/* Weights by the number of the stack. */
#define STACKS 16
struct weighed {
    struct suite *s;
    struct stack_weight of[STACKS][WEIGHT_FILTERS_MAX];
    size_t count, named;
    uint64_t last_id;
};

static uint32_t number_of(struct suite *s, const struct weighed_stack *stack)
{
    struct error err = {0};
    struct raw_stack raw;
    ck_assert_int_eq(raw_stack_decode(stack->raw, stack->raw_len, &s->arena, &raw, &err), ERR_OK);
    for (uint32_t k = 0; k < STACKS; k++) {
        struct raw_stack want = suite_stack(&s->arena, k);
        if (want.count == raw.count && want.frames[0].offset == raw.frames[0].offset &&
            uuid_equal(&want.frames[0].image, &raw.frames[0].image))
            return k;
    }
    ck_abort_msg("a stack nobody sent");
    return 0;
}

static enum err take(void *ctx, const struct weighed_stack *stack, struct error *err)
{
    struct weighed *w = ctx;
    (void)err;
    ck_assert_uint_gt(stack->stack_id, w->last_id);
    w->last_id = stack->stack_id;
    memcpy(w->of[number_of(w->s, stack)], stack->weights, sizeof(stack->weights));
    w->count++;
    ck_assert_uint_ge(stack->frame_count, 1);
    const struct weighed_frame *first = weighed_frame_at(stack, 0);
    w->named += first->function != NULL;
    ck_assert(first->function || first->offset);
    return ERR_OK;
}

static struct weighed weigh(struct suite *s, uint64_t cluster, const struct read_filter *f,
                            size_t count, const char *source)
{
    struct weighed w = {.s = s};
    struct breakdown_scope scopes[2];
    struct error err = {0};
    enum err rc =
        read_stack_weights(s->reader, cluster, f, count, &s->arena, take, &w, scopes, &err);
    ck_assert_msg(rc == ERR_OK, "%s", err.text);
    ck_assert_str_eq(scopes[0].source, source);
    return w;
}

static void expect(const struct weighed *w, uint32_t stack, int64_t count, int64_t millionths,
                   int64_t stall_ms)
{
    ck_assert_int_eq(w->of[stack][0].count, count);
    ck_assert_int_eq(w->of[stack][0].weighted, millionths);
    ck_assert_int_eq(w->of[stack][0].stall_ms, stall_ms);
}

void suite_stacks_have_weights(struct suite *s)
{
    const int64_t day = CLOCK_DAY_MS;
    const struct suite_report reports[] = {
        {.id = "a", .stack = 0, .duration_ms = 900},
        {.id = "b", .stack = 0, .duration_ms = 100, .weight = 2.5, .build = "101"},
        {.id = "c", .stack = 0, .duration_ms = -1, .device = "iPad1,1", .os = "16.0"},
        {.id = "d", .stack = 1, .duration_ms = 300, .page = "Feed", .kind = REPORT_HANG},
        {.id = "e",
         .stack = 8,
         .duration_ms = 50,
         .time_ms = SUITE_NOW - 8 * day,
         .version = "0.9"},
        {.id = "f", .stack = SUITE_NO_STACK, .duration_ms = 5000},
    };
    struct read_filter f, two[2];
    suite_index(s, all_images, 4, 1);
    suite_apply(s, suite_batch(SUITE_APP, reports, 6));
    const struct suite_report other = {.id = "a", .stack = 2};
    suite_apply(s, suite_batch("com.other", &other, 1));
    read_filter_init(&f);
    struct weighed w = weigh(s, 0, &f, 1, "counters"); /* not resolved yet */
    ck_assert_uint_eq(w.count, 4);
    ck_assert_uint_eq(w.named, 0);
    suite_resolve(s);
    if (strcmp(s->backend, "sqlite") == 0)
        suite_reopen(s);
    f.bundle_id = SUITE_APP;
    w = weigh(s, 0, &f, 1, "counters");
    ck_assert_uint_eq(w.count, 3);
    ck_assert_uint_eq(w.named, 3);
    expect(&w, 0, 3, 4500000, 900 + 250);
    expect(&w, 1, 1, 1000000, 300);
    expect(&w, 8, 1, 1000000, 50);
    if (strcmp(s->backend, "sqlite") == 0)
        names_that_do_not_fit(s, &f);
    /* Each table, and reports where none can tell. */
    f.build = "101";
    w = weigh(s, 0, &f, 1, "counters");
    ck_assert_uint_eq(w.count, 1);
    expect(&w, 0, 1, 2500000, 250);
    f.build = NULL;
    f.device = "iPad1,1";
    w = weigh(s, 0, &f, 1, "counters");
    ck_assert_uint_eq(w.count, 1);
    expect(&w, 0, 1, 1000000, 0);
    f.kind = REPORT_STALL;
    w = weigh(s, 0, &f, 1, "reports");
    expect(&w, 0, 1, 1000000, 0);
    f.device = NULL;
    f.page = "Feed";
    f.kind = -1;
    w = weigh(s, 0, &f, 1, "counters");
    ck_assert_uint_eq(w.count, 1);
    expect(&w, 1, 1, 1000000, 300);
    f.page = NULL;
    f.min_duration_ms = 200;
    w = weigh(s, 0, &f, 1, "reports");
    ck_assert_uint_eq(w.count, 2);
    expect(&w, 0, 1, 1000000, 900);
    /* Two to compare. */
    f.min_duration_ms = -1;
    two[0] = two[1] = f;
    two[0].version = "1.0";
    two[1].version = "0.9";
    w = weigh(s, 0, two, 2, "counters");
    ck_assert_uint_eq(w.count, 3);
    ck_assert_int_eq(w.of[0][1].count + w.of[1][1].count + w.of[8][0].count, 0);
    ck_assert_int_eq(w.of[8][1].stall_ms, 50);
    expect(&w, 0, 3, 4500000, 1150);
}

void suite_weights_of_a_cluster(struct suite *s)
{
    const struct suite_report reports[] = {{.id = "a", .stack = 0},
                                           {.id = "b", .stack = 1},
                                           {.id = "c", .stack = 8},
                                           {.id = "d", .stack = 8, .kind = REPORT_HANG}};
    struct error err = {0};
    struct read_filter f;
    struct cluster_row *rows;
    struct breakdown_scope scope;
    const char *next = NULL;
    size_t count = 0;
    suite_index(s, all_images, 4, 1);
    suite_apply(s, suite_batch(SUITE_APP, reports, 4));
    suite_resolve(s);
    read_filter_init(&f);
    ck_assert_int_eq(
        read_clusters(s->reader, NULL, SORT_COUNT, 10, NULL, &s->arena, &rows, &count, &next, &err),
        ERR_OK);
    ck_assert_uint_eq(count, 2);
    uint64_t total = 0;
    for (size_t i = 0; i < 2; i++) {
        struct weighed w = weigh(s, rows[i].id, &f, 1, "counters");
        ck_assert_uint_eq(w.count, rows[i].stacks);
        for (size_t k = 0; k < STACKS; k++)
            total += (uint64_t)w.of[k][0].count;
    }
    ck_assert_uint_eq(total, 4);
    f.kind = REPORT_HANG;
    struct weighed w = weigh(s, rows[0].id, &f, 1, "counters");
    struct weighed other = weigh(s, rows[1].id, &f, 1, "counters");
    ck_assert_uint_eq(w.count + other.count, 1);
    f.kind = -1;
    f.category = rows[0].category;
    ck_assert_uint_ge(weigh(s, 0, &f, 1, "counters").count, rows[0].stacks);
    f.category = "no such thing";
    ck_assert_uint_eq(weigh(s, 0, &f, 1, "counters").count, 0);
    f.category = NULL;
    f.state = "resolved";
    ck_assert_uint_eq(weigh(s, 0, &f, 1, "counters").count, 0);
    f.state = "open";
    ck_assert_uint_eq(weigh(s, 0, &f, 1, "counters").count, 3);
    ck_assert_int_eq(read_stack_weights(s->reader, 99, &f, 1, &s->arena, take, &w, &scope, &err),
                     ERR_NOT_FOUND);
    ck_assert_int_eq(read_stack_weights(s->reader, 0, &f, 3, &s->arena, take, &w, &scope, &err),
                     ERR_INVALID);
    ck_assert_int_eq(read_stack_weights(s->reader, 0, &f, 0, &s->arena, take, &w, &scope, &err),
                     ERR_INVALID);
}

/* One report of 1,000 ms whose samples say when they were taken, or how often. */
static void sampled(struct suite *s, const char *id, const int32_t *offsets,
                    const uint32_t *repeats, double weight)
{
    const struct suite_report r = {
        .id = id, .stack = 0, .samples = 3, .duration_ms = 1000, .weight = weight};
    struct write_op *op = suite_batch(SUITE_APP, &r, 1);
    struct op_sample *samples = (struct op_sample *)op->u.batches.items[0].reports[0].samples;
    for (size_t i = 0; i < 3; i++) {
        samples[i].offset_ms = offsets[i];
        samples[i].repeat_count = repeats[i];
    }
    suite_apply(s, op);
}

void suite_samples_have_the_time(struct suite *s)
{
    static const uint32_t once[] = {1, 1, 1};
    struct read_filter f;
    read_filter_init(&f);
    suite_index(s, all_images, 4, 1);
    /* Stack 1 from the start to 600, 2 to 700, 3 to the end; the report's own stack counts. */
    sampled(s, "a", (const int32_t[]){500, 600, 700}, once, 1);
    suite_resolve(s);
    struct weighed w = weigh(s, 0, &f, 1, "counters");
    ck_assert_uint_eq(w.count, 4);
    expect(&w, 0, 1, 1000000, 0);
    expect(&w, 1, 0, 0, 600);
    expect(&w, 2, 0, 0, 100);
    expect(&w, 3, 0, 0, 300);
    /* Another one that took 1 of 4: out of order, behind the end; all adds up. */
    sampled(s, "b", (const int32_t[]){500, 400, 2000}, once, 4);
    w = weigh(s, 0, &f, 1, "counters");
    expect(&w, 1, 0, 0, 600 + 1600);
    expect(&w, 2, 0, 0, 100 + 2400);
    expect(&w, 3, 0, 0, 300);
    /* No times: by repeats. */
    sampled(s, "c", (const int32_t[]){0, 0, 0}, (const uint32_t[]){1, 0, 5}, 1);
    f.min_duration_ms = 1; /* from reports: the same */
    w = weigh(s, 0, &f, 1, "reports");
    expect(&w, 0, 3, 6000000, 0);
    expect(&w, 1, 0, 0, 600 + 1600 + 142);
    expect(&w, 2, 0, 0, 100 + 2400 + 143);
    expect(&w, 3, 0, 0, 300 + 715);
    f.min_duration_ms = -1;
    /* Under the cluster of the report's own stack, wherever the samples' are. */
    uint64_t cluster = suite_cluster(s, NULL).id;
    w = weigh(s, cluster, &f, 1, "counters");
    expect(&w, 3, 0, 0, 1015);
    /* When the reports are gone their time is their own stack's. */
    struct write_op *op = write_op_new(WRITE_EXPIRE, 4096);
    op->u.expire = (struct op_expire){.now_ms = SUITE_NOW + 90 * CLOCK_DAY_MS,
                                      .reports_before_ms = SUITE_NOW + 90 * CLOCK_DAY_MS,
                                      .max_rows = 1000};
    suite_apply(s, op);
    w = weigh(s, 0, &f, 1, "counters");
    ck_assert_uint_eq(w.count, 1);
    expect(&w, 0, 3, 6000000, 6000);
}
