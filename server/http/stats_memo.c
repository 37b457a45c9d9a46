#include "server/http/stats_memo.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct entry {
    char *key, *text; /* NULL: free */
    int64_t counted_ms, due_ms;
};

struct stats_memo {
    pthread_mutex_t lock;
    int64_t counting_until_ms;
    struct entry entries[STATS_ENTRIES_MAX];
};

struct stats_memo *stats_memo_new(void)
{
    struct stats_memo *m = calloc(1, sizeof(*m));
    if (m)
        pthread_mutex_init(&m->lock, NULL);
    return m;
}

static void drop(struct entry *e)
{
    free(e->key);
    free(e->text);
    *e = (struct entry){0};
}

void stats_memo_free(struct stats_memo *m)
{
    if (!m)
        return;
    for (size_t i = 0; i < STATS_ENTRIES_MAX; i++)
        drop(&m->entries[i]);
    pthread_mutex_destroy(&m->lock);
    free(m);
}

static struct entry *find(struct stats_memo *m, const char *key)
{
    for (size_t i = 0; i < STATS_ENTRIES_MAX; i++) {
        if (m->entries[i].key && strcmp(m->entries[i].key, key) == 0)
            return &m->entries[i];
    }
    return NULL;
}

enum stats_age stats_memo_get(struct stats_memo *m, const char *bundle_id, int64_t mono_ms,
                              struct arena *arena, const char **ret)
{
    enum stats_age age = STATS_NONE;
    pthread_mutex_lock(&m->lock);
    struct entry *e = find(m, bundle_id ? bundle_id : "");
    const char *copy =
        e && mono_ms - e->counted_ms < STATS_KEPT_MS ? arena_strdup(arena, e->text) : NULL;
    if (copy) {
        age = mono_ms < e->due_ms || mono_ms < m->counting_until_ms ? STATS_FRESH : STATS_DUE;
        if (age == STATS_DUE) {
            e->due_ms = mono_ms + STATS_FRESH_MS;
            m->counting_until_ms = mono_ms + STATS_TURN_MS;
        }
        *ret = copy;
    }
    pthread_mutex_unlock(&m->lock);
    return age;
}

void stats_memo_counted(struct stats_memo *m)
{
    pthread_mutex_lock(&m->lock);
    m->counting_until_ms = 0;
    pthread_mutex_unlock(&m->lock);
}

/* What was counted then is behind what is there. */
static bool is_behind(const struct entry *there, int64_t mono_ms)
{
    return there && there->counted_ms > mono_ms;
}

/* The entry of the key, a free one, or the oldest. */
static struct entry *place_of(struct stats_memo *m, const char *key)
{
    struct entry *oldest = find(m, key);
    for (size_t i = 0; !oldest && i < STATS_ENTRIES_MAX; i++)
        oldest = m->entries[i].key ? NULL : &m->entries[i];
    if (oldest)
        return oldest;
    oldest = &m->entries[0];
    for (size_t i = 1; i < STATS_ENTRIES_MAX; i++) {
        if (m->entries[i].counted_ms < oldest->counted_ms)
            oldest = &m->entries[i];
    }
    return oldest;
}

void stats_memo_put(struct stats_memo *m, const char *bundle_id, int64_t mono_ms, const char *text)
{
    struct entry made = {.key = strdup(bundle_id ? bundle_id : ""),
                         .text = strdup(text),
                         .counted_ms = mono_ms,
                         .due_ms = mono_ms + STATS_FRESH_MS};
    pthread_mutex_lock(&m->lock);
    if (made.key && made.text && !is_behind(find(m, made.key), mono_ms)) {
        struct entry *e = place_of(m, made.key);
        const struct entry old = *e;
        *e = made;
        made = old;
    }
    pthread_mutex_unlock(&m->lock);
    drop(&made);
}

void stats_memo_forget(struct stats_memo *m, const char *bundle_id, int64_t mono_ms)
{
    pthread_mutex_lock(&m->lock);
    struct entry *e = find(m, bundle_id ? bundle_id : "");
    if (e && !is_behind(e, mono_ms))
        drop(e);
    pthread_mutex_unlock(&m->lock);
}
