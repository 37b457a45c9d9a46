/* Covers: storage/id_days.c */
#include "storage/id_days.h"

#include <string.h>

#include "base/hash.h"
#include "tests/support/unit.h"

static void hash_of(int number, uint8_t out[ID_HASH_SIZE])
{
    uint8_t digest[SHA256_SIZE];
    sha256_of(&number, sizeof(number), digest);
    memcpy(out, digest, ID_HASH_SIZE);
}

static int by_bytes(const void *a, const void *b)
{
    return memcmp(a, b, ID_HASH_SIZE);
}

#define IDS (2 * ID_DAYS_STEP + 100)
static uint8_t ids[IDS][ID_HASH_SIZE];

/* What the database would answer; ids of each day are `ids`. */
static bool learn_step(struct id_days *d, int64_t wanted_day)
{
    uint8_t after[ID_HASH_SIZE];
    int64_t day = 0;
    size_t from = 0;
    bool first = false;
    if (!id_days_wants(d, &day, &first, after))
        return false;
    ck_assert_int_eq(day, wanted_day);
    while (!first && from < IDS && memcmp(ids[from], after, ID_HASH_SIZE) <= 0)
        from++;
    const size_t left = IDS - from;
    id_days_learn(d, day, (const uint8_t(*)[ID_HASH_SIZE])ids + from,
                  left < ID_DAYS_STEP ? left : ID_DAYS_STEP);
    return true;
}

static void make_ids(void)
{
    for (int i = 0; i < IDS; i++)
        hash_of(i, ids[i]);
    qsort(ids, IDS, ID_HASH_SIZE, by_bytes);
}

static void all_may_be(const struct id_day *day)
{
    for (int i = 0; i < IDS; i++)
        ck_assert(id_day_may_have(day, ids[i]));
}

static int strangers(const struct id_day *day)
{
    int n = 0;
    for (int i = 0; i < 10000; i++) {
        uint8_t hash[ID_HASH_SIZE];
        hash_of(IDS + i, hash);
        n += id_day_may_have(day, hash);
    }
    return n;
}

static void add(struct id_days *d, int64_t day, int from, int to)
{
    for (int i = from; i < to; i++) {
        uint8_t hash[ID_HASH_SIZE];
        hash_of(i, hash);
        id_days_add(d, day, hash);
    }
}

START_TEST(what_a_day_has_is_never_denied_and_strangers_mostly_are)
{
    static struct id_days d;
    const int64_t days[] = {7, 6};
    make_ids();
    id_days_set(&d, days, 2);
    ck_assert(!learn_step(&d, 0)); /* nobody asks yet */
    add(&d, 8, 0, 1);
    id_days_learn(&d, 8, NULL, 0);
    ck_assert_int_lt(strangers(&d.days[2]), 200); /* of 10,000 */
    ck_assert(learn_step(&d, 7));
    /* Half a day is known, too. */
    all_may_be(&d.days[0]);
    const int some = strangers(&d.days[0]);
    ck_assert(some > 3000 && some < 7500);
    for (int steps = 0; steps < 2; steps++)
        ck_assert(learn_step(&d, 7));
    for (int steps = 0; steps < 3; steps++) {
        all_may_be(&d.days[1]);
        ck_assert(learn_step(&d, 6));
    }
    ck_assert(!learn_step(&d, 0));
    for (int i = 0; i < 2; i++) {
        all_may_be(&d.days[i]);
        ck_assert_int_lt(strangers(&d.days[i]), 200);
    }
    id_days_done(&d);
    ck_assert_uint_eq(d.bytes, 0);
}
END_TEST

