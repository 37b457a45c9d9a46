/* Covers: symbolizer/archive.c symbolizer/archive_gzip.c */
#include "symbolizer/archive.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "tests/support/files.h"
#include "tests/support/macho_builder.h"
#include "tests/support/unit.h"
#include "tests/support/zip_builder.h"

#define FEED "4C4C44DC"

/* What the visitor saw. */
struct seen {
    char folder[64];
    char upload[128];
    char names[1024]; /* each followed by ';' */
    size_t opened;
    size_t complete;
    uint64_t bytes;
    bool refuse;
};

static int seen_open(void *ctx, const char *member, struct error *err)
{
    struct seen *s = ctx;
    char path[128];
    if (s->refuse) {
        error_set(err, ERR_LIMIT, "the visitor says no");
        return -1;
    }
    size_t len = strlen(s->names);
    snprintf(s->names + len, sizeof(s->names) - len, "%s;", member);
    snprintf(path, sizeof(path), "%s/out-%zu", s->folder, s->opened++);
    return open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
}

static enum err seen_close(void *ctx, int fd, bool complete, struct error *err)
{
    struct seen *s = ctx;
    struct stat st;
    (void)err;
    ck_assert_int_eq(fstat(fd, &st), 0);
    s->bytes += (uint64_t)st.st_size;
    s->complete += complete;
    close(fd);
    return ERR_OK;
}

static void seen_begin(struct seen *s)
{
    memset(s, 0, sizeof(*s));
    scratch_make(s->folder, sizeof(s->folder));
    snprintf(s->upload, sizeof(s->upload), "%s/upload", s->folder);
}

static enum err walk_path(struct seen *s, const char *path, const struct archive_limits *limits,
                          size_t *objects, struct error *err)
{
    const struct archive_visitor v = {NULL, seen_open, seen_close, s};
    struct archive_counts counts = {.objects = *objects};
    *err = (struct error){.code = ERR_OK};
    enum err e = archive_walk(path, limits, &v, &counts, err);
    *objects = counts.objects;
    return e;
}

static enum err walk(struct seen *s, const void *data, size_t len, size_t *objects,
                     struct error *err)
{
    write_file(s->upload, data, len);
    return walk_path(s, s->upload, &ARCHIVE_LIMITS_DEFAULT, objects, err);
}

/* The upload is refused with this code and text, and no object was complete. */
static void ck_refused(const struct buf *file, enum err code, const char *text)
{
    struct seen s;
    struct error err;
    size_t objects = 99;
    seen_begin(&s);
    enum err e = walk(&s, file->data, file->len, &objects, &err);
    ck_assert_msg(e == code, "%s: %d \"%s\"", text, e, err.text);
    ck_assert_msg(strstr(err.text, text) != NULL, "\"%s\" says nothing of \"%s\"", err.text, text);
    ck_assert_uint_eq(objects, 99);
    scratch_remove(s.folder);
}

static void ck_walk(const void *data, size_t len, const char *names, uint64_t bytes)
{
    struct seen s;
    struct error err;
    size_t objects = 0;
    seen_begin(&s);
    ck_assert_msg(walk(&s, data, len, &objects, &err) == ERR_OK, "%s", err.text);
    ck_assert_str_eq(s.names, names);
    ck_assert_uint_eq(s.complete, s.opened);
    ck_assert_uint_eq(objects, s.opened);
    ck_assert_uint_eq(s.bytes, bytes);
    scratch_remove(s.folder);
}

