#include "symbolizer/archive.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "symbolizer/archive_gzip.h"
#include "symbolizer/object.h"

#define HEAD_SIZE 4096 /* enough to know an object or a tar by */
#ifndef WINDOW         /* the fuzz target's is smaller, and so is its bomb */
#define WINDOW     ((size_t)256 << 10)
#define RATIO_FROM ((uint64_t)64 << 20) /* below this nothing is called a bomb */
#endif
#define TAR_BLOCK      512
#define FOUR_GIGABYTES ((uint64_t)1 << 32)

const struct archive_limits ARCHIVE_LIMITS_DEFAULT = {
    .member_bytes = (uint64_t)16 << 30,
    .total_bytes = (uint64_t)32 << 30,
    .members = 200000,
    .ratio = 200,
};

enum kind { KIND_NONE, KIND_OBJECT, KIND_ZIP, KIND_ZIP_EMPTY, KIND_GZIP, KIND_FILTERED, KIND_TAR };

struct walk {
    struct archive *archive;
    struct archive_gzip *gzip; /* the layer below, for KIND_GZIP */
    struct error gzip_error;   /* what it said, libarchive passes on a text only */
    enum kind kind;
    const struct archive_limits *limits;
    const struct archive_visitor *visitor;
    uint64_t upload_bytes;
    uint64_t unpacked;
    uint64_t streamed; /* bytes out of the gzip layer: with what stands between members */
    uint32_t members;
    struct archive_counts counts;
    int64_t data_end; /* zip: where the last member's bytes ended in the upload */
    uint8_t *window;
};

struct magic_row {
    size_t offset;
    size_t len;
    const char *bytes;
    enum kind kind;
};

static const struct magic_row MAGICS[] = {
    {0, 4, "PK\003\004", KIND_ZIP},
    {0, 4, "PK\005\006", KIND_ZIP_EMPTY}, /* begins with the end of its directory */
    {0, 3, "\037\213\010", KIND_GZIP},
    {0, 6,
     "\375"
     "7zXZ\000",
     KIND_FILTERED},
    {0, 3, "BZh", KIND_FILTERED},
    {0, 4, "\050\265\057\375", KIND_FILTERED}, /* zstd */
    {257, 5, "ustar", KIND_TAR},
};

/* The oldest tars have no magic number, but a sum over the first block. */
static bool is_old_tar(const uint8_t *head, size_t len)
{
    if (len < TAR_BLOCK || !head[0])
        return false;
    unsigned sum = 0;
    for (size_t i = 0; i < TAR_BLOCK; i++)
        sum += i >= 148 && i < 156 ? ' ' : head[i];
    unsigned said = 0;
    size_t i = 148;
    while (i < 156 && head[i] == ' ')
        i++;
    for (; i < 156 && head[i] >= '0' && head[i] <= '7'; i++)
        said = said * 8 + (head[i] - (unsigned)'0');
    return said == sum;
}

static enum kind kind_of(const uint8_t *head, size_t len)
{
    if (object_recognize(head, len))
        return KIND_OBJECT;
    for (size_t i = 0; i < sizeof(MAGICS) / sizeof(MAGICS[0]); i++) {
        const struct magic_row *m = &MAGICS[i];
        if (len >= m->offset + m->len && memcmp(head + m->offset, m->bytes, m->len) == 0)
            return m->kind;
    }
    return is_old_tar(head, len) ? KIND_TAR : KIND_NONE;
}

bool archive_recognize(const void *head, size_t len)
{
    return kind_of(head, len) != KIND_NONE;
}

