/*
 * alert_rules - who is told of what, and where.
 *
 * Purpose: the document of PUT /v1/alerts as a value: targets (webhooks by name), owners (which of
 * them an owner named by conf/cluster.rules reads), rules in order. For each alert the first rule
 * that is of its kind, app, owner and category decides, whether it sends or not.
 *
 * Invariants: what alert_rules_read accepts is whole: every target that is named is there. Secrets
 * and paths of URLs never leave through a masked print; a masked value that comes back means the one
 * that the target of the same name has.
 *
 * Threads: a value; pure functions. Memory: everything in the arena given.
 */
#ifndef STALLSYM_JOBS_ALERT_RULES_H
#define STALLSYM_JOBS_ALERT_RULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"
#include "storage/op_alerts.h"

#define ALERT_RULES_BYTES  ((size_t)256 * 1024)
#define ALERT_TARGETS_MAX  100
#define ALERT_OWNERS_MAX   500
#define ALERT_RULES_MAX    500
#define ALERT_RULE_TARGETS 10
#define ALERT_MASK         "***"

enum target_kind { TARGET_WEBHOOK, TARGET_SLACK, TARGET_FEISHU, TARGET_DINGTALK };
#define TARGET_KINDS 4

struct alert_target {
    const char *name;
    enum target_kind kind;
    const char *url;
    const char *secret; /* NULL: nothing is signed */
};

struct target_list {
    const char *names[ALERT_RULE_TARGETS];
    size_t count;
};

struct alert_owner {
    const char *owner;
    struct target_list to;
};

struct alert_rule {
    const char *name;                         /* NULL */
    uint32_t kinds;                           /* bit of each enum alert_kind */
    const char *bundle_id, *owner, *category; /* NULL: any */
    uint64_t min_reports;                     /* 0: the kind's own */
    double factor;                            /* of a spike */
    double drop;                              /* of a symbolication rate, 0 to 1 */
    int64_t window_ms;
    bool mute; /* decides, and sends nothing */
    struct target_list to;
};

struct alert_rules {
    struct alert_target *targets;
    struct alert_owner *owners;
    struct alert_rule *rules;
    size_t target_count, owner_count, rule_count;
};

/* What is wrong, and where ("rules[2].to[0]"). */
struct alert_fault {
    char path[160];
    char reason[200];
};

/* ERR_FORMAT: no JSON (see json_text.h, as other errors). ERR_INVALID: *fault says what. `before`:
 * where masked values come from, NULL. */
enum err alert_rules_read(const char *text, size_t len, const struct alert_rules *before,
                          struct arena *arena, struct alert_rules *ret, struct alert_fault *fault,
                          struct error *err);
/* The document: {"targets":…,"owners":…,"rules":…}; with the members of an object that has begun
 * when `inner`. */
bool alert_rules_print(const struct alert_rules *r, bool masked, bool inner, struct buf *out);

/* What a rule looks at. */
struct alert_facts {
    enum alert_kind kind;
    const char *bundle_id;
    const char *owner, *category; /* NULL */
};
/* NULL: none matches. A rule that is mute is an answer. */
const struct alert_rule *alert_rules_match(const struct alert_rules *r,
                                           const struct alert_facts *f);
/* Least reports for an alert of the kind under that rule. */
uint64_t alert_rule_min_reports(const struct alert_rule *rule, enum alert_kind kind);
/* The smallest of all rules of the kind; UINT64_MAX: no rule has it. */
uint64_t alert_rules_least(const struct alert_rules *r, enum alert_kind kind);
/* The owner's targets where it has some, else the rule's. */
const struct target_list *alert_rules_route(const struct alert_rules *r,
                                            const struct alert_rule *rule, const char *owner);
const struct alert_target *alert_rules_target(const struct alert_rules *r, const char *name);

#endif
