#include "storage/blob_store.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/support/unit.h"

static char dir[] = "/tmp/stallsym-blob-XXXXXX";
static struct blob_store *b;
static struct error err;

static void open_store(void)
{
    ck_assert_ptr_nonnull(mkdtemp(dir));
    ck_assert_int_eq(blob_store_open(dir, &b, &err), ERR_OK);
}

static void close_store(void)
{
    char command[PATH_MAX];
    static const char *const left[] = {"work", "spool", "objects", "symbols", ""};
    blob_store_close(b);
    for (size_t i = 0; i < sizeof(left) / sizeof(left[0]); i++) {
        snprintf(command, sizeof(command), "%s/%s", dir, left[i]);
        (void)rmdir(command);
    }
}

static void write_text(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    close(fd);
}

static void in_dir(char path[PATH_MAX], const char *name)
{
    snprintf(path, PATH_MAX, "%s/%s", dir, name);
}

START_TEST(installs_and_replaces_an_index)
{
    struct uuid u;
    char path[PATH_MAX], from[PATH_MAX], want[PATH_MAX];
    open_store();
    ck_assert(uuid_parse("0285884d3de93051b23a63b48bf99f35", 32, &u));
    ck_assert(blob_store_index_path(b, &u, path, sizeof(path)));
    in_dir(want, "symbols/02/0285884D-3DE9-3051-B23A-63B48BF99F35.gsym");
    ck_assert_str_eq(path, want);
    ck_assert(!blob_store_index_path(b, &u, path, 20));
    blob_store_index_path(b, &u, path, sizeof(path));

    in_dir(from, "new");
    write_text(from, "one");
    ck_assert_int_eq(blob_store_install_index(b, from, &u, &err), ERR_OK);
    ck_assert_int_ne(access(from, F_OK), 0);
    int fd = open(path, O_RDONLY);
    char *map = mmap(NULL, 3, PROT_READ, MAP_SHARED, fd, 0);
    close(fd);
    write_text(from, "two");
    ck_assert_int_eq(blob_store_install_index(b, from, &u, &err), ERR_OK);
    ck_assert_mem_eq(map, "one", 3);
    munmap(map, 3);

    ck_assert_int_eq(blob_store_remove_index(b, &u, &err), ERR_OK);
    ck_assert_int_ne(access(path, F_OK), 0);
    ck_assert_int_eq(blob_store_remove_index(b, &u, &err), ERR_OK);
    ck_assert_int_eq(blob_store_install_index(b, from, &u, &err), ERR_IO);
    ck_assert_ptr_nonnull(strstr(err.text, "new"));
    in_dir(path, "symbols/02");
    (void)rmdir(path);
    close_store();
}
END_TEST

START_TEST(objects_are_named_by_content)
{
    uint8_t sha[SHA256_SIZE];
    char path[PATH_MAX], from[PATH_MAX];
    open_store();
    sha256_of("abc", 3, sha);
    in_dir(from, "x");
    write_text(from, "abc");
    ck_assert_int_eq(blob_store_install_object(b, from, sha, &err), ERR_OK);
    ck_assert(blob_store_object_path(b, sha, path, sizeof(path)));
    ck_assert_int_eq(access(path, R_OK), 0);
    ck_assert_ptr_nonnull(strstr(path, "/objects/ba/ba7816bf"));
    ck_assert_int_eq(blob_store_remove_object(b, sha, &err), ERR_OK);
    ck_assert_int_eq(blob_store_remove_object(b, sha, &err), ERR_OK);
    *strrchr(path, '/') = 0;
    (void)rmdir(path);
    close_store();
}
END_TEST

static bool keep_one(void *ctx, const char *name)
{
    return strcmp(ctx, name) == 0;
}

