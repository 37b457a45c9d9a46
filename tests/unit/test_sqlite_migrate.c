#include "storage/sqlite_migrate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/support/unit.h"

static char dir[] = "/tmp/stallsym-migrate-XXXXXX";
static char path[64], copy2[80], copy3[80];
static struct sql_conn c;
static struct error err;
static struct storage_upgrade done;

static const char *const texts[] = {
    "PRAGMA application_id = 1400139628; CREATE TABLE p (id INTEGER PRIMARY KEY) STRICT;"
    "INSERT INTO p VALUES (1), (2); PRAGMA user_version = 1;",
    "CREATE TABLE q (p INTEGER REFERENCES p (id)) STRICT; INSERT INTO q VALUES (1);"
    "PRAGMA user_version = 2;",
    "INSERT INTO q VALUES (77); PRAGMA user_version = 3;",
};

static void open_file(void)
{
    const struct sql_conn_options o = {path, true, 1000, NULL};
    if (path[0] == 0) {
        ck_assert_ptr_nonnull(mkdtemp(dir));
        snprintf(path, sizeof(path), "%s/x.db", dir);
        snprintf(copy2, sizeof(copy2), "%s.before-2", path);
        snprintf(copy3, sizeof(copy3), "%s.before-3", path);
    }
    ck_assert_int_eq(sql_conn_open(&c, &o, &err), ERR_OK);
}

static enum err migrate(const char *const *list, int count, bool allowed)
{
    const struct sqlite_migrations m = {list, count, allowed};
    return sqlite_migrate(&c, path, &m, &done, &err);
}

static int64_t number(const char *sql)
{
    sqlite3_stmt *st;
    ck_assert_int_eq(sqlite3_prepare_v2(c.db, sql, -1, &st, NULL), SQLITE_OK);
    ck_assert_int_eq(sqlite3_step(st), SQLITE_ROW);
    int64_t n = sqlite3_column_int64(st, 0);
    sqlite3_finalize(st);
    return n;
}

static void clean(void)
{
    sql_conn_close(&c);
    unlink(path);
    unlink(copy2);
    unlink(copy3);
    rmdir(dir);
}

START_TEST(a_new_file_gets_all_and_no_copy)
{
    open_file();
    ck_assert_int_eq(migrate(texts, 2, false), ERR_OK);
    ck_assert_int_eq(done.from, 0);
    ck_assert_int_eq(number("PRAGMA user_version"), 2);
    ck_assert_int_eq(number("SELECT count(*) FROM q"), 1);
    ck_assert_int_eq(number("PRAGMA foreign_keys"), 1);
    ck_assert_int_ne(access(copy2, F_OK), 0);
    ck_assert_int_eq(migrate(texts, 2, false), ERR_OK);
    ck_assert_int_eq(done.from, 2);
    clean();
}
END_TEST

START_TEST(an_old_file_is_copied_first)
{
    open_file();
    ck_assert_int_eq(migrate(texts, 1, true), ERR_OK);
    ck_assert_int_eq(migrate(texts, 2, false), ERR_CONFLICT);
    ck_assert_ptr_nonnull(strstr(err.text, "needs a migration to 2"));
    ck_assert_int_eq(number("PRAGMA user_version"), 1);
    ck_assert_int_eq(migrate(texts, 2, true), ERR_OK);
    ck_assert_int_eq(done.from, 1);
    ck_assert_int_eq(number("PRAGMA user_version"), 2);
    /* The copy is the file as it was. */
    sql_conn_close(&c);
    const struct sql_conn_options o = {copy2, false, 1000, NULL};
    ck_assert_int_eq(sql_conn_open(&c, &o, &err), ERR_OK);
    ck_assert_int_eq(number("PRAGMA user_version"), 1);
    ck_assert_int_eq(number("SELECT count(*) FROM p"), 2);
    clean();
}
END_TEST

static int64_t schema_of(const char *file)
{
    const struct sql_conn_options o = {file, false, 1000, NULL};
    struct sql_conn kept = c;
    ck_assert_int_eq(sql_conn_open(&c, &o, &err), ERR_OK);
    int64_t n = number("PRAGMA user_version");
    sql_conn_close(&c);
    c = kept;
    return n;
}

