#include "storage/sqlite_pairs.h"

#include "storage/sqlite_storage.h"

struct pair_kind {
    enum dict_kind kind, of;
    enum sql_query known;
};

/* Known pairs stand among the cached values, under a kind of their own. */
static bool cache_key(struct buf *key, int64_t app_id, enum dict_kind kind, int32_t week, int64_t a,
                      int64_t b)
{
    buf_clear(key);
    buf_uleb(key, (uint64_t)app_id);
    buf_u8(key, (uint8_t)kind);
    buf_sleb(key, week);
    buf_uleb(key, (uint64_t)a);
    buf_uleb(key, (uint64_t)b);
    return !key->failed && key->len <= ID_CACHE_KEY_MAX;
}

static void remember(struct sqlite_storage *s, int64_t app_id, enum dict_kind kind, int32_t week,
                     int64_t a, int64_t b)
{
    if (cache_key(&s->blob, app_id, kind, week, a, b))
        id_cache_put(&s->values, s->blob.data, s->blob.len, 1);
}

/* *value becomes "(other)" when the day has no room for the pair of it and `with`. */
static enum err cap_pair(struct sqlite_storage *s, const struct dict_app *app,
                         const struct pair_kind *k, int32_t today, int32_t week, int64_t *value,
                         int64_t with, bool *dropped, struct error *err)
{
    int64_t known = 0;
    bool allowed = true;
    if (cache_key(&s->blob, app->id, k->kind, week, *value, with) &&
        id_cache_get(&s->values, s->blob.data, s->blob.len, &known))
        return ERR_OK;
    enum err rc = sql_get(&s->conn, k->known, 0, &known, err, sql_int(app->total_id), sql_int(week),
                          sql_int(*value), sql_int(with));
    if (!rc && !known)
        rc = sqlite_daily(s, app->id, k->kind, today, &allowed, err);
    if (!rc && !allowed) {
        *dropped = true;
        rc = sqlite_value(s, app->id, k->of, today, OTHER_VALUE, "", value, err);
    }
    if (!rc)
        remember(s, app->id, k->kind, week, *value, with);
    return rc;
}

enum err sqlite_pairs_cap(struct sqlite_storage *s, const struct dict_app *app, int32_t today,
                          int32_t week, struct report_pairs *pairs, struct error *err)
{
    static const struct pair_kind devices = {DICT_PAIR_DEVICE, DICT_DEVICE, SQL_WEEK_DEVICE_KNOWN};
    static const struct pair_kind pages = {DICT_PAIR_PAGE, DICT_PAGE, SQL_WEEK_PAGE_KNOWN};
    bool dropped = false;
    enum err rc = cap_pair(s, app, &devices, today, week, &pairs->device, pairs->os, &dropped, err);
    if (!rc)
        rc = cap_pair(s, app, &pages, today, week, &pairs->page, pairs->build, &dropped, err);
    return rc || !dropped ? rc : sqlite_day_add(s, app->id, DICT_PAIR_DROPPED, today, 1, err);
}
