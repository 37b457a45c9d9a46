/* Covers: symbolizer/gsym_lines.c symbolizer/gsym_inline.c */
#include "symbolizer/gsym_read.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/hash.h"
#include "symbolizer/gsym_format.h"
#include "tests/support/gsym_bytes.h"
#include "tests/support/unit.h"

/* Rows: +0 file 1 line 10; +4 line 12; +8 line 0; +8 line 13 (the last at an address counts);
 * +16 file 2 line 7. Special opcodes: min -1, max 2, so op = 4 + (line + 1) + 4 * address. */
static const uint8_t LINES[] = {0x7f, 2, 10, 2, 0, 4 + 3 + 16, 3,    0x74, 2, 4, 3,
                                13,   2, 0,  1, 2, 3,          0x7a, 2,    8, 0};

/* Root [0, 32); in it A [8, 24) called at file 1 line 20, in it B [8, 12) and [16, 20) called at
 * file 2 line 30, beside it C [28, 32) called at file 1 line 40. Names are patched in. */
static const uint8_t INLINES[] = {
    1, 0,  32, 1, 0,  0, 0, 0, 0, 0,         /* root */
    1, 8,  16, 1, 1,  0, 0, 0, 1, 20,        /* A */
    2, 0,  4,  8, 4,  0, 8, 0, 0, 0,  2, 30, /* B */
    0,                                       /* end of A's children */
    1, 28, 4,  0, 15, 0, 0, 0, 1, 40,        /* C */
    0,                                       /* end of root's children */
};

static const char *const NAMES[] = {"inl_a1", "inl_b1", "inl_c1"};
static const struct gsym_bytes_file FILES[] = {
    {"/src/app", "a.c"}, {"/src/lib/", "b.h"}, {"/src/app", "<compiler-generated>"}};
static const uint8_t PSEUDO_LINES[] = {0, 0, 0, 1, 3, 2, 0, 0};
static const struct gsym_bytes_function FUNCTIONS[] = {
    {.address = 0x1000,
     .size = 32,
     .name = "outer",
     .lines = LINES,
     .lines_len = sizeof(LINES),
     .inlines = INLINES,
     .inlines_len = sizeof(INLINES),
     .unknown = "whatever",
     .unknown_len = 8},
    {.address = 0x1040, .size = 16, .name = "_Z3foov"},
    {.address = 0x1050,
     .size = 8,
     .name = "tick",
     .local = 1,
     .lines = PSEUDO_LINES,
     .lines_len = sizeof(PSEUDO_LINES)},
    {.address = 0x1060, .size = 0, .name = "empty"},
};

static const struct gsym_bytes SAMPLE = {
    .uuid = {{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}},
    .offset_size = 2,
    .base = 0x1000,
    .functions = FUNCTIONS,
    .function_count = 4,
    .files = FILES,
    .file_count = 3,
    .names = NAMES,
    .name_count = 3,
    .footer = 1,
    .text_vmaddr = 0x1000,
    .text_size = 0x4000,
};

static struct gsym *open_sample(const struct gsym_bytes *sample, struct buf *b)
{
    struct gsym *g = NULL;
    struct error err = {0};
    buf_init(b, 1 << 20);
    gsym_bytes_make(sample, b);
    ck_assert_msg(gsym_open_memory(b->data, b->len, &g, &err) == ERR_OK, "%s", err.text);
    ck_assert_msg(gsym_check(g, &err) == ERR_OK, "%s", err.text);
    return g;
}

/* "name@dir/file:line" of each frame, innermost first, "+" after inlined ones. */
static const char *describe(const struct gsym *g, uint64_t address, size_t max)
{
    static char out[4096];
    struct gsym_frame frames[GSYM_FRAMES_MAX];
    char path[GSYM_PATH_MAX], display[GSYM_DISPLAY_MAX];
    size_t n = gsym_lookup(g, address, frames, max);
    size_t len = 0;
    out[0] = 0;
    for (size_t i = 0; i < n; i++) {
        const char *file = gsym_frame_file(&frames[i], path);
        len += (size_t)snprintf(out + len, sizeof(out) - len, "%s%s@%s:%u%s", i ? " " : "",
                                gsym_frame_display(&frames[i], display), file ? file : "-",
                                frames[i].line, frames[i].inlined ? "+" : "");
    }
    return out;
}

