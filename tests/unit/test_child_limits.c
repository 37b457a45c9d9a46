/* Covers: server/child_limits.c. The daemon's own files are in no library: included. */
#include "server/child_limits.c"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/unit.h"

/* Sanitizers reserve more memory than any limit of ours. */
#define DATA_LIMIT (SANITIZED ? 0 : (uint64_t)512 << 20)

static const struct child_limits LIMITS = {
    .data_bytes = DATA_LIMIT, .file_bytes = 4096, .cpu_s = 5};

START_TEST(parses_limits)
{
    struct child_limits l = {0};
    ck_assert_int_eq(child_limits_parse("data=1073741824,cpu=60,file=5", &l, NULL), ERR_OK);
    ck_assert_uint_eq(l.data_bytes, 1073741824);
    ck_assert_uint_eq(l.cpu_s, 60);
    ck_assert_uint_eq(l.file_bytes, 5);
    ck_assert_int_eq(child_limits_parse("cpu=1", &l, NULL), ERR_OK);
    ck_assert_uint_eq(l.cpu_s, 1);
    ck_assert_uint_eq(l.data_bytes, 0);
    ck_assert_int_eq(child_limits_parse("data=0,file=7", &l, NULL), ERR_OK);
    ck_assert_uint_eq(l.data_bytes, 0);
    ck_assert_uint_eq(l.file_bytes, 7);
}
END_TEST

START_TEST(refuses_other_limits)
{
    static const char *const bad[] = {
        "",
        "cpu",
        "cpu=",
        "cpu=0,cpu=0",
        "cpu=-1",
        "cpu= 1",
        "cpu=1x",
        "memory=1",
        "cpu=1,",
        ",cpu=1",
        "cpu=1,cpu=2",
        "cpu=1 data=2",
        "CPU=1",
        "data=99999999999999999999",
        "file=0x10",
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct child_limits l = {.cpu_s = 77};
        struct error err;
        ck_assert_msg(child_limits_parse(bad[i], &l, &err) == ERR_INVALID, "\"%s\"", bad[i]);
        ck_assert_uint_eq(l.cpu_s, 77);
    }
}
END_TEST

/* Runs `body` in a process with limits; its exit status, or 1000 and the signal. */
static int run_limited(int (*body)(void), bool *ret_filtered)
{
    int status = 0;
    int pipes[2];
    char filtered = 0;
    ck_assert_int_eq(pipe(pipes), 0);
    pid_t pid = fork();
    ck_assert_int_ge(pid, 0);
    if (pid == 0) {
        struct error missing, err;
        if (child_limits_apply(&LIMITS, &missing, &err) != ERR_OK)
            _exit(200);
        filtered = missing.code == ERR_OK;
        if (write(pipes[1], &filtered, 1) != 1)
            _exit(201);
        _exit(body());
    }
    close(pipes[1]);
    ck_assert_int_eq(read(pipes[0], &filtered, 1), 1);
    close(pipes[0]);
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    if (ret_filtered)
        *ret_filtered = filtered;
    return WIFSIGNALED(status) ? 1000 + WTERMSIG(status) : WEXITSTATUS(status);
}

/* Each step that is still possible is told by its number. */
static int try_calls(void)
{
    char *const arguments[] = {(char *)(uintptr_t) "true", NULL};
    if (socket(AF_INET, SOCK_STREAM, 0) >= 0 || errno != EPERM)
        return 1;
    if (socket(AF_UNIX, SOCK_STREAM, 0) >= 0 || errno != EPERM)
        return 2;
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0 || errno != EPERM)
        return 3;
    execv("/bin/true", arguments);
    if (errno != EPERM)
        return 4;
    if (!SANITIZER_ADDRESS && (ptrace(PTRACE_TRACEME, 0, 0, 0) == 0 || errno != EPERM))
        return 5;
    if (kill(getppid(), 0) == 0 || errno != EPERM)
        return 6;
    pid_t child = fork();
    if (child == 0)
        _exit(0);
    if (child > 0 || errno != EPERM)
        return 7;
    if (syscall(__NR_unshare, CLONE_NEWUSER) == 0 || errno != EPERM)
        return 8;
    return 0;
}

static void *set_flag(void *arg)
{
    *(int *)arg = 1;
    return NULL;
}

static int try_threads(void)
{
    pthread_t thread;
    int flag = 0;
    if (pthread_create(&thread, NULL, set_flag, &flag) != 0 || pthread_join(thread, NULL) != 0)
        return 1;
    return flag ? 0 : 2;
}

