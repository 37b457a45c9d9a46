/*
 * op_findings - WRITE_FINDINGS: culprits and deadlocks of reports, and the queue they come from.
 *
 * Purpose: a report with several samples, or with threads that wait, is due when it comes in and
 * whenever a stack of its samples or threads was resolved. An answer makes one of the samples stand
 * for the report: its stack becomes the report's, and all that the report added to the sums moves
 * with it.
 *
 * Invariants: an answer to a report that is due anew since it was read (another generation), or not
 * any more, is ignored; so the order in which reports and symbols come leaves no trace. Reports that
 * have expired keep what was found.
 *
 * Threads, memory: as write_op.h says.
 */
#ifndef STALLSYM_STORAGE_OP_FINDINGS_H
#define STALLSYM_STORAGE_OP_FINDINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct op_finding {
    uint64_t report_id;  /* as read_findings_due() gives it; so the generation */
    uint32_t generation; /* another one by now: ignored */
    bool unknown;        /* not to be told (yet): what was found before stays */
    bool has_culprit;    /* else the report keeps its stack */
    uint32_t sample;     /* index of the one that stands for the report */
    int64_t stage_ms, total_ms;
    double confidence;    /* 0 to 1 */
    const char *deadlock; /* indexes of the cycle's threads, compact JSON; NULL: none */
    bool applied;         /* result */
    bool moved;           /* result: the report's stack is another one now */
};

struct op_findings {
    struct op_finding *items;
    size_t count;
    int64_t now_ms;
    uint32_t refill; /* at most so many reports of stacks with new frames become due now */
    bool more;       /* result: something is due */
};

#endif
