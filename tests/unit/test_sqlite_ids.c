/* Covers: storage/sqlite_ids.c */
#include "storage/sqlite_ids.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "tests/conformance/suite.h"
#include "tests/conformance/suite_ops.h"
#include "tests/support/unit.h"

#define ROUND     50 /* ids of a round of the hand */
#define IDS       3000
#define GROUPS    600
#define GROUP_OPS 6
#define OP_IDS    4

static struct error err;
static uint64_t seed;

static uint32_t next_random(uint32_t below)
{
    seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407;
    return (uint32_t)(seed >> 33) % below;
}

static int64_t count_of(struct suite *s, const char *sql)
{
    sqlite3_stmt *st = NULL;
    ck_assert_int_eq(sqlite3_prepare_v2(sqlite_of(s->storage)->conn.db, sql, -1, &st, NULL),
                     SQLITE_OK);
    ck_assert_int_eq(sqlite3_step(st), SQLITE_ROW);
    const int64_t n = sqlite3_column_int64(st, 0);
    sqlite3_finalize(st);
    return n;
}

static int64_t remembered(struct suite *s)
{
    return count_of(s, "SELECT count(*) FROM (SELECT day, hash FROM report_ids"
                       " UNION SELECT day, hash FROM new_ids)");
}

static void begin(struct suite *s)
{
    memset(s, 0, sizeof(*s));
    suite_open(s, "sqlite");
    s->options.new_ids = ROUND;
    suite_reopen(s);
}

/* --- what was taken, and what a group that is open adds ---------------------------------------- */

static bool known[IDS], in_group[IDS];

struct drawn {
    char ids[OP_IDS][20];
    int numbers[OP_IDS];
    struct suite_report reports[OP_IDS];
};

static struct write_op *draw(struct drawn *d, int64_t now_day)
{
    memset(d, 0, sizeof(*d));
    for (int i = 0; i < OP_IDS; i++) {
        d->numbers[i] = (int)next_random(IDS);
        snprintf(d->ids[i], sizeof(d->ids[i]), "r%d", d->numbers[i]);
        /* Now and then the clock is a day off. */
        d->reports[i] = (struct suite_report){
            .id = d->ids[i],
            .received_ms = SUITE_NOW + (now_day - (next_random(8) == 0)) * CLOCK_DAY_MS};
    }
    return suite_batch(SUITE_APP, d->reports, OP_IDS);
}

static void apply_drawn(struct suite *s, int64_t now_day)
{
    struct drawn d;
    struct write_op *op = draw(&d, now_day);
    struct op_report *reports = op->u.batches.items[0].reports;
    const bool fails = next_random(10) == 0;
    bool new_here[IDS] = {false};
    if (fails) {
        struct op_report *last = &reports[OP_IDS - 1];
        last->kind = REPORT_KINDS;
        ck_assert_int_ne(storage_apply(s->storage, op, &err), ERR_OK);
        write_op_free(op);
        return;
    }
    ck_assert_msg(storage_apply(s->storage, op, &err) == ERR_OK, "%s", err.text);
    for (int i = 0; i < OP_IDS; i++) {
        const int id = d.numbers[i];
        ck_assert_int_eq(reports[i].duplicate, known[id] || in_group[id] || new_here[id]);
        new_here[id] = true;
    }
    for (int i = 0; i < OP_IDS; i++)
        in_group[d.numbers[i]] = true;
    write_op_free(op);
}

static void apply_group(struct suite *s, int64_t now_day)
{
    const bool fails = next_random(12) == 0;
    memset(in_group, 0, sizeof(in_group));
    ck_assert_int_eq(storage_begin(s->storage, &err), ERR_OK);
    for (uint32_t i = next_random(GROUP_OPS) + 1; i > 0; i--)
        apply_drawn(s, now_day);
    if (fails)
        storage_rollback(s->storage);
    else
        ck_assert_msg(storage_commit(s->storage, &err) == ERR_OK, "%s", err.text);
    for (int i = 0; i < IDS && !fails; i++)
        known[i] = known[i] || in_group[i];
}

/* Ops that fail, groups that are taken back, starts, and a clock that is not sure of the day. */
START_TEST(an_id_is_taken_once_whatever_happens)
{
    struct suite s;
    for (seed = 1; seed < 4; seed++) {
        const uint64_t first = seed;
        int64_t all = 0;
        begin(&s);
        memset(known, 0, sizeof(known));
        for (int i = 0; i < GROUPS; i++) {
            apply_group(&s, i / 100);
            if (next_random(50) == 0)
                suite_reopen(&s);
        }
        for (int i = 0; i < IDS; i++)
            all += known[i];
        ck_assert_int_gt(all, IDS / 2);
        ck_assert_int_eq(remembered(&s), all);
        ck_assert_int_eq(count_of(&s, "SELECT count(*) FROM reports"), all);
        ck_assert_int_gt(count_of(&s, "SELECT count(*) FROM report_ids"), all / 2);
        suite_close(&s);
        seed = first;
    }
}
END_TEST

