/*
 * bench_ingest - P8a, P8b and P9: durable ingest over HTTP beside its peers, in one run.
 *
 * usage: bench_ingest STALLSYMD [BATCHES]
 *
 * Starts the daemon on a folder of its own. Peers, measured in this process on the same bytes:
 * jansson alone parsing them (P8a); the storage library alone writing the same ops, as many to a
 * commit as the daemon had (P8b, P9).
 */
#include <fcntl.h>
#include <jansson.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "server/ingest/ingest.h"
#include "storage/storage.h"
#include "tests/bench/ingest_load.h"

#define GROUP_MAX 512
#define WAL_MAX   ((uint64_t)64 << 20)

static pid_t start_daemon(const char *program, const char *dir, uint16_t *ret_port)
{
    char data[600], port_file[600], text[32] = "";
    snprintf(data, sizeof(data), "%s/data", dir);
    snprintf(port_file, sizeof(port_file), "%s/port", dir);
    setenv("STALLSYM_STORAGE_DIR", data, 1);
    setenv("STALLSYM_HTTP_ADDRESS", "127.0.0.1", 1);
    setenv("STALLSYM_HTTP_PORT", "0", 1);
    setenv("STALLSYM_HTTP_PORT_FILE", port_file, 1);
    setenv("STALLSYM_ADMIN_TOKEN", LOAD_TOKEN, 1);
    setenv("STALLSYM_LOG_LEVEL", "warn", 1);
    const char *argv[] = {program, "run", NULL};
    pid_t pid;
    if (posix_spawn(&pid, program, NULL, NULL, (char **)argv, environ) != 0)
        load_die("cannot start %s", program);
    for (int tries = 0; tries < 500; tries++) {
        int fd = open(port_file, O_RDONLY | O_CLOEXEC);
        ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof(text) - 1);
        if (fd >= 0)
            close(fd);
        if (n > 0) {
            *ret_port = (uint16_t)strtoul(text, NULL, 10);
            return pid;
        }
        usleep(20000);
    }
    load_die("the daemon does not start");
}

static void remove_dir(char *dir)
{
    const char *argv[] = {"rm", "-rf", dir, NULL};
    pid_t pid;
    if (posix_spawnp(&pid, "rm", NULL, NULL, (char **)argv, environ) == 0)
        waitpid(pid, NULL, 0);
}

static double resident_mb(pid_t pid)
{
    char path[64];
    long pages = 0;
    snprintf(path, sizeof(path), "/proc/%d/statm", (int)pid);
    FILE *f = fopen(path, "r");
    if (f && fscanf(f, "%*s %ld", &pages) != 1)
        pages = 0;
    if (f)
        fclose(f);
    return (double)pages * (double)sysconf(_SC_PAGESIZE) / 1e6;
}

static double jansson_seconds(const struct load *l)
{
    int64_t start = clock_mono_ns();
    for (size_t i = 0; i < l->count; i++) {
        json_t *root =
            json_loadb(l->bodies[i].data, l->bodies[i].len, JSON_REJECT_DUPLICATES, NULL);
        if (!root)
            load_die("jansson refuses a body");
        json_decref(root);
    }
    return (double)(clock_mono_ns() - start) / 1e9;
}

static void commit_group(struct storage *s, struct ingest_result *results, size_t n)
{
    struct error err;
    uint64_t wal;
    if (storage_begin(s, &err) != ERR_OK)
        load_die("begin: %s", err.text);
    for (size_t k = 0; k < n; k++) {
        if (storage_apply(s, results[k].op, &err) != ERR_OK)
            load_die("apply: %s", err.text);
    }
    if (storage_commit(s, &err) != ERR_OK)
        load_die("commit: %s", err.text);
    if (storage_wal_bytes(s) > WAL_MAX)
        (void)storage_checkpoint(s, false, &wal, &err);
}

/* Seconds in storage alone; parsing is outside the clock. */
static double apply_load(struct storage *s, struct storage_reader *reader, const struct load *l,
                         size_t group)
{
    int64_t spent = 0;
    for (size_t i = 0; i < l->count;) {
        struct ingest_result results[GROUP_MAX];
        struct error err;
        size_t n = 0;
        for (; n < group && i < l->count; n++, i++) {
            struct ingest_request request = {.body = l->bodies[i].data,
                                             .len = l->bodies[i].len,
                                             .media = INGEST_JSON,
                                             .now_ms = clock_wall_ms(),
                                             .limits = &INGEST_LIMITS_DEFAULT,
                                             .reader = reader};
            if (ingest_body(&request, &results[n], &err) != ERR_OK || !results[n].op)
                load_die("ingest: %s", err.text);
        }
        int64_t start = clock_mono_ns();
        commit_group(s, results, n);
        spent += clock_mono_ns() - start;
        for (size_t k = 0; k < n; k++)
            ingest_result_done(&results[k]);
    }
    return (double)spent / 1e9;
}

