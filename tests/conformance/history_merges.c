#include "tests/conformance/history_merges.h"

#include <check.h>
#include <string.h>

#define CLUSTERS 24
#define TITLES   6
#define PAGE     20
#define OP_LIMIT ((size_t)1 << 20)

static struct write_op *new_op(enum write_op_kind kind)
{
    struct write_op *op = write_op_new(kind, OP_LIMIT);
    ck_assert_ptr_nonnull(op);
    return op;
}

/* Keys that stacks have, had, or never had. */
static void random_key(struct history *h, uint8_t key[16])
{
    static const char *const titles[TITLES] = {"f128()", "f129()", "f130()",
                                               "part-1", "part-2", "nobody"};
    suite_key(titles[history_draw(h, TITLES)], key);
}

static const char *app(struct history *h)
{
    return history_draw(h, 4) ? SUITE_APP : "com.example.other";
}

/* A cluster that is there, or once was, or never was. */
static uint64_t some_cluster(struct history *h)
{
    if (h->living_count == 0 || history_draw(h, 5) == 0)
        return 1 + history_draw(h, CLUSTERS);
    return h->living[history_draw(h, h->living_count)];
}

/* Causes alone, most of the time. */
static void look_for_living(struct history *h, struct suite *s)
{
    struct error err;
    h->living_count = 0;
    for (uint64_t id = 1; id <= CLUSTERS && h->living_count < 8; id++) {
        struct cluster_row c;
        if (read_cluster(s->reader, id, NULL, &s->arena, &c, &err) == ERR_OK && c.id == id &&
            (c.cluster_kind == 0 || history_draw(h, 6) == 0))
            h->living[h->living_count++] = id;
    }
}

static struct write_op *make_rule(struct history *h)
{
    struct write_op *op = new_op(WRITE_CLUSTER_RULE);
    struct op_cluster_rule *o = &op->u.cluster_rule;
    uint64_t *from = arena_array(op->arena, 2, sizeof(*from));
    ck_assert_ptr_nonnull(from);
    uint32_t kind = history_draw(h, 6);
    *o = (struct op_cluster_rule){.kind = kind < 4   ? CLUSTER_RULE_MERGE
                                          : kind < 5 ? CLUSTER_RULE_APART
                                                     : CLUSTER_RULE_DEPTH,
                                  .bundle_id = history_draw(h, 8) ? NULL : app(h),
                                  .cluster_id = some_cluster(h),
                                  .from = from,
                                  .from_count = 1 + (history_draw(h, 4) == 0),
                                  .has_part = history_draw(h, 3) == 0,
                                  .depth = 2 + history_draw(h, 3),
                                  .now_ms = h->now_ms};
    from[0] = some_cluster(h);
    from[1] = some_cluster(h);
    random_key(h, o->part);
    if (o->kind == CLUSTER_RULE_APART)
        o->has_part = true;
    return op;
}

static struct write_op *make_undo(struct history *h)
{
    struct write_op *op = new_op(WRITE_CLUSTER_RULE_UNDO);
    op->u.cluster_rule_undo =
        (struct op_cluster_rule_undo){.bundle_id = history_draw(h, 5) ? NULL : app(h),
                                      .rule_id = 1 + history_draw(h, 30),
                                      .now_ms = h->now_ms};
    return op;
}

static struct write_op *make_carry(struct history *h)
{
    struct write_op *op = new_op(WRITE_CLUSTER_CARRY);
    struct op_carried *items = arena_array(op->arena, 3, sizeof(*items));
    ck_assert_ptr_nonnull(items);
    op->u.cluster_carry = (struct op_cluster_carry){
        .bundle_id = app(h), .items = items, .count = 1 + history_draw(h, 3), .now_ms = h->now_ms};
    for (size_t i = 0; i < 3; i++) {
        items[i].rule_id = i && history_draw(h, 2) ? items[i - 1].rule_id : 1 + history_draw(h, 30);
        items[i].again = i && items[i].rule_id == items[i - 1].rule_id;
        random_key(h, items[i].from);
        random_key(h, items[i].into);
    }
    return op;
}

