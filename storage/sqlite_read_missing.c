/* What reports wait for: images without a symbol file. */
#include "storage/candidates.h"
#include "storage/missing_order.h"
#include "storage/sqlite_read.h"

#define VERSIONS_MAX 10

static enum err no_memory(struct error *err)
{
    return error_set(err, ERR_NO_MEMORY, "no memory for an answer");
}

static bool fill_wanted(sqlite3_stmt *st, struct arena *arena, void *row)
{
    struct missing_row *m = row;
    bool failed = false;
    sql_column_fixed(st, 0, &m->uuid, sizeof(m->uuid));
    m->name = sql_column_text(st, 1, arena, &failed);
    m->arch = sql_column_text(st, 2, arena, &failed);
    m->class = (enum image_class)sqlite3_column_int(st, 3);
    m->bundle_id = sql_column_text(st, 4, arena, &failed);
    m->reports = (uint64_t)sqlite3_column_int64(st, 5);
    m->frames = (uint64_t)sqlite3_column_int64(st, 6);
    m->first_seen_ms = sqlite3_column_int64(st, 7);
    m->last_seen_ms = sqlite3_column_int64(st, 8);
    return !failed;
}

static bool fill_seen(sqlite3_stmt *st, struct arena *arena, void *row)
{
    struct build_seen *b = row;
    bool failed = false;
    b->version = sql_column_text(st, 0, arena, &failed);
    b->build = sql_column_text(st, 1, arena, &failed);
    return !failed;
}

/* Versions and builds of the row's reports, as labels and as they are. */
static enum err fill_versions(struct sql_conn *c, struct missing_row *m, struct arena *arena,
                              struct build_seen **ret_seen, struct error *err)
{
    size_t count = 0;
    sqlite3_stmt *st = sql_start(c, SQL_MISSING_VERSIONS, err, sql_uuid(&m->uuid),
                                 sql_text(m->bundle_id), sql_int(VERSIONS_MAX));
    enum err rc = sqlite_row_array(c, st, fill_seen, arena, ret_seen, &count, err);
    if (rc)
        return rc;
    m->versions = arena_array(arena, count, sizeof(*m->versions));
    for (; m->versions && m->version_count < count; m->version_count++) {
        const struct build_seen *b = &(*ret_seen)[m->version_count];
        const char *label = read_version_label(arena, b->version, b->build);
        if (!label)
            break;
        m->versions[m->version_count] = label;
    }
    return m->version_count == count ? ERR_OK : no_memory(err);
}

static enum err fill_candidates(struct sql_conn *c, struct missing_row *m,
                                const struct build_seen *seen, struct arena *arena,
                                struct error *err)
{
    struct candidates list;
    bool row = true;
    if (!candidates_init(&list, seen, m->version_count, arena))
        return no_memory(err);
    sqlite3_stmt *st = sql_start(c, SQL_MISSING_CANDIDATES, err, sql_text(m->name),
                                 sql_text(m->arch), sql_text(m->bundle_id));
    if (!st)
        return err->code;
    for (;;) {
        enum err rc = sql_step(c, st, &row, err);
        if (rc)
            return rc;
        if (!row)
            break;
        struct missing_candidate offer = {.version = (const char *)sqlite3_column_text(st, 1),
                                          .build = (const char *)sqlite3_column_text(st, 2),
                                          .has_dwarf = sqlite3_column_int(st, 3)};
        sql_column_fixed(st, 0, &offer.uuid, sizeof(offer.uuid));
        if (!offer.version || !offer.build ||
            !candidates_offer(&list, &offer, (uint64_t)sqlite3_column_int64(st, 4), arena)) {
            sql_end(st);
            return no_memory(err);
        }
    }
    m->candidates = list.items;
    m->candidate_count = list.count;
    return ERR_OK;
}

static enum err fill_stand_in(struct sql_conn *c, struct missing_row *m, struct arena *arena,
                              struct error *err)
{
    bool row = false;
    int64_t serves = 0;
    struct uuid u;
    enum err rc = sql_get_fixed(
        c, sql_start(c, SQL_STAND_IN_OF, err, sql_uuid(&m->uuid), sql_text(m->bundle_id)), &u,
        sizeof(u), &row, err);
    if (rc || !row)
        return rc;
    rc = sql_get(c, SQL_STAND_IN_SERVES, 0, &serves, err, sql_uuid(&u), sql_text(m->bundle_id));
    if (rc || !serves)
        return rc;
    m->stand_in = arena_memdup(arena, &u, sizeof(u));
    return m->stand_in ? ERR_OK : no_memory(err);
}

static enum err fill(struct sql_conn *c, struct missing_row *m, struct arena *arena,
                     struct error *err)
{
    struct build_seen *seen = NULL;
    enum err rc = fill_versions(c, m, arena, &seen, err);
    if (!rc)
        rc = fill_candidates(c, m, seen, arena, err);
    return rc ? rc : fill_stand_in(c, m, arena, err);
}

enum err sqlite_read_missing(struct storage_reader *base, const char *bundle_id, size_t limit,
                             const char *cursor, struct arena *arena, struct missing_row **ret,
                             size_t *ret_count, const char **ret_next, struct error *err)
{
    struct sql_conn *c = &sqlite_reader_of(base)->conn;
    struct missing_row *all = NULL;
    struct missing_row *page = NULL;
    size_t all_count = 0;
    size_t count = 0;
    sqlite3_stmt *st = sql_start(c, SQL_MISSING_ALL, err, sql_text(bundle_id));
    enum err rc = sqlite_row_array(c, st, fill_wanted, arena, &all, &all_count, err);
    if (!rc)
        rc = missing_page(all, all_count, limit, cursor, arena, &page, &count, ret_next, err);
    for (size_t i = 0; i < count && !rc; i++)
        rc = fill(c, &page[i], arena, err);
    if (rc)
        return rc;
    *ret = page;
    *ret_count = count;
    return ERR_OK;
}
