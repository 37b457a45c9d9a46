#include "tests/support/zip_builder.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define FILE_MAX      ((size_t)64 << 20)
#define LOCAL_MAGIC   0x04034b50u
#define CENTRAL_MAGIC 0x02014b50u
#define END_MAGIC     0x06054b50u
#define DATA_MAGIC    0x08074b50u
#define FLAG_DATA     8u
#define REGULAR       0100644u
#define ZIP64_LEN     20 /* extra field: id, length, two sizes */

void zip_begin(struct zip_builder *z)
{
    buf_init(&z->file, FILE_MAX);
    buf_init(&z->directory, FILE_MAX);
    z->count = 0;
}

static size_t pack(const struct zip_member *m, struct buf *out)
{
    if (!m->deflate) {
        buf_put(out, m->data, m->len);
        return m->len;
    }
    z_stream s = {0};
    if (deflateInit2(&s, 9, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY) != Z_OK)
        abort();
    size_t room = deflateBound(&s, m->len);
    char *to = buf_reserve(out, room);
    s.next_in = (Bytef *)(uintptr_t)m->data;
    s.avail_in = (uInt)m->len;
    s.next_out = (Bytef *)to;
    s.avail_out = (uInt)room;
    if (!to || deflate(&s, Z_FINISH) != Z_STREAM_END)
        abort();
    size_t len = room - s.avail_out;
    buf_grow(out, len);
    deflateEnd(&s);
    return len;
}

/* From the version needed up to the extra field's length: the same in both headers. */
static void put_common(struct buf *b, const struct zip_member *m, uint32_t crc, size_t packed,
                       size_t size)
{
    buf_u16(b, m->zip64 ? 45 : 20);
    buf_u16(b, (uint16_t)(m->flags | (m->descriptor ? FLAG_DATA : 0)));
    buf_u16(b, m->deflate ? 8 : 0);
    buf_u32(b, 0x58210000); /* date and time */
    buf_u32(b, crc);
    buf_u32(b, m->zip64 ? 0xffffffff : (uint32_t)packed);
    buf_u32(b, m->zip64 ? 0xffffffff : (uint32_t)size);
    buf_u16(b, (uint16_t)strlen(m->name));
    buf_u16(b, m->zip64 ? ZIP64_LEN : 0);
}

static void put_zip64(struct buf *b, const struct zip_member *m, size_t packed, size_t size)
{
    if (!m->zip64)
        return;
    buf_u16(b, 1);
    buf_u16(b, ZIP64_LEN - 4);
    buf_u64(b, size);
    buf_u64(b, packed);
}

static void put_central(struct zip_builder *z, const struct zip_member *m, uint32_t crc,
                        size_t packed, size_t size, size_t at)
{
    struct buf *b = &z->directory;
    buf_u32(b, CENTRAL_MAGIC);
    buf_u16(b, 3 << 8 | 45); /* made on Unix */
    put_common(b, m, crc, packed, size);
    buf_u16(b, 0);
    buf_u16(b, 0);
    buf_u16(b, 0);
    buf_u32(b, (m->mode ? m->mode : REGULAR) << 16);
    buf_u32(b, (uint32_t)at);
    buf_put(b, m->name, strlen(m->name));
    put_zip64(b, m, packed, size);
    z->count++;
}

void zip_add(struct zip_builder *z, const struct zip_member *m)
{
    struct buf packed;
    buf_init(&packed, FILE_MAX);
    size_t at = z->file.len;
    size_t len = pack(m, &packed);
    size_t size = m->said_size ? m->said_size : m->len;
    uint32_t crc = (uint32_t)crc32(0, m->data, (uInt)m->len) ^ m->crc_xor;
    if (m->again) {
        put_central(z, m, crc, len, size, m->again_shift);
        buf_done(&packed);
        return;
    }
    buf_u32(&z->file, LOCAL_MAGIC);
    put_common(&z->file, m, m->descriptor ? 0 : crc, m->descriptor ? 0 : len,
               m->descriptor ? 0 : size);
    buf_put(&z->file, m->name, strlen(m->name));
    put_zip64(&z->file, m, len, size);
    buf_put(&z->file, packed.data, len);
    if (m->descriptor) {
        buf_u32(&z->file, DATA_MAGIC);
        buf_u32(&z->file, crc);
        buf_u32(&z->file, (uint32_t)len);
        buf_u32(&z->file, (uint32_t)size);
    }
    put_central(z, m, crc, len, size, at);
    buf_done(&packed);
}

void zip_finish(struct zip_builder *z, struct buf *out)
{
    uint32_t at = (uint32_t)z->file.len;
    buf_put(&z->file, z->directory.data, z->directory.len);
    buf_u32(&z->file, END_MAGIC);
    buf_u32(&z->file, 0);
    buf_u16(&z->file, (uint16_t)z->count);
    buf_u16(&z->file, (uint16_t)z->count);
    buf_u32(&z->file, (uint32_t)z->directory.len);
    buf_u32(&z->file, at);
    buf_u16(&z->file, 0);
    if (z->file.failed || z->directory.failed)
        abort();
    buf_done(&z->directory);
    *out = z->file;
}
