/*
 * bench_lookup - P5, P6 and P7 of the performance goals, on one index file.
 *
 *     build/bench/bench_lookup INDEX.gsym
 *
 * P5  opening, and lookups of random addresses inside functions' part of the file, nothing printed
 * P6  a frame from a full frame cache of 32 k entries; two workers beside a loop that only spins
 * P7  a stack of 40 frames, warm
 *
 * Medians of several rounds. Prints one line a figure; asserts nothing.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "symbolizer/frame_cache.h"
#include "symbolizer/symbolize.h"

#define ROUNDS        7
#define ADDRESSES     200000
#define CACHE_ENTRIES 32768
#define STACK_FRAMES  40
#define STACKS        2000

static const char *path;
static struct gsym_info info;
static uint64_t *addresses;

static uint64_t next_random(uint64_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return *seed;
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static double median(double *values)
{
    qsort(values, ROUNDS, sizeof(*values), compare_doubles);
    return values[ROUNDS / 2];
}

static void fail(const char *what)
{
    fprintf(stderr, "bench_lookup: %s: %s\n", path, what);
    exit(1);
}

static struct gsym *open_index(void)
{
    struct gsym *g = NULL;
    struct error err = {0};
    if (gsym_open(path, &g, &err) != ERR_OK)
        fail(err.text);
    return g;
}

/* Random addresses that some function covers. */
static void choose_addresses(const struct gsym *g)
{
    struct gsym_frame frames[GSYM_FRAMES_MAX];
    uint64_t seed = 88172645463325252u;
    addresses = calloc(ADDRESSES, sizeof(*addresses));
    if (!addresses || info.text_size == 0)
        fail("no memory, or an index without a footer");
    size_t n = 0;
    for (uint64_t tries = 0; n < ADDRESSES; tries++) {
        if (tries > 100 * (uint64_t)ADDRESSES)
            fail("hardly any functions");
        uint64_t a = info.text_vmaddr + next_random(&seed) % info.text_size;
        if (gsym_lookup(g, a, frames, GSYM_FRAMES_MAX) > 0)
            addresses[n++] = a;
    }
}

static void bench_open(void)
{
    double us[ROUNDS];
    for (int r = 0; r < ROUNDS; r++) {
        int64_t begin = clock_mono_ns();
        struct gsym *g = open_index();
        us[r] = (double)(clock_mono_ns() - begin) / 1e3;
        gsym_close(g);
    }
    printf("P5  open                %8.1f us    (%.1f MB, %u functions; goal 1000 us for 10 MB)\n",
           median(us), (double)info.size / 1e6, info.functions);
}

static void bench_lookup(const struct gsym *g)
{
    struct gsym_frame frames[GSYM_FRAMES_MAX];
    double ns[ROUNDS];
    size_t count = 0;
    for (int r = 0; r < ROUNDS; r++) {
        int64_t begin = clock_mono_ns();
        for (size_t i = 0; i < ADDRESSES; i++)
            count += gsym_lookup(g, addresses[i], frames, GSYM_FRAMES_MAX);
        ns[r] = (double)(clock_mono_ns() - begin) / ADDRESSES;
    }
    printf("P5  lookup              %8.1f ns    (%.2f frames a lookup; goal 500 ns)\n", median(ns),
           (double)count / ROUNDS / ADDRESSES);
}

/* --- P6 ------------------------------------------------------------------------------------ */

static struct frame_cache *full_cache(void)
{
    struct frame_cache *c = frame_cache_new(CACHE_ENTRIES);
    struct frame f = {.function = "Feed.reload(force:)",
                      .mangled = "$s4Shop4FeedC6reload5forceySb_tF",
                      .file = "/Users/ci/shop/Sources/Feed/Feed.swift",
                      .line = 41};
    for (uint64_t a = 0; c && a < CACHE_ENTRIES; a++)
        frame_cache_put(c, 1, 0x100000000 + 4 * a, &f, 1);
    return c;
}

static double hit_ns(struct frame_cache *c, uint64_t seed)
{
    enum { HITS = 1000000 };
    size_t found = 0;
    int64_t begin = clock_mono_ns();
    for (int i = 0; i < HITS; i++) {
        uint64_t a = 0x100000000 + 4 * (next_random(&seed) % CACHE_ENTRIES);
        const struct frame_block *b = frame_cache_get(c, 1, a);
        found += b != NULL && b->frames[0].line == 41;
    }
    if (found != HITS)
        fail("the frame cache lost entries");
    return (double)(clock_mono_ns() - begin) / HITS;
}

