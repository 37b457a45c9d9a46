#include "storage/read_trend.h"

#include "base/clock.h"
#include "storage/figures.h"
#include "storage/hours.h"
#include "storage/storage_backend.h"

int64_t trend_time(enum trend_step step, int64_t number)
{
    switch (step) {
    case TREND_HOUR:
        return number * HOUR_MS;
    case TREND_WEEK:
        return (number * 7 - 3) * CLOCK_DAY_MS; /* week 0 began on 1969-12-29 */
    case TREND_DAY:
        break;
    }
    return number * CLOCK_DAY_MS;
}

int64_t trend_number(enum trend_step step, int64_t ms)
{
    switch (step) {
    case TREND_HOUR:
        return hours_number(ms);
    case TREND_WEEK:
        return figures_week(clock_day(ms));
    case TREND_DAY:
        break;
    }
    return clock_day(ms);
}

enum err read_trend(struct storage_reader *r, const struct read_filter *f,
                    const struct trend_query *q, struct arena *arena, struct trend *ret,
                    struct error *err)
{
    struct read_filter timed;
    if (q->points == 0 || q->points > TREND_POINTS_MAX)
        return error_set(err, ERR_INVALID, "points must be 1 to %d", TREND_POINTS_MAX);
    if (q->groups == 0 || q->groups > TREND_GROUPS_MAX)
        return error_set(err, ERR_INVALID, "groups must be 1 to %d", TREND_GROUPS_MAX);
    if (q->group == BY_DAY || q->begin < INT32_MIN / 2 || q->begin > INT32_MAX / 2)
        return error_set(err, ERR_INVALID, "no such trend");
    if (f)
        timed = *f;
    else
        read_filter_init(&timed);
    timed.since_ms = trend_time(q->step, q->begin);
    timed.until_ms = trend_time(q->step, q->begin + (int64_t)q->points);
    return READ_WITHIN(r, err, read_trend(r, &timed, q, arena, ret, err));
}

enum err read_totals(struct storage_reader *r, const struct read_filter *f, struct totals_row *ret,
                     struct error *err)
{
    struct read_filter of_app;
    if (f)
        of_app = *f;
    else
        read_filter_init(&of_app);
    of_app.category = of_app.state = of_app.text = NULL;
    return READ_WITHIN(r, err, read_totals(r, &of_app, ret, err));
}
