/* What clusters are made of: merges, splits, epochs, keys made anew. */
#include <check.h>
#include <string.h>

#include "tests/conformance/history_merges.h"

#define DAY      ((int64_t)86400000)
#define OP_LIMIT ((size_t)1 << 16)

static const uint32_t all_images[] = {1, 2, 3, 4};

/* Stacks 0, 8 and 24 are of f128(), f129() and f131(), one report each. */
static void three_causes(struct suite *s)
{
    const struct suite_report reports[] = {
        {.id = "a", .stack = 0}, {.id = "b", .stack = 8}, {.id = "c", .stack = 24}};
    suite_index(s, all_images, 4, 1);
    suite_apply(s, suite_batch(SUITE_APP, reports, 3));
    ck_assert_uint_eq(suite_resolve(s), 3);
}

static uint64_t id_of(struct suite *s, const char *title)
{
    return suite_cluster(s, title).id;
}

static uint64_t living(struct suite *s, uint64_t id)
{
    struct error err;
    struct cluster_row c;
    return read_cluster(s->reader, id, NULL, &s->arena, &c, &err) == ERR_OK ? c.id : 0;
}

static struct write_op *merge_op(uint64_t into, uint64_t from)
{
    struct write_op *op = write_op_new(WRITE_CLUSTER_RULE, OP_LIMIT);
    uint64_t *ids = arena_array(op->arena, 1, sizeof(*ids));
    ids[0] = from;
    op->u.cluster_rule = (struct op_cluster_rule){.kind = CLUSTER_RULE_MERGE,
                                                  .cluster_id = into,
                                                  .from = ids,
                                                  .from_count = 1,
                                                  .now_ms = SUITE_NOW};
    return op;
}

static uint64_t merge(struct suite *s, uint64_t into, uint64_t from)
{
    struct write_op *op = merge_op(into, from);
    suite_apply_keep(s, op);
    ck_assert_uint_eq(op->u.cluster_rule.rule_count, 1);
    uint64_t id = op->u.cluster_rule.rule_ids[0];
    write_op_free(op);
    return id;
}

static struct write_op *split_op(uint64_t id, const char *part, uint32_t depth)
{
    struct write_op *op = write_op_new(WRITE_CLUSTER_RULE, OP_LIMIT);
    op->u.cluster_rule =
        (struct op_cluster_rule){.kind = depth ? CLUSTER_RULE_DEPTH : CLUSTER_RULE_APART,
                                 .cluster_id = id,
                                 .has_part = part != NULL,
                                 .depth = depth,
                                 .now_ms = SUITE_NOW};
    if (part)
        suite_key(part, op->u.cluster_rule.part);
    return op;
}

static void undo(struct suite *s, uint64_t rule)
{
    struct write_op *op = write_op_new(WRITE_CLUSTER_RULE_UNDO, OP_LIMIT);
    op->u.cluster_rule_undo =
        (struct op_cluster_rule_undo){.rule_id = rule, .now_ms = SUITE_NOW + 1};
    suite_apply(s, op);
}

static enum err refused(struct suite *s, struct write_op *op, const char *word)
{
    struct error err = {0};
    enum err rc = suite_try(s, op, &err);
    ck_assert_msg(rc != ERR_OK, "not refused: %s", word);
    if (strcmp(s->backend, "sqlite") == 0)
        ck_assert_msg(strstr(err.text, word) != NULL, "\"%s\" does not say \"%s\"", err.text, word);
    write_op_free(op);
    return rc;
}

/* All resolved stacks by their stored frames: what the epochs do. */
static uint64_t rekey(struct suite *s)
{
    struct error err = {0};
    struct keyed_stack *rows = NULL;
    size_t count = 0;
    struct write_op *op = write_op_new(WRITE_REKEY, (size_t)1 << 24);
    ck_assert_int_eq(
        read_keyed_stacks(s->reader, SUITE_APP, 0, 0, 1000, op->arena, &rows, &count, &err),
        ERR_OK);
    struct op_resolution *items = arena_array(op->arena, count + 1, sizeof(*items));
    for (size_t i = 0; i < count; i++) {
        const char *title = rows[i].resolved.frames[0].frames[0].function;
        items[i] = (struct op_resolution){.stack_id = rows[i].stack_id,
                                          .generation = rows[i].generation,
                                          .key_text = title,
                                          .title = title,
                                          .function = title,
                                          .category = "unknown"};
        suite_key(title, items[i].key);
    }
    op->u.rekey = (struct op_rekey){
        .items = items, .count = count, .rules_version = SUITE_RULES, .now_ms = SUITE_NOW};
    suite_apply_keep(s, op);
    for (size_t i = 0; i < count; i++)
        ck_assert(items[i].applied);
    uint64_t changed = op->u.rekey.changed;
    write_op_free(op);
    history_sums(s);
    return changed;
}