START_TEST(zip_of_every_kind_of_member)
{
    struct buf object, file;
    struct zip_builder z;
    macho_sample(&object);
    zip_begin(&z);
    const struct zip_member members[] = {
        {.name = "A.dSYM/", .mode = 040755},
        {.name = "A.dSYM/Contents/Info.plist", .data = "<plist/>", .len = 8},
        {.name = "A.dSYM/Contents/Resources/DWARF/A",
         .data = object.data,
         .len = object.len,
         .deflate = true},
        {.name = "stored", .data = object.data, .len = object.len},
        {.name = "streamed",
         .data = object.data,
         .len = object.len,
         .deflate = true,
         .descriptor = true},
        {.name = "large", .data = object.data, .len = object.len, .deflate = true, .zip64 = true},
        {.name = "../../slip", .data = object.data, .len = object.len},
        {.name = "/etc/slip", .data = object.data, .len = object.len},
        {.name = "link", .data = "/etc/passwd", .len = 11, .mode = 0120777},
        {.name = "__MACOSX/._A", .data = object.data, .len = object.len},
        {.name = "A.dSYM/._B", .data = object.data, .len = object.len},
        {.name = "A.dSYM/.DS_Store", .data = object.data, .len = object.len},
        {.name = "na\xc3\xafve", .data = object.data, .len = object.len, .flags = 0x800},
        {.name = "empty", .data = "", .len = 0},
    };
    for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++)
        zip_add(&z, &members[i]);
    zip_finish(&z, &file);
    ck_walk(file.data, file.len,
            "A.dSYM/Contents/Resources/DWARF/A;stored;streamed;large;../../slip;/etc/slip;"
            "na\xc3\xafve;",
            7 * object.len);
    buf_done(&file);
    buf_done(&object);
}
END_TEST

START_TEST(damaged_zips_are_refused)
{
    struct buf object, file;
    struct zip_builder z;
    macho_sample(&object);
    const struct zip_member good = {
        .name = "A", .data = object.data, .len = object.len, .deflate = true};
    const struct {
        struct zip_member member;
        enum err code;
        const char *text;
    } lies[] = {
        {{.crc_xor = 1}, ERR_FORMAT, "CRC"},
        {{.said_size = 100}, ERR_FORMAT, "A: "},
        {{.said_size = 1 << 20}, ERR_FORMAT, "A: "},
        {{.flags = 1}, ERR_UNSUPPORTED, "encrypt"},
    };
    for (size_t i = 0; i < sizeof(lies) / sizeof(lies[0]); i++) {
        struct zip_member m = good;
        m.crc_xor = lies[i].member.crc_xor;
        m.said_size = lies[i].member.said_size;
        m.flags = lies[i].member.flags;
        zip_begin(&z);
        zip_add(&z, &m);
        zip_finish(&z, &file);
        ck_refused(&file, lies[i].code, lies[i].text);
        buf_done(&file);
    }
    buf_done(&object);
}
END_TEST

/* Cut anywhere, a zip has lost its directory: nothing of it counts. */
START_TEST(cut_zips_are_refused)
{
    struct buf object, file;
    struct zip_builder z;
    macho_sample(&object);
    zip_begin(&z);
    const struct zip_member m = {.name = "A", .data = object.data, .len = object.len};
    zip_add(&z, &m);
    zip_finish(&z, &file);
    size_t whole = file.len;
    for (size_t len = whole - 1; len > 4; len = len > 200 ? len - 61 : len - 1) {
        file.len = len;
        ck_refused(&file, ERR_FORMAT, "");
    }
    buf_done(&file);
    buf_done(&object);
}
END_TEST

START_TEST(overlapping_members_are_refused)
{
    struct buf object, file, outer;
    struct zip_builder inner, z;
    macho_sample(&object);
    /* A stored member that is itself a local header with an object: both places are in the
     * directory, as the well-known bombs have it. */
    zip_begin(&inner);
    const struct zip_member m = {.name = "B", .data = object.data, .len = object.len};
    zip_add(&inner, &m);
    zip_finish(&inner, &file);
    zip_begin(&z);
    struct buf padded;
    buf_init(&padded, 1 << 20);
    buf_put(&padded, object.data, object.len);
    buf_put(&padded, file.data, file.len);
    const struct zip_member a = {.name = "A", .data = padded.data, .len = padded.len};
    struct zip_member b = m;
    b.again = true;
    b.again_shift = (uint32_t)(30 + 1 + object.len);
    zip_add(&z, &a);
    zip_add(&z, &b);
    zip_finish(&z, &outer);
    ck_refused(&outer, ERR_FORMAT, "B overlaps another member");
    buf_done(&outer);
    buf_done(&padded);
    buf_done(&file);
    buf_done(&object);
}
END_TEST

