/*
 * fault_shim - what a machine may do to a program, done on purpose (LD_PRELOAD).
 *
 * Purpose: makes chosen calls fail in the process whose environment names a control file
 * (STALLSYM_FAULTS), while it runs: I/O errors by path and kind of call, writes that take a part, a
 * slow disk, no descriptors, no memory at the n-th allocation, a clock that jumps. And it notes how
 * far the write-ahead log was synced, which is what a power cut leaves of it. tests/chaos/shim.py
 * writes the file and reads what was hit.
 *
 * Invariants: without a control file, and while every field is 0, all calls are what they were.
 * Memory fails in threads of the name `thread` only, and there from allocation `memory_at` on, so
 * many times as `memory_times` says.
 *
 * Threads: any; the control file is shared memory, its words are read once a call.
 *
 * Indexing processes get an empty environment, and so never this file.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#define PATH_PART 64
#define NAME_MAX_ 16

/* Its layout is known to shim.py. */
struct faults {
    _Atomic int32_t write_errno; /* write, pwrite, ftruncate */
    _Atomic int32_t sync_errno;  /* fsync, fdatasync, syncfs, sync_file_range */
    _Atomic int32_t read_errno;  /* read, pread */
    _Atomic int32_t open_errno;
    _Atomic int64_t clock_ms; /* added to the time of day */
    _Atomic int64_t memory_at;
    _Atomic int64_t memory_times;
    _Atomic int64_t allocations; /* since somebody set it to 0, in threads of that name */
    _Atomic int64_t hits;        /* calls that were made to fail */
    char path[PATH_PART];        /* files whose path has this part; "PART$": whose path ends so */
    char thread[NAME_MAX_];      /* "" all */
    _Atomic int32_t sync_ms;     /* a sync takes so long */
    _Atomic int32_t write_part;  /* 1: a write of more than a byte writes half of it */
    _Atomic int32_t watch_log;   /* 1: the next two are kept */
    _Atomic int32_t unused;
    _Atomic int64_t write_room;  /* so many bytes are still written before write_errno */
    _Atomic int64_t log_written; /* end of what was written to the log since its start */
    _Atomic int64_t log_synced;  /* the same, of what was synced */
};

static struct faults none;
static struct faults *faults = &none;

static int (*real_clock_gettime)(clockid_t, struct timespec *);

__attribute__((constructor)) static void find_control(void)
{
    const char *path = getenv("STALLSYM_FAULTS");
    int fd = path ? (int)syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC) : -1;
    real_clock_gettime = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
    if (fd < 0)
        return;
    void *map = mmap(NULL, sizeof(*faults), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    syscall(SYS_close, fd);
    if (map != MAP_FAILED)
        faults = map;
}

/* --- input and output ------------------------------------------------------------------------- */

static int hit(int code)
{
    atomic_fetch_add(&faults->hits, 1);
    errno = code;
    return -1;
}

static int is_chosen(const char *path)
{
    size_t n = strnlen(faults->path, PATH_PART), len = strlen(path);
    if (n > 0 && faults->path[n - 1] == '$')
        return len >= n - 1 && memcmp(path + len - (n - 1), faults->path, n - 1) == 0;
    return strstr(path, faults->path) != NULL;
}

/* Sockets, pipes and the log are no files of the data folder. */
static int is_chosen_fd(int fd)
{
    char link[40], path[4096];
    snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
    ssize_t n = syscall(SYS_readlinkat, AT_FDCWD, link, path, sizeof(path) - 1);
    if (n <= 0)
        return 0;
    path[n] = 0;
    return path[0] == '/' && is_chosen(path);
}

static size_t part_of(int fd, size_t n)
{
    if (!faults->write_part || n < 2 || !is_chosen_fd(fd))
        return n;
    atomic_fetch_add(&faults->hits, 1);
    return n / 2;
}

/* The error that a write of so many bytes ends with; 0: none. */
static int write_error(int fd, size_t n)
{
    int code = faults->write_errno;
    if (!code || !is_chosen_fd(fd))
        return 0;
    return faults->write_room > 0 && atomic_fetch_sub(&faults->write_room, (int64_t)n) > (int64_t)n
               ? 0
               : code;
}

static int is_log_fd(int fd)
{
    char link[40], path[4096];
    snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
    ssize_t n = syscall(SYS_readlinkat, AT_FDCWD, link, path, sizeof(path) - 1);
    return n > 4 && memcmp(path + n - 4, "-wal", 4) == 0;
}

/* A log that begins anew is written from its start. */
static void note_written(int fd, off_t at, ssize_t n)
{
    if (!faults->watch_log || n <= 0 || !is_log_fd(fd))
        return;
    if (at == 0)
        faults->log_written = faults->log_synced = 0;
    if (at + n > faults->log_written)
        faults->log_written = at + n;
}

ssize_t write(int fd, const void *data, size_t n)
{
    int code = write_error(fd, n);
    if (code)
        return hit(code);
    ssize_t written = syscall(SYS_write, fd, data, part_of(fd, n));
    if (faults->watch_log && written > 0)
        note_written(fd, syscall(SYS_lseek, fd, 0, SEEK_CUR) - written, written);
    return written;
}

ssize_t pwrite(int fd, const void *data, size_t n, off_t at)
{
    int code = write_error(fd, n);
    if (code)
        return hit(code);
    ssize_t written = syscall(SYS_pwrite64, fd, data, part_of(fd, n), at);
    note_written(fd, at, written);
    return written;
}

