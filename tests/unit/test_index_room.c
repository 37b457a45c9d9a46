/* Covers: server/jobs/index_room.c */
#include "server/jobs/index_room.h"

#include <string.h>

#include "base/clock.h"
#include "tests/conformance/suite.h"
#include "tests/support/unit.h"

#define EACH 4096 /* bytes of an index of suite_indexed() */

static struct error err;

static void index_for(struct suite *s, uint32_t n, const char *app, bool bound)
{
    struct write_op *up = suite_upload(n, SUITE_NOW);
    up->u.upload.bundle_id = app;
    up->u.upload.bound = bound;
    suite_apply_keep(s, up);
    suite_apply(s, suite_indexed(up->u.upload.id, &n, 1, 1));
    write_op_free(up);
}

static enum err ask(struct suite *s, uint64_t all, uint64_t each, uint32_t n, const char *app,
                    bool bound)
{
    uint8_t sha256[SHA256_SIZE] = {0};
    const struct index_caps caps = {all, each};
    const struct index_wish wish = {.sha256 = sha256, .bundle_id = app, .bound = bound};
    memcpy(sha256, &n, sizeof(n));
    return index_room_check(s->reader, &caps, &wish, &s->arena, &err);
}

START_TEST(whoever_reached_a_cap_is_refused)
{
    struct suite s;
    suite_open(&s, "sqlite");
    ck_assert_int_eq(ask(&s, 1, 1, 9, "com.a", true), ERR_OK);
    index_for(&s, 1, "com.a", true);
    index_for(&s, 2, "com.a", true);
    index_for(&s, 3, "", false);
    ck_assert_int_eq(ask(&s, 0, 0, 9, "com.a", true), ERR_OK);
    ck_assert_int_eq(ask(&s, 3 * EACH + 1, 2 * EACH + 1, 9, "com.a", true), ERR_OK);
    ck_assert_int_eq(ask(&s, 3 * EACH + 1, 2 * EACH, 9, "com.a", true), ERR_LIMIT);
    ck_assert_ptr_nonnull(strstr(err.text, "app_index_bytes"));
    /* What another app has, and what is for no app, counts in the whole alone. */
    ck_assert_int_eq(ask(&s, 3 * EACH + 1, 2 * EACH, 9, "com.b", true), ERR_OK);
    ck_assert_int_eq(ask(&s, 3 * EACH + 1, 1, 9, "", false), ERR_OK);
    ck_assert_int_eq(ask(&s, 3 * EACH, 0, 9, "com.b", true), ERR_LIMIT);
    ck_assert_ptr_nonnull(strstr(err.text, "[symbols] index_bytes"));
    suite_close(&s);
}
END_TEST

/* Of who has it: of another app it is as new as any. */
START_TEST(what_is_indexed_may_come_again)
{
    struct suite s;
    suite_open(&s, "sqlite");
    index_for(&s, 1, "com.a", true);
    ck_assert_int_eq(ask(&s, 1, 1, 1, "com.a", true), ERR_OK);
    ck_assert_int_eq(ask(&s, 1, 1, 1, "com.b", true), ERR_LIMIT);
    ck_assert_int_eq(ask(&s, 1, 1, 1, "", false), ERR_LIMIT);
    suite_close(&s);
}
END_TEST

/* A question that took too long is no answer: 503, not 507. */
START_TEST(a_deadline_says_nothing_of_room)
{
    struct suite s;
    suite_open(&s, "sqlite");
    storage_reader_deadline(s.reader, clock_mono_ms() - 1);
    ck_assert_int_eq(ask(&s, EACH, EACH, 9, "com.a", true), ERR_BUSY);
    ck_assert_int_eq(err.code, ERR_BUSY);
    suite_close(&s);
}
END_TEST

UNIT_MAIN("index_room", whoever_reached_a_cap_is_refused, what_is_indexed_may_come_again,
          a_deadline_says_nothing_of_room)
