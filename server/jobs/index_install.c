#include "server/jobs/index_install.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "symbolizer/gsym_read.h"

/* --- slices as the database wants them -------------------------------------------------------- */

static void fill_slice(const struct slice_report *r, struct op_slice *s)
{
    *s = (struct op_slice){
        .uuid = r->uuid,
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

static enum err make_result(const struct slice_report *reports, size_t count, struct arena *arena,
                            struct installed *ret, struct error *err)
{
    ret->slices = arena_array(arena, count ? count : 1, sizeof(ret->slices[0]));
    ret->replaced = arena_array(arena, count ? count : 1, sizeof(ret->replaced[0]));
    if (!ret->slices || !ret->replaced)
        return error_set(err, ERR_NO_MEMORY, "no memory for an upload's slices");
    for (size_t i = 0; i < count; i++)
        fill_slice(&reports[i], &ret->slices[i]);
    ret->count = count;
    ret->indexed = 0;
    return ERR_OK;
}

enum err index_install_none(const struct slice_report *reports, size_t count, const char *reason,
                            struct arena *arena, struct installed *ret, struct error *err)
{
    enum err rc = make_result(reports, count, arena, ret, err);
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

/* The child cannot leave its folder, but what it left there may be a link. */
static bool is_plain_file(const char *path)
{
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return false;
    struct stat st;
    bool plain = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_nlink == 1;
    close(fd);
    return plain;
}

static enum err check_index(const char *path, struct op_slice *s, struct error *err)
{
    struct gsym *g = NULL;
    if (!is_plain_file(path))
        return error_set(err, ERR_FORMAT, "the index file is not there");
    enum err rc = gsym_open(path, &g, err);
    if (rc != ERR_OK)
        return rc;
    rc = gsym_check(g, err);
    const struct gsym_info *info = gsym_info(g);
    if (rc == ERR_OK && !uuid_equal(&info->uuid, &s->uuid))
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

struct riches {
    bool has_dwarf;
    uint64_t lines;
    uint64_t functions;
};

static int compare_riches(const struct riches *a, const struct riches *b)
{
    if (a->has_dwarf != b->has_dwarf)
        return a->has_dwarf ? 1 : -1;
    if (a->lines != b->lines)
        return a->lines > b->lines ? 1 : -1;
    return (a->functions > b->functions) - (a->functions < b->functions);
}

static struct riches riches_of(const struct op_slice *s)
{
    return (struct riches){s->has_dwarf, s->lines, s->functions};
}

/* Is another slice of this upload, of the same UUID, the better one? The first of equals is. */
static bool is_outdone(const struct installed *all, size_t index)
{
    const struct riches mine = riches_of(&all->slices[index]);
    for (size_t i = 0; i < all->count; i++) {
        const struct op_slice *other = &all->slices[i];
        if (i == index || !other->indexed || !uuid_equal(&other->uuid, &all->slices[index].uuid))
            continue;
        const struct riches theirs = riches_of(other);
        int order = compare_riches(&theirs, &mine);
        if (order > 0 || (order == 0 && i < index))
            return true;
    }
    return false;
}

bool index_is_sound(const struct blob_store *blobs, const struct uuid *uuid)
{
    char path[PATH_MAX];
    struct op_slice s = {.uuid = *uuid};
    return blob_store_index_path(blobs, uuid, path, sizeof(path)) &&
           check_index(path, &s, NULL) == ERR_OK;
}

/* The index in use, NULL when there is none or its file is gone or damaged; `ret_known`: stacks may
 * have been resolved with it, or without it when it was lost. */
static enum err find_current(const struct index_install *in, const struct uuid *uuid,
                             struct arena *arena, struct slice_row **ret, bool *ret_known,
                             struct error *err)
{
    struct slice_row *rows = NULL;
    size_t count = 0;
    *ret = NULL;
    *ret_known = false;
    enum err rc = read_symbol(in->reader, uuid, arena, &rows, &count, err);
    if (rc == ERR_NOT_FOUND)
        return ERR_OK;
    *ret_known = rc == ERR_OK && count > 0 && rows[0].current;
    if (*ret_known && index_is_sound(in->blobs, uuid))
        *ret = &rows[0];
    return rc;
}

/* True: this slice's index shall be the one in use. Says in its reason when two objects differ. */
static bool wins(struct op_slice *s, const struct slice_row *current)
{
    if (!current)
        return true;
    const struct riches mine = riches_of(s);
    const struct riches theirs = {current->has_dwarf, current->lines, current->functions};
    if (memcmp(s->object_sha256, current->object_sha256, SHA256_SIZE) == 0 &&
        s->index_bytes == current->index_bytes)
        return false;
    int order = compare_riches(&mine, &theirs);
    if (order > 0)
        s->reason = "replaces the index of another object with this UUID, which had less";
    else if (order == 0)
        s->reason = "another object with this UUID is in use and stays so";
    else
        s->reason = "another object with this UUID is in use and has more";
    return order > 0;
}

/* --- into place ------------------------------------------------------------------------------- */

static enum err keep_object(const struct index_install *in, const struct slice_report *r,
                            const struct op_slice *s, struct error *err)
{
    char path[PATH_MAX];
    if (!in->keep_objects || !r->object_sha256[0] ||
        !work_path(in, r->object_sha256, path, sizeof(path)) || !is_plain_file(path))
        return ERR_OK; /* another slice of the same object took it, or it was not asked for */
    return blob_store_install_object(in->blobs, path, s->object_sha256, err);
}

static enum err put_into_place(const struct index_install *in, const struct slice_report *r,
                               struct op_slice *s, struct error *err)
{
    char path[PATH_MAX];
    if (!work_path(in, r->index_file, path, sizeof(path)))
        return error_set(err, ERR_LIMIT, "the path of the work folder is too long");
    enum err rc = blob_store_install_index(in->blobs, path, &s->uuid, err);
    if (rc != ERR_OK)
        return rc;
    s->installed = true;
    index_cache_changed(in->cache, &s->uuid);
    layouts_learn(in->layouts, &s->uuid, s->text_vmaddr);
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
                          ? check_index(path, s, &why)
                          : error_set(&why, ERR_LIMIT, "its path is too long");
        if (rc == ERR_IO || rc == ERR_NO_MEMORY)
            return error_set(err, rc, "%s", why.text);
        if (rc != ERR_OK)
            rc = fail_slice(s, path, &why, arena, err);
        if (rc != ERR_OK)
            return rc;
        all->indexed += s->indexed;
    }
    return ERR_OK;
}

enum err index_install(const struct index_install *in, const struct slice_report *reports,
                       size_t count, struct arena *arena, struct installed *ret, struct error *err)
{
    enum err rc = make_result(reports, count, arena, ret, err);
    if (rc == ERR_OK)
        rc = check_all(in, reports, arena, ret, err);
    for (size_t i = 0; rc == ERR_OK && i < count; i++) {
        struct op_slice *s = &ret->slices[i];
        struct slice_row *current = NULL;
        if (!s->indexed)
            continue;
        rc = keep_object(in, &reports[i], s, err);
        if (rc == ERR_OK && is_outdone(ret, i)) {
            s->reason = "another object of this upload has the same UUID and has more";
            continue;
        }
        if (rc == ERR_OK)
            rc = find_current(in, &s->uuid, arena, &current, &ret->replaced[i], err);
        if (rc == ERR_OK && wins(s, current))
            rc = put_into_place(in, &reports[i], s, err);
    }
    return rc;
}
