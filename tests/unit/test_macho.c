#include "symbolizer/macho.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/support/macho_builder.h"
#include "tests/support/unit.h"

static enum err open_file(const struct buf *file, struct object **ret, struct error *err)
{
    *err = (struct error){.code = ERR_OK};
    return object_open(file->data, file->len, ret, err);
}

/* The file is refused with this code, and the text says this. */
static void ck_refused(struct buf *file, enum err code, const char *text)
{
    struct error err;
    struct object *o = NULL;
    ck_assert_msg(open_file(file, &o, &err) == code, "%s: code %d, \"%s\"", text, err.code,
                  err.text);
    ck_assert_ptr_null(o);
    ck_assert_msg(strstr(err.text, text) != NULL, "\"%s\" says nothing of \"%s\"", err.text, text);
    buf_done(file);
}

static void ck_bytes(const struct object *o, const char *section, const char *bytes)
{
    struct cursor c;
    ck_assert_msg(object_section(o, section, &c), "no %s", section);
    ck_assert_uint_eq(cursor_left(&c), strlen(bytes));
    ck_assert_mem_eq(c.p, bytes, strlen(bytes));
}

static void ck_sample(const struct object *o, uint64_t base)
{
    size_t count = 0;
    struct arena arena;
    const struct object_symbol *s = NULL;
    ck_bytes(o, ".debug_info", "info");
    ck_bytes(o, ".debug_str_offsets", "offsets");
    struct cursor c;
    ck_assert(!object_section(o, ".debug_line", &c));
    ck_assert(!object_section(o, ".debug_str", &c));
    ck_assert(!object_section(o, "__debug_info", &c));
    const struct object_range *code = object_code(o, &count);
    ck_assert_uint_eq(count, 2);
    ck_assert_uint_eq(code[0].start, base + 0x1000);
    ck_assert_uint_eq(code[0].end, base + 0x1300);
    ck_assert_uint_eq(code[1].start, base + 0x1300);
    arena_init(&arena, 1 << 20);
    ck_assert_int_eq(object_symbols(o, &arena, &s, &count, NULL), ERR_OK);
    ck_assert_uint_eq(count, 3);
    ck_assert_str_eq(s[0].name, "alpha");
    ck_assert_uint_eq(s[0].address, base + 0x1000);
    ck_assert(s[0].external);
    ck_assert_str_eq(s[1].name, "beta");
    ck_assert(!s[1].external);
    ck_assert_str_eq(s[2].name, "_start");
    ck_assert(s[2].external); /* private external is not static */
    arena_done(&arena);
}

START_TEST(reads_a_dsym)
{
    struct buf file;
    struct error err;
    struct object *o = NULL;
    macho_sample(&file);
    ck_assert_msg(open_file(&file, &o, &err) == ERR_OK, "%s", err.text);
    const struct object_info *info = object_info(o);
    char text[UUID_TEXT_SIZE];
    ck_assert_str_eq(uuid_format(&info->uuid, text), "01020304-0506-0708-090A-0B0C0D0E0F10");
    ck_assert_int_eq(info->format, OBJECT_MACHO);
    ck_assert_int_eq(info->type, OBJECT_DSYM);
    ck_assert_str_eq(info->arch, "arm64");
    ck_assert_uint_eq(info->address_size, 8);
    ck_assert(info->has_dwarf);
    ck_assert(!info->thumb);
    ck_assert(!info->swap);
    ck_assert_uint_eq(info->text_vmaddr, 0x100000000);
    ck_assert_uint_eq(info->text_size, 0x2000);
    ck_sample(o, 0x100000000);
    object_close(o);
    buf_done(&file);
}
END_TEST

