#include "server/analysis/deadlock.h"

#include <string.h>

#include "tests/support/stacks.h"
#include "tests/support/unit.h"

#define THREADS_MAX 8

static struct arena arena;
static struct rules *rules;
static struct deadlock_thread threads[THREADS_MAX];
static size_t count;
static struct deadlock d;

#define LOCK "libsystem_kernel.dylib __psynch_mutexwait\n"

static void thread(int64_t tid, int64_t owner_tid, const char *text)
{
    struct deadlock_thread *t = &threads[count++];
    *t = (struct deadlock_thread){.tid = tid, .has_owner = owner_tid >= 0, .owner_tid = owner_tid};
    t->says_waiting = owner_tid >= 0;
    if (!text)
        return;
    struct resolved_stack *stack = arena_alloc(&arena, sizeof(*stack));
    struct cluster_verdict *verdict = arena_alloc(&arena, sizeof(*verdict));
    *stack = stack_from_text(text, &arena);
    ck_assert_int_eq(cluster_key_of(rules, NULL, "app", stack, &arena, verdict, NULL), ERR_OK);
    t->stack = stack;
    t->verdict = verdict;
}

static void start(void)
{
    arena_init(&arena, 8 << 20);
    ck_assert_int_eq(rules_new_default(&rules, NULL), ERR_OK);
    count = 0;
}

static void done(void)
{
    rules_free(rules);
    arena_done(&arena);
}

static void find(size_t stalled)
{
    struct error err = {0};
    enum err e = deadlock_of(rules, threads, count, stalled, &arena, &d, &err);
    ck_assert_msg(e == ERR_OK, "%s", err.text);
}

START_TEST(two_threads_wait_for_one_another)
{
    start();
    thread(771, 9012, LOCK "Shop!Feed.save()\nShop!Feed.tap()\n");
    thread(800, -1, "Shop!Other.work()\n");
    thread(9012, 771, "libsystem_kernel.dylib __ulock_wait\nShop!Store.sync()\n");
    find(0);
    ck_assert(d.found);
    ck_assert(d.stalled_inside);
    ck_assert(!d.stalled_behind);
    ck_assert_uint_eq(d.member_count, 2);
    ck_assert_uint_eq(d.members[0].thread, 0);
    ck_assert_str_eq(d.members[0].culprit, "Feed.save()");
    ck_assert_uint_eq(d.members[1].thread, 2);
    ck_assert_str_eq(d.members[1].culprit, "Store.sync()");
    find(2);
    ck_assert_uint_eq(d.members[0].thread, 2); /* begins with the stalled one */
    done();
}
END_TEST

START_TEST(a_chain_is_no_cycle)
{
    start();
    thread(1, 2, LOCK);
    thread(2, 3, LOCK);
    thread(3, -1, "Shop!work\n");
    find(0);
    ck_assert(!d.found);
    ck_assert_uint_eq(d.member_count, 0);
    threads[2].has_owner = true; /* of a thread that is not in the report */
    threads[2].owner_tid = 77;
    threads[2].stack = NULL;
    threads[2].says_waiting = true;
    find(0);
    ck_assert(!d.found);
    done();
}
END_TEST

START_TEST(a_running_thread_holds_nobody_up_for_ever)
{
    start();
    thread(1, 2, LOCK "Shop!a\n");
    thread(2, 1, "libsystem_kernel.dylib read\nShop!b\n"); /* it said that it waits: no more */
    find(0);
    ck_assert(!d.found);
    count = 1;
    thread(2, 1, "libsystem_kernel.dylib ?10\nShop!?20\n"); /* no symbols: its word counts */
    find(0);
    ck_assert(d.found);
    ck_assert_str_eq(d.members[1].culprit, "Shop+0x20");
    threads[1].says_waiting = false;
    find(0);
    ck_assert(!d.found);
    count = 1;
    thread(2, 1, "libsystem_kernel.dylib ?10\nShop!b\n"); /* the app's names alone */
    find(0);
    ck_assert(d.found);
    done();
}
END_TEST

