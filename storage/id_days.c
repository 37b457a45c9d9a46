#include "storage/id_days.h"

#include <stdlib.h>
#include <string.h>

#include "base/vec.h"

/* Of 10 bits an id and 7 looks one id in 120 that is not there is taken for one that may be. */
#define BITS_AN_ID 10
#define LOOKS      7

#define RANGE_BYTES ((size_t)ID_DAYS_STEP * BITS_AN_ID / 8)

/* The ids up to `last` and above the range before: a Bloom filter of them. */
struct id_range {
    uint8_t last[ID_HASH_SIZE];
    uint64_t *words;
    uint32_t bits;
};

static size_t bytes_of(const struct id_range *r)
{
    return (r->bits + 63) / 64 * sizeof(uint64_t);
}

static void forget(struct id_days *d, struct id_day *day)
{
    for (size_t i = 0; i < day->count; i++) {
        d->bytes -= bytes_of(&day->ranges[i]);
        free(day->ranges[i].words);
    }
    for (size_t i = 0; i < day->came_count; i++) {
        d->bytes -= bytes_of(&day->came[i]);
        free(day->came[i].words);
    }
    free(day->ranges);
    free(day->came);
    *day = (struct id_day){.day = day->day};
}

void id_days_done(struct id_days *d)
{
    for (size_t i = 0; i < d->count; i++)
        forget(d, &d->days[i]);
    d->count = 0;
}

static struct id_day *day_of(struct id_days *d, int64_t day)
{
    for (size_t i = 0; i < d->count; i++) {
        if (d->days[i].day == day)
            return &d->days[i];
    }
    return NULL;
}

void id_days_set(struct id_days *d, const int64_t *days, size_t count)
{
    struct id_days before = *d;
    d->count = 0;
    for (size_t i = 0; i < count && i < ID_DAYS_MAX; i++) {
        struct id_day *old = day_of(&before, days[i]);
        d->days[d->count++] = old ? *old : (struct id_day){.day = days[i]};
        if (old)
            *old = (struct id_day){.day = days[i]};
    }
    before.bytes = d->bytes;
    id_days_done(&before);
    d->bytes = before.bytes;
}

/* A place for a day that is not there. */
static struct id_day *place_for(struct id_days *d)
{
    struct id_day *at = d->days;
    if (d->count < ID_DAYS_MAX) {
        d->days[d->count] = (struct id_day){0};
        return &d->days[d->count++];
    }
    for (size_t i = 1; i < d->count; i++)
        at = d->days[i].day < at->day ? &d->days[i] : at;
    return at;
}

static uint32_t bit_of(const struct id_range *r, const uint8_t hash[ID_HASH_SIZE], uint32_t look)
{
    uint32_t h[2];
    memcpy(h, hash + (ID_HASH_SIZE - sizeof(h)), sizeof(h));
    return (uint32_t)((uint64_t)(h[0] + look * (h[1] | 1)) * r->bits >> 32);
}

static bool range_may_have(const struct id_range *r, const uint8_t hash[ID_HASH_SIZE])
{
    for (uint32_t i = 0; i < LOOKS; i++) {
        const uint32_t bit = bit_of(r, hash, i);
        if (!(r->words[bit / 64] >> bit % 64 & 1))
            return false;
    }
    return true;
}

static void put_into(struct id_range *r, const uint8_t hash[ID_HASH_SIZE])
{
    for (uint32_t i = 0; i < LOOKS; i++) {
        const uint32_t bit = bit_of(r, hash, i);
        r->words[bit / 64] |= UINT64_C(1) << bit % 64;
    }
}

/* False: no memory. */
static bool make_range(struct id_days *d, struct id_range *r, size_t ids)
{
    r->bits = (uint32_t)(ids * BITS_AN_ID);
    r->words = calloc(1, bytes_of(r));
    d->bytes += r->words ? bytes_of(r) : 0;
    return r->words != NULL;
}

/* --- ids that come ---------------------------------------------------------------------------- */

