#include "server/jobs/alerts.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/hash.h"
#include "base/log.h"
#include "server/analysis/spike.h"
#include "server/jobs/alert_body.h"
#include "server/jobs/alert_rules.h"
#include "server/jobs/alert_stored.h"
#include "storage/read_alerts.h"
#include "storage/read_hours.h"
#include "storage/storage_read.h"

#define ARENA_BYTES   ((size_t)256 * 1024 * 1024)
#define OP_ARENA      ((size_t)32 * 1024 * 1024)
#define ITEMS_MAX     200 /* alerts of one look; what is left comes with the next one */
#define APP_ITEMS_MAX 40  /* of them, of one app: none keeps the others from being heard */
#define NEW_PAGES     8   /* of clusters that may be new, of one look; the next one goes on there */
#define MISSING_PAGES 16  /* of images that are missing */
#define JUDGED        16384  /* causes remembered that the writer has judged */
#define MINUTES_MAX   300000 /* newest reports looked at for spikes; see read_alerts.h */
#define NEW_DAYS      7      /* a cluster is new, an image newly missing, for so long */
#define RATE_DAYS     7
#define EXPIRE_MS     3600000
#define BASES         4096 /* baselines remembered, no longer than slow_ms and the hour */
#define HISTORY_HOURS ((SPIKE_DAYS + 2) * HOURS_A_DAY)

struct base {
    uint64_t cluster_id;
    int64_t hour, until_ms;
    struct spike_baseline of[SPIKE_HOURS];
};

/* A cause is not put to the writer again for so long, so that others get their turn. */
struct judged {
    uint64_t cause; /* hash; 0: none */
    int64_t until_ms;
};

struct alerts {
    struct storage_reader *reader;
    struct writer *writer;
    struct alerts_options options;
    struct notifier *notifier;
    struct metrics *metrics;
    struct arena arena;
    struct base bases[BASES];     /* by cluster_id % BASES */
    struct judged judged[JUDGED]; /* by cause % JUDGED */
    int64_t new_since_ms;         /* how far new clusters have been looked at; */
    uint64_t new_after_id;        /* 0, 0: from the first one on */
    int64_t rules_revision;       /* that all this was done by */
    int64_t slow_at, expire_at;
};

/* One look. */
struct look {
    struct alerts *a;
    struct write_op *op;
    struct alert_rules rules;
    struct alert_settings settings;
    int64_t now_ms;
    bool full;
};

enum err alerts_new(struct storage *storage, struct writer *writer,
                    const struct alerts_options *options, struct notifier *notifier,
                    struct metrics *metrics, struct alerts **ret, struct error *err)
{
    struct alerts *a = calloc(1, sizeof(*a));
    if (!a)
        return error_set(err, ERR_NO_MEMORY, "no memory for alerts");
    arena_init(&a->arena, ARENA_BYTES);
    a->writer = writer;
    a->options = *options;
    a->notifier = notifier;
    a->metrics = metrics;
    enum err rc = storage_reader_open(storage, &a->reader, err);
    if (rc != ERR_OK) {
        alerts_free(a);
        return rc;
    }
    *ret = a;
    return ERR_OK;
}

void alerts_free(struct alerts *a)
{
    if (!a)
        return;
    storage_reader_close(a->reader);
    arena_done(&a->arena);
    free(a);
}

/* --- causes that were judged ------------------------------------------------------------------ */

static uint64_t cause_of(enum alert_kind kind, const char *bundle_id, uint64_t cluster_id,
                         const char *subject)
{
    uint64_t h = hash64(&cluster_id, sizeof(cluster_id), (uint64_t)kind + 1);
    h = hash64(bundle_id, strlen(bundle_id), h);
    h = hash64(subject, strlen(subject), h);
    return h + (h == 0);
}

static bool is_judged(const struct alerts *a, uint64_t cause, int64_t now_ms)
{
    const struct judged *j = &a->judged[cause % JUDGED];
    return j->cause == cause && now_ms < j->until_ms;
}

