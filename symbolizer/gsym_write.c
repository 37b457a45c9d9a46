#include "symbolizer/gsym_write.h"

#include <string.h>

#include "symbolizer/debug_info_model.h"
#include "symbolizer/gsym_encode.h"
#include "symbolizer/gsym_format.h"
#include "symbolizer/gsym_sink.h"

#define HEAD_BYTES_MAX ((size_t)UINT32_MAX)

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

static void patch_u32(struct buf *out, size_t at, uint64_t v)
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
    if (d->function_count == 0)
        return object->text_vmaddr;
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
    uint64_t last = d->function_count ? d->functions[d->function_count - 1].start : l->base;
    l->offset_size = offset_size(last - l->base);
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
        const struct debug_file *file = &d->files[d->file_order[i]];
        buf_u32(out, d->strings.entries[file->directory].place);
        buf_u32(out, d->strings.entries[file->base].place);
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
    patch_u32(out, begin - 4, out->len - begin);
}

static bool write_function(const struct debug_info *d, const struct debug_function *f,
                           struct gsym_rows *rows, struct buf *out)
{
    uint64_t size = f->end - f->start;
    buf_u32(out, size > UINT32_MAX ? UINT32_MAX : (uint32_t)size);
    buf_u32(out, d->strings.entries[f->name].place);
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

static enum err write_functions(const struct debug_info *d, const struct layout *l,
                                struct buf *head, struct gsym_sink *sink, struct error *err)
{
    struct gsym_rows rows = {0};
    enum err code = ERR_OK;
    for (size_t i = 0; i < d->function_count && !sink->piece.failed; i++) {
        gsym_sink_align(sink, 4);
        patch_u32(head, l->info_offsets + 4 * i, gsym_sink_at(sink));
        if (!write_function(d, &d->functions[i], &rows, &sink->piece)) {
            code = error_set(err, ERR_NO_MEMORY, "no memory for line rows");
            break;
        }
        gsym_sink_flush(sink);
    }
    gsym_rows_done(&rows);
    return code;
}

/* As string_table_settle() has laid it out. */
static void write_strings(const struct string_table *t, struct gsym_sink *sink)
{
    for (int local = 0; local < 2; local++) {
        for (size_t e = 0; e < t->count; e++) {
            if (t->entries[e].is_local == local)
                gsym_sink_put(sink, t->entries[e].text, (size_t)t->entries[e].length + 1);
        }
    }
}

static void write_footer(const struct object_info *object, uint64_t blocks, const struct buf *head,
                         struct gsym_sink *sink)
{
    struct buf *out = &sink->piece;
    buf_u32(out, GSYM_FOOTER_MAGIC);
    buf_u16(out, GSYM_FOOTER_VERSION);
    buf_u16(out, object->has_dwarf ? GSYM_FLAG_HAS_DWARF : 0);
    buf_u32(out, (uint32_t)blocks);
    buf_u64(out, object->text_vmaddr);
    buf_u64(out, object->text_size);
    uint32_t crc = gsym_sink_crc(sink, head);
    buf_u32(out, crc);
}

/* Everything behind the tables; fills in what the head has left open. */
static enum err write_body(const struct debug_info *d, const struct object_info *object,
                           const struct layout *l, struct buf *head, struct gsym_sink *sink,
                           struct error *err)
{
    enum err code = write_functions(d, l, head, sink, err);
    if (code)
        return code;
    patch_u32(head, 20, gsym_sink_at(sink));
    patch_u32(head, 24, d->strings.size);
    write_strings(&d->strings, sink);
    gsym_sink_align(sink, 4);
    uint64_t blocks = gsym_sink_at(sink);
    buf_u32(&sink->piece, d->strings.locals);
    write_footer(object, blocks, head, sink);
    return ERR_OK;
}

enum err gsym_write(const struct debug_info *d, const struct object_info *object, const char *path,
                    uint64_t *ret_bytes, struct error *err)
{
    struct buf head;
    struct layout l;
    struct gsym_sink sink;
    if (d->function_count > UINT32_MAX / 8)
        return error_set(err, ERR_LIMIT, "%zu functions are too many", d->function_count);
    buf_init(&head, HEAD_BYTES_MAX);
    write_header(d, object, &l, &head);
    write_tables(d, &l, &head);
    enum err code = gsym_sink_open(&sink, path, head.len, err);
    if (code)
        goto out;
    code = write_body(d, object, &l, &head, &sink, err);
    if (!code)
        code = gsym_sink_finish(&sink, &head, ret_bytes, err);
    else
        gsym_sink_abort(&sink);
out:
    buf_done(&head);
    return code;
}
