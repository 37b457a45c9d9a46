/*
 * clock - time as numbers, and RFC 3339 text.
 *
 * Purpose: only program code (threads, handlers) reads the clock; everything below gets `now_ms`
 * as a parameter. Wall time is epoch milliseconds UTC (int64_t), never local time.
 *
 * Threads: any. Memory: none.
 */
#ifndef STALLSYM_BASE_CLOCK_H
#define STALLSYM_BASE_CLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CLOCK_TEXT_SIZE 32 /* "2026-11-29T20:59:46.123Z" with room for far years */
#define CLOCK_DAY_MS    ((int64_t)86400000)

int64_t clock_wall_ms(void);
/* Never goes backwards; origin unspecified. */
int64_t clock_mono_ms(void);
int64_t clock_mono_ns(void);

/* RFC 3339 section 5.6: date, 'T' or 't' or blank, time, optional fraction, 'Z' or an offset of at
 * most 23:59. Days that do not exist are refused; second 60 is the next minute's second 0. */
bool clock_parse_rfc3339(const char *text, size_t len, int64_t *ret_ms);
/* UTC with milliseconds and 'Z'; what is outside of the years 0 to 9999 is the nearest inside.
 * Returns `out`. */
const char *clock_format_rfc3339(int64_t ms, char out[CLOCK_TEXT_SIZE]);
/* "2026-11-29" of a day number. Returns `out`. */
const char *clock_format_day(int32_t day, char out[CLOCK_TEXT_SIZE]);
bool clock_parse_day(const char *text, size_t len, int32_t *ret_day);

/* A moment of January 2, 1970 to March 1973, which no app lived in: seconds that were given for
 * milliseconds, since 1970 or since 2001. */
bool clock_is_seconds(int64_t ms);

/* Days since 1970-01-01 UTC, rounded towards the past. */
int32_t clock_day(int64_t ms);

#endif
