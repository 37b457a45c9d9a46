/* What only a file can do: crash, be damaged, be full, be somebody else's. */
/* Covers: storage/sqlite_stmt.c storage/sqlite_tally.c storage/sqlite_rollup.c storage/sqlite_moves.c storage/sqlite_stack_rows.c storage/sqlite_write.c storage/sqlite_write_*.c */
#include "storage/sqlite_storage.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "storage/read_shelves.h"
#include "storage/sqlite_rollup.h"
#include "storage/sqlite_tally.h"
#include "tests/conformance/history.h"
#include "tests/conformance/suite.h"
#include "tests/support/unit.h"

static struct error err;

/* A connection of the test's own. */
static int64_t number(const char *path, const char *sql, char *ret_text, size_t size)
{
    sqlite3 *db;
    sqlite3_stmt *st;
    ck_assert_int_eq(sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE, NULL), SQLITE_OK);
    ck_assert_int_eq(sqlite3_prepare_v2(db, sql, -1, &st, NULL), SQLITE_OK);
    ck_assert_int_eq(sqlite3_step(st), SQLITE_ROW);
    int64_t n = sqlite3_column_int64(st, 0);
    if (ret_text)
        snprintf(ret_text, size, "%s", (const char *)sqlite3_column_text(st, 0));
    sqlite3_finalize(st);
    sqlite3_close(db);
    return n;
}

/* The invariant of the counters, and SQLite's own opinion. */
static void check_whole(const char *path)
{
    static const char *const zeros[] = {
        "SELECT count(*) FROM pragma_foreign_key_check",
        "SELECT count(*) FROM stacks WHERE cluster_id IS NOT NULL AND cluster_id NOT IN (SELECT "
        "id FROM clusters)",
        "SELECT count(*) FROM stacks s WHERE (s.count, s.weighted, s.stall_ms) IS NOT (SELECT "
        "coalesce(sum(count), 0), coalesce(sum(weighted), 0), coalesce(sum(stall_ms), 0) FROM "
        "counters c WHERE c.stack_id = s.id)",
        "SELECT count(*) FROM stacks s WHERE s.count IS NOT (SELECT coalesce(sum(count), 0) FROM "
        "week_devices c WHERE c.stack_id = s.id)",
        "SELECT count(*) FROM stacks s WHERE s.count IS NOT (SELECT coalesce(sum(count), 0) FROM "
        "week_pages c WHERE c.stack_id = s.id)",
        "SELECT count(*) FROM cluster_totals t WHERE (t.count, t.weighted, t.stall_ms) IS NOT "
        "(SELECT coalesce(sum(count), 0), coalesce(sum(weighted), 0), coalesce(sum(stall_ms), 0) "
        "FROM stacks s WHERE s.cluster_id = t.cluster_id)",
        "SELECT count(*) FROM cluster_totals t WHERE t.stacks IS NOT (SELECT count(*) FROM stacks "
        "s WHERE s.cluster_id = t.cluster_id AND s.count > 0)",
        "SELECT count(*) FROM cluster_totals t WHERE t.count > 0 AND (t.first_seen_ms, "
        "t.last_seen_ms) IS NOT (SELECT min(first_seen_ms), max(last_seen_ms) FROM stacks s WHERE "
        "s.cluster_id = t.cluster_id AND s.count > 0)",
        "SELECT count(*) FROM clusters c WHERE NOT EXISTS (SELECT 1 FROM stacks s WHERE "
        "s.cluster_id = c.id)",
        "SELECT count(*) FROM cluster_aliases a JOIN clusters c ON c.id = a.alias",
        "SELECT count(*) FROM stack_missing m LEFT JOIN stacks s ON s.id = m.stack_id WHERE s.id "
        "IS NULL",
        "SELECT count(*) FROM stack_data d WHERE length(coalesce(d.missing, x'')) / 16 <> (SELECT "
        "count(*) FROM stack_missing m WHERE m.stack_id = d.stack_id)",
    };
    char text[200];
    number(path, "PRAGMA integrity_check", text, sizeof(text));
    ck_assert_str_eq(text, "ok");
    for (size_t i = 0; i < sizeof(zeros) / sizeof(zeros[0]); i++)
        ck_assert_msg(number(path, zeros[i], NULL, 0) == 0, "%s", zeros[i]);
}

/* Builds and devices are those of the counters; so are the days, as far back as they are kept. */
static void check_tally(const struct tally *kept, const struct tally *counted)
{
    for (int kind = TALLY_BUILDS; kind < TALLY_KINDS; kind++) {
        size_t n, expected;
        const struct tally_entry *a = tally_of(kept, (enum tally_kind)kind, &n);
        const struct tally_entry *b = tally_of(counted, (enum tally_kind)kind, &expected);
        ck_assert_uint_eq(n, expected);
        for (size_t i = 0; i < n; i++) {
            ck_assert_int_eq(a[i].id, b[i].id);
            ck_assert_int_eq(a[i].count, b[i].count);
        }
    }
    size_t n, expected, at = 0;
    const struct tally_entry *a = tally_of(kept, TALLY_DAYS, &n);
    const struct tally_entry *b = tally_of(counted, TALLY_DAYS, &expected);
    for (size_t i = 0; i < n; i++) {
        while (at < expected && b[at].id < a[i].id) {
            ck_assert_int_le(b[at].id, a[n - 1].id - TREND_DAYS);
            at++;
        }
        const bool there = at < expected && b[at].id == a[i].id;
        ck_assert_int_eq(a[i].count, there ? b[at].count : 0);
        at += there;
    }
    ck_assert_uint_eq(at, expected);
}

/* Tallies kept with the clusters against those of their stacks' counters. How many were compared. */
static size_t check_tallies(const char *path)
{
    static const char query[] =
        "SELECT tally, (SELECT tally_sum(kind, id, n) FROM ("
        "SELECT s.cluster_id AS at, 0 AS kind, c.day AS id, c.count AS n FROM stacks s "
        "JOIN counters c ON c.stack_id = s.id UNION ALL "
        "SELECT s.cluster_id, 1, c.build_id, c.count FROM stacks s "
        "JOIN counters c ON c.stack_id = s.id UNION ALL "
        "SELECT s.cluster_id, 2, w.device_id, w.count FROM stacks s "
        "JOIN week_devices w ON w.stack_id = s.id) WHERE at = cluster_id) FROM cluster_totals";
    sqlite3 *db;
    sqlite3_stmt *st;
    size_t count = 0;
    ck_assert_int_eq(sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE, NULL), SQLITE_OK);
    ck_assert_int_eq(sqlite_tally_functions(db), SQLITE_OK);
    ck_assert_int_eq(sqlite3_prepare_v2(db, query, -1, &st, NULL), SQLITE_OK);
    for (; sqlite3_step(st) == SQLITE_ROW; count++) {
        struct tally t[2] = {{0}, {0}};
        for (int i = 0; i < 2; i++)
            ck_assert(tally_add_encoded(&t[i], sqlite3_column_blob(st, i),
                                        (size_t)sqlite3_column_bytes(st, i)));
        check_tally(&t[0], &t[1]);
        tally_done(&t[0]);
        tally_done(&t[1]);
    }
    sqlite3_finalize(st);
    sqlite3_close(db);
    return count;
}