/* When one of before stands in the way nobody said how long: it is asked again in a while. */
static void note_judged(struct alerts *a, const struct op_alerts *o)
{
    for (size_t i = 0; i < o->count; i++) {
        const struct op_alert *item = &o->items[i];
        const uint64_t cause =
            cause_of(item->kind, item->bundle_id, item->cluster_id, item->subject);
        int64_t wait =
            item->window_ms < NEW_DAYS * CLOCK_DAY_MS ? item->window_ms : NEW_DAYS * CLOCK_DAY_MS;
        if (!item->id)
            wait /= 16;
        a->judged[cause % JUDGED] = (struct judged){cause, o->now_ms + wait};
    }
}

/* By other rules other causes count. */
static void forget_judged(struct alerts *a, int64_t revision)
{
    if (a->rules_revision == revision)
        return;
    memset(a->judged, 0, sizeof(a->judged));
    a->new_since_ms = 0;
    a->rules_revision = revision;
}

/* The app has its share of this look; regressions are few, and seen once. */
static bool has_share(const struct op_alerts *o, enum alert_kind kind, const char *bundle_id)
{
    size_t count = 0;
    for (size_t i = 0; i < o->count && kind != ALERT_REGRESSION; i++)
        count += strcmp(o->items[i].bundle_id, bundle_id) == 0;
    return count >= APP_ITEMS_MAX;
}

/* --- putting an alert into the op ------------------------------------------------------------- */

/* Where it goes is copied, too: rules are read anew by the next look. */
static bool keep_targets(struct look *l, const struct target_list *to, struct op_alert *ret)
{
    const char **names = arena_array(l->op->arena, to->count + 1, sizeof(const char *));
    if (!names)
        return false;
    for (size_t i = 0; i < to->count; i++) {
        if (!(names[i] = arena_strdup(l->op->arena, to->names[i])))
            return false;
    }
    ret->targets = names;
    ret->target_count = to->count;
    return true;
}

static enum err add(struct look *l, const struct alert_rule *rule, struct alert_story *story,
                    const char *subject, int64_t window_ms, struct error *err)
{
    struct op_alerts *o = &l->op->u.alerts;
    struct buf body;
    const char *app = story->bundle_id ? story->bundle_id : "";
    const uint64_t cluster_id = story->cluster ? story->cluster->id : 0;
    if (rule->mute || is_judged(l->a, cause_of(story->kind, app, cluster_id, subject), l->now_ms))
        return ERR_OK;
    if (o->count == ITEMS_MAX || has_share(o, story->kind, app)) {
        l->full = true;
        return ERR_OK;
    }
    struct op_alert *item = &o->items[o->count];
    story->at_ms = l->now_ms;
    story->rule = rule->name;
    story->public_url = l->a->options.public_url;
    story->owner = story->cluster ? story->cluster->owner : NULL;
    buf_init(&body, ALERT_BODY_BYTES);
    bool good = alert_body_make(story, &body);
    *item = (struct op_alert){.kind = story->kind,
                              .bundle_id = arena_strdup(l->op->arena, app),
                              .cluster_id = cluster_id,
                              .subject = arena_strdup(l->op->arena, subject),
                              .body = good ? arena_strdup(l->op->arena, body.data) : NULL,
                              .window_ms = window_ms};
    buf_done(&body);
    if (!item->bundle_id || !item->subject || !item->body ||
        !keep_targets(l, alert_rules_route(&l->rules, rule, story->owner), item))
        return error_set(err, ERR_NO_MEMORY, "no memory for an alert");
    o->count++;
    return ERR_OK;
}

static const struct alert_rule *rule_for(const struct look *l, enum alert_kind kind,
                                         const struct alert_cluster *c)
{
    const struct alert_facts facts = {kind, c->bundle_id, c->owner, c->category};
    return alert_rules_match(&l->rules, &facts);
}

/* --- kinds ------------------------------------------------------------------------------------ */

static enum err look_for_regressions(struct look *l, struct error *err)
{
    struct alert_regression *rows = NULL;
    size_t count = 0;
    enum err rc =
        read_alert_regressions(l->a->reader, 0, ITEMS_MAX, &l->a->arena, &rows, &count, err);
    for (size_t i = 0; i < count && rc == ERR_OK; i++) {
        const struct alert_regression *g = &rows[i];
        char subject[32];
        const struct alert_rule *rule = rule_for(l, ALERT_REGRESSION, &g->cluster);
        snprintf(subject, sizeof(subject), "%" PRIu64, g->change_id);
        struct alert_story story = {.kind = ALERT_REGRESSION,
                                    .bundle_id = g->cluster.bundle_id,
                                    .cluster = &g->cluster,
                                    .version = g->version,
                                    .build = g->build,
                                    .resolved_in = g->resolved_in,
                                    .resolved_build = g->resolved_build};
        if (rule && g->stands)
            rc = add(l, rule, &story, subject, ALERT_ONCE, err);
        l->op->u.alerts.regressions_seen = g->change_id;
    }
    return rc;
}

