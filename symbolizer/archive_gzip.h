/*
 * archive_gzip - a gzip'd file as a stream of its contents.
 *
 * Purpose: archive.c reads .tar.gz and gzip'd objects through it, because libarchive does not
 * verify the checksum of a gzip stream.
 *
 * Invariants: concatenated members are one stream (RFC 1952); length and CRC of each are checked;
 * zeros may follow the last one, anything else is damage.
 *
 * Threads: one owner. Memory: archive_gzip_close; the descriptor stays the caller's.
 */
#ifndef STALLSYM_SYMBOLIZER_ARCHIVE_GZIP_H
#define STALLSYM_SYMBOLIZER_ARCHIVE_GZIP_H

#include <stddef.h>

#include "base/error.h"

struct archive_gzip;

enum err archive_gzip_open(int fd, struct archive_gzip **ret, struct error *err);
void archive_gzip_close(struct archive_gzip *g);
/* The next piece of contents, valid until the next call; 0 bytes at the end. */
enum err archive_gzip_read(struct archive_gzip *g, const void **ret, size_t *ret_len,
                           struct error *err);

#endif
