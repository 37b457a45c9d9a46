/*
 * hours - how the sums of a day spread over its hours.
 *
 * Purpose: a row of counters (stack, day, build, kind) carries its hours with it, so that they
 * follow a stack wherever it is moved or folded to, and an hour costs no row of its own.
 *
 * Invariants: the hours of a day add up to the day's sums, unless they were dropped (nothing is
 * encoded then, and reads do not look at days that old). A day of one hour, the usual one, is one
 * byte. Adding and merging commute; equal contents encode to equal bytes.
 *
 * Threads: values. Memory: none.
 */
#ifndef STALLSYM_STORAGE_HOURS_H
#define STALLSYM_STORAGE_HOURS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

#define HOURS_A_DAY 24
#define HOUR_MS     ((int64_t)3600000)
/* Hours are kept for so many days. */
#define HOURS_DAYS 35

struct hour_sums {
    int64_t count, weighted, stall_ms, above_ms; /* as struct figures */
};

struct hours {
    struct hour_sums at[HOURS_A_DAY];
};

/* Hours since 1970, rounded towards the past; of a day (0 to 23). */
int64_t hours_number(int64_t ms);
int hours_of_day(int64_t ms);

void hours_add(struct hours *h, int hour, const struct hour_sums *sums);
void hours_merge(struct hours *h, const struct hours *other);
void hours_subtract(struct hours *h, const struct hours *other);

bool hours_encode(const struct hours *h, struct buf *out);
/* Merges an encoded one in; `day` holds the sums of its row. False for damaged bytes (and nothing
 * promised about the rest). */
bool hours_add_encoded(struct hours *h, const void *data, size_t len, const struct hour_sums *day);

#endif
