#include "server/jobs/layouts.h"

#include <string.h>

#include "base/parallel.h"
#include "tests/support/unit.h"

static struct uuid uuid_of(uint32_t n)
{
    struct uuid u;
    memset(&u, 0, sizeof(u));
    u.bytes[0] = 1;
    memcpy(u.bytes + 4, &n, sizeof(n));
    return u;
}

static void learn(struct layouts *l, uint32_t n, uint64_t vmaddr)
{
    struct uuid u = uuid_of(n);
    layouts_learn(l, "", &u, vmaddr);
}

static bool app_knows(struct layouts *l, const char *app, uint32_t n, uint64_t *ret)
{
    struct uuid u = uuid_of(n);
    struct layout_view view = layouts_view(l, app);
    return layouts_find(&view, &u, ret);
}

static bool knows(struct layouts *l, uint32_t n, uint64_t *ret)
{
    return app_knows(l, "com.a", n, ret);
}

static void claim(struct layouts *l, const char *app, uint32_t n, uint64_t vmaddr)
{
    struct uuid u = uuid_of(n);
    layouts_claim(l, app, &u, vmaddr);
}

START_TEST(learns_and_finds)
{
    struct layouts *l = layouts_new(100);
    uint64_t vmaddr = 77;
    ck_assert(!knows(l, 1, &vmaddr));
    ck_assert_uint_eq(vmaddr, 77);
    learn(l, 1, 0x100000000);
    learn(l, 2, 0); /* an app's own dylib: 0 is a value */
    ck_assert(knows(l, 1, &vmaddr));
    ck_assert_uint_eq(vmaddr, 0x100000000);
    ck_assert(knows(l, 2, &vmaddr));
    ck_assert_uint_eq(vmaddr, 0);
    learn(l, 1, 0x180000000);
    ck_assert(knows(l, 1, &vmaddr));
    ck_assert_uint_eq(vmaddr, 0x180000000);
    layouts_free(l);
}
END_TEST

START_TEST(nil_is_nobody)
{
    struct layouts *l = layouts_new(10);
    struct uuid nil;
    uint64_t vmaddr;
    memset(&nil, 0, sizeof(nil));
    struct layout_view view = layouts_view(l, "com.a");
    layouts_learn(l, "", &nil, 5);
    layouts_claim(l, "com.a", &nil, 5);
    ck_assert(!layouts_find(&view, &nil, &vmaddr));
    layouts_free(l);
}
END_TEST

/* What one app's reports say is nothing to another; a symbol file is believed before them. */
START_TEST(claims_are_the_apps_own)
{
    struct layouts *l = layouts_new(100);
    uint64_t vmaddr = 77;
    claim(l, "com.b", 1, 0xbad0000);
    ck_assert(!app_knows(l, "com.a", 1, &vmaddr));
    claim(l, "com.a", 1, 0x100000000);
    claim(l, "com.a", 1, 0x200000000); /* the first one counts */
    ck_assert(app_knows(l, "com.a", 1, &vmaddr));
    ck_assert_uint_eq(vmaddr, 0x100000000);
    ck_assert(app_knows(l, "com.b", 1, &vmaddr));
    ck_assert_uint_eq(vmaddr, 0xbad0000);
    learn(l, 1, 0x4000);
    claim(l, "com.b", 1, 0xbad0000);
    for (int i = 0; i < 2; i++) {
        ck_assert(app_knows(l, i ? "com.a" : "com.b", 1, &vmaddr));
        ck_assert_uint_eq(vmaddr, 0x4000);
    }
    layouts_free(l);
}
END_TEST

START_TEST(claims_push_no_file_out)
{
    struct layouts *l = layouts_new(10);
    uint64_t vmaddr;
    learn(l, 1, 0x4000);
    for (uint32_t i = 0; i < 1000; i++)
        claim(l, "com.b", 100 + i, i);
    ck_assert(knows(l, 1, &vmaddr));
    ck_assert(!app_knows(l, "com.b", 100, &vmaddr));
    ck_assert(app_knows(l, "com.b", 1099, &vmaddr));
    layouts_free(l);
}
END_TEST