START_TEST(reads_both_widths_and_byte_orders)
{
    for (int i = 0; i < 4; i++) {
        bool is64 = i & 1;
        bool big = i & 2;
        struct buf file;
        struct error err;
        struct object *o = NULL;
        macho_sample_of(&file, is64, big, is64 ? CPU_TYPE_POWERPC64 : CPU_TYPE_POWERPC, 0, MH_DSYM,
                        SAMPLE_UUID);
        ck_assert_msg(open_file(&file, &o, &err) == ERR_OK, "%d: %s", i, err.text);
        ck_assert_uint_eq(object_info(o)->address_size, is64 ? 8 : 4);
        ck_assert_int_eq(object_info(o)->swap, big);
        ck_assert_str_eq(object_info(o)->arch, is64 ? "ppc64" : "ppc");
        ck_sample(o, is64 ? 0x100000000 : 0x4000);
        object_close(o);
        buf_done(&file);
    }
}
END_TEST

START_TEST(knows_the_archs)
{
    static const struct {
        uint32_t type, subtype;
        const char *name;
    } rows[] = {
        {0x0100000c, 0, "arm64"},
        {0x0100000c, 1, "arm64"},
        {0x0100000c, 2, "arm64e"},
        {0x0100000c, 0x80000002, "arm64e"},
        {0x0100000c, 0xc1000002, "arm64e"},
        {0x0100000c, 77, "arm64"},
        {0x0200000c, 1, "arm64_32"},
        {0x0200000c, 0, "arm64_32"},
        {12, 9, "armv7"},
        {12, 11, "armv7s"},
        {12, 12, "armv7k"},
        {12, 6, "armv6"},
        {12, 99, "arm"},
        {7, 3, "i386"},
        {0x01000007, 3, "x86_64"},
        {0x01000007, 0x80000003, "x86_64"},
        {0x01000007, 8, "x86_64h"},
        {0x12345678, 0, "cpu-0x12345678"},
    };
    char name[OBJECT_ARCH_SIZE];
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        ck_assert_str_eq(macho_arch_name(rows[i].type, rows[i].subtype, name), rows[i].name);
}
END_TEST

/* arm64_32 is told by its cpu type, whatever the width of its header says. */
START_TEST(arm64_32_with_either_header)
{
    for (int is64 = 0; is64 < 2; is64++) {
        struct buf file;
        struct error err;
        struct object *o = NULL;
        macho_sample_of(&file, is64, false, CPU_TYPE_ARM64_32, 1, MH_DSYM, SAMPLE_UUID);
        ck_assert_int_eq(open_file(&file, &o, &err), ERR_OK);
        ck_assert_str_eq(object_info(o)->arch, "arm64_32");
        ck_assert(!object_info(o)->thumb);
        object_close(o);
        buf_done(&file);
    }
}
END_TEST

START_TEST(thumb_bit_is_cleared)
{
    struct macho_builder b;
    struct buf file;
    struct error err;
    struct object *o = NULL;
    struct arena arena;
    const struct object_symbol *s = NULL;
    size_t count = 0;
    const struct macho_section text[] = {
        {"__text", "__TEXT", 0x5000, 0x100, 0, S_ATTR_SOME_INSTRUCTIONS}};
    const struct macho_symbol symbols[] = {{"_f", N_SECT, 0x5011}};
    const uint8_t starts[] = {0x91, 0x20, 0x20, 0}; /* +0x1011 (thumb), +0x20 */
    macho_begin(&b, false, false, CPU_TYPE_ARM, 9, MH_EXECUTE);
    macho_uuid(&b, SAMPLE_UUID);
    macho_segment(&b, "__TEXT", 0x4000, 0x2000, 0, 0, text, 1);
    macho_symtab(&b, symbols, 1);
    macho_starts(&b, starts, sizeof(starts));
    macho_finish(&b, &file);
    ck_assert_int_eq(open_file(&file, &o, &err), ERR_OK);
    ck_assert(object_info(o)->thumb);
    ck_assert_str_eq(object_info(o)->arch, "armv7");
    ck_assert_int_eq(object_info(o)->type, OBJECT_EXECUTABLE);
    arena_init(&arena, 1 << 20);
    ck_assert_int_eq(object_symbols(o, &arena, &s, &count, &err), ERR_OK);
    ck_assert_uint_eq(count, 2);
    ck_assert_uint_eq(s[0].address, 0x5010);
    ck_assert_str_eq(s[0].name, "f"); /* the start there has a name already */
    ck_assert_uint_eq(s[1].address, 0x5030);
    ck_assert_str_eq(s[1].name, "");
    arena_done(&arena);
    object_close(o);
    buf_done(&file);
}
END_TEST

