/*
 * bench_ingest - P8a to P12: durable ingest over HTTP beside its peers, in one run.
 *
 * usage: bench_ingest STALLSYMD [--batches N] [--known SHARE] [--seconds S] [--only NAME]
 *                     --symbols FILE...
 *
 * Starts the daemon on a folder of its own, with indexes of the symbol files. Peers, measured in
 * this process on the same bytes: jansson alone parsing them (P8a); the storage library alone
 * writing the same batches, as many to a commit as the daemon had (P8b, P9), and nothing of what
 * the daemon does of its own meanwhile, which is to resolve new stacks. Every answer is checked, and
 * afterwards that the database holds what was acknowledged. --known is the share of known stacks of
 * P8a, P8b, P10 and P11; --seconds how long P11 sends each of its two kinds (0: leaves it out).
 * P12 sends new stacks only, then the symbol file that most of their frames are in.
 */
#include <jansson.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "tests/bench/load_client.h"
#include "tests/bench/load_stand.h"

#define P10_SHARE    0.7
#define P10_GOAL     100.0
#define P11_GOAL     256.0
#define P11_BODIES   200 /* sent between two looks at the memory */
#define P12_GOAL     30000.0
#define P12_QUIET_NS INT64_C(5000000000)
#define RESOLVED     "stallsym_stacks_resolved_total"

struct bench {
    const char *program;
    const char *only; /* NULL: all */
    size_t batches;
    double known;
    double seconds;
    struct load_app app;
};

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

static double storage_seconds(const struct stand *st, const struct load *l, size_t group)
{
    char path[400];
    snprintf(path, sizeof(path), "%s/alone.db", st->daemon.dir);
    struct load_storage *s = load_storage_open(path, true);
    load_storage_write(s, &st->sets, 1, 0);
    load_storage_write(s, &st->warm, group, 0);
    const double seconds = load_storage_write(s, l, group, 0);
    load_storage_close(s);
    return seconds;
}

struct figure {
    const char *name;
    enum load_list list;
    bool all_new;
    double goal;
    const char *peer;
};

static void print_rate(const struct figure *f, const struct load *l, const struct load_times *t,
                       double commits, double mb)
{
    const double rate = (double)l->reports / t->seconds;
    printf("%-5s %.0f reports/s, %.0f frames/s, %.1f MB/s, %.0f commits/s, p50 %.1f ms, "
           "p99 %.1f ms, RSS %.0f MB, %zu answers 503\n",
           f->name, rate, rate * LOAD_FRAMES, (double)l->bytes / t->seconds / 1e6,
           commits / t->seconds, t->p50_ms, t->p99_ms, mb, t->refused);
}

/* What wall time does not say on a machine with other work. */
static void print_cpu(const struct figure *f, const struct load *l, const struct load_times *t,
                      const struct load_cpu *from, const struct load_cpu *to)
{
    const double us = 1e6 / (double)l->reports;
    printf("%-5s us of a processor a report: %.1f (door %.1f, writer %.1f, resolver %.1f), the "
           "client %.1f\n",
           f->name, (to->total - from->total) * us, (to->door - from->door) * us,
           (to->writer - from->writer) * us, (to->resolver - from->resolver) * us,
           t->client_cpu * us);
}

