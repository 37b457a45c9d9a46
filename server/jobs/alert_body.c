#include "server/jobs/alert_body.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "base/base64.h"
#include "base/clock.h"
#include "base/hmac.h"
#include "server/jobs/json_text.h"

#define TEXT_BYTES 4096 /* of a message to a chat */

/* --- the document ----------------------------------------------------------------------------- */

static void member(struct buf *out, const char *key, const char *text)
{
    buf_printf(out, ",\"%s\":", key);
    buf_json_string(out, text && *text ? text : NULL);
}

static void release(char *out, size_t size, const char *version, const char *build)
{
    snprintf(out, size, build && *build ? "%s (%s)" : "%s", version ? version : "", build);
}

static void summarize(const struct alert_story *s, char *out, size_t size)
{
    const char *title = s->cluster ? s->cluster->title : "";
    const char *app = s->bundle_id ? s->bundle_id : "";
    char in[160], before[160];
    release(in, sizeof(in), s->version, s->build);
    release(before, sizeof(before), s->resolved_in, s->resolved_build);
    switch (s->kind) {
    case ALERT_NEW_CLUSTER:
        snprintf(out, size, "New cause of stalls in %s: %s (%llu reports)", app, title,
                 (unsigned long long)s->cluster->count);
        break;
    case ALERT_SPIKE:
        snprintf(out, size, "Spike in %s: %s, %llu reports in %lld min where %.1f are usual", app,
                 title, (unsigned long long)s->count, (long long)(s->window_ms / 60000),
                 s->expected);
        break;
    case ALERT_REGRESSION:
        snprintf(out, size, "Back again in %s: %s, resolved in %s, reported by %s", app, title,
                 before, in);
        break;
    case ALERT_SYMBOLICATION_RATE:
        snprintf(out, size, "Symbolication rate of %s fell to %.1f %% from %.1f %%", app,
                 s->rate * 100, s->rate_before * 100);
        break;
    case ALERT_MISSING_SYMBOLS:
        snprintf(out, size, "No symbol file for %s (%s) of %s: %llu reports wait", s->image,
                 s->uuid, app, (unsigned long long)s->count);
        break;
    case ALERT_TEST:
        snprintf(out, size, "This is a test of stallsym's alerts");
        break;
    }
}

static void print_cluster(const struct alert_story *s, struct buf *out)
{
    char text[CLOCK_TEXT_SIZE];
    const struct alert_cluster *c = s->cluster;
    if (!c) {
        buf_puts(out, ",\"cluster\":null");
        return;
    }
    buf_printf(out, ",\"cluster\":{\"id\":%llu", (unsigned long long)c->id);
    member(out, "title", c->title);
    member(out, "function", c->function);
    member(out, "file", c->file);
    member(out, "image", c->image);
    member(out, "category", c->category);
    buf_printf(out, ",\"count\":%llu", (unsigned long long)c->count);
    member(out, "first_seen", clock_format_rfc3339(c->first_seen_ms, text));
    buf_putc(out, '}');
    if (s->public_url && *s->public_url) {
        char link[1024];
        size_t len = strlen(s->public_url);
        snprintf(link, sizeof(link), "%.*s/v1/clusters/%llu",
                 (int)(len - (s->public_url[len - 1] == '/')), s->public_url,
                 (unsigned long long)c->id);
        member(out, "link", link);
    }
}

static void print_details(const struct alert_story *s, struct buf *out)
{
    switch (s->kind) {
    case ALERT_SPIKE:
        buf_printf(out,
                   ",\"spike\":{\"count\":%llu,\"expected\":%.3f,\"factor\":%.2f,"
                   "\"window_minutes\":%lld}",
                   (unsigned long long)s->count, s->expected,
                   s->expected > 0 ? (double)s->count / s->expected : 0,
                   (long long)(s->window_ms / 60000));
        break;
    case ALERT_REGRESSION:
        buf_puts(out, ",\"regression\":{\"version\":");
        buf_json_string(out, s->version);
        member(out, "build", s->build);
        member(out, "resolved_in", s->resolved_in);
        member(out, "resolved_in_build", s->resolved_build);
        buf_putc(out, '}');
        break;
    case ALERT_SYMBOLICATION_RATE:
        buf_printf(out, ",\"symbolication\":{\"rate\":%.4f,\"before\":%.4f}", s->rate,
                   s->rate_before);
        break;
    case ALERT_MISSING_SYMBOLS:
        buf_puts(out, ",\"missing\":{\"uuid\":");
        buf_json_string(out, s->uuid);
        member(out, "image", s->image);
        buf_printf(out, ",\"reports\":%llu,\"versions\":[", (unsigned long long)s->count);
        for (size_t i = 0; i < s->version_count; i++) {
            if (i)
                buf_putc(out, ',');
            buf_json_string(out, s->versions[i]);
        }
        buf_puts(out, "]}");
        break;
    case ALERT_NEW_CLUSTER:
    case ALERT_TEST:
        break;
    }
}

