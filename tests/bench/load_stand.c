#include "tests/bench/load_stand.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "server/ingest/ingest.h"
#include "storage/storage.h"

#define WAL_MAX    ((uint64_t)64 << 20)
#define FILL_BYTES ((size_t)2 << 20) /* of one image set */
#define COUNTED_MS 120000

void load_app_read(struct load_app *app, char *const *files)
{
    app->files = files;
    app->file_count = 0;
    while (files[app->file_count])
        app->file_count++;
    load_images_read(&app->images, files, app->file_count);
}

/* A daemon with the indexes of all files but one (NULL: of all). */
static void raise_with(struct stand *st, const char *program, const struct load_app *app,
                       const char *without)
{
    memset(st, 0, sizeof(*st));
    st->plan =
        (struct load_plan){.images = &app->images, .sum = calloc(1, sizeof(struct load_sum))};
    if (!st->plan.sum)
        load_die("no memory");
    load_daemon_start(&st->daemon, program);
    for (size_t i = 0; i < app->file_count; i++) {
        if (app->files[i] != without)
            load_upload(st->daemon.port, app->files[i]);
    }
}

static void warm_up(struct stand *st)
{
    st->warm = load_make(&st->plan, LOAD_POOL / LOAD_REPORTS, LOAD_IMAGES_NAMED, -1);
    load_send(st->daemon.port, &st->warm, 0);
    load_settle(st->daemon.port);
}

static void send_sets(struct stand *st)
{
    st->sets = load_make(&st->plan, LOAD_SETS, LOAD_IMAGES_DEFINE, -1);
    load_send(st->daemon.port, &st->sets, 0);
}

void stand_raise_late(struct stand *st, const char *program, const struct load_app *app)
{
    raise_with(st, program, app, app->images.items[0].file);
    send_sets(st);
}

void stand_raise(struct stand *st, const char *program, const struct load_app *app)
{
    raise_with(st, program, app, NULL);
    send_sets(st);
    warm_up(st);
}

void stand_raise_old(struct stand *st, const char *program, const struct load_app *app, int days)
{
    raise_with(st, program, app, NULL);
    load_daemon_end(&st->daemon);
    char path[400];
    snprintf(path, sizeof(path), "%s/stallsym.db", st->daemon.data);
    struct load_storage *s = load_storage_open(path, false);
    st->plan.now_ms = clock_wall_ms() - days * CLOCK_DAY_MS;
    st->sets = load_make(&st->plan, LOAD_SETS, LOAD_IMAGES_DEFINE, -1);
    load_storage_write(s, &st->sets, 1, st->plan.now_ms);
    st->plan.now_ms = 0;
    load_storage_close(s);
    load_daemon_again(&st->daemon, program);
    warm_up(st);
}

static void expect(const char *what, uint64_t is, uint64_t wanted)
{
    if (is != wanted)
        load_die("%s: %llu, acknowledged %llu", what, (unsigned long long)is,
                 (unsigned long long)wanted);
}

/* Of many the count may be a minute old. */
static void expect_stacks(uint16_t port, uint64_t wanted)
{
    const int64_t end_ms = clock_mono_ms() + COUNTED_MS;
    uint64_t is;
    while ((is = (uint64_t)load_number(port, "/v1/stats", "stacks")) != wanted &&
           clock_mono_ms() < end_ms)
        usleep(500000);
    expect("stacks", is, wanted);
}

/* What was acknowledged is there, once, and the sums agree. */
void stand_check(const struct stand *st)
{
    const uint16_t port = st->daemon.port;
    const struct load_sum *sum = st->plan.sum;
    const char *by_version = "/v1/breakdown?bundle_id=com.example.bench&by=version";
    expect("reports", (uint64_t)load_number(port, "/v1/stats", "reports"), sum->reports);
    expect_stacks(port, sum->stacks);
    expect("sum of counts", (uint64_t)load_number(port, by_version, "count"), sum->reports);
    expect("milliseconds of stall",
           (uint64_t)(load_number(port, by_version, "stall_seconds") * 1000 + 0.5), sum->stall_ms);
}

void stand_drop(struct stand *st)
{
    load_free(&st->sets);
    load_free(&st->warm);
    load_daemon_stop(&st->daemon);
    free(st->plan.sum);
}

/* --- storage alone ---------------------------------------------------------------------------- */

struct load_storage {
    struct storage *storage;
    struct storage_reader *reader;
};

struct load_storage *load_storage_open(const char *path, bool sync)
{
    struct error err;
    struct load_storage *s = calloc(1, sizeof(*s));
    const struct storage_options options = {.backend = "sqlite",
                                            .path = path,
                                            .synchronous_full = sync,
                                            .busy_ms = 1000,
                                            .retry_days = 3,
                                            .daily_values = 1000000,
                                            .migrate = true};
    if (!s || storage_open(&options, &s->storage, &err) != ERR_OK ||
        storage_reader_open(s->storage, &s->reader, &err) != ERR_OK)
        load_die("storage: %s", s ? err.text : "no memory");
    return s;
}

