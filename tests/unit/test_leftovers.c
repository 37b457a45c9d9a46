#include "storage/leftovers.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/support/descriptors.h"
#include "tests/support/temp_dir.h"
#include "tests/support/unit.h"

static char *dir;
static struct leftovers left;

static void setup(void)
{
    char path[PATH_MAX];
    dir = temp_dir_new();
    snprintf(path, sizeof(path), "%s/work", dir);
    ck_assert_int_eq(mkdir(path, 0700), 0);
    leftovers_init(&left, dir);
}

static void teardown(void)
{
    leftovers_done(&left);
    temp_dir_free(dir);
}

/* work/NAME with a file in it. */
static void make_folder(const char *name)
{
    char path[PATH_MAX];
    snprintf(path, sizeof(path), "%s/work/%s", dir, name);
    ck_assert_int_eq(mkdir(path, 0700), 0);
    snprintf(path, sizeof(path), "%s/work/%s/file", dir, name);
    int fd = open(path, O_WRONLY | O_CREAT, 0600);
    ck_assert_int_ge(fd, 0);
    close(fd);
}

static bool is_there(const char *name)
{
    char path[PATH_MAX];
    struct stat st;
    snprintf(path, sizeof(path), "%s/%s", dir, name);
    return lstat(path, &st) == 0;
}

START_TEST(what_stays_is_tried_again)
{
    struct rlimit before;
    setup();
    make_folder("1-a");
    ck_assert(leftovers_remove(&left, "work/1-a"));
    ck_assert(!is_there("work/1-a"));
    ck_assert(leftovers_remove(&left, "work/1-a")); /* it is gone */
    make_folder("2-b");
    make_folder("3-c");
    descriptors_take(&before); /* a folder cannot be read, so nothing in it removed */
    ck_assert(!leftovers_remove(&left, "work/2-b"));
    ck_assert(!leftovers_remove(&left, "work/3-c"));
    ck_assert_uint_eq(leftovers_retry(&left), 2);
    descriptors_give(&before);
    ck_assert(is_there("work/2-b"));
    ck_assert_uint_eq(leftovers_retry(&left), 0);
    ck_assert(!is_there("work/2-b"));
    ck_assert(!is_there("work/3-c"));
    ck_assert(is_there("work"));
    teardown();
}
END_TEST

START_TEST(only_so_many_are_noted)
{
    struct rlimit before;
    char name[32];
    setup();
    for (int i = 0; i < LEFTOVERS_MAX + 2; i++) {
        snprintf(name, sizeof(name), "%d-a", i);
        make_folder(name);
    }
    descriptors_take(&before);
    for (int i = 0; i < LEFTOVERS_MAX + 2; i++) {
        snprintf(name, sizeof(name), "work/%d-a", i);
        ck_assert(!leftovers_remove(&left, name));
    }
    ck_assert_uint_eq(leftovers_retry(&left), LEFTOVERS_MAX);
    descriptors_give(&before);
    ck_assert_uint_eq(leftovers_retry(&left), 0);
    ck_assert(is_there("work/64-a"));
    ck_assert(!is_there("work/63-a"));
    teardown();
}
END_TEST

START_TEST(nothing_else_is_touched)
{
    static const char *const names[] = {
        "",          "work",          "work/",       "/work/1-a",
        "work/..",   "work/.",        "../work/1-a", "work/a/b",
        "work/../x", ".hidden/thing", "work/.kept",  "work//1-a",
    };
    setup();
    make_folder("1-a");
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        leftovers_remove(&left, names[i]);
    ck_assert(is_there("work/1-a/file"));
    ck_assert_uint_eq(leftovers_retry(&left), 0);
    teardown();
}
END_TEST

UNIT_MAIN("leftovers", what_stays_is_tried_again, only_so_many_are_noted, nothing_else_is_touched)
