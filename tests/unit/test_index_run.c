/* Hidden names and their maps, and objects that are known, through symbol_index_build. */
#include "symbolizer/index_run.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "symbolizer/gsym_read.h"
#include "tests/support/files.h"
#include "tests/support/macho_builder.h"
#include "tests/support/unit.h"
#include "tests/support/zip_builder.h"

#define IMAGE "01020304-0506-0708-090A-0B0C0D0E0F10" /* SAMPLE_UUID */
#define BUILT "11111111-2222-3333-4444-555555555555"
#define MAP   "BCSymbolMap Version: 2.0\n_reload\n\1-[Feed poll]\n"
#define LINK  "<plist><dict><key>DBGOriginalUUID</key><string>" BUILT "</string></dict></plist>"

struct run {
    char folder[64];
    char upload[128];
    char out[128];
    char reason[600];
    struct slice_report slice; /* the last one; texts are gone but for the reason */
    size_t count;
    struct symbol_index_totals totals;
    struct error err;
};

static void keep(void *ctx, const struct slice_report *r)
{
    struct run *t = ctx;
    t->slice = *r;
    snprintf(t->reason, sizeof(t->reason), "%s", r->reason ? r->reason : "");
    t->count++;
}

static void run_begin(struct run *t)
{
    memset(t, 0, sizeof(*t));
    scratch_make(t->folder, sizeof(t->folder));
    snprintf(t->upload, sizeof(t->upload), "%s/upload", t->folder);
    snprintf(t->out, sizeof(t->out), "%s/out", t->folder);
    mkdir(t->out, 0700);
}

/* The functions ___hidden#0_ +0x1000, __hidden#1_ +0x1100, ___hidden#2_ +0x1200. */
static void hidden_object(struct buf *out)
{
    struct macho_builder b;
    const uint64_t base = 0x100000000;
    const struct macho_symbol symbols[] = {
        {"___hidden#0_", N_SECT | N_EXT, base + 0x1000},
        {"__hidden#1_", N_SECT, base + 0x1100},
        {"___hidden#2_", N_SECT, base + 0x1200},
    };
    const struct macho_section text[] = {
        {"__text", "__TEXT", base + 0x1000, 0x300, 0, S_ATTR_PURE_INSTRUCTIONS}};
    macho_begin(&b, true, false, CPU_TYPE_ARM64, 0, MH_DSYM);
    macho_uuid(&b, SAMPLE_UUID);
    macho_symtab(&b, symbols, 3);
    macho_segment(&b, "__TEXT", base, 0x2000, 0, 0, text, 1);
    macho_finish(&b, out);
}

static void add(struct zip_builder *z, const char *name, const void *data, size_t len)
{
    const struct zip_member m = {.name = name, .data = data, .len = len, .deflate = true};
    zip_add(z, &m);
}

static enum err build(struct run *t, struct zip_builder *z, const struct symbol_index_options *like)
{
    struct buf zip;
    struct symbol_index_options options = {0};
    if (like)
        options = *like;
    options.out_dir = t->out;
    options.limits = ARCHIVE_LIMITS_DEFAULT;
    zip_finish(z, &zip);
    write_file(t->upload, zip.data, zip.len);
    buf_done(&zip);
    t->count = 0;
    t->err = (struct error){.code = ERR_OK};
    return symbol_index_build(t->upload, &options, keep, t, &t->totals, &t->err);
}

static const char *name_at(const struct run *t, uint64_t address, char out[64])
{
    char path[256];
    struct gsym *g = NULL;
    struct gsym_frame f[4];
    snprintf(path, sizeof(path), "%s/%s.gsym", t->out, IMAGE);
    ck_assert_int_eq(gsym_open(path, &g, NULL), ERR_OK);
    size_t n = gsym_lookup(g, address, f, 4);
    snprintf(out, 64, "%s", n ? f[0].name : "");
    gsym_close(g);
    return out;
}

/* The map comes before its object, or behind; with a link, or under the image's own UUID. */
START_TEST(maps_anywhere_in_the_archive)
{
    struct buf object;
    hidden_object(&object);
    for (int turn = 0; turn < 4; turn++) {
        struct run t;
        struct zip_builder z;
        char name[64];
        bool before = turn & 1, own = turn & 2;
        const char *map = own ? "BCSymbolMaps/" IMAGE ".bcsymbolmap" : "m/" BUILT ".bcsymbolmap";
        run_begin(&t);
        zip_begin(&z);
        if (before)
            add(&z, map, MAP, strlen(MAP));
        add(&z, "A.dSYM/Contents/Resources/DWARF/A", object.data, object.len);
        if (!own)
            add(&z, "A.dSYM/Contents/Resources/" IMAGE ".plist", LINK, strlen(LINK));
        if (!before)
            add(&z, map, MAP, strlen(MAP));
        add(&z, "A.dSYM/Contents/Info.plist", "<plist/>", 8); /* belongs there */
        add(&z, "A.dSYM/words", "a b", 3);
        ck_assert_msg(build(&t, &z, NULL) == ERR_OK, "%s", t.err.text);
        ck_assert_uint_eq(t.count, 1);
        ck_assert_int_eq(t.slice.state, SLICE_INDEXED);
        ck_assert_str_eq(name_at(&t, 0x100001000, name), "reload");
        ck_assert_str_eq(name_at(&t, 0x100001104, name), "-[Feed poll]");
        /* The map has no third name. */
        ck_assert_str_eq(name_at(&t, 0x100001204, name), "__hidden#2_");
        ck_assert_uint_eq(t.slice.hidden, 1);
        ck_assert_msg(strstr(t.reason, "1 names stay hidden") != NULL, "%s", t.reason);
        ck_assert_uint_eq(t.totals.maps, own ? 1 : 2);
        ck_assert_uint_eq(t.totals.others, 1);
        ck_assert_uint_eq(count_files(t.out), 1); /* neither object nor map is left */
        scratch_remove(t.folder);
    }
    buf_done(&object);
}
END_TEST

