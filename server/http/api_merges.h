/*
 * api_merges - what a cluster is made of, as it is shown.
 *
 * Purpose: the members "parts" and "related" of a cluster's detail; merges, splits and their rules are
 * handlers of api.h.
 *
 * Threads: a reader's. Memory: the tools' arena.
 */
#ifndef STALLSYM_HTTP_API_MERGES_H
#define STALLSYM_HTTP_API_MERGES_H

#include "server/http/api_common.h"

enum err api_print_made_of(const struct read_tools *tools, struct jout *j,
                           const struct cluster_row *c, struct error *err);

#endif
