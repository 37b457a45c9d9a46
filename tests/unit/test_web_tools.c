/* Covers: server/web/yaml_to_json.c server/web/embed.c */
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/files.h"
#include "tests/support/unit.h"

static char dir[PATH_MAX];
static char out[65536];

/* Runs a tool of the build over a file of that text; its exit status, and what it printed. */
static int run(const char *tool, const char *arg_before, const char *input)
{
    char exe[PATH_MAX], path[PATH_MAX + 16], command[4 * PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", exe, sizeof(exe) - 1);
    ck_assert_int_gt(n, 0);
    exe[n] = 0;
    scratch_make(dir, sizeof(dir));
    snprintf(path, sizeof(path), "%s/in", dir);
    write_file(path, input, strlen(input));
    snprintf(command, sizeof(command), "%s/../host/%s %s%s 2>&1", dirname(exe), tool, arg_before,
             path);
    FILE *p = popen(command, "r");
    ck_assert_ptr_nonnull(p);
    size_t len = fread(out, 1, sizeof(out) - 1, p);
    out[len] = 0;
    int status = pclose(p);
    scratch_remove(dir);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static const struct {
    const char *yaml;
    const char *json; /* NULL: refused */
} CASES[] = {
    {"a: 1\nb: x y # comment\nc: \"q\\\"\\n\"\nd: 'it''s'\n",
     "{\"a\":1,\"b\":\"x y\",\"c\":\"q\\\"\\n\",\"d\":\"it's\"}\n"},
    {"a:\n  - 1\n  - x: 1\n    y: [2, {z: 'w'}]\n  - v: null\nb: {}\n",
     "{\"a\":[1,{\"x\":1,\"y\":[2,{\"z\":\"w\"}]},{\"v\":null}],\"b\":{}}\n"},
    {"a:\n- 1\n- - 2\n  - 3\nb: []\n", "{\"a\":[1,[2,3]],\"b\":[]}\n"},
    {"a: |\n  one\n    two # not a comment\n\n  three\nb: >\n  x\n  y\n",
     "{\"a\":\"one\\n  two # not a comment\\n\\nthree\\n\",\"b\":\"x y\\n\"}\n"},
    {"# head\n\na: true\nb: \"true\"\nc: -1.5\nd: 1.2.3\ne: 007\nf: http://x/y\n",
     "{\"a\":true,\"b\":\"true\",\"c\":-1.5,\"d\":\"1.2.3\",\"e\":\"007\",\"f\":\"http://x/y\"}\n"},
    {"\"200\": {$ref: \"#/a/b\"}\n", "{\"200\":{\"$ref\":\"#/a/b\"}}\n"},
    {"a: 1\na: 2\n", NULL},
    {"a:\n\tb: 1\n", NULL},
    {"a: &x 1\n", NULL},
    {"a: yes\n", NULL},
    {"a:\n", NULL},
    {"a: \"open\n", NULL},
    {"a: [1, 2\n", NULL},
    {"a: {b 1}\n", NULL},
    {"a: 1\n  b: 2\n", NULL},
    {"a: \"x\" y\n", NULL},
    {"just text\n", NULL},
    {"", NULL},
};

START_TEST(the_subset_and_nothing_else)
{
    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
        int status = run("yaml_to_json", "", CASES[i].yaml);
        if (CASES[i].json) {
            ck_assert_msg(status == 0, "%s: %s", CASES[i].yaml, out);
            ck_assert_str_eq(out, CASES[i].json);
        } else {
            ck_assert_msg(status == 1, "%s is taken: %s", CASES[i].yaml, out);
        }
    }
}
END_TEST

START_TEST(embedded_bytes)
{
    ck_assert_int_eq(run("embed", "name=", "AB\n"), 0);
    ck_assert_str_eq(out, "static const unsigned char asset_name[] = {\n65,66,10,\n};\n");
    ck_assert_int_eq(run("embed", "", "AB\n"), 1);
    ck_assert_int_eq(run("embed", "name=", ""), 1);
}
END_TEST

UNIT_MAIN("web_tools", the_subset_and_nothing_else, embedded_bytes)
