#include "storage/sqlite_clusters.h"

#include <string.h>

#include "base/text.h"
#include "storage/cluster_face.h"
#include "storage/sqlite_life.h"
#include "storage/sqlite_seen.h"

#define MERGES_MAX 64 /* one after the other; they make no circle, and are short */

enum err sqlite_key_root(struct sqlite_storage *s, int64_t app_id, const uint8_t key[PART_KEY_SIZE],
                         uint8_t ret[PART_KEY_SIZE], struct error *err)
{
    uint8_t at[PART_KEY_SIZE];
    memcpy(at, key, sizeof(at));
    for (int i = 0; i < MERGES_MAX; i++) {
        bool row = false;
        enum err rc = sql_get_fixed(
            &s->conn,
            sql_start(&s->conn, SQL_RULE_NEXT, err, sql_int(app_id), sql_blob(at, sizeof(at))), at,
            sizeof(at), &row, err);
        if (rc)
            return rc;
        if (!row) {
            memcpy(ret, at, sizeof(at));
            return ERR_OK;
        }
    }
    return error_set(err, ERR_FORMAT, "merges of clusters make a circle");
}

/* With the id that this key had before, if it had one. */
static enum err insert_cluster(struct sqlite_storage *s, int64_t app_id,
                               const uint8_t root[PART_KEY_SIZE], const struct op_resolution *r,
                               const struct cluster_birth *birth, int64_t *ret, struct error *err)
{
    int64_t id = 0;
    struct sql_value key = sql_blob(root, PART_KEY_SIZE);
    bool borrowed = memcmp(root, r->key, PART_KEY_SIZE) != 0;
    enum err rc = sql_get(&s->conn, SQL_ALIAS_OF_KEY, 0, &id, err, sql_int(app_id), key);
    if (!rc)
        rc = sql_run(&s->conn, SQL_CLUSTER_INSERT, err, sql_int(app_id), key,
                     sql_int(r->cluster_kind), sql_int(r->provisional), sql_int(r->hidden),
                     sql_text(r->title), sql_text(r->key_text), sql_text(r->function),
                     sql_text(r->file), sql_text(r->image), sql_text(r->category),
                     sql_text(r->owner), sql_text(birth->rules_version), sql_int(borrowed),
                     sql_int_or_null(id, 0), sql_int(birth->now_ms), sql_int(birth->origin_id));
    if (!rc && id)
        rc = sql_run(&s->conn, SQL_ALIAS_DROP, err, sql_int(id));
    if (!id)
        id = sqlite3_last_insert_rowid(s->conn.db);
    if (!rc)
        rc = sql_run(&s->conn, SQL_CLUSTER_TOTALS_INSERT, err, sql_int(id));
    *ret = id;
    return rc;
}

static const char *column_text(sqlite3_stmt *st, int column)
{
    return (const char *)sqlite3_column_text(st, column);
}

/* What there is of the key: *ret_id 0, nothing. *ret_renew: it shows what the resolution says from now
 * on. The same key under other rules: title and verdict are those of the rules of now. Under the same
 * rules the face that comes first. A part that was merged into the cluster lends it its face until the
 * cluster has a stack of its own. */
static enum err look_up(struct sqlite_storage *s, sqlite3_stmt *st, const struct op_resolution *r,
                        const struct cluster_birth *birth, bool merged, int64_t *ret_id,
                        bool *ret_renew, struct error *err)
{
    bool row = false;
    enum err rc = st ? sql_step(&s->conn, st, &row, err) : err->code;
    *ret_id = 0;
    if (rc || !row)
        return rc;
    const struct cluster_face theirs = cluster_face_of(r);
    const struct cluster_face ours = {.function = column_text(st, 3),
                                      .file = column_text(st, 4),
                                      .image = column_text(st, 5),
                                      .title = column_text(st, 6),
                                      .category = column_text(st, 7),
                                      .owner = column_text(st, 8)};
    const bool borrowed = sqlite3_column_int(st, 2);
    *ret_id = sqlite3_column_int64(st, 0);
    *ret_renew = !text_same(column_text(st, 1), birth->rules_version) || (borrowed && !merged) ||
                 (borrowed == merged && cluster_face_order(&theirs, &ours) < 0);
    sql_end(st);
    return ERR_OK;
}

