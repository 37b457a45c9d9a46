/* Reads of single reports. */
#include <string.h>

#include "base/bytes.h"
#include "storage/sqlite_dict.h"
#include "storage/sqlite_figures.h"
#include "storage/sqlite_numbers.h"
#include "storage/sqlite_stacks.h"

static enum err no_memory(struct error *err)
{
    return error_set(err, ERR_NO_MEMORY, "no memory for an answer");
}

/* The client's id: 16 bytes stand for a UUID in lower case. */
static const char *client_id(sqlite3_stmt *st, int column, struct arena *arena, bool *failed)
{
    struct uuid u;
    char text[UUID_TEXT_SIZE];
    if (sqlite3_column_type(st, column) != SQLITE_BLOB)
        return sql_column_text(st, column, arena, failed);
    sql_column_fixed(st, column, &u, sizeof(u));
    uuid_format(&u, text);
    for (char *p = text; *p; p++)
        *p = *p >= 'A' && *p <= 'F' ? (char)(*p - 'A' + 'a') : *p;
    const char *copy = arena_strdup(arena, text);
    if (!copy)
        *failed = true;
    return copy;
}

struct report_refs {
    int64_t stack_id; /* 0: none */
    bool extra, finding;
    const void *addresses;
    size_t addresses_len;
};

static bool fill_report(sqlite3_stmt *st, struct arena *arena, struct report_row *r,
                        struct report_refs *refs)
{
    bool failed = false;
    int64_t flags = sqlite3_column_int64(st, 0);
    const char **const texts[] = {&r->version, &r->build,      &r->device,
                                  &r->arch,    &r->os_version, &r->os_build,
                                  &r->page,    &r->path,       &r->threshold_type};
    r->kind = (enum report_kind)(flags & REPORT_FLAGS_KIND);
    r->clock_skew = flags & 8;
    refs->extra = flags & 16;
    refs->finding = flags & REPORT_FLAG_FINDING;
    r->time_ms = sqlite3_column_int64(st, 1);
    r->received_ms = (int64_t)((uint64_t)r->time_ms + (uint64_t)sqlite3_column_int64(st, 2));
    r->device_time_ms = flags & REPORT_FLAG_DEVICE_TIME ? r->time_ms : INT64_MIN;
    r->duration_ms = sql_column_null(st, 3) ? -1 : sqlite3_column_int64(st, 3);
    r->weight = (double)(sqlite3_column_int64(st, 4) + FIGURES_WEIGHT_ONE) / FIGURES_WEIGHT_ONE;
    r->cpu_usage = sql_column_null(st, 5) ? -1 : sqlite3_column_int(st, 5);
    r->memory_usage = sql_column_null(st, 6) ? -1 : sqlite3_column_int(st, 6);
    r->id = client_id(st, 7, arena, &failed);
    refs->addresses = sql_column_blob(st, 8, arena, &refs->addresses_len, &failed);
    r->bundle_id = sql_column_text(st, 10, arena, &failed);
    r->cluster_id = (uint64_t)sqlite3_column_int64(st, 11);
    r->has_stack = sqlite3_column_int64(st, 12) != STACK_APP;
    refs->stack_id = r->has_stack ? sqlite3_column_int64(st, 9) : 0;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        *texts[i] = sql_column_text(st, 13 + (int)i, arena, &failed);
    r->category = sql_column_text(st, 22, arena, &failed);
    return !failed;
}

static enum err fill_extra(struct sqlite_reader *q, int64_t id, struct arena *arena,
                           struct report_row *r, struct error *err)
{
    bool row = false;
    bool failed = false;
    sqlite3_stmt *st = sql_start(&q->conn, SQL_REPORT_EXTRA_GET, err, sql_int(id));
    enum err rc = st ? sql_step(&q->conn, st, &row, err) : err->code;
    if (rc || !row)
        return rc;
    if (!sql_column_null(st, 0))
        r->device_time_ms = sqlite3_column_int64(st, 0);
    r->stack_skipped = sql_column_text(st, 1, arena, &failed);
    r->tags = sql_column_text(st, 2, arena, &failed);
    struct cursor c = cursor_of(sqlite3_column_blob(st, 3), (size_t)sqlite3_column_bytes(st, 3));
    uint64_t count = cursor_left(&c) ? cursor_uleb(&c) : 0;
    if (count > cursor_left(&c))
        count = 0;
    int32_t *gaps = arena_array(arena, (size_t)count + 1, sizeof(*gaps));
    if (!gaps || failed) {
        sql_end(st);
        return no_memory(err);
    }
    for (size_t i = 0; i < count; i++)
        gaps[i] = (int32_t)cursor_sleb(&c);
    r->frame_gaps_ms = count ? gaps : NULL;
    r->frame_gap_count = (size_t)count;
    sql_end(st);
    return ERR_OK;
}