START_TEST(one_copy_of_what_was_before_the_first_migration)
{
    static const char *const more[] = {"", "",
                                       "CREATE TABLE r (x INTEGER); PRAGMA user_version = 3;"};
    static const char *const broken[] = {"", "", "NONSENSE;"};
    const char *both[] = {texts[0], texts[1], broken[2]};
    open_file();
    ck_assert_int_eq(migrate(texts, 1, true), ERR_OK);
    ck_assert_str_eq(done.copy, "");
    /* It ends between the second and the third, as a kill would end it; then it goes on. */
    ck_assert_int_eq(migrate(both, 3, true), ERR_INTERNAL);
    ck_assert_int_eq(number("PRAGMA user_version"), 2);
    ck_assert_int_eq(schema_of(copy2), 1);
    ck_assert_int_ne(access(copy3, F_OK), 0);
    ck_assert_int_eq(migrate(more, 3, true), ERR_OK);
    ck_assert_int_eq(done.from, 2);
    ck_assert_int_eq(done.to, 3);
    ck_assert_str_eq(done.copy, copy3);
    ck_assert_int_eq(schema_of(copy2), 1);
    ck_assert_int_eq(schema_of(copy3), 2);
    clean();
}
END_TEST

START_TEST(of_several_migrations_one_copy)
{
    const char *three[] = {texts[0], texts[1],
                           "CREATE TABLE r (x INTEGER); PRAGMA user_version = 3;"};
    open_file();
    ck_assert_int_eq(migrate(three, 1, true), ERR_OK);
    ck_assert_int_eq(migrate(three, 3, true), ERR_OK);
    ck_assert_int_eq(done.from, 1);
    ck_assert_str_eq(done.copy, copy2);
    ck_assert_int_eq(schema_of(copy2), 1);
    ck_assert_int_ne(access(copy3, F_OK), 0);
    clean();
}
END_TEST

START_TEST(a_failed_migration_leaves_the_file)
{
    static const char *const broken[] = {"", "CREATE TABLE r (x INTEGER); NONSENSE;"};
    static const char *const lying[] = {"", "CREATE TABLE r (x INTEGER);"};
    open_file();
    ck_assert_int_eq(migrate(texts, 1, true), ERR_OK);
    ck_assert_int_eq(migrate(broken, 2, true), ERR_INTERNAL);
    ck_assert_ptr_nonnull(strstr(err.text, "migration 2"));
    ck_assert_int_eq(number("SELECT count(*) FROM sqlite_schema"), 1);
    ck_assert_int_eq(migrate(lying, 2, true), ERR_INTERNAL);
    ck_assert_int_eq(number("SELECT count(*) FROM sqlite_schema"), 1);
    ck_assert_int_eq(number("PRAGMA user_version"), 1);
    ck_assert_int_eq(migrate(texts, 2, true), ERR_OK);
    /* One that leaves a row pointing to nothing. */
    ck_assert_int_eq(migrate(texts, 3, true), ERR_FORMAT);
    ck_assert_ptr_nonnull(strstr(err.text, "point to nothing"));
    ck_assert_int_eq(number("SELECT count(*) FROM q"), 1);
    ck_assert_int_eq(number("PRAGMA user_version"), 2);
    clean();
}
END_TEST

START_TEST(what_is_not_ours_is_refused)
{
    open_file();
    ck_assert_int_eq(sqlite3_exec(c.db, "CREATE TABLE x (y)", NULL, NULL, NULL), SQLITE_OK);
    ck_assert_int_eq(migrate(texts, 2, true), ERR_FORMAT);
    ck_assert_ptr_nonnull(strstr(err.text, "not one of this program"));
    ck_assert_int_eq(sqlite3_exec(c.db, "PRAGMA application_id = 1400139628", NULL, NULL, NULL),
                     SQLITE_OK);
    ck_assert_int_eq(migrate(texts, 2, true), ERR_FORMAT);
    ck_assert_int_eq(sqlite3_exec(c.db, "PRAGMA user_version = 9", NULL, NULL, NULL), SQLITE_OK);
    ck_assert_int_eq(migrate(texts, 2, true), ERR_UNSUPPORTED);
    ck_assert_ptr_nonnull(strstr(err.text, "it has schema 9, this one knows up to 2"));
    clean();
}
END_TEST

UNIT_MAIN("sqlite_migrate", a_new_file_gets_all_and_no_copy, an_old_file_is_copied_first,
          one_copy_of_what_was_before_the_first_migration, of_several_migrations_one_copy,
          a_failed_migration_leaves_the_file, what_is_not_ours_is_refused)
