#include "server/http/fill_text.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tests/support/gsym_bytes.h"
#include "tests/support/temp_dir.h"
#include "tests/support/unit.h"

static char *folder;
static struct index_cache *cache;
static struct symbolizer *symbolizer;

static const struct uuid SHOP = {{0x28, 0x58, 0x84, 0xd3}};
#define SHOP_UUID "285884d3-0000-0000-0000-000000000000"
#define SHOP_IMAGES                                                                                \
    "Binary Images:\n0x200000000 - 0x20000ffff +Shop arm64 <" SHOP_UUID "> /a/Shop\n"

/* -[Feed reload:] [0x4000,0x4010) lines 40, from +4 41, from +8 42; outer [0x5000,0x5020) with
 * inl_a1 at [+8,+24) called in line 20, inl_b1 in it at [+8,+12) called in line 30; plain, without
 * lines, [0x6000,0x6010). */
static const uint8_t FEED[] = {0, 0, 40, 2, 0, 3, 1, 2, 4, 3, 1, 2, 4, 0};
static const uint8_t OUTER[] = {0, 0, 10, 2, 0, 0};
static const uint8_t INLINES[] = {
    1, 0, 32, 1, 0, 0, 0, 0, 0, 0,        /* root */
    1, 8, 16, 1, 1, 0, 0, 0, 1, 20,       /* inl_a1 */
    1, 0, 4,  0, 8, 0, 0, 0, 2, 30, 0, 0, /* inl_b1 */
};
static const char *const NAMES[] = {"inl_a1", "inl_b1"};
static const struct gsym_bytes_file FILES[] = {{"/src/app", "a.c"}, {"/src/lib", "b.h"}};
static const struct gsym_bytes_function FUNCTIONS[] = {
    {.address = 0x100004000,
     .size = 16,
     .name = "-[Feed reload:]",
     .lines = FEED,
     .lines_len = sizeof(FEED)},
    {.address = 0x100005000,
     .size = 32,
     .name = "outer",
     .lines = OUTER,
     .lines_len = sizeof(OUTER),
     .inlines = INLINES,
     .inlines_len = sizeof(INLINES)},
    {.address = 0x100006000, .size = 16, .name = "_Z5plainv"},
    {.address = 0x100006010, .size = 16, .name = "broken\n"},
};

static bool locate(void *ctx, const struct uuid *uuid, char *path, size_t size)
{
    (void)ctx;
    snprintf(path, size, "%s/shop.gsym", folder);
    return uuid_equal(uuid, &SHOP);
}

static void begin(void)
{
    struct gsym_bytes bytes = {.uuid = SHOP,
                               .offset_size = 4,
                               .base = 0x100004000,
                               .functions = FUNCTIONS,
                               .function_count = 4,
                               .files = FILES,
                               .file_count = 2,
                               .names = NAMES,
                               .name_count = 2,
                               .footer = 1,
                               .text_vmaddr = 0x100000000,
                               .text_size = 0x10000};
    struct buf b;
    char path[512];
    folder = temp_dir_new();
    buf_init(&b, 1 << 16);
    gsym_bytes_make(&bytes, &b);
    snprintf(path, sizeof(path), "%s/shop.gsym", folder);
    FILE *f = fopen(path, "wb");
    ck_assert_ptr_nonnull(f);
    ck_assert_uint_eq(fwrite(b.data, 1, b.len, f), b.len);
    fclose(f);
    buf_done(&b);
    cache = index_cache_new((struct index_locator){locate, NULL}, 16, 16);
    symbolizer = symbolizer_new(cache, 64);
}

static void finish(void)
{
    symbolizer_free(symbolizer);
    index_cache_free(cache);
    temp_dir_free(folder);
}

static struct fill_stats stats;

/* The text with what it became in `out`. */
static enum err fill(const char *s, size_t len, struct buf *out, enum text_callers callers)
{
    struct error err = {0};
    struct arena arena;
    struct apple_text text;
    arena_init(&arena, (size_t)64 << 20);
    ck_assert_int_eq(apple_text_read(s, len, &arena, &text, &err), ERR_OK);
    enum err rc = fill_text(&text, callers, symbolizer, NULL, out, &stats, &err);
    arena_done(&arena);
    return rc;
}

static void expect_as(const char *s, const char *want, enum text_callers callers)
{
    struct buf out;
    buf_init(&out, 1 << 20);
    buf_puts(&out, "");
    ck_assert_int_eq(fill(s, strlen(s), &out, callers), ERR_OK);
    ck_assert_str_eq(out.data, want);
    buf_done(&out);
}

static void expect(const char *s, const char *want)
{
    expect_as(s, want, CALLERS_BY_FORM);
}

