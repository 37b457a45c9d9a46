#include "base/parallel.h"

#include <stdatomic.h>
#include <stdint.h>

#include "tests/support/unit.h"

enum { PIECES = 10000 };
static atomic_uchar done[PIECES];
static atomic_int in_worker[8];
static atomic_int shared_worker;

static void work(void *ctx, size_t i, size_t worker)
{
    (void)ctx;
    if (atomic_fetch_add(&in_worker[worker], 1) != 0)
        atomic_store(&shared_worker, 1);
    atomic_fetch_add(&done[i], 1);
    atomic_fetch_sub(&in_worker[worker], 1);
}

START_TEST(each_piece_once)
{
    for (size_t workers = 1; workers <= 4; workers++) {
        struct parallel_for *p = parallel_new(workers);
        ck_assert_ptr_nonnull(p);
        ck_assert_uint_eq(p->workers, workers);
        for (int run = 0; run < 5; run++) {
            for (size_t i = 0; i < PIECES; i++)
                atomic_store(&done[i], 0);
            parallel_run(p, PIECES, work, NULL);
            for (size_t i = 0; i < PIECES; i++)
                ck_assert_uint_eq(atomic_load(&done[i]), 1);
        }
        parallel_run(p, 0, work, NULL);
        parallel_free(p);
    }
    ck_assert_int_eq(atomic_load(&shared_worker), 0);
}
END_TEST

START_TEST(without_threads)
{
    atomic_store(&done[0], 0);
    parallel_run(NULL, 1, work, NULL);
    ck_assert_uint_eq(atomic_load(&done[0]), 1);
    ck_assert_ptr_null(parallel_new(0));
    ck_assert_ptr_null(parallel_new(SIZE_MAX));
    parallel_free(NULL);
}
END_TEST

static atomic_int beside_calls;
static atomic_bool let_go;

static void work_beside(void *ctx)
{
    while (!atomic_load(&let_go))
        ;
    atomic_fetch_add((atomic_int *)ctx, 1);
}

/* Runs go on, and end, while something else is done beside them. */
START_TEST(one_piece_beside_runs)
{
    for (size_t workers = 2; workers <= 3; workers++) {
        struct parallel_for *p = parallel_new(workers);
        ck_assert_ptr_nonnull(p);
        for (int turn = 0; turn < 50; turn++) {
            atomic_store(&let_go, false);
            atomic_store(&beside_calls, 0);
            parallel_wait(p);
            ck_assert(parallel_beside(p, work_beside, &beside_calls));
            ck_assert(!parallel_beside(p, work_beside, &beside_calls));
            for (int run = 0; run < 3; run++) {
                for (size_t i = 0; i < PIECES; i++)
                    atomic_store(&done[i], 0);
                if (run == 2)
                    atomic_store(&let_go, true);
                parallel_run(p, PIECES, work, NULL);
                for (size_t i = 0; i < PIECES; i++)
                    ck_assert_uint_eq(atomic_load(&done[i]), 1);
            }
            parallel_wait(p);
            ck_assert_int_eq(atomic_load(&beside_calls), 1);
        }
        /* What is open is finished before the pool goes. */
        ck_assert(parallel_beside(p, work_beside, &beside_calls));
        parallel_free(p);
        ck_assert_int_eq(atomic_load(&beside_calls), 2);
    }
    ck_assert_int_eq(atomic_load(&shared_worker), 0);
    struct parallel_for *alone = parallel_new(1);
    ck_assert(!parallel_beside(alone, work_beside, &beside_calls));
    parallel_wait(alone);
    parallel_free(alone);
    ck_assert(!parallel_beside(NULL, work_beside, &beside_calls));
    parallel_wait(NULL);
}
END_TEST

UNIT_MAIN("parallel", each_piece_once, without_threads, one_piece_beside_runs)