static struct write_op *epoch_op(const char *from, const char *into, int64_t score)
{
    struct write_op *op = write_op_new(WRITE_EPOCH, OP_LIMIT);
    struct op_epoch_merge *m = arena_array(op->arena, 1, sizeof(*m));
    suite_key(from, m->from);
    suite_key(into, m->into);
    m->score = score;
    m->from_title = from;
    m->into_title = into;
    op->u.epoch = (struct op_epoch){
        .bundle_id = SUITE_APP, .epoch = 3, .merges = m, .merge_count = 1, .now_ms = SUITE_NOW};
    return op;
}

static size_t rules(struct suite *s, bool undone, struct cluster_rule_row **ret)
{
    struct error err = {0};
    size_t count = 0;
    const char *next = NULL;
    ck_assert_int_eq(read_cluster_rules(s->reader, SUITE_APP, undone, 100, NULL, &s->arena, ret,
                                        &count, &next, &err),
                     ERR_OK);
    return count;
}

void suite_merged_by_hand(struct suite *s)
{
    struct cluster_rule_row *r = NULL;
    struct cluster_part *parts = NULL;
    struct error err = {0};
    size_t count = 0;
    three_causes(s);
    uint64_t a = id_of(s, "f128()"), b = id_of(s, "f129()");
    uint64_t rule = merge(s, a, b);
    ck_assert_uint_eq(rekey(s), 1);
    ck_assert_uint_eq(living(s, b), a);
    struct cluster_row c = suite_cluster(s, "f128()");
    ck_assert_uint_eq(c.figures.count, 2);
    ck_assert_uint_eq(c.figures.stall_ms, 2000);
    ck_assert_uint_eq(suite_cluster_count(s), 2);

    /* A new stack of the key that was merged. */
    const struct suite_report late = {.id = "d", .stack = 9};
    suite_apply(s, suite_batch(SUITE_APP, &late, 1));
    suite_resolve(s);
    ck_assert_uint_eq(suite_cluster(s, "f128()").figures.count, 3);
    ck_assert_uint_eq(suite_cluster_count(s), 2);
    ck_assert_int_eq(read_cluster_parts(s->reader, a, 10, &s->arena, &parts, &count, &err), ERR_OK);
    ck_assert_uint_eq(count, 2);
    ck_assert_uint_eq(parts[0].count, 2);
    ck_assert(!parts[0].own && parts[0].merge.id == rule && parts[0].merge.by_hand);
    ck_assert_str_eq(parts[0].title, "f129()");
    ck_assert(parts[1].own && parts[1].merge.id == 0);
    ck_assert_str_eq(parts[1].title, "f128()");

    undo(s, rule);
    ck_assert_uint_eq(rekey(s), 2);
    ck_assert_uint_eq(living(s, b), b);
    ck_assert_uint_eq(id_of(s, "f129()"), b);
    ck_assert_uint_eq(suite_cluster(s, "f129()").figures.count, 2);
    ck_assert_uint_eq(rekey(s), 0);
    ck_assert_uint_eq(rules(s, false, &r), 0);
    ck_assert_uint_eq(rules(s, true, &r), 1);
    ck_assert_int_eq(r[0].undone_ms, SUITE_NOW + 1);
}

