#include "base/vec.h"

#include <stdint.h>

#include "tests/support/unit.h"

START_TEST(grows_within_its_cap)
{
    size_t cap = 0;
    uint64_t *v = vec_grown(NULL, &cap, 1, sizeof(*v));
    ck_assert_ptr_nonnull(v);
    ck_assert_uint_ge(cap, 1);
    v[0] = 7;
    v = vec_grown(v, &cap, 1000, sizeof(*v));
    ck_assert_uint_ge(cap, 1000);
    ck_assert_uint_eq(v[0], 7);
    size_t before = cap;
    ck_assert_ptr_null(vec_grown(v, &cap, VEC_BYTES_MAX, sizeof(*v)));
    ck_assert_uint_eq(cap, before);
    ck_assert_uint_eq(v[0], 7);
    free(v);
}
END_TEST

UNIT_MAIN("vec", grows_within_its_cap)
