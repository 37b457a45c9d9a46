#include "server/jobs/object_shares.h"

uint64_t object_share_of(const struct object_holder_row *rows, size_t count, uint64_t cap)
{
    uint64_t rest = 0; /* of holders from the i-th on, which stay as they are */
    for (size_t i = 0; i < count; i++)
        rest += rows[i].bytes;
    if (rest <= cap)
        return UINT64_MAX;
    for (size_t i = 0; i < count; i++) {
        rest -= rows[i].bytes;
        uint64_t next = i + 1 < count ? rows[i + 1].bytes : 0;
        uint64_t share = rest < cap ? (cap - rest) / (i + 1) : 0;
        if (share >= next)
            return share;
    }
    return 0;
}
