#include "storage/sqlite_images.h"

#include <stdlib.h>
#include <string.h>

#include "storage/sqlite_dict.h"
#include "storage/sqlite_rows.h"

enum err uuid_list_add(struct uuid_list *l, struct arena *arena, const struct uuid *uuid,
                       struct error *err)
{
    if (uuid_is_in(l->items, l->count, uuid))
        return ERR_OK;
    if (!arena_room(arena, (void **)&l->items, l->count, &l->cap, sizeof(*l->items)))
        return error_set(err, ERR_NO_MEMORY, "no memory for images");
    l->items[l->count++] = *uuid;
    return ERR_OK;
}

enum err sqlite_layout_learn(struct sqlite_storage *s, const struct uuid *uuid, uint64_t vmaddr,
                             uint64_t size, bool *ret_changed, struct error *err)
{
    enum err rc = sql_run(&s->conn, SQL_LAYOUT_SET, err, sql_uuid(uuid), sql_int((int64_t)vmaddr),
                          sql_int((int64_t)size));
    *ret_changed = !rc && sqlite3_changes(s->conn.db) > 0;
    return rc;
}

struct grouping {
    struct uuid_list *list;
    struct arena *arena;
};

static enum err group_row(void *ctx, sqlite3_stmt *st, struct error *err)
{
    const struct grouping *g = ctx;
    struct uuid group;
    sql_column_fixed(st, 0, &group, sizeof(group));
    return uuid_list_add(g->list, g->arena, &group, err);
}

enum err sqlite_groups_of(struct sqlite_storage *s, const struct uuid *uuid, struct uuid_list *l,
                          struct error *err)
{
    struct grouping g = {l, &s->scratch};
    return sqlite_each_row(&s->conn, sql_start(&s->conn, SQL_GROUPS_OF, err, sql_uuid(uuid)),
                           group_row, &g, err);
}

enum err sqlite_disturb_pending(struct sqlite_storage *s, const struct uuid *uuid,
                                struct error *err)
{
    return sql_run(&s->conn, SQL_PENDING_DISTURB, err, sql_uuid(uuid));
}