/* Reports a second. */
static double run_rate(const struct bench *b, const struct figure *f)
{
    struct stand st;
    stand_raise(&st, b->program, &b->app);
    load_daemon_end(&st.daemon); /* which writes the log into the database */
    const double disk = load_daemon_disk(&st.daemon);
    load_daemon_again(&st.daemon, b->program);
    const uint16_t port = st.daemon.port;
    struct load load = load_make(&st.plan, f->all_new ? b->batches / 2 : b->batches, f->list,
                                 f->all_new ? 0 : b->known);
    double ops = load_metric(port, "stallsym_writer_ops_total");
    double commits = load_metric(port, "stallsym_writer_commits_total");
    const struct load_cpu from = load_daemon_cpu(&st.daemon);
    struct load_times t = load_send(port, &load, 0);
    const struct load_cpu to = load_daemon_cpu(&st.daemon);
    ops = load_metric(port, "stallsym_writer_ops_total") - ops;
    commits = load_metric(port, "stallsym_writer_commits_total") - commits;
    print_rate(f, &load, &t, commits, load_daemon_mb(&st.daemon));
    print_cpu(f, &load, &t, &from, &to);
    const double settled = load_settle(port);
    stand_check(&st);
    load_daemon_end(&st.daemon);
    printf("%-5s all stacks resolved %.2f s later; the database holds what was acknowledged; "
           "%.0f bytes on disk a report\n",
           f->name, settled, (load_daemon_disk(&st.daemon) - disk) / (double)load.reports);
    size_t group = commits > 0 ? (size_t)(ops / commits + 0.5) : 1;
    group = group < 1 ? 1 : group > LOAD_GROUP_MAX ? LOAD_GROUP_MAX : group;
    double peer =
        f->list == LOAD_IMAGES_FULL ? jansson_seconds(&load) : storage_seconds(&st, &load, group);
    printf("%-5s peer: %s, %.0f reports/s; ratio %.2f (goal >= %.2f)\n", f->name, f->peer,
           (double)load.reports / peer, peer / t.seconds, f->goal);
    fflush(stdout);
    const double rate = (double)load.reports / t.seconds;
    load_free(&load);
    stand_drop(&st);
    return rate;
}

/* P10: latency where there is room. */
static void run_latency(const struct bench *b, double full_rate)
{
    struct stand st;
    stand_raise(&st, b->program, &b->app);
    const double rate = full_rate * P10_SHARE / LOAD_REPORTS;
    struct load load = load_make(&st.plan, b->batches, LOAD_IMAGES_NAMED, b->known);
    struct load_times t = load_send(st.daemon.port, &load, rate);
    printf("P10   at %.0f reports/s, 70 %% of P8b: p50 %.1f ms, p99 %.1f ms (goal <= %.0f), "
           "max %.1f ms, %zu answers 503\n",
           (double)load.reports / t.seconds, t.p50_ms, t.p99_ms, P10_GOAL, t.max_ms, t.refused);
    load_settle(st.daemon.port);
    stand_check(&st);
    fflush(stdout);
    load_free(&load);
    stand_drop(&st);
}

/* P11: memory while it goes on; halves tell whether it grows. */
static void run_memory(const struct bench *b, enum load_list list, const char *what)
{
    struct stand st;
    stand_raise(&st, b->program, &b->app);
    const int64_t start = clock_mono_ms();
    double most[2] = {0, 0};
    uint64_t reports = 0;
    for (double s = 0; s < b->seconds; s = (double)(clock_mono_ms() - start) / 1e3) {
        struct load load = load_make(&st.plan, P11_BODIES, list, b->known);
        load_send(st.daemon.port, &load, 0);
        const double mb = load_daemon_mb(&st.daemon);
        double *half = &most[s >= b->seconds / 2];
        *half = mb > *half ? mb : *half;
        reports += load.reports;
        load_free(&load);
    }
    load_settle(st.daemon.port);
    stand_check(&st);
    printf("P11   %s for %.0f s, %llu reports: RSS at most %.0f MB in the first half, %.0f MB in "
           "the second (goal <= %.0f)\n",
           what, b->seconds, (unsigned long long)reports, most[0], most[1], P11_GOAL);
    fflush(stdout);
    stand_drop(&st);
}

struct late_upload {
    uint16_t port;
    const char *file;
    atomic_bool done;
};

static void *send_late(void *arg)
{
    struct late_upload *u = arg;
    load_upload(u->port, u->file);
    u->done = true;
    return NULL;
}

/* Stacks a second, from the first pages that were resolved to the last ones. */
static double late_rate(struct late_upload *u, double before, double *ret_count)
{
    pthread_t thread;
    double first = before;
    double last = before;
    int64_t first_ns = 0;
    int64_t last_ns = 0;
    if (pthread_create(&thread, NULL, send_late, u) != 0)
        load_die("no thread");
    /* `quiet_ns`: since when there is nothing to be seen of the upload. */
    for (int64_t now = clock_mono_ns(), quiet_ns = now; now - quiet_ns < P12_QUIET_NS;
         now = clock_mono_ns()) {
        const double resolved = load_metric(u->port, RESOLVED);
        if (resolved != last && !first_ns) {
            first = resolved;
            first_ns = now;
        }
        last_ns = resolved != last ? now : last_ns;
        quiet_ns = resolved != last || !u->done ? now : quiet_ns;
        last = resolved;
        usleep(10000);
    }
    pthread_join(thread, NULL);
    *ret_count = last - before;
    if (last_ns == first_ns)
        load_die("P12: too few stacks were resolved anew");
    return (last - first) / ((double)(last_ns - first_ns) / 1e9);
}

