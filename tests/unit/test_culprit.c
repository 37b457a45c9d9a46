#include "server/analysis/culprit.h"

#include <string.h>

#include "tests/support/unit.h"

#define SAMPLES_MAX 64

static struct arena arena;
static struct culprit_sample samples[SAMPLES_MAX];
static size_t count;
static struct culprit c;

/* Frames "decode < reload", innermost first; the key is the innermost. "" is an idle sample. */
static void sample(int64_t at_ms, const char *frames)
{
    struct culprit_sample *s = &samples[count++];
    const char **names = arena_array(&arena, 64, sizeof(*names));
    char *text = arena_strdup(&arena, frames);
    *s = (struct culprit_sample){.at_ms = at_ms, .names = names, .idle = !*frames};
    for (char *at = text; at && *at; s->name_count++) {
        char *end = strstr(at, " < ");
        if (end)
            *end = 0;
        names[s->name_count] = at;
        at = end ? end + 3 : NULL;
    }
    const char *key = s->name_count ? names[0] : "";
    memcpy(s->key, key, strnlen(key, CLUSTER_KEY_SIZE));
}

static void start(void)
{
    arena_init(&arena, 4 << 20);
    count = 0;
}

static void find(int64_t end_ms)
{
    struct error err = {0};
    enum err e = culprit_of(samples, count, end_ms, &arena, &c, &err);
    ck_assert_msg(e == ERR_OK, "%s", err.text);
    int64_t sum = 0;
    for (size_t i = 0; i < c.stage_count; i++)
        sum += c.stages[i].length_ms;
    ck_assert_int_eq(sum, c.total_ms);
}

START_TEST(the_longest_stage)
{
    start();
    sample(0, "load < open");
    sample(100, "decode < open");
    sample(200, "decode < open");
    sample(300, "decode < open");
    sample(400, "draw < open");
    find(500);
    ck_assert_uint_eq(c.stage_count, 3);
    ck_assert_uint_eq(c.stage, 1);
    ck_assert_uint_eq(c.sample, 3); /* its last one */
    ck_assert_int_eq(c.stages[1].start_ms, 100);
    ck_assert_int_eq(c.stages[1].length_ms, 300);
    ck_assert_uint_eq(c.stages[1].first, 1);
    ck_assert_uint_eq(c.stages[1].samples, 3);
    ck_assert_int_eq(c.total_ms, 500);
    ck_assert_double_eq_tol(c.confidence, .6, 1e-9);
    arena_done(&arena);
}
END_TEST

START_TEST(time_counts_not_samples)
{
    start();
    sample(0, "a");
    sample(10, "a");
    sample(20, "a");
    sample(30, "b");
    find(1000);
    ck_assert_uint_eq(c.sample, 3);
    ck_assert_int_eq(c.stages[c.stage].length_ms, 970);
    arena_done(&arena);
}
END_TEST

START_TEST(ties_go_to_the_most_recent)
{
    start();
    sample(0, "a");
    sample(100, "b");
    sample(200, "c");
    find(300);
    ck_assert_uint_eq(c.sample, 2);
    /* without times: by the number of samples */
    count = 0;
    sample(0, "a");
    sample(0, "a");
    sample(0, "b");
    find(-1);
    ck_assert_uint_eq(c.sample, 1);
    ck_assert_double_eq_tol(c.confidence, 2.0 / 3, 1e-9);
    arena_done(&arena);
}
END_TEST

START_TEST(the_last_sample_lasts_as_long_as_others)
{
    start();
    sample(0, "a");
    sample(50, "b");
    sample(100, "b");
    find(-1);
    ck_assert_int_eq(c.stages[1].length_ms, 100);
    ck_assert_int_eq(c.total_ms, 150);
    count = 1;
    find(-1);
    ck_assert_uint_eq(c.sample, 0);
    ck_assert_double_eq_tol(c.confidence, 1, 1e-9);
    arena_done(&arena);
}
END_TEST

START_TEST(order_is_that_of_time)
{
    start();
    sample(200, "b");
    sample(0, "a");
    sample(100, "a");
    find(250);
    ck_assert_uint_eq(c.sample, 2);
    ck_assert_uint_eq(c.stages[0].first, 1);
    ck_assert_uint_eq(c.stages[0].last, 2);
    arena_done(&arena);
}
END_TEST

