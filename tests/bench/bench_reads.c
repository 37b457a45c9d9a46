/*
 * bench_reads - P13: lists, details, breakdowns, trends and comparisons on a filled database.
 *
 * usage: bench_reads [REPORTS [CLUSTERS [FILE [READ]]]]
 *
 * Reports (100,000 by default; 10,000,000 is what the goal speaks of) over 28 days in CLUSTERS
 * clusters (20,000), drawn by a Zipf law, each with stacks of its own: one report in ten has a new one.
 * Every read is run ROUNDS times with other arguments; p50 and p95 of each, and p95 of the time on a
 * processor, which the machine's other work does not change much. FILE is kept, and read as it is when
 * it is there already; READ is the name of the only one to run, to profile it.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "storage/read_compare.h"
#include "storage/read_context.h"
#include "storage/read_trend.h"
#include "storage/storage.h"

#define APP    "com.example.bench"
#define BATCH  100
#define GROUP  100
#define DAYS   28
#define DAY0   ((int64_t)20454)
#define ROUNDS 40
#define GOAL   50.0

struct bench {
    struct storage *storage;
    struct storage_reader *reader;
    struct arena arena;
    uint64_t random, serial, reports;
    uint32_t clusters;
    double *zipf;
    char dir[64], path[256];
};

static struct error err;

static void check(enum err rc, const char *what)
{
    if (rc == ERR_OK)
        return;
    fprintf(stderr, "bench_reads: %s: %s\n", what, err.text);
    exit(1);
}

static uint32_t draw(struct bench *b, uint32_t below)
{
    b->random = b->random * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((b->random >> 33) % below);
}

static uint32_t draw_zipf(struct bench *b, uint32_t below)
{
    const double u = (double)draw(b, 1u << 30) / (1u << 30) * b->zipf[below - 1];
    uint32_t lo = 0;
    for (uint32_t hi = below - 1; lo < hi;) {
        const uint32_t mid = (lo + hi) / 2;
        if (b->zipf[mid] < u)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

/* One frame says it all: which cluster, and which of its stacks. */
static void make_stack(struct arena *arena, uint32_t cluster, uint32_t variant, struct op_stack *o)
{
    struct raw_frame frame = {.offset = ((uint64_t)cluster << 24) + variant,
                              .image_kind = IMAGE_UUID,
                              .kind = FRAME_LEAF};
    struct buf buf;
    memset(&frame.image, 1, sizeof(frame.image));
    const struct raw_stack s = {&frame, 1};
    raw_stack_hash(APP, &s, o->hash);
    buf_init(&buf, 1 << 12);
    raw_stack_encode(&s, &buf);
    o->raw = arena_memdup(arena, buf.data, buf.len);
    o->raw_len = buf.len;
    o->frame_count = 1;
    buf_done(&buf);
}

/* Its place among the stacks of the batch: equal ones stand there once. */
static uint32_t stack_of(struct arena *arena, struct op_batch *batch, uint32_t cluster,
                         uint32_t variant)
{
    uint32_t at = 0;
    make_stack(arena, cluster, variant, &batch->stacks[batch->stack_count]);
    while (memcmp(batch->stacks[at].hash, batch->stacks[batch->stack_count].hash,
                  sizeof(batch->stacks[at].hash)) != 0)
        at++;
    batch->stack_count += at == batch->stack_count;
    return at;
}

