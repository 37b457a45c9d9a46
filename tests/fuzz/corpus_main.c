/*
 * corpus_main - writes the binary inputs that fuzzing begins with: corpus_main DIR.
 *
 * Purpose: each is made by our own encoders and by the builders of the unit tests, as small as it
 * can be with every part in it. DIR/TARGET must be there. The texts are in make-corpus.
 */
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "base/buf.h"
#include "base/histogram.h"
#include "base/stack.h"
#include "server/http/inflate.h"
#include "server/ingest/image_set.h"
#include "storage/frames_blob.h"
#include "tests/support/dwarf_bytes.h"
#include "tests/support/elf_builder.h"
#include "tests/support/files.h"
#include "tests/support/gsym_bytes.h"
#include "tests/support/macho_builder.h"
#include "tests/support/zip_builder.h"

#define ARM64  0x0100000cu
#define X86    7u
#define POWER  18u
#define DSYM   10u
#define DYLIB  6u
#define CAP    ((size_t)1 << 20)
#define IMAGES 3

static const char *folder;

static void save(const char *target, const char *name, struct buf *b)
{
    char path[4096];
    if (b->failed || b->len == 0)
        abort();
    snprintf(path, sizeof(path), "%s/%s/%s", folder, target, name);
    write_file(path, b->data, b->len);
    buf_done(b);
}

static struct buf empty_buf(void)
{
    struct buf b;
    buf_init(&b, CAP);
    return b;
}

static struct uuid uuid_of(uint8_t n)
{
    struct uuid u;
    memset(&u, n, sizeof(u));
    return u;
}

/* --- what is stored -------------------------------------------------------------------------- */

static const struct raw_frame *frames_of(size_t *count)
{
    static struct raw_frame f[6];
    f[0] = (struct raw_frame){uuid_of(1), 0x1234, IMAGE_UUID, FRAME_LEAF, NULL};
    f[1] = (struct raw_frame){uuid_of(2), 0x77, IMAGE_UUID, FRAME_RETURN, "main"};
    f[2] = (struct raw_frame){uuid_of(1), 0xabcdef, IMAGE_UUID, FRAME_ASYNC, NULL};
    f[3] = (struct raw_frame){.image_kind = IMAGE_NONE, .kind = FRAME_RETURN};
    f[4] = (struct raw_frame){image_named_id("Shop"), 9, IMAGE_NAMED, FRAME_EXACT, "f"};
    f[5] = (struct raw_frame){image_group_id("22A1", "arm64"), 0x180001000, IMAGE_GROUP,
                              FRAME_RETURN, NULL};
    *count = 6;
    return f;
}

static void write_stacks(void)
{
    struct raw_stack s;
    s.frames = frames_of(&s.count);
    const uint64_t addresses[] = {0x100001234, 0x200000077,     0x100abcdef,
                                  0xdeadbeef,  0x300000009 + 5, 0x180001000};
    struct buf raw = empty_buf(), addr = empty_buf(), b = empty_buf(), alone = empty_buf();
    raw_stack_encode(&s, &raw);
    stack_addresses_encode(&s, addresses, &addr);
    buf_u16(&b, (uint16_t)raw.len);
    buf_put(&b, raw.data, raw.len);
    buf_put(&b, addr.data, addr.len);
    buf_u16(&alone, 0xffff);
    buf_put(&alone, raw.data, raw.len);
    save("stack", "every-kind", &b);
    save("stack", "no-addresses", &alone);
    buf_done(&raw);
    buf_done(&addr);
}

static void write_image_sets(void)
{
    const struct image_entry entries[IMAGES] = {
        {.uuid = uuid_of(1),
         .name = "Shop",
         .path = "/var/containers/Bundle/Application/A/Shop.app/Shop",
         .arch = "arm64",
         .has_slide = true,
         .has_load_address = true,
         .slide = 0x4000,
         .load_address = 0x100004000,
         .size = 0x10000},
        {.uuid = uuid_of(2),
         .name = "UIKitCore",
         .path = "/System/Library/PrivateFrameworks/UIKitCore.framework/UIKitCore",
         .has_slide = true,
         .slide = 0x7000000},
        {.name = "libz.dylib", .has_load_address = true, .load_address = 0x190000000},
    };
    struct buf one = empty_buf(), all = empty_buf(), none = empty_buf();
    image_set_encode(entries, 1, &one);
    image_set_encode(entries, IMAGES, &all);
    image_set_encode(entries, 0, &none);
    save("image_set", "one", &one);
    save("image_set", "every-form", &all);
    save("image_set", "none", &none);
}

