/* Covers: server/http/shelf_lookup.c storage/read_shelves.c */
#include "server/http/shelf_lookup.h"

#include <string.h>

#include "storage/read_shelves.h"
#include "tests/support/rig.h"
#include "tests/support/unit.h"

static struct rig rig;

START_TEST(each_app_finds_its_own)
{
    const struct uuid image = {{7, 1}}, same_slot = {{7, 2}}, nil = {{0}};
    struct uuid shelf, found;
    struct shelf_lookup l;
    struct error err;
    rig_start(&rig);
    ck_assert_int_eq(read_shelf(rig.reader, "com.a", &image, &shelf, &err), ERR_OK);
    ck_assert(!uuid_equal(&shelf, &image));
    ck_assert_int_eq(read_shelf(rig.reader, "", &image, &found, &err), ERR_OK);
    ck_assert(uuid_equal(&found, &image));
    rig_own(&rig, "com.a", &image, &shelf);
    static const char *const apps[] = {"com.a", NULL, "com.b"};
    for (size_t i = 0; i < 3; i++) {
        shelf_lookup_init(&l, rig.reader, apps[i]);
        for (int round = 0; round < 2; round++) {
            shelf_lookup_find(&l, &image, &found);
            ck_assert(uuid_equal(&found, i < 2 ? &shelf : &image));
            shelf_lookup_find(&l, &same_slot, &found);
            ck_assert(uuid_equal(&found, &same_slot));
            shelf_lookup_find(&l, &nil, &found);
            ck_assert(uuid_is_nil(&found));
        }
        ck_assert_int_eq(l.rc, ERR_OK);
    }
    rig_stop(&rig);
}
END_TEST

START_TEST(a_failing_database_is_told)
{
    const struct uuid image = {{7, 1}};
    struct uuid found;
    struct shelf_lookup l;
    rig_start(&rig);
    shelf_lookup_init(&l, rig.reader, "com.a");
    storage_reader_deadline(rig.reader, 0); /* long over: every query fails */
    shelf_lookup_find(&l, &image, &found);
    ck_assert(uuid_equal(&found, &image));
    ck_assert_int_eq(l.rc, ERR_LIMIT);
    ck_assert(*l.error.text);
    storage_reader_deadline(rig.reader, INT64_MAX);
    rig_stop(&rig);
}
END_TEST

UNIT_MAIN("shelf_lookup", each_app_finds_its_own, a_failing_database_is_told)
