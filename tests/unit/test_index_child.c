#include "server/jobs/index_child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "tests/support/fake_child.h"
#include "tests/support/temp_dir.h"
#include "tests/support/unit.h"

#define UUID "0285884D-3DE9-3051-B23A-63B48BF99F35"
#define LINE                                                                                       \
    "{\"state\":\"indexed\",\"uuid\":\"" UUID "\",\"name\":\"Shop\",\"functions\":7,"              \
    "\"index_file\":\"" UUID ".gsym\"}"

static char *dir, *program;
static char upload[512];
static struct arena arena;
static struct index_child child;
static struct index_child_result result;
static struct error err;

static void setup(void)
{
    dir = temp_dir_new();
    program = fake_child_new(dir);
    snprintf(upload, sizeof(upload), "%s/upload", dir);
    arena_init(&arena, 64 << 20);
    child = (struct index_child){.program = program,
                                 .upload = upload,
                                 .out_dir = dir,
                                 .jobs = 2,
                                 .data_bytes = 1 << 30,
                                 .file_bytes = 1 << 20,
                                 .cpu_s = 10,
                                 .wall_s = 60,
                                 .stop_fd = eventfd(0, EFD_CLOEXEC)};
}

static void teardown(void)
{
    close(child.stop_fd);
    arena_done(&arena);
    free(program);
    temp_dir_free(dir);
}

/* Runs a child that does `script`. */
static enum err run(const char *script)
{
    FILE *f = fopen(upload, "w");
    ck_assert_ptr_nonnull(f);
    fputs(script, f);
    fclose(f);
    memset(&err, 0, sizeof(err));
    return index_child_run(&child, &arena, &result, &err);
}

static void fails(const char *script, enum err rc, const char *text)
{
    enum err got = run(script);
    ck_assert_msg(got == rc, "%s: %s (%s)", script, err_name(got), err.text);
    ck_assert_msg(strcmp(err.text, text) == 0, "%s: %s", script, err.text);
}

static void read_back(const char *name, char *out, size_t size)
{
    char path[512];
    snprintf(path, sizeof(path), "%s/%s", dir, name);
    FILE *f = fopen(path, "r");
    ck_assert_ptr_nonnull(f);
    size_t n = fread(out, 1, size - 1, f);
    out[n] = 0;
    fclose(f);
}

START_TEST(takes_the_slices_it_tells)
{
    setup();
    ck_assert_msg(run("echo '" LINE "'; echo '{\"state\":\"failed\",\"reason\":\"no UUID\"}'") ==
                      ERR_OK,
                  "%s", err.text);
    ck_assert_uint_eq(result.slice_count, 2);
    ck_assert_str_eq(result.slices[0].name, "Shop");
    ck_assert_uint_eq(result.slices[0].functions, 7);
    ck_assert_str_eq(result.slices[1].reason, "no UUID");
    teardown();
}
END_TEST

START_TEST(arguments_environment_and_descriptors)
{
    char text[4096], wanted[1200], digest[SHA256_TEXT_SIZE];
    setup();
    setenv("SECRET", "1", 1);
    int leak = fcntl(STDERR_FILENO, F_DUPFD, 40); /* without close-on-exec */
    ck_assert_int_ge(leak, 40);
    child.keep_objects = true;
    memset(child.sha256, 0xab, sizeof(child.sha256));
    ck_assert_msg(run("echo \"$arguments\" >$out/arguments\n"
                      "tr '\\0' '\\n' </proc/self/environ >$out/environment\n"
                      "ls /proc/$$/fd >$out/descriptors\n"
                      "echo '" LINE "'") == ERR_OK,
                  "%s", err.text);
    close(leak);
    snprintf(wanted, sizeof(wanted),
             "%s -o %s --jobs 2 --limits data=1073741824,file=1048576,cpu=10 --name  "
             "--sha256 %s --keep-maps --objects\n",
             upload, dir, sha256_format(child.sha256, digest));
    read_back("arguments", text, sizeof(text));
    ck_assert_str_eq(text, wanted);
    read_back("environment", text, sizeof(text));
    ck_assert_ptr_null(strstr(text, "SECRET"));
    ck_assert_ptr_null(strstr(text, "HOME="));
    read_back("descriptors", text, sizeof(text));
    ck_assert_int_eq(strncmp(text, "0\n1\n", 4), 0);
    snprintf(wanted, sizeof(wanted), "%d\n", leak);
    ck_assert_ptr_null(strstr(text, wanted));
    snprintf(wanted, sizeof(wanted), "%d\n", child.stop_fd);
    ck_assert_ptr_null(strstr(text, wanted));
    teardown();
}
END_TEST

START_TEST(exits_with_words)
{
    setup();
    fails("echo 'stallsymd index: slice 2: bad magic' >&2; exit 1", ERR_FORMAT,
          "slice 2: bad magic");
    fails("echo first >&2; echo 'second\t\001 line' >&2; echo >&2; exit 1", ERR_FORMAT,
          "second   line");
    fails("echo 'stallsymd index: no object file with a UUID inside' >&2; exit 3", ERR_NOT_FOUND,
          "no object file with a UUID inside");
    fails("exit 1", ERR_FORMAT, "the indexing process ended with status 1 and no word");
    fails("exit 77", ERR_FORMAT, "the indexing process ended with status 77 and no word");
    fails("echo '" LINE "'; echo half >&2; exit 1", ERR_FORMAT, "half");
    ck_assert_uint_eq(result.slice_count, 1);
    fails("exit 0", ERR_NOT_FOUND, "the indexing process found nothing and said no word");
    fails("echo 'stallsymd index: cannot write the index: No space left on device' >&2; exit 4",
          ERR_IO, "cannot write the index: No space left on device");
    fails("echo usage >&2; exit 2", ERR_IO, "the indexing process does not start: usage");
    teardown();
}
END_TEST

