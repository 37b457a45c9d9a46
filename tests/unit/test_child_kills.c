/* Covers: server/jobs/child_kills.c */
#include "server/jobs/child_kills.h"

#include <string.h>

#include "tests/support/unit.h"

static const uint8_t *object(uint32_t n)
{
    static uint8_t sha[SHA256_SIZE];
    memset(sha, 0, sizeof(sha));
    memcpy(sha, &n, sizeof(n));
    return sha;
}

START_TEST(each_object_has_its_own_count)
{
    struct child_kills k;
    child_kills_init(&k);
    /* In turn, as objects are tried again. */
    for (int i = 1; i < CHILD_KILLS_MAX; i++) {
        ck_assert(!child_kills_note(&k, object(1)));
        ck_assert(!child_kills_note(&k, object(2)));
    }
    child_kills_forget(&k, object(2));
    child_kills_forget(&k, object(3));
    ck_assert(child_kills_note(&k, object(1)));
    ck_assert(!child_kills_note(&k, object(1))); /* begins anew */
    ck_assert(!child_kills_note(&k, object(2)));
    child_kills_done(&k);
}
END_TEST

START_TEST(there_is_a_cap)
{
    struct child_kills k;
    child_kills_init(&k);
    for (uint32_t i = 0; i < 3 * CHILD_KILLS_OBJECTS; i++) {
        ck_assert(!child_kills_note(&k, object(i)));
        ck_assert_uint_le(k.counts.count, CHILD_KILLS_OBJECTS);
    }
    child_kills_done(&k);
}
END_TEST

UNIT_MAIN("child_kills", each_object_has_its_own_count, there_is_a_cap)
