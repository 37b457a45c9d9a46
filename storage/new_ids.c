#include "storage/new_ids.h"

#include <stdlib.h>
#include <string.h>

#include "base/vec.h"

static size_t shelf_of(const uint8_t hash[ID_HASH_SIZE])
{
    return ((size_t)hash[0] << 8 | hash[1]) * NEW_ID_SHELVES >> 16;
}

void new_ids_done(struct new_ids *n)
{
    for (size_t i = 0; n->shelves && i < NEW_ID_SHELVES; i++)
        free(n->shelves[i].items);
    free(n->shelves);
    n->shelves = NULL;
}

void new_ids_clear(struct new_ids *n)
{
    for (size_t i = 0; n->shelves && i < NEW_ID_SHELVES; i++)
        n->shelves[i].count = 0;
}

bool new_ids_add(struct new_ids *n, const struct new_id *id)
{
    if (!n->shelves && !(n->shelves = calloc(NEW_ID_SHELVES, sizeof(*n->shelves))))
        return false;
    struct new_id_shelf *shelf = &n->shelves[shelf_of(id->hash)];
    struct new_id *items =
        vec_grown(shelf->items, &shelf->cap, shelf->count + 1, sizeof(*shelf->items));
    if (!items)
        return false;
    shelf->items = items;
    items[shelf->count++] = *id;
    return true;
}

bool new_ids_have(const struct new_ids *n, const uint8_t hash[ID_HASH_SIZE])
{
    const struct new_id_shelf none = {0};
    const struct new_id_shelf *shelf = n->shelves ? &n->shelves[shelf_of(hash)] : &none;
    for (size_t i = 0; i < shelf->count; i++) {
        if (memcmp(shelf->items[i].hash, hash, ID_HASH_SIZE) == 0)
            return true;
    }
    return false;
}

static int in_order(const void *a, const void *b)
{
    const struct new_id *x = a;
    const struct new_id *y = b;
    if (x->day != y->day)
        return x->day < y->day ? -1 : 1;
    return memcmp(x->hash, y->hash, ID_HASH_SIZE);
}

const struct new_id *new_ids_sorted(struct new_ids *n, size_t shelf, size_t *ret_count)
{
    *ret_count = n->shelves ? n->shelves[shelf].count : 0;
    if (*ret_count == 0)
        return NULL;
    qsort(n->shelves[shelf].items, *ret_count, sizeof(struct new_id), in_order);
    return n->shelves[shelf].items;
}

void new_ids_clear_shelf(struct new_ids *n, size_t shelf)
{
    if (n->shelves)
        n->shelves[shelf].count = 0;
}