START_TEST(rows_and_inlines)
{
    struct buf b;
    static const uint8_t sizes[] = {1, 2, 4, 8};
    for (size_t i = 0; i < 8; i++) {
        struct gsym_bytes sample = SAMPLE;
        sample.offset_size = sizes[i % 4];
        sample.footer = i < 4;
        struct gsym *g = open_sample(&sample, &b);
        ck_assert_str_eq(describe(g, 0x1000, 64), "outer@/src/app/a.c:10");
        ck_assert_str_eq(describe(g, 0x1003, 64), "outer@/src/app/a.c:10");
        ck_assert_str_eq(describe(g, 0x1004, 64), "outer@/src/app/a.c:12");
        ck_assert_str_eq(describe(g, 0x1008, 64),
                         "inl_b1@/src/app/a.c:13+ inl_a1@/src/lib/b.h:30+ outer@/src/app/a.c:20");
        ck_assert_str_eq(describe(g, 0x100c, 64), "inl_a1@/src/app/a.c:13+ outer@/src/app/a.c:20");
        ck_assert_str_eq(describe(g, 0x1010, 64),
                         "inl_b1@/src/lib/b.h:7+ inl_a1@/src/lib/b.h:30+ outer@/src/app/a.c:20");
        ck_assert_str_eq(describe(g, 0x1014, 64), "inl_a1@/src/lib/b.h:7+ outer@/src/app/a.c:20");
        ck_assert_str_eq(describe(g, 0x1018, 64), "outer@/src/lib/b.h:7");
        ck_assert_str_eq(describe(g, 0x101c, 64), "inl_c1@/src/lib/b.h:7+ outer@/src/app/a.c:40");
        ck_assert_str_eq(describe(g, 0x101f, 64), "inl_c1@/src/lib/b.h:7+ outer@/src/app/a.c:40");
        gsym_close(g);
        buf_done(&b);
    }
}
END_TEST

START_TEST(bounds_of_functions)
{
    struct buf b;
    struct gsym *g = open_sample(&SAMPLE, &b);
    static const uint64_t nothing[] = {0,      0xfff,  0x1020, 0x103f,
                                       0x1058, 0x1060, 0x1061, UINT64_MAX};
    for (size_t i = 0; i < sizeof(nothing) / sizeof(nothing[0]); i++)
        ck_assert_msg(describe(g, nothing[i], 64)[0] == 0, "0x%" PRIx64, nothing[i]);
    ck_assert_str_eq(describe(g, 0x1040, 64), "foo()@-:0");
    ck_assert_str_eq(describe(g, 0x104f, 64), "foo()@-:0");
    ck_assert_str_eq(describe(g, 0x1008, 0), "");
    gsym_close(g);
    buf_done(&b);
}
END_TEST

/* llvm-gsymutil writes 0 for "as far as the next one". */
START_TEST(unknown_sizes)
{
    struct buf b;
    struct gsym_bytes_function f[] = {{.address = 0x1000, .name = "first"},
                                      {.address = 0x1010, .name = "last"}};
    struct gsym_bytes sample = SAMPLE;
    sample.functions = f;
    sample.function_count = 2;
    sample.footer = 0;
    struct gsym *g = open_sample(&sample, &b);
    ck_assert_str_eq(describe(g, 0x100f, 64), "first@-:0");
    ck_assert_str_eq(describe(g, 0x1010, 64), "last@-:0");
    ck_assert_str_eq(describe(g, 0x1011, 64), "");
    gsym_close(g);
    buf_done(&b);
}
END_TEST

