#include "server/jobs/spooler.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "tests/support/temp_dir.h"
#include "tests/support/unit.h"

/* What a driver at the door keeps of its upload. */
struct driver {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct spool *spool;
    bool abort_when_drained;
    int drained;
    int finished;
    enum err rc;
    struct error error;
    struct spool_result result;
    char name[128];
};

static char *dir;
static struct blob_store *blobs;
static struct spooler *spooler;

static void setup_with(size_t chunk, size_t chunks, uint64_t cap, uint64_t free_min)
{
    struct spooler_options options = {
        .chunk_bytes = chunk, .chunks = chunks, .upload_bytes = cap, .free_bytes_min = free_min};
    struct error err;
    dir = temp_dir_new();
    ck_assert_msg(blob_store_open(dir, &blobs, &err) == ERR_OK, "%s", err.text);
    ck_assert_msg(spooler_start(blobs, &options, &spooler, &err) == ERR_OK, "%s", err.text);
}

static void teardown(void)
{
    spooler_stop(spooler);
    blob_store_close(blobs);
    temp_dir_free(dir);
}

static void on_drained(void *ctx)
{
    struct driver *d = ctx;
    pthread_mutex_lock(&d->lock);
    struct spool *abort_it = d->abort_when_drained ? d->spool : NULL;
    d->drained++;
    pthread_cond_broadcast(&d->changed);
    pthread_mutex_unlock(&d->lock); /* the test may go on, and `d` with it */
    if (abort_it)
        spool_abort(abort_it);
}

static void on_finished(void *ctx, const struct spool_result *result, enum err rc,
                        const struct error *err)
{
    struct driver *d = ctx;
    pthread_mutex_lock(&d->lock);
    d->finished++;
    d->rc = rc;
    d->error = *err;
    if (result) {
        d->result = *result;
        snprintf(d->name, sizeof(d->name), "%s", result->name);
    }
    pthread_cond_broadcast(&d->changed);
    pthread_mutex_unlock(&d->lock);
}

static void driver_begin(struct driver *d)
{
    struct spool_callbacks callbacks = {.drained = on_drained, .finished = on_finished, .ctx = d};
    struct error err;
    memset(d, 0, sizeof(*d));
    pthread_mutex_init(&d->lock, NULL);
    pthread_cond_init(&d->changed, NULL);
    ck_assert_msg(spool_begin(spooler, &callbacks, &d->spool, &err) == ERR_OK, "%s", err.text);
}

static void wait_drained(struct driver *d, int count)
{
    pthread_mutex_lock(&d->lock);
    while (d->drained < count)
        pthread_cond_wait(&d->changed, &d->lock);
    pthread_mutex_unlock(&d->lock);
}

static void wait_finished(struct driver *d)
{
    pthread_mutex_lock(&d->lock);
    while (!d->finished)
        pthread_cond_wait(&d->changed, &d->lock);
    pthread_mutex_unlock(&d->lock);
}

/* Writes everything as the door does: on a full buffer it waits for `drained`. */
static enum err write_all(struct driver *d, const char *data, size_t len, size_t piece)
{
    struct error err;
    int drained = 0;
    for (size_t at = 0; at < len;) {
        size_t n = len - at < piece ? len - at : piece;
        size_t taken = 0;
        enum err rc = spool_write(d->spool, data + at, n, &taken, &err);
        if (rc != ERR_OK && rc != ERR_BUSY) {
            d->error = err;
            return rc;
        }
        at += taken;
        if (taken < n)
            wait_drained(d, ++drained);
    }
    return ERR_OK;
}

static char *pattern(size_t len)
{
    char *data = malloc(len);
    for (size_t i = 0; i < len; i++)
        data[i] = (char)(i * 31 + i / 251);
    return data;
}