START_TEST(a_thread_that_waits_for_itself)
{
    start();
    thread(1, -1,
           "libsystem_kernel.dylib __ulock_wait\nlibdispatch.dylib __DISPATCH_WAIT_FOR_QUEUE__\n"
           "libdispatch.dylib _dispatch_sync_f_slow\nShop!Db.read()\n");
    threads[0].waits_queue = "com.shop.db";
    threads[0].drains_queue = "com.shop.db";
    find(0);
    ck_assert(d.found);
    ck_assert(d.stalled_inside);
    ck_assert_uint_eq(d.member_count, 1);
    ck_assert_str_eq(d.members[0].culprit, "Db.read()");
    done();
}
END_TEST

START_TEST(queues)
{
    start();
    thread(1, -1, LOCK "Shop!a\n");
    threads[0].waits_queue = "db";
    threads[0].drains_queue = "main";
    thread(2, -1, LOCK "Shop!b\n");
    threads[1].waits_queue = "main";
    threads[1].drains_queue = "db";
    find(SIZE_MAX);
    ck_assert(d.found);
    ck_assert(!d.stalled_inside);
    ck_assert(!d.stalled_behind);
    thread(3, -1, "Shop!c\n"); /* two work for it: nobody knows */
    threads[2].drains_queue = "db";
    find(0);
    ck_assert(!d.found);
    done();
}
END_TEST

START_TEST(the_stalled_thread_behind_a_cycle)
{
    start();
    thread(1, 2, LOCK "Shop!a\n"); /* a cycle of others, first in the report */
    thread(2, 1, LOCK "Shop!b\n");
    thread(3, 4, LOCK "Shop!c\n");
    thread(4, 5, LOCK "Shop!d\n");
    thread(5, 6, LOCK "Shop!e\n");
    thread(6, 4, LOCK "libfoo.dylib f\n");
    find(2);
    ck_assert(d.found);
    ck_assert(d.stalled_behind);
    ck_assert_uint_eq(d.member_count, 3);
    ck_assert_uint_eq(d.members[0].thread, 3);
    ck_assert_uint_eq(d.members[1].thread, 4);
    ck_assert_uint_eq(d.members[2].thread, 5);
    ck_assert_ptr_null(d.members[2].culprit);
    threads[2].has_owner = false; /* holds nothing up any more */
    find(2);
    ck_assert(d.found);
    ck_assert(!d.stalled_behind && !d.stalled_inside);
    ck_assert_uint_eq(d.members[0].thread, 0);
    done();
}
END_TEST

START_TEST(no_threads_and_too_many)
{
    static struct deadlock_thread many[DEADLOCK_THREADS_MAX + 1];
    struct error err = {0};
    start();
    find(0);
    ck_assert(!d.found);
    for (size_t i = 0; i <= DEADLOCK_THREADS_MAX; i++)
        many[i] = (struct deadlock_thread){(int64_t)i, true, true, (int64_t)i + 1,
                                           NULL,       NULL, NULL, NULL};
    many[DEADLOCK_THREADS_MAX - 1].owner_tid = 0;
    ck_assert_int_eq(deadlock_of(rules, many, DEADLOCK_THREADS_MAX, 9, &arena, &d, &err), ERR_OK);
    ck_assert_uint_eq(d.member_count, DEADLOCK_THREADS_MAX);
    ck_assert_int_eq(deadlock_of(rules, many, DEADLOCK_THREADS_MAX + 1, 9, &arena, &d, &err),
                     ERR_LIMIT);
    done();
}
END_TEST

UNIT_MAIN("deadlock", two_threads_wait_for_one_another, a_chain_is_no_cycle,
          a_running_thread_holds_nobody_up_for_ever, a_thread_that_waits_for_itself, queues,
          the_stalled_thread_behind_a_cycle, no_threads_and_too_many)