START_TEST(an_idle_app_is_no_culprit)
{
    start();
    sample(0, "a");
    sample(100, "");
    sample(200, "");
    find(1000);
    ck_assert_uint_eq(c.sample, 0);
    ck_assert_double_eq_tol(c.confidence, .1, 1e-9);
    count = 0;
    sample(0, "");
    sample(500, "b");
    find(600);
    ck_assert_uint_eq(c.sample, 1);
    count = 1;
    find(600);
    ck_assert_uint_eq(c.sample, 0); /* there is nothing else */
    arena_done(&arena);
}
END_TEST

static const struct culprit_node *node(const char *name, int64_t start_ms)
{
    for (size_t i = 0; i < c.node_count; i++) {
        if (strcmp(c.nodes[i].name, name) == 0 && c.nodes[i].start_ms == start_ms)
            return &c.nodes[i];
    }
    ck_abort_msg("no %s at %d", name, (int)start_ms);
    return NULL;
}

START_TEST(the_tree_of_stages)
{
    start();
    sample(0, "decode < reload < tap");
    sample(300, "reload < tap");
    sample(400, "parse < reload < tap");
    sample(600, "other < tap");
    sample(700, "reload < tap");
    find(1240);
    ck_assert_uint_eq(c.node_count, 6);
    ck_assert_int_eq(node("tap", 0)->length_ms, 1240);
    ck_assert_uint_eq(node("tap", 0)->parent, SIZE_MAX);
    ck_assert_int_eq(node("reload", 0)->length_ms, 600);
    ck_assert_int_eq(node("decode", 0)->length_ms, 300);
    ck_assert_uint_eq(node("decode", 0)->depth, 2);
    ck_assert_str_eq(c.nodes[node("decode", 0)->parent].name, "reload");
    ck_assert_int_eq(node("parse", 400)->length_ms, 200);
    ck_assert_str_eq(c.nodes[node("parse", 400)->parent].name, "reload");
    ck_assert_int_eq(c.nodes[node("parse", 400)->parent].start_ms, 0);
    ck_assert_int_eq(node("reload", 700)->length_ms, 540); /* it was gone in between */
    arena_done(&arena);
}
END_TEST

START_TEST(odd_times_and_too_many_samples)
{
    static struct culprit_sample many[CULPRIT_SAMPLES_MAX + 1];
    struct error err = {0};
    start();
    sample(INT64_MIN, "a");
    sample(INT64_MAX, "b");
    sample(0, "c");
    find(INT64_MAX);
    find(INT64_MIN);
    ck_assert_int_eq(culprit_of(samples, 0, 0, &arena, &c, &err), ERR_INVALID);
    ck_assert_int_eq(culprit_of(many, CULPRIT_SAMPLES_MAX, 0, &arena, &c, &err), ERR_OK);
    ck_assert_int_eq(culprit_of(many, CULPRIT_SAMPLES_MAX + 1, 0, &arena, &c, &err), ERR_LIMIT);
    count = 0;
    char deep[64 * 4] = "f";
    for (int i = 0; i < 60; i++)
        memcpy(deep + 1 + i * 4, " < f", 4);
    sample(0, deep);
    find(10);
    ck_assert_uint_eq(c.node_count, CULPRIT_DEPTH_MAX);
    arena_done(&arena);
}
END_TEST

START_TEST(raw_keys_leave_the_leaf_out)
{
    uint8_t a[CLUSTER_KEY_SIZE];
    uint8_t b[CLUSTER_KEY_SIZE];
    struct raw_frame frames[3] = {{.offset = 0x10, .image_kind = IMAGE_UUID},
                                  {.offset = 0x20, .image_kind = IMAGE_UUID, .kind = FRAME_RETURN},
                                  {.offset = 0x30, .image_kind = IMAGE_UUID, .kind = FRAME_RETURN}};
    struct raw_stack stack = {frames, 3};
    culprit_raw_key("app", &stack, a);
    frames[0].offset = 0x18;
    culprit_raw_key("app", &stack, b);
    ck_assert_mem_eq(a, b, sizeof(a));
    frames[1].offset = 0x28;
    culprit_raw_key("app", &stack, b);
    ck_assert_mem_ne(a, b, sizeof(a));
    stack.count = 1; /* a lone leaf is all there is */
    culprit_raw_key("app", &stack, a);
    frames[0].offset = 0x10;
    culprit_raw_key("app", &stack, b);
    ck_assert_mem_ne(a, b, sizeof(a));
}
END_TEST

UNIT_MAIN("culprit", the_longest_stage, time_counts_not_samples, ties_go_to_the_most_recent,
          the_last_sample_lasts_as_long_as_others, order_is_that_of_time, an_idle_app_is_no_culprit,
          the_tree_of_stages, odd_times_and_too_many_samples, raw_keys_leave_the_leaf_out)
