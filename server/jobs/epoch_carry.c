#include "server/jobs/epoch_carry.h"

#include <stdlib.h>
#include <string.h>

#define PAGE       128
#define PAGE_ARENA ((size_t)64 << 20)
#define ARENA      ((size_t)256 << 20)
#define OP_ARENA   ((size_t)32 << 20)
#define PIECES_MAX 16 /* of a key, the heaviest; what is left goes its own way */

struct piece {
    uint8_t key[PART_KEY_SIZE];
    int64_t weighted;
};

/* A key that a rule speaks of, and what its stacks get now. */
struct subject {
    uint8_t key[PART_KEY_SIZE];
    bool alive;    /* some stacks keep it */
    bool has_rows; /* stacks are filed under it */
    struct piece *pieces;
    size_t count, room;
};

struct carrying {
    const struct epoch_tools *tools;
    const char *bundle_id;
    struct arena arena, page;
    struct cluster_rule_row *rules; /* by hand */
    size_t rule_count, rule_room;
    struct subject *subjects; /* sorted */
    size_t subject_count;
    struct op_carried *items;
    size_t item_count, item_room;
    size_t carried;
};

static enum err no_memory(struct error *err)
{
    return error_set(err, ERR_NO_MEMORY, "no memory to carry decisions over");
}

/* --- what people said ------------------------------------------------------------------------- */

static enum err read_rules(struct carrying *c, struct error *err)
{
    const char *cursor = NULL;
    do {
        struct cluster_rule_row *rows = NULL;
        size_t count = 0;
        enum err rc = read_cluster_rules(c->tools->reader, c->bundle_id, false, READ_LIMIT_MAX,
                                         cursor, &c->arena, &rows, &count, &cursor, err);
        if (rc)
            return rc;
        for (size_t i = 0; i < count; i++) {
            if (!rows[i].by_hand)
                continue;
            if (!arena_room(&c->arena, (void **)&c->rules, c->rule_count, &c->rule_room,
                            sizeof(*c->rules)))
                return no_memory(err);
            c->rules[c->rule_count++] = rows[i];
        }
    } while (cursor);
    return ERR_OK;
}

static int by_key(const void *a, const void *b)
{
    return memcmp(a, b, PART_KEY_SIZE); /* both begin with it */
}

static enum err list_subjects(struct carrying *c, struct error *err)
{
    size_t n = 0;
    c->subjects = arena_array(&c->arena, 2 * c->rule_count, sizeof(*c->subjects));
    if (!c->subjects)
        return no_memory(err);
    for (size_t i = 0; i < c->rule_count; i++) {
        memcpy(c->subjects[n++].key, c->rules[i].from, PART_KEY_SIZE);
        if (c->rules[i].kind != CLUSTER_RULE_DEPTH)
            memcpy(c->subjects[n++].key, c->rules[i].into, PART_KEY_SIZE);
    }
    qsort(c->subjects, n, sizeof(*c->subjects), by_key);
    for (size_t i = 0; i < n; i++) {
        if (i == 0 || by_key(&c->subjects[c->subject_count - 1], &c->subjects[i]) != 0)
            c->subjects[c->subject_count++] = c->subjects[i];
    }
    return ERR_OK;
}

static struct subject *subject_of(const struct carrying *c, const uint8_t *key)
{
    return bsearch(key, c->subjects, c->subject_count, sizeof(*c->subjects), by_key);
}

/* --- what became of the keys ------------------------------------------------------------------ */

static enum err note(struct carrying *c, struct subject *s, const uint8_t *key, int64_t weighted,
                     struct error *err)
{
    for (size_t i = 0; i < s->count; i++) {
        if (memcmp(s->pieces[i].key, key, PART_KEY_SIZE) == 0) {
            s->pieces[i].weighted += weighted;
            return ERR_OK;
        }
    }
    if (!arena_room(&c->arena, (void **)&s->pieces, s->count, &s->room, sizeof(*s->pieces)))
        return no_memory(err);
    struct piece *p = &s->pieces[s->count++];
    memcpy(p->key, key, PART_KEY_SIZE);
    p->weighted = weighted;
    return ERR_OK;
}

/* Stacks of an app that are filed under a subject; or all of a cluster, for `only`. */
static enum err read_page(struct carrying *c, uint64_t cluster_id, struct subject *only,
                          uint64_t *after, size_t *ret_count, struct error *err)
{
    struct keyed_stack *rows = NULL;
    arena_reset(&c->page);
    enum err rc = read_keyed_stacks(c->tools->reader, c->bundle_id, cluster_id, *after, PAGE,
                                    &c->page, &rows, ret_count, err);
    for (size_t i = 0; i < *ret_count && !rc; i++) {
        struct subject *s = only ? only : subject_of(c, rows[i].part);
        struct keyed keyed;
        *after = rows[i].stack_id;
        if (!s || rows[i].damaged)
            continue;
        rc = keyer_stack(c->tools->keyer, c->bundle_id, &rows[i], false, &c->page, &keyed, err);
        if (rc)
            break;
        s->has_rows = s->has_rows || !only;
        s->alive = s->alive || memcmp(keyed.verdict.key, rows[i].part, PART_KEY_SIZE) == 0;
        rc = note(c, s, keyed.verdict.key, rows[i].weighted, err);
    }
    return rc;
}

