#include "storage/sqlite_moves.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "storage/sqlite_clusters.h"
#include "storage/sqlite_heft.h"
#include "storage/sqlite_seen.h"
#include "storage/sqlite_stack_rows.h"

/* What goes one way. */
struct flow {
    int64_t first_ms, last_ms;
    int64_t stacks; /* with reports */
    struct figures figures;
    struct tally tally;
    struct cube cube;      /* of what is in the roll-ups */
    size_t rolled;         /* stacks that are */
    struct row_list later; /* struct rolled_report: their reports that are not */
};

struct move_place {
    struct move_place *next, *chained; /* in order of arrival; of the slot */
    struct rollup_place rollup;
    struct flow out, in;
};

struct move_pair {
    struct move_pair *next, *chained;
    int64_t from, to;
    int64_t count, weighted;
};

static void flow_init(struct flow *f, struct arena *arena)
{
    f->first_ms = INT64_MAX;
    f->last_ms = INT64_MIN;
    row_list_init(&f->later, sizeof(struct rolled_report), arena);
}

static void flow_done(struct flow *f)
{
    figures_done(&f->figures);
    tally_done(&f->tally);
    cube_done(&f->cube);
}

void moves_init(struct moves *m, struct arena *arena)
{
    memset(m, 0, sizeof(*m));
    m->arena = arena;
    row_list_init(&m->stacks, sizeof(struct stack_move), arena);
    row_list_init(&m->hefts, sizeof(int64_t), arena);
    fold_init(&m->leaves, arena);
    fold_init(&m->comes, arena);
}

void moves_done(struct moves *m)
{
    for (struct move_place *p = m->first_place; p; p = p->next) {
        flow_done(&p->out);
        flow_done(&p->in);
        cube_done(&p->rollup.cube);
    }
    fold_done(&m->leaves);
    fold_done(&m->comes);
    memset(m, 0, sizeof(*m));
}

static enum err no_memory(struct error *err)
{
    return error_set(err, ERR_NO_MEMORY, "no memory for stacks that move");
}

/* --- places and pairs ------------------------------------------------------------------------- */

/* *ret NULL for cluster 0. */
static enum err place_of(struct sqlite_storage *s, struct moves *m, int64_t cluster_id,
                         struct move_place **ret, struct error *err)
{
    struct move_place **slot =
        &m->place_slots[hash64(&cluster_id, sizeof(cluster_id), 0) % MOVE_SLOTS];
    for (*ret = cluster_id ? *slot : NULL; *ret; *ret = (*ret)->chained) {
        if ((*ret)->rollup.cluster_id == cluster_id)
            return ERR_OK;
    }
    if (cluster_id == 0)
        return ERR_OK;
    struct move_place *p = arena_alloc(m->arena, sizeof(*p));
    if (!p)
        return no_memory(err);
    flow_init(&p->out, m->arena);
    flow_init(&p->in, m->arena);
    p->chained = *slot;
    *slot = *ret = p;
    if (m->last_place)
        m->last_place->next = p;
    else
        m->first_place = p;
    m->last_place = p;
    return sqlite_rollup_place(s, cluster_id, &p->rollup, err);
}

static struct move_pair *pair_of(struct moves *m, int64_t from, int64_t to)
{
    const int64_t key[] = {from, to};
    struct move_pair **slot = &m->pair_slots[hash64(key, sizeof(key), 0) % MOVE_SLOTS];
    for (struct move_pair *p = *slot; p; p = p->chained) {
        if (p->from == from && p->to == to)
            return p;
    }
    struct move_pair *p = arena_alloc(m->arena, sizeof(*p));
    if (!p)
        return NULL;
    *p = (struct move_pair){.chained = *slot, .from = from, .to = to};
    *slot = p;
    if (m->last_pair)
        m->last_pair->next = p;
    else
        m->first_pair = p;
    m->last_pair = p;
    return p;
}

/* --- what a stack has ------------------------------------------------------------------------- */

/* One stack on its way. */
struct mover {
    const struct stack_move *stack;
    struct move_pair *pair;
    struct move_place *from, *to; /* `from` NULL: none */
    bool rolled;                  /* it is in the roll-ups */
    bool any;                     /* it has reports */
};

