#include "symbolizer/sigbus_guard.h"

#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/thread.h"
#include "symbolizer/gsym_read.h"
#include "tests/support/gsym_bytes.h"
#include "tests/support/unit.h"

#ifdef __SANITIZE_THREAD__
#pragma GCC diagnostic ignored "-Wunused-variable" /* see the end */
#endif

/* Two pages of a file that is then cut: the mapping stays, its bytes are gone. */
static volatile char *lost_pages(void)
{
    char path[] = "/tmp/test_sigbus.XXXXXX";
    int fd = mkstemp(path);
    ck_assert_int_ge(fd, 0);
    unlink(path);
    ck_assert_int_eq(ftruncate(fd, 8192), 0);
    volatile char *p = mmap(NULL, 8192, PROT_READ, MAP_SHARED, fd, 0);
    ck_assert(p != MAP_FAILED);
    ck_assert_int_eq(p[5000], 0);
    ck_assert_int_eq(ftruncate(fd, 0), 0);
    close(fd);
    return p;
}

static int read_guarded(volatile char *p)
{
    struct sigbus_guard g;
    volatile int reached = 0;
    if (sigbus_guard_enter(&g) != 0)
        return -1 - reached;
    reached = 1;
    reached += p[5000];
    sigbus_guard_leave(&g);
    return reached;
}

START_TEST(survives_again_and_again)
{
    volatile char *p = lost_pages();
    char here[8192] = {0};
    ck_assert_int_eq(sigbus_guard_install(NULL), ERR_OK);
    for (int i = 0; i < 100; i++) {
        ck_assert_int_eq(read_guarded(p), -2);
        ck_assert_int_eq(read_guarded(here), 1);
    }
}
END_TEST

START_TEST(guards_nest)
{
    volatile char *p = lost_pages();
    struct sigbus_guard outer;
    volatile int state = 0;
    ck_assert_int_eq(sigbus_guard_install(NULL), ERR_OK);
    if (sigbus_guard_enter(&outer) == 0) {
        ck_assert_int_eq(read_guarded(p), -2);
        state = 1;
        state += p[5000];
        state = 2;
    } else {
        ck_assert_int_eq(state, 1);
        state = 3;
    }
    ck_assert_int_eq(state, 3);
}
END_TEST

static void *in_thread(void *arg)
{
    for (int i = 0; i < 100; i++) {
        if (read_guarded(arg) != -2)
            return NULL;
    }
    return arg;
}

/* Threads of ours block signals; this one must get through. */
START_TEST(works_in_threads)
{
    volatile char *p = lost_pages();
    struct thread threads[4] = {0};
    ck_assert_int_eq(sigbus_guard_install(NULL), ERR_OK);
    for (int i = 0; i < 4; i++)
        ck_assert_int_eq(thread_start(&threads[i], "guard", in_thread, (void *)(uintptr_t)p, NULL),
                         ERR_OK);
    for (int i = 0; i < 4; i++) {
        void *result = NULL;
        ck_assert_int_eq(pthread_join(threads[i].id, &result), 0);
        ck_assert_ptr_eq(result, (void *)(uintptr_t)p);
    }
}
END_TEST

/* Without a guard a SIGBUS ends the process, as ever; a failed guard is left, too. */
START_TEST(dies_without_a_guard)
{
    volatile char *p = lost_pages();
    for (int by_kill = 0; by_kill < 2; by_kill++) {
        pid_t pid = fork();
        if (pid == 0) {
            sigbus_guard_install(NULL);
            if (read_guarded(p) != -2)
                _exit(1);
            if (by_kill)
                kill(getpid(), SIGBUS);
            else
                _exit(p[5000] + 2);
            _exit(3);
        }
        int status = 0;
        ck_assert_int_eq(waitpid(pid, &status, 0), pid);
#if !defined(__SANITIZE_ADDRESS__)
        ck_assert_msg(WIFSIGNALED(status) && WTERMSIG(status) == SIGBUS, "status %d", status);
#else
        ck_assert_int_ne(status, 0);
#endif
    }
}
END_TEST

/* An index file that is cut while it is open, and one that is cut while it is being checked. */
START_TEST(index_loses_its_pages)
{
    static struct gsym_bytes_function functions[200];
    static char lines[200][2000];
    for (size_t i = 0; i < 200; i++) {
        memset(lines[i], 5, sizeof(lines[i]));
        lines[i][1999] = 0;
        functions[i] = (struct gsym_bytes_function){.address = 0x1000 + 4096 * i,
                                                    .size = 4096,
                                                    .name = "f",
                                                    .lines = lines[i],
                                                    .lines_len = 2000};
    }
    struct gsym_bytes_file file = {"/src", "a.c"};
    struct gsym_bytes bytes = {.offset_size = 4,
                               .base = 0x1000,
                               .functions = functions,
                               .function_count = 200,
                               .files = &file,
                               .file_count = 1,
                               .footer = 1};
    struct buf b;
    char path[] = "/tmp/test_sigbus_gsym.XXXXXX";
    struct gsym *g = NULL;
    struct error err = {0};
    buf_init(&b, 1 << 20);
    gsym_bytes_make(&bytes, &b);
    int fd = mkstemp(path);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(write(fd, b.data, b.len), (ssize_t)b.len);
    ck_assert_int_eq(sigbus_guard_install(NULL), ERR_OK);
    ck_assert_msg(gsym_open(path, &g, &err) == ERR_OK, "%s", err.text);
    ck_assert_msg(gsym_check(g, &err) == ERR_OK, "%s", err.text);
    ck_assert_int_eq(ftruncate(fd, 100), 0);
    ck_assert_int_eq(gsym_check(g, &err), ERR_IO);

    struct sigbus_guard guard;
    struct gsym_frame frames[GSYM_FRAMES_MAX];
    volatile int caught = 0;
    if (sigbus_guard_enter(&guard) == 0) {
        gsym_lookup(g, 0x1000 + 4096 * 150, frames, GSYM_FRAMES_MAX);
        sigbus_guard_leave(&guard);
    } else {
        caught = 1;
    }
    ck_assert_int_eq(caught, 1);
    gsym_close(g);
    unlink(path);
    close(fd);
    buf_done(&b);
}
END_TEST

#ifdef __SANITIZE_THREAD__
/* ThreadSanitizer puts a handler of its own before ours: the tests above are left out. */
START_TEST(not_under_thread_sanitizer)
{
    puts("skipped: ThreadSanitizer takes SIGBUS itself");
}
END_TEST
UNIT_MAIN("sigbus_guard", not_under_thread_sanitizer)
#else
UNIT_MAIN("sigbus_guard", survives_again_and_again, guards_nest, works_in_threads,
          dies_without_a_guard, index_loses_its_pages)
#endif
