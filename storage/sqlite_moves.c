#include "storage/sqlite_moves.h"

#include <string.h>

#include "base/hash.h"
#include "storage/sqlite_clusters.h"

struct cluster_pair {
    struct cluster_pair *next, *chained; /* in order of arrival; of the slot */
    int64_t first_ms, last_ms;
    int64_t stacks; /* with reports */
    struct figures figures;
    struct tally tally;
    struct rollup_move rolled;
};

void moves_init(struct moves *m, struct arena *arena)
{
    memset(m, 0, sizeof(*m));
    m->arena = arena;
}

void moves_done(struct moves *m)
{
    for (struct cluster_pair *p = m->first; p; p = p->next) {
        figures_done(&p->figures);
        tally_done(&p->tally);
        rollup_move_done(&p->rolled);
    }
    memset(m, 0, sizeof(*m));
}

static enum err no_memory(struct error *err)
{
    return error_set(err, ERR_NO_MEMORY, "no memory for stacks that move");
}

static struct cluster_pair *pair_of(struct moves *m, int64_t from, int64_t to)
{
    const int64_t key[] = {from, to};
    struct cluster_pair **slot = &m->slots[hash64(key, sizeof(key), 0) % MOVE_SLOTS];
    for (struct cluster_pair *p = *slot; p; p = p->chained) {
        if (p->rolled.from == from && p->rolled.to == to)
            return p;
    }
    struct cluster_pair *p = arena_alloc(m->arena, sizeof(*p));
    if (!p)
        return NULL;
    p->first_ms = INT64_MAX;
    p->last_ms = INT64_MIN;
    rollup_move_init(&p->rolled, from, to, m->arena);
    p->chained = *slot;
    *slot = p;
    if (m->last)
        m->last->next = p;
    else
        m->first = p;
    m->last = p;
    return p;
}

static bool add_row(struct cluster_pair *p, const struct cube_row *row, const void *hist,
                    size_t hist_len, bool rolled)
{
    figures_add_sums(&p->figures, row->count, row->weighted, row->stall_ms, row->above_ms);
    return histogram_add_encoded(&p->figures.hist, hist, hist_len) &&
           tally_add(&p->tally, TALLY_DAYS, row->day, row->count) &&
           tally_add(&p->tally, TALLY_BUILDS, row->build_id, row->count) &&
           (!rolled || cube_add(&p->rolled.cube, row));
}

static enum err add_counters(struct sqlite_storage *s, struct cluster_pair *p, int64_t stack_id,
                             bool rolled, struct error *err)
{
    sqlite3_stmt *st = sql_start(&s->conn, SQL_STACK_COUNTERS, err, sql_int(stack_id));
    if (!st)
        return err->code;
    for (bool row = true;;) {
        enum err rc = sql_step(&s->conn, st, &row, err);
        if (rc || !row)
            return rc;
        const struct cube_row counts = {.build_id = sqlite3_column_int64(st, 0),
                                        .day = sqlite3_column_int(st, 1),
                                        .kind = sqlite3_column_int(st, 2),
                                        .count = sqlite3_column_int64(st, 3),
                                        .weighted = sqlite3_column_int64(st, 4),
                                        .stall_ms = sqlite3_column_int64(st, 5),
                                        .above_ms = sqlite3_column_int64(st, 6)};
        const void *hist = sqlite3_column_blob(st, 7);
        if (!add_row(p, &counts, hist, (size_t)sqlite3_column_bytes(st, 7), rolled)) {
            sql_end(st);
            return error_set(err, ERR_FORMAT, "the counters of stack %lld are damaged",
                             (long long)stack_id);
        }
    }
}

static enum err add_devices(struct sqlite_storage *s, struct cluster_pair *p, int64_t stack_id,
                            struct error *err)
{
    sqlite3_stmt *st = sql_start(&s->conn, SQL_STACK_DEVICES, err, sql_int(stack_id));
    if (!st)
        return err->code;
    for (bool row = true;;) {
        enum err rc = sql_step(&s->conn, st, &row, err);
        if (rc || !row)
            return rc;
        if (!tally_add(&p->tally, TALLY_DEVICES, sqlite3_column_int64(st, 0),
                       sqlite3_column_int64(st, 1))) {
            sql_end(st);
            return no_memory(err);
        }
    }
}

enum err moves_add(struct sqlite_storage *s, struct moves *m, const struct stack_move *stack,
                   struct error *err)
{
    enum err rc = ERR_OK;
    if (!m->limits_known)
        rc = sqlite_rolled_limits(s, &m->limits, err);
    m->limits_known = !rc;
    struct cluster_pair *p = rc ? NULL : pair_of(m, stack->from, stack->to);
    if (rc || !p)
        return rc ? rc : no_memory(err);
    const int64_t before = p->figures.count;
    const bool rolled = stack->stack_id < m->limits.first_new;
    rc = add_counters(s, p, stack->stack_id, rolled, err);
    if (rc || p->figures.count == before)
        return rc;
    p->stacks++;
    p->first_ms = stack->first_ms < p->first_ms ? stack->first_ms : p->first_ms;
    p->last_ms = stack->last_ms > p->last_ms ? stack->last_ms : p->last_ms;
    rc = add_devices(s, p, stack->stack_id, err);
    return rc || !rolled ? rc
                         : sqlite_rollup_gather(s, &p->rolled, &m->limits, stack->stack_id, err);
}

enum err moves_write(struct sqlite_storage *s, const struct moves *m, struct error *err)
{
    enum err rc = ERR_OK;
    for (const struct cluster_pair *p = m->first; p && !rc; p = p->next) {
        const struct cluster_move move = {p->rolled.from, p->rolled.to, &p->figures, &p->tally,
                                          p->first_ms,    p->last_ms,   p->stacks};
        rc = sqlite_cluster_move(s, &move, err);
        if (!rc)
            rc = sqlite_rollup_move(s, &p->rolled, err);
    }
    return rc;
}
