#include "symbolizer/symbolize.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "symbolizer/sigbus_guard.h"
#include "tests/support/gsym_bytes.h"
#include "tests/support/unit.h"

static char folder[64];
static struct index_cache *cache;
static struct symbolizer *symbolizer;
static struct arena arena;

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

static bool locate(void *ctx, const struct uuid *uuid, char *path, size_t size)
{
    (void)ctx;
    path_of(uuid, path, size);
    return access(path, F_OK) == 0;
}

/* App: before_leaf [0x4000,0x4010) 2; leaf_entry [0x4010,0x4020) 4; enter_stall [0x4040,0x4048),
 * whose last instruction calls a function that never returns; innocent_neighbour [0x4048,0x4060). */
static const uint8_t BEFORE_LEAF[] = {0, 0, 2, 2, 0, 0};
static const uint8_t LEAF[] = {0, 0, 4, 2, 0, 0};
static const uint8_t ENTER_STALL[] = {0, 0, 12, 2, 0, 3, 1, 2, 4, 0};
static const uint8_t NEIGHBOUR[] = {0, 0, 16, 2, 0, 0};
#define LINES(a) .lines = a, .lines_len = sizeof(a)
static const struct gsym_bytes_function FUNCTIONS[] = {
    {.address = 0x100004000, .size = 16, .name = "before_leaf", LINES(BEFORE_LEAF)},
    {.address = 0x100004010, .size = 16, .name = "_Z10leaf_entryv", LINES(LEAF)},
    {.address = 0x100004040, .size = 8, .name = "enter_stall", LINES(ENTER_STALL), .local = 1},
    {.address = 0x100004048, .size = 24, .name = "innocent_neighbour", LINES(NEIGHBOUR)},
};
static const struct gsym_bytes_file FILES[] = {{"/src", "app.c"}};

static void put_index(int n, uint64_t vmaddr)
{
    struct gsym_bytes_function functions[4];
    memcpy(functions, FUNCTIONS, sizeof(functions));
    for (size_t i = 0; i < 4; i++)
        functions[i].address += vmaddr - 0x100000000;
    struct gsym_bytes bytes = {.uuid = id(n),
                               .offset_size = 4,
                               .base = vmaddr + 0x4000,
                               .functions = functions,
                               .function_count = 4,
                               .files = FILES,
                               .file_count = 1,
                               .footer = 1,
                               .text_vmaddr = vmaddr,
                               .text_size = 0x8000};
    struct uuid u = id(n);
    struct buf b;
    char path[256];
    buf_init(&b, 1 << 16);
    gsym_bytes_make(&bytes, &b);
    path_of(&u, path, sizeof(path));
    FILE *f = fopen(path, "wb");
    ck_assert_ptr_nonnull(f);
    ck_assert_uint_eq(fwrite(b.data, 1, b.len, f), b.len);
    fclose(f);
    buf_done(&b);
}

