/*
 * usage - from a body of POST /v1/usage to a write op.
 *
 * Purpose: foreground time and launches by app, device, version, day and page. A document has `app`,
 * `device` and `items`, or is an item itself.
 *
 * Invariants: as ingest.h says, with items in place of reports. A retry counts once: an item is
 * known by its `id`, else by its batch's `id` and its place in it, else by what it and its batch
 * say and its place; then equal bodies are one, whoever sent them, so clients give ids. A day that
 * is not from 30 days ago to tomorrow becomes that of receipt.
 *
 * Threads, memory: as ingest.h says.
 */
#ifndef STALLSYM_INGEST_USAGE_H
#define STALLSYM_INGEST_USAGE_H

#include "server/ingest/ingest.h"

/* As ingest_body(): the op is WRITE_USAGE, `reader` and `layouts` are not used. */
enum err ingest_usage(const struct ingest_request *request, struct ingest_result *ret,
                      struct error *err);
/* Accepted and duplicate items after the op was applied. */
void ingest_usage_count(const struct write_op *op, uint32_t *ret_accepted,
                        uint32_t *ret_duplicates);

#endif
