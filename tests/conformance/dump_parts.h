/*
 * dump_parts - what the files of dump.h share.
 *
 * Purpose: dump.c has clusters and reports, dump_symbols.c images and symbol files, dump_numbers.c what
 * is counted, dump_merges.c what clusters are made of.
 *
 * Threads: one. Memory: rows live in the dump's arena.
 */
#ifndef STALLSYM_TESTS_DUMP_PARTS_H
#define STALLSYM_TESTS_DUMP_PARTS_H

#include "base/buf.h"
#include "storage/storage_read.h"

struct dump {
    struct storage_reader *r;
    struct arena arena;
    struct buf *out;
};

/* False, and a line of its own, for what is not there. All else fails the test. */
bool dump_ok(struct dump *d, enum err rc, const struct error *err);
/* "-" for NULL. */
const char *dump_text(const char *s);
void dump_uuid(struct dump *d, const struct uuid *u);
void dump_figures(struct dump *d, const struct duration_figures *f);
/* Of every kind: from cached sums, counters, reports. */
#define DUMP_FILTERS 10
void dump_filters(struct read_filter f[DUMP_FILTERS]);

void dump_symbols(struct dump *d);
void dump_merges(struct dump *d, uint64_t max_cluster);
/* Of all apps and of one; stack weights of the first clusters, too. */
void dump_app_numbers(struct dump *d, uint64_t max_cluster);
void dump_cluster_numbers(struct dump *d, uint64_t id, const char *bundle_id);

#endif
