/*
 * zip_builder - zip files made byte by byte for the tests (layout: PKWARE's APPNOTE).
 *
 * Purpose: valid members, and members whose headers lie.
 *
 * Threads: one owner. Memory: zip_finish fills the caller's buf and empties the builder.
 */
#ifndef STALLSYM_TESTS_ZIP_BUILDER_H
#define STALLSYM_TESTS_ZIP_BUILDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

struct zip_builder {
    struct buf file;
    struct buf directory;
    uint32_t count;
};

struct zip_member {
    const char *name;
    const void *data;
    size_t len;
    bool deflate;         /* else stored */
    bool descriptor;      /* sizes behind the data, zeros in the local header */
    bool zip64;           /* sizes in the zip64 extra field of both headers */
    uint32_t mode;        /* Unix mode, 0: an ordinary file */
    uint16_t flags;       /* further general purpose bits */
    uint32_t crc_xor;     /* spoils the CRC */
    uint32_t said_size;   /* instead of `len`, when not 0 */
    bool again;           /* only a second directory entry for the member before */
    uint32_t again_shift; /* its local header that many bytes further */
};

void zip_begin(struct zip_builder *z);
void zip_add(struct zip_builder *z, const struct zip_member *m);
void zip_finish(struct zip_builder *z, struct buf *out);

#endif
