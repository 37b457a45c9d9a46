/* Reads of one cluster; of many: sqlite_cluster_list.c. */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "storage/cluster_face.h"
#include "storage/sqlite_figures.h"
#include "storage/sqlite_heft.h"
#include "storage/sqlite_rolled.h"
#include "storage/sqlite_stacks.h"
#include "storage/sqlite_tally.h"

static enum err no_memory(struct error *err)
{
    return error_set(err, ERR_NO_MEMORY, "no memory for an answer");
}

static enum err add_figures(void *ctx, const struct figure_row *row, struct error *err)
{
    if (!figure_row_add(ctx, row))
        return error_set(err, ERR_FORMAT, "counters are damaged");
    return ERR_OK;
}

enum err sqlite_cluster_figures(struct sqlite_reader *r, uint64_t id, const struct read_filter *f,
                                struct figures *ret, struct error *err)
{
    return sqlite_scan_figures(r, read_plan_clusters(f), (int64_t)id, f, add_figures, ret, err);
}

static enum err fill_texts(sqlite3_stmt *st, struct arena *arena, struct cluster_row *c,
                           struct error *err)
{
    const char **const texts[] = {&c->bundle_id,   &c->title,    &c->function, &c->file,
                                  &c->image,       &c->category, &c->owner,    &c->state,
                                  &c->resolved_in, &c->note,     &c->key_text, &c->rules_version};
    bool failed = false;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        *texts[i] = sql_column_text(st, (int)i, arena, &failed);
    c->cluster_kind = (uint8_t)sqlite3_column_int(st, 12);
    c->provisional = sqlite3_column_int(st, 13);
    c->hidden = sqlite3_column_int(st, 14);
    c->first_seen_ms = sqlite3_column_int64(st, 19);
    c->last_seen_ms = sqlite3_column_int64(st, 20);
    c->resolved_build = sql_column_text(st, 23, arena, &failed);
    c->regressed_ms = sql_column_null(st, 24) ? INT64_MIN : sqlite3_column_int64(st, 24);
    c->regressed_in = sql_column_text(st, 25, arena, &failed);
    c->regressed_build = sql_column_text(st, 26, arena, &failed);
    c->approximate = sqlite3_column_int(st, 27);
    return failed ? no_memory(err) : ERR_OK;
}

/* What stands with the cluster. */
struct cached {
    struct figures figures;
    struct tally tally;
    int64_t newest_ms; /* of the app's reports */
};

/* The row itself. */
static enum err fill_row(struct sqlite_reader *r, uint64_t id, struct arena *arena,
                         struct cluster_row *c, struct cached *cached, struct error *err)
{
    bool row = false;
    sqlite3_stmt *st = sql_start(&r->conn, SQL_CLUSTER_GET, err, sql_int((int64_t)id));
    enum err rc = st ? sql_step(&r->conn, st, &row, err) : err->code;
    if (rc)
        return rc;
    if (!row)
        return error_set(err, ERR_NOT_FOUND, "there is no cluster %llu", (unsigned long long)id);
    memset(c, 0, sizeof(*c));
    c->id = id;
    rc = fill_texts(st, arena, c, err);
    struct figures *f = &cached->figures;
    f->count = sqlite3_column_int64(st, 15);
    f->weighted = sqlite3_column_int64(st, 16);
    f->stall_ms = sqlite3_column_int64(st, 17);
    f->above_ms = sqlite3_column_int64(st, 22);
    cached->newest_ms = sqlite3_column_int64(st, 21);
    c->stacks = (uint64_t)sqlite3_column_int64(st, 29);
    const bool ok = histogram_add_encoded(&f->hist, sqlite3_column_blob(st, 18),
                                          (size_t)sqlite3_column_bytes(st, 18)) &&
                    tally_add_encoded(&cached->tally, sqlite3_column_blob(st, 28),
                                      (size_t)sqlite3_column_bytes(st, 28));
    if (!rc && !ok)
        rc = error_set(err, ERR_FORMAT, "the sums of a cluster are damaged");
    sql_end(st);
    return rc;
}

struct releases {
    struct cluster_row *cluster;
    struct arena *arena;
    const char *before; /* the version of the row before */
};

static enum err release_row(void *ctx, sqlite3_stmt *st, struct error *err)
{
    struct releases *x = ctx;
    bool failed = false;
    const char *version = sql_column_text(st, 0, x->arena, &failed);
    const char *build = sql_column_text(st, 1, x->arena, &failed);
    if (failed)
        return no_memory(err);
    x->cluster->versions += strcmp(x->before, version) != 0;
    x->before = version;
    cluster_release(x->cluster, version, build);
    return ERR_OK;
}

/* Distinct versions, and the ends of their order. */
static enum err fill_releases(struct sqlite_reader *r, struct arena *arena, struct cluster_row *c,
                              struct error *err)
{
    struct releases x = {c, arena, ""};
    return sqlite_each_row(&r->conn,
                           sql_start(&r->conn, SQL_CLUSTER_RELEASES, err, sql_int((int64_t)c->id)),
                           release_row, &x, err);
}

/* What of the tally is full is counted from the stacks. */
static enum err fill_tally(struct sqlite_reader *r, const struct cached *cached,
                           struct arena *arena, struct cluster_row *c, struct error *err)
{
    const int32_t last = clock_day(cached->newest_ms);
    for (int i = 0; i < TREND_DAYS; i++)
        c->trend[i].day = last - TREND_DAYS + 1 + i;
    c->trend_count = TREND_DAYS;
    enum err rc = sqlite_tally_show(r, &cached->tally, arena, c, err);
    if (!rc && cached->tally.full[TALLY_BUILDS])
        rc = fill_releases(r, arena, c, err);
    if (!rc && cached->tally.full[TALLY_DEVICES]) {
        int64_t n = 0;
        rc = sql_get(&r->conn, SQL_CLUSTER_DEVICES, 0, &n, err, sql_int((int64_t)c->id));
        c->devices = (uint64_t)n;
    }
    return rc;
}