START_TEST(dylib_has_a_name)
{
    struct macho_builder b;
    struct buf file;
    struct error err;
    struct object *o = NULL;
    macho_begin(&b, true, false, CPU_TYPE_ARM64, 0, MH_DYLIB);
    macho_uuid(&b, SAMPLE_UUID);
    macho_id_dylib(&b, "@rpath/Kit.framework/Kit");
    macho_segment(&b, "__TEXT", 0, 0x2000, 0, 0, NULL, 0);
    macho_finish(&b, &file);
    ck_assert_int_eq(open_file(&file, &o, &err), ERR_OK);
    ck_assert_str_eq(object_info(o)->name, "Kit");
    ck_assert_int_eq(object_info(o)->type, OBJECT_DYLIB);
    ck_assert(!object_info(o)->has_dwarf);
    object_close(o);
    /* a name that begins behind its command, or has no NUL, is no name; the file is good */
    size_t at = macho_find(&file, LC_ID_DYLIB, 0);
    poke32(&file, at + 8, 0xfffffff0);
    ck_assert_int_eq(open_file(&file, &o, &err), ERR_OK);
    ck_assert_str_eq(object_info(o)->name, "");
    object_close(o);
    /* nor one that begins in the command itself, or of a command that ends with its own header */
    poke32(&file, at + 8, 0);
    ck_assert_int_eq(open_file(&file, &o, &err), ERR_OK);
    ck_assert_str_eq(object_info(o)->name, "");
    object_close(o);
    poke32(&file, at + 8, 24);
    memset(file.data + at + 24, 'x', 32);
    ck_assert_int_eq(open_file(&file, &o, &err), ERR_OK);
    ck_assert_str_eq(object_info(o)->name, "");
    object_close(o);
    buf_done(&file);
}
END_TEST

START_TEST(first_uuid_counts)
{
    static const uint8_t other[16] = {99};
    struct macho_builder b;
    struct buf file;
    struct error err;
    struct object *o = NULL;
    macho_begin(&b, true, false, CPU_TYPE_ARM64, 0, MH_DSYM);
    macho_uuid(&b, SAMPLE_UUID);
    macho_uuid(&b, other);
    macho_segment(&b, "__TEXT", 0, 0x2000, 0, 0, NULL, 0);
    macho_finish(&b, &file);
    ck_assert_int_eq(open_file(&file, &o, &err), ERR_OK);
    ck_assert_mem_eq(object_info(o)->uuid.bytes, SAMPLE_UUID, 16);
    object_close(o);
    buf_done(&file);
}
END_TEST

START_TEST(refuses_what_is_no_image)
{
    static const uint8_t zero[16];
    struct buf file;
    macho_sample_of(&file, true, false, CPU_TYPE_ARM64, 0, MH_OBJECT, SAMPLE_UUID);
    ck_refused(&file, ERR_UNSUPPORTED, "object file, not a dSYM");
    macho_sample_of(&file, true, false, CPU_TYPE_ARM64, 0, MH_CORE, SAMPLE_UUID);
    ck_refused(&file, ERR_UNSUPPORTED, "core file");
    macho_sample_of(&file, true, false, CPU_TYPE_ARM64, 0, MH_DSYM, NULL);
    ck_refused(&file, ERR_INVALID, "no LC_UUID");
    macho_sample_of(&file, true, false, CPU_TYPE_ARM64, 0, MH_DSYM, zero);
    ck_refused(&file, ERR_INVALID, "LC_UUID is zero");
}
END_TEST

