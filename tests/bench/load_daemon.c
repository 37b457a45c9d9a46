#include "tests/bench/load_daemon.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "tests/bench/load_client.h"
#include "tests/support/files.h"

#define START_MS 300000 /* of a data folder that is migrated first */

static pid_t running; /* who dies leaves no daemon behind */

void load_die(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    vfprintf(stderr, fmt, ap);
    va_end(ap);
    fputc('\n', stderr);
    if (running)
        kill(running, SIGTERM);
    exit(1);
}

static uint16_t read_port(const char *path)
{
    char text[32] = "";
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof(text) - 1);
    if (fd >= 0)
        close(fd);
    return n > 0 ? (uint16_t)strtoul(text, NULL, 10) : 0;
}

void load_daemon_again(struct load_daemon *d, const char *program)
{
    char port_file[300];
    snprintf(port_file, sizeof(port_file), "%s/port", d->dir);
    (void)unlink(port_file);
    setenv("STALLSYM_STORAGE_DIR", d->data, 1);
    setenv("STALLSYM_HTTP_ADDRESS", "127.0.0.1", 1);
    setenv("STALLSYM_HTTP_PORT", "0", 1);
    setenv("STALLSYM_HTTP_PORT_FILE", port_file, 1);
    setenv("STALLSYM_ADMIN_TOKEN", LOAD_TOKEN, 1);
    setenv("STALLSYM_LOG_LEVEL", "warn", 1);
    setenv("STALLSYM_STORAGE_DAILY_STACKS", "1000000000", 1); /* a bench is a long day */
    const char *argv[] = {program, "run", NULL};
    const int64_t start = clock_mono_ns();
    if (posix_spawn(&d->pid, program, NULL, NULL, (char **)argv, environ) != 0)
        load_die("cannot start %s", program);
    running = d->pid;
    d->port = 0;
    while (!d->port && clock_mono_ns() - start < START_MS * INT64_C(1000000)) {
        d->port = read_port(port_file);
        if (!d->port)
            usleep(1000);
    }
    if (!d->port)
        load_die("the daemon does not start");
    while (load_get_status(d->port, "/readyz") != 200)
        usleep(1000);
    d->ready_ms = (double)(clock_mono_ns() - start) / 1e6;
}

void load_daemon_start(struct load_daemon *d, const char *program)
{
    const char *tmp = getenv("TMPDIR");
    memset(d, 0, sizeof(*d));
    snprintf(d->dir, sizeof(d->dir), "%s/stallsym-bench-XXXXXX", tmp ? tmp : "/tmp");
    if (!mkdtemp(d->dir))
        load_die("no folder %s", d->dir);
    snprintf(d->data, sizeof(d->data), "%s/data", d->dir);
    load_daemon_again(d, program);
}

void load_daemon_end(struct load_daemon *d)
{
    int status = 0;
    if (!d->pid)
        return;
    running = 0;
    kill(d->pid, SIGTERM);
    if (waitpid(d->pid, &status, 0) != d->pid || status != 0)
        load_die("the daemon ended with status %d", status);
    d->pid = 0;
}

void load_daemon_stop(struct load_daemon *d)
{
    load_daemon_end(d);
    scratch_remove(d->dir);
}

double load_daemon_mb(const struct load_daemon *d)
{
    char path[64];
    long pages = 0;
    snprintf(path, sizeof(path), "/proc/%d/statm", (int)d->pid);
    FILE *f = fopen(path, "r");
    if (f && fscanf(f, "%*s %ld", &pages) != 1)
        pages = 0;
    if (f)
        fclose(f);
    return (double)pages * (double)sysconf(_SC_PAGESIZE) / 1e6;
}

static bool read_text(const char *path, char *text, size_t size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, text, size - 1);
    if (fd >= 0)
        close(fd);
    text[n > 0 ? n : 0] = 0;
    return n > 0;
}

struct load_cpu load_daemon_cpu(const struct load_daemon *d)
{
    struct load_cpu cpu = {0};
    char path[400], name[64], spent[64];
    snprintf(path, sizeof(path), "/proc/%d/task", (int)d->pid);
    DIR *dir = opendir(path);
    for (struct dirent *e; dir && (e = readdir(dir));) {
        snprintf(path, sizeof(path), "/proc/%d/task/%s/comm", (int)d->pid, e->d_name);
        if (*e->d_name == '.' || !read_text(path, name, sizeof(name)))
            continue;
        snprintf(path, sizeof(path), "/proc/%d/task/%s/schedstat", (int)d->pid, e->d_name);
        if (!read_text(path, spent, sizeof(spent)))
            continue;
        const double s = strtod(spent, NULL) / 1e9;
        cpu.total += s;
        if (strncmp(name, "writer", 6) == 0)
            cpu.writer += s;
        else if (strncmp(name, "MHD", 3) == 0)
            cpu.door += s;
        else if (strncmp(name, "resolver", 8) == 0 || strncmp(name, "parallel", 8) == 0)
            cpu.resolver += s;
    }
    if (dir)
        closedir(dir);
    return cpu;
}

double load_daemon_disk(const struct load_daemon *d)
{
    static const char *const names[] = {"stallsym.db", "stallsym.db-wal"};
    double bytes = 0;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        char path[400];
        struct stat st;
        snprintf(path, sizeof(path), "%s/%s", d->data, names[i]);
        if (stat(path, &st) == 0)
            bytes += (double)st.st_size;
    }
    return bytes;
}
