#include "server/jobs/epoch_learn.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

#define PAGE          128
#define PAGE_ARENA    ((size_t)64 << 20)
#define LEARN_ARENA   ((size_t)2 << 30)
#define OP_ARENA      ((size_t)64 << 20)
#define MERGES_PER_OP 256
#define BUSY_WAIT_MS  20

struct learning {
    const struct epoch_tools *tools;
    const char *bundle_id;
    struct arena arena; /* what lives until the end */
    struct arena page;
    uint64_t app_id;
    struct similar_stack *stacks;
    size_t count, cap;
    const char **texts; /* every name once, open addressing */
    size_t text_count, text_slots;
    struct epoch_rules rules;
    struct similar_result result;
    struct overlay overlay;
    struct merge_plan plan;
};

static enum err no_memory(struct error *err)
{
    return error_set(err, ERR_NO_MEMORY, "no memory for an epoch");
}

enum err epoch_send(const struct epoch_tools *tools, struct write_op *op, struct error *err)
{
    enum err rc = writer_call(tools->writer, op, err);
    while (rc == ERR_BUSY && tools->pause(tools->ctx, BUSY_WAIT_MS))
        rc = writer_call(tools->writer, op, err);
    return rc;
}

/* --- names, each once ------------------------------------------------------------------------- */

static bool grow_texts(struct learning *l)
{
    size_t slots = l->text_slots ? 2 * l->text_slots : 4096;
    const char **texts = arena_array(&l->arena, slots, sizeof(*texts));
    if (!texts)
        return false;
    for (size_t i = 0; i < l->text_slots; i++) {
        const char *text = l->texts[i];
        if (!text)
            continue;
        size_t at = hash64(text, strlen(text), 0) & (slots - 1);
        while (texts[at])
            at = (at + 1) & (slots - 1);
        texts[at] = text;
    }
    l->texts = texts;
    l->text_slots = slots;
    return true;
}

static const char *intern(struct learning *l, const char *text)
{
    if (2 * l->text_count >= l->text_slots && !grow_texts(l))
        return NULL;
    size_t at = hash64(text, strlen(text), 0) & (l->text_slots - 1);
    while (l->texts[at] && strcmp(l->texts[at], text) != 0)
        at = (at + 1) & (l->text_slots - 1);
    if (!l->texts[at]) {
        l->texts[at] = arena_strdup(&l->arena, text);
        l->text_count += l->texts[at] != NULL;
    }
    return l->texts[at];
}

/* --- the stacks ------------------------------------------------------------------------------- */

static enum err keep(struct learning *l, const struct similar_stack *s, struct error *err)
{
    if (!arena_room(&l->arena, (void **)&l->stacks, l->count, &l->cap, sizeof(*l->stacks)))
        return no_memory(err);
    struct similar_stack *kept = &l->stacks[l->count];
    *kept = *s;
    kept->at = NULL;
    kept->count = s->count < SIMILAR_FRAMES ? s->count : SIMILAR_FRAMES;
    const char **names = arena_array(&l->arena, kept->count + 1, sizeof(*names));
    kept->operation = intern(l, s->operation);
    bool good = names && kept->operation;
    for (size_t i = 0; good && i < kept->count; i++)
        good = (names[i] = intern(l, s->names[i])) != NULL;
    if (!good)
        return no_memory(err);
    kept->names = names;
    l->count++;
    return ERR_OK;
}

static bool above(const struct keyed_stack *k, const struct stack_floor *floor)
{
    if (k->weighted != floor->weighted)
        return k->weighted > floor->weighted;
    return memcmp(k->hash, floor->hash, sizeof(k->hash)) <= 0;
}

static enum err read_page(struct learning *l, const struct stack_floor *floor, uint64_t *after,
                          size_t *ret_count, struct error *err)
{
    struct keyed_stack *rows = NULL;
    size_t count = 0;
    arena_reset(&l->page);
    enum err rc = read_keyed_stacks(l->tools->reader, l->bundle_id, 0, *after, PAGE, &l->page,
                                    &rows, &count, err);
    for (size_t i = 0; i < count && !rc; i++) {
        struct keyed keyed;
        *after = rows[i].stack_id;
        l->app_id = rows[i].app_id;
        if (rows[i].damaged || !above(&rows[i], floor))
            continue;
        rc = keyer_stack(l->tools->keyer, l->bundle_id, &rows[i], true, &l->page, &keyed, err);
        if (!rc)
            rc = keep(l, &keyed.similar, err);
    }
    *ret_count = count;
    return rc;
}