/* Each row puts one lie into the sample: at `offset` of the n-th command of that kind (0: of the
 * file header), a 32-bit or (wide) 64-bit value. */
START_TEST(every_claim_is_checked)
{
    static const struct {
        uint32_t cmd, n;
        size_t offset;
        bool wide;
        uint64_t value;
        const char *text;
    } lies[] = {
        {0, 0, 16, false, 0xffffffff, "load commands"},           /* ncmds */
        {0, 0, 16, false, 200, "does not fit"},                   /* ncmds */
        {0, 0, 20, false, 0xffffffff, "past the end"},            /* sizeofcmds */
        {0, 0, 20, false, 40, "does not fit"},                    /* sizeofcmds cuts one */
        {LC_UUID, 0, 4, false, 0, "does not fit"},                /* cmdsize 0: no progress */
        {LC_UUID, 0, 4, false, 7, "does not fit"},                /* less than its head */
        {LC_UUID, 0, 4, false, 8, "LC_UUID is too short"},        /* no room for the UUID */
        {LC_UUID, 0, 4, false, 0xfffffff8, "does not fit"},       /* huge */
        {LC_SYMTAB, 0, 4, false, 16, "LC_SYMTAB is too short"},   /* no room for its fields */
        {LC_SYMTAB, 0, 8, false, 0xfffffff0, "symbol table"},     /* symoff */
        {LC_SYMTAB, 0, 12, false, 0x10000000, "symbol table"},    /* nsyms * 16 wraps 32 bits */
        {LC_SYMTAB, 0, 12, false, 0xffffffff, "symbol table"},    /* nsyms */
        {LC_SYMTAB, 0, 16, false, 0xfffffff0, "string table"},    /* stroff */
        {LC_SYMTAB, 0, 20, false, 0xffffffff, "string table"},    /* strsize */
        {LC_SEGMENT_64, 0, 4, false, 64, "too short"},            /* cmdsize below the struct */
        {LC_SEGMENT_64, 0, 64, false, 0xffffffff, "sections"},    /* nsects */
        {LC_SEGMENT_64, 0, 64, false, 4, "sections"},             /* one more than there is */
        {LC_SEGMENT_64, 0, 32, true, UINT64_MAX, "__TEXT wraps"}, /* vmsize */
        {LC_SEGMENT_64, 0, 0, false, LC_SEGMENT, "a segment of 32 bits"},
        {LC_SEGMENT_64, 0, 72 + 40, true, UINT64_MAX, "wraps around"}, /* size of __text */
        {LC_SEGMENT_64, 1, 72 + 40, true, UINT64_MAX, "__debug_info ends past"},
        {LC_SEGMENT_64, 1, 72 + 40, true, (uint64_t)1 << 32, "__debug_info ends past"},
        {LC_SEGMENT_64, 1, 72 + 48, false, 0xffffffff, "__debug_info ends past"},
        {LC_SEGMENT_64, 1, 72 + 80 + 40, true, 1 << 20, "__debug_str_offs ends past"},
        {LC_SEGMENT_64, 0, 8, false, 0x41414141, "no __TEXT"}, /* name of the segment */
    };
    for (size_t i = 0; i < sizeof(lies) / sizeof(lies[0]); i++) {
        struct buf file;
        macho_sample(&file);
        size_t at = lies[i].cmd ? macho_find(&file, lies[i].cmd, lies[i].n) : 0;
        if (lies[i].wide)
            poke64(&file, at + lies[i].offset, lies[i].value);
        else
            poke32(&file, at + lies[i].offset, (uint32_t)lies[i].value);
        struct error err;
        struct object *o = NULL;
        enum err e = open_file(&file, &o, &err);
        ck_assert_msg(e == ERR_FORMAT || e == ERR_LIMIT, "lie %zu: %d \"%s\"", i, e, err.text);
        ck_assert_msg(strstr(err.text, lies[i].text) != NULL, "lie %zu: \"%s\"", i, err.text);
        buf_done(&file);
    }
}
END_TEST

