#include "storage/hours.h"

#include "base/bytes.h"
#include "base/clock.h"
#include "storage/figures.h"

/* More is damage. */
#define COUNT_MAX ((uint64_t)1 << 40)
#define SUM_MAX   ((uint64_t)INT64_MAX / 4)
#define WEIGHTED  0x20

int64_t hours_number(int64_t ms)
{
    return ms / HOUR_MS - (ms % HOUR_MS < 0);
}

int hours_of_day(int64_t ms)
{
    return (int)(hours_number(ms) - (int64_t)clock_day(ms) * HOURS_A_DAY);
}

static void add(struct hour_sums *to, const struct hour_sums *sums)
{
    to->count += sums->count;
    to->weighted += sums->weighted;
    to->stall_ms += sums->stall_ms;
    to->above_ms += sums->above_ms;
}

void hours_add(struct hours *h, int hour, const struct hour_sums *sums)
{
    add(&h->at[hour], sums);
}

void hours_merge(struct hours *h, const struct hours *other)
{
    for (int i = 0; i < HOURS_A_DAY; i++)
        add(&h->at[i], &other->at[i]);
}

void hours_subtract(struct hours *h, const struct hours *other)
{
    for (int i = 0; i < HOURS_A_DAY; i++) {
        h->at[i].count -= other->at[i].count;
        h->at[i].weighted -= other->at[i].weighted;
        h->at[i].stall_ms -= other->at[i].stall_ms;
        h->at[i].above_ms -= other->at[i].above_ms;
    }
}

/* An hour alone is its number: the row has the sums. Else hour, count and stall time of each that has
 * reports, and where weights are above 1 (WEIGHTED) what they add to both. */
bool hours_encode(const struct hours *h, struct buf *out)
{
    int used = 0;
    int last = 0;
    for (int i = 0; i < HOURS_A_DAY; i++) {
        if (h->at[i].count == 0)
            continue;
        used++;
        last = i;
    }
    if (used == 1)
        return buf_u8(out, (uint8_t)last);
    for (int i = 0; i < HOURS_A_DAY; i++) {
        const struct hour_sums *s = &h->at[i];
        if (s->count == 0)
            continue;
        const int64_t above = s->weighted - s->count * FIGURES_WEIGHT_ONE;
        buf_u8(out, (uint8_t)(i | (above ? WEIGHTED : 0)));
        buf_uleb(out, (uint64_t)s->count);
        buf_uleb(out, (uint64_t)s->stall_ms);
        if (!above)
            continue;
        buf_uleb(out, (uint64_t)above);
        buf_uleb(out, (uint64_t)s->above_ms);
    }
    return !out->failed;
}

bool hours_add_encoded(struct hours *h, const void *data, size_t len, const struct hour_sums *day)
{
    struct cursor c = cursor_of(data, len);
    int after = -1;
    while (cursor_left(&c)) {
        const uint8_t first = cursor_u8(&c);
        const int hour = first & ~WEIGHTED;
        if (hour <= after || hour >= HOURS_A_DAY)
            return false;
        after = hour;
        if (len == 1) {
            add(&h->at[hour], day);
            continue;
        }
        uint64_t count = cursor_uleb(&c);
        uint64_t stall = cursor_uleb(&c);
        uint64_t above = first & WEIGHTED ? cursor_uleb(&c) : 0;
        uint64_t above_ms = first & WEIGHTED ? cursor_uleb(&c) : 0;
        if (c.overrun || count == 0 || count > COUNT_MAX || above > SUM_MAX || stall > SUM_MAX ||
            above_ms > SUM_MAX)
            return false;
        const struct hour_sums sums = {(int64_t)count,
                                       (int64_t)(above + count * FIGURES_WEIGHT_ONE),
                                       (int64_t)stall, (int64_t)above_ms};
        add(&h->at[hour], &sums);
    }
    return true;
}
