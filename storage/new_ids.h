/*
 * new_ids - ids of reports that wait until they are put in order.
 *
 * Purpose: ids are hashes, so each new one belongs on another page of a table in their order: a page
 * written for an id. They wait here, in shelves by their first bits; a shelf is put away whole, some
 * dozens of ids that lie beside each other, on a few pages.
 *
 * Invariants: what was added is found until its shelf is cleared.
 *
 * Threads: one owner. Memory: new_ids_done; zeros are none. Shelves keep their room.
 */
#ifndef STALLSYM_STORAGE_NEW_IDS_H
#define STALLSYM_STORAGE_NEW_IDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "storage/id_days.h"

#define NEW_ID_SHELVES 4096

struct new_id {
    int64_t day, report_id;
    uint8_t hash[ID_HASH_SIZE];
};

struct new_id_shelf {
    struct new_id *items;
    size_t count, cap;
};

struct new_ids {
    struct new_id_shelf *shelves; /* NEW_ID_SHELVES, or NULL: none was added yet */
};

void new_ids_done(struct new_ids *n);
void new_ids_clear(struct new_ids *n);
/* False: no memory. */
bool new_ids_add(struct new_ids *n, const struct new_id *id);
bool new_ids_have(const struct new_ids *n, const uint8_t hash[ID_HASH_SIZE]);
/* By day and hash; until the shelf changes. */
const struct new_id *new_ids_sorted(struct new_ids *n, size_t shelf, size_t *ret_count);
void new_ids_clear_shelf(struct new_ids *n, size_t shelf);

#endif
