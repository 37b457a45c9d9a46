#include "symbolizer/index_cache.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

/* DESIGN. A hash table from UUID to what is known of its file: open, not there, or not usable. The
 * lock protects the table, the two LRU lists and the counts of holders; finding and opening a file
 * happen outside of it. A file may come while another thread is busy finding that there is none, so
 * `changes` counts the calls of index_cache_changed: whoever looked before a change looks again.
 *
 * Who: resolver workers and readers acquire and release, the indexer calls changed. Lock order: the
 * one lock, and nothing is called while it is held. */

#define BUCKETS   1024
#define TRIES_MAX 8
#define PATH_SIZE 4096

enum state { STATE_OPEN, STATE_MISS, STATE_FAILED };

struct index_ref {
    struct uuid uuid;
    enum state state;
    bool used;     /* since index_cache_take_used */
    bool detached; /* no longer in the table; dies with its last holder */
    struct gsym *gsym;
    uint64_t generation;
    size_t holders;
    enum err code; /* STATE_FAILED */
    char text[160];
    struct index_ref *chain;
    struct index_ref *newer; /* in `idle` or `misses` */
    struct index_ref *older;
};

struct age_list {
    struct index_ref *newest;
    struct index_ref *oldest;
    size_t count;
};

struct index_cache {
    pthread_mutex_t lock;
    struct index_locator locator;
    size_t max_open;
    size_t max_misses;
    uint64_t seed;
    uint64_t changes;
    uint64_t next_generation;
    struct age_list idle;   /* open, nobody holds them */
    struct age_list misses; /* STATE_MISS and STATE_FAILED */
    struct index_cache_stats stats;
    struct index_ref *buckets[BUCKETS];
};

struct index_cache *index_cache_new(struct index_locator locator, size_t max_open,
                                    size_t max_misses)
{
    struct index_cache *c = calloc(1, sizeof(*c));
    if (!c)
        return NULL;
    pthread_mutex_init(&c->lock, NULL);
    c->locator = locator;
    c->max_open = max_open;
    c->max_misses = max_misses;
    c->seed = (uint64_t)(uintptr_t)c;
    c->next_generation = 1;
    return c;
}

static void ref_free(struct index_ref *r)
{
    if (!r)
        return;
    gsym_close(r->gsym);
    free(r);
}

void index_cache_free(struct index_cache *c)
{
    if (!c)
        return;
    for (size_t i = 0; i < BUCKETS; i++) {
        for (struct index_ref *r = c->buckets[i]; r;) {
            struct index_ref *next = r->chain;
            ref_free(r);
            r = next;
        }
    }
    pthread_mutex_destroy(&c->lock);
    free(c);
}

/* --- under the lock ------------------------------------------------------------------------ */

static struct index_ref **bucket_of(struct index_cache *c, const struct uuid *uuid)
{
    return &c->buckets[hash64(uuid, sizeof(*uuid), c->seed) % BUCKETS];
}

static struct index_ref *find(struct index_cache *c, const struct uuid *uuid)
{
    struct index_ref *r = *bucket_of(c, uuid);
    while (r && !uuid_equal(&r->uuid, uuid))
        r = r->chain;
    return r;
}

static void age_remove(struct age_list *l, struct index_ref *r)
{
    if (r->newer)
        r->newer->older = r->older;
    else
        l->newest = r->older;
    if (r->older)
        r->older->newer = r->newer;
    else
        l->oldest = r->newer;
    r->newer = r->older = NULL;
    l->count--;
}

static void age_add(struct age_list *l, struct index_ref *r)
{
    r->newer = NULL;
    r->older = l->newest;
    if (l->newest)
        l->newest->newer = r;
    else
        l->oldest = r;
    l->newest = r;
    l->count++;
}

static struct age_list *list_of(struct index_cache *c, const struct index_ref *r)
{
    return r->state == STATE_OPEN ? &c->idle : &c->misses;
}

