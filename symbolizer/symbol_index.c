#include "symbolizer/symbol_index.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "symbolizer/debug_info.h"
#include "symbolizer/gsym_write.h"
#include "symbolizer/object.h"

#define PATH_SIZE  4096
#define WINDOW     ((size_t)256 << 10)
#define TEMP_NAME  "object.tmp"
#define INDEX_NAME (UUID_TEXT_SIZE + 16) /* "UUID.4096.gsym" */

struct run {
    const char *path;
    const struct symbol_index_options *options;
    void (*slice)(void *ctx, const struct slice_report *report);
    void *ctx;
    uint8_t (*objects)[SHA256_SIZE]; /* what was seen in this upload */
    size_t object_count;
    struct uuid *uuids; /* of the index files written */
    size_t uuid_count;
    size_t reports;
    struct error first; /* the first refusal, the reason when there is nothing else */
    char *member;       /* of the object that is being unpacked */
};

/* The digest of an object, made beside the work on it where a thread is to spare. */
struct hashing {
    const struct parallel_for *parallel; /* NULL: done */
    int fd;
    bool unwanted; /* there is none */
    uint8_t digest[SHA256_SIZE];
    enum err code;
    struct error error;
};

/* One object file, while it is mapped. */
struct source {
    const uint8_t *data;
    uint64_t size;
    const char *member;
    char name[OBJECT_NAME_SIZE];
    struct hashing *hashing;
    char sha256[SHA256_TEXT_SIZE]; /* from the first report on */
};

static bool path_in(const struct run *r, const char *name, char out[PATH_SIZE])
{
    int len = snprintf(out, PATH_SIZE, "%s/%s", r->options->out_dir, name);
    return len > 0 && len < PATH_SIZE;
}

/* "Shop" of "…/DWARF/Shop", "libx.so" of "usr/lib/debug/libx.so.debug". */
static void name_of(const char *path, char out[OBJECT_NAME_SIZE])
{
    static const char *const endings[] = {".gz", ".debug", ".dbg", ".dSYM"};
    const char *slash = strrchr(path, '/');
    snprintf(out, OBJECT_NAME_SIZE, "%s", slash ? slash + 1 : path);
    for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++) {
        size_t len = strlen(out);
        size_t ending = strlen(endings[i]);
        if (len > ending && strcmp(out + len - ending, endings[i]) == 0)
            out[len - ending] = 0;
    }
}

/* For objects that say no name themselves. */
static void fallback_name(const struct run *r, const char *member, char out[OBJECT_NAME_SIZE])
{
    if (!*member && r->options->name)
        snprintf(out, OBJECT_NAME_SIZE, "%s", r->options->name);
    else
        name_of(*member ? member : r->path, out);
}

static void settle_hash(struct source *s)
{
    parallel_wait(s->hashing->parallel);
    s->hashing->parallel = NULL;
    if (!s->hashing->unwanted)
        sha256_format(s->hashing->digest, s->sha256);
}

static void report(struct run *r, struct source *s, struct slice_report *slice)
{
    settle_hash(s);
    if (s->hashing->code != ERR_OK)
        return; /* ends the whole */
    slice->member = s->member;
    if (!slice->name || !*slice->name)
        slice->name = s->name;
    if (!slice->arch)
        slice->arch = "";
    if (!slice->index_file)
        slice->index_file = "";
    slice->object_bytes = s->size;
    snprintf(slice->object_sha256, sizeof(slice->object_sha256), "%s", s->sha256);
    r->reports++;
    r->slice(r->ctx, slice);
}

static void refuse(struct run *r, struct source *s, struct slice_report *slice,
                   const struct error *why)
{
    slice->state = SLICE_FAILED;
    slice->reason = why->text;
    if (r->first.code == ERR_OK && *s->member)
        error_set(&r->first, why->code, "%s: %s", s->member, why->text);
    else if (r->first.code == ERR_OK)
        r->first = *why;
    report(r, s, slice);
}

/* "UUID.gsym", or "UUID.2.gsym" for the second object of one UUID. */
static void next_index_name(const struct run *r, const struct uuid *uuid, char out[INDEX_NAME])
{
    char text[UUID_TEXT_SIZE];
    size_t n = 1;
    for (size_t i = 0; i < r->uuid_count; i++)
        n += uuid_equal(&r->uuids[i], uuid);
    uuid_format(uuid, text);
    if (n == 1)
        snprintf(out, INDEX_NAME, "%s.gsym", text);
    else
        snprintf(out, INDEX_NAME, "%s.%zu.gsym", text, n);
}

