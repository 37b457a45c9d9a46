/*
 * leftovers - files and folders that should be gone and could not be removed at once.
 *
 * Purpose: removing takes a descriptor, memory and a disk that works. What cannot be removed now is
 * noted here and tried again, so that it does not lie about until the next start.
 *
 * Invariants: at most LEFTOVERS_MAX are noted; what comes above waits for the start's own sweep.
 * Nothing is allocated: there is no memory, perhaps. Only what lies in one of the folders below
 * `base` is removed, never a folder itself.
 *
 * Threads: any. Memory: leftovers_init/leftovers_done; `base` is kept by the caller.
 */
#ifndef STALLSYM_STORAGE_LEFTOVERS_H
#define STALLSYM_STORAGE_LEFTOVERS_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#define LEFTOVERS_MAX  64
#define LEFTOVERS_NAME 80 /* "work/NAME", "spool/NAME" */

struct leftovers {
    const char *base;
    pthread_mutex_t lock;
    size_t count;
    char names[LEFTOVERS_MAX][LEFTOVERS_NAME];
};

void leftovers_init(struct leftovers *l, const char *base);
void leftovers_done(struct leftovers *l);
/* Removes `base`/NAME, a file or a folder with all that is in it; what stays is noted. False: it
 * stays. What is not there is gone. */
bool leftovers_remove(struct leftovers *l, const char *name);
/* Tries again all that stayed. How many are left. */
size_t leftovers_retry(struct leftovers *l);

#endif