/* Takes an entry out of the table. It is the caller's to free, unless somebody holds it. */
static struct index_ref *detach(struct index_cache *c, struct index_ref *r)
{
    struct index_ref **at = bucket_of(c, &r->uuid);
    while (*at != r)
        at = &(*at)->chain;
    *at = r->chain;
    r->chain = NULL;
    r->detached = true;
    if (r->state == STATE_OPEN)
        c->stats.open_now--;
    if (r->holders > 0)
        return NULL;
    age_remove(list_of(c, r), r);
    return r;
}

/* The oldest entry that is one too many, taken out; NULL when all is within the caps. */
static struct index_ref *surplus(struct index_cache *c)
{
    if (c->idle.count > c->max_open)
        return detach(c, c->idle.oldest);
    if (c->misses.count > c->max_misses)
        return detach(c, c->misses.oldest);
    return NULL;
}

static void insert(struct index_cache *c, struct index_ref *r)
{
    struct index_ref **bucket = bucket_of(c, &r->uuid);
    r->chain = *bucket;
    *bucket = r;
    if (r->state == STATE_OPEN)
        c->stats.open_now++;
    age_add(list_of(c, r), r);
}

/* The answer of an entry that is in the table. */
static enum err answer(struct index_cache *c, struct index_ref *r, struct index_ref **ret,
                       struct error *err)
{
    if (r->state == STATE_OPEN) {
        r->used = true;
        if (r->holders++ == 0)
            age_remove(&c->idle, r);
        *ret = r;
        return ERR_OK;
    }
    age_remove(&c->misses, r);
    age_add(&c->misses, r);
    if (r->state == STATE_MISS)
        return error_set(err, ERR_NOT_FOUND, "no index");
    return error_set(err, r->code, "%s", r->text);
}

/* --- without the lock ---------------------------------------------------------------------- */

/* Looks for the file and opens it. NULL without memory. */
static struct index_ref *look(const struct index_cache *c, const struct uuid *uuid)
{
    char path[PATH_SIZE];
    struct error why = {0};
    struct index_ref *r = calloc(1, sizeof(*r));
    if (!r)
        return NULL;
    r->uuid = *uuid;
    r->state = STATE_MISS;
    if (!c->locator.locate(c->locator.ctx, uuid, path, sizeof(path)))
        return r;
    enum err rc = gsym_open(path, &r->gsym, &why);
    if (rc == ERR_OK) {
        r->state = STATE_OPEN;
    } else if (rc != ERR_NOT_FOUND) {
        r->state = STATE_FAILED;
        r->code = rc;
        snprintf(r->text, sizeof(r->text), "%.*s", (int)sizeof(r->text) - 1, why.text);
    }
    return r;
}

/* No descriptor or no memory to be had: that is not the file's, and not remembered. */
static bool says_nothing(const struct index_ref *r)
{
    return r->state == STATE_FAILED && (r->code == ERR_BUSY || r->code == ERR_NO_MEMORY);
}

static void count_look(struct index_cache *c, const struct index_ref *r)
{
    c->stats.misses++;
    if (r->state == STATE_OPEN)
        c->stats.opens++;
    else if (r->state == STATE_FAILED)
        c->stats.failures++;
}

enum err index_cache_acquire(struct index_cache *c, const struct uuid *uuid, struct index_ref **ret,
                             struct error *err)
{
    enum err rc = ERR_BUSY;
    struct index_ref *fresh = NULL;
    struct index_ref *old = NULL;
    if (uuid_is_nil(uuid))
        return error_set(err, ERR_NOT_FOUND, "no index");
    for (int i = 0; i < TRIES_MAX && rc == ERR_BUSY; i++) {
        pthread_mutex_lock(&c->lock);
        uint64_t changes = c->changes;
        struct index_ref *r = find(c, uuid);
        if (r) {
            c->stats.hits++;
            rc = answer(c, r, ret, err);
        }
        pthread_mutex_unlock(&c->lock);
        if (r)
            break;
        fresh = look(c, uuid);
        if (!fresh)
            return error_set(err, ERR_NO_MEMORY, "no memory for an index");
        if (says_nothing(fresh)) {
            error_set(err, ERR_BUSY, "%s", fresh->text);
            ref_free(fresh);
            return ERR_BUSY;
        }
        pthread_mutex_lock(&c->lock);
        count_look(c, fresh);
        if (changes == c->changes && !find(c, uuid)) {
            fresh->generation = c->next_generation++;
            insert(c, fresh);
            rc = answer(c, fresh, ret, err);
            fresh = NULL;
            old = surplus(c);
        }
        pthread_mutex_unlock(&c->lock);
        ref_free(fresh);
        ref_free(old);
        fresh = old = NULL;
    }
    if (rc == ERR_BUSY)
        return error_set(err, ERR_BUSY, "index files change too fast");
    return rc;
}

