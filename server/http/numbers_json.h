/*
 * numbers_json - the numbers beside a cluster's figures, as they are shown.
 *
 * Purpose: share of the app, rate per hour of use, direction of the trend, releases; CPU, memory,
 * pages and paths.
 *
 * Invariants: a cluster is compared with its own app under the same filter, whose totals are read
 * once.
 *
 * Threads: a reader's. Memory: the tools' arena.
 */
#ifndef STALLSYM_HTTP_NUMBERS_JSON_H
#define STALLSYM_HTTP_NUMBERS_JSON_H

#include "server/http/http_request.h"
#include "server/http/jout.h"
#include "storage/read_context.h"
#include "storage/read_trend.h"

/* The totals of the last app that was asked for. */
struct app_totals {
    const char *bundle_id; /* NULL: none yet */
    struct totals_row row;
};
enum err app_totals_of(const struct read_tools *tools, const struct read_filter *filter,
                       const char *bundle_id, struct app_totals *totals, struct error *err);

void numbers_print_cluster(struct jout *j, const struct cluster_row *c,
                           const struct totals_row *app);
/* "cpu":{…},"memory_mb":{…}; `row` NULL: nothing known. */
void numbers_print_usage_of_device(struct jout *j, const struct context_row *row);
/* The same as "context":{…}, with pages, paths, and from how many reports. */
void numbers_print_context(struct jout *j, const struct context *c);

#endif
