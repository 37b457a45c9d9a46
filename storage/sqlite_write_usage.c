/* WRITE_USAGE: items fold into the day's rows of their pairs of values. The rows are kept for ever,
 * and strangers choose the pairs: a day brings an app so many new ones, what is above has "(other)"
 * for both values. */
#include "base/clock.h"
#include "storage/op_usage.h"
#include "storage/sqlite_dict.h"
#include "storage/sqlite_ids.h"

struct usage_values {
    int64_t build, device, os, page;
};

static enum err values_of(struct sqlite_storage *s, int64_t app_id, const struct op_usage_item *u,
                          struct usage_values *v, struct error *err)
{
    const struct {
        enum dict_kind kind;
        const char *value, *value2;
        int64_t *ret;
    } parts[] = {
        {DICT_BUILD, u->version, u->build, &v->build},
        {DICT_DEVICE, u->device, u->arch, &v->device},
        {DICT_OS, u->os_version, u->os_build, &v->os},
        {DICT_PAGE, u->page, "", &v->page},
    };
    enum err rc = ERR_OK;
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]) && !rc; i++)
        rc = sqlite_value(s, app_id, parts[i].kind, clock_day(u->received_ms), parts[i].value,
                          parts[i].value2, parts[i].ret, err);
    return rc;
}

/* Whether the day may have a row of this pair; else both become "(other)". */
static enum err cap_pair(struct sqlite_storage *s, int64_t app_id, const struct op_usage_item *u,
                         enum sql_query known, enum dict_kind kind, const enum dict_kind of[2],
                         int64_t pair[2], struct error *err)
{
    const int32_t today = clock_day(u->received_ms);
    int64_t there = 0;
    bool allowed = true;
    enum err rc = sql_get(&s->conn, known, 0, &there, err, sql_int(app_id), sql_int(u->day),
                          sql_int(pair[0]), sql_int(pair[1]));
    if (!rc && !there)
        rc = sqlite_daily(s, app_id, kind, today, &allowed, err);
    for (int i = 0; i < 2 && !allowed && !rc; i++)
        rc = sqlite_value(s, app_id, of[i], today, OTHER_VALUE, "", &pair[i], err);
    return rc;
}

static enum err cap_pairs(struct sqlite_storage *s, int64_t app_id, const struct op_usage_item *u,
                          struct usage_values *v, struct error *err)
{
    static const enum dict_kind devices[] = {DICT_DEVICE, DICT_OS};
    static const enum dict_kind pages[] = {DICT_PAGE, DICT_BUILD};
    int64_t device[] = {v->device, v->os};
    int64_t page[] = {v->page, v->build};
    enum err rc =
        cap_pair(s, app_id, u, SQL_USAGE_DEVICE_KNOWN, DICT_USAGE_DEVICE, devices, device, err);
    if (!rc)
        rc = cap_pair(s, app_id, u, SQL_USAGE_PAGE_KNOWN, DICT_USAGE_PAGE, pages, page, err);
    *v = (struct usage_values){
        .build = page[1], .device = device[0], .os = device[1], .page = page[0]};
    return rc;
}

static enum err add_item(struct sqlite_storage *s, struct op_usage_item *u, struct error *err)
{
    struct dict_app app;
    struct usage_values v = {0};
    enum err rc = sqlite_claim_id(s, u->id_hash, u->received_ms, 0, &u->duplicate, err);
    if (rc || u->duplicate)
        return rc;
    rc = sqlite_app(s, u->bundle_id, &app, err);
    if (!rc)
        rc = values_of(s, app.id, u, &v, err);
    if (!rc)
        rc = cap_pairs(s, app.id, u, &v, err);
    if (rc)
        return rc;
    const struct sql_value foreground = sql_int(usage_foreground(u));
    const struct sql_value launches = sql_int(usage_launches(u));
    rc = sql_run(&s->conn, SQL_USAGE_DEVICE_ADD, err, sql_int(app.id), sql_int(u->day),
                 sql_int(v.device), sql_int(v.os), foreground, launches);
    if (!rc)
        rc = sql_run(&s->conn, SQL_USAGE_PAGE_ADD, err, sql_int(app.id), sql_int(u->day),
                     sql_int(v.page), sql_int(v.build), foreground, launches);
    return rc;
}

enum err sqlite_write_usage(struct sqlite_storage *s, struct write_op *op, struct error *err)
{
    struct op_usage *o = &op->u.usage;
    enum err rc = ERR_OK;
    for (size_t i = 0; i < o->count && !rc; i++)
        rc = add_item(s, &o->items[i], err);
    return rc;
}
