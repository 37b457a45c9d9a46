#include "base/histogram.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/bytes.h"

#define SUB_BITS 5
#define SUB      (1u << SUB_BITS)

void histogram_init(struct histogram *h)
{
    memset(h, 0, sizeof(*h));
}

void histogram_done(struct histogram *h)
{
    if (!h)
        return;
    free(h->entries);
    memset(h, 0, sizeof(*h));
}

/* The first 2 * SUB values have buckets of their own; from there each power of two has SUB. */
uint32_t histogram_bucket(int64_t value_ms)
{
    uint64_t v = value_ms < 0 ? 0 : (uint64_t)value_ms;
    if (v > (uint64_t)HISTOGRAM_MAX_MS)
        v = (uint64_t)HISTOGRAM_MAX_MS;
    if (v < SUB)
        return (uint32_t)v;
    unsigned shift = 63u - (unsigned)__builtin_clzll(v) - SUB_BITS;
    return (shift + 1) * SUB + ((uint32_t)(v >> shift) - SUB);
}

int64_t histogram_value(uint32_t bucket)
{
    if (bucket < 2 * SUB)
        return bucket;
    unsigned shift = bucket / SUB - 1;
    int64_t low = (int64_t)(bucket % SUB + SUB) << shift;
    return low + (((int64_t)1 << shift) - 1) / 2;
}

/* Where `bucket` is or would be. */
static size_t find(const struct histogram *h, uint32_t bucket)
{
    size_t lo = 0;
    size_t hi = h->count;
    while (lo < hi) {
        size_t mid = (lo + hi) / 2;
        if (h->entries[mid].bucket < bucket)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

static bool add_bucket(struct histogram *h, uint32_t bucket, uint64_t times)
{
    if (times == 0)
        return true;
    if (times > HISTOGRAM_TOTAL_MAX - h->total) {
        h->failed = true;
        return false;
    }
    size_t at = h->count && h->entries[h->count - 1].bucket < bucket ? h->count : find(h, bucket);
    if (at < h->count && h->entries[at].bucket == bucket) {
        h->entries[at].count += times;
        h->total += times;
        return true;
    }
    if (h->count == h->cap) {
        size_t cap = h->cap ? h->cap * 2 : 4;
        struct histogram_entry *entries = realloc(h->entries, cap * sizeof(*entries));
        if (!entries) {
            h->failed = true;
            return false;
        }
        h->entries = entries;
        h->cap = cap;
    }
    memmove(h->entries + at + 1, h->entries + at, (h->count - at) * sizeof(*h->entries));
    h->entries[at] = (struct histogram_entry){bucket, times};
    h->count++;
    h->total += times;
    return true;
}

bool histogram_add(struct histogram *h, int64_t value_ms, uint64_t times)
{
    return add_bucket(h, histogram_bucket(value_ms), times);
}

bool histogram_merge(struct histogram *h, const struct histogram *other)
{
    for (size_t i = 0; i < other->count; i++) {
        if (!add_bucket(h, other->entries[i].bucket, other->entries[i].count))
            return false;
    }
    return true;
}

void histogram_subtract(struct histogram *h, const struct histogram *other)
{
    for (size_t i = 0; i < other->count; i++) {
        size_t at = find(h, other->entries[i].bucket);
        if (at == h->count || h->entries[at].bucket != other->entries[i].bucket)
            continue;
        uint64_t n = other->entries[i].count;
        n = n < h->entries[at].count ? n : h->entries[at].count;
        h->entries[at].count -= n;
        h->total -= n;
    }
    size_t kept = 0;
    for (size_t i = 0; i < h->count; i++) {
        if (h->entries[i].count)
            h->entries[kept++] = h->entries[i];
    }
    h->count = kept;
}

/* Pairs of (distance from the bucket before, count). */
bool histogram_encode(const struct histogram *h, struct buf *out)
{
    uint32_t before = 0;
    for (size_t i = 0; i < h->count; i++) {
        buf_uleb(out, h->entries[i].bucket - before);
        buf_uleb(out, h->entries[i].count);
        before = h->entries[i].bucket;
    }
    return !out->failed && !h->failed;
}

bool histogram_add_encoded(struct histogram *h, const void *data, size_t len)
{
    struct cursor c = cursor_of(data, len);
    uint64_t bucket = 0;
    while (cursor_left(&c) > 0) {
        uint64_t gap = cursor_uleb(&c);
        uint64_t times = cursor_uleb(&c);
        bucket += gap < HISTOGRAM_BUCKETS ? gap : HISTOGRAM_BUCKETS;
        if (c.overrun || bucket >= HISTOGRAM_BUCKETS) {
            h->failed = true;
            return false;
        }
        if (!add_bucket(h, (uint32_t)bucket, times))
            return false;
    }
    return true;
}

int64_t histogram_quantile(const struct histogram *h, double q)
{
    if (h->total == 0)
        return -1;
    double rank = ceil(q * (double)h->total);
    uint64_t want = rank < 1 ? 1 : (uint64_t)rank;
    uint64_t seen = 0;
    for (size_t i = 0; i < h->count; i++) {
        seen += h->entries[i].count;
        if (seen >= want)
            return histogram_value(h->entries[i].bucket);
    }
    return histogram_value(h->entries[h->count - 1].bucket);
}