static double spin_ns(uint64_t seed)
{
    enum { TURNS = 20000000 };
    int64_t begin = clock_mono_ns();
    for (int i = 0; i < TURNS; i++)
        next_random(&seed);
    double ns = (double)(clock_mono_ns() - begin) / TURNS;
    return seed == 0 ? 0 : ns; /* keeps the loop */
}

struct worker {
    struct frame_cache *cache; /* NULL: spins */
    pthread_barrier_t *start;
    uint64_t seed;
    double ns;
};

static void *work(void *arg)
{
    struct worker *w = arg;
    pthread_barrier_wait(w->start);
    w->ns = w->cache ? hit_ns(w->cache, w->seed) : spin_ns(w->seed);
    return NULL;
}

/* Speed of two at once, in units of one alone: 2 at best. */
static double two_at_once(struct frame_cache *a, struct frame_cache *b, double alone)
{
    pthread_barrier_t start;
    pthread_t id[2];
    struct worker w[2] = {{a, &start, 11, 0}, {b, &start, 12, 0}};
    pthread_barrier_init(&start, NULL, 2);
    for (int i = 0; i < 2; i++) {
        if (pthread_create(&id[i], NULL, work, &w[i]) != 0)
            fail("no thread");
    }
    for (int i = 0; i < 2; i++)
        pthread_join(id[i], NULL);
    pthread_barrier_destroy(&start);
    return alone / w[0].ns + alone / w[1].ns;
}

static void bench_cache(void)
{
    struct frame_cache *a = full_cache();
    struct frame_cache *b = full_cache();
    double hit[ROUNDS], ratio[ROUNDS];
    if (!a || !b)
        fail("no memory");
    for (int r = 0; r < ROUNDS; r++) {
        hit[r] = hit_ns(a, (uint64_t)r + 1);
        double spin = spin_ns((uint64_t)r + 1);
        ratio[r] = two_at_once(a, b, hit[r]) / two_at_once(NULL, NULL, spin);
    }
    printf("P6  frame cache hit     %8.1f ns    (goal 100 ns)\n", median(hit));
    printf("P6  two workers / spin  %8.2f       (goal 0.85)\n", median(ratio));
    frame_cache_free(a);
    frame_cache_free(b);
}

/* --- P7 ------------------------------------------------------------------------------------ */

static bool locate(void *ctx, const struct uuid *uuid, char *out, size_t size)
{
    (void)ctx, (void)uuid;
    snprintf(out, size, "%s", path);
    return true;
}

static void bench_stack(void)
{
    static struct raw_frame frames[STACKS][STACK_FRAMES];
    struct index_cache *cache = index_cache_new((struct index_locator){locate, NULL}, 4, 4);
    struct symbolizer *s = symbolizer_new(cache, CACHE_ENTRIES);
    struct arena arena;
    double us[ROUNDS];
    uint64_t seed = 99;
    if (!cache || !s)
        fail("no memory");
    arena_init(&arena, (size_t)64 << 20);
    for (size_t i = 0; i < STACKS; i++) {
        for (size_t k = 0; k < STACK_FRAMES; k++) {
            uint64_t a = addresses[next_random(&seed) % (CACHE_ENTRIES / 4)];
            frames[i][k] = (struct raw_frame){.image = info.uuid,
                                              .image_kind = IMAGE_UUID,
                                              .offset = a - info.text_vmaddr,
                                              .kind = k ? FRAME_RETURN : FRAME_LEAF};
        }
    }
    for (int r = -1; r < ROUNDS; r++) {
        int64_t begin = clock_mono_ns();
        for (size_t i = 0; i < STACKS; i++) {
            struct raw_stack raw = {frames[i], STACK_FRAMES};
            struct symbolized out;
            arena_reset(&arena);
            if (symbolizer_stack(s, &raw, NULL, &arena, &out, NULL) != ERR_OK)
                fail("a stack failed");
        }
        if (r >= 0)
            us[r] = (double)(clock_mono_ns() - begin) / 1e3 / STACKS;
    }
    struct symbolizer_stats stats;
    symbolizer_stats(s, &stats);
    printf("P7  stack of %d, warm   %8.2f us    (%.1f %% cache hits; goal 10 us)\n", STACK_FRAMES,
           median(us), 100.0 * (double)stats.cache_hits / (double)stats.frames);
    arena_done(&arena);
    symbolizer_free(s);
    index_cache_free(cache);
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: bench_lookup INDEX.gsym\n");
        return 2;
    }
    path = argv[1];
    struct gsym *g = open_index();
    info = *gsym_info(g);
    choose_addresses(g);
    bench_open();
    bench_lookup(g);
    bench_cache();
    bench_stack();
    gsym_close(g);
    free(addresses);
    return 0;
}