/* P12: stacks that are clustered provisionally until the symbol file comes. */
static void run_late(const struct bench *b)
{
    struct stand st;
    double count = 0;
    stand_raise_late(&st, b->program, &b->app);
    struct load load = load_make(&st.plan, b->batches, LOAD_IMAGES_NAMED, 0);
    const uint16_t port = st.daemon.port;
    load_send(port, &load, 0);
    load_settle(port);
    /* Counted within the answer: no count of all stacks runs beside what is measured. */
    (void)load_number(port, "/v1/stats?fresh=1", "stacks");
    struct late_upload upload = {.port = port, .file = b->app.images.items[0].file};
    const struct load_cpu from = load_daemon_cpu(&st.daemon);
    const double rate = late_rate(&upload, load_metric(port, RESOLVED), &count);
    const struct load_cpu to = load_daemon_cpu(&st.daemon);
    load_settle(port);
    stand_check(&st);
    printf("P12   %.0f stacks resolved anew, %.0f/s (goal >= %.0f); us of a processor a stack: "
           "writer %.1f, resolver %.1f\n",
           count, rate, P12_GOAL, (to.writer - from.writer) * 1e6 / count,
           (to.resolver - from.resolver) * 1e6 / count);
    fflush(stdout);
    load_free(&load);
    stand_drop(&st);
}

static bool wanted(const struct bench *b, const char *name)
{
    return !b->only || strcmp(b->only, name) == 0;
}

static void run(const struct bench *b)
{
    static const struct figure figures[] = {
        {"P8a", LOAD_IMAGES_FULL, false, 0.4, "jansson alone, one core"},
        {"P8b", LOAD_IMAGES_NAMED, false, 0.5, "storage alone, the same batches, as many a commit"},
        {"P9", LOAD_IMAGES_NAMED, true, 0.3, "storage alone, the same batches, as many a commit"},
    };
    double p8b = 0;
    for (size_t i = 0; i < sizeof(figures) / sizeof(figures[0]); i++) {
        const bool is_p8b = i == 1;
        if (!wanted(b, figures[i].name) && !(is_p8b && wanted(b, "P10")))
            continue;
        const double rate = run_rate(b, &figures[i]);
        p8b = is_p8b ? rate : p8b;
    }
    if (wanted(b, "P10"))
        run_latency(b, p8b);
    if (wanted(b, "P11") && b->seconds > 0) {
        run_memory(b, LOAD_IMAGES_FULL, "P8a");
        run_memory(b, LOAD_IMAGES_NAMED, "P8b");
    }
    if (wanted(b, "P12"))
        run_late(b);
}

int main(int argc, char **argv)
{
    struct bench b = {.batches = 2000, .known = 0.9, .seconds = 20};
    char **files = NULL;
    b.program = argc > 1 ? argv[1] : NULL;
    for (int i = 2; i + 1 < argc && !files; i += 2) {
        if (strcmp(argv[i], "--batches") == 0)
            b.batches = strtoul(argv[i + 1], NULL, 10);
        else if (strcmp(argv[i], "--known") == 0)
            b.known = strtod(argv[i + 1], NULL);
        else if (strcmp(argv[i], "--seconds") == 0)
            b.seconds = strtod(argv[i + 1], NULL);
        else if (strcmp(argv[i], "--only") == 0)
            b.only = argv[i + 1];
        else if (strcmp(argv[i], "--symbols") == 0)
            files = argv + i + 1;
        else
            load_die("unknown option %s", argv[i]);
    }
    if (!files)
        load_die("usage: bench_ingest STALLSYMD [--batches N] [--known SHARE] [--seconds S] "
                 "[--only NAME] --symbols FILE...");
    load_app_read(&b.app, files);
    run(&b);
    return 0;
}
