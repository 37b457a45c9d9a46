#include "server/jobs/epoch_align.h"

#include <string.h>

#include "base/clock.h"

#define PAGE        128
#define PAGE_ARENA  ((size_t)128 << 20)
#define OP_ARENA    ((size_t)1 << 20)
#define MAP_ARENA   ((size_t)256 << 20)
#define BUSY_MS     50
#define SAVE_STACKS 8192 /* without a change, after which the position is written */
#define NOT_CHANCE  16   /* so many of a page refused, and none taken: that is not these stacks */

struct aligning {
    const struct epoch_tools *tools;
    const struct rules *rules;
    struct cluster_work_row *work;
    struct merge_map map;
    struct arena page;
    uint64_t saved; /* of work->seen */
    uint64_t damaged;
};

enum err epoch_save(const struct epoch_tools *tools, const struct cluster_work_row *work,
                    bool finished, struct error *err)
{
    struct write_op *op = write_op_new(WRITE_CLUSTER_WORK, OP_ARENA);
    if (!op)
        return error_set(err, ERR_NO_MEMORY, "no memory for work on clusters");
    op->u.cluster_work = (struct op_cluster_work){.id = work->id,
                                                  .attempt = work->attempt,
                                                  .kind = work->kind,
                                                  .phase = work->phase,
                                                  .after_id = work->after_id,
                                                  .seen = work->seen,
                                                  .changed = work->changed,
                                                  .total = work->total,
                                                  .rules_version = work->rules_version,
                                                  .finished = finished,
                                                  .now_ms = clock_wall_ms()};
    enum err rc = epoch_send(tools, op, err);
    write_op_free(op);
    return rc;
}

static void fill(const struct keyed_stack *stack, const struct keyed *keyed,
                 struct op_resolution *out)
{
    const struct cluster_verdict *v = &keyed->verdict;
    *out = (struct op_resolution){.stack_id = stack->stack_id,
                                  .generation = stack->generation,
                                  .stack = keyed->changed ? keyed->stack : NULL,
                                  .cluster_kind = (uint8_t)v->kind,
                                  .provisional = v->kind == CLUSTER_PROVISIONAL,
                                  .hidden = v->kind == CLUSTER_IDLE,
                                  .key_text = v->key_text,
                                  .title = v->title,
                                  .function = v->function,
                                  .file = v->file,
                                  .image = v->image,
                                  .category = v->category,
                                  .owner = v->owner,
                                  .overlay = keyed->overlay};
    memcpy(out->key, v->key, sizeof(out->key));
    memcpy(out->variant, v->variant, sizeof(out->variant));
    for (size_t i = 0; i < keyed->stack->count; i++)
        out->approximate = out->approximate || keyed->stack->frames[i].approximate;
}

static bool is_in_place(const struct aligning *a, const struct keyed_stack *stack,
                        const struct keyed *keyed)
{
    const uint8_t *key = keyed->verdict.key;
    return !keyed->changed && memcmp(key, stack->part, CLUSTER_KEY_SIZE) == 0 &&
           memcmp(merge_map_root(&a->map, key), stack->cluster, CLUSTER_KEY_SIZE) == 0 &&
           strcmp(stack->rules_version, rules_version(a->rules)) == 0;
}

/* Each item as an op of its own, without the position; those that are refused stay where they are. Where
 * all of many are the work is tried again later. */
static enum err send_each(struct aligning *a, struct write_op *op, struct error *err)
{
    struct op_rekey *o = &op->u.rekey;
    const struct op_rekey all = *o;
    uint64_t changed = 0;
    size_t refused = 0;
    enum err rc = ERR_OK;
    o->work_id = 0;
    o->count = 1;
    for (size_t i = 0; i < all.count && !rc; i++) {
        o->items = &all.items[i];
        rc = epoch_send(a->tools, op, err);
        changed += rc ? 0 : o->changed;
        refused += rc == ERR_INTERNAL;
        if (rc == ERR_INTERNAL && (refused < NOT_CHANCE || refused < all.count))
            rc = ERR_OK;
    }
    a->damaged += rc ? 0 : refused;
    o->changed = changed;
    return rc;
}

