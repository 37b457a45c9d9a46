#include "symbolizer/symbol_index.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "symbolizer/gsym_read.h"
#include "tests/support/elf_builder.h"
#include "tests/support/files.h"
#include "tests/support/macho_builder.h"
#include "tests/support/unit.h"
#include "tests/support/zip_builder.h"

#define SEEN_MAX 128

/* What was reported, the texts copied. */
struct seen_slice {
    struct slice_report r;
    char name[256], member[1100], arch[32], reason[600], index_file[128];
};

struct run {
    char folder[64];
    char upload[128];
    char out[128];
    struct seen_slice slices[SEEN_MAX];
    size_t count;
};

static void keep(void *ctx, const struct slice_report *r)
{
    struct run *t = ctx;
    ck_assert_uint_lt(t->count, SEEN_MAX);
    struct seen_slice *s = &t->slices[t->count++];
    s->r = *r;
    snprintf(s->name, sizeof(s->name), "%s", r->name);
    snprintf(s->member, sizeof(s->member), "%s", r->member);
    snprintf(s->arch, sizeof(s->arch), "%s", r->arch);
    snprintf(s->reason, sizeof(s->reason), "%s", r->reason ? r->reason : "");
    snprintf(s->index_file, sizeof(s->index_file), "%s", r->index_file);
}

static struct run *run_new(void)
{
    struct run *t = calloc(1, sizeof(*t));
    scratch_make(t->folder, sizeof(t->folder));
    snprintf(t->upload, sizeof(t->upload), "%s/Upload", t->folder);
    snprintf(t->out, sizeof(t->out), "%s/out", t->folder);
    mkdir(t->out, 0700);
    return t;
}

static void run_free(struct run *t)
{
    scratch_remove(t->folder);
    free(t);
}

static enum err build(struct run *t, const char *path, bool keep_objects, struct error *err)
{
    const struct symbol_index_options options = {
        .out_dir = t->out, .limits = ARCHIVE_LIMITS_DEFAULT, .keep_objects = keep_objects};
    *err = (struct error){.code = ERR_OK};
    t->count = 0;
    struct symbol_index_totals totals;
    return symbol_index_build(path, &options, keep, t, &totals, err);
}

static enum err build_bytes(struct run *t, const struct buf *file, bool keep_objects,
                            struct error *err)
{
    write_file(t->upload, file->data, file->len);
    return build(t, t->upload, keep_objects, err);
}

static bool exists(const struct run *t, const char *name)
{
    char path[512];
    snprintf(path, sizeof(path), "%s/%s", t->out, name);
    return access(path, R_OK) == 0;
}

START_TEST(a_bare_object)
{
    struct buf file;
    struct error err;
    struct run *t = run_new();
    macho_sample(&file);
    ck_assert_msg(build_bytes(t, &file, false, &err) == ERR_OK, "%s", err.text);
    ck_assert_uint_eq(t->count, 1);
    const struct seen_slice *s = &t->slices[0];
    ck_assert_int_eq(s->r.state, SLICE_INDEXED);
    ck_assert_mem_eq(s->r.uuid.bytes, SAMPLE_UUID, 16);
    ck_assert_str_eq(s->name, "Upload");
    ck_assert_str_eq(s->member, "");
    ck_assert_str_eq(s->arch, "arm64");
    ck_assert_uint_eq(s->r.functions, 3);
    ck_assert_uint_eq(s->r.text_vmaddr, 0x100000000);
    ck_assert_uint_eq(s->r.text_size, 0x2000);
    ck_assert_uint_eq(s->r.object_bytes, file.len);
    ck_assert_str_eq(s->index_file, "01020304-0506-0708-090A-0B0C0D0E0F10.gsym");
    ck_assert_str_eq(s->r.object_sha256, ""); /* nobody asked */
    ck_assert_uint_eq(count_files(t->out), 1);

    /* What was written is an index that answers. */
    char path[512];
    struct gsym *g = NULL;
    struct gsym_frame frames[4];
    snprintf(path, sizeof(path), "%s/%s", t->out, s->index_file);
    ck_assert_int_eq(gsym_open(path, &g, &err), ERR_OK);
    ck_assert_msg(gsym_check(g, &err) == ERR_OK, "%s", err.text);
    ck_assert_uint_eq(gsym_info(g)->size, s->r.index_bytes);
    ck_assert_uint_eq(gsym_lookup(g, 0x100001104, frames, 4), 1);
    ck_assert_str_eq(frames[0].name, "beta");
    ck_assert(frames[0].local);
    ck_assert_uint_eq(gsym_lookup(g, 0x100000500, frames, 4), 0);
    gsym_close(g);
    buf_done(&file);
    run_free(t);
}
END_TEST

