#include "server/analysis/frame_memo.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/text.h"
#include "server/analysis/normalize.h"

struct memo_entry {
    uint64_t hash;
    struct frame_question question; /* position EVERYWHERE: the decision is the same at each */
    struct frame_decision decision;
};

#define PLACES     ((size_t)1 << PLACE_BITS)
#define PLACE_BITS 14
#define EVERYWHERE UINT32_MAX

/* A short way to an entry. */
struct placed {
    const struct memo_entry *entry; /* NULL: free */
    uint64_t frames_id;
    uint32_t index;
};

struct frame_memo {
    const struct rules *rules;
    uint32_t position_cap;
    uint64_t seed; /* names come from strangers: they must not choose the slots */
    struct arena arena;
    struct memo_entry **entries; /* a power of two, at most half of it in use */
    size_t mask;
    size_t count;
    size_t max;
    struct placed places[PLACES];
};

struct frame_memo *frame_memo_new(const struct rules *rules, size_t max_entries)
{
    size_t slots = 16;
    while (slots < 2 * max_entries)
        slots *= 2;
    struct frame_memo *m = calloc(1, sizeof(*m));
    if (!m)
        return NULL;
    arena_init(&m->arena, FRAME_MEMO_BYTES);
    m->rules = rules;
    m->seed = (uint64_t)(uintptr_t)m;
    m->position_cap = rules_position_cap(rules);
    m->entries = calloc(slots, sizeof(*m->entries));
    m->mask = slots - 1;
    m->max = max_entries;
    if (!m->entries) {
        frame_memo_free(m);
        return NULL;
    }
    return m;
}

void frame_memo_free(struct frame_memo *m)
{
    if (!m)
        return;
    arena_done(&m->arena);
    free(m->entries);
    free(m);
}

void frame_memo_begin(struct frame_memo *m)
{
    if (!m || (m->count < m->max && m->arena.used <= FRAME_MEMO_BYTES - 65536))
        return;
    memset(m->entries, 0, (m->mask + 1) * sizeof(*m->entries));
    memset(m->places, 0, sizeof(m->places));
    arena_reset(&m->arena);
    m->count = 0;
}

static uint64_t hash_text(const char *s, uint64_t seed)
{
    return s ? hash64(s, strlen(s), seed) : seed ^ 0x9e3779b97f4a7c15u;
}

static uint64_t hash_question(const struct frame_question *q, uint64_t seed)
{
    uint64_t flags = (uint64_t)q->position << 2 | (uint64_t)q->local << 1 | (uint64_t)q->in_app;
    uint64_t h = hash_text(q->function, hash64(&flags, sizeof(flags), seed));
    h = hash_text(q->qualified, h);
    h = hash_text(q->image, h);
    h = hash_text(q->file, h);
    h = hash_text(q->module, h);
    return h ? h : 1;
}

static bool same_question(const struct frame_question *a, const struct frame_question *b)
{
    return a->position == b->position && a->local == b->local && a->in_app == b->in_app &&
           text_same(a->function, b->function) && text_same(a->image, b->image) &&
           text_same(a->file, b->file) && text_same(a->module, b->module) &&
           text_same(a->qualified, b->qualified);
}

/* --- deciding ------------------------------------------------------------------------------ */

static bool yes(const struct rule_match *m)
{
    return m->action && m->action->value == VALUE_YES;
}

/* Whether the class is another one now. */
static bool apply_class(const struct rule_match *m, struct frame_decision *d)
{
    if (!m->action)
        return false;
    bool app = m->action->value == VALUE_APP;
    bool vendor = m->action->value == VALUE_VENDOR;
    bool changed = app != d->in_app || vendor != d->vendor;
    d->in_app = app;
    d->vendor = vendor;
    return changed;
}

static void apply_fate(const struct rule_match m[RULE_KINDS], struct frame_decision *d)
{
    const struct rule_match *fate = &m[RULE_FATE];
    if (fate->action && fate->action->value == VALUE_DROP) {
        d->drop = fate->action->text ? fate->action->text : "";
        d->rule = fate->why;
    } else if (d->named && !*d->key) {
        d->drop = "artefact";
        d->rule = "a name without identity";
    } else if (fate->action) {
        d->rule = fate->why;
    } else {
        d->rule = d->vendor ? m[RULE_CLASS].why : "";
    }
}

static void decide(const struct rules *rules, const struct frame_question *q, char *key_buffer,
                   struct frame_decision *d)
{
    struct rule_match m[RULE_KINDS];
    memset(d, 0, sizeof(*d));
    d->key = "";
    d->in_app = q->in_app;
    d->named = q->function && !normalize_is_unnamed(q->function);
    if (d->named) {
        const char *name = q->qualified ? q->qualified : q->function;
        d->key_len = normalize_function(name, q->file, q->local, key_buffer, KEY_NAME_MAX);
        d->key = key_buffer;
    }
    struct rule_subject s = {.image = q->image,
                             .key = d->key,
                             .shown = q->function,
                             .file = q->file,
                             .module = q->module,
                             .position = q->position,
                             .in_app = q->in_app,
                             .named = d->named};
    d->everywhere = !rules_match(rules, &s, m);
    if (apply_class(&m[RULE_CLASS], d)) {
        struct rule_match class_rule = m[RULE_CLASS];
        s.in_app = d->in_app; /* the class decides which other rules meet it */
        s.vendor = d->vendor;
        d->everywhere = !rules_match(rules, &s, m) && d->everywhere;
        m[RULE_CLASS] = class_rule;
    }
    apply_fate(m, d);
    d->boundary = yes(&m[RULE_BOUNDARY]);
    d->plumbing = yes(&m[RULE_PLUMBING]);
    d->group = m[RULE_GROUP];
    d->system_group = m[RULE_SYSTEM_GROUP];
    d->category = m[RULE_CATEGORY];
    d->owner = m[RULE_OWNER].action ? m[RULE_OWNER].action->text : NULL;
    d->depth = m[RULE_DEPTH].action ? m[RULE_DEPTH].action->number : 0;
}