static enum err fill_finding(struct sqlite_reader *q, int64_t id, struct arena *arena,
                             struct finding_row *f, struct error *err)
{
    bool row = false;
    bool failed = false;
    sqlite3_stmt *st = sql_start(&q->conn, SQL_FINDING_GET, err, sql_int(id));
    enum err rc = st ? sql_step(&q->conn, st, &row, err) : err->code;
    if (rc || !row)
        return rc;
    f->has_culprit = !sql_column_null(st, 0);
    f->sample = (uint32_t)sqlite3_column_int64(st, 0);
    f->stage_ms = sqlite3_column_int64(st, 1);
    f->total_ms = sqlite3_column_int64(st, 2);
    f->confidence = (double)sqlite3_column_int64(st, 3) / FIGURES_WEIGHT_ONE;
    f->deadlock = sql_column_text(st, 4, arena, &failed);
    sql_end(st);
    return failed ? no_memory(err) : ERR_OK;
}

static enum err get_report(struct sqlite_reader *q, int64_t id, struct arena *arena,
                           struct report_row *r, struct report_refs *refs, struct error *err)
{
    bool row = false;
    memset(r, 0, sizeof(*r));
    sqlite3_stmt *st = sql_start(&q->conn, SQL_REPORT_GET, err, sql_int(id));
    enum err rc = st ? sql_step(&q->conn, st, &row, err) : err->code;
    if (rc)
        return rc;
    if (!row)
        return error_set(err, ERR_NOT_FOUND, "this report is not there");
    bool ok = fill_report(st, arena, r, refs);
    sql_end(st);
    if (!ok)
        return no_memory(err);
    rc = refs->extra ? fill_extra(q, id, arena, r, err) : ERR_OK;
    if (!rc && refs->finding)
        rc = fill_finding(q, id, arena, &r->finding, err);
    return rc;
}

/* The stacks of one report, each read once. */
struct report_stacks {
    struct sqlite_reader *q;
    struct arena *arena;
    struct row_list rows; /* struct stack_row */
};

static enum err get_stack(struct report_stacks *x, int64_t stack_id, struct stack_row *ret,
                          struct error *err)
{
    const struct stack_row *known = x->rows.items;
    for (size_t i = x->rows.count; i > 0; i--) {
        if (known[i - 1].stack_id == (uint64_t)stack_id) {
            *ret = known[i - 1];
            return ERR_OK;
        }
    }
    enum err rc = sqlite_stack_get(x->q, stack_id, x->arena, ret, err);
    struct stack_row *row = rc ? NULL : row_list_add(&x->rows, err);
    if (!row)
        return rc ? rc : ERR_NO_MEMORY;
    *row = *ret;
    return ERR_OK;
}

/* A stack and the addresses its frames had in this report. */
static enum err fill_stack(struct report_stacks *x, int64_t stack_id, const void *addresses,
                           size_t len, struct stack_row *stack, const uint64_t **ret_addresses,
                           struct error *err)
{
    enum err rc = get_stack(x, stack_id, stack, err);
    if (rc)
        return rc;
    uint64_t *out = arena_array(x->arena, stack->raw.count + 1, sizeof(*out));
    if (!out)
        return no_memory(err);
    stack_addresses_decode(&stack->raw, addresses, len, out);
    *ret_addresses = out;
    return ERR_OK;
}

/* What a sample or a thread says of its stack. */
struct part {
    int64_t stack_id;
    const void *addresses;
    size_t len;
};

/* The statement's row into its zeroed struct; *failed without memory. */
typedef void part_fill(sqlite3_stmt *st, struct arena *arena, void *row, struct part *p,
                       bool *failed);

/* Rows first, their stacks afterwards: one statement at a time. */
static enum err read_parts(struct report_stacks *x, enum sql_query query, int64_t id,
                           part_fill *fill, size_t row_size, struct row_list *rows,
                           struct row_list *parts, struct error *err)
{
    struct sql_conn *c = &x->q->conn;
    bool row = true;
    bool failed = false;
    enum err rc = ERR_OK;
    row_list_init(rows, row_size, x->arena);
    row_list_init(parts, sizeof(struct part), x->arena);
    sqlite3_stmt *st = sql_start(c, query, err, sql_int(id));
    if (!st)
        return err->code;
    while (!(rc = sql_step(c, st, &row, err)) && row) {
        void *item = row_list_add(rows, err);
        struct part *p = item ? row_list_add(parts, err) : NULL;
        if (p)
            fill(st, x->arena, item, p, &failed);
        if (!p || failed) {
            sql_end(st);
            return no_memory(err);
        }
    }
    return rc;
}