/* Rows of a query, as many as there are. */
static size_t rows_of(sqlite3 *db, const char *query, sqlite3_stmt **ret)
{
    size_t n = 0;
    ck_assert_int_eq(sqlite3_prepare_v2(db, query, -1, ret, NULL), SQLITE_OK);
    while (sqlite3_step(*ret) == SQLITE_ROW)
        n++;
    sqlite3_reset(*ret);
    return n;
}

/* Roll-ups against the counters of the stacks, as they are when no report waits to be rolled up. How
 * many clusters were compared. */
static size_t check_rollups(const char *path)
{
    static const char cubes[] =
        "SELECT k.cube, (SELECT cube_sum(c.build_id, c.day, c.kind, c.count, c.weighted, "
        "c.stall_ms, "
        "c.above_ms) FROM stacks s JOIN counters c ON c.stack_id = s.id WHERE s.cluster_id = "
        "k.cluster_id) FROM cluster_cubes k";
    static const char *const differences[] = {
        "SELECT count(*) FROM (SELECT cluster_id, day, build_id, kind, count, weighted, stall_ms, "
        "above_ms FROM cluster_counters EXCEPT SELECT s.cluster_id, day, build_id, kind, "
        "sum(c.count), sum(c.weighted), sum(c.stall_ms), sum(above_ms) FROM stacks s JOIN counters "
        "c ON c.stack_id = s.id GROUP BY 1, 2, 3, 4)",
        "SELECT count(*) FROM (SELECT s.cluster_id, day, build_id, kind, sum(c.count) FROM stacks "
        "s "
        "JOIN cluster_cubes k ON k.cluster_id = s.cluster_id AND k.rolled JOIN counters c ON "
        "c.stack_id = s.id GROUP BY 1, 2, 3, 4 EXCEPT SELECT cluster_id, day, build_id, kind, "
        "count "
        "FROM cluster_counters)",
        "SELECT count(*) FROM (SELECT cluster_id, week, device_id, os_id, count, weighted, "
        "stall_ms, "
        "above_ms FROM cluster_devices EXCEPT SELECT s.cluster_id, week, device_id, os_id, "
        "sum(c.count), sum(c.weighted), sum(c.stall_ms), sum(above_ms) FROM stacks s JOIN "
        "week_devices c ON c.stack_id = s.id GROUP BY 1, 2, 3, 4)",
        "SELECT count(*) FROM (SELECT cluster_id, week, page_id, build_id, count, weighted, "
        "stall_ms, above_ms FROM cluster_pages EXCEPT SELECT s.cluster_id, week, page_id, "
        "build_id, "
        "sum(c.count), sum(c.weighted), sum(c.stall_ms), sum(above_ms) FROM stacks s JOIN "
        "week_pages c ON c.stack_id = s.id GROUP BY 1, 2, 3, 4)",
    };
    sqlite3 *db;
    sqlite3_stmt *st;
    ck_assert_int_eq(sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE, NULL), SQLITE_OK);
    ck_assert_int_eq(sqlite_cube_functions(db), SQLITE_OK);
    const size_t count = rows_of(db, cubes, &st);
    while (sqlite3_step(st) == SQLITE_ROW) {
        struct cube c[2] = {{0}, {0}};
        for (int i = 0; i < 2; i++)
            ck_assert(cube_add_encoded(&c[i], sqlite3_column_blob(st, i),
                                       (size_t)sqlite3_column_bytes(st, i)));
        ck_assert_uint_eq(c[0].count, c[1].count);
        for (size_t i = 0; i < c[0].count; i++)
            ck_assert_mem_eq(&c[0].rows[i], &c[1].rows[i], sizeof(c[0].rows[i]));
        cube_done(&c[0]);
        cube_done(&c[1]);
    }
    sqlite3_finalize(st);
    sqlite3_close(db);
    for (size_t i = 0; i < sizeof(differences) / sizeof(differences[0]); i++)
        ck_assert_msg(number(path, differences[i], NULL, 0) == 0, "%s", differences[i]);
    return count;
}

/* As retention does before it looks for what to delete. */
static void roll_up(struct suite *s)
{
    struct sqlite_storage *sqlite = sqlite_of(s->storage);
    ck_assert_int_eq(storage_begin(s->storage, &err), ERR_OK);
    ck_assert_int_eq(sqlite_rollup(sqlite, &err), ERR_OK);
    ck_assert_int_eq(storage_commit(s->storage, &err), ERR_OK);
}

static void run_sql(const char *path, const char *sql)
{
    sqlite3 *db;
    ck_assert_int_eq(sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE, NULL), SQLITE_OK);
    ck_assert_int_eq(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
}

/* No id waited before 20, and sums of index files had no index before 21. */
#define IDS_BEFORE_20                                                                              \
    "DROP INDEX slices_kept;"                                                                      \
    "INSERT OR IGNORE INTO report_ids SELECT day, hash, report_id FROM new_ids;"                   \
    "DROP TABLE new_ids;"

/* Stand-ins as they were before 19, of no app; those of now are kept aside. */
#define STAND_INS_BEFORE_19                                                                        \
    IDS_BEFORE_20                                                                                  \
    "ALTER TABLE open_uploads DROP COLUMN bound; DROP INDEX stand_ins_used;"                       \
    "ALTER TABLE stand_ins RENAME TO stand_ins_kept;"                                              \
    "CREATE TABLE stand_ins (uuid BLOB PRIMARY KEY, stand_in BLOB NOT NULL,"                       \
    " by_hand INTEGER NOT NULL, created_ms INTEGER NOT NULL) STRICT, WITHOUT ROWID;"               \
    "INSERT OR IGNORE INTO stand_ins SELECT uuid, stand_in, by_hand, created_ms"                   \
    " FROM stand_ins_kept;"                                                                        \
    "CREATE INDEX stand_ins_used ON stand_ins (stand_in);"

