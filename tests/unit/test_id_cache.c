#include "storage/id_cache.h"

#include <stdio.h>
#include <string.h>

#include "tests/support/unit.h"

START_TEST(finds_what_was_put)
{
    struct id_cache c;
    char key[32];
    int64_t id = 0;
    ck_assert(id_cache_init(&c, 100, 42));
    ck_assert(!id_cache_get(&c, "a", 1, &id));
    id_cache_put(&c, "a", 1, 7);
    id_cache_put(&c, "", 0, 8);
    id_cache_put(&c, "a\0b", 3, 9);
    ck_assert(id_cache_get(&c, "a", 1, &id) && id == 7);
    ck_assert(id_cache_get(&c, "", 0, &id) && id == 8);
    ck_assert(id_cache_get(&c, "a\0b", 3, &id) && id == 9);
    id_cache_put(&c, "a", 1, 10);
    ck_assert(id_cache_get(&c, "a", 1, &id) && id == 10);
    id_cache_clear(&c);
    ck_assert(!id_cache_get(&c, "a", 1, &id));
    /* Never more than it was made for; what is in it is right. */
    for (int i = 0; i < 5000; i++) {
        int n = snprintf(key, sizeof(key), "key %d", i);
        id_cache_put(&c, key, (size_t)n, i);
        ck_assert(id_cache_get(&c, key, (size_t)n, &id) && id == i);
        ck_assert_uint_le(c.count, 100);
        n = snprintf(key, sizeof(key), "key %d", i / 2);
        if (id_cache_get(&c, key, (size_t)n, &id))
            ck_assert_int_eq(id, i / 2);
    }
    id_cache_done(&c);
    id_cache_done(NULL);
}
END_TEST

START_TEST(long_keys_do_no_harm)
{
    struct id_cache c;
    char key[ID_CACHE_KEY_MAX + 1];
    int64_t id = 0;
    ck_assert(id_cache_init(&c, 8, 1));
    memset(key, 'x', sizeof(key));
    id_cache_put(&c, key, sizeof(key), 1);
    ck_assert(!id_cache_get(&c, key, sizeof(key), &id));
    for (int i = 0; i < 100; i++) {
        key[0] = (char)i;
        id_cache_put(&c, key, ID_CACHE_KEY_MAX, i);
        ck_assert(id_cache_get(&c, key, ID_CACHE_KEY_MAX, &id) && id == i);
    }
    id_cache_done(&c);
}
END_TEST

UNIT_MAIN("id_cache", finds_what_was_put, long_keys_do_no_harm)
