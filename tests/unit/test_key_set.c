#include "base/key_set.h"

#include <string.h>

#include "tests/support/unit.h"

START_TEST(numbers_stay_with_their_keys)
{
    struct key_set s;
    key_set_init(&s, sizeof(uint32_t), 7);
    uint32_t none = 1;
    ck_assert_ptr_null(key_set_find(&s, &none));
    for (uint32_t i = 0; i < 50000; i++) {
        uint64_t *n = key_set_at(&s, &i);
        ck_assert_ptr_nonnull(n);
        ck_assert_uint_eq(*n, 0);
        *n = i * (uint64_t)3 + 1;
    }
    ck_assert_uint_eq(s.count, 50000);
    for (uint32_t i = 0; i < 50000; i++) {
        ck_assert_uint_eq(*key_set_at(&s, &i), i * (uint64_t)3 + 1);
        ck_assert_uint_eq(*key_set_find(&s, &i), i * (uint64_t)3 + 1);
    }
    ck_assert_uint_eq(s.count, 50000);
    none = 50000;
    ck_assert_ptr_null(key_set_find(&s, &none));
    key_set_done(&s);
    ck_assert_ptr_null(key_set_find(&s, &none));
}
END_TEST

START_TEST(every_byte_of_a_key_counts)
{
    struct key_set s;
    uint8_t key[KEY_SET_KEY_MAX] = {0};
    key_set_init(&s, sizeof(key), 0);
    for (size_t i = 0; i < sizeof(key); i++) {
        memset(key, 0, sizeof(key));
        key[i] = 1;
        *key_set_at(&s, key) = i + 1;
    }
    ck_assert_uint_eq(s.count, sizeof(key));
    key[0] = 1;
    ck_assert_ptr_null(key_set_find(&s, key));
    key_set_done(&s);
}
END_TEST

UNIT_MAIN("key_set", numbers_stay_with_their_keys, every_byte_of_a_key_counts)