static enum err find_cluster(struct sqlite_storage *s, int64_t app_id,
                             const struct op_resolution *r, const struct cluster_birth *birth,
                             struct cluster_found *ret, struct error *err)
{
    int64_t id = 0;
    bool renew = false;
    uint8_t root[PART_KEY_SIZE];
    enum err rc = sqlite_key_root(s, app_id, r->key, root, err);
    if (rc)
        return rc;
    const bool merged = memcmp(root, r->key, sizeof(root)) != 0;
    rc = look_up(
        s,
        sql_start(&s->conn, SQL_CLUSTER_FACE, err, sql_int(app_id), sql_blob(root, sizeof(root))),
        r, birth, merged, &id, &renew, err);
    if (!rc && renew)
        rc = sql_run(&s->conn, SQL_CLUSTER_RENEW, err, sql_int(id), sql_text(birth->rules_version),
                     sql_int(r->cluster_kind), sql_int(r->provisional), sql_int(r->hidden),
                     sql_text(r->title), sql_text(r->key_text), sql_text(r->function),
                     sql_text(r->file), sql_text(r->image), sql_text(r->category),
                     sql_text(r->owner), sql_int(merged));
    if (!rc && !id)
        rc = insert_cluster(s, app_id, root, r, birth, &id, err);
    if (!rc)
        *ret = (struct cluster_found){id, merged};
    return rc;
}

static bool shows_the_same(const struct op_resolution *a, const struct op_resolution *b)
{
    return memcmp(a->key, b->key, sizeof(a->key)) == 0 && a->cluster_kind == b->cluster_kind &&
           a->provisional == b->provisional && a->hidden == b->hidden &&
           text_same(a->title, b->title) && text_same(a->key_text, b->key_text) &&
           text_same(a->function, b->function) && text_same(a->file, b->file) &&
           text_same(a->image, b->image) && text_same(a->category, b->category) &&
           text_same(a->owner, b->owner);
}

enum err sqlite_cluster_of(struct sqlite_storage *s, int64_t app_id, const struct op_resolution *r,
                           const struct cluster_birth *birth, struct cluster_memo *memo,
                           struct cluster_found *ret, struct error *err)
{
    const size_t at = (r->key[0] | (size_t)r->key[1] << 8) % CLUSTER_MEMO;
    if (memo->items[at].shown && memo->items[at].app_id == app_id &&
        shows_the_same(memo->items[at].shown, r)) {
        *ret = memo->items[at].found;
        return ERR_OK;
    }
    enum err rc = find_cluster(s, app_id, r, birth, ret, err);
    if (!rc) {
        memo->items[at].app_id = app_id;
        memo->items[at].found = *ret;
        memo->items[at].shown = r;
    }
    return rc;
}

/* The histogram, then the tally, into s->blob. */
static enum err encode_sums(struct sqlite_storage *s, const struct histogram *hist,
                            const struct tally *tally, size_t *ret_hist_len, struct error *err)
{
    buf_clear(&s->blob);
    if (!histogram_encode(hist, &s->blob))
        return error_set(err, ERR_NO_MEMORY, "no memory for counters");
    *ret_hist_len = s->blob.len;
    return tally_encode(tally, &s->blob) ? ERR_OK
                                         : error_set(err, ERR_NO_MEMORY, "no memory for counters");
}

enum err sqlite_cluster_add(struct sqlite_storage *s, const struct cluster_move *m,
                            struct error *err)
{
    const struct figures *f = m->figures;
    size_t hist_len = 0;
    enum err rc = encode_sums(s, &f->hist, m->tally, &hist_len, err);
    if (rc)
        return rc;
    return sql_run(&s->conn, SQL_CLUSTER_ADD, err, sql_int(m->to), sql_int(f->count),
                   sql_int(f->weighted), sql_int(f->stall_ms), sql_int(m->first_ms),
                   sql_int(m->last_ms), sql_blob(s->blob.data, hist_len), sql_int(f->above_ms),
                   sql_blob(s->blob.data + hist_len, s->blob.len - hist_len), sql_int(m->stacks));
}

