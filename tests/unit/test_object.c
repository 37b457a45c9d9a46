/* Covers: symbolizer/object.c symbolizer/macho_fat.c */
#include "symbolizer/object.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "tests/support/files.h"
#include "tests/support/macho_builder.h"
#include "tests/support/unit.h"

#define JAVA_CLASS "\xca\xfe\xba\xbe\x00\x00\x00\x34\x00\x1d\x0a\x00\x06\x00\x0f\x09"

static void fat_of(struct buf *out, struct buf slices[3], bool is64, bool little)
{
    static const uint32_t types[3][2] = {
        {CPU_TYPE_ARM64, 0}, {CPU_TYPE_ARM64, 0x80000002}, {CPU_TYPE_X86_64, 3}};
    struct macho_slice table[3];
    for (int i = 0; i < 3; i++) {
        uint8_t uuid[16] = {0};
        uuid[15] = (uint8_t)(i + 1);
        macho_sample_of(&slices[i], true, false, types[i][0], types[i][1], MH_DSYM, uuid);
        table[i] = (struct macho_slice){&slices[i], types[i][0], types[i][1]};
    }
    macho_fat(out, is64, little, table, 3);
}

static void free_slices(struct buf slices[3])
{
    for (int i = 0; i < 3; i++)
        buf_done(&slices[i]);
}

START_TEST(universal_files_of_every_kind)
{
    static const char *const archs[] = {"arm64", "arm64e", "x86_64"};
    for (int kind = 0; kind < 4; kind++) {
        struct buf file, parts[3];
        struct object_slice slices[OBJECT_SLICES_MAX];
        size_t count = 0;
        struct error problem, err;
        fat_of(&file, parts, kind & 1, kind & 2);
        ck_assert(object_recognize(file.data, file.len));
        ck_assert_int_eq(object_slices(file.data, file.len, slices, &count, &problem, &err),
                         ERR_OK);
        ck_assert_int_eq(problem.code, ERR_OK);
        ck_assert_uint_eq(count, 3);
        for (size_t i = 0; i < count; i++) {
            struct object *o = NULL;
            ck_assert_uint_eq(slices[i].size, parts[i].len);
            ck_assert_int_eq(object_open(file.data + slices[i].offset, slices[i].size, &o, &err),
                             ERR_OK);
            ck_assert_str_eq(object_info(o)->arch, archs[i]);
            ck_assert_uint_eq(object_info(o)->uuid.bytes[15], i + 1);
            struct cursor c;
            ck_assert(object_section(o, ".debug_info", &c));
            ck_assert_mem_eq(c.p, "info", 4);
            object_close(o);
        }
        free_slices(parts);
        buf_done(&file);
    }
}
END_TEST

START_TEST(thin_file_is_one_slice)
{
    struct buf file;
    struct object_slice slices[OBJECT_SLICES_MAX];
    size_t count = 0;
    macho_sample(&file);
    ck_assert_int_eq(object_slices(file.data, file.len, slices, &count, NULL, NULL), ERR_OK);
    ck_assert_uint_eq(count, 1);
    ck_assert_uint_eq(slices[0].offset, 0);
    ck_assert_uint_eq(slices[0].size, file.len);
    buf_done(&file);
}
END_TEST

/* Lies in the 64-bit table: entry 1 at 8 + 32, offset at +8, size at +16, big-endian. */
START_TEST(bad_slices_are_left_out_and_named)
{
    static const struct {
        size_t at;
        uint32_t value;
        const char *text;
    } lies[] = {
        {8 + 32 + 8, 0xffffffff, "slice 1 of 3 ends past the end"},  /* offset, high half */
        {8 + 32 + 16, 0xffffffff, "slice 1 of 3 ends past the end"}, /* offset + size wraps */
        {8 + 32 + 12, 0, "slice 1 of 3 lies on the universal header"},
        {8 + 32 + 12, 103, "slice 1 of 3 lies on the universal header"},
        {8 + 32 + 20, 0, "slice 1 of 3 is empty"},
        {8 + 32 + 12, 4096, "slice 1 of 3 overlaps"}, /* slice 0 once more */
    };
    for (size_t i = 0; i < sizeof(lies) / sizeof(lies[0]); i++) {
        struct buf file, parts[3];
        struct object_slice slices[OBJECT_SLICES_MAX];
        size_t count = 0;
        struct error problem, err;
        fat_of(&file, parts, true, false);
        poke32_big(&file, lies[i].at, lies[i].value);
        ck_assert_int_eq(object_slices(file.data, file.len, slices, &count, &problem, &err),
                         ERR_OK);
        ck_assert_uint_eq(count, 2);
        ck_assert_msg(strstr(problem.text, lies[i].text) != NULL, "\"%s\"", problem.text);
        free_slices(parts);
        buf_done(&file);
    }
}
END_TEST

