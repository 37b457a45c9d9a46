#include "tests/support/elf_builder.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

#define FILE_MAX    ((size_t)64 << 20)
#define HEADER_ROOM 256 /* ELF header and one program header */

static void put(struct buf *b, bool big, uint64_t value, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        size_t shift = 8 * (big ? bytes - 1 - i : i);
        buf_u8(b, (uint8_t)(value >> shift));
    }
}

static void word(const struct elf_builder *b, struct buf *to, uint64_t value)
{
    put(to, b->big, value, b->is64 ? 8 : 4);
}

void elf_begin_file(struct elf_builder *b, bool is64, bool big, uint16_t type, uint16_t machine)
{
    memset(b, 0, sizeof(*b));
    buf_init(&b->file, FILE_MAX);
    b->is64 = is64;
    b->big = big;
    b->type = type;
    b->machine = machine;
    b->count = 1;
    for (int i = 0; i < HEADER_ROOM; i++)
        buf_u8(&b->file, 0);
}

void elf_load(struct elf_builder *b, uint64_t address, uint64_t size)
{
    b->load_address = address;
    b->load_size = size;
}

uint32_t elf_add(struct elf_builder *b, const char *name, uint32_t type, uint64_t flags,
                 uint64_t address, const void *data, uint64_t size)
{
    while (b->file.len % 8)
        buf_u8(&b->file, 0);
    struct elf_builder_section s = {name, type, flags, address, b->file.len, size, 0, 0};
    if (data)
        buf_put(&b->file, data, size);
    b->sections[b->count] = s;
    return b->count++;
}

void elf_build_id(struct elf_builder *b, const void *id, uint32_t len)
{
    struct buf note;
    buf_init(&note, 4096);
    put(&note, b->big, 4, 4);
    put(&note, b->big, len, 4);
    put(&note, b->big, NT_GNU_BUILD_ID, 4);
    buf_put(&note, "GNU", 4);
    buf_put(&note, id, len);
    while (note.len % 4)
        buf_u8(&note, 0);
    elf_add(b, ".note.gnu.build-id", SHT_NOTE, SHF_ALLOC, 0, note.data, note.len);
    buf_done(&note);
}

static void put_symbol(const struct elf_builder *b, struct buf *to, uint32_t name,
                       const struct elf_builder_symbol *s)
{
    put(to, b->big, name, 4);
    if (!b->is64) {
        put(to, b->big, s->value, 4);
        put(to, b->big, s->size, 4);
    }
    buf_u8(to, s->info);
    buf_u8(to, 0);
    put(to, b->big, s->section, 2);
    if (b->is64) {
        put(to, b->big, s->value, 8);
        put(to, b->big, s->size, 8);
    }
}

void elf_symtab(struct elf_builder *b, const struct elf_builder_symbol *symbols, uint32_t count)
{
    static const struct elf_builder_symbol none;
    struct buf entries, strings;
    buf_init(&entries, FILE_MAX);
    buf_init(&strings, FILE_MAX);
    buf_u8(&strings, 0);
    put_symbol(b, &entries, 0, &none);
    for (uint32_t i = 0; i < count; i++) {
        put_symbol(b, &entries, (uint32_t)strings.len, &symbols[i]);
        buf_put(&strings, symbols[i].name, strlen(symbols[i].name) + 1);
    }
    uint32_t symtab = elf_add(b, ".symtab", SHT_SYMTAB, 0, 0, entries.data, entries.len);
    b->sections[symtab].entry_size = b->is64 ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym);
    b->sections[symtab].link = elf_add(b, ".strtab", SHT_STRTAB, 0, 0, strings.data, strings.len);
    buf_done(&entries);
    buf_done(&strings);
}

void elf_compressed(struct elf_builder *b, const char *name, uint32_t algorithm, const void *data,
                    size_t len, uint64_t said)
{
    struct buf section;
    buf_init(&section, FILE_MAX);
    put(&section, b->big, algorithm, 4);
    if (b->is64)
        put(&section, b->big, 0, 4);
    word(b, &section, said ? said : len);
    word(b, &section, 1);
    size_t room = ZSTD_compressBound(len) + compressBound(len);
    uLongf used = room;
    char *to = buf_reserve(&section, room);
    if (algorithm == 2)
        used = ZSTD_compress(to, room, data, len, 3);
    else if (compress((Bytef *)to, &used, data, len) != Z_OK)
        abort();
    buf_grow(&section, used);
    elf_add(b, name, SHT_PROGBITS, SHF_COMPRESSED, 0, section.data, section.len);
    buf_done(&section);
}