START_TEST(spool_files_are_swept)
{
    char name[2][64], path[PATH_MAX], other[PATH_MAX];
    int fd;
    open_store();
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(blob_store_spool_create(b, name[i], sizeof(name[i]), &fd, &err), ERR_OK);
        ck_assert_int_eq(fcntl(fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
        ck_assert_int_eq(write(fd, "x", 1), 1);
        close(fd);
    }
    ck_assert_str_ne(name[0], name[1]);
    char small[8];
    ck_assert_int_eq(blob_store_spool_create(b, small, sizeof(small), &fd, &err), ERR_INTERNAL);
    in_dir(other, "spool/README");
    write_text(other, "not ours");
    ck_assert_int_eq(blob_store_sweep_spool(b, keep_one, name[1], &err), ERR_OK);
    ck_assert(blob_store_spool_path(b, name[0], path, sizeof(path)));
    ck_assert_int_ne(access(path, F_OK), 0);
    ck_assert(blob_store_spool_path(b, name[1], path, sizeof(path)));
    ck_assert_int_eq(access(path, F_OK), 0);
    ck_assert_int_eq(access(other, F_OK), 0);
    ck_assert_int_eq(blob_store_remove_spool(b, name[1], &err), ERR_OK);
    ck_assert_int_eq(blob_store_remove_spool(b, name[1], &err), ERR_OK);
    unlink(other);
    close_store();
}
END_TEST

START_TEST(names_from_outside_are_refused)
{
    static const char *const bad[] = {"",
                                      "..",
                                      "../x",
                                      "1-0123456789abcdef",
                                      "1-0123456789abcdef.part/../../x",
                                      "/",
                                      "-0123456789abcdef.part",
                                      "1-0123456789ABCDEF.part",
                                      "1-0123.part",
                                      "1-0123456789abcdef0.part"};
    char path[PATH_MAX];
    open_store();
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        ck_assert_msg(!blob_store_spool_path(b, bad[i], path, sizeof(path)), "%s", bad[i]);
        ck_assert_int_eq(blob_store_remove_spool(b, bad[i], &err), ERR_INVALID);
    }
    close_store();
}
END_TEST

START_TEST(work_folders_go_with_all_that_is_inside)
{
    char work[PATH_MAX], inside[PATH_MAX + 8];
    open_store();
    ck_assert_int_eq(blob_store_work_create(b, work, sizeof(work), &err), ERR_OK);
    snprintf(inside, sizeof(inside), "%s/a", work);
    ck_assert_int_eq(mkdir(inside, 0700), 0);
    snprintf(inside, sizeof(inside), "%s/a/b", work);
    write_text(inside, "x");
    blob_store_work_remove(b, dir);
    in_dir(inside, "work/../spool");
    blob_store_work_remove(b, inside);
    in_dir(inside, "spool");
    ck_assert_int_eq(access(inside, F_OK), 0);
    ck_assert_int_eq(access(work, F_OK), 0);
    blob_store_work_remove(b, work);
    ck_assert_int_ne(access(work, F_OK), 0);

    /* What a crash left behind goes at the next start. */
    ck_assert_int_eq(blob_store_work_create(b, work, sizeof(work), &err), ERR_OK);
    blob_store_close(b);
    ck_assert_int_eq(blob_store_open(dir, &b, &err), ERR_OK);
    ck_assert_int_ne(access(work, F_OK), 0);
    ck_assert_uint_gt(blob_store_free_bytes(b), 0);
    close_store();
}
END_TEST

START_TEST(a_place_that_cannot_be_made_is_an_error)
{
    char path[PATH_MAX], nested[PATH_MAX + 8];
    open_store();
    in_dir(path, "file");
    write_text(path, "x");
    struct blob_store *none = NULL;
    snprintf(nested, sizeof(nested), "%s/in", path);
    ck_assert_int_eq(blob_store_open(nested, &none, &err), ERR_IO);
    ck_assert_ptr_null(none);
    char longer[PATH_MAX];
    memset(longer, 'a', sizeof(longer));
    longer[sizeof(longer) - 1] = 0;
    ck_assert_int_eq(blob_store_open(longer, &none, &err), ERR_INVALID);
    unlink(path);
    close_store();
}
END_TEST

UNIT_MAIN("blob_dir", installs_and_replaces_an_index, objects_are_named_by_content,
          spool_files_are_swept, names_from_outside_are_refused,
          work_folders_go_with_all_that_is_inside, a_place_that_cannot_be_made_is_an_error)