/* Nothing is an app's own before 18; shelves are kept aside. */
#define SHELVES_BEFORE_18                                                                          \
    STAND_INS_BEFORE_19                                                                            \
    "DROP INDEX own_shelves_app; ALTER TABLE own_shelves RENAME TO shelves_kept;"                  \
    "DROP TABLE shelf_secret;"

/* Members of slide groups as they were before 16, of no app; those of now are kept aside. */
#define MEMBERS_BEFORE_16                                                                          \
    "DROP INDEX group_members_uuid; ALTER TABLE group_members RENAME TO members_kept;"             \
    "CREATE TABLE group_members (group_uuid BLOB NOT NULL, uuid BLOB NOT NULL,"                    \
    " PRIMARY KEY (group_uuid, uuid)) STRICT, WITHOUT ROWID;"                                      \
    "INSERT INTO group_members SELECT DISTINCT group_uuid, uuid FROM members_kept;"                \
    "CREATE INDEX group_members_uuid ON group_members (uuid);"

/* Before 17 each stack had its part's key, the cluster's own, too. */
#define PARTS_BEFORE_17                                                                            \
    "UPDATE stacks SET part_key = (SELECT key FROM clusters c WHERE c.id = cluster_id)"            \
    " WHERE part_key IS NULL;"

/* Stacks have a key of their own, in the index of those, only where it is not their cluster's. */
static void check_parts(const char *path)
{
    static const char same[] =
        "SELECT count(*) FROM stacks s JOIN clusters c ON c.id = s.cluster_id"
        " WHERE s.part_key = c.key";
    static const char merged[] = "SELECT count(*) FROM stacks WHERE part_key IS NOT NULL";
    ck_assert_int_eq(number(path, same, NULL, 0), 0);
    ck_assert_int_gt(number(path, merged, NULL, 0), 0);
}

/* The file as it was before tallies, to be brought up again. */
static void forget_tallies(const char *path)
{
    static const char sql[] = SHELVES_BEFORE_18 PARTS_BEFORE_17 MEMBERS_BEFORE_16
        "ALTER TABLE layout_claims RENAME TO claims_kept;"
        "ALTER TABLE layouts ADD COLUMN trusted INTEGER NOT NULL DEFAULT 1;"
        "DROP INDEX clusters_hidden; DROP TABLE turn_backs;"
        "DROP INDEX stacks_heft; ALTER TABLE stacks DROP COLUMN heft;"
        "DROP TABLE cluster_cubes; DROP TABLE cluster_counters;"
        "DROP TABLE cluster_devices; DROP TABLE cluster_pages;"
        "DELETE FROM sequences WHERE name LIKE 'rolled%';"
        "DROP TRIGGER stacks_counted; DROP TRIGGER stacks_uncounted;"
        "ALTER TABLE cluster_totals DROP COLUMN tally;"
        "ALTER TABLE cluster_totals DROP COLUMN stacks;"
        "PRAGMA user_version = 8";
    run_sql(path, sql);
}

/* A report of `app` that says where each image lies; `grouped`: as members of the slide group. */
static void claim_places(struct suite *s, const char *app, const uint32_t *images, size_t count,
                         bool grouped)
{
    const struct suite_report r = {.id = app, .stack = 0};
    struct write_op *op = suite_batch(app, &r, 1);
    for (size_t i = 0; i < count; i++) {
        struct op_image *image = suite_image(op, images[i], IMAGE_UUID);
        image->has_vmaddr = true;
        image->vmaddr = 0x1000u * images[i];
        image->in_group = grouped;
        image->group = suite_uuid(SUITE_GROUP);
    }
    if (grouped)
        suite_image(op, SUITE_GROUP, IMAGE_GROUP);
    suite_apply(s, op);
}

static size_t members_of(struct suite *s, const char *app)
{
    struct layout_row *rows;
    size_t count;
    const struct uuid group = suite_uuid(SUITE_GROUP);
    ck_assert_int_eq(read_group(s->reader, app, &group, &s->arena, &rows, &count, &err), ERR_OK);
    return count;
}

/* Before 15 the first app that said a place said it for all: it stays that app's where that is sure.
 * Before 16 a member of a group was everybody's: it stays where it may have come from. */
START_TEST(places_of_an_older_file_find_their_app)
{
    static const char before_15[] = SHELVES_BEFORE_18 MEMBERS_BEFORE_16
        "DROP TABLE members_kept;"
        "ALTER TABLE layouts ADD COLUMN trusted INTEGER NOT NULL DEFAULT 1;"
        "INSERT INTO layouts (uuid, vmaddr, size, trusted)"
        " SELECT uuid, min(vmaddr), 0, 0 FROM layout_claims GROUP BY uuid;"
        "DROP TABLE layout_claims; PRAGMA user_version = 14";
    static const uint32_t mine[] = {50, 52}, others[] = {51, 52}, file[] = {53};
    struct suite s;
    struct layout_claim_row *claims;
    struct layout_row *rows;
    size_t count;
    suite_open(&s, "sqlite");
    claim_places(&s, "com.a", mine, 2, true);
    claim_places(&s, "com.b", others, 2, false);
    suite_index(&s, file, 1, 1);
    run_sql(s.path, before_15);
    suite_reopen(&s);
    ck_assert_int_eq(read_layouts(s.reader, 10, &s.arena, &rows, &count, &err), ERR_OK);
    ck_assert_uint_eq(count, 1);
    ck_assert_uint_eq(rows[0].size, 0x8000);
    ck_assert_int_eq(read_layout_claims(s.reader, 10, &s.arena, &claims, &count, &err), ERR_OK);
    ck_assert_uint_eq(count, 2);
    for (size_t i = 0; i < 2; i++) {
        bool a = strcmp(claims[i].bundle_id, "com.a") == 0;
        const struct uuid uuid = suite_uuid(a ? 50 : 51);
        ck_assert(uuid_equal(&claims[i].uuid, &uuid));
        ck_assert_uint_eq(claims[i].vmaddr, a ? 0x32000 : 0x33000);
    }
    suite_index(&s, mine, 2, 1);
    suite_index(&s, others, 1, 1);
    ck_assert_uint_eq(members_of(&s, "com.a"), 2);
    ck_assert_uint_eq(members_of(&s, "com.b"), 0);
    ck_assert_uint_eq(members_of(&s, NULL), 2);
    suite_close(&s);
}
END_TEST

/* Before 18 a UUID was of whoever sent it first: that serves all; what other apps' tokens sent for it
 * does not, and is to be sent again. */
