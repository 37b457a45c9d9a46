#include "storage/sqlite_stacks.h"

#include "storage/figures.h"
#include "storage/frames_blob.h"

struct name_source {
    struct sqlite_reader *reader;
    struct arena *arena;
};

static enum err name_text(void *ctx, int64_t id, const char **ret, struct error *err)
{
    const struct name_source *n = ctx;
    struct sql_conn *c = &n->reader->conn;
    bool row = false;
    bool failed = false;
    sqlite3_stmt *st = sql_start(c, SQL_NAME_TEXT, err, sql_int(id));
    enum err rc = st ? sql_step(c, st, &row, err) : err->code;
    if (rc)
        return rc;
    if (!row)
        return error_set(err, ERR_FORMAT, "a stored frame has a name that is not there");
    *ret = sql_column_text(st, 0, n->arena, &failed);
    sql_end(st);
    return failed ? error_set(err, ERR_NO_MEMORY, "no memory for names") : ERR_OK;
}

enum err sqlite_frames_decode(struct sqlite_reader *r, const struct raw_stack *raw,
                              const void *data, size_t len, struct arena *arena,
                              struct resolved_stack *ret, struct error *err)
{
    struct name_source names = {r, arena};
    *ret = (struct resolved_stack){NULL, 0};
    if (!data)
        return ERR_OK;
    return frames_blob_decode(raw, data, len, name_text, &names, arena, ret, err);
}

enum err sqlite_stack_fill(struct sqlite_reader *r, sqlite3_stmt *st, struct arena *arena,
                           struct stack_row *ret, struct error *err)
{
    bool failed = false;
    size_t raw_len = 0;
    size_t frames_len = 0;
    struct stack_row s = {
        .stack_id = (uint64_t)sqlite3_column_int64(st, 0),
        .count = (uint64_t)sqlite3_column_int64(st, 1),
        .weighted = (double)sqlite3_column_int64(st, 2) / FIGURES_WEIGHT_ONE,
        .stall_ms = (uint64_t)sqlite3_column_int64(st, 3),
        .pending = sqlite3_column_int64(st, 4) == STACK_PENDING,
        .provisional = sqlite3_column_int(st, 5),
        .first_seen_ms = sqlite3_column_int64(st, 6),
        .last_seen_ms = sqlite3_column_int64(st, 7),
        .bundle_id = sql_column_text(st, 8, arena, &failed),
        .cluster_kind = (uint8_t)sqlite3_column_int(st, 12),
        .approximate = sqlite3_column_int(st, 13),
        .weighted_stall_ms = (uint64_t)sqlite3_column_int64(st, 14),
    };
    sql_column_fixed(st, 11, s.part, sizeof(s.part));
    const void *raw = sql_column_blob(st, 9, arena, &raw_len, &failed);
    const void *frames = sql_column_blob(st, 10, arena, &frames_len, &failed);
    if (failed)
        return error_set(err, ERR_NO_MEMORY, "no memory for a stack");
    enum err rc = raw_stack_decode(raw, raw_len, arena, &s.raw, err);
    if (!rc)
        rc = sqlite_frames_decode(r, &s.raw, frames, frames_len, arena, &s.resolved, err);
    if (!rc)
        *ret = s;
    return rc;
}

enum err sqlite_stack_get(struct sqlite_reader *r, int64_t stack_id, struct arena *arena,
                          struct stack_row *ret, struct error *err)
{
    bool row = false;
    sqlite3_stmt *st = sql_start(&r->conn, SQL_STACK_GET, err, sql_int(stack_id));
    enum err rc = st ? sql_step(&r->conn, st, &row, err) : err->code;
    if (rc)
        return rc;
    if (!row)
        return error_set(err, ERR_FORMAT, "a report points to a stack that is not there");
    rc = sqlite_stack_fill(r, st, arena, ret, err);
    sql_end(st);
    return rc;
}
