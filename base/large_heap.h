/*
 * large_heap - memory of a short-lived process in large pages.
 *
 * Purpose: a process that fills some tens of megabytes, works for a tenth of a second and ends
 * spends a tenth of its time on page faults. The heap is extended once and the kernel asked to back
 * it with large pages: a fault for each 2 MB instead of one for each 4 kB.
 *
 * Invariants: only what is touched becomes memory; the address space counts for RLIMIT_DATA. Where
 * the kernel or the limit says no the heap works as before.
 *
 * Threads: call it before the first thread is started; threads share the one heap. Memory: the
 * process's.
 */
#ifndef STALLSYM_BASE_LARGE_HEAP_H
#define STALLSYM_BASE_LARGE_HEAP_H

#include <stddef.h>

/* `bytes`: about what the process will need; rounded to large pages, and capped. */
void large_heap_prepare(size_t bytes);

#endif
