/* Covers: server/http/flame_json.c server/http/flame_folded.c server/http/flame_speedscope.c */
/* Covers: server/http/flame_svg.c */
#include "server/http/flame.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "tests/support/unit.h"

static struct call_tree *tree;
static struct buf out;

static void add(const char *const *names, size_t count, int64_t w0, int64_t w1)
{
    uint32_t functions[64];
    struct error err;
    const int64_t weights[2] = {w0, w1};
    for (size_t i = count; i-- > 0;) {
        const struct call_frame frame = {.function = names[count - 1 - i],
                                         .image = i % 2 ? "Shop" : NULL,
                                         .file = i % 2 ? "/src/a.c" : NULL,
                                         .in_app = i % 2};
        ck_assert_int_eq(call_tree_function(tree, &frame, &functions[i], &err), ERR_OK);
    }
    ck_assert_int_eq(call_tree_gather(tree, functions, count, weights, &err), ERR_OK);
    ck_assert_int_eq(call_tree_settle(tree, &err), ERR_OK);
}

#define STACK(w0, w1, ...)                                                                         \
    add((const char *const[]){__VA_ARGS__},                                                        \
        sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *), w0, w1)

static struct flame begin(bool by_time, bool compare)
{
    tree = call_tree_new((size_t)16 << 20);
    buf_done(&out);
    buf_init(&out, (size_t)16 << 20);
    return (struct flame){.tree = tree,
                          .by_time = by_time,
                          .compare = compare,
                          .stacks = 3,
                          .title = "com.<b>&amp;\"",
                          .version = {"7.2", "7.1"},
                          .scope = {"counters", INT64_MIN}};
}

static const char *print(const struct flame *f, void (*format)(const struct flame *, struct buf *))
{
    struct error err;
    ck_assert_int_eq(call_tree_sort(tree, &err), ERR_OK);
    buf_clear(&out);
    format(f, &out);
    ck_assert(!out.failed);
    return out.data ? out.data : "";
}

static json_t *parse(const char *text)
{
    json_error_t error;
    json_t *j = json_loads(text, 0, &error);
    ck_assert_msg(j != NULL, "%s: %s", error.text, text);
    return j;
}

START_TEST(json_is_a_tree)
{
    struct flame f = begin(true, false);
    STACK(5, 0, "main", "a");
    STACK(2, 0, "main");
    ck_assert_str_eq(
        print(&f, flame_json),
        "{\"weight\":\"time\",\"unit\":\"ms\",\"source\":\"counters\",\"since\":null,\"stacks\":3,"
        "\"nodes\":3,\"truncated\":false,\"total\":7,\"root\":{\"name\":\"all\",\"image\":null,"
        "\"file\":null,"
        "\"in_app\":false,\"value\":7,\"self\":0,\"children\":[{\"name\":\"main\",\"image\":"
        "\"Shop\",\"file\":\"/src/a.c\",\"in_app\":true,\"value\":5,\"self\":0,\"children\":[{"
        "\"name\":\"a\",\"image\":null,\"file\":null,\"in_app\":false,\"value\":5,\"self\":5,"
        "\"children\":[]}]},{\"name\":\"main\",\"image\":null,\"file\":null,\"in_app\":false,"
        "\"value\":2,\"self\":2,\"children\":[]}]}}");
    call_tree_free(tree);
}
END_TEST

/* Millionths of a report become reports, whole where they are. */
START_TEST(json_compares_shares)
{
    struct flame f = begin(false, true);
    STACK(3000000, 1000000, "a");
    STACK(1500000, 1000000, "b");
    json_t *j = parse(print(&f, flame_json));
    json_t *a = json_array_get(json_object_get(json_object_get(j, "root"), "children"), 0);
    json_t *b = json_array_get(json_object_get(json_object_get(j, "root"), "children"), 1);
    ck_assert_str_eq(json_string_value(json_object_get(j, "unit")), "reports");
    ck_assert_double_eq(json_number_value(json_object_get(j, "total")), 4.5);
    ck_assert_int_eq(json_integer_value(json_object_get(j, "compare_total")), 2);
    ck_assert_int_eq(json_integer_value(json_object_get(a, "value")), 3);
    ck_assert_double_eq(json_real_value(json_object_get(b, "value")), 1.5);
    ck_assert_double_eq_tol(json_real_value(json_object_get(a, "delta")), 3 / 4.5 - 0.5, 1e-9);
    ck_assert_double_eq_tol(json_real_value(json_object_get(b, "delta")), 1.5 / 4.5 - 0.5, 1e-9);
    json_decref(j);
    call_tree_free(tree);
}
END_TEST

