#include "symbolizer/symtab_fill.h"

#include <stdlib.h>
#include <string.h>

#include "base/vec.h"

/* First symbol at or behind the address. */
static size_t lower_bound(const struct symtab *t, uint64_t address)
{
    size_t lo = 0, hi = t->count;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (t->symbols[mid].address < address)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

static const struct object_range *section_of(const struct symtab *t, uint64_t address)
{
    size_t lo = 0, hi = t->code_count;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (t->code[mid].end <= address)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo < t->code_count && t->code[lo].start <= address ? &t->code[lo] : NULL;
}

/* The symbols at the address of symbol `i`, which is the first there: behind the last of them. */
static size_t group_end(const struct symtab *t, size_t i)
{
    size_t end = i + 1;
    while (end < t->count && t->symbols[end].address == t->symbols[i].address)
        end++;
    return end;
}

/* The one that names the address; SIZE_MAX when they are all nameless. */
static size_t best_of(const struct symtab *t, size_t first, size_t end)
{
    size_t best = SIZE_MAX;
    for (size_t i = first; i < end; i++) {
        const struct object_symbol *s = &t->symbols[i];
        if (!*s->name)
            continue;
        const struct object_symbol *other = best == SIZE_MAX ? NULL : &t->symbols[best];
        if (!other || (s->external && !other->external) ||
            (s->external == other->external && s->place > other->place))
            best = i;
    }
    return best;
}

/* Where the function of the symbols [first, end) ends; their address when they are no code. */
static uint64_t bound_of(const struct symtab *t, size_t first, size_t end, size_t best)
{
    const struct object_symbol *s = &t->symbols[best];
    const struct object_range *section = section_of(t, s->address);
    if (!section)
        return s->address;
    uint64_t size = 0;
    for (size_t i = first; i < end; i++) {
        if (t->symbols[i].size > size)
            size = t->symbols[i].size;
    }
    uint64_t bound = section->end;
    if (size == 0 && t->unsized_reach)
        bound = t->code[t->code_count - 1].end;
    if (end < t->count && t->symbols[end].address < bound)
        bound = t->symbols[end].address;
    if (size > 0 && size < bound - s->address)
        bound = s->address + size;
    return bound;
}

bool symtab_fill(const struct symtab *t, const struct object_range *known, size_t known_count,
                 struct symtab_list *list)
{
    size_t k = 0;
    for (size_t i = 0, end; i < t->count; i = end) {
        end = group_end(t, i);
        size_t best = best_of(t, i, end);
        if (best == SIZE_MAX)
            continue;
        uint64_t start = t->symbols[i].address;
        uint64_t bound = bound_of(t, i, end, best);
        while (k < known_count && known[k].end <= start)
            k++;
        if (k < known_count && known[k].start <= start)
            continue;
        if (k < known_count && known[k].start < bound)
            bound = known[k].start;
        if (bound <= start)
            continue;
        void *p = vec_grown(list->items, &list->cap, list->count + 1, sizeof(list->items[0]));
        if (!p)
            return false;
        list->items = p;
        list->items[list->count++] = (struct symtab_function){start, bound, best};
    }
    return true;
}

const struct object_symbol *symtab_at(const struct symtab *t, uint64_t address, size_t *ret_count)
{
    size_t first = lower_bound(t, address);
    if (first == t->count || t->symbols[first].address != address) {
        *ret_count = 0;
        return NULL;
    }
    *ret_count = group_end(t, first) - first;
    return &t->symbols[first];
}

const struct object_symbol *symtab_around(const struct symtab *t, uint64_t address)
{
    size_t end = address == UINT64_MAX ? t->count : lower_bound(t, address + 1);
    if (end == 0)
        return NULL;
    size_t first = lower_bound(t, t->symbols[end - 1].address);
    size_t best = best_of(t, first, end);
    if (best == SIZE_MAX || address >= bound_of(t, first, end, best))
        return NULL;
    return &t->symbols[best];
}
