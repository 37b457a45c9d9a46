/*
 * index_rank - which of several objects of one UUID is used.
 *
 * Purpose: a build's UUID may be uploaded as full dSYM, as plain binary, stripped, or as two files that
 * contradict each other. The richest is used: DWARF before none, then more line rows, then more
 * functions, then more inlined calls; between equals the shorter index file, then the one whose first
 * differing byte is smaller. So what is used depends on what was uploaded, never on the order.
 *
 * Two objects conflict when they cannot both be right: their __TEXT lies elsewhere or is of another
 * size, or both have DWARF, or both have none and as many functions, and yet their indexes differ. A
 * stripped or plain binary beside a dSYM is only poorer.
 *
 * Threads: any. Memory: none.
 */
#ifndef STALLSYM_JOBS_INDEX_RANK_H
#define STALLSYM_JOBS_INDEX_RANK_H

#include <stdbool.h>
#include <stdint.h>

struct index_rank {
    bool has_dwarf;
    uint64_t lines, functions, inlines;
    uint64_t text_vmaddr, text_size;
    const char *path; /* of the index file; NULL: not there, its bytes are not asked */
    bool *unread;     /* set when a file could not be read: the order may be another; or NULL */
};

/* Above 0: `a` is the richer one. 0: their indexes are the same, byte for byte (or not both there). */
int index_rank_compare(const struct index_rank *a, const struct index_rank *b);
bool index_rank_conflict(const struct index_rank *a, const struct index_rank *b);
/* Order of two files by size, then bytes; one that is not there comes last. One that cannot be read
 * does, too, and *unread is set. */
int index_file_compare(const char *a, const char *b, bool *unread);

#endif