START_TEST(symbols_of_an_older_file_serve_all)
{
    static const char *const apps[] = {"com.a", "com.b", "com.a"};
    const uint32_t image[] = {1};
    const struct uuid uuid = suite_uuid(1);
    struct slice_row *rows;
    struct upload_row row;
    struct suite s;
    size_t count;
    uint64_t cut_off[2];
    suite_open(&s, "sqlite");
    for (uint32_t i = 0; i < 2; i++) { /* one waits, one was begun with */
        struct write_op *up = suite_upload(10 + i, SUITE_NOW);
        up->u.upload.bundle_id = "com.a";
        up->u.upload.bound = true;
        suite_apply_keep(&s, up);
        cut_off[i] = up->u.upload.id;
        write_op_free(up);
        struct write_op *op = write_op_new(WRITE_UPLOAD_STATE, 4096);
        op->u.upload_state = (struct op_upload_state){.id = cut_off[i],
                                                      .state = i ? UPLOAD_INDEXING : UPLOAD_QUEUED};
        suite_apply(&s, op);
    }
    for (uint32_t i = 0; i < 3; i++) {
        struct write_op *up = suite_upload(i, SUITE_NOW);
        up->u.upload.bundle_id = apps[i];
        up->u.upload.bound = true;
        suite_apply_keep(&s, up);
        struct write_op *op = suite_indexed(up->u.upload.id, image, 1, 1);
        ((struct op_slice *)op->u.upload_state.slices)->installed = i != 1;
        suite_apply(&s, op);
        write_op_free(up);
    }
    run_sql(s.path, SHELVES_BEFORE_18 "PRAGMA user_version = 17");
    suite_reopen(&s);
    ck_assert_int_eq(read_symbol_files(s.reader, "com.c", &uuid, &s.arena, &rows, &count, &err),
                     ERR_OK);
    ck_assert_uint_eq(count, 3);
    for (size_t i = 0; i < count; i++) {
        bool others = strcmp(rows[i].bundle_id, "com.b") == 0;
        ck_assert(!rows[i].bound && rows[i].indexed == !others && rows[i].lost == others);
    }
    ck_assert(rows[0].current);
    for (size_t i = 0; i < 2; i++) {
        ck_assert_int_eq(read_upload(s.reader, cut_off[i], &s.arena, &row, &err), ERR_OK);
        ck_assert_msg(row.bound, "%zu", i);
    }
    suite_close(&s);
}
END_TEST

START_TEST(tallies_of_an_older_file_are_counted)
{
    struct suite a, b;
    struct history h;
    char copy[128];
    suite_open(&a, "memory");
    suite_open(&b, "sqlite");
    history_init(&h, 2000);
    for (int step = 0; step < 60; step++)
        history_step(&h, &a, &b);
    check_parts(b.path);
    forget_tallies(b.path);
    suite_reopen(&b);
    ck_assert_int_eq(storage_upgrade(b.storage)->from, 8);
    ck_assert_int_eq(storage_upgrade(b.storage)->to, SQL_MIGRATIONS);
    run_sql(b.path, "DROP TABLE layout_claims; ALTER TABLE claims_kept RENAME TO layout_claims;"
                    "DROP TABLE group_members; ALTER TABLE members_kept RENAME TO group_members;"
                    "CREATE INDEX group_members_uuid ON group_members (uuid);"
                    "DROP TABLE own_shelves; ALTER TABLE shelves_kept RENAME TO own_shelves;"
                    "CREATE INDEX own_shelves_app ON own_shelves (bundle_id);"
                    "DROP TABLE stand_ins; ALTER TABLE stand_ins_kept RENAME TO stand_ins;"
                    "CREATE INDEX stand_ins_used ON stand_ins (stand_in)");
    check_whole(b.path);
    check_parts(b.path);
    ck_assert_uint_gt(check_tallies(b.path), 0);
    ck_assert_uint_gt(check_rollups(b.path), 0);
    for (int step = 0; step < 30; step++)
        history_step(&h, &a, &b);
    check_whole(b.path);
    ck_assert_uint_gt(check_tallies(b.path), 0);
    roll_up(&b);
    ck_assert_uint_gt(check_rollups(b.path), 0);
    snprintf(copy, sizeof(copy), "%s.before-9", b.path);
    ck_assert_int_eq(unlink(copy), 0); /* one, however many migrations */
    history_done(&h);
    suite_close(&a);
    suite_close(&b);
}
END_TEST

START_TEST(counters_add_up_after_any_history)
{
    struct suite a, b;
    struct history h;
    suite_open(&a, "memory");
    suite_open(&b, "sqlite");
    history_init(&h, (uint64_t)_i + 1000);
    for (int step = 0; step < 120; step++)
        history_step(&h, &a, &b);
    check_whole(b.path);
    ck_assert_uint_gt(check_tallies(b.path), 0);
    roll_up(&b);
    ck_assert_uint_gt(check_rollups(b.path), 0);
    ck_assert_int_gt(number(b.path, "SELECT count(*) FROM cluster_counters", NULL, 0), 0);
    history_done(&h);
    suite_close(&a);
    suite_close(&b);
}
END_TEST

/* What is derived and cannot be read is done without: answers are the same, writing goes on. */
START_TEST(damaged_cubes_are_done_without)
{
    struct suite a, b;
    struct history h;
    suite_open(&a, "memory");
    suite_open(&b, "sqlite");
    history_init(&h, 3000);
    for (int step = 0; step < 60; step++)
        history_step(&h, &a, &b);
    roll_up(&b);
    ck_assert_int_gt(number(b.path, "SELECT count(*) FROM cluster_cubes", NULL, 0), 1);
    run_sql(b.path, "UPDATE cluster_cubes SET cube = substr(cube, 1, length(cube) - 1)");
    for (int step = 0; step < 60; step++)
        history_step(&h, &a, &b);
    roll_up(&b);
    check_whole(b.path);
    history_done(&h);
    suite_close(&a);
    suite_close(&b);
}
END_TEST

static void post(struct suite *s, uint32_t i)
{
    char id[16];
    snprintf(id, sizeof(id), "r%u", i);
    const struct suite_report r = {.id = id, .stack = i % 37};
    suite_apply(s, suite_batch(SUITE_APP, &r, 1));
}

/* Writes groups, saying the number of each committed one, until it is killed. */
static void write_until_killed(const char *path, int out)
{
    struct suite s = {.path = "", .dir = ""};
    s.options = (struct storage_options){.backend = "sqlite",
                                         .path = path,
                                         .synchronous_full = true,
                                         .busy_ms = 2000,
                                         .retry_days = 3,
                                         .daily_values = 1000,
                                         .migrate = true};
    arena_init(&s.arena, (size_t)1 << 26);
    suite_reopen(&s);
    for (uint32_t i = 0;; i++) {
        post(&s, i);
        if (write(out, &i, sizeof(i)) != (ssize_t)sizeof(i))
            _exit(1);
        if (i % 9 == 8)
            suite_resolve(&s);
    }
}