void suite_merges_are_refused(struct suite *s)
{
    const struct suite_report other = {.id = "x", .stack = 0};
    const struct suite_report more[] = {{.id = "i", .stack = 16}, {.id = "m", .stack = 5}};
    struct cluster_rule_row *r = NULL;
    three_causes(s);
    uint64_t a = id_of(s, "f128()"), b = id_of(s, "f129()"), c = id_of(s, "f131()");
    suite_apply(s, suite_batch("com.example.other", &other, 1));
    suite_resolve(s);
    uint64_t foreign = c + 1;
    ck_assert_uint_eq(living(s, foreign), foreign);
    suite_apply(s, suite_batch(SUITE_APP, more, 2));
    suite_resolve(s);
    uint64_t idle = id_of(s, "f130()");
    ck_assert_int_eq(refused(s, merge_op(a, 4711), "4711"), ERR_NOT_FOUND);
    ck_assert_int_eq(refused(s, merge_op(4711, a), "4711"), ERR_NOT_FOUND);
    ck_assert_int_eq(refused(s, merge_op(a, a), "one already"), ERR_CONFLICT);
    ck_assert_int_eq(refused(s, merge_op(a, foreign), "different apps"), ERR_CONFLICT);
    ck_assert_int_eq(refused(s, merge_op(a, idle), "idle"), ERR_CONFLICT);
    ck_assert_int_eq(refused(s, merge_op(idle, a), "idle"), ERR_CONFLICT);
    /* By a token of the other app. */
    struct write_op *op = merge_op(a, b);
    op->u.cluster_rule.bundle_id = "com.example.other";
    ck_assert_int_eq(refused(s, op, "no such cluster"), ERR_NOT_FOUND);
    ck_assert_uint_eq(rules(s, true, &r), 0);
    /* A circle cannot be asked for: each step leads from a cluster to another one. */
    merge(s, a, b);
    ck_assert_int_eq(refused(s, merge_op(b, a), "one already"), ERR_CONFLICT);
    merge(s, c, a);
    ck_assert_int_eq(refused(s, merge_op(b, c), "one already"), ERR_CONFLICT);
    rekey(s);
    ck_assert_uint_eq(living(s, a), c);
    ck_assert_uint_eq(living(s, b), c);
    /* Waiting for its symbol file. */
    const struct suite_report waiting = {.id = "w", .stack = 3};
    struct write_op *without = write_op_new(WRITE_SYMBOL_DELETE, OP_LIMIT);
    without->u.symbol_delete.shelf = suite_uuid(4);
    suite_apply(s, without);
    suite_apply(s, suite_batch(SUITE_APP, &waiting, 1));
    suite_resolve(s);
    uint64_t provisional = id_of(s, "Image4+0x100c");
    ck_assert_int_eq(refused(s, merge_op(c, provisional), "provisional"), ERR_CONFLICT);
}

void suite_parts_set_apart(struct suite *s)
{
    struct cluster_rule_row *r = NULL;
    three_causes(s);
    uint64_t a = id_of(s, "f128()"), b = id_of(s, "f129()");
    ck_assert_int_eq(refused(s, split_op(a, "f128()", 0), "own part"), ERR_CONFLICT);
    ck_assert_int_eq(refused(s, split_op(a, "f129()", 0), "no such part"), ERR_NOT_FOUND);
    ck_assert_int_eq(refused(s, split_op(a, "nobody", 2), "no such part"), ERR_NOT_FOUND);
    suite_apply(s, epoch_op("f129()", "f128()", 700000));
    rekey(s);
    ck_assert_uint_eq(living(s, b), a);
    suite_apply(s, split_op(a, "f129()", 0));
    rekey(s);
    ck_assert_uint_eq(living(s, b), b);
    ck_assert_uint_eq(rules(s, false, &r), 1);
    ck_assert_int_eq(r[0].kind, CLUSTER_RULE_APART);
    ck_assert(r[0].by_hand);
    uint64_t apart = r[0].id;
    /* Neither this way nor that. */
    suite_apply(s, epoch_op("f129()", "f128()", 700000));
    suite_apply(s, epoch_op("f128()", "f129()", 700000));
    ck_assert_uint_eq(rules(s, false, &r), 1);
    /* The last word counts. */
    uint64_t merged = merge(s, a, b);
    ck_assert_uint_eq(rules(s, false, &r), 1);
    ck_assert_uint_eq(r[0].id, merged);
    undo(s, merged);
    struct error err;
    struct write_op *again = write_op_new(WRITE_CLUSTER_RULE_UNDO, OP_LIMIT);
    again->u.cluster_rule_undo.rule_id = apart;
    ck_assert_int_eq(suite_try(s, again, &err), ERR_CONFLICT);
    write_op_free(again);
    /* Depth: another one takes its place. */
    suite_apply(s, split_op(a, NULL, 2));
    suite_apply(s, split_op(a, NULL, 3));
    ck_assert_uint_eq(rules(s, false, &r), 1);
    ck_assert_int_eq(r[0].kind, CLUSTER_RULE_DEPTH);
    ck_assert_uint_eq(r[0].depth, 3);
}

