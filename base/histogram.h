/*
 * histogram - how long things took, in little space.
 *
 * Purpose: durations in milliseconds fall into buckets that are 1/32 of a power of two wide, so
 * that a quantile is wrong by at most HISTOGRAM_ERROR and histograms of days, builds and stacks
 * are merged by adding. Percentiles are never averaged, always taken from a merged histogram.
 *
 * Invariants: buckets ascend, no count is 0. Values below 0 count as 0, above HISTOGRAM_MAX_MS as
 * HISTOGRAM_MAX_MS. Adding and merging commute, so the order in which reports came leaves no trace;
 * subtracting what was added before gives back what was there. Equal contents encode to equal
 * bytes; nothing encodes to no bytes.
 *
 * Threads: one owner. Memory: histogram_done(); at most HISTOGRAM_BUCKETS entries.
 */
#ifndef STALLSYM_BASE_HISTOGRAM_H
#define STALLSYM_BASE_HISTOGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;

#define HISTOGRAM_ERROR   0.016
#define HISTOGRAM_MAX_MS  ((int64_t)1 << 40)
#define HISTOGRAM_BUCKETS 1184
/* Values in one, at most: exact as a double. More are refused, as damage is. */
#define HISTOGRAM_TOTAL_MAX ((uint64_t)1 << 53)

struct histogram_entry {
    uint32_t bucket;
    uint64_t count;
};

struct histogram {
    struct histogram_entry *entries;
    size_t count;
    size_t cap;
    uint64_t total; /* values in it */
    bool failed;    /* memory ran out, or bytes that were added were damaged; sticks */
};

void histogram_init(struct histogram *h);
void histogram_done(struct histogram *h);

bool histogram_add(struct histogram *h, int64_t value_ms, uint64_t times);
bool histogram_merge(struct histogram *h, const struct histogram *other);
/* Takes away what was merged before; what is not there is left out. */
void histogram_subtract(struct histogram *h, const struct histogram *other);

bool histogram_encode(const struct histogram *h, struct buf *out);
/* Merges an encoded one in; false for damaged bytes (and nothing promised about the rest). */
bool histogram_add_encoded(struct histogram *h, const void *data, size_t len);

/* The value of rank ceil(q * total), `q` from 0 to 1; -1 when it is empty. */
int64_t histogram_quantile(const struct histogram *h, double q);

uint32_t histogram_bucket(int64_t value_ms);
/* The value a bucket stands for (its middle). */
int64_t histogram_value(uint32_t bucket);

#endif
