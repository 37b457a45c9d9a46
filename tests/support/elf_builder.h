/*
 * elf_builder - small ELF files, made byte by byte for the tests.
 *
 * Purpose: valid files of every class and byte order, compressed sections included, and places to
 * put a lie into.
 *
 * Threads: one owner. Memory: elf_finish fills the caller's buf and empties the builder.
 */
#ifndef STALLSYM_TESTS_ELF_BUILDER_H
#define STALLSYM_TESTS_ELF_BUILDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

#define ELF_BUILDER_SECTIONS 24

struct elf_builder_section {
    const char *name;
    uint32_t type;
    uint64_t flags;
    uint64_t address;
    uint64_t offset;
    uint64_t size;
    uint32_t link;
    uint64_t entry_size;
};

struct elf_builder {
    struct buf file;
    bool is64;
    bool big;
    uint16_t type;
    uint16_t machine;
    struct elf_builder_section sections[ELF_BUILDER_SECTIONS];
    uint32_t count; /* the null section counted */
    uint64_t load_address;
    uint64_t load_size; /* 0: no program header */
};

struct elf_builder_symbol {
    const char *name;
    uint8_t info; /* ELF32_ST_INFO(bind, type) */
    uint16_t section;
    uint64_t value;
    uint64_t size;
};

void elf_begin_file(struct elf_builder *b, bool is64, bool big, uint16_t type, uint16_t machine);
/* One PT_LOAD, readable and executable; call it before the first section. */
void elf_load(struct elf_builder *b, uint64_t address, uint64_t size);
/* Its index. `data` NULL for SHT_NOBITS. */
uint32_t elf_add(struct elf_builder *b, const char *name, uint32_t type, uint64_t flags,
                 uint64_t address, const void *data, uint64_t size);
void elf_build_id(struct elf_builder *b, const void *id, uint32_t len);
/* .symtab and .strtab */
void elf_symtab(struct elf_builder *b, const struct elf_builder_symbol *symbols, uint32_t count);
/* A section of `algorithm` (1 zlib, 2 zstd) that says it holds `said` bytes (0: the truth). */
void elf_compressed(struct elf_builder *b, const char *name, uint32_t algorithm, const void *data,
                    size_t len, uint64_t said);
void elf_finish(struct elf_builder *b, struct buf *out);

/* x86_64 .debug file at 0x400000: build-id 01 02 … 14, .text 0x401000 (0x200 bytes, no bytes in
 * the file), functions alpha +0 and beta +0x100, .debug_info "info". */
void elf_sample(struct buf *out);

#endif
