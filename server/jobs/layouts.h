/*
 * layouts - which __TEXT vmaddr each UUID has, as far as anybody told us.
 *
 * Purpose: the door turns slide-only images into load addresses without asking the database.
 *
 * Invariants: bounded (the oldest entries go first); loaded from storage at start, added to when an
 * index or a report teaches one.
 *
 * Threads: any; one lock inside. Memory: layouts_new/layouts_free.
 */
#ifndef STALLSYM_JOBS_LAYOUTS_H
#define STALLSYM_JOBS_LAYOUTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/uuid.h"
#include "storage/storage_read.h"

struct layouts;

struct layouts *layouts_new(size_t max_entries);
void layouts_free(struct layouts *l);
void layouts_learn(struct layouts *l, const struct uuid *uuid, uint64_t vmaddr);
/* Matches symbolizer/image_map.h's struct image_layout; ctx is the struct layouts. */
bool layouts_find(void *ctx, const struct uuid *uuid, uint64_t *ret_vmaddr);

/* The member of a slide group (as read_group() gives them) that holds an unslid address, and the
 * offset in it. A member takes an address only if its size is known: never a guess. */
bool layouts_place(const struct layout_row *members, size_t count, uint64_t unslid,
                   struct uuid *ret_image, uint64_t *ret_offset);

#endif
