#include "server/jobs/index_install.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "server/jobs/index_rank.h"
#include "storage/read_shelves.h"
#include "symbolizer/gsym_read.h"

/* --- slices as the database wants them -------------------------------------------------------- */

static void fill_slice(const struct slice_report *r, struct op_slice *s)
{
    *s = (struct op_slice){
        .shelf = r->uuid,
        .image = r->uuid,
        .name = r->name,
        .member = r->member,
        .arch = r->arch,
        .reason = r->reason,
        .indexed = r->state == SLICE_INDEXED,
        .has_dwarf = r->has_dwarf,
        .functions = r->functions,
        .lines = r->lines,
        .inlines = r->inlines,
        .index_bytes = r->index_bytes,
        .text_vmaddr = r->text_vmaddr,
        .text_size = r->text_size,
        .object_bytes = r->object_bytes,
    };
    if (!sha256_parse(r->object_sha256, s->object_sha256))
        memset(s->object_sha256, 0, SHA256_SIZE);
}

static enum err make_result(const struct index_install *in, const struct slice_report *reports,
                            size_t count, struct arena *arena, struct installed *ret,
                            struct error *err)
{
    enum err rc = ERR_OK;
    ret->slices = arena_array(arena, count ? count : 1, sizeof(ret->slices[0]));
    ret->replaced = arena_array(arena, count ? count : 1, sizeof(ret->replaced[0]));
    ret->refit = arena_array(arena, count ? count : 1, sizeof(ret->refit[0]));
    if (!ret->slices || !ret->replaced || !ret->refit)
        return error_set(err, ERR_NO_MEMORY, "no memory for an upload's slices");
    for (size_t i = 0; i < count && rc == ERR_OK; i++) {
        fill_slice(&reports[i], &ret->slices[i]);
        rc = read_shelf(in->reader, in->own, &reports[i].uuid, &ret->slices[i].shelf, err);
    }
    ret->count = count;
    ret->indexed = 0;
    return rc;
}

enum err index_install_none(const struct index_install *in, const struct slice_report *reports,
                            size_t count, const char *reason, struct arena *arena,
                            struct installed *ret, struct error *err)
{
    enum err rc = make_result(in, reports, count, arena, ret, err);
    for (size_t i = 0; rc == ERR_OK && i < count; i++) {
        if (ret->slices[i].indexed || !ret->slices[i].reason)
            ret->slices[i].reason = reason;
        ret->slices[i].indexed = false;
    }
    return rc;
}

/* --- checks ----------------------------------------------------------------------------------- */

static bool work_path(const struct index_install *in, const char *name, char *out, size_t size)
{
    int n = snprintf(out, size, "%s/%s", in->work_dir, name);
    return n > 0 && (size_t)n < size;
}

/* The child cannot leave its folder, but what it left there may be a link. Takes no descriptor. */
enum err index_file_is_plain(const char *path, bool *ret, struct error *err)
{
    struct stat st;
    if (lstat(path, &st) != 0) {
        if (errno != ENOENT && errno != ENOTDIR)
            return error_errno(err, errno, "cannot look at %s", path);
        *ret = false;
        return ERR_OK;
    }
    *ret = S_ISREG(st.st_mode) && st.st_nlink == 1;
    return ERR_OK;
}

/* *ret_there: whether a kept object is. */
static enum err look_for_object(const struct index_install *in, const uint8_t sha[SHA256_SIZE],
                                bool *ret_there, struct error *err)
{
    char path[PATH_MAX];
    *ret_there = false;
    if (!blob_store_object_path(in->blobs, sha, path, sizeof(path)))
        return ERR_OK;
    *ret_there = access(path, R_OK) == 0;
    return *ret_there || errno == ENOENT ? ERR_OK
                                         : error_errno(err, errno, "cannot look at %s", path);
}

