/* Covers: symbolizer/elf.c symbolizer/elf_inflate.c */
#include "symbolizer/elf.h"

#include <elf.h>
#include <stdio.h>

#include "tests/support/elf_builder.h"
#include "tests/support/files.h"
#include "tests/support/unit.h"

static const uint8_t ID[20] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17};

static struct object *open_ok(const struct buf *file)
{
    struct error err;
    struct object *o = NULL;
    ck_assert_msg(object_open(file->data, file->len, &o, &err) == ERR_OK, "%s", err.text);
    return o;
}

static void ck_refused(struct buf *file, enum err code, const char *text)
{
    struct error err = {.code = ERR_OK};
    struct object *o = NULL;
    enum err e = object_open(file->data, file->len, &o, &err);
    ck_assert_msg(e == code, "%s: %d \"%s\"", text, e, err.text);
    ck_assert_msg(strstr(err.text, text) != NULL, "\"%s\" says nothing of \"%s\"", err.text, text);
    buf_done(file);
}

START_TEST(reads_a_debug_file)
{
    struct buf file;
    char text[UUID_TEXT_SIZE];
    struct arena arena;
    const struct object_symbol *s = NULL;
    size_t count = 0;
    elf_sample(&file);
    struct object *o = open_ok(&file);
    const struct object_info *info = object_info(o);
    ck_assert_int_eq(info->format, OBJECT_ELF);
    ck_assert_int_eq(info->type, OBJECT_DEBUG);
    ck_assert_str_eq(uuid_format(&info->uuid, text), "04030201-0605-0807-090A-0B0C0D0E0F10");
    ck_assert_uint_eq(info->build_id_len, 20);
    ck_assert_uint_eq(info->build_id[19], 20);
    ck_assert_str_eq(info->arch, "x86_64");
    ck_assert_uint_eq(info->address_size, 8);
    ck_assert(info->has_dwarf);
    ck_assert(!info->thumb);
    ck_assert_uint_eq(info->text_vmaddr, 0x400000);
    ck_assert_uint_eq(info->text_size, 0x2000);
    struct cursor c;
    ck_assert(object_section(o, ".debug_info", &c));
    ck_assert_uint_eq(cursor_left(&c), 4);
    ck_assert(!object_section(o, ".debug_line", &c));
    const struct object_range *code = object_code(o, &count);
    ck_assert_uint_eq(count, 1);
    ck_assert_uint_eq(code[0].start, 0x401000);
    ck_assert_uint_eq(code[0].end, 0x401200);
    arena_init(&arena, 1 << 20);
    ck_assert_int_eq(object_symbols(o, &arena, &s, &count, NULL), ERR_OK);
    ck_assert_uint_eq(count, 2);
    ck_assert_str_eq(s[0].name, "alpha");
    ck_assert_uint_eq(s[0].size, 0x80);
    ck_assert(s[0].external);
    ck_assert_str_eq(s[1].name, "beta");
    ck_assert_uint_eq(s[1].size, 0);
    ck_assert(!s[1].external);
    arena_done(&arena);
    object_close(o);
    buf_done(&file);
}
END_TEST

