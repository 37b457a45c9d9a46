/*
 * format_native_stack - stacks, samples, threads and images of the native format.
 *
 * Purpose: the lower half of format_native.
 *
 * Invariants: on refusal `f` says where and why, and false is returned. Frames come out innermost
 * first, kinds decided: the first one leaf, others return, unless the frame says otherwise.
 *
 * Threads: one. Memory: the intake's arena.
 */
#ifndef STALLSYM_INGEST_FORMAT_NATIVE_STACK_H
#define STALLSYM_INGEST_FORMAT_NATIVE_STACK_H

#include "server/ingest/intake.h"
#include "server/jobs/json_text.h"

/* `value` an array of frames or a string of addresses. `at` is its path. */
bool native_stack(struct intake *in, struct fields *f, json_t *value, const char *at,
                  bool outermost_first, struct report_stack *ret);
bool native_samples(struct intake *in, struct fields *f, json_t *array, int64_t interval_ms,
                    bool outermost_first, struct report *r);
bool native_threads(struct intake *in, struct fields *f, json_t *array, bool outermost_first,
                    struct report *r);
/* `array` the value of "images"; `ret` is zeroed before. */
bool native_images(struct intake *in, struct fields *f, json_t *array, const char *at,
                   struct report_images *ret);
/* Lists what of them was not taken as it came (empty UUIDs, long texts) as dropped of the newest
 * report, once for a list of images (or NULL). */
void native_tell_images(struct intake *in, struct report_images *images);

#endif