enum err index_file_check(const char *path, struct op_slice *s, struct error *err)
{
    struct gsym *g = NULL;
    enum err rc = gsym_open(path, &g, err);
    if (rc != ERR_OK)
        return rc;
    rc = gsym_check(g, err);
    const struct gsym_info *info = gsym_info(g);
    if (rc == ERR_OK && !uuid_equal(&info->uuid, &s->image))
        rc = error_set(err, ERR_FORMAT, "the index is of another UUID");
    if (rc == ERR_OK && !info->has_footer)
        rc = error_set(err, ERR_FORMAT, "the index has no footer");
    if (rc == ERR_OK) {
        s->has_dwarf = info->has_dwarf;
        s->functions = info->functions;
        s->index_bytes = info->size;
        s->text_vmaddr = info->text_vmaddr;
        s->text_size = info->text_size;
    }
    gsym_close(g);
    return rc;
}

enum err index_file_state(const char *path, const struct uuid *image, enum index_state *ret,
                          struct error *err)
{
    static const struct {
        enum err code;
        enum index_state state;
    } states[] = {
        {ERR_OK, INDEX_SOUND},
        {ERR_NOT_FOUND, INDEX_ABSENT},
        {ERR_UNSUPPORTED, INDEX_OUTDATED},
        {ERR_IO, INDEX_UNREADABLE},
    };
    struct op_slice told = {.image = *image};
    struct error why;
    enum err rc = index_file_check(path, &told, &why);
    if (rc == ERR_BUSY || rc == ERR_NO_MEMORY)
        return error_set(err, rc == ERR_BUSY ? ERR_IO : rc, "%s", why.text);
    *ret = INDEX_DAMAGED;
    for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++) {
        if (states[i].code == rc)
            *ret = states[i].state;
    }
    return ERR_OK;
}

static enum err check_work_file(const char *path, struct op_slice *s, struct error *err)
{
    bool plain = false;
    enum err rc = index_file_is_plain(path, &plain, err);
    if (rc != ERR_OK)
        return rc;
    return plain ? index_file_check(path, s, err)
                 : error_set(err, ERR_FORMAT, "the index file is not there");
}

/* The reason is shown to whoever uploaded: paths of the server are left out. */
static enum err fail_slice(struct op_slice *s, const char *path, const struct error *why,
                           struct arena *arena, struct error *err)
{
    const char *text = why->text;
    size_t n = strlen(path);
    if (strncmp(text, path, n) == 0 && strncmp(text + n, ": ", 2) == 0)
        text += n + 2;
    s->indexed = false;
    s->reason = arena_printf(arena, "the index cannot be used: %s", text);
    return s->reason ? ERR_OK : error_set(err, ERR_NO_MEMORY, "no memory for an upload's slices");
}

/* --- which one is used ------------------------------------------------------------------------ */

static struct index_rank rank_of(const struct op_slice *s, const char *path, bool *unread)
{
    return (struct index_rank){.unread = unread,
                               .has_dwarf = s->has_dwarf,
                               .lines = s->lines,
                               .functions = s->functions,
                               .inlines = s->inlines,
                               .text_vmaddr = s->text_vmaddr,
                               .text_size = s->text_size,
                               .path = path};
}

/* Slices of one upload, those of a UUID beside each other. */
struct sorting {
    const struct uuid *uuid;
    size_t index;
};

static int by_uuid(const void *a, const void *b)
{
    const struct sorting *x = a;
    const struct sorting *y = b;
    int order = uuid_compare(x->uuid, y->uuid);
    return order ? order : (x->index > y->index) - (x->index < y->index);
}

/* Whether slice `a` is richer than slice `b`. */
static bool is_richer(const struct index_install *in, const struct slice_report *reports,
                      const struct installed *all, size_t a, size_t b, bool *unread)
{
    char path[2][PATH_MAX];
    if (!work_path(in, reports[a].index_file, path[0], sizeof(path[0])) ||
        !work_path(in, reports[b].index_file, path[1], sizeof(path[1])))
        return false;
    const struct index_rank x = rank_of(&all->slices[a], path[0], unread);
    const struct index_rank y = rank_of(&all->slices[b], path[1], unread);
    return index_rank_compare(&x, &y) > 0;
}

static enum err check_read(bool unread, struct error *err)
{
    return unread ? error_set(err, ERR_IO, "indexes of one UUID cannot be compared now") : ERR_OK;
}

