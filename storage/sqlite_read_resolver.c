/* Reads for the resolver and the door: pending stacks, images, layouts, image sets, tokens. */
#include <stdlib.h>

#include "storage/sqlite_read.h"

static enum err no_memory(struct error *err)
{
    return error_set(err, ERR_NO_MEMORY, "no memory for an answer");
}

static bool fill_pending(sqlite3_stmt *st, struct arena *arena, void *row)
{
    struct pending_stack *p = row;
    bool failed = false;
    p->stack_id = (uint64_t)sqlite3_column_int64(st, 0);
    p->generation = (uint32_t)sqlite3_column_int64(st, 1);
    p->app_id = (uint64_t)sqlite3_column_int64(st, 2);
    p->bundle_id = sql_column_text(st, 3, arena, &failed);
    p->give_up = sqlite3_column_int(st, 4);
    p->raw = sql_column_blob(st, 5, arena, &p->raw_len, &failed);
    return !failed;
}

enum err sqlite_read_pending(struct storage_reader *base, uint64_t after_id, size_t limit,
                             struct arena *arena, struct pending_stack **ret, size_t *ret_count,
                             struct error *err)
{
    struct sql_conn *c = &sqlite_reader_of(base)->conn;
    sqlite3_stmt *st =
        sql_start(c, SQL_PENDING_PAGE, err, sql_int((int64_t)after_id), sql_int((int64_t)limit));
    return sqlite_row_array(c, st, fill_pending, arena, ret, ret_count, err);
}

enum err sqlite_read_image(struct storage_reader *base, const char *bundle_id,
                           const struct uuid *id, struct arena *arena, struct image_row *ret,
                           struct error *err)
{
    struct sql_conn *c = &sqlite_reader_of(base)->conn;
    bool row = false;
    bool failed = false;
    sqlite3_stmt *st = sql_start(c, SQL_IMAGE_GET, err, sql_uuid(id), sql_text(bundle_id));
    enum err rc = st ? sql_step(c, st, &row, err) : err->code;
    if (rc)
        return rc;
    if (!row)
        return error_set(err, ERR_NOT_FOUND, "this image is not known");
    struct image_row i = {
        .id = *id,
        .kind = (enum image_kind)sqlite3_column_int(st, 0),
        .class = (enum image_class)sqlite3_column_int(st, 1),
        .name = sql_column_text(st, 2, arena, &failed),
        .arch = sql_column_text(st, 3, arena, &failed),
    };
    sql_end(st);
    if (failed)
        return no_memory(err);
    *ret = i;
    return ERR_OK;
}

static int by_vmaddr(const void *a, const void *b)
{
    const struct layout_row *x = a;
    const struct layout_row *y = b;
    if (x->vmaddr != y->vmaddr)
        return x->vmaddr < y->vmaddr ? -1 : 1;
    return uuid_compare(&x->uuid, &y->uuid);
}

static bool fill_layout(sqlite3_stmt *st, struct arena *arena, void *row)
{
    struct layout_row *l = row;
    (void)arena;
    sql_column_fixed(st, 0, &l->uuid, sizeof(l->uuid));
    l->vmaddr = (uint64_t)sqlite3_column_int64(st, 1);
    l->size = (uint64_t)sqlite3_column_int64(st, 2);
    return true;
}

static bool fill_owned_layout(sqlite3_stmt *st, struct arena *arena, void *row)
{
    struct layout_row *l = row;
    bool failed = !fill_layout(st, arena, row);
    l->own = sql_column_text(st, 3, arena, &failed);
    return !failed;
}