void suite_epochs_merge(struct suite *s)
{
    struct cluster_rule_row *r = NULL;
    struct related_row *related = NULL;
    struct error err = {0};
    size_t count = 0;
    three_causes(s);
    uint64_t a = id_of(s, "f128()"), b = id_of(s, "f129()"), c = id_of(s, "f131()");
    for (int i = 0; i < 2; i++) { /* the second time changes nothing */
        struct write_op *op = epoch_op("f129()", "f128()", 700000);
        struct op_related *pairs = arena_array(op->arena, 1, sizeof(*pairs));
        suite_key("f128()", pairs[0].key);
        suite_key("f131()", pairs[0].other);
        pairs[0].score = 300000;
        op->u.epoch.replaces_related = true;
        op->u.epoch.related = pairs;
        op->u.epoch.related_count = 1;
        suite_apply(s, op);
        ck_assert_uint_eq(rules(s, true, &r), 1);
    }
    ck_assert_int_eq(r[0].score, 700000);
    ck_assert_uint_eq(r[0].epoch, 3);
    ck_assert(!r[0].by_hand);
    ck_assert_str_eq(r[0].from_title, "f129()");
    suite_apply(s, epoch_op("f129()", "f128()", 800000));
    ck_assert_uint_eq(rules(s, true, &r), 1);
    ck_assert_int_eq(r[0].score, 800000);
    /* A circle is left out. */
    suite_apply(s, epoch_op("f128()", "f129()", 900000));
    ck_assert_uint_eq(rules(s, true, &r), 1);
    rekey(s);
    ck_assert_uint_eq(living(s, b), a);
    ck_assert_int_eq(read_related(s->reader, SUITE_APP, a, &s->arena, &related, &count, &err),
                     ERR_OK);
    ck_assert_uint_eq(count, 1);
    ck_assert_uint_eq(related[0].cluster_id, c);
    ck_assert_str_eq(related[0].title, "f131()");
    ck_assert_int_eq(related[0].score, 300000);

    struct write_op *op = epoch_op("f131()", "f128()", 1);
    uint64_t *gone = arena_array(op->arena, 1, sizeof(*gone));
    gone[0] = r[0].id;
    op->u.epoch.merge_count = 0;
    op->u.epoch.undo = gone;
    op->u.epoch.undo_count = 1;
    suite_apply(s, op);
    rekey(s);
    ck_assert_uint_eq(living(s, b), b);
}

void suite_hand_goes_first(struct suite *s)
{
    struct cluster_rule_row *r = NULL;
    three_causes(s);
    uint64_t a = id_of(s, "f128()"), b = id_of(s, "f129()"), c = id_of(s, "f131()");
    uint64_t rule = merge(s, a, b);
    suite_apply(s, epoch_op("f129()", "f131()", 900000));
    struct write_op *op = epoch_op("f131()", "f128()", 900000);
    uint64_t *gone = arena_array(op->arena, 1, sizeof(*gone));
    gone[0] = rule; /* not an epoch's: stays */
    op->u.epoch.undo = gone;
    op->u.epoch.undo_count = 1;
    suite_apply(s, op);
    rekey(s);
    ck_assert_uint_eq(living(s, b), a);
    ck_assert_uint_eq(living(s, c), a);
    ck_assert_uint_eq(rules(s, false, &r), 2);
    ck_assert_uint_eq(suite_cluster(s, NULL).figures.count, 3);
    /* An epoch's merge that is undone by hand stays undone. */
    undo(s, r[0].id);
    suite_apply(s, epoch_op("f131()", "f128()", 900000));
    rekey(s);
    ck_assert_uint_eq(living(s, c), c);
}

static struct op_carried carried(uint64_t rule, const char *from, const char *into)
{
    struct op_carried c = {.rule_id = rule};
    suite_key(from, c.from);
    if (into)
        suite_key(into, c.into);
    return c;
}

