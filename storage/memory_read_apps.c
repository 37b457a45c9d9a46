/* The memory backend's list of apps: in the order in which they came, as they stand in the state. */
#include <string.h>

#include "base/clock.h"
#include "storage/memory_read.h"
#include "storage/read_apps.h"
#include "storage/read_plan.h"

static struct app_row row_of(const struct mem_state *s, size_t app, int32_t since_day)
{
    struct app_row row = {.id = (uint64_t)s->apps[app].total_id,
                          .bundle_id = s->apps[app].bundle_id,
                          .first_seen_ms = INT64_MIN,
                          .last_seen_ms = INT64_MIN};
    for (size_t i = 0; i < s->facts_count; i++) {
        const struct mem_fact *f = &s->facts[i];
        if (f->app != app)
            continue;
        if (row.reports == 0 || f->time_ms < row.first_seen_ms)
            row.first_seen_ms = f->time_ms;
        if (row.reports == 0 || f->time_ms > row.last_seen_ms)
            row.last_seen_ms = f->time_ms;
        row.reports++;
        row.recent += clock_day(f->time_ms) >= since_day;
    }
    return row;
}

enum err mem_read_apps(struct storage_reader *r, const char *bundle_id, int32_t since_day,
                       size_t limit, const char *cursor, struct arena *arena, struct app_row **ret,
                       size_t *ret_count, const char **ret_next, struct error *err)
{
    const struct mem_state *s = mem_read_state(r);
    size_t count = 0;
    int64_t after = 0;
    bool started = false, more = false;
    enum err rc = read_cursor_parse(cursor, 'a', &after, 1, &started, err);
    if (rc)
        return rc;
    struct app_row *rows = arena_array(arena, s->apps_count + 1, sizeof(*rows));
    if (!rows)
        return mem_no_memory(err);
    for (size_t i = 0; i < s->apps_count && !more; i++) {
        if (s->apps[i].total_id <= after ||
            (bundle_id && strcmp(s->apps[i].bundle_id, bundle_id) != 0))
            continue;
        more = count == limit;
        if (!more)
            rows[count++] = row_of(s, i, since_day);
    }
    const int64_t last = count ? (int64_t)rows[count - 1].id : 0;
    *ret_next = more ? read_cursor_make(arena, 'a', &last, 1) : NULL;
    if (more && !*ret_next)
        return mem_no_memory(err);
    *ret = rows;
    *ret_count = count;
    return ERR_OK;
}
