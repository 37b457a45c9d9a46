/*
 * load_daemon - the daemon that the benches measure, from outside.
 *
 * Purpose: starts it on a folder, and says what it costs: resident memory, time of a processor by
 * thread, bytes on disk.
 *
 * Threads: one. Memory: load_daemon_stop().
 */
#ifndef STALLSYM_BENCH_LOAD_DAEMON_H
#define STALLSYM_BENCH_LOAD_DAEMON_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define LOAD_TOKEN "bench-token"

struct load_daemon {
    char dir[256];  /* removed at the end */
    char data[300]; /* the daemon's folder in it */
    pid_t pid;
    uint16_t port;
    double ready_ms; /* from the start of the process to /readyz */
};

/* Threads whose names begin alike. */
struct load_cpu {
    double total, writer, door, resolver; /* seconds */
};

/* On a new folder below $TMPDIR. */
void load_daemon_start(struct load_daemon *d, const char *program);
/* On the folder as it is. */
void load_daemon_again(struct load_daemon *d, const char *program);
/* Leaves the folder. */
void load_daemon_end(struct load_daemon *d);
/* Ends it if it runs, and removes the folder. */
void load_daemon_stop(struct load_daemon *d);

double load_daemon_mb(const struct load_daemon *d);
struct load_cpu load_daemon_cpu(const struct load_daemon *d);
/* Of database and write-ahead log. */
double load_daemon_disk(const struct load_daemon *d);

void load_die(const char *fmt, ...) __attribute__((format(printf, 1, 2), noreturn));

#endif
