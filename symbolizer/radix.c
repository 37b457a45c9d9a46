#include "symbolizer/radix.h"

#include <stdlib.h>
#include <string.h>

#define DIGIT_BITS 11
#define DIGITS     ((size_t)1 << DIGIT_BITS)

static size_t digit_of(uint64_t key, unsigned shift)
{
    return (size_t)(key >> shift) & (DIGITS - 1);
}

/* One pass: from `from`, by one digit, to `to`. */
static void pass(const struct radix_item *from, struct radix_item *to, size_t count, unsigned shift)
{
    size_t places[DIGITS] = {0};
    for (size_t i = 0; i < count; i++)
        places[digit_of(from[i].key, shift)]++;
    size_t place = 0;
    for (size_t d = 0; d < DIGITS; d++) {
        size_t n = places[d];
        places[d] = place;
        place += n;
    }
    for (size_t i = 0; i < count; i++)
        to[places[digit_of(from[i].key, shift)]++] = from[i];
}

/* All bits in which keys differ; 0 too when they are in order already. */
static uint64_t differing(const struct radix_item *list, size_t count)
{
    uint64_t bits = 0;
    bool ascending = true;
    for (size_t i = 1; i < count; i++) {
        bits |= list[i].key ^ list[0].key;
        ascending = ascending && list[i - 1].key <= list[i].key;
    }
    return ascending ? 0 : bits;
}

bool radix_sort(struct radix_item *list, size_t count)
{
    uint64_t bits = differing(list, count);
    if (bits == 0)
        return true;
    struct radix_item *room = malloc(count * sizeof(*room));
    if (!room)
        return false;
    struct radix_item *from = list, *to = room;
    for (unsigned shift = 0; shift < 64; shift += DIGIT_BITS) {
        if (digit_of(bits, shift) == 0)
            continue;
        pass(from, to, count, shift);
        struct radix_item *hold = from;
        from = to;
        to = hold;
    }
    if (from != list)
        memcpy(list, from, count * sizeof(*list));
    free(room);
    return true;
}