/* macOS's Archive Utility writes a zip over 4 GB without its 64-bit fields: the directory's offset
 * has wrapped. Refused with what to use, and nothing unpacked. The file is sparse. */
START_TEST(wrapped_zip_is_refused)
{
    struct buf object, file;
    struct zip_builder z;
    struct seen s;
    struct error err;
    size_t objects = 0;
    const uint64_t moved = ((uint64_t)1 << 32) + 5000;
    macho_sample(&object);
    zip_begin(&z);
    const struct zip_member m = {.name = "A", .data = object.data, .len = object.len};
    zip_add(&z, &m);
    size_t members = z.file.len;
    zip_finish(&z, &file);
    poke32(&file, file.len - 6, (uint32_t)moved);
    seen_begin(&s);
    write_file(s.upload, file.data, members);
    int fd = open(s.upload, O_WRONLY | O_CLOEXEC);
    ck_assert_int_eq(pwrite(fd, file.data + members, file.len - members, (off_t)moved),
                     (ssize_t)(file.len - members));
    close(fd);
    ck_assert_int_eq(walk_path(&s, s.upload, &ARCHIVE_LIMITS_DEFAULT, &objects, &err), ERR_FORMAT);
    ck_assert_msg(strstr(err.text, "ditto") != NULL, "%s", err.text);
    ck_assert_uint_eq(s.opened, 0);
    scratch_remove(s.folder);
    buf_done(&file);
    buf_done(&object);
}
END_TEST

static void tar_of(struct buf *out, int format, int filter, const struct buf *object)
{
    static const char *const names[] = {"A.dSYM/Contents/Resources/DWARF/A", "A.dSYM/note",
                                        "./__MACOSX/x", "A.dSYM/._A"};
    char *to = malloc(1 << 20);
    size_t used = 0;
    struct archive *a = archive_write_new();
    struct archive_entry *e = archive_entry_new();
    archive_write_add_filter(a, filter);
    archive_write_set_format(a, format);
    ck_assert_int_eq(archive_write_open_memory(a, to, 1 << 20, &used), ARCHIVE_OK);
    for (int i = 0; i < 4; i++) {
        const char *data = i == 1 ? "hello" : object->data;
        size_t len = i == 1 ? 5 : object->len;
        archive_entry_clear(e);
        archive_entry_set_pathname(e, names[i]);
        archive_entry_set_size(e, (la_int64_t)len);
        archive_entry_set_filetype(e, AE_IFREG);
        archive_entry_set_perm(e, 0644);
        ck_assert_int_eq(archive_write_header(a, e), ARCHIVE_OK);
        ck_assert_int_eq(archive_write_data(a, data, len), (la_ssize_t)len);
    }
    archive_entry_clear(e);
    archive_entry_set_pathname(e, "hard");
    archive_entry_set_filetype(e, AE_IFREG);
    archive_entry_set_hardlink(e, "/etc/passwd");
    ck_assert_int_eq(archive_write_header(a, e), ARCHIVE_OK);
    archive_entry_free(e);
    archive_write_close(a);
    archive_write_free(a);
    buf_init(out, 1 << 21);
    buf_put(out, to, used);
    free(to);
}

