/*
 * elf - reads ELF executables, libraries and their .debug companions through libelf.
 *
 * Purpose: the object_reader for ELF (layout: the gABI; build-id: GNU note 3). The first 16 bytes
 * of the build-id become the UUID, see uuid_from_build_id.
 *
 * Invariants: debug sections are there decompressed (SHF_COMPRESSED with zlib or zstd, and GNU's
 * older .zdebug_*), or the file is refused with the reason: never taken for one without debug
 * sections. What one of them may grow to is bounded by its compressed size (ELF_RATIO_MAX) and by
 * ELF_INFLATED_MAX. The image base is the lowest PT_LOAD's page; the extent of the code is
 * `text_size`.
 *
 * Threads, memory: object_reader.h; libelf is called during open only.
 */
#ifndef STALLSYM_SYMBOLIZER_ELF_H
#define STALLSYM_SYMBOLIZER_ELF_H

#include "symbolizer/object_reader.h"

#define ELF_SECTIONS_MAX 65536
/* zlib cannot do better than 1032 : 1; zstd can, but no debug section does. */
#define ELF_RATIO_MAX    1100
#define ELF_INFLATED_MAX ((uint64_t)8 << 30) /* of all sections of a file */

extern const struct object_reader ELF_READER;

#endif
