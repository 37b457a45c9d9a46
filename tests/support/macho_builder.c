#include "tests/support/macho_builder.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"

#define FILE_MAX ((size_t)64 << 20)

const uint8_t SAMPLE_UUID[16] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};

static void put(struct buf *b, bool big, uint64_t value, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        size_t shift = 8 * (big ? bytes - 1 - i : i);
        buf_u8(b, (uint8_t)(value >> shift));
    }
}

static void word(struct macho_builder *b, uint32_t value)
{
    put(&b->commands, b->big, value, 4);
}

static void address(struct macho_builder *b, uint64_t value)
{
    put(&b->commands, b->big, value, b->is64 ? 8 : 4);
}

static void name16(struct macho_builder *b, const char *name)
{
    char bytes[16] = {0};
    memcpy(bytes, name, strnlen(name, sizeof(bytes)));
    buf_put(&b->commands, bytes, sizeof(bytes));
}

static void command(struct macho_builder *b, uint32_t cmd, uint32_t size)
{
    word(b, cmd);
    word(b, size);
    b->count++;
}

void macho_begin(struct macho_builder *b, bool is64, bool big, uint32_t cputype,
                 uint32_t cpusubtype, uint32_t filetype)
{
    memset(b, 0, sizeof(*b));
    buf_init(&b->commands, MACHO_DATA_AT);
    buf_init(&b->data, FILE_MAX);
    b->is64 = is64;
    b->big = big;
    b->cputype = cputype;
    b->cpusubtype = cpusubtype;
    b->filetype = filetype;
}

uint32_t macho_data(struct macho_builder *b, const void *data, size_t len)
{
    size_t at = MACHO_DATA_AT + b->data.len;
    buf_put(&b->data, data, len);
    return (uint32_t)at;
}

void macho_uuid(struct macho_builder *b, const uint8_t uuid[16])
{
    command(b, LC_UUID, 24);
    buf_put(&b->commands, uuid, 16);
}

void macho_segment(struct macho_builder *b, const char *name, uint64_t vmaddr, uint64_t vmsize,
                   uint64_t offset, uint64_t size, const struct macho_section *sections,
                   uint32_t count)
{
    uint32_t head = b->is64 ? 72 : 56;
    uint32_t each = b->is64 ? 80 : 68;
    command(b, b->is64 ? LC_SEGMENT_64 : LC_SEGMENT, head + each * count);
    name16(b, name);
    address(b, vmaddr);
    address(b, vmsize);
    address(b, offset);
    address(b, size);
    word(b, 7);
    word(b, 5);
    word(b, count);
    word(b, 0);
    for (uint32_t i = 0; i < count; i++) {
        const struct macho_section *s = &sections[i];
        name16(b, s->name);
        name16(b, s->segment);
        address(b, s->address);
        address(b, s->size);
        word(b, s->offset);
        word(b, 2);
        word(b, 0);
        word(b, 0);
        word(b, s->flags);
        word(b, 0);
        word(b, 0);
        if (b->is64)
            word(b, 0);
    }
}

void macho_symtab(struct macho_builder *b, const struct macho_symbol *symbols, uint32_t count)
{
    struct buf strings, entries;
    buf_init(&strings, FILE_MAX);
    buf_init(&entries, FILE_MAX);
    buf_u8(&strings, 0);
    for (uint32_t i = 0; i < count; i++) {
        put(&entries, b->big, strings.len, 4);
        buf_put(&strings, symbols[i].name, strlen(symbols[i].name) + 1);
        buf_u8(&entries, symbols[i].type);
        buf_u8(&entries, 1);
        put(&entries, b->big, 0, 2);
        put(&entries, b->big, symbols[i].address, b->is64 ? 8 : 4);
    }
    command(b, LC_SYMTAB, 24);
    word(b, macho_data(b, entries.data, entries.len));
    word(b, count);
    word(b, macho_data(b, strings.data, strings.len));
    word(b, (uint32_t)strings.len);
    buf_done(&strings);
    buf_done(&entries);
}

void macho_starts(struct macho_builder *b, const void *uleb, uint32_t len)
{
    command(b, LC_FUNCTION_STARTS, 16);
    word(b, macho_data(b, uleb, len));
    word(b, len);
}

void macho_id_dylib(struct macho_builder *b, const char *path)
{
    uint32_t len = (uint32_t)(strlen(path) / 8 + 1) * 8;
    command(b, LC_ID_DYLIB, 24 + len);
    word(b, 24);
    word(b, 0);
    word(b, 0);
    word(b, 0);
    buf_put(&b->commands, path, strlen(path));
    for (size_t i = strlen(path); i < len; i++)
        buf_u8(&b->commands, 0);
}

void macho_finish(struct macho_builder *b, struct buf *out)
{
    buf_init(out, FILE_MAX);
    put(out, b->big, b->is64 ? MH_MAGIC_64 : MH_MAGIC, 4);
    put(out, b->big, b->cputype, 4);
    put(out, b->big, b->cpusubtype, 4);
    put(out, b->big, b->filetype, 4);
    put(out, b->big, b->count, 4);
    put(out, b->big, b->commands.len, 4);
    put(out, b->big, 0, b->is64 ? 8 : 4);
    buf_put(out, b->commands.data, b->commands.len);
    while (out->len < MACHO_DATA_AT)
        buf_u8(out, 0);
    buf_put(out, b->data.data, b->data.len);
    if (out->failed || b->commands.failed || b->data.failed)
        abort();
    buf_done(&b->commands);
    buf_done(&b->data);
}

