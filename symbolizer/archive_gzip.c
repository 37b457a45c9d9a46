#include "symbolizer/archive_gzip.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#ifndef WINDOW /* the fuzz target's is smaller */
#define WINDOW ((size_t)256 << 10)
#endif
#define WBITS_GZIP (15 + 16) /* zlib: the largest window, with a gzip header and trailer */

struct archive_gzip {
    int fd;
    z_stream z;
    bool started; /* z is initialised */
    bool in_member;
    bool file_ended;
    uint8_t in[WINDOW];
    uint8_t out[WINDOW];
};

enum err archive_gzip_open(int fd, struct archive_gzip **ret, struct error *err)
{
    struct archive_gzip *g = calloc(1, sizeof(*g));
    if (!g)
        return error_set(err, ERR_NO_MEMORY, "no memory to decompress");
    g->fd = fd;
    if (inflateInit2(&g->z, WBITS_GZIP) != Z_OK) {
        free(g);
        return error_set(err, ERR_NO_MEMORY, "no memory to decompress");
    }
    g->started = true;
    g->in_member = true;
    *ret = g;
    return ERR_OK;
}

void archive_gzip_close(struct archive_gzip *g)
{
    if (!g)
        return;
    if (g->started)
        inflateEnd(&g->z);
    free(g);
}

static enum err fill(struct archive_gzip *g, struct error *err)
{
    if (g->z.avail_in > 0 || g->file_ended)
        return ERR_OK;
    ssize_t n;
    do
        n = read(g->fd, g->in, sizeof(g->in));
    while (n < 0 && errno == EINTR);
    if (n < 0)
        return error_errno(err, errno, "cannot read the upload");
    g->file_ended = n == 0;
    g->z.next_in = g->in;
    g->z.avail_in = (uInt)n;
    return ERR_OK;
}

/* Between members: another one, or zeros up to the end of the file. */
static enum err next_member(struct archive_gzip *g, bool *ret_end, struct error *err)
{
    for (;;) {
        enum err e = fill(g, err);
        if (e != ERR_OK)
            return e;
        if (g->z.avail_in == 0) {
            *ret_end = true;
            return ERR_OK;
        }
        if (*g->z.next_in == 0) {
            g->z.next_in++;
            g->z.avail_in--;
            continue;
        }
        if (*g->z.next_in != 0x1f)
            return error_set(err, ERR_FORMAT, "bytes that are not gzip follow the gzip stream");
        inflateReset(&g->z);
        g->in_member = true;
        *ret_end = false;
        return ERR_OK;
    }
}

enum err archive_gzip_read(struct archive_gzip *g, const void **ret, size_t *ret_len,
                           struct error *err)
{
    g->z.next_out = g->out;
    g->z.avail_out = sizeof(g->out);
    while (g->z.avail_out > 0) {
        bool end = false;
        enum err e = g->in_member ? fill(g, err) : next_member(g, &end, err);
        if (e != ERR_OK)
            return e;
        if (end)
            break;
        if (g->z.avail_in == 0)
            return error_set(err, ERR_FORMAT, "the gzip stream is cut off");
        int status = inflate(&g->z, Z_NO_FLUSH);
        if (status == Z_STREAM_END)
            g->in_member = false;
        else if (status == Z_MEM_ERROR)
            return error_set(err, ERR_NO_MEMORY, "no memory to decompress");
        else if (status != Z_OK && status != Z_BUF_ERROR)
            return error_set(err, ERR_FORMAT, "the gzip stream is damaged%s%s",
                             g->z.msg ? ": " : "", g->z.msg ? g->z.msg : "");
    }
    *ret = g->out;
    *ret_len = sizeof(g->out) - g->z.avail_out;
    return ERR_OK;
}
