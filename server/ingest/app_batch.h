/*
 * app_batch - one app's op_batch while it grows.
 *
 * Purpose: adds stacks and images once each, by hash tables in the arena.
 *
 * Invariants: indexes given out stay valid. Threads: one. Memory: the arena's.
 */
#ifndef STALLSYM_INGEST_APP_BATCH_H
#define STALLSYM_INGEST_APP_BATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "storage/write_op.h"

/* A set of 16-byte keys, each with the index it was given. Open addressing, doubling. */
struct index_set {
    struct arena *arena;
    uint64_t seed;
    uint32_t *slots; /* index + 1 into keys; 0: empty */
    uint8_t (*keys)[16];
    size_t count, room;
};

struct app_batch {
    struct arena *arena;
    struct op_batch op;
    size_t report_room, stack_room, image_room;
    struct index_set stack_keys;
    struct index_set image_keys;
};

void app_batch_init(struct app_batch *b, struct arena *arena, const char *bundle_id);
/* NULL without memory. */
struct op_report *app_batch_report(struct app_batch *b);
/* Index of the stack; NO_STACK without memory (a failed encoding counts as that). */
uint32_t app_batch_stack(struct app_batch *b, const struct raw_stack *raw);
/* Adds the image unless its id is there already; false without memory. */
bool app_batch_image(struct app_batch *b, const struct op_image *image);

#endif