static void post(struct suite *s, int number, int64_t day, bool *ret_duplicate)
{
    char id[20];
    snprintf(id, sizeof(id), "r%d", number);
    const struct suite_report r = {.id = id, .received_ms = SUITE_NOW + day * CLOCK_DAY_MS};
    struct write_op *op = suite_batch(SUITE_APP, &r, 1);
    suite_apply_keep(s, op);
    *ret_duplicate = op->u.batches.items[0].reports[0].duplicate;
    write_op_free(op);
}

static void all_are_known(struct suite *s)
{
    bool duplicate = false;
    ck_assert_int_eq(remembered(s), 10 * ROUND);
    for (int i = 0; i < 10 * ROUND; i++) {
        post(s, i, 1, &duplicate);
        ck_assert(duplicate);
    }
}

START_TEST(few_wait_and_all_are_put_away)
{
    struct suite s;
    bool duplicate = false;
    begin(&s);
    for (int i = 0; i < 10 * ROUND; i++) {
        post(&s, i, 0, &duplicate);
        ck_assert(!duplicate);
        ck_assert_int_le(count_of(&s, "SELECT count(*) FROM new_ids"), 3 * ROUND);
        ck_assert_int_ge(count_of(&s, "SELECT count(*) FROM report_ids"), i - 2 * ROUND);
    }
    all_are_known(&s);
    suite_close(&s);
}
END_TEST

/* A daemon that is started often, for what comes to it, does not end a round. */
START_TEST(starts_leave_few_that_wait)
{
    struct suite s;
    bool duplicate = false;
    begin(&s);
    for (int i = 0; i < 10 * ROUND; i++) {
        if (i % (ROUND / 2) == 0)
            suite_reopen(&s);
        post(&s, i, 0, &duplicate);
        ck_assert(!duplicate);
        ck_assert_int_le(count_of(&s, "SELECT count(*) FROM new_ids"), 4 * ROUND);
    }
    all_are_known(&s);
    suite_close(&s);
}
END_TEST

/* An op without ids that fails costs nothing: what waits stays known. */
START_TEST(only_who_took_ids_makes_them_read_anew)
{
    struct suite s;
    bool duplicate = false;
    begin(&s);
    post(&s, 1, 0, &duplicate);
    const struct sqlite_storage *q = sqlite_of(s.storage);
    ck_assert(q->ids.known);
    struct write_op *op = suite_batch(SUITE_APP, &(struct suite_report){.id = "bad"}, 1);
    op->u.batches.items[0].reports[0].kind = REPORT_KINDS;
    ck_assert_int_ne(suite_try(&s, op, &err), ERR_OK);
    write_op_free(op);
    ck_assert(q->ids.known);
    suite_close(&s);
}
END_TEST

static void expire_ids(struct suite *s, int64_t before_day)
{
    struct write_op *op = write_op_new(WRITE_EXPIRE, 4096);
    const int64_t before_ms = SUITE_NOW + before_day * CLOCK_DAY_MS;
    op->u.expire = (struct op_expire){.now_ms = before_ms,
                                      .reports_before_ms = before_ms,
                                      .report_ids_before_ms = before_ms,
                                      .image_sets_before_ms = before_ms,
                                      .max_rows = 1000};
    suite_apply(s, op);
}

START_TEST(those_that_wait_expire_too)
{
    struct suite s;
    bool duplicate = false;
    begin(&s);
    for (int i = 0; i < 20; i++)
        post(&s, i, i / 10, &duplicate);
    ck_assert_int_eq(count_of(&s, "SELECT count(*) FROM new_ids"), 20);
    expire_ids(&s, 1);
    ck_assert_int_eq(count_of(&s, "SELECT count(*) FROM new_ids"), 10);
    for (int i = 0; i < 20; i++) {
        post(&s, i, 1, &duplicate);
        ck_assert_int_eq(duplicate, i >= 10);
    }
    ck_assert_int_eq(remembered(&s), 20);
    suite_close(&s);
}
END_TEST

UNIT_MAIN("sqlite_ids", an_id_is_taken_once_whatever_happens, few_wait_and_all_are_put_away,
          starts_leave_few_that_wait, only_who_took_ids_makes_them_read_anew,
          those_that_wait_expire_too)
