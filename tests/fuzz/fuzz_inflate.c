/*
 * fuzz_inflate - any bytes are a compressed body.
 *
 * The first byte chooses the coding and the size of the pieces. What must hold: never more bytes
 * than asked for, never past the cap, and a body in pieces gives what it gives as a whole.
 */
#include "server/http/inflate.h"
#include "tests/fuzz/fuzz.h"

#define BODY_MAX (256 * 1024)

struct outcome {
    enum err rc;
    struct buf body;
};

static void inflate_all(enum coding coding, const uint8_t *data, size_t size, size_t piece,
                        size_t room, struct outcome *o)
{
    struct inflate *z = NULL;
    struct error err = {.code = ERR_OK};
    size_t at = 0, end = 0;
    bool filled = false;
    buf_init(&o->body, BODY_MAX + 1);
    REQUIRE(inflate_new(coding, BODY_MAX, &z, NULL) == ERR_OK);
    o->rc = ERR_OK;
    while (o->rc == ERR_OK && (at < size || filled)) {
        size_t used = 0, put = 0;
        if (at == end)
            end = size - end < piece ? size : end + piece;
        char *out = malloc(room);
        REQUIRE(out);
        o->rc = inflate_step(z, data + at, end - at, &used, out, room, &put, &err);
        if (o->rc == ERR_OK) {
            REQUIRE(used <= end - at && put <= room && (used || put || filled));
            REQUIRE(buf_put(&o->body, out, put) && o->body.len <= BODY_MAX);
            at += used;
            filled = put == room;
        }
        free(out);
    }
    if (o->rc == ERR_OK)
        o->rc = inflate_end(z, &err);
    REQUIRE(o->rc == ERR_OK || (err.code == o->rc && err.text[0]));
    inflate_free(z);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct outcome whole, pieces;
    if (size < 1)
        return 0;
    enum coding coding = data[0] % 2 ? CODING_ZSTD : CODING_GZIP;
    size_t piece = (size_t)(data[0] / 2) + 1;
    inflate_all(coding, data + 1, size - 1, size, 65536, &whole);
    inflate_all(coding, data + 1, size - 1, piece, piece * 7, &pieces);
    /* libzstd lets a frame with a wrong content size through when it comes in pieces. */
    REQUIRE(coding == CODING_ZSTD || (whole.rc == ERR_OK) == (pieces.rc == ERR_OK));
    if (whole.rc == ERR_OK && pieces.rc == ERR_OK) {
        REQUIRE(whole.body.len == pieces.body.len);
        REQUIRE(!whole.body.len || memcmp(whole.body.data, pieces.body.data, whole.body.len) == 0);
    }
    buf_done(&whole.body);
    buf_done(&pieces.body);
    return 0;
}
