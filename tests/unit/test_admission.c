#include "server/ingest/admission.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tests/support/unit.h"

#define NOW ((int64_t)1764450000000) /* 21:00 UTC */

static struct admission *make(uint32_t minute, uint32_t day, double slight, uint32_t apps)
{
    struct admission_options options = {{minute, day, slight}, apps};
    struct admission *a = admission_new(&options);
    ck_assert_ptr_nonnull(a);
    return a;
}

static enum admission_verdict ask(struct admission *a, const char *app, int64_t now,
                                  uint32_t *ret_wait)
{
    struct admission_report r = {.bundle_id = app};
    double rate;
    *ret_wait = 0;
    return admission_ask(a, &r, now, &rate, ret_wait);
}

START_TEST(without_quotas_all_pass)
{
    struct admission *a = make(0, 0, 1, 0);
    uint32_t wait;
    for (int i = 0; i < 100000; i++)
        ck_assert_int_eq(ask(a, "a", NOW, &wait), ADMISSION_PASS);
    admission_free(a);
    admission_free(NULL);
}
END_TEST

START_TEST(by_the_minute)
{
    struct admission *a = make(60, 0, 1, 0);
    uint32_t wait;
    for (int i = 0; i < 60; i++)
        ck_assert_int_eq(ask(a, "a", NOW, &wait), ADMISSION_PASS);
    ck_assert_int_eq(ask(a, "a", NOW, &wait), ADMISSION_QUOTA);
    ck_assert_uint_eq(wait, 1);
    ck_assert_int_eq(ask(a, "b", NOW, &wait), ADMISSION_PASS); /* another app's own */
    ck_assert_int_eq(ask(a, "a", NOW + 999, &wait), ADMISSION_QUOTA);
    ck_assert_int_eq(ask(a, "a", NOW + 1000, &wait), ADMISSION_PASS);
    ck_assert_int_eq(ask(a, "a", NOW + 1000, &wait), ADMISSION_QUOTA);
    /* what waited long may send a minute's worth, no more */
    int passed = 0;
    while (ask(a, "a", NOW + 3600000, &wait) == ADMISSION_PASS)
        passed++;
    ck_assert_int_eq(passed, 60);
    /* a clock that goes back gives nothing */
    ck_assert_int_eq(ask(a, "a", NOW, &wait), ADMISSION_QUOTA);
    admission_give_back(a, "a", 2);
    ck_assert_int_eq(ask(a, "a", NOW, &wait), ADMISSION_PASS);
    ck_assert_int_eq(ask(a, "a", NOW, &wait), ADMISSION_PASS);
    ck_assert_int_eq(ask(a, "a", NOW, &wait), ADMISSION_QUOTA);
    admission_free(a);
}
END_TEST

START_TEST(by_the_day)
{
    struct admission *a = make(0, 5, 1, 0);
    uint32_t wait;
    for (int i = 0; i < 5; i++)
        ck_assert_int_eq(ask(a, "a", NOW, &wait), ADMISSION_PASS);
    ck_assert_int_eq(ask(a, "a", NOW, &wait), ADMISSION_QUOTA);
    ck_assert_uint_eq(wait, 3 * 3600 + 1);
    int64_t midnight = NOW + 3 * 3600000;
    ck_assert_int_eq(ask(a, "a", midnight - 1, &wait), ADMISSION_QUOTA);
    ck_assert_int_eq(ask(a, "a", midnight, &wait), ADMISSION_PASS);
    admission_free(a);
}
END_TEST

START_TEST(an_app_s_own)
{
    struct admission *a = make(10, 0, 1, 0);
    struct quota own = {3, 0, 1}, got;
    uint32_t wait;
    ck_assert(!admission_get(a, "a", &got));
    ck_assert_uint_eq(got.reports_per_minute, 10);
    admission_set(a, "a", &own);
    ck_assert(admission_get(a, "a", &got));
    ck_assert_uint_eq(got.reports_per_minute, 3);
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(ask(a, "a", NOW, &wait), ADMISSION_PASS);
    ck_assert_int_eq(ask(a, "a", NOW, &wait), ADMISSION_QUOTA);
    ck_assert_uint_eq(wait, 20);
    admission_set(a, "a", NULL);
    for (int i = 0; i < 10; i++)
        ck_assert_int_eq(ask(a, "a", NOW, &wait), ADMISSION_PASS);
    admission_free(a);
}
END_TEST

