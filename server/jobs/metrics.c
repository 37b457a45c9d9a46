#include "server/jobs/metrics.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/version.h"

/* Upper bounds in milliseconds; what is above the last one is counted under +Inf alone. */
static const int64_t BOUNDS_MS[] = {1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000};
#define BOUND_COUNT (sizeof(BOUNDS_MS) / sizeof(BOUNDS_MS[0]))

struct histogram {
    _Atomic int64_t buckets[BOUND_COUNT + 1]; /* not cumulative; the last one is above all bounds */
    _Atomic int64_t sum_ms;
};

struct metrics {
    _Atomic int64_t values[METRIC_COUNT];
    struct histogram commits;
    struct histogram requests;
};

struct metric_row {
    const char *kind;
    const char *name;
    const char *help;
};

static const struct metric_row ROWS[METRIC_COUNT] = {
#define METRIC_ROW(id, kind, name, help) [METRIC_##id] = {#kind, name, help},
    METRICS(METRIC_ROW)
#undef METRIC_ROW
};

struct metrics *metrics_new(void)
{
    return calloc(1, sizeof(struct metrics));
}

void metrics_free(struct metrics *m)
{
    free(m);
}

void metrics_add(struct metrics *m, enum metric_id id, int64_t delta)
{
    atomic_fetch_add_explicit(&m->values[id], delta, memory_order_relaxed);
}

void metrics_set(struct metrics *m, enum metric_id id, int64_t value)
{
    atomic_store_explicit(&m->values[id], value, memory_order_relaxed);
}

int64_t metrics_get(const struct metrics *m, enum metric_id id)
{
    return atomic_load_explicit(&m->values[id], memory_order_relaxed);
}

static void observe(struct histogram *h, int64_t ms)
{
    size_t i = 0;
    while (i < BOUND_COUNT && ms > BOUNDS_MS[i])
        i++;
    atomic_fetch_add_explicit(&h->buckets[i], 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&h->sum_ms, ms, memory_order_relaxed);
}

void metrics_commit_ms(struct metrics *m, int64_t ms)
{
    observe(&m->commits, ms);
}

void metrics_request_ms(struct metrics *m, int64_t ms)
{
    observe(&m->requests, ms);
}

/* Thousandths as a decimal number, without going through a double. */
static void print_seconds(struct buf *out, int64_t ms)
{
    buf_printf(out, "%" PRId64 ".%03" PRId64, ms / 1000, ms % 1000);
}

static void print_histogram(const struct histogram *h, const char *name, const char *help,
                            struct buf *out)
{
    int64_t total = 0;
    buf_printf(out, "# HELP %s %s\n# TYPE %s histogram\n", name, help, name);
    for (size_t i = 0; i < BOUND_COUNT; i++) {
        total += atomic_load_explicit(&h->buckets[i], memory_order_relaxed);
        buf_printf(out, "%s_bucket{le=\"", name);
        print_seconds(out, BOUNDS_MS[i]);
        buf_printf(out, "\"} %" PRId64 "\n", total);
    }
    /* The count is the sum of what was just read, so that +Inf and _count agree in every answer. */
    total += atomic_load_explicit(&h->buckets[BOUND_COUNT], memory_order_relaxed);
    buf_printf(out, "%s_bucket{le=\"+Inf\"} %" PRId64 "\n%s_sum ", name, total, name);
    print_seconds(out, atomic_load_explicit(&h->sum_ms, memory_order_relaxed));
    buf_printf(out, "\n%s_count %" PRId64 "\n", name, total);
}

bool metrics_print(const struct metrics *m, struct buf *out)
{
    for (int i = 0; i < METRIC_COUNT; i++) {
        const struct metric_row *row = &ROWS[i];
        buf_printf(out, "# HELP %s %s\n# TYPE %s %s\n%s %" PRId64 "\n", row->name, row->help,
                   row->name, row->kind, row->name, metrics_get(m, (enum metric_id)i));
    }
    print_histogram(&m->commits, "stallsym_writer_commit_seconds", "duration of a transaction",
                    out);
    print_histogram(&m->requests, "stallsym_http_request_seconds", "duration of a request", out);
    buf_printf(out,
               "# HELP stallsym_build_info what runs here\n# TYPE stallsym_build_info gauge\n"
               "stallsym_build_info{version=\"%s\"} 1\n",
               STALLSYM_VERSION);
    return !out->failed;
}
