/*
 * op_alerts - rules of alerts, alerts made, and what became of their deliveries.
 *
 * Purpose: the outbox. An alert and its deliveries are made in one transaction with what keeps it
 * from being made again; a delivery stays pending until it was sent or given up, whatever happens to
 * the process meanwhile.
 *
 * Invariants: of one cause (kind, app, cluster, subject) at most one alert begins in a window. An
 * alert of a cluster follows it when it becomes an alias.
 *
 * Threads, memory: as write_op.h says.
 */
#ifndef STALLSYM_STORAGE_OP_ALERTS_H
#define STALLSYM_STORAGE_OP_ALERTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum alert_kind {
    ALERT_NEW_CLUSTER,
    ALERT_SPIKE,
    ALERT_REGRESSION,
    ALERT_SYMBOLICATION_RATE,
    ALERT_MISSING_SYMBOLS,
    ALERT_TEST, /* asked for; no rule has it */
};
#define ALERT_KINDS 6
const char *alert_kind_name(enum alert_kind kind); /* "new_cluster", … */
bool alert_kind_parse(const char *name, enum alert_kind *ret);

#define ALERT_ONCE INT64_MAX /* as a window: never again */

/* WRITE_ALERT_RULES. ERR_CONFLICT: the revision is another one by now. */
struct op_alert_rules {
    const char *document;      /* JSON, see server/jobs/alert_rules.h */
    int64_t expected_revision; /* -1: whichever it is */
    const char *who;           /* NULL */
    int64_t now_ms;
    int64_t revision; /* result */
};

struct op_alert {
    enum alert_kind kind;
    const char *bundle_id; /* "" for a test */
    uint64_t cluster_id;   /* 0: about none */
    const char *subject;   /* "" or what else tells the cause: a UUID */
    const char *body;      /* JSON, as a webhook gets it */
    int64_t window_ms;
    const char *const *targets; /* names */
    size_t target_count;
    uint64_t id; /* result: 0: there was one of this cause in its window, or no such app */
};

/* WRITE_ALERTS */
struct op_alerts {
    struct op_alert *items;
    size_t count;
    uint64_t regressions_seen; /* changes up to this id are done with; 0: nothing new */
    int64_t now_ms;
    int64_t expire_before_ms; /* older alerts that nothing is pending of go, some at a time */
    uint64_t made;            /* result */
};

enum delivery_state { DELIVERY_PENDING, DELIVERY_SENT, DELIVERY_FAILED };
const char *delivery_state_name(enum delivery_state state);

/* WRITE_DELIVERY: how an attempt went. */
struct op_delivery {
    uint64_t id;
    enum delivery_state state; /* PENDING: again at next_ms */
    bool attempted;            /* counts as an attempt */
    int64_t next_ms;
    int32_t status;    /* of HTTP, 0: none came */
    const char *error; /* NULL */
    int64_t now_ms;
};

#endif
