#include "storage/sqlite_rolled.h"

#include <stdlib.h>

#include "base/vec.h"
#include "storage/hours.h"
#include "storage/sqlite_dict.h"
#include "storage/sqlite_rollup.h"

/* --- later reports ---------------------------------------------------------------------------- */

void sqlite_later_forget(struct sqlite_reader *r)
{
    r->later_count = 0;
    r->later_known = false;
}

void sqlite_later_done(struct sqlite_reader *r)
{
    free(r->later);
    r->later = NULL;
}

static int by_cluster(const void *a, const void *b)
{
    const struct rolled_report *x = a;
    const struct rolled_report *y = b;
    if (x->cluster_id != y->cluster_id)
        return x->cluster_id < y->cluster_id ? -1 : 1;
    return (x->stack_id > y->stack_id) - (x->stack_id < y->stack_id);
}

/* By cluster; the same until the read ends. */
static enum err load(struct sqlite_reader *r, struct error *err)
{
    int64_t until = 0;
    if (r->later_known)
        return ERR_OK;
    r->later_count = 0;
    enum err rc = sqlite_rolled_until(&r->conn, &until, err);
    if (rc)
        return rc;
    sqlite3_stmt *st = sql_start(&r->conn, SQL_REPORTS_AFTER, err, sql_int(until));
    if (!st)
        return err->code;
    for (bool row = true;;) {
        if ((rc = sql_step(&r->conn, st, &row, err)))
            return rc;
        if (!row)
            break;
        struct rolled_report *later =
            vec_grown(r->later, &r->later_cap, r->later_count + 1, sizeof(*later));
        if (!later) {
            sql_end(st);
            return error_set(err, ERR_NO_MEMORY, "no memory for an answer");
        }
        r->later = later;
        sqlite_rolled_report(st, &later[r->later_count++]);
    }
    if (r->later_count)
        qsort(r->later, r->later_count, sizeof(*r->later), by_cluster);
    r->later_known = true;
    return ERR_OK;
}

/* The first report of the cluster, or of one behind it. */
static size_t first_of(const struct sqlite_reader *r, int64_t cluster_id)
{
    size_t lo = 0;
    for (size_t hi = r->later_count; lo < hi;) {
        const size_t mid = (lo + hi) / 2;
        if (r->later[mid].cluster_id < cluster_id)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

/* --- filters ---------------------------------------------------------------------------------- */

struct ids {
    bool given; /* else all are taken */
    struct row_list list;
};

static bool takes_id(const struct ids *ids, int64_t id)
{
    const int64_t *items = ids->list.items;
    for (size_t i = 0; i < ids->list.count; i++) {
        if (items[i] == id)
            return true;
    }
    return !ids->given;
}

enum err sqlite_dict_named(struct sqlite_reader *r, int kind, const char *bundle_id,
                           const char *value, const char *value2, struct row_list *ret,
                           struct error *err)
{
    return sqlite_rows(&r->conn,
                       sql_start(&r->conn, SQL_DICT_NAMED, err, sql_int(kind), sql_text(value),
                                 sql_text(value2), sql_text(bundle_id)),
                       sqlite_fill_int, ret, err);
}

/* What the filter names. */
static enum err ids_of(struct sqlite_reader *r, enum dict_kind kind, const char *bundle_id,
                       const char *value, const char *value2, struct arena *arena, struct ids *ret,
                       struct error *err)
{
    row_list_init(&ret->list, sizeof(int64_t), arena);
    ret->given = value || value2;
    if (!ret->given)
        return ERR_OK;
    return sqlite_dict_named(r, kind, bundle_id, value, value2, &ret->list, err);
}

struct later_filter {
    struct ids builds, devices, oses, pages;
    struct read_span span; /* days or weeks */
    int kind;
    int64_t app_id; /* 0: any */
};

static enum err make_filter(struct sqlite_reader *r, enum read_source source,
                            const struct read_filter *f, struct arena *arena,
                            struct later_filter *ret, struct error *err)
{
    const struct {
        enum dict_kind kind;
        const char *value, *value2;
        struct ids *ids;
    } parts[] = {
        {DICT_BUILD, f->version, f->build, &ret->builds},
        {DICT_DEVICE, f->device, NULL, &ret->devices},
        {DICT_OS, f->os_version, NULL, &ret->oses},
        {DICT_PAGE, f->page, NULL, &ret->pages},
    };
    enum err rc = ERR_OK;
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]) && !rc; i++)
        rc = ids_of(r, parts[i].kind, f->bundle_id, parts[i].value, parts[i].value2, arena,
                    parts[i].ids, err);
    ret->span = source == READ_COUNTERS ? read_plan_days(f) : read_plan_weeks(f);
    ret->kind = f->kind;
    ret->app_id = 0;
    if (!rc && f->bundle_id)
        rc = sql_get(&r->conn, SQL_APP_OF, -1, &ret->app_id, err, sql_text(f->bundle_id));
    return rc;
}

