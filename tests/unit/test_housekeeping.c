/* A look is a function of both clocks: no test waits for one. */
#include "server/jobs/housekeeping.c"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "storage/storage_backend.h"
#include "tests/support/rig.h"
#include "tests/support/unit.h"

#define APP "com.example.shop"

static struct rig rig;
static struct rules *rules;
static struct resolver *resolver;
static struct housekeeping *h;
static struct uuid shop;
static const struct housekeeping_options OPTIONS = {.interval_ms = 1000,
                                                    .checkpoint_bytes = 2 * 1024 * 1024,
                                                    .idle_ms = 30000,
                                                    .report_days = 30,
                                                    .retry_days = 3,
                                                    .image_set_days = 30,
                                                    .give_up_ms = CLOCK_DAY_MS};

static void setup(void)
{
    struct error err;
    struct resolver_options options = {.workers = 1, .page = 64, .frame_cache_entries = 64};
    rig_start(&rig);
    memset(shop.bytes, 0x51, sizeof(shop.bytes));
    ck_assert_int_eq(rules_new_default(&rules, &err), ERR_OK);
    ck_assert_msg(resolver_start(rig.storage, rig.writer, rig.cache, rules, &options, rig.metrics,
                                 &resolver, &err) == ERR_OK,
                  "%s", err.text);
    atomic_store(&rig.resolver, resolver);
    h = make(rig.storage, rig.writer, resolver, rig.cache, &OPTIONS, rig.metrics, 0);
    ck_assert_ptr_nonnull(h);
}

static void teardown(void)
{
    dispose(h);
    atomic_store(&rig.resolver, NULL);
    resolver_stop(resolver);
    rules_free(rules);
    rig_stop(&rig);
}

static void send_report(const char *id)
{
    struct raw_frame frame = {
        .image = shop, .offset = 0x1000, .image_kind = IMAGE_UUID, .kind = FRAME_LEAF};
    struct op_image image = {
        .id = shop, .kind = IMAGE_UUID, .class = IMAGE_CLASS_APP, .name = "Shop"};
    rig_apply(&rig, ops_report(APP, id, &frame, 1, &image, 1));
}

static bool is_stored(const char *id)
{
    struct report_row row;
    struct error err;
    arena_reset(&rig.arena);
    enum err rc = read_report(rig.reader, APP, id, &rig.arena, &row, &err);
    ck_assert_msg(rc == ERR_OK || rc == ERR_NOT_FOUND, "%s", err.text);
    return rc == ERR_OK;
}

static void wait_resolved(int64_t count)
{
    while (metrics_get(rig.metrics, METRIC_STACKS_RESOLVED) < count)
        usleep(500);
}

static void grow_log(uint64_t bytes)
{
    static uint32_t n;
    while (storage_wal_bytes(rig.storage) <= bytes)
        rig_apply(&rig, ops_token(++n));
}

START_TEST(a_long_log_is_checkpointed)
{
    setup();
    look_around(h, OPS_TIME_MS, 0); /* what is due at the start */
    grow_log(OPTIONS.checkpoint_bytes / 2);
    uint64_t bytes = storage_wal_bytes(rig.storage);
    look_around(h, OPS_TIME_MS, 1000);
    ck_assert_uint_eq(storage_wal_bytes(rig.storage), bytes); /* not long enough */
    grow_log(OPTIONS.checkpoint_bytes);
    bytes = storage_wal_bytes(rig.storage);
    look_around(h, OPS_TIME_MS, 2000);
    ck_assert_uint_eq(storage_wal_bytes(rig.storage), bytes); /* grows fast: not worth it yet */
    rig_apply(&rig, ops_token(100000));
    look_around(h, OPS_TIME_MS, 3000);
    ck_assert_uint_eq(storage_wal_bytes(rig.storage), 0); /* all copied */
    teardown();
}
END_TEST

