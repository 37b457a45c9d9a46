/*
 * bench_ingest - P8a to P11: durable ingest over HTTP beside its peers, in one run.
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
 */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "server/ingest/ingest.h"
#include "storage/storage.h"
#include "tests/bench/load_client.h"
#include "tests/bench/load_daemon.h"

#define GROUP_MAX  512
#define WAL_MAX    ((uint64_t)64 << 20)
#define P10_SHARE  0.7
#define P10_GOAL   100.0
#define P11_GOAL   256.0
#define P11_BODIES 200 /* sent between two looks at the memory */

struct bench {
    const char *program;
    const char *only; /* NULL: all */
    size_t batches;
    double known;
    double seconds;
    struct load_images images;
    char **files;
    size_t file_count;
};

/* A daemon with indexes, image sets and the pool of known stacks. */
struct stand {
    struct load_daemon daemon;
    struct load_plan plan;
    struct load sets, warm;
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

static double storage_seconds(const struct stand *st, const struct load *l, size_t group)
{
    char path[400];
    struct storage *s = NULL;
    struct storage_reader *reader = NULL;
    struct error err;
    snprintf(path, sizeof(path), "%s/alone.db", st->daemon.dir);
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
    apply_load(s, reader, &st->sets, 1);
    apply_load(s, reader, &st->warm, group);
    double seconds = apply_load(s, reader, l, group);
    storage_reader_close(reader);
    storage_close(s);
    return seconds;
}

static void raise_stand(struct stand *st, const struct bench *b)
{
    memset(st, 0, sizeof(*st));
    st->plan = (struct load_plan){.images = &b->images, .sum = calloc(1, sizeof(struct load_sum))};
    if (!st->plan.sum)
        load_die("no memory");
    load_daemon_start(&st->daemon, b->program);
    for (size_t i = 0; i < b->file_count; i++)
        load_upload(st->daemon.port, b->files[i]);
    st->sets = load_make(&st->plan, LOAD_SETS, LOAD_IMAGES_DEFINE, -1);
    st->warm = load_make(&st->plan, LOAD_POOL / LOAD_REPORTS, LOAD_IMAGES_NAMED, -1);
    load_send(st->daemon.port, &st->sets, 0);
    load_send(st->daemon.port, &st->warm, 0);
    load_settle(st->daemon.port);
}

static void expect(const char *what, uint64_t is, uint64_t wanted)
{
    if (is != wanted)
        load_die("%s: %llu, acknowledged %llu", what, (unsigned long long)is,
                 (unsigned long long)wanted);
}

/* What was acknowledged is there, once, and the sums agree. */
static void check_stand(const struct stand *st)
{
    const uint16_t port = st->daemon.port;
    const struct load_sum *sum = st->plan.sum;
    const char *by_version = "/v1/breakdown?bundle_id=com.example.bench&by=version";
    expect("reports", (uint64_t)load_number(port, "/v1/stats", "reports"), sum->reports);
    expect("stacks", (uint64_t)load_number(port, "/v1/stats", "stacks"), sum->stacks);
    expect("sum of counts", (uint64_t)load_number(port, by_version, "count"), sum->reports);
    expect("milliseconds of stall",
           (uint64_t)(load_number(port, by_version, "stall_seconds") * 1000 + 0.5), sum->stall_ms);
}

static void drop_stand(struct stand *st)
{
    load_free(&st->sets);
    load_free(&st->warm);
    load_daemon_stop(&st->daemon);
    free(st->plan.sum);
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
    raise_stand(&st, b);
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
    check_stand(&st);
    load_daemon_end(&st.daemon);
    printf("%-5s all stacks resolved %.2f s later; the database holds what was acknowledged; "
           "%.0f bytes on disk a report\n",
           f->name, settled, (load_daemon_disk(&st.daemon) - disk) / (double)load.reports);
    size_t group = commits > 0 ? (size_t)(ops / commits + 0.5) : 1;
    group = group < 1 ? 1 : group > GROUP_MAX ? GROUP_MAX : group;
    double peer =
        f->list == LOAD_IMAGES_FULL ? jansson_seconds(&load) : storage_seconds(&st, &load, group);
    printf("%-5s peer: %s, %.0f reports/s; ratio %.2f (goal >= %.2f)\n", f->name, f->peer,
           (double)load.reports / peer, peer / t.seconds, f->goal);
    fflush(stdout);
    const double rate = (double)load.reports / t.seconds;
    load_free(&load);
    drop_stand(&st);
    return rate;
}

/* P10: latency where there is room. */
static void run_latency(const struct bench *b, double full_rate)
{
    struct stand st;
    raise_stand(&st, b);
    const double rate = full_rate * P10_SHARE / LOAD_REPORTS;
    struct load load = load_make(&st.plan, b->batches, LOAD_IMAGES_NAMED, b->known);
    struct load_times t = load_send(st.daemon.port, &load, rate);
    printf("P10   at %.0f reports/s, 70 %% of P8b: p50 %.1f ms, p99 %.1f ms (goal <= %.0f), "
           "max %.1f ms, %zu answers 503\n",
           (double)load.reports / t.seconds, t.p50_ms, t.p99_ms, P10_GOAL, t.max_ms, t.refused);
    load_settle(st.daemon.port);
    check_stand(&st);
    fflush(stdout);
    load_free(&load);
    drop_stand(&st);
}

/* P11: memory while it goes on; halves tell whether it grows. */
static void run_memory(const struct bench *b, enum load_list list, const char *what)
{
    struct stand st;
    raise_stand(&st, b);
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
    check_stand(&st);
    printf("P11   %s for %.0f s, %llu reports: RSS at most %.0f MB in the first half, %.0f MB in "
           "the second (goal <= %.0f)\n",
           what, b->seconds, (unsigned long long)reports, most[0], most[1], P11_GOAL);
    fflush(stdout);
    drop_stand(&st);
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
}

int main(int argc, char **argv)
{
    struct bench b = {.batches = 2000, .known = 0.9, .seconds = 20};
    b.program = argc > 1 ? argv[1] : NULL;
    for (int i = 2; i + 1 < argc && !b.files; i += 2) {
        if (strcmp(argv[i], "--batches") == 0)
            b.batches = strtoul(argv[i + 1], NULL, 10);
        else if (strcmp(argv[i], "--known") == 0)
            b.known = strtod(argv[i + 1], NULL);
        else if (strcmp(argv[i], "--seconds") == 0)
            b.seconds = strtod(argv[i + 1], NULL);
        else if (strcmp(argv[i], "--only") == 0)
            b.only = argv[i + 1];
        else if (strcmp(argv[i], "--symbols") == 0)
            b.files = argv + i + 1;
        else
            load_die("unknown option %s", argv[i]);
    }
    while (b.files && b.files[b.file_count])
        b.file_count++;
    if (!b.file_count)
        load_die("usage: bench_ingest STALLSYMD [--batches N] [--known SHARE] [--seconds S] "
                 "[--only NAME] --symbols FILE...");
    load_images_read(&b.images, b.files, b.file_count);
    run(&b);
    return 0;
}
