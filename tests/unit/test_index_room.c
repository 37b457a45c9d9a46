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

/* ERR_DENIED: refused. */
static enum err ask(struct suite *s, uint64_t all, uint64_t each, uint32_t n, const char *app,
                    bool bound)
{
    uint8_t sha256[SHA256_SIZE] = {0};
    const uint8_t *files[] = {sha256, sha256};
    const char *refusal = NULL;
    const struct index_caps caps = {all, each};
    const struct index_wish wish = {.sha256 = files, .count = 2, .bundle_id = app, .bound = bound};
    memcpy(sha256, &n, sizeof(n));
    enum err rc = index_room_check(s->reader, &caps, &wish, &s->arena, &refusal, &err);
    return refusal ? error_set(&err, ERR_DENIED, "%s", refusal) : rc;
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
    ck_assert_int_eq(ask(&s, 3 * EACH + 1, 2 * EACH, 9, "com.a", true), ERR_DENIED);
    ck_assert_ptr_nonnull(strstr(err.text, "app_index_bytes"));
    /* What another app has, and what is for no app, counts in the whole alone. */
    ck_assert_int_eq(ask(&s, 3 * EACH + 1, 2 * EACH, 9, "com.b", true), ERR_OK);
    ck_assert_int_eq(ask(&s, 3 * EACH + 1, 1, 9, "", false), ERR_OK);
    ck_assert_int_eq(ask(&s, 3 * EACH, 0, 9, "com.b", true), ERR_DENIED);
    ck_assert_ptr_nonnull(strstr(err.text, "[symbols] index_bytes"));
    suite_close(&s);
}
END_TEST

/* One more that is not does not come with it. */
START_TEST(one_that_is_new_is_enough)
{
    struct suite s;
    uint8_t known[SHA256_SIZE] = {1}, fresh[SHA256_SIZE] = {9};
    const uint8_t *files[] = {known, known, fresh};
    const struct index_caps caps = {1, 1};
    struct index_wish wish = {.sha256 = files, .count = 2, .bundle_id = "com.a", .bound = true};
    const char *refusal = NULL;
    suite_open(&s, "sqlite");
    index_for(&s, 1, "com.a", true);
    ck_assert_int_eq(index_room_check(s.reader, &caps, &wish, &s.arena, &refusal, &err), ERR_OK);
    ck_assert_ptr_null(refusal);
    wish.count = 3;
    ck_assert_int_eq(index_room_check(s.reader, &caps, &wish, &s.arena, &refusal, &err), ERR_OK);
    ck_assert_ptr_nonnull(refusal);
    suite_close(&s);
}
END_TEST

/* Of who has it: of another app it is as new as any, and so is of an app's own what serves all. */
START_TEST(what_is_indexed_may_come_again)
{
    struct suite s;
    suite_open(&s, "sqlite");
    index_for(&s, 1, "com.a", true);
    ck_assert_int_eq(ask(&s, 1, 1, 1, "com.a", true), ERR_OK);
    ck_assert_int_eq(ask(&s, 1, 1, 1, "com.b", true), ERR_DENIED);
    ck_assert_int_eq(ask(&s, 1, 1, 1, "", false), ERR_DENIED);
    index_for(&s, 2, "com.a", false);
    ck_assert_int_eq(ask(&s, 1, 1, 2, "com.a", false), ERR_OK);
    ck_assert_int_eq(ask(&s, 1, 1, 2, "com.a", true), ERR_DENIED);
    suite_close(&s);
}
END_TEST

/* A question that took too long is no answer. */
START_TEST(a_deadline_says_nothing_of_room)
{
    struct suite s;
    suite_open(&s, "sqlite");
    storage_reader_deadline(s.reader, clock_mono_ms() - 1);
    ck_assert_int_eq(ask(&s, EACH, EACH, 9, "com.a", true), ERR_LIMIT);
    suite_close(&s);
}
END_TEST

UNIT_MAIN("index_room", whoever_reached_a_cap_is_refused, what_is_indexed_may_come_again,
          one_that_is_new_is_enough, a_deadline_says_nothing_of_room)