/* One that is never long enough for the writer's own checkpoint. */
START_TEST(a_log_that_grows_fast_for_long_is_checkpointed)
{
    setup();
    look_around(h, OPS_TIME_MS, 0);
    grow_log(OPTIONS.checkpoint_bytes);
    for (int64_t at = 1000; at < FAST_MS; at += 1000) {
        grow_log(storage_wal_bytes(rig.storage) + OPTIONS.checkpoint_bytes / FAST_SHARE);
        look_around(h, OPS_TIME_MS, at);
        ck_assert_uint_gt(storage_wal_bytes(rig.storage), 0);
    }
    grow_log(storage_wal_bytes(rig.storage) + OPTIONS.checkpoint_bytes / FAST_SHARE);
    look_around(h, OPS_TIME_MS, FAST_MS);
    ck_assert_uint_eq(storage_wal_bytes(rig.storage), 0);
    teardown();
}
END_TEST

/* A storage of housekeeping's own: the others go on with the true one. */

static bool disk_fails;
static int checkpoints;

static enum err checkpoint_of_a_bad_disk(struct storage *s, bool truncate, uint64_t *ret_wal_bytes,
                                         struct error *err)
{
    (void)s;
    (void)truncate;
    checkpoints++;
    *ret_wal_bytes = 0;
    return disk_fails ? error_set(err, ERR_IO, "no disk") : ERR_OK;
}

static enum err last_of_a_bad_disk(struct storage *s, struct error *err)
{
    (void)s;
    return disk_fails ? error_set(err, ERR_IO, "no disk") : ERR_OK;
}

static uint64_t wal_of_the_rig(struct storage *s)
{
    (void)s;
    return storage_wal_bytes(rig.storage);
}

static enum err used_of_the_rig(struct storage *s, uint64_t *ret, struct error *err)
{
    (void)s;
    return storage_used_bytes(rig.storage, ret, err);
}

static enum storage_trouble trouble_of_the_rig(struct storage *s, char *text, size_t size)
{
    (void)s;
    return storage_trouble(rig.storage, text, size);
}

/* Also when it was the writer that asked: at once, and until one goes well. */
START_TEST(a_checkpoint_that_failed_is_told)
{
    setup();
    static const struct storage_backend bad = {.checkpoint = checkpoint_of_a_bad_disk,
                                               .last_checkpoint = last_of_a_bad_disk,
                                               .wal_bytes = wal_of_the_rig,
                                               .used_bytes = used_of_the_rig,
                                               .trouble = trouble_of_the_rig};
    struct storage with_a_bad_disk = {.backend = &bad};
    h->storage = &with_a_bad_disk;
    look_around(h, OPS_TIME_MS, 0);
    ck_assert_int_eq(metrics_get(rig.metrics, METRIC_CHECKPOINT_FAILING), 0);
    disk_fails = true;
    checkpoints = 0;
    look_around(h, OPS_TIME_MS, 1000);
    ck_assert_int_eq(metrics_get(rig.metrics, METRIC_CHECKPOINT_FAILING), 1);
    ck_assert_int_eq(checkpoints, 0);
    look_around(h, OPS_TIME_MS, 2000);
    ck_assert_int_eq(metrics_get(rig.metrics, METRIC_CHECKPOINT_FAILING), 1);
    ck_assert_int_eq(checkpoints, 1);
    disk_fails = false;
    look_around(h, OPS_TIME_MS, 3000);
    ck_assert_int_eq(metrics_get(rig.metrics, METRIC_CHECKPOINT_FAILING), 0);
    ck_assert_int_eq(checkpoints, 2);
    teardown();
}
END_TEST

START_TEST(an_idle_log_is_emptied_once)
{
    setup();
    look_around(h, OPS_TIME_MS, 0);
    rig_apply(&rig, ops_token(1));
    rig_apply(&rig, ops_token(2)); /* the first one is counted by now */
    look_around(h, OPS_TIME_MS, 1000);
    ck_assert_uint_gt(storage_wal_bytes(rig.storage), 0);
    look_around(h, OPS_TIME_MS, 30999);
    ck_assert(!h->truncated);
    look_around(h, OPS_TIME_MS, 31001);
    ck_assert(h->truncated);
    ck_assert_uint_eq(storage_wal_bytes(rig.storage), 0);
    ck_assert_int_eq(metrics_get(rig.metrics, METRIC_WAL_BYTES), 0);
    teardown();
}
END_TEST