START_TEST(signals_and_limits)
{
    setup();
    fails("kill -SEGV $$", ERR_INTERNAL,
          "the indexing process was killed by signal 11 (Segmentation fault)");
    fails("echo 'stack smashing detected' >&2; kill -ABRT $$", ERR_INTERNAL,
          "the indexing process was killed by signal 6 (Aborted): stack smashing detected");
    fails("kill -BUS $$", ERR_INTERNAL, "the indexing process was killed by signal 7 (Bus error)");
    fails("kill -KILL $$", ERR_NO_MEMORY,
          "the indexing process was killed; the machine may be short of memory");
    fails("kill -SYS $$", ERR_INTERNAL,
          "the indexing process was killed by signal 31 (Bad system call)");
    fails("kill -XCPU $$", ERR_LIMIT, "indexing took more than 10 s of CPU time");
    fails("kill -XFSZ $$", ERR_LIMIT, "indexing would write a file of more than 1048576 bytes");
    teardown();
}
END_TEST

START_TEST(the_clock_ends_it)
{
    setup();
    child.wall_s = 0;
    fails("sleep 1000", ERR_LIMIT, "indexing took longer than 0 s");
    fails("while :; do echo x >&2; done", ERR_LIMIT, "indexing took longer than 0 s");
    teardown();
}
END_TEST

START_TEST(odd_output)
{
    setup();
    fails("echo hello", ERR_FORMAT,
          "the indexing process printed an odd line: no object at byte 0");
    fails("echo '" LINE "'; echo; echo '" LINE "'", ERR_FORMAT,
          "the indexing process printed an odd line: no object at byte 0");
    ck_assert_uint_eq(result.slice_count, 1);
    fails("printf '%s' '" LINE "'", ERR_FORMAT,
          "the indexing process stopped in the middle of a line");
    fails("printf '{\"state\":\"fai'", ERR_FORMAT,
          "the indexing process stopped in the middle of a line");
    fails("head -c 70000 /dev/zero | tr '\\0' x", ERR_LIMIT,
          "the indexing process printed a line of more than 65536 bytes");
    fails("cat /dev/zero", ERR_LIMIT,
          "the indexing process printed a line of more than 65536 bytes");
    fails("yes '" LINE "'", ERR_LIMIT, "more than 65536 slices in one upload");
    ck_assert_uint_eq(result.slice_count, INDEX_SLICES_MAX);
    teardown();
}
END_TEST

START_TEST(much_on_standard_error_is_read_and_forgotten)
{
    setup();
    ck_assert_msg(run("head -c 3000000 /dev/zero | tr '\\0' y >&2; echo '" LINE "'") == ERR_OK,
                  "%s", err.text);
    fails("head -c 3000000 /dev/zero | tr '\\0' y >&2; echo >&2; echo the end >&2; exit 1",
          ERR_FORMAT, "the end");
    teardown();
}
END_TEST

static bool is_gone(pid_t pid)
{
    char path[64], text[512];
    snprintf(path, sizeof(path), "/proc/%ld/stat", (long)pid);
    FILE *f = fopen(path, "r");
    if (!f)
        return true;
    size_t n = fread(text, 1, sizeof(text) - 1, f);
    fclose(f);
    text[n] = 0;
    const char *state = strrchr(text, ')');
    return !state || state[2] == 'Z' || state[2] == 'X';
}

/* A process it leaves behind holds the pipes open and must neither be waited for nor live on. */
START_TEST(its_group_ends_with_it)
{
    char text[64];
    setup();
    int64_t before = clock_mono_ms();
    ck_assert_msg(run("sleep 1000 & echo $! >$out/pid; echo '" LINE "'") == ERR_OK, "%s", err.text);
    ck_assert_int_lt(clock_mono_ms() - before, 30000);
    read_back("pid", text, sizeof(text));
    pid_t pid = (pid_t)strtol(text, NULL, 10);
    ck_assert_int_gt(pid, 0);
    while (!is_gone(pid)) /* killed, perhaps not dead yet */
        usleep(1000);
    teardown();
}
END_TEST

START_TEST(stops_when_told)
{
    const uint64_t one = 1;
    setup();
    ck_assert_int_eq(write(child.stop_fd, &one, sizeof(one)), sizeof(one));
    ck_assert_int_eq(run("sleep 1000"), ERR_BUSY);
    teardown();
}
END_TEST

START_TEST(a_program_that_is_not_there)
{
    setup();
    child.program = "/nonexistent/stallsymd";
    fails("", ERR_IO, "cannot start the indexing process: No such file or directory");
    teardown();
}
END_TEST

UNIT_MAIN("index_child", takes_the_slices_it_tells, arguments_environment_and_descriptors,
          exits_with_words, signals_and_limits, the_clock_ends_it, odd_output,
          much_on_standard_error_is_read_and_forgotten, its_group_ends_with_it, stops_when_told,
          a_program_that_is_not_there)
