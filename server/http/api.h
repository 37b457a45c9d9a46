/*
 * api - the handlers of the table in routes.c, one file a resource.
 *
 * Purpose: declarations only; what each does is in openapi.yaml.
 *
 * Threads: `handle` functions run on the door's threads, `read` functions on a reader's.
 * Memory: none.
 */
#ifndef STALLSYM_HTTP_API_H
#define STALLSYM_HTTP_API_H

#include "server/http/http_request.h"

/* api_health.c */
void api_healthz(struct http_request *r);
void api_readyz(struct http_request *r);
void api_metrics(struct http_request *r);

/* api_reports.c */
void api_post_reports(struct http_request *r);

#endif
