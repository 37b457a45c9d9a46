#include "symbolizer/gsym_sink.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#define FILE_BYTES_MAX ((uint64_t)UINT32_MAX)
#define PIECE_BYTES    ((size_t)256 * 1024)

enum err gsym_sink_open(struct gsym_sink *s, const char *path, uint64_t head_len, struct error *err)
{
    memset(s, 0, sizeof(*s));
    buf_init(&s->piece, FILE_BYTES_MAX);
    s->path = path;
    s->head_len = head_len;
    s->fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NONBLOCK, 0644);
    if (s->fd < 0)
        return error_errno(err, errno, "cannot create %s", path);
    /* What is removed after a failure must be a file of ours, never a device or a pipe. */
    struct stat st;
    if (fstat(s->fd, &st) == 0 && S_ISREG(st.st_mode))
        return ERR_OK;
    close(s->fd);
    s->fd = -1;
    return error_set(err, ERR_INVALID, "%s is no regular file", path);
}

uint64_t gsym_sink_at(const struct gsym_sink *s)
{
    return s->head_len + s->flushed + s->piece.len;
}

void gsym_sink_align(struct gsym_sink *s, size_t to)
{
    while (gsym_sink_at(s) % to && !s->piece.failed)
        buf_u8(&s->piece, 0);
}

static void write_at(struct gsym_sink *s, const char *data, size_t len, uint64_t at)
{
    while (len > 0 && s->error.code == ERR_OK) {
        ssize_t n = pwrite(s->fd, data, len, (off_t)at);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            error_errno(&s->error, n < 0 ? errno : EIO, "cannot write the index");
            return;
        }
        data += n;
        len -= (size_t)n;
        at += (uint64_t)n;
    }
}

/* zlib counts in 32 bits. */
static uint32_t crc_of(uint32_t crc, const char *data, size_t len)
{
    uLong sum = crc;
    while (len > 0) {
        size_t n = len < ((size_t)1 << 30) ? len : (size_t)1 << 30;
        sum = crc32(sum, (const Bytef *)data, (uInt)n);
        data += n;
        len -= n;
    }
    return (uint32_t)sum;
}

static void write_body(struct gsym_sink *s, const char *data, size_t len)
{
    if (s->error.code != ERR_OK)
        return;
    if (len > FILE_BYTES_MAX - s->head_len - s->flushed) {
        error_set(&s->error, ERR_LIMIT, "index passes 4 GB");
        return;
    }
    write_at(s, data, len, s->head_len + s->flushed);
    s->crc = crc_of(s->crc, data, len);
    s->flushed += len;
}

static void flush_all(struct gsym_sink *s)
{
    if (s->piece.failed && s->error.code == ERR_OK)
        error_set(&s->error, ERR_LIMIT, "index passes 4 GB, or no memory");
    if (s->piece.len > 0)
        write_body(s, s->piece.data, s->piece.len);
    buf_clear(&s->piece);
}

void gsym_sink_flush(struct gsym_sink *s)
{
    if (s->piece.failed || s->piece.len >= PIECE_BYTES)
        flush_all(s);
}

void gsym_sink_put(struct gsym_sink *s, const void *data, size_t len)
{
    if (len < PIECE_BYTES) {
        buf_put(&s->piece, data, len);
        gsym_sink_flush(s);
        return;
    }
    flush_all(s);
    write_body(s, data, len);
}

uint32_t gsym_sink_crc(struct gsym_sink *s, const struct buf *head)
{
    flush_all(s);
    uint32_t crc = crc_of(0, head->data, head->len);
    return (uint32_t)crc32_combine(crc, s->crc, (z_off_t)s->flushed);
}

enum err gsym_sink_finish(struct gsym_sink *s, const struct buf *head, uint64_t *ret_bytes,
                          struct error *err)
{
    flush_all(s);
    if (head->failed && s->error.code == ERR_OK)
        error_set(&s->error, ERR_NO_MEMORY, "no memory for the tables of the index");
    write_at(s, head->data, head->len, 0);
    if (close(s->fd) != 0 && s->error.code == ERR_OK)
        error_errno(&s->error, errno, "cannot write the index");
    s->fd = -1;
    buf_done(&s->piece);
    if (s->error.code != ERR_OK) {
        unlink(s->path);
        return error_set(err, s->error.code, "%s", s->error.text);
    }
    *ret_bytes = s->head_len + s->flushed;
    return ERR_OK;
}

void gsym_sink_abort(struct gsym_sink *s)
{
    buf_done(&s->piece);
    if (s->fd < 0)
        return;
    close(s->fd);
    s->fd = -1;
    unlink(s->path);
}