ssize_t pwrite64(int fd, const void *data, size_t n, off64_t at)
{
    return pwrite(fd, data, n, at);
}

int ftruncate(int fd, off_t size)
{
    int code = write_error(fd, 0);
    return code ? hit(code) : (int)syscall(SYS_ftruncate, fd, size);
}

int ftruncate64(int fd, off64_t size)
{
    return ftruncate(fd, size);
}

static int sync_file(int fd, long call)
{
    int code = faults->sync_errno, ms = faults->sync_ms;
    int64_t written = faults->log_written;
    if (code && is_chosen_fd(fd))
        return hit(code);
    if (ms && is_chosen_fd(fd)) {
        struct timespec pause = {ms / 1000, ms % 1000 * 1000000L};
        atomic_fetch_add(&faults->hits, 1);
        syscall(SYS_nanosleep, &pause, NULL);
    }
    int rc = (int)syscall(call, fd);
    if (rc == 0 && faults->watch_log && is_log_fd(fd))
        faults->log_synced = written;
    return rc;
}

int fsync(int fd)
{
    return sync_file(fd, SYS_fsync);
}

int fdatasync(int fd)
{
    return sync_file(fd, SYS_fdatasync);
}

int syncfs(int fd)
{
    return sync_file(fd, SYS_syncfs);
}

int sync_file_range(int fd, off64_t at, off64_t n, unsigned int flags)
{
    int code = faults->sync_errno;
    return code && is_chosen_fd(fd) ? hit(code)
                                    : (int)syscall(SYS_sync_file_range, fd, at, n, flags);
}

ssize_t read(int fd, void *data, size_t n)
{
    int code = faults->read_errno;
    return code && is_chosen_fd(fd) ? hit(code) : syscall(SYS_read, fd, data, n);
}

ssize_t pread(int fd, void *data, size_t n, off_t at)
{
    int code = faults->read_errno;
    return code && is_chosen_fd(fd) ? hit(code) : syscall(SYS_pread64, fd, data, n, at);
}

ssize_t pread64(int fd, void *data, size_t n, off64_t at)
{
    return pread(fd, data, n, at);
}

static int open_file(int folder, const char *path, int flags, mode_t mode)
{
    int code = faults->open_errno;
    int writes = (flags & O_ACCMODE) != O_RDONLY;
    return code && (writes || code != EROFS) && is_chosen(path)
               ? hit(code)
               : (int)syscall(SYS_openat, folder, path, flags, mode);
}

static mode_t mode_of(int flags, va_list more)
{
    return flags & (O_CREAT | O_TMPFILE) ? va_arg(more, mode_t) : 0;
}

#define OPEN(name)                                                                                 \
    int name(const char *path, int flags, ...)                                                     \
    {                                                                                              \
        va_list more;                                                                              \
        va_start(more, flags);                                                                     \
        mode_t mode = mode_of(flags, more);                                                        \
        va_end(more);                                                                              \
        return open_file(AT_FDCWD, path, flags, mode);                                             \
    }
OPEN(open)
OPEN(open64)

/* --- memory ----------------------------------------------------------------------------------- */

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *p, size_t size);

static int is_chosen_thread(void)
{
    static _Thread_local char name[NAME_MAX_];
    static _Thread_local int known; /* a thread is named by who starts it: may be a moment late */
    if (!faults->thread[0])
        return 1;
    if (known < 100) {
        int fd = (int)syscall(SYS_openat, AT_FDCWD, "/proc/thread-self/comm", O_RDONLY);
        ssize_t n = fd >= 0 ? syscall(SYS_read, fd, name, sizeof(name) - 1) : 0;
        syscall(SYS_close, fd);
        name[n > 0 ? n - 1 : 0] = 0;
        known++;
    }
    return strncmp(name, faults->thread, strlen(faults->thread)) == 0;
}

static int memory_fails(void)
{
    int64_t at = faults->memory_at;
    if (at == 0 || !is_chosen_thread())
        return 0;
    int64_t now = atomic_fetch_add(&faults->allocations, 1) + 1;
    if (now < at || now >= at + faults->memory_times)
        return 0;
    hit(ENOMEM);
    return 1;
}

void *malloc(size_t size)
{
    return memory_fails() ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    return memory_fails() ? NULL : __libc_calloc(count, size);
}

void *realloc(void *p, size_t size)
{
    return memory_fails() ? NULL : __libc_realloc(p, size);
}

/* --- time ------------------------------------------------------------------------------------- */

static void shift(struct timespec *ts)
{
    int64_t ms = faults->clock_ms;
    ts->tv_sec += ms / 1000;
}

int clock_gettime(clockid_t id, struct timespec *ts)
{
    int rc =
        real_clock_gettime ? real_clock_gettime(id, ts) : (int)syscall(SYS_clock_gettime, id, ts);
    if (rc == 0 && (id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE))
        shift(ts);
    return rc;
}

int gettimeofday(struct timeval *restrict tv, void *restrict zone)
{
    struct timespec ts;
    (void)zone;
    clock_gettime(CLOCK_REALTIME, &ts);
    tv->tv_sec = ts.tv_sec;
    tv->tv_usec = ts.tv_nsec / 1000;
    return 0;
}

time_t time(time_t *ret)
{
    struct timespec ts;
    clock_gettime(CLOCK_REALTIME, &ts);
    if (ret)
        *ret = ts.tv_sec;
    return ts.tv_sec;
}
