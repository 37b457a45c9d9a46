/*
 * alert_body - what an alert says, and how each kind of target wants to hear it.
 *
 * Purpose: facts become a JSON document, version 1, made when the alert is and kept with it; a
 * delivery sends it as it is (webhook) or as a message (Slack, Feishu, DingTalk), signed where the
 * target has a secret:
 *   - webhook: header X-Stallsym-Signature "sha256=HEX", HMAC-SHA256 with the secret as key over the
 *     value of X-Stallsym-Timestamp (seconds), a dot, and the body;
 *   - Feishu: "timestamp" and "sign" in the body, base64 of HMAC-SHA256 of nothing, its key being the
 *     timestamp, a newline and the secret;
 *   - DingTalk: &timestamp= (milliseconds) and &sign= behind the address, base64 of HMAC-SHA256 with
 *     the secret as key over the timestamp, a newline and the secret;
 *   - Slack has no signature: its address is the secret.
 *
 * Threads: pure functions. Memory: results in the caller's buffers.
 */
#ifndef STALLSYM_JOBS_ALERT_BODY_H
#define STALLSYM_JOBS_ALERT_BODY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"
#include "server/jobs/alert_rules.h"
#include "storage/read_alerts.h"

#define ALERT_BODY_VERSION 1
#define ALERT_BODY_BYTES   ((size_t)64 * 1024)

struct alert_story {
    enum alert_kind kind;
    int64_t at_ms;
    const char *bundle_id;               /* NULL */
    const char *rule;                    /* its name, NULL */
    const char *owner;                   /* NULL */
    const char *public_url;              /* of the daemon, for links, NULL */
    const struct alert_cluster *cluster; /* NULL: about none */
    /* Spike. */
    uint64_t count;
    double expected;
    int64_t window_ms;
    /* Regression. */
    const char *version, *build, *resolved_in, *resolved_build;
    /* Symbolication rate, 0 to 1. */
    double rate, rate_before;
    /* Missing symbols. */
    const char *uuid, *image;
    const char *const *versions;
    size_t version_count;
};

/* The document; false without memory. */
bool alert_body_make(const struct alert_story *s, struct buf *out);

/* A request to be sent. */
struct alert_message {
    struct buf url, body;
    char timestamp[24]; /* seconds, "" when there is no signature header */
    char signature[80]; /* "sha256=…", "" */
};
void alert_message_init(struct alert_message *m);
void alert_message_done(struct alert_message *m);
enum err alert_message_make(const struct alert_target *target, const char *body, int64_t now_ms,
                            struct alert_message *ret, struct error *err);

/* Whether the answer to a message means that it arrived: its status is 2xx, and, for those that
 * answer 200 to everything, its text says so. `why` is told otherwise. */
bool alert_answer_good(enum target_kind kind, long status, const char *text, size_t len, char *why,
                       size_t why_size);

#endif