START_TEST(tar_of_every_kind)
{
    static const int kinds[][2] = {
        {ARCHIVE_FORMAT_TAR_USTAR, ARCHIVE_FILTER_NONE},
        {ARCHIVE_FORMAT_TAR_USTAR, ARCHIVE_FILTER_GZIP},
        {ARCHIVE_FORMAT_TAR_PAX_INTERCHANGE, ARCHIVE_FILTER_GZIP},
        {ARCHIVE_FORMAT_TAR_GNUTAR, ARCHIVE_FILTER_XZ},
        {ARCHIVE_FORMAT_TAR_GNUTAR, ARCHIVE_FILTER_ZSTD},
        {ARCHIVE_FORMAT_TAR_USTAR, ARCHIVE_FILTER_BZIP2},
    };
    struct buf object, file;
    macho_sample(&object);
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        tar_of(&file, kinds[i][0], kinds[i][1], &object);
        ck_walk(file.data, file.len, "A.dSYM/Contents/Resources/DWARF/A;", object.len);
        /* Cut in the middle it is refused, however it is packed. */
        file.len /= 2;
        ck_refused(&file, ERR_FORMAT, "");
        buf_done(&file);
    }
    buf_done(&object);
}
END_TEST

static void gzip_of(struct buf *out, const void *data, size_t len)
{
    z_stream s = {0};
    ck_assert_int_eq(deflateInit2(&s, 9, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY), Z_OK);
    size_t room = deflateBound(&s, len);
    char *to = buf_reserve(out, room);
    s.next_in = (Bytef *)(uintptr_t)data;
    s.avail_in = (uInt)len;
    s.next_out = (Bytef *)to;
    s.avail_out = (uInt)room;
    ck_assert_int_eq(deflate(&s, Z_FINISH), Z_STREAM_END);
    buf_grow(out, room - s.avail_out);
    deflateEnd(&s);
}

START_TEST(bare_objects)
{
    struct buf object, file;
    macho_sample(&object);
    ck_walk(object.data, object.len, ";", object.len);
    buf_init(&file, 1 << 20);
    gzip_of(&file, object.data, object.len);
    ck_walk(file.data, file.len, ";", object.len);
    buf_done(&file);
    /* two gzip members and padding are one stream */
    buf_init(&file, 1 << 20);
    gzip_of(&file, object.data, 1000);
    gzip_of(&file, object.data + 1000, object.len - 1000);
    buf_put(&file, "\0\0\0\0", 4);
    ck_walk(file.data, file.len, ";", object.len);
    buf_done(&file);
    /* zstd, whole */
    buf_init(&file, 1 << 20);
    char *to = buf_reserve(&file, ZSTD_compressBound(object.len));
    buf_grow(&file, ZSTD_compress(to, ZSTD_compressBound(object.len), object.data, object.len, 3));
    ck_walk(file.data, file.len, ";", object.len);
    buf_done(&file);
    buf_done(&object);
}
END_TEST

START_TEST(damaged_gzip_is_refused)
{
    struct buf object, file;
    macho_sample(&object);
    buf_init(&file, 1 << 20);
    gzip_of(&file, object.data, object.len);
    file.data[file.len - 6] ^= 1; /* CRC */
    ck_refused(&file, ERR_FORMAT, "gzip stream is damaged");
    file.data[file.len - 6] ^= 1;
    file.data[file.len - 1] ^= 1; /* length */
    ck_refused(&file, ERR_FORMAT, "gzip stream is damaged");
    file.data[file.len - 1] ^= 1;
    file.len -= 4;
    ck_refused(&file, ERR_FORMAT, "cut off");
    file.len += 4;
    buf_put(&file, "junk", 4);
    ck_refused(&file, ERR_FORMAT, "not gzip");
    buf_done(&file);
    /* a gzip in a gzip only hides what it holds */
    struct buf inner;
    buf_init(&inner, 1 << 20);
    gzip_of(&inner, object.data, object.len);
    buf_init(&file, 1 << 20);
    gzip_of(&file, inner.data, inner.len);
    ck_walk(file.data, file.len, "", 0);
    buf_done(&inner);
    buf_done(&file);
    buf_done(&object);
}
END_TEST

