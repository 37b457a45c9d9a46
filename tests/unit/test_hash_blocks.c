#include "base/hash_blocks.h"

#include <string.h>

#include "tests/support/unit.h"

/* Whatever form the machine has: the same as plain C, for any bytes, state, count, alignment. */
START_TEST(both_forms_agree)
{
    uint8_t data[HASH_BLOCK_SIZE * 9 + 16];
    uint32_t seed = 12345;
    for (int round = 0; round < 500; round++) {
        uint32_t a[8], b[8];
        for (size_t i = 0; i < sizeof(data); i++)
            data[i] = (uint8_t)((seed = seed * 1664525 + 1013904223) >> 24);
        for (size_t i = 0; i < 8; i++)
            a[i] = b[i] = seed = seed * 1664525 + 1013904223;
        size_t count = (size_t)round % 10;
        hash_blocks(a, data + round % 16, count);
        hash_blocks_portable(b, data + round % 16, count);
        ck_assert_mem_eq(a, b, sizeof(a));
    }
}
END_TEST

/* FIPS 180-4: "abc" is one block. */
START_TEST(known_block)
{
    uint32_t state[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                         0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    const uint32_t want[8] = {0xba7816bf, 0x8f01cfea, 0x414140de, 0x5dae2223,
                              0xb00361a3, 0x96177a9c, 0xb410ff61, 0xf20015ad};
    uint8_t block[HASH_BLOCK_SIZE] = {'a', 'b', 'c', 0x80};
    block[63] = 24;
    hash_blocks_portable(state, block, 1);
    ck_assert_mem_eq(state, want, sizeof(want));
}
END_TEST

UNIT_MAIN("hash_blocks", both_forms_agree, known_block)