START_TEST(names_and_footer)
{
    struct buf b;
    struct gsym_frame f[GSYM_FRAMES_MAX];
    char display[GSYM_DISPLAY_MAX];
    struct gsym *g = open_sample(&SAMPLE, &b);
    const struct gsym_info *info = gsym_info(g);
    ck_assert(info->has_footer && info->has_dwarf);
    ck_assert_uint_eq(info->text_vmaddr, 0x1000);
    ck_assert_uint_eq(info->text_size, 0x4000);
    ck_assert_uint_eq(info->functions, 4);
    ck_assert_uint_eq(info->size, b.len);
    ck_assert(uuid_equal(&info->uuid, &SAMPLE.uuid));
    ck_assert_uint_eq(gsym_lookup(g, 0x1041, f, 64), 1);
    ck_assert_str_eq(f[0].name, "_Z3foov");
    ck_assert_str_eq(gsym_frame_display(&f[0], display), "foo()");
    ck_assert(!f[0].local && !f[0].inlined);
    ck_assert_uint_eq(gsym_lookup(g, 0x1051, f, 64), 1);
    ck_assert_ptr_eq(gsym_frame_display(&f[0], display), f[0].name);
    ck_assert_str_eq(f[0].name, "tick");
    f[0].name = "_ZN3net4pollEi";
    ck_assert_str_eq(gsym_frame_display(&f[0], display), "net::poll(int)");
    ck_assert(f[0].local);
    gsym_close(g);
    buf_done(&b);
}
END_TEST

/* B12: a pseudo file is no file in a directory, and line 0 is no line but keeps the function. */
START_TEST(compiler_generated)
{
    struct buf b;
    struct gsym *g = open_sample(&SAMPLE, &b);
    ck_assert_str_eq(describe(g, 0x1052, 64), "tick@<compiler-generated>:0");
    gsym_close(g);
    buf_done(&b);
}
END_TEST

START_TEST(joining_paths)
{
    static const struct {
        const char *directory, *base, *want;
    } cases[] = {
        {"/src", "a.c", "/src/a.c"},
        {"/src/", "a.c", "/src/a.c"},
        {"", "a.c", "a.c"},
        {NULL, "a.c", "a.c"},
        {"/src", "/abs/a.c", "/abs/a.c"},
        {"/src", "<stdin>", "<stdin>"},
    };
    char path[GSYM_PATH_MAX];
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct gsym_frame f = {.directory = cases[i].directory, .base = cases[i].base};
        ck_assert_str_eq(gsym_frame_file(&f, path), cases[i].want);
    }
    struct gsym_frame none = {.directory = "/src"};
    ck_assert_ptr_null(gsym_frame_file(&none, path));
    static char deep[GSYM_PATH_MAX + 1];
    memset(deep, 'd', sizeof(deep) - 1);
    struct gsym_frame long_one = {.directory = deep, .base = "a.c"};
    ck_assert_str_eq(gsym_frame_file(&long_one, path), "a.c");
}
END_TEST

/* Room for fewer frames than there are: the deepest ones go, and where they were called stays. */
START_TEST(fewer_places_than_frames)
{
    struct buf b;
    struct gsym *g = open_sample(&SAMPLE, &b);
    ck_assert_str_eq(describe(g, 0x1008, 2), "inl_a1@/src/lib/b.h:30+ outer@/src/app/a.c:20");
    ck_assert_str_eq(describe(g, 0x1008, 1), "outer@/src/app/a.c:20");
    gsym_close(g);
    buf_done(&b);

    uint8_t deep[16 + 11 * 200 + 256] = {1, 0, 32, 1, 0, 0, 0, 0, 0, 0};
    size_t n = 10;
    for (int i = 0; i < 200; i++) {
        const uint8_t node[] = {1, 0, 32, 1, 1, 0, 0, 0, 1, (uint8_t)(i % 100)};
        memcpy(deep + n, node, sizeof(node));
        n += sizeof(node);
    }
    n += 201; /* the ends of 201 lists */
    struct gsym_bytes_function f = {
        .address = 0x1000, .size = 32, .name = "outer", .inlines = deep, .inlines_len = n};
    struct gsym_bytes sample = SAMPLE;
    sample.functions = &f;
    sample.function_count = 1;
    g = open_sample(&sample, &b);
    struct gsym_frame frames[GSYM_FRAMES_MAX];
    ck_assert_uint_eq(gsym_lookup(g, 0x1001, frames, 64), 64);
    ck_assert_str_eq(frames[63].name, "outer");
    ck_assert_uint_eq(frames[63].line, 0);
    ck_assert_str_eq(frames[0].name, "inl_a1");
    ck_assert_uint_eq(frames[0].line, 63);
    gsym_close(g);
    buf_done(&b);
}
END_TEST

