#include "symbolizer/object_ranges.h"

#include <stdlib.h>

static int compare_ranges(const void *a, const void *b)
{
    const struct object_range *x = a;
    const struct object_range *y = b;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    return (x->end > y->end) - (x->end < y->end);
}

size_t object_ranges_order(struct object_range *ranges, size_t count)
{
    size_t kept = 0;
    uint64_t end = 0;
    if (count > 0)
        qsort(ranges, count, sizeof(*ranges), compare_ranges);
    for (size_t i = 0; i < count; i++) {
        struct object_range r = ranges[i];
        if (r.start < end)
            r.start = end;
        if (r.start >= r.end)
            continue;
        ranges[kept++] = r;
        end = r.end;
    }
    return kept;
}

bool object_ranges_hold(const struct object_range *ranges, size_t count, uint64_t address)
{
    size_t lo = 0, hi = count;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (ranges[mid].end <= address)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo < count && ranges[lo].start <= address;
}
