/* Covers: storage/sqlite_ranges.c */
#include "storage/sqlite_ranges.h"

#include <check.h>
#include <string.h>

#include "storage/sqlite_storage.h"
#include "tests/conformance/suite.h"
#include "tests/support/unit.h"

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

/* Stacks 1 to 60. */
static struct sqlite_storage *begin(struct suite *suite)
{
    suite_open(suite, "sqlite");
    struct sqlite_storage *s = sqlite_of(suite->storage);
    run_sql(s, "PRAGMA foreign_keys = OFF");
    run_sql(s, "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 60) "
               "INSERT INTO stacks (id, app_id, hash, state, generation, cluster_id, count, "
               "weighted, stall_ms, first_seen_ms, last_seen_ms, created_ms, provisional, give_up, "
               "approximate, app_frames, app_named) SELECT i, 1, CAST(i AS BLOB), 0, 7 * i, 77, 1, "
               "0, 0, 0, 0, 0, 0, 0, 0, 0, 0 FROM n");
    return s;
}

static const int64_t some[] = {1, 2, 3, 5, 9, 10, 40, 1000};
static const struct sql_ids list = {some, sizeof(some) / sizeof(some[0])};

static int runs(const struct sqlite_storage *s, enum sql_query q)
{
    return sqlite3_stmt_status(s->conn.stmts[q], SQLITE_STMTSTATUS_RUN, 0);
}

/* As far as the stack 9. */
static enum err visit(void *ctx, size_t at, sqlite3_stmt *st, struct error *e)
{
    int64_t *last = ctx;
    const int64_t id = sqlite3_column_int64(st, 0);
    ck_assert_int_eq(id, some[at]);
    ck_assert_int_eq(sqlite3_column_int64(st, 3), 7 * id);
    ck_assert_int_gt(id, *last);
    *last = id;
    return id == 9 ? error_set(e, ERR_LIMIT, "far enough") : ERR_OK;
}

static enum err count(void *ctx, size_t at, sqlite3_stmt *st, struct error *e)
{
    size_t *n = ctx;
    (void)e;
    ck_assert_int_eq(sqlite3_column_int64(st, 0), some[at]);
    (*n)++;
    return ERR_OK;
}

START_TEST(rows_of_ids_and_no_others)
{
    struct suite suite;
    struct sqlite_storage *s = begin(&suite);
    const struct sql_ids none = {some, 0};
    size_t n = 0;
    int64_t last = 0;
    ck_assert_int_eq(sqlite_read_ids(&s->conn, SQL_STACKS_FACTS, &none, count, &n, &err), ERR_OK);
    ck_assert_uint_eq(n, 0);
    ck_assert_int_eq(sqlite_read_ids(&s->conn, SQL_STACKS_FACTS, &list, count, &n, &err), ERR_OK);
    ck_assert_uint_eq(n, list.count - 1);
    ck_assert_int_eq(runs(s, SQL_STACKS_FACTS), 3);
    /* An error ends them. */
    ck_assert_int_eq(sqlite_read_ids(&s->conn, SQL_STACKS_FACTS, &list, visit, &last, &err),
                     ERR_LIMIT);
    ck_assert_int_eq(last, 9);
    ck_assert(!sqlite3_stmt_busy(s->conn.stmts[SQL_STACKS_FACTS]));
    suite_close(&suite);
}
END_TEST

START_TEST(what_is_given_is_written)
{
    enum { WIDTH = 6 };
    static const uint8_t key[] = {1, 2, 3};
    struct suite suite;
    struct sqlite_storage *s = begin(&suite);
    struct sql_value values[sizeof(some) / sizeof(some[0])][WIDTH];
    for (size_t i = 0; i < list.count; i++) {
        const struct sql_value row[WIDTH] = {
            sql_int(some[i] + 100), sql_int(1), sql_int(0),
            sql_int(some[i]),       sql_int(0), i % 2 ? sql_null() : sql_blob(key, sizeof(key))};
        memcpy(values[i], row, sizeof(row));
    }
    struct sql_given given = {list, values[0], WIDTH, 0};
    ck_assert_int_eq(sqlite_write_ids(&s->conn, SQL_STACKS_RESOLVE, &given, sql_null(), &err),
                     ERR_OK);
    ck_assert_int_eq(runs(s, SQL_STACKS_RESOLVE), 3);
    ck_assert_int_eq(number(s, "SELECT count(*) FROM stacks WHERE state = 1"), 7);
    ck_assert_int_eq(number(s, "SELECT count(*) FROM stacks WHERE state = 1 AND id IN (1, 2, 3, 5, "
                               "9, 10, 40) AND cluster_id = id + 100 AND app_frames = id AND "
                               "provisional = 1"),
                     7);
    ck_assert_int_eq(number(s, "SELECT sum(id) FROM stacks WHERE part_key = x'010203'"),
                     1 + 3 + 9 + 40);
    ck_assert_int_eq(number(s, "SELECT count(*) FROM stacks WHERE state = 0 AND cluster_id = 77"),
                     53);
    suite_close(&suite);
}
END_TEST

START_TEST(a_third_parameter_and_no_values)
{
    static const struct uuid image = {{9}};
    struct suite suite;
    struct sqlite_storage *s = begin(&suite);
    struct sql_given given = {.list = list};
    run_sql(s, "INSERT INTO stack_missing (uuid, stack_id, frames) SELECT u.uuid, s.id, 1 FROM "
               "stacks s, (SELECT CAST(x'09000000000000000000000000000000' AS BLOB) AS uuid UNION "
               "SELECT x'08000000000000000000000000000000') u");
    ck_assert_int_eq(
        sqlite_write_ids(&s->conn, SQL_STACKS_MISSING_DELETE, &given, sql_uuid(&image), &err),
        ERR_OK);
    ck_assert_int_eq(number(s, "SELECT count(*) FROM stack_missing"), 120 - 7);
    ck_assert_int_eq(number(s, "SELECT count(*) FROM stack_missing WHERE stack_id IN (1, 2, 3, 5, "
                               "9, 10, 40) AND uuid = x'08000000000000000000000000000000'"),
                     7);
    suite_close(&suite);
}
END_TEST

START_TEST(nothing_is_given_elsewhere)
{
    struct suite suite;
    struct sqlite_storage *s = begin(&suite);
    struct sql_given narrow = {.list = list}; /* lacks the values that the query wants */
    ck_assert_int_eq(sqlite_write_ids(&s->conn, SQL_STACKS_RESOLVE, &narrow, sql_null(), &err),
                     ERR_INTERNAL);
    ck_assert_ptr_null(s->conn.given);
    ck_assert_int_eq(number(s, "SELECT given(1, 0)"), 0);
    ck_assert_int_eq(number(s, "SELECT count(*) FROM stacks WHERE state = 0"), 60);
    suite_close(&suite);
}
END_TEST

UNIT_MAIN("sqlite_ranges", rows_of_ids_and_no_others, what_is_given_is_written,
          a_third_parameter_and_no_values, nothing_is_given_elsewhere)
