/*
 * hash_blocks - the compression function of SHA-256, and nothing else.
 *
 * Purpose: object files of hundreds of megabytes are named by their SHA-256; where the processor
 * has instructions for it (x86's SHA extensions) they are used, which is six to eight times as
 * fast as the portable form.
 *
 * Threads: any; the choice is made once and is the same for all. Memory: none.
 */
#ifndef STALLSYM_BASE_HASH_BLOCKS_H
#define STALLSYM_BASE_HASH_BLOCKS_H

#include <stddef.h>
#include <stdint.h>

#define HASH_BLOCK_SIZE 64

/* `count` blocks at `p` into `state` (FIPS 180-4, section 6.2.2). */
void hash_blocks(uint32_t state[8], const uint8_t *p, size_t count);
/* The form in plain C, for the machines without and for the tests to compare with. */
void hash_blocks_portable(uint32_t state[8], const uint8_t *p, size_t count);

#endif
