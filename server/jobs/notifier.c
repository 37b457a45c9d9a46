/*
 * DESIGN
 *
 * What. One thread makes passes: it reads a page of deliveries that are due and the rules of now
 * (targets are looked up by name when they are sent to, so a corrected address counts at once),
 * sends one after the other, and hands what came of each to the writer before it goes on. Then it
 * sleeps until the next one is due or it is rung.
 *
 * Who calls. notifier_ring() after a commit that made alerts or changed rules.
 *
 * Trouble. A target that failed in a pass is not tried again in it: its other deliveries wait as long
 * as the failed one does. So a target that hangs costs a pass one timeout, and others their turn by no
 * more than that. An outcome that the writer does not take is offered until it does.
 *
 * Locks. One, around the bell and the wish to stop; not held while anything is called. `stopping` is
 * read by libcurl's progress callback, too, which breaks a running attempt off.
 */
#include "server/jobs/notifier.h"

#include <arpa/inet.h>
#include <curl/curl.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/thread.h"
#include "base/version.h"
#include "server/jobs/alert_body.h"
#include "server/jobs/alert_rules.h"
#include "server/jobs/alert_stored.h"
#include "server/jobs/net_guard.h"
#include "storage/read_alerts.h"

#define PAGE          50
#define ARENA_BYTES   ((size_t)32 * 1024 * 1024)
#define OP_ARENA      ((size_t)16 * 1024)
#define ANSWER_BYTES  ((size_t)16 * 1024)
#define RETRY_READ_MS 5000
#define RETRY_MARK_MS 200
#define STATUS_GONE   410

struct notifier {
    struct storage *storage;
    struct writer *writer;
    struct storage_reader *reader;
    struct notifier_options options;
    struct metrics *metrics;
    struct arena arena;
    CURL *curl;
    struct thread thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool rung;
    atomic_bool stopping;
};

/* One attempt. */
struct attempt {
    struct notifier *n;
    struct buf answer;
    bool too_long;
    bool refused; /* the address is not public */
    long status;
    int64_t asked_ms; /* Retry-After */
    char why[256];
};

/* Targets that failed in this pass, and until when they are left alone. */
struct pass {
    const char *failed[ALERT_TARGETS_MAX];
    int64_t until_ms[ALERT_TARGETS_MAX];
    size_t failed_count;
};

int64_t notifier_delay(const struct notifier_options *options, uint32_t attempts, int64_t asked_ms,
                       uint32_t random)
{
    int64_t delay = options->retry_ms;
    for (uint32_t i = 1; i < attempts && delay < options->retry_max_ms; i++)
        delay *= 2;
    if (delay > options->retry_max_ms)
        delay = options->retry_max_ms;
    delay += (int64_t)((double)delay * ((double)random / (double)UINT32_MAX - 0.5) * 0.4);
    if (asked_ms > options->retry_max_ms)
        asked_ms = options->retry_max_ms;
    return delay > asked_ms ? delay : asked_ms;
}

/* Of a literal address; libcurl has turned 0x7f000001 and the like into four numbers. */
static bool is_private(const char *host)
{
    struct sockaddr_in in = {.sin_family = AF_INET};
    struct sockaddr_in6 in6 = {.sin6_family = AF_INET6};
    char text[INET6_ADDRSTRLEN];
    if (inet_pton(AF_INET, host, &in.sin_addr) == 1)
        return !net_guard_public((const struct sockaddr *)&in);
    size_t len = strcspn(host + (*host == '['), "]%");
    if (*host != '[' || len >= sizeof(text))
        return false;
    memcpy(text, host + 1, len);
    text[len] = 0;
    return inet_pton(AF_INET6, text, &in6.sin6_addr) == 1 &&
           !net_guard_public((const struct sockaddr *)&in6);
}

