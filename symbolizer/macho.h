/*
 * macho - reads Mach-O files, thin and universal.
 *
 * Purpose: the object_reader for Mach-O (layout: Apple's <mach-o/loader.h>, <mach-o/fat.h>,
 * <mach-o/nlist.h>): 32 and 64 bits, either byte order, universal files with 32 and 64-bit tables.
 *
 * Invariants: only the part of a section header that is needed is believed, and only for sections
 * that have bytes: a dSYM's __TEXT says where its bytes were in another file. Section offsets count
 * from the slice. They have 32 bits: in a slice beyond 4 GB they may have wrapped, and the file is
 * refused when they do not ascend.
 *
 * Threads, memory: object_reader.h.
 */
#ifndef STALLSYM_SYMBOLIZER_MACHO_H
#define STALLSYM_SYMBOLIZER_MACHO_H

#include "symbolizer/object_reader.h"

#define MACHO_COMMANDS_MAX 65536
#define MACHO_SECTIONS_MAX 1024

extern const struct object_reader MACHO_READER;

/* "arm64e" for (0x0100000c, 0x80000002): capability bits are ignored, an unknown subtype is its
 * family, an unknown family "cpu-0x…". Returns `out`. */
const char *macho_arch_name(uint32_t cputype, uint32_t cpusubtype, char out[OBJECT_ARCH_SIZE]);

#endif
