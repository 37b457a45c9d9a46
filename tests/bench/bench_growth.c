/*
 * bench_growth - P14 and P16: what is stored already, and how long a start takes with it.
 *
 * usage: bench_growth STALLSYMD [--stored N,N... | --data FOLDER] [--batches N] [--indexes N]
 *                     [--gigabytes G] --symbols FILE...
 *
 * P14: rate and latency of P8b's load on an empty database and after each number of stored reports,
 * medians of ROUNDS. They are written by the storage library alone, received over the days before
 * now; with --data, on what a data folder of an earlier run holds, which grows by it and stays. P16:
 * on that database, made as large as asked for, with so many indexes: from the start of the process
 * until /readyz says 200.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/thread.h"
#include "tests/bench/load_stand.h"
#include "tests/support/files.h"

#define ROUNDS       5
#define WARM_ROUNDS  4
#define STORED_MAX   8
#define STORED_DAYS  20
#define FILL_BATCHES 1000 /* made at a time */
#define FILL_GROUP   32
#define P14_GOAL     0.7
#define P16_GOAL     300.0
#define UPLOAD_FILES 100 /* in one archive */
#define TAR_BLOCK    512

struct bench {
    const char *program;
    struct load_app app;
    size_t batches;
    const char *folder; /* NULL: reports are stored first */
    uint64_t stored[STORED_MAX];
    size_t stored_count;
    size_t indexes;
    double gigabytes;
};

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double values[ROUNDS])
{
    qsort(values, ROUNDS, sizeof(values[0]), by_value);
    return values[ROUNDS / 2];
}

struct figures {
    double rate; /* reports a second */
    double p99_ms;
    double writer_us; /* CPU of the writer's thread, a report */
};

/* What is sent is stored, too. */
static struct figures send_round(struct stand *st, size_t batches)
{
    struct load load = load_make(&st->plan, batches, LOAD_IMAGES_NAMED, 0.9);
    const struct load_cpu before = load_daemon_cpu(&st->daemon);
    const struct load_times t = load_send(st->daemon.port, &load, 0);
    const struct load_cpu after = load_daemon_cpu(&st->daemon);
    const double reports = (double)load.reports;
    load_settle(st->daemon.port);
    load_free(&load);
    return (struct figures){reports / t.seconds, t.p99_ms,
                            (after.writer - before.writer) * 1e6 / reports};
}

static struct figures measure(struct stand *st, size_t batches)
{
    double rates[ROUNDS], p99[ROUNDS], cpu[ROUNDS];
    for (size_t i = 0; i < ROUNDS; i++) {
        const struct figures f = send_round(st, batches);
        rates[i] = f.rate;
        p99[i] = f.p99_ms;
        cpu[i] = f.writer_us;
    }
    return (struct figures){median(rates), median(p99), median(cpu)};
}

/* Until ids of earlier days are learnt (storage/id_days.h), a step a commit. */
static void warm(struct stand *st, size_t batches)
{
    for (size_t i = 0; i < WARM_ROUNDS; i++) {
        const struct figures f = send_round(st, batches);
        if (i == 0)
            printf("P14   just after a start: %.0f reports/s, p99 %.1f ms, writer %.0f us\n",
                   f.rate, f.p99_ms, f.writer_us);
    }
}

static struct load_storage *open_stored(const struct stand *st)
{
    char path[400];
    snprintf(path, sizeof(path), "%s/stallsym.db", st->daemon.data);
    return load_storage_open(path, false);
}

/* What is stored next: made and parsed by a thread of its own while the one before is written. */
struct filling {
    struct load_plan *plan;
    struct load_storage *storage;
    uint64_t reports; /* are wanted */
    int64_t now_ms;
    struct load load;
    struct load_ops ops;
    struct thread maker;
};

static void *make_filling(void *arg)
{
    struct filling *f = arg;
    const double share = (double)f->plan->sum->reports / (double)f->reports;
    f->plan->now_ms = f->now_ms - (int64_t)((1 - share) * STORED_DAYS * CLOCK_DAY_MS);
    f->load = load_make(f->plan, FILL_BATCHES, LOAD_IMAGES_NAMED, 0.9);
    f->ops = load_storage_parse(f->storage, &f->load, f->plan->now_ms);
    return NULL;
}

