/*
 * stand_ins - takes symbol files of the same version and build for those that never came.
 *
 * Purpose: `[symbols] approximate = yes`. What a person would accept by hand (op_stand_ins.h) is
 * accepted for images of apps that reports waited for long enough, where a candidate is of the very
 * version and build.
 *
 * Invariants: never replaces a stand-in that is there; bounded by STAND_IN_PAGES pages a look.
 *
 * Threads: the caller's; waits for the writer. Memory: none is kept.
 */
#ifndef STALLSYM_JOBS_STAND_INS_H
#define STALLSYM_JOBS_STAND_INS_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "server/jobs/writer.h"
#include "storage/storage.h"

#define STAND_IN_PAGES 20

/* For images whose first report is older than `before_ms`. */
enum err stand_ins_choose(struct storage *storage, struct writer *writer, int64_t before_ms,
                          int64_t now_ms, size_t *ret_chosen, struct error *err);

#endif
