/* System libraries as Xcode takes them out of a device's shared cache: no DWARF, symbols in part. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "symbolizer/gsym_read.h"
#include "symbolizer/symbol_index.h"
#include "tests/support/files.h"
#include "tests/support/macho_builder.h"
#include "tests/support/unit.h"

#define CACHE_BASE ((uint64_t)0x1a3f5c000)
#define CODE_SIZE  0x4000

/* What one make of library looks like. */
struct make {
    bool is64;
    uint32_t cputype, cpusubtype;
    uint64_t base;
    const char *arch;
};

static const struct make MAKES[] = {
    {true, CPU_TYPE_ARM64, 0x80000002, CACHE_BASE, "arm64e"},
    {true, CPU_TYPE_ARM64, 0, CACHE_BASE, "arm64"},
    {true, CPU_TYPE_X86_64, 3, 0x7ff800000000, "x86_64"},
    {false, CPU_TYPE_ARM64_32, 1, 0x1a3f5000, "arm64_32"},
};

struct run {
    char folder[64], upload[128], out[128], path[192];
    struct slice_report slice;
    char reason[256], arch[32];
    size_t count;
    struct error err;
};

static void keep(void *ctx, const struct slice_report *r)
{
    struct run *t = ctx;
    t->slice = *r;
    snprintf(t->reason, sizeof(t->reason), "%s", r->reason ? r->reason : "");
    snprintf(t->arch, sizeof(t->arch), "%s", r->arch);
    snprintf(t->path, sizeof(t->path), "%s/%s", t->out, r->index_file);
    t->count++;
}

/* Starts at +0, +0x100, +0x180, +0x2180 of the code; the last step takes two bytes of ULEB. */
static const uint8_t STARTS[] = {0x80, 0x20, 0x80, 0x02, 0x80, 0x01, 0x80, 0x40, 0, 0, 0, 0};

static void library(const struct make *k, const struct macho_symbol *symbols, uint32_t count,
                    const void *starts, uint32_t starts_len, struct buf *out)
{
    struct macho_builder b;
    const struct macho_section text[] = {{"__text", "__TEXT", k->base + 0x1000, CODE_SIZE, 0x1000,
                                          S_ATTR_PURE_INSTRUCTIONS | S_ATTR_SOME_INSTRUCTIONS}};
    macho_begin(&b, k->is64, false, k->cputype, k->cpusubtype, MH_DYLIB);
    macho_id_dylib(&b, "/System/Library/Frameworks/Kit.framework/Kit");
    macho_uuid(&b, SAMPLE_UUID);
    /* The linkedit of a cache is shared: what an extracted library has of it lies anywhere. */
    static const uint8_t others[100000] = {1};
    macho_segment(&b, "__TEXT", k->base, 0x6000, 0, 0x6000, text, 1);
    macho_segment(&b, "__LINKEDIT", k->base + 0x40000000, 0x8000000, MACHO_DATA_AT, 0x8000000, NULL,
                  0);
    macho_data(&b, others, sizeof(others));
    if (starts)
        macho_starts(&b, starts, starts_len);
    if (count)
        macho_symtab(&b, symbols, count);
    macho_finish(&b, out);
}

static enum err index_bytes_of(struct run *t, const struct buf *file, bool nameless)
{
    const struct symbol_index_options options = {
        .out_dir = t->out, .limits = ARCHIVE_LIMITS_DEFAULT, .nameless = nameless};
    struct symbol_index_totals totals;
    t->count = 0;
    t->err = (struct error){.code = ERR_OK};
    write_file(t->upload, file->data, file->len);
    return symbol_index_build(t->upload, &options, keep, t, &totals, &t->err);
}

static void run_begin(struct run *t)
{
    memset(t, 0, sizeof(*t));
    scratch_make(t->folder, sizeof(t->folder));
    snprintf(t->upload, sizeof(t->upload), "%s/Kit", t->folder);
    snprintf(t->out, sizeof(t->out), "%s/out", t->folder);
    mkdir(t->out, 0700);
}

static void answers(const struct run *t, uint64_t address, const char *name)
{
    struct gsym *g = NULL;
    struct gsym_frame f[2];
    ck_assert_int_eq(gsym_open(t->path, &g, NULL), ERR_OK);
    ck_assert_int_eq(gsym_check(g, NULL), ERR_OK);
    size_t n = gsym_lookup(g, address, f, 2);
    ck_assert_msg(strcmp(n ? f[0].name : "", name) == 0, "0x%llx: %s", (unsigned long long)address,
                  n ? f[0].name : "nothing");
    gsym_close(g);
}

START_TEST(starts_bound_named_functions)
{
    for (size_t i = 0; i < sizeof(MAKES) / sizeof(MAKES[0]); i++) {
        const struct make *k = &MAKES[i];
        const uint64_t code = k->base + 0x1000;
        const struct macho_symbol symbols[] = {
            {"-[Kit open]", N_SECT, code},
            {"_KitClose", N_SECT | N_EXT, code + 0x180},
            {"<redacted>", N_SECT, code + 0x1000},
        };
        struct run t;
        struct buf file;
        run_begin(&t);
        library(k, symbols, 3, STARTS, sizeof(STARTS), &file);
        ck_assert_msg(index_bytes_of(&t, &file, false) == ERR_OK, "%s", t.err.text);
        ck_assert_str_eq(t.arch, k->arch);
        ck_assert_uint_eq(t.slice.text_vmaddr, k->base);
        ck_assert_uint_eq(t.slice.functions, 2);
        ck_assert_str_eq(t.reason, "");
        answers(&t, code, "-[Kit open]");
        answers(&t, code + 0xff, "-[Kit open]");
        /* A function without a name is not the one before it. */
        answers(&t, code + 0x100, "");
        answers(&t, code + 0x17f, "");
        answers(&t, code + 0x180, "KitClose");
        answers(&t, code + 0xfff, "KitClose");
        answers(&t, code + 0x1000, "");
        answers(&t, code + 0x2180, "");
        answers(&t, code + CODE_SIZE, "");
        answers(&t, k->base, "");
        buf_done(&file);
        scratch_remove(t.folder);
    }
}
END_TEST

