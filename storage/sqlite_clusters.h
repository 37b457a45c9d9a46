/*
 * sqlite_clusters - clusters by key, weight that moves between them, and what is left of them.
 *
 * Purpose: the writer's side of clusters: made by the first stack that points to them, emptied by
 * the last one that leaves, then an alias of where most of their weight went.
 *
 * Invariants: cluster_totals = sums over the stacks that point there. Aliases point to living
 * clusters, never to aliases. An id is never used for another key; a key that comes back has its id
 * again.
 *
 * Threads: the writer's. Memory: none.
 */
#ifndef STALLSYM_STORAGE_SQLITE_CLUSTERS_H
#define STALLSYM_STORAGE_SQLITE_CLUSTERS_H

#include "storage/figures.h"
#include "storage/sqlite_storage.h"
#include "storage/tally.h"

struct cluster_birth {
    const char *rules_version;
    int64_t now_ms;
    int64_t origin_id; /* where the stack pointed before, 0 */
};

/* Where the merges lead from a key; the key itself when none does. */
enum err sqlite_key_root(struct sqlite_storage *s, int64_t app_id, const uint8_t key[PART_KEY_SIZE],
                         uint8_t ret[PART_KEY_SIZE], struct error *err);

struct cluster_found {
    int64_t id;
    bool merged; /* its key is not the resolution's, merges led there */
};

#define CLUSTER_MEMO 1024

/* Clusters that one op found, by key. The stacks of a key mostly show the same: then there is
 * nothing to be written. All zeros: empty. */
struct cluster_memo {
    struct {
        int64_t app_id;
        struct cluster_found found;
        const struct op_resolution *shown; /* NULL: free */
    } items[CLUSTER_MEMO];
};

/* The cluster that stacks of this resolution belong to, made when it is not there. Rules do not
 * change, and no cluster goes, while the memo is in use. */
enum err sqlite_cluster_of(struct sqlite_storage *s, int64_t app_id, const struct op_resolution *r,
                           const struct cluster_birth *birth, struct cluster_memo *memo,
                           struct cluster_found *ret, struct error *err);

/* Figures of stacks or reports that leave one cluster and come to another; the rows of stacks and
 * reports say where they point already. */
struct cluster_move {
    int64_t from, to;
    const struct figures *figures;
    const struct tally *tally;
    int64_t first_ms, last_ms;
    int64_t stacks; /* with reports, that move; 0: reports come or go, and no stack moves */
};
/* Adds them to `m->to`; takes them from `m->from`. */
enum err sqlite_cluster_add(struct sqlite_storage *s, const struct cluster_move *m,
                            struct error *err);
enum err sqlite_cluster_take(struct sqlite_storage *s, const struct cluster_move *m,
                             struct error *err);
/* Deletes the cluster when no stack points to it, leaving an alias. */
enum err sqlite_cluster_reap(struct sqlite_storage *s, int64_t cluster_id, struct error *err);

#endif