/* One page, from where the last one ended. */
static enum err page_of_new(struct look *l, uint64_t least, bool *ret_more, struct error *err)
{
    struct alerts *a = l->a;
    struct alert_cluster *rows = NULL;
    size_t count = 0;
    enum err rc = read_alert_new_clusters(a->reader, a->new_since_ms, a->new_after_id, least,
                                          READ_LIMIT_MAX, &a->arena, &rows, &count, err);
    *ret_more = count == READ_LIMIT_MAX;
    for (size_t i = 0; i < count && rc == ERR_OK; i++) {
        if (l->op->u.alerts.count == ITEMS_MAX) {
            l->full = *ret_more = true;
            break;
        }
        a->new_since_ms = rows[i].created_ms;
        a->new_after_id = rows[i].id;
        const struct alert_rule *rule = rule_for(l, ALERT_NEW_CLUSTER, &rows[i]);
        struct alert_story story = {
            .kind = ALERT_NEW_CLUSTER, .bundle_id = rows[i].bundle_id, .cluster = &rows[i]};
        if (rule && rows[i].count >= alert_rule_min_reports(rule, ALERT_NEW_CLUSTER))
            rc = add(l, rule, &story, "", ALERT_ONCE, err);
    }
    return rc;
}

/* Those that no rule is for stay new for days, however many: they are passed over page by page,
 * look by look, and then from the first one on again. */
static enum err look_for_new_clusters(struct look *l, struct error *err)
{
    struct alerts *a = l->a;
    const uint64_t least = alert_rules_least(&l->rules, ALERT_NEW_CLUSTER);
    int64_t since = l->now_ms - NEW_DAYS * CLOCK_DAY_MS;
    bool more = true;
    enum err rc = ERR_OK;
    if (least == UINT64_MAX)
        return ERR_OK;
    if (since < l->settings.since_ms)
        since = l->settings.since_ms;
    if (a->new_since_ms < since) {
        a->new_since_ms = since;
        a->new_after_id = 0;
    }
    for (int i = 0; i < NEW_PAGES && more && l->op->u.alerts.count < ITEMS_MAX && rc == ERR_OK; i++)
        rc = page_of_new(l, least, &more, err);
    if (!more)
        a->new_since_ms = 0;
    return rc;
}

/* Baselines of the hours that slots may lie in. */
static enum err baselines(struct look *l, const struct alert_cluster *c, const struct base **ret,
                          struct error *err)
{
    struct base *b = &l->a->bases[c->id % BASES];
    int64_t hour = hours_number(l->now_ms);
    int64_t begin = hour - HISTORY_HOURS + 1;
    struct hour_row *rows = NULL;
    int64_t known = 0;
    *ret = b;
    if (b->cluster_id == c->id && b->hour == hour && l->now_ms < b->until_ms)
        return ERR_OK;
    enum err rc = read_hours(l->a->reader, c->id, NULL, begin, HISTORY_HOURS, &l->a->arena, &rows,
                             &known, err);
    if (rc != ERR_OK)
        return rc;
    uint64_t *counts = arena_array(&l->a->arena, HISTORY_HOURS, sizeof(*counts));
    if (!counts)
        return error_set(err, ERR_NO_MEMORY, "no memory for a baseline");
    for (size_t i = 0; i < HISTORY_HOURS; i++)
        counts[i] = rows[i].count;
    int64_t first = hours_number(c->first_seen_ms);
    const struct spike_history h = {counts, HISTORY_HOURS, begin, first > known ? first : known};
    *b = (struct base){.cluster_id = c->id, .hour = hour};
    for (int back = 0; back < SPIKE_HOURS; back++)
        b->of[back] = spike_baseline_of(&h, hour - back);
    /* Too little was known: what comes late may change that. */
    if (b->of[0].rate >= 0)
        b->until_ms = l->now_ms + l->a->options.slow_ms;
    return ERR_OK;
}