START_TEST(starts_alone)
{
    struct run t;
    struct buf file;
    run_begin(&t);
    library(&MAKES[0], NULL, 0, STARTS, sizeof(STARTS), &file);
    /* Of an app it would only hide that the symbols are missing. */
    ck_assert_int_eq(index_bytes_of(&t, &file, false), ERR_INVALID);
    ck_assert(strstr(t.err.text, "no functions") != NULL);
    ck_assert_msg(index_bytes_of(&t, &file, true) == ERR_OK, "%s", t.err.text);
    ck_assert_uint_eq(t.slice.functions, 0);
    ck_assert_uint_eq(t.slice.text_vmaddr, CACHE_BASE);
    ck_assert_uint_eq(t.slice.text_size, 0x6000);
    ck_assert_msg(strstr(t.reason, "4 functions have no names") != NULL, "%s", t.reason);
    answers(&t, CACHE_BASE + 0x1000, "");
    answers(&t, CACHE_BASE, "");
    answers(&t, 0, "");
    answers(&t, UINT64_MAX, "");
    /* Neither names nor starts: nothing to know. */
    buf_done(&file);
    library(&MAKES[0], NULL, 0, NULL, 0, &file);
    ck_assert_int_eq(index_bytes_of(&t, &file, true), ERR_INVALID);
    buf_done(&file);
    scratch_remove(t.folder);
}
END_TEST

/* Whatever the list of starts says, no name reaches further than without it. */
START_TEST(hostile_starts)
{
    static const uint8_t forever[] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01};
    static const uint8_t wraps[] = {0x80, 0x20, 0xff, 0xff, 0xff, 0xff, 0xff,
                                    0xff, 0xff, 0xff, 0xff, 0x01, 0x01, 0x01};
    static const uint8_t cut[] = {0x80, 0x20, 0x80};
    static const uint8_t too_long[] = {0x80, 0x80, 0x80, 0x80, 0x80, 0x80,
                                       0x80, 0x80, 0x80, 0x80, 0x80, 0x01};
    const struct {
        const uint8_t *bytes;
        uint32_t len;
    } cases[] = {{forever, sizeof(forever)},
                 {wraps, sizeof(wraps)},
                 {cut, sizeof(cut)},
                 {too_long, sizeof(too_long)},
                 {cut, 0}};
    const struct macho_symbol symbols[] = {{"_a", N_SECT | N_EXT, CACHE_BASE + 0x1000},
                                           {"_b", N_SECT | N_EXT, CACHE_BASE + 0x1100}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct run t;
        struct buf file;
        run_begin(&t);
        library(&MAKES[0], symbols, 2, cases[i].bytes, cases[i].len, &file);
        ck_assert_msg(index_bytes_of(&t, &file, true) == ERR_OK, "%zu: %s", i, t.err.text);
        answers(&t, CACHE_BASE + 0x1000, "a");
        answers(&t, CACHE_BASE + 0x1100, "b");
        answers(&t, CACHE_BASE + 0x1000 + CODE_SIZE, "");
        buf_done(&file);
        scratch_remove(t.folder);
    }
    /* The list outside of the file: the file is cut off. */
    struct run t;
    struct buf file;
    run_begin(&t);
    library(&MAKES[0], symbols, 2, STARTS, sizeof(STARTS), &file);
    poke32(&file, macho_find(&file, LC_FUNCTION_STARTS, 0) + 12, 0x7fffffff);
    ck_assert_int_eq(index_bytes_of(&t, &file, true), ERR_FORMAT);
    ck_assert(strstr(t.err.text, "function starts") != NULL);
    buf_done(&file);
    scratch_remove(t.folder);
}
END_TEST

START_TEST(both_halves_of_a_fat_library)
{
    struct run t;
    struct buf thin[2], fat;
    struct macho_slice slices[2];
    run_begin(&t);
    for (size_t i = 0; i < 2; i++) {
        const struct make *k = &MAKES[2 * i];
        const struct macho_symbol symbols[] = {{"_KitOpen", N_SECT, k->base + 0x1000}};
        library(k, symbols, 1, STARTS, sizeof(STARTS), &thin[i]);
        /* a UUID of its own */
        poke32(&thin[i], macho_find(&thin[i], LC_UUID, 0) + 8, (uint32_t)(7 + i));
        slices[i] = (struct macho_slice){&thin[i], k->cputype, k->cpusubtype};
    }
    macho_fat(&fat, false, false, slices, 2);
    ck_assert_msg(index_bytes_of(&t, &fat, false) == ERR_OK, "%s", t.err.text);
    ck_assert_uint_eq(t.count, 2);
    answers(&t, MAKES[2].base + 0x10ff, "KitOpen");
    answers(&t, MAKES[2].base + 0x1100, "");
    for (size_t i = 0; i < 2; i++)
        buf_done(&thin[i]);
    buf_done(&fat);
    scratch_remove(t.folder);
}
END_TEST

UNIT_MAIN("system_symbols", starts_bound_named_functions, starts_alone, hostile_starts,
          both_halves_of_a_fat_library)