static void carry(struct suite *s, const struct op_carried *items, size_t count)
{
    struct write_op *op = write_op_new(WRITE_CLUSTER_CARRY, OP_LIMIT);
    op->u.cluster_carry = (struct op_cluster_carry){
        .bundle_id = SUITE_APP, .items = items, .count = count, .now_ms = SUITE_NOW + DAY};
    suite_apply(s, op);
}

static bool speaks_of(const struct cluster_rule_row *r, const char *from, const char *into)
{
    uint8_t key[PART_KEY_SIZE];
    suite_key(from, key);
    bool good = memcmp(r->from, key, sizeof(key)) == 0;
    if (into)
        suite_key(into, key);
    else
        memset(key, 0, sizeof(key));
    return good && memcmp(r->into, key, sizeof(key)) == 0;
}

void suite_decisions_are_carried(struct suite *s)
{
    struct cluster_rule_row *r = NULL;
    three_causes(s);
    uint64_t a = id_of(s, "f128()"), b = id_of(s, "f129()"), c = id_of(s, "f131()");
    uint64_t merged = merge(s, a, b);
    merge(s, a, c);
    rekey(s);
    suite_apply(s, split_op(a, "f131()", 0));
    suite_apply(s, split_op(a, "f128()", 2));
    rekey(s);
    ck_assert_uint_eq(rules(s, false, &r), 3);
    uint64_t depth = r[0].id, apart = r[1].id;
    ck_assert_int_eq(r[0].kind, CLUSTER_RULE_DEPTH);
    ck_assert_int_eq(r[1].kind, CLUSTER_RULE_APART);

    /* f129() fell apart. */
    struct op_carried items[] = {
        carried(merged, "g129()", "g128()"), carried(merged, "h129()", "g128()"),
        carried(apart, "g131()", "g128()"), carried(depth, "g128()", NULL)};
    items[1].again = true;
    carry(s, items, 4);
    for (int again = 0; again < 2; again++) {
        ck_assert_uint_eq(rules(s, false, &r), 4);
        ck_assert(speaks_of(&r[0], "h129()", "g128()") && r[0].by_hand);
        ck_assert_str_eq(r[0].from_title, "f129()");
        ck_assert_int_eq(r[0].created_ms, SUITE_NOW);
        ck_assert(r[1].id == depth && speaks_of(&r[1], "g128()", NULL) && r[1].depth == 2);
        ck_assert(r[2].id == apart && speaks_of(&r[2], "g131()", "g128()"));
        ck_assert(r[3].id == merged && speaks_of(&r[3], "g129()", "g128()"));
        ck_assert_int_eq(r[3].created_ms, SUITE_NOW);
        carry(s, items, 1); /* once more */
        carry(s, items + 2, 2);
    }

    /* What was not said by hand, is no more, or of another app: nothing happens. */
    suite_apply(s, epoch_op("x", "y", 900000));
    ck_assert_uint_eq(rules(s, false, &r), 5);
    const struct op_carried none[] = {carried(r[0].id, "k", "l"), carried(4711, "k", "l")};
    carry(s, none, 2);
    undo(s, merged);
    const struct op_carried gone = carried(merged, "k", "l");
    carry(s, &gone, 1);
    ck_assert_uint_eq(rules(s, false, &r), 4);
    ck_assert(speaks_of(&r[0], "x", "y"));
}

void suite_decisions_that_say_nothing_new_end(struct suite *s)
{
    struct cluster_rule_row *r = NULL;
    three_causes(s);
    uint64_t a = id_of(s, "f128()"), b = id_of(s, "f129()"), c = id_of(s, "f131()");
    uint64_t first = merge(s, a, b);
    uint64_t second = merge(s, b, c); /* b is a by now */
    rekey(s);

    /* Both keys became one; then the two merges did. */
    const struct op_carried same[] = {carried(first, "g()", "k()"), carried(second, "g()", "k()")};
    suite_apply(s, epoch_op("g()", "z()", 900000));
    carry(s, same, 2);
    ck_assert_uint_eq(rules(s, false, &r), 1);
    ck_assert(r[0].id == first && speaks_of(&r[0], "g()", "k()")); /* the epoch's gave way */
    const struct op_carried one = carried(first, "k()", "k()");
    carry(s, &one, 1);
    ck_assert_uint_eq(rules(s, false, &r), 0);
    rekey(s);
    ck_assert_uint_eq(living(s, c), c);

    /* A merge never makes a circle. */
    b = id_of(s, "f129()"); /* its first id stands for g() since */
    first = merge(s, a, b);
    second = merge(s, c, a);
    const struct op_carried circle[] = {carried(first, "g()", "k()"),
                                        carried(second, "k()", "g()")};
    carry(s, circle, 2);
    ck_assert_uint_eq(rules(s, false, &r), 1);
    ck_assert_uint_eq(r[0].id, first);
    history_sums(s);
}