/* One app pushes no other's out, however many images it names; nor do the files of one. */
START_TEST(an_app_pushes_no_other_out)
{
    struct layouts *l = layouts_new(10);
    uint64_t vmaddr;
    for (uint32_t i = 0; i < 4; i++) {
        struct uuid own = uuid_of(50 + i);
        claim(l, "com.a", i, i);
        layouts_learn(l, "com.a", &own, i);
    }
    for (uint32_t i = 0; i < 1000; i++) {
        struct uuid own = uuid_of(2000 + i);
        claim(l, "com.b", 100 + i, i);
        layouts_learn(l, "com.b", &own, i);
    }
    for (uint32_t i = 0; i < 4; i++) {
        ck_assert(app_knows(l, "com.a", i, &vmaddr) && vmaddr == i);
        ck_assert(app_knows(l, "com.a", 50 + i, &vmaddr) && vmaddr == i);
    }
    for (uint32_t i = 0; i < 1000; i++) {
        ck_assert(app_knows(l, "com.b", 100 + i, &vmaddr) == (i >= 994));
        ck_assert(app_knows(l, "com.b", 2000 + i, &vmaddr) == (i >= 994));
    }
    layouts_free(l);
}
END_TEST

START_TEST(oldest_go_first)
{
    struct layouts *l = layouts_new(100);
    uint64_t vmaddr;
    for (uint32_t i = 0; i < 100; i++)
        learn(l, i, i);
    learn(l, 0, 1000); /* known: takes no place of another */
    for (uint32_t i = 0; i < 100; i++)
        ck_assert(knows(l, i, &vmaddr));
    for (uint32_t i = 100; i < 1130; i++)
        learn(l, i, i);
    for (uint32_t i = 0; i < 1030; i++)
        ck_assert_msg(!knows(l, i, &vmaddr), "%u is still there", i);
    for (uint32_t i = 1030; i < 1130; i++) {
        ck_assert_msg(knows(l, i, &vmaddr), "%u is gone", i);
        ck_assert_uint_eq(vmaddr, i);
    }
    layouts_free(l);
}
END_TEST

START_TEST(one_place)
{
    struct layouts *l = layouts_new(1);
    uint64_t vmaddr;
    for (uint32_t i = 0; i < 50; i++) {
        learn(l, i, i);
        ck_assert(knows(l, i, &vmaddr));
        ck_assert(i == 0 || !knows(l, i - 1, &vmaddr));
    }
    layouts_free(l);
    ck_assert_ptr_null(layouts_new(0));
    ck_assert_ptr_null(layouts_new(SIZE_MAX));
    layouts_free(NULL);
}
END_TEST

/* A reader sees a value somebody taught for that UUID, or nothing. */
static void teach_and_ask(void *ctx, size_t i, size_t worker)
{
    (void)worker;
    uint64_t vmaddr;
    learn(ctx, (uint32_t)(i % 300), i % 300 * 16);
    claim(ctx, "com.a", (uint32_t)(i % 400), i % 400 * 16);
    for (uint32_t n = 0; n < 300; n += 7)
        ck_assert(!knows(ctx, n, &vmaddr) || vmaddr == n * 16);
}

START_TEST(threads)
{
    struct layouts *l = layouts_new(200);
    struct parallel_for *p = parallel_new(4);
    parallel_run(p, 5000, teach_and_ask, l);
    parallel_free(p);
    layouts_free(l);
}
END_TEST

/* A file of an app's own counts for that app, before what serves all and before what reports say. */
START_TEST(own_files_are_the_apps)
{
    struct layouts *l = layouts_new(10);
    struct uuid u = uuid_of(1);
    uint64_t vmaddr = 0;
    claim(l, "com.a", 1, 0x1000);
    layouts_learn(l, "com.a", &u, 0x2000);
    ck_assert(app_knows(l, "com.a", 1, &vmaddr));
    ck_assert_uint_eq(vmaddr, 0x2000);
    ck_assert(!app_knows(l, "com.b", 1, &vmaddr) && !app_knows(l, "", 1, &vmaddr));
    claim(l, "com.b", 1, 0x3000);
    ck_assert(app_knows(l, "com.b", 1, &vmaddr));
    ck_assert_uint_eq(vmaddr, 0x3000);
    learn(l, 1, 0x4000);
    ck_assert(app_knows(l, "com.b", 1, &vmaddr));
    ck_assert_uint_eq(vmaddr, 0x4000);
    ck_assert(app_knows(l, "com.a", 1, &vmaddr));
    ck_assert_uint_eq(vmaddr, 0x2000);
    layouts_free(l);
}
END_TEST

UNIT_MAIN("layouts", learns_and_finds, nil_is_nobody, claims_are_the_apps_own,
          own_files_are_the_apps, claims_push_no_file_out, an_app_pushes_no_other_out,
          oldest_go_first, one_place, threads)