/* What the totals are without what leaves; sums are taken away in SQL. */
struct left {
    struct histogram hist;
    int64_t first_ms, last_ms;
};

static enum err left_of(struct sqlite_storage *s, const struct cluster_move *m, struct left *ret,
                        struct error *err)
{
    bool row = false;
    sqlite3_stmt *st = sql_start(&s->conn, SQL_CLUSTER_LEFT, err, sql_int(m->from));
    enum err rc = st ? sql_step(&s->conn, st, &row, err) : err->code;
    if (rc)
        return rc;
    bool ok = row && histogram_add_encoded(&ret->hist, sqlite3_column_blob(st, 0),
                                           (size_t)sqlite3_column_bytes(st, 0));
    if (row) {
        ret->first_ms = sqlite3_column_int64(st, 1);
        ret->last_ms = sqlite3_column_int64(st, 2);
        sql_end(st);
    }
    if (!ok)
        return error_set(err, ERR_FORMAT, "the sums of cluster %lld are damaged",
                         (long long)m->from);
    histogram_subtract(&ret->hist, &m->figures->hist);
    if (ret->first_ms >= m->first_ms)
        rc = sqlite_seen_first(s, m->from, &ret->first_ms, err);
    if (!rc && ret->last_ms <= m->last_ms)
        rc = sqlite_seen_last(s, m->from, &ret->last_ms, err);
    return rc;
}

enum err sqlite_cluster_take(struct sqlite_storage *s, const struct cluster_move *m,
                             struct error *err)
{
    const struct figures *f = m->figures;
    struct left left = {.first_ms = 0};
    size_t hist_len = 0;
    histogram_init(&left.hist);
    enum err rc = left_of(s, m, &left, err);
    if (!rc)
        rc = encode_sums(s, &left.hist, m->tally, &hist_len, err);
    if (!rc)
        rc = sql_run(&s->conn, SQL_CLUSTER_TAKE, err, sql_int(m->from), sql_int(f->count),
                     sql_int(f->weighted), sql_int(f->stall_ms), sql_blob(s->blob.data, hist_len),
                     sql_int(left.first_ms), sql_int(left.last_ms), sql_int(f->above_ms),
                     sql_blob(s->blob.data + hist_len, s->blob.len - hist_len), sql_int(m->stacks));
    histogram_done(&left.hist);
    return rc;
}

enum err sqlite_cluster_reap(struct sqlite_storage *s, int64_t cluster_id, struct error *err)
{
    int64_t stack = 0;
    int64_t heir = 0;
    enum err rc = sql_get(&s->conn, SQL_CLUSTER_ANY_STACK, 0, &stack, err, sql_int(cluster_id));
    if (rc || stack)
        return rc;
    rc = sql_get(&s->conn, SQL_CLUSTER_HEIR, 0, &heir, err, sql_int(cluster_id));
    if (rc)
        return rc;
    rc = sqlite_life_inherit(s, cluster_id, heir, err);
    if (rc)
        return rc;
    if (heir == 0) {
        /* Nothing of any weight was ever here (stacks of samples whose reports have expired). */
        rc = sql_run(&s->conn, SQL_ALIASES_DROP, err, sql_int(cluster_id));
        if (!rc)
            rc = sql_run(&s->conn, SQL_CLUSTER_MOVES_DROP_TO, err, sql_int(cluster_id), sql_int(1));
    } else {
        const struct sql_value pair[] = {sql_int(cluster_id), sql_int(heir)};
        static const enum sql_query steps[] = {
            SQL_ALIASES_REDIRECT,    /* ids that led here lead on */
            SQL_CLUSTER_MOVES_MERGE, /* weight that came here counts as gone to the heir */
            SQL_CLUSTER_MOVES_DROP_TO,
            SQL_ALIAS_INSERT,
        };
        for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]) && !rc; i++)
            rc = sql_run_values(&s->conn, steps[i], pair, 2, err);
    }
    if (!rc)
        rc = sql_run(&s->conn, SQL_CLUSTER_DELETE, err, sql_int(cluster_id));
    return rc;
}