START_TEST(kill_minus_nine_loses_nothing_answered)
{
    struct suite s;
    struct report_row r;
    struct stats_row stats;
    int fds[2];
    char id[16];
    uint32_t answered = 0;
    uint32_t n;
    suite_open(&s, "sqlite");
    ck_assert_int_eq(pipe(fds), 0);
    pid_t pid = fork();
    if (pid == 0)
        write_until_killed(s.path, fds[1]);
    close(fds[1]);
    while (answered < 60 + 17 * (uint32_t)_i && read(fds[0], &n, sizeof(n)) == (ssize_t)sizeof(n))
        answered = n + 1;
    kill(pid, SIGKILL);
    while (read(fds[0], &n, sizeof(n)) == (ssize_t)sizeof(n))
        answered = n + 1;
    waitpid(pid, NULL, 0);
    close(fds[0]);
    suite_reopen(&s);
    for (uint32_t i = 0; i < answered; i++) {
        snprintf(id, sizeof(id), "r%u", i);
        ck_assert_int_eq(read_report(s.reader, SUITE_APP, id, &s.arena, &r, &err), ERR_OK);
    }
    ck_assert_int_eq(read_stats(s.reader, NULL, &stats, &err), ERR_OK);
    ck_assert(stats.reports == answered || stats.reports == answered + 1);
    /* The client that got no answer sends it again: it counts once. */
    post(&s, answered);
    ck_assert_int_eq(read_stats(s.reader, NULL, &stats, &err), ERR_OK);
    ck_assert_uint_eq(stats.reports, answered + 1);
    check_whole(s.path);
    suite_close(&s);
}
END_TEST

/* An op may touch more pages than SQLite's own limit of a piece of memory, and succeeds. */
START_TEST(large_ops_can_be_taken_back)
{
    static const char *const steps[] = {
        "CREATE TABLE t (id INTEGER PRIMARY KEY, data BLOB)",
        ("WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 8000) "
         "INSERT INTO t SELECT i, zeroblob(3000) FROM n"),
        "BEGIN; SAVEPOINT op; UPDATE t SET data = zeroblob(2999)",
        "ROLLBACK TO op; UPDATE t SET data = zeroblob(2998); RELEASE op; COMMIT",
    };
    struct suite s;
    suite_open(&s, "sqlite");
    sqlite3 *db = sqlite_of(s.storage)->conn.db;
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++)
        ck_assert_msg(sqlite3_exec(db, steps[i], NULL, NULL, NULL) == SQLITE_OK, "%s: %s", steps[i],
                      sqlite3_errmsg(db));
    ck_assert_int_eq(number(s.path, "SELECT sum(length(data)) FROM t", NULL, 0), 8000 * 2998);
    suite_close(&s);
}
END_TEST

/* What will be found out about a report has its place, and goes with it. */
START_TEST(findings_go_with_their_report)
{
    struct suite s;
    suite_open(&s, "sqlite");
    post(&s, 1);
    suite_resolve(&s);
    sqlite3 *db;
    ck_assert_int_eq(sqlite3_open(s.path, &db), SQLITE_OK);
    ck_assert_int_eq(sqlite3_exec(db,
                                  "PRAGMA foreign_keys = ON; INSERT INTO report_findings"
                                  " SELECT id, stack_id, 1, 300, 900, 500000, '[0,2]' FROM reports",
                                  NULL, NULL, NULL),
                     SQLITE_OK);
    sqlite3_close(db);
    ck_assert_int_eq(number(s.path, "SELECT count(*) FROM report_findings", NULL, 0), 1);
    struct write_op *op = write_op_new(WRITE_EXPIRE, 4096);
    op->u.expire = (struct op_expire){.now_ms = SUITE_NOW,
                                      .reports_before_ms = SUITE_NOW + 86400000,
                                      .report_ids_before_ms = SUITE_NOW,
                                      .image_sets_before_ms = SUITE_NOW,
                                      .max_rows = 100};
    suite_apply(&s, op);
    ck_assert_int_eq(number(s.path, "SELECT count(*) FROM reports", NULL, 0), 0);
    ck_assert_int_eq(number(s.path, "SELECT count(*) FROM report_findings", NULL, 0), 0);
    suite_close(&s);
}
END_TEST

static enum err open_path(const char *path)
{
    struct storage *s = NULL;
    const struct storage_options o = {.backend = "sqlite",
                                      .path = path,
                                      .busy_ms = 100,
                                      .retry_days = 3,
                                      .daily_values = 10,
                                      .migrate = true};
    enum err rc = storage_open(&o, &s, &err);
    ck_assert_int_eq(rc == ERR_OK, s != NULL);
    storage_close(s);
    return rc;
}

START_TEST(other_files_are_refused)
{
    struct suite s;
    char path[128], sql[64];
    suite_open(&s, "sqlite");
    post(&s, 1);
    storage_reader_close(s.reader);
    storage_close(s.storage);
    s.reader = NULL;
    s.storage = NULL;
    /* A newer program's. */
    sqlite3 *db;
    sqlite3_open(s.path, &db);
    sqlite3_exec(db, "PRAGMA user_version = 99", NULL, NULL, NULL);
    sqlite3_close(db);
    ck_assert_int_eq(open_path(s.path), ERR_UNSUPPORTED);
    ck_assert_ptr_nonnull(strstr(err.text, "newer program"));
    /* Ours, but a table is gone. */
    sqlite3_open(s.path, &db);
    snprintf(sql, sizeof(sql), "PRAGMA user_version = %d; DROP TABLE tokens", SQL_MIGRATIONS);
    sqlite3_exec(db, sql, NULL, NULL, NULL);
    sqlite3_close(db);
    ck_assert_int_eq(open_path(s.path), ERR_FORMAT);
    ck_assert_ptr_nonnull(strstr(err.text, "tokens"));
    /* Cut off. */
    ck_assert_int_eq(truncate(s.path, 8192), 0);
    ck_assert_int_eq(open_path(s.path), ERR_FORMAT);
    /* No database at all. */
    int fd = open(s.path, O_WRONLY | O_TRUNC);
    for (int i = 0; i < 500; i++)
        ck_assert_int_eq(write(fd, "this is no database\n", 20), 20);
    close(fd);
    ck_assert_int_eq(open_path(s.path), ERR_FORMAT);
    ck_assert_ptr_nonnull(strstr(err.text, "no SQLite database"));
    /* A folder, and a place in no folder. */
    ck_assert_int_eq(open_path(s.dir), ERR_IO);
    snprintf(path, sizeof(path), "%s/none/x.db", s.dir);
    ck_assert_int_eq(open_path(path), ERR_IO);
    suite_close(&s);
}
END_TEST