bool alert_body_make(const struct alert_story *s, struct buf *out)
{
    char summary[1024], text[CLOCK_TEXT_SIZE];
    summarize(s, summary, sizeof(summary));
    buf_printf(out, "{\"version\":%d,\"kind\":\"%s\"", ALERT_BODY_VERSION,
               alert_kind_name(s->kind));
    member(out, "at", clock_format_rfc3339(s->at_ms, text));
    member(out, "summary", summary);
    member(out, "bundle_id", s->bundle_id);
    member(out, "owner", s->owner);
    member(out, "rule", s->rule);
    print_cluster(s, out);
    print_details(s, out);
    return buf_putc(out, '}');
}

/* --- messages --------------------------------------------------------------------------------- */

void alert_message_init(struct alert_message *m)
{
    memset(m, 0, sizeof(*m));
    buf_init(&m->url, 8192);
    buf_init(&m->body, ALERT_BODY_BYTES * 2);
}

void alert_message_done(struct alert_message *m)
{
    buf_done(&m->url);
    buf_done(&m->body);
}

static const char *text_of(json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

/* Slack's three characters; for the others what would be markup. */
static void put_escaped(struct buf *out, enum target_kind kind, const char *text)
{
    for (; *text; text++) {
        if (kind == TARGET_SLACK && *text == '&')
            buf_puts(out, "&amp;");
        else if (kind == TARGET_SLACK && *text == '<')
            buf_puts(out, "&lt;");
        else if (kind == TARGET_SLACK && *text == '>')
            buf_puts(out, "&gt;");
        else if (kind == TARGET_DINGTALK && strchr("*_`#[]<>\\", *text))
            buf_printf(out, "\\%c", *text);
        else
            buf_putc(out, *text);
    }
}

/* The lines that a person reads. */
static void put_text(struct buf *out, enum target_kind kind, json_t *root)
{
    const char *newline = kind == TARGET_DINGTALK ? "\n\n" : "\n";
    json_t *cluster = json_object_get(root, "cluster");
    const struct {
        const char *label, *text;
    } lines[] = {
        {"", text_of(root, "summary")},       {"function: ", text_of(cluster, "function")},
        {"file: ", text_of(cluster, "file")}, {"category: ", text_of(cluster, "category")},
        {"owner: ", text_of(root, "owner")},  {"", text_of(root, "link")},
    };
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        if (!*lines[i].text)
            continue;
        if (i)
            buf_puts(out, newline);
        buf_puts(out, lines[i].label);
        put_escaped(out, kind, lines[i].text);
    }
}

static void put_chat_body(struct buf *out, enum target_kind kind, const char *title,
                          const char *text, const char *signature)
{
    if (kind == TARGET_SLACK) {
        buf_puts(out, "{\"text\":");
        buf_json_string(out, text);
    } else if (kind == TARGET_FEISHU) {
        buf_printf(out, "{%s\"msg_type\":\"text\",\"content\":{\"text\":", signature);
        buf_json_string(out, text);
        buf_putc(out, '}');
    } else {
        buf_puts(out, "{\"msgtype\":\"markdown\",\"markdown\":{\"title\":");
        buf_json_string(out, title);
        buf_puts(out, ",\"text\":");
        buf_json_string(out, text);
        buf_putc(out, '}');
    }
    buf_putc(out, '}');
}

static void sign_feishu(const char *secret, int64_t now_ms, struct buf *out)
{
    uint8_t mac[SHA256_SIZE];
    char key[600];
    int len = snprintf(key, sizeof(key), "%lld\n%s", (long long)(now_ms / 1000), secret);
    hmac_sha256_of(key, (size_t)len, "", 0, mac);
    buf_printf(out, "\"timestamp\":\"%lld\",\"sign\":\"", (long long)(now_ms / 1000));
    base64_put(out, mac, sizeof(mac));
    buf_puts(out, "\",");
}