START_TEST(bad_universal_headers_are_refused)
{
    static const struct {
        uint32_t count;
        const char *text;
    } lies[] = {{0, "no slices"}, {65, "at most 64"}, {0xffffffff, "at most 64"}};
    struct buf file, parts[3];
    struct object_slice slices[OBJECT_SLICES_MAX];
    size_t count = 7;
    struct error err;
    fat_of(&file, parts, true, false);
    for (size_t i = 0; i < sizeof(lies) / sizeof(lies[0]); i++) {
        poke32_big(&file, 4, lies[i].count);
        ck_assert_int_eq(object_slices(file.data, file.len, slices, &count, NULL, &err),
                         ERR_FORMAT);
        ck_assert_msg(strstr(err.text, lies[i].text) != NULL, "%s", err.text);
    }
    poke32_big(&file, 4, 3);
    ck_assert_int_eq(object_slices(file.data, 103, slices, &count, NULL, &err), ERR_FORMAT);
    ck_assert_msg(strstr(err.text, "cut off") != NULL, "%s", err.text);
    ck_assert_int_eq(object_slices(file.data, 104, slices, &count, NULL, &err), ERR_FORMAT);
    ck_assert_msg(strstr(err.text, "slice 0 of 3 ends past") != NULL, "%s", err.text);
    ck_assert_uint_eq(count, 7);
    free_slices(parts);
    buf_done(&file);
}
END_TEST

/* No recursion: a universal file inside a slice is no image. */
START_TEST(nested_universal_file_is_refused)
{
    struct buf inner, outer, parts[3];
    struct object_slice slices[OBJECT_SLICES_MAX];
    struct object *o = NULL;
    size_t count = 0;
    struct error err;
    fat_of(&inner, parts, false, false);
    const struct macho_slice table = {&inner, CPU_TYPE_ARM64, 0};
    macho_fat(&outer, false, false, &table, 1);
    ck_assert_int_eq(object_slices(outer.data, outer.len, slices, &count, NULL, &err), ERR_OK);
    ck_assert_uint_eq(count, 1);
    ck_assert_int_eq(object_open(outer.data + slices[0].offset, slices[0].size, &o, &err),
                     ERR_FORMAT);
    free_slices(parts);
    buf_done(&inner);
    buf_done(&outer);
}
END_TEST

START_TEST(recognizes_by_content)
{
    struct error err;
    struct object *o = NULL;
    ck_assert(object_recognize("\xcf\xfa\xed\xfe", 4));
    ck_assert(object_recognize("\xfe\xed\xfa\xce", 4));
    ck_assert(object_recognize("\x7f"
                               "ELF",
                               4));
    ck_assert(object_recognize("\xca\xfe\xba\xbe\x00\x00\x00\x02", 8));
    ck_assert(!object_recognize("\xca\xfe\xba\xbe", 4));
    ck_assert(!object_recognize("\xcf\xfa\xed", 3));
    ck_assert(!object_recognize("", 0));
    ck_assert(!object_recognize("PK\003\004", 4));
    ck_assert(!object_recognize(JAVA_CLASS, sizeof(JAVA_CLASS) - 1));
    ck_assert_int_eq(object_open(JAVA_CLASS, sizeof(JAVA_CLASS) - 1, &o, &err), ERR_FORMAT);
    ck_assert_int_eq(object_open("!<arch>\nx", 9, &o, &err), ERR_UNSUPPORTED);
    ck_assert_str_eq(err.text, "static library, not a dSYM");
}
END_TEST

/* 64 slices are read; the table of a Java class would be of 45 and more, told by its first cpu. */
START_TEST(many_slices)
{
    struct buf part, file;
    struct macho_slice table[OBJECT_SLICES_MAX];
    struct object_slice slices[OBJECT_SLICES_MAX];
    size_t count = 0;
    macho_sample(&part);
    for (size_t i = 0; i < OBJECT_SLICES_MAX; i++)
        table[i] = (struct macho_slice){&part, CPU_TYPE_ARM64, (uint32_t)i};
    macho_fat(&file, false, false, table, OBJECT_SLICES_MAX);
    ck_assert(object_recognize(file.data, file.len));
    ck_assert_int_eq(object_slices(file.data, file.len, slices, &count, NULL, NULL), ERR_OK);
    ck_assert_uint_eq(count, OBJECT_SLICES_MAX);
    buf_done(&part);
    buf_done(&file);
}
END_TEST

