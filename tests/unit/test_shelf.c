/* Covers: storage/shelf.c */
#include "storage/shelf.h"

#include <string.h>

#include "tests/support/unit.h"

START_TEST(a_shelf_is_of_an_app_an_image_and_a_database)
{
    uint8_t secrets[2][SHA256_SIZE] = {{1}, {2}};
    const struct uuid images[2] = {{{1, 2, 3}}, {{1, 2, 4}}};
    const struct uuid nil = {{0}};
    struct uuid seen[8];
    size_t count = 0;
    for (size_t i = 0; i < 8; i++) {
        struct uuid shelf = shelf_of(secrets[i & 1], i & 2 ? "com.a" : "com.b", &images[i >> 2]);
        struct uuid again = shelf_of(secrets[i & 1], i & 2 ? "com.a" : "com.b", &images[i >> 2]);
        ck_assert(uuid_equal(&shelf, &again));
        for (size_t k = 0; k < count; k++)
            ck_assert(!uuid_equal(&shelf, &seen[k]));
        ck_assert(!uuid_equal(&shelf, &images[i >> 2]));
        seen[count++] = shelf;
    }
    struct uuid shared = shelf_of(secrets[0], "", &images[0]);
    ck_assert(uuid_equal(&shared, &images[0]));
    shared = shelf_of(secrets[0], "com.a", &nil);
    ck_assert(uuid_is_nil(&shared));
}
END_TEST

UNIT_MAIN("shelf", a_shelf_is_of_an_app_an_image_and_a_database)