void suite_overlays_make_answers_late(struct suite *s)
{
    struct error err = {0};
    struct overlay_row *rows = NULL;
    size_t count = 0;
    const struct suite_report report = {.id = "a", .stack = 0};
    suite_index(s, all_images, 4, 1);
    suite_apply(s, suite_batch(SUITE_APP, &report, 1));
    struct write_op *late = suite_resolution(s);
    struct write_op *op = epoch_op("x", "y", 1);
    op->u.epoch.overlay = "learnt";
    op->u.epoch.overlay_len = 6;
    suite_apply(s, op);
    suite_apply_keep(s, late);
    ck_assert(!late->u.resolutions.items[0].applied);
    write_op_free(late);
    ck_assert_uint_eq(suite_resolve(s), 1);
    ck_assert_int_eq(read_overlays(s->reader, 0, &s->arena, &rows, &count, &err), ERR_OK);
    ck_assert_uint_eq(count, 1);
    ck_assert_uint_eq(rows[0].version, 1);
    ck_assert_uint_eq(rows[0].len, 6);
    ck_assert_mem_eq(rows[0].data, "learnt", 6);
    ck_assert_str_eq(rows[0].bundle_id, SUITE_APP);
    ck_assert_int_eq(read_overlays(s->reader, 1, &s->arena, &rows, &count, &err), ERR_OK);
    ck_assert_uint_eq(count, 0);
}

void suite_keys_made_anew(struct suite *s)
{
    struct error err = {0};
    struct keyed_stack *rows = NULL;
    struct stack_floor floor;
    uint64_t total = 0;
    size_t count = 0;
    three_causes(s);
    const struct suite_report again = {.id = "e", .stack = 24, .weight = 5};
    suite_apply(s, suite_batch(SUITE_APP, &again, 1));
    ck_assert_int_eq(
        read_keyed_stacks(s->reader, SUITE_APP, 0, 1, 1, &s->arena, &rows, &count, &err), ERR_OK);
    ck_assert_uint_eq(count, 1);
    ck_assert_mem_eq(rows[0].part, rows[0].cluster, 16);
    ck_assert_str_eq(rows[0].rules_version, SUITE_RULES);
    ck_assert_uint_ge(rows[0].resolved.count, 2);
    ck_assert_int_eq(read_stack_floor(s->reader, SUITE_APP, 1, &floor, &total, &err), ERR_OK);
    ck_assert_uint_eq(total, 3);
    ck_assert_int_eq(floor.weighted, 6000000);
    ck_assert_int_eq(read_stack_floor(s->reader, SUITE_APP, 3, &floor, &total, &err), ERR_OK);
    ck_assert_int_eq(floor.weighted, INT64_MIN);
    ck_assert_int_eq(read_stack_floor(s->reader, "nobody", 3, &floor, &total, &err), ERR_OK);
    ck_assert_uint_eq(total, 0);

    /* Pending stacks and late answers are left alone. */
    struct op_resolution *items = arena_array(&s->arena, 1, sizeof(*items));
    items[0] = (struct op_resolution){.stack_id = rows[0].stack_id,
                                      .generation = rows[0].generation + 1,
                                      .key_text = "new",
                                      .title = "new",
                                      .category = "unknown"};
    suite_key("new", items[0].key);
    for (int i = 0; i < 2; i++) {
        struct write_op *op = write_op_new(WRITE_REKEY, OP_LIMIT);
        op->u.rekey = (struct op_rekey){
            .items = items, .count = 1, .rules_version = "rules-2", .now_ms = SUITE_NOW};
        suite_apply_keep(s, op);
        ck_assert_int_eq(items[0].applied, i);
        ck_assert_uint_eq(op->u.rekey.changed, (uint64_t)i);
        write_op_free(op);
        items[0].generation--;
    }
    struct cluster_row c = suite_cluster(s, "new");
    ck_assert_str_eq(c.rules_version, "rules-2");
    ck_assert_uint_eq(c.figures.count, 1);
    history_sums(s);
}

