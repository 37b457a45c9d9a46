#include "symbolizer/gsym_write.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "symbolizer/debug_info_model.h"
#include "symbolizer/gsym_encode.h"
#include "symbolizer/gsym_format.h"
#include "symbolizer/gsym_names.h"

#define FILE_BYTES_MAX ((size_t)UINT32_MAX)

/* Where the tables of the file being made lie. */
struct layout {
    uint64_t base;
    size_t offset_size;
    size_t info_offsets; /* place of the table that is filled while functions are written */
};

static void align(struct buf *out, size_t to)
{
    while (out->len % to && !out->failed)
        buf_u8(out, 0);
}

static void patch_u32(struct buf *out, size_t at, uint32_t v)
{
    if (out->failed)
        return;
    for (size_t i = 0; i < 4; i++)
        out->data[at + i] = (char)(v >> (8 * i));
}

static size_t offset_size(uint64_t spread)
{
    if (spread <= UINT8_MAX)
        return 1;
    if (spread <= UINT16_MAX)
        return 2;
    return spread <= UINT32_MAX ? 4 : 8;
}

/* LLVM takes the image's base, too, so that offsets are those of the image. */
static uint64_t base_address(const struct debug_info *d, const struct object_info *object)
{
    uint64_t first = d->functions[0].start;
    return object->text_vmaddr < first ? object->text_vmaddr : first;
}

static void write_header(const struct debug_info *d, const struct object_info *object,
                         struct layout *l, struct buf *out)
{
    const uint8_t *id = object->uuid.bytes;
    size_t id_size = sizeof(object->uuid.bytes);
    uint8_t uuid[GSYM_UUID_MAX] = {0};
    if (object->build_id_len > 0) {
        id = object->build_id;
        id_size = object->build_id_len < GSYM_UUID_MAX ? object->build_id_len : GSYM_UUID_MAX;
    }
    memcpy(uuid, id, id_size);
    l->base = base_address(d, object);
    l->offset_size = offset_size(d->functions[d->function_count - 1].start - l->base);
    buf_u32(out, GSYM_MAGIC);
    buf_u16(out, GSYM_VERSION);
    buf_u8(out, (uint8_t)l->offset_size);
    buf_u8(out, (uint8_t)id_size);
    buf_u64(out, l->base);
    buf_u32(out, (uint32_t)d->function_count);
    buf_u32(out, 0); /* string table: patched */
    buf_u32(out, 0);
    buf_put(out, uuid, sizeof(uuid));
}

static void write_tables(const struct debug_info *d, struct layout *l, struct buf *out)
{
    align(out, l->offset_size);
    for (size_t i = 0; i < d->function_count; i++) {
        uint64_t offset = d->functions[i].start - l->base;
        switch (l->offset_size) {
        case 1:
            buf_u8(out, (uint8_t)offset);
            break;
        case 2:
            buf_u16(out, (uint16_t)offset);
            break;
        case 4:
            buf_u32(out, (uint32_t)offset);
            break;
        default:
            buf_u64(out, offset);
            break;
        }
    }
    align(out, 4);
    l->info_offsets = out->len;
    for (size_t i = 0; i < d->function_count; i++)
        buf_u32(out, 0);
    align(out, 4);
    buf_u32(out, (uint32_t)d->file_count);
    for (size_t i = 0; i < d->file_count; i++) {
        buf_u32(out, d->strings.entries[d->files[i].directory].offset);
        buf_u32(out, d->strings.entries[d->files[i].base].offset);
    }
}

static size_t begin_info(struct buf *out, uint32_t type)
{
    buf_u32(out, type);
    buf_u32(out, 0);
    return out->len;
}

static void end_info(struct buf *out, size_t begin)
{
    patch_u32(out, begin - 4, (uint32_t)(out->len - begin));
}

static bool write_function(const struct debug_info *d, const struct debug_function *f,
                           struct gsym_rows *rows, struct buf *out)
{
    uint64_t size = f->end - f->start;
    buf_u32(out, size > UINT32_MAX ? UINT32_MAX : (uint32_t)size);
    buf_u32(out, d->strings.entries[f->name].offset);
    if (!gsym_rows_of(d, f, rows))
        return false;
    if (rows->count > 0) {
        size_t begin = begin_info(out, GSYM_INFO_LINE_TABLE);
        gsym_encode_lines(rows, f->start, out);
        end_info(out, begin);
    }
    size_t before = out->len;
    size_t begin = begin_info(out, GSYM_INFO_INLINE);
    if (gsym_encode_inlines(d, f, out))
        end_info(out, begin);
    else if (!out->failed)
        out->len = before;
    buf_u32(out, GSYM_INFO_END);
    buf_u32(out, 0);
    return true;
}

