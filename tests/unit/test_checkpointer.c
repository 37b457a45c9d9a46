/* Covers: server/jobs/checkpointer.c */
#include "server/jobs/checkpointer.h"

#include <stdio.h>
#include <unistd.h>

#include "storage/storage_backend.h"
#include "tests/support/ops.h"
#include "tests/support/temp_dir.h"
#include "tests/support/unit.h"

static char *dir;
static struct storage *storage;
static struct checkpointer *checkpointer;

static void setup(void)
{
    char path[512];
    struct error err;
    dir = temp_dir_new();
    snprintf(path, sizeof(path), "%s/test.db", dir);
    const struct storage_options o = {.backend = "sqlite",
                                      .path = path,
                                      .busy_ms = 1000,
                                      .retry_days = 3,
                                      .daily_values = 1000,
                                      .migrate = true};
    ck_assert_msg(storage_open(&o, &storage, &err) == ERR_OK, "%s", err.text);
    ck_assert_msg(checkpointer_start(storage, &checkpointer, &err) == ERR_OK, "%s", err.text);
}

static void teardown(void)
{
    checkpointer_stop(checkpointer);
    storage_close(storage);
    temp_dir_free(dir);
}

static void commit_token(uint32_t number)
{
    struct error err;
    struct write_op *op = ops_token(number);
    ck_assert_int_eq(storage_begin(storage, &err), ERR_OK);
    ck_assert_int_eq(storage_apply(storage, op, &err), ERR_OK);
    ck_assert_int_eq(storage_commit(storage, &err), ERR_OK);
    write_op_free(op);
}

static void ask_until_ended(void)
{
    for (int i = 0; i < 10000; i++) {
        if (checkpointer_ask(checkpointer))
            return;
        usleep(1000);
    }
    ck_abort_msg("the passes do not end");
}

START_TEST(what_is_asked_for_is_copied)
{
    setup();
    commit_token(1);
    ck_assert_uint_gt(storage_wal_bytes(storage), 0);
    usleep(20000);
    ck_assert_uint_gt(storage_wal_bytes(storage), 0); /* nobody asked */
    ask_until_ended();
    ck_assert_uint_eq(storage_wal_bytes(storage), 0);
    teardown();
}
END_TEST

START_TEST(it_is_asked_again_and_again)
{
    setup();
    for (uint32_t i = 1; i <= 3; i++) {
        commit_token(i);
        ck_assert(!checkpointer_ask(checkpointer)); /* the end before was said once */
        ask_until_ended();
        ck_assert_uint_eq(storage_wal_bytes(storage), 0);
    }
    teardown();
}
END_TEST

START_TEST(an_end_that_was_forgotten_is_not_said)
{
    setup();
    for (uint32_t i = 1; i <= 2; i++) {
        commit_token(i);
        ck_assert(!checkpointer_ask(checkpointer));
        for (int n = 0; n < 10000 && storage_wal_bytes(storage) > 0; n++)
            usleep(1000);
        usleep(20000); /* it has ended */
        checkpointer_forget(checkpointer);
    }
    ask_until_ended();
    teardown();
}
END_TEST

/* --- a storage whose checkpoints are another's for a while ------------------------------------- */

#define BUSY_TIMES 3

static int asked_times;

static enum err busy_at_first(struct storage *s, bool truncate, uint64_t *ret_wal_bytes,
                              struct error *err)
{
    (void)s;
    (void)truncate;
    *ret_wal_bytes = 0;
    return ++asked_times <= BUSY_TIMES ? error_set(err, ERR_BUSY, "busy") : ERR_OK;
}

START_TEST(passes_wait_for_the_checkpoint_of_another)
{
    static const struct storage_backend backend = {.checkpoint = busy_at_first};
    struct storage other = {.backend = &backend};
    struct error err;
    ck_assert_int_eq(checkpointer_start(&other, &checkpointer, &err), ERR_OK);
    ask_until_ended();
    ck_assert_int_eq(asked_times, BUSY_TIMES + 1);
    checkpointer_stop(checkpointer);
}
END_TEST

START_TEST(it_stops_while_it_is_asked)
{
    setup();
    commit_token(1);
    checkpointer_ask(checkpointer);
    teardown();
}
END_TEST

UNIT_MAIN("checkpointer", what_is_asked_for_is_copied, it_is_asked_again_and_again,
          an_end_that_was_forgotten_is_not_said, passes_wait_for_the_checkpoint_of_another,
          it_stops_while_it_is_asked)