static bool takes(const struct later_filter *f, const struct rolled_report *r, int64_t at)
{
    return at >= f->span.begin && at < f->span.end &&
           (f->kind < 0 || f->kind == (int)r->adds.kind) &&
           (f->app_id == 0 || f->app_id == r->app_id) && takes_id(&f->builds, r->adds.build_id) &&
           takes_id(&f->devices, r->adds.device_id) && takes_id(&f->oses, r->adds.os_id) &&
           takes_id(&f->pages, r->adds.page_id);
}

/* --- one cluster ------------------------------------------------------------------------------ */

enum err sqlite_is_rolled(struct sqlite_reader *r, int64_t cluster_id, bool *ret, struct error *err)
{
    int64_t rolled = 0;
    enum err rc = sql_get(&r->conn, SQL_CLUSTER_ROLLED, 0, &rolled, err, sql_int(cluster_id));
    *ret = rolled != 0;
    return rc;
}

enum err sqlite_later_stacks(struct sqlite_reader *r, int64_t cluster_id, struct arena *arena,
                             const int64_t **ret, size_t *ret_count, struct error *err)
{
    struct row_list ids;
    int64_t last = 0;
    row_list_init(&ids, sizeof(int64_t), arena);
    enum err rc = load(r, err);
    for (size_t i = rc ? r->later_count : first_of(r, cluster_id);
         i < r->later_count && r->later[i].cluster_id == cluster_id; i++) {
        int64_t *id = r->later[i].stack_id == last ? &last : row_list_add(&ids, err);
        if (!id)
            return ERR_NO_MEMORY;
        *id = last = r->later[i].stack_id;
    }
    *ret = ids.items;
    *ret_count = ids.count;
    return rc;
}

/* As a row of the source that the report would have made. */
static void row_of(const struct fold_report *a, enum read_source source, const char *category,
                   const uint8_t *hour, struct figure_row *row)
{
    *row = (struct figure_row){
        .build_id = source == READ_WEEK_DEVICES ? 0 : a->build_id,
        .device_id = source == READ_WEEK_DEVICES ? a->device_id : 0,
        .os_id = source == READ_WEEK_DEVICES ? a->os_id : 0,
        .page_id = source == READ_WEEK_PAGES ? a->page_id : 0,
        .day = source == READ_COUNTERS ? a->day : a->week,
        .count = 1,
        .weighted = a->weighted,
        .stall_ms = figures_stall(a->duration_ms),
        .above_ms = figures_above(a->weighted, a->duration_ms),
        .duration_ms = a->duration_ms,
        .hours = hour,
        .hours_len = source == READ_COUNTERS,
        .kind = source == READ_COUNTERS ? a->kind : -1,
        .category = category,
        .cpu = -1,
        .memory = -1,
    };
}

enum err sqlite_scan_later(struct sqlite_reader *r, enum read_source source, int64_t cluster_id,
                           const struct read_filter *f, figure_visit *visit, void *ctx,
                           struct error *err)
{
    struct later_filter filter;
    struct figure_row row;
    struct arena arena;
    const char **categories = NULL;
    size_t count = 0;
    arena_init(&arena, (size_t)16 << 20);
    enum err rc = load(r, err);
    if (!rc)
        rc = make_filter(r, source, f, &arena, &filter, err);
    if (!rc)
        rc = sqlite_row_array(&r->conn,
                              sql_start(&r->conn, SQL_CATEGORY_OF, err, sql_int(cluster_id)),
                              sqlite_fill_text, &arena, &categories, &count, err);
    for (size_t i = rc ? r->later_count : first_of(r, cluster_id);
         i < r->later_count && r->later[i].cluster_id == cluster_id && !rc; i++) {
        const struct rolled_report *later = &r->later[i];
        const uint8_t hour = (uint8_t)hours_of_day(later->adds.time_ms);
        if (!takes(&filter, later, source == READ_COUNTERS ? later->adds.day : later->adds.week))
            continue;
        row_of(&later->adds, source, count ? categories[0] : NULL, &hour, &row);
        rc = visit(ctx, &row, err);
    }
    arena_done(&arena);
    return rc;
}