static void begin(void)
{
    snprintf(folder, sizeof(folder), "/tmp/test_symbolize.XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    cache = index_cache_new((struct index_locator){locate, NULL}, 16, 16);
    symbolizer = symbolizer_new(cache, 64);
    arena_init(&arena, 1 << 24);
}

static void finish(void)
{
    char path[256];
    symbolizer_free(symbolizer);
    index_cache_free(cache);
    arena_done(&arena);
    for (int n = 0; n < 16; n++) {
        struct uuid u = id(n);
        path_of(&u, path, sizeof(path));
        unlink(path);
    }
    ck_assert_int_eq(rmdir(folder), 0);
}

/* Facts: image 1 "Shop" app, 2 "UIKit" system, 3 "Plug" unknown, 4 "libsystem_c.dylib" unknown.
 * Places: group 9's addresses from 0x180000000 are image 2, from 0x190000000 image 5. */
static bool facts(void *ctx, const struct uuid *image, struct image_facts *ret)
{
    static const struct image_facts known[] = {{NULL, IMAGE_CLASS_UNKNOWN},
                                               {"Shop", IMAGE_CLASS_APP},
                                               {"UIKit", IMAGE_CLASS_SYSTEM},
                                               {"Plug", IMAGE_CLASS_UNKNOWN},
                                               {"libsystem_c.dylib", IMAGE_CLASS_UNKNOWN}};
    (void)ctx;
    if (image->bytes[3] < 1 || image->bytes[3] > 4)
        return false;
    *ret = known[image->bytes[3]];
    return true;
}

static bool place(void *ctx, const struct uuid *group, uint64_t unslid, struct uuid *ret_image,
                  uint64_t *ret_offset)
{
    (void)ctx;
    ck_assert_int_eq(group->bytes[3], 9);
    if (unslid < 0x180000000)
        return false;
    *ret_image = id(unslid < 0x190000000 ? 2 : 5);
    *ret_offset = unslid - (unslid < 0x190000000 ? 0x180000000 : 0x190000000);
    return true;
}

static struct raw_frame raw(enum image_kind image_kind, int n, uint64_t offset,
                            enum frame_kind kind)
{
    return (struct raw_frame){
        .image = id(n), .offset = offset, .image_kind = image_kind, .kind = kind};
}

static struct symbolized run(const struct raw_frame *frames, size_t count)
{
    struct symbolized out = {0};
    struct error err = {0};
    struct raw_stack stack = {frames, count};
    struct image_lookup lookup = {.facts = facts, .place = place};
    enum err rc = symbolizer_stack(symbolizer, &stack, &lookup, &arena, &out, &err);
    ck_assert_msg(rc == ERR_OK, "%s", err.text);
    ck_assert_uint_eq(out.stack.count, count);
    return out;
}

static void wants(const struct resolved_frame *f, const char *function, uint32_t line)
{
    ck_assert_int_eq(f->status, FRAME_RESOLVED);
    ck_assert_uint_eq(f->frame_count, 1);
    ck_assert_str_eq(f->frames[0].function, function);
    ck_assert_uint_eq(f->frames[0].line, line);
    ck_assert_str_eq(f->frames[0].file, "/src/app.c");
    ck_assert(f->has_index);
}

/* B1: the call before the return address; leaf, async and exact as they are. */
START_TEST(call_sites)
{
    begin();
    put_index(1, 0x100000000);
    struct raw_frame frames[] = {
        raw(IMAGE_UUID, 1, 0x4010, FRAME_LEAF),   raw(IMAGE_UUID, 1, 0x4048, FRAME_RETURN),
        raw(IMAGE_UUID, 1, 0x4048, FRAME_ASYNC),  raw(IMAGE_UUID, 1, 0x4048, FRAME_EXACT),
        raw(IMAGE_UUID, 1, 0x4010, FRAME_RETURN), raw(IMAGE_UUID, 1, 0x4044, FRAME_LEAF),
    };
    uint64_t id = 0;
    for (int warm = 0; warm < 2; warm++) {
        struct symbolized out = run(frames, 6);
        const struct resolved_frame *f = out.stack.frames;
        wants(&f[0], "leaf_entry()", 4);
        ck_assert_str_eq(f[0].frames[0].mangled, "_Z10leaf_entryv");
        wants(&f[1], "enter_stall", 13);
        ck_assert(f[1].frames[0].local);
        wants(&f[2], "innocent_neighbour", 16);
        wants(&f[3], "innocent_neighbour", 16);
        wants(&f[4], "before_leaf", 2);
        wants(&f[5], "enter_stall", 13);
        /* Frames have the id of their address, asked for the first time or not. */
        ck_assert_uint_ne(f[1].frames_id, 0);
        ck_assert_uint_ne(f[1].frames_id, f[0].frames_id);
        ck_assert(warm == 0 || f[1].frames_id == id);
        id = f[1].frames_id;
        ck_assert_uint_eq(f[1].raw.offset, 0x4048); /* what is shown is what was reported */
        ck_assert_str_eq(f[0].image_name, "Shop");
        ck_assert(f[0].in_app);
        ck_assert_uint_eq(out.missing_count + out.unavailable_count, 0);
    }
    struct symbolizer_stats stats;
    symbolizer_stats(symbolizer, &stats);
    ck_assert_uint_eq(stats.frames, 12);
    ck_assert_uint_ge(stats.cache_hits, 6);
    finish();
}
END_TEST

/* B2: a dylib linked at 0 and an executable at 4 GB. */
START_TEST(vmaddrs)
{
    begin();
    put_index(1, 0x100000000);
    put_index(3, 0);
    struct raw_frame frames[] = {raw(IMAGE_UUID, 3, 0x4010, FRAME_LEAF),
                                 raw(IMAGE_UUID, 1, 0x4010, FRAME_LEAF)};
    struct symbolized out = run(frames, 2);
    wants(&out.stack.frames[0], "leaf_entry()", 4);
    wants(&out.stack.frames[1], "leaf_entry()", 4);
    finish();
}
END_TEST

START_TEST(statuses)
{
    begin();
    put_index(1, 0x100000000);
    struct raw_frame frames[] = {
        raw(IMAGE_NONE, 0, 0, FRAME_LEAF),       raw(IMAGE_UUID, 1, 0x5000, FRAME_RETURN),
        raw(IMAGE_UUID, 1, 0, FRAME_RETURN),     raw(IMAGE_UUID, 3, 0x10, FRAME_RETURN),
        raw(IMAGE_UUID, 4, 0x10, FRAME_RETURN),  raw(IMAGE_UUID, 3, 0x20, FRAME_RETURN),
        raw(IMAGE_NAMED, 3, 0x10, FRAME_RETURN), raw(IMAGE_UUID, 7, 0x10, FRAME_RETURN),
    };
    struct symbolized out = run(frames, 8);
    const struct resolved_frame *f = out.stack.frames;
    ck_assert_int_eq(f[0].status, FRAME_NO_IMAGE);
    ck_assert(!f[0].in_app && !f[0].image_name);
    ck_assert_int_eq(f[1].status, FRAME_OUT_OF_RANGE);
    ck_assert(f[1].has_index && f[1].in_app);
    ck_assert_int_eq(f[2].status, FRAME_OUT_OF_RANGE);
    ck_assert_int_eq(f[3].status, FRAME_NO_SYMBOLS);
    ck_assert(!f[3].has_index && f[3].in_app);
    ck_assert(!f[4].in_app); /* known by its name */
    ck_assert_int_eq(f[6].status, FRAME_NO_SYMBOLS);
    ck_assert(f[7].in_app && !f[7].image_name);
    for (int i = 0; i < 8; i++)
        ck_assert_uint_eq(f[i].frame_count, 0);
    /* Each once, and never the named one. */
    ck_assert_uint_eq(out.missing_count, 3);
    ck_assert_int_eq(out.missing[0].bytes[3], 3);
    ck_assert_int_eq(out.missing[1].bytes[3], 4);
    ck_assert_int_eq(out.missing[2].bytes[3], 7);
    finish();
}
END_TEST

/* B25: nil matches nothing, and nobody misses it. */
START_TEST(nil_uuid)
{
    begin();
    struct raw_frame frames[] = {{.image_kind = IMAGE_UUID, .offset = 0x401c}};
    struct symbolized out = run(frames, 1);
    ck_assert_int_eq(out.stack.frames[0].status, FRAME_NO_SYMBOLS);
    ck_assert_uint_eq(out.missing_count, 0);
    finish();
}
END_TEST

/* Linkage names that devices send are shown like those of an index. */
START_TEST(mangled_device_names)
{
    static const struct {
        const char *symbol;
        const char *shown;
    } names[] = {
        {"$s4Shop4FeedC6reload5forceySb_tFyycfU_", "closure #1 in Feed.reload(force:)"},
        {"_$s4Shop4FeedC6reloadyyFZ", "static Feed.reload()"},
        {"_TFC4Shop4Feed3runfT_T_", "Feed.run()"},
        {"_RNvCs1234_4shop4main", "shop::main"},
        {"_ZN4shop4FeedC1Ev", "shop::Feed::Feed()"},
        {"__16-[Feed reload:]_block_invoke_2", "-[Feed reload:] block"},
    };
    static const char *const as_they_are[] = {
        "_Z3fooIiEDTnw_T_EET_",
        "-[Feed reload:]",
        "$s4Shop4Fee",
        "db_query",
    };
    begin();
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        struct raw_frame frame = raw(IMAGE_UUID, 1, 0x4010, FRAME_LEAF);
        frame.symbol = names[i].symbol;
        struct symbolized out = run(&frame, 1);
        const struct resolved_frame *f = &out.stack.frames[0];
        ck_assert_int_eq(f->status, FRAME_NO_SYMBOLS);
        ck_assert_uint_eq(f->frame_count, 1);
        ck_assert_str_eq(f->frames[0].function, names[i].shown);
        ck_assert_str_eq(f->frames[0].mangled, names[i].symbol);
        ck_assert_str_eq(f->raw.symbol, names[i].symbol);
    }
    for (size_t i = 0; i < sizeof(as_they_are) / sizeof(as_they_are[0]); i++) {
        struct raw_frame frame = raw(IMAGE_NONE, 0, 0, FRAME_RETURN);
        frame.symbol = as_they_are[i];
        struct symbolized out = run(&frame, 1);
        ck_assert_str_eq(out.stack.frames[0].frames[0].function, as_they_are[i]);
        ck_assert_ptr_null(out.stack.frames[0].frames[0].mangled);
    }
    finish();
}
END_TEST