static void fill_sample(sqlite3_stmt *st, struct arena *arena, void *row, struct part *p,
                        bool *failed)
{
    struct sample_row *s = row;
    s->offset_ms = sqlite3_column_int(st, 0);
    s->repeat_count = (uint32_t)sqlite3_column_int64(st, 1);
    s->cpu_usage = (int16_t)sqlite3_column_int(st, 2);
    s->thread_state = sql_column_text(st, 3, arena, failed);
    p->stack_id = sqlite3_column_int64(st, 4);
    p->addresses = sql_column_blob(st, 5, arena, &p->len, failed);
}

static enum err fill_samples(struct report_stacks *x, int64_t id, struct report_row *r,
                             struct error *err)
{
    struct row_list rows, parts;
    enum err rc = read_parts(x, SQL_SAMPLES_OF, id, fill_sample, sizeof(struct sample_row), &rows,
                             &parts, err);
    if (rc)
        return rc;
    r->samples = rows.items;
    r->sample_count = rows.count;
    for (size_t i = 0; i < rows.count && !rc; i++) {
        const struct part *p = (const struct part *)parts.items + i;
        rc = fill_stack(x, p->stack_id, p->addresses, p->len, &r->samples[i].stack,
                        &r->samples[i].addresses, err);
    }
    return rc;
}

static void fill_thread(sqlite3_stmt *st, struct arena *arena, void *row, struct part *p,
                        bool *failed)
{
    struct thread_row *t = row;
    t->tid = sqlite3_column_int64(st, 0);
    t->name = sql_column_text(st, 1, arena, failed);
    t->state = sql_column_text(st, 2, arena, failed);
    t->stalled = sqlite3_column_int(st, 3);
    p->stack_id = sqlite3_column_int64(st, 4);
    t->has_stack = p->stack_id != 0;
    t->waits_kind = sql_column_text(st, 5, arena, failed);
    t->waits_address = (uint64_t)sqlite3_column_int64(st, 6);
    t->owner_tid = sqlite3_column_int64(st, 7);
    p->addresses = sql_column_blob(st, 8, arena, &p->len, failed);
    t->queue = sql_column_text(st, 9, arena, failed);
    t->waits_queue = sql_column_text(st, 10, arena, failed);
}

static enum err fill_threads(struct report_stacks *x, int64_t id, struct report_row *r,
                             struct error *err)
{
    struct row_list rows, parts;
    enum err rc = read_parts(x, SQL_THREADS_OF, id, fill_thread, sizeof(struct thread_row), &rows,
                             &parts, err);
    if (rc)
        return rc;
    r->threads = rows.items;
    r->thread_count = rows.count;
    for (size_t i = 0; i < rows.count && !rc; i++) {
        const struct part *p = (const struct part *)parts.items + i;
        if (p->stack_id)
            rc = fill_stack(x, p->stack_id, p->addresses, p->len, &r->threads[i].stack,
                            &r->threads[i].addresses, err);
    }
    return rc;
}

/* Whether to go down from the newest report: the fewer reports a cluster has, the further that
 * would be; see queries.sql. */
static enum err newest_first(struct sqlite_reader *q, uint64_t cluster_id, bool deadlock,
                             size_t limit, bool *ret, struct error *err)
{
    int64_t span = 0;
    int64_t count = 0;
    *ret = true;
    if (cluster_id == 0)
        return ERR_OK;
    enum err rc = sql_get_values(&q->conn, SQL_REPORT_SPAN, NULL, 0, 0, &span, err);
    if (!rc)
        rc = sql_get(&q->conn, deadlock ? SQL_CLUSTER_DEADLOCKS : SQL_CLUSTER_COUNT, 0, &count, err,
                     sql_int((int64_t)cluster_id));
    if (!rc)
        *ret = (double)count * (double)count > (double)limit * (double)span;
    return rc;
}

