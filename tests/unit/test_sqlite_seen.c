/* Covers: storage/sqlite_seen.c */
#include "storage/sqlite_seen.h"

#include <check.h>
#include <stdio.h>

#include "tests/conformance/suite.h"
#include "tests/support/unit.h"

#define STACKS  4000 /* more than one look remembers, and more than a few times */
#define CLUSTER 77

static struct error err;

static void run_sql(struct sqlite_storage *s, const char *sql)
{
    char *text = NULL;
    ck_assert_msg(sqlite3_exec(s->conn.db, sql, NULL, NULL, &text) == SQLITE_OK, "%s", text);
}

static int64_t number(struct sqlite_storage *s, const char *sql)
{
    sqlite3_stmt *st;
    ck_assert_int_eq(sqlite3_prepare_v2(s->conn.db, sql, -1, &st, NULL), SQLITE_OK);
    ck_assert_int_eq(sqlite3_step(st), SQLITE_ROW);
    const int64_t n = sqlite3_column_int64(st, 0);
    sqlite3_finalize(st);
    return n;
}

/* Every tenth stack has no report. */
static void fill(struct sqlite_storage *s)
{
    run_sql(s, "PRAGMA foreign_keys = OFF");
    run_sql(s, "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 4000) "
               "INSERT INTO stacks (id, app_id, hash, state, generation, cluster_id, count, "
               "weighted, stall_ms, first_seen_ms, last_seen_ms, created_ms, provisional, give_up, "
               "approximate, app_frames, app_named) SELECT i, 1, CAST(i AS BLOB), 1, 0, 77, "
               "i % 10 > 0, 0, 0, i * 7919 % 4001, i * 7919 % 4001 + i % 3, 0, 0, 0, 0, 0, 0 "
               "FROM n");
    run_sql(s, "UPDATE stacks SET first_seen_ms = 9223372036854775807, last_seen_ms = "
               "-9223372036854775808 WHERE count = 0");
}

/* The answers are those of the table. */
static void check(struct sqlite_storage *s)
{
    int64_t first = 0, last = 0;
    ck_assert_int_eq(sqlite_seen_first(s, CLUSTER, &first, &err), ERR_OK);
    ck_assert_int_eq(sqlite_seen_last(s, CLUSTER, &last, &err), ERR_OK);
    ck_assert_int_eq(first, number(s, "SELECT coalesce(min(first_seen_ms), 9223372036854775807) "
                                      "FROM stacks WHERE cluster_id = 77 AND count > 0"));
    ck_assert_int_eq(last, number(s, "SELECT coalesce(max(last_seen_ms), -9223372036854775808) "
                                     "FROM stacks WHERE cluster_id = 77 AND count > 0"));
}

static void leave(struct sqlite_storage *s, const char *order)
{
    char sql[200];
    snprintf(sql, sizeof(sql),
             "UPDATE stacks SET cluster_id = 78 WHERE id IN (SELECT id FROM stacks WHERE "
             "cluster_id = 77 ORDER BY %s LIMIT 25)",
             order);
    run_sql(s, sql);
}

/* A report comes to a stack that stays. */
static void report(struct sqlite_storage *s, int64_t ms)
{
    char sql[400];
    snprintf(sql, sizeof(sql),
             "UPDATE stacks SET count = count + 1, first_seen_ms = min(first_seen_ms, %lld), "
             "last_seen_ms = max(last_seen_ms, %lld) WHERE id = (SELECT max(id) FROM stacks WHERE "
             "cluster_id = 77)",
             (long long)ms, (long long)ms);
    run_sql(s, sql);
    sqlite_seen_reports(s, CLUSTER, ms, ms);
}

/* Stacks that left are back. */
static void come(struct sqlite_storage *s, int count)
{
    static const char first[] = "(SELECT min(id) FROM stacks WHERE cluster_id = 78 AND count > 0)";
    char sql[400];
    for (; count > 0; count--) {
        snprintf(sql, sizeof(sql), "SELECT first_seen_ms FROM stacks WHERE id = %s", first);
        const int64_t first_ms = number(s, sql);
        snprintf(sql, sizeof(sql), "SELECT last_seen_ms FROM stacks WHERE id = %s", first);
        const int64_t last_ms = number(s, sql);
        snprintf(sql, sizeof(sql), "SELECT %s", first);
        const int64_t id = number(s, sql);
        snprintf(sql, sizeof(sql), "UPDATE stacks SET cluster_id = 77 WHERE id = %lld",
                 (long long)id);
        run_sql(s, sql);
        sqlite_seen_stack(s, CLUSTER, id, first_ms, last_ms);
    }
}