/* Every class and byte order, with thumb code, mapping symbols, data, and symbols out of place. */
START_TEST(symbols_that_are_functions)
{
    for (int kind = 0; kind < 4; kind++) {
        struct elf_builder b;
        struct buf file;
        struct arena arena;
        const struct object_symbol *s = NULL;
        size_t count = 0;
        elf_begin_file(&b, kind & 1, kind & 2, ET_EXEC, EM_ARM);
        elf_build_id(&b, ID, sizeof(ID));
        uint16_t text = (uint16_t)elf_add(&b, ".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR,
                                          0x8000, "codecodecodecode", 16);
        uint16_t data =
            (uint16_t)elf_add(&b, ".data", SHT_PROGBITS, SHF_ALLOC | SHF_WRITE, 0x9000, "data", 4);
        const struct elf_builder_symbol symbols[] = {
            {"thumb", ELF32_ST_INFO(STB_GLOBAL, STT_FUNC), text, 0x8001, 4},
            {"ifunc", ELF32_ST_INFO(STB_WEAK, STT_GNU_IFUNC), text, 0x8004, 0xffffff},
            {"assembly", ELF32_ST_INFO(STB_GLOBAL, STT_NOTYPE), text, 0x8008, 0},
            {"$d", ELF32_ST_INFO(STB_LOCAL, STT_NOTYPE), text, 0x800a, 0},
            {"$a.7", ELF32_ST_INFO(STB_LOCAL, STT_NOTYPE), text, 0x800a, 0},
            {"", ELF32_ST_INFO(STB_LOCAL, STT_FUNC), text, 0x800a, 0},
            {"object", ELF32_ST_INFO(STB_GLOBAL, STT_OBJECT), text, 0x800c, 4},
            {"in_data", ELF32_ST_INFO(STB_GLOBAL, STT_FUNC), data, 0x9000, 4},
            {"outside", ELF32_ST_INFO(STB_GLOBAL, STT_FUNC), text, 0x8010, 4},
            {"undefined", ELF32_ST_INFO(STB_GLOBAL, STT_FUNC), SHN_UNDEF, 0x8000, 4},
            {"absolute", ELF32_ST_INFO(STB_GLOBAL, STT_FUNC), SHN_ABS, 0x8000, 4},
            {"nowhere", ELF32_ST_INFO(STB_GLOBAL, STT_FUNC), 77, 0x8000, 4},
        };
        elf_symtab(&b, symbols, sizeof(symbols) / sizeof(symbols[0]));
        elf_finish(&b, &file);
        struct object *o = open_ok(&file);
        ck_assert(object_info(o)->thumb);
        ck_assert_int_eq(object_info(o)->swap, (kind & 2) != 0);
        ck_assert_int_eq(object_info(o)->type, OBJECT_EXECUTABLE);
        ck_assert_uint_eq(object_info(o)->text_size, 0x8010);
        arena_init(&arena, 1 << 20);
        ck_assert_int_eq(object_symbols(o, &arena, &s, &count, NULL), ERR_OK);
        ck_assert_uint_eq(count, 3);
        ck_assert_str_eq(s[0].name, "thumb");
        ck_assert_uint_eq(s[0].address, 0x8000);
        ck_assert_str_eq(s[1].name, "ifunc");
        ck_assert_uint_eq(s[1].size, 12); /* to the end of its section */
        ck_assert_str_eq(s[2].name, "assembly");
        arena_done(&arena);
        object_close(o);
        buf_done(&file);
    }
}
END_TEST

static void compressed_of(struct buf *file, bool is64, bool big, uint32_t algorithm,
                          const void *data, size_t len, uint64_t said)
{
    struct elf_builder b;
    elf_begin_file(&b, is64, big, ET_DYN, EM_AARCH64);
    elf_build_id(&b, ID, sizeof(ID));
    elf_compressed(&b, ".debug_info", algorithm, data, len, said);
    elf_finish(&b, file);
}

START_TEST(compressed_sections)
{
    uint8_t data[100000];
    for (size_t i = 0; i < sizeof(data); i++)
        data[i] = (uint8_t)(i >> 4);
    for (int kind = 0; kind < 8; kind++) {
        struct buf file;
        struct cursor c;
        compressed_of(&file, kind & 1, kind & 2, kind & 4 ? 2 : 1, data, sizeof(data), 0);
        struct object *o = open_ok(&file);
        ck_assert(object_info(o)->has_dwarf);
        ck_assert(object_section(o, ".debug_info", &c));
        ck_assert_uint_eq(cursor_left(&c), sizeof(data));
        ck_assert_mem_eq(c.p, data, sizeof(data));
        object_close(o);
        buf_done(&file);
    }
}
END_TEST