enum err sqlite_report_ids(struct sqlite_reader *q, uint64_t cluster_id,
                           const struct read_filter *f, int64_t first, int64_t below, size_t limit,
                           struct row_list *ids, struct error *err)
{
    struct sql_value values[FILTER_VALUES + 3];
    bool newest = false;
    enum err rc = sqlite_filter_values(q, f, READ_REPORTS, values, err);
    if (!rc)
        rc = newest_first(q, cluster_id, f->deadlock, limit, &newest, err);
    if (rc)
        return rc;
    if (values[FILTER_FIRST_ID].number < first)
        values[FILTER_FIRST_ID] = sql_int(first);
    values[FILTER_VALUES] = sql_int_or_null((int64_t)cluster_id, 0);
    values[FILTER_VALUES + 1] = sql_int(below);
    values[FILTER_VALUES + 2] = sql_int((int64_t)limit);
    static const enum sql_query queries[2][2] = {
        {SQL_REPORTS_OF_STACKS, SQL_REPORTS_NEWEST},
        {SQL_DEADLOCKS_OF_STACKS, SQL_DEADLOCKS_NEWEST},
    };
    sqlite3_stmt *st =
        sql_bind(&q->conn, queries[f->deadlock][newest], values, FILTER_VALUES + 3, err);
    return sqlite_rows(&q->conn, st, sqlite_fill_int, ids, err);
}

enum err sqlite_read_cluster_reports(struct storage_reader *base, uint64_t cluster_id,
                                     const struct read_filter *f, size_t limit, const char *cursor,
                                     struct arena *arena, struct report_row **ret,
                                     size_t *ret_count, const char **ret_next, struct error *err)
{
    struct sqlite_reader *q = sqlite_reader_of(base);
    struct row_list ids;
    struct cluster_row c = {0};
    struct report_refs refs;
    int64_t below = INT64_MAX;
    bool started = false;
    const char *next = NULL;
    row_list_init(&ids, sizeof(int64_t), arena);
    enum err rc = read_cursor_parse(cursor, 'r', &below, 1, &started, err);
    if (!rc && cluster_id)
        rc = sqlite_read_cluster(base, cluster_id, f, arena, &c, err);
    /* One more than asked for tells whether there is a next page. */
    if (!rc)
        rc = sqlite_report_ids(q, c.id, f, 0, started ? below : INT64_MAX, limit + 1, &ids, err);
    if (rc)
        return rc;
    const int64_t *id = ids.items;
    size_t n = ids.count < limit ? ids.count : limit;
    struct report_row *rows = arena_array(arena, n + 1, sizeof(*rows));
    if (!rows || (ids.count > n && !(next = read_cursor_make(arena, 'r', &id[n - 1], 1))))
        return no_memory(err);
    for (size_t i = 0; i < n && !rc; i++)
        rc = get_report(q, id[i], arena, &rows[i], &refs, err);
    if (rc)
        return rc;
    *ret = rows;
    *ret_count = n;
    *ret_next = next;
    return ERR_OK;
}

/* The newest report of that id in the apps asked for. */
static enum err find_report(struct sqlite_reader *q, const char *bundle_id, const char *id,
                            struct arena *arena, int64_t *ret, struct error *err)
{
    const char **apps = NULL;
    size_t count = 0;
    sqlite3_stmt *st = sql_start(&q->conn, SQL_APP_NAMES, err, sql_text(bundle_id));
    enum err rc = sqlite_row_array(&q->conn, st, sqlite_fill_text, arena, &apps, &count, err);
    *ret = 0;
    for (size_t i = 0; i < count && !rc; i++) {
        uint8_t hash[REPORT_ID_HASH_SIZE];
        int64_t found = 0;
        report_id_hash(apps[i], id, hash);
        rc = sql_get(&q->conn, SQL_REPORT_BY_HASH, 0, &found, err, sql_blob(hash, sizeof(hash)));
        *ret = found > *ret ? found : *ret;
    }
    if (!rc && *ret == 0)
        rc = error_set(err, ERR_NOT_FOUND, "there is no report of this id");
    return rc;
}

enum err sqlite_report_get(struct sqlite_reader *q, int64_t id, struct arena *arena,
                           struct report_row *ret, struct error *err)
{
    struct report_stacks x = {.q = q, .arena = arena};
    struct report_row r = {0};
    struct report_refs refs = {0};
    row_list_init(&x.rows, sizeof(struct stack_row), arena);
    enum err rc = get_report(q, id, arena, &r, &refs, err);
    if (!rc && refs.stack_id)
        rc = fill_stack(&x, refs.stack_id, refs.addresses, refs.addresses_len, &r.stack,
                        &r.addresses, err);
    if (!rc)
        rc = fill_samples(&x, id, &r, err);
    if (!rc)
        rc = fill_threads(&x, id, &r, err);
    if (!rc)
        *ret = r;
    return rc;
}

enum err sqlite_read_report(struct storage_reader *base, const char *bundle_id, const char *id,
                            struct arena *arena, struct report_row *ret, struct error *err)
{
    struct sqlite_reader *q = sqlite_reader_of(base);
    int64_t row_id = 0;
    enum err rc = find_report(q, bundle_id, id, arena, &row_id, err);
    return rc ? rc : sqlite_report_get(q, row_id, arena, ret, err);
}