static void write_histograms(void)
{
    struct histogram h;
    struct buf one = empty_buf(), many = empty_buf();
    histogram_init(&h);
    histogram_add(&h, 1240, 1);
    histogram_encode(&h, &one);
    for (int64_t v = 1; v < HISTOGRAM_MAX_MS; v *= 3)
        histogram_add(&h, v, (uint64_t)v);
    histogram_encode(&h, &many);
    save("histogram", "one", &one);
    save("histogram", "many", &many);
    histogram_done(&h);
}

/* Names are "n1", "n2", … as in fuzz_frames_blob.c. */
static enum err name_id(void *ctx, const char *name, int64_t *ret, struct error *err)
{
    (void)ctx;
    (void)err;
    *ret = strtol(name + 1, NULL, 10);
    return ERR_OK;
}

static void write_frames(void)
{
    const struct frame frames[] = {
        {.function = "n1", .mangled = "n2", .file = "n3", .line = 41, .inlined = true},
        {.function = "n4", .mangled = "n4", .file = "n3", .line = 7},
        {.function = "n5"}};
    struct resolved_frame r[3] = {
        {.status = FRAME_RESOLVED, .in_app = true, .has_index = true, .frames = frames},
        {.status = FRAME_NO_SYMBOLS, .approximate = true, .image_name = "n6"},
        {.status = FRAME_OUT_OF_RANGE, .image = uuid_of(9), .offset = 5, .frames = frames + 2},
    };
    const struct resolved_stack s = {r, 3};
    struct buf b = empty_buf();
    r[0].frame_count = 2;
    r[2].frame_count = 1;
    buf_u8(&b, 3);
    frames_blob_encode(&s, name_id, NULL, NULL, &b, NULL);
    save("frames_blob", "every-part", &b);
}

/* --- symbol files ---------------------------------------------------------------------------- */

static void write_macho(void)
{
    struct buf thin = empty_buf(), x86 = empty_buf(), ppc = empty_buf(), fat = empty_buf(),
               fat64 = empty_buf();
    macho_sample(&thin);
    macho_sample_of(&x86, false, false, X86, 3, DSYM, SAMPLE_UUID);
    macho_sample_of(&ppc, false, true, POWER, 0, DYLIB, SAMPLE_UUID);
    const struct macho_slice slices[] = {{&thin, ARM64, 0}, {&x86, X86, 3}};
    macho_fat(&fat, false, false, slices, 2);
    macho_fat(&fat64, true, true, slices, 2);
    save("macho", "arm64", &thin);
    save("macho", "i386", &x86);
    save("macho", "big-endian", &ppc);
    save("macho", "fat", &fat);
    save("macho", "fat64", &fat64);
}

