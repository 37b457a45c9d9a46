#include "tests/support/dwarf_bytes.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LIMIT ((size_t)1 << 24)

static const uint8_t BUILD_ID[20] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};

void dwarf_bytes_init(struct dwarf_bytes *b)
{
    memset(b, 0, sizeof(*b));
    struct buf *all[] = {&b->info,        &b->abbrev, &b->line,   &b->line_str, &b->str,
                         &b->str_offsets, &b->addr,   &b->ranges, &b->rnglists, &b->file};
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        buf_init(all[i], LIMIT);
}

void dwarf_bytes_done(struct dwarf_bytes *b)
{
    struct buf *all[] = {&b->info,        &b->abbrev, &b->line,   &b->line_str, &b->str,
                         &b->str_offsets, &b->addr,   &b->ranges, &b->rnglists, &b->file};
    object_close(b->object);
    b->object = NULL;
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        buf_done(all[i]);
}

static void patch32(struct buf *b, size_t at, uint32_t v)
{
    for (size_t i = 0; i < 4; i++)
        b->data[at + i] = (char)(v >> (8 * i));
}

void dwarf_unit_begin(struct dwarf_bytes *b, uint16_t version, uint32_t abbrev_offset)
{
    b->unit = b->info.len;
    buf_u32(&b->info, 0);
    buf_u16(&b->info, version);
    if (version >= 5) {
        buf_u8(&b->info, 1);
        buf_u8(&b->info, 8);
        buf_u32(&b->info, abbrev_offset);
    } else {
        buf_u32(&b->info, abbrev_offset);
        buf_u8(&b->info, 8);
    }
}

void dwarf_unit_end(struct dwarf_bytes *b)
{
    patch32(&b->info, b->unit, (uint32_t)(b->info.len - b->unit - 4));
}

void dwarf_abbreviation(struct dwarf_bytes *b, uint64_t code, uint64_t tag, int children,
                        const uint64_t *specs)
{
    buf_uleb(&b->abbrev, code);
    buf_uleb(&b->abbrev, tag);
    buf_u8(&b->abbrev, (uint8_t)children);
    for (; specs[0] || specs[1]; specs += 2) {
        buf_uleb(&b->abbrev, specs[0]);
        buf_uleb(&b->abbrev, specs[1]);
        if (specs[1] == 0x21) {
            buf_sleb(&b->abbrev, (int64_t)specs[2]);
            specs++;
        }
    }
    buf_uleb(&b->abbrev, 0);
    buf_uleb(&b->abbrev, 0);
}

uint32_t dwarf_string(struct dwarf_bytes *b, const char *text)
{
    uint32_t at = (uint32_t)b->str.len;
    buf_put(&b->str, text, strlen(text) + 1);
    return at;
}

void dwarf_line_table(struct dwarf_bytes *b, const void *program, size_t len)
{
    static const uint8_t lengths[12] = {0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1};
    static const char tables[] = "dir\0\0a.c\0\0\0\0b.h\0\1\0\0"; /* and the NUL of the literal */
    size_t at = b->line.len;
    buf_u32(&b->line, 0);
    buf_u16(&b->line, 4);
    buf_u32(&b->line, (uint32_t)(6 + sizeof(lengths) + sizeof(tables)));
    buf_u8(&b->line, 1); /* minimum_instruction_length */
    buf_u8(&b->line, 1);
    buf_u8(&b->line, 1);
    buf_u8(&b->line, (uint8_t)-5);
    buf_u8(&b->line, 14);
    buf_u8(&b->line, 13);
    buf_put(&b->line, lengths, sizeof(lengths));
    buf_put(&b->line, tables, sizeof(tables));
    buf_put(&b->line, program, len);
    patch32(&b->line, at, (uint32_t)(b->line.len - at - 4));
}

struct object *dwarf_bytes_open(struct dwarf_bytes *b, const struct elf_builder_symbol *symbols,
                                uint32_t count)
{
    const struct {
        const char *name;
        const struct buf *bytes;
    } sections[] = {
        {".debug_info", &b->info},         {".debug_abbrev", &b->abbrev},
        {".debug_line", &b->line},         {".debug_line_str", &b->line_str},
        {".debug_str", &b->str},           {".debug_str_offsets", &b->str_offsets},
        {".debug_addr", &b->addr},         {".debug_ranges", &b->ranges},
        {".debug_rnglists", &b->rnglists},
    };
    struct elf_builder e;
    struct error error;
    elf_begin_file(&e, true, false, ET_EXEC, EM_X86_64);
    elf_load(&e, 0x400000, 0x2000);
    elf_build_id(&e, BUILD_ID, sizeof(BUILD_ID));
    uint32_t text = elf_add(&e, ".text", SHT_NOBITS, SHF_ALLOC | SHF_EXECINSTR, CODE, NULL, 0x1000);
    for (size_t i = 0; i < sizeof(sections) / sizeof(sections[0]); i++) {
        if (sections[i].bytes->len)
            elf_add(&e, sections[i].name, SHT_PROGBITS, 0, 0, sections[i].bytes->data,
                    sections[i].bytes->len);
    }
    struct elf_builder_symbol *placed = calloc(count + 1, sizeof(*placed));
    for (uint32_t i = 0; i < count; i++) {
        placed[i] = symbols[i];
        placed[i].section = (uint16_t)text;
    }
    elf_symtab(&e, placed, count);
    free(placed);
    elf_finish(&e, &b->file);
    if (object_open(b->file.data, b->file.len, &b->object, &error)) {
        fprintf(stderr, "hand-made object: %s\n", error.text);
        abort();
    }
    return b->object;
}