START_TEST(without_a_map)
{
    struct buf object;
    struct run t;
    struct zip_builder z;
    char name[64];
    hidden_object(&object);
    run_begin(&t);
    zip_begin(&z);
    add(&z, "A", object.data, object.len);
    add(&z, IMAGE ".plist", LINK, strlen(LINK));
    const struct symbol_index_options kept = {.keep_maps = true, .keep_objects = true};
    ck_assert_int_eq(build(&t, &z, &kept), ERR_OK);
    ck_assert_uint_eq(t.slice.hidden, 3);
    ck_assert_str_eq(t.reason,
                     "3 names are hidden: " BUILT ".bcsymbolmap of the app's own build has them");
    ck_assert_str_eq(name_at(&t, 0x100001000, name), "__hidden#0_");
    ck_assert_str_eq(name_at(&t, 0x100001104, name), "__hidden#1_");
    ck_assert_uint_eq(count_files(t.out), 3); /* index, object, link */
    buf_done(&object);
    scratch_remove(t.folder);
}
END_TEST

START_TEST(maps_alone_and_damaged_ones)
{
    struct buf object;
    struct run t;
    struct zip_builder z;
    hidden_object(&object);
    run_begin(&t);
    const struct symbol_index_options kept = {.keep_maps = true};
    zip_begin(&z);
    add(&z, BUILT ".bcsymbolmap", MAP, strlen(MAP));
    ck_assert_msg(build(&t, &z, &kept) == ERR_OK, "%s", t.err.text);
    ck_assert_uint_eq(t.count, 0);
    ck_assert_uint_eq(t.totals.maps, 1);
    ck_assert_uint_eq(count_files(t.out), 1);
    /* Nobody can say whose this is. */
    zip_begin(&z);
    add(&z, "Feed.bcsymbolmap", MAP, strlen(MAP));
    ck_assert_int_eq(build(&t, &z, &kept), ERR_INVALID);
    ck_assert_msg(strstr(t.err.text, "UUID.bcsymbolmap") != NULL, "%s", t.err.text);
    ck_assert_int_eq(t.slice.state, SLICE_FAILED);
    /* Neither text nor map; the object is good for what it has. */
    zip_begin(&z);
    add(&z, IMAGE ".bcsymbolmap", "BCSymbolMap Version: 2.0\n\xff\n", 27);
    add(&z, "A", object.data, object.len);
    ck_assert_int_eq(build(&t, &z, &kept), ERR_OK);
    ck_assert_uint_eq(t.count, 2);
    ck_assert_uint_eq(t.slice.hidden, 3);
    zip_begin(&z);
    add(&z, IMAGE ".bcsymbolmap", "BCSymbolMap Version: 2.0\n\xff\n", 27);
    ck_assert_int_eq(build(&t, &z, &kept), ERR_FORMAT);
    ck_assert_msg(strstr(t.err.text, "line 2") != NULL, "%s", t.err.text);
    ck_assert_uint_eq(t.totals.maps, 0);
    buf_done(&object);
    scratch_remove(t.folder);
}
END_TEST

static bool all_but_first(void *ctx, const uint8_t sha256[SHA256_SIZE])
{
    return memcmp(ctx, sha256, SHA256_SIZE) != 0;
}

START_TEST(what_is_known_is_not_indexed)
{
    struct buf object, other;
    struct run t;
    struct zip_builder z;
    uint8_t digest[SHA256_SIZE];
    hidden_object(&object);
    macho_sample(&other);
    sha256_of(object.data, object.len, digest);
    run_begin(&t);
    zip_begin(&z);
    add(&z, "A", object.data, object.len);
    add(&z, "B", other.data, other.len);
    struct symbol_index_options options = {.known = all_but_first, .known_ctx = digest};
    ck_assert_int_eq(build(&t, &z, &options), ERR_OK);
    ck_assert_uint_eq(t.count, 2);
    ck_assert_uint_eq(count_files(t.out), 1);
    /* The slice that was put off comes last. */
    ck_assert_int_eq(t.slice.state, SLICE_INDEXED);
    zip_begin(&z);
    add(&z, "B", other.data, other.len);
    ck_assert_msg(build(&t, &z, &options) == ERR_OK, "%s", t.err.text);
    ck_assert_int_eq(t.slice.state, SLICE_KNOWN);
    ck_assert_mem_eq(t.slice.uuid.bytes, SAMPLE_UUID, 16);
    sha256_of(other.data, other.len, digest);
    char text[SHA256_TEXT_SIZE];
    ck_assert_str_eq(t.slice.object_sha256, sha256_format(digest, text));
    buf_done(&object);
    buf_done(&other);
    scratch_remove(t.folder);
}
END_TEST

UNIT_MAIN("index_run", maps_anywhere_in_the_archive, without_a_map, maps_alone_and_damaged_ones,
          what_is_known_is_not_indexed)