static enum err read_stacks(struct carrying *c, uint64_t cluster_id, struct subject *only,
                            struct error *err)
{
    uint64_t after = 0;
    size_t count = PAGE;
    enum err rc = ERR_OK;
    while (count == PAGE && !rc) {
        if (!c->tools->pause(c->tools->ctx, 0))
            return error_set(err, ERR_BUSY, "stopping");
        rc = read_page(c, cluster_id, only, &after, &count, err);
    }
    return rc;
}

/* Stacks behind a depth are filed under deeper keys: the cluster that most of them went to. */
static enum err read_depths(struct carrying *c, struct error *err)
{
    enum err rc = ERR_OK;
    for (size_t i = 0; i < c->rule_count && !rc; i++) {
        const struct cluster_rule_row *r = &c->rules[i];
        struct subject *s = subject_of(c, r->from);
        if (r->kind == CLUSTER_RULE_DEPTH && !s->has_rows && r->cluster_id)
            rc = read_stacks(c, r->cluster_id, s, err);
    }
    return rc;
}

static int by_weight(const void *a, const void *b)
{
    const struct piece *x = a;
    const struct piece *y = b;
    if (x->weighted != y->weighted)
        return x->weighted > y->weighted ? -1 : 1;
    return memcmp(x->key, y->key, PART_KEY_SIZE);
}

/* Its pieces; of one that lives itself alone. */
static void settle(struct subject *s)
{
    if (s->count > 1)
        qsort(s->pieces, s->count, sizeof(*s->pieces), by_weight);
    if (s->count > PIECES_MAX)
        s->count = PIECES_MAX;
    if (s->count > 0 && !s->alive)
        return;
    s->alive = true;
    s->count = 0;
}

/* --- the rules anew --------------------------------------------------------------------------- */

static const uint8_t *piece_of(const struct subject *s, size_t i)
{
    return s->alive ? s->key : s->pieces[i].key;
}

static enum err say_anew(struct carrying *c, const struct cluster_rule_row *r, struct error *err)
{
    const struct subject *from = subject_of(c, r->from);
    const struct subject *into = r->kind == CLUSTER_RULE_DEPTH ? NULL : subject_of(c, r->into);
    size_t count = from->alive ? 1 : from->count;
    /* Of the cluster behind a depth all may be in it for another reason: the heaviest. */
    if (r->kind == CLUSTER_RULE_DEPTH && !from->has_rows)
        count = 1;
    if (from->alive && (!into || into->alive))
        return ERR_OK;
    for (size_t i = 0; i < count; i++) {
        if (!arena_room(&c->arena, (void **)&c->items, c->item_count, &c->item_room,
                        sizeof(*c->items)))
            return no_memory(err);
        struct op_carried *item = &c->items[c->item_count++];
        *item = (struct op_carried){.rule_id = r->id, .again = i > 0};
        memcpy(item->from, piece_of(from, i), PART_KEY_SIZE);
        if (into)
            memcpy(item->into, piece_of(into, 0), PART_KEY_SIZE);
    }
    c->carried++;
    return ERR_OK;
}

static enum err write_rules(struct carrying *c, int64_t now_ms, struct error *err)
{
    struct write_op *op = write_op_new(WRITE_CLUSTER_CARRY, OP_ARENA);
    if (!op)
        return no_memory(err);
    op->u.cluster_carry = (struct op_cluster_carry){
        .bundle_id = c->bundle_id, .items = c->items, .count = c->item_count, .now_ms = now_ms};
    enum err rc = epoch_send(c->tools, op, err);
    write_op_free(op);
    return rc;
}

static enum err carry(struct carrying *c, int64_t now_ms, struct error *err)
{
    enum err rc = read_rules(c, err);
    if (rc || c->rule_count == 0)
        return rc;
    rc = list_subjects(c, err);
    if (!rc)
        rc = read_stacks(c, 0, NULL, err);
    if (!rc)
        rc = read_depths(c, err);
    for (size_t i = 0; i < c->subject_count && !rc; i++)
        settle(&c->subjects[i]);
    /* Oldest first: the rules were read newest first. */
    for (size_t i = c->rule_count; i-- > 0 && !rc;)
        rc = say_anew(c, &c->rules[i], err);
    if (!rc && c->item_count > 0)
        rc = write_rules(c, now_ms, err);
    return rc;
}

enum err epoch_carry(const struct epoch_tools *tools, const char *bundle_id, int64_t now_ms,
                     size_t *ret_count, struct error *err)
{
    struct carrying c = {.tools = tools, .bundle_id = bundle_id};
    arena_init(&c.arena, ARENA);
    arena_init(&c.page, PAGE_ARENA);
    enum err rc = carry(&c, now_ms, err);
    arena_done(&c.arena);
    arena_done(&c.page);
    if (!rc)
        *ret_count = c.carried;
    return rc;
}