START_TEST(a_folder_that_cannot_be_written)
{
    struct suite s;
    suite_open(&s, "sqlite");
    post(&s, 1);
    storage_reader_close(s.reader);
    storage_close(s.storage);
    ck_assert_int_eq(chmod(s.path, 0444), 0);
    ck_assert_int_eq(chmod(s.dir, 0555), 0);
    pid_t pid = fork();
    if (pid == 0) {
        if (geteuid() == 0 && setresuid(65534, 65534, 65534))
            _exit(3);
        _exit(open_path(s.path) == ERR_IO && strstr(err.text, "written") ? 0 : 1);
    }
    int status;
    waitpid(pid, &status, 0);
    ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 0, "exit %d", WEXITSTATUS(status));
    chmod(s.dir, 0755);
    chmod(s.path, 0644);
    s.reader = NULL;
    s.storage = NULL;
    suite_close(&s);
}
END_TEST

/* Groups of reports until one fails; how many were committed. */
static uint32_t write_until_failure(struct suite *s, uint32_t first, enum err *ret)
{
    for (uint32_t i = first;; i++) {
        char id[16];
        snprintf(id, sizeof(id), "r%u", i);
        const struct suite_report r = {.id = id, .stack = i, .samples = 20};
        struct write_op *op = suite_batch(SUITE_APP, &r, 1);
        *ret = storage_begin(s->storage, &err);
        if (!*ret) {
            *ret = storage_apply(s->storage, op, &err);
            struct error commit_err = {0};
            enum err rc = storage_commit(s->storage, &commit_err);
            if (!*ret && rc) {
                *ret = rc;
                err = commit_err;
            }
        }
        write_op_free(op);
        if (*ret)
            return i;
        ck_assert_uint_lt(i, 100000);
    }
}

START_TEST(a_full_disk_loses_one_group)
{
    struct suite s;
    struct stats_row stats;
    struct rlimit limit;
    enum err rc;
    signal(SIGXFSZ, SIG_IGN);
    suite_open(&s, "sqlite");
    post(&s, 1000000);
    ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &limit), 0);
    rlim_t soft = limit.rlim_cur;
    limit.rlim_cur = (rlim_t)1 << 20;
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
    uint32_t done = write_until_failure(&s, 0, &rc);
    ck_assert_int_eq(rc, ERR_IO);
    ck_assert_ptr_nonnull(strstr(err.text, "the disk"));
    ck_assert_int_eq(read_stats(s.reader, NULL, &stats, &err), ERR_OK);
    ck_assert_uint_eq(stats.reports, done + 1);
    /* Still full: still an error, still no harm. */
    ck_assert_uint_eq(write_until_failure(&s, done, &rc), done);
    ck_assert_int_eq(rc, ERR_IO);
    limit.rlim_cur = soft;
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
    post(&s, done);
    ck_assert_int_eq(read_stats(s.reader, NULL, &stats, &err), ERR_OK);
    ck_assert_uint_eq(stats.reports, done + 2);
    suite_resolve(&s);
    check_whole(s.path);
    suite_close(&s);
}
END_TEST

