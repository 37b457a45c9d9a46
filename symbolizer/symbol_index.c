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
#include "base/vec.h"
#include "symbolizer/index_run.h"

#define WINDOW    ((size_t)256 << 10)
#define TEMP_NAME "object.tmp"

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
static enum err remember(struct index_run *r, const uint8_t digest[SHA256_SIZE], bool *ret_seen,
                         struct error *err)
{
    uint64_t *times = key_set_at(&r->objects, digest);
    if (!times)
        return error_set(err, ERR_NO_MEMORY, "no memory to index");
    if (r->objects.count > SYMBOL_INDEX_SLICES_MAX)
        return error_set(err, ERR_LIMIT, "more than %d object files in one upload",
                         SYMBOL_INDEX_SLICES_MAX);
    *ret_seen = (*times)++ > 0;
    return ERR_OK;
}

static void hash_beside(void *ctx)
{
    struct index_hashing *h = ctx;
    h->code = hash_file(h->fd, h->digest, &h->error);
}

/* Maps and indexes the object in `fd`. */
static enum err index_mapped(struct index_run *r, int fd, const char *member, const char *name,
                             struct index_hashing *hashing, struct error *err)
{
    struct stat st;
    if (fstat(fd, &st) != 0)
        return error_errno(err, errno, "cannot read an object");
    void *map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (map == MAP_FAILED)
        return error_errno(err, errno, "cannot map an object");
    struct index_source s = {
        .data = map, .size = (uint64_t)st.st_size, .member = member, .hashing = hashing};
    snprintf(s.name, sizeof(s.name), "%s", name);
    enum err e = index_whole_object(r, &s, err);
    munmap(map, (size_t)st.st_size);
    return e;
}

/* The first object of an upload cannot have been seen: its digest is made while it is indexed. */
static enum err index_first(struct index_run *r, int fd, const char *member, const char *name,
                            struct index_hashing *hashing, struct error *err)
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
static enum err index_unhashed(struct index_run *r, int fd, const char *name,
                               char sha256[SHA256_TEXT_SIZE], struct error *err)
{
    struct index_hashing hashing = {.fd = fd, .unwanted = !r->options->sha256};
    if (r->options->sha256) {
        memcpy(hashing.digest, r->options->sha256, SHA256_SIZE);
        sha256_format(hashing.digest, sha256);
    }
    return index_mapped(r, fd, "", name, &hashing, err);
}

/* Hashes and indexes the object in `fd`, unless it was seen. `sha256` is filled in any case but
 * failure. */