static enum err write_functions(const struct debug_info *d, const struct layout *l, struct buf *out,
                                struct error *err)
{
    struct gsym_rows rows = {0};
    enum err code = ERR_OK;
    for (size_t i = 0; i < d->function_count && !out->failed; i++) {
        align(out, 4);
        patch_u32(out, l->info_offsets + 4 * i, (uint32_t)out->len);
        if (!write_function(d, &d->functions[i], &rows, out)) {
            code = error_set(err, ERR_NO_MEMORY, "no memory for line rows");
            break;
        }
    }
    gsym_rows_done(&rows);
    return code;
}

static void write_footer(const struct debug_info *d, const struct object_info *object,
                         size_t blocks, struct buf *out)
{
    (void)d;
    buf_u32(out, GSYM_FOOTER_MAGIC);
    buf_u16(out, GSYM_FOOTER_VERSION);
    buf_u16(out, object->has_dwarf ? GSYM_FLAG_HAS_DWARF : 0);
    buf_u32(out, (uint32_t)blocks);
    buf_u64(out, object->text_vmaddr);
    buf_u64(out, object->text_size);
    uLong crc = crc32(0, NULL, 0);
    for (size_t done = 0; done < out->len;) {
        size_t n = out->len - done < (1u << 30) ? out->len - done : (1u << 30);
        crc = crc32(crc, (const Bytef *)out->data + done, (uInt)n);
        done += n;
    }
    buf_u32(out, (uint32_t)crc);
}

static enum err encode(const struct debug_info *d, const struct object_info *object,
                       const struct parallel_for *parallel, struct buf *out, struct error *err)
{
    struct layout l;
    write_header(d, object, &l, out);
    write_tables(d, &l, out);
    enum err code = write_functions(d, &l, out, err);
    if (code)
        return code;
    if (!out->failed) {
        patch_u32(out, 20, (uint32_t)out->len);
        patch_u32(out, 24, (uint32_t)d->strings.bytes.len);
    }
    buf_put(out, d->strings.bytes.data, d->strings.bytes.len);
    align(out, 4);
    size_t blocks = out->len;
    code = gsym_names_write(&d->strings, parallel, out, err);
    if (code)
        return code;
    write_footer(d, object, blocks, out);
    return out->failed ? error_set(err, ERR_LIMIT, "index passes 4 GB, or no memory") : ERR_OK;
}

static enum err write_file(const char *path, const struct buf *bytes, struct error *err)
{
    enum err code = ERR_OK;
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (fd < 0)
        return error_errno(err, errno, "cannot create %s", path);
    for (size_t done = 0; done < bytes->len;) {
        ssize_t n = write(fd, bytes->data + done, bytes->len - done);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            code = error_errno(err, n < 0 ? errno : EIO, "cannot write %s", path);
            goto out;
        }
        done += (size_t)n;
    }
    if (fsync(fd) != 0)
        code = error_errno(err, errno, "cannot sync %s", path);
out:
    if (close(fd) != 0 && !code)
        code = error_errno(err, errno, "cannot close %s", path);
    if (code)
        unlink(path);
    return code;
}

enum err gsym_write(const struct debug_info *d, const struct object_info *object, const char *path,
                    const struct parallel_for *parallel, uint64_t *ret_bytes, struct error *err)
{
    struct buf out;
    if (d->function_count == 0)
        return error_set(err, ERR_NOT_FOUND, "no functions: neither DWARF nor a symbol table");
    if (d->function_count > UINT32_MAX)
        return error_set(err, ERR_LIMIT, "more than %u functions", UINT32_MAX);
    buf_init(&out, FILE_BYTES_MAX);
    enum err code = encode(d, object, parallel, &out, err);
    if (!code)
        code = write_file(path, &out, err);
    if (!code)
        *ret_bytes = out.len;
    buf_done(&out);
    return code;
}