static enum err look_at_cluster(struct look *l, uint64_t cluster_id,
                                const uint64_t slots[SPIKE_SLOTS], struct error *err)
{
    struct alert_cluster c;
    const struct base *base = NULL;
    struct spike spike;
    enum err rc = read_alert_cluster(l->a->reader, cluster_id, &l->a->arena, &c, err);
    if (rc != ERR_OK)
        return rc == ERR_NOT_FOUND ? ERR_OK : rc;
    const struct alert_rule *rule = rule_for(l, ALERT_SPIKE, &c);
    if (!rule || rule->mute)
        return ERR_OK;
    rc = baselines(l, &c, &base, err);
    const struct spike_limits limits = {rule->factor, alert_rule_min_reports(rule, ALERT_SPIKE)};
    if (rc != ERR_OK || !spike_find(base->of, slots, l->now_ms, &limits, &spike))
        return rc;
    struct alert_story story = {.kind = ALERT_SPIKE,
                                .bundle_id = c.bundle_id,
                                .cluster = &c,
                                .count = spike.count,
                                .expected = spike.expected,
                                .window_ms = spike.window_ms};
    return add(l, rule, &story, "", rule->window_ms, err);
}

static enum err look_for_spikes(struct look *l, struct error *err)
{
    struct alert_minute *rows = NULL;
    size_t count = 0;
    uint64_t least = alert_rules_least(&l->rules, ALERT_SPIKE);
    const int64_t last = l->now_ms / SPIKE_SLOT_MS;
    if (least == UINT64_MAX)
        return ERR_OK;
    enum err rc = read_alert_minutes(l->a->reader, (last - SPIKE_SLOTS + 1) * SPIKE_SLOT_MS,
                                     l->now_ms + 1, MINUTES_MAX, &l->a->arena, &rows, &count, err);
    for (size_t i = 0; i < count && rc == ERR_OK;) {
        uint64_t slots[SPIKE_SLOTS] = {0};
        uint64_t id = rows[i].cluster_id;
        uint64_t sum = 0;
        for (; i < count && rows[i].cluster_id == id; i++) {
            slots[SPIKE_SLOTS - 1 - (last - rows[i].minute)] = rows[i].count;
            sum += rows[i].count;
        }
        if (sum >= least)
            rc = look_at_cluster(l, id, slots, err);
    }
    return rc;
}

static enum err judge_rate(struct look *l, const struct alert_rate *today, uint64_t frames,
                           uint64_t named, struct error *err)
{
    const struct alert_facts facts = {.kind = ALERT_SYMBOLICATION_RATE,
                                      .bundle_id = today->bundle_id};
    const struct alert_rule *rule = alert_rules_match(&l->rules, &facts);
    if (!rule || !frames || !today->frames ||
        today->reports < alert_rule_min_reports(rule, ALERT_SYMBOLICATION_RATE))
        return ERR_OK;
    struct alert_story story = {.kind = ALERT_SYMBOLICATION_RATE,
                                .bundle_id = today->bundle_id,
                                .rate = (double)today->named / (double)today->frames,
                                .rate_before = (double)named / (double)frames};
    if (story.rate > story.rate_before - rule->drop)
        return ERR_OK;
    return add(l, rule, &story, "", rule->window_ms, err);
}

static enum err look_for_rates(struct look *l, struct error *err)
{
    struct alert_rate *rows = NULL;
    size_t count = 0;
    int32_t today = clock_day(l->now_ms);
    if (alert_rules_least(&l->rules, ALERT_SYMBOLICATION_RATE) == UINT64_MAX)
        return ERR_OK;
    enum err rc =
        read_alert_rates(l->a->reader, today - RATE_DAYS, &l->a->arena, &rows, &count, err);
    for (size_t i = 0; i < count && rc == ERR_OK;) {
        const char *app = rows[i].bundle_id;
        uint64_t frames = 0, named = 0;
        for (; i < count && strcmp(rows[i].bundle_id, app) == 0; i++) {
            if (rows[i].day < today) {
                frames += rows[i].frames;
                named += rows[i].named;
            } else if (rows[i].day == today && rc == ERR_OK) {
                rc = judge_rate(l, &rows[i], frames, named, err);
            }
        }
    }
    return rc;
}

