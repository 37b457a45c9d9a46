/*
 * reduce - reports to a write op: addresses to (image, offset), equal stacks folded.
 *
 * Purpose: the step that needs no symbols (architecture.md 1.1): each report's images become an
 * image map, each stack a raw stack with its hash; one op_batch per app.
 *
 * Invariants: stacks of one batch are distinct; images listed are those that stacks refer to, those
 * whose vmaddr is news, and the members of a slide group that frames wait for. The report's own
 * stack is: of several samples the provisional culprit's (analysis/culprit.h, by raw keys); else the
 * given one; else the only sample's; else that of the thread marked stalled, else of thread 0, never
 * another's.
 *
 * Threads: one. Memory: everything in the op's arena, which is the intake's.
 */
#ifndef STALLSYM_INGEST_REDUCE_H
#define STALLSYM_INGEST_REDUCE_H

#include "server/ingest/intake.h"

/* Fills op->u.batches from the intake's reports. ERR_LIMIT when memory's cap was reached. */
enum err reduce_reports(struct intake *in, struct write_op *op, struct error *err);

#endif
