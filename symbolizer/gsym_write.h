/*
 * gsym_write - writes an index file.
 *
 * Purpose: debug_info in, one GSYM file with our blocks and footer out (gsym_format.h).
 *
 * Invariants: same debug_info, same bytes. The file at `path` is complete when ERR_OK is returned, not
 * synced: that is for who installs it; on failure nothing is left there. llvm-gsymutil reads every file written.
 *
 * Threads: any. Memory: all freed on return.
 */
#ifndef STALLSYM_SYMBOLIZER_GSYM_WRITE_H
#define STALLSYM_SYMBOLIZER_GSYM_WRITE_H

#include "base/error.h"
#include "symbolizer/debug_info.h"

enum err gsym_write(const struct debug_info *d, const struct object_info *object, const char *path,
                    uint64_t *ret_bytes, struct error *err);

#endif