static enum err read_stacks(struct learning *l, struct error *err)
{
    struct stack_floor floor;
    uint64_t total = 0;
    uint64_t after = 0;
    size_t count = PAGE;
    enum err rc =
        read_stack_floor(l->tools->reader, l->bundle_id, l->tools->stacks_max, &floor, &total, err);
    while (count > 0 && !rc) {
        if (!l->tools->pause(l->tools->ctx, 0))
            return error_set(err, ERR_BUSY, "stopping");
        rc = read_page(l, &floor, &after, &count, err);
    }
    return rc;
}

/* --- decisions -------------------------------------------------------------------------------- */

static int compare_keys(const void *a, const void *b)
{
    return memcmp(a, b, CLUSTER_KEY_SIZE);
}

static void decide(struct epoch_rules *r, const uint8_t *key)
{
    memcpy(r->decided[r->decided_count++], key, CLUSTER_KEY_SIZE);
}

static void take_rule(struct epoch_rules *r, const struct cluster_rule_row *row)
{
    if (row->by_hand) {
        decide(r, row->from);
        if (row->kind != CLUSTER_RULE_DEPTH)
            decide(r, row->into);
    }
    if (row->kind == CLUSTER_RULE_DEPTH) {
        struct overlay_depth *d = &r->depths[r->depth_count++];
        memcpy(d->key, row->from, CLUSTER_KEY_SIZE);
        d->depth = row->depth;
        return;
    }
    struct plan_rule *p = &r->rules[r->count++];
    *p = (struct plan_rule){.id = row->id,
                            .kind = row->kind == CLUSTER_RULE_MERGE ? PLAN_MERGE : PLAN_APART,
                            .by_hand = row->by_hand,
                            .score = row->score};
    memcpy(p->from, row->from, CLUSTER_KEY_SIZE);
    memcpy(p->into, row->into, CLUSTER_KEY_SIZE);
}

static enum err make_room(struct epoch_rules *r, size_t more, struct arena *arena, size_t *cap,
                          struct error *err)
{
    if (r->count + r->depth_count + more <= *cap)
        return ERR_OK;
    struct epoch_rules wide = *r;
    *cap = 2 * *cap + more;
    wide.rules = arena_array(arena, *cap, sizeof(*wide.rules));
    wide.depths = arena_array(arena, *cap, sizeof(*wide.depths));
    wide.decided = arena_array(arena, 2 * *cap, CLUSTER_KEY_SIZE);
    if (!wide.rules || !wide.depths || !wide.decided)
        return no_memory(err);
    if (r->count)
        memcpy(wide.rules, r->rules, r->count * sizeof(*r->rules));
    if (r->depth_count)
        memcpy(wide.depths, r->depths, r->depth_count * sizeof(*r->depths));
    if (r->decided_count)
        memcpy(wide.decided, r->decided, r->decided_count * CLUSTER_KEY_SIZE);
    *r = wide;
    return ERR_OK;
}

enum err epoch_rules_read(struct storage_reader *reader, const char *bundle_id, struct arena *arena,
                          struct epoch_rules *ret, struct error *err)
{
    struct epoch_rules r = {.count = 0};
    const char *cursor = NULL;
    size_t cap = 0;
    enum err rc = make_room(&r, 1, arena, &cap, err);
    do {
        struct cluster_rule_row *rows = NULL;
        size_t count = 0;
        if (!rc)
            rc = read_cluster_rules(reader, bundle_id, false, READ_LIMIT_MAX, cursor, arena, &rows,
                                    &count, &cursor, err);
        if (!rc)
            rc = make_room(&r, count, arena, &cap, err);
        for (size_t i = 0; i < count && !rc; i++)
            take_rule(&r, &rows[i]);
    } while (cursor && !rc);
    if (rc)
        return rc;
    qsort(r.decided, r.decided_count, CLUSTER_KEY_SIZE, compare_keys);
    qsort(r.depths, r.depth_count, sizeof(*r.depths), compare_keys);
    if (r.depth_count > OVERLAY_ROWS_MAX)
        r.depth_count = OVERLAY_ROWS_MAX;
    size_t n = 0;
    for (size_t i = 0; i < r.decided_count; i++) {
        if (n == 0 || memcmp(r.decided[n - 1], r.decided[i], CLUSTER_KEY_SIZE) != 0)
            memmove(r.decided[n++], r.decided[i], CLUSTER_KEY_SIZE);
    }
    r.decided_count = n;
    *ret = r;
    return ERR_OK;
}

/* --- what is news ----------------------------------------------------------------------------- */