/* Of each UUID all slices but the richest are outdone; the first of equals is not. */
static enum err find_outdone(const struct index_install *in, const struct slice_report *reports,
                             const struct installed *all, struct arena *arena, bool *outdone,
                             struct error *err)
{
    size_t count = 0;
    struct sorting *sorted = arena_array(arena, all->count + 1, sizeof(*sorted));
    if (!sorted)
        return error_set(err, ERR_NO_MEMORY, "no memory to install indexes");
    for (size_t i = 0; i < all->count; i++) {
        if (all->slices[i].indexed)
            sorted[count++] = (struct sorting){&all->slices[i].shelf, i};
    }
    bool unread = false;
    qsort(sorted, count, sizeof(*sorted), by_uuid);
    for (size_t i = 0, best = 0; i < count; i++) {
        if (i == 0 || !uuid_equal(sorted[i].uuid, sorted[i - 1].uuid)) {
            best = sorted[i].index;
            continue;
        }
        bool better = is_richer(in, reports, all, sorted[i].index, best, &unread);
        outdone[better ? best : sorted[i].index] = true;
        if (better)
            best = sorted[i].index;
    }
    return check_read(unread, err);
}

bool index_is_sound(const struct blob_store *blobs, const struct uuid *shelf,
                    const struct uuid *image)
{
    char path[PATH_MAX];
    struct op_slice s = {.image = *image};
    return blob_store_index_path(blobs, shelf, path, sizeof(path)) &&
           index_file_check(path, &s, NULL) == ERR_OK;
}

/* What is in use of a shelf. */
struct in_use {
    struct slice_row *row; /* NULL: nothing, says the database */
    bool sound;            /* its file is there and whole */
    char path[PATH_MAX];
};

static enum err find_current(const struct index_install *in, const struct uuid *uuid,
                             const struct uuid *image, struct arena *arena, struct in_use *ret,
                             struct error *err)
{
    struct slice_row *rows = NULL;
    size_t count = 0;
    ret->row = NULL;
    ret->sound = false;
    enum err rc = read_symbol(in->reader, uuid, arena, &rows, &count, err);
    if (rc != ERR_OK || count == 0 || !rows[0].current)
        return rc == ERR_NOT_FOUND ? ERR_OK : rc;
    char link[PATH_MAX];
    ret->row = &rows[0];
    if (!blob_store_index_path(in->blobs, uuid, link, sizeof(link)) ||
        !blob_store_object_index_path(in->blobs, uuid, rows[0].object_sha256, ret->path,
                                      sizeof(ret->path)))
        return ERR_OK;
    enum index_state state = INDEX_ABSENT;
    /* The row's own file, since the link may be ahead of the database after a crash. */
    rc = index_file_state(ret->path, image, &state, err);
    if (rc == ERR_OK && state == INDEX_ABSENT) {
        memcpy(ret->path, link, sizeof(link));
        rc = index_file_state(link, image, &state, err);
    } else if (rc == ERR_OK && access(link, F_OK) != 0) {
        state = INDEX_ABSENT; /* nothing is in use */
        if (errno != ENOENT)
            rc = error_errno(err, errno, "cannot look at %s", link);
    }
    ret->sound = rc == ERR_OK && state == INDEX_SOUND;
    return rc;
}

/* What an uploader is told when a UUID has two objects: does this one win, do they conflict? */
static const char *const OUTCOMES[2][2] = {
    {"another object with this UUID is in use and has more",
     "conflicts with another object with this UUID, which stays in use: it has more, or comes "
     "first by its content"},
    {"replaces the index of another object with this UUID, which had less",
     "conflicts with another object with this UUID and replaces it: this one has more, or comes "
     "first by its content"},
};

