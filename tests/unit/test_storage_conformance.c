/* The conformance suite over every backend; see tests/conformance/suite.h. */
/* Covers: storage/storage.c storage/storage_read.c storage/memory_*.c storage/breakdown.c */
/* Covers: storage/sqlite_rows.c storage/missing_order.c storage/symbolication.c storage/sqlite_read_*.c */
/* Covers: storage/sqlite_figures.c storage/sqlite_stacks.c storage/sqlite_clusters.c */
/* Covers: storage/sqlite_read_hours.c storage/sqlite_write_hours.c storage/read_hours.c */
/* Covers: storage/read_trend.c storage/trend.c storage/sqlite_read_trend.c */
/* Covers: storage/read_context.c storage/context.c storage/sqlite_read_context.c */
/* Covers: storage/read_compare.c storage/sqlite_read_compare.c */
/* Covers: storage/op_usage.c storage/sqlite_write_usage.c storage/sqlite_split.c */
/* Covers: storage/read_stack_weights.c storage/stack_weights.c */
/* Covers: storage/read_symbols.c storage/read_config.c storage/read_quota.c */
/* Covers: storage/read_apps.c storage/read_shelves.c */
/* Covers: storage/storage_read_merges.c */
/* Covers: storage/sqlite_life.c storage/read_life.c storage/read_alerts.c */
/* Covers: storage/sqlite_write_alerts.c storage/stack_budget.c storage/sqlite_quota.c */
/* Covers: storage/sqlite_write_carry.c */
/* Covers: storage/sqlite_counters.c storage/sqlite_dict.c storage/sqlite_images.c */
#include "tests/conformance/suite.h"

#include <stdio.h>
#include <string.h>

#include "tests/conformance/history.h"
#include "tests/support/unit.h"

static const char *const backends[] = {"memory", "sqlite"};

START_TEST(case_over_a_backend)
{
    struct suite s;
    const struct suite_case *c = &suite_cases[(size_t)_i / 2];
    const char *backend = backends[_i % 2];
    tcase_fn_start(c->name, __FILE__, __LINE__);
    suite_open(&s, backend);
    c->run(&s);
    suite_close(&s);
}
END_TEST

/* So many, and the first one's seed: STALLSYM_HISTORIES=50 STALLSYM_HISTORY_SEED=1000 make check
 * T=storage_conformance lives through others. */
#define HISTORIES 4
#define SEED      1
#define STEPS     36

static int from_environment(const char *name, int usual)
{
    const char *text = getenv(name);
    long n = text ? strtol(text, NULL, 10) : 0;
    return n > 0 && n <= 1000000 ? (int)n : usual;
}

/* Both backends live through the same random histories and must read the same after each step. */
START_TEST(backends_agree)
{
    struct suite a, b;
    struct history h;
    char when[64];
    suite_open(&a, "memory");
    suite_open(&b, "sqlite");
    history_init(&h, (uint64_t)_i);
    a.options.daily_stacks = b.options.daily_stacks = _i % 4 == 0 ? 6 : 0;
    suite_reopen(&a);
    suite_reopen(&b);
    for (int step = 0; step < STEPS; step++) {
        snprintf(when, sizeof(when), "history %d, step %d", _i, step);
        tcase_fn_start(when, __FILE__, __LINE__);
        history_step(&h, &a, &b);
        history_compare(&h, &a, &b, when);
        if (step % 12 == 11)
            suite_reopen(&b);
    }
    history_done(&h);
    suite_close(&a);
    suite_close(&b);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("storage conformance");
    TCase *tcase = tcase_create("cases");
    tcase_set_timeout(tcase, 60);
    tcase_add_loop_test(tcase, case_over_a_backend, 0, (int)suite_case_count * 2);
    int seed = from_environment("STALLSYM_HISTORY_SEED", SEED);
    int histories = from_environment("STALLSYM_HISTORIES", HISTORIES);
    tcase_add_loop_test(tcase, backends_agree, seed, seed + histories);
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