static int by_id(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a;
    uint64_t y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

struct collection {
    uint64_t *ids; /* room for what a query finds at most */
    size_t count;
};

static enum err collect_row(void *ctx, sqlite3_stmt *st, struct error *err)
{
    struct collection *c = ctx;
    (void)err;
    c->ids[c->count++] = (uint64_t)sqlite3_column_int64(st, 0);
    return ERR_OK;
}

/* Adds what a query finds about one UUID between two ids. */
static enum err collect(struct sqlite_storage *s, const struct repend *r, size_t i, uint64_t end,
                        uint64_t *ids, size_t *count, struct error *err)
{
    struct collection c = {ids, *count};
    sqlite3_stmt *st = sql_start(&s->conn, r->all_users ? SQL_USER_STACKS : SQL_MISSING_STACKS, err,
                                 sql_uuid(&r->uuids->items[i]), sql_int((int64_t)r->after_id),
                                 sql_int((int64_t)end), sql_int(REPEND_CHUNK + 1));
    enum err rc = sqlite_each_row(&s->conn, st, collect_row, &c, err);
    *count = c.count;
    return rc;
}

/* All users: one look is over REPEND_CHUNK ids, because each stack's frames have to be read. */
static enum err range_end(struct sqlite_storage *s, struct repend *r, uint64_t *ret_end,
                          struct error *err)
{
    int64_t next = 0;
    enum err rc = sql_get(&s->conn, SQL_STACK_NEXT, 0, &next, err, sql_int((int64_t)r->after_id));
    if (!rc)
        *ret_end = next ? (uint64_t)next - 1 + REPEND_CHUNK : r->after_id;
    return rc;
}

/* Sorts, drops doubles, and all but the lowest that one call turns back and one more. */
static size_t settle_ids(uint64_t *ids, size_t count)
{
    size_t kept = 0;
    qsort(ids, count, sizeof(*ids), by_id);
    for (size_t i = 0; i < count && kept <= REPEND_CHUNK; i++) {
        if (i == 0 || ids[i] != ids[i - 1])
            ids[kept++] = ids[i];
    }
    return kept;
}

enum err sqlite_repend(struct sqlite_storage *s, struct repend *r, struct error *err)
{
    size_t kept = 0;
    uint64_t end = INT64_MAX;
    enum err rc = ERR_OK;
    uint64_t *ids = arena_array(&s->scratch, 2 * (REPEND_CHUNK + 1), sizeof(*ids));
    if (!ids)
        return error_set(err, ERR_NO_MEMORY, "no memory for stacks to turn back");
    for (size_t i = 0; i < r->uuids->count && r->after_id == 0 && !rc; i++)
        rc = sqlite_stand_in_changed(s, &r->uuids->items[i], err);
    if (!rc && r->all_users)
        rc = range_end(s, r, &end, err);
    for (size_t i = 0; i < r->uuids->count && !rc; i++) {
        size_t before = kept;
        rc = collect(s, r, i, end, ids, &kept, err);
        if (kept > before)
            kept = settle_ids(ids, kept);
    }
    r->more = r->all_users ? end > r->after_id : kept > REPEND_CHUNK;
    if (kept > REPEND_CHUNK)
        kept = REPEND_CHUNK;
    for (size_t i = 0; i < kept && !rc; i++)
        rc = sql_run(&s->conn, SQL_STACK_REPEND, err, sql_int((int64_t)ids[i]));
    r->count = kept;
    if (r->all_users)
        r->after_id = end;
    else if (kept)
        r->after_id = ids[kept - 1];
    return rc;
}

/* All stacks that miss one of the groups: in one go, it is rare (a member's place is learnt once). */
static enum err groups_changed(struct sqlite_storage *s, const struct uuid_list *groups,
                               struct error *err)
{
    enum err rc = ERR_OK;
    struct repend r = {.uuids = groups, .more = groups->count > 0};
    for (size_t i = 0; i < groups->count && !rc; i++)
        rc = sqlite_disturb_pending(s, &groups->items[i], err);
    while (r.more && !rc)
        rc = sqlite_repend(s, &r, err);
    return rc;
}

static enum err learn_name(struct sqlite_storage *s, int64_t app_id, int32_t day,
                           const struct op_image *i, struct error *err)
{
    int64_t known = 0;
    bool allowed = true;
    enum err rc =
        sql_get(&s->conn, SQL_IMAGE_KNOWN, 0, &known, err, sql_int(app_id), sql_uuid(&i->id));
    if (!rc && !known)
        rc = sqlite_daily(s, app_id, DICT_IMAGE, day, &allowed, err);
    if (rc || known || !allowed)
        return rc;
    return sql_run(&s->conn, SQL_IMAGE_INSERT, err, sql_int(app_id), sql_uuid(&i->id),
                   sql_int(i->kind), sql_int(i->class), sql_text(i->name ? i->name : ""),
                   sql_text(i->arch));
}

/* What a report says of the place of an image, for its own app; new ones are counted, strangers send
 * them. */
static enum err learn_claim(struct sqlite_storage *s, int64_t app_id, int32_t day,
                            const struct op_image *i, struct error *err)
{
    int64_t known = 0;
    bool allowed = true;
    enum err rc =
        sql_get(&s->conn, SQL_LAYOUT_KNOWN, 0, &known, err, sql_uuid(&i->id), sql_int(app_id));
    if (!rc && !known)
        rc = sql_get(&s->conn, SQL_LAYOUT_CLAIMED, 0, &known, err, sql_int(app_id),
                     sql_uuid(&i->id));
    if (!rc && !known)
        rc = sqlite_daily(s, app_id, DICT_LAYOUT, day, &allowed, err);
    if (rc || known || !allowed)
        return rc;
    return sql_run(&s->conn, SQL_LAYOUT_CLAIM, err, sql_int(app_id), sql_uuid(&i->id),
                   sql_int((int64_t)i->vmaddr));
}

static enum err learn_member(struct sqlite_storage *s, int64_t app_id, int32_t day,
                             const struct op_image *i, struct uuid_list *changed, struct error *err)
{
    int64_t known = 0;
    int64_t placed = 0;
    bool allowed = true;
    enum err rc = sql_get(&s->conn, SQL_MEMBER_KNOWN, 0, &known, err, sql_uuid(&i->group),
                          sql_int(app_id), sql_uuid(&i->id));
    if (!rc && !known)
        rc = sqlite_daily(s, app_id, DICT_MEMBER, day, &allowed, err);
    if (rc || known || !allowed)
        return rc;
    rc = sql_run(&s->conn, SQL_MEMBER_INSERT, err, sql_uuid(&i->group), sql_int(app_id),
                 sql_uuid(&i->id));
    if (!rc)
        rc =
            sql_get(&s->conn, SQL_LAYOUT_KNOWN, 0, &placed, err, sql_uuid(&i->id), sql_int(app_id));
    if (!rc && placed)
        rc = uuid_list_add(changed, &s->scratch, &i->group, err);
    return rc;
}

static enum err learn(struct sqlite_storage *s, int64_t app_id, int32_t day,
                      const struct op_image *i, struct uuid_list *changed, struct error *err)
{
    enum err rc = learn_name(s, app_id, day, i, err);
    if (!rc && i->has_vmaddr && i->kind == IMAGE_UUID)
        rc = learn_claim(s, app_id, day, i, err);
    if (!rc && i->in_group)
        rc = learn_member(s, app_id, day, i, changed, err);
    return rc;
}

enum err sqlite_images_learn(struct sqlite_storage *s, int64_t app_id, int32_t day,
                             const struct op_image *images, size_t count, struct error *err)
{
    struct uuid_list changed = {0};
    for (size_t i = 0; i < count; i++) {
        /* Known to the last bit, as nearly all are: nothing to ask. The day stands in the key
         * because an image above the cap is stored on another day. */
        struct {
            int64_t app_id, day;
            struct uuid id, group;
            uint8_t has_vmaddr, in_group;
        } key;
        int64_t seen = 0;
        memset(&key, 0, sizeof(key));
        key.app_id = app_id;
        key.day = day;
        key.id = images[i].id;
        key.has_vmaddr = images[i].has_vmaddr;
        key.in_group = images[i].in_group;
        if (images[i].in_group)
            key.group = images[i].group;
        if (id_cache_get(&s->values, &key, sizeof(key), &seen))
            continue;
        enum err rc = learn(s, app_id, day, &images[i], &changed, err);
        if (rc)
            return rc;
        id_cache_put(&s->values, &key, sizeof(key), 1);
    }
    return groups_changed(s, &changed, err);
}
