/*
 * storage_health - what a connection noticed of the database file: damaged, cannot be read, or takes no
 * checkpoint.
 *
 * Purpose: whichever read or write meets a page that is no page, or a disk that does not give one,
 * notes it here; it stays noted until the whole file was found sound (storage_check) or the program
 * ends. Without it only whoever asked for that page would know.
 *
 * Invariants: the first trouble's words are kept; damage outdoes a failure to read. What is noted
 * while a check runs is not forgotten by it. Of checkpoints the last one counts.
 *
 * Threads: any. Memory: storage_health_init/storage_health_done.
 */
#ifndef STALLSYM_STORAGE_STORAGE_HEALTH_H
#define STALLSYM_STORAGE_STORAGE_HEALTH_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

#include "storage/storage.h"

struct storage_health {
    pthread_mutex_t lock;
    enum storage_trouble trouble;
    uint64_t noted; /* how often anything was */
    char text[sizeof(((struct error *)NULL)->text)];
    struct error checkpoint; /* ERR_OK: none, or it went well */
};

void storage_health_init(struct storage_health *h);
void storage_health_done(struct storage_health *h);
void storage_health_note(struct storage_health *h, enum storage_trouble trouble, const char *text);
/* `text` may be NULL; "" where nothing is noted. */
enum storage_trouble storage_health_get(struct storage_health *h, char *text, size_t size);
/* How often anything was noted: before a check. */
uint64_t storage_health_mark(struct storage_health *h);
/* The check found nothing: forgets what was noted before `mark`, if nothing was since. */
void storage_health_clear(struct storage_health *h, uint64_t mark);

/* `failed` NULL: it went well. */
void storage_health_checkpoint(struct storage_health *h, const struct error *failed);
enum err storage_health_last_checkpoint(struct storage_health *h, struct error *err);

#endif