START_TEST(old_reports_go)
{
    const int64_t day = CLOCK_DAY_MS;
    setup();
    send_report("r1");
    wait_resolved(1);
    look_around(h, OPS_TIME_MS + 29 * day, 0);
    ck_assert(is_stored("r1"));
    look_around(h, OPS_TIME_MS + 31 * day, EXPIRE_EVERY_MS - 1);
    ck_assert(is_stored("r1")); /* not due yet */
    look_around(h, OPS_TIME_MS + 31 * day, EXPIRE_EVERY_MS);
    ck_assert(!is_stored("r1"));
    teardown();
}
END_TEST

START_TEST(old_reports_go_for_space)
{
    setup();
    send_report("r1");
    wait_resolved(1);
    h->options.database_bytes = (uint64_t)1 << 40;
    look_around(h, OPS_TIME_MS + 2 * CLOCK_DAY_MS, 0);
    ck_assert(is_stored("r1") && !h->over_space);
    ck_assert_int_gt(metrics_get(rig.metrics, METRIC_DATABASE_USED), 0);
    h->options.database_bytes = 4096; /* which the schema alone is above */
    look_around(h, OPS_TIME_MS + CLOCK_DAY_MS, EXPIRE_EVERY_MS);
    ck_assert(is_stored("r1") && h->over_space); /* of the last day */
    ck_assert_int_eq(metrics_get(rig.metrics, METRIC_REPORTS_DROPPED), 0);
    look_around(h, OPS_TIME_MS + CLOCK_DAY_MS + 1, 2 * EXPIRE_EVERY_MS);
    ck_assert(!is_stored("r1"));
    ck_assert_int_eq(metrics_get(rig.metrics, METRIC_REPORTS_DROPPED), 1);
    ck_assert_int_eq(h->expire_at, 3 * EXPIRE_EVERY_MS); /* nothing is left to drop */
    h->options.database_bytes = (uint64_t)1 << 40;
    look_around(h, OPS_TIME_MS + 2 * CLOCK_DAY_MS, 3 * EXPIRE_EVERY_MS);
    ck_assert(!h->over_space);
    teardown();
}
END_TEST

START_TEST(waiting_for_symbol_files_ends)
{
    setup();
    send_report("r1");
    wait_resolved(1);
    look_around(h, OPS_TIME_MS + CLOCK_DAY_MS - 1, 0);
    ck_assert_int_eq(metrics_get(rig.metrics, METRIC_STACKS_RESOLVED), 1);
    look_around(h, OPS_TIME_MS + 2 * CLOCK_DAY_MS, GIVE_UP_EVERY_MS);
    wait_resolved(2);
    look_around(h, OPS_TIME_MS + 3 * CLOCK_DAY_MS, 2 * GIVE_UP_EVERY_MS); /* once is enough */
    send_report("r2");
    ck_assert_int_eq(metrics_get(rig.metrics, METRIC_STACKS_RESOLVED), 2);
    teardown();
}
END_TEST

/* A cap on the size of files stands for a full disk. */
START_TEST(a_problem_of_the_disk_is_looked_after)
{
    struct rlimit limit = {.rlim_cur = 4096, .rlim_max = RLIM_INFINITY};
    struct error err;
    char problem[64];
    signal(SIGXFSZ, SIG_IGN);
    setup();
    look_around(h, OPS_TIME_MS, 0);
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
    struct write_op *op = ops_token(1);
    ck_assert_int_eq(rig_call(&rig, op, &err), ERR_IO);
    write_op_free(op);
    writer_problem(rig.writer, problem, sizeof(problem));
    ck_assert_str_ne(problem, "");
    limit.rlim_cur = RLIM_INFINITY;
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
    look_around(h, OPS_TIME_MS, 1000); /* long before the next expiry */
    writer_problem(rig.writer, problem, sizeof(problem));
    ck_assert_str_eq(problem, "");
    teardown();
}
END_TEST

START_TEST(gauges)
{
    struct index_ref *ref = NULL;
    struct error err;
    setup();
    rig_put_index(&rig, &shop, "shop_load");
    ck_assert_int_eq(index_cache_acquire(rig.cache, &shop, &ref, &err), ERR_OK);
    look_around(h, OPS_TIME_MS, 0);
    ck_assert_int_eq(metrics_get(rig.metrics, METRIC_INDEXES_OPEN), 1);
    index_cache_release(rig.cache, ref);
    teardown();
}
END_TEST

