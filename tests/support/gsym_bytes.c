#include "tests/support/gsym_bytes.h"

#include <string.h>
#include <zlib.h>

#include "symbolizer/gsym_format.h"

uint32_t gsym_bytes_name(const struct gsym_bytes *g, size_t i)
{
    uint32_t at = 1;
    for (size_t k = 0; k < i; k++)
        at += (uint32_t)strlen(g->names[k]) + 1;
    return at;
}

static void align(struct buf *b, size_t to)
{
    while (b->len % to)
        buf_u8(b, 0);
}

static uint32_t add_string(struct buf *strings, const char *s)
{
    uint32_t at = (uint32_t)strings->len;
    if (!s || !s[0])
        return 0;
    buf_put(strings, s, strlen(s) + 1);
    return at;
}

static void add_info(struct buf *out, uint32_t type, const void *data, size_t len)
{
    if (!data)
        return;
    buf_u32(out, type);
    buf_u32(out, (uint32_t)len);
    buf_put(out, data, len);
}

static void patch_u32(struct buf *out, size_t at, uint32_t v)
{
    memcpy(out->data + at, &v, sizeof(v));
}

static void add_footer(const struct gsym_bytes *g, uint32_t locals, struct buf *out)
{
    align(out, 4);
    uint32_t blocks = (uint32_t)out->len;
    buf_u32(out, locals);
    buf_u32(out, GSYM_FOOTER_MAGIC);
    buf_u16(out, GSYM_FOOTER_VERSION);
    buf_u16(out, GSYM_FLAG_HAS_DWARF);
    buf_u32(out, blocks);
    buf_u64(out, g->text_vmaddr);
    buf_u64(out, g->text_size);
    buf_u32(out, (uint32_t)crc32_z(0, (const void *)out->data, out->len));
}

void gsym_bytes_make(const struct gsym_bytes *g, struct buf *out)
{
    struct buf strings;
    uint32_t names[256];
    buf_init(&strings, 1 << 20);
    buf_u8(&strings, 0);
    for (size_t i = 0; i < g->name_count; i++)
        add_string(&strings, g->names[i]);

    buf_u32(out, GSYM_MAGIC);
    buf_u16(out, GSYM_VERSION);
    buf_u8(out, g->offset_size);
    buf_u8(out, 16);
    buf_u64(out, g->base);
    buf_u32(out, (uint32_t)g->function_count);
    buf_u32(out, 0);
    buf_u32(out, 0);
    buf_put(out, g->uuid.bytes, 16);
    buf_u32(out, 0);
    align(out, g->offset_size);
    for (size_t i = 0; i < g->function_count; i++) {
        uint64_t offset = g->functions[i].address - g->base;
        buf_put(out, &offset, g->offset_size);
    }
    align(out, 4);
    size_t records = out->len;
    for (size_t i = 0; i < g->function_count; i++)
        buf_u32(out, 0);
    buf_u32(out, (uint32_t)g->file_count + 1);
    buf_u64(out, 0);
    for (size_t i = 0; i < g->file_count; i++) {
        buf_u32(out, add_string(&strings, g->files[i].directory));
        buf_u32(out, add_string(&strings, g->files[i].base));
    }
    uint32_t locals = 0;
    for (int local = 0; local < 2; local++) {
        locals = (uint32_t)strings.len;
        for (size_t i = 0; i < g->function_count; i++) {
            if (!!g->functions[i].local == local)
                names[i] = add_string(&strings, g->functions[i].name);
        }
    }
    for (size_t i = 0; i < g->function_count; i++) {
        const struct gsym_bytes_function *f = &g->functions[i];
        align(out, 4);
        patch_u32(out, records + 4 * i, (uint32_t)out->len);
        buf_u32(out, f->size);
        buf_u32(out, names[i]);
        add_info(out, 9, f->unknown, f->unknown_len);
        add_info(out, GSYM_INFO_LINE_TABLE, f->lines, f->lines_len);
        add_info(out, GSYM_INFO_INLINE, f->inlines, f->inlines_len);
        buf_u64(out, 0);
    }
    patch_u32(out, 20, (uint32_t)out->len);
    patch_u32(out, 24, (uint32_t)strings.len);
    buf_put(out, strings.data, strings.len);
    buf_done(&strings);
    if (g->footer)
        add_footer(g, locals, out);
}