static struct write_op *make_epoch(struct history *h)
{
    struct write_op *op = new_op(WRITE_EPOCH);
    struct op_epoch *o = &op->u.epoch;
    struct op_epoch_merge *merges = arena_array(op->arena, 3, sizeof(*merges));
    struct op_related *related = arena_array(op->arena, 3, sizeof(*related));
    uint64_t *undo = arena_array(op->arena, 2, sizeof(*undo));
    ck_assert(merges && related && undo);
    *o = (struct op_epoch){.bundle_id = app(h),
                           .epoch = history_draw(h, 9),
                           .overlay = history_draw(h, 3) ? NULL : "overlay",
                           .overlay_len = history_draw(h, 8),
                           .undo = undo,
                           .undo_count = history_draw(h, 3),
                           .merges = merges,
                           .merge_count = history_draw(h, 4),
                           .replaces_related = history_draw(h, 2),
                           .related = related,
                           .related_count = history_draw(h, 4),
                           .now_ms = h->now_ms};
    for (size_t i = 0; i < 3; i++) {
        random_key(h, merges[i].from);
        random_key(h, merges[i].into);
        merges[i].score = history_draw(h, SCORE_ONE);
        merges[i].from_title = "from";
        merges[i].into_title = "into";
        random_key(h, related[i].key);
        random_key(h, related[i].other);
        related[i].score = history_draw(h, SCORE_ONE);
        undo[i % 2] = 1 + history_draw(h, 30);
    }
    return op;
}

static struct write_op *make_work(struct history *h)
{
    struct write_op *op = new_op(WRITE_CLUSTER_WORK);
    op->u.cluster_work =
        (struct op_cluster_work){.id = history_draw(h, 2) ? 1 + history_draw(h, 30) : 0,
                                 .attempt = history_draw(h, 2),
                                 .kind = (enum cluster_work_kind)history_draw(h, 3),
                                 .bundle_id = history_draw(h, 2) ? NULL : app(h),
                                 .phase = (enum cluster_work_phase)history_draw(h, 2),
                                 .after_id = history_draw(h, 50),
                                 .seen = history_draw(h, 50),
                                 .changed = history_draw(h, 50),
                                 .total = history_draw(h, 50),
                                 .rules_version = history_draw(h, 2) ? SUITE_RULES : "rules-2",
                                 .finished = history_draw(h, 2),
                                 .now_ms = h->now_ms};
    return op;
}

typedef struct write_op *make_op(struct history *h);

static void apply_both(struct history *h, make_op *make, struct suite *a, struct suite *b)
{
    struct error err = {0};
    struct history before = *h;
    struct write_op *x = make(h);
    *h = before;
    struct write_op *y = make(h);
    enum err rc = suite_try(a, x, &err);
    ck_assert_msg(rc == suite_try(b, y, &err), "%s", err.text);
    if (rc == ERR_OK && x->kind == WRITE_CLUSTER_RULE) {
        ck_assert_uint_eq(x->u.cluster_rule.rule_count, y->u.cluster_rule.rule_count);
        for (size_t i = 0; i < x->u.cluster_rule.rule_count; i++)
            ck_assert_uint_eq(x->u.cluster_rule.rule_ids[i], y->u.cluster_rule.rule_ids[i]);
    }
    if (rc == ERR_OK && x->kind == WRITE_CLUSTER_WORK && x->u.cluster_work.id == 0)
        ck_assert_uint_eq(x->u.cluster_work.count, y->u.cluster_work.count);
    write_op_free(x);
    write_op_free(y);
}

/* --- keys made anew ------------------------------------------------------------------------- */

