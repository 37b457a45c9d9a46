/*
 * id_days - on which days an id of a report may have been remembered.
 *
 * Purpose: ids are remembered by day of receipt (report_ids), as long as reports are kept, and one
 * that comes is compared with those of all days: the server's clock may have been wrong. Of each day
 * it is learnt here, in memory, which ids it may have, so that a look into the database is saved where
 * the answer is no: a month costs as much as an hour.
 *
 * Invariants: never no for an id that the day has: it was learnt, or came since. Rarely yes for one
 * that it has not; always yes where nothing is learnt (yet). Bounded: ID_DAYS_BYTES; of the days that
 * are not known yet the newest is learnt first, and for ids that come what is known of the oldest day
 * goes.
 *
 * Threads: one owner. Memory: id_days_done; zeros are an empty one.
 */
#ifndef STALLSYM_STORAGE_ID_DAYS_H
#define STALLSYM_STORAGE_ID_DAYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Those of the retention; a clock that jumps leaves others. */
#define ID_DAYS_MAX   256
#define ID_DAYS_BYTES ((size_t)32 << 20)
#define ID_HASH_SIZE  16
#define ID_DAYS_STEP  16384 /* ids learnt at a time */
#define ID_CAME_MAX   12    /* filters of ids that came, each for twice as many as the one before */

struct id_range;

struct id_day {
    int64_t day;
    struct id_range *ranges; /* ascending */
    size_t count, cap;
    struct id_range *came; /* ID_CAME_MAX, or NULL: ids that came since, the last one has room */
    size_t came_count, room;
    bool learnt;   /* there is nothing more to learn */
    bool unlearnt; /* not all could be: nothing is known above the last range */
    bool lost;     /* not all that came could be kept: nothing is known */
};

struct id_days {
    struct id_day days[ID_DAYS_MAX];
    size_t count;
    bool begun;
    size_t bytes;
};

void id_days_done(struct id_days *d);
/* The days there are now; what is known of one that was there already stays. */
void id_days_set(struct id_days *d, const int64_t *days, size_t count);
/* The day gets an id. Past ID_DAYS_MAX days the one furthest back is no longer looked at. */
void id_days_add(struct id_days *d, int64_t day, const uint8_t hash[ID_HASH_SIZE]);
bool id_day_may_have(const struct id_day *day, const uint8_t hash[ID_HASH_SIZE]);

/* What to learn next, not before a day has got an id. False: nothing. ID_DAYS_STEP ids of the day
 * above `ret_after` are wanted, ascending; of all ids when *ret_first. */
bool id_days_wants(const struct id_days *d, int64_t *ret_day, bool *ret_first,
                   uint8_t ret_after[ID_HASH_SIZE]);
/* These are what was wanted; fewer than ID_DAYS_STEP: there are no more. */
void id_days_learn(struct id_days *d, int64_t day, const uint8_t (*hashes)[ID_HASH_SIZE],
                   size_t count);
/* They cannot be read: what is not learnt of the day yet never will be. */
void id_days_give_up(struct id_days *d, int64_t day);

#endif