static enum err add_to_flow(struct flow *f, const struct fold_row *row, bool rolled,
                            struct error *err)
{
    const struct hour_sums *sums = &row->sums;
    const struct cube_row cell = {.build_id = row->key[1],
                                  .day = (int32_t)row->key[0],
                                  .kind = (int32_t)row->key[2],
                                  .count = sums->count,
                                  .weighted = sums->weighted,
                                  .stall_ms = sums->stall_ms,
                                  .above_ms = sums->above_ms};
    if (row->table == FOLD_DEVICES)
        return tally_add(&f->tally, TALLY_DEVICES, row->key[1], sums->count) ? ERR_OK
                                                                             : no_memory(err);
    if (row->table == FOLD_PAGES)
        return ERR_OK;
    figures_add_sums(&f->figures, sums->count, sums->weighted, sums->stall_ms, sums->above_ms);
    if (!histogram_add_encoded(&f->figures.hist, row->hist, row->hist_len))
        return error_set(err, ERR_FORMAT, "the counters of a stack are damaged");
    return tally_add(&f->tally, TALLY_DAYS, row->key[0], sums->count) &&
                   tally_add(&f->tally, TALLY_BUILDS, row->key[1], sums->count) &&
                   (!rolled || cube_add(&f->cube, &cell))
               ? ERR_OK
               : no_memory(err);
}

static bool has_tables(const struct move_place *p)
{
    return p && p->rollup.rolled;
}

/* Those that rows are read of. */
struct movers {
    struct moves *moves;
    struct mover **items;
    int64_t *ids;
    size_t count;
};

static enum err add_row(void *ctx, size_t at, const struct fold_row *row, struct error *err)
{
    const struct movers *all = ctx;
    struct mover *w = all->items[at];
    enum err rc = w->from ? add_to_flow(&w->from->out, row, w->rolled, err) : ERR_OK;
    if (!rc)
        rc = add_to_flow(&w->to->in, row, w->rolled, err);
    if (!rc && w->rolled && has_tables(w->from))
        rc = fold_rolled_row(&all->moves->leaves, w->from->rollup.cluster_id, row, err);
    if (!rc && w->rolled && has_tables(w->to))
        rc = fold_rolled_row(&all->moves->comes, w->to->rollup.cluster_id, row, err);
    if (row->table != FOLD_COUNTERS)
        return rc;
    w->any = true;
    w->pair->count += row->sums.count;
    w->pair->weighted = figures_sum(w->pair->weighted, row->sums.weighted);
    return rc;
}

/* The stack's counters have its later reports, the cube does not. */
static enum err add_later(struct flow *f, const struct row_list *later, struct error *err)
{
    const struct rolled_report *items = later->items;
    f->rolled++;
    for (size_t i = 0; i < later->count; i++) {
        struct rolled_report *kept = row_list_add(&f->later, err);
        struct cube_row less;
        sqlite_rolled_cube_row(&items[i].adds, &less);
        cube_negate(&less);
        if (!kept || !cube_add(&f->cube, &less))
            return no_memory(err);
        *kept = items[i];
    }
    return ERR_OK;
}

static enum err add_rolled(struct sqlite_storage *s, struct moves *m, const struct mover *w,
                           struct error *err)
{
    struct row_list later;
    row_list_init(&later, sizeof(struct rolled_report), m->arena);
    if (has_tables(w->to)) {
        int64_t *heft = row_list_add(&m->hefts, err);
        if (!heft)
            return ERR_NO_MEMORY;
        *heft = w->stack->stack_id;
    }
    enum err rc = sqlite_rollup_later(s, &m->limits, w->stack->stack_id, &later, err);
    if (!rc && w->from)
        rc = add_later(&w->from->out, &later, err);
    return rc ? rc : add_later(&w->to->in, &later, err);
}

static void see_in(struct flow *f, const struct stack_move *stack)
{
    f->stacks++;
    f->first_ms = stack->first_ms < f->first_ms ? stack->first_ms : f->first_ms;
    f->last_ms = stack->last_ms > f->last_ms ? stack->last_ms : f->last_ms;
}