const char *notifier_url_fault(const struct notifier *n, const char *url)
{
    CURLU *parts = curl_url();
    char *host = NULL;
    const char *fault = NULL;
    if (!parts)
        return NULL; /* it is looked at again when it is sent to */
    if (curl_url_set(parts, CURLUPART_URL, url, 0) != CURLUE_OK ||
        curl_url_get(parts, CURLUPART_HOST, &host, 0) != CURLUE_OK)
        fault = "not an address that can be connected to (is the port above 65535?)";
    else if (!(n && n->options.allow_private) && is_private(host))
        fault = "its address is private; see [alerts] allow_private";
    curl_free(host);
    curl_url_cleanup(parts);
    return fault;
}

const char *notifier_library(void)
{
    return curl_version_info(CURLVERSION_NOW)->version;
}

/* --- one attempt ------------------------------------------------------------------------------ */

static curl_socket_t open_socket(void *ctx, curlsocktype purpose, struct curl_sockaddr *address)
{
    struct attempt *a = ctx;
    (void)purpose;
    if (!a->n->options.allow_private && !net_guard_public(&address->addr)) {
        a->refused = true;
        return CURL_SOCKET_BAD;
    }
    return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

static size_t take_answer(char *data, size_t size, size_t count, void *ctx)
{
    struct attempt *a = ctx;
    if (buf_put(&a->answer, data, size * count))
        return size * count;
    a->too_long = true;
    return 0;
}

static int look_up(void *ctx, curl_off_t down_total, curl_off_t down, curl_off_t up_total,
                   curl_off_t up)
{
    const struct attempt *a = ctx;
    (void)down_total;
    (void)down;
    (void)up_total;
    (void)up;
    return atomic_load(&a->n->stopping);
}

static struct curl_slist *headers_of(const struct alert_message *m, const struct delivery_due *d)
{
    char line[160];
    struct curl_slist *list = curl_slist_append(NULL, "Content-Type: application/json");
    const struct {
        const char *name, *value;
    } signs[] = {{"X-Stallsym-Timestamp", m->timestamp}, {"X-Stallsym-Signature", m->signature}};
    struct curl_slist *more = list;
    for (size_t i = 0; more && i < 2; i++) {
        snprintf(line, sizeof(line), "%s: %s", signs[i].name, signs[i].value);
        if (*signs[i].value)
            more = curl_slist_append(list, line);
    }
    snprintf(line, sizeof(line), "X-Stallsym-Delivery: %" PRIu64, d->id);
    if (more)
        more = curl_slist_append(list, line);
    snprintf(line, sizeof(line), "X-Stallsym-Event: %s", alert_kind_name(d->kind));
    if (more)
        more = curl_slist_append(list, line);
    if (more)
        more = curl_slist_append(list, "Expect:");
    if (!more)
        curl_slist_free_all(list);
    return more ? list : NULL;
}

/* Everything that keeps a webhook from reaching where it should not. */
static CURLcode set_options(CURL *c, struct attempt *a, const struct alert_message *m,
                            struct curl_slist *headers)
{
    CURLcode rc = CURLE_OK;
#define SET(option, value) rc = rc == CURLE_OK ? curl_easy_setopt(c, option, value) : rc
    SET(CURLOPT_URL, m->url.data);
    SET(CURLOPT_PROTOCOLS_STR, "http,https");
    SET(CURLOPT_FOLLOWLOCATION, 0L);
    SET(CURLOPT_PROXY, "");
    SET(CURLOPT_NETRC, (long)CURL_NETRC_IGNORED);
    SET(CURLOPT_OPENSOCKETFUNCTION, open_socket);
    SET(CURLOPT_OPENSOCKETDATA, a);
    SET(CURLOPT_FORBID_REUSE, 1L);
    SET(CURLOPT_FRESH_CONNECT, 1L);
    SET(CURLOPT_SSL_VERIFYPEER, 1L);
    SET(CURLOPT_SSL_VERIFYHOST, 2L);
    SET(CURLOPT_NOSIGNAL, 1L);
    SET(CURLOPT_TIMEOUT_MS, (long)a->n->options.timeout_ms);
    SET(CURLOPT_CONNECTTIMEOUT_MS, (long)a->n->options.timeout_ms);
    SET(CURLOPT_NOPROGRESS, 0L);
    SET(CURLOPT_XFERINFOFUNCTION, look_up);
    SET(CURLOPT_XFERINFODATA, a);
    SET(CURLOPT_WRITEFUNCTION, take_answer);
    SET(CURLOPT_WRITEDATA, a);
    SET(CURLOPT_USERAGENT, "stallsymd/" STALLSYM_VERSION);
    SET(CURLOPT_HTTPHEADER, headers);
    SET(CURLOPT_POSTFIELDSIZE, (long)m->body.len);
    SET(CURLOPT_POSTFIELDS, m->body.data);
#undef SET
    return rc;
}

static bool perform(struct notifier *n, const struct alert_target *target,
                    const struct delivery_due *d, const struct alert_message *m, struct attempt *a)
{
    curl_off_t asked = 0;
    struct curl_slist *headers = headers_of(m, d);
    curl_easy_reset(n->curl);
    CURLcode rc = headers ? set_options(n->curl, a, m, headers) : CURLE_OUT_OF_MEMORY;
    if (rc == CURLE_OK)
        rc = curl_easy_perform(n->curl);
    (void)curl_easy_getinfo(n->curl, CURLINFO_RESPONSE_CODE, &a->status);
    if (curl_easy_getinfo(n->curl, CURLINFO_RETRY_AFTER, &asked) == CURLE_OK && asked > 0)
        a->asked_ms = asked > 86400 ? 86400000 : (int64_t)asked * 1000;
    curl_slist_free_all(headers);
    /* A long answer is an answer: its status counts. */
    if (rc != CURLE_OK && !(rc == CURLE_WRITE_ERROR && a->too_long)) {
        snprintf(a->why, sizeof(a->why), "%s",
                 a->refused ? "its address is private; see [alerts] allow_private"
                            : curl_easy_strerror(rc));
        return false;
    }
    return alert_answer_good(target->kind, a->status, a->answer.data ? a->answer.data : "",
                             a->answer.len, a->why, sizeof(a->why));
}

static bool attempt(struct notifier *n, const struct alert_target *target,
                    const struct delivery_due *d, struct attempt *a)
{
    struct alert_message m;
    struct error err;
    bool good = false;
    buf_init(&a->answer, ANSWER_BYTES);
    alert_message_init(&m);
    if (alert_message_make(target, d->body, clock_wall_ms(), &m, &err) == ERR_OK)
        good = perform(n, target, d, &m, a);
    else
        snprintf(a->why, sizeof(a->why), "%.200s", err.text);
    alert_message_done(&m);
    buf_done(&a->answer);
    return good;
}

/* --- outcomes --------------------------------------------------------------------------------- */

static bool sleep_until(struct notifier *n, int64_t mono_ms)
{
    pthread_mutex_lock(&n->lock);
    while (!atomic_load(&n->stopping) && !n->rung &&
           thread_cond_wait_until(&n->changed, &n->lock, mono_ms))
        continue;
    n->rung = false;
    pthread_mutex_unlock(&n->lock);
    return !atomic_load(&n->stopping);
}

/* Until the writer takes it; false when we stop before. */
static bool mark(struct notifier *n, const struct op_delivery *outcome)
{
    struct error err;
    for (;;) {
        struct write_op *op = write_op_new(WRITE_DELIVERY, OP_ARENA);
        enum err rc = ERR_NO_MEMORY;
        if (op) {
            op->u.delivery = *outcome;
            rc = writer_call(n->writer, op, &err);
            write_op_free(op);
        }
        if (rc == ERR_OK)
            return true;
        if (atomic_load(&n->stopping))
            return false;
        usleep(RETRY_MARK_MS * 1000);
    }
}

static void note_sent(struct notifier *n, const struct delivery_due *d, const struct attempt *a)
{
    const struct op_delivery outcome = {.id = d->id,
                                        .state = DELIVERY_SENT,
                                        .attempted = true,
                                        .status = (int32_t)a->status,
                                        .now_ms = clock_wall_ms()};
    (void)mark(n, &outcome);
    metrics_add(n->metrics, METRIC_ALERTS_SENT, 1);
    log_info("alert sent", "delivery=%" PRIu64 " kind=%s", d->id, alert_kind_name(d->kind));
}

static void give_up(struct notifier *n, const struct delivery_due *d, const struct attempt *a)
{
    char quoted[300];
    const struct op_delivery outcome = {.id = d->id,
                                        .state = DELIVERY_FAILED,
                                        .attempted = a->n != NULL,
                                        .status = (int32_t)a->status,
                                        .error = a->why,
                                        .now_ms = clock_wall_ms()};
    (void)mark(n, &outcome);
    metrics_add(n->metrics, METRIC_ALERTS_FAILED, 1);
    log_warn("alert given up", "delivery=%" PRIu64 " kind=%s error=%s", d->id,
             alert_kind_name(d->kind), log_quote(a->why, quoted, sizeof(quoted)));
}

static void leave_alone(struct pass *p, const char *target, int64_t until_ms)
{
    if (p->failed_count < ALERT_TARGETS_MAX) {
        p->failed[p->failed_count] = target;
        p->until_ms[p->failed_count++] = until_ms;
    }
}

static void note_failure(struct notifier *n, struct pass *p, const struct delivery_due *d,
                         const struct attempt *a)
{
    uint32_t random = 0;
    char quoted[300];
    int64_t now = clock_wall_ms();
    if (getrandom(&random, sizeof(random), GRND_NONBLOCK) < 0)
        random = UINT32_MAX / 2;
    int64_t delay = notifier_delay(&n->options, d->attempts + 1, a->asked_ms, random);
    metrics_add(n->metrics, METRIC_ALERT_ATTEMPTS_FAILED, 1);
    leave_alone(p, d->target, now + delay);
    if (a->status == STATUS_GONE || now + delay > d->created_ms + n->options.give_up_ms) {
        give_up(n, d, a);
        return;
    }
    log_warn("alert not delivered", "delivery=%" PRIu64 " attempt=%u again_ms=%" PRId64 " error=%s",
             d->id, d->attempts + 1, delay, log_quote(a->why, quoted, sizeof(quoted)));
    const struct op_delivery outcome = {.id = d->id,
                                        .state = DELIVERY_PENDING,
                                        .attempted = true,
                                        .next_ms = now + delay,
                                        .status = (int32_t)a->status,
                                        .error = a->why,
                                        .now_ms = now};
    (void)mark(n, &outcome);
}

/* --- passes ----------------------------------------------------------------------------------- */

static void deliver(struct notifier *n, struct pass *p, const struct alert_rules *rules,
                    const struct delivery_due *d)
{
    struct attempt a = {0};
    const struct alert_target *target = alert_rules_target(rules, d->target);
    if (!target) {
        snprintf(a.why, sizeof(a.why), "there is no target of this name any more");
        give_up(n, d, &a);
        return;
    }
    for (size_t i = 0; i < p->failed_count; i++) {
        if (strcmp(p->failed[i], d->target) != 0)
            continue;
        const struct op_delivery later = {.id = d->id,
                                          .state = DELIVERY_PENDING,
                                          .next_ms = p->until_ms[i],
                                          .error = "waits: its target failed a moment ago",
                                          .now_ms = clock_wall_ms()};
        (void)mark(n, &later);
        return;
    }
    a.n = n;
    bool good = attempt(n, target, d, &a);
    if (good)
        note_sent(n, d, &a);
    else if (!atomic_load(&n->stopping))
        note_failure(n, p, d, &a);
}

static enum err read_page(struct notifier *n, struct delivery_due **ret, size_t *ret_count,
                          int64_t *ret_next_ms, struct alert_rules *rules, struct error *err)
{
    struct alert_settings settings = {.document = NULL};
    uint64_t pending = 0;
    arena_reset(&n->arena);
    enum err rc = read_deliveries_due(n->reader, clock_wall_ms(), PAGE, &n->arena, ret, ret_count,
                                      ret_next_ms, &pending, err);
    if (rc == ERR_OK)
        metrics_set(n->metrics, METRIC_ALERTS_PENDING, (int64_t)pending);
    if (rc == ERR_OK && *ret_count > 0)
        rc = read_alert_settings(n->reader, &n->arena, &settings, err);
    if (rc == ERR_OK && *ret_count > 0)
        rc = alert_stored_read(settings.document, &n->arena, rules, err);
    return rc;
}

/* When to look again, by the monotonic clock. */
static int64_t make_pass(struct notifier *n)
{
    struct delivery_due *due = NULL;
    struct alert_rules rules = {0};
    struct pass pass = {.failed_count = 0};
    struct error err;
    char quoted[600];
    size_t count = 0;
    int64_t next_ms = INT64_MAX;
    if (read_page(n, &due, &count, &next_ms, &rules, &err) != ERR_OK) {
        log_warn("deliveries cannot be read", "error=%s",
                 log_quote(err.text, quoted, sizeof(quoted)));
        return clock_mono_ms() + RETRY_READ_MS;
    }
    for (size_t i = 0; i < count && !atomic_load(&n->stopping); i++)
        deliver(n, &pass, &rules, &due[i]);
    if (count > 0)
        return clock_mono_ms();
    if (next_ms == INT64_MAX)
        return INT64_MAX;
    int64_t wait = next_ms - clock_wall_ms();
    return clock_mono_ms() + (wait > 0 ? wait : 0);
}

static void *run(void *arg)
{
    struct notifier *n = arg;
    while (sleep_until(n, make_pass(n)))
        continue;
    return NULL;
}

static void dispose(struct notifier *n)
{
    storage_reader_close(n->reader);
    if (n->curl)
        curl_easy_cleanup(n->curl);
    curl_global_cleanup();
    arena_done(&n->arena);
    pthread_cond_destroy(&n->changed);
    pthread_mutex_destroy(&n->lock);
    free(n);
}

enum err notifier_start(struct storage *storage, struct writer *writer,
                        const struct notifier_options *options, struct metrics *metrics,
                        struct notifier **ret, struct error *err)
{
    struct notifier *n = calloc(1, sizeof(*n));
    if (!n)
        return error_set(err, ERR_NO_MEMORY, "no memory for the notifier");
    pthread_mutex_init(&n->lock, NULL);
    thread_cond_init(&n->changed);
    arena_init(&n->arena, ARENA_BYTES);
    n->storage = storage;
    n->writer = writer;
    n->options = *options;
    n->metrics = metrics;
    enum err rc = curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK && (n->curl = curl_easy_init())
                      ? ERR_OK
                      : error_set(err, ERR_INTERNAL, "libcurl does not start");
    if (rc == ERR_OK)
        rc = storage_reader_open(storage, &n->reader, err);
    if (rc == ERR_OK)
        rc = thread_start(&n->thread, "notifier", run, n, err);
    if (rc != ERR_OK) {
        dispose(n);
        return rc;
    }
    *ret = n;
    return ERR_OK;
}

void notifier_ring(struct notifier *n)
{
    if (!n)
        return;
    pthread_mutex_lock(&n->lock);
    n->rung = true;
    pthread_cond_signal(&n->changed);
    pthread_mutex_unlock(&n->lock);
}

void notifier_stop(struct notifier *n)
{
    if (!n)
        return;
    pthread_mutex_lock(&n->lock);
    atomic_store(&n->stopping, true);
    pthread_cond_signal(&n->changed);
    pthread_mutex_unlock(&n->lock);
    thread_join(&n->thread);
    dispose(n);
}