static const char *const HOSTILE = "<script>alert(1)</script>&\"';\n]]>\x01\xff";

START_TEST(folded_lines)
{
    struct flame f = begin(false, false);
    STACK(2000000, 0, "main", HOSTILE);
    STACK(400000, 0, "main", HOSTILE, "b");
    STACK(1000000, 0, "main", "b;c");
    add(NULL, 0, 3000000, 0);
    ck_assert_str_eq(print(&f, flame_folded), "(no frames) 3\n"
                                              "main;<script>alert(1)</script>&\"': ]]> \xff 2\n"
                                              "main;b:c 1\n"
                                              "main;<script>alert(1)</script>&\"': ]]> \xff;b 1\n");
    call_tree_free(tree);
    f = begin(true, true);
    STACK(5, 7, "main", "a");
    STACK(0, 2, "main");
    ck_assert_str_eq(print(&f, flame_folded), "main;a 7 5\nmain 2 0\n");
    call_tree_free(tree);
}
END_TEST

/* The samples' weights are the total, each sample is a path of frames that are there. */
static void check_profile(json_t *profile, size_t frames, double total)
{
    double sum = 0;
    size_t i, k;
    json_t *sample, *frame;
    json_t *samples = json_object_get(profile, "samples");
    json_t *weights = json_object_get(profile, "weights");
    ck_assert_uint_eq(json_array_size(samples), json_array_size(weights));
    json_array_foreach(samples, i, sample)
    {
        sum += json_number_value(json_array_get(weights, i));
        json_array_foreach(sample, k, frame)
        {
            ck_assert_uint_lt((size_t)json_integer_value(frame), frames);
        }
    }
    ck_assert_double_eq(sum, total);
    ck_assert_double_eq(json_number_value(json_object_get(profile, "endValue")), total);
}

START_TEST(speedscope_profiles)
{
    struct flame f = begin(true, true);
    STACK(5, 7, "main", HOSTILE);
    STACK(0, 2, "main");
    STACK(4, 0, "main", HOSTILE, "main", "c");
    json_t *j = parse(print(&f, flame_speedscope));
    json_t *frames = json_object_get(json_object_get(j, "shared"), "frames");
    json_t *profiles = json_object_get(j, "profiles");
    ck_assert_uint_eq(json_array_size(profiles), 2);
    check_profile(json_array_get(profiles, 0), json_array_size(frames), 9);
    check_profile(json_array_get(profiles, 1), json_array_size(frames), 9);
    ck_assert_str_eq(json_string_value(json_object_get(json_array_get(profiles, 1), "name")),
                     "7.1");
    json_decref(j);
    call_tree_free(tree);
}
END_TEST

/* Not by strstr: sanitizers measure its whole text at each call. */
static size_t occurrences(const char *text, const char *word)
{
    size_t n = 0, len = strlen(word), total = strlen(text);
    for (size_t i = 0; i + len <= total; i++)
        n += text[i] == *word && strncmp(text + i, word, len) == 0;
    return n;
}

START_TEST(svg_escapes_names)
{
    struct flame f = begin(true, false);
    STACK(500, 0, "main", HOSTILE);
    const char *svg = print(&f, flame_svg);
    ck_assert_ptr_nonnull(strstr(svg, "com.&lt;b&gt;&amp;amp;&quot;"));
    ck_assert_ptr_nonnull(
        strstr(svg, "&lt;script&gt;alert(1)&lt;/script&gt;&amp;&quot;'; ]]&gt; ?\n"));
    ck_assert_uint_eq(occurrences(svg, "<script>"), 1); /* ours */
    ck_assert_uint_eq(occurrences(svg, "<g class=\"f "), 3);
    ck_assert_ptr_nonnull(strstr(svg, "0.500 s, 100.00 %"));
    ck_assert_ptr_nonnull(strstr(svg, "prefers-color-scheme: dark"));
    call_tree_free(tree);
}
END_TEST

/* What is too narrow to be seen is left out, with all that is under it; the rest stays in place. */
START_TEST(svg_leaves_out_slivers)
{
    struct flame f = begin(true, false);
    char deep[16];
    STACK(1000000, 0, "wide", "inner");
    for (int i = 0; i < 100; i++) {
        snprintf(deep, sizeof(deep), "f%d", i);
        STACK(10, 0, deep, "under");
    }
    STACK(500000, 0, "half");
    const char *svg = print(&f, flame_svg);
    ck_assert_uint_eq(occurrences(svg, "<g class=\"f "), 4);
    ck_assert_ptr_nonnull(strstr(svg, ">inner"));
    ck_assert_ptr_null(strstr(svg, ">under"));
    call_tree_free(tree);
}
END_TEST