START_TEST(nameless_frames_are_none)
{
    struct buf b;
    uint8_t inlines[sizeof(INLINES)];
    memcpy(inlines, INLINES, sizeof(inlines));
    inlines[14] = 0; /* A has no name: what called it stands where A was called */
    struct gsym_bytes_function f[2] = {FUNCTIONS[0], {.address = 0x1040, .size = 8, .name = ""}};
    f[0].inlines = inlines;
    struct gsym_bytes sample = SAMPLE;
    sample.functions = f;
    sample.function_count = 2;
    struct gsym *g = open_sample(&sample, &b);
    ck_assert_str_eq(describe(g, 0x1008, 64), "inl_b1@/src/app/a.c:13+ outer@/src/app/a.c:20");
    ck_assert_str_eq(describe(g, 0x1014, 64), "outer@/src/app/a.c:20");
    ck_assert_str_eq(describe(g, 0x1041, 64), "");
    gsym_close(g);
    buf_done(&b);
}
END_TEST

START_TEST(bad_headers_are_refused)
{
    static const struct {
        size_t at;
        uint8_t value;
        const char *says;
    } cases[] = {
        {0, 'X', "not a GSYM"},      {4, 2, "GSYM version 2"},   {6, 3, "offsets of 3"},
        {6, 0, "offsets of 0"},      {6, 16, "offsets of 16"},   {7, 21, "UUID of 21"},
        {19, 0x7f, "address table"}, {23, 0x7f, "string table"}, {27, 0x7f, "string table"},
        {48, 0xff, "out of order"},  {24, 5, "string table"},
    };
    struct buf b;
    struct error err;
    struct gsym *g = NULL;
    buf_init(&b, 1 << 20);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        buf_clear(&b);
        gsym_bytes_make(&SAMPLE, &b);
        b.data[cases[i].at] = (char)cases[i].value;
        ck_assert_int_eq(gsym_open_memory(b.data, b.len, &g, &err), ERR_FORMAT);
        ck_assert_msg(strstr(err.text, cases[i].says) != NULL, "case %zu: %s", i, err.text);
    }
    ck_assert_ptr_null(g);
    buf_done(&b);
}
END_TEST

START_TEST(check_finds_each_flipped_bit)
{
    struct buf b;
    buf_init(&b, 1 << 20);
    gsym_bytes_make(&SAMPLE, &b);
    for (size_t i = 0; i < b.len * 8; i++) {
        struct gsym *g = NULL;
        struct error err = {0};
        b.data[i / 8] ^= (char)(1 << i % 8);
        enum err rc = gsym_open_memory(b.data, b.len, &g, &err);
        if (rc == ERR_OK)
            rc = gsym_check(g, &err);
        /* A broken footer magic makes it a file without a footer, which is legal. */
        if (i / 8 < b.len - GSYM_FOOTER_SIZE || i / 8 >= b.len - GSYM_FOOTER_SIZE + 4)
            ck_assert_msg(rc != ERR_OK && err.text[0], "bit %zu", i);
        gsym_close(g);
        b.data[i / 8] ^= (char)(1 << i % 8);
    }
    buf_done(&b);
}
END_TEST

/* Whatever the bytes are: no read outside (the sanitizers watch), no endless loop, frames with
 * names. */
