#include "symbolizer/object_names.h"

void object_names_begin(struct object_names *n, struct cursor table)
{
    *n = (struct object_names){.table = table, .left = cursor_left(&table) * OBJECT_NAMES_FACTOR};
    if (n->left < OBJECT_NAMES_LEAST)
        n->left = OBJECT_NAMES_LEAST;
}

const char *object_names_at(struct object_names *n, uint64_t offset)
{
    struct cursor c = n->table;
    if (n->spent || !cursor_skip(&c, offset))
        return NULL;
    const uint8_t *from = c.p;
    const char *text = cursor_cstr(&c);
    const uint64_t cost = (uint64_t)(c.p - from);
    n->spent = cost > n->left;
    n->left -= n->spent ? n->left : cost;
    return n->spent ? NULL : text;
}

enum err object_names_check(const struct object_names *n, struct error *err)
{
    return n->spent
               ? error_set(err, ERR_LIMIT,
                           "the names of the symbols lie over each other and cost too much work")
               : ERR_OK;
}
