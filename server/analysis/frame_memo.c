#include "server/analysis/frame_memo.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/text.h"
#include "server/analysis/normalize.h"

struct memo_entry {
    struct frame_decision decision; /* the same at every position when that is EVERYWHERE */
    struct frame_question question;
    uint64_t hash;
};

#define PLACE_BITS 14
#define PLACES     ((size_t)1 << PLACE_BITS)
#define EVERYWHERE (UINT32_MAX >> 1)
#define IMAGES     ((size_t)4096)
#define TRIES      8 /* places of `images` where a name may be */
#define SEEN       ((size_t)16)

/* A short way to a decision; 32 bytes, as most of them lie in no cache. */
struct placed {
    const struct frame_decision *decision; /* NULL: free */
    uint64_t frames_id;
    const char *image; /* the memo's copy, one for all */
    uint32_t index;
    uint32_t where; /* position and class */
};

/* The name of an image of the stack at hand: where it lies says what it is. */
struct seen_image {
    const char *name;
    const char *copy; /* the memo's */
    uint64_t hash;
    uint64_t stack;
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
    uint64_t stack; /* counted on */
    struct seen_image seen[SEEN];
    const char *images[IMAGES]; /* half of it in use; then it begins anew, between two stacks */
    size_t image_count;
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
    m->stack = 1;
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

static void forget_places(struct frame_memo *m)
{
    memset(m->places, 0, sizeof(m->places));
    memset(m->images, 0, sizeof(m->images));
    m->image_count = 0;
}

void frame_memo_begin(struct frame_memo *m)
{
    if (!m)
        return;
    m->stack++;
    if (m->count >= m->max || m->arena.used > FRAME_MEMO_BYTES - 65536) {
        memset(m->entries, 0, (m->mask + 1) * sizeof(*m->entries));
        arena_reset(&m->arena);
        m->count = 0;
        forget_places(m);
    } else if (m->image_count > IMAGES / 2) {
        forget_places(m);
    }
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
    d->special = d->group.action || d->system_group.action || d->category.action;
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

/* The memo's copy of a name; NULL without memory. */
static const char *copy_of(struct frame_memo *m, const char *name, uint64_t hash)
{
    const char **at = NULL;
    for (size_t i = 0; i < TRIES && (!at || *at); i++) {
        at = &m->images[(hash + i) % IMAGES];
        if (text_same(*at, name))
            return *at;
    }
    m->image_count += !*at;
    *at = arena_strdup(&m->arena, name);
    return *at;
}

/* NULL without memory. */
static const struct seen_image *see(struct frame_memo *m, const char *name)
{
    struct seen_image *s = &m->seen[(uintptr_t)name / 16 % SEEN];
    if (s->stack == m->stack && s->name == name)
        return s;
    const uint64_t hash = hash_text(name, m->seed);
    *s = (struct seen_image){name, copy_of(m, name, hash), hash, m->stack};
    if (!s->copy)
        s->stack = 0;
    return s->copy ? s : NULL;
}

static struct placed *place_of(struct frame_memo *m, uint64_t hash, uint32_t position)
{
    hash += position == EVERYWHERE ? 0 : position + 1;
    return &m->places[hash * 0x9e3779b97f4a7c15u >> (64 - PLACE_BITS)];
}

/* Of all but the position. Numbers are ours; what an image is called is a stranger's. */
static uint64_t hash_place(const struct frame_place *p, const struct seen_image *image)
{
    const uint64_t name = p->frames_id ? p->frames_id << 8 : image->hash;
    return name + ((uint64_t)p->index << 5 | (uint64_t)p->in_app << 4);
}

/* As one number. */
static uint32_t where(const struct frame_place *p, uint32_t position)
{
    return position << 1 | p->in_app;
}

static bool lies_there(const struct placed *p, const struct frame_place *place,
                       const struct seen_image *image, uint32_t position)
{
    return p->decision && p->frames_id == place->frames_id && p->index == place->index &&
           p->where == where(place, position) && p->image == image->copy;
}

const struct frame_decision *frame_memo_placed(struct frame_memo *m, const struct rules *rules,
                                               const struct frame_place *place)
{
    const struct seen_image *image = m && m->rules == rules ? see(m, place->image) : NULL;
    if (!image)
        return NULL;
    const uint64_t hash = hash_place(place, image);
    const struct placed *p = place_of(m, hash, EVERYWHERE);
    if (lies_there(p, place, image, EVERYWHERE))
        return p->decision;
    const uint32_t position = capped(m, place->position);
    p = place_of(m, hash, position);
    return lies_there(p, place, image, position) ? p->decision : NULL;
}

static void put_place(struct frame_memo *m, const struct frame_place *place,
                      const struct memo_entry *entry)
{
    const uint32_t position = entry->question.position;
    const struct seen_image *image = see(m, place->image);
    if (image)
        *place_of(m, hash_place(place, image), position) = (struct placed){
            &entry->decision, place->frames_id, image->copy, place->index, where(place, position)};
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
        put_place(memo, place, entry);
    return &entry->decision;
}
