#include "storage/blob_stage.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <linux/fs.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"

#define DIR_MODE      0750
#define FILE_MODE     0640
#define TREE_OPEN_MAX 16
#define COPY_BYTES    ((size_t)64 << 10)
#define DEPTH_MAX     4 /* of folders in the store: two are made */

/* What is kept of the store, and whether its files may be shared with it. */
static const struct {
    const char *folder;
    bool shared;
} PARTS[] = {{"symbols", true}, {"objects", true}, {"maps", true}, {"spool", false}};
#define PART_COUNT (sizeof(PARTS) / sizeof(PARTS[0]))

/* --- one entry -------------------------------------------------------------------------------- */

static enum err join(char *out, size_t size, const char *folder, const char *name,
                     struct error *err)
{
    int n = snprintf(out, size, "%s/%s", folder, name);
    if (n < 0 || (size_t)n >= size)
        return error_set(err, ERR_LIMIT, "the path %s/%s is too long", folder, name);
    return ERR_OK;
}

static enum err copy_bytes(int from, int to, const char *path, struct error *err)
{
    if (ioctl(to, FICLONE, from) == 0) /* shares the blocks where the file system can */
        return ERR_OK;
    char piece[COPY_BYTES];
    for (;;) {
        ssize_t n = read(from, piece, sizeof(piece));
        if (n == 0)
            return ERR_OK;
        if (n < 0 && errno != EINTR)
            return error_errno(err, errno, "cannot read what goes to %s", path);
        enum err rc = n > 0 ? file_write(to, piece, (size_t)n, path, err) : ERR_OK;
        if (rc != ERR_OK)
            return rc;
    }
}

static enum err copy_file(const char *from, const char *to, struct error *err)
{
    enum err rc = ERR_OK;
    int out = -1;
    int in = open(from, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (in < 0)
        return error_errno(err, errno, "cannot open %s", from);
    out = open(to, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, FILE_MODE);
    if (out < 0)
        rc = error_errno(err, errno, "cannot make %s", to);
    if (rc == ERR_OK)
        rc = copy_bytes(in, out, to, err);
    if (rc == ERR_OK && fsync(out) != 0)
        rc = error_errno(err, errno, "cannot sync %s", to);
    if (out >= 0)
        close(out);
    close(in);
    return rc;
}

static enum err copy_link(const char *from, const char *to, struct error *err)
{
    char target[PATH_MAX];
    ssize_t n = readlink(from, target, sizeof(target) - 1);
    if (n < 0)
        return error_errno(err, errno, "cannot read the link %s", from);
    target[n] = 0;
    if (symlink(target, to) != 0)
        return error_errno(err, errno, "cannot make the link %s", to);
    return ERR_OK;
}

/* --- whole folders ---------------------------------------------------------------------------- */

struct walk {
    enum err (*file)(struct walk *w, const char *from, const char *to, const struct stat *st,
                     struct error *err);
    struct blob_totals totals;
    bool (*go_on)(void *ctx);
    void *ctx;
};

static enum err sync_folder(const char *path, struct error *err)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int failed = fd < 0 || fsync(fd) != 0 ? errno : 0;
    if (fd >= 0)
        close(fd);
    return failed ? error_errno(err, failed, "cannot sync the folder %s", path) : ERR_OK;
}

static enum err walk_folder(struct walk *w, const char *from, const char *to, unsigned depth,
                            struct error *err);

static enum err walk_entry(struct walk *w, const char *from, const char *to, unsigned depth,
                           struct error *err)
{
    struct stat st;
    if (lstat(from, &st) != 0)
        return errno == ENOENT ? ERR_OK : error_errno(err, errno, "cannot look at %s", from);
    if (S_ISDIR(st.st_mode))
        return depth > 0 ? walk_folder(w, from, to, depth - 1, err) : ERR_OK;
    if (!S_ISREG(st.st_mode) && !S_ISLNK(st.st_mode))
        return ERR_OK;
    if (w->go_on && !w->go_on(w->ctx))
        return error_set(err, ERR_BUSY, "the copy was given up");
    return w->file(w, from, to, &st, err);
}

