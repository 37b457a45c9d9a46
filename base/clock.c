#include "base/clock.h"

#include <stdio.h>
#include <time.h>

#define TEXT_MS_MIN INT64_C(-62167219200000) /* 0000-01-01 */
#define TEXT_MS_MAX INT64_C(253402300799999) /* the last of 9999-12-31 */

static int64_t now_ns(clockid_t id)
{
    struct timespec ts;
    clock_gettime(id, &ts);
    return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

int64_t clock_wall_ms(void)
{
    return now_ns(CLOCK_REALTIME) / 1000000;
}

int64_t clock_mono_ms(void)
{
    return now_ns(CLOCK_MONOTONIC) / 1000000;
}

int64_t clock_mono_ns(void)
{
    return now_ns(CLOCK_MONOTONIC);
}

/* Days from civil date and back, proleptic Gregorian calendar (years counted from March, so that
 * the leap day is the last of its year). */
static int64_t days_of(int64_t year, int month, int day)
{
    year -= month <= 2;
    int64_t era = (year >= 0 ? year : year - 399) / 400;
    int64_t yoe = year - era * 400;
    int64_t doy = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    int64_t doe = yoe * 365 + yoe / 4 - yoe / 100 + doy;
    return era * 146097 + doe - 719468;
}

static void civil_of(int64_t days, int64_t *year, int *month, int *day)
{
    days += 719468;
    int64_t era = (days >= 0 ? days : days - 146096) / 146097;
    int64_t doe = days - era * 146097;
    int64_t yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
    int64_t doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
    int64_t mp = (5 * doy + 2) / 153;
    *day = (int)(doy - (153 * mp + 2) / 5 + 1);
    *month = (int)(mp < 10 ? mp + 3 : mp - 9);
    *year = yoe + era * 400 + (*month <= 2);
}

static bool digits(const char **p, const char *end, int n, int *ret)
{
    int v = 0;
    for (int i = 0; i < n; i++, (*p)++) {
        if (*p == end || **p < '0' || **p > '9')
            return false;
        v = v * 10 + (**p - '0');
    }
    *ret = v;
    return true;
}

static bool one_of(const char **p, const char *end, const char *set)
{
    if (*p == end)
        return false;
    for (; *set; set++) {
        if (**p == *set) {
            (*p)++;
            return true;
        }
    }
    return false;
}

static bool parse_date(const char **p, const char *end, int64_t *ret_days)
{
    static const int lengths[] = {31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    int y, m, d;
    if (!digits(p, end, 4, &y) || !one_of(p, end, "-") || !digits(p, end, 2, &m) ||
        !one_of(p, end, "-") || !digits(p, end, 2, &d))
        return false;
    bool leap = y % 4 == 0 && (y % 100 != 0 || y % 400 == 0);
    if (m < 1 || m > 12 || d < 1 || d > lengths[m - 1] || (m == 2 && d == 29 && !leap))
        return false;
    *ret_days = days_of(y, m, d);
    return true;
}

static bool parse_fraction(const char **p, const char *end, int *ret_ms)
{
    int ms = 0, unit = 100, n = 0;
    for (; *p < end && **p >= '0' && **p <= '9'; (*p)++, n++) {
        ms += (**p - '0') * unit;
        unit /= 10;
    }
    *ret_ms = ms;
    return n > 0;
}

bool clock_parse_rfc3339(const char *text, size_t len, int64_t *ret_ms)
{
    const char *p = text, *end = text + len;
    int64_t days;
    int hour, minute, second, ms = 0, offset = 0;
    if (!parse_date(&p, end, &days) || !one_of(&p, end, "Tt ") || !digits(&p, end, 2, &hour) ||
        !one_of(&p, end, ":") || !digits(&p, end, 2, &minute) || !one_of(&p, end, ":") ||
        !digits(&p, end, 2, &second))
        return false;
    if (hour > 23 || minute > 59 || second > 60)
        return false;
    if (one_of(&p, end, ".") && !parse_fraction(&p, end, &ms))
        return false;
    if (!one_of(&p, end, "Zz")) {
        int sign = p < end && *p == '-' ? -1 : 1;
        int oh, om;
        if (!one_of(&p, end, "+-") || !digits(&p, end, 2, &oh) || !one_of(&p, end, ":") ||
            !digits(&p, end, 2, &om) || oh > 23 || om > 59)
            return false;
        offset = sign * (oh * 60 + om);
    }
    if (p != end)
        return false;
    *ret_ms = ((days * 24 + hour) * 60 + minute - offset) * 60000 + second * 1000 + ms;
    return true;
}

bool clock_parse_day(const char *text, size_t len, int32_t *ret_day)
{
    const char *p = text, *end = text + len;
    int64_t days;
    if (!parse_date(&p, end, &days) || p != end)
        return false;
    *ret_day = (int32_t)days;
    return true;
}

bool clock_is_seconds(int64_t ms)
{
    return ms >= 100000000 && ms < 100000000000;
}

int32_t clock_day(int64_t ms)
{
    return (int32_t)((ms >= 0 ? ms : ms - (CLOCK_DAY_MS - 1)) / CLOCK_DAY_MS);
}

const char *clock_format_day(int32_t day, char out[CLOCK_TEXT_SIZE])
{
    int64_t y;
    int m, d;
    civil_of(day, &y, &m, &d);
    snprintf(out, CLOCK_TEXT_SIZE, "%04lld-%02d-%02d", (long long)y % 100000, m, d);
    return out;
}

const char *clock_format_rfc3339(int64_t ms, char out[CLOCK_TEXT_SIZE])
{
    if (ms < TEXT_MS_MIN || ms > TEXT_MS_MAX)
        ms = ms < 0 ? TEXT_MS_MIN : TEXT_MS_MAX;
    int32_t day = clock_day(ms);
    int64_t rest = ms - day * CLOCK_DAY_MS;
    char date[CLOCK_TEXT_SIZE];
    clock_format_day(day, date);
    snprintf(out, CLOCK_TEXT_SIZE, "%.12sT%02d:%02d:%02d.%03dZ", date, (int)(rest / 3600000 % 24),
             (int)(rest / 60000 % 60), (int)(rest / 1000 % 60), (int)(rest % 1000));
    return out;
}