/* What the caller says is what a bare object is called, and no more than that: one out of an archive
 * has a digest of its own. */
START_TEST(digests_are_given_or_made)
{
    struct buf object, file;
    struct zip_builder z;
    struct error err;
    struct symbol_index_totals totals;
    uint8_t made[SHA256_SIZE];
    static const uint8_t given[SHA256_SIZE] = {0xab, 0xcd};
    char text[SHA256_TEXT_SIZE];
    struct run *t = run_new();
    struct symbol_index_options options = {
        .out_dir = t->out, .limits = ARCHIVE_LIMITS_DEFAULT, .sha256 = given};
    macho_sample(&object);
    sha256_of(object.data, object.len, made);
    write_file(t->upload, object.data, object.len);
    for (int kept = 0; kept < 2; kept++) {
        options.keep_objects = kept != 0;
        t->count = 0;
        ck_assert_int_eq(symbol_index_build(t->upload, &options, keep, t, &totals, &err), ERR_OK);
        ck_assert_str_eq(t->slices[0].r.object_sha256, sha256_format(given, text));
        ck_assert_int_eq(exists(t, text), kept != 0);
    }
    options.sha256 = NULL;
    t->count = 0;
    ck_assert_int_eq(symbol_index_build(t->upload, &options, keep, t, &totals, &err), ERR_OK);
    ck_assert_str_eq(t->slices[0].r.object_sha256, sha256_format(made, text));
    ck_assert(exists(t, text));

    zip_begin(&z);
    const struct zip_member a = {.name = "Shop", .data = object.data, .len = object.len};
    zip_add(&z, &a);
    zip_finish(&z, &file);
    write_file(t->upload, file.data, file.len);
    options = (struct symbol_index_options){
        .out_dir = t->out, .limits = ARCHIVE_LIMITS_DEFAULT, .sha256 = given};
    t->count = 0;
    ck_assert_int_eq(symbol_index_build(t->upload, &options, keep, t, &totals, &err), ERR_OK);
    ck_assert_str_eq(t->slices[0].r.object_sha256, text);
    buf_done(&object);
    buf_done(&file);
    run_free(t);
}
END_TEST

START_TEST(objects_are_kept_when_asked)
{
    struct buf file, object, elf;
    struct zip_builder z;
    struct error err;
    struct run *t = run_new();
    macho_sample(&object);
    elf_sample(&elf);
    ck_assert_int_eq(build_bytes(t, &object, true, &err), ERR_OK);
    ck_assert_uint_eq(count_files(t->out), 2);
    ck_assert(exists(t, t->slices[0].r.object_sha256));
    scratch_remove(t->out);
    mkdir(t->out, 0700);
    zip_begin(&z);
    const struct zip_member a = {.name = "Shop.dSYM/Contents/Resources/DWARF/Shop",
                                 .data = object.data,
                                 .len = object.len,
                                 .deflate = true};
    const struct zip_member b = {.name = "libx.so.debug", .data = elf.data, .len = elf.len};
    zip_add(&z, &a);
    zip_add(&z, &b);
    zip_finish(&z, &file);
    ck_assert_msg(build_bytes(t, &file, true, &err) == ERR_OK, "%s", err.text);
    ck_assert_uint_eq(t->count, 2);
    ck_assert_str_eq(t->slices[0].name, "Shop");
    ck_assert_str_eq(t->slices[0].member, "Shop.dSYM/Contents/Resources/DWARF/Shop");
    ck_assert_str_eq(t->slices[1].name, "libx.so");
    ck_assert_str_eq(t->slices[1].arch, "x86_64");
    ck_assert_uint_eq(t->slices[1].r.functions, 2);
    ck_assert_uint_eq(count_files(t->out), 4);
    char path[512];
    struct mapped m;
    snprintf(path, sizeof(path), "%s/%s", t->out, t->slices[0].r.object_sha256);
    ck_assert(map_file(path, &m));
    ck_assert_uint_eq(m.size, object.len);
    ck_assert_mem_eq(m.data, object.data, object.len);
    unmap_file(&m);
    buf_done(&object);
    buf_done(&elf);
    buf_done(&file);
    run_free(t);
}
END_TEST

