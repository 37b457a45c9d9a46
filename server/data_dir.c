#include "server/data_dir.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define LOCK_NAME "lock"

struct data_dir {
    int lock_fd;
    char path[PATH_MAX];
    char database[PATH_MAX];
};

static enum err make_folders(const char *path, struct error *err)
{
    char part[PATH_MAX];
    size_t n = strlen(path);
    if (n == 0 || n >= sizeof(part))
        return error_set(err, ERR_INVALID, "the storage folder's name is empty or too long");
    for (size_t i = 1; i <= n; i++) {
        if (path[i] != '/' && path[i] != 0)
            continue;
        snprintf(part, sizeof(part), "%.*s", (int)i, path);
        if (mkdir(part, 0750) != 0 && errno != EEXIST && errno != EISDIR && i == n)
            return error_errno(err, errno, "cannot make the storage folder %s", path);
    }
    struct stat st;
    if (stat(path, &st) != 0)
        return error_errno(err, errno, "cannot make the storage folder %s", path);
    if (!S_ISDIR(st.st_mode))
        return error_set(err, ERR_INVALID, "storage folder %s is no folder", path);
    return ERR_OK;
}

static void read_owner(int fd, char *out, size_t size)
{
    ssize_t n = pread(fd, out, size - 1, 0);
    out[n > 0 ? n : 0] = 0;
    out[strspn(out, "0123456789")] = 0;
}

static enum err take_lock(struct data_dir *d, struct error *err)
{
    char path[PATH_MAX], owner[32];
    enum err rc = data_dir_path(d, LOCK_NAME, path, sizeof(path), err);
    if (rc != ERR_OK)
        return rc;
    d->lock_fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0640);
    if (d->lock_fd < 0)
        return error_errno(err, errno, "cannot write to the storage folder (%s)", path);
    if (flock(d->lock_fd, LOCK_EX | LOCK_NB) != 0) {
        if (errno != EWOULDBLOCK)
            return error_errno(err, errno, "cannot lock %s", path);
        read_owner(d->lock_fd, owner, sizeof(owner));
        return error_set(err, ERR_BUSY, "storage folder %s is in use by another stallsymd%s%s",
                         d->path, *owner ? ", process " : "", owner);
    }
    int n = snprintf(owner, sizeof(owner), "%ld\n", (long)getpid());
    if (ftruncate(d->lock_fd, 0) != 0 || pwrite(d->lock_fd, owner, (size_t)n, 0) != n)
        return error_errno(err, errno, "cannot write to the storage folder (%s)", path);
    return ERR_OK;
}

enum err data_dir_open(const char *path, struct data_dir **ret, struct error *err)
{
    struct data_dir *d = calloc(1, sizeof(*d));
    if (!d)
        return error_set(err, ERR_NO_MEMORY, "no memory for a path");
    d->lock_fd = -1;
    enum err rc = make_folders(path, err);
    if (rc == ERR_OK && !realpath(path, d->path))
        rc = error_errno(err, errno, "cannot use the storage folder %s", path);
    if (rc == ERR_OK)
        rc = data_dir_path(d, DATABASE_NAME, d->database, sizeof(d->database), err);
    if (rc == ERR_OK)
        rc = take_lock(d, err);
    if (rc != ERR_OK) {
        data_dir_close(d);
        return rc;
    }
    *ret = d;
    return ERR_OK;
}

void data_dir_close(struct data_dir *d)
{
    if (!d)
        return;
    if (d->lock_fd >= 0)
        close(d->lock_fd);
    free(d);
}

const char *data_dir_database(const struct data_dir *d)
{
    return d->database;
}

enum err data_dir_path(const struct data_dir *d, const char *name, char *path, size_t size,
                       struct error *err)
{
    int n = snprintf(path, size, "%s/%s", d->path, name);
    if (n < 0 || (size_t)n >= size)
        return error_set(err, ERR_LIMIT, "the path %s/%s is too long", d->path, name);
    return ERR_OK;
}

static enum err write_and_sync(int fd, const char *path, const char *text, struct error *err)
{
    size_t n = strlen(text);
    if (write(fd, text, n) != (ssize_t)n || fsync(fd) != 0)
        return error_errno(err, errno, "cannot write %s", path);
    return ERR_OK;
}

/* A name is on disk when its folder is. */
static enum err sync_folder_of(const char *path, struct error *err)
{
    char folder[PATH_MAX];
    const char *slash = strrchr(path, '/');
    int n = slash == path ? 1 : slash ? (int)(slash - path) : 1;
    snprintf(folder, sizeof(folder), "%.*s", n, slash ? path : ".");
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int failed = fd < 0 || fsync(fd) != 0 ? errno : 0;
    if (fd >= 0)
        close(fd);
    return failed ? error_errno(err, failed, "cannot sync the folder of %s", path) : ERR_OK;
}

enum err data_dir_write_file(const char *path, mode_t mode, const char *text, struct error *err)
{
    char aside[PATH_MAX];
    int n = snprintf(aside, sizeof(aside), "%s.%ld.tmp", path, (long)getpid());
    if (n < 0 || (size_t)n >= sizeof(aside))
        return error_set(err, ERR_LIMIT, "the path %s is too long", path);
    (void)unlink(aside);
    int fd = open(aside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    if (fd < 0)
        return error_errno(err, errno, "cannot write %s", path);
    enum err rc = write_and_sync(fd, path, text, err);
    if (close(fd) != 0 && rc == ERR_OK)
        rc = error_errno(err, errno, "cannot write %s", path);
    if (rc == ERR_OK && rename(aside, path) != 0)
        rc = error_errno(err, errno, "cannot write %s", path);
    if (rc == ERR_OK)
        return sync_folder_of(path, err);
    (void)unlink(aside);
    return rc;
}
