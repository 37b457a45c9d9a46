/* Tallies: adding, taking, what is left out, what is full, damaged bytes. */
#include "storage/tally.h"

#include <string.h>

#include "storage/storage_read.h"
#include "tests/support/unit.h"

static int64_t count_of(const struct tally *t, enum tally_kind kind, int64_t id)
{
    size_t n;
    const struct tally_entry *e = tally_of(t, kind, &n);
    for (size_t i = 0; i < n; i++) {
        if (e[i].id == id)
            return e[i].count;
    }
    return -1;
}

static size_t ids_of(const struct tally *t, enum tally_kind kind)
{
    size_t n;
    (void)tally_of(t, kind, &n);
    return n;
}

static void encode(const struct tally *t, struct buf *out)
{
    buf_init(out, TALLY_BYTES);
    ck_assert(tally_encode(t, out));
}

static void ck_same(const struct tally *a, const struct tally *b)
{
    struct buf x, y;
    encode(a, &x);
    encode(b, &y);
    ck_assert_uint_eq(x.len, y.len);
    ck_assert(x.len == 0 || memcmp(x.data, y.data, x.len) == 0);
    buf_done(&x);
    buf_done(&y);
}

START_TEST(what_is_encoded_comes_back)
{
    static const int64_t days[] = {-3, 0, 7};
    struct tally t = {0}, back = {0};
    struct buf out;
    for (size_t i = 0; i < 3; i++)
        ck_assert(tally_add(&t, TALLY_DAYS, days[i], days[i] + 4));
    ck_assert(tally_add(&t, TALLY_DEVICES, 1000000, 1));
    ck_assert(tally_add(&t, TALLY_DEVICES, 5, 300));
    ck_assert(tally_add(&t, TALLY_DEVICES, 5, 1));
    encode(&t, &out);
    ck_assert(tally_add_encoded(&back, out.data, out.len));
    ck_same(&t, &back);
    ck_assert_int_eq(count_of(&back, TALLY_DAYS, -3), 1);
    ck_assert_int_eq(count_of(&back, TALLY_DAYS, 7), 11);
    ck_assert_int_eq(count_of(&back, TALLY_DEVICES, 5), 301);
    ck_assert_int_eq(count_of(&back, TALLY_DEVICES, 1000000), 1);
    ck_assert_uint_eq(ids_of(&back, TALLY_BUILDS), 0);
    /* What ends in the middle is damaged. */
    for (size_t len = 1; len < out.len; len++) {
        struct tally part = {0};
        const bool ok = tally_add_encoded(&part, out.data, len);
        ck_assert(!ok || ids_of(&part, TALLY_DEVICES) == 0);
        tally_done(&part);
    }
    buf_done(&out);
    tally_done(&t);
    tally_done(&back);
}
END_TEST

START_TEST(nothing_is_no_bytes)
{
    struct tally t = {0};
    struct buf out;
    encode(&t, &out);
    ck_assert_uint_eq(out.len, 0);
    ck_assert(tally_add_encoded(&t, NULL, 0));
    ck_assert(!tally_add_encoded(&t, "\x03\x00", 2));             /* no such kind */
    ck_assert(!tally_add_encoded(&t, "\x01\xff\x7f", 3));         /* too many */
    ck_assert(!tally_add_encoded(&t, "\x01\x02\x01\x01\x00", 5)); /* one of two */
    buf_done(&out);
    tally_done(&t);
}
END_TEST

/* Two histories, mixed and apart; what was merged is taken again. */
START_TEST(taking_gives_back_what_was_there)
{
    struct tally all = {0}, a = {0}, b = {0};
    uint32_t random = (uint32_t)_i + 1;
    for (int i = 0; i < 400; i++) {
        random = random * 1664525u + 1013904223u;
        struct tally *part = random & 0x80000000u ? &a : &b;
        const enum tally_kind kind = i % 2 ? TALLY_BUILDS : TALLY_DEVICES;
        const int64_t id = (random >> 8) % 50;
        ck_assert(tally_add(part, kind, id, 1 + i % 3));
        ck_assert(tally_add(&all, kind, id, 1 + i % 3));
    }
    struct tally merged = {0};
    ck_assert(tally_merge(&merged, &b));
    ck_assert(tally_merge(&merged, &a));
    ck_same(&merged, &all);
    tally_take(&merged, &b);
    ck_same(&merged, &a);
    tally_take(&merged, &a);
    ck_assert_uint_eq(merged.count, 0);
    tally_done(&all);
    tally_done(&a);
    tally_done(&b);
    tally_done(&merged);
}
END_TEST

