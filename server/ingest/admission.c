#include "server/ingest/admission.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

#ifndef SLOTS /* half of them are filled at most */
#define SLOTS (ADMISSION_APPS_MAX * 2)
#endif
#define MINUTE_MS 60000
#define DAY_MS    ((int64_t)86400000)

/* An app, by the hash of its bundle id: 0 is free. */
struct app {
    uint64_t key;
    bool is_there; /* counts as one of the apps; else it only has a quota */
    bool has_own;
    struct quota own;
    double tokens; /* reports that may pass now */
    int64_t filled_ms;
    int64_t day;
    uint32_t passed_today;
};

struct admission {
    pthread_mutex_t lock;
    struct admission_options options;
    struct app *slots;
    struct app others; /* that found no room */
    size_t used, apps;
};

struct admission *admission_new(const struct admission_options *options)
{
    struct admission *a = calloc(1, sizeof(*a));
    struct app *slots = calloc(SLOTS, sizeof(*slots));
    if (!a || !slots) {
        free(a);
        free(slots);
        return NULL;
    }
    pthread_mutex_init(&a->lock, NULL);
    a->options = *options;
    a->slots = slots;
    a->others.filled_ms = INT64_MIN;
    return a;
}

void admission_free(struct admission *a)
{
    if (!a)
        return;
    pthread_mutex_destroy(&a->lock);
    free(a->slots);
    free(a);
}

/* Under the lock: the app's slot, or the free one (its key is 0) that it would take. */
static struct app *slot_of(struct admission *a, const char *bundle_id, uint64_t *ret_key)
{
    uint64_t key = hash64(bundle_id, strlen(bundle_id), 0);
    key += key == 0;
    size_t i = (size_t)key % SLOTS;
    while (a->slots[i].key && a->slots[i].key != key)
        i = (i + 1) % SLOTS;
    *ret_key = key;
    return &a->slots[i];
}

/* Under the lock; NULL: nothing is known of it, nor shall be for being asked about. */
static struct app *find_app(struct admission *a, const char *bundle_id)
{
    uint64_t key;
    struct app *app = slot_of(a, bundle_id, &key);
    return app->key ? app : NULL;
}

/* Under the lock. */
static struct app *app_of(struct admission *a, const char *bundle_id)
{
    uint64_t key;
    struct app *app = slot_of(a, bundle_id, &key);
    if (app->key)
        return app;
    if (a->used == SLOTS / 2)
        return &a->others;
    a->used++;
    *app = (struct app){.key = key, .filled_ms = INT64_MIN};
    return app;
}

/* `others` stays what it is: each of them would be one more. */
static void set_there(struct admission *a, struct app *app)
{
    if (app == &a->others || app->is_there)
        return;
    a->apps++;
    app->is_there = true;
}

/* Under the lock. */
static bool may_be_there(struct admission *a, const char *bundle_id, bool bound)
{
    const struct app *app = find_app(a, bundle_id);
    return bound || (app && app->is_there) || !a->options.apps || a->apps < a->options.apps;
}

void admission_know(struct admission *a, const char *bundle_id)
{
    pthread_mutex_lock(&a->lock);
    set_there(a, app_of(a, bundle_id));
    pthread_mutex_unlock(&a->lock);
}

bool admission_bring(struct admission *a, const char *bundle_id, bool bound)
{
    pthread_mutex_lock(&a->lock);
    bool may = may_be_there(a, bundle_id, bound);
    if (may)
        set_there(a, app_of(a, bundle_id));
    pthread_mutex_unlock(&a->lock);
    return may;
}

void admission_set(struct admission *a, const char *bundle_id, const struct quota *quota)
{
    pthread_mutex_lock(&a->lock);
    struct app *app = app_of(a, bundle_id);
    if (app != &a->others) {
        app->has_own = quota != NULL;
        if (quota)
            app->own = *quota;
        app->filled_ms = INT64_MIN; /* with a full bucket */
    }
    pthread_mutex_unlock(&a->lock);
}

bool admission_get(struct admission *a, const char *bundle_id, struct quota *ret)
{
    pthread_mutex_lock(&a->lock);
    const struct app *app = find_app(a, bundle_id);
    bool own = app && app->has_own;
    *ret = own ? app->own : a->options.standard;
    pthread_mutex_unlock(&a->lock);
    return own;
}

static void fill(struct app *app, const struct quota *q, int64_t now_ms)
{
    int64_t day = now_ms / DAY_MS;
    if (day != app->day) {
        app->day = day;
        app->passed_today = 0;
    }
    double full = q->reports_per_minute;
    if (app->filled_ms == INT64_MIN)
        app->tokens = full;
    else if (now_ms > app->filled_ms)
        app->tokens =
            fmin(full, app->tokens + (double)(now_ms - app->filled_ms) * full / MINUTE_MS);
    /* A clock that went back fills nothing until it is where it was, or a day has gone. */
    if (now_ms > app->filled_ms || app->filled_ms - now_ms > DAY_MS)
        app->filled_ms = now_ms;
}

/* Seconds until one more may pass; 0: now, and it was counted. */
static uint32_t take(struct app *app, const struct quota *q, int64_t now_ms)
{
    fill(app, q, now_ms);
    if (q->reports_per_day && app->passed_today >= q->reports_per_day)
        return (uint32_t)(((app->day + 1) * DAY_MS - now_ms) / 1000) + 1;
    if (q->reports_per_minute && app->tokens < 1)
        return (uint32_t)ceil((1 - app->tokens) * 60 / q->reports_per_minute);
    app->tokens -= q->reports_per_minute ? 1 : 0;
    app->passed_today++;
    return 0;
}

/* Under the lock. */
static enum admission_verdict judge(struct admission *a, const struct admission_report *report,
                                    int64_t now_ms, double *ret_rate, uint32_t *ret_wait_s)
{
    const struct app *known = find_app(a, report->bundle_id);
    const struct quota *q = known && known->has_own ? &known->own : &a->options.standard;
    bool thinned = report->slight && q->slight_sample_rate < 1;
    if (!may_be_there(a, report->bundle_id, report->bound))
        return ADMISSION_APPS;
    if (thinned && hash_share(report->id_hash) >= q->slight_sample_rate)
        return ADMISSION_SAMPLED_OUT;
    struct app *app = app_of(a, report->bundle_id);
    *ret_wait_s = take(app, q, now_ms);
    if (*ret_wait_s > 0)
        return ADMISSION_QUOTA;
    *ret_rate = thinned ? q->slight_sample_rate : 1;
    set_there(a, app);
    return ADMISSION_PASS;
}

enum admission_verdict admission_ask(struct admission *a, const struct admission_report *report,
                                     int64_t now_ms, double *ret_rate, uint32_t *ret_wait_s)
{
    *ret_rate = 1;
    pthread_mutex_lock(&a->lock);
    enum admission_verdict verdict = judge(a, report, now_ms, ret_rate, ret_wait_s);
    pthread_mutex_unlock(&a->lock);
    return verdict;
}

void admission_give_back(struct admission *a, const char *bundle_id, uint32_t count)
{
    pthread_mutex_lock(&a->lock);
    struct app *app = app_of(a, bundle_id);
    const struct quota *q = app->has_own ? &app->own : &a->options.standard;
    app->tokens = fmin(q->reports_per_minute, app->tokens + count);
    app->passed_today -= count < app->passed_today ? count : app->passed_today;
    pthread_mutex_unlock(&a->lock);
}
