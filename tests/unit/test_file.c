#include "base/file.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/support/files.h"
#include "tests/support/unit.h"

START_TEST(reads_all_up_to_the_cap)
{
    static char text[100000];
    char folder[64], path[128];
    struct buf b;
    struct error err;
    memset(text, 'x', sizeof(text));
    scratch_make(folder, sizeof(folder));
    snprintf(path, sizeof(path), "%s/f", folder);
    write_file(path, text, sizeof(text));
    buf_init(&b, sizeof(text));
    ck_assert_int_eq(file_read(path, &b, &err), ERR_OK);
    ck_assert_uint_eq(b.len, sizeof(text));
    ck_assert_mem_eq(b.data, text, sizeof(text));
    buf_done(&b);
    buf_init(&b, sizeof(text) - 1);
    ck_assert_int_eq(file_read(path, &b, &err), ERR_LIMIT);
    ck_assert_ptr_nonnull(strstr(err.text, "/f is larger than 99999 bytes"));
    buf_done(&b);
    buf_init(&b, 10);
    ck_assert_int_eq(file_read(folder, &b, &err), ERR_IO); /* a folder */
    snprintf(path, sizeof(path), "%s/nothing", folder);
    ck_assert_int_eq(file_read(path, &b, &err), ERR_IO);
    ck_assert_ptr_nonnull(strstr(err.text, "cannot open "));
    buf_done(&b);
    scratch_remove(folder);
}
END_TEST

/* Who reloads must not hang, and signals with him: a pipe in the place of a file. */
START_TEST(a_pipe_is_read_if_somebody_writes)
{
    char folder[64], path[128];
    struct buf b;
    struct error err;
    int ends[2];
    scratch_make(folder, sizeof(folder));
    snprintf(path, sizeof(path), "%s/f", folder);
    ck_assert_int_eq(mkfifo(path, 0600), 0);
    buf_init(&b, 100);
    ck_assert_int_eq(file_read(path, &b, &err), ERR_IO);
    ck_assert_ptr_nonnull(strstr(err.text, "nobody writes to "));
    scratch_remove(folder);
    ck_assert_int_eq(pipe(ends), 0);
    ck_assert_int_eq(write(ends[1], "rules", 5), 5);
    close(ends[1]);
    snprintf(path, sizeof(path), "/dev/fd/%d", ends[0]);
    ck_assert_int_eq(file_read(path, &b, &err), ERR_OK);
    ck_assert_uint_eq(b.len, 5);
    close(ends[0]);
    buf_done(&b);
}
END_TEST

/* A pipe takes less than is given at a time. */
START_TEST(writes_all_or_says_why)
{
    static char text[40000];
    char got[sizeof(text)];
    struct error err;
    int ends[2];
    memset(text, 'y', sizeof(text));
    ck_assert_int_eq(pipe(ends), 0);
    ck_assert_int_eq(file_write(ends[1], text, sizeof(text), "a pipe", &err), ERR_OK);
    size_t have = 0;
    while (have < sizeof(got))
        have += (size_t)read(ends[0], got + have, sizeof(got) - have);
    ck_assert_mem_eq(got, text, sizeof(text));
    close(ends[0]);
    close(ends[1]);
    int full = open("/dev/full", O_WRONLY);
    ck_assert_int_eq(file_write(full, text, 10, "a full disk", &err), ERR_IO);
    ck_assert_str_eq(err.text, "cannot write a full disk: No space left on device");
    close(full);
}
END_TEST

UNIT_MAIN("file", reads_all_up_to_the_cap, a_pipe_is_read_if_somebody_writes,
          writes_all_or_says_why)
