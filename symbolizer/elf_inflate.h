/*
 * elf_inflate - decompresses one debug section.
 *
 * Purpose: the two algorithms of SHF_COMPRESSED (gABI), to a size that is known beforehand.
 *
 * Invariants: writes exactly `size` bytes or fails; never more. What stands behind the stream
 * (padding) is not looked at.
 *
 * Threads: any. Memory: the caller's.
 */
#ifndef STALLSYM_SYMBOLIZER_ELF_INFLATE_H
#define STALLSYM_SYMBOLIZER_ELF_INFLATE_H

#include <stdint.h>

#include "base/bytes.h"
#include "base/error.h"

/* `algorithm` as in ch_type: 1 zlib, 2 zstd; others are ERR_UNSUPPORTED. */
enum err elf_inflate(uint32_t algorithm, struct cursor in, uint8_t *out, uint64_t size,
                     struct error *err);

#endif