static void see(struct sqlite_storage *s, const struct mover *w)
{
    const struct stack_move *m = w->stack;
    if (w->from) {
        see_in(&w->from->out, m);
        sqlite_seen_left(s, m->from, m->stack_id, m->first_ms, m->last_ms);
    }
    see_in(&w->to->in, m);
    sqlite_seen_stack(s, m->to, m->stack_id, m->first_ms, m->last_ms);
}

static enum err begin(struct sqlite_storage *s, struct moves *m, const struct stack_move *stack,
                      struct mover *ret, struct error *err)
{
    *ret = (struct mover){.stack = stack, .rolled = stack->stack_id < m->limits.first_new};
    enum err rc = place_of(s, m, stack->from, &ret->from, err);
    if (!rc)
        rc = place_of(s, m, stack->to, &ret->to, err);
    if (rc)
        return rc;
    ret->pair = pair_of(m, stack->from, stack->to);
    return ret->pair ? ERR_OK : no_memory(err);
}

typedef bool has_rows(const struct mover *w);

static bool all_have(const struct mover *w)
{
    (void)w;
    return true;
}

static bool has_any(const struct mover *w)
{
    return w->any;
}

static bool has_pages(const struct mover *w)
{
    return w->any && w->rolled && (has_tables(w->from) || has_tables(w->to));
}

/* What they have in one table; of stacks without counters the others have nothing. */
static enum err read_table(struct sqlite_storage *s, struct movers *all, struct mover *movers,
                           size_t count, enum fold_table table, struct error *err)
{
    static has_rows *const have[] = {
        [FOLD_COUNTERS] = all_have, [FOLD_DEVICES] = has_any, [FOLD_PAGES] = has_pages};
    all->count = 0;
    for (size_t i = 0; i < count; i++) {
        if (!have[table](&movers[i]))
            continue;
        all->items[all->count] = &movers[i];
        all->ids[all->count++] = movers[i].stack->stack_id;
    }
    const struct sql_ids stacks = {all->ids, all->count};
    return sqlite_stack_rows(s, table, &stacks, add_row, all, err);
}

static enum err read_all(struct sqlite_storage *s, struct moves *m, struct mover *movers,
                         size_t count, struct error *err)
{
    static const enum fold_table tables[] = {FOLD_COUNTERS, FOLD_DEVICES, FOLD_PAGES};
    struct movers all = {m, arena_array(m->arena, count, sizeof(*all.items)),
                         arena_array(m->arena, count, sizeof(*all.ids)), 0};
    enum err rc = all.items && all.ids ? ERR_OK : no_memory(err);
    for (size_t t = 0; t < sizeof(tables) / sizeof(tables[0]) && !rc; t++)
        rc = read_table(s, &all, movers, count, tables[t], err);
    return rc;
}

static int by_stack(const void *a, const void *b)
{
    const struct stack_move *x = a;
    const struct stack_move *y = b;
    return (x->stack_id > y->stack_id) - (x->stack_id < y->stack_id);
}

static enum err gather(struct sqlite_storage *s, struct moves *m, struct error *err)
{
    struct stack_move *stacks = m->stacks.items;
    const size_t count = m->stacks.count;
    struct mover *movers = arena_array(m->arena, count, sizeof(*movers));
    enum err rc = movers ? sqlite_rolled_limits(s, &m->limits, err) : no_memory(err);
    qsort(stacks, count, sizeof(*stacks), by_stack);
    for (size_t i = 0; i < count && !rc; i++)
        rc = begin(s, m, &stacks[i], &movers[i], err);
    if (!rc)
        rc = read_all(s, m, movers, count, err);
    for (size_t i = 0; i < count && !rc; i++) {
        const struct mover *w = &movers[i];
        if (!w->any)
            continue;
        see(s, w);
        if (w->rolled)
            rc = add_rolled(s, m, w, err);
    }
    return rc;
}