static enum err page_of_missing(struct look *l, const char **cursor, struct error *err)
{
    struct missing_row *rows = NULL;
    size_t count = 0;
    enum err rc = read_missing(l->a->reader, NULL, READ_LIMIT_MAX, *cursor, &l->a->arena, &rows,
                               &count, cursor, err);
    for (size_t i = 0; i < count && rc == ERR_OK; i++) {
        const struct missing_row *m = &rows[i];
        char uuid[UUID_TEXT_SIZE];
        const struct alert_facts facts = {.kind = ALERT_MISSING_SYMBOLS, .bundle_id = m->bundle_id};
        const struct alert_rule *rule = alert_rules_match(&l->rules, &facts);
        if (!rule || m->class == IMAGE_CLASS_SYSTEM ||
            m->first_seen_ms < l->now_ms - NEW_DAYS * CLOCK_DAY_MS ||
            m->reports < alert_rule_min_reports(rule, ALERT_MISSING_SYMBOLS))
            continue;
        struct alert_story story = {.kind = ALERT_MISSING_SYMBOLS,
                                    .bundle_id = m->bundle_id,
                                    .uuid = uuid_format(&m->uuid, uuid),
                                    .image = m->name,
                                    .count = m->reports,
                                    .versions = (const char *const *)m->versions,
                                    .version_count = m->version_count};
        rc = add(l, rule, &story, uuid, ALERT_ONCE, err);
    }
    return rc;
}

static enum err look_for_missing(struct look *l, struct error *err)
{
    const char *cursor = NULL;
    enum err rc = ERR_OK;
    if (alert_rules_least(&l->rules, ALERT_MISSING_SYMBOLS) == UINT64_MAX)
        return ERR_OK;
    for (int i = 0; i < MISSING_PAGES && rc == ERR_OK; i++) {
        rc = page_of_missing(l, &cursor, err);
        if (!cursor)
            break;
    }
    return rc;
}

/* --- a look ----------------------------------------------------------------------------------- */

static enum err read_rules(struct look *l, struct error *err)
{
    enum err rc = read_alert_settings(l->a->reader, &l->a->arena, &l->settings, err);
    if (rc == ERR_OK)
        rc = alert_stored_read(l->settings.document, &l->a->arena, &l->rules, err);
    if (rc == ERR_OK)
        forget_judged(l->a, l->settings.revision);
    return rc;
}

static enum err look_around(struct look *l, struct error *err)
{
    struct alerts *a = l->a;
    enum err rc = read_rules(l, err);
    if (rc == ERR_OK)
        rc = look_for_regressions(l, err);
    if (rc == ERR_OK)
        rc = look_for_new_clusters(l, err);
    if (rc == ERR_OK)
        rc = look_for_spikes(l, err);
    if (rc != ERR_OK || l->now_ms < a->slow_at)
        return rc;
    rc = look_for_rates(l, err);
    if (rc == ERR_OK)
        rc = look_for_missing(l, err);
    if (rc == ERR_OK && !l->full)
        a->slow_at = l->now_ms + a->options.slow_ms;
    return rc;
}

enum err alerts_look(struct alerts *a, int64_t now_ms, struct error *err)
{
    struct look l = {.a = a, .now_ms = now_ms, .op = write_op_new(WRITE_ALERTS, OP_ARENA)};
    if (!l.op)
        return error_set(err, ERR_NO_MEMORY, "no memory for alerts");
    struct op_alerts *o = &l.op->u.alerts;
    arena_reset(&a->arena);
    o->now_ms = now_ms;
    o->expire_before_ms = now_ms - a->options.keep_ms;
    o->items = arena_array(l.op->arena, ITEMS_MAX, sizeof(*o->items));
    enum err rc =
        o->items ? look_around(&l, err) : error_set(err, ERR_NO_MEMORY, "no memory for alerts");
    if (rc == ERR_OK && (o->count > 0 || o->regressions_seen || now_ms >= a->expire_at)) {
        rc = writer_call(a->writer, l.op, err);
        a->expire_at = rc ? a->expire_at : now_ms + EXPIRE_MS;
        if (rc == ERR_OK)
            note_judged(a, o);
    }
    if (rc == ERR_OK && o->made > 0) {
        metrics_add(a->metrics, METRIC_ALERTS_MADE, (int64_t)o->made);
        log_info("alerts", "made=%" PRIu64, o->made);
        notifier_ring(a->notifier);
    }
    write_op_free(l.op);
    return rc;
}
