/* Reads for /v1/stats. */
#include <math.h>
#include <string.h>

#include "storage/sqlite_stacks.h"
#include "storage/symbolication.h"

/* The columns of a query's only row. */
static enum err numbers(struct sqlite_reader *r, enum sql_query q, const struct sql_value *values,
                        size_t value_count, int64_t *ret, size_t count, struct error *err)
{
    bool row = false;
    sqlite3_stmt *st = sql_bind(&r->conn, q, values, value_count, err);
    enum err rc = st ? sql_step(&r->conn, st, &row, err) : err->code;
    if (rc)
        return rc;
    for (size_t i = 0; i < count; i++)
        ret[i] = row ? sqlite3_column_int64(st, (int)i) : 0;
    sql_end(st);
    return ERR_OK;
}

enum err sqlite_read_stats(struct storage_reader *base, const char *bundle_id,
                           struct stats_row *ret, struct error *err)
{
    struct sqlite_reader *r = sqlite_reader_of(base);
    const struct sql_value app = sql_text(bundle_id);
    int64_t apps[2], pending, clusters, symbols, uploads, findings, bytes, used;
    enum err rc = numbers(r, SQL_STATS_APPS, &app, 1, apps, 2, err);
    if (!rc)
        rc = numbers(r, SQL_STATS_PENDING, &app, 1, &pending, 1, err);
    if (!rc)
        rc = numbers(r, SQL_STATS_CLUSTERS, &app, 1, &clusters, 1, err);
    if (!rc)
        rc = numbers(r, SQL_STATS_SYMBOLS, &app, 1, &symbols, 1, err);
    if (!rc)
        rc = numbers(r, SQL_STATS_UPLOADS, &app, 1, &uploads, 1, err);
    if (!rc)
        rc = numbers(r, SQL_STATS_FINDINGS, &app, 1, &findings, 1, err);
    if (!rc)
        rc = numbers(r, SQL_STATS_BYTES, NULL, 0, &bytes, 1, err);
    if (!rc)
        rc = numbers(r, SQL_USED_BYTES, NULL, 0, &used, 1, err);
    if (rc)
        return rc;
    *ret = (struct stats_row){
        .apps = (uint64_t)apps[0],
        .reports = (uint64_t)apps[1],
        .pending_stacks = (uint64_t)pending,
        .clusters = (uint64_t)clusters,
        .symbol_files = (uint64_t)symbols,
        .uploads_waiting = (uint64_t)uploads,
        .pending_findings = (uint64_t)findings,
        .database_bytes = (uint64_t)bytes,
        .database_used_bytes = (uint64_t)used,
        .wal_bytes = storage_wal_bytes(&r->storage->base),
    };
    return ERR_OK;
}

enum err sqlite_read_stack_totals(struct storage_reader *base, const char *bundle_id,
                                  struct stack_totals *ret, struct error *err)
{
    const struct sql_value app = sql_text(bundle_id);
    int64_t n[4];
    enum err rc = numbers(sqlite_reader_of(base), SQL_STATS_STACKS, &app, 1, n, 4, err);
    if (rc)
        return rc;
    *ret = (struct stack_totals){
        .stacks = (uint64_t)n[0],
        .provisional_stacks = (uint64_t)n[1],
        .symbolication_rate = n[2] ? (double)n[3] / (double)n[2] : (double)NAN,
    };
    return ERR_OK;
}

static enum err by_query(struct sqlite_reader *r, enum sql_query q, const char *bundle_id,
                         size_t limit, struct symbolication *s, struct error *err)
{
    bool row = true;
    enum err rc = ERR_OK;
    sqlite3_stmt *st = sql_start(&r->conn, q, err, sql_text(bundle_id), sql_int((int64_t)limit));
    if (!st)
        return err->code;
    while (!rc && !(rc = sql_step(&r->conn, st, &row, err)) && row) {
        const char *app = (const char *)sqlite3_column_text(st, 0);
        const uint64_t frames = (uint64_t)sqlite3_column_int64(st, 1);
        const uint64_t named = (uint64_t)sqlite3_column_int64(st, 2);
        if (q == SQL_SYMBOLICATION_BY_VERSION)
            rc = symbolication_add_version(s, app, (const char *)sqlite3_column_text(st, 3), frames,
                                           named, err);
        else
            rc = symbolication_add(s, app, frames, named, err);
    }
    sql_end(st);
    return rc;
}

/* See SYMBOLICATION_STACKS_MAX. */
static enum err by_image(struct sqlite_reader *r, const char *bundle_id, struct symbolication *s,
                         struct error *err)
{
    struct arena arena;
    bool row = true;
    enum err rc = ERR_OK;
    size_t frames_seen = 0;
    sqlite3_stmt *st = sql_start(&r->conn, SQL_SYMBOLICATION_STACKS, err, sql_text(bundle_id),
                                 sql_int(SYMBOLICATION_STACKS_MAX));
    if (!st)
        return err->code;
    arena_init(&arena, (size_t)16 << 20);
    while (!rc && frames_seen < SYMBOLICATION_FRAMES_MAX &&
           !(rc = sql_step(&r->conn, st, &row, err)) && row) {
        struct raw_stack raw;
        struct resolved_stack frames;
        arena_reset(&arena);
        rc = raw_stack_decode(sqlite3_column_blob(st, 1), (size_t)sqlite3_column_bytes(st, 1),
                              &arena, &raw, err);
        if (!rc)
            rc = sqlite_frames_decode(r, &raw, sqlite3_column_blob(st, 2),
                                      (size_t)sqlite3_column_bytes(st, 2), &arena, &frames, err);
        frames_seen += rc ? 0 : raw.count;
        if (!rc)
            rc = symbolication_add_stack(s, &frames, (uint64_t)sqlite3_column_int64(st, 0), err);
    }
    sql_end(st);
    arena_done(&arena);
    return rc;
}

enum err sqlite_read_symbolication(struct storage_reader *base, const char *bundle_id,
                                   const char *by, size_t limit, struct arena *arena,
                                   struct symbolication_row **ret, size_t *ret_count,
                                   struct error *err)
{
    struct sqlite_reader *r = sqlite_reader_of(base);
    struct symbolication s = {.arena = arena};
    enum err rc;
    if (strcmp(by, "app") == 0)
        rc = by_query(r, SQL_SYMBOLICATION_BY_APP, bundle_id, limit, &s, err);
    else if (strcmp(by, "version") == 0)
        rc = by_query(r, SQL_SYMBOLICATION_BY_VERSION, bundle_id, limit, &s, err);
    else
        rc = by_image(r, bundle_id, &s, err);
    if (!rc)
        symbolication_rows(&s, limit, ret, ret_count);
    return rc;
}
