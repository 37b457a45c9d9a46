/*
 * report_finding - culprit and deadlock of one stored report.
 *
 * Purpose: from the rows of a report (storage_read.h) to analysis/culprit.h and analysis/deadlock.h.
 * The job of findings stores the answer; who shows a report asks again, with names.
 *
 * Invariants: a function of the report and the frames and keys its stacks have now. The stages of
 * samples are told apart by their stacks' keys, provisional ones by their raw frames without the
 * leaf.
 *
 * Threads: any. Memory: the caller's arena; names borrow from the rows.
 */
#ifndef STALLSYM_JOBS_REPORT_FINDING_H
#define STALLSYM_JOBS_REPORT_FINDING_H

#include "server/analysis/culprit.h"
#include "server/analysis/deadlock.h"
#include "storage/storage_read.h"

/* The application's functions in a sample, innermost first. */
struct sample_names {
    const char *const *names;
    size_t count;
};

struct report_finding {
    bool unknown; /* the resolver has yet to look at one of the stacks */
    bool has_culprit;
    struct culprit culprit;
    /* With names, of each sample: what its cluster would be called, and the functions in it. */
    const char *const *titles;
    const struct sample_names *sample_names;
    struct deadlock deadlock;
};

/* `names`: also who the culprits are (titles, the tree of functions, members of a deadlock), from
 * what is known so far. Without: nothing is told of a report that is `unknown`. */
enum err report_finding_of(const struct rules *rules, const struct report_row *r, bool names,
                           struct arena *arena, struct report_finding *ret, struct error *err);

/* The verdict on a stored stack by the rules of now. */
enum err report_finding_verdict(const struct rules *rules, const struct stack_row *stack,
                                struct arena *arena, struct cluster_verdict *ret,
                                struct error *err);

#endif
