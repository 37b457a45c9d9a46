/* Covers: server/http/http_slots.c */
#include "server/http/http_slots.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/thread.h"
#include "tests/support/unit.h"

#define NOW ((int64_t)1000000)

struct guest {
    int ends[2]; /* ours, the client's */
    struct http_slot *slot;
};

static struct http_slots *slots;
static struct metrics *metrics;

/* The clock ticks by the real time, which is far from NOW: nothing is due by it. */
static void begin(size_t limit)
{
    struct error err;
    metrics = metrics_new();
    ck_assert_int_eq(http_slots_new(limit, 10, metrics, &slots, &err), ERR_OK);
}

static void finish(struct guest *guests, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        http_slot_close(guests[i].slot);
        close(guests[i].ends[0]);
        close(guests[i].ends[1]);
    }
    http_slots_free(slots);
    metrics_free(metrics);
}

static void come(struct guest *g, int64_t now)
{
    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, g->ends), 0);
    g->slot = http_slots_open(slots, g->ends[0], now);
    ck_assert_ptr_nonnull(g->slot);
}

static bool is_cut(const struct guest *g)
{
    char byte;
    return recv(g->ends[1], &byte, 1, MSG_DONTWAIT) == 0;
}

/* Far in the future for the clock's own ticks. */
static int64_t later(int64_t ms)
{
    return INT64_MAX / 2 + ms;
}

START_TEST(the_longest_idle_makes_room)
{
    struct guest g[20];
    begin(16); /* 2 in reserve */
    for (int i = 0; i < 14; i++)
        come(&g[i], later(i));
    for (int i = 0; i < 14; i++)
        ck_assert(!is_cut(&g[i]));
    http_slot_move(g[0].slot, SLOT_WORKING, 0, later(20)); /* busy, then idle again */
    http_slot_move(g[0].slot, SLOT_IDLE, 0, later(21));
    come(&g[14], later(22));
    come(&g[15], later(23));
    ck_assert(!is_cut(&g[0]) && is_cut(&g[1]) && is_cut(&g[2]) && !is_cut(&g[3]));
    http_slot_close(g[5].slot); /* who goes costs nobody anything */
    g[5].slot = NULL;
    come(&g[16], later(24));
    ck_assert(!is_cut(&g[3]));
    ck_assert_int_eq(metrics_get(metrics, METRIC_CONNECTIONS_CUT), 2);
    http_slot_move(g[1].slot, SLOT_READING, 0, later(30)); /* one that was cut off goes nowhere */
    finish(g, 17);
}
END_TEST

/* Who drips a large body keeps to every pace, and would hold the memory of all for hours. */
START_TEST(who_holds_most_for_the_longest_gives_memory_back)
{
    struct guest g[6];
    begin(64);
    for (int i = 0; i < 6; i++) {
        come(&g[i], later(0));
        http_slot_move(g[i].slot,
                       i == 3   ? SLOT_ANSWERED
                       : i == 4 ? SLOT_WORKING
                                : SLOT_READING,
                       0, later(i == 5 ? 3000 : 10 * i));
        http_slot_hold(g[i].slot, i == 0 ? 10 : i == 2 ? 2000 : 1000);
    }
    ck_assert_uint_eq(http_slots_relieve(slots, 1, later(1000)), 0); /* nobody takes long */
    ck_assert_uint_eq(http_slots_relieve(slots, 1, later(4000)), 1);
    ck_assert(is_cut(&g[2]));
    ck_assert_uint_eq(http_slots_relieve(slots, 2000, later(4001)), 0); /* they are on their way */
    ck_assert_uint_eq(http_slots_relieve(slots, 3500, later(4001)), 2);
    ck_assert(is_cut(&g[1]) && is_cut(&g[3]) && !is_cut(&g[0]));
    http_slot_close(g[2].slot); /* back */
    g[2].slot = NULL;
    ck_assert_uint_eq(http_slots_relieve(slots, 2000, later(4002)), 0);
    ck_assert_uint_eq(http_slots_relieve(slots, 1 << 20, later(4003)), 1); /* no more than can go */
    ck_assert(is_cut(&g[0]) && !is_cut(&g[4]) && !is_cut(&g[5]));
    ck_assert_int_eq(metrics_get(metrics, METRIC_CONNECTIONS_CUT), 4);
    finish(g, 6);
}
END_TEST