START_TEST(other_files_are_no_archives)
{
    struct buf text;
    buf_init(&text, 1 << 20);
    buf_puts(&text, "hello, this is no archive, whatever its name is");
    ck_refused(&text, ERR_FORMAT, "neither an archive nor an object file");
    ck_assert(!archive_recognize(text.data, text.len));
    buf_clear(&text);
    ck_refused(&text, ERR_FORMAT, "neither an archive nor an object file");
    ck_assert(!archive_recognize("", 0));
    for (int i = 0; i < 1024; i++)
        buf_u8(&text, 0);
    ck_assert(!archive_recognize(text.data, text.len));
    ck_assert(archive_recognize("PK\003\004", 4));
    ck_assert(archive_recognize("\x1f\x8b\x08", 3));
    ck_assert(archive_recognize("\xcf\xfa\xed\xfe", 4));
    buf_done(&text);
}
END_TEST

START_TEST(a_missing_file_is_an_error)
{
    struct seen s;
    struct error err;
    size_t objects = 0;
    seen_begin(&s);
    ck_assert_int_eq(walk_path(&s, s.upload, &ARCHIVE_LIMITS_DEFAULT, &objects, &err), ERR_IO);
    ck_assert_int_eq(walk_path(&s, s.folder, &ARCHIVE_LIMITS_DEFAULT, &objects, &err), ERR_INVALID);
    scratch_remove(s.folder);
}
END_TEST