void load_storage_close(struct load_storage *s)
{
    storage_reader_close(s->reader);
    storage_close(s->storage);
    free(s);
}

static void commit_group(struct storage *s, struct write_op **ops, size_t n)
{
    struct error err;
    uint64_t wal;
    if (storage_begin(s, &err) != ERR_OK)
        load_die("begin: %s", err.text);
    for (size_t k = 0; k < n; k++) {
        if (storage_apply(s, ops[k], &err) != ERR_OK)
            load_die("apply: %s", err.text);
    }
    if (storage_commit(s, &err) != ERR_OK)
        load_die("commit: %s", err.text);
    if (storage_wal_bytes(s) > WAL_MAX)
        (void)storage_checkpoint(s, false, &wal, &err);
}

struct load_ops load_storage_parse(struct load_storage *s, const struct load *l, int64_t now_ms)
{
    struct error err;
    struct load_ops ops = {calloc(l->count, sizeof(*ops.results)), l->count};
    if (!ops.results)
        load_die("no memory");
    for (size_t i = 0; i < l->count; i++) {
        struct ingest_request request = {.body = l->bodies[i].data,
                                         .len = l->bodies[i].len,
                                         .media = INGEST_JSON,
                                         .now_ms = now_ms ? now_ms : clock_wall_ms(),
                                         .limits = &INGEST_LIMITS_DEFAULT,
                                         .reader = s->reader};
        if (ingest_body(&request, &ops.results[i], &err) != ERR_OK || !ops.results[i].op)
            load_die("ingest: %s", err.text);
    }
    return ops;
}

double load_storage_apply(struct load_storage *s, struct load_ops *ops, size_t group)
{
    const int64_t start = clock_mono_ns();
    for (size_t i = 0; i < ops->count;) {
        struct write_op *taken[LOAD_GROUP_MAX];
        size_t n = 0;
        for (; n < group && i < ops->count; n++, i++)
            taken[n] = ops->results[i].op;
        commit_group(s->storage, taken, n);
    }
    const int64_t spent = clock_mono_ns() - start;
    for (size_t i = 0; i < ops->count; i++)
        ingest_result_done(&ops->results[i]);
    free(ops->results);
    *ops = (struct load_ops){NULL, 0};
    return (double)spent / 1e9;
}

double load_storage_write(struct load_storage *s, const struct load *l, size_t group,
                          int64_t now_ms)
{
    struct load_ops ops = load_storage_parse(s, l, now_ms);
    return load_storage_apply(s, &ops, group);
}

/* A batch of one report without a stack, whose image set is what is large. */
static struct write_op *make_filler(size_t number)
{
    struct write_op *op = write_op_new(WRITE_BATCHES, 2 * FILL_BYTES);
    struct op_batch *batch = op ? arena_alloc(op->arena, sizeof(*batch)) : NULL;
    struct op_report *report = batch ? arena_alloc(op->arena, sizeof(*report)) : NULL;
    char *data = report ? arena_alloc(op->arena, FILL_BYTES) : NULL;
    if (!data)
        load_die("no memory");
    memset(data, (int)number, FILL_BYTES);
    const int64_t now = clock_wall_ms();
    *report = (struct op_report){.id = arena_printf(op->arena, "filler-%zu", number),
                                 .kind = REPORT_FRAME_DROP,
                                 .time_ms = now,
                                 .received_ms = now,
                                 .device_time_ms = INT64_MIN,
                                 .duration_ms = -1,
                                 .weight = 1,
                                 .version = "1",
                                 .build = "1",
                                 .device = "",
                                 .os_version = "",
                                 .os_build = "",
                                 .arch = "",
                                 .page = "",
                                 .path = "",
                                 .cpu_usage = -1,
                                 .memory_usage = -1,
                                 .stack = NO_STACK};
    report_id_hash("com.example.filler", report->id, report->id_hash);
    *batch = (struct op_batch){.bundle_id = "com.example.filler",
                               .reports = report,
                               .report_count = 1,
                               .image_set = report->id,
                               .image_set_data = data,
                               .image_set_len = FILL_BYTES};
    op->u.batches.items = batch;
    op->u.batches.count = 1;
    return op;
}

void load_storage_fill(struct load_storage *s, double bytes)
{
    for (size_t i = 0; (double)i * (double)FILL_BYTES < bytes; i++) {
        struct write_op *op = make_filler(i);
        commit_group(s->storage, &op, 1);
        write_op_free(op);
    }
}
