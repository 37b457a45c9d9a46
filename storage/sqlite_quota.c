/* Quotas of apps, which apps there are, and their new stacks. */
#include "storage/sqlite_quota.h"

#include "storage/sqlite_dict.h"
#include "storage/sqlite_read.h"

#define RATE_SCALE 1e9 /* rates are bound as whole numbers */

enum err sqlite_write_quota(struct sqlite_storage *s, struct write_op *op, struct error *err)
{
    const struct op_quota *q = &op->u.quota;
    if (q->remove)
        return sql_run(&s->conn, SQL_QUOTA_DELETE, err, sql_text(q->bundle_id));
    return sql_run(&s->conn, SQL_QUOTA_PUT, err, sql_text(q->bundle_id),
                   sql_int(q->quota.reports_per_minute), sql_int(q->quota.reports_per_day),
                   sql_int((int64_t)(q->quota.slight_sample_rate * RATE_SCALE + .5)));
}

static bool fill_quota(sqlite3_stmt *st, struct arena *arena, void *row)
{
    struct quota_row *q = row;
    bool failed = false;
    q->bundle_id = sql_column_text(st, 0, arena, &failed);
    q->quota.reports_per_minute = (uint32_t)sqlite3_column_int64(st, 1);
    q->quota.reports_per_day = (uint32_t)sqlite3_column_int64(st, 2);
    q->quota.slight_sample_rate = sqlite3_column_double(st, 3);
    return !failed;
}

enum err sqlite_read_quotas(struct storage_reader *base, struct arena *arena,
                            struct quota_row **ret, size_t *ret_count, struct error *err)
{
    struct sql_conn *c = &sqlite_reader_of(base)->conn;
    return sqlite_row_array(c, sql_bind(c, SQL_QUOTAS_ALL, NULL, 0, err), fill_quota, arena, ret,
                            ret_count, err);
}

enum err sqlite_read_app_names(struct storage_reader *base, struct arena *arena, const char ***ret,
                               size_t *ret_count, struct error *err)
{
    struct sql_conn *c = &sqlite_reader_of(base)->conn;
    return sqlite_row_array(c, sql_start(c, SQL_APP_NAMES, err, sql_null()), sqlite_fill_text,
                            arena, ret, ret_count, err);
}

enum err sqlite_read_new_stacks(struct storage_reader *base, const char *bundle_id, int32_t day,
                                struct new_stacks_row *ret, struct error *err)
{
    struct sql_conn *c = &sqlite_reader_of(base)->conn;
    bool row = false;
    sqlite3_stmt *st =
        sql_start(c, SQL_NEW_STACKS, err, sql_text(bundle_id), sql_int(day), sql_int(DICT_STACK),
                  sql_int(DICT_STACK_DROPPED), sql_int(DICT_PAIR_DROPPED));
    enum err rc = st ? sql_step(c, st, &row, err) : err->code;
    if (rc)
        return rc;
    ret->added = (uint64_t)sqlite3_column_int64(st, 0);
    ret->dropped = (uint64_t)sqlite3_column_int64(st, 1);
    ret->pairs_dropped = (uint64_t)sqlite3_column_int64(st, 2);
    sql_end(st);
    return ERR_OK;
}
