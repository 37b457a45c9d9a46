/*
 * dump - everything that can be read of a storage, as text.
 *
 * Purpose: two backends that went through the same history must give the same text.
 *
 * Threads: one. Memory: appends to the caller's buffer.
 */
#ifndef STALLSYM_TESTS_DUMP_H
#define STALLSYM_TESTS_DUMP_H

#include "base/buf.h"
#include "storage/storage_read.h"

/* `ids`: reports to ask for by their ids; cluster ids are tried up to `max_cluster`. */
void dump_storage(struct storage_reader *r, const char *const *ids, size_t id_count,
                  uint64_t max_cluster, struct buf *out);

#endif
