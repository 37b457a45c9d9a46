/* Covers: server/cmd_index.c server/cmd.c. The daemon's own files are in no library: included. */
#include "server/child_limits.c"
#include "server/cmd.c"
#include "server/cmd_index.c"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "server/jobs/slice_line.h"
#include "tests/support/files.h"
#include "tests/support/macho_builder.h"
#include "tests/support/unit.h"
#include "tests/support/zip_builder.h"

struct result {
    int status; /* exit status, or 1000 and the signal */
    char out[16384];
    char err[4096];
};

static void slurp(const char *path, char *out, size_t size)
{
    FILE *f = fopen(path, "r");
    ck_assert_ptr_nonnull(f);
    out[fread(out, 1, size - 1, f)] = 0;
    fclose(f);
}

/* Runs the command in a process of its own (it may limit itself), in `folder`. */
static void run_index(const char *folder, struct result *r, const char *const *arguments)
{
    char out[128], err[128];
    const char *argv[16] = {"index"};
    int argc = 1;
    for (; arguments[argc - 1]; argc++)
        argv[argc] = arguments[argc - 1];
    snprintf(out, sizeof(out), "%s/stdout", folder);
    snprintf(err, sizeof(err), "%s/stderr", folder);
    pid_t pid = fork();
    ck_assert_int_ge(pid, 0);
    if (pid == 0) {
        if (!freopen(out, "w", stdout) || !freopen(err, "w", stderr) || chdir(folder) != 0)
            _exit(99);
        int status = cmd_index.run(argc, (char **)(uintptr_t)argv);
        fflush(stdout);
        fflush(stderr);
        _exit(status);
    }
    int status = 0;
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    r->status = WIFSIGNALED(status) ? 1000 + WTERMSIG(status) : WEXITSTATUS(status);
    slurp(out, r->out, sizeof(r->out));
    slurp(err, r->err, sizeof(r->err));
}

#define RUN(folder, r, ...) run_index(folder, r, (const char *const[]){__VA_ARGS__, NULL})

static void sample_at(const char *folder, const char *name)
{
    struct buf file;
    char path[256];
    macho_sample(&file);
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    write_file(path, file.data, file.len);
    buf_done(&file);
}

/* The line is what the daemon's reader of it understands. */
START_TEST(prints_a_line_a_slice)
{
    char folder[64];
    struct result r;
    struct arena arena;
    struct slice_report slice;
    struct error err;
    scratch_make(folder, sizeof(folder));
    sample_at(folder, "Shop");
    RUN(folder, &r, "Shop", "-o", "out", "--jobs", "2", "--objects");
    ck_assert_msg(r.status == CMD_OK, "%d: %s", r.status, r.err);
    ck_assert_str_eq(r.err, "");
    size_t len = strlen(r.out);
    ck_assert_uint_gt(len, 0);
    ck_assert_int_eq(r.out[len - 1], '\n');
    ck_assert_ptr_eq(strchr(r.out, '\n'), r.out + len - 1);
    arena_init(&arena, 1 << 20);
    ck_assert_msg(slice_line_parse(r.out, len - 1, &arena, &slice, &err) == ERR_OK, "%s: %s",
                  err.text, r.out);
    ck_assert_int_eq(slice.state, SLICE_INDEXED);
    ck_assert_mem_eq(slice.uuid.bytes, SAMPLE_UUID, 16);
    ck_assert_str_eq(slice.name, "Shop");
    ck_assert_str_eq(slice.arch, "arm64");
    ck_assert_uint_eq(slice.functions, 3);
    ck_assert_uint_eq(slice.text_vmaddr, 0x100000000);
    ck_assert_uint_eq(slice.text_size, 0x2000);
    ck_assert_str_eq(slice.index_file, "01020304-0506-0708-090A-0B0C0D0E0F10.gsym");
    ck_assert_uint_eq(strlen(slice.object_sha256), 64);
    char path[256];
    snprintf(path, sizeof(path), "%s/out", folder);
    ck_assert_uint_eq(count_files(path), 2);
    arena_done(&arena);
    scratch_remove(folder);
}
END_TEST

/* What the disk refuses is not told as a fault of the file: nothing is said of the slice. */
START_TEST(a_disk_that_refuses_has_a_status_of_its_own)
{
    char folder[64], taken[256];
    struct result r;
    scratch_make(folder, sizeof(folder));
    sample_at(folder, "Shop");
    snprintf(taken, sizeof(taken), "%s/out", folder);
    ck_assert_int_eq(mkdir(taken, 0755), 0);
    snprintf(taken, sizeof(taken), "%s/out/01020304-0506-0708-090A-0B0C0D0E0F10.gsym", folder);
    ck_assert_int_eq(mkdir(taken, 0755), 0);
    RUN(folder, &r, "Shop", "-o", "out");
    ck_assert_int_eq(r.status, CMD_SYSTEM);
    ck_assert_str_eq(r.out, "");
    ck_assert_ptr_nonnull(strstr(r.err, "cannot create"));
    ck_assert_int_eq(rmdir(taken), 0);
    RUN(folder, &r, "nowhere", "-o", "out");
    ck_assert_int_eq(r.status, CMD_FAILED);
    scratch_remove(folder);
}
END_TEST