/* A universal file: a slice each, one of them without a UUID, one that lies outside. */
START_TEST(a_refused_slice_keeps_no_other_out)
{
    struct buf slices[3], file;
    struct macho_slice table[3];
    struct error err;
    static const uint8_t other[16] = {9, 9};
    struct run *t = run_new();
    macho_sample_of(&slices[0], true, false, CPU_TYPE_ARM64, 0, MH_DSYM, NULL);
    macho_sample_of(&slices[1], true, false, CPU_TYPE_ARM64, 2, MH_DSYM, SAMPLE_UUID);
    macho_sample_of(&slices[2], true, false, CPU_TYPE_X86_64, 3, MH_DSYM, other);
    for (int i = 0; i < 3; i++)
        table[i] = (struct macho_slice){&slices[i], CPU_TYPE_ARM64, (uint32_t)i};
    macho_fat(&file, false, false, table, 3);
    poke32_big(&file, 8 + 2 * 20 + 12, 0x7fffffff); /* size of the last one */
    ck_assert_msg(build_bytes(t, &file, false, &err) == ERR_OK, "%s", err.text);
    ck_assert_uint_eq(t->count, 3);
    ck_assert_int_eq(t->slices[0].r.state, SLICE_FAILED);
    ck_assert_str_eq(t->slices[0].reason, "slice 2 of 3 ends past the end of the file");
    ck_assert(uuid_is_nil(&t->slices[0].r.uuid));
    ck_assert_int_eq(t->slices[1].r.state, SLICE_FAILED);
    ck_assert_str_eq(t->slices[1].reason, "no LC_UUID");
    ck_assert_str_eq(t->slices[1].index_file, "");
    ck_assert_int_eq(t->slices[2].r.state, SLICE_INDEXED);
    ck_assert_str_eq(t->slices[2].arch, "arm64e");
    ck_assert_uint_eq(count_files(t->out), 1);
    for (int i = 0; i < 3; i++)
        buf_done(&slices[i]);
    buf_done(&file);
    run_free(t);
}
END_TEST

START_TEST(one_uuid_twice_and_one_object_twice)
{
    struct buf plain, rich, file;
    struct zip_builder z;
    struct error err;
    struct run *t = run_new();
    macho_sample(&plain);
    macho_sample_of(&rich, true, false, CPU_TYPE_ARM64, 0, MH_EXECUTE, SAMPLE_UUID);
    zip_begin(&z);
    const struct zip_member members[] = {
        {.name = "App", .data = rich.data, .len = rich.len},
        {.name = "App.dSYM/App", .data = plain.data, .len = plain.len},
        {.name = "copy/App", .data = rich.data, .len = rich.len},
    };
    for (int i = 0; i < 3; i++)
        zip_add(&z, &members[i]);
    zip_finish(&z, &file);
    ck_assert_msg(build_bytes(t, &file, true, &err) == ERR_OK, "%s", err.text);
    ck_assert_uint_eq(t->count, 2);
    ck_assert_str_eq(t->slices[0].index_file, "01020304-0506-0708-090A-0B0C0D0E0F10.gsym");
    ck_assert_str_eq(t->slices[1].index_file, "01020304-0506-0708-090A-0B0C0D0E0F10.2.gsym");
    ck_assert_uint_eq(count_files(t->out), 4);
    buf_done(&plain);
    buf_done(&rich);
    buf_done(&file);
    run_free(t);
}
END_TEST

