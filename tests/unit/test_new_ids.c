/* Covers: storage/new_ids.c */
#include "storage/new_ids.h"

#include <string.h>

#include "base/hash.h"
#include "tests/support/unit.h"

#define IDS 20000

static struct new_id id_of(int number)
{
    struct new_id id = {.day = number % 2, .report_id = number};
    uint8_t digest[SHA256_SIZE];
    sha256_of(&number, sizeof(number), digest);
    memcpy(id.hash, digest, sizeof(id.hash));
    return id;
}

static void add(struct new_ids *n, int from, int to)
{
    for (int i = from; i < to; i++) {
        const struct new_id id = id_of(i);
        ck_assert(new_ids_add(n, &id));
    }
}

START_TEST(what_was_added_is_found_and_nothing_else)
{
    struct new_ids n = {0};
    ck_assert(!new_ids_have(&n, id_of(0).hash));
    add(&n, 0, IDS);
    for (int i = 0; i < 2 * IDS; i++)
        ck_assert_int_eq(new_ids_have(&n, id_of(i).hash), i < IDS);
    new_ids_clear(&n);
    ck_assert(!new_ids_have(&n, id_of(0).hash));
    new_ids_done(&n);
    ck_assert(!new_ids_have(&n, id_of(0).hash));
    new_ids_done(&n);
}
END_TEST

/* Ids of one day come in the order of a table that all shelves are put into. */
START_TEST(shelves_are_in_order)
{
    struct new_ids n = {0};
    size_t all = 0, count = 1;
    uint8_t last[2][ID_HASH_SIZE] = {{0}};
    ck_assert_ptr_null(new_ids_sorted(&n, 7, &count));
    ck_assert_uint_eq(count, 0);
    new_ids_clear_shelf(&n, 7);
    add(&n, 0, IDS);
    for (size_t shelf = 0; shelf < NEW_ID_SHELVES; shelf++) {
        const struct new_id *ids = new_ids_sorted(&n, shelf, &count);
        for (size_t i = 0; i < count; i++) {
            ck_assert(i == 0 || ids[i - 1].day <= ids[i].day);
            ck_assert_int_lt(memcmp(last[ids[i].day], ids[i].hash, ID_HASH_SIZE), 0);
            ck_assert_int_eq(ids[i].day, ids[i].report_id % 2);
            memcpy(last[ids[i].day], ids[i].hash, ID_HASH_SIZE);
        }
        all += count;
        const struct new_id id = count ? ids[0] : id_of(0);
        new_ids_clear_shelf(&n, shelf);
        ck_assert(count == 0 || !new_ids_have(&n, id.hash));
    }
    ck_assert_uint_eq(all, IDS);
    new_ids_done(&n);
}
END_TEST

UNIT_MAIN("new_ids", what_was_added_is_found_and_nothing_else, shelves_are_in_order)
