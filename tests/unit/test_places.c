#include "server/jobs/places.h"

#include <string.h>

#include "tests/support/unit.h"

#define APPS   7
#define PLACES 60
#define STEPS  4000

static struct uuid uuid_of(uint32_t n)
{
    struct uuid u;
    memset(&u, 0, sizeof(u));
    memcpy(u.bytes, &n, sizeof(n));
    return u;
}

/* The same by hand: entries in order of arrival. */
struct model {
    uint32_t app[PLACES], n[PLACES];
    size_t count, held[APPS];
};

static size_t oldest_of(const struct model *m, uint32_t app)
{
    size_t i = 0;
    while (m->app[i] != app)
        i++;
    return i;
}

/* Of several that hold most any may give: told by who is not there any more. */
static void give_way(struct model *m, struct places *p)
{
    size_t most = 0, gone = PLACES;
    for (size_t i = 0; i < APPS; i++)
        most = m->held[i] > most ? m->held[i] : most;
    for (uint32_t app = 0; app < APPS && gone == PLACES; app++) {
        if (m->held[app] != most)
            continue;
        struct uuid u = uuid_of(m->n[oldest_of(m, app)]);
        if (!places_find(p, app, &u))
            gone = oldest_of(m, app);
    }
    ck_assert_uint_lt(gone, PLACES);
    m->held[m->app[gone]]--;
    m->count--;
    memmove(&m->app[gone], &m->app[gone + 1], (m->count - gone) * sizeof(m->app[0]));
    memmove(&m->n[gone], &m->n[gone + 1], (m->count - gone) * sizeof(m->n[0]));
}

START_TEST(whoever_holds_most_gives_its_oldest)
{
    static struct model m;
    struct places *p = places_new(PLACES, 99);
    uint32_t random = 1;
    for (uint32_t i = 0; i < STEPS; i++) {
        random = random * 1664525 + 1013904223;
        const uint32_t app = (random >> 16) % (1 + i / 600);
        struct uuid u = uuid_of(i);
        places_add(p, app, &u, i);
        if (m.count == PLACES)
            give_way(&m, p);
        m.app[m.count] = app;
        m.n[m.count++] = i;
        m.held[app]++;
        for (size_t k = 0; k < m.count; k++) {
            u = uuid_of(m.n[k]);
            const uint64_t *vmaddr = places_find(p, m.app[k], &u);
            ck_assert_ptr_nonnull(vmaddr);
            ck_assert_uint_eq(*vmaddr, m.n[k]);
        }
    }
    places_free(p);
}
END_TEST

/* Each is another app: one goes for another, and its place is used again. */
START_TEST(as_many_apps_as_places)
{
    struct places *p = places_new(PLACES, 99);
    size_t there = 0;
    for (uint32_t i = 0; i < 500; i++) {
        struct uuid u = uuid_of(i);
        places_add(p, i, &u, i);
    }
    for (uint32_t i = 0; i < 500; i++) {
        struct uuid u = uuid_of(i);
        there += places_find(p, i, &u) != NULL;
    }
    ck_assert_uint_eq(there, PLACES);
    places_free(p);
}
END_TEST

START_TEST(no_places)
{
    ck_assert_ptr_null(places_new(0, 1));
    ck_assert_ptr_null(places_new(SIZE_MAX, 1));
    places_free(NULL);
}
END_TEST

UNIT_MAIN("places", whoever_holds_most_gives_its_oldest, as_many_apps_as_places, no_places)
