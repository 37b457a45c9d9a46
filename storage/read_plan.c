#include "storage/read_plan.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "storage/figures.h"

/* What a question touches. */
#define TOUCH_BUILD    0x01u
#define TOUCH_KIND     0x02u
#define TOUCH_DAY      0x04u
#define TOUCH_WEEK     0x08u
#define TOUCH_TIME     0x10u /* a border that is no midnight */
#define TOUCH_DEVICE   0x20u
#define TOUCH_OS       0x40u
#define TOUCH_PAGE     0x80u
#define TOUCH_DURATION 0x100u

static const unsigned answers[] = {
    [READ_COUNTERS] = TOUCH_BUILD | TOUCH_KIND | TOUCH_DAY | TOUCH_WEEK,
    [READ_WEEK_DEVICES] = TOUCH_DEVICE | TOUCH_OS | TOUCH_WEEK,
    [READ_WEEK_PAGES] = TOUCH_PAGE | TOUCH_BUILD | TOUCH_WEEK,
};

static const unsigned dimensions[] = {
    [BY_NONE] = 0,
    [BY_VERSION] = TOUCH_BUILD,
    [BY_BUILD] = TOUCH_BUILD,
    [BY_DEVICE] = TOUCH_DEVICE,
    [BY_OS_VERSION] = TOUCH_OS,
    [BY_PAGE] = TOUCH_PAGE,
    [BY_DAY] = TOUCH_DAY,
    [BY_KIND] = TOUCH_KIND,
    [BY_CATEGORY] = 0,
};

static unsigned touched_by_time(int64_t ms)
{
    if (ms == INT64_MIN)
        return 0;
    int64_t day = clock_day(ms);
    if (day * CLOCK_DAY_MS != ms)
        return TOUCH_TIME;
    return figures_week((int32_t)day) == figures_week((int32_t)day - 1) ? TOUCH_DAY : TOUCH_WEEK;
}

static unsigned touched_by_filter(const struct read_filter *f)
{
    return (f->version || f->build ? TOUCH_BUILD : 0) | (f->device ? TOUCH_DEVICE : 0) |
           (f->os_version ? TOUCH_OS : 0) | (f->page ? TOUCH_PAGE : 0) |
           (f->kind >= 0 ? TOUCH_KIND : 0) | (f->min_duration_ms >= 0 ? TOUCH_DURATION : 0) |
           touched_by_time(f->since_ms) | touched_by_time(f->until_ms);
}

enum read_source read_plan_source(const struct read_filter *f, enum breakdown_by by,
                                  enum breakdown_by by2)
{
    unsigned touched = touched_by_filter(f) | dimensions[by] | dimensions[by2];
    for (int s = READ_COUNTERS; s < READ_REPORTS; s++) {
        if ((touched & ~answers[s]) == 0)
            return (enum read_source)s;
    }
    return READ_REPORTS;
}

enum read_source read_plan_trend(const struct read_filter *f, enum trend_step step,
                                 enum breakdown_by group)
{
    struct read_filter any_time = *f;
    if (step != TREND_HOUR)
        return read_plan_source(f, group, step == TREND_DAY ? BY_DAY : BY_NONE);
    any_time.since_ms = any_time.until_ms = INT64_MIN;
    return read_plan_source(&any_time, group, BY_DAY) == READ_COUNTERS ? READ_COUNTERS
                                                                       : READ_REPORTS;
}

enum breakdown_by read_plan_usage_by(enum breakdown_by by)
{
    return by == BY_KIND || by == BY_CATEGORY ? BY_NONE : by;
}

enum usage_source read_plan_usage(const struct read_filter *f, enum breakdown_by by,
                                  enum breakdown_by by2)
{
    const unsigned touched = (touched_by_filter(f) | dimensions[read_plan_usage_by(by)] |
                              dimensions[read_plan_usage_by(by2)]) &
                             ~(TOUCH_KIND | TOUCH_DURATION | TOUCH_DAY | TOUCH_WEEK);
    if ((touched & ~(TOUCH_BUILD | TOUCH_PAGE)) == 0)
        return USAGE_PAGES;
    return (touched & ~(TOUCH_DEVICE | TOUCH_OS)) == 0 ? USAGE_DEVICES : USAGE_UNKNOWN;
}

struct read_filter read_plan_usage_filter(const struct read_filter *f, int64_t kept_ms)
{
    struct read_filter of_usage = *f;
    const int64_t day_ms = kept_ms == INT64_MIN ? kept_ms : clock_day(kept_ms) * CLOCK_DAY_MS;
    of_usage.kind = -1;
    of_usage.min_duration_ms = -1;
    of_usage.category = of_usage.state = NULL;
    of_usage.since_ms = day_ms > f->since_ms ? day_ms : f->since_ms;
    return of_usage;
}

bool read_plan_unfiltered(const struct read_filter *f)
{
    return touched_by_filter(f) == 0;
}

enum read_source read_plan_clusters(const struct read_filter *f)
{
    return touched_by_filter(f) & ~answers[READ_COUNTERS] ? READ_REPORTS : READ_COUNTERS;
}

struct read_span read_plan_times(const struct read_filter *f)
{
    return (struct read_span){f->since_ms, f->until_ms == INT64_MIN ? INT64_MAX : f->until_ms};
}

struct read_span read_plan_days(const struct read_filter *f)
{
    struct read_span s = read_plan_times(f);
    if (s.begin != INT64_MIN)
        s.begin = clock_day(s.begin);
    if (s.end != INT64_MAX)
        s.end = clock_day(s.end);
    return s;
}

struct read_span read_plan_weeks(const struct read_filter *f)
{
    struct read_span s = read_plan_days(f);
    if (s.begin != INT64_MIN)
        s.begin = figures_week((int32_t)s.begin);
    if (s.end != INT64_MAX)
        s.end = figures_week((int32_t)s.end);
    return s;
}

const char *read_version_label(struct arena *arena, const char *version, const char *build)
{
    if (*build == 0)
        return arena_strdup(arena, version);
    return arena_printf(arena, "%s%s(%s)", version, *version ? " " : "", build);
}

const char *read_cursor_make(struct arena *arena, char list, const int64_t *values, size_t count)
{
    char *text = arena_printf(arena, "%c", list);
    for (size_t i = 0; i < count && text; i++)
        text = arena_printf(arena, "%s%s%lld", text, i ? "." : "", (long long)values[i]);
    return text;
}

enum err read_cursor_parse(const char *cursor, char list, int64_t *values, size_t count,
                           bool *ret_started, struct error *err)
{
    *ret_started = false;
    if (!cursor || *cursor == 0)
        return ERR_OK;
    const char *p = cursor + 1;
    if (*cursor != list)
        return error_set(err, ERR_INVALID, "this is not a cursor of this list");
    for (size_t i = 0; i < count; i++) {
        char *end;
        bool number = *p == '-' || (*p >= '0' && *p <= '9');
        values[i] = strtoll(p, &end, 10);
        if (!number || end == p || *end != (i + 1 < count ? '.' : 0))
            return error_set(err, ERR_INVALID, "this is not a cursor of this list");
        p = end + 1;
    }
    *ret_started = true;
    return ERR_OK;
}

int read_order(int64_t value_a, uint64_t id_a, int64_t value_b, uint64_t id_b)
{
    if (value_a != value_b)
        return value_a > value_b ? -1 : 1;
    return id_a < id_b ? -1 : id_a > id_b;
}