START_TEST(crash_frames)
{
    begin();
    /* The leaf as it is, callers one byte before. */
    expect("Thread 0 Crashed:\r\n"
           "0   Shop     \t0x200004008 0x200000000 + 16392\r\n"
           "1   Shop     \t0x200004008 0x200000000 + 16392\r\n"
           "2   Shop     \t0x200004011 0x200000000 + 16401\r\n"
           "3   Shop     \t0x200004004 reload + 4\r\n"
           "4   Shop     \t0x200004004 -[Feed reload:] (in Shop) (old.m:7)\r\n"
           "5   Shop     \t0x200006008\r\n"
           "6   Shop     \t0x200006008 plain() + 8\r\n"
           "7   other    \t0x300004008 0x300000000 + 16392\r\n\r\n" SHOP_IMAGES,
           "Thread 0 Crashed:\r\n"
           "0   Shop     \t0x200004008 -[Feed reload:] (in Shop) (a.c:42)\r\n"
           "1   Shop     \t0x200004008 -[Feed reload:] (in Shop) (a.c:41)\r\n"
           "2   Shop     \t0x200004011 0x200000000 + 16401\r\n"
           "3   Shop     \t0x200004004 -[Feed reload:] (in Shop) (a.c:40)\r\n"
           "4   Shop     \t0x200004004 -[Feed reload:] (in Shop) (old.m:7)\r\n"
           "5   Shop     \t0x200006008 plain() (in Shop) + 8\r\n"
           "6   Shop     \t0x200006008 plain() + 8\r\n"
           "7   other    \t0x300004008 0x300000000 + 16392\r\n\r\n" SHOP_IMAGES);
    ck_assert_uint_eq(stats.frames, 8);
    ck_assert_uint_eq(stats.filled, 4);
    expect_as("1 Shop 0x200004008 0x0 + 1\n" SHOP_IMAGES,
              "1 Shop 0x200004008 -[Feed reload:] (in Shop) (a.c:42)\n" SHOP_IMAGES, CALLERS_EXACT);
    finish();
}
END_TEST

START_TEST(a_name_the_index_knows_no_better_stays)
{
    begin();
    expect("1 Shop 0x200006008 _Z5plainv + 8\n" SHOP_IMAGES,
           "1 Shop 0x200006008 _Z5plainv + 8\n" SHOP_IMAGES);
    expect("1 Shop 0x200006018 0x200000000 + 24600\n" SHOP_IMAGES,
           "1 Shop 0x200006018 broken? (in Shop) + 8\n" SHOP_IMAGES);
    finish();
}
END_TEST

/* Pointer authentication in the upper bits of a return address. */
START_TEST(authenticated_addresses)
{
    begin();
    expect("1 Shop 0x00a1000200004008 0x200000000 + 16392\n" SHOP_IMAGES,
           "1 Shop 0x00a1000200004008 -[Feed reload:] (in Shop) (a.c:41)\n" SHOP_IMAGES);
    finish();
}
END_TEST

START_TEST(inlined_frames)
{
    begin();
    expect("0 Shop 0x20000500a 0x0 + 1\n" SHOP_IMAGES,
           "0 Shop 0x20000500a inl_b1 (in Shop) (a.c:10) [inlined]\n"
           "0 Shop 0x20000500a inl_a1 (in Shop) (b.h:30) [inlined]\n"
           "0 Shop 0x20000500a outer (in Shop) (a.c:20)\n" SHOP_IMAGES);
    expect("  + 9 ???  (in Shop)  load address 0x200000000 + 0x500a  [0x20000500a]\n" SHOP_IMAGES,
           "  + 9 outer (in Shop) (a.c:20) > inl_a1 (b.h:30) [inlined] > inl_b1 (a.c:10) [inlined] "
           "[0x20000500a]\n" SHOP_IMAGES);
    expect("  9  ??? (Shop + 20490) [0x20000500a] 1-9\n" SHOP_IMAGES,
           "  9  outer (a.c:20 in Shop + 20490) > inl_a1 (b.h:30) [inlined] > inl_b1 (a.c:10) "
           "[inlined] [0x20000500a] 1-9\n" SHOP_IMAGES);
    finish();
}
END_TEST

START_TEST(trees)
{
    begin();
    /* sample(1): as the addresses stand; spindump: callers one before. */
    expect("2 ???  (in Shop)  load address 0x200000000 + 0x4008  [0x200004008]\n"
           "  2 ???  (in Shop)  load address 0x200000000 + 0x4004  [0x200004004]\n" SHOP_IMAGES,
           "2 -[Feed reload:] (in Shop) (a.c:42) [0x200004008]\n"
           "  2 -[Feed reload:] (in Shop) (a.c:41) [0x200004004]\n" SHOP_IMAGES);
    expect_as("2 ???  (in Shop)  load address 0x200000000 + 0x4008  [0x200004008]\n"
              "  2 ???  (in Shop)  load address 0x200000000 + 0x4004  [0x200004004]\n" SHOP_IMAGES,
              "2 -[Feed reload:] (in Shop) (a.c:41) [0x200004008]\n"
              "  2 -[Feed reload:] (in Shop) (a.c:41) [0x200004004]\n" SHOP_IMAGES,
              CALLERS_RETURN);
    expect("  9  ??? (Shop + 16392) [0x200004008]\n"
           "    9  ??? (Shop + 16388) [0x200004004] (running)\n"
           "    9  plain (Shop + 24584) [0x200006008]\n" SHOP_IMAGES,
           "  9  -[Feed reload:] (a.c:41 in Shop + 16392) [0x200004008]\n"
           "    9  -[Feed reload:] (a.c:41 in Shop + 16388) [0x200004004] (running)\n"
           "    9  plain() + 8 (Shop + 24584) [0x200006008]\n" SHOP_IMAGES);
    finish();
}
END_TEST

