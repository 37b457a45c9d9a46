/* fuzz_inflate - any bytes are a compressed body; the caps hold. First byte: which coding. */
#include <stdint.h>
#include <stdlib.h>

#include "server/http/inflate.h"

#define CAP 100000

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t out[1000];
    struct inflate *z = NULL;
    struct error err;
    uint64_t made = 0;
    size_t at = 1;
    bool full = true;
    if (size < 1 || inflate_new(data[0] & 1 ? CODING_GZIP : CODING_ZSTD, CAP, &z, &err) != ERR_OK)
        return 0;
    enum err rc = ERR_OK;
    while (rc == ERR_OK && (at < size || full)) {
        size_t used = 0, n = 0;
        rc = inflate_step(z, data + at, size - at, &used, out, sizeof(out), &n, &err);
        if (rc != ERR_OK)
            break;
        at += used;
        made += n;
        if (used > size || n > sizeof(out) || made > CAP)
            abort();
        full = n == sizeof(out);
        if (used == 0 && n == 0)
            break;
    }
    if (rc == ERR_OK)
        inflate_end(z, &err);
    inflate_free(z);
    return 0;
}