START_TEST(caps_hold)
{
    struct buf object, file;
    struct zip_builder z;
    struct seen s;
    struct error err;
    size_t objects = 0;
    macho_sample(&object);
    zip_begin(&z);
    for (int i = 0; i < 4; i++) {
        const struct zip_member m = {
            .name = "A", .data = object.data, .len = object.len, .deflate = true};
        zip_add(&z, &m);
    }
    zip_finish(&z, &file);
    const struct {
        struct archive_limits limits;
        enum err code;
        const char *text;
    } rows[] = {
        {{object.len, 4 * object.len, 4, 200}, ERR_OK, ""},
        {{object.len - 1, 4 * object.len, 4, 200}, ERR_LIMIT, "A unpacks to more than"},
        {{object.len, 4 * object.len - 1, 4, 200}, ERR_LIMIT, "the upload unpacks to more than"},
        {{object.len, 4 * object.len, 3, 200}, ERR_LIMIT, "more than 3 files"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        seen_begin(&s);
        write_file(s.upload, file.data, file.len);
        enum err e = walk_path(&s, s.upload, &rows[i].limits, &objects, &err);
        ck_assert_msg(e == rows[i].code, "row %zu: %d \"%s\"", i, e, err.text);
        ck_assert_msg(strstr(err.text, rows[i].text) != NULL, "\"%s\"", err.text);
        scratch_remove(s.folder);
    }
    buf_done(&file);
    buf_done(&object);
}
END_TEST

/* 100 MB of zeros behind an object's head: stopped once 64 MB are passed. */
START_TEST(bombs_stop_early)
{
    struct buf object, file;
    struct seen s;
    struct error err;
    size_t objects = 0;
    size_t len = (size_t)100 << 20;
    macho_sample(&object);
    char *bomb = calloc(1, len);
    memcpy(bomb, object.data, object.len);
    buf_init(&file, (size_t)1 << 28);
    gzip_of(&file, bomb, len);
    free(bomb);
    seen_begin(&s);
    ck_assert_int_eq(walk(&s, file.data, file.len, &objects, &err), ERR_LIMIT);
    ck_assert_msg(strstr(err.text, "times its size") != NULL, "%s", err.text);
    ck_assert_uint_eq(s.complete, 0);
    ck_assert_uint_le(s.bytes, (uint64_t)65 << 20);
    scratch_remove(s.folder);
    buf_done(&file);
    buf_done(&object);
}
END_TEST

START_TEST(the_visitor_may_refuse)
{
    struct buf object;
    struct seen s;
    struct error err;
    size_t objects = 0;
    macho_sample(&object);
    seen_begin(&s);
    s.refuse = true;
    ck_assert_int_eq(walk(&s, object.data, object.len, &objects, &err), ERR_LIMIT);
    ck_assert_str_eq(err.text, "the visitor says no");
    scratch_remove(s.folder);
    buf_done(&object);
}
END_TEST

/* Blocks of a tar by hand: libarchive writes no lies. */
static void put_tar_header(struct buf *b, const char *name, char type, uint64_t size)
{
    char h[512] = {0};
    unsigned sum = 0;
    snprintf(h, 100, "%s", name);
    memcpy(h + 100, "0000644\0000000000\0000000000", 24);
    if (size < (uint64_t)1 << 33)
        snprintf(h + 124, 12, "%011llo", (unsigned long long)size);
    else /* base 256, as GNU tar writes it */
        for (int i = 0; i < 12; i++)
            h[124 + i] = (char)(i == 0 ? 0x80 : i < 4 ? 0 : size >> (8 * (11 - i)) & 0xff);
    memcpy(h + 136, "00000000000\0        ", 20);
    h[156] = type;
    memcpy(h + 257, "ustar\00000", 8);
    for (size_t i = 0; i < sizeof(h); i++)
        sum += (unsigned char)h[i];
    snprintf(h + 148, 8, "%06o", sum);
    buf_put(b, h, sizeof(h));
}

static void put_zeros(struct buf *b, size_t count)
{
    char *to = buf_reserve(b, count);
    memset(to, 0, count);
    buf_grow(b, count);
}

/* Pax records that say the file is sparse: one byte at its start, and so large in all. */
static void put_sparse(struct buf *b, const char *name, const char *real_size)
{
    char records[512] = {0};
    size_t len = 0;
    const char *const pairs[][2] = {{"GNU.sparse.major", "0"},
                                    {"GNU.sparse.minor", "1"},
                                    {"GNU.sparse.numblocks", "1"},
                                    {"GNU.sparse.map", "0,4"},
                                    {"GNU.sparse.size", real_size}};
    for (size_t i = 0; i < 5; i++) {
        size_t n = strlen(pairs[i][0]) + strlen(pairs[i][1]) + 5;
        len += (size_t)snprintf(records + len, sizeof(records) - len, "%zu %s=%s\n", n, pairs[i][0],
                                pairs[i][1]);
    }
    put_tar_header(b, "x", 'x', len);
    buf_put(b, records, sizeof(records));
    put_tar_header(b, name, '0', 4);
    buf_put(b, "\xcf\xfa\xed\xfe", 4);
    put_zeros(b, 508 + 1024);
}

/* A file that says it has 1 TB, nearly all of it holes, ends where a bomb ends; so does one whose
 * claim nothing stands behind. */
START_TEST(sparse_terabytes_end)
{
    static const char *const names[] = {"A", "junk/._A"};
    struct buf file;
    for (size_t i = 0; i < 2; i++) {
        buf_init(&file, 1 << 20);
        put_sparse(&file, names[i], "1099511627776");
        ck_refused(&file, ERR_LIMIT, "times its size");
        buf_clear(&file);
        put_tar_header(&file, names[i], '0', (uint64_t)1 << 40);
        buf_put(&file, "\xcf\xfa\xed\xfe", 4);
        put_zeros(&file, 2044);
        ck_refused(&file, ERR_FORMAT, "");
        buf_done(&file);
    }
}
END_TEST

/* Members that nobody wants count, and what stands between members: neither hides a bomb. */
START_TEST(bombs_in_what_is_passed_over)
{
    static const char types[] = {'0', '5', '1', 'g'};
    const size_t len = (size_t)100 << 20;
    struct buf tar, file;
    for (size_t i = 0; i < sizeof(types); i++) {
        buf_init(&tar, (size_t)1 << 28);
        buf_init(&file, (size_t)1 << 28);
        put_tar_header(&tar, "__MACOSX/._A", types[i], len);
        put_zeros(&tar, len);
        gzip_of(&file, tar.data, tar.len);
        struct seen s;
        struct error err = {0};
        size_t objects = 0;
        seen_begin(&s);
        enum err rc = walk(&s, file.data, file.len, &objects, &err);
        /* A folder has no bytes, whatever it says: the zeros are the end of the archive. */
        ck_assert_msg(rc == ERR_LIMIT || types[i] != '0', "%c: %d %s", types[i], rc, err.text);
        ck_assert_uint_eq(objects, 0);
        scratch_remove(s.folder);
        buf_done(&file);
        buf_done(&tar);
    }
}
END_TEST

/* What libarchive could read and we do not offer: no code of it is reached. */
START_TEST(other_archives_are_refused)
{
    static const int formats[] = {ARCHIVE_FORMAT_7ZIP, ARCHIVE_FORMAT_ISO9660,
                                  ARCHIVE_FORMAT_CPIO_POSIX, ARCHIVE_FORMAT_AR, ARCHIVE_FORMAT_XAR};
    static const char *const heads[] = {
        "Rar!\x1a\x07\x01", "Rar!\x1a\x07",     "MSCF", "\x1f\x9d\x90",
        "LZIP\x01",         "\x04\x22\x4d\x18", "xar!", "\x5d"};
    struct buf object, file;
    char *to = malloc(1 << 20);
    macho_sample(&object);
    for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
        struct archive *a = archive_write_new();
        struct archive_entry *e = archive_entry_new();
        size_t used = 0;
        if (archive_write_set_format(a, formats[i]) == ARCHIVE_OK &&
            archive_write_open_memory(a, to, 1 << 20, &used) == ARCHIVE_OK) {
            archive_entry_set_pathname(e, "A");
            archive_entry_set_size(e, (la_int64_t)object.len);
            archive_entry_set_filetype(e, AE_IFREG);
            archive_entry_set_perm(e, 0644);
            ck_assert_int_eq(archive_write_header(a, e), ARCHIVE_OK);
            ck_assert_int_eq(archive_write_data(a, object.data, object.len),
                             (la_ssize_t)object.len);
            archive_write_close(a);
            buf_init(&file, 1 << 21);
            buf_put(&file, to, used);
            ck_refused(&file, ERR_FORMAT, "neither an archive nor an object file");
            buf_done(&file);
        }
        archive_entry_free(e);
        archive_write_free(a);
    }
    for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++) {
        buf_init(&file, 1 << 20);
        buf_puts(&file, heads[i]);
        put_zeros(&file, 4096);
        ck_refused(&file, ERR_FORMAT, "neither an archive nor an object file");
        buf_done(&file);
    }
    free(to);
    buf_done(&object);
}
END_TEST

