#include "server/http/inflate.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#define GZIP_WINDOW (15 + 16) /* gzip header and trailer only */

struct inflate {
    enum coding coding;
    uint64_t max_bytes;
    uint64_t in_total, out_total;
    bool at_start; /* between members: an end here is a clean one */
    bool any;      /* at least one member was whole */
    z_stream gzip;
    bool gzip_open;
    ZSTD_DCtx *zstd;
};

static bool token_is(const char *text, size_t len, const char *word)
{
    return len == strlen(word) && strncasecmp(text, word, len) == 0;
}

bool coding_parse(const char *header, enum coding *ret)
{
    const char *p = header ? header : "";
    p += strspn(p, " \t");
    size_t len = strcspn(p, " \t");
    if (p[len + strspn(p + len, " \t")] != 0)
        return false; /* a list: encoded twice */
    if (len == 0 || token_is(p, len, "identity"))
        *ret = CODING_NONE;
    else if (token_is(p, len, "gzip") || token_is(p, len, "x-gzip"))
        *ret = CODING_GZIP;
    else if (token_is(p, len, "zstd"))
        *ret = CODING_ZSTD;
    else
        return false;
    return true;
}

/* The weight behind a coding: absent is one, any form of zero is false. */
static bool weight_is_zero(const char *p, size_t len)
{
    const char *end = p + len;
    for (; p < end; p++) {
        if ((*p == 'q' || *p == 'Q') && p + 1 < end && p[1] == '=') {
            for (p += 2; p < end && (*p == '0' || *p == '.'); p++)
                ;
            return p == end || *p == ' ' || *p == '\t';
        }
    }
    return false;
}

bool coding_accepts_gzip(const char *header)
{
    int named = -1, any = -1; /* what "gzip" and "*" say, -1: nothing */
    for (const char *p = header ? header : ""; *p;) {
        p += strspn(p, " \t,");
        size_t len = strcspn(p, ",");
        size_t name = strcspn(p, " \t,;");
        bool yes = !weight_is_zero(p + name, len - name);
        if (token_is(p, name, "gzip") || token_is(p, name, "x-gzip"))
            named = yes;
        else if (token_is(p, name, "*"))
            any = yes;
        p += len;
    }
    return named >= 0 ? named == 1 : any == 1;
}

enum err inflate_new(enum coding coding, uint64_t max_bytes, struct inflate **ret,
                     struct error *err)
{
    struct inflate *z = calloc(1, sizeof(*z));
    if (!z)
        return error_set(err, ERR_NO_MEMORY, "no memory to inflate a body");
    z->coding = coding;
    z->max_bytes = max_bytes;
    z->at_start = true;
    if (coding == CODING_GZIP) {
        z->gzip_open = inflateInit2(&z->gzip, GZIP_WINDOW) == Z_OK;
        if (!z->gzip_open)
            goto failed;
    } else {
        z->zstd = ZSTD_createDCtx();
        if (!z->zstd ||
            ZSTD_isError(ZSTD_DCtx_setParameter(z->zstd, ZSTD_d_windowLogMax, INFLATE_WINDOW_LOG)))
            goto failed;
    }
    *ret = z;
    return ERR_OK;
failed:
    inflate_free(z);
    return error_set(err, ERR_NO_MEMORY, "no memory to inflate a body");
}

void inflate_free(struct inflate *z)
{
    if (!z)
        return;
    if (z->gzip_open)
        inflateEnd(&z->gzip);
    ZSTD_freeDCtx(z->zstd);
    free(z);
}

#define GZIP_MAGIC 2 /* bytes */

static enum err no_such_body(const char *name, struct error *err)
{
    return error_set(err, ERR_FORMAT, "Content-Encoding says %s, the body is none", name);
}