/* The reason ends with `text`. */
static void ck_nothing(const struct buf *file, enum err code, const char *text, size_t reports)
{
    struct error err;
    struct run *t = run_new();
    enum err e = build_bytes(t, file, true, &err);
    ck_assert_msg(e == code, "%s: %d \"%s\"", text, e, err.text);
    size_t is = strlen(err.text), wanted = strlen(text);
    ck_assert_msg(is >= wanted && strcmp(err.text + is - wanted, text) == 0, "\"%s\"", err.text);
    ck_assert_uint_eq(t->count, reports);
    run_free(t);
}

START_TEST(uploads_without_an_index)
{
    struct buf file, object;
    struct zip_builder z;
    zip_begin(&z);
    const struct zip_member text = {.name = "readme", .data = "hello", .len = 5};
    zip_add(&z, &text);
    zip_finish(&z, &file);
    ck_nothing(&file, ERR_NOT_FOUND, "no object file with a UUID inside", 0);
    buf_done(&file);
    macho_sample_of(&object, true, false, CPU_TYPE_ARM64, 0, MH_DSYM, NULL);
    ck_nothing(&object, ERR_INVALID, "no LC_UUID", 1);
    zip_begin(&z);
    const struct zip_member a = {.name = "dir/A", .data = object.data, .len = object.len};
    zip_add(&z, &a);
    zip_finish(&z, &file);
    ck_nothing(&file, ERR_INVALID, "dir/A: no LC_UUID", 1);
    buf_done(&file);
    buf_done(&object);
    macho_sample_of(&object, true, false, CPU_TYPE_ARM64, 0, MH_OBJECT, SAMPLE_UUID);
    ck_nothing(&object, ERR_UNSUPPORTED, "object file, not a dSYM", 1);
    buf_done(&object);
    struct macho_builder b;
    macho_begin(&b, true, false, CPU_TYPE_ARM64, 0, MH_DYLIB);
    macho_uuid(&b, SAMPLE_UUID);
    macho_segment(&b, "__TEXT", 0, 0x2000, 0, 0, NULL, 0);
    macho_finish(&b, &object);
    ck_nothing(&object, ERR_INVALID, "no functions: neither debug information nor symbols", 1);
    buf_done(&object);
    buf_init(&file, 100);
    buf_puts(&file, "nothing of ours");
    ck_nothing(&file, ERR_FORMAT, "neither an archive nor an object file", 0);
    buf_done(&file);
}
END_TEST

/* The second member is damaged: the run fails as a whole, whatever was reported before. */
START_TEST(a_damaged_archive_fails)
{
    struct buf object, file;
    struct zip_builder z;
    struct error err;
    struct run *t = run_new();
    macho_sample(&object);
    zip_begin(&z);
    const struct zip_member good = {.name = "A", .data = object.data, .len = object.len};
    struct zip_member bad = good;
    bad.name = "B";
    bad.crc_xor = 1;
    zip_add(&z, &good);
    zip_add(&z, &bad);
    zip_finish(&z, &file);
    ck_assert_int_eq(build_bytes(t, &file, true, &err), ERR_FORMAT);
    ck_assert_uint_eq(t->count, 1);
    ck_assert(!exists(t, "object.tmp"));
    buf_done(&object);
    buf_done(&file);
    run_free(t);
}
END_TEST

START_TEST(an_output_folder_that_cannot_be_written)
{
    struct buf object;
    struct error err;
    struct run *t = run_new();
    macho_sample(&object);
    rmdir(t->out);
    ck_assert_int_ne(build_bytes(t, &object, true, &err), ERR_OK);
    ck_assert_int_eq(build(t, "/nonexistent/file", false, &err), ERR_INVALID);
    buf_done(&object);
    run_free(t);
}
END_TEST