enum err sqlite_read_group(struct storage_reader *base, const char *bundle_id,
                           const struct uuid *group, struct arena *arena, struct layout_row **ret,
                           size_t *ret_count, struct error *err)
{
    struct sql_conn *c = &sqlite_reader_of(base)->conn;
    struct row_list rows;
    row_list_init(&rows, sizeof(struct layout_row), arena);
    sqlite3_stmt *st = sql_start(c, SQL_GROUP_LAYOUTS, err, sql_uuid(group), sql_text(bundle_id));
    enum err rc = sqlite_rows(c, st, fill_layout, &rows, err);
    if (rc)
        return rc;
    /* Here, because SQLite's integers are signed and addresses are not. */
    if (rows.count)
        qsort(rows.items, rows.count, rows.size, by_vmaddr);
    *ret = rows.items;
    *ret_count = rows.count;
    return ERR_OK;
}

enum err sqlite_read_layouts(struct storage_reader *base, size_t limit, struct arena *arena,
                             struct layout_row **ret, size_t *ret_count, struct error *err)
{
    struct sql_conn *c = &sqlite_reader_of(base)->conn;
    sqlite3_stmt *st = sql_start(c, SQL_LAYOUTS_NEWEST, err, sql_int((int64_t)limit));
    return sqlite_row_array(c, st, fill_owned_layout, arena, ret, ret_count, err);
}

static bool fill_claim(sqlite3_stmt *st, struct arena *arena, void *row)
{
    struct layout_claim_row *c = row;
    bool failed = false;
    sql_column_fixed(st, 0, &c->uuid, sizeof(c->uuid));
    c->vmaddr = (uint64_t)sqlite3_column_int64(st, 1);
    c->bundle_id = sql_column_text(st, 2, arena, &failed);
    return !failed;
}

enum err sqlite_read_layout_claims(struct storage_reader *base, size_t limit, struct arena *arena,
                                   struct layout_claim_row **ret, size_t *ret_count,
                                   struct error *err)
{
    struct sql_conn *c = &sqlite_reader_of(base)->conn;
    sqlite3_stmt *st = sql_start(c, SQL_LAYOUT_CLAIMS_NEWEST, err, sql_int((int64_t)limit));
    return sqlite_row_array(c, st, fill_claim, arena, ret, ret_count, err);
}

enum err sqlite_read_image_set(struct storage_reader *base, const char *bundle_id,
                               const char *image_set, struct arena *arena, const void **ret,
                               size_t *ret_len, struct error *err)
{
    struct sql_conn *c = &sqlite_reader_of(base)->conn;
    bool row = false;
    bool failed = false;
    size_t len = 0;
    sqlite3_stmt *st =
        sql_start(c, SQL_IMAGE_SET_GET, err, sql_text(bundle_id), sql_text(image_set));
    enum err rc = st ? sql_step(c, st, &row, err) : err->code;
    if (rc)
        return rc;
    if (!row)
        return error_set(err, ERR_NOT_FOUND, "this image set is not known");
    const void *data = sql_column_blob(st, 0, arena, &len, &failed);
    sql_end(st);
    if (failed)
        return no_memory(err);
    *ret = data;
    *ret_len = len;
    return ERR_OK;
}

static bool fill_token(sqlite3_stmt *st, struct arena *arena, void *row)
{
    struct token_row *t = row;
    bool failed = false;
    t->id = (uint64_t)sqlite3_column_int64(st, 0);
    sql_column_fixed(st, 1, t->hash, sizeof(t->hash));
    t->scopes = (uint32_t)sqlite3_column_int64(st, 2);
    t->name = sql_column_text(st, 3, arena, &failed);
    t->bundle_id = sql_column_text(st, 4, arena, &failed);
    t->created_ms = sqlite3_column_int64(st, 5);
    return !failed;
}

enum err sqlite_read_tokens(struct storage_reader *base, struct arena *arena,
                            struct token_row **ret, size_t *ret_count, struct error *err)
{
    struct sql_conn *c = &sqlite_reader_of(base)->conn;
    sqlite3_stmt *st = sql_bind(c, SQL_TOKENS_ALL, NULL, 0, err);
    return sqlite_row_array(c, st, fill_token, arena, ret, ret_count, err);
}
