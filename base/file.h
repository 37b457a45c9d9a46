/*
 * file - whole reads and whole writes.
 *
 * Purpose: read(2) and write(2) until all is done, whatever comes in between.
 *
 * Invariants: a short write is no error, the next one tells it.
 *
 * Threads: any. Memory: the caller's buffer.
 */
#ifndef STALLSYM_BASE_FILE_H
#define STALLSYM_BASE_FILE_H

#include <stddef.h>

#include "base/buf.h"
#include "base/error.h"

/* `what` is not there when it fails: "cannot write WHAT: No space left on device". */
enum err file_write(int fd, const void *data, size_t len, const char *what, struct error *err);
/* Appends the file's bytes to `out`. ERR_LIMIT when they pass the cap of `out`; ERR_IO, too, for a file
 * that is not there, and for a pipe that nobody writes to, which is not waited for. */
enum err file_read(const char *path, struct buf *out, struct error *err);

#endif