/* The same ids each time, about the share that was asked for, and weights that make up for it. */
START_TEST(slight_stalls_are_thinned_out)
{
    struct admission *a = make(0, 0, .25, 0);
    double stand_for = 0;
    for (int turn = 0; turn < 2; turn++) {
        for (uint32_t i = 0; i < 20000; i++) {
            uint8_t id[16] = {0};
            uint32_t mixed = i * 2654435761u, wait;
            memcpy(id, &mixed, 4);
            memcpy(id + 4, &i, 4);
            struct admission_report r = {.bundle_id = "a", .slight = true, .id_hash = id};
            static bool kept[20000];
            double rate;
            bool pass = admission_ask(a, &r, NOW, &rate, &wait) == ADMISSION_PASS;
            ck_assert(turn == 0 || pass == kept[i]);
            kept[i] = pass;
            stand_for += pass && turn == 0 ? 1 / rate : 0;
            r.slight = false;
            ck_assert_int_eq(admission_ask(a, &r, NOW, &rate, &wait), ADMISSION_PASS);
            ck_assert_double_eq(rate, 1);
        }
    }
    ck_assert_msg(fabs(stand_for - 20000) < 600, "%g", stand_for);
    admission_free(a);
}
END_TEST

START_TEST(apps_have_a_cap)
{
    struct admission *a = make(0, 0, 1, 2);
    uint32_t wait;
    admission_know(a, "known");
    ck_assert_int_eq(ask(a, "second", NOW, &wait), ADMISSION_PASS);
    ck_assert_int_eq(ask(a, "third", NOW, &wait), ADMISSION_APPS);
    ck_assert_int_eq(ask(a, "known", NOW, &wait), ADMISSION_PASS);
    ck_assert_int_eq(ask(a, "second", NOW, &wait), ADMISSION_PASS);
    struct quota own = {5, 0, 1}; /* a quota alone makes no app */
    admission_set(a, "third", &own);
    ck_assert_int_eq(ask(a, "third", NOW, &wait), ADMISSION_APPS);
    struct admission_report bound = {.bundle_id = "third", .bound = true};
    double rate;
    ck_assert_int_eq(admission_ask(a, &bound, NOW, &rate, &wait), ADMISSION_PASS);
    ck_assert_int_eq(ask(a, "third", NOW, &wait), ADMISSION_PASS);
    /* what is no report brings apps, too */
    ck_assert(admission_bring(a, "third", false));
    ck_assert(!admission_bring(a, "fourth", false));
    ck_assert(admission_bring(a, "fourth", true));
    ck_assert_int_eq(ask(a, "fourth", NOW, &wait), ADMISSION_PASS);
    admission_free(a);
}
END_TEST

/* Neither questions about apps nor apps that are refused may crowd out others. */
START_TEST(only_what_is_there_takes_room)
{
    struct admission *a = make(1, 0, 0.5, 1);
    const struct quota own = {7, 0, 1};
    struct quota got;
    char name[32];
    uint32_t wait;
    uint8_t left_out[16];
    memset(left_out, 0xff, sizeof(left_out));
    const struct admission_report slight = {"slight", true, left_out, true};
    double rate;
    ck_assert_int_eq(ask(a, "first", NOW, &wait), ADMISSION_PASS);
    for (int i = 0; i < 2 * ADMISSION_APPS_MAX; i++) {
        snprintf(name, sizeof(name), "minted%d", i);
        ck_assert(!admission_get(a, name, &got));
        ck_assert_int_eq(ask(a, name, NOW, &wait), ADMISSION_APPS);
        struct admission_report thin = slight;
        thin.bundle_id = name;
        ck_assert_int_eq(admission_ask(a, &thin, NOW, &rate, &wait), ADMISSION_SAMPLED_OUT);
    }
    admission_set(a, "late", &own);
    ck_assert(admission_get(a, "late", &got));
    ck_assert_uint_eq(got.reports_per_minute, 7);
    admission_free(a);
}
END_TEST

/* Apps without a slot share a bucket; they do not become one that is there. */
START_TEST(beyond_all_slots)
{
    struct admission *a = make(0, 0, 1, 5);
    char name[32];
    uint32_t wait;
    for (int i = 0; i < ADMISSION_APPS_MAX + 1; i++) {
        snprintf(name, sizeof(name), "app%d", i);
        ck_assert(admission_bring(a, name, true));
    }
    ck_assert_int_eq(ask(a, "app0", NOW, &wait), ADMISSION_PASS);
    ck_assert_int_eq(ask(a, "another", NOW, &wait), ADMISSION_APPS);
    admission_free(a);
}
END_TEST

UNIT_MAIN("admission", without_quotas_all_pass, by_the_minute, by_the_day, an_app_s_own,
          slight_stalls_are_thinned_out, apps_have_a_cap, only_what_is_there_takes_room,
          beyond_all_slots)
