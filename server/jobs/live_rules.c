#include "server/jobs/live_rules.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct live_rules {
    pthread_mutex_t lock;
    pthread_cond_t settled;
    bool reloading; /* somebody is; `all` is that thread's to add to */
    live_rules_read_fn *read;
    live_rules_told_fn *told;
    void *ctx;
    struct rules *all[LIVE_RULES_MAX]; /* the last one is that of now */
    size_t count;
};

struct live_rules *live_rules_new(struct rules *rules, live_rules_read_fn *read,
                                  live_rules_told_fn *told, void *ctx)
{
    struct live_rules *l = calloc(1, sizeof(*l));
    if (!l)
        return NULL;
    pthread_mutex_init(&l->lock, NULL);
    pthread_cond_init(&l->settled, NULL);
    l->read = read;
    l->told = told;
    l->ctx = ctx;
    l->all[l->count++] = rules;
    return l;
}

void live_rules_free(struct live_rules *l)
{
    if (!l)
        return;
    for (size_t i = 0; i < l->count; i++)
        rules_free(l->all[i]);
    pthread_cond_destroy(&l->settled);
    pthread_mutex_destroy(&l->lock);
    free(l);
}

const struct rules *live_rules_now(struct live_rules *l)
{
    pthread_mutex_lock(&l->lock);
    const struct rules *rules = l->all[l->count - 1];
    pthread_mutex_unlock(&l->lock);
    return rules;
}

static void begin(struct live_rules *l)
{
    pthread_mutex_lock(&l->lock);
    while (l->reloading)
        pthread_cond_wait(&l->settled, &l->lock);
    l->reloading = true;
    pthread_mutex_unlock(&l->lock);
}

/* `rules` NULL: they are what they were. */
static void end(struct live_rules *l, struct rules *rules)
{
    pthread_mutex_lock(&l->lock);
    if (rules)
        l->all[l->count++] = rules;
    l->reloading = false;
    pthread_cond_signal(&l->settled);
    pthread_mutex_unlock(&l->lock);
}

/* Nobody else changes `all` now; no lock is held while `read` and `told` are at work. */
static enum err read_again(struct live_rules *l, struct rules **ret, struct error *err)
{
    struct rules *rules = NULL;
    enum err rc = l->read(l->ctx, &rules, err);
    if (rc)
        return rc;
    if (strcmp(rules_version(rules), rules_version(l->all[l->count - 1])) == 0) {
        rules_free(rules);
        return ERR_OK;
    }
    if (l->count == LIVE_RULES_MAX) {
        rules_free(rules);
        return error_set(err, ERR_LIMIT, "the rules were changed too often; restart the daemon");
    }
    l->told(l->ctx, rules);
    *ret = rules;
    return ERR_OK;
}

enum err live_rules_reload(struct live_rules *l, bool *ret_changed, struct error *err)
{
    struct rules *rules = NULL;
    begin(l);
    enum err rc = read_again(l, &rules, err);
    end(l, rules);
    *ret_changed = rules != NULL;
    return rc;
}