/* An archive in an archive is a file like any other. */
START_TEST(archives_in_archives_are_not_opened)
{
    struct buf object, inner, file;
    struct zip_builder z;
    macho_sample(&object);
    tar_of(&inner, ARCHIVE_FORMAT_TAR_USTAR, ARCHIVE_FILTER_NONE, &object);
    buf_init(&file, (size_t)1 << 22);
    put_tar_header(&file, "inner.tar", '0', inner.len);
    buf_put(&file, inner.data, inner.len);
    put_zeros(&file, (512 - inner.len % 512) % 512 + 1024);
    ck_walk(file.data, file.len, "", 0);
    buf_done(&file);
    zip_begin(&z);
    const struct zip_member m = {.name = "inner.tar", .data = inner.data, .len = inner.len};
    zip_add(&z, &m);
    zip_finish(&z, &file);
    ck_walk(file.data, file.len, "", 0);
    buf_done(&file);
    buf_done(&inner);
    buf_done(&object);
}
END_TEST

/* 64 kB of name, names that are no text, and many entries of nothing: read as what they are. */
START_TEST(odd_names_and_many_of_them)
{
    static char name[65001];
    struct buf object, file;
    struct zip_builder z;
    macho_sample(&object);
    memset(name, 'n', sizeof(name) - 1);
    zip_begin(&z);
    const struct zip_member members[] = {
        {.name = name, .data = object.data, .len = object.len, .deflate = true},
        {.name = "\x8a\xd8\xff/A", .data = object.data, .len = object.len, .deflate = true},
        {.name = "\x8a\xd8", .data = object.data, .len = object.len, .flags = 0x800},
    };
    for (size_t i = 0; i < 3; i++)
        zip_add(&z, &members[i]);
    for (int i = 0; i < 20000; i++)
        zip_add(&z, &(const struct zip_member){.name = "empty", .data = "", .len = 0});
    zip_finish(&z, &file);
    struct seen s;
    struct error err = {0};
    size_t objects = 0;
    seen_begin(&s);
    ck_assert_msg(walk(&s, file.data, file.len, &objects, &err) == ERR_OK, "%s", err.text);
    ck_assert_uint_eq(objects, 3);
    scratch_remove(s.folder);
    buf_done(&file);
    buf_done(&object);
}
END_TEST

