/* Covers: storage/sqlite_log_file.c */
#include "storage/sqlite_log_file.h"

#include <limits.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

#include "tests/support/temp_dir.h"
#include "tests/support/unit.h"

/* --- a default VFS that counts what is written to logs, or refuses it ------------------------- */

static sqlite3_io_methods counted;
static const sqlite3_io_methods *plain;
static int writes;
static int refusals; /* so many writes are refused */

static int count_write(sqlite3_file *file, const void *data, int len, sqlite3_int64 at)
{
    writes++;
    if (refusals == 0)
        return plain->xWrite(file, data, len, at);
    refusals--;
    return SQLITE_FULL;
}

/* Nobody cuts the power. */
static int no_sync(sqlite3_file *file, int flags)
{
    (void)file;
    (void)flags;
    return SQLITE_OK;
}

static int open_counted(sqlite3_vfs *vfs, sqlite3_filename name, sqlite3_file *file, int flags,
                        int *ret_flags)
{
    sqlite3_vfs *system = vfs->pAppData;
    int rc = system->xOpen(system, name, file, flags, ret_flags);
    if (rc == SQLITE_OK && (flags & SQLITE_OPEN_WAL)) {
        plain = file->pMethods;
        counted = *plain;
        counted.xWrite = count_write;
        counted.xSync = no_sync;
        file->pMethods = &counted;
    }
    return rc;
}

static void count_logs(void)
{
    static sqlite3_vfs vfs;
    sqlite3_vfs *system = sqlite3_vfs_find(NULL);
    if (vfs.zName)
        return;
    vfs = *system;
    vfs.pNext = NULL;
    vfs.zName = "counting";
    vfs.pAppData = system;
    vfs.xOpen = open_counted;
    ck_assert_int_eq(sqlite3_vfs_register(&vfs, 1), SQLITE_OK);
}

/* ---------------------------------------------------------------------------------------------- */

static char *dir;
static char path[400];
static sqlite3 *db, *other;

static int run(sqlite3 *on, const char *sql)
{
    return sqlite3_exec(on, sql, NULL, NULL, NULL);
}

static void must(sqlite3 *on, const char *sql)
{
    ck_assert_msg(run(on, sql) == SQLITE_OK, "%s: %s", sql, sqlite3_errmsg(on));
}

static int64_t number(sqlite3 *on, const char *sql)
{
    sqlite3_stmt *st;
    ck_assert_int_eq(sqlite3_prepare_v2(on, sql, -1, &st, NULL), SQLITE_OK);
    ck_assert_int_eq(sqlite3_step(st), SQLITE_ROW);
    const int64_t n = sqlite3_column_int64(st, 0);
    sqlite3_finalize(st);
    return n;
}

static void is_sound(sqlite3 *on)
{
    ck_assert_int_eq(number(on, "SELECT count(*) FROM pragma_integrity_check "
                                "WHERE integrity_check = 'ok'"),
                     1);
}

static void setup_at(const char *synchronous, const char *options)
{
    char sql[100], uri[500];
    count_logs();
    refusals = 0;
    dir = temp_dir_new();
    snprintf(path, sizeof(path), "%s/test.db", dir);
    snprintf(uri, sizeof(uri), "file:%s%s", path, options);
    ck_assert_ptr_nonnull(sqlite_log_vfs());
    ck_assert_int_eq(sqlite3_open_v2(uri, &db,
                                     SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_URI,
                                     sqlite_log_vfs()),
                     SQLITE_OK);
    snprintf(sql, sizeof(sql), "PRAGMA page_size = 2048; PRAGMA synchronous = %s", synchronous);
    must(db, sql);
    must(db, "PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0;"
             "CREATE TABLE t (id INTEGER PRIMARY KEY, data BLOB)");
    ck_assert_int_eq(sqlite3_open_v2(path, &other, SQLITE_OPEN_READWRITE, NULL), SQLITE_OK);
}

static void setup(const char *synchronous)
{
    setup_at(synchronous, "");
}

static void teardown(void)
{
    sqlite3_close(other);
    ck_assert_int_eq(sqlite3_close(db), SQLITE_OK);
    temp_dir_free(dir);
}

static const char thousand[] =
    "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000)"
    "INSERT INTO t (data) SELECT randomblob(1500) FROM n";

static const char sums[] = "SELECT count(*) + 1000 * sum(length(data)) FROM t";

START_TEST(a_commit_is_few_writes)
{
    setup("FULL");
    writes = 0;
    must(db, thousand);
    ck_assert_int_gt(writes, 1000 * 2048 / SQLITE_LOG_PIECE);
    ck_assert_int_lt(writes, 30);
    teardown();
}
END_TEST

/* With and without a sync: nothing of a commit is left behind. */
static void see_commits(const char *synchronous)
{
    setup(synchronous);
    for (int i = 1; i <= 300; i++) {
        must(db, "BEGIN; INSERT INTO t (data) VALUES (randomblob(100));"
                 "INSERT INTO t (data) VALUES (randomblob(5000)); COMMIT");
        ck_assert_int_eq(number(other, "SELECT count(*) FROM t"), 2 * i);
    }
    must(db, thousand);
    ck_assert_int_eq(number(other, sums), number(db, sums));
    is_sound(other);
    teardown();
}

START_TEST(others_see_what_was_committed)
{
    see_commits("FULL");
    see_commits("NORMAL");
}
END_TEST

