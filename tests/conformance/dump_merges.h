/*
 * dump_merges - what clusters are made of, as text; a part of dump.h.
 *
 * Threads: one. Memory: appends to the caller's buffer.
 */
#ifndef STALLSYM_TESTS_DUMP_MERGES_H
#define STALLSYM_TESTS_DUMP_MERGES_H

#include "base/buf.h"
#include "storage/storage_read.h"

void dump_merges(struct storage_reader *r, uint64_t max_cluster, struct buf *out);

#endif
