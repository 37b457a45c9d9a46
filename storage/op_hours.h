/*
 * op_hours - WRITE_HOURS_EXPIRE: the hours of old days go.
 *
 * Purpose: housekeeping walks over all stacks, `max_stacks` a call, from `after_id` 0 on until
 * `more` is false; from the first call on nobody sees hours before `before_day` any more.
 *
 * Threads, memory: as write_op.h says.
 */
#ifndef STALLSYM_STORAGE_OP_HOURS_H
#define STALLSYM_STORAGE_OP_HOURS_H

#include <stdbool.h>
#include <stdint.h>

struct op_hours_expire {
    int32_t before_day;
    uint32_t max_stacks;
    uint64_t after_id; /* in: stacks above this id; out: where the next call begins */
    bool more;         /* result */
};

#endif