/* Files can be opened, mapped and written up to the limit; beyond it writing is an error. */
static int try_files(void)
{
    char path[] = "/tmp/stallsym-limits-XXXXXX";
    char block[4096] = {0};
    int fd = mkstemp(path);
    if (fd < 0)
        return 1;
    unlink(path);
    if (write(fd, block, sizeof(block)) != sizeof(block))
        return 2;
    if (write(fd, block, 1) >= 0 || errno != EFBIG)
        return 3;
    return mmap(NULL, sizeof(block), PROT_READ, MAP_PRIVATE, fd, 0) == MAP_FAILED ? 4 : 0;
}

static int try_descriptors(void)
{
    int fd = -1;
    for (int i = 0; i <= CHILD_LIMITS_FILES; i++)
        fd = open("/dev/null", O_RDONLY);
    return fd < 0 && errno == EMFILE ? 0 : 1;
}

static int try_memory(void)
{
    size_t large = (size_t)1 << 30;
    void *file = mmap(NULL, large, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    void *data = mmap(NULL, large, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (file == MAP_FAILED)
        return 1; /* what is only read is not counted */
    return data == MAP_FAILED || DATA_LIMIT == 0 ? 0 : 2;
}

static int spend_time(void)
{
    struct rlimit now = {1, 2};
    setrlimit(RLIMIT_CPU, &now);
    while (getppid() >= 0)
        continue;
    return 1;
}

START_TEST(network_programs_and_processes_are_out_of_reach)
{
    bool filtered = false;
    int status = run_limited(try_calls, &filtered);
    if (!filtered) {
        printf("skipped: this kernel has no seccomp filter\n");
        return;
    }
    ck_assert_int_eq(status, 0);
}
END_TEST

START_TEST(threads_files_and_maps_work)
{
    ck_assert_int_eq(run_limited(try_threads, NULL), 0);
    ck_assert_int_eq(run_limited(try_files, NULL), 0);
}
END_TEST

START_TEST(limits_hold)
{
    ck_assert_int_eq(run_limited(try_descriptors, NULL), 0);
    ck_assert_int_eq(run_limited(try_memory, NULL), 0);
    ck_assert_int_eq(run_limited(spend_time, NULL), 1000 + SIGXCPU);
}
END_TEST

/* A limit that is lower already stays. */
START_TEST(limits_are_only_lowered)
{
    pid_t pid = fork();
    ck_assert_int_ge(pid, 0);
    if (pid == 0) {
        struct rlimit low = {100, 100}, now;
        struct error missing, err;
        setrlimit(RLIMIT_FSIZE, &low);
        if (child_limits_apply(&LIMITS, &missing, &err) != ERR_OK)
            _exit(1);
        getrlimit(RLIMIT_FSIZE, &now);
        _exit(now.rlim_cur == 100 && now.rlim_max == 100 ? 0 : 2);
    }
    int status = 0;
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_int_eq(status, 0);
}
END_TEST

/* The limited process ends when the one that made it does. */
START_TEST(dies_with_its_parent)
{
    int pipes[2];
    ck_assert_int_eq(pipe(pipes), 0);
    pid_t parent = fork();
    ck_assert_int_ge(parent, 0);
    if (parent == 0) {
        if (fork() == 0) {
            struct error missing, err;
            child_limits_apply(&LIMITS, &missing, &err);
            if (write(pipes[1], "x", 1) != 1)
                _exit(1);
            for (;;)
                pause();
        }
        for (;;)
            pause();
    }
    close(pipes[1]);
    char c;
    ck_assert_int_eq(read(pipes[0], &c, 1), 1); /* limits are in force */
    kill(parent, SIGKILL);
    /* The pipe's last writer is gone when the child is: the end of the file, not a byte. */
    ck_assert_int_eq(read(pipes[0], &c, 1), 0);
    close(pipes[0]);
    ck_assert_int_eq(waitpid(parent, NULL, 0), parent);
}
END_TEST

START_TEST(does_not_begin_without_its_parent)
{
    int fds[2], status = 0;
    ck_assert_int_eq(pipe(fds), 0);
    close(fds[0]);
    pid_t pid = fork();
    if (pid == 0) {
        struct error missing, err;
        dup2(fds[1], STDOUT_FILENO);
        _exit(child_limits_apply(&LIMITS, &missing, &err) == ERR_IO &&
              strstr(err.text, "nobody reads") != NULL);
    }
    close(fds[1]);
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 1);
}
END_TEST

UNIT_MAIN("child_limits", parses_limits, refuses_other_limits,
          network_programs_and_processes_are_out_of_reach, threads_files_and_maps_work, limits_hold,
          limits_are_only_lowered, dies_with_its_parent, does_not_begin_without_its_parent)