static enum err learn_overlay(struct learning *l, const struct overlay *now, struct error *err)
{
    static const struct overlay none = {.hold_count = 0};
    enum err rc = overlay_holds(now ? now : &none, l->stacks, l->count,
                                (const uint8_t(*)[CLUSTER_KEY_SIZE])l->rules.decided,
                                l->rules.decided_count, &l->arena, &l->overlay, err);
    l->overlay.depths = l->rules.depths;
    l->overlay.depth_count = l->rules.depth_count;
    if (!rc)
        rc = similar_under(&l->overlay, l->stacks, l->count, &l->arena, &l->result, err);
    if (rc)
        return rc;
    l->overlay.plumbing.items = l->result.plumbing;
    l->overlay.plumbing.count =
        l->result.plumbing_count < OVERLAY_NAMES_MAX ? l->result.plumbing_count : OVERLAY_NAMES_MAX;
    return merge_plan_of(&l->result, l->rules.rules, l->rules.count, &l->arena, &l->plan, err);
}

static struct write_op *new_op(const struct learning *l, uint64_t epoch, int64_t now_ms)
{
    struct write_op *op = write_op_new(WRITE_EPOCH, OP_ARENA);
    if (op)
        op->u.epoch =
            (struct op_epoch){.bundle_id = l->bundle_id, .epoch = epoch, .now_ms = now_ms};
    return op;
}

static enum err same_related(struct learning *l, bool *ret, struct error *err)
{
    struct related_row *rows = NULL;
    size_t count = 0;
    enum err rc = read_related(l->tools->reader, l->bundle_id, 0, &l->arena, &rows, &count, err);
    if (rc)
        return rc;
    *ret = count == l->plan.related_count;
    for (size_t i = 0; i < count && *ret; i++) {
        const struct plan_pair *p = &l->plan.related[i];
        *ret = memcmp(rows[i].key, p->key, CLUSTER_KEY_SIZE) == 0 &&
               memcmp(rows[i].other, p->other, CLUSTER_KEY_SIZE) == 0 && rows[i].score == p->score;
    }
    return ERR_OK;
}

static enum err put_related(struct learning *l, struct op_epoch *o, struct arena *arena,
                            struct error *err)
{
    bool same = false;
    enum err rc = same_related(l, &same, err);
    if (rc || same)
        return rc;
    struct op_related *rows = arena_array(arena, l->plan.related_count + 1, sizeof(*rows));
    if (!rows)
        return no_memory(err);
    for (size_t i = 0; i < l->plan.related_count; i++) {
        memcpy(rows[i].key, l->plan.related[i].key, PART_KEY_SIZE);
        memcpy(rows[i].other, l->plan.related[i].other, PART_KEY_SIZE);
        rows[i].score = l->plan.related[i].score;
    }
    o->replaces_related = true;
    o->related = rows;
    o->related_count = l->plan.related_count;
    return ERR_OK;
}

static const char *name_of(const struct learning *l, size_t part)
{
    const char *name = l->result.parts[part].name;
    return name ? name : "";
}

static enum err put_merges(const struct learning *l, size_t first, struct op_epoch *o,
                           struct arena *arena, struct error *err)
{
    size_t left = l->plan.merge_count - first;
    size_t count = left < MERGES_PER_OP ? left : MERGES_PER_OP;
    struct op_epoch_merge *rows = arena_array(arena, count + 1, sizeof(*rows));
    if (!rows)
        return no_memory(err);
    for (size_t i = 0; i < count; i++) {
        const struct plan_merge *m = &l->plan.merges[first + i];
        memcpy(rows[i].from, m->from, PART_KEY_SIZE);
        memcpy(rows[i].into, m->into, PART_KEY_SIZE);
        rows[i].score = m->score;
        rows[i].from_title = name_of(l, m->part);
        rows[i].into_title = name_of(l, m->taker);
    }
    o->merges = rows;
    o->merge_count = count;
    return ERR_OK;
}

/* NULL bytes: it is what is there already. */
static enum err put_overlay(const struct overlay *next, const struct overlay *now,
                            struct op_epoch *o, struct arena *arena, struct error *err)
{
    struct buf bytes, before;
    enum err rc = ERR_OK;
    buf_init(&bytes, OVERLAY_BYTES_MAX);
    buf_init(&before, OVERLAY_BYTES_MAX);
    bool good = overlay_encode(next, &bytes) && (!now || overlay_encode(now, &before));
    bool same =
        good && now && bytes.len == before.len && memcmp(bytes.data, before.data, bytes.len) == 0;
    if (good && !same) {
        o->overlay = arena_memdup(arena, bytes.data, bytes.len);
        o->overlay_len = bytes.len;
        good = o->overlay != NULL;
    }
    if (!good)
        rc = no_memory(err);
    buf_done(&bytes);
    buf_done(&before);
    return rc;
}