START_TEST(svg_compares)
{
    struct flame f = begin(false, true);
    STACK(9000000, 1000000, "grew");
    STACK(1000000, 9000000, "shrank");
    STACK(5000000, 5000000, "same");
    const char *svg = print(&f, flame_svg);
    ck_assert_ptr_nonnull(strstr(svg, "<g class=\"f p5\"><title>grew"));
    ck_assert_ptr_nonnull(strstr(svg, "<g class=\"f n5\"><title>shrank"));
    ck_assert_ptr_nonnull(strstr(svg, "<g class=\"f z\"><title>same"));
    ck_assert_ptr_nonnull(strstr(svg, "+53.33 points"));
    call_tree_free(tree);
}
END_TEST

/* Nothing at all is a flame graph, too; and one that does not fit says so. */
START_TEST(empty_and_too_large)
{
    struct flame f = begin(false, false);
    json_decref(parse(print(&f, flame_json)));
    json_decref(parse(print(&f, flame_speedscope)));
    ck_assert_str_eq(print(&f, flame_folded), "");
    ck_assert_ptr_nonnull(strstr(print(&f, flame_svg), "0 reports, 0.00 %"));
    STACK(1, 0, "main", "a", "b", "c");
    for (size_t i = 0; i < FLAME_FORMAT_COUNT; i++) {
        struct buf small;
        buf_init(&small, 4);
        FLAME_FORMATS[i].print(&f, &small);
        ck_assert_msg(small.failed, "%s", FLAME_FORMATS[i].name);
        buf_done(&small);
    }
    call_tree_free(tree);
}
END_TEST

/* Whatever clients send, there is an answer: light calls are folded until it fits, totals stay. */
START_TEST(floods_are_folded)
{
    for (size_t i = 0; i < FLAME_FORMAT_COUNT; i++) {
        struct flame f = begin(true, false);
        struct error err;
        char name[2049];
        STACK(1000000, 0, "main", "heavy");
        for (int k = 0; k < 3000; k++) {
            snprintf(name, sizeof(name), "%04d%02044d", k, 0);
            STACK(1, 0, name, "b", name);
        }
        buf_done(&out);
        buf_init(&out, (size_t)100 << 10);
        ck_assert_int_eq(flame_print(&f, &FLAME_FORMATS[i], &out, &err), ERR_OK);
        ck_assert(!out.failed);
        ck_assert_ptr_nonnull(strstr(out.data, "heavy"));
        ck_assert_int_eq(call_tree_total(tree, 0), 1003000);
        /* The picture leaves them out by itself. */
        ck_assert_msg(f.truncated == (strcmp(FLAME_FORMATS[i].name, "svg") != 0), "%s",
                      FLAME_FORMATS[i].name);
        if (f.truncated)
            ck_assert_ptr_nonnull(strstr(out.data, "(other)"));
        if (i == 0) {
            json_t *j = parse(out.data);
            ck_assert_int_eq(json_integer_value(json_object_get(j, "total")), 1003000);
            ck_assert(json_is_true(json_object_get(j, "truncated")));
            json_decref(j);
        }
        call_tree_free(tree);
    }
}
END_TEST

/* Deeper than recursion would go. */
START_TEST(deep_trees)
{
    struct flame f = begin(true, false);
    struct error err;
    const int64_t one[2] = {1, 0};
    static uint32_t functions[20000];
    const struct call_frame frame = {.function = "f"};
    ck_assert_int_eq(call_tree_function(tree, &frame, &functions[0], &err), ERR_OK);
    ck_assert_int_eq(call_tree_gather(tree, functions, 20000, one, &err), ERR_OK);
    ck_assert_int_eq(call_tree_settle(tree, &err), ERR_OK);
    ck_assert_uint_eq(occurrences(print(&f, flame_json), "\"name\":\"f\""), 20000);
    ck_assert_uint_eq(occurrences(print(&f, flame_folded), "f"), 20000);
    (void)print(&f, flame_speedscope);
    call_tree_free(tree);
}
END_TEST

UNIT_MAIN("flame", json_is_a_tree, json_compares_shares, folded_lines, speedscope_profiles,
          svg_escapes_names, svg_leaves_out_slivers, svg_compares, empty_and_too_large, deep_trees,
          floods_are_folded)
