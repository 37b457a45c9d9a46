/*
 * object_ranges - the parts of an object that hold code, in order.
 *
 * Purpose: readers and object.c ask for every symbol whether its address is code; sections come as
 * the file has them.
 *
 * Invariants: after object_ranges_order() they ascend, none is empty, and an overlap belongs to the
 * range that began first. Neighbours stay apart: the end of a section bounds its last function.
 *
 * Threads: pure functions. Memory: the caller's array.
 */
#ifndef STALLSYM_SYMBOLIZER_OBJECT_RANGES_H
#define STALLSYM_SYMBOLIZER_OBJECT_RANGES_H

#include <stdbool.h>

#include "symbolizer/object.h"

/* How many are left. */
size_t object_ranges_order(struct object_range *ranges, size_t count);
/* Of ranges in order. */
bool object_ranges_hold(const struct object_range *ranges, size_t count, uint64_t address);

#endif
