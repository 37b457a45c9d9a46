/*
 * layouts - which __TEXT vmaddr each UUID has, as far as anybody told us.
 *
 * Purpose: the door turns slide-only images into load addresses without asking the database.
 *
 * Invariants: what a symbol file says counts for whom it serves, an app's own first, and before all
 * else. What a report says (the first one; UUIDs can be read in every shipped binary) counts for its own
 * app alone. Both are bounded, apart; when one is full, the app that holds most of it gives its oldest
 * (places.h). At start the newest of storage are loaded, whose they are, as to look through all of them
 * takes seconds; a claim that is not among them is there again with the next report that says it.
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
/* Of a symbol file that serves this app alone, "": all; of a report of that app. */
void layouts_learn(struct layouts *l, const char *own, const struct uuid *uuid, uint64_t vmaddr);
void layouts_claim(struct layouts *l, const char *bundle_id, const struct uuid *uuid,
                   uint64_t vmaddr);

/* What is known to one app. */
struct layout_view {
    struct layouts *layouts;
    uint64_t app;
};
struct layout_view layouts_view(struct layouts *l, const char *bundle_id);
/* Matches symbolizer/image_map.h's struct image_layout; ctx is a struct layout_view. */
bool layouts_find(void *ctx, const struct uuid *uuid, uint64_t *ret_vmaddr);

/* The member of a slide group (as read_group() gives them) that holds an unslid address, and the
 * offset in it. */
bool layouts_place(const struct layout_row *members, size_t count, uint64_t unslid,
                   struct uuid *ret_image, uint64_t *ret_offset);

#endif