enum err moves_add(struct moves *m, const struct stack_move *stack, struct error *err)
{
    struct stack_move *kept = row_list_add(&m->stacks, err);
    if (!kept)
        return ERR_NO_MEMORY;
    *kept = *stack;
    return ERR_OK;
}

/* --- writing ---------------------------------------------------------------------------------- */

static enum err write_totals(struct sqlite_storage *s, const struct move_place *p,
                             struct error *err)
{
    const int64_t id = p->rollup.cluster_id;
    const struct flow *out = &p->out;
    const struct flow *in = &p->in;
    const struct cluster_move left = {
        id, 0, &out->figures, &out->tally, out->first_ms, out->last_ms, out->stacks};
    const struct cluster_move came = {
        0, id, &in->figures, &in->tally, in->first_ms, in->last_ms, in->stacks};
    enum err rc = out->stacks ? sqlite_cluster_take(s, &left, err) : ERR_OK;
    return rc || !in->stacks ? rc : sqlite_cluster_add(s, &came, err);
}

static enum err write_cube(struct sqlite_storage *s, struct move_place *p, struct error *err)
{
    struct rollup_place *r = &p->rollup;
    if (!p->out.rolled && !p->in.rolled)
        return ERR_OK;
    if (!cube_take(&r->cube, &p->out.cube) || !cube_merge(&r->cube, &p->in.cube))
        return no_memory(err);
    return sqlite_rollup_place_set(s, r, err);
}

/* Later reports of the stacks as they would be in the tables of their cluster. */
static enum err fold_later(struct fold *f, const struct move_place *p, const struct flow *flow,
                           struct error *err)
{
    const struct rolled_report *items = flow->later.items;
    enum err rc = ERR_OK;
    for (size_t i = 0; i < flow->later.count && has_tables(p) && !rc; i++)
        rc = fold_rolled(f, p->rollup.cluster_id, &items[i].adds, err);
    return rc;
}

/* The stacks' counters know nothing of later: their later reports are added first and leave with
 * them, or come with them and are taken away again. */
static enum err write_tables(struct sqlite_storage *s, struct moves *m, struct error *err)
{
    struct fold leaving;
    struct fold coming;
    enum err rc = ERR_OK;
    fold_init(&leaving, m->arena);
    fold_init(&coming, m->arena);
    for (const struct move_place *p = m->first_place; p && !rc; p = p->next) {
        rc = fold_later(&leaving, p, &p->out, err);
        if (!rc)
            rc = fold_later(&coming, p, &p->in, err);
    }
    if (!rc)
        rc = sqlite_fold_write(s, &leaving, err);
    if (!rc)
        rc = sqlite_fold_take(s, &m->leaves, err);
    if (!rc)
        rc = sqlite_fold_write(s, &m->comes, err);
    if (!rc)
        rc = sqlite_fold_take(s, &coming, err);
    fold_done(&leaving);
    fold_done(&coming);
    return rc;
}

enum err moves_write(struct sqlite_storage *s, struct moves *m, struct error *err)
{
    enum err rc = m->stacks.count ? gather(s, m, err) : ERR_OK;
    for (const struct move_pair *p = m->first_pair; p && !rc; p = p->next) {
        if (p->from)
            rc = sql_run(&s->conn, SQL_CLUSTER_MOVE_ADD, err, sql_int(p->from), sql_int(p->to),
                         sql_int(p->weighted), sql_int(p->count));
    }
    for (struct move_place *p = m->first_place; p && !rc; p = p->next) {
        rc = write_totals(s, p, err);
        if (!rc)
            rc = write_cube(s, p, err);
    }
    if (!rc)
        rc = sqlite_heft_stacks(s, &(struct sql_ids){m->hefts.items, m->hefts.count}, err);
    if (!rc)
        rc = write_tables(s, m, err);
    for (const struct move_place *p = m->first_place; p && !rc; p = p->next) {
        const int64_t stacks = p->rollup.stacks + p->in.stacks - p->out.stacks;
        if (p->in.rolled && !p->rollup.rolled && stacks > (int64_t)s->rollup_stacks)
            rc = sqlite_rollup_grown(s, p->rollup.cluster_id, err);
    }
    return rc;
}