enum err sqlite_cluster_fill(struct sqlite_reader *r, uint64_t id, const struct read_filter *f,
                             struct arena *arena, struct cluster_row *c, struct error *err)
{
    struct cached cached = {{0}, {0}, 0};
    struct figures filtered = {0};
    bool all = read_plan_unfiltered(f);
    enum err rc = fill_row(r, id, arena, c, &cached, err);
    if (!rc && !all)
        rc = sqlite_cluster_figures(r, id, f, &filtered, err);
    if (!rc) {
        figures_show(all ? &cached.figures : &filtered, &c->figures);
        rc = fill_tally(r, &cached, arena, c, err);
    }
    figures_done(&cached.figures);
    tally_done(&cached.tally);
    figures_done(&filtered);
    return rc;
}

enum err sqlite_cluster_living(struct sqlite_reader *r, uint64_t id, uint64_t *ret,
                               struct error *err)
{
    int64_t found = 0;
    enum err rc = sql_get(&r->conn, SQL_CLUSTER_LIVING, 0, &found, err, sql_int((int64_t)id));
    if (rc)
        return rc;
    if (found == 0)
        return error_set(err, ERR_NOT_FOUND, "there is no cluster %llu", (unsigned long long)id);
    *ret = (uint64_t)found;
    return ERR_OK;
}

enum err sqlite_read_cluster(struct storage_reader *base, uint64_t id, const struct read_filter *f,
                             struct arena *arena, struct cluster_row *ret, struct error *err)
{
    struct sqlite_reader *r = sqlite_reader_of(base);
    struct cluster_row c;
    uint64_t now = 0;
    enum err rc = sqlite_cluster_living(r, id, &now, err);
    if (!rc)
        rc = sqlite_cluster_fill(r, now, f, arena, &c, err);
    if (rc)
        return rc;
    if (f->bundle_id && strcmp(f->bundle_id, c.bundle_id) != 0)
        return error_set(err, ERR_NOT_FOUND, "there is no cluster %llu", (unsigned long long)id);
    *ret = c;
    return ERR_OK;
}

enum err sqlite_read_cluster_aliases(struct storage_reader *base, uint64_t id, struct arena *arena,
                                     uint64_t **ret, size_t *ret_count, struct error *err)
{
    struct sqlite_reader *r = sqlite_reader_of(base);
    struct row_list rows;
    bool row = true;
    uint64_t now = 0;
    row_list_init(&rows, sizeof(uint64_t), arena);
    enum err rc = sqlite_cluster_living(r, id, &now, err);
    if (rc)
        return rc;
    sqlite3_stmt *st = sql_start(&r->conn, SQL_CLUSTER_ALIASES_OF, err, sql_int((int64_t)now));
    if (!st)
        return err->code;
    for (;;) {
        if ((rc = sql_step(&r->conn, st, &row, err)))
            return rc;
        if (!row)
            break;
        uint64_t *alias = row_list_add(&rows, err);
        if (!alias)
            return ERR_NO_MEMORY;
        *alias = (uint64_t)sqlite3_column_int64(st, 0);
    }
    *ret = rows.items;
    *ret_count = rows.count;
    return ERR_OK;
}

/* Of a cluster with very many stacks. */
static enum err heaviest_stacks(struct sqlite_reader *r, int64_t id, size_t limit,
                                struct row_list *rows, struct error *err)
{
    int64_t *ids = NULL;
    size_t count = 0;
    enum err rc = sqlite_heaviest(r, id, limit, rows->arena, &ids, &count, err);
    for (size_t i = 0; i < count && !rc; i++) {
        struct stack_row *s = row_list_add(rows, err);
        rc = s ? sqlite_stack_get(r, ids[i], rows->arena, s, err) : ERR_NO_MEMORY;
    }
    return rc;
}

struct stack_listing {
    struct sqlite_reader *reader;
    struct row_list *rows;
};

static enum err stack_row(void *ctx, sqlite3_stmt *st, struct error *err)
{
    const struct stack_listing *l = ctx;
    struct stack_row *s = row_list_add(l->rows, err);
    return s ? sqlite_stack_fill(l->reader, st, l->rows->arena, s, err) : ERR_NO_MEMORY;
}

static enum err all_stacks(struct sqlite_reader *r, int64_t id, size_t limit, struct row_list *rows,
                           struct error *err)
{
    struct stack_listing l = {r, rows};
    return sqlite_each_row(
        &r->conn,
        sql_start(&r->conn, SQL_CLUSTER_STACKS, err, sql_int(id), sql_int((int64_t)limit)),
        stack_row, &l, err);
}

enum err sqlite_read_cluster_stacks(struct storage_reader *base, uint64_t id, size_t limit,
                                    struct arena *arena, struct stack_row **ret, size_t *ret_count,
                                    struct error *err)
{
    struct sqlite_reader *r = sqlite_reader_of(base);
    struct row_list rows;
    bool rolled = false;
    uint64_t now = 0;
    row_list_init(&rows, sizeof(struct stack_row), arena);
    enum err rc = sqlite_cluster_living(r, id, &now, err);
    if (!rc)
        rc = sqlite_is_rolled(r, (int64_t)now, &rolled, err);
    if (!rc)
        rc = (rolled ? heaviest_stacks : all_stacks)(r, (int64_t)now, limit, &rows, err);
    if (rc)
        return rc;
    *ret = rows.items;
    *ret_count = rows.count;
    return ERR_OK;
}
