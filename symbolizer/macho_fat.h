/*
 * macho_fat - the table at the head of a universal file.
 *
 * Purpose: where the slices are; 32 and 64-bit tables, either byte order (Apple's is big-endian).
 *
 * Invariants: a slice lies behind the table and inside the file and overlaps no other one. No
 * recursion: a universal file inside a slice is not entered.
 *
 * Threads: any. Memory: the caller's.
 */
#ifndef STALLSYM_SYMBOLIZER_MACHO_FAT_H
#define STALLSYM_SYMBOLIZER_MACHO_FAT_H

#include "symbolizer/object.h"

/* Universal file, and not one of Java's classes, which begin with the same four bytes. */
bool macho_fat_recognize(const void *data, uint64_t size);

/* As object_slices. `ret` has room for OBJECT_SLICES_MAX. */
enum err macho_fat_slices(const void *data, uint64_t size, struct object_slice *ret,
                          size_t *ret_count, struct error *ret_problem, struct error *err);

#endif
