/*
 * child_limits - what the indexing child gives up before it opens an upload.
 *
 * Purpose: `stallsymd index --limits` gives up, before it opens the upload, what it does not need:
 * memory, processor time, file size and descriptors beyond a cap; and by a seccomp filter the
 * system calls that reach the network, other programs or other processes. A hostile file can then
 * lose its own upload and nothing else.
 *
 * Invariants: limits are only ever lowered. A file that grows too large is an error of write(2),
 * not a signal. Threads can be started, processes cannot. A denied call fails with EPERM; a call of
 * another machine's table (32 bits, x32) ends the process. The process dies with the thread that
 * spawned it, and does not begin when that is dead already.
 *
 * Threads: call it before the first thread is started. Memory: none.
 */
#ifndef STALLSYM_SERVER_CHILD_LIMITS_H
#define STALLSYM_SERVER_CHILD_LIMITS_H

#include <stdint.h>

#include "base/error.h"

#define CHILD_LIMITS_FILES 64 /* open descriptors */

struct child_limits {
    uint64_t data_bytes; /* RLIMIT_DATA: allocations and stacks, not mapped files. 0: as it is */
    uint64_t file_bytes; /* of one file. 0: as it is */
    uint64_t cpu_s;      /* 0: as it is */
};

/* "data=BYTES,cpu=SECONDS,file=BYTES", each at most once, some missing or 0. ERR_INVALID. */
enum err child_limits_parse(const char *text, struct child_limits *ret, struct error *err);

/* Ends in ERR_IO when a limit cannot be set. A kernel without seccomp is no failure: `ret_missing`
 * then says so (ERR_UNSUPPORTED; ERR_OK when all is in force). */
enum err child_limits_apply(const struct child_limits *limits, struct error *ret_missing,
                            struct error *err);

#endif