static struct write_op *make_batch(struct bench *b)
{
    struct write_op *op = write_op_new(WRITE_BATCHES, (size_t)16 << 20);
    struct op_batch *batch = arena_alloc(op->arena, sizeof(*batch));
    *batch = (struct op_batch){.bundle_id = APP,
                               .reports = arena_array(op->arena, BATCH, sizeof(*batch->reports)),
                               .report_count = BATCH,
                               .stacks = arena_array(op->arena, BATCH, sizeof(*batch->stacks))};
    for (uint32_t i = 0; i < BATCH; i++, b->serial++) {
        const uint32_t day = (uint32_t)(b->serial * DAYS / b->reports);
        const uint32_t cluster = draw_zipf(b, b->clusters);
        const int64_t time = (DAY0 + day) * CLOCK_DAY_MS + (int64_t)draw(b, 86400) * 1000;
        const uint32_t release = day / 7 + draw(b, 2);
        batch->reports[i] = (struct op_report){
            .id = arena_printf(op->arena, "%llx", (unsigned long long)b->serial),
            .kind = draw(b, 8) ? REPORT_STALL : REPORT_HANG,
            .time_ms = time,
            .received_ms = time + 1000,
            .device_time_ms = INT64_MIN,
            .duration_ms = 800 + (int64_t)draw(b, 100) * draw(b, 60),
            .weight = 1,
            .version = arena_printf(op->arena, "7.%u", release),
            .build = arena_printf(op->arena, "7%u0", release),
            .device =
                arena_printf(op->arena, "iPhone%u,%u", 11 + draw_zipf(b, 6), 1 + draw_zipf(b, 4)),
            .os_version = arena_printf(op->arena, "17.%u", draw_zipf(b, 6)),
            .os_build = "",
            .arch = "",
            .page = arena_printf(op->arena, "Page%u", draw_zipf(b, 40)),
            .path = arena_printf(op->arena, "Home->Page%u", draw_zipf(b, 100)),
            .cpu_usage = (int32_t)draw(b, 100),
            .memory_usage = 200 + (int32_t)draw(b, 300),
            .stack = stack_of(op->arena, batch, cluster, draw(b, 10) ? 0 : 1 + draw(b, 1u << 20)),
        };
        report_id_hash(APP, batch->reports[i].id, batch->reports[i].id_hash);
    }
    op->u.batches.items = batch;
    op->u.batches.count = 1;
    return op;
}

static void apply(struct bench *b, struct write_op **ops, size_t count)
{
    uint64_t wal;
    check(storage_begin(b->storage, &err), "begin");
    for (size_t i = 0; i < count; i++)
        check(storage_apply(b->storage, ops[i], &err), "apply");
    check(storage_commit(b->storage, &err), "commit");
    for (size_t i = 0; i < count; i++)
        write_op_free(ops[i]);
    if (storage_wal_bytes(b->storage) > (64u << 20))
        check(storage_checkpoint(b->storage, false, &wal, &err), "checkpoint");
}

static void resolve_all(struct bench *b)
{
    static const char *const categories[] = {"lock", "io", "layout", "network", "other"};
    for (;;) {
        struct pending_stack *page;
        size_t n;
        struct write_op *op = write_op_new(WRITE_RESOLUTIONS, (size_t)64 << 20);
        check(read_pending(b->reader, 0, 512, op->arena, &page, &n, &err), "pending");
        struct op_resolution *items = arena_array(op->arena, n + 1, sizeof(*items));
        for (size_t i = 0; i < n; i++) {
            struct raw_stack raw;
            struct resolved_stack *s = arena_alloc(op->arena, sizeof(*s));
            struct resolved_frame *f = arena_array(op->arena, 1, sizeof(*f));
            check(raw_stack_decode(page[i].raw, page[i].raw_len, op->arena, &raw, &err), "stack");
            const uint32_t cluster = (uint32_t)(raw.frames[0].offset >> 24);
            const char *title = arena_printf(op->arena, "Cause%u.run()", cluster);
            *f = (struct resolved_frame){.raw = raw.frames[0], .image_name = "Shop"};
            *s = (struct resolved_stack){f, 1};
            items[i] = (struct op_resolution){.stack_id = page[i].stack_id,
                                              .generation = page[i].generation,
                                              .stack = s,
                                              .key_text = title,
                                              .title = title,
                                              .function = title,
                                              .category = categories[cluster % 5]};
            memcpy(items[i].key, &cluster, sizeof(cluster));
        }
        op->u.resolutions =
            (struct op_resolutions){.items = items, .count = n, .rules_version = "bench"};
        if (n == 0) {
            write_op_free(op);
            return;
        }
        apply(b, &op, 1);
    }
}

/* A cluster as somebody who reads the list from the top would choose it. */
static uint64_t some_cluster(struct bench *b)
{
    return 1 + draw_zipf(b, b->clusters < 1000 ? b->clusters / 2 : 1000);
}

static void filter(struct bench *b, struct read_filter *f, uint32_t round)
{
    static const char *const versions[] = {"7.0", "7.1", "7.2", "7.3"};
    (void)b;
    read_filter_init(f);
    f->bundle_id = APP;
    if (round % 2)
        f->version = versions[round / 2 % 4];
}