/* True: this slice's index shall be the one in use. Says in its reason when two objects differ. */
static bool wins(struct op_slice *s, const char *path, const struct in_use *current, bool *unread)
{
    if (!current->row || !current->sound)
        return true;
    const struct slice_row *c = current->row;
    const struct index_rank mine = rank_of(s, path, unread);
    const struct index_rank theirs = {.unread = unread,
                                      .has_dwarf = c->has_dwarf,
                                      .lines = c->lines,
                                      .functions = c->functions,
                                      .inlines = c->inlines,
                                      .text_vmaddr = c->text_vmaddr,
                                      .text_size = c->text_size,
                                      .path = current->path};
    bool same_object = memcmp(s->object_sha256, c->object_sha256, SHA256_SIZE) == 0;
    int order = index_rank_compare(&mine, &theirs);
    if (same_object) /* made anew: what it says now counts */
        return order != 0 || index_file_compare(path, current->path, unread) != 0;
    if (order == 0)
        s->reason = "another object with this UUID is in use and says the same";
    else
        s->reason = OUTCOMES[order > 0][index_rank_conflict(&mine, &theirs)];
    return order > 0;
}

/* --- into place ------------------------------------------------------------------------------- */

static enum err keep_object(const struct index_install *in, const struct slice_report *r,
                            struct op_slice *s, struct error *err)
{
    char path[PATH_MAX];
    if (!in->keep_objects || !r->object_sha256[0])
        return ERR_OK;
    bool plain = false;
    enum err rc = work_path(in, r->object_sha256, path, sizeof(path))
                      ? index_file_is_plain(path, &plain, err)
                      : ERR_OK;
    if (rc == ERR_OK && plain) {
        rc = blob_store_install_object(in->blobs, path, s->object_sha256, err);
        s->object_kept = rc == ERR_OK;
        return rc;
    }
    /* Another slice of the same object took it. */
    return rc == ERR_OK ? look_for_object(in, s->object_sha256, &s->object_kept, err) : rc;
}

/* Each object's index is kept, so that another one can follow when this one's upload is deleted. */
static enum err put_into_place(const struct index_install *in, const char *path, bool use,
                               struct op_slice *s, struct error *err)
{
    enum err rc = blob_store_keep_index(in->blobs, path, &s->shelf, s->object_sha256, err);
    if (rc != ERR_OK || !use)
        return rc;
    rc = blob_store_use_index(in->blobs, &s->shelf, s->object_sha256, err);
    if (rc != ERR_OK)
        return rc;
    s->installed = true;
    index_cache_changed(in->cache, &s->shelf);
    layouts_learn(in->layouts, in->own, &s->image, s->text_vmaddr);
    return ERR_OK;
}

static enum err check_all(const struct index_install *in, const struct slice_report *reports,
                          struct arena *arena, struct installed *all, struct error *err)
{
    for (size_t i = 0; i < all->count; i++) {
        struct op_slice *s = &all->slices[i];
        char path[PATH_MAX] = "";
        struct error why;
        if (!s->indexed)
            continue;
        enum err rc = work_path(in, reports[i].index_file, path, sizeof(path))
                          ? check_work_file(path, s, &why)
                          : error_set(&why, ERR_LIMIT, "its path is too long");
        if (err_is_passing(rc)) /* of what waits something is to be said: no ERR_BUSY */
            return error_set(err, rc == ERR_BUSY ? ERR_IO : rc, "%s", why.text);
        if (rc != ERR_OK)
            rc = fail_slice(s, path, &why, arena, err);
        if (rc != ERR_OK)
            return rc;
        all->indexed += s->indexed;
    }
    return ERR_OK;
}

/* The same object was indexed before, when the symbol map of its names was at hand. */
static enum err was_restored(const struct index_install *in, const struct op_slice *s, bool *ret,
                             struct error *err)
{
    char path[PATH_MAX];
    enum index_state state = INDEX_ABSENT;
    struct gsym *g = NULL;
    *ret = false;
    if (!blob_store_object_index_path(in->blobs, &s->shelf, s->object_sha256, path, sizeof(path)))
        return ERR_OK;
    enum err rc = index_file_state(path, &s->image, &state, err);
    if (rc == ERR_OK && state == INDEX_SOUND)
        rc = gsym_open(path, &g, err);
    *ret = rc == ERR_OK && g && !gsym_hides_names(g);
    gsym_close(g);
    return rc;
}