static void begin_filling(struct filling *f)
{
    struct error err;
    f->load = (struct load){0};
    if (f->plan->sum->reports < f->reports &&
        thread_start(&f->maker, "maker", make_filling, f, &err) != ERR_OK)
        load_die("%s", err.text);
}

/* Until so many are stored; the daemon does not run. */
static void store_until(struct stand *st, uint64_t reports)
{
    struct filling f = {.plan = &st->plan,
                        .storage = open_stored(st),
                        .reports = reports,
                        .now_ms = clock_wall_ms()};
    begin_filling(&f);
    while (thread_join(&f.maker), f.load.count > 0) {
        struct load load = f.load;
        struct load_ops ops = f.ops;
        begin_filling(&f);
        load_storage_apply(f.storage, &ops, FILL_GROUP);
        load_free(&load);
    }
    st->plan.now_ms = 0;
    load_storage_close(f.storage);
}

static struct figures measure_empty(const struct bench *b, struct stand *st)
{
    const struct figures f = measure(st, b->batches);
    printf("P14   P8b with %llu reports stored: %.0f reports/s, p99 %.1f ms, writer %.0f us\n",
           (unsigned long long)st->plan.sum->reports, f.rate, f.p99_ms, f.writer_us);
    load_daemon_end(&st->daemon);
    return f;
}

/* The daemon runs on what is stored. */
static void measure_stored(const struct bench *b, struct stand *st, const struct figures *empty)
{
    load_settle(st->daemon.port);
    const double megabytes = load_daemon_disk(&st->daemon) / 1e6;
    const uint64_t stored = st->plan.sum->reports;
    warm(st, b->batches);
    const struct figures f = measure(st, b->batches);
    printf("P14   P8b with %llu reports stored, %.0f MB: %.0f reports/s, p99 %.1f ms, writer "
           "%.0f us; ratio %.2f (goal >= %.2f)\n",
           (unsigned long long)stored, megabytes, f.rate, f.p99_ms, f.writer_us,
           f.rate / empty->rate, P14_GOAL);
    fflush(stdout);
}

static void run_growth(const struct bench *b, struct stand *st)
{
    const struct figures empty = measure_empty(b, st);
    for (size_t i = 0; i < b->stored_count; i++) {
        store_until(st, b->stored[i]);
        load_daemon_again(&st->daemon, b->program);
        measure_stored(b, st, &empty);
        if (i + 1 < b->stored_count)
            load_daemon_end(&st->daemon);
    }
    stand_check(st);
}

/* A folder whose last run ended by itself: its load is continued. */
static void run_folder(const struct bench *b, struct stand *st)
{
    const struct figures empty = measure_empty(b, st);
    struct load_sum *sum = st->plan.sum;
    snprintf(st->daemon.data, sizeof(st->daemon.data), "%s", b->folder);
    load_daemon_again(&st->daemon, b->program);
    sum->reports = (uint64_t)load_number(st->daemon.port, "/v1/stats", "reports");
    st->plan.next_batch = sum->reports / LOAD_REPORTS;
    st->plan.next_new = sum->reports; /* above all that there were */
    measure_stored(b, st, &empty);
    load_daemon_end(&st->daemon);
}

static void put_member(struct buf *out, const struct load_image *image, const struct mapped *m,
                       size_t number)
{
    char header[TAR_BLOCK] = "";
    unsigned sum = 0;
    snprintf(header, 100, "%zu/%s", number, image->name);
    snprintf(header + 100, 8, "%07o", 0644u);
    snprintf(header + 124, 12, "%011zo", m->size);
    snprintf(header + 136, 12, "%011o", 0u);
    memset(header + 148, ' ', 8);
    header[156] = '0';
    snprintf(header + 257, 6, "ustar");
    memcpy(header + 263, "00", 2);
    for (size_t i = 0; i < sizeof(header); i++)
        sum += (unsigned char)header[i];
    snprintf(header + 148, 8, "%06o", sum);
    buf_put(out, header, sizeof(header));
    const size_t at = out->len;
    buf_put(out, m->data, m->size);
    /* Another build: its UUID differs. */
    uint8_t *place = out->failed ? NULL
                                 : memmem((uint8_t *)out->data + at, m->size, image->uuid.bytes,
                                          sizeof(image->uuid.bytes));
    if (!place)
        load_die("%s: no UUID in it", image->name);
    memcpy(place, &number, sizeof(number));
    static const char zeros[TAR_BLOCK];
    buf_put(out, zeros, (TAR_BLOCK - m->size % TAR_BLOCK) % TAR_BLOCK);
}

