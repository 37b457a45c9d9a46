/*
 * finding_json - culprit and deadlock of a report as JSON.
 *
 * Purpose: prints the members `culprit` and `deadlock` of openapi.yaml's Report. What was found is
 * stored; who was on the stack when, and who the members of a deadlock are, is read off the stored
 * stacks.
 *
 * Threads: a reader's. Memory: the tools' arena.
 */
#ifndef STALLSYM_HTTP_FINDING_JSON_H
#define STALLSYM_HTTP_FINDING_JSON_H

#include "server/http/http_request.h"
#include "server/http/jout.h"

enum err finding_json_print(struct http_request *r, const struct read_tools *tools, struct jout *j,
                            const struct report_row *row, struct error *err);

#endif