/* A directory that says other things than the members' own headers, and 64-bit sizes that are
 * wrong: read by what the directory says, or refused; never more than is there. */
START_TEST(headers_that_disagree)
{
    static const struct {
        size_t at; /* in the local header */
        uint32_t value;
    } pokes[] = {{8, 0}, {8, 12}, {14, 1}, {18, 1}, {18, 0x7fffffff}, {22, 1}, {22, 0x7fffffff}};
    struct buf object, file;
    struct zip_builder z;
    macho_sample(&object);
    for (size_t i = 0; i < sizeof(pokes) / sizeof(pokes[0]); i++) {
        const struct zip_member m = {
            .name = "A", .data = object.data, .len = object.len, .deflate = true};
        struct seen s;
        struct error err = {0};
        size_t objects = 0;
        zip_begin(&z);
        zip_add(&z, &m);
        zip_finish(&z, &file);
        poke32(&file, pokes[i].at, pokes[i].value);
        seen_begin(&s);
        enum err rc = walk(&s, file.data, file.len, &objects, &err);
        ck_assert_msg(rc == ERR_OK || ((rc == ERR_FORMAT || rc == ERR_UNSUPPORTED) && *err.text),
                      "%zu: %d %s", i, rc, err.text);
        ck_assert_uint_le(s.bytes, object.len);
        scratch_remove(s.folder);
        buf_done(&file);
    }
    for (uint32_t said = 1; said < 4; said++) {
        const struct zip_member m = {.name = "A",
                                     .data = object.data,
                                     .len = object.len,
                                     .deflate = said != 2,
                                     .zip64 = true,
                                     .said_size = said == 1 ? 100 : 0xfffffff0};
        zip_begin(&z);
        zip_add(&z, &m);
        zip_finish(&z, &file);
        ck_refused(&file, ERR_FORMAT, "");
        buf_done(&file);
    }
    buf_done(&object);
}
END_TEST

UNIT_MAIN("archive", headers_that_disagree, sparse_terabytes_end, bombs_in_what_is_passed_over,
          other_archives_are_refused, archives_in_archives_are_not_opened,
          odd_names_and_many_of_them, zip_of_every_kind_of_member, damaged_zips_are_refused,
          cut_zips_are_refused, overlapping_members_are_refused, wrapped_zip_is_refused,
          tar_of_every_kind, bare_objects, damaged_gzip_is_refused, other_files_are_no_archives,
          a_missing_file_is_an_error, caps_hold, bombs_stop_early, the_visitor_may_refuse)
