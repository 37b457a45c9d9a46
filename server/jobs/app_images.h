/*
 * app_images - what the database knows of the images of an app, cached for one resolver worker.
 *
 * Purpose: answers symbolize.h's struct image_lookup: name and class of an image as this app knows
 * it, the place of an unslid address among the members of a slide group that the app's reports named,
 * and which index of an image serves the app (storage/read_shelves.h).
 *
 * Invariants: a pass of the resolver begins with app_images_forget(): facts may change with every
 * symbol file and every ring is answered by a pass, so nothing stale outlives a pass. Which index
 * serves is asked anew for every page, after the page was read (app_images_turn): an index that
 * comes later turns the page's stacks back, so that answers made without it come too late. Bounded
 * by `max_entries` and by the arena; when full everything is forgotten, between two stacks only.
 *
 * Threads: one owner, with its own storage reader. Memory: texts live until the next begin.
 */
#ifndef STALLSYM_JOBS_APP_IMAGES_H
#define STALLSYM_JOBS_APP_IMAGES_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "server/analysis/rules.h"
#include "storage/storage_read.h"
#include "symbolizer/symbolize.h"

struct app_images;

/* An image of which the database knows no class has the one that the `platform` rules give its
 * name. `rules` outlive it. */
struct app_images *app_images_new(struct storage_reader *reader, const struct rules *rules,
                                  size_t max_entries);
void app_images_free(struct app_images *a);
void app_images_forget(struct app_images *a);
/* Another page of stacks. */
void app_images_turn(struct app_images *a, uint64_t page);
/* Forgets, too. */
void app_images_set_rules(struct app_images *a, const struct rules *rules);

/* The lookup for one stack of that app. `bundle_id` lives until the next begin. */
struct image_lookup app_images_begin(struct app_images *a, uint64_t app_id, const char *bundle_id);
/* Did every question since begin get its answer? Else the stack must be tried again. */
enum err app_images_end(struct app_images *a, struct error *err);

#endif