static void leave_all(const char *order)
{
    int answers = 0;
    struct suite suite;
    suite_open(&suite, "sqlite");
    struct sqlite_storage *s = sqlite_of(suite.storage);
    fill(s);
    check(s);
    for (int i = 0; number(s, "SELECT count(*) FROM stacks WHERE cluster_id = 77") > 0; i++) {
        leave(s, order);
        if (i % 16 == 5 && i < STACKS / 50)
            report(s, i * 40);
        if (i % 3 == 1 && i < STACKS / 20)
            come(s, 20);
        check(s);
        answers += 2;
    }
    const int looks = sqlite3_stmt_status(s->conn.stmts[SQL_STACKS_SEEN], SQLITE_STMTSTATUS_RUN, 0);
    ck_assert_int_lt(looks * 4, answers);
    suite_close(&suite);
}

START_TEST(answers_are_those_of_the_stacks)
{
    leave_all("first_seen_ms");
    leave_all("last_seen_ms DESC");
    leave_all("id");
    leave_all("id % 7");
}
END_TEST

START_TEST(what_is_not_told_is_forgotten)
{
    struct suite suite;
    suite_open(&suite, "sqlite");
    struct sqlite_storage *s = sqlite_of(suite.storage);
    fill(s);
    check(s);
    run_sql(s, "UPDATE stacks SET first_seen_ms = -5, last_seen_ms = 9000 WHERE id = 2001");
    sqlite_seen_forget(s);
    check(s);
    /* Of other clusters nothing is known by this. */
    int64_t first = 0;
    ck_assert_int_eq(sqlite_seen_first(s, CLUSTER + SEEN_LISTS, &first, &err), ERR_OK);
    ck_assert_int_eq(first, INT64_MAX);
    check(s);
    suite_close(&suite);
}
END_TEST

/* Two stacks of one time; one that is not the first; one that is in no list. */
START_TEST(stacks_that_leave_are_not_looked_at)
{
    static const int64_t leave_in[] = {1, 2, 50, 51, 3, 3000, 52, 4};
    struct suite suite;
    suite_open(&suite, "sqlite");
    struct sqlite_storage *s = sqlite_of(suite.storage);
    fill(s);
    run_sql(s, "UPDATE stacks SET count = 1, first_seen_ms = (id + 1) / 2 * 2, "
               "last_seen_ms = 9000 - (id + 1) / 2 * 2");
    check(s);
    const int rows = sqlite3_stmt_status(s->conn.stmts[SQL_STACKS_SEEN], SQLITE_STMTSTATUS_RUN, 0);
    for (size_t i = 0; i < sizeof(leave_in) / sizeof(leave_in[0]); i++) {
        char sql[80];
        const int64_t ms = (leave_in[i] + 1) / 2 * 2;
        snprintf(sql, sizeof(sql), "UPDATE stacks SET cluster_id = 78 WHERE id = %lld",
                 (long long)leave_in[i]);
        run_sql(s, sql);
        sqlite_seen_left(s, CLUSTER, leave_in[i], ms, 9000 - ms);
        sqlite_seen_left(s, CLUSTER + SEEN_LISTS, leave_in[i], ms, 9000 - ms);
        (void)sqlite3_stmt_status(s->conn.stmts[SQL_STACK_SEEN], SQLITE_STMTSTATUS_RUN, 1);
        check(s);
        /* The stack that is the answer, for each end, and no other. */
        ck_assert_int_eq(
            sqlite3_stmt_status(s->conn.stmts[SQL_STACK_SEEN], SQLITE_STMTSTATUS_RUN, 0), 2);
    }
    ck_assert_int_eq(sqlite3_stmt_status(s->conn.stmts[SQL_STACKS_SEEN], SQLITE_STMTSTATUS_RUN, 0),
                     rows);
    suite_close(&suite);
}
END_TEST

/* A list that is full has to forget one for it; what reports have hidden stays hidden. */
START_TEST(a_stack_that_comes_uncovers_nothing)
{
    struct suite suite;
    suite_open(&suite, "sqlite");
    struct sqlite_storage *s = sqlite_of(suite.storage);
    fill(s);
    run_sql(s, "UPDATE stacks SET cluster_id = 78 WHERE id = 3000");
    check(s);
    report(s, 100); /* a stack that is not among the first */
    run_sql(s, "UPDATE stacks SET cluster_id = 77, first_seen_ms = 50 WHERE id = 3000");
    sqlite_seen_stack(s, CLUSTER, 3000, 50,
                      number(s, "SELECT last_seen_ms FROM stacks WHERE id = 3000"));
    check(s);
    run_sql(s, "UPDATE stacks SET cluster_id = 78 WHERE cluster_id = 77 AND first_seen_ms < 100");
    check(s);
    run_sql(s, "UPDATE stacks SET cluster_id = 78 WHERE cluster_id = 77 AND first_seen_ms = 100 "
               "AND id <> (SELECT max(id) FROM stacks WHERE cluster_id = 77)");
    check(s);
    suite_close(&suite);
}
END_TEST

UNIT_MAIN("sqlite_seen", answers_are_those_of_the_stacks, what_is_not_told_is_forgotten,
          stacks_that_leave_are_not_looked_at, a_stack_that_comes_uncovers_nothing)
