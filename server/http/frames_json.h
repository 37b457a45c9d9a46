/*
 * frames_json - RAW_FRAME, the same wherever the API shows a stack.
 *
 * Purpose: prints a resolved stack as an array of RAW_FRAMEs (openapi.yaml, schema RawFrame).
 *
 * Invariants: innermost first; UUID and offset are null where they would not be true (no image, an
 * image without UUID, a slide group that was not placed); a line of 0 is null; an address nobody
 * reported is null.
 *
 * Threads, memory: none.
 */
#ifndef STALLSYM_HTTP_FRAMES_JSON_H
#define STALLSYM_HTTP_FRAMES_JSON_H

#include <stdint.h>

#include "base/stack.h"
#include "server/analysis/cluster_key.h"
#include "server/http/jout.h"

/* `addresses` (one for each raw frame) may be NULL. With a `verdict`, in_app is what the rules made
 * of each frame; with `explain`, `kept` and `rule` are added, too. */
void frames_json_print(struct jout *j, const char *key, const struct resolved_stack *stack,
                       const uint64_t *addresses, const struct cluster_verdict *verdict,
                       bool explain);

#endif
