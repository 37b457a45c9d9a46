/* Covers: server/bell.c. The daemon's own files are in no library: included. */
#include "server/bell.c"

#include <stdatomic.h>

#include "base/thread.h"
#include "tests/support/unit.h"

static void count(void *who)
{
    atomic_fetch_add((atomic_int *)who, 1);
}

START_TEST(rings_who_hangs_there)
{
    struct bell b;
    atomic_int first = 0, second = 0;
    bell_init(&b);
    bell_ring(&b); /* nobody hears it */
    bell_hang(&b, count, &first);
    bell_ring(&b);
    bell_ring(&b);
    bell_hang(&b, count, &second);
    bell_ring(&b);
    bell_cut(&b);
    bell_ring(&b);
    ck_assert_int_eq(first, 2);
    ck_assert_int_eq(second, 1);
    bell_done(&b);
}
END_TEST

struct listener {
    struct bell bell;
    atomic_bool there;
    atomic_int gone_and_rung;
    atomic_int rung;
};

static void hear(void *who)
{
    struct listener *l = who;
    atomic_fetch_add(&l->rung, 1);
    if (!atomic_load(&l->there))
        atomic_fetch_add(&l->gone_and_rung, 1);
}

static void *ring_on(void *arg)
{
    struct listener *l = arg;
    for (int i = 0; i < 20000; i++)
        bell_ring(&l->bell);
    return NULL;
}

/* After bell_cut nobody is rung, whatever another thread does. */
START_TEST(a_cut_bell_is_silent)
{
    struct listener l = {.rung = 0};
    struct thread ringer = {0};
    struct error err;
    bell_init(&l.bell);
    ck_assert_int_eq(thread_start(&ringer, "ringer", ring_on, &l, &err), ERR_OK);
    for (int i = 0; i < 2000; i++) {
        atomic_store(&l.there, true);
        bell_hang(&l.bell, hear, &l);
        bell_cut(&l.bell);
        atomic_store(&l.there, false);
    }
    thread_join(&ringer);
    ck_assert_int_eq(l.gone_and_rung, 0);
    atomic_store(&l.there, true);
    bell_hang(&l.bell, hear, &l);
    int before = l.rung;
    bell_ring(&l.bell);
    ck_assert_int_eq(l.rung, before + 1);
    bell_done(&l.bell);
}
END_TEST

UNIT_MAIN("bell", rings_who_hangs_there, a_cut_bell_is_silent)