static void check_file(const struct driver *d, const char *data, size_t len)
{
    char path[512];
    uint8_t sha[SHA256_SIZE];
    ck_assert_msg(d->rc == ERR_OK, "%s", d->error.text);
    ck_assert_uint_eq(d->result.size, len);
    sha256_of(data, len, sha);
    ck_assert_mem_eq(d->result.sha256, sha, SHA256_SIZE);
    ck_assert_uint_eq(d->result.head_len, len < 512 ? len : 512);
    ck_assert_mem_eq(d->result.head, data, d->result.head_len);
    ck_assert(blob_store_spool_path(blobs, d->name, path, sizeof(path)));
    FILE *f = fopen(path, "rb");
    ck_assert_ptr_nonnull(f);
    char *back = malloc(len + 1);
    ck_assert_uint_eq(fread(back, 1, len + 1, f), len);
    ck_assert_mem_eq(back, data, len);
    fclose(f);
    free(back);
}

START_TEST(writes_and_hashes)
{
    static const size_t sizes[] = {1, 15, 16, 17, 511, 512, 513, 5000};
    static const size_t pieces[] = {1, 7, 16, 100000};
    setup_with(16, 3, 1 << 20, 0);
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        for (size_t j = 0; j < sizeof(pieces) / sizeof(pieces[0]); j++) {
            struct driver d;
            char *data = pattern(sizes[i]);
            driver_begin(&d);
            ck_assert_int_eq(write_all(&d, data, sizes[i], pieces[j]), ERR_OK);
            spool_finish(d.spool);
            wait_finished(&d);
            check_file(&d, data, sizes[i]);
            free(data);
        }
    }
    teardown();
}
END_TEST

START_TEST(takes_no_more_than_its_buffer)
{
    struct driver d;
    struct error err;
    size_t taken = 0;
    char *data = pattern(1000);
    setup_with(16, 4, 1 << 20, 0);
    driver_begin(&d);
    ck_assert_int_eq(spool_write(d.spool, data, 1000, &taken, &err), ERR_OK);
    ck_assert_uint_eq(taken, 64);
    wait_drained(&d, 1);
    spool_finish(d.spool);
    wait_finished(&d);
    check_file(&d, data, 64);
    free(data);
    teardown();
}
END_TEST

START_TEST(cap_of_one_upload)
{
    struct driver d;
    struct error err;
    size_t taken;
    char *data = pattern(101);
    setup_with(64, 4, 100, 0);
    driver_begin(&d);
    ck_assert_int_eq(write_all(&d, data, 100, 30), ERR_OK);
    ck_assert_int_eq(spool_write(d.spool, data, 1, &taken, &err), ERR_LIMIT);
    ck_assert_str_eq(err.text, "the upload is larger than 100 bytes");
    spool_abort(d.spool);
    driver_begin(&d);
    ck_assert_int_eq(spool_write(d.spool, data, 101, &taken, &err), ERR_LIMIT);
    spool_finish(d.spool);
    wait_finished(&d);
    ck_assert_int_eq(d.rc, ERR_LIMIT);
    free(data);
    spooler_stop(spooler);
    ck_assert_uint_eq(temp_dir_count(dir), 0);
    spooler = NULL;
    teardown();
}
END_TEST

START_TEST(an_empty_upload_is_refused)
{
    struct driver d;
    setup_with(64, 4, 100, 0);
    driver_begin(&d);
    spool_finish(d.spool);
    wait_finished(&d);
    ck_assert_int_eq(d.rc, ERR_INVALID);
    ck_assert_str_eq(d.error.text, "the upload is empty");
    teardown();
}
END_TEST

static void driver_append(struct driver *d, const struct spool_more *more)
{
    struct spool_callbacks callbacks = {.drained = on_drained, .finished = on_finished, .ctx = d};
    struct error err;
    memset(d, 0, sizeof(*d));
    pthread_mutex_init(&d->lock, NULL);
    pthread_cond_init(&d->changed, NULL);
    ck_assert_msg(spool_append(spooler, &callbacks, more, &d->spool, &err) == ERR_OK, "%s",
                  err.text);
}