static enum err write_index(struct run *r, const struct source *s, const struct object *o,
                            struct slice_report *slice, char index_file[INDEX_NAME], char *warning,
                            size_t warning_size, struct error *err)
{
    char path[PATH_SIZE];
    struct debug_info *d = NULL;
    const struct object_info *info = object_info(o);
    next_index_name(r, &info->uuid, index_file);
    enum err e = debug_info_build(o, r->options->parallel, &d, err);
    if (e != ERR_OK)
        return e;
    /* All that the index takes was copied out of the file: its pages need not stay beside it. What is
     * asked for once more is read again from the mapping. */
    madvise((void *)(uintptr_t)s->data, (size_t)s->size, MADV_DONTNEED);
    const struct debug_info_counts *counts = debug_info_counts(d);
    slice->functions = counts->functions;
    slice->lines = counts->lines;
    slice->inlines = counts->inlines;
    snprintf(warning, warning_size, "%s", counts->warning);
    if (counts->functions == 0)
        e = error_set(err, ERR_INVALID, "no functions: neither debug information nor symbols%s%s",
                      *warning ? ": " : "", warning);
    else if (!path_in(r, index_file, path))
        e = error_set(err, ERR_INVALID, "the path of the output folder is too long");
    else
        e = gsym_write(d, info, path, r->options->parallel, &slice->index_bytes, err);
    debug_info_free(d);
    return e;
}

/* A slice that is at fault fails alone; a disk that is (full, broken) ends the run. */
static enum err index_slice(struct run *r, struct source *s, const struct object_slice *part,
                            struct error *ret_err)
{
    char index_file[INDEX_NAME] = "";
    char warning[256] = "";
    struct error err = {.code = ERR_OK};
    struct slice_report slice = {.state = SLICE_INDEXED};
    struct object *o = NULL;
    if (object_open(s->data + part->offset, part->size, &o, &err) != ERR_OK) {
        refuse(r, s, &slice, &err);
        return ERR_OK;
    }
    object_set_mapped(o);
    const struct object_info *info = object_info(o);
    slice.uuid = info->uuid;
    slice.name = info->name;
    slice.arch = info->arch;
    slice.has_dwarf = info->has_dwarf;
    slice.text_vmaddr = info->text_vmaddr;
    slice.text_size = info->text_size;
    enum err e = write_index(r, s, o, &slice, index_file, warning, sizeof(warning), &err);
    if (e == ERR_OK) {
        r->uuids[r->uuid_count++] = info->uuid;
        slice.index_file = index_file;
        slice.reason = *warning ? warning : NULL;
        report(r, s, &slice);
    } else if (e != ERR_IO) {
        refuse(r, s, &slice, &err);
        e = ERR_OK;
    }
    object_close(o);
    return e == ERR_OK ? ERR_OK : error_set(ret_err, e, "%s", err.text);
}

static enum err index_object(struct run *r, struct source *s, struct error *err)
{
    struct object_slice slices[OBJECT_SLICES_MAX];
    size_t count = 0;
    struct error problem = {.code = ERR_OK};
    struct error refused = {.code = ERR_OK};
    if (object_slices(s->data, s->size, slices, &count, &problem, &refused) != ERR_OK)
        problem = refused;
    if (r->reports + count + 1 > SYMBOL_INDEX_SLICES_MAX)
        return error_set(err, ERR_LIMIT, "more than %d slices in one upload",
                         SYMBOL_INDEX_SLICES_MAX);
    if (problem.code != ERR_OK) {
        struct slice_report slice = {.state = SLICE_FAILED};
        refuse(r, s, &slice, &problem);
    }
    enum err e = ERR_OK;
    for (size_t i = 0; i < count && e == ERR_OK; i++)
        e = index_slice(r, s, &slices[i], err);
    return e;
}

/* By read(2), not through the map: the pages would count as our memory. */
static enum err hash_file(int fd, uint8_t digest[SHA256_SIZE], struct error *err)
{
    struct sha256 sha;
    off_t at = 0;
    uint8_t *window = malloc(WINDOW);
    if (!window)
        return error_set(err, ERR_NO_MEMORY, "no memory to read an object");
    sha256_init(&sha);
    ssize_t n = 1;
    while (n > 0) {
        n = pread(fd, window, WINDOW, at);
        if (n < 0 && errno == EINTR)
            n = 1;
        else if (n > 0) {
            sha256_update(&sha, window, (size_t)n);
            at += n;
        }
    }
    free(window);
    if (n < 0)
        return error_errno(err, errno, "cannot read an object");
    sha256_final(&sha, digest);
    return ERR_OK;
}

