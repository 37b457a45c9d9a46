#include "symbolizer/dwarf_inlines.h"

#include <string.h>

#include "base/vec.h"
#include "symbolizer/dwarf_ranges.h"

static bool reserve(struct debug_unit *u, size_t count)
{
    void *p = vec_grown(u->ranges, &u->range_cap, u->range_count + count + 1, sizeof(*u->ranges));
    if (!p)
        return false;
    u->ranges = p;
    return true;
}

bool debug_unit_add_ranges(struct debug_unit *u, const struct object_range *ranges, size_t count,
                           size_t *ret_first)
{
    if (!reserve(u, count))
        return false;
    if (count)
        memcpy(u->ranges + u->range_count, ranges, count * sizeof(*ranges));
    *ret_first = u->range_count;
    u->range_count += count;
    return true;
}

/* True when every range of `inner` lies in one of `outer`. */
static bool is_inside(const struct debug_unit *u, const struct debug_inline *inner,
                      const struct debug_inline *outer)
{
    const struct object_range *in = u->ranges + inner->first_range;
    const struct object_range *out = u->ranges + outer->first_range;
    size_t o = 0;
    for (size_t i = 0; i < inner->range_count; i++) {
        while (o < outer->range_count && out[o].end < in[i].end)
            o++;
        if (o == outer->range_count || in[i].start < out[o].start)
            return false;
    }
    return true;
}

/* Makes the call at `outer` hold all its children, in one go. */
static bool widen(struct debug_unit *u, size_t first, const struct dwarf_nest *nest, uint32_t outer)
{
    struct debug_inline *node = &u->inlines[first + outer];
    size_t total = 0;
    for (uint32_t c = nest[outer].child; c != DWARF_NO_PARENT; c = nest[c].sibling) {
        if (!is_inside(u, &u->inlines[first + c], node))
            total += u->inlines[first + c].range_count;
    }
    if (total == 0)
        return true;
    total += node->range_count;
    if (!reserve(u, total))
        return false;
    struct object_range *all = u->ranges + u->range_count;
    size_t count = node->range_count;
    memcpy(all, u->ranges + node->first_range, count * sizeof(*all));
    for (uint32_t c = nest[outer].child; c != DWARF_NO_PARENT; c = nest[c].sibling) {
        const struct debug_inline *child = &u->inlines[first + c];
        if (is_inside(u, child, node))
            continue;
        memcpy(all + count, u->ranges + child->first_range, child->range_count * sizeof(*all));
        count += child->range_count;
    }
    node->first_range = u->range_count;
    node->range_count = (uint32_t)dwarf_ranges_join(all, count);
    u->range_count += node->range_count;
    return true;
}

bool dwarf_inlines_settle(struct debug_unit *u, size_t first, struct dwarf_nest *nest)
{
    size_t count = u->inline_count - first;
    /* From the last to the first: children are whole before their parent is looked at. */
    for (size_t i = count; i-- > 0;) {
        if (nest[i].child != DWARF_NO_PARENT && !widen(u, first, nest, (uint32_t)i))
            return false;
        uint32_t parent = nest[i].parent;
        if (parent == DWARF_NO_PARENT)
            continue;
        nest[i].sibling = nest[parent].child;
        nest[parent].child = (uint32_t)i;
    }
    size_t kept = first;
    for (size_t i = first; i < u->inline_count; i++) {
        if (u->inlines[i].range_count > 0)
            u->inlines[kept++] = u->inlines[i];
    }
    u->inline_count = kept;
    return true;
}