START_TEST(the_thread_starts_and_stops)
{
    struct housekeeping *running = NULL;
    struct error err;
    setup();
    int64_t commits = metrics_get(rig.metrics, METRIC_COMMITS);
    ck_assert_int_eq(housekeeping_start(rig.storage, rig.writer, resolver, rig.cache, &OPTIONS,
                                        rig.metrics, &running, &err),
                     ERR_OK);
    while (metrics_get(rig.metrics, METRIC_COMMITS) == commits) /* its first look */
        usleep(500);
    housekeeping_stop(running);
    housekeeping_stop(NULL);
    teardown();
}
END_TEST

static long resident_kb(void)
{
    long pages = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    ck_assert_ptr_nonnull(f);
    ck_assert_int_eq(fscanf(f, "%*d %ld", &pages), 1);
    fclose(f);
    return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

/* Free memory below something small that stays is the system's again. */
START_TEST(memory_goes_back)
{
    enum { BLOCKS = 40000, SIZE = 2000 };
    static void *blocks[BLOCKS + 1];
    setup();
    look_around(h, OPS_TIME_MS, 0);
    for (size_t i = 0; i <= BLOCKS; i++) {
        blocks[i] = malloc(SIZE);
        memset(blocks[i], 1, SIZE);
    }
    for (size_t i = 0; i < BLOCKS; i++)
        free(blocks[i]);
    long before = resident_kb();
    look_around(h, OPS_TIME_MS, TRIM_EVERY_MS - 1);
    ck_assert_int_gt(resident_kb(), before - 1000);
    look_around(h, OPS_TIME_MS, TRIM_EVERY_MS);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) /* allocators of their own */
    if (!getenv("UNDER") || !*getenv("UNDER"))
        ck_assert_int_lt(resident_kb(), before - BLOCKS * SIZE / 1024 / 2);
#endif
    free(blocks[BLOCKS]);
    teardown();
}
END_TEST

/* A damaged page is told in the log and to /readyz until a whole check finds nothing. */
START_TEST(damage_is_told_until_it_is_over)
{
    char path[512];
    uint8_t page[4096];
    setup();
    snprintf(path, sizeof(path), "%s/test.db", rig.dir);
    look_around(h, OPS_TIME_MS, 0);
    struct error err;
    uint64_t left = 1;
    ck_assert_int_eq(storage_checkpoint(rig.storage, true, &left, &err), ERR_OK);
    ck_assert_uint_eq(left, 0); /* all is in the file */
    struct stat st;
    ck_assert_int_eq(stat(path, &st), 0);
    const off_t at = st.st_size / 4096 / 2 * 4096;
    int fd = open(path, O_RDWR);
    ck_assert_int_eq(pread(fd, page, sizeof(page), at), 4096);
    uint8_t noise[4096];
    memset(noise, 0xa5, sizeof(noise));
    ck_assert_int_eq(pwrite(fd, noise, sizeof(noise), at), 4096);
    ck_assert_int_ne(storage_check(rig.storage, may_go_on, h, &err), ERR_OK);
    int64_t now = 2 * OPTIONS.idle_ms;
    look_around(h, OPS_TIME_MS, now);
    ck_assert_int_eq(metrics_get(rig.metrics, METRIC_DATABASE_DAMAGED), 1);
    ck_assert_int_eq(pwrite(fd, page, sizeof(page), at), 4096);
    close(fd);
    look_around(h, OPS_TIME_MS, now + CHECK_FIRST_MS - 1);
    ck_assert_int_eq(metrics_get(rig.metrics, METRIC_DATABASE_DAMAGED), 1);
    look_around(h, OPS_TIME_MS, now + CHECK_FIRST_MS);
    ck_assert_int_eq(metrics_get(rig.metrics, METRIC_DATABASE_DAMAGED), 0);
    teardown();
}
END_TEST

UNIT_MAIN("housekeeping", damage_is_told_until_it_is_over, memory_goes_back,
          a_long_log_is_checkpointed, a_log_that_grows_fast_for_long_is_checkpointed,
          a_checkpoint_that_failed_is_told, an_idle_log_is_emptied_once, old_reports_go,
          old_reports_go_for_space, waiting_for_symbol_files_ends,
          a_problem_of_the_disk_is_looked_after, gauges, the_thread_starts_and_stops)
