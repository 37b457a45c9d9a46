/*
 * ops - write ops as the door would make them, for tests of the threads beside it.
 *
 * Purpose: one report with one stack, one token, one upload; and waiting for a count of answers.
 *
 * Threads: answers may be awaited from any. Memory: as write_op.h says.
 */
#ifndef STALLSYM_TESTS_OPS_H
#define STALLSYM_TESTS_OPS_H

#include <pthread.h>
#include <stdint.h>

#include "base/stack.h"
#include "storage/write_op.h"

#define OPS_TIME_MS INT64_C(1764450000000) /* when test reports happen */

/* A batch of one report, id `report_id`, of app `bundle_id`. The images are copied. */
struct write_op *ops_report(const char *bundle_id, const char *report_id,
                            const struct raw_frame *frames, size_t frame_count,
                            const struct op_image *images, size_t image_count);
/* A token whose hash is made of `n`. */
struct write_op *ops_token(uint32_t n);
/* A change that storage refuses: there is no such upload. */
struct write_op *ops_refused(void);

/* Counts answers; `done` is a write_op.done for ops whose `user` is this. Frees the ops. */
struct ops_tally {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    size_t done;
    size_t failed;
    struct error last;
};
void ops_tally_init(struct ops_tally *t);
void ops_tally_done(struct write_op *op, enum err rc, const struct error *err);
void ops_tally_wait(struct ops_tally *t, size_t done);

#endif
