#include "symbolizer/frame_cache.h"

#include <string.h>

#include "tests/support/unit.h"

static struct frame one(const char *function, const char *mangled, const char *file)
{
    return (struct frame){.function = function, .mangled = mangled, .file = file, .line = 7};
}

START_TEST(keeps_frames_and_texts)
{
    char name[] = "inner()";
    struct frame_cache *c = frame_cache_new(8);
    struct arena arena;
    arena_init(&arena, 1 << 20);
    struct frame in[2] = {one(name, "_Z5innerv", "/src/a.c"), one("outer", NULL, NULL)};
    in[0].inlined = in[1].local = true;
    in[1].mangled = in[1].function;
    ck_assert_ptr_null(frame_cache_get(c, 1, 0x1000));
    ck_assert(frame_cache_put(c, 1, 0x1000, in, 2));
    name[0] = 'X'; /* the cache has its own copy */
    ck_assert_ptr_null(frame_cache_get(c, 2, 0x1000));
    ck_assert_ptr_null(frame_cache_get(c, 1, 0x1001));
    const struct frame_block *b = frame_cache_get(c, 1, 0x1000);
    ck_assert_ptr_nonnull(b);
    ck_assert_uint_eq(b->count, 2);
    const struct frame *out = frame_block_copy(b, &arena);
    const struct frame *direct = frames_copy(b->frames, b->count, &arena);
    frame_cache_free(c);
    for (int i = 0; i < 2; i++) {
        ck_assert_str_eq(out[0].function, "inner()");
        ck_assert_str_eq(out[0].mangled, "_Z5innerv");
        ck_assert_str_eq(out[0].file, "/src/a.c");
        ck_assert(out[0].inlined && !out[0].local && out[0].line == 7);
        ck_assert_str_eq(out[1].function, "outer");
        ck_assert_ptr_eq(out[1].mangled, out[1].function);
        ck_assert_ptr_null(out[1].file);
        ck_assert(out[1].local);
        out = direct;
    }
    arena_done(&arena);
}
END_TEST

START_TEST(one_copy_is_shared)
{
    struct frame_cache *c = frame_cache_new(8);
    struct arena arenas[2];
    struct frame in = one("f", "_Z1fv", "/src/a.c");
    ck_assert(frame_cache_put(c, 1, 0x1000, &in, 1));
    for (uint64_t i = 0; i < 2; i++) {
        arena_init(&arenas[i], 1 << 20);
        struct frame_block *b = frame_cache_get(c, 1, 0x1000);
        const struct frame *first = frame_block_share(b, i + 1, &arenas[i]);
        ck_assert_str_eq(first->mangled, "_Z1fv");
        ck_assert_ptr_eq(frame_block_share(b, i + 1, &arenas[i]), first);
        ck_assert_ptr_ne(frame_block_copy(b, &arenas[i]), first);
        if (i == 0)
            arena_done(&arenas[0]); /* the second one's is a copy of its own */
    }
    frame_cache_free(c);
    arena_done(&arenas[1]);
}
END_TEST

START_TEST(blocks_have_ids_of_their_own)
{
    struct frame_cache *c = frame_cache_new(2);
    struct frame_cache *other = frame_cache_new(2);
    const struct frame f = one("f", NULL, NULL);
    uint64_t ids[4] = {0};
    for (uint64_t i = 0; i < 4; i++) { /* the third takes the place of the first */
        const struct frame_block *b = frame_cache_put(i == 3 ? other : c, 1, i, &f, 1);
        ck_assert_ptr_eq(b, frame_cache_get(i == 3 ? other : c, 1, i));
        ids[i] = b->id;
        ck_assert_uint_gt(ids[i], i > 0 ? ids[i - 1] : 0);
    }
    ck_assert_uint_eq(frame_cache_get(c, 1, 2)->id, ids[2]);
    frame_cache_free(c);
    frame_cache_free(other);
}
END_TEST