typedef enum err read_function(struct bench *b, uint32_t round);

static enum err list(struct bench *b, const struct read_filter *f, enum cluster_sort sort)
{
    struct cluster_row *rows;
    const char *next = NULL;
    size_t n;
    return read_clusters(b->reader, f, sort, 50, NULL, &b->arena, &rows, &n, &next, &err);
}

static enum err read_list(struct bench *b, uint32_t round)
{
    struct read_filter f;
    filter(b, &f, 0);
    return list(b, &f, (enum cluster_sort)(round % 4));
}

static enum err read_list_by_p90(struct bench *b, uint32_t round)
{
    struct read_filter f;
    filter(b, &f, 0);
    (void)round;
    return list(b, &f, SORT_P90);
}

static enum err read_list_of_version(struct bench *b, uint32_t round)
{
    struct read_filter f;
    filter(b, &f, round | 1);
    return list(b, &f, SORT_COUNT);
}

static enum err read_detail(struct bench *b, uint32_t round)
{
    struct cluster_row c;
    struct stack_row *stacks;
    struct context context;
    struct read_filter f;
    size_t n;
    const uint64_t id = some_cluster(b);
    filter(b, &f, 0);
    (void)round;
    enum err rc = read_cluster(b->reader, id, &f, &b->arena, &c, &err);
    if (!rc)
        rc = read_cluster_stacks(b->reader, id, 20, &b->arena, &stacks, &n, &err);
    if (!rc)
        rc = read_context(b->reader, id, &f, BY_NONE, BY_NONE, &b->arena, &context, &err);
    return rc;
}

static enum err read_split(struct bench *b, uint32_t round)
{
    struct breakdown_row *rows;
    struct breakdown_scope scope;
    struct read_filter f;
    size_t n;
    filter(b, &f, 0);
    return read_breakdown(b->reader, some_cluster(b), &f, (enum breakdown_by)(1 + round % 6),
                          BY_NONE, 50, &b->arena, &rows, &n, &scope, &err);
}

static enum err read_split_of_app(struct bench *b, uint32_t round)
{
    struct breakdown_row *rows;
    struct breakdown_scope scope;
    struct read_filter f;
    size_t n;
    filter(b, &f, 0);
    return read_breakdown(b->reader, 0, &f, (enum breakdown_by)(1 + round % 6), BY_NONE, 50,
                          &b->arena, &rows, &n, &scope, &err);
}

static enum err trend(struct bench *b, uint64_t cluster, uint32_t round)
{
    const enum trend_step step = round % 2 ? TREND_HOUR : TREND_DAY;
    const struct trend_query q = {.cluster_id = cluster,
                                  .step = step,
                                  .group = round % 4 < 2 ? BY_NONE : BY_VERSION,
                                  .begin = trend_number(step, (DAY0 + DAYS) * CLOCK_DAY_MS) -
                                           (step == TREND_HOUR ? 48 : DAYS),
                                  .points = step == TREND_HOUR ? 48 : DAYS,
                                  .groups = 10};
    struct trend t;
    struct read_filter f;
    filter(b, &f, 0);
    return read_trend(b->reader, &f, &q, &b->arena, &t, &err);
}

static enum err read_trend_of_app(struct bench *b, uint32_t round)
{
    return trend(b, 0, round);
}

static enum err read_trend_of_cluster(struct bench *b, uint32_t round)
{
    return trend(b, some_cluster(b), round);
}

static enum err read_versions(struct bench *b, uint32_t round)
{
    static const char *const versions[2] = {"7.2", "7.3"};
    struct compare_cell *cells;
    struct read_filter f;
    size_t n;
    (void)round;
    filter(b, &f, 0);
    return read_compare(b->reader, &f, versions, &b->arena, &cells, &n, &err);
}

/* What /v1/stats reads for each request, of all and of the app. */
static enum err read_statistics(struct bench *b, uint32_t round)
{
    struct stats_row stats;
    return read_stats(b->reader, round % 2 ? APP : NULL, &stats, &err);
}

