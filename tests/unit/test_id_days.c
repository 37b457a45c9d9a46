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

START_TEST(what_a_day_has_is_never_denied_and_strangers_mostly_are)
{
    static struct id_days d;
    const int64_t days[] = {7, 6};
    make_ids();
    id_days_set(&d, days, 2);
    ck_assert(!learn_step(&d, 0)); /* which one goes on growing is not known yet */
    id_days_add(&d, 7);
    for (int steps = 0; steps < 3; steps++) {
        all_may_be(&d.days[1]);
        ck_assert(learn_step(&d, 6));
    }
    ck_assert(!learn_step(&d, 0));
    all_may_be(&d.days[1]);
    ck_assert_int_lt(strangers(&d.days[1]), 200); /* of 10,000 */
    ck_assert_int_eq(strangers(&d.days[0]), 10000);
    /* Half a day is known, too. */
    id_days_add(&d, 8);
    ck_assert(learn_step(&d, 7));
    all_may_be(&d.days[0]);
    const int some = strangers(&d.days[0]);
    ck_assert(some > 3000 && some < 7500);
    id_days_done(&d);
    ck_assert_uint_eq(d.bytes, 0);
}
END_TEST

START_TEST(a_day_that_gets_ids_again_is_learnt_anew)
{
    static struct id_days d;
    const int64_t days[] = {7, 6, 5}, later[] = {8, 7, 6};
    make_ids();
    id_days_set(&d, days, 3);
    id_days_add(&d, 7);
    while (learn_step(&d, d.days[1].learnt ? 5 : 6))
        ;
    const size_t bytes = d.bytes;
    ck_assert_int_lt(strangers(&d.days[1]), 200);
    /* The clock is set back. */
    id_days_add(&d, 6);
    ck_assert_int_eq(strangers(&d.days[1]), 10000);
    ck_assert_uint_eq(d.bytes, bytes / 2);
    id_days_add(&d, 8);
    ck_assert_uint_eq(d.count, 4);
    while (learn_step(&d, !d.days[0].learnt ? 7 : 6))
        ;
    ck_assert_int_lt(strangers(&d.days[1]), 200);
    /* What is known outlives the list; a day that left it is forgotten. */
    id_days_set(&d, later, 3);
    ck_assert_uint_eq(d.count, 3);
    ck_assert_int_lt(strangers(&d.days[1]), 200);
    ck_assert_int_lt(strangers(&d.days[2]), 200);
    ck_assert_uint_eq(d.bytes, bytes);
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
    id_days_add(&d, 7);
    ck_assert(learn_step(&d, 6));
    id_days_give_up(&d, 6);
    ck_assert(!learn_step(&d, 0));
    all_may_be(&d.days[1]);
    id_days_done(&d);
}
END_TEST

START_TEST(days_and_memory_are_bounded)
{
    static struct id_days d;
    make_ids();
    for (int64_t day = 0; day < ID_DAYS_MAX + 10; day++)
        id_days_add(&d, day);
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
    ck_assert_int_eq(day, ID_DAYS_MAX + 8); /* the newest but the one that grows */
    id_days_done(&d);
}
END_TEST

UNIT_MAIN("id_days", what_a_day_has_is_never_denied_and_strangers_mostly_are,
          a_day_that_gets_ids_again_is_learnt_anew, what_cannot_be_read_is_looked_at,
          days_and_memory_are_bounded)
