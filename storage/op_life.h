/*
 * op_life - what a person decides about a cluster.
 *
 * Purpose: the op behind PATCH /v1/clusters/{id}. What the daemon decides itself, a regression,
 * happens inside the ops that bring reports or move stacks: a resolved cluster that a report of a
 * newer release (base/app_version.h) than the one it was resolved in joins is open again.
 *
 * Invariants: each change leaves one row of history; an op that changes nothing leaves none.
 *
 * Threads, memory: as write_op.h says.
 */
#ifndef STALLSYM_STORAGE_OP_LIFE_H
#define STALLSYM_STORAGE_OP_LIFE_H

#include <stdbool.h>
#include <stdint.h>

enum cluster_state { CLUSTER_OPEN, CLUSTER_RESOLVED, CLUSTER_IGNORED };
#define CLUSTER_STATES 3
const char *cluster_state_name(enum cluster_state state); /* "open", … */
bool cluster_state_parse(const char *name, enum cluster_state *ret);

/* Rows of history kept for one cluster; the oldest go. */
#define CLUSTER_HISTORY_MAX 500

/* ERR_NOT_FOUND: no such cluster (or not of that app). ERR_CONFLICT: `resolved_in` was left out and
 * no version of the app is known. */
struct op_cluster_state {
    uint64_t id;           /* or an alias */
    const char *bundle_id; /* only a cluster of this app; NULL: of any */
    bool set_state;
    enum cluster_state state;
    const char *resolved_in; /* with CLUSTER_RESOLVED; NULL: the newest release seen of the app */
    const char *resolved_build; /* NULL: any build of that version */
    bool set_note;
    const char *note; /* NULL: none any more */
    const char *who;  /* name of the token, NULL */
    int64_t now_ms;
    bool changed; /* result */
};

#endif