static enum err epoch_before(struct learning *l, uint64_t *ret, struct error *err)
{
    struct overlay_row *rows = NULL;
    size_t count = 0;
    enum err rc = read_overlays(l->tools->reader, 0, &l->page, &rows, &count, err);
    *ret = 0;
    for (size_t i = 0; i < count && !rc; i++) {
        if (rows[i].app_id == l->app_id)
            *ret = rows[i].epoch;
    }
    return rc;
}

static enum err write_news(struct learning *l, const struct overlay *now, int64_t now_ms,
                           struct error *err)
{
    uint64_t epoch = 0;
    size_t first = 0;
    enum err rc = epoch_before(l, &epoch, err);
    do {
        struct write_op *op = rc ? NULL : new_op(l, epoch + 1, now_ms);
        if (!op)
            return rc ? rc : no_memory(err);
        struct op_epoch *o = &op->u.epoch;
        rc = put_merges(l, first, o, op->arena, err);
        if (!rc && first == 0) {
            o->undo = l->plan.undo;
            o->undo_count = l->plan.undo_count;
            rc = put_overlay(&l->overlay, now, o, op->arena, err);
            if (!rc)
                rc = put_related(l, o, op->arena, err);
        }
        if (!rc)
            rc = epoch_send(l->tools, op, err);
        first += o->merge_count;
        write_op_free(op);
    } while (!rc && first < l->plan.merge_count);
    return rc;
}

enum err epoch_learn(const struct epoch_tools *tools, const char *bundle_id, int64_t now_ms,
                     struct epoch_figures *ret, struct error *err)
{
    struct learning l = {.tools = tools, .bundle_id = bundle_id};
    uint64_t version = 0;
    arena_init(&l.arena, LEARN_ARENA);
    arena_init(&l.page, PAGE_ARENA);
    enum err rc = read_stacks(&l, err);
    if (!rc)
        rc = epoch_rules_read(tools->reader, bundle_id, &l.arena, &l.rules, err);
    const struct overlay *now = keyer_overlay(tools->keyer, l.app_id, &version);
    if (!rc && l.count > 0)
        rc = learn_overlay(&l, now, err);
    if (!rc && l.count > 0)
        rc = write_news(&l, now, now_ms, err);
    if (!rc)
        *ret = (struct epoch_figures){.stacks = l.count,
                                      .parts = l.result.part_count,
                                      .plumbing = l.overlay.plumbing.count,
                                      .merges = l.plan.merge_count,
                                      .undone = l.plan.undo_count,
                                      .related = l.plan.related_count / 2};
    arena_done(&l.arena);
    arena_done(&l.page);
    return rc;
}

enum err epoch_learn_depths(const struct epoch_tools *tools, const char *bundle_id, int64_t now_ms,
                            struct error *err)
{
    struct learning l = {.tools = tools, .bundle_id = bundle_id};
    struct keyed_stack *row = NULL;
    size_t count = 0;
    uint64_t version = 0;
    uint64_t epoch = 0;
    arena_init(&l.arena, LEARN_ARENA);
    arena_init(&l.page, PAGE_ARENA);
    enum err rc = epoch_rules_read(tools->reader, bundle_id, &l.arena, &l.rules, err);
    if (!rc)
        rc = read_keyed_stacks(tools->reader, bundle_id, 0, 0, 1, &l.arena, &row, &count, err);
    if (!rc && count > 0) {
        l.app_id = row->app_id;
        rc = epoch_before(&l, &epoch, err);
        const struct overlay *now = keyer_overlay(tools->keyer, l.app_id, &version);
        struct write_op *op = rc ? NULL : new_op(&l, epoch, now_ms);
        if (!rc && !op)
            rc = no_memory(err);
        if (now)
            l.overlay = *now;
        l.overlay.depths = l.rules.depths;
        l.overlay.depth_count = l.rules.depth_count;
        if (!rc)
            rc = put_overlay(&l.overlay, now, &op->u.epoch, op->arena, err);
        if (!rc && op->u.epoch.overlay)
            rc = epoch_send(tools, op, err);
        write_op_free(op);
    }
    arena_done(&l.arena);
    arena_done(&l.page);
    return rc;
}
