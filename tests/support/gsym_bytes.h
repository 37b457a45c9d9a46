/*
 * gsym_bytes - small index files made by hand, byte by byte.
 *
 * Purpose: inputs for tests of gsym_read and of what stands on it, without the writer under test
 * and with every field under the test's control.
 *
 * Memory: gsym_bytes_make() appends to the caller's buf.
 */
#ifndef STALLSYM_TESTS_GSYM_BYTES_H
#define STALLSYM_TESTS_GSYM_BYTES_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/uuid.h"

struct gsym_bytes_function {
    uint64_t address;
    uint32_t size;
    const char *name;
    int local;
    const void *lines; /* payload of info type 1, NULL without */
    size_t lines_len;
    const void *inlines; /* payload of info type 2 */
    size_t inlines_len;
    const void *unknown; /* payload of info type 9, put first */
    size_t unknown_len;
};

struct gsym_bytes_file {
    const char *directory;
    const char *base;
};

struct gsym_bytes {
    struct uuid uuid;
    uint8_t offset_size; /* 1, 2, 4, 8 */
    uint64_t base;
    const struct gsym_bytes_function *functions; /* ascending */
    size_t function_count;
    const struct gsym_bytes_file *files; /* file 1, 2, … */
    size_t file_count;
    const char *const *names; /* more strings; offsets by gsym_bytes_name() */
    size_t name_count;
    int footer;
    uint64_t text_vmaddr;
    uint64_t text_size;
};

/* Where names[i] will stand in the string table: names come first. */
uint32_t gsym_bytes_name(const struct gsym_bytes *g, size_t i);
void gsym_bytes_make(const struct gsym_bytes *g, struct buf *out);

#endif
