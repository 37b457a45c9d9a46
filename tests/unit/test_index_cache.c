#include "symbolizer/index_cache.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/support/gsym_bytes.h"
#include "tests/support/unit.h"

static char folder[64];

static struct uuid id(int n)
{
    struct uuid u = {{0}};
    u.bytes[3] = (uint8_t)n;
    u.bytes[15] = 1;
    return u;
}

static void path_of(const struct uuid *u, char *path, size_t size)
{
    char text[UUID_TEXT_SIZE];
    snprintf(path, size, "%s/%s.gsym", folder, uuid_format(u, text));
}

static atomic_int locates;

static bool locate(void *ctx, const struct uuid *uuid, char *path, size_t size)
{
    (void)ctx;
    atomic_fetch_add(&locates, 1);
    path_of(uuid, path, size);
    return access(path, F_OK) == 0;
}

/* An index with one function, of that name. Renamed into place, as the indexer does. */
static void put_index(int n, const char *name)
{
    struct gsym_bytes_function f = {.address = 0x1000, .size = 16, .name = name};
    struct gsym_bytes bytes = {.uuid = id(n),
                               .offset_size = 1,
                               .base = 0x1000,
                               .functions = &f,
                               .function_count = 1,
                               .footer = 1};
    struct uuid u = id(n);
    struct buf b;
    char path[256], tmp[300];
    buf_init(&b, 1 << 16);
    gsym_bytes_make(&bytes, &b);
    path_of(&u, path, sizeof(path));
    snprintf(tmp, sizeof(tmp), "%s.tmp", path);
    FILE *f_out = fopen(tmp, "wb");
    ck_assert_ptr_nonnull(f_out);
    ck_assert_uint_eq(fwrite(b.data, 1, b.len, f_out), b.len);
    fclose(f_out);
    ck_assert_int_eq(rename(tmp, path), 0);
    buf_done(&b);
}

static void put_rubbish(int n)
{
    struct uuid u = id(n);
    char path[256];
    path_of(&u, path, sizeof(path));
    FILE *f = fopen(path, "wb");
    ck_assert_ptr_nonnull(f);
    for (int i = 0; i < 100; i++)
        fputs("rubbish", f);
    fclose(f);
}

static void remove_index(int n)
{
    struct uuid u = id(n);
    char path[256];
    path_of(&u, path, sizeof(path));
    unlink(path);
}