START_TEST(few_idle_ones_stay_before_slow_ones)
{
    struct guest g[24];
    begin(16);
    for (int i = 0; i < 14; i++)
        come(&g[i], later(i));
    http_slot_move(g[0].slot, SLOT_ANSWERED, 0, later(50));
    for (int i = 1; i < 10; i++)
        http_slot_move(g[i].slot, i == 7 ? SLOT_REFUSED : SLOT_READING, 0, later(50 + i));
    come(&g[14], later(100)); /* 5 idle of 14: more than a quarter */
    ck_assert(is_cut(&g[10]));
    http_slot_move(g[11].slot, SLOT_WORKING, 0, later(101));
    http_slot_move(g[12].slot, SLOT_WORKING, 0, later(101));
    come(&g[15], later(102));
    ck_assert(is_cut(&g[7]) && !is_cut(&g[13]));
    come(&g[16], later(103));
    http_slot_move(g[16].slot, SLOT_WORKING, 0, later(103));
    ck_assert(is_cut(&g[13]) || is_cut(&g[1]));
    for (int i = 17; i < 20; i++) {
        come(&g[i], later(104));
        http_slot_move(g[i].slot, SLOT_WORKING, 0, later(104));
    }
    ck_assert(is_cut(&g[1]) && is_cut(&g[2]));
    ck_assert(!is_cut(&g[11]) && !is_cut(&g[12]) && !is_cut(&g[0]));
    finish(g, 20);
}
END_TEST

START_TEST(work_is_never_cut_off_but_refused)
{
    struct guest g[18];
    begin(16);
    for (int i = 0; i < 12; i++) {
        ck_assert(!http_slots_full(slots));
        come(&g[i], later(i));
        http_slot_move(g[i].slot, SLOT_WORKING, 0, later(i));
    }
    ck_assert(http_slots_full(slots));
    for (int i = 12; i < 18; i++)
        come(&g[i], later(i));
    for (int i = 0; i < 12; i++)
        ck_assert(!is_cut(&g[i]));
    ck_assert(is_cut(&g[12]) && !is_cut(&g[17])); /* who came last has its time */
    http_slot_move(g[0].slot, SLOT_ANSWERED, 0, later(20));
    ck_assert(!http_slots_full(slots));
    finish(g, 18);
}
END_TEST

START_TEST(who_is_over_its_time_goes)
{
    struct guest g[6];
    begin(100);
    for (int i = 0; i < 6; i++)
        come(&g[i], later(0));
    http_slot_move(g[1].slot, SLOT_REFUSED, 0, later(0));
    http_slot_move(g[2].slot, SLOT_ANSWERED, 5000000, later(0)); /* 5,000 s for it */
    http_slot_move(g[3].slot, SLOT_ANSWERED, 1000, later(0));
    http_slot_move(g[4].slot, SLOT_WORKING, 0, later(0));
    http_slot_move(g[5].slot, SLOT_READING, 0, later(0));
    ck_assert_uint_eq(http_slots_tick(slots, later(9999)), 0);
    ck_assert_uint_eq(http_slots_tick(slots, later(10000)), 1);
    ck_assert(is_cut(&g[1]));
    ck_assert_uint_eq(http_slots_tick(slots, later(11000)), 1);
    ck_assert(is_cut(&g[3]));
    ck_assert_uint_eq(http_slots_tick(slots, later(20000)), 1); /* a head not whole by then */
    ck_assert(is_cut(&g[0]));
    ck_assert_uint_eq(http_slots_tick(slots, later(5009999)), 0);
    ck_assert_uint_eq(http_slots_tick(slots, later(5010000)), 1);
    ck_assert(is_cut(&g[2]) && !is_cut(&g[4]) && !is_cut(&g[5]));
    finish(g, 6);
}
END_TEST

START_TEST(small_limits)
{
    for (size_t limit = 1; limit < 20; limit++) {
        struct guest g[40];
        begin(limit);
        for (size_t i = 0; i < 2 * limit; i++) {
            come(&g[i], later((int64_t)i));
            ck_assert(!is_cut(&g[i]));
        }
        finish(g, 2 * limit);
    }
    http_slot_close(NULL);
    http_slot_move(NULL, SLOT_IDLE, 0, NOW);
    http_slots_free(NULL);
}
END_TEST

static void *come_and_go(void *arg)
{
    (void)arg;
    for (int i = 0; i < 3000; i++) {
        struct guest g;
        come(&g, later(i));
        for (int state = 0; state < SLOT_STATES; state++)
            http_slot_move(g.slot, (enum slot_state)(state), 100, later(i));
        http_slots_full(slots);
        http_slots_tick(slots, later(i - 100));
        http_slot_close(g.slot);
        close(g.ends[0]);
        close(g.ends[1]);
    }
    return NULL;
}

START_TEST(many_threads)
{
    struct thread threads[4] = {0};
    struct error err;
    begin(3);
    for (int i = 0; i < 4; i++)
        ck_assert_int_eq(thread_start(&threads[i], "guest", come_and_go, NULL, &err), ERR_OK);
    for (int i = 0; i < 4; i++)
        thread_join(&threads[i]);
    ck_assert(!http_slots_full(slots));
    finish(NULL, 0);
}
END_TEST

UNIT_MAIN("http_slots", the_longest_idle_makes_room, few_idle_ones_stay_before_slow_ones,
          who_holds_most_for_the_longest_gives_memory_back, work_is_never_cut_off_but_refused,
          who_is_over_its_time_goes, small_limits, many_threads)
