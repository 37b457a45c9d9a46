/*
 * op_config - a new revision of an app's remote configuration.
 *
 * Purpose: revisions of an app are numbered from 1; the newest is in force; each is kept, the last
 * CONFIG_REVISIONS_KEPT of them. What is configured is text here (server/http/config_json.h).
 *
 * Threads, memory: as write_op.h says.
 */
#ifndef STALLSYM_STORAGE_OP_CONFIG_H
#define STALLSYM_STORAGE_OP_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

/* Rows of a history, at most. */
#define CONFIG_REVISIONS_KEPT 200

struct op_config {
    const char *bundle_id;
    const char *body;
    const char *note;  /* why, "" */
    uint64_t token_id; /* whose token it was */
    bool has_based_on;
    uint32_t based_on; /* refused when another one is in force by now; 0: there is none yet */
    int64_t now_ms;
    uint32_t revision; /* result; when `conflict`, the one in force */
    bool conflict;     /* result */
};

#endif