/* Of another day, the oldest of which something is known. */
static bool drop_oldest(struct id_days *d, const struct id_day *but)
{
    struct id_day *oldest = NULL;
    for (size_t i = 0; i < d->count; i++) {
        struct id_day *day = &d->days[i];
        if (day != but && (day->count || day->came_count) && (!oldest || day->day < oldest->day))
            oldest = day;
    }
    if (!oldest)
        return false;
    forget(d, oldest);
    oldest->lost = true;
    return true;
}

/* Another filter, when the last one is full. */
static bool have_room(struct id_days *d, struct id_day *day)
{
    const size_t ids = (size_t)ID_DAYS_STEP << day->came_count;
    if (day->room)
        return true;
    if (day->came_count == ID_CAME_MAX)
        return false;
    while (d->bytes + ids * BITS_AN_ID / 8 > ID_DAYS_BYTES) {
        if (!drop_oldest(d, day))
            return false;
    }
    if (!day->came && !(day->came = calloc(ID_CAME_MAX, sizeof(*day->came))))
        return false;
    if (!make_range(d, &day->came[day->came_count], ids))
        return false;
    day->came_count++;
    day->room = ids;
    return true;
}

void id_days_add(struct id_days *d, int64_t day, const uint8_t hash[ID_HASH_SIZE])
{
    struct id_day *at = day_of(d, day);
    d->begun = true;
    if (!at) {
        at = place_for(d);
        forget(d, at);
        at->day = day;
    }
    at->lost = at->lost || !have_room(d, at);
    if (at->lost)
        return;
    put_into(&at->came[at->came_count - 1], hash);
    at->room--;
}

/* --- what is known ---------------------------------------------------------------------------- */

static bool may_have_come(const struct id_day *day, const uint8_t hash[ID_HASH_SIZE])
{
    bool may = false;
    for (size_t i = day->came_count; i > 0 && !may; i--)
        may = range_may_have(&day->came[i - 1], hash);
    return may;
}

bool id_day_may_have(const struct id_day *day, const uint8_t hash[ID_HASH_SIZE])
{
    size_t low = 0;
    if (day->lost || may_have_come(day, hash))
        return true;
    for (size_t high = day->count; low < high;) {
        const size_t middle = low + (high - low) / 2;
        if (memcmp(day->ranges[middle].last, hash, ID_HASH_SIZE) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    if (low < day->count)
        return range_may_have(&day->ranges[low], hash);
    return !day->learnt || day->unlearnt;
}

bool id_days_wants(const struct id_days *d, int64_t *ret_day, bool *ret_first,
                   uint8_t ret_after[ID_HASH_SIZE])
{
    const struct id_day *next = NULL;
    if (!d->begun || d->bytes + RANGE_BYTES > ID_DAYS_BYTES)
        return false;
    for (size_t i = 0; i < d->count; i++) {
        const struct id_day *day = &d->days[i];
        if (!day->learnt && !day->lost && (!next || day->day > next->day))
            next = day;
    }
    if (!next)
        return false;
    *ret_day = next->day;
    *ret_first = next->count == 0;
    if (next->count)
        memcpy(ret_after, next->ranges[next->count - 1].last, ID_HASH_SIZE);
    return true;
}

static bool add_range(struct id_days *d, struct id_day *day, const uint8_t (*hashes)[ID_HASH_SIZE],
                      size_t count)
{
    struct id_range r;
    struct id_range *ranges = vec_grown(day->ranges, &day->cap, day->count + 1, sizeof(*ranges));
    if (!ranges)
        return false;
    day->ranges = ranges;
    if (!make_range(d, &r, count))
        return false;
    for (size_t i = 0; i < count; i++)
        put_into(&r, hashes[i]);
    memcpy(r.last, hashes[count - 1], ID_HASH_SIZE);
    day->ranges[day->count++] = r;
    return true;
}

void id_days_learn(struct id_days *d, int64_t day, const uint8_t (*hashes)[ID_HASH_SIZE],
                   size_t count)
{
    struct id_day *at = day_of(d, day);
    if (!at)
        return;
    at->unlearnt = count > 0 && !add_range(d, at, hashes, count);
    at->learnt = at->unlearnt || count < ID_DAYS_STEP;
}

void id_days_give_up(struct id_days *d, int64_t day)
{
    struct id_day *at = day_of(d, day);
    if (at)
        at->learnt = at->unlearnt = true;
}