void index_cache_release(struct index_cache *c, struct index_ref *ref)
{
    struct index_ref *dead = NULL;
    if (!ref)
        return;
    pthread_mutex_lock(&c->lock);
    if (--ref->holders == 0) {
        if (ref->detached) {
            dead = ref;
        } else {
            age_add(&c->idle, ref);
            dead = surplus(c);
        }
    }
    pthread_mutex_unlock(&c->lock);
    ref_free(dead);
}

size_t index_cache_take_used(struct index_cache *c, struct uuid *ret, size_t max)
{
    size_t count = 0;
    pthread_mutex_lock(&c->lock);
    for (size_t i = 0; i < BUCKETS && count < max; i++) {
        for (struct index_ref *r = c->buckets[i]; r && count < max; r = r->chain) {
            if (r->used)
                ret[count++] = r->uuid;
            r->used = false;
        }
    }
    pthread_mutex_unlock(&c->lock);
    return count;
}

static size_t known_in(const struct index_ref *bucket)
{
    size_t count = 0;
    for (const struct index_ref *r = bucket; r; r = r->chain)
        count += r->state != STATE_MISS;
    return count;
}

/* Whole buckets, so that *at is the next one; one of more than `max` is cut. */
size_t index_cache_list(struct index_cache *c, size_t *at, struct index_known *ret, size_t max)
{
    size_t count = 0, i = *at;
    pthread_mutex_lock(&c->lock);
    while (i < BUCKETS && (count == 0 || count + known_in(c->buckets[i]) <= max)) {
        for (const struct index_ref *r = c->buckets[i++]; r && count < max; r = r->chain) {
            if (r->state != STATE_MISS)
                ret[count++] = (struct index_known){r->uuid, r->state == STATE_FAILED};
        }
    }
    pthread_mutex_unlock(&c->lock);
    *at = i < BUCKETS ? i : 0;
    return count;
}

const struct gsym *index_ref_gsym(const struct index_ref *ref)
{
    return ref->gsym;
}

uint64_t index_ref_generation(const struct index_ref *ref)
{
    return ref->generation;
}

void index_cache_changed(struct index_cache *c, const struct uuid *uuid)
{
    pthread_mutex_lock(&c->lock);
    c->changes++;
    struct index_ref *r = find(c, uuid);
    struct index_ref *dead = r ? detach(c, r) : NULL;
    pthread_mutex_unlock(&c->lock);
    ref_free(dead);
}

void index_cache_poison(struct index_cache *c, struct index_ref *ref)
{
    struct index_ref *mark = calloc(1, sizeof(*mark));
    struct index_ref *dead = NULL;
    pthread_mutex_lock(&c->lock);
    if (!ref->detached) {
        detach(c, ref);
        c->stats.failures++;
        if (mark) {
            mark->uuid = ref->uuid;
            mark->state = STATE_FAILED;
            mark->code = ERR_IO;
            snprintf(mark->text, sizeof(mark->text), "index: its bytes cannot be read");
            insert(c, mark);
            mark = NULL;
            dead = surplus(c);
        }
    }
    pthread_mutex_unlock(&c->lock);
    ref_free(mark);
    ref_free(dead);
}

void index_cache_stats(struct index_cache *c, struct index_cache_stats *ret)
{
    pthread_mutex_lock(&c->lock);
    *ret = c->stats;
    pthread_mutex_unlock(&c->lock);
}