static double storage_seconds(const char *dir, const struct load *sets, const struct load *warm,
                              const struct load *l, size_t group)
{
    char path[600];
    struct storage *s = NULL;
    struct storage_reader *reader = NULL;
    struct error err;
    snprintf(path, sizeof(path), "%s/alone.db", dir);
    struct storage_options options = {.backend = "sqlite",
                                      .path = path,
                                      .synchronous_full = true,
                                      .busy_ms = 1000,
                                      .retry_days = 3,
                                      .daily_values = 1000,
                                      .daily_stacks = 1000000000,
                                      .migrate = true};
    if (storage_open(&options, &s, &err) != ERR_OK ||
        storage_reader_open(s, &reader, &err) != ERR_OK)
        load_die("storage: %s", err.text);
    apply_load(s, reader, sets, 1);
    apply_load(s, reader, warm, group);
    double seconds = apply_load(s, reader, l, group);
    storage_reader_close(reader);
    storage_close(s);
    return seconds;
}

struct figure {
    const char *name;
    enum load_images images;
    double known;
    double goal;
    const char *peer;
};

static void run(const char *program, const struct figure *f, size_t batches)
{
    char dir[] = "/tmp/stallsym-bench-XXXXXX";
    uint16_t port = 0;
    if (!mkdtemp(dir))
        load_die("mkdtemp");
    pid_t pid = start_daemon(program, dir, &port);
    /* The pool of known stacks and the image sets are there before the clock starts. */
    struct load sets = load_make(LOAD_SETS, 0, LOAD_IMAGES_DEFINE, -1);
    struct load warm = load_make(LOAD_POOL / LOAD_REPORTS, LOAD_SETS, LOAD_IMAGES_NAMED, -1);
    struct load load = load_make(batches, 2 * LOAD_POOL, f->images, f->known);
    load_send(port, &sets);
    load_send(port, &warm);
    double ops = load_metric(port, "stallsym_writer_ops_total");
    double commits = load_metric(port, "stallsym_writer_commits_total");
    struct load_times t = load_send(port, &load);
    ops = load_metric(port, "stallsym_writer_ops_total") - ops;
    commits = load_metric(port, "stallsym_writer_commits_total") - commits;
    double mb = resident_mb(pid);
    kill(pid, SIGTERM);
    waitpid(pid, NULL, 0);
    double rate = (double)load.reports / t.seconds;
    printf("%-5s %.0f reports/s, %.0f frames/s, %.1f MB/s, %.0f commits/s, p50 %.1f ms, "
           "p99 %.1f ms, RSS %.0f MB, %zu answers 503\n",
           f->name, rate, rate * LOAD_FRAMES, (double)load.bytes / t.seconds / 1e6,
           commits / t.seconds, t.p50_ms, t.p99_ms, mb, t.refused);
    size_t group = commits > 0 ? (size_t)(ops / commits + 0.5) : 1;
    group = group < 1 ? 1 : group > GROUP_MAX ? GROUP_MAX : group;
    double peer = f->images == LOAD_IMAGES_FULL ? jansson_seconds(&load)
                                                : storage_seconds(dir, &sets, &warm, &load, group);
    printf("%-5s peer: %s, %.0f reports/s; ratio %.2f (goal >= %.2f)\n", f->name, f->peer,
           (double)load.reports / peer, peer / t.seconds, f->goal);
    fflush(stdout);
    load_free(&load);
    load_free(&warm);
    load_free(&sets);
    remove_dir(dir);
}

int main(int argc, char **argv)
{
    static const struct figure figures[] = {
        {"P8a", LOAD_IMAGES_FULL, 0.9, 0.4, "jansson alone, one core"},
        {"P8b", LOAD_IMAGES_NAMED, 0.9, 0.5, "storage alone, same ops a commit"},
        {"P9", LOAD_IMAGES_NAMED, 0, 0.3, "storage alone, same ops a commit"},
    };
    if (argc < 2)
        load_die("usage: bench_ingest STALLSYMD [BATCHES]");
    size_t batches = argc > 2 ? strtoul(argv[2], NULL, 10) : 2000;
    for (size_t i = 0; i < sizeof(figures) / sizeof(figures[0]); i++)
        run(argv[1], &figures[i], figures[i].known > 0 ? batches : batches / 2);
    return 0;
}