/* --- all clusters ----------------------------------------------------------------------------- */

struct scan {
    struct sqlite_reader *r;
    const struct cube_scan *want;
    struct later_filter later;
    struct cube_filter cubes;
    size_t at; /* in the later reports */
};

static bool wants(const struct cube_scan *c, uint64_t cluster_id)
{
    return !c->wants || c->wants(c->ctx, cluster_id);
}

/* Later reports of clusters up to an id. */
static enum err scan_later(struct scan *s, int64_t last, struct error *err)
{
    enum err rc = ERR_OK;
    for (; s->at < s->r->later_count && s->r->later[s->at].cluster_id <= last && !rc; s->at++) {
        const struct rolled_report *later = &s->r->later[s->at];
        const uint64_t id = (uint64_t)later->cluster_id;
        struct cube_row row;
        if (!takes(&s->later, later, later->adds.day) || !wants(s->want, id))
            continue;
        sqlite_rolled_cube_row(&later->adds, &row);
        rc = s->want->visit(s->want->ctx, id, &row, err);
    }
    return rc;
}

static enum err scan_cube(struct scan *s, int64_t id, const void *data, size_t len, bool *ret_known,
                          struct error *err)
{
    struct cube_reader cube;
    struct cube_row row;
    enum err rc = ERR_OK;
    cube_read(&cube, data, len, &s->cubes);
    while (!rc && cube_next(&cube, &row))
        rc = s->want->visit(s->want->ctx, (uint64_t)id, &row, err);
    *ret_known = !cube.unknown && !cube.damaged;
    return rc;
}

static enum err scan_all(struct scan *s, bool *ret_known, struct error *err)
{
    enum err rc = ERR_OK;
    bool known = true;
    sqlite3_stmt *st = sql_bind(&s->r->conn, SQL_CUBES_ALL, NULL, 0, err);
    if (!st)
        return err->code;
    for (bool row = true; known;) {
        if ((rc = sql_step(&s->r->conn, st, &row, err)))
            return rc;
        if (!row)
            break;
        const int64_t id = sqlite3_column_int64(st, 0);
        rc = scan_later(s, id - 1, err);
        if (!rc && wants(s->want, (uint64_t)id)) {
            const void *cube = sqlite3_column_blob(st, 1);
            rc = scan_cube(s, id, cube, (size_t)sqlite3_column_bytes(st, 1), &known, err);
        }
        if (rc) {
            sql_end(st);
            return rc;
        }
    }
    sql_end(st);
    *ret_known = known;
    return known ? scan_later(s, INT64_MAX, err) : ERR_OK;
}

enum err sqlite_scan_cubes(struct sqlite_reader *r, const struct cube_scan *want, bool *ret_known,
                           struct error *err)
{
    struct scan s = {.r = r, .want = want};
    struct arena arena;
    struct read_filter f = *want->filter;
    arena_init(&arena, (size_t)16 << 20);
    enum err rc = load(r, err);
    if (!rc)
        rc = make_filter(r, READ_COUNTERS, &f, &arena, &s.later, err);
    if (want->builds)
        s.later.builds = (struct ids){true, *want->builds};
    s.cubes = (struct cube_filter){
        .begin = s.later.span.begin,
        .end = s.later.span.end,
        .builds = s.later.builds.list.items,
        .build_count = s.later.builds.list.count,
        .kind = f.kind,
        .days = want->days,
    };
    if (!rc && s.later.builds.given && s.cubes.build_count == 0)
        *ret_known = true; /* a version that nobody had */
    else if (!rc)
        rc = scan_all(&s, ret_known, err);
    arena_done(&arena);
    return rc;
}