/* So many builds of the app's smallest image. */
static void make_indexes(const struct bench *b, const struct stand *st)
{
    const struct load_image *image = &b->app.images.items[b->app.images.app_count - 1];
    struct mapped m = {NULL, 0};
    if (!map_file(image->file, &m))
        load_die("no file %s", image->file);
    for (size_t done = 0; done < b->indexes;) {
        struct buf out;
        buf_init(&out, (size_t)1 << 30);
        for (size_t i = 0; i < UPLOAD_FILES && done < b->indexes; i++)
            put_member(&out, image, &m, ++done);
        static const char end[2 * TAR_BLOCK];
        buf_put(&out, end, sizeof(end));
        load_upload_bytes(st->daemon.port, image->name, out.data, out.len);
        buf_done(&out);
    }
    unmap_file(&m);
}

static void run_start(const struct bench *b, struct stand *st)
{
    double ms[ROUNDS];
    make_indexes(b, st);
    const double indexes = load_number(st->daemon.port, "/v1/stats", "symbol_files");
    if (indexes < (double)b->indexes)
        load_die("%.0f indexes of %zu", indexes, b->indexes);
    load_daemon_end(&st->daemon);
    struct load_storage *s = open_stored(st);
    load_storage_fill(s, b->gigabytes * 1e9 - load_daemon_disk(&st->daemon));
    load_storage_close(s);
    for (size_t i = 0; i < ROUNDS; i++) {
        load_daemon_again(&st->daemon, b->program);
        ms[i] = st->daemon.ready_ms;
        load_daemon_end(&st->daemon);
    }
    printf("P16   start with %.0f indexes and a database of %.2f GB: ready after %.0f ms (goal <= "
           "%.0f)\n",
           indexes, load_daemon_disk(&st->daemon) / 1e9, median(ms), P16_GOAL);
}

static void read_stored(struct bench *b, const char *text)
{
    b->stored_count = 0;
    while (*text && b->stored_count < STORED_MAX) {
        char *end = NULL;
        b->stored[b->stored_count++] = strtoull(text, &end, 10);
        text = *end ? end + 1 : end;
    }
}

int main(int argc, char **argv)
{
    struct bench b = {
        .batches = 1000, .stored = {100000}, .stored_count = 1, .indexes = 1000, .gigabytes = 5};
    char **files = NULL;
    struct stand st;
    b.program = argc > 1 ? argv[1] : NULL;
    for (int i = 2; i + 1 < argc && !files; i += 2) {
        if (strcmp(argv[i], "--batches") == 0)
            b.batches = strtoul(argv[i + 1], NULL, 10);
        else if (strcmp(argv[i], "--stored") == 0)
            read_stored(&b, argv[i + 1]);
        else if (strcmp(argv[i], "--data") == 0)
            b.folder = argv[i + 1];
        else if (strcmp(argv[i], "--indexes") == 0)
            b.indexes = strtoul(argv[i + 1], NULL, 10);
        else if (strcmp(argv[i], "--gigabytes") == 0)
            b.gigabytes = strtod(argv[i + 1], NULL);
        else if (strcmp(argv[i], "--symbols") == 0)
            files = argv + i + 1;
        else
            load_die("unknown option %s", argv[i]);
    }
    if (!files)
        load_die("usage: bench_growth STALLSYMD [--stored N,N... | --data FOLDER] [--batches N] "
                 "[--indexes N] [--gigabytes G] --symbols FILE...");
    load_app_read(&b.app, files);
    stand_raise_old(&st, b.program, &b.app, STORED_DAYS);
    if (b.folder) {
        run_folder(&b, &st);
    } else {
        run_growth(&b, &st);
        run_start(&b, &st);
    }
    stand_drop(&st);
    return 0;
}
