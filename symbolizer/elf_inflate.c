#include "symbolizer/elf_inflate.h"

#include <inttypes.h>
#include <zlib.h>
#include <zstd.h>

#define PIECE ((size_t)1 << 30) /* zlib counts in 32 bits */

enum algorithm { ALGORITHM_ZLIB = 1, ALGORITHM_ZSTD = 2 };

static uInt next_piece(uint64_t left)
{
    return (uInt)(left < PIECE ? left : PIECE);
}

static enum err inflate_zlib(struct cursor in, uint8_t *out, uint64_t size, struct error *err)
{
    z_stream z = {0};
    if (inflateInit(&z) != Z_OK)
        return error_set(err, ERR_NO_MEMORY, "no memory to decompress a section");
    uint64_t done = 0;
    int status = Z_OK;
    while (status == Z_OK) {
        if (z.avail_in == 0) {
            z.avail_in = next_piece(cursor_left(&in));
            z.next_in = (Bytef *)(uintptr_t)cursor_take(&in, z.avail_in);
        }
        uInt room = next_piece(size - done);
        z.avail_out = room;
        z.next_out = out + done;
        status = inflate(&z, Z_NO_FLUSH);
        done += room - z.avail_out;
    }
    inflateEnd(&z);
    if (status != Z_STREAM_END || done != size)
        return error_set(err, ERR_FORMAT,
                         "damaged zlib data after %" PRIu64 " of %" PRIu64 " bytes", done, size);
    return ERR_OK;
}

static enum err inflate_zstd(struct cursor in, uint8_t *out, uint64_t size, struct error *err)
{
    size_t done = ZSTD_decompress(out, size, in.p, cursor_left(&in));
    if (ZSTD_isError(done))
        return error_set(err, ERR_FORMAT, "damaged zstd data: %s", ZSTD_getErrorName(done));
    if (done != size)
        return error_set(err, ERR_FORMAT, "damaged zstd data after %zu of %" PRIu64 " bytes", done,
                         size);
    return ERR_OK;
}

enum err elf_inflate(uint32_t algorithm, struct cursor in, uint8_t *out, uint64_t size,
                     struct error *err)
{
    switch (algorithm) {
    case ALGORITHM_ZLIB:
        return inflate_zlib(in, out, size, err);
    case ALGORITHM_ZSTD:
        return inflate_zstd(in, out, size, err);
    default:
        return error_set(err, ERR_UNSUPPORTED, "compressed by unknown algorithm %" PRIu32,
                         algorithm);
    }
}
