#include "server/jobs/index_rank.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/temp_dir.h"
#include "tests/support/unit.h"

static char *dir;

static const char *file(const char *name, const void *data, size_t len)
{
    static char paths[8][512];
    static int next;
    char *path = paths[next++ % 8];
    snprintf(path, sizeof(paths[0]), "%s/%s", dir, name);
    FILE *f = fopen(path, "wb");
    ck_assert_uint_eq(fwrite(data, 1, len, f), len);
    fclose(f);
    return path;
}

/* Each row is poorer than those above it. */
START_TEST(what_is_richer)
{
    const struct index_rank rows[] = {
        {true, 10, 5, 3, 1, 2, NULL, NULL},    {true, 10, 5, 2, 1, 2, NULL, NULL},
        {true, 10, 4, 9, 1, 2, NULL, NULL},    {true, 9, 99, 99, 1, 2, NULL, NULL},
        {false, 99, 99, 99, 1, 2, NULL, NULL}, {false, 0, 0, 0, 1, 2, NULL, NULL},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        for (size_t k = 0; k < sizeof(rows) / sizeof(rows[0]); k++) {
            int order = index_rank_compare(&rows[i], &rows[k]);
            ck_assert_int_eq((order > 0) - (order < 0), (i < k) - (i > k));
        }
    }
}
END_TEST

START_TEST(equals_are_told_apart_by_content)
{
    static uint8_t big[200000];
    bool unread = false;
    dir = temp_dir_new();
    const char *a = file("a", "aaaa", 4);
    const char *b = file("b", "aaab", 4);
    const char *same = file("same", "aaaa", 4);
    const char *shorter = file("shorter", "zzz", 3);
    const char *x = file("x", big, sizeof(big));
    big[150000] = 1;
    const char *y = file("y", big, sizeof(big));
    ck_assert_int_lt(index_file_compare(a, b, &unread), 0);
    ck_assert_int_gt(index_file_compare(b, a, &unread), 0);
    ck_assert_int_eq(index_file_compare(a, same, &unread), 0);
    ck_assert_int_gt(index_file_compare(a, shorter, &unread), 0);
    ck_assert_int_lt(index_file_compare(x, y, &unread), 0);
    ck_assert_int_eq(index_file_compare(y, y, &unread), 0);
    ck_assert_int_lt(index_file_compare(a, "/nowhere", &unread), 0);
    ck_assert_int_gt(index_file_compare("/nowhere", a, &unread), 0);
    ck_assert_int_gt(index_file_compare(NULL, a, &unread), 0);
    ck_assert(!unread); /* what is not there was looked for */
    char longer[400];
    memset(longer, 'a', sizeof(longer) - 1);
    longer[sizeof(longer) - 1] = 0;
    ck_assert_int_lt(index_file_compare(a, longer, &unread), 0);
    ck_assert(unread);
    struct index_rank p = {true, 1, 1, 1, 1, 1, a, NULL};
    struct index_rank q = p;
    q.path = b;
    ck_assert_int_gt(index_rank_compare(&p, &q), 0); /* the smaller byte wins */
    ck_assert_int_lt(index_rank_compare(&q, &p), 0);
    q.path = same;
    ck_assert_int_eq(index_rank_compare(&p, &q), 0);
    temp_dir_free(dir);
}
END_TEST

START_TEST(what_conflicts)
{
    dir = temp_dir_new();
    struct index_rank full = {true, 10, 5, 3, 0x1000, 0x200, file("full", "full", 4), NULL};
    struct index_rank other = {true, 8, 5, 3, 0x1000, 0x200, file("other", "othe", 4), NULL};
    struct index_rank table = {false, 0, 7, 0, 0x1000, 0x200, file("table", "tabl", 4), NULL};
    struct index_rank stripped = {false, 0, 3, 0, 0x1000, 0x200, file("strip", "stri", 4), NULL};
    struct index_rank elsewhere = table;
    struct index_rank twin = full;
    struct index_rank table2 = table;
    elsewhere.text_vmaddr = 0x2000;
    twin.path = file("twin", "full", 4);
    table2.path = file("table2", "tabX", 4);
    ck_assert(!index_rank_conflict(&full, &twin));
    ck_assert(index_rank_conflict(&full, &other));
    ck_assert(!index_rank_conflict(&full, &table));
    ck_assert(!index_rank_conflict(&table, &stripped));
    ck_assert(index_rank_conflict(&table, &table2));
    ck_assert(index_rank_conflict(&full, &elsewhere));
    temp_dir_free(dir);
}
END_TEST

UNIT_MAIN("index_rank", what_is_richer, equals_are_told_apart_by_content, what_conflicts)
