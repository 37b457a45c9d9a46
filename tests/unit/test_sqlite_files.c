/* Covers: storage/sqlite_files.c */
#include "storage/sqlite_files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/support/temp_dir.h"
#include "tests/support/unit.h"

static char *dir;
static char base[512], log_file[520], away[520];

static void put(const char *path, size_t size)
{
    FILE *f = fopen(path, "wb");
    ck_assert_ptr_nonnull(f);
    for (size_t i = 0; i < size; i++)
        fputc('x', f);
    fclose(f);
}

static struct sqlite_files begin(void)
{
    struct sqlite_files f;
    memset(&f, 0, sizeof(f));
    dir = temp_dir_new();
    snprintf(base, sizeof(base), "%s/a.db", dir);
    snprintf(log_file, sizeof(log_file), "%s-wal", base);
    snprintf(away, sizeof(away), "%s.away", base);
    put(base, 100);
    put(log_file, 100);
    sqlite_files_note(&f, base);
    ck_assert_int_eq(sqlite_files_look(&f, base, 100), FILES_OK);
    return f;
}

START_TEST(what_was_moved_is_well_once_it_is_back)
{
    struct sqlite_files f = begin();
    ck_assert_int_eq(rename(base, away), 0);
    ck_assert_int_eq(sqlite_files_look(&f, base, 0), FILES_DATABASE_GONE);
    put(base, 100); /* another one has its name */
    ck_assert_int_eq(sqlite_files_look(&f, base, 0), FILES_DATABASE_GONE);
    ck_assert_int_eq(rename(away, base), 0);
    ck_assert_int_eq(sqlite_files_look(&f, base, 0), FILES_OK);
    ck_assert_int_eq(rename(log_file, away), 0);
    ck_assert_int_eq(sqlite_files_look(&f, base, 0), FILES_LOG_GONE);
    put(log_file, 100);
    ck_assert_int_eq(sqlite_files_look(&f, base, 0), FILES_LOG_GONE);
    ck_assert_int_eq(rename(away, log_file), 0);
    ck_assert_int_eq(sqlite_files_look(&f, base, 0), FILES_OK);
    temp_dir_free(dir);
}
END_TEST

START_TEST(a_log_that_was_cut_stays_so)
{
    struct error err;
    struct sqlite_files f = begin();
    ck_assert_int_eq(sqlite_files_look(&f, base, 101), FILES_LOG_CUT);
    ck_assert_int_eq(sqlite_files_look(&f, base, 100), FILES_OK);
    atomic_store(&f.cut, true);
    put(log_file, 200); /* written on, behind a hole */
    ck_assert_int_eq(sqlite_files_look(&f, base, 100), FILES_LOG_CUT);
    for (int state = FILES_DATABASE_GONE; state <= FILES_LOG_HOLLOW; state++) {
        ck_assert_int_eq(sqlite_files_error((enum sqlite_files_state)state, &err), ERR_IO);
        ck_assert_ptr_nonnull(strstr(err.text, "started anew"));
    }
    temp_dir_free(dir);
}
END_TEST

START_TEST(a_log_that_begins_with_nothing_was_cut)
{
    struct sqlite_files f = begin();
    ck_assert_int_eq(truncate(log_file, 0), 0);
    ck_assert_int_eq(truncate(log_file, 200), 0);
    ck_assert_int_eq(sqlite_files_look(&f, base, 100), FILES_LOG_HOLLOW);
    /* A power cut may have left it so; it is of no use to anybody before the next commit. */
    ck_assert_int_eq(sqlite_files_look(&f, base, 0), FILES_OK);
    temp_dir_free(dir);
}
END_TEST

/* Its first frames are what they were; those that follow are behind a hole. */
START_TEST(a_log_with_a_hole_was_cut)
{
    enum { SIZE = 1 << 20, CUT = SIZE / 4 };
    struct sqlite_files f = begin();
    put(log_file, SIZE);
    sqlite_files_note(&f, base);
    ck_assert_int_eq(sqlite_files_look(&f, base, SIZE), FILES_OK);
    ck_assert_int_eq(truncate(log_file, CUT), 0);
    ck_assert_int_eq(sqlite_files_look(&f, base, SIZE), FILES_LOG_CUT);
    ck_assert_int_eq(truncate(log_file, SIZE), 0);
    ck_assert_int_eq(sqlite_files_look(&f, base, SIZE), FILES_LOG_HOLLOW);
    ck_assert_int_eq(sqlite_files_look(&f, base, CUT), FILES_OK); /* no more is in use */
    temp_dir_free(dir);
}
END_TEST

START_TEST(without_files_nothing_is_said)
{
    struct sqlite_files f = begin();
    temp_dir_free(dir);
    sqlite_files_note(&f, base);
    ck_assert_int_eq(sqlite_files_look(&f, base, 1000), FILES_OK);
}
END_TEST

UNIT_MAIN("sqlite_files", what_was_moved_is_well_once_it_is_back, a_log_that_was_cut_stays_so,
          a_log_that_begins_with_nothing_was_cut, a_log_with_a_hole_was_cut,
          without_files_nothing_is_said)
