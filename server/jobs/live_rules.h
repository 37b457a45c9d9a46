/*
 * live_rules - the cluster rules of now, and how they become others.
 *
 * Purpose: the rules file is read again at a SIGHUP and at every request to re-cluster. Who asked for
 * the rules before may go on with the ones it has.
 *
 * Invariants: rule sets that were replaced are kept until the end; there are few (LIVE_RULES_MAX
 * changes in one run, then ERR_LIMIT). A file that cannot be read changes nothing. One reload after
 * the other; no lock is held while `read` and `told` are at work, but they must not reload.
 *
 * Threads: any. Memory: live_rules_new/live_rules_free; takes `rules` over.
 */
#ifndef STALLSYM_JOBS_LIVE_RULES_H
#define STALLSYM_JOBS_LIVE_RULES_H

#include <stdbool.h>

#include "base/error.h"
#include "server/analysis/rules.h"

#define LIVE_RULES_MAX 256

struct live_rules;

typedef enum err live_rules_read_fn(void *ctx, struct rules **ret, struct error *err);
typedef void live_rules_told_fn(void *ctx, const struct rules *rules);

/* `read` reads them again; `told` hears of new ones, before anybody can ask for them. */
struct live_rules *live_rules_new(struct rules *rules, live_rules_read_fn *read,
                                  live_rules_told_fn *told, void *ctx);
void live_rules_free(struct live_rules *l);
const struct rules *live_rules_now(struct live_rules *l);
/* *ret_changed: they are others now. */
enum err live_rules_reload(struct live_rules *l, bool *ret_changed, struct error *err);

#endif