/* Remembers an object; `ret_seen` when it was in this upload before. */
static enum err remember(struct run *r, const uint8_t digest[SHA256_SIZE], bool *ret_seen,
                         struct error *err)
{
    for (size_t i = 0; i < r->object_count; i++) {
        if (memcmp(r->objects[i], digest, SHA256_SIZE) == 0) {
            *ret_seen = true;
            return ERR_OK;
        }
    }
    if (r->object_count == SYMBOL_INDEX_SLICES_MAX)
        return error_set(err, ERR_LIMIT, "more than %d object files in one upload",
                         SYMBOL_INDEX_SLICES_MAX);
    memcpy(r->objects[r->object_count++], digest, SHA256_SIZE);
    *ret_seen = false;
    return ERR_OK;
}

static void hash_beside(void *ctx)
{
    struct hashing *h = ctx;
    h->code = hash_file(h->fd, h->digest, &h->error);
}

/* Maps and indexes the object in `fd`. */
static enum err index_mapped(struct run *r, int fd, const char *member, const char *name,
                             struct hashing *hashing, struct error *err)
{
    struct stat st;
    if (fstat(fd, &st) != 0)
        return error_errno(err, errno, "cannot read an object");
    void *map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (map == MAP_FAILED)
        return error_errno(err, errno, "cannot map an object");
    struct source s = {
        .data = map, .size = (uint64_t)st.st_size, .member = member, .hashing = hashing};
    snprintf(s.name, sizeof(s.name), "%s", name);
    enum err e = index_object(r, &s, err);
    munmap(map, (size_t)st.st_size);
    return e;
}

/* The first object of an upload cannot have been seen: its digest is made while it is indexed. */
static enum err index_first(struct run *r, int fd, const char *member, const char *name,
                            struct hashing *hashing, struct error *err)
{
    bool seen;
    hashing->parallel = r->options->parallel;
    enum err e = index_mapped(r, fd, member, name, hashing, err);
    parallel_wait(r->options->parallel);
    if (hashing->code != ERR_OK)
        return error_set(err, hashing->code, "%s", hashing->error.text);
    return e == ERR_OK ? remember(r, hashing->digest, &seen, err) : e;
}

/* Indexes a bare object without reading it a second time for its digest: that is known, or nobody
 * asks for it. */
static enum err index_unhashed(struct run *r, int fd, const char *name,
                               char sha256[SHA256_TEXT_SIZE], struct error *err)
{
    struct hashing hashing = {.fd = fd, .unwanted = !r->options->sha256};
    if (r->options->sha256) {
        memcpy(hashing.digest, r->options->sha256, SHA256_SIZE);
        sha256_format(hashing.digest, sha256);
    }
    return index_mapped(r, fd, "", name, &hashing, err);
}

/* Hashes and indexes the object in `fd`, unless it was seen. `sha256` is filled in any case but
 * failure. */
static enum err index_file(struct run *r, int fd, const char *member, const char *name,
                           char sha256[SHA256_TEXT_SIZE], bool *ret_seen, struct error *err)
{
    struct hashing hashing = {.fd = fd};
    enum err e;
    if (r->object_count == 0 && parallel_beside(r->options->parallel, hash_beside, &hashing)) {
        *ret_seen = false;
        e = index_first(r, fd, member, name, &hashing, err);
    } else {
        e = hash_file(fd, hashing.digest, err);
        if (e == ERR_OK)
            e = remember(r, hashing.digest, ret_seen, err);
        if (e == ERR_OK && !*ret_seen)
            e = index_mapped(r, fd, member, name, &hashing, err);
    }
    if (e == ERR_OK)
        sha256_format(hashing.digest, sha256);
    return e;
}

static int create_temp(const struct run *r, struct error *err)
{
    char path[PATH_SIZE];
    if (!path_in(r, TEMP_NAME, path)) {
        error_set(err, ERR_INVALID, "the path of the output folder is too long");
        return -1;
    }
    unlink(path); /* of a run that was killed */
    int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0)
        error_errno(err, errno, "cannot write to the output folder");
    return fd;
}

/* The temporary file becomes the object `sha256`, or goes. */
static enum err settle_temp(const struct run *r, int fd, const char *sha256, struct error *err)
{
    char from[PATH_SIZE], to[PATH_SIZE];
    if (!path_in(r, TEMP_NAME, from))
        return error_set(err, ERR_INVALID, "the path of the output folder is too long");
    if (!sha256 || !r->options->keep_objects) {
        unlink(from);
        return ERR_OK;
    }
    if (!path_in(r, sha256, to))
        return error_set(err, ERR_INVALID, "the path of the output folder is too long");
    if (fsync(fd) != 0 || rename(from, to) != 0) {
        enum err e = error_errno(err, errno, "cannot keep an object");
        unlink(from);
        return e;
    }
    return ERR_OK;
}

