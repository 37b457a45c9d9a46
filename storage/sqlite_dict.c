#include "storage/sqlite_dict.h"

#include <string.h>

#include "base/hash.h"

static enum err insert_app(struct sqlite_storage *s, const char *bundle_id, struct dict_app *ret,
                           struct error *err)
{
    int64_t total = s->next_stack++;
    enum err rc = sql_run(&s->conn, SQL_APP_INSERT, err, sql_text(bundle_id), sql_int(total));
    if (rc)
        return rc;
    int64_t app = sqlite3_last_insert_rowid(s->conn.db);
    rc = sql_run(&s->conn, SQL_STACK_INSERT, err, sql_int(total), sql_int(app), sql_blob("", 0),
                 sql_int(STACK_APP), sql_int(0));
    if (rc)
        return rc;
    *ret = (struct dict_app){app, total};
    return ERR_OK;
}

enum err sqlite_app(struct sqlite_storage *s, const char *bundle_id, struct dict_app *ret,
                    struct error *err)
{
    bool row = false;
    sqlite3_stmt *st = sql_start(&s->conn, SQL_APP_GET, err, sql_text(bundle_id));
    if (!st)
        return err->code;
    enum err rc = sql_step(&s->conn, st, &row, err);
    if (rc)
        return rc;
    if (!row)
        return insert_app(s, bundle_id, ret, err);
    *ret = (struct dict_app){sqlite3_column_int64(st, 0), sqlite3_column_int64(st, 1)};
    sql_end(st);
    return ERR_OK;
}

enum err sqlite_day_get(struct sqlite_storage *s, int64_t app_id, enum dict_kind kind, int32_t day,
                        int64_t *ret, struct error *err)
{
    return sql_get(&s->conn, SQL_DICT_DAY_GET, 0, ret, err, sql_int(app_id), sql_int(kind),
                   sql_int(day));
}

enum err sqlite_day_add(struct sqlite_storage *s, int64_t app_id, enum dict_kind kind, int32_t day,
                        int64_t count, struct error *err)
{
    return sql_run(&s->conn, SQL_DICT_DAY_ADD, err, sql_int(app_id), sql_int(kind), sql_int(day),
                   sql_int(count));
}

enum err sqlite_daily(struct sqlite_storage *s, int64_t app_id, enum dict_kind kind, int32_t day,
                      bool *ret_allowed, struct error *err)
{
    int64_t added = 0;
    enum err rc = sqlite_day_get(s, app_id, kind, day, &added, err);
    if (rc)
        return rc;
    int64_t cap = (int64_t)s->daily_values;
    if (kind == DICT_MEMBER)
        cap *= GROUP_MEMBERS_PER_VALUE;
    else if (kind == DICT_USAGE_DEVICE || kind == DICT_USAGE_PAGE || kind == DICT_PAIR_DEVICE ||
             kind == DICT_PAIR_PAGE)
        cap *= USAGE_PAIRS_PER_VALUE;
    *ret_allowed = added < cap;
    if (!*ret_allowed)
        return ERR_OK;
    return sqlite_day_add(s, app_id, kind, day, 1, err);
}

/* What a value is cached under; false when it is too long for that. */
static bool cache_key(struct buf *key, int64_t app_id, enum dict_kind kind, const char *value,
                      const char *value2)
{
    buf_clear(key);
    buf_uleb(key, (uint64_t)app_id);
    buf_u8(key, (uint8_t)kind);
    buf_puts(key, value);
    buf_u8(key, 0);
    buf_puts(key, value2);
    return !key->failed && key->len <= ID_CACHE_KEY_MAX;
}

static enum err insert_value(struct sqlite_storage *s, int64_t app_id, enum dict_kind kind,
                             const char *value, const char *value2, int64_t *ret, struct error *err)
{
    enum err rc = sql_run(&s->conn, SQL_DICT_INSERT, err, sql_int(app_id), sql_int(kind),
                          sql_text(value), sql_text(value2));
    if (!rc)
        *ret = sqlite3_last_insert_rowid(s->conn.db);
    return rc;
}

enum err sqlite_value(struct sqlite_storage *s, int64_t app_id, enum dict_kind kind, int32_t day,
                      const char *value, const char *value2, int64_t *ret, struct error *err)
{
    bool cached = cache_key(&s->blob, app_id, kind, value, value2);
    if (cached && id_cache_get(&s->values, s->blob.data, s->blob.len, ret))
        return ERR_OK;
    int64_t id = 0;
    enum err rc = sql_get(&s->conn, SQL_DICT_GET, 0, &id, err, sql_int(app_id), sql_int(kind),
                          sql_text(value), sql_text(value2));
    if (rc)
        return rc;
    if (id == 0) {
        bool free_of_charge = *value2 == 0 && (*value == 0 || strcmp(value, OTHER_VALUE) == 0);
        bool allowed = true;
        if (!free_of_charge && (rc = sqlite_daily(s, app_id, kind, day, &allowed, err)))
            return rc;
        if (!allowed)
            return sqlite_value(s, app_id, kind, day, OTHER_VALUE, "", ret, err);
        if ((rc = insert_value(s, app_id, kind, value, value2, &id, err)))
            return rc;
    }
    if (cached)
        id_cache_put(&s->values, s->blob.data, s->blob.len, id);
    *ret = id;
    return ERR_OK;
}

/* The stored hash only narrows a search down; equal hashes are told apart by their texts. */
static int64_t name_hash(const char *name, size_t len)
{
    uint8_t digest[SHA256_SIZE];
    int64_t hash;
    sha256_of(name, len, digest);
    memcpy(&hash, digest, sizeof(hash));
    return hash;
}

enum err sqlite_name(struct sqlite_storage *s, const char *name, int64_t *ret, struct error *err)
{
    size_t len = strlen(name);
    if (id_cache_get(&s->names, name, len, ret))
        return ERR_OK;
    int64_t id = 0;
    int64_t hash = name_hash(name, len);
    enum err rc = sql_get(&s->conn, SQL_NAME_GET, 0, &id, err, sql_int(hash), sql_text(name));
    if (!rc && id == 0) {
        rc = sql_run(&s->conn, SQL_NAME_INSERT, err, sql_int(hash), sql_text(name));
        id = sqlite3_last_insert_rowid(s->conn.db);
    }
    if (rc)
        return rc;
    id_cache_put(&s->names, name, len, id);
    *ret = id;
    return ERR_OK;
}
