/*
 * tally - on which days, in which builds and on which devices a cluster was seen, in little space.
 *
 * Purpose: stands encoded with a cluster's sums, so that a row of a list (its trend, its releases,
 * its number of devices) needs none of the cluster's stacks, of which there may be very many.
 *
 * Invariants: counts of reports by kind and id. Adding and merging commute; taking what was merged
 * before gives back the counts that were there. Days older than TREND_DAYS before the newest one
 * that ever was are left out: no trend begins there, because the app's newest day is no older. A
 * kind with more than TALLY_IDS ids is full for ever: it has none, and has to be counted elsewhere.
 *
 * Threads: one owner. Memory: tally_done().
 */
#ifndef STALLSYM_STORAGE_TALLY_H
#define STALLSYM_STORAGE_TALLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

#define TALLY_IDS 192
/* More than one encodes to. */
#define TALLY_BYTES (TALLY_KINDS * (TALLY_IDS * 20 + 12))

enum tally_kind { TALLY_DAYS, TALLY_BUILDS, TALLY_DEVICES, TALLY_KINDS };

struct tally_entry {
    enum tally_kind kind;
    int64_t id;
    int64_t count; /* 0: the newest day that ever was */
};

/* All zeros: empty. */
struct tally {
    struct tally_entry *entries; /* by kind, then id */
    size_t count, cap;
    bool full[TALLY_KINDS];
};

void tally_done(struct tally *t);
/* False without memory. */
bool tally_add(struct tally *t, enum tally_kind kind, int64_t id, int64_t count);
bool tally_merge(struct tally *t, const struct tally *other);
void tally_take(struct tally *t, const struct tally *other);
bool tally_encode(const struct tally *t, struct buf *out);
/* Merges an encoded one in; false for damaged bytes and without memory. */
bool tally_add_encoded(struct tally *t, const void *data, size_t len);
/* The entries of a kind; *ret_count of them. */
const struct tally_entry *tally_of(const struct tally *t, enum tally_kind kind, size_t *ret_count);

#endif