static enum err gzip_step(struct inflate *z, const uint8_t *in, size_t in_len, size_t *used,
                          uint8_t *out, size_t room, size_t *made, struct error *err)
{
    if (z->at_start && z->any && in_len > 0) { /* another member */
        if (in[0] != 0x1f)
            return error_set(err, ERR_FORMAT, "bytes after the end of the gzip body");
        inflateReset(&z->gzip);
    }
    z->gzip.next_in = (Bytef *)(uintptr_t)in; /* zlib's interface predates const */
    z->gzip.avail_in = in_len > UINT32_MAX ? UINT32_MAX : (uInt)in_len;
    z->gzip.next_out = out;
    z->gzip.avail_out = room > UINT32_MAX ? UINT32_MAX : (uInt)room;
    uInt in_before = z->gzip.avail_in, out_before = z->gzip.avail_out;
    int rc = inflate(&z->gzip, Z_NO_FLUSH);
    *used = in_before - z->gzip.avail_in;
    *made = out_before - z->gzip.avail_out;
    if (rc == Z_STREAM_END) {
        z->at_start = z->any = true;
        return ERR_OK;
    }
    if (*used > 0)
        z->at_start = false;
    if (rc == Z_OK || rc == Z_BUF_ERROR)
        return ERR_OK;
    if (rc == Z_MEM_ERROR)
        return error_set(err, ERR_NO_MEMORY, "no memory to inflate a body");
    if (!z->any && z->in_total + *used <= GZIP_MAGIC)
        return no_such_body("gzip", err);
    return error_set(err, ERR_FORMAT, "damaged gzip body at byte %" PRIu64, z->in_total + *used);
}

static enum err zstd_step(struct inflate *z, const uint8_t *in, size_t in_len, size_t *used,
                          uint8_t *out, size_t room, size_t *made, struct error *err)
{
    ZSTD_inBuffer src = {in, in_len, 0};
    ZSTD_outBuffer dst = {out, room, 0};
    size_t rc = ZSTD_decompressStream(z->zstd, &dst, &src);
    *used = src.pos;
    *made = dst.pos;
    if (ZSTD_getErrorCode(rc) == ZSTD_error_prefix_unknown && !z->any)
        return no_such_body("zstd", err);
    if (ZSTD_isError(rc))
        return error_set(err, ERR_FORMAT, "damaged zstd body at byte %" PRIu64 ": %s",
                         z->in_total + src.pos, ZSTD_getErrorName(rc));
    if (rc == 0)
        z->at_start = z->any = true;
    else if (src.pos > 0 || dst.pos > 0)
        z->at_start = false;
    return ERR_OK;
}

enum err inflate_step(struct inflate *z, const void *in, size_t in_len, size_t *ret_used, void *out,
                      size_t room, size_t *ret_out, struct error *err)
{
    size_t used = 0, made = 0;
    enum err rc = z->coding == CODING_GZIP ? gzip_step(z, in, in_len, &used, out, room, &made, err)
                                           : zstd_step(z, in, in_len, &used, out, room, &made, err);
    if (rc != ERR_OK)
        return rc;
    z->in_total += used;
    z->out_total += made;
    if (z->out_total > z->max_bytes)
        return error_set(err, ERR_LIMIT, "the inflated body is larger than %llu bytes",
                         (unsigned long long)z->max_bytes);
    if (z->out_total > INFLATE_RATIO_FROM && z->out_total / INFLATE_RATIO > z->in_total)
        return error_set(err, ERR_LIMIT, "the body inflates to more than %d times its size",
                         INFLATE_RATIO);
    *ret_used = used;
    *ret_out = made;
    return ERR_OK;
}

enum err inflate_end(const struct inflate *z, struct error *err)
{
    if (z->at_start && z->any)
        return ERR_OK;
    return error_set(err, ERR_FORMAT, "the %s body ends early, after %llu bytes",
                     z->coding == CODING_GZIP ? "gzip" : "zstd", (unsigned long long)z->in_total);
}

bool deflate_gzip(const void *in, size_t len, struct buf *out)
{
    z_stream z = {.next_in = (Bytef *)(uintptr_t)in, .avail_in = (uInt)len};
    if (len > UINT32_MAX ||
        deflateInit2(&z, 4, Z_DEFLATED, GZIP_WINDOW, 8, Z_DEFAULT_STRATEGY) != Z_OK)
        return false;
    size_t bound = deflateBound(&z, (uLong)len);
    char *room = buf_reserve(out, bound);
    bool done = false;
    if (room) {
        z.next_out = (Bytef *)room;
        z.avail_out = (uInt)bound;
        done = deflate(&z, Z_FINISH) == Z_STREAM_END;
        if (done)
            buf_grow(out, bound - z.avail_out);
    }
    deflateEnd(&z);
    return done;
}