START_TEST(any_bytes_are_safe)
{
    struct buf b;
    struct gsym_frame frames[GSYM_FRAMES_MAX];
    char path[GSYM_PATH_MAX], display[GSYM_DISPLAY_MAX];
    uint64_t seed = 1;
    buf_init(&b, 1 << 20);
    for (int round = 0; round < 20000; round++) {
        buf_clear(&b);
        gsym_bytes_make(&SAMPLE, &b);
        for (int k = 0; k < 1 + round % 4; k++) {
            seed = hash64(&seed, sizeof(seed), (uint64_t)round);
            b.data[(seed >> 8) % b.len] = (char)seed;
        }
        size_t len = round % 5 == 0 ? (seed >> 32) % b.len : b.len;
        void *exact = malloc(len ? len : 1);
        memcpy(exact, b.data, len);
        struct gsym *g = NULL;
        if (gsym_open_memory(exact, len, &g, NULL) == ERR_OK) {
            gsym_check(g, NULL);
            for (uint64_t a = 0xff0; a < 0x1070; a++) {
                size_t n = gsym_lookup(g, a, frames, GSYM_FRAMES_MAX);
                for (size_t i = 0; i < n; i++) {
                    ck_assert(frames[i].name[0] && gsym_frame_display(&frames[i], display)[0]);
                    gsym_frame_file(&frames[i], path);
                }
            }
        }
        gsym_close(g);
        free(exact);
    }
    buf_done(&b);
}
END_TEST

START_TEST(files)
{
    struct gsym *g = NULL;
    struct error err;
    char path[] = "/tmp/test_gsym_read.XXXXXX";
    ck_assert_int_eq(gsym_open("/nonexistent/x.gsym", &g, &err), ERR_NOT_FOUND);
    ck_assert_int_eq(gsym_open("/tmp", &g, &err), ERR_FORMAT);
    int fd = mkstemp(path);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(gsym_open(path, &g, &err), ERR_FORMAT);
    struct buf b;
    buf_init(&b, 1 << 20);
    gsym_bytes_make(&SAMPLE, &b);
    ck_assert_int_eq(write(fd, b.data, b.len), (ssize_t)b.len);
    ck_assert_int_eq(gsym_open(path, &g, &err), ERR_OK);
    ck_assert_str_eq(describe(g, 0x1040, 64), "foo()@-:0");
    /* A file that is gone stays readable through its mapping. */
    unlink(path);
    ck_assert_str_eq(describe(g, 0x1040, 64), "foo()@-:0");
    gsym_close(g);
    close(fd);
    buf_done(&b);
}
END_TEST

/* Against LLVM's own tool: it writes the index and says what is at an address. */
START_TEST(files_of_llvm_gsymutil)
{
    const char *data = getenv("STALLSYM_DATA") ? getenv("STALLSYM_DATA") : "../shared/data";
    char command[1024];
    char path[] = "/tmp/test_gsym_llvm.XXXXXX";
    snprintf(command, sizeof(command), "%s/symbols/crashprobe-release", data);
    if (access(command, R_OK) != 0 || access("/usr/bin/llvm-gsymutil-14", X_OK) != 0) {
        printf("skipped: llvm-gsymutil-14 or %s is not there\n", command);
        return;
    }
    ck_assert_int_ge(mkstemp(path), 0);
    snprintf(command, sizeof(command),
             "llvm-gsymutil-14 --convert '%s/symbols/crashprobe-release/54039061-A983-3323-A49D-"
             "837A894D667F.dSYM/Contents/Resources/DWARF/CrashProbeiOS' -o %s",
             data, path);
    FILE *p = popen(command, "r");
    ck_assert_ptr_nonnull(p);
    while (fgets(command, sizeof(command), p))
        ;
    ck_assert_int_eq(pclose(p), 0);
    struct gsym *g = NULL;
    struct error err = {0};
    ck_assert_msg(gsym_open(path, &g, &err) == ERR_OK, "%s", err.text);
    ck_assert_msg(gsym_check(g, &err) == ERR_OK, "%s", err.text);
    ck_assert(!gsym_info(g)->has_footer);
    ck_assert_uint_gt(gsym_info(g)->functions, 50);
    struct uuid want;
    ck_assert(uuid_parse("54039061-A983-3323-A49D-837A894D667F", 36, &want));
    ck_assert(uuid_equal(&gsym_info(g)->uuid, &want));
    unlink(path);
    gsym_close(g);
}
END_TEST

UNIT_MAIN("gsym_read", rows_and_inlines, bounds_of_functions, unknown_sizes, names_and_footer,
          compiler_generated, joining_paths, fewer_places_than_frames, nameless_frames_are_none,
          bad_headers_are_refused, check_finds_each_flipped_bit, any_bytes_are_safe, files,
          files_of_llvm_gsymutil)
