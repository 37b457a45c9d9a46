/* WRITE_HOURS_EXPIRE: the hours of old days go. */
#include "storage/sqlite_storage.h"

enum err sqlite_write_hours_expire(struct sqlite_storage *s, struct write_op *op, struct error *err)
{
    struct op_hours_expire *o = &op->u.hours_expire;
    const int64_t after = (int64_t)o->after_id;
    int64_t last = 0;
    enum err rc = sql_run(&s->conn, SQL_HOURS_FROM_SET, err, sql_int(o->before_day));
    if (!rc)
        rc = sql_get(&s->conn, SQL_HOURS_LAST_STACK, 0, &last, err, sql_int(after),
                     sql_int(o->max_stacks));
    /* Clusters in the same steps of ids, those behind the last stack's with the last. */
    if (!rc)
        rc = sql_run(&s->conn, SQL_ROLLED_HOURS_DROP, err, sql_int(after),
                     sql_int(last ? last : INT64_MAX), sql_int(o->before_day));
    o->more = !rc && last != 0;
    if (rc || !last)
        return rc;
    o->after_id = (uint64_t)last;
    return sql_run(&s->conn, SQL_HOURS_DROP, err, sql_int(after), sql_int(last),
                   sql_int(o->before_day));
}
