#include "server/jobs/piece_locks.h"

#include <string.h>

#include "tests/support/unit.h"

START_TEST(one_holder_at_a_time)
{
    struct piece_locks *l = piece_locks_new();
    const uint8_t a[OPEN_UPLOAD_ID_SIZE] = {1};
    const uint8_t b[OPEN_UPLOAD_ID_SIZE] = {1, 2};
    ck_assert(piece_locks_take(l, a));
    ck_assert(!piece_locks_take(l, a));
    ck_assert(piece_locks_take(l, b));
    piece_locks_give(l, a);
    piece_locks_give(l, a); /* not held: nothing happens */
    ck_assert(!piece_locks_take(l, b));
    ck_assert(piece_locks_take(l, a));
    piece_locks_free(l);
    piece_locks_free(NULL);
}
END_TEST

START_TEST(their_number_is_capped)
{
    struct piece_locks *l = piece_locks_new();
    uint8_t id[OPEN_UPLOAD_ID_SIZE] = {0};
    for (uint32_t i = 0; i < PIECE_LOCKS_MAX; i++) {
        memcpy(id, &i, sizeof(i));
        ck_assert(piece_locks_take(l, id));
    }
    id[15] = 1;
    ck_assert(!piece_locks_take(l, id));
    id[15] = 0;
    piece_locks_give(l, id);
    id[15] = 1;
    ck_assert(piece_locks_take(l, id));
    piece_locks_free(l);
}
END_TEST

UNIT_MAIN("piece_locks", one_holder_at_a_time, their_number_is_capped)
