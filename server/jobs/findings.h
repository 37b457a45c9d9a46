/*
 * findings - which sample stands for a report, and which reports are deadlocks.
 *
 * Purpose: one thread takes the reports that are due (storage/op_findings.h) page by page, asks
 * report_finding and hands the answers to the writer. The database is the queue: a restart loses
 * nothing, and an answer that comes late is ignored and asked for again.
 *
 * Invariants: sleeps until rung; every ring after the last look is answered by another look. One op
 * is under way at a time. A report that cannot be read, or that takes more memory than there is,
 * keeps what was found before, with a log line, and holds nothing up.
 *
 * Threads: findings_ring from any. Memory: findings_start/findings_stop.
 */
#ifndef STALLSYM_JOBS_FINDINGS_H
#define STALLSYM_JOBS_FINDINGS_H

#include "base/error.h"
#include "server/analysis/rules.h"
#include "server/jobs/metrics.h"
#include "server/jobs/writer.h"
#include "storage/storage.h"

struct findings;

enum err findings_start(struct storage *storage, struct writer *writer, const struct rules *rules,
                        struct metrics *metrics, struct findings **ret, struct error *err);
/* Of reports that are looked at from now on; the old ones live until findings_stop. */
void findings_set_rules(struct findings *f, const struct rules *rules);
void findings_stop(struct findings *f);
void findings_ring(struct findings *f);

#endif