static enum err index_file(struct index_run *r, int fd, const char *member, const char *name,
                           char sha256[SHA256_TEXT_SIZE], bool *ret_seen, struct error *err)
{
    struct index_hashing hashing = {.fd = fd};
    enum err e;
    if (r->objects.count == 0 && parallel_beside(r->options->parallel, hash_beside, &hashing)) {
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

static int create_temp(const struct index_run *r, struct error *err)
{
    char path[INDEX_PATH_SIZE];
    if (!index_path(r, TEMP_NAME, path)) {
        error_set(err, ERR_INVALID, "the path of the output folder is too long");
        return -1;
    }
    unlink(path); /* of a run that was killed */
    int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0)
        error_errno(err, errno, "cannot write to the output folder");
    return fd;
}

/* The temporary file gets its name, or goes (NULL). */
static enum err settle_temp(const struct index_run *r, const char *keep_as, struct error *err)
{
    char from[INDEX_PATH_SIZE], to[INDEX_PATH_SIZE];
    if (!index_path(r, TEMP_NAME, from))
        return error_set(err, ERR_INVALID, "the path of the output folder is too long");
    if (!keep_as) {
        unlink(from);
        return ERR_OK;
    }
    if (!index_path(r, keep_as, to))
        return error_set(err, ERR_INVALID, "the path of the output folder is too long");
    if (rename(from, to) != 0) {
        enum err e = error_errno(err, errno, "cannot keep an object");
        unlink(from);
        return e;
    }
    return ERR_OK;
}

static int open_member(void *ctx, const char *member, struct error *err)
{
    struct index_run *r = ctx;
    free(r->member);
    r->member = strndup(member, SYMBOL_INDEX_MEMBER_MAX);
    if (!r->member) {
        error_set(err, ERR_NO_MEMORY, "no memory for the name of a member");
        return -1;
    }
    return create_temp(r, err);
}

/* Symbol maps by what is in them, links to them by their names. */
static bool wants_member(void *ctx, const char *member, const void *head, size_t len)
{
    (void)ctx;
    struct uuid ignored;
    return symbol_map_recognize(head, len) ||
           symbol_maps_kind(member, &ignored) != SYMBOL_FILE_OTHER;
}

/* A map is read whole here, so that its faults are told with the upload that it came in. */
static enum err check_map(const char *path, const char *member, enum symbol_map_file kind,
                          struct error *err)
{
    struct symbol_map *map = NULL;
    if (kind == SYMBOL_FILE_OTHER)
        return error_set(err, ERR_INVALID,
                         "a symbol map that is not named UUID.bcsymbolmap: whose it is cannot be "
                         "told%s",
                         *member ? "" : "; put it into a zip under its name");
    if (kind == SYMBOL_FILE_LINK)
        return ERR_OK;
    enum err e = symbol_map_open(path, &map, err);
    symbol_map_free(map);
    return e;
}

/* ERR_FORMAT and the like are the file's fault, and end nothing. */
static enum err take_map(struct index_run *r, enum symbol_map_file kind, const struct uuid *uuid,
                         struct error *err)
{
    char temp[INDEX_PATH_SIZE], path[INDEX_PATH_SIZE], name[SYMBOL_MAP_FILE_SIZE];
    symbol_maps_file_name(kind, uuid, name);
    if (!index_path(r, TEMP_NAME, temp) || !index_path(r, name, path))
        return error_set(err, ERR_IO, "the path of the output folder is too long");
    enum err e = check_map(temp, r->member, kind, err);
    if (e == ERR_OK && rename(temp, path) != 0)
        return error_errno(err, errno, "cannot keep a symbol map");
    if (e != ERR_OK)
        return e;
    void *p = vec_grown(r->kept, &r->kept_cap, r->kept_count + 1, sizeof(r->kept[0]));
    if (!p)
        return error_set(err, ERR_NO_MEMORY, "no memory for symbol maps");
    r->kept = p;
    r->kept[r->kept_count++] = (struct index_kept_map){kind, *uuid};
    e = symbol_maps_add(r->maps, path, err);
    if (e != ERR_OK)
        unlink(path);
    return e;
}

static enum err close_map(struct index_run *r, struct error *err)
{
    struct uuid uuid = {{0}};
    struct error why = {.code = ERR_OK};
    enum symbol_map_file kind = symbol_maps_kind(r->member, &uuid);
    enum err e = take_map(r, kind, &uuid, &why);
    if (e == ERR_IO || e == ERR_NO_MEMORY)
        return error_set(err, e, "%s", why.text);
    if (e == ERR_OK) {
        r->totals.maps++;
    } else if (kind == SYMBOL_FILE_LINK) {
        r->totals.others++; /* property lists are for many things */
    } else {
        struct slice_report slice = {.state = SLICE_FAILED, .arch = "", .index_file = ""};
        char name[OBJECT_NAME_SIZE];
        index_name_of(r->member, name);
        slice.name = name;
        slice.member = r->member;
        slice.reason = why.text;
        if (r->first.code == ERR_OK)
            error_set(&r->first, why.code, "%s: %s", *r->member ? r->member : "symbol map",
                      why.text);
        r->reports++;
        r->slice(r->ctx, &slice);
    }
    struct error ignored;
    return settle_temp(r, NULL, &ignored);
}

static bool is_object(int fd)
{
    uint8_t head[SYMBOL_MAP_HEAD];
    ssize_t n = pread(fd, head, sizeof(head), 0);
    return n > 0 && object_recognize(head, (uint64_t)n);
}

static enum err close_member(void *ctx, int fd, bool complete, struct error *err)
{
    struct index_run *r = ctx;
    char sha256[SHA256_TEXT_SIZE] = "";
    char name[OBJECT_NAME_SIZE];
    bool seen = false;
    enum err e = ERR_OK;
    size_t put_off_before = r->later_count;
    if (complete && !is_object(fd)) {
        e = close_map(r, err);
        close(fd);
        return e;
    }
    index_fallback_name(r, r->member, name);
    if (complete)
        e = index_file(r, fd, r->member, name, sha256, &seen, err);
    struct error ignored;
    bool keep = complete && e == ERR_OK && !seen &&
                (r->options->keep_objects || r->later_count > put_off_before);
    enum err settled = settle_temp(r, keep ? sha256 : NULL, e == ERR_OK ? err : &ignored);
    close(fd);
    return e == ERR_OK ? settled : e;
}

static enum err copy_to_temp(const struct index_run *r, int from, const char *sha256,
                             struct error *err)
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
    enum err settled = settle_temp(r, e == ERR_OK ? sha256 : NULL, e == ERR_OK ? err : &ignored);
    close(fd);
    return e == ERR_OK ? settled : e;
}

