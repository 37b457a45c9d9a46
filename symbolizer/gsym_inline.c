#include "symbolizer/gsym_inline.h"

#include <stdbool.h>

/* The head of a node: its ranges, asked for one address. */
struct node {
    bool end; /* an empty range list: no node, the end of a list of siblings */
    bool holds;
    uint64_t first; /* start of its first range: what its children count from */
};

static inline struct node read_ranges(struct cursor *c, uint64_t base, uint64_t address)
{
    struct node n = {0};
    uint64_t count = cursor_uleb(c);
    n.end = count == 0;
    for (uint64_t i = 0; i < count && !c->overrun; i++) {
        uint64_t start = base + cursor_uleb(c);
        uint64_t size = cursor_uleb(c);
        if (i == 0)
            n.first = start;
        if (address >= start && address - start < size)
            n.holds = true;
    }
    return n;
}

static bool read_body(struct cursor *c, struct gsym_call *ret)
{
    bool has_children = cursor_u8(c) != 0;
    ret->name = cursor_u32(c, false);
    ret->call_file = (uint32_t)cursor_uleb(c);
    ret->call_line = (uint32_t)cursor_uleb(c);
    return has_children;
}

/* Steps over a body; whether children follow. */
static inline bool skip_body(struct cursor *c)
{
    bool has_children = cursor_u8(c) != 0;
    cursor_skip(c, 4);
    cursor_skip_lebs(c, 2);
    return has_children;
}

/* Steps over the children of a node whose body was read: most of the work of a lookup in a large
 * function, because a node does not say where its children end. */
static void skip_children(struct cursor *c)
{
    size_t depth = 1;
    while (depth > 0 && !c->overrun) {
        uint64_t ranges = cursor_uleb(c);
        if (ranges == 0) {
            depth--;
            continue;
        }
        cursor_skip_lebs(c, ranges);
        cursor_skip_lebs(c, ranges);
        depth += skip_body(c);
    }
}

size_t gsym_inline_find(struct cursor tree, uint64_t function, uint64_t address,
                        struct gsym_call *ret, size_t max)
{
    struct cursor c = tree;
    struct gsym_call call;
    size_t depth = 0;
    struct node n = read_ranges(&c, function, address);
    if (n.end || !n.holds || !read_body(&c, &call))
        return 0;
    uint64_t base = n.first;
    while (!c.overrun) {
        n = read_ranges(&c, base, address);
        if (n.end)
            break;
        if (!n.holds) {
            if (skip_body(&c))
                skip_children(&c);
            continue;
        }
        bool has_children = read_body(&c, &call);
        if (c.overrun)
            break;
        ret[depth++] = call;
        if (!has_children || depth > max)
            break;
        base = n.first;
    }
    return depth;
}

const char *gsym_inline_check(struct cursor tree, uint32_t file_count, uint32_t strings_size)
{
    struct cursor c = tree;
    struct gsym_call call;
    size_t depth = 0;
    do {
        bool end = read_ranges(&c, 0, 0).end;
        if (end && depth == 0)
            return "inline info: without ranges";
        bool has_children = !end && read_body(&c, &call);
        if (c.overrun)
            return "inline info: ends early";
        if (!end && (call.call_file >= file_count || call.name >= strings_size))
            return "inline info: no such file or name";
        if (end)
            depth--;
        else if (has_children)
            depth++;
        if (depth > GSYM_INLINE_DEPTH_MAX)
            return "inline info: too deep";
    } while (depth > 0);
    return NULL;
}