static const struct {
    const char *what;
    read_function *read;
    uint32_t rounds;
} reads[] = {
    {"list", read_list, ROUNDS},
    {"list of a version", read_list_of_version, ROUNDS},
    {"list by p90", read_list_by_p90, ROUNDS / 4},
    {"detail", read_detail, ROUNDS},
    {"breakdown of a cluster", read_split, ROUNDS},
    {"breakdown of the app", read_split_of_app, ROUNDS},
    {"trend of a cluster", read_trend_of_cluster, ROUNDS},
    {"trend of the app", read_trend_of_app, ROUNDS},
    {"comparison of versions", read_versions, ROUNDS / 4},
    {"statistics", read_statistics, ROUNDS},
};

static int by_time(const void *a, const void *b)
{
    const double x = *(const double *)a;
    const double y = *(const double *)b;
    return (x > y) - (x < y);
}

static double cpu_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static double p95(double *ms, uint32_t count)
{
    qsort(ms, count, sizeof(*ms), by_time);
    return ms[(size_t)(0.95 * count + 0.5) - 1];
}

static void measure(struct bench *b, const char *what, read_function *read, uint32_t rounds)
{
    double wall[ROUNDS], cpu[ROUNDS];
    for (uint32_t i = 0; i < rounds; i++) {
        const int64_t start = clock_mono_ns();
        const double cpu_start = cpu_ms();
        check(read(b, i), what);
        cpu[i] = cpu_ms() - cpu_start;
        wall[i] = (double)(clock_mono_ns() - start) / 1e6;
        arena_reset(&b->arena);
    }
    const double slow = p95(wall, rounds);
    printf("P13   %-24s p50 %8.2f ms, p95 %8.2f ms (processor %8.2f; goal <= %.0f)%s\n", what,
           wall[rounds / 2], slow, p95(cpu, rounds), GOAL, slow > GOAL ? " MISSED" : "");
    fflush(stdout);
}

static void fill(struct bench *b, bool filled)
{
    const struct storage_options o = {.backend = "sqlite",
                                      .path = b->path,
                                      .busy_ms = 1000,
                                      .retry_days = 3,
                                      .daily_values = 100000,
                                      .migrate = true};
    check(storage_open(&o, &b->storage, &err), "open");
    check(storage_reader_open(b->storage, &b->reader, &err), "open");
    const int64_t start = clock_mono_ns();
    while (!filled && b->serial < b->reports) {
        struct write_op *ops[GROUP];
        size_t n = 0;
        while (n < GROUP && b->serial < b->reports)
            ops[n++] = make_batch(b);
        apply(b, ops, n);
        resolve_all(b);
    }
    printf("P13   %llu reports, %u clusters: filled in %.1f s\n", (unsigned long long)b->reports,
           b->clusters, (double)(clock_mono_ns() - start) / 1e9);
}

int main(int argc, char **argv)
{
    struct bench b = {.random = 42};
    double sum = 0;
    b.reports = argc > 1 ? strtoull(argv[1], NULL, 10) : 100000;
    b.clusters = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : 20000;
    if (b.reports < BATCH || b.clusters < 100)
        return 2;
    b.zipf = calloc(b.clusters, sizeof(*b.zipf));
    for (uint32_t i = 0; i < b.clusters; i++)
        b.zipf[i] = sum += 1 / pow(i + 1.0, 1.0);
    arena_init(&b.arena, (size_t)1 << 30);
    snprintf(b.dir, sizeof(b.dir), "%s/stallsym-bench-XXXXXX",
             getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
    if (!mkdtemp(b.dir))
        return 1;
    const char *kept = argc > 3 ? argv[3] : NULL;
    if (kept)
        snprintf(b.path, sizeof(b.path), "%s", kept);
    else
        snprintf(b.path, sizeof(b.path), "%s/x.db", b.dir);
    fill(&b, kept && access(kept, R_OK) == 0);
    for (size_t i = 0; i < sizeof(reads) / sizeof(reads[0]); i++) {
        if (argc <= 4 || strcmp(argv[4], reads[i].what) == 0)
            measure(&b, reads[i].what, reads[i].read, reads[i].rounds);
    }
    storage_reader_close(b.reader);
    storage_close(b.storage);
    if (!kept)
        (void)unlink(b.path);
    (void)rmdir(b.dir);
    arena_done(&b.arena);
    free(b.zipf);
    return 0;
}
