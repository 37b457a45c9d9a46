#include "storage/cluster_face.h"

#include "tests/support/unit.h"

/* In their order; the conformance suite's histories hold SQL's order against this one. */
static const struct cluster_face FACES[] = {
    {"f()", NULL, NULL, "f", "cpu", NULL},
    {"f()", "a.c", NULL, "f", "cpu", NULL},
    {"f()", "a.c", "App", "f", "cpu", NULL},
    {"f()", "a.c", "App", "f", "cpu", "feed"},
    {"f()", "a.c", "App", "f", "lock", NULL},
    {"f()", "a.c", "App", "g", "cpu", NULL},
    {"f()", "a.c", "Feed", "f", "cpu", NULL},
    {"g()", NULL, NULL, "f", "cpu", NULL},
    {"closure #1 in f()", NULL, NULL, "f", "cpu", NULL},
    {NULL, NULL, NULL, "f", "cpu", NULL},
};

START_TEST(the_order)
{
    enum { COUNT = sizeof(FACES) / sizeof(FACES[0]) };
    for (int i = 0; i < COUNT; i++) {
        for (int k = 0; k < COUNT; k++) {
            int order = cluster_face_order(&FACES[i], &FACES[k]);
            ck_assert_msg((order > 0) - (order < 0) == (i > k) - (i < k), "%d %d: %d", i, k, order);
        }
    }
}
END_TEST

UNIT_MAIN("cluster_face", the_order)
