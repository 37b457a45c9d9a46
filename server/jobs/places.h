/*
 * places - a bounded table: what apps know of the places of images, fair between them.
 *
 * Purpose: the tables behind layouts.h. Whoever may send can fill one: when it is full the app that holds
 * most gives its oldest entry, so that nobody's go for one that holds more than they do.
 *
 * Invariants: at most `max_entries`. An app is a hash of its name; strangers choose names and UUIDs, so
 * that hash has to have a secret, and so has `seed`. Nothing takes longer than the logarithm of the
 * number of apps.
 *
 * Threads: one at a time. Memory: places_new/places_free.
 */
#ifndef STALLSYM_JOBS_PLACES_H
#define STALLSYM_JOBS_PLACES_H

#include <stddef.h>
#include <stdint.h>

#include "base/uuid.h"

struct places;

/* NULL without memory, and for no entries or too many. */
struct places *places_new(size_t max_entries, uint64_t seed);
void places_free(struct places *p);
/* NULL: not known. Until the next places_add(). */
uint64_t *places_find(struct places *p, uint64_t app, const struct uuid *uuid);
/* One that is not known. */
void places_add(struct places *p, uint64_t app, const struct uuid *uuid, uint64_t vmaddr);

#endif