static enum err walk_folder(struct walk *w, const char *from, const char *to, unsigned depth,
                            struct error *err)
{
    char path[PATH_MAX], target[PATH_MAX];
    enum err rc = ERR_OK;
    if (mkdir(to, DIR_MODE) != 0)
        return error_errno(err, errno, "cannot make the folder %s", to);
    DIR *d = opendir(from);
    if (!d)
        return error_errno(err, errno, "cannot open the folder %s", from);
    for (struct dirent *e = readdir(d); e && rc == ERR_OK; e = readdir(d)) {
        if (e->d_name[0] == '.')
            continue;
        rc = join(path, sizeof(path), from, e->d_name, err);
        if (rc == ERR_OK)
            rc = join(target, sizeof(target), to, e->d_name, err);
        if (rc == ERR_OK)
            rc = walk_entry(w, path, target, depth, err);
    }
    closedir(d);
    return rc == ERR_OK ? sync_folder(to, err) : rc;
}

/* A file that was moved into place meanwhile may be gone under this name (".new", ".tmp"). */
static enum err link_file(struct walk *w, const char *from, const char *to, const struct stat *st,
                          struct error *err)
{
    enum err rc = ERR_OK;
    if (linkat(AT_FDCWD, from, AT_FDCWD, to, 0) != 0) {
        if (errno == ENOENT)
            return ERR_OK;
        if (errno != EPERM && errno != EMLINK && errno != EOPNOTSUPP)
            return error_errno(err, errno, "cannot link %s", from);
        /* A file system without hard links. */
        rc = S_ISLNK(st->st_mode) ? copy_link(from, to, err) : copy_file(from, to, err);
    }
    w->totals.files++;
    w->totals.bytes += S_ISREG(st->st_mode) ? (uint64_t)st->st_size : 0;
    return rc;
}

static enum err duplicate(struct walk *w, const char *from, const char *to, const struct stat *st,
                          struct error *err)
{
    (void)w;
    return S_ISLNK(st->st_mode) ? copy_link(from, to, err) : copy_file(from, to, err);
}

enum err blob_stage_fill(struct blob_store *b, const char *stage, struct blob_totals *ret,
                         struct error *err)
{
    struct walk w = {.file = link_file};
    char from[PATH_MAX], to[PATH_MAX];
    enum err rc = ERR_OK;
    for (size_t i = 0; i < PART_COUNT && rc == ERR_OK; i++) {
        uint64_t before = w.totals.bytes;
        if (!blob_store_folder_path(b, PARTS[i].folder, from, sizeof(from)))
            return error_set(err, ERR_LIMIT, "the path of the storage folder is too long");
        rc = join(to, sizeof(to), stage, PARTS[i].folder, err);
        if (rc == ERR_OK)
            rc = walk_folder(&w, from, to, DEPTH_MAX, err);
        if (!PARTS[i].shared)
            w.totals.spool_bytes += w.totals.bytes - before;
    }
    if (rc == ERR_OK)
        *ret = w.totals;
    return rc;
}

bool blob_stage_is_far(const char *stage, const char *folder)
{
    struct stat a, b;
    return stat(stage, &a) == 0 && stat(folder, &b) == 0 && a.st_dev != b.st_dev;
}

enum err blob_stage_move(const char *stage, const char *to, bool (*go_on)(void *ctx), void *ctx,
                         struct error *err)
{
    struct walk w = {.file = duplicate, .go_on = go_on, .ctx = ctx};
    char from[PATH_MAX], target[PATH_MAX];
    enum err rc = ERR_OK;
    for (size_t i = 0; i < PART_COUNT && rc == ERR_OK; i++) {
        rc = join(from, sizeof(from), stage, PARTS[i].folder, err);
        if (rc == ERR_OK)
            rc = join(target, sizeof(target), to, PARTS[i].folder, err);
        if (rc != ERR_OK)
            break;
        if (PARTS[i].shared && rename(from, target) == 0)
            continue;
        if (PARTS[i].shared && errno != EXDEV)
            return error_errno(err, errno, "cannot move a folder to %s", target);
        rc = walk_folder(&w, from, target, DEPTH_MAX, err);
    }
    return rc == ERR_OK ? sync_folder(to, err) : rc;
}

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st;
    (void)type;
    (void)ftw;
    (void)remove(path);
    return 0;
}

void blob_stage_remove_tree(const char *path)
{
    (void)nftw(path, remove_entry, TREE_OPEN_MAX, FTW_DEPTH | FTW_PHYS);
}
