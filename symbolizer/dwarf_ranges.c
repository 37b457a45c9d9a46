#include "symbolizer/dwarf_ranges.h"

#include <stdlib.h>

#include "base/vec.h"

#define WORK_PER_RANGE ((uint64_t)16)

enum {
    DW_RLE_end_of_list = 0x00,
    DW_RLE_base_addressx = 0x01,
    DW_RLE_startx_endx = 0x02,
    DW_RLE_startx_length = 0x03,
    DW_RLE_offset_pair = 0x04,
    DW_RLE_base_address = 0x05,
    DW_RLE_start_end = 0x06,
    DW_RLE_start_length = 0x07,
};

/* The list being read. */
struct reading {
    struct dwarf *d;
    const struct dwarf_unit *u;
    struct dwarf_range_list *list;
    uint64_t highest; /* highest address of the unit's address size */
};

static bool push(struct reading *r, uint64_t start, uint64_t end)
{
    struct dwarf_range_list *list = r->list;
    start &= r->highest;
    end &= r->highest;
    if (r->d->thumb)
        start &= ~(uint64_t)1;
    if (start >= end)
        return true;
    void *p = vec_grown(list->items, &list->cap, list->count + 1, sizeof(list->items[0]));
    if (!p)
        return false;
    list->items = p;
    list->items[list->count++] = (struct object_range){start, end};
    return true;
}

static bool read_ranges_v4(struct reading *r, uint64_t offset)
{
    struct cursor c = r->d->ranges;
    unsigned size = r->u->sizes.address;
    uint64_t base = r->u->low_pc;
    if (!cursor_skip(&c, offset)) {
        r->list->damaged = true;
        return true;
    }
    for (;;) {
        uint64_t start = dwarf_read_uint(&c, size, r->d->swap);
        uint64_t end = dwarf_read_uint(&c, size, r->d->swap);
        if (c.overrun) {
            r->list->damaged = true;
            return true;
        }
        if (start == 0 && end == 0)
            return true;
        if (!dwarf_spend(r->d, WORK_PER_RANGE))
            return false;
        if (start == r->highest) {
            base = end;
            continue;
        }
        if (!push(r, base + start, base + end))
            return false;
    }
}

/* One entry of a DWARF 5 list behind its kind: [*start, *end), empty when it only sets the base. */
static bool read_rnglist_entry(struct reading *r, struct cursor *c, uint8_t kind, uint64_t *base,
                               uint64_t *start, uint64_t *end)
{
    const struct dwarf *d = r->d;
    const struct dwarf_unit *u = r->u;
    uint64_t a = 0, b = 0;
    bool known = true;
    *start = *end = 0;
    switch (kind) {
    case DW_RLE_base_addressx:
        return dwarf_address_at(d, u, cursor_uleb(c), base);
    case DW_RLE_startx_endx:
        known = dwarf_address_at(d, u, cursor_uleb(c), &a);
        known = dwarf_address_at(d, u, cursor_uleb(c), &b) && known;
        break;
    case DW_RLE_startx_length:
        known = dwarf_address_at(d, u, cursor_uleb(c), &a);
        b = a + cursor_uleb(c);
        break;
    case DW_RLE_offset_pair:
        a = *base + cursor_uleb(c);
        b = *base + cursor_uleb(c);
        break;
    case DW_RLE_base_address:
        *base = dwarf_read_uint(c, u->sizes.address, d->swap);
        break;
    case DW_RLE_start_end:
        a = dwarf_read_uint(c, u->sizes.address, d->swap);
        b = dwarf_read_uint(c, u->sizes.address, d->swap);
        break;
    case DW_RLE_start_length:
        a = dwarf_read_uint(c, u->sizes.address, d->swap);
        b = a + cursor_uleb(c);
        break;
    default:
        return false;
    }
    *start = a;
    *end = b;
    return known;
}

static bool read_rnglist(struct reading *r, uint64_t offset)
{
    struct cursor c = r->d->rnglists;
    uint64_t base = r->u->low_pc;
    if (!cursor_skip(&c, offset)) {
        r->list->damaged = true;
        return true;
    }
    for (;;) {
        uint64_t start, end;
        uint8_t kind = cursor_u8(&c);
        if (!c.overrun && kind == DW_RLE_end_of_list)
            return true;
        if (c.overrun || !read_rnglist_entry(r, &c, kind, &base, &start, &end) || c.overrun) {
            r->list->damaged = true;
            return true;
        }
        if (!dwarf_spend(r->d, WORK_PER_RANGE))
            return false;
        if (!push(r, start, end))
            return false;
    }
}

/* The table of offsets at rnglists_base counts from there, too. */
static bool offset_by_index(struct reading *r, uint64_t index, uint64_t *ret)
{
    struct cursor c = r->d->rnglists;
    unsigned size = r->u->sizes.offset;
    uint64_t base = r->u->rnglists_base, at, offset;
    if (__builtin_mul_overflow(index, (uint64_t)size, &at) ||
        __builtin_add_overflow(at, base, &at) || !cursor_skip(&c, at))
        return false;
    offset = dwarf_read_uint(&c, size, r->d->swap);
    return !c.overrun && !__builtin_add_overflow(offset, base, ret);
}

static bool read_list(struct reading *r, const struct dwarf_entry *e)
{
    uint64_t offset = e->ranges;
    if (r->u->version < 5)
        return read_ranges_v4(r, offset);
    if (e->ranges_form == DWARF_RANGES_INDEX && !offset_by_index(r, e->ranges, &offset)) {
        r->list->damaged = true;
        return true;
    }
    return read_rnglist(r, offset);
}

bool dwarf_ranges_of(struct dwarf *d, const struct dwarf_unit *u, const struct dwarf_entry *e,
                     struct dwarf_range_list *list)
{
    struct reading r = {d, u, list, u->sizes.address == 4 ? UINT32_MAX : UINT64_MAX};
    if (e->ranges_form != DWARF_RANGES_NONE)
        return read_list(&r, e);
    if (!e->has_low || e->high_form == DWARF_HIGH_NONE)
        return true;
    uint64_t end = e->high;
    if (e->high_form == DWARF_HIGH_OFFSET) {
        /* A length that passes the end of the address space reaches it. */
        if (e->high > r.highest - (e->low & r.highest))
            end = r.highest;
        else
            end = e->low + e->high;
    }
    return push(&r, e->low, end);
}

static int compare_ranges(const void *a, const void *b)
{
    const struct object_range *x = a, *y = b;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    return x->end < y->end ? -1 : x->end > y->end;
}

size_t dwarf_ranges_join(struct object_range *r, size_t count)
{
    if (count < 2)
        return count;
    for (size_t i = 1; i < count; i++) {
        if (r[i].start < r[i - 1].start) {
            qsort(r, count, sizeof(*r), compare_ranges);
            break;
        }
    }
    size_t kept = 0;
    for (size_t i = 1; i < count; i++) {
        if (r[i].start > r[kept].end)
            r[++kept] = r[i];
        else if (r[i].end > r[kept].end)
            r[kept].end = r[i].end;
    }
    return kept + 1;
}