static uint64_t peak_memory(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (uint64_t)usage.ru_maxrss << 10;
}

/* A dSYM with a 1 GB section of zeros (sparse): mapped, never read whole. */
START_TEST(a_large_object_takes_little_memory)
{
    struct buf file;
    struct error err;
    struct macho_builder b;
    struct run *t = run_new();
    const uint32_t code = S_ATTR_PURE_INSTRUCTIONS;
    const struct macho_section text[] = {{"__text", "__TEXT", 0x1000, 0x100, 0, code}};
    const struct macho_symbol symbols[] = {{"_f", N_SECT | N_EXT, 0x1000}};
    const struct macho_section dwarf[] = {
        {"__debug_padding", "__DWARF", 0, 1 << 30, MACHO_DATA_AT, 0}};
    macho_begin(&b, true, false, CPU_TYPE_ARM64, 0, MH_DSYM);
    macho_uuid(&b, SAMPLE_UUID);
    macho_symtab(&b, symbols, 1);
    macho_segment(&b, "__TEXT", 0, 0x2000, 0, 0, text, 1);
    macho_segment(&b, "__DWARF", 0x2000, 1 << 30, MACHO_DATA_AT, 1 << 30, dwarf, 1);
    macho_finish(&b, &file);
    write_file(t->upload, file.data, file.len);
    ck_assert_int_eq(truncate(t->upload, ((off_t)1 << 30) + MACHO_DATA_AT), 0);
    uint64_t before = peak_memory();
    ck_assert_msg(build(t, t->upload, false, &err) == ERR_OK, "%s", err.text);
    ck_assert_uint_eq(t->slices[0].r.functions, 1);
    ck_assert_uint_lt(peak_memory() - before, (uint64_t)100 << 20);
    buf_done(&file);
    run_free(t);
}
END_TEST

/* Same input, same bytes, on one thread or on three. */
START_TEST(jobs_change_nothing)
{
    static const char *const files[] = {
        "symbols/macsymbolicator/CrashingTest.dSYM/Contents/Resources/DWARF/CrashingTest",
        "symbols/shop/Shop.dSYM/Contents/Resources/DWARF/Shop",
        "symbols/macos/crash.dSYM/Contents/Resources/DWARF/crash",
        "symbols/elf/main.dbg",
    };
    char path[1024];
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        if (!shared_data(files[i], path, sizeof(path)))
            continue;
        struct run *one = run_new();
        struct run *three = run_new();
        struct symbol_index_totals totals;
        struct error err;
        struct parallel_for *p = parallel_new(3);
        const struct symbol_index_options options = {
            .out_dir = three->out, .limits = ARCHIVE_LIMITS_DEFAULT, .parallel = p};
        ck_assert_int_eq(build(one, path, false, &err), ERR_OK);
        ck_assert_int_eq(symbol_index_build(path, &options, keep, three, &totals, &err), ERR_OK);
        parallel_free(p);
        ck_assert_uint_eq(one->count, three->count);
        for (size_t k = 0; k < one->count; k++) {
            char a[512], b[512];
            struct mapped x, y;
            snprintf(a, sizeof(a), "%s/%s", one->out, one->slices[k].index_file);
            snprintf(b, sizeof(b), "%s/%s", three->out, three->slices[k].index_file);
            ck_assert(map_file(a, &x) && map_file(b, &y));
            ck_assert_uint_eq(x.size, y.size);
            ck_assert_mem_eq(x.data, y.data, x.size);
            unmap_file(&x);
            unmap_file(&y);
        }
        run_free(one);
        run_free(three);
    }
}
END_TEST

UNIT_MAIN("symbol_index", a_bare_object, digests_are_given_or_made, objects_are_kept_when_asked,
          a_refused_slice_keeps_no_other_out, one_uuid_twice_and_one_object_twice,
          uploads_without_an_index, a_damaged_archive_fails,
          an_output_folder_that_cannot_be_written, a_large_object_takes_little_memory,
          jobs_change_nothing)
