/* Covers: base/large_heap.c */
#include "base/large_heap.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "tests/support/unit.h"

static size_t resident(void)
{
    unsigned long whole = 0, resident = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    ck_assert_ptr_nonnull(f);
    ck_assert_int_eq(fscanf(f, "%lu %lu", &whole, &resident), 2);
    fclose(f);
    return (size_t)resident * (size_t)sysconf(_SC_PAGESIZE);
}

/* A sanitizer has a heap of its own, which none of this is about. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define OWN_HEAP true
#else
#define OWN_HEAP false
#endif

/* Nothing is touched, and what is asked for afterwards comes and goes as ever. */
START_TEST(only_what_is_touched_counts)
{
    size_t before = resident();
    large_heap_prepare((size_t)64 << 20);
    ck_assert(OWN_HEAP || resident() < before + ((size_t)8 << 20));
    uint8_t *list[64];
    for (size_t i = 0; i < 64; i++) {
        list[i] = malloc((size_t)100000 * (1 + i % 3));
        ck_assert_ptr_nonnull(list[i]);
        memset(list[i], (int)i, (size_t)100000 * (1 + i % 3));
    }
    for (size_t i = 0; i < 64; i++) {
        list[i] = realloc(list[i], 1000000);
        ck_assert_ptr_nonnull(list[i]);
        ck_assert_uint_eq(list[i][99999], i);
        free(list[i]);
    }
}
END_TEST

/* Where there is no room the heap is as it was. */
START_TEST(a_limit_is_no_failure)
{
    const struct rlimit small = {(rlim_t)16 << 20, (rlim_t)16 << 20};
    ck_assert(OWN_HEAP || setrlimit(RLIMIT_DATA, &small) == 0);
    large_heap_prepare(SIZE_MAX);
    void *p = malloc(1 << 20);
    ck_assert_ptr_nonnull(p);
    free(p);
}
END_TEST

UNIT_MAIN("large_heap", only_what_is_touched_counts, a_limit_is_no_failure)