/* The items of a page, and the position behind them. */
static enum err send_keys(struct aligning *a, struct write_op *op, struct error *err)
{
    struct cluster_work_row *w = a->work;
    struct op_rekey *o = &op->u.rekey;
    o->rules_version = rules_version(a->rules);
    o->work_id = w->id;
    o->work_attempt = w->attempt;
    o->after_id = w->after_id;
    o->seen = w->seen - a->saved;
    o->now_ms = clock_wall_ms();
    enum err rc = epoch_send(a->tools, op, err);
    if (!rc)
        a->saved = w->seen;
    else if (rc == ERR_INTERNAL) /* what the database has of one of the stacks is damaged */
        rc = send_each(a, op, err);
    w->changed += rc ? 0 : o->changed;
    return rc;
}

/* Those of the stacks that belong elsewhere. */
static enum err key_anew(struct aligning *a, const struct keyed_stack *stacks, size_t count,
                         struct op_rekey *out, struct op_resolution *items, struct error *err)
{
    enum err rc = ERR_OK;
    out->items = items;
    for (size_t i = 0; i < count && !rc; i++) {
        struct keyed keyed;
        if (stacks[i].damaged) {
            a->damaged++;
            continue;
        }
        rc = keyer_stack(a->tools->keyer, a->work->bundle_id, &stacks[i], false, &a->page, &keyed,
                         err);
        if (!rc && !is_in_place(a, &stacks[i], &keyed))
            fill(&stacks[i], &keyed, &items[out->count++]);
    }
    return rc;
}

/* One page; *ret_count: stacks in it. */
static enum err align_page(struct aligning *a, size_t *ret_count, struct error *err)
{
    struct cluster_work_row *w = a->work;
    struct keyed_stack *stacks = NULL;
    arena_reset(&a->page);
    *ret_count = 0;
    struct write_op *op = write_op_new(WRITE_REKEY, OP_ARENA);
    struct op_resolution *items = op ? arena_array(op->arena, PAGE, sizeof(*items)) : NULL;
    enum err rc = items ? read_keyed_stacks(a->tools->reader, w->bundle_id, w->cluster_id,
                                            w->after_id, PAGE, &a->page, &stacks, ret_count, err)
                        : error_set(err, ERR_NO_MEMORY, "no memory for keys");
    if (!rc)
        rc = key_anew(a, stacks, *ret_count, &op->u.rekey, items, err);
    if (!rc && *ret_count > 0)
        w->after_id = stacks[*ret_count - 1].stack_id;
    w->seen += rc ? 0 : *ret_count;
    if (!rc && op->u.rekey.count > 0)
        rc = send_keys(a, op, err);
    write_op_free(op);
    return rc;
}

static enum err wait_for_writer(const struct epoch_tools *tools, struct error *err)
{
    bool go_on = tools->pause(tools->ctx, 0);
    while (go_on && writer_is_busy(tools->writer))
        go_on = tools->pause(tools->ctx, BUSY_MS);
    return go_on ? ERR_OK : error_set(err, ERR_BUSY, "stopping");
}

static enum err align_all(struct aligning *a, struct error *err)
{
    size_t count = PAGE;
    enum err rc = ERR_OK;
    while (!rc && count == PAGE) {
        rc = wait_for_writer(a->tools, err);
        if (!rc)
            rc = align_page(a, &count, err);
        if (!rc && a->work->seen - a->saved >= SAVE_STACKS) {
            rc = epoch_save(a->tools, a->work, false, err);
            a->saved = a->work->seen;
        }
    }
    return rc;
}

enum err epoch_align(const struct epoch_tools *tools, const struct rules *rules,
                     struct cluster_work_row *work, uint64_t *ret_damaged, struct error *err)
{
    struct aligning a = {.tools = tools, .rules = rules, .work = work, .saved = work->seen};
    struct epoch_rules merges = {0};
    struct arena arena;
    arena_init(&a.page, PAGE_ARENA);
    arena_init(&arena, MAP_ARENA);
    enum err rc = keyer_begin(tools->keyer, rules, err);
    if (!rc)
        rc = epoch_rules_read(tools->reader, work->bundle_id, &arena, &merges, err);
    if (!rc)
        rc = merge_map_of(merges.rules, merges.count, &arena, &a.map, err);
    if (!rc)
        rc = align_all(&a, err);
    *ret_damaged = a.damaged;
    arena_done(&a.page);
    arena_done(&arena);
    return rc;
}
