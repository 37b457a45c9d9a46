#include "server/jobs/metrics.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/parallel.h"
#include "tests/support/unit.h"

static char *print(const struct metrics *m)
{
    struct buf out;
    buf_init(&out, 1 << 20);
    ck_assert(metrics_print(m, &out));
    return buf_take(&out, NULL);
}

START_TEST(counters_and_gauges)
{
    struct metrics *m = metrics_new();
    ck_assert_int_eq(metrics_get(m, METRIC_OPS), 0);
    metrics_add(m, METRIC_OPS, 3);
    metrics_add(m, METRIC_OPS, 4);
    metrics_set(m, METRIC_WAL_BYTES, 5000000000);
    ck_assert_int_eq(metrics_get(m, METRIC_OPS), 7);
    ck_assert_int_eq(metrics_get(m, METRIC_OPS_FAILED), 0);
    char *text = print(m);
    ck_assert_ptr_nonnull(strstr(text, "# HELP stallsym_writer_ops_total write ops applied\n"
                                       "# TYPE stallsym_writer_ops_total counter\n"
                                       "stallsym_writer_ops_total 7\n"));
    ck_assert_ptr_nonnull(
        strstr(text, "# TYPE stallsym_wal_bytes gauge\nstallsym_wal_bytes 5000000000\n"));
    free(text);
    metrics_free(m);
}
END_TEST

/* Prometheus: buckets are cumulative, a value equal to a bound is inside it, +Inf is the count. */
START_TEST(histogram_bounds)
{
    struct metrics *m = metrics_new();
    metrics_commit_ms(m, 0);
    metrics_commit_ms(m, 5);
    metrics_commit_ms(m, 6);
    metrics_commit_ms(m, 10000);
    metrics_commit_ms(m, 10001);
    char *text = print(m);
    static const char *const lines[] = {
        "stallsym_writer_commit_seconds_bucket{le=\"0.001\"} 1\n",
        "stallsym_writer_commit_seconds_bucket{le=\"0.005\"} 2\n",
        "stallsym_writer_commit_seconds_bucket{le=\"0.010\"} 3\n",
        "stallsym_writer_commit_seconds_bucket{le=\"5.000\"} 3\n",
        "stallsym_writer_commit_seconds_bucket{le=\"10.000\"} 4\n",
        "stallsym_writer_commit_seconds_bucket{le=\"+Inf\"} 5\n",
        "stallsym_writer_commit_seconds_sum 20.012\n",
        "stallsym_writer_commit_seconds_count 5\n",
        "stallsym_http_request_seconds_bucket{le=\"+Inf\"} 0\n",
        "stallsym_http_request_seconds_sum 0.000\n",
    };
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
        ck_assert_msg(strstr(text, lines[i]) != NULL, "missing: %s", lines[i]);
    free(text);
    metrics_free(m);
}
END_TEST

START_TEST(every_name_once)
{
    static const char *const names[] = {
#define METRIC_NAME(id, kind, name, help) name,
        METRICS(METRIC_NAME)
#undef METRIC_NAME
    };
    struct metrics *m = metrics_new();
    char *text = print(m);
    for (size_t i = 0; i < METRIC_COUNT; i++) {
        char line[128];
        snprintf(line, sizeof(line), "# TYPE %s ", names[i]);
        const char *at = strstr(text, line);
        ck_assert_msg(at != NULL, "%s is not printed", names[i]);
        ck_assert_msg(strstr(at + 1, line) == NULL, "%s is printed twice", names[i]);
        /* Prometheus: counters end in _total, nothing else does. */
        size_t n = strlen(names[i]);
        bool total = n > 6 && strcmp(names[i] + n - 6, "_total") == 0;
        bool counter = strncmp(at + strlen(line), "counter", 7) == 0;
        ck_assert_msg(total == counter, "%s", names[i]);
    }
    ck_assert_ptr_nonnull(strstr(text, "stallsym_build_info{version=\""));
    free(text);
    metrics_free(m);
}
END_TEST

START_TEST(print_says_when_it_does_not_fit)
{
    struct metrics *m = metrics_new();
    struct buf out;
    buf_init(&out, 100);
    ck_assert(!metrics_print(m, &out));
    buf_done(&out);
    metrics_free(m);
}
END_TEST

static void count(void *ctx, size_t i, size_t worker)
{
    (void)worker;
    metrics_add(ctx, METRIC_REQUESTS, 1);
    metrics_request_ms(ctx, (int64_t)(i % 7));
}

START_TEST(threads_lose_nothing)
{
    struct metrics *m = metrics_new();
    struct parallel_for *p = parallel_new(4);
    ck_assert_ptr_nonnull(p);
    parallel_run(p, 20000, count, m);
    parallel_free(p);
    ck_assert_int_eq(metrics_get(m, METRIC_REQUESTS), 20000);
    char *text = print(m);
    ck_assert_ptr_nonnull(strstr(text, "stallsym_http_request_seconds_count 20000\n"));
    free(text);
    metrics_free(m);
}
END_TEST

UNIT_MAIN("metrics", counters_and_gauges, histogram_bounds, every_name_once,
          print_says_when_it_does_not_fit, threads_lose_nothing)