START_TEST(names_of_bare_uploads)
{
    char folder[64];
    struct result r;
    scratch_make(folder, sizeof(folder));
    sample_at(folder, "17.part");
    RUN(folder, &r, "17.part", "-o", "out");
    ck_assert_ptr_nonnull(strstr(r.out, "\"name\":\"17.part\""));
    RUN(folder, &r, "17.part", "-o", "out", "--name", "Shop \"2\"");
    ck_assert_ptr_nonnull(strstr(r.out, "\"name\":\"Shop \\\"2\\\"\""));
    RUN(folder, &r, "17.part", "-o", "out", "--name", "");
    ck_assert_ptr_nonnull(strstr(r.out, "\"name\":\"\""));
    scratch_remove(folder);
}
END_TEST

START_TEST(exit_codes)
{
    char folder[64], path[256];
    struct result r;
    struct buf file;
    struct zip_builder z;
    scratch_make(folder, sizeof(folder));
    sample_at(folder, "Shop");
    zip_begin(&z);
    const struct zip_member text = {.name = "readme", .data = "hello", .len = 5};
    zip_add(&z, &text);
    zip_finish(&z, &file);
    snprintf(path, sizeof(path), "%s/none.zip", folder);
    write_file(path, file.data, file.len);
    buf_done(&file);
    macho_sample_of(&file, true, false, CPU_TYPE_ARM64, 0, MH_DSYM, NULL);
    snprintf(path, sizeof(path), "%s/no_uuid", folder);
    write_file(path, file.data, file.len);
    buf_done(&file);
    RUN(folder, &r, "none.zip", "-o", "out");
    ck_assert_int_eq(r.status, CMD_NOTHING);
    ck_assert_str_eq(r.err, "stallsymd index: no object file with a UUID inside\n");
    RUN(folder, &r, "no_uuid", "-o", "out");
    ck_assert_int_eq(r.status, CMD_FAILED);
    ck_assert_str_eq(r.err, "stallsymd index: no LC_UUID\n");
    ck_assert_ptr_nonnull(strstr(r.out, "{\"uuid\":null,"));
    ck_assert_ptr_nonnull(strstr(r.out, "\"state\":\"failed\",\"reason\":\"no LC_UUID\""));
    RUN(folder, &r, "missing", "-o", "out");
    ck_assert_int_eq(r.status, CMD_FAILED);
    RUN(folder, &r, "Shop", "-o", "Shop/sub");
    ck_assert_int_eq(r.status, CMD_FAILED);
    scratch_remove(folder);
}
END_TEST

START_TEST(wrong_command_lines)
{
    char folder[64];
    struct result r;
    scratch_make(folder, sizeof(folder));
    sample_at(folder, "Shop");
    static const char *const lines[][6] = {
        {"Shop"},
        {"-o", "out"},
        {"Shop", "Shop", "-o", "out"},
        {"Shop", "-o"},
        {"Shop", "-o", "out", "--jobs", "0"},
        {"Shop", "-o", "out", "--jobs", "x"},
        {"Shop", "-o", "out", "--jobs", "1000"},
        {"Shop", "-o", "out", "--limits", "cpu"},
        {"Shop", "-o", "out", "--frobnicate"},
    };
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        run_index(folder, &r, lines[i]);
        ck_assert_msg(r.status == CMD_USAGE, "line %zu: %d", i, r.status);
        ck_assert_msg(strstr(r.err, "Usage: stallsymd index") != NULL, "line %zu: %s", i, r.err);
        ck_assert_str_eq(r.out, "");
    }
    scratch_remove(folder);
}
END_TEST

/* Within limits all is as without; a file limit is an error with words, not a signal. */
START_TEST(runs_within_limits)
{
    char folder[64];
    struct result r;
    scratch_make(folder, sizeof(folder));
    sample_at(folder, "Shop");
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    RUN(folder, &r, "Shop", "-o", "out", "--jobs", "2", "--limits",
        "data=268435456,cpu=60,file=1000000");
    ck_assert_msg(r.status == CMD_OK, "%d: %s", r.status, r.err);
    ck_assert_str_eq(r.err, "");
#endif
    RUN(folder, &r, "Shop", "-o", "small", "--limits", "file=100");
    ck_assert_int_eq(r.status, CMD_FAILED);
    ck_assert_msg(strstr(r.out, "File too large") || strstr(r.err, "File too large"), "%s%s", r.out,
                  r.err);
    scratch_remove(folder);
}
END_TEST

UNIT_MAIN("cmd_index", prints_a_line_a_slice, a_disk_that_refuses_has_a_status_of_its_own,
          names_of_bare_uploads, exit_codes, wrong_command_lines, runs_within_limits)