static struct index_cache *begin(size_t max_open, size_t max_misses)
{
    snprintf(folder, sizeof(folder), "/tmp/test_index_cache.XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    atomic_store(&locates, 0);
    return index_cache_new((struct index_locator){locate, NULL}, max_open, max_misses);
}

static void finish(struct index_cache *c)
{
    index_cache_free(c);
    for (int n = 0; n < 64; n++)
        remove_index(n);
    ck_assert_int_eq(rmdir(folder), 0);
}

static enum err acquire(struct index_cache *c, int n, struct index_ref **ret)
{
    struct uuid u = id(n);
    struct error err;
    return index_cache_acquire(c, &u, ret, &err);
}

static void changed(struct index_cache *c, int n)
{
    struct uuid u = id(n);
    index_cache_changed(c, &u);
}

static const char *name_in(const struct index_ref *ref)
{
    struct gsym_frame f[GSYM_FRAMES_MAX];
    return gsym_lookup(index_ref_gsym(ref), 0x1001, f, GSYM_FRAMES_MAX) == 1 ? f[0].name : "";
}

START_TEST(opens_once)
{
    struct index_cache *c = begin(4, 4);
    struct index_ref *a = NULL, *b = NULL;
    struct index_cache_stats stats;
    put_index(1, "one");
    ck_assert_int_eq(acquire(c, 1, &a), ERR_OK);
    ck_assert_int_eq(acquire(c, 1, &b), ERR_OK);
    ck_assert_ptr_eq(a, b);
    ck_assert_str_eq(name_in(a), "one");
    index_cache_release(c, a);
    index_cache_release(c, b);
    index_cache_release(c, NULL);
    ck_assert_int_eq(acquire(c, 1, &a), ERR_OK);
    index_cache_release(c, a);
    index_cache_stats(c, &stats);
    ck_assert_uint_eq(stats.opens, 1);
    ck_assert_uint_eq(stats.hits, 2);
    ck_assert_uint_eq(stats.misses, 1);
    ck_assert_uint_eq(stats.open_now, 1);
    ck_assert_int_eq(atomic_load(&locates), 1);
    finish(c);
}
END_TEST

START_TEST(misses_are_remembered_until_changed)
{
    struct index_cache *c = begin(4, 4);
    struct index_ref *a = NULL;
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(acquire(c, 1, &a), ERR_NOT_FOUND);
    ck_assert_int_eq(atomic_load(&locates), 1);
    put_index(1, "one");
    ck_assert_int_eq(acquire(c, 1, &a), ERR_NOT_FOUND);
    changed(c, 1);
    ck_assert_int_eq(acquire(c, 1, &a), ERR_OK);
    index_cache_release(c, a);
    finish(c);
}
END_TEST

START_TEST(nil_is_never_there)
{
    struct index_cache *c = begin(4, 4);
    struct uuid nil = {{0}};
    struct index_ref *a = NULL;
    ck_assert_int_eq(index_cache_acquire(c, &nil, &a, NULL), ERR_NOT_FOUND);
    ck_assert_int_eq(atomic_load(&locates), 0);
    finish(c);
}
END_TEST

START_TEST(holders_keep_the_old_file)
{
    struct index_cache *c = begin(4, 4);
    struct index_ref *before = NULL, *after = NULL;
    put_index(1, "before");
    ck_assert_int_eq(acquire(c, 1, &before), ERR_OK);
    put_index(1, "after");
    changed(c, 1);
    ck_assert_int_eq(acquire(c, 1, &after), ERR_OK);
    ck_assert_str_eq(name_in(before), "before");
    ck_assert_str_eq(name_in(after), "after");
    ck_assert_uint_ne(index_ref_generation(before), index_ref_generation(after));
    index_cache_release(c, before);
    index_cache_release(c, after);
    remove_index(1);
    changed(c, 1);
    ck_assert_int_eq(acquire(c, 1, &after), ERR_NOT_FOUND);
    finish(c);
}
END_TEST

START_TEST(damaged_files)
{
    struct index_cache *c = begin(4, 4);
    struct index_ref *a = NULL;
    struct uuid u = id(1);
    struct error err;
    put_rubbish(1);
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(index_cache_acquire(c, &u, &a, &err), ERR_FORMAT);
        ck_assert_ptr_nonnull(strstr(err.text, "not a GSYM file"));
    }
    ck_assert_int_eq(atomic_load(&locates), 1);
    put_index(1, "one");
    changed(c, 1);
    ck_assert_int_eq(acquire(c, 1, &a), ERR_OK);
    index_cache_release(c, a);
    finish(c);
}
END_TEST

START_TEST(poisoned_until_changed)
{
    struct index_cache *c = begin(4, 4);
    struct index_ref *a = NULL, *b = NULL;
    put_index(1, "one");
    ck_assert_int_eq(acquire(c, 1, &a), ERR_OK);
    index_cache_poison(c, a);
    index_cache_poison(c, a);
    ck_assert_int_eq(acquire(c, 1, &b), ERR_IO);
    index_cache_release(c, a);
    ck_assert_int_eq(acquire(c, 1, &b), ERR_IO);
    changed(c, 1);
    ck_assert_int_eq(acquire(c, 1, &b), ERR_OK);
    index_cache_release(c, b);
    finish(c);
}
END_TEST

/* A process without descriptors knows nothing about a file, and does not pretend to later on. */
START_TEST(no_descriptor_is_not_the_file_s_fault)
{
    struct index_cache *c = begin(4, 4);
    struct index_ref *ref = NULL;
    struct rlimit before, none = {0, 0};
    put_index(1, "one");
    ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &before), 0);
    none.rlim_max = before.rlim_max;
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &none), 0);
    enum err rc = acquire(c, 1, &ref);
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &before), 0);
    ck_assert_int_eq(rc, ERR_BUSY);
    ck_assert_int_eq(acquire(c, 1, &ref), ERR_OK);
    index_cache_release(c, ref);
    finish(c);
}
END_TEST