static void put_section(const struct elf_builder *b, struct buf *to, uint32_t name,
                        const struct elf_builder_section *s)
{
    put(to, b->big, name, 4);
    put(to, b->big, s->type, 4);
    word(b, to, s->flags);
    word(b, to, s->address);
    word(b, to, s->offset);
    word(b, to, s->size);
    put(to, b->big, s->link, 4);
    put(to, b->big, 0, 4);
    word(b, to, 1);
    word(b, to, s->entry_size);
}

static void put_header(const struct elf_builder *b, struct buf *to, uint64_t sections)
{
    uint64_t segments = b->is64 ? 64 : 52;
    buf_put(to, ELFMAG, SELFMAG);
    buf_u8(to, b->is64 ? ELFCLASS64 : ELFCLASS32);
    buf_u8(to, b->big ? ELFDATA2MSB : ELFDATA2LSB);
    buf_u8(to, EV_CURRENT);
    put(to, b->big, 0, 8);
    buf_u8(to, 0);
    put(to, b->big, b->type, 2);
    put(to, b->big, b->machine, 2);
    put(to, b->big, 1, 4);
    word(b, to, 0);
    word(b, to, b->load_size ? segments : 0);
    word(b, to, sections);
    put(to, b->big, 0, 4);
    put(to, b->big, segments, 2);
    put(to, b->big, b->is64 ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr), 2);
    put(to, b->big, b->load_size ? 1 : 0, 2);
    put(to, b->big, b->is64 ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr), 2);
    put(to, b->big, b->count, 2);
    put(to, b->big, b->count - 1, 2);
    if (!b->load_size)
        return;
    put(to, b->big, PT_LOAD, 4);
    if (b->is64)
        put(to, b->big, PF_R | PF_X, 4);
    word(b, to, 0);
    word(b, to, b->load_address);
    word(b, to, b->load_address);
    word(b, to, 0);
    word(b, to, b->load_size);
    if (!b->is64)
        put(to, b->big, PF_R | PF_X, 4);
    word(b, to, 4096);
}

void elf_finish(struct elf_builder *b, struct buf *out)
{
    struct buf names, header;
    uint32_t offsets[ELF_BUILDER_SECTIONS] = {0};
    buf_init(&names, FILE_MAX);
    buf_init(&header, HEADER_ROOM);
    b->sections[b->count].name = ".shstrtab";
    buf_u8(&names, 0);
    for (uint32_t i = 1; i <= b->count; i++) {
        offsets[i] = (uint32_t)names.len;
        buf_put(&names, b->sections[i].name, strlen(b->sections[i].name) + 1);
    }
    elf_add(b, ".shstrtab", SHT_STRTAB, 0, 0, names.data, names.len);
    while (b->file.len % 8)
        buf_u8(&b->file, 0);
    put_header(b, &header, b->file.len);
    for (uint32_t i = 0; i < b->count; i++)
        put_section(b, &b->file, offsets[i], &b->sections[i]);
    if (b->file.failed || header.failed)
        abort();
    memcpy(b->file.data, header.data, header.len);
    buf_done(&names);
    buf_done(&header);
    *out = b->file;
}

void elf_sample(struct buf *out)
{
    struct elf_builder b;
    uint8_t id[20];
    for (size_t i = 0; i < sizeof(id); i++)
        id[i] = (uint8_t)(i + 1);
    elf_begin_file(&b, true, false, ET_DYN, EM_X86_64);
    elf_load(&b, 0x400000, 0x2000);
    elf_build_id(&b, id, sizeof(id));
    uint32_t text =
        elf_add(&b, ".text", SHT_NOBITS, SHF_ALLOC | SHF_EXECINSTR, 0x401000, NULL, 0x200);
    const struct elf_builder_symbol symbols[] = {
        {"alpha", ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), (uint16_t)text, 0x401000, 0x80},
        {"beta", ELF64_ST_INFO(STB_LOCAL, STT_FUNC), (uint16_t)text, 0x401100, 0},
    };
    elf_symtab(&b, symbols, 2);
    elf_add(&b, ".debug_info", SHT_PROGBITS, 0, 0, "info", 4);
    elf_finish(&b, out);
}
