/*
 * suite_jobs - the resolver and the job of findings, as the suite (suite.h) plays them.
 *
 * Purpose: answers that depend on what the backend says alone: a frame has a name when its image has
 * an index.
 *
 * Threads: one. Memory: ops are the caller's.
 */
#ifndef STALLSYM_TESTS_SUITE_JOBS_H
#define STALLSYM_TESTS_SUITE_JOBS_H

#include <stddef.h>
#include <stdint.h>

#include "storage/write_op.h"

struct suite;

/* The resolver: answers all pending stacks until none are left; the number of answers applied. */
size_t suite_resolve(struct suite *s);
/* One page of pending stacks as a resolution op, not applied. NULL: none. */
struct write_op *suite_resolution(struct suite *s);
#define SUITE_RULES "rules-1"
/* The key that the resolver gives to stacks of a title. */
void suite_key(const char *title, uint8_t key[16]);

/* The job of findings: of a report's samples the one whose stack shows the greatest name stands for
 * it, the last of equal ones; reports with a pending stack are told nothing. One page of at most
 * `limit` reports that are due as an op, not applied, that makes `refill` more due; NULL: none. */
struct write_op *suite_findings(struct suite *s, size_t limit, uint32_t refill);
/* Until nothing is due; the number of reports that got another stack. */
size_t suite_find(struct suite *s);

#endif
