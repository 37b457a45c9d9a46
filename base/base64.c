#include "base/base64.h"

#include <stdint.h>

bool base64_put(struct buf *b, const void *data, size_t len)
{
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const uint8_t *p = data;
    for (size_t i = 0; i < len; i += 3) {
        size_t have = len - i < 3 ? len - i : 3;
        uint32_t v = (uint32_t)p[i] << 16;
        if (have > 1)
            v |= (uint32_t)p[i + 1] << 8;
        if (have > 2)
            v |= p[i + 2];
        const char out[4] = {letters[v >> 18], letters[v >> 12 & 63],
                             have > 1 ? letters[v >> 6 & 63] : '=',
                             have > 2 ? letters[v & 63] : '='};
        if (!buf_put(b, out, sizeof(out)))
            return false;
    }
    return true;
}