/* By UUID and offset without a list of images; by name and offset where the address is elsewhere. */
START_TEST(frames_that_say_where_they_are)
{
    begin();
    expect("60  ??? (<" SHOP_UUID "> + 16388) [0x109853c2c]\n",
           "60  -[Feed reload:] (a.c:41 in <" SHOP_UUID "> + 16388) [0x109853c2c]\n");
    expect("60  ??? (Shop + 16388) [0x109853c2c]\n" SHOP_IMAGES,
           "60  -[Feed reload:] (a.c:41 in Shop + 16388) [0x109853c2c]\n" SHOP_IMAGES);
    /* Two of that name: never a guess. */
    static const char two[] = "60  ??? (Shop + 16388) [0x109853c2c]\n" SHOP_IMAGES
                              "0x300000000 - 0x30000ffff Shop <" SHOP_UUID "> /b/Shop\n"
                              "0x400000000 - 0x40000ffff Shop "
                              "<385884d3-0000-0000-0000-000000000000> /c/Shop\n";
    expect(two, two);
    finish();
}
END_TEST

START_TEST(lists_become_lines)
{
    begin();
    expect("Last Exception Backtrace:\n(0x200004008 0x20000500b 0x200004011 0x7)\n" SHOP_IMAGES,
           "Last Exception Backtrace:\n"
           "0   Shop                          \t0x0000000200004008 -[Feed reload:] (in Shop) "
           "(a.c:41)\n"
           "1   Shop                          \t0x000000020000500b inl_b1 (in Shop) (a.c:10) "
           "[inlined]\n"
           "1   Shop                          \t0x000000020000500b inl_a1 (in Shop) (b.h:30) "
           "[inlined]\n"
           "1   Shop                          \t0x000000020000500b outer (in Shop) (a.c:20)\n"
           "2   Shop                          \t0x0000000200004011 0x200000000 + 16401\n"
           "3   ???                           \t0x0000000000000007 0x0 + 7\n" SHOP_IMAGES);
    ck_assert_uint_eq(stats.frames, 4);
    ck_assert_uint_eq(stats.filled, 2);
    finish();
}
END_TEST

/* Each process has its own images: the same address is the app's in one and nothing in the other. */
START_TEST(processes)
{
    static const char head[] =
        "Process: a [1]\n  9  ??? (Shop + 16388) [0x200004004]\n" SHOP_IMAGES;
    static const char rest[] =
        "Process: b [2]\n  9  ??? (b + 16388) [0x200004004]\nBinary Images:\n"
        "0x200000000 - 0x20000ffff b "
        "<385884d3-0000-0000-0000-000000000000> /b\n";
    char text[1024], want[1024];
    begin();
    snprintf(text, sizeof(text), "%s%s", head, rest);
    snprintf(want, sizeof(want),
             "Process: a [1]\n  9  -[Feed reload:] (a.c:41 in Shop + 16388) [0x200004004]\n%s%s",
             SHOP_IMAGES, rest);
    expect(text, want);
    finish();
}
END_TEST

/* Longer than a chunk, and an answer longer than it may be. */
START_TEST(long_texts)
{
    static const char frame[] = "1 Shop 0x200004008 0x200000000 + 16392\n";
    static const char want[] = "1 Shop 0x200004008 -[Feed reload:] (in Shop) (a.c:41)\n";
    struct buf text, out;
    begin();
    buf_init(&text, 1 << 24);
    buf_init(&out, 1 << 24);
    for (int i = 0; i < 5000; i++)
        buf_printf(&text, "%sregisters\n", frame);
    buf_puts(&text, SHOP_IMAGES);
    ck_assert_int_eq(fill(text.data, text.len, &out, CALLERS_BY_FORM), ERR_OK);
    ck_assert_uint_eq(stats.filled, 5000);
    ck_assert_uint_eq(out.len, 5000 * (strlen(want) + 10) + strlen(SHOP_IMAGES));
    ck_assert(memcmp(out.data, want, strlen(want)) == 0);
    buf_done(&out);
    buf_init(&out, 4096);
    ck_assert_int_eq(fill(text.data, text.len, &out, CALLERS_BY_FORM), ERR_LIMIT);
    buf_done(&out);
    buf_done(&text);
    finish();
}
END_TEST

UNIT_MAIN("fill_text", crash_frames, a_name_the_index_knows_no_better_stays,
          authenticated_addresses, inlined_frames, trees, frames_that_say_where_they_are,
          lists_become_lines, processes, long_texts)
