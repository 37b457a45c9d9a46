/*
 * missing_order - the order of the list of missing images, and its pages.
 *
 * Purpose: shared by the backends. System images last (nobody's CI has them), then most reports,
 * then smaller UUID, then app.
 *
 * Threads: pure. Memory: the cursor in the caller's arena; a page is a part of the rows given.
 */
#ifndef STALLSYM_STORAGE_MISSING_ORDER_H
#define STALLSYM_STORAGE_MISSING_ORDER_H

#include "storage/read_plan.h"

/* Sorts `rows` and picks the page behind `cursor`. */
enum err missing_page(struct missing_row *rows, size_t count, size_t limit, const char *cursor,
                      struct arena *arena, struct missing_row **ret, size_t *ret_count,
                      const char **ret_next, struct error *err);

#endif