/* B72: the device's name serves until there is a better one. */
START_TEST(device_names)
{
    begin();
    struct raw_frame frames[] = {raw(IMAGE_UUID, 1, 0x4010, FRAME_LEAF),
                                 raw(IMAGE_NONE, 0, 0, FRAME_RETURN),
                                 raw(IMAGE_UUID, 2, 0x10, FRAME_RETURN)};
    frames[0].symbol = "device_name";
    frames[1].symbol = "jit_code";
    struct symbolized out = run(frames, 3);
    const struct resolved_frame *f = out.stack.frames;
    ck_assert_int_eq(f[0].status, FRAME_NO_SYMBOLS);
    ck_assert_uint_eq(f[0].frame_count, 1);
    ck_assert_str_eq(f[0].frames[0].function, "device_name");
    ck_assert_ptr_null(f[0].frames[0].mangled);
    ck_assert_ptr_null(f[0].frames[0].file);
    ck_assert_int_eq(f[1].status, FRAME_NO_IMAGE);
    ck_assert_str_eq(f[1].frames[0].function, "jit_code");
    ck_assert_uint_eq(f[2].frame_count, 0);
    ck_assert_uint_eq(out.missing_count, 2);

    put_index(1, 0x100000000);
    struct uuid u = id(1);
    index_cache_changed(cache, &u);
    out = run(frames, 1);
    wants(&out.stack.frames[0], "leaf_entry()", 4);
    ck_assert_str_eq(out.stack.frames[0].raw.symbol, "device_name");
    finish();
}
END_TEST

