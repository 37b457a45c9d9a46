#include "server/analysis/frame_memo.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/text.h"
#include "server/analysis/normalize.h"

struct memo_entry {
    uint64_t hash; /* 0: free */
    struct frame_question question;
    struct frame_decision decision;
};

#define PLACES ((size_t)4096)

struct placed {
    uint64_t share; /* in which it was decided */
    struct frame_place place;
    const struct frame_decision *decision;
};

struct frame_memo {
    const struct rules *rules;
    uint64_t share; /* 0: none yet */
    struct placed places[PLACES];
    struct arena decided; /* in this share */
    uint32_t position_cap;
    uint64_t seed; /* names come from strangers: they must not choose the slots */
    struct arena arena;
    struct memo_entry *entries; /* a power of two, at most half of it in use */
    size_t mask;
    size_t count;
    size_t max;
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
    arena_init(&m->decided, FRAME_MEMO_BYTES);
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
    arena_done(&m->decided);
    free(m->entries);
    free(m);
}

static void forget(struct frame_memo *m)
{
    memset(m->entries, 0, (m->mask + 1) * sizeof(*m->entries));
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
    rules_match(rules, &s, m);
    if (apply_class(&m[RULE_CLASS], d)) {
        struct rule_match class_rule = m[RULE_CLASS];
        s.in_app = d->in_app; /* the class decides which other rules meet it */
        s.vendor = d->vendor;
        rules_match(rules, &s, m);
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

static void remember(struct frame_memo *m, struct memo_entry *entry, uint64_t hash,
                     const struct frame_question *q, struct frame_decision *d)
{
    bool good = true;
    struct frame_question kept = *q;
    kept.image = copy(m, q->image, &good);
    kept.function = copy(m, q->function, &good);
    kept.qualified = copy(m, q->qualified, &good);
    kept.file = copy(m, q->file, &good);
    kept.module = copy(m, q->module, &good);
    const char *key = copy(m, d->key, &good);
    if (!good)
        return; /* the next frame finds the memo full and empties it */
    d->key = key;
    *entry = (struct memo_entry){hash, kept, *d};
    m->count++;
}

void frame_decide(const struct rules *rules, struct frame_memo *memo,
                  const struct frame_question *question, char *key_buffer,
                  struct frame_decision *ret)
{
    if (!memo || memo->rules != rules) {
        decide(rules, question, key_buffer, ret);
        return;
    }
    struct frame_question q = *question;
    if (q.position > memo->position_cap)
        q.position = memo->position_cap; /* no rule tells those apart */
    if (memo->count >= memo->max || memo->arena.used > FRAME_MEMO_BYTES - 65536)
        forget(memo);
    uint64_t hash = hash_question(&q, memo->seed);
    size_t i = hash & memo->mask;
    for (; memo->entries[i].hash; i = (i + 1) & memo->mask) {
        struct memo_entry *entry = &memo->entries[i];
        if (entry->hash == hash && same_question(&entry->question, &q)) {
            *ret = entry->decision;
            return;
        }
    }
    decide(rules, &q, key_buffer, ret);
    remember(memo, &memo->entries[i], hash, &q, ret);
}

/* --- by place --------------------------------------------------------------------------------- */

void frame_memo_share(struct frame_memo *m)
{
    if (!m)
        return;
    m->share++;
    arena_reset(&m->decided);
}

static uint32_t capped(const struct frame_memo *m, uint32_t position)
{
    return position < m->position_cap ? position : m->position_cap;
}

static size_t place_of(const struct frame_memo *m, const struct frame_place *p)
{
    const uint64_t h = ((uint64_t)(uintptr_t)p->frame >> 4) + capped(m, p->position);
    return (size_t)(h * 0x9e3779b97f4a7c15u >> 48) & (PLACES - 1);
}

const struct frame_decision *frame_memo_placed(const struct frame_memo *m,
                                               const struct rules *rules,
                                               const struct frame_place *place)
{
    if (!m || m->share == 0 || m->rules != rules)
        return NULL;
    const struct placed *p = &m->places[place_of(m, place)];
    const bool same = p->share == m->share && p->place.frame == place->frame &&
                      p->place.position == capped(m, place->position) &&
                      p->place.in_app == place->in_app && text_same(p->place.image, place->image);
    return same ? p->decision : NULL;
}

void frame_memo_place(struct frame_memo *m, const struct rules *rules,
                      const struct frame_place *place, const struct frame_decision *d)
{
    if (!m || m->share == 0 || m->rules != rules)
        return;
    struct frame_decision *kept = arena_memdup(&m->decided, d, sizeof(*d));
    if (kept && d->key_len > 0)
        kept->key = arena_strndup(&m->decided, d->key, d->key_len);
    if (!kept || !kept->key)
        return;
    struct placed *p = &m->places[place_of(m, place)];
    *p = (struct placed){m->share, *place, kept};
    p->place.position = capped(m, place->position);
}