/* What libarchive says, with the kind of failure that it is. */
static enum err archive_failed(const struct walk *w, const char *what, struct error *err)
{
    if (w->gzip_error.code != ERR_OK)
        return error_set(err, w->gzip_error.code, "%s", w->gzip_error.text);
    const char *text = archive_error_string(w->archive);
    if (!text)
        text = "damaged";
    int number = archive_errno(w->archive);
    enum err code = ERR_FORMAT;
    if (number == ENOMEM)
        code = ERR_NO_MEMORY;
    else if (number == EIO)
        code = ERR_IO;
    else if (strstr(text, "nsupported") || strstr(text, "ncrypt") || strstr(text, "assphrase"))
        code = ERR_UNSUPPORTED;
    return error_set(err, code, "%s: %.*s", what, (int)strcspn(text, "\n"), text);
}

static enum err check_ratio(const struct walk *w, uint64_t bytes, struct error *err)
{
    if (bytes > RATIO_FROM && bytes / w->limits->ratio > w->upload_bytes)
        return error_set(err, ERR_LIMIT,
                         "the upload unpacks to more than %" PRIu32 " times its size",
                         w->limits->ratio);
    return ERR_OK;
}

/* Whatever libarchive passes over unseen comes through here. */
static la_ssize_t read_gzip(struct archive *a, void *ctx, const void **ret)
{
    struct walk *w = ctx;
    size_t len = 0;
    if (archive_gzip_read(w->gzip, ret, &len, &w->gzip_error) == ERR_OK) {
        w->streamed += len;
        if (check_ratio(w, w->streamed, &w->gzip_error) == ERR_OK)
            return (la_ssize_t)len;
    }
    archive_set_error(a, EILSEQ, "%s", w->gzip_error.text);
    return -1;
}

/* Only filters inside libarchive: others would start programs. */
static bool support_filters(struct archive *a)
{
    return archive_read_support_filter_xz(a) == ARCHIVE_OK &&
           archive_read_support_filter_bzip2(a) == ARCHIVE_OK &&
           archive_read_support_filter_zstd(a) == ARCHIVE_OK;
}

static enum err open_archive(struct walk *w, int fd, struct error *err)
{
    w->archive = archive_read_new();
    w->window = malloc(WINDOW);
    if (!w->archive || !w->window)
        return error_set(err, ERR_NO_MEMORY, "no memory to unpack");
    if (w->kind == KIND_FILTERED && !support_filters(w->archive))
        return error_set(err, ERR_UNSUPPORTED, "this build cannot read xz, bzip2 or zstd");
    if (w->kind == KIND_ZIP) {
        /* Not the streaming reader: it would take a zip without its directory for a whole one. */
        archive_read_support_format_zip_seekable(w->archive);
    } else {
        if (w->kind != KIND_OBJECT)
            archive_read_support_format_tar(w->archive);
        archive_read_support_format_raw(w->archive);
        archive_read_support_format_empty(w->archive);
    }
    int status;
    if (w->kind == KIND_GZIP) {
        enum err e = archive_gzip_open(fd, &w->gzip, err);
        if (e != ERR_OK)
            return e;
        status = archive_read_open(w->archive, w, NULL, read_gzip, NULL);
    } else {
        status = archive_read_open_fd(w->archive, fd, WINDOW);
    }
    if (status != ARCHIVE_OK && w->kind == KIND_ZIP)
        return error_set(err, ERR_FORMAT, "the zip is cut off or damaged: it has no directory");
    if (status != ARCHIVE_OK)
        return archive_failed(w, "the archive is damaged", err);
    /* One filter and the file itself: a compressed file in a compressed file only hides its size. */
    if (archive_filter_count(w->archive) > 2)
        return error_set(err, ERR_UNSUPPORTED, "compressed more than once");
    return ERR_OK;
}

static const char *member_name(const struct walk *w, struct archive_entry *entry)
{
    if (archive_format(w->archive) == ARCHIVE_FORMAT_RAW)
        return "";
    const char *name = archive_entry_pathname_utf8(entry);
    if (!name)
        name = archive_entry_pathname(entry);
    return name ? name : "(a name that is no text)";
}

