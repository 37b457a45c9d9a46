/*
 * report_json - one stall report as JSON.
 *
 * Purpose: prints the schemas ReportSummary and Report of openapi.yaml.
 *
 * Threads: a reader's. Memory: the tools' arena.
 */
#ifndef STALLSYM_HTTP_REPORT_JSON_H
#define STALLSYM_HTTP_REPORT_JSON_H

#include "server/http/http_request.h"
#include "server/http/jout.h"

/* The members of a list row, without braces. */
void report_json_summary(struct jout *j, const struct report_row *row);
/* Stack, samples and threads; as above. */
enum err report_json_stacks(struct http_request *r, const struct read_tools *tools, struct jout *j,
                            const struct report_row *row, struct error *err);

#endif
