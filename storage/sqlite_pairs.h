/*
 * sqlite_pairs - how many pairs of values reports of an app may bring a day.
 *
 * Purpose: rows of week_devices (device and OS) and week_pages (page and build) are kept for ever, and
 * strangers choose the pairs: caps of single values alone would let them have the product.
 *
 * Invariants: a day brings an app USAGE_PAIRS_PER_VALUE × daily_values pairs of a kind that its week
 * does not have yet. Above it the report's device, or page, is "(other)" everywhere, which leaves as
 * many pairs as there are OS versions, or builds; such reports are counted (DICT_PAIR_DROPPED).
 *
 * Threads: the writer's. Memory: none.
 */
#ifndef STALLSYM_STORAGE_SQLITE_PAIRS_H
#define STALLSYM_STORAGE_SQLITE_PAIRS_H

#include "storage/sqlite_dict.h"

struct report_pairs {
    int64_t device, os, page, build;
};

/* `today` is the day of receipt, `week` that of the report. */
enum err sqlite_pairs_cap(struct sqlite_storage *s, const struct dict_app *app, int32_t today,
                          int32_t week, struct report_pairs *pairs, struct error *err);

#endif