START_TEST(slide_groups)
{
    begin();
    put_index(2, 0x180000000);
    struct raw_frame frames[] = {raw(IMAGE_GROUP, 9, 0x180004010, FRAME_LEAF),
                                 raw(IMAGE_GROUP, 9, 0x180004048, FRAME_RETURN),
                                 raw(IMAGE_GROUP, 9, 0x190000010, FRAME_RETURN),
                                 raw(IMAGE_GROUP, 9, 0x170000010, FRAME_RETURN),
                                 raw(IMAGE_GROUP, 9, 0x170000020, FRAME_RETURN)};
    struct symbolized out = run(frames, 5);
    const struct resolved_frame *f = out.stack.frames;
    wants(&f[0], "leaf_entry()", 4);
    wants(&f[1], "enter_stall", 13);
    struct uuid two = id(2), five = id(5);
    ck_assert(uuid_equal(&f[1].image, &two));
    ck_assert_uint_eq(f[1].offset, 0x4048);
    ck_assert_int_eq(f[1].raw.image_kind, IMAGE_GROUP);
    ck_assert_uint_eq(f[1].raw.offset, 0x180004048);
    ck_assert_str_eq(f[1].image_name, "UIKit");
    ck_assert(!f[1].in_app);
    ck_assert_int_eq(f[2].status, FRAME_NO_SYMBOLS);
    ck_assert(uuid_equal(&f[2].image, &five));
    ck_assert_int_eq(f[3].status, FRAME_NO_SYMBOLS);
    ck_assert_uint_eq(f[3].offset, 0x170000010);
    ck_assert_uint_eq(out.missing_count, 2);
    ck_assert_int_eq(out.missing[0].bytes[3], 5);
    ck_assert_int_eq(out.missing[1].bytes[3], 9);
    finish();
}
END_TEST