/* An object that was not indexed anew: what is known of it. */
static enum err take_known(const struct index_install *in, struct op_slice *s, struct arena *arena,
                           struct error *err)
{
    struct slice_row *rows = NULL;
    size_t count = 0;
    enum err rc = read_symbol(in->reader, &s->shelf, arena, &rows, &count, err);
    if (rc != ERR_OK && rc != ERR_NOT_FOUND)
        return rc;
    rc = ERR_OK;
    s->reason = "the index of this object was not made anew, and is gone since; send it again";
    for (size_t i = 0; i < count && !s->indexed; i++) {
        const struct slice_row *row = &rows[i];
        if (!row->indexed || row->lost ||
            memcmp(row->object_sha256, s->object_sha256, SHA256_SIZE) != 0)
            continue;
        s->indexed = true;
        s->reason = "known: this object was indexed before";
        s->functions = row->functions;
        s->lines = row->lines;
        s->inlines = row->inlines;
        s->index_bytes = row->index_bytes;
        rc = look_for_object(in, s->object_sha256, &s->object_kept, err);
    }
    return rc;
}

/* Had those whom the slice serves an index of the image, on its shelf or on another one? */
static enum err was_served(const struct index_install *in, const struct op_slice *s,
                           struct arena *arena, bool *ret, struct error *err)
{
    struct slice_row *rows = NULL;
    size_t count = 0;
    enum err rc = read_symbol_files(in->reader, *in->own ? in->own : NULL, &s->image, arena, &rows,
                                    &count, err);
    *ret = rc == ERR_OK && rows[0].current; /* those come first */
    return rc == ERR_NOT_FOUND ? ERR_OK : rc;
}

static enum err install_slice(const struct index_install *in, const struct slice_report *r,
                              bool outdone, size_t index, struct arena *arena,
                              struct installed *all, struct error *err)
{
    struct op_slice *s = &all->slices[index];
    struct in_use in_use;
    struct in_use *current = &in_use;
    char path[PATH_MAX];
    bool use = false, restored = false, unread = false;
    if (!work_path(in, r->index_file, path, sizeof(path)))
        return error_set(err, ERR_LIMIT, "the path of the work folder is too long");
    enum err rc = keep_object(in, r, s, err);
    if (rc == ERR_OK)
        rc = find_current(in, &s->shelf, &s->image, arena, current, err);
    if (rc == ERR_OK && r->hidden > 0)
        rc = was_restored(in, s, &restored, err);
    if (rc != ERR_OK)
        return rc;
    if (restored) {
        s->reason = "the index of this object has the names that are hidden in it";
        return ERR_OK;
    }
    if (outdone)
        s->reason = "another object of this upload has the same UUID and has more";
    else
        use = wins(s, path, current, &unread);
    rc = check_read(unread, err);
    if (rc != ERR_OK)
        return rc;
    if (use)
        rc = was_served(in, s, arena, &all->replaced[index], err);
    if (rc != ERR_OK)
        return rc;
    /* What was in use cannot be read: whether it, or a third one, can be had back is not known here. */
    all->refit[index] = use && current->row && !current->sound &&
                        memcmp(s->object_sha256, current->row->object_sha256, SHA256_SIZE) != 0;
    return put_into_place(in, path, use, s, err);
}

enum err index_install(const struct index_install *in, const struct slice_report *reports,
                       size_t count, struct arena *arena, struct installed *ret, struct error *err)
{
    enum err rc = make_result(in, reports, count, arena, ret, err);
    bool *outdone = arena_array(arena, count + 1, sizeof(*outdone));
    if (rc == ERR_OK && !outdone)
        rc = error_set(err, ERR_NO_MEMORY, "no memory to install indexes");
    if (rc == ERR_OK)
        rc = check_all(in, reports, arena, ret, err);
    if (rc == ERR_OK) /* before the first file leaves the folder */
        rc = find_outdone(in, reports, ret, arena, outdone, err);
    for (size_t i = 0; rc == ERR_OK && i < count; i++) {
        if (reports[i].state == SLICE_KNOWN) {
            rc = take_known(in, &ret->slices[i], arena, err);
            ret->indexed += ret->slices[i].indexed;
        } else if (ret->slices[i].indexed)
            rc = install_slice(in, &reports[i], outdone[i], i, arena, ret, err);
    }
    return rc;
}