void macho_sample_of(struct buf *out, bool is64, bool big, uint32_t cputype, uint32_t cpusubtype,
                     uint32_t filetype, const uint8_t *uuid)
{
    struct macho_builder b;
    uint64_t base = is64 ? 0x100000000 : 0x4000;
    uint32_t code = S_ATTR_PURE_INSTRUCTIONS | S_ATTR_SOME_INSTRUCTIONS;
    macho_begin(&b, is64, big, cputype, cpusubtype, filetype);
    if (uuid)
        macho_uuid(&b, uuid);
    const struct macho_symbol symbols[] = {
        {"_beta", N_SECT, base + 0x1100},
        {"_alpha", N_SECT | N_EXT, base + 0x1000},
        {"__start", N_SECT | N_PEXT, base + 0x1200},
        {"__mh_execute_header", N_SECT | N_EXT, base}, /* no function */
        {"_undefined", N_EXT, 0},
        {"_absolute", 0x02 | N_EXT, base + 0x1010},
        {"/src/main.c", 0x64, base + 0x1000}, /* N_SO */
        {"_data", N_SECT | N_EXT, base + 0x9000},
    };
    macho_symtab(&b, symbols, sizeof(symbols) / sizeof(symbols[0]));
    const struct macho_section text[] = {
        {"__text", "__TEXT", base + 0x1000, 0x300, 0, code},
        {"__stubs", "__TEXT", base + 0x1300, 0x20, 0, code | 8},
        {"__const", "__TEXT", base + 0x1320, 0x100, 0x7fffffff, 0},
    };
    macho_segment(&b, "__TEXT", base, 0x2000, 0x7fff0000, 0x2000, text, 3);
    uint32_t info = macho_data(&b, "info", 4);
    uint32_t offsets = macho_data(&b, "offsets", 7);
    const struct macho_section dwarf[] = {
        {"__debug_info", "__DWARF", 0, 4, info, 0},
        {"__debug_str_offs", "__DWARF", 0, 7, offsets, 0},
        {"__debug_line", "__DWARF", 0, 0, 0xffffffff, 0}, /* empty: its offset means nothing */
    };
    macho_segment(&b, "__DWARF", base + 0x100000, 0x1000, info, 11, dwarf, 3);
    macho_finish(&b, out);
}

void macho_sample(struct buf *out)
{
    macho_sample_of(out, true, false, CPU_TYPE_ARM64, 0, MH_DSYM, SAMPLE_UUID);
}

void macho_fat(struct buf *out, bool is64, bool little, const struct macho_slice *slices,
               uint32_t count)
{
    bool big = !little;
    buf_init(out, FILE_MAX);
    put(out, big, is64 ? FAT_MAGIC_64 : FAT_MAGIC, 4);
    put(out, big, count, 4);
    uint64_t at = 4096;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t size = slices[i].file->len;
        put(out, big, slices[i].cputype, 4);
        put(out, big, slices[i].cpusubtype, 4);
        put(out, big, at, is64 ? 8 : 4);
        put(out, big, size, is64 ? 8 : 4);
        put(out, big, 12, 4);
        if (is64)
            put(out, big, 0, 4);
        at = (at + size + 4095) & ~(uint64_t)4095;
    }
    for (uint32_t i = 0; i < count; i++) {
        while (out->len % 4096)
            buf_u8(out, 0);
        buf_put(out, slices[i].file->data, slices[i].file->len);
    }
    if (out->failed)
        abort();
}

size_t macho_find(const struct buf *file, uint32_t cmd, unsigned n)
{
    struct cursor c = cursor_of(file->data, file->len);
    bool is64 = cursor_u32(&c, false) == MH_MAGIC_64;
    cursor_skip(&c, 12);
    uint32_t count = cursor_u32(&c, false);
    cursor_skip(&c, is64 ? 12 : 8);
    for (uint32_t i = 0; i < count; i++) {
        size_t at = (size_t)((const char *)c.p - file->data);
        uint32_t kind = cursor_u32(&c, false);
        uint32_t size = cursor_u32(&c, false);
        if (kind == cmd && n-- == 0)
            return at;
        cursor_skip(&c, size - 8);
    }
    abort();
}

static void poke(struct buf *file, size_t at, bool big, uint64_t value, size_t bytes)
{
    if (at + bytes > file->len)
        abort();
    for (size_t i = 0; i < bytes; i++)
        file->data[at + i] = (char)(value >> (8 * (big ? bytes - 1 - i : i)));
}

void poke32(struct buf *file, size_t at, uint32_t value)
{
    poke(file, at, false, value, 4);
}

void poke64(struct buf *file, size_t at, uint64_t value)
{
    poke(file, at, false, value, 8);
}

void poke32_big(struct buf *file, size_t at, uint32_t value)
{
    poke(file, at, true, value, 4);
}