/* What a dSYM says about bytes that stayed in the binary is not looked at. */
START_TEST(text_of_a_dsym_has_no_bytes)
{
    struct buf file;
    struct error err;
    struct object *o = NULL;
    macho_sample(&file);
    size_t text = macho_find(&file, LC_SEGMENT_64, 0);
    poke64(&file, text + 40, UINT64_MAX);           /* fileoff */
    poke64(&file, text + 48, UINT64_MAX);           /* filesize */
    poke32(&file, text + 72 + 48, 0xffffffff);      /* offset of __text */
    poke32(&file, text + 72 + 80 + 48, 0x7fffffff); /* offset of __stubs */
    ck_assert_msg(open_file(&file, &o, &err) == ERR_OK, "%s", err.text);
    ck_sample(o, 0x100000000);
    object_close(o);
    buf_done(&file);
}
END_TEST

START_TEST(symbols_with_bad_names_are_left_out)
{
    struct buf file;
    struct error err;
    struct object *o = NULL;
    struct arena arena;
    const struct object_symbol *s = NULL;
    size_t count = 0;
    macho_sample(&file);
    size_t symtab = macho_find(&file, LC_SYMTAB, 0);
    poke32(&file, MACHO_DATA_AT, 0xffffffff); /* name of beta: past the strings */
    uint32_t strings = 0;
    memcpy(&strings, file.data + symtab + 16, 4);
    /* The string table ends inside "__start": its NUL is missing. */
    poke32(&file, symtab + 20, 1 + 6 + 7 + 5);
    ck_assert_msg(open_file(&file, &o, &err) == ERR_OK, "%s", err.text);
    arena_init(&arena, 1 << 20);
    ck_assert_int_eq(object_symbols(o, &arena, &s, &count, &err), ERR_OK);
    ck_assert_uint_eq(count, 1);
    ck_assert_str_eq(s[0].name, "alpha");
    arena_done(&arena);
    object_close(o);
    buf_done(&file);
}
END_TEST

/* Symbols that share one long name cost its length each: that ends with a reason. */
START_TEST(shared_names_are_paid_for)
{
    enum { COUNT = 1000, NAME = 200000 };
    static struct macho_symbol symbols[COUNT];
    struct macho_builder b;
    struct buf file;
    struct error err;
    struct object *o = NULL;
    struct arena arena;
    const struct object_symbol *s = NULL;
    size_t count = 0;
    const struct macho_section text = {.name = "__text",
                                       .segment = "__TEXT",
                                       .address = 0x1000,
                                       .size = 0x10000,
                                       .flags = S_ATTR_SOME_INSTRUCTIONS};
    char *name = malloc(NAME);
    memset(name, 'n', NAME - 1);
    name[NAME - 1] = '\0';
    for (uint32_t i = 0; i < COUNT; i++)
        symbols[i] = (struct macho_symbol){i == 0 ? name : "", N_SECT, 0x1000 + 4 * i};
    macho_begin(&b, true, false, CPU_TYPE_ARM64, 0, MH_DYLIB);
    macho_uuid(&b, SAMPLE_UUID);
    macho_segment(&b, "__TEXT", 0, 0x20000, 0, 0, &text, 1);
    macho_symtab(&b, symbols, COUNT);
    macho_finish(&b, &file);
    uint32_t at = 0;
    memcpy(&at, file.data + macho_find(&file, LC_SYMTAB, 0) + 8, 4);
    for (uint32_t i = 0; i < COUNT; i++)
        poke32(&file, at + 16 * i, 1);
    ck_assert_msg(open_file(&file, &o, &err) == ERR_OK, "%s", err.text);
    arena_init(&arena, 1 << 20);
    ck_assert_int_eq(object_symbols(o, &arena, &s, &count, &err), ERR_LIMIT);
    ck_assert_msg(strstr(err.text, "names of the symbols") != NULL, "%s", err.text);
    arena_done(&arena);
    object_close(o);
    free(name);
    buf_done(&file);
}
END_TEST

