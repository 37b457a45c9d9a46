#include "storage/sqlite_split.h"

#include <string.h>

#include "base/clock.h"
#include "base/hash.h"

int64_t split_key(const struct figure_row *row, enum breakdown_by by)
{
    switch (by) {
    case BY_VERSION:
    case BY_BUILD:
        return row->build_id;
    case BY_DEVICE:
        return row->device_id;
    case BY_OS_VERSION:
        return row->os_id;
    case BY_PAGE:
        return row->page_id;
    case BY_DAY:
        return row->day;
    case BY_KIND:
        return row->kind;
    case BY_CATEGORY:
        return row->category ? (int64_t)hash64(row->category, strlen(row->category), 1) : 0;
    case BY_NONE:
        break;
    }
    return 0;
}

/* Nothing leads back from the number of a category: its text is kept when it comes first. */
static bool keep_category(struct split *s, enum breakdown_by by, const struct figure_row *row,
                          const char **text)
{
    if (by != BY_CATEGORY || *text)
        return true;
    *text = arena_strdup(s->arena, row->category ? row->category : "");
    return *text != NULL;
}

struct breakdown_entry *split_at(struct split *s, const struct figure_row *row, int64_t key2,
                                 struct error *err)
{
    struct breakdown_entry *e = breakdown_entry_at(&s->sums, split_key(row, s->by), key2);
    if (!e) {
        error_set(err, ERR_LIMIT, "too many values for a breakdown");
        return NULL;
    }
    if (keep_category(s, s->by, row, &e->value) && keep_category(s, s->by2, row, &e->value2))
        return e;
    error_set(err, ERR_NO_MEMORY, "no memory for a breakdown");
    return NULL;
}

enum err split_add(void *ctx, const struct figure_row *row, struct error *err)
{
    struct split *s = ctx;
    struct breakdown_entry *e = split_at(s, row, split_key(row, s->by2), err);
    if (!e)
        return err->code;
    if (!figure_row_add(&e->figures, row))
        return error_set(err, ERR_FORMAT, "counters are damaged");
    return ERR_OK;
}

static enum err value_text(struct sqlite_reader *r, int64_t key, int column, struct arena *arena,
                           const char **ret, struct error *err)
{
    bool row = false;
    bool failed = false;
    sqlite3_stmt *st = sql_start(&r->conn, SQL_DICT_TEXT, err, sql_int(key));
    enum err rc = st ? sql_step(&r->conn, st, &row, err) : err->code;
    if (rc)
        return rc;
    if (!row)
        return error_set(err, ERR_FORMAT, "a counter has a value that is not there");
    *ret = sql_column_text(st, column, arena, &failed);
    sql_end(st);
    return failed ? error_set(err, ERR_NO_MEMORY, "no memory for a breakdown") : ERR_OK;
}

enum err split_text(struct sqlite_reader *r, int64_t key, enum breakdown_by by, struct arena *arena,
                    const char **text, struct error *err)
{
    char day[CLOCK_TEXT_SIZE];
    switch (by) {
    case BY_NONE:
        *text = NULL;
        return ERR_OK;
    case BY_CATEGORY:
        return ERR_OK; /* it has its text */
    case BY_KIND:
        *text = report_kind_name((enum report_kind)key);
        return ERR_OK;
    case BY_DAY:
        *text = arena_strdup(arena, clock_format_day((int32_t)key, day));
        return *text ? ERR_OK : error_set(err, ERR_NO_MEMORY, "no memory for a breakdown");
    case BY_BUILD:
        return value_text(r, key, 1, arena, text, err);
    case BY_VERSION:
    case BY_DEVICE:
    case BY_OS_VERSION:
    case BY_PAGE:
        break;
    }
    return value_text(r, key, 0, arena, text, err);
}

enum err split_names(struct sqlite_reader *r, struct split *s, struct error *err)
{
    enum err rc = ERR_OK;
    for (size_t i = 0; i < s->sums.count && !rc; i++) {
        struct breakdown_entry *e = &s->sums.entries[i];
        rc = split_text(r, e->key, s->by, s->arena, &e->value, err);
        if (!rc)
            rc = split_text(r, e->key2, s->by2, s->arena, &e->value2, err);
    }
    return rc;
}
