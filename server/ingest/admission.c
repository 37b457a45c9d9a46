#include "server/ingest/admission.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

#define SLOTS     (ADMISSION_APPS_MAX * 2)
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

/* Under the lock. */
static struct app *app_of(struct admission *a, const char *bundle_id)
{
    uint64_t key = hash64(bundle_id, strlen(bundle_id), 0);
    key += key == 0;
    size_t i = (size_t)key % SLOTS;
    while (a->slots[i].key && a->slots[i].key != key)
        i = (i + 1) % SLOTS;
    if (a->slots[i].key)
        return &a->slots[i];
    if (a->used == ADMISSION_APPS_MAX)
        return &a->others;
    a->used++;
    a->slots[i] = (struct app){.key = key, .filled_ms = INT64_MIN};
    return &a->slots[i];
}

static void set_there(struct admission *a, struct app *app)
{
    a->apps += !app->is_there;
    app->is_there = true;
}

void admission_know(struct admission *a, const char *bundle_id)
{
    pthread_mutex_lock(&a->lock);
    set_there(a, app_of(a, bundle_id));
    pthread_mutex_unlock(&a->lock);
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
    const struct app *app = app_of(a, bundle_id);
    bool own = app->has_own;
    *ret = own ? app->own : a->options.standard;
    pthread_mutex_unlock(&a->lock);
    return own;
}

static bool is_kept(const uint8_t *id_hash, double rate)
{
    uint64_t v = 0;
    for (int i = 0; i < 8; i++)
        v = v << 8 | id_hash[i];
    return (double)(v >> 11) / (double)(UINT64_C(1) << 53) < rate;
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

enum admission_verdict admission_ask(struct admission *a, const struct admission_report *report,
                                     int64_t now_ms, double *ret_rate, uint32_t *ret_wait_s)
{
    enum admission_verdict verdict = ADMISSION_PASS;
    *ret_rate = 1;
    pthread_mutex_lock(&a->lock);
    struct app *app = app_of(a, report->bundle_id);
    const struct quota *q = app->has_own ? &app->own : &a->options.standard;
    bool thinned = report->slight && q->slight_sample_rate < 1;
    if (!report->bound && !app->is_there && a->options.apps && a->apps >= a->options.apps) {
        verdict = ADMISSION_APPS;
    } else if (thinned && !is_kept(report->id_hash, q->slight_sample_rate)) {
        verdict = ADMISSION_SAMPLED_OUT;
    } else {
        *ret_wait_s = take(app, q, now_ms);
        if (*ret_wait_s > 0)
            verdict = ADMISSION_QUOTA;
        else if (thinned)
            *ret_rate = q->slight_sample_rate;
        if (verdict == ADMISSION_PASS)
            set_there(a, app);
    }
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
