#include "storage/candidates.h"

#include <string.h>

#define NOT_OFFERED   UINT64_MAX
#define BUILD_UNKNOWN (UINT64_MAX - 1)
#define BUILD_OTHER   (UINT64_MAX - 2)

/* A build that is a number; others have no distance. */
static bool number_of(const char *build, uint64_t *ret)
{
    uint64_t n = 0;
    size_t len = strlen(build);
    if (len == 0 || len > 18)
        return false;
    for (size_t i = 0; i < len; i++) {
        if (build[i] < '0' || build[i] > '9')
            return false;
        n = n * 10 + (uint64_t)(build[i] - '0');
    }
    *ret = n;
    return true;
}

static uint64_t build_distance(const char *a, const char *b)
{
    uint64_t x = 0;
    uint64_t y = 0;
    if (!*a || !*b)
        return BUILD_UNKNOWN;
    if (strcmp(a, b) == 0)
        return 0;
    if (!number_of(a, &x) || !number_of(b, &y))
        return BUILD_OTHER;
    uint64_t d = x > y ? x - y : y - x;
    return d ? d : 1; /* "07" and "7" are not the same build */
}

static uint64_t distance_of(const struct candidates *c, const struct missing_candidate *offer)
{
    uint64_t best = NOT_OFFERED;
    for (size_t i = 0; i < c->seen_count; i++) {
        if (!*c->seen[i].version || strcmp(c->seen[i].version, offer->version) != 0)
            continue;
        uint64_t d = build_distance(c->seen[i].build, offer->build);
        best = d < best ? d : best;
    }
    return best;
}

bool candidates_init(struct candidates *c, const struct build_seen *seen, size_t seen_count,
                     struct arena *arena)
{
    *c = (struct candidates){.seen = seen, .seen_count = seen_count};
    c->items = arena_array(arena, CANDIDATES_MAX, sizeof(*c->items));
    return c->items != NULL;
}

bool candidates_offer(struct candidates *c, const struct missing_candidate *offer,
                      uint64_t slice_id, struct arena *arena)
{
    uint64_t distance = distance_of(c, offer);
    size_t at = 0;
    while (at < c->count &&
           (c->distance[at] < distance || (c->distance[at] == distance && c->slice[at] > slice_id)))
        at++;
    if (distance == NOT_OFFERED || at == CANDIDATES_MAX)
        return true;
    size_t last = 0; /* the place that is given up */
    while (last < c->count && !uuid_equal(&c->items[last].uuid, &offer->uuid))
        last++;
    if (last < at)
        return true;
    if (last == c->count && c->count == CANDIDATES_MAX)
        last--;
    else if (last == c->count)
        c->count++;
    for (size_t i = last; i > at; i--) {
        c->items[i] = c->items[i - 1];
        c->distance[i] = c->distance[i - 1];
        c->slice[i] = c->slice[i - 1];
    }
    c->items[at] = *offer;
    c->items[at].version = arena_strdup(arena, offer->version);
    c->items[at].build = arena_strdup(arena, offer->build);
    c->items[at].same_build = distance == 0;
    c->distance[at] = distance;
    c->slice[at] = slice_id;
    return c->items[at].version && c->items[at].build;
}