/* What the Finder and macOS's zip add: resource forks and folder views. */
static bool is_junk(const char *name)
{
    const char *slash = strrchr(name, '/');
    const char *base = slash ? slash + 1 : name;
    if (strncmp(base, "._", 2) == 0 || strcmp(base, ".DS_Store") == 0)
        return true;
    return strncmp(name, "__MACOSX/", 9) == 0 || strstr(name, "/__MACOSX/") != NULL;
}

static enum err check_limits(const struct walk *w, uint64_t member, const char *name,
                             struct error *err)
{
    if (member > w->limits->member_bytes)
        return error_set(err, ERR_LIMIT, "%s unpacks to more than %" PRIu64 " bytes",
                         *name ? name : "the upload", w->limits->member_bytes);
    if (w->unpacked > w->limits->total_bytes)
        return error_set(err, ERR_LIMIT, "the upload unpacks to more than %" PRIu64 " bytes",
                         w->limits->total_bytes);
    return check_ratio(w, w->unpacked, err);
}

/* Up to `size` bytes of the member into the window; 0 at its end. */
static enum err read_piece(struct walk *w, size_t size, const char *name, uint64_t *member,
                           size_t *ret_len, struct error *err)
{
    la_ssize_t n = archive_read_data(w->archive, w->window, size);
    if (n < 0)
        return archive_failed(w, *name ? name : "the upload", err);
    *member += (uint64_t)n;
    w->unpacked += (uint64_t)n;
    *ret_len = (size_t)n;
    return check_limits(w, *member, name, err);
}

/* Hands over a member whose first `len` bytes are in the window. */
static enum err copy_member(struct walk *w, const char *name, size_t len, uint64_t member,
                            struct error *err)
{
    int fd = w->visitor->open(w->visitor->ctx, name, err);
    if (fd < 0)
        return err ? err->code : ERR_IO;
    enum err e = ERR_OK;
    while (e == ERR_OK && len > 0) {
        e = file_write(fd, w->window, len, "an unpacked object", err);
        if (e == ERR_OK)
            e = read_piece(w, WINDOW, name, &member, &len, err);
    }
    struct error ignored;
    enum err closed =
        w->visitor->close(w->visitor->ctx, fd, e == ERR_OK, e == ERR_OK ? err : &ignored);
    return e == ERR_OK ? closed : e;
}

/* What every dSYM has beside its object: nothing that anybody has to be told of. */
static bool is_of_bundle(const char *name)
{
    const char *at = strstr(name, ".dSYM/Contents/");
    at = at ? at + strlen(".dSYM/Contents/") : NULL;
    return at && (strcmp(at, "Info.plist") == 0 || strncmp(at, "Resources/Relocations/", 22) == 0);
}

static enum err read_member(struct walk *w, const char *name, struct error *err)
{
    uint64_t member = 0;
    size_t len = 0;
    enum err e = read_piece(w, HEAD_SIZE, name, &member, &len, err);
    if (e != ERR_OK)
        return e;
    const struct archive_visitor *v = w->visitor;
    if (object_recognize(w->window, len)) {
        w->counts.objects++;
        return copy_member(w, name, len, member, err);
    }
    if (v->wants && v->wants(v->ctx, name, w->window, len)) {
        w->counts.wanted++;
        return copy_member(w, name, len, member, err);
    }
    w->counts.others += !is_of_bundle(name);
    return ERR_OK;
}

/* What is left of a member that nobody wants. A zip's can be stepped over; in a stream it has to be
 * gone through, and counts: it may be a bomb. */
static enum err pass_over(struct walk *w, const char *name, struct error *err)
{
    uint64_t member = 0;
    size_t len = w->kind != KIND_ZIP;
    enum err e = ERR_OK;
    while (e == ERR_OK && len > 0)
        e = read_piece(w, WINDOW, name, &member, &len, err);
    return e;
}