START_TEST(caps)
{
    struct index_cache *c = begin(2, 3);
    struct index_ref *held[8];
    struct index_ref *a = NULL;
    struct index_cache_stats stats;
    for (int n = 0; n < 8; n++) {
        put_index(n, "x");
        ck_assert_int_eq(acquire(c, n, &held[n]), ERR_OK);
    }
    index_cache_stats(c, &stats);
    ck_assert_uint_eq(stats.open_now, 8); /* held ones are never closed */
    for (int n = 0; n < 8; n++)
        index_cache_release(c, held[n]);
    index_cache_stats(c, &stats);
    ck_assert_uint_eq(stats.open_now, 2);
    ck_assert_int_eq(acquire(c, 7, &a), ERR_OK); /* the last released are still there */
    index_cache_release(c, a);
    ck_assert_int_eq(acquire(c, 6, &a), ERR_OK);
    index_cache_release(c, a);
    index_cache_stats(c, &stats);
    ck_assert_uint_eq(stats.opens, 8);

    atomic_store(&locates, 0);
    for (int n = 20; n < 30; n++)
        ck_assert_int_eq(acquire(c, n, &a), ERR_NOT_FOUND);
    for (int n = 29; n > 26; n--)
        ck_assert_int_eq(acquire(c, n, &a), ERR_NOT_FOUND);
    ck_assert_int_eq(atomic_load(&locates), 10);
    ck_assert_int_eq(acquire(c, 20, &a), ERR_NOT_FOUND);
    ck_assert_int_eq(atomic_load(&locates), 11);
    finish(c);
}
END_TEST

/* Threads that hold, let go and replace. Each file's function is named by its number: whoever
 * holds an index must find that name in it, whatever the others do. */
struct hammer {
    struct index_cache *cache;
    unsigned seed;
    atomic_int *stop;
    int wrong;
};

static void *hammer(void *arg)
{
    struct hammer *h = arg;
    while (!atomic_load(h->stop)) {
        int n = rand_r(&h->seed) % 8;
        struct index_ref *ref = NULL;
        enum err rc = acquire(h->cache, n, &ref);
        if (rc == ERR_OK) {
            char want[8];
            snprintf(want, sizeof(want), "f%d", n);
            h->wrong += strcmp(name_in(ref), want) != 0;
            if (rand_r(&h->seed) % 50 == 0)
                index_cache_poison(h->cache, ref);
            index_cache_release(h->cache, ref);
        }
        h->wrong += n < 6 && rc != ERR_OK && rc != ERR_IO && rc != ERR_BUSY;
        h->wrong += n >= 6 && rc != ERR_NOT_FOUND && rc != ERR_BUSY;
        if (rand_r(&h->seed) % 10 == 0)
            changed(h->cache, n);
    }
    return NULL;
}

START_TEST(threads)
{
    enum { THREADS = 4 };
    struct index_cache *c = begin(3, 2);
    struct hammer h[THREADS];
    pthread_t id_of[THREADS];
    atomic_int stop = 0;
    for (int n = 0; n < 6; n++) {
        char name[16];
        snprintf(name, sizeof(name), "f%d", n);
        put_index(n, name);
    }
    for (int i = 0; i < THREADS; i++) {
        h[i] = (struct hammer){c, (unsigned)i + 1, &stop, 0};
        ck_assert_int_eq(pthread_create(&id_of[i], NULL, hammer, &h[i]), 0);
    }
    usleep(700 * 1000);
    atomic_store(&stop, 1);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(id_of[i], NULL);
        ck_assert_int_eq(h[i].wrong, 0);
    }
    struct index_cache_stats stats;
    index_cache_stats(c, &stats);
    ck_assert_uint_le(stats.open_now, 3);
    finish(c);
}
END_TEST

UNIT_MAIN("index_cache", opens_once, misses_are_remembered_until_changed, nil_is_never_there,
          holders_keep_the_old_file, damaged_files, poisoned_until_changed,
          no_descriptor_is_not_the_file_s_fault, caps, threads)