START_TEST(appends_to_what_is_there)
{
    struct driver d;
    char path[512], text[32] = "";
    uint8_t digest[SHA256_SIZE], want[SHA256_SIZE];
    struct error err;
    size_t taken = 0;
    setup_with(4, 2, 1000, 0);
    driver_begin(&d);
    ck_assert_int_eq(write_all(&d, "0123456789", 10, 3), ERR_OK);
    spool_finish(d.spool);
    wait_finished(&d);
    /* Six of the ten bytes were answered for: the others are cut off. */
    struct spool_more more = {.name = d.name, .offset = 6, .limit = 5};
    char name[sizeof(d.name)];
    memcpy(name, d.name, sizeof(name));
    more.name = name;
    sha256_init(&more.sha);
    sha256_update(&more.sha, "012345", 6);
    driver_append(&d, &more);
    ck_assert_int_eq(write_all(&d, "abc", 3, 3), ERR_OK);
    spool_finish(d.spool);
    wait_finished(&d);
    ck_assert_int_eq(d.rc, ERR_OK);
    ck_assert_uint_eq(d.result.size, 3);
    struct sha256 sha = d.result.sha;
    sha256_final(&sha, digest);
    sha256_of("012345abc", 9, want);
    ck_assert_mem_eq(digest, want, SHA256_SIZE);
    ck_assert(blob_store_spool_path(blobs, name, path, sizeof(path)));
    FILE *f = fopen(path, "rb");
    ck_assert_uint_eq(fread(text, 1, sizeof(text) - 1, f), 9);
    fclose(f);
    ck_assert_str_eq(text, "012345abc");
    /* An abort leaves the file; a cap holds; a file that is too short is no ground to stand on. */
    more.offset = 9;
    driver_append(&d, &more);
    ck_assert_int_eq(spool_write(d.spool, "123456", 6, &taken, &err), ERR_LIMIT);
    spool_abort(d.spool);
    ck_assert_int_eq(access(path, F_OK), 0);
    more.offset = 100;
    driver_append(&d, &more);
    ck_assert_int_eq(spool_write(d.spool, "x", 1, &taken, &err), ERR_OK);
    spool_finish(d.spool);
    wait_finished(&d);
    ck_assert_int_eq(d.rc, ERR_NOT_FOUND);
    ck_assert_int_eq(access(path, F_OK), 0);
    teardown();
}
END_TEST

START_TEST(abort_leaves_nothing)
{
    struct driver drivers[20];
    char *data = pattern(50000);
    setup_with(16, 2, 1 << 20, 0);
    for (size_t i = 0; i < 20; i++) {
        driver_begin(&drivers[i]);
        /* Some with a callback due, some with bytes written, some with none. */
        if (i % 3)
            ck_assert_int_eq(write_all(&drivers[i], data, i * 100, i % 2 ? 7 : 1000), ERR_OK);
        if (i % 4 == 1)
            spool_finish(drivers[i].spool);
        if (i % 4 != 1)
            spool_abort(drivers[i].spool);
    }
    for (size_t i = 0; i < 20; i++) {
        if (i % 4 == 1)
            wait_finished(&drivers[i]);
    }
    spooler_stop(spooler);
    spooler = NULL;
    size_t kept = 0;
    for (size_t i = 0; i < 20; i++) {
        ck_assert_int_eq(drivers[i].finished, i % 4 == 1);
        kept += i % 4 == 1 && drivers[i].rc == ERR_OK;
    }
    ck_assert_uint_eq(kept, 4); /* 1, 5, 13, 17; 9 is empty */
    ck_assert_uint_eq(temp_dir_count(dir), kept);
    free(data);
    teardown();
}
END_TEST

