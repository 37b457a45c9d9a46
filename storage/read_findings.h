/*
 * read_findings - reports whose culprit or deadlock is to be found, and what was found in a cluster.
 *
 * Purpose: the reading side of op_findings.h.
 *
 * Threads, memory: as storage_read.h says.
 */
#ifndef STALLSYM_STORAGE_READ_FINDINGS_H
#define STALLSYM_STORAGE_READ_FINDINGS_H

#include "storage/storage_read.h"

struct finding_due {
    uint64_t report_id;
    uint32_t generation;
    bool damaged;             /* what is stored cannot be read, or takes too much memory */
    struct report_row report; /* as read_report() gives it */
};
/* The oldest reports that are due, at most `limit`. */
enum err read_findings_due(struct storage_reader *r, size_t limit, struct arena *arena,
                           struct finding_due **ret, size_t *ret_count, struct error *err);

/* Over the cluster's reports inside their retention. */
struct cluster_findings {
    uint64_t culprits;      /* reports with several samples */
    double mean_confidence; /* NAN without any */
    uint64_t deadlocks;
};
enum err read_cluster_findings(struct storage_reader *r, uint64_t cluster_id,
                               struct cluster_findings *ret, struct error *err);

#endif