/* Pages that do not fit into memory go to the log before the commit, and again, in their place. */
static void write_twice(const char *synchronous)
{
    setup(synchronous);
    must(db, "PRAGMA cache_size = 10");
    must(db, thousand);
    for (int i = 0; i < 5; i++) {
        must(db, "BEGIN; UPDATE t SET data = randomblob(1400) WHERE id % 3 = 0;"
                 "SAVEPOINT s; UPDATE t SET data = randomblob(700); ROLLBACK TO s;"
                 "UPDATE t SET data = randomblob(1450) WHERE id % 5 = 0;"
                 "UPDATE t SET data = randomblob(1300) WHERE id % 3 = 0; COMMIT");
        ck_assert_int_eq(number(other, sums), number(db, sums));
        is_sound(other);
        if (i == 2)
            must(other, "PRAGMA wal_checkpoint(TRUNCATE)");
    }
    teardown();
}

START_TEST(pages_are_written_twice)
{
    write_twice("FULL");
    write_twice("NORMAL");
}
END_TEST

START_TEST(a_log_is_found_by_who_comes_later)
{
    char from[500], to[500];
    sqlite3 *copy;
    setup("NORMAL");
    must(db, thousand);
    const int64_t is = number(db, sums);
    /* The files as they are: what a daemon that was killed leaves. */
    for (int i = 0; i < 2; i++) {
        char data[4096];
        size_t n;
        snprintf(from, sizeof(from), "%s%s", path, i ? "-wal" : "");
        snprintf(to, sizeof(to), "%s/copy.db%s", dir, i ? "-wal" : "");
        FILE *in = fopen(from, "rb"), *out = fopen(to, "wb");
        ck_assert(in && out);
        while ((n = fread(data, 1, sizeof(data), in)) > 0)
            ck_assert_uint_eq(fwrite(data, 1, n, out), n);
        fclose(in);
        fclose(out);
    }
    snprintf(to, sizeof(to), "%s/copy.db", dir);
    ck_assert_int_eq(sqlite3_open_v2(to, &copy, SQLITE_OPEN_READWRITE, sqlite_log_vfs()),
                     SQLITE_OK);
    ck_assert_int_eq(number(copy, sums), is);
    sqlite3_close(copy);
    teardown();
}
END_TEST

static void fill_disk(const char *synchronous)
{
    setup(synchronous);
    must(db, "INSERT INTO t (data) VALUES (x'01')");
    refusals = INT_MAX;
    ck_assert_int_eq(run(db, thousand), SQLITE_FULL);
    refusals = 0;
    ck_assert_int_eq(number(db, "SELECT count(*) FROM t"), 1);
    ck_assert_int_eq(number(other, "SELECT count(*) FROM t"), 1);
    must(db, thousand);
    ck_assert_int_eq(number(other, "SELECT count(*) FROM t"), 1001);
    teardown();
}

START_TEST(a_full_disk_fails_the_commit)
{
    fill_disk("FULL");
    fill_disk("NORMAL");
}
END_TEST

/* Pages of a transaction that was given up do not come after those of another writer. */
START_TEST(what_was_rolled_back_is_gone)
{
    setup("NORMAL");
    must(db, "PRAGMA cache_size = 10");
    must(other, "PRAGMA cache_size = 10");
    for (int i = 1; i <= 5; i++) {
        must(db, "BEGIN");
        must(db, thousand);
        must(db, "ROLLBACK");
        must(other, "INSERT INTO t (data) WITH RECURSIVE n (i) AS "
                    "(SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000)"
                    "SELECT zeroblob(i % 1000) FROM n");
        ck_assert_int_eq(number(db, "SELECT count(*) FROM t"), 3000 * i);
        ck_assert_int_eq(number(db, sums), number(other, sums));
        is_sound(db);
        is_sound(other);
    }
    teardown();
}
END_TEST

/* A disk that is full while pages are looked for: a later statement must not commit without what an
 * earlier one wrote. */
START_TEST(a_lost_piece_fails_the_transaction)
{
    setup("NORMAL");
    must(db, "CREATE TABLE u (id INTEGER PRIMARY KEY, data BLOB NOT NULL UNIQUE)");
    must(db,
         "CREATE TABLE v AS SELECT randomblob(1500) AS data FROM pragma_function_list LIMIT 50");
    must(db, "PRAGMA wal_checkpoint(TRUNCATE); PRAGMA cache_size = 10; BEGIN");
    must(db, thousand);
    must(db, "SELECT sum(length(data)) FROM v"); /* for their pages those of t leave the memory */
    must(db, "SAVEPOINT s");
    refusals = 1;
    ck_assert_int_eq(run(db, "INSERT INTO u (data) SELECT data FROM t"), SQLITE_FULL);
    ck_assert_int_ne(run(db, "ROLLBACK TO s; COMMIT"), SQLITE_OK);
    if (!sqlite3_get_autocommit(db))
        must(db, "ROLLBACK");
    ck_assert_int_eq(number(other, "SELECT count(*) FROM t"), 0);
    is_sound(other);
    must(db, thousand);
    ck_assert_int_eq(number(other, "SELECT count(*) FROM t"), 1000);
    is_sound(other);
    teardown();
}
END_TEST

/* A disk that may lose what is beside a write: the last page is repeated up to the end of a sector, and
 * parts of it are as long as the header of a frame. */
START_TEST(padded_commits_are_whole)
{
    setup_at("FULL", "?psow=0");
    must(db, "INSERT INTO t (data) VALUES (zeroblob(1900))");
    for (int i = 0; i < 3000; i++) {
        must(db, "UPDATE t SET data = zeroblob(length(data) - (id + length(data)) % 2 * 2 + 1)");
        ck_assert_int_eq(number(other, sums), number(db, sums));
    }
    is_sound(other);
    teardown();
}
END_TEST

UNIT_MAIN("sqlite_log_file", what_was_rolled_back_is_gone, a_lost_piece_fails_the_transaction,
          padded_commits_are_whole, a_commit_is_few_writes, others_see_what_was_committed,
          pages_are_written_twice, a_log_is_found_by_who_comes_later, a_full_disk_fails_the_commit)