START_TEST(abort_inside_a_callback)
{
    struct driver d;
    struct error err;
    size_t taken;
    char *data = pattern(1000);
    setup_with(16, 2, 1 << 20, 0);
    driver_begin(&d);
    d.abort_when_drained = true;
    ck_assert_int_eq(spool_write(d.spool, data, 1000, &taken, &err), ERR_OK);
    wait_drained(&d, 1);
    spooler_stop(spooler);
    spooler = NULL;
    ck_assert_int_eq(d.drained, 1);
    ck_assert_int_eq(d.finished, 0);
    ck_assert_uint_eq(temp_dir_count(dir), 0);
    free(data);
    teardown();
}
END_TEST

START_TEST(stop_finishes_what_was_finished_and_drops_the_rest)
{
    struct driver done, open;
    char *data = pattern(3000);
    setup_with(1024, 4, 1 << 20, 0);
    driver_begin(&done);
    driver_begin(&open);
    ck_assert_int_eq(write_all(&done, data, 3000, 500), ERR_OK);
    ck_assert_int_eq(write_all(&open, data, 3000, 500), ERR_OK);
    spool_finish(done.spool);
    spooler_stop(spooler);
    spooler = NULL;
    ck_assert_int_eq(done.finished, 1);
    check_file(&done, data, 3000);
    ck_assert_int_eq(open.finished, 0);
    ck_assert_uint_eq(temp_dir_count(dir), 1);
    free(data);
    teardown();
}
END_TEST

START_TEST(a_full_disk_is_said_before_and_during)
{
    struct spool_callbacks callbacks = {.drained = on_drained, .finished = on_finished};
    struct spool *u;
    struct error err;
    setup_with(16, 2, 1 << 20, UINT64_MAX);
    ck_assert_int_eq(spool_begin(spooler, &callbacks, &u, &err), ERR_IO);
    ck_assert_str_eq(err.text, "the disk is full");
    teardown();

    /* The file system says no in the middle: a cap on file sizes stands for a full disk. */
    struct driver d;
    char *data = pattern(10000);
    signal(SIGXFSZ, SIG_IGN);
    setup_with(512, 2, 1 << 20, 0);
    struct rlimit limit = {.rlim_cur = 4096, .rlim_max = RLIM_INFINITY};
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
    driver_begin(&d);
    ck_assert_int_eq(write_all(&d, data, 10000, 1000), ERR_LIMIT);
    ck_assert_str_eq(d.error.text, "cannot write the upload: File too large");
    spool_abort(d.spool);
    driver_begin(&d); /* the same, seen at the end */
    ck_assert_int_eq(write_all(&d, data, 4000, 1024), ERR_OK);
    (void)write_all(&d, data, 100, 100);
    spool_finish(d.spool);
    wait_finished(&d);
    ck_assert_int_eq(d.rc, ERR_LIMIT);
    limit.rlim_cur = RLIM_INFINITY;
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
    spooler_stop(spooler);
    spooler = NULL;
    ck_assert_uint_eq(temp_dir_count(dir), 0);
    free(data);
    teardown();
}
END_TEST

static void *drive(void *arg)
{
    struct driver *d = arg;
    char *data = pattern(30000);
    driver_begin(d);
    ck_assert_int_eq(write_all(d, data, 30000, 777), ERR_OK);
    spool_finish(d->spool);
    wait_finished(d);
    check_file(d, data, 30000);
    free(data);
    return NULL;
}

START_TEST(many_at_once)
{
    pthread_t threads[8];
    struct driver drivers[8];
    setup_with(256, 3, 1 << 20, 0);
    for (int i = 0; i < 8; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, drive, &drivers[i]), 0);
    for (int i = 0; i < 8; i++)
        pthread_join(threads[i], NULL);
    ck_assert_uint_eq(temp_dir_count(dir), 8);
    teardown();
}
END_TEST

UNIT_MAIN("spooler", writes_and_hashes, takes_no_more_than_its_buffer, cap_of_one_upload,
          an_empty_upload_is_refused, abort_leaves_nothing, appends_to_what_is_there,
          abort_inside_a_callback, stop_finishes_what_was_finished_and_drops_the_rest,
          a_full_disk_is_said_before_and_during, many_at_once)
