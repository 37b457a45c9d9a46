#include "storage/sqlite_memory.h"

#include <malloc.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

/* What malloc adds to it, and SQLite to what was asked for. */
#define PIECE_MARGIN 4096
/* What of the kept piece stays in memory: more than ops touch but for the rare large one. */
#define PIECE_RESIDENT ((size_t)16 << 20)
#define PAGE           ((uintptr_t)4096)

static _Atomic(void *) kept;

static void *take(int size)
{
    if (size >= SQLITE_PIECE_BYTES) {
        void *p = atomic_exchange(&kept, NULL);
        if (p && malloc_usable_size(p) >= (size_t)size)
            return p;
        free(p);
    }
    return malloc((size_t)size);
}

/* The pages behind PIECE_RESIDENT go back to the system; their contents are nobody's any more. */
static void shrink(void *p, size_t size)
{
    const uintptr_t from = ((uintptr_t)p + PIECE_RESIDENT + PAGE - 1) / PAGE * PAGE;
    const uintptr_t end = ((uintptr_t)p + size) / PAGE * PAGE;
    if (from < end)
        (void)madvise((void *)from, end - from, MADV_DONTNEED);
}

static void give_back(void *p)
{
    const size_t size = malloc_usable_size(p);
    if (size >= SQLITE_PIECE_BYTES && size <= SQLITE_PIECE_BYTES + PIECE_MARGIN) {
        shrink(p, size);
        p = atomic_exchange(&kept, p);
    }
    free(p);
}

static void *resize(void *p, int size)
{
    return realloc(p, (size_t)size);
}

static int size_of(void *p)
{
    return p ? (int)malloc_usable_size(p) : 0;
}

static int round_up(int size)
{
    return (size + 7) & ~7;
}

static int begin(void *context)
{
    (void)context;
    return SQLITE_OK;
}

static void end(void *context)
{
    (void)context;
}

static void set(void)
{
    static const sqlite3_mem_methods methods = {
        .xMalloc = take,
        .xFree = give_back,
        .xRealloc = resize,
        .xSize = size_of,
        .xRoundup = round_up,
        .xInit = begin,
        .xShutdown = end,
    };
    (void)sqlite3_config(SQLITE_CONFIG_MALLOC, &methods);
    (void)sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
    (void)sqlite3_config(SQLITE_CONFIG_STMTJRNL_SPILL, SQLITE_PIECE_BYTES);
}

void sqlite_memory_set(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    (void)pthread_once(&once, set);
}