/* A copy of a text; `good` becomes false without room. */
static const char *copy(struct frame_memo *m, const char *s, bool *good)
{
    if (!s)
        return NULL;
    const char *got = arena_strdup(&m->arena, s);
    *good = *good && got;
    return got;
}

/* Where the entry of the question is, or may be put. */
static struct memo_entry **slot_of(struct frame_memo *m, const struct frame_question *q,
                                   uint64_t hash)
{
    size_t i = hash & m->mask;
    while (m->entries[i] &&
           (m->entries[i]->hash != hash || !same_question(&m->entries[i]->question, q)))
        i = (i + 1) & m->mask;
    return &m->entries[i];
}

/* NULL: it is not remembered. */
static const struct memo_entry *find(struct frame_memo *m, struct frame_question q)
{
    const uint32_t position = q.position;
    q.position = EVERYWHERE;
    const struct memo_entry *found = *slot_of(m, &q, hash_question(&q, m->seed));
    if (found)
        return found;
    q.position = position;
    return *slot_of(m, &q, hash_question(&q, m->seed));
}

/* NULL: there is no room, before the next stack begins. */
static const struct memo_entry *remember(struct frame_memo *m, const struct frame_question *q,
                                         const struct frame_decision *d)
{
    bool good = m->count < m->max;
    struct memo_entry *entry = good ? arena_alloc(&m->arena, sizeof(*entry)) : NULL;
    if (!entry)
        return NULL;
    entry->question = *q;
    entry->question.image = copy(m, q->image, &good);
    entry->question.function = copy(m, q->function, &good);
    entry->question.qualified = copy(m, q->qualified, &good);
    entry->question.file = copy(m, q->file, &good);
    entry->question.module = copy(m, q->module, &good);
    if (d->everywhere)
        entry->question.position = EVERYWHERE;
    entry->decision = *d;
    entry->decision.key = copy(m, d->key, &good);
    if (!good)
        return NULL;
    entry->hash = hash_question(&entry->question, m->seed);
    *slot_of(m, &entry->question, entry->hash) = entry;
    m->count++;
    return entry;
}

/* --- by place --------------------------------------------------------------------------------- */

static uint32_t capped(const struct frame_memo *m, uint32_t position)
{
    return position < m->position_cap ? position : m->position_cap; /* no rule tells those apart */
}

static struct placed *place_of(struct frame_memo *m, uint64_t hash, uint32_t position)
{
    hash += position == EVERYWHERE ? 0 : position + 1;
    return &m->places[hash * 0x9e3779b97f4a7c15u >> (64 - PLACE_BITS)];
}

/* Of all but the position. Numbers are ours; what an image is called is a stranger's. */
static uint64_t hash_place(const struct frame_memo *m, const struct frame_place *p)
{
    const uint64_t name = p->frames_id ? p->frames_id << 8 : hash_text(p->image, m->seed);
    return name + ((uint64_t)p->index << 5 | (uint64_t)p->in_app << 4);
}

static bool lies_there(const struct placed *p, const struct frame_place *place, uint32_t position)
{
    return p->entry && p->frames_id == place->frames_id && p->index == place->index &&
           p->entry->question.position == position && p->entry->question.in_app == place->in_app &&
           text_same(p->entry->question.image, place->image);
}

const struct frame_decision *frame_memo_placed(struct frame_memo *m, const struct rules *rules,
                                               const struct frame_place *place)
{
    if (!m || m->rules != rules)
        return NULL;
    const uint64_t hash = hash_place(m, place);
    const struct placed *p = place_of(m, hash, EVERYWHERE);
    if (lies_there(p, place, EVERYWHERE))
        return &p->entry->decision;
    const uint32_t position = capped(m, place->position);
    p = place_of(m, hash, position);
    return lies_there(p, place, position) ? &p->entry->decision : NULL;
}

const struct frame_decision *frame_decide(const struct rules *rules, struct frame_memo *memo,
                                          const struct frame_place *place,
                                          const struct frame_question *question, char *key_buffer,
                                          struct frame_decision *room)
{
    if (!memo || memo->rules != rules) {
        decide(rules, question, key_buffer, room);
        return room;
    }
    struct frame_question q = *question;
    q.position = capped(memo, q.position);
    const struct memo_entry *entry = find(memo, q);
    if (!entry) {
        decide(rules, &q, key_buffer, room);
        entry = remember(memo, &q, room);
    }
    if (!entry)
        return room;
    if (place)
        *place_of(memo, hash_place(memo, place), entry->question.position) =
            (struct placed){entry, place->frames_id, place->index};
    return &entry->decision;
}