/* A replaced file is a new generation: the frame cache does not answer for the old one. */
START_TEST(replaced_index)
{
    begin();
    put_index(1, 0x100000000);
    struct raw_frame frames[] = {raw(IMAGE_UUID, 1, 0x4010, FRAME_LEAF)};
    struct symbolized out = run(frames, 1);
    wants(&out.stack.frames[0], "leaf_entry()", 4);
    struct uuid u = id(1);
    char path[256];
    path_of(&u, path, sizeof(path));
    unlink(path);
    index_cache_changed(cache, &u);
    struct symbolized gone = run(frames, 1);
    ck_assert_int_eq(gone.stack.frames[0].status, FRAME_NO_SYMBOLS);
    ck_assert_uint_eq(gone.missing_count, 1);
    wants(&out.stack.frames[0], "leaf_entry()", 4); /* results outlive the index */
    finish();
}
END_TEST

START_TEST(damaged_index)
{
    begin();
    struct uuid u = id(1);
    char path[256];
    path_of(&u, path, sizeof(path));
    FILE *f = fopen(path, "wb");
    for (int i = 0; i < 100; i++)
        fputs("rubbish", f);
    fclose(f);
    struct raw_frame frames[] = {raw(IMAGE_UUID, 1, 0x4010, FRAME_LEAF),
                                 raw(IMAGE_UUID, 1, 0x4048, FRAME_RETURN)};
    struct symbolized out = run(frames, 2);
    ck_assert_int_eq(out.stack.frames[0].status, FRAME_NO_SYMBOLS);
    ck_assert_uint_eq(out.missing_count, 0);
    ck_assert_uint_eq(out.unavailable_count, 1);
    ck_assert(uuid_equal(&out.unavailable[0], &u));
    finish();
}
END_TEST

/* The file loses its pages while it is in use: that image is unavailable, nothing dies. */
START_TEST(lost_pages)
{
    begin();
    put_index(1, 0x100000000);
    put_index(3, 0);
    ck_assert_int_eq(sigbus_guard_install(NULL), ERR_OK);
    struct raw_frame frames[] = {raw(IMAGE_UUID, 1, 0x4010, FRAME_LEAF),
                                 raw(IMAGE_UUID, 1, 0x4048, FRAME_RETURN),
                                 raw(IMAGE_UUID, 3, 0x4010, FRAME_LEAF)};
    run(frames, 1);
    struct uuid u = id(1);
    char path[256];
    path_of(&u, path, sizeof(path));
    ck_assert_int_eq(truncate(path, 0), 0);
    for (int i = 0; i < 2; i++) {
        struct symbolized out = run(frames + 1, 2);
        ck_assert_int_eq(out.stack.frames[0].status, FRAME_NO_SYMBOLS);
        wants(&out.stack.frames[1], "leaf_entry()", 4);
        ck_assert_uint_eq(out.unavailable_count, 1);
        ck_assert(uuid_equal(&out.unavailable[0], &u));
    }
    put_index(1, 0x100000000);
    index_cache_changed(cache, &u);
    struct symbolized out = run(frames, 2);
    wants(&out.stack.frames[1], "enter_stall", 13);
    finish();
}
END_TEST