/* Ids that came are known beside those that were learnt, however many. */
START_TEST(a_day_that_gets_ids_stays_known)
{
    static struct id_days d;
    const int64_t days[] = {7, 6, 5}, later[] = {8, 7, 6};
    make_ids();
    id_days_set(&d, days, 3);
    add(&d, 7, -1, 0);
    while (learn_step(&d, !d.days[0].learnt ? 7 : !d.days[1].learnt ? 6 : 5))
        ;
    for (int i = 0; i < 3; i++)
        ck_assert_int_lt(strangers(&d.days[i]), 250);
    add(&d, 7, -200000, 0);
    for (int i = -200000; i < 0; i++) {
        uint8_t hash[ID_HASH_SIZE];
        hash_of(i, hash);
        ck_assert(id_day_may_have(&d.days[0], hash));
    }
    all_may_be(&d.days[0]);
    ck_assert_int_lt(strangers(&d.days[0]), 600); /* four filters and a range */
    /* What is known outlives the list; a day that left it is forgotten. */
    add(&d, 8, 0, 1);
    id_days_learn(&d, 8, NULL, 0);
    const size_t bytes = d.bytes;
    id_days_set(&d, later, 3);
    ck_assert_uint_eq(d.count, 3);
    ck_assert_int_lt(strangers(&d.days[1]), 600);
    ck_assert_int_lt(strangers(&d.days[2]), 250);
    ck_assert_uint_lt(d.bytes, bytes);
    id_days_done(&d);
    ck_assert_uint_eq(d.bytes, 0);
}
END_TEST

START_TEST(what_cannot_be_read_is_looked_at)
{
    static struct id_days d;
    const int64_t days[] = {7, 6};
    make_ids();
    id_days_set(&d, days, 2);
    add(&d, 7, 0, 1);
    ck_assert(learn_step(&d, 7));
    id_days_give_up(&d, 7);
    all_may_be(&d.days[0]);
    ck_assert(learn_step(&d, 6));
    id_days_done(&d);
}
END_TEST

START_TEST(days_and_memory_are_bounded)
{
    static struct id_days d;
    make_ids();
    for (int day = 0; day < ID_DAYS_MAX + 10; day++)
        add(&d, day, day, day + 1);
    ck_assert_uint_eq(d.count, ID_DAYS_MAX);
    for (size_t i = 0; i < d.count; i++)
        ck_assert_int_ge(d.days[i].day, 10);
    uint8_t after[ID_HASH_SIZE];
    int64_t day = 0;
    bool first;
    size_t steps = 0;
    for (; id_days_wants(&d, &day, &first, after); steps++)
        id_days_learn(&d, day, (const uint8_t(*)[ID_HASH_SIZE])ids, ID_DAYS_STEP);
    ck_assert_uint_le(d.bytes, ID_DAYS_BYTES);
    ck_assert_uint_gt(steps, 1000);
    ck_assert_int_eq(day, ID_DAYS_MAX + 9); /* the newest */
    id_days_done(&d);
}
END_TEST

/* For those of today what is known of the oldest days goes, and answers yes. */
START_TEST(ids_that_come_find_room)
{
    static struct id_days d;
    const int64_t days[] = {7, 6, 5};
    uint8_t after[ID_HASH_SIZE];
    int64_t day = 0;
    bool first;
    make_ids();
    id_days_set(&d, days, 3);
    d.begun = true;
    for (int i = 0; i < 3; i++) { /* two days in full, and of the third what there is room for */
        for (int steps = 0; steps < 700 && id_days_wants(&d, &day, &first, after); steps++)
            id_days_learn(&d, days[i], (const uint8_t(*)[ID_HASH_SIZE])ids, ID_DAYS_STEP);
        id_days_learn(&d, days[i], NULL, 0);
    }
    ck_assert_uint_gt(d.bytes, ID_DAYS_BYTES - ((size_t)1 << 20));
    add(&d, 8, 0, 100000);
    ck_assert_uint_le(d.bytes, ID_DAYS_BYTES);
    ck_assert_int_eq(strangers(&d.days[2]), 10000);
    ck_assert_int_lt(strangers(&d.days[1]), 200);
    ck_assert_int_lt(strangers(&d.days[0]), 200);
    for (int i = 0; i < 100000; i++) {
        uint8_t hash[ID_HASH_SIZE];
        hash_of(i, hash);
        ck_assert(id_day_may_have(&d.days[3], hash));
    }
    id_days_done(&d);
    ck_assert_uint_eq(d.bytes, 0);
}
END_TEST

UNIT_MAIN("id_days", what_a_day_has_is_never_denied_and_strangers_mostly_are,
          a_day_that_gets_ids_stays_known, what_cannot_be_read_is_looked_at,
          days_and_memory_are_bounded, ids_that_come_find_room)