/* 32-bit tables hold where a slice begins, below 4 GB; it may end above. The file is sparse. */
START_TEST(a_slice_may_cross_four_gigabytes)
{
    const uint64_t at = 0xf9000000;
    const uint64_t size = 0x26000000;
    char folder[64], path[128];
    struct buf part, file;
    struct object_slice slices[OBJECT_SLICES_MAX];
    struct object *o = NULL;
    struct mapped m;
    size_t count = 0;
    struct error err;
    macho_sample(&part);
    const struct macho_slice table = {&part, CPU_TYPE_ARM64, 0};
    macho_fat(&file, false, false, &table, 1);
    poke32_big(&file, 8 + 8, (uint32_t)at);
    poke32_big(&file, 8 + 12, (uint32_t)size);
    scratch_make(folder, sizeof(folder));
    snprintf(path, sizeof(path), "%s/fat", folder);
    write_file(path, file.data, 28);
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    ck_assert_int_eq(pwrite(fd, part.data, part.len, (off_t)at), (ssize_t)part.len);
    ck_assert_int_eq(ftruncate(fd, (off_t)(at + size)), 0);
    close(fd);
    ck_assert(map_file(path, &m));
    ck_assert_msg(object_slices(m.data, m.size, slices, &count, NULL, &err) == ERR_OK, "%s",
                  err.text);
    ck_assert_uint_eq(count, 1);
    ck_assert_uint_eq(slices[0].offset, at);
    ck_assert_uint_eq(slices[0].size, size);
    ck_assert_int_eq(object_open(m.data + at, size, &o, &err), ERR_OK);
    object_close(o);
    unmap_file(&m);
    scratch_remove(folder);
    buf_done(&part);
    buf_done(&file);
}
END_TEST

/* Opens the slice of `file` with that UUID; NULL when there is none. */
static struct object *open_uuid(const struct mapped *m, const struct uuid *uuid)
{
    struct object_slice slices[OBJECT_SLICES_MAX];
    size_t count = 0;
    if (object_slices(m->data, m->size, slices, &count, NULL, NULL) != ERR_OK)
        return NULL;
    for (size_t i = 0; i < count; i++) {
        struct object *o = NULL;
        if (object_open(m->data + slices[i].offset, slices[i].size, &o, NULL) == ERR_OK &&
            uuid_equal(&object_info(o)->uuid, uuid))
            return o;
        object_close(o);
    }
    return NULL;
}

/* Columns: file, uuid (ELF: the build-id), arch, address of __TEXT ("-" for ELF). */
static void ck_row(const char *file, const char *id, const char *arch, const char *vmaddr)
{
    char path[1024], name[900];
    struct mapped m;
    struct uuid uuid;
    snprintf(name, sizeof(name), "symbols/%s", file);
    if (!shared_data(name, path, sizeof(path)))
        return;
    ck_assert_msg(map_file(path, &m), "%s", path);
    if (strlen(id) == 40) {
        uint8_t bytes[20];
        for (size_t i = 0; i < sizeof(bytes); i++) {
            char hex[3] = {id[2 * i], id[2 * i + 1], 0};
            bytes[i] = (uint8_t)strtoul(hex, NULL, 16);
        }
        uuid = uuid_from_build_id(bytes, sizeof(bytes));
    } else {
        ck_assert(uuid_parse(id, strlen(id), &uuid));
    }
    struct object *o = open_uuid(&m, &uuid);
    ck_assert_msg(o != NULL, "%s: no %s", file, id);
    ck_assert_str_eq(object_info(o)->arch, arch);
    if (strcmp(vmaddr, "-") != 0)
        ck_assert_uint_eq(object_info(o)->text_vmaddr, strtoull(vmaddr, NULL, 16));
    object_close(o);
    unmap_file(&m);
}

START_TEST(real_files_have_their_uuids)
{
    char path[1024], line[4096];
    if (!shared_data("SYMBOLS.tsv", path, sizeof(path)))
        return;
    FILE *f = fopen(path, "r");
    ck_assert_ptr_nonnull(f);
    size_t rows = 0;
    while (fgets(line, sizeof(line), f)) {
        char *columns[4], *rest = line;
        if (*line == '#')
            continue;
        for (int i = 0; i < 4; i++)
            ck_assert_ptr_nonnull(columns[i] = strsep(&rest, "\t"));
        ck_row(columns[0], columns[1], columns[2], columns[3]);
        rows++;
    }
    fclose(f);
    ck_assert_uint_gt(rows, 20);
}
END_TEST

UNIT_MAIN("object", universal_files_of_every_kind, thin_file_is_one_slice,
          bad_slices_are_left_out_and_named, bad_universal_headers_are_refused,
          nested_universal_file_is_refused, recognizes_by_content, many_slices,
          a_slice_may_cross_four_gigabytes, real_files_have_their_uuids)