START_TEST(days_that_no_trend_shows_are_left_out)
{
    struct tally t = {0}, newest = {0};
    for (int64_t day = 100; day < 130; day++)
        ck_assert(tally_add(&t, TALLY_DAYS, day, day));
    ck_assert_uint_eq(ids_of(&t, TALLY_DAYS), TREND_DAYS);
    ck_assert_int_eq(count_of(&t, TALLY_DAYS, 130 - TREND_DAYS), 130 - TREND_DAYS);
    ck_assert_int_eq(count_of(&t, TALLY_DAYS, 129 - TREND_DAYS), -1);
    ck_assert(tally_add(&t, TALLY_DAYS, 129 - TREND_DAYS, 1)); /* comes late */
    ck_assert_int_eq(count_of(&t, TALLY_DAYS, 129 - TREND_DAYS), -1);
    /* The newest day goes; what was left out before it stays out. */
    ck_assert(tally_add(&newest, TALLY_DAYS, 129, 129));
    tally_take(&t, &newest);
    ck_assert_int_eq(count_of(&t, TALLY_DAYS, 129), 0);
    ck_assert(tally_add(&t, TALLY_DAYS, 129 - TREND_DAYS, 1));
    ck_assert_int_eq(count_of(&t, TALLY_DAYS, 129 - TREND_DAYS), -1);
    tally_done(&t);
    tally_done(&newest);
}
END_TEST

START_TEST(a_kind_with_too_many_ids_is_full_for_ever)
{
    struct tally t = {0}, back = {0}, one = {0};
    struct buf out;
    ck_assert(tally_add(&t, TALLY_DAYS, 9, 1));
    for (int64_t id = 0; id < TALLY_IDS; id++)
        ck_assert(tally_add(&t, TALLY_BUILDS, id, 1));
    ck_assert(tally_add(&t, TALLY_BUILDS, 0, 1));
    ck_assert(!t.full[TALLY_BUILDS]);
    ck_assert_uint_eq(ids_of(&t, TALLY_BUILDS), TALLY_IDS);
    encode(&t, &out);
    ck_assert_uint_le(out.len, TALLY_BYTES);
    buf_done(&out);
    ck_assert(tally_add(&t, TALLY_BUILDS, TALLY_IDS, 1));
    ck_assert(t.full[TALLY_BUILDS]);
    ck_assert_uint_eq(ids_of(&t, TALLY_BUILDS), 0);
    ck_assert_int_eq(count_of(&t, TALLY_DAYS, 9), 1);
    encode(&t, &out);
    ck_assert(tally_add(&back, TALLY_BUILDS, 3, 1));
    ck_assert(tally_add_encoded(&back, out.data, out.len));
    ck_assert(back.full[TALLY_BUILDS]);
    ck_assert(tally_add(&one, TALLY_BUILDS, 3, 1));
    tally_take(&back, &one);
    ck_assert(tally_merge(&back, &one));
    ck_assert_uint_eq(ids_of(&back, TALLY_BUILDS), 0);
    ck_same(&t, &back);
    buf_done(&out);
    tally_done(&t);
    tally_done(&back);
    tally_done(&one);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("tally");
    TCase *tcase = tcase_create("tally");
    tcase_add_test(tcase, what_is_encoded_comes_back);
    tcase_add_test(tcase, nothing_is_no_bytes);
    tcase_add_loop_test(tcase, taking_gives_back_what_was_there, 0, 5);
    tcase_add_test(tcase, days_that_no_trend_shows_are_left_out);
    tcase_add_test(tcase, a_kind_with_too_many_ids_is_full_for_ever);
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
