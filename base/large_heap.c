#include "base/large_heap.h"

#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGE_LARGE ((size_t)2 << 20)
#define BYTES_MIN  ((size_t)8 << 20)
#define BYTES_MAX  ((size_t)64 << 20)

void large_heap_prepare(size_t bytes)
{
    if (bytes < BYTES_MIN)
        bytes = BYTES_MIN;
    if (bytes > BYTES_MAX)
        bytes = BYTES_MAX;
    bytes = (bytes + PAGE_LARGE - 1) / PAGE_LARGE * PAGE_LARGE;
    mallopt(M_ARENA_MAX, 1);
    /* What was extended stays, and is used for all. */
    mallopt(M_TRIM_THRESHOLD, (int)(2 * BYTES_MAX));
    mallopt(M_MMAP_THRESHOLD, (int)(2 * BYTES_MAX));
    char *room = malloc(bytes);
    if (!room)
        return;
    uintptr_t from = ((uintptr_t)room + PAGE_LARGE - 1) / PAGE_LARGE * PAGE_LARGE;
    uintptr_t end = ((uintptr_t)room + bytes) / PAGE_LARGE * PAGE_LARGE;
    /* Before the first touch, which is what decides. */
    if (from < end)
        (void)madvise((void *)from, end - from, MADV_HUGEPAGE);
    free(room);
}
