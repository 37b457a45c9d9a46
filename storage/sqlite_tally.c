#include "storage/sqlite_tally.h"

#include <stdlib.h>
#include <string.h>

/* --- in SQL --------------------------------------------------------------------------------- */

static bool add_value(struct tally *t, sqlite3_value *v)
{
    const void *data = sqlite3_value_blob(v);
    return tally_add_encoded(t, data, (size_t)sqlite3_value_bytes(v));
}

static void give_result(sqlite3_context *ctx, const struct tally *t, bool ok)
{
    struct buf out;
    buf_init(&out, TALLY_BYTES);
    if (ok && tally_encode(t, &out))
        sqlite3_result_blob(ctx, out.len ? out.data : "", (int)out.len, SQLITE_TRANSIENT);
    else
        sqlite3_result_error(ctx, "a tally is damaged", -1);
    buf_done(&out);
}

static void merge_function(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
    struct tally t = {0};
    bool ok = true;
    for (int i = 0; i < argc && ok; i++)
        ok = add_value(&t, argv[i]);
    give_result(ctx, &t, ok);
    tally_done(&t);
}

static void take_function(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
    struct tally t = {0};
    struct tally less = {0};
    const bool ok = argc == 2 && add_value(&t, argv[0]) && add_value(&less, argv[1]);
    tally_take(&t, &less);
    give_result(ctx, &t, ok);
    tally_done(&t);
    tally_done(&less);
}

static void sum_step(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
    struct tally *t = sqlite3_aggregate_context(ctx, sizeof(*t));
    const int kind = argc == 3 ? sqlite3_value_int(argv[0]) : -1;
    if (!t || kind < 0 || kind >= TALLY_KINDS ||
        !tally_add(t, (enum tally_kind)kind, sqlite3_value_int64(argv[1]),
                   sqlite3_value_int64(argv[2])))
        sqlite3_result_error_nomem(ctx);
}

static void sum_end(sqlite3_context *ctx)
{
    static const struct tally none;
    struct tally *t = sqlite3_aggregate_context(ctx, 0);
    give_result(ctx, t ? t : &none, true);
    if (t)
        tally_done(t);
}

int sqlite_tally_functions(sqlite3 *db)
{
    const int flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_DIRECTONLY;
    int rc = sqlite3_create_function_v2(db, "tally_merge", 2, flags, NULL, merge_function, NULL,
                                        NULL, NULL);
    if (!rc)
        rc = sqlite3_create_function_v2(db, "tally_take", 2, flags, NULL, take_function, NULL, NULL,
                                        NULL);
    if (!rc)
        rc = sqlite3_create_function_v2(db, "tally_sum", 3, flags, NULL, NULL, sum_step, sum_end,
                                        NULL);
    return rc;
}

/* --- rows of clusters ------------------------------------------------------------------------- */

struct pair {
    const char *value, *value2;
};

static int by_text(const void *a, const void *b)
{
    const struct pair *x = a;
    const struct pair *y = b;
    const int n = strcmp(x->value, y->value);
    return n ? n : strcmp(x->value2, y->value2);
}

/* The texts of a kind's ids, in order; empty ones left out. */
static enum err texts_of(struct sqlite_reader *r, const struct tally *t, enum tally_kind kind,
                         struct arena *arena, struct pair **ret, size_t *ret_count,
                         struct error *err)
{
    size_t n;
    size_t kept = 0;
    bool failed = false;
    const struct tally_entry *e = tally_of(t, kind, &n);
    struct pair *pairs = arena_array(arena, n + 1, sizeof(*pairs));
    if (!pairs)
        return error_set(err, ERR_NO_MEMORY, "no memory for an answer");
    for (size_t i = 0; i < n; i++) {
        bool row = false;
        sqlite3_stmt *st = sql_start(&r->conn, SQL_DICT_TEXT, err, sql_int(e[i].id));
        enum err rc = st ? sql_step(&r->conn, st, &row, err) : err->code;
        if (rc || !row)
            return rc ? rc : error_set(err, ERR_FORMAT, "a tally has a value that is not there");
        pairs[kept].value = sql_column_text(st, 0, arena, &failed);
        pairs[kept].value2 = sql_column_text(st, 1, arena, &failed);
        sql_end(st);
        if (failed)
            return error_set(err, ERR_NO_MEMORY, "no memory for an answer");
        kept += *pairs[kept].value != 0;
    }
    if (kept)
        qsort(pairs, kept, sizeof(*pairs), by_text);
    *ret = pairs;
    *ret_count = kept;
    return ERR_OK;
}

static size_t distinct_values(const struct pair *p, size_t count)
{
    size_t n = count != 0;
    for (size_t i = 1; i < count; i++)
        n += strcmp(p[i - 1].value, p[i].value) != 0;
    return n;
}

enum err sqlite_tally_show(struct sqlite_reader *r, const struct tally *t, struct arena *arena,
                           struct cluster_row *c, struct error *err)
{
    struct pair *devices = NULL;
    struct pair *builds = NULL;
    size_t device_count = 0;
    size_t build_count = 0;
    size_t day_count;
    const struct tally_entry *days = tally_of(t, TALLY_DAYS, &day_count);
    for (size_t i = 0; i < day_count; i++) {
        const int64_t at = days[i].id - c->trend[0].day;
        if (at >= 0 && at < TREND_DAYS)
            c->trend[at].count = (uint64_t)days[i].count;
    }
    enum err rc = texts_of(r, t, TALLY_DEVICES, arena, &devices, &device_count, err);
    if (!rc)
        rc = texts_of(r, t, TALLY_BUILDS, arena, &builds, &build_count, err);
    if (rc)
        return rc;
    c->devices = distinct_values(devices, device_count);
    c->versions = distinct_values(builds, build_count);
    for (size_t i = 0; i < build_count; i++)
        cluster_release(c, builds[i].value, builds[i].value2);
    return ERR_OK;
}