START_TEST(without_memory)
{
    begin();
    put_index(1, 0x100000000);
    struct raw_frame frames[40];
    struct image_lookup lookup = {.facts = facts, .place = place};
    struct error err;
    int failed = 0;
    for (size_t i = 0; i < 40; i++)
        frames[i] = raw(IMAGE_UUID, 1, 0x4010 + i % 8, FRAME_RETURN);
    struct raw_stack stack = {frames, 40};
    for (size_t limit = 64; limit < 40000; limit += 97) {
        struct arena small;
        struct symbolized out = {0};
        arena_init(&small, limit);
        enum err rc = symbolizer_stack(symbolizer, &stack, &lookup, &small, &out, &err);
        ck_assert(rc == ERR_OK || (rc == ERR_NO_MEMORY && !out.stack.frames));
        failed += rc != ERR_OK;
        arena_done(&small);
    }
    ck_assert_int_gt(failed, 20);
    struct symbolized out = run(frames, 40);
    ck_assert_int_eq(out.stack.frames[39].status, FRAME_RESOLVED);
    finish();
}
END_TEST

START_TEST(empty_stack)
{
    begin();
    struct symbolized out = run(NULL, 0);
    ck_assert_uint_eq(out.missing_count, 0);
    finish();
}
END_TEST

static int facts_asked;

static bool counted_facts(void *ctx, const struct uuid *image, struct image_facts *ret)
{
    facts_asked++;
    return facts(ctx, image, ret);
}

/* B has an index of its own of image 1. */
static void shelf_of_b(void *ctx, const struct uuid *image, struct uuid *ret)
{
    (void)ctx;
    *ret = image->bytes[3] == 1 ? id(7) : *image;
}

static struct symbolized run_for(const char *app, const struct raw_frame *frames, size_t count)
{
    struct symbolized out = {0};
    struct raw_stack stack = {frames, count};
    struct image_lookup lookup = {.facts = counted_facts, .place = place, .app = app};
    if (app && *app == 'b')
        lookup.shelf = shelf_of_b;
    ck_assert_int_eq(symbolizer_stack(symbolizer, &stack, &lookup, &arena, &out, NULL), ERR_OK);
    return out;
}

static uint64_t index_looks(void)
{
    struct index_cache_stats stats;
    index_cache_stats(cache, &stats);
    return stats.hits + stats.misses;
}