START_TEST(another_writer_is_waited_for)
{
    struct suite s;
    sqlite3 *other;
    suite_open(&s, "sqlite");
    s.options.busy_ms = 50;
    suite_reopen(&s);
    sqlite3_open(s.path, &other);
    ck_assert_int_eq(sqlite3_exec(other, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
    ck_assert_int_eq(storage_begin(s.storage, &err), ERR_BUSY);
    ck_assert_int_eq(sqlite3_exec(other, "COMMIT", NULL, NULL, NULL), SQLITE_OK);
    ck_assert_int_eq(storage_begin(s.storage, &err), ERR_OK);
    ck_assert_int_eq(storage_commit(s.storage, &err), ERR_OK);
    sqlite3_close(other);
    suite_close(&s);
}
END_TEST

/* The op of one report, received so many days after SUITE_NOW. */
static struct write_op *received(const char *id, int64_t days)
{
    const struct suite_report r = {.id = id, .received_ms = SUITE_NOW + days * CLOCK_DAY_MS};
    return suite_batch(SUITE_APP, &r, 1);
}

/* After a start each report is looked for in every day that is not learnt. */
START_TEST(ids_of_days_that_are_over_are_learnt_at_once)
{
    char id[20];
    struct suite s;
    suite_open(&s, "sqlite");
    for (int64_t day = 0; day < 5; day++) {
        snprintf(id, sizeof(id), "r%d", (int)day);
        suite_apply(&s, received(id, day));
    }
    suite_reopen(&s);
    suite_apply(&s, received("r5", 5));
    const struct id_days *d = &sqlite_of(s.storage)->id_days;
    ck_assert_uint_eq(d->count, 6);
    for (size_t i = 0; i < d->count; i++)
        ck_assert(d->days[i].learnt);
    suite_apply(&s, received("r1", 5));
    ck_assert_int_eq(number(s.path, "SELECT count(*) FROM reports", NULL, 0), 6);
    suite_close(&s);
}
END_TEST

/* Answers wait for it: so many ids a commit, however fast or slow the disk is. */
START_TEST(a_commit_learns_so_many_ids)
{
    static const size_t ranges[] = {4, 7}; /* the last one is not full */
    const int64_t ids = 6 * ID_DAYS_STEP + 1;
    char sql[400];
    struct suite s;
    suite_open(&s, "sqlite");
    suite_apply(&s, received("r3", 3));
    snprintf(
        sql, sizeof(sql),
        "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %lld) INSERT "
        "INTO report_ids (day, hash, report_id) SELECT (SELECT min(day) FROM new_ids), "
        "randomblob(16), -i FROM n",
        (long long)ids);
    ck_assert_int_eq(sqlite3_exec(sqlite_of(s.storage)->conn.db, sql, NULL, NULL, NULL), SQLITE_OK);
    suite_reopen(&s);
    const struct id_days *d = &sqlite_of(s.storage)->id_days;
    for (int commit = 0; commit < 2; commit++) {
        suite_apply(&s, received(commit ? "r5" : "r4", 5));
        size_t learnt = 0;
        for (size_t i = 0; i < d->count; i++)
            learnt += d->days[i].count;
        ck_assert_uint_eq(learnt, ranges[commit]);
    }
    suite_close(&s);
}
END_TEST

/* B56: the log must not grow for ever; a reader that stopped half-way must not hold it. */
START_TEST(the_log_is_checkpointed)
{
    struct suite s;
    struct cluster_row *rows;
    const char *next;
    size_t count;
    uint64_t wal = 1;
    suite_open(&s, "sqlite");
    for (uint32_t i = 0; i < 300; i++) {
        post(&s, i);
        ck_assert_int_eq(read_clusters(s.reader, NULL, SORT_COUNT, 1, NULL, &s.arena, &rows, &count,
                                       &next, &err),
                         ERR_OK);
    }
    ck_assert_uint_gt(storage_wal_bytes(s.storage), 100000);
    ck_assert_int_eq(storage_checkpoint(s.storage, false, &wal, &err), ERR_OK);
    ck_assert_uint_eq(wal, 0);
    ck_assert_uint_eq(storage_wal_bytes(s.storage), 0);
    post(&s, 300);
    ck_assert_uint_gt(storage_wal_bytes(s.storage), 0);
    ck_assert_uint_lt(storage_wal_bytes(s.storage), 200000);
    ck_assert_int_eq(storage_checkpoint(s.storage, true, &wal, &err), ERR_OK);
    char path[128];
    struct stat st;
    snprintf(path, sizeof(path), "%s-wal", s.path);
    ck_assert_int_eq(stat(path, &st), 0);
    ck_assert_int_eq(st.st_size, 0);
    /* The file says so itself when it is closed in order. */
    suite_reopen(&s);
    ck_assert_int_eq(storage_upgrade(s.storage)->from, SQL_MIGRATIONS);
    ck_assert_str_eq(storage_upgrade(s.storage)->copy, "");
    check_whole(s.path);
    suite_close(&s);
}
END_TEST

/* --- a VFS in which something happens while a checkpoint syncs the database ------------------- */

static sqlite3_io_methods watched;
static const sqlite3_io_methods *plain;
static struct suite *commits_at_sync; /* once; NULL: nobody */

static int sync_late(sqlite3_file *file, int flags)
{
    struct suite *s = commits_at_sync;
    commits_at_sync = NULL;
    if (s)
        post(s, 1000);
    return plain->xSync(file, flags);
}

static int open_watched(sqlite3_vfs *vfs, sqlite3_filename name, sqlite3_file *file, int flags,
                        int *ret_flags)
{
    sqlite3_vfs *system = vfs->pAppData;
    int rc = system->xOpen(system, name, file, flags, ret_flags);
    if (rc == SQLITE_OK && (flags & SQLITE_OPEN_MAIN_DB)) {
        plain = file->pMethods;
        watched = *plain;
        watched.xSync = sync_late;
        file->pMethods = &watched;
    }
    return rc;
}

static void watch_syncs(void)
{
    static sqlite3_vfs vfs;
    sqlite3_vfs *system = sqlite3_vfs_find(NULL);
    vfs = *system;
    vfs.pNext = NULL;
    vfs.zName = "watching";
    vfs.pAppData = system;
    vfs.xOpen = open_watched;
    sqlite3_vfs_register(&vfs, 1);
}

/* What is committed while the rest is copied is in the log still, and is said to be. */
START_TEST(a_commit_beside_a_checkpoint_is_left)
{
    struct suite s;
    uint64_t wal = 0;
    suite_open(&s, "sqlite");
    post(&s, 1);
    commits_at_sync = &s;
    ck_assert_int_eq(storage_checkpoint(s.storage, false, &wal, &err), ERR_OK);
    ck_assert_ptr_null(commits_at_sync);
    ck_assert_uint_gt(wal, 0);
    ck_assert_uint_eq(storage_wal_bytes(s.storage), wal);
    ck_assert_int_eq(storage_checkpoint(s.storage, false, &wal, &err), ERR_OK);
    ck_assert_uint_eq(wal, 0);
    ck_assert_uint_eq(storage_wal_bytes(s.storage), 0);
    suite_close(&s);
}
END_TEST

/* --- between a commit's giving up the lock and its being told ---------------------------------- */

static enum err checkpointed;

static int checkpoint_now(unsigned what, void *ctx, void *statement, void *ns)
{
    struct suite *s = ctx;
    uint64_t left = 0;
    (void)what;
    (void)ns;
    if (strcmp(sqlite3_sql(statement), "COMMIT;") == 0)
        checkpointed = storage_checkpoint(s->storage, true, &left, &err);
    return 0;
}

/* SQLite calls that when the commit is done, and what it is told by after it. */
static void post_and_checkpoint(struct suite *s, uint32_t n)
{
    sqlite3 *writer = sqlite_of(s->storage)->conn.db;
    checkpointed = ERR_INTERNAL;
    sqlite3_trace_v2(writer, SQLITE_TRACE_PROFILE, checkpoint_now, s);
    post(s, n);
    sqlite3_trace_v2(writer, 0, NULL, NULL);
}

/* It was taken for one that somebody cut. */
START_TEST(a_log_truncated_beside_a_commit_is_whole)
{
    struct suite s;
    uint64_t left = 1;
    suite_open(&s, "sqlite");
    post_and_checkpoint(&s, 1);
    ck_assert_int_eq(checkpointed, ERR_OK);
    ck_assert_uint_eq(storage_wal_bytes(s.storage), 0);
    ck_assert_int_eq(storage_checkpoint(s.storage, true, &left, &err), ERR_OK);
    ck_assert_uint_eq(left, 0);
    post(&s, 2);
    ck_assert_uint_gt(storage_wal_bytes(s.storage), 0);
    check_whole(s.path);
    suite_close(&s);
}
END_TEST

/* So was a long one which the commit that began it anew cut itself. */
START_TEST(a_long_log_that_begins_anew_is_whole)
{
    const int64_t kept = 20000;
    struct suite s;
    suite_open(&s, "sqlite");
    struct sqlite_storage *sqlite = sqlite_of(s.storage);
    ck_assert_int_eq(sqlite->log_kept, 512 << 20);
    sqlite->log_kept = kept;
    ck_assert_int_eq(
        sqlite3_exec(sqlite->conn.db, "PRAGMA journal_size_limit = 20000", NULL, NULL, NULL),
        SQLITE_OK);
    for (uint32_t i = 0; i < 30; i++)
        post(&s, i);
    ck_assert_uint_gt(storage_wal_bytes(s.storage), 2 * kept);
    run_sql(s.path, "PRAGMA wal_checkpoint");
    post_and_checkpoint(&s, 30);
    ck_assert_int_eq(checkpointed, ERR_OK);
    check_whole(s.path);
    suite_close(&s);
}
END_TEST

/* ---------------------------------------------------------------------------------------------- */

/* Another program empties the log in order: nothing is lost, it goes on. */
START_TEST(the_log_is_emptied_by_another)
{
    struct suite s;
    sqlite3 *other;
    suite_open(&s, "sqlite");
    post(&s, 1);
    sqlite3_open(s.path, &other);
    ck_assert_int_eq(sqlite3_exec(other, "PRAGMA wal_checkpoint(TRUNCATE)", NULL, NULL, NULL),
                     SQLITE_OK);
    sqlite3_close(other);
    post(&s, 2);
    suite_reopen(&s);
    check_whole(s.path);
    suite_close(&s);
}
END_TEST

/* SQLite would say that all is well: nothing is answered for that the next start does not find. */
START_TEST(files_under_the_hand_of_somebody)
{
    struct suite s;
    struct stats_row stats;
    char log[160], away[160];
    uint64_t left = 0;
    suite_open(&s, "sqlite");
    snprintf(log, sizeof(log), "%s-wal", s.path);
    snprintf(away, sizeof(away), "%s.away", s.path);
    post(&s, 1);
    ck_assert_int_eq(rename(s.path, away), 0);
    ck_assert_int_eq(storage_begin(s.storage, &err), ERR_IO);
    ck_assert_ptr_nonnull(strstr(err.text, "moved or removed"));
    ck_assert_int_eq(rename(away, s.path), 0);
    post(&s, 2);
    /* Away while a group is open: it is not committed. */
    ck_assert_int_eq(storage_begin(s.storage, &err), ERR_OK);
    ck_assert_int_eq(rename(log, away), 0);
    ck_assert_int_eq(storage_commit(s.storage, &err), ERR_IO);
    ck_assert_ptr_nonnull(strstr(err.text, "write-ahead log was moved"));
    ck_assert_int_eq(rename(away, log), 0);
    post(&s, 3);
    /* Without its name its pages are in the file all the same. */
    ck_assert_int_eq(unlink(log), 0);
    ck_assert_int_eq(storage_begin(s.storage, &err), ERR_IO);
    suite_reopen(&s);
    ck_assert_int_eq(read_stats(s.reader, NULL, &stats, &err), ERR_OK);
    ck_assert_uint_eq(stats.reports, 3);
    check_whole(s.path);
    /* Cut, with pages that nobody has: for good, and nothing of it is copied. */
    post(&s, 4);
    ck_assert_int_eq(truncate(log, 0), 0);
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(storage_begin(s.storage, &err), ERR_IO);
        ck_assert_ptr_nonnull(strstr(err.text, "was cut"));
        ck_assert_int_eq(storage_checkpoint(s.storage, true, &left, &err), ERR_IO);
    }
    suite_reopen(&s);
    ck_assert_int_eq(read_stats(s.reader, NULL, &stats, &err), ERR_OK);
    ck_assert_uint_eq(stats.reports, 3);
    post(&s, 5);
    /* The same beside a commit, whose pages stand behind a hole. */
    struct stat st;
    ck_assert_int_eq(stat(log, &st), 0);
    ck_assert_int_eq(truncate(log, 0), 0);
    ck_assert_int_eq(truncate(log, st.st_size), 0);
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(storage_checkpoint(s.storage, i, &left, &err), ERR_IO);
        ck_assert_int_eq(storage_begin(s.storage, &err), ERR_IO);
        ck_assert_ptr_nonnull(strstr(err.text, "was cut"));
    }
    suite_reopen(&s);
    post(&s, 6);
    check_whole(s.path);
    suite_close(&s);
}
END_TEST