START_TEST(bad_compression_is_refused)
{
    uint8_t data[5000];
    struct buf file;
    for (size_t i = 0; i < sizeof(data); i++)
        data[i] = (uint8_t)(i * 7);
    for (uint32_t algorithm = 1; algorithm <= 2; algorithm++) {
        compressed_of(&file, true, false, algorithm, data, sizeof(data), sizeof(data) - 1);
        ck_refused(&file, ERR_FORMAT, "section .debug_info: damaged");
        compressed_of(&file, true, false, algorithm, data, sizeof(data), sizeof(data) + 1);
        ck_refused(&file, ERR_FORMAT, "section .debug_info: damaged");
        compressed_of(&file, true, false, algorithm, data, sizeof(data), UINT64_MAX);
        ck_refused(&file, ERR_LIMIT, "it says it holds 18446744073709551615 bytes");
    }
    compressed_of(&file, true, false, 9, data, sizeof(data), 0);
    ck_refused(&file, ERR_UNSUPPORTED, "unknown algorithm 9");
    struct elf_builder b;
    elf_begin_file(&b, true, false, ET_DYN, EM_X86_64);
    elf_build_id(&b, ID, sizeof(ID));
    elf_add(&b, ".debug_info", SHT_PROGBITS, SHF_COMPRESSED, 0, "short", 5);
    elf_finish(&b, &file);
    ck_refused(&file, ERR_FORMAT, "cut off");
}
END_TEST

/* ".zdebug_info": "ZLIB", the size in big-endian, the stream. */
START_TEST(old_gnu_compression)
{
    static const uint8_t stream[] = "ZLIB\0\0\0\0\0\0\0\4"
                                    "\x78\x01\x01\x04\x00\xfb\xffinfo\x04\x2d\x01\xad";
    struct elf_builder b;
    struct buf file;
    struct cursor c;
    elf_begin_file(&b, true, false, ET_DYN, EM_X86_64);
    elf_build_id(&b, ID, sizeof(ID));
    elf_add(&b, ".zdebug_info", SHT_PROGBITS, 0, 0, stream, sizeof(stream) - 1);
    elf_finish(&b, &file);
    struct error err = {.code = ERR_OK};
    struct object *o = NULL;
    enum err e = object_open(file.data, file.len, &o, &err);
    ck_assert_msg(e == ERR_OK, "%s", err.text);
    ck_assert(object_section(o, ".debug_info", &c));
    ck_assert_uint_eq(cursor_left(&c), 4);
    ck_assert_mem_eq(c.p, "info", 4);
    object_close(o);
    buf_done(&file);
}
END_TEST

START_TEST(no_build_id_no_index)
{
    static const uint8_t zero[20];
    struct elf_builder b;
    struct buf file;
    elf_begin_file(&b, true, false, ET_DYN, EM_X86_64);
    elf_add(&b, ".debug_info", SHT_PROGBITS, 0, 0, "info", 4);
    elf_finish(&b, &file);
    ck_refused(&file, ERR_INVALID, "no build-id");
    elf_begin_file(&b, true, false, ET_DYN, EM_X86_64);
    elf_build_id(&b, zero, sizeof(zero));
    elf_finish(&b, &file);
    ck_refused(&file, ERR_INVALID, "build-id is zero");
    elf_begin_file(&b, true, false, ET_DYN, EM_X86_64);
    elf_build_id(&b, ID, 0);
    elf_finish(&b, &file);
    ck_refused(&file, ERR_INVALID, "no build-id");
    elf_begin_file(&b, true, false, ET_REL, EM_X86_64);
    elf_build_id(&b, ID, sizeof(ID));
    elf_finish(&b, &file);
    ck_refused(&file, ERR_UNSUPPORTED, "object file, not a linked image");
    elf_begin_file(&b, true, false, ET_CORE, EM_X86_64);
    elf_finish(&b, &file);
    ck_refused(&file, ERR_UNSUPPORTED, "core file");
}
END_TEST

