/*
 * radix - the order of many numbers.
 *
 * Purpose: tens of thousands of addresses in order, in a few passes over them and without a
 * comparison.
 *
 * Invariants: stable: equal numbers keep their order.
 *
 * Threads: any. Memory: as much again while it works.
 */
#ifndef STALLSYM_SYMBOLIZER_RADIX_H
#define STALLSYM_SYMBOLIZER_RADIX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct radix_item {
    uint64_t key;
    uint32_t index; /* the caller's */
};

/* Sorts by key. False: no memory, the list is as it was. */
bool radix_sort(struct radix_item *list, size_t count);

#endif