/* Some stacks of a page by another key, some by their own; a few answers come too late. */
static struct write_op *make_rekey(struct history *h, struct suite *s)
{
    static const char *const titles[] = {"part-1", "part-2", "f128()"};
    struct error err = {0};
    struct write_op *op = new_op(WRITE_REKEY);
    struct keyed_stack *rows = NULL;
    struct overlay_row *overlays = NULL;
    size_t count = 0, overlay_count = 0;
    const char *bundle_id = app(h);
    uint64_t version = 0;
    ck_assert_int_eq(read_keyed_stacks(s->reader, bundle_id, 0, history_draw(h, 5), PAGE, op->arena,
                                       &rows, &count, &err),
                     ERR_OK);
    ck_assert_int_eq(read_overlays(s->reader, 0, op->arena, &overlays, &overlay_count, &err),
                     ERR_OK);
    for (size_t i = 0; i < overlay_count; i++) {
        if (strcmp(overlays[i].bundle_id, bundle_id) == 0)
            version = overlays[i].version;
    }
    struct op_resolution *items = arena_array(op->arena, count + 1, sizeof(*items));
    ck_assert_ptr_nonnull(items);
    for (size_t i = 0; i < count; i++) {
        const char *title = titles[history_draw(h, 3)];
        bool provisional = rows[i].provisional;
        items[i] =
            (struct op_resolution){.stack_id = rows[i].stack_id,
                                   .generation = rows[i].generation + (history_draw(h, 8) == 0),
                                   .stack = history_draw(h, 3) ? NULL : &rows[i].resolved,
                                   .cluster_kind = provisional ? 4 : 0,
                                   .provisional = provisional,
                                   .key_text = title,
                                   .title = title,
                                   .function = history_draw(h, 2) ? title : NULL,
                                   .category = "unknown",
                                   .overlay = version + (history_draw(h, 9) == 0)};
        suite_key(title, items[i].key);
        if (history_draw(h, 2))
            memcpy(items[i].key, rows[i].part, sizeof(items[i].key));
    }
    op->u.rekey = (struct op_rekey){.items = items,
                                    .count = count,
                                    .rules_version = history_draw(h, 3) ? SUITE_RULES : "rules-2",
                                    .now_ms = h->now_ms,
                                    .work_id = history_draw(h, 20),
                                    .work_attempt = history_draw(h, 2),
                                    .after_id = history_draw(h, 90),
                                    .seen = count};
    return op;
}

static void rekey_both(struct history *h, struct suite *a, struct suite *b)
{
    struct history before = *h;
    struct write_op *x = make_rekey(h, a);
    *h = before;
    struct write_op *y = make_rekey(h, b);
    suite_apply_keep(a, x);
    suite_apply_keep(b, y);
    ck_assert_uint_eq(x->u.rekey.changed, y->u.rekey.changed);
    for (size_t i = 0; i < x->u.rekey.count; i++)
        ck_assert_int_eq(x->u.rekey.items[i].applied, y->u.rekey.items[i].applied);
    write_op_free(x);
    write_op_free(y);
}

void history_merges_step(struct history *h, struct suite *a, struct suite *b)
{
    uint32_t what = history_draw(h, 13);
    look_for_living(h, a);
    if (what < 3)
        apply_both(h, make_rule, a, b);
    else if (what < 4)
        apply_both(h, make_undo, a, b);
    else if (what < 6)
        apply_both(h, make_epoch, a, b);
    else if (what < 8)
        apply_both(h, make_work, a, b);
    else if (what < 9)
        apply_both(h, make_carry, a, b);
    else
        rekey_both(h, a, b);
    history_sums(a);
}

void history_sums(struct suite *s)
{
    for (uint64_t id = 1; id <= CLUSTERS; id++) {
        struct error err = {0};
        struct cluster_row c;
        struct cluster_part *parts = NULL;
        size_t count = 0;
        uint64_t stacks = 0;
        if (read_cluster(s->reader, id, NULL, &s->arena, &c, &err) != ERR_OK || c.id != id)
            continue;
        ck_assert_int_eq(
            read_cluster_parts(s->reader, id, READ_LIMIT_MAX, &s->arena, &parts, &count, &err),
            ERR_OK);
        uint64_t total = 0;
        for (size_t i = 0; i < count; i++) {
            total += parts[i].count;
            stacks += parts[i].stacks;
        }
        ck_assert_uint_eq(total, c.figures.count);
        ck_assert_uint_eq(stacks, c.stacks);
    }
}