static void sign_dingtalk(const char *secret, int64_t now_ms, struct buf *url)
{
    uint8_t mac[SHA256_SIZE];
    char text[600];
    struct buf base64;
    int len = snprintf(text, sizeof(text), "%lld\n%s", (long long)now_ms, secret);
    hmac_sha256_of(secret, strlen(secret), text, (size_t)len, mac);
    buf_init(&base64, 64);
    base64_put(&base64, mac, sizeof(mac));
    buf_printf(url, "%ctimestamp=%lld&sign=", memchr(url->data, '?', url->len) ? '&' : '?',
               (long long)now_ms);
    for (size_t i = 0; i < base64.len; i++) {
        char c = base64.data[i];
        if (c == '+' || c == '/' || c == '=')
            buf_printf(url, "%%%02X", (unsigned)c);
        else
            buf_putc(url, c);
    }
    buf_done(&base64);
}

static void sign_webhook(const char *secret, int64_t now_ms, struct alert_message *m)
{
    struct hmac_sha256 h;
    uint8_t mac[SHA256_SIZE];
    char hex[SHA256_TEXT_SIZE];
    snprintf(m->timestamp, sizeof(m->timestamp), "%lld", (long long)(now_ms / 1000));
    hmac_sha256_init(&h, secret, strlen(secret));
    hmac_sha256_update(&h, m->timestamp, strlen(m->timestamp));
    hmac_sha256_update(&h, ".", 1);
    hmac_sha256_update(&h, m->body.data, m->body.len);
    hmac_sha256_final(&h, mac);
    snprintf(m->signature, sizeof(m->signature), "sha256=%s", sha256_format(mac, hex));
}

static enum err make_chat(const struct alert_target *target, const char *body, int64_t now_ms,
                          struct alert_message *m, struct error *err)
{
    struct buf text, signature;
    json_t *root = NULL;
    enum err rc = json_text_load(body, strlen(body), &root, err);
    if (rc)
        return rc;
    buf_init(&text, TEXT_BYTES * 4);
    buf_init(&signature, 256);
    buf_puts(&signature, "");
    put_text(&text, target->kind, root);
    if (target->secret && target->kind == TARGET_FEISHU)
        sign_feishu(target->secret, now_ms, &signature);
    if (target->secret && target->kind == TARGET_DINGTALK)
        sign_dingtalk(target->secret, now_ms, &m->url);
    put_chat_body(&m->body, target->kind, text_of(root, "summary"), text.data ? text.data : "",
                  signature.data ? signature.data : "");
    buf_done(&text);
    buf_done(&signature);
    json_decref(root);
    return ERR_OK;
}

enum err alert_message_make(const struct alert_target *target, const char *body, int64_t now_ms,
                            struct alert_message *m, struct error *err)
{
    enum err rc = ERR_OK;
    buf_puts(&m->url, target->url);
    if (m->url.failed)
        return error_set(err, ERR_NO_MEMORY, "no memory for a message");
    if (target->kind == TARGET_WEBHOOK) {
        buf_puts(&m->body, body);
        if (target->secret && !m->body.failed)
            sign_webhook(target->secret, now_ms, m);
    } else {
        rc = make_chat(target, body, now_ms, m, err);
    }
    if (!rc && (m->url.failed || m->body.failed))
        rc = error_set(err, ERR_NO_MEMORY, "no memory for a message");
    return rc;
}

/* --- answers ---------------------------------------------------------------------------------- */

bool alert_answer_good(enum target_kind kind, long status, const char *text, size_t len, char *why,
                       size_t why_size)
{
    static const char *const codes[TARGET_KINDS][2] = {
        [TARGET_FEISHU] = {"code", "msg"}, [TARGET_DINGTALK] = {"errcode", "errmsg"}};
    if (status < 200 || status > 299) {
        snprintf(why, why_size, "answered %ld", status);
        return false;
    }
    if (!codes[kind][0])
        return true;
    json_t *root = NULL;
    if (json_text_load(text, len, &root, NULL) == ERR_NO_MEMORY) {
        snprintf(why, why_size, "no memory for what it answered");
        return false;
    }
    json_t *code = json_object_get(root, codes[kind][0]);
    bool good = !code || (json_is_integer(code) && json_integer_value(code) == 0);
    if (!good)
        snprintf(why, why_size, "answered %s %lld: %.200s", codes[kind][0],
                 (long long)json_integer_value(code), text_of(root, codes[kind][1]));
    json_decref(root);
    return good;
}