/* A short build-id is padded, one of 8 bytes is common with some linkers. */
START_TEST(short_build_id)
{
    struct elf_builder b;
    struct buf file;
    char text[UUID_TEXT_SIZE];
    elf_begin_file(&b, true, false, ET_DYN, EM_AARCH64);
    elf_build_id(&b, ID, 8);
    elf_finish(&b, &file);
    struct object *o = open_ok(&file);
    ck_assert_uint_eq(object_info(o)->build_id_len, 8);
    ck_assert_str_eq(uuid_format(&object_info(o)->uuid, text),
                     "04030201-0605-0807-0000-000000000000");
    ck_assert_str_eq(object_info(o)->arch, "aarch64");
    object_close(o);
    buf_done(&file);
}
END_TEST

START_TEST(cut_files_are_refused)
{
    struct buf file;
    elf_sample(&file);
    for (size_t len = 4; len < file.len; len++) {
        struct object *o = NULL;
        struct error err;
        char *copy = malloc(len);
        memcpy(copy, file.data, len);
        ck_assert_msg(object_open(copy, len, &o, &err) != ERR_OK, "%zu of %zu bytes", len,
                      file.len);
        free(copy);
    }
    buf_done(&file);
}
END_TEST

/* Any one byte changed: an answer, whichever, and no read outside (run with ASan). */
START_TEST(any_byte_may_lie)
{
    struct buf file;
    elf_sample(&file);
    char *copy = malloc(file.len);
    for (size_t at = 4; at < file.len; at++) {
        static const uint8_t values[] = {0, 1, 0x7f, 0x80, 0xff};
        for (size_t v = 0; v < sizeof(values); v++) {
            struct object *o = NULL;
            struct arena arena;
            const struct object_symbol *s = NULL;
            size_t count = 0;
            memcpy(copy, file.data, file.len);
            copy[at] = (char)values[v];
            if (object_open(copy, file.len, &o, NULL) != ERR_OK)
                continue;
            arena_init(&arena, 1 << 20);
            if (object_symbols(o, &arena, &s, &count, NULL) == ERR_OK)
                ck_assert_uint_le(count, 2);
            arena_done(&arena);
            object_close(o);
        }
    }
    free(copy);
    buf_done(&file);
}
END_TEST

/* The same file, plain and compressed in two ways, says the same. */
START_TEST(real_compressed_files)
{
    static const char *const names[] = {"symbols/elf/crash.debug-zlib",
                                        "symbols/elf/crash.debug-zstd"};
    static const char *const sections[] = {".debug_info", ".debug_line", ".debug_str",
                                           ".debug_abbrev", ".debug_ranges"};
    char path[1024];
    struct mapped plain, packed;
    struct object *a = NULL, *b = NULL;
    if (!shared_data("symbols/elf/crash.debug", path, sizeof(path)))
        return;
    ck_assert(map_file(path, &plain));
    ck_assert_int_eq(object_open(plain.data, plain.size, &a, NULL), ERR_OK);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (!shared_data(names[i], path, sizeof(path)))
            continue;
        ck_assert(map_file(path, &packed));
        ck_assert_int_eq(object_open(packed.data, packed.size, &b, NULL), ERR_OK);
        for (size_t k = 0; k < sizeof(sections) / sizeof(sections[0]); k++) {
            struct cursor x, y;
            ck_assert_int_eq(object_section(a, sections[k], &x),
                             object_section(b, sections[k], &y));
            ck_assert_uint_eq(cursor_left(&x), cursor_left(&y));
            ck_assert_mem_eq(x.p, y.p, cursor_left(&x));
        }
        object_close(b);
        unmap_file(&packed);
    }
    object_close(a);
    unmap_file(&plain);
}
END_TEST

UNIT_MAIN("elf", reads_a_debug_file, symbols_that_are_functions, compressed_sections,
          bad_compression_is_refused, old_gnu_compression, no_build_id_no_index, short_build_id,
          cut_files_are_refused, any_byte_may_lie, real_compressed_files)