static enum err visit_entry(struct walk *w, struct archive_entry *entry, struct error *err)
{
    const char *name = member_name(w, entry);
    if (++w->members > w->limits->members)
        return error_set(err, ERR_LIMIT, "more than %" PRIu32 " files in the archive",
                         w->limits->members);
    /* zip: members come in the order of their places; one that begins before the last one's end
     * makes a few bytes unpack many times. */
    if (w->kind == KIND_ZIP && archive_filter_bytes(w->archive, 0) < w->data_end)
        return error_set(err, ERR_FORMAT, "%s overlaps another member", name);
    enum err e = ERR_OK;
    if (archive_entry_filetype(entry) == AE_IFREG && !archive_entry_hardlink(entry) &&
        !is_junk(name)) {
        if (archive_entry_is_encrypted(entry))
            return error_set(err, ERR_UNSUPPORTED, "%s is encrypted", name);
        e = read_member(w, name, err);
    }
    return e == ERR_OK ? pass_over(w, name, err) : e;
}

static const char *damaged_archive(const struct walk *w)
{
    if (w->kind == KIND_ZIP && w->upload_bytes > FOUR_GIGABYTES)
        return "the zip is damaged (those over 4 GB lack their 64-bit fields when macOS's Archive "
               "Utility made them: use `ditto -c -k` or `zip`)";
    return "the archive is cut off or damaged";
}

static enum err walk_entries(struct walk *w, struct error *err)
{
    for (;;) {
        struct archive_entry *entry = NULL;
        int status = archive_read_next_header(w->archive, &entry);
        if (status == ARCHIVE_EOF)
            return ERR_OK;
        if (status != ARCHIVE_OK && status != ARCHIVE_WARN)
            return archive_failed(w, damaged_archive(w), err);
        enum err e = visit_entry(w, entry, err);
        if (e != ERR_OK)
            return e;
        if (archive_read_data_skip(w->archive) < ARCHIVE_WARN)
            return archive_failed(w, "the archive is cut off or damaged", err);
        w->data_end = archive_filter_bytes(w->archive, 0);
    }
}

static enum err open_upload(const char *path, struct walk *w, int *ret_fd, struct error *err)
{
    uint8_t head[HEAD_SIZE];
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0)
        return error_errno(err, errno, "cannot open the upload");
    *ret_fd = fd;
    if (fstat(fd, &st) != 0)
        return error_errno(err, errno, "cannot read the upload");
    if (S_ISDIR(st.st_mode))
        return error_set(err, ERR_INVALID,
                         "the upload is a folder: zip it, or give the file in a dSYM's "
                         "Contents/Resources/DWARF");
    if (!S_ISREG(st.st_mode))
        return error_set(err, ERR_INVALID, "the upload is not a file");
    w->upload_bytes = (uint64_t)st.st_size;
    ssize_t n = pread(fd, head, sizeof(head), 0);
    if (n < 0)
        return error_errno(err, errno, "cannot read the upload");
    w->kind = kind_of(head, (size_t)n);
    if (w->kind == KIND_NONE)
        return error_set(err, ERR_FORMAT, "neither an archive nor an object file");
    return ERR_OK;
}

enum err archive_walk(const char *path, const struct archive_limits *limits,
                      const struct archive_visitor *visitor, struct archive_counts *ret,
                      struct error *err)
{
    struct walk w = {.limits = limits, .visitor = visitor};
    int fd = -1;
    /* Under the C locale libarchive drops every name that is not ASCII. Of this thread only. */
    locale_t utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
    locale_t before = utf8 ? uselocale(utf8) : (locale_t)0;
    enum err e = open_upload(path, &w, &fd, err);
    bool empty = w.kind == KIND_ZIP_EMPTY;
    if (e == ERR_OK && !empty)
        e = open_archive(&w, fd, err);
    if (e == ERR_OK && !empty)
        e = walk_entries(&w, err);
    if (e == ERR_OK)
        *ret = w.counts;
    if (w.archive)
        archive_read_free(w.archive);
    archive_gzip_close(w.gzip);
    free(w.window);
    if (fd >= 0)
        close(fd);
    if (utf8) {
        uselocale(before);
        freelocale(utf8);
    }
    return e;
}
