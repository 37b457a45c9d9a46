/* Covers: storage/writeback.c */
#include "storage/writeback.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tests/support/temp_dir.h"
#include "tests/support/unit.h"

static char *dir;
static char path[512];
static struct error err;

static int make_file(void)
{
    dir = temp_dir_new();
    snprintf(path, sizeof(path), "%s/file", dir);
    const int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    ck_assert_int_ge(fd, 0);
    return fd;
}

START_TEST(all_pieces_go_to_the_disk_and_stay_what_they_are)
{
    const off_t places[] = {0, ((off_t)64 << 20) - 2, (off_t)200 << 20};
    struct writeback w = {0};
    char back[5] = "";
    const int fd = make_file();
    writeback_open(&w, path);
    ck_assert_int_eq(writeback_run(&w, &err), ERR_OK); /* empty */
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
        ck_assert_int_eq(pwrite(fd, "page", 4, places[i]), 4);
    ck_assert_int_eq(writeback_run(&w, &err), ERR_OK);
    ck_assert_int_eq(writeback_run(&w, &err), ERR_OK); /* nothing is new */
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        ck_assert_int_eq(pread(fd, back, 4, places[i]), 4);
        ck_assert_str_eq(back, "page");
    }
    writeback_done(&w);
    close(fd);
    temp_dir_free(dir);
}
END_TEST

START_TEST(what_cannot_be_done_is_no_error)
{
    struct writeback w = {0};
    ck_assert_int_eq(writeback_run(&w, &err), ERR_OK);
    writeback_open(&w, "/nowhere/file");
    ck_assert_int_eq(writeback_run(&w, &err), ERR_OK);
    writeback_done(&w);
    writeback_open(&w, "/dev/null"); /* the system has no such call for it */
    ck_assert_int_eq(writeback_run(&w, &err), ERR_OK);
    writeback_done(&w);
    writeback_done(&w);
}
END_TEST

UNIT_MAIN("writeback", all_pieces_go_to_the_disk_and_stay_what_they_are,
          what_cannot_be_done_is_no_error)