/* A deadline stops a query that is under way. */
START_TEST(a_long_query_is_stopped)
{
    struct suite s;
    struct stats_row stats;
    suite_open(&s, "sqlite");
    for (uint32_t i = 0; i < 50; i++)
        post(&s, i);
    struct sqlite_reader *r = (struct sqlite_reader *)s.reader;
    storage_reader_deadline(s.reader, INT64_MAX - 1);
    sqlite3_stmt *st;
    ck_assert_int_eq(sqlite3_prepare_v2(r->conn.db,
                                        "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 "
                                        "FROM n) SELECT count(*) FROM n",
                                        -1, &st, NULL),
                     SQLITE_OK);
    r->deadline_mono_ms = 0;
    ck_assert_int_eq(sqlite3_step(st) & 0xff, SQLITE_INTERRUPT);
    ck_assert_int_eq(sql_error(&r->conn, SQLITE_INTERRUPT, "x", &err), ERR_LIMIT);
    ck_assert_ptr_nonnull(strstr(err.text, "query took too long"));
    sqlite3_finalize(st);
    storage_reader_deadline(s.reader, INT64_MAX);
    ck_assert_int_eq(read_stats(s.reader, NULL, &stats, &err), ERR_OK);
    /* A reader cannot write. */
    ck_assert_int_eq(sqlite3_exec(r->conn.db, "DELETE FROM tokens", NULL, NULL, NULL) & 0xff,
                     SQLITE_READONLY);
    suite_close(&s);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("sqlite_backend");
    TCase *tcase = tcase_create("sqlite_backend");
    tcase_set_timeout(tcase, 60);
    watch_syncs();
    tcase_add_loop_test(tcase, counters_add_up_after_any_history, 0, 3);
    tcase_add_test(tcase, tallies_of_an_older_file_are_counted);
    tcase_add_test(tcase, places_of_an_older_file_find_their_app);
    tcase_add_test(tcase, symbols_of_an_older_file_serve_all);
    tcase_add_test(tcase, damaged_cubes_are_done_without);
    tcase_add_loop_test(tcase, kill_minus_nine_loses_nothing_answered, 0, 3);
    tcase_add_test(tcase, findings_go_with_their_report);
    tcase_add_test(tcase, large_ops_can_be_taken_back);
    tcase_add_test(tcase, other_files_are_refused);
    tcase_add_test(tcase, a_folder_that_cannot_be_written);
    tcase_add_test(tcase, a_full_disk_loses_one_group);
    tcase_add_test(tcase, another_writer_is_waited_for);
    tcase_add_test(tcase, ids_of_days_that_are_over_are_learnt_at_once);
    tcase_add_test(tcase, a_commit_learns_so_many_ids);
    tcase_add_test(tcase, the_log_is_checkpointed);
    tcase_add_test(tcase, a_commit_beside_a_checkpoint_is_left);
    tcase_add_test(tcase, a_log_truncated_beside_a_commit_is_whole);
    tcase_add_test(tcase, a_long_log_that_begins_anew_is_whole);
    tcase_add_test(tcase, the_log_is_emptied_by_another);
    tcase_add_test(tcase, files_under_the_hand_of_somebody);
    tcase_add_test(tcase, a_long_query_is_stopped);
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