static void write_elf(void)
{
    static const uint8_t id[20] = {1, 2, 3};
    static const char text[] = "debug information, debug information, debug information";
    const struct elf_builder_symbol symbols[] = {{"alpha", 0x12, 1, 0x1000, 0x100},
                                                 {"beta", 0x02, 1, 0x1100, 0}};
    struct buf sample = empty_buf(), b = empty_buf();
    elf_sample(&sample);
    save("elf", "x86_64", &sample);
    for (int wide = 0; wide < 2; wide++) {
        struct elf_builder e;
        b = empty_buf();
        elf_begin_file(&e, wide, !wide, ET_DYN, wide ? EM_AARCH64 : EM_PPC);
        elf_load(&e, 0x1000, 0x1000);
        elf_add(&e, ".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, 0x1000, NULL, 0x200);
        elf_build_id(&e, id, sizeof(id));
        elf_symtab(&e, symbols, 2);
        elf_compressed(&e, ".debug_info", 1, text, sizeof(text), 0);
        elf_compressed(&e, ".debug_str", 2, text, sizeof(text), 0);
        elf_finish(&e, &b);
        save("elf", wide ? "aarch64-compressed" : "big-endian-compressed", &b);
    }
}

/* A function of two rows with a call inlined into it; DWARF 4 and, without rows, DWARF 5. */
static void write_dwarf(uint16_t version)
{
    static const uint8_t program[] = {0, 9, 2,  0, 0x10, 0x40, 0,  0, 0, 0,
                                      0, 3, 10, 1, 0x4b, 2,    16, 0, 1, 1};
    const struct elf_builder_symbol symbols[] = {{"run", 0x12, 1, CODE, 64}};
    struct dwarf_bytes d;
    struct buf b = empty_buf();
    dwarf_bytes_init(&d);
    dwarf_abbreviation(&d, 1, 0x11, 1,
                       (const uint64_t[]){0x10, 0x17, 0x1b, 0x08, 0x13, 0x0b, 0x11, 0x01, 0, 0});
    dwarf_abbreviation(&d, 2, 0x2e, 1,
                       (const uint64_t[]){0x11, 0x01, 0x12, 0x06, 0x03, 0x08, 0, 0});
    dwarf_abbreviation(
        &d, 3, 0x1d, 0,
        (const uint64_t[]){0x11, 0x01, 0x12, 0x06, 0x31, 0x13, 0x58, 0x0b, 0x59, 0x0b, 0, 0});
    buf_u8(&d.abbrev, 0);
    dwarf_unit_begin(&d, version, 0);
    buf_u8(&d.info, 1);
    buf_u32(&d.info, 0);
    buf_put(&d.info, "/src", 5);
    buf_u8(&d.info, 0x0c);
    buf_u64(&d.info, 0);
    uint32_t origin = (uint32_t)d.info.len;
    for (int i = 0; i < 2; i++) {
        buf_u8(&d.info, 2);
        buf_u64(&d.info, CODE + (i ? 0 : 0x100));
        buf_u32(&d.info, 64);
        buf_put(&d.info, i ? "run" : "leaf", i ? 4 : 5);
        if (i) {
            buf_u8(&d.info, 3);
            buf_u64(&d.info, CODE + 8);
            buf_u32(&d.info, 8);
            buf_u32(&d.info, origin);
            buf_u8(&d.info, 1);
            buf_u8(&d.info, 5);
        }
        buf_u8(&d.info, 0);
    }
    buf_u8(&d.info, 0);
    dwarf_unit_end(&d);
    dwarf_line_table(&d, program, sizeof(program));
    dwarf_bytes_open(&d, symbols, 1);
    buf_put(&b, d.file.data, d.file.len);
    save("dwarf", version == 4 ? "by-hand-v4" : "by-hand-v5", &b);
    dwarf_bytes_done(&d);
}

static void write_gsym(void)
{
    /* As test_gsym_read.c: rows, and two calls inlined one into the other. */
    static const uint8_t lines[] = {0x7f, 2, 10, 2, 0, 23, 3, 0x74, 2, 4, 3, 13, 2, 0, 0};
    static const uint8_t inlines[] = {1, 0, 32, 1, 0, 0, 0, 0, 0, 0, 1, 8, 16, 1, 1, 0, 0,
                                      0, 1, 20, 1, 0, 4, 0, 8, 0, 0, 0, 2, 30, 0, 0, 0};
    static const struct gsym_bytes_file files[] = {{"/src/app", "a.c"}, {"/src/lib/", "b.h"}};
    static const char *const more[] = {"inl_a1", "inl_b1"};
    const struct gsym_bytes_function functions[] = {
        {.address = 0x1000,
         .size = 32,
         .name = "outer",
         .lines = lines,
         .lines_len = sizeof(lines),
         .inlines = inlines,
         .inlines_len = sizeof(inlines)},
        {.address = 0x1040, .size = 16, .name = "_Z3foov", .local = 1}};
    struct gsym_bytes g = {.uuid = uuid_of(7),
                           .base = 0x1000,
                           .functions = functions,
                           .function_count = 2,
                           .files = files,
                           .file_count = 2,
                           .names = more,
                           .name_count = 2,
                           .footer = 1,
                           .text_vmaddr = 0x1000,
                           .text_size = 0x1000};
    for (uint8_t size = 1; size <= 8; size = (uint8_t)(size * 2)) {
        char name[32];
        struct buf b = empty_buf();
        g.offset_size = size;
        g.footer = size != 8;
        gsym_bytes_make(&g, &b);
        snprintf(name, sizeof(name), "offsets-%d", size);
        save("gsym", name, &b);
    }
}

/* --- bodies ---------------------------------------------------------------------------------- */

static void write_zip(const char *name, const struct zip_member *members, size_t count)
{
    struct buf b = empty_buf();
    struct zip_builder z;
    zip_begin(&z);
    for (size_t i = 0; i < count; i++)
        zip_add(&z, &members[i]);
    zip_finish(&z, &b);
    save("archive", name, &b);
}

#define ZIP(name, ...)                                                                             \
    write_zip(name, (const struct zip_member[]){__VA_ARGS__},                                      \
              sizeof((const struct zip_member[]){__VA_ARGS__}) / sizeof(struct zip_member))
#define MEMBER(n) .name = (n), .data = "hello", .len = 5

static void write_odd_zips(void)
{
    ZIP("zip-around", {MEMBER("b.dSYM/Contents/Info.plist")},
        {MEMBER("b.dSYM/Contents/Resources/Relocations/a.yml")}, {MEMBER("b.dSYM/._a")},
        {MEMBER(".DS_Store")}, {MEMBER("__MACOSX/a")}, {MEMBER("a/__MACOSX/b")},
        {MEMBER("\303\244.map")}, {MEMBER("\377")}, {MEMBER("link"), .mode = 0120777});
    ZIP("zip-locked", {MEMBER("a")}, {MEMBER("b"), .flags = 1});
    ZIP("zip-again", {MEMBER("a")}, {MEMBER("b"), .again = true});
    ZIP("zip-spoilt", {MEMBER("a"), .crc_xor = 1});
    ZIP("zip-short", {MEMBER("a"), .said_size = 3});
    write_zip("zip-none", NULL, 0);
}

static void write_archives(void)
{
    struct buf object = empty_buf(), b = empty_buf();
    struct zip_builder z;
    elf_sample(&object);
    zip_begin(&z);
    zip_add(&z, &(struct zip_member){
                    .name = "a.dSYM/b", .data = object.data, .len = object.len, .deflate = true});
    zip_add(
        &z,
        &(struct zip_member){
            .name = "note.txt", .data = "hello", .len = 5, .descriptor = true, .deflate = true});
    zip_add(&z, &(struct zip_member){
                    .name = "c", .data = object.data, .len = object.len, .zip64 = true});
    zip_finish(&z, &b);
    save("archive", "zip", &b);
    b = empty_buf();
    deflate_gzip(object.data, object.len, &b);
    save("archive", "gzip", &b);
    save("archive", "bare", &object);
}

static void write_compressed(void)
{
    static const char text[] = "{\"stack\":[\"0x1\",\"0x1\",\"0x1\",\"0x1\",\"0x1\",\"0x1\"]}";
    struct buf gzip = empty_buf(), zstd = empty_buf(), cut = empty_buf();
    char out[512];
    buf_u8(&gzip, 2 * 10);
    buf_u8(&zstd, 2 * 10 + 1);
    for (int i = 0; i < 2; i++) {
        deflate_gzip(text, sizeof(text), &gzip);
        size_t n = ZSTD_compress(out, sizeof(out), text, sizeof(text), 3);
        if (ZSTD_isError(n))
            abort();
        buf_put(&zstd, out, n);
    }
    buf_put(&cut, gzip.data, gzip.len - 5);
    save("inflate", "gzip-cut", &cut);
    save("inflate", "gzip-twice", &gzip);
    save("inflate", "zstd-twice", &zstd);
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: %s DIR\n", argv[0]);
        return EXIT_FAILURE;
    }
    folder = argv[1];
    write_stacks();
    write_image_sets();
    write_histograms();
    write_frames();
    write_macho();
    write_elf();
    write_dwarf(4);
    write_dwarf(5);
    write_gsym();
    write_archives();
    write_odd_zips();
    write_compressed();
    return EXIT_SUCCESS;
}