/* A bare object is mapped where it lies. */
static enum err index_bare(struct index_run *r, int fd, struct error *err)
{
    char sha256[SHA256_TEXT_SIZE] = "";
    char name[OBJECT_NAME_SIZE];
    bool seen = false;
    index_fallback_name(r, "", name);
    enum err e = r->options->sha256 || !r->options->keep_objects
                     ? index_unhashed(r, fd, name, sha256, err)
                     : index_file(r, fd, "", name, sha256, &seen, err);
    if (e == ERR_OK && r->options->keep_objects)
        e = copy_to_temp(r, fd, sha256, err);
    return e;
}

static enum err index_put_off(struct index_run *r, const struct index_later *l, struct error *err)
{
    char path[INDEX_PATH_SIZE], sha256[SHA256_TEXT_SIZE];
    struct index_hashing hashing = {.fd = -1};
    struct stat st;
    memcpy(hashing.digest, l->digest, SHA256_SIZE);
    int fd = index_path(r, sha256_format(l->digest, sha256), path)
                 ? open(path, O_RDONLY | O_CLOEXEC)
                 : -1;
    void *map = MAP_FAILED;
    if (fd >= 0 && fstat(fd, &st) == 0)
        map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (fd >= 0)
        close(fd);
    if (map == MAP_FAILED)
        return error_errno(err, errno, "cannot read an object again");
    struct index_source s = {
        .data = map, .size = (uint64_t)st.st_size, .member = l->member, .hashing = &hashing};
    index_fallback_name(r, l->member, s.name);
    enum err e = index_one_slice(r, &s, &l->part, err);
    munmap(map, (size_t)st.st_size);
    return e;
}

/* What was put off, now that all maps of the upload are known. */
static enum err index_later(struct index_run *r, struct error *err)
{
    char path[INDEX_PATH_SIZE], sha256[SHA256_TEXT_SIZE];
    enum err e = ERR_OK;
    for (size_t i = 0; i < r->later_count && e == ERR_OK; i++)
        e = index_put_off(r, &r->later[i], err);
    for (size_t i = 0; i < r->later_count && !r->options->keep_objects; i++) {
        if (index_path(r, sha256_format(r->later[i].digest, sha256), path))
            unlink(path);
    }
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

static enum err index_upload(struct index_run *r, struct error *err)
{
    uint8_t head[64];
    struct archive_counts counts = {0};
    enum err e;
    int fd = open(r->path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0)
        return cannot_open(r->path, errno, err);
    ssize_t n = pread(fd, head, sizeof(head), 0);
    if (n > 0 && object_recognize(head, (uint64_t)n)) {
        e = index_bare(r, fd, err);
    } else if (n > 0 && symbol_map_recognize(head, (size_t)n)) {
        e = error_set(err, ERR_INVALID, "%s", SYMBOL_MAP_ALONE);
    } else {
        const struct archive_visitor visitor = {wants_member, open_member, close_member, r};
        r->more_to_come = true;
        e = archive_walk(r->path, &r->options->limits, &visitor, &counts, err);
        r->more_to_come = false;
        r->totals.others += counts.others;
        if (e == ERR_OK)
            e = index_later(r, err);
    }
    close(fd);
    return e;
}

static void forget_maps(struct index_run *r)
{
    char name[SYMBOL_MAP_FILE_SIZE], path[INDEX_PATH_SIZE];
    for (size_t i = 0; i < r->kept_count && !r->options->keep_maps; i++) {
        symbol_maps_file_name(r->kept[i].kind, &r->kept[i].uuid, name);
        if (index_path(r, name, path))
            unlink(path);
    }
    free(r->kept);
    for (size_t i = 0; i < r->later_count; i++)
        free(r->later[i].member);
    free(r->later);
    symbol_maps_free(r->own_maps);
}

enum err symbol_index_build(const char *path, const struct symbol_index_options *options,
                            void (*slice)(void *ctx, const struct slice_report *report), void *ctx,
                            struct symbol_index_totals *ret_totals, struct error *err)
{
    struct index_run r = {.path = path, .options = options, .slice = slice, .ctx = ctx};
    enum err e;
    key_set_init(&r.objects, SHA256_SIZE, 0);
    key_set_init(&r.uuids, sizeof(struct uuid), 0);
    if (!options->maps)
        r.own_maps = symbol_maps_new();
    r.maps = options->maps ? options->maps : r.own_maps;
    if (!r.maps)
        e = error_set(err, ERR_NO_MEMORY, "no memory to index");
    else
        e = index_upload(&r, err);
    if (e == ERR_OK && r.indexed == 0 && (r.totals.maps == 0 || r.reports > 0)) {
        if (r.first.code == ERR_OK)
            e = error_set(err, ERR_NOT_FOUND, "no object file with a UUID inside");
        else
            e = error_set(err, r.first.code, "%s", r.first.text);
    }
    *ret_totals = r.totals;
    key_set_done(&r.objects);
    key_set_done(&r.uuids);
    forget_maps(&r);
    free(r.member);
    return e;
}