void suite_work_is_remembered(struct suite *s)
{
    struct error err = {0};
    struct cluster_work_row *rows = NULL;
    struct cluster_app_row *apps = NULL;
    size_t count = 0;
    three_causes(s);
    for (int i = 0; i < 2; i++) {
        struct write_op *op = write_op_new(WRITE_CLUSTER_WORK, OP_LIMIT);
        op->u.cluster_work =
            (struct op_cluster_work){.kind = CLUSTER_WORK_RECLUSTER, .now_ms = SUITE_NOW + i};
        suite_apply_keep(s, op);
        ck_assert_uint_eq(op->u.cluster_work.count, 1);
        write_op_free(op);
    }
    ck_assert_int_eq(read_cluster_work(s->reader, &s->arena, &rows, &count, &err), ERR_OK);
    ck_assert_uint_eq(count, 1);
    ck_assert_uint_eq(rows[0].attempt, 1);
    ck_assert_int_eq(rows[0].requested_ms, SUITE_NOW + 1);
    ck_assert_int_eq(rows[0].started_ms, INT64_MIN);
    for (uint32_t attempt = 0; attempt < 2; attempt++) { /* of the attempt before: ignored */
        struct write_op *op = write_op_new(WRITE_CLUSTER_WORK, OP_LIMIT);
        op->u.cluster_work = (struct op_cluster_work){.id = rows[0].id,
                                                      .attempt = attempt,
                                                      .phase = CLUSTER_PHASE_ALIGN,
                                                      .seen = 7,
                                                      .rules_version = SUITE_RULES,
                                                      .finished = true,
                                                      .now_ms = SUITE_NOW + 5};
        suite_apply(s, op);
        ck_assert_int_eq(read_cluster_work(s->reader, &s->arena, &rows, &count, &err), ERR_OK);
        ck_assert_uint_eq(count, 1 - attempt);
    }
    ck_assert_int_eq(read_cluster_work_last(s->reader, NULL, &s->arena, &rows, &count, &err),
                     ERR_OK);
    ck_assert_uint_eq(count, 1);
    ck_assert_uint_eq(rows[0].seen, 7);
    ck_assert_int_eq(rows[0].finished_ms, SUITE_NOW + 5);
    ck_assert_int_eq(read_cluster_apps(s->reader, SUITE_RULES, &s->arena, &apps, &count, &err),
                     ERR_OK);
    ck_assert_uint_eq(count, 1);
    ck_assert_int_eq(apps[0].epoch_ms, SUITE_NOW + 5);
    ck_assert(!apps[0].outdated);
    ck_assert_int_eq(read_cluster_apps(s->reader, "rules-2", &s->arena, &apps, &count, &err),
                     ERR_OK);
    ck_assert(apps[0].outdated);
}

/* Counters are folded into the part, so that an old merge can still be undone. */
void suite_retention_within_parts(struct suite *s)
{
    three_causes(s);
    const struct suite_report more[] = {{.id = "d", .stack = 9}, {.id = "e", .stack = 9}};
    suite_apply(s, suite_batch(SUITE_APP, more, 2));
    suite_resolve(s);
    uint64_t a = id_of(s, "f128()"), b = id_of(s, "f129()");
    uint64_t rule = merge(s, a, b);
    rekey(s);
    struct write_op *op = write_op_new(WRITE_EXPIRE, OP_LIMIT);
    op->u.expire = (struct op_expire){.now_ms = SUITE_NOW + 40 * DAY,
                                      .reports_before_ms = SUITE_NOW + 10 * DAY,
                                      .report_ids_before_ms = SUITE_NOW,
                                      .image_sets_before_ms = SUITE_NOW,
                                      .max_rows = 1000};
    suite_apply(s, op);
    ck_assert_uint_eq(suite_cluster(s, "f128()").figures.count, 4);
    ck_assert_uint_eq(suite_cluster(s, "f128()").stacks, 2);
    undo(s, rule);
    rekey(s);
    ck_assert_uint_eq(suite_cluster(s, "f128()").figures.count, 1);
    ck_assert_uint_eq(suite_cluster(s, "f129()").figures.count, 3);
    ck_assert_uint_eq(id_of(s, "f129()"), b);
}