/* Stacks that share ask once an app for an image; each says what it misses. */
START_TEST(shared_images)
{
    begin();
    put_index(1, 0x100000000);
    const struct raw_frame frames[] = {
        raw(IMAGE_UUID, 1, 0x4010, FRAME_LEAF), raw(IMAGE_UUID, 3, 0x4048, FRAME_RETURN),
        raw(IMAGE_UUID, 1, 0x4048, FRAME_RETURN), raw(IMAGE_NAMED, 1, 0x4048, FRAME_RETURN)};
    symbolizer_share(symbolizer);
    struct symbolized first = run_for("a", frames, 4);
    facts_asked = 0;
    const uint64_t looks = index_looks();
    put_index(3, 0x100000000);
    const struct uuid third = id(3);
    index_cache_changed(cache, &third);
    for (int i = 0; i < 3; i++) {
        struct symbolized out = run_for("a", frames, 4);
        wants(&out.stack.frames[0], "leaf_entry()", 4);
        wants(&out.stack.frames[2], "enter_stall", 13);
        ck_assert_int_eq(out.stack.frames[3].status, FRAME_NO_SYMBOLS);
        ck_assert_uint_eq(out.missing_count, 1);
        ck_assert(uuid_equal(&out.missing[0], &third));
        ck_assert_ptr_eq(out.stack.frames[1].image_name, first.stack.frames[1].image_name);
    }
    struct symbolized other = run_for("a", frames, 1);
    ck_assert_uint_eq(other.missing_count, 0); /* what another stack missed */
    ck_assert_int_eq(facts_asked, 0);
    ck_assert_uint_eq(index_looks(), looks);
    other = run_for("b", frames, 2);
    ck_assert_int_gt(facts_asked, 0);
    ck_assert_uint_eq(other.missing_count, 1); /* its own of image 1, which is not there */
    ck_assert(uuid_equal(&other.missing[0], &frames[0].image));
    wants(&other.stack.frames[1], "enter_stall", 13);
    symbolizer_share(symbolizer);
    first = run_for("a", frames, 4);
    ck_assert_uint_eq(first.missing_count, 0);
    wants(&first.stack.frames[1], "enter_stall", 13);
    symbolizer_share_end(symbolizer);
    facts_asked = 0;
    first = run_for("a", frames, 4);
    first = run_for("b", frames, 4);
    ck_assert_int_eq(facts_asked, 6);
    finish();
}
END_TEST

/* More images and apps than are open at a time; a page of the index that is lost. */
START_TEST(shared_images_are_few)
{
    enum { MANY = 2000 };
    begin();
    put_index(1, 0x100000000);
    struct raw_frame *frames = arena_array(&arena, MANY, sizeof(*frames));
    for (int i = 0; i < MANY; i++) {
        frames[i] = raw(IMAGE_UUID, i % 2 ? 1 : 6, 0x4010, FRAME_LEAF);
        if (i % 2 == 0)
            memcpy(frames[i].image.bytes + 4, &i, sizeof(i));
    }
    for (int share = 0; share < 2; share++) {
        if (share)
            symbolizer_share(symbolizer);
        for (int n = 0; n < 40; n++) {
            const char app[] = {'x', (char)('A' + n), 0};
            struct symbolized out = run_for(app, frames, n < 2 ? MANY : 4);
            ck_assert_uint_eq(out.missing_count, n < 2 ? MANY / 2 : 2);
            for (size_t i = 0; i < out.missing_count; i++)
                ck_assert(uuid_equal(&out.missing[i], &frames[2 * i].image));
            wants(&out.stack.frames[3], "leaf_entry()", 4);
        }
    }
    symbolizer_share_end(symbolizer);
    finish();
}
END_TEST

START_TEST(lost_pages_of_a_shared_image)
{
    char path[256];
    struct uuid u = id(1);
    ck_assert_int_eq(sigbus_guard_install(NULL), ERR_OK);
    begin();
    put_index(1, 0x100000000);
    path_of(&u, path, sizeof(path));
    const struct raw_frame frames[] = {raw(IMAGE_UUID, 1, 0x4010, FRAME_LEAF),
                                       raw(IMAGE_UUID, 1, 0x4048, FRAME_RETURN)};
    symbolizer_share(symbolizer);
    run(frames, 1);
    ck_assert_int_eq(truncate(path, 0), 0);
    for (int i = 0; i < 2; i++) { /* the second finds it so */
        struct symbolized out = run(frames + 1, 1);
        ck_assert_int_eq(out.stack.frames[0].status, FRAME_NO_SYMBOLS);
        ck_assert_uint_eq(out.unavailable_count, 1);
        ck_assert(uuid_equal(&out.unavailable[0], &u));
        ck_assert_uint_eq(out.missing_count, 0);
    }
    symbolizer_share_end(symbolizer);
    finish();
}
END_TEST

UNIT_MAIN("symbolize", shared_images, shared_images_are_few, lost_pages_of_a_shared_image,
          call_sites, vmaddrs, statuses, nil_uuid, device_names, mangled_device_names, slide_groups,
          replaced_index, damaged_index, lost_pages, without_memory, empty_stack)