static int open_member(void *ctx, const char *member, struct error *err)
{
    struct run *r = ctx;
    free(r->member);
    r->member = strndup(member, SYMBOL_INDEX_MEMBER_MAX);
    if (!r->member) {
        error_set(err, ERR_NO_MEMORY, "no memory for the name of a member");
        return -1;
    }
    return create_temp(r, err);
}

static enum err close_member(void *ctx, int fd, bool complete, struct error *err)
{
    struct run *r = ctx;
    char sha256[SHA256_TEXT_SIZE] = "";
    char name[OBJECT_NAME_SIZE];
    bool seen = false;
    enum err e = ERR_OK;
    fallback_name(r, r->member, name);
    if (complete)
        e = index_file(r, fd, r->member, name, sha256, &seen, err);
    struct error ignored;
    bool keep = complete && e == ERR_OK && !seen;
    enum err settled = settle_temp(r, fd, keep ? sha256 : NULL, e == ERR_OK ? err : &ignored);
    close(fd);
    return e == ERR_OK ? settled : e;
}

static enum err copy_to_temp(const struct run *r, int from, const char *sha256, struct error *err)
{
    enum err e = ERR_OK;
    off_t at = 0;
    int fd = create_temp(r, err);
    if (fd < 0)
        return err ? err->code : ERR_IO;
    uint8_t *window = malloc(WINDOW);
    ssize_t n = 1;
    if (!window)
        e = error_set(err, ERR_NO_MEMORY, "no memory to keep an object");
    while (e == ERR_OK && n > 0) {
        n = pread(from, window, WINDOW, at);
        if (n < 0)
            e = error_errno(err, errno, "cannot read an object");
        else
            e = file_write(fd, window, (size_t)n, "an object", err);
        at += n;
    }
    free(window);
    struct error ignored;
    enum err settled =
        settle_temp(r, fd, e == ERR_OK ? sha256 : NULL, e == ERR_OK ? err : &ignored);
    close(fd);
    return e == ERR_OK ? settled : e;
}

/* A bare object is mapped where it lies. */
static enum err index_bare(struct run *r, int fd, struct error *err)
{
    char sha256[SHA256_TEXT_SIZE] = "";
    char name[OBJECT_NAME_SIZE];
    bool seen = false;
    fallback_name(r, "", name);
    enum err e = r->options->sha256 || !r->options->keep_objects
                     ? index_unhashed(r, fd, name, sha256, err)
                     : index_file(r, fd, "", name, sha256, &seen, err);
    if (e == ERR_OK && r->options->keep_objects)
        e = copy_to_temp(r, fd, sha256, err);
    return e;
}

/* A name that leads nowhere is the caller's mistake, a descriptor that cannot be had is not. */
static enum err cannot_open(const char *path, int errnum, struct error *err)
{
    struct error why;
    enum err e = error_errno(&why, errnum, "cannot open %s", path);
    bool ours = errnum == EIO || errnum == EMFILE || errnum == ENFILE || errnum == ENOMEM;
    return error_set(err, ours ? e : ERR_INVALID, "%s", why.text);
}

static enum err index_upload(struct run *r, struct error *err)
{
    uint8_t head[64];
    size_t objects = 0;
    enum err e;
    int fd = open(r->path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0)
        return cannot_open(r->path, errno, err);
    ssize_t n = pread(fd, head, sizeof(head), 0);
    if (n > 0 && object_recognize(head, (uint64_t)n)) {
        e = index_bare(r, fd, err);
    } else {
        const struct archive_visitor visitor = {open_member, close_member, r};
        e = archive_walk(r->path, &r->options->limits, &visitor, &objects, err);
    }
    close(fd);
    return e;
}

enum err symbol_index_build(const char *path, const struct symbol_index_options *options,
                            void (*slice)(void *ctx, const struct slice_report *report), void *ctx,
                            struct error *err)
{
    struct run r = {.path = path, .options = options, .slice = slice, .ctx = ctx};
    enum err e;
    r.objects = calloc(SYMBOL_INDEX_SLICES_MAX, sizeof(*r.objects));
    r.uuids = calloc(SYMBOL_INDEX_SLICES_MAX, sizeof(*r.uuids));
    if (!r.objects || !r.uuids)
        e = error_set(err, ERR_NO_MEMORY, "no memory to index");
    else
        e = index_upload(&r, err);
    if (e == ERR_OK && r.uuid_count == 0) {
        if (r.first.code == ERR_OK)
            e = error_set(err, ERR_NOT_FOUND, "no object file with a UUID inside");
        else
            e = error_set(err, r.first.code, "%s", r.first.text);
    }
    free(r.objects);
    free(r.uuids);
    free(r.member);
    return e;
}