START_TEST(remembers_that_nothing_is_there)
{
    struct frame_cache *c = frame_cache_new(8);
    ck_assert(frame_cache_put(c, 1, 5, NULL, 0));
    ck_assert_ptr_nonnull(frame_cache_get(c, 1, 5));
    ck_assert_uint_eq(frame_cache_get(c, 1, 5)->count, 0);
    frame_cache_free(c);
}
END_TEST

START_TEST(the_least_recently_used_goes)
{
    struct frame_cache *c = frame_cache_new(3);
    struct frame f = one("f", NULL, NULL);
    size_t entries, bytes;
    for (uint64_t a = 0; a < 3; a++)
        frame_cache_put(c, 1, a, &f, 1);
    ck_assert_ptr_nonnull(frame_cache_get(c, 1, 0));
    frame_cache_put(c, 1, 3, &f, 1);
    ck_assert_ptr_null(frame_cache_get(c, 1, 1));
    ck_assert_ptr_nonnull(frame_cache_get(c, 1, 0));
    ck_assert_ptr_nonnull(frame_cache_get(c, 1, 2));
    ck_assert_ptr_nonnull(frame_cache_get(c, 1, 3));
    frame_cache_usage(c, &entries, &bytes);
    ck_assert_uint_eq(entries, 3);
    frame_cache_free(c);
}
END_TEST

/* Against a plain model: a list in the order of use. */
START_TEST(same_as_a_list)
{
    enum { CAPACITY = 16, ROUNDS = 20000 };
    struct frame_cache *c = frame_cache_new(CAPACITY);
    struct frame f = one("f", NULL, NULL);
    uint64_t model[CAPACITY + 1];
    size_t n = 0;
    unsigned seed = 3;
    for (int round = 0; round < ROUNDS; round++) {
        uint64_t address = (uint64_t)rand_r(&seed) % 40;
        size_t at = 0;
        while (at < n && model[at] != address)
            at++;
        f.line = (uint32_t)address;
        const struct frame_block *b = frame_cache_get(c, address % 3, address);
        ck_assert_int_eq(b != NULL, at < n);
        if (b)
            ck_assert_uint_eq(b->frames[0].line, address);
        else
            frame_cache_put(c, address % 3, address, &f, 1);
        if (at == n && n < CAPACITY)
            n++;
        if (at == n)
            at--;
        memmove(model + 1, model, at * sizeof(model[0]));
        model[0] = address;
    }
    frame_cache_free(c);
}
END_TEST

START_TEST(bytes_are_capped)
{
    enum { ENTRIES = 64 };
    struct frame_cache *c = frame_cache_new(ENTRIES);
    char text[4000];
    size_t entries, bytes;
    memset(text, 'x', sizeof(text) - 1);
    text[sizeof(text) - 1] = 0;
    struct frame f = one(text, NULL, NULL);
    for (uint64_t a = 0; a < 200; a++)
        ck_assert(frame_cache_put(c, 1, a, &f, 1));
    frame_cache_usage(c, &entries, &bytes);
    ck_assert_uint_le(bytes, ENTRIES * FRAME_CACHE_ENTRY_BYTES);
    ck_assert_uint_gt(entries, 4);
    ck_assert_ptr_nonnull(frame_cache_get(c, 1, 199));
    ck_assert_ptr_null(frame_cache_get(c, 1, 0));
    static char huge[ENTRIES * FRAME_CACHE_ENTRY_BYTES];
    memset(huge, 'x', sizeof(huge) - 1);
    f.function = huge;
    ck_assert(!frame_cache_put(c, 1, 1000, &f, 1));
    ck_assert_ptr_nonnull(frame_cache_get(c, 1, 199));
    frame_cache_free(c);
    ck_assert_ptr_null(frame_cache_new(0));
}
END_TEST

UNIT_MAIN("frame_cache", keeps_frames_and_texts, one_copy_is_shared, blocks_have_ids_of_their_own,
          remembers_that_nothing_is_there, the_least_recently_used_goes, same_as_a_list,
          bytes_are_capped)