/* No prefix of a file is read past its end, and none that lost debug bytes is accepted. */
START_TEST(every_prefix_is_safe)
{
    struct buf file;
    macho_sample(&file);
    for (size_t len = 0; len < file.len; len++) {
        struct error err;
        struct object *o = NULL;
        char *copy = malloc(len ? len : 1);
        memcpy(copy, file.data, len);
        ck_assert_int_ne(object_open(copy, len, &o, &err), ERR_OK);
        free(copy);
    }
    buf_done(&file);
}
END_TEST

/* A sparse file of 5 GB: section offsets have 32 bits, one that wrapped is told by its order. */
START_TEST(wrapped_offsets_are_refused)
{
    char path[] = "/tmp/stallsym-macho-XXXXXX";
    int fd = mkstemp(path);
    ck_assert_int_ge(fd, 0);
    unlink(path);
    struct macho_builder b;
    struct buf file;
    macho_begin(&b, true, false, CPU_TYPE_ARM64, 0, MH_DSYM);
    macho_uuid(&b, SAMPLE_UUID);
    macho_segment(&b, "__TEXT", 0, 0x2000, 0, 0, NULL, 0);
    const struct macho_section dwarf[] = {
        {"__debug_loc", "__DWARF", 0, 0xf0000000, MACHO_DATA_AT, 0},
        {"__debug_info", "__DWARF", 0, 0x8000, 0xf8000000, 0},
        {"__debug_abbrev", "__DWARF", 0, 0x100, 0x10000000, 0}, /* was 0x110000000 */
    };
    macho_segment(&b, "__DWARF", 0x2000, 0x120000000, MACHO_DATA_AT, 0x120000000, dwarf, 3);
    macho_finish(&b, &file);
    uint64_t size = (uint64_t)5 << 30;
    ck_assert_int_eq(write(fd, file.data, file.len), (ssize_t)file.len);
    ck_assert_int_eq(ftruncate(fd, (off_t)size), 0);
    void *map = mmap(NULL, size, PROT_READ, MAP_PRIVATE | MAP_NORESERVE, fd, 0);
    ck_assert_ptr_ne(map, MAP_FAILED);
    struct error err;
    struct object *o = NULL;
    ck_assert_int_eq(object_open(map, size, &o, &err), ERR_UNSUPPORTED);
    ck_assert_msg(strstr(err.text, "__debug_abbrev lies beyond 4 GB") != NULL, "%s", err.text);
    munmap(map, size);
    /* the same offsets in their order are good, and nothing of the file is read to find out */
    poke32(&file, macho_find(&file, LC_SEGMENT_64, 1) + 72 + 2 * 80 + 48, 0xf9000000);
    ck_assert_int_eq(pwrite(fd, file.data, file.len, 0), (ssize_t)file.len);
    map = mmap(NULL, size, PROT_READ, MAP_PRIVATE | MAP_NORESERVE, fd, 0);
    ck_assert_msg(object_open(map, size, &o, &err) == ERR_OK, "%s", err.text);
    object_close(o);
    munmap(map, size);
    close(fd);
    buf_done(&file);
}
END_TEST

UNIT_MAIN("macho", reads_a_dsym, reads_both_widths_and_byte_orders, knows_the_archs,
          arm64_32_with_either_header, thumb_bit_is_cleared, dylib_has_a_name, first_uuid_counts,
          refuses_what_is_no_image, every_claim_is_checked, text_of_a_dsym_has_no_bytes,
          symbols_with_bad_names_are_left_out, shared_names_are_paid_for, every_prefix_is_safe,
          wrapped_offsets_are_refused)
