#include "server/jobs/object_shares.h"

/* What is left when nobody has more than `share`, but for what stays. */
static uint64_t left_by(const struct object_holder_row *rows, size_t count, uint64_t share)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < count; i++) {
        uint64_t most = rows[i].fixed > share ? rows[i].fixed : share;
        sum += rows[i].bytes < most ? rows[i].bytes : most;
    }
    return sum;
}

uint64_t object_share_of(const struct object_holder_row *rows, size_t count, uint64_t cap)
{
    uint64_t low = 0, high = cap; /* nobody is left with more than all may have */
    if (left_by(rows, count, UINT64_MAX) <= cap)
        return UINT64_MAX;
    while (low < high) {
        uint64_t middle = high - (high - low) / 2;
        if (left_by(rows, count, middle) <= cap)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}
