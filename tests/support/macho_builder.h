/*
 * macho_builder - small Mach-O files, made byte by byte for the tests.
 *
 * Purpose: valid files of every shape (32 and 64 bits, either byte order, thin and universal), and
 * places to put a lie into: macho_find gives the offset of a load command, poke32 changes it.
 *
 * Layout: header and load commands in the first MACHO_DATA_AT bytes, data behind them in the order
 * it was added.
 *
 * Threads: one owner. Memory: macho_finish fills the caller's buf and empties the builder.
 */
#ifndef STALLSYM_TESTS_MACHO_BUILDER_H
#define STALLSYM_TESTS_MACHO_BUILDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "symbolizer/macho_format.h"

#define MACHO_DATA_AT 4096

struct macho_builder {
    struct buf commands;
    struct buf data;
    bool is64;
    bool big; /* big-endian */
    uint32_t cputype;
    uint32_t cpusubtype;
    uint32_t filetype;
    uint32_t count;
};

struct macho_section {
    const char *name;
    const char *segment;
    uint64_t address;
    uint64_t size;
    uint32_t offset;
    uint32_t flags;
};

struct macho_symbol {
    const char *name; /* with its underscore */
    uint8_t type;
    uint64_t address;
};

void macho_begin(struct macho_builder *b, bool is64, bool big, uint32_t cputype,
                 uint32_t cpusubtype, uint32_t filetype);
/* Adds bytes; their offset in the file. */
uint32_t macho_data(struct macho_builder *b, const void *data, size_t len);
void macho_uuid(struct macho_builder *b, const uint8_t uuid[16]);
void macho_segment(struct macho_builder *b, const char *name, uint64_t vmaddr, uint64_t vmsize,
                   uint64_t offset, uint64_t size, const struct macho_section *sections,
                   uint32_t count);
void macho_symtab(struct macho_builder *b, const struct macho_symbol *symbols, uint32_t count);
void macho_starts(struct macho_builder *b, const void *uleb, uint32_t len);
void macho_id_dylib(struct macho_builder *b, const char *path);
void macho_finish(struct macho_builder *b, struct buf *out);

extern const uint8_t SAMPLE_UUID[16]; /* 01020304-0506-0708-090A-0B0C0D0E0F10 */

/* A dSYM of 64 bits for arm64: SAMPLE_UUID, __TEXT at 0x100000000 with __text at +0x1000 (0x300
 * bytes) and __stubs at +0x1300, the functions alpha +0x1000, beta +0x1100, _start +0x1200, and a
 * __DWARF segment with __debug_info ("info") and __debug_str_offs ("offsets"). */
void macho_sample(struct buf *out);
/* The same for any cpu, width and byte order; addresses from 0x4000 up when of 32 bits. */
void macho_sample_of(struct buf *out, bool is64, bool big, uint32_t cputype, uint32_t cpusubtype,
                     uint32_t filetype, const uint8_t *uuid);

struct macho_slice {
    const struct buf *file;
    uint32_t cputype;
    uint32_t cpusubtype;
};
/* A universal file with each slice at a page of its own. */
void macho_fat(struct buf *out, bool is64, bool little, const struct macho_slice *slices,
               uint32_t count);

/* Offset of the n-th load command of that kind in a thin little-endian file; aborts without. */
size_t macho_find(const struct buf *file, uint32_t cmd, unsigned n);
void poke32(struct buf *file, size_t at, uint32_t value); /* little-endian */
void poke64(struct buf *file, size_t at, uint64_t value);
void poke32_big(struct buf *file, size_t at, uint32_t value);

#endif
