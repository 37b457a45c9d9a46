/*
 * api_ingest - how the ingest routes answer.
 *
 * Purpose: POST /v1/reports and its like answer alike: what was accepted, known, refused, left out.
 *
 * Invariants: the answer comes after the commit. All refused is 422.
 *
 * Threads: the door's until the op is handed over, then the writer's. Memory: the request's.
 */
#ifndef STALLSYM_HTTP_API_INGEST_H
#define STALLSYM_HTTP_API_INGEST_H

#include "server/http/http_request.h"
#include "server/http/jout.h"
#include "server/ingest/ingest.h"

/* JSON or lines of it; else the answer is 415 and false. */
bool api_ingest_media(struct http_request *r, enum ingest_media *ret);
/* The body could not be read at all. */
void api_ingest_error(struct http_request *r, enum err rc, const struct error *err);
/* What a body that was read costs until it is answered, and what of it was not read. */
void api_ingest_measure(struct http_request *r, const struct ingest_result *result);
/* `ignored_fields`; nothing when there are none. */
void api_ingest_print_ignored(struct jout *j, const struct ingest_ignored *ignored, size_t count);
/* Nothing to write; `none` says so when all were refused. */
void api_ingest_nothing(struct http_request *r, const struct ingest_result *result,
                        const char *none);
typedef void api_written(struct http_request *r, struct write_op *op, enum err rc,
                         const struct error *err);
/* Hands the op over; `written` is called on the writer's thread. False: it was answered, the op is as
 * it was. */
bool api_ingest_submit(struct http_request *r, struct ingest_result *result, api_written *written);
/* The answer of an op that was applied. */
void api_ingest_reply(struct http_request *r, uint32_t accepted, uint32_t duplicates);

#endif
