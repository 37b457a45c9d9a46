/* blob_store over a folder of the local file system. */
#include "storage/blob_store.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/file.h"
#include "storage/blob_stage.h"
#include "storage/leftovers.h"

#define DIR_MODE     0750
#define SPOOL_SUFFIX ".part"
#define SPOOL_NAME   64

struct blob_store {
    char *dir;
    atomic_uint serial;       /* makes spool and work names unique within a run */
    pthread_rwlock_t removal; /* shared by who removes something; whole, by who holds it all */
    struct leftovers left;
};

static bool path_of(const struct blob_store *b, char *path, size_t size, const char *folder,
                    const char *name)
{
    int n = snprintf(path, size, "%s/%s%s%s", b->dir, folder, *name ? "/" : "", name);
    return n > 0 && (size_t)n < size;
}

bool blob_store_index_path(const struct blob_store *b, const struct uuid *uuid, char *path,
                           size_t size)
{
    char text[UUID_TEXT_SIZE];
    char name[UUID_TEXT_SIZE + 16];
    uuid_format(uuid, text);
    snprintf(name, sizeof(name), "%02x/%s.gsym", uuid->bytes[0], text);
    return path_of(b, path, size, "symbols", name);
}

bool blob_store_object_path(const struct blob_store *b, const uint8_t sha256[SHA256_SIZE],
                            char *path, size_t size)
{
    char text[SHA256_TEXT_SIZE];
    char name[SHA256_TEXT_SIZE + 16];
    sha256_format(sha256, text);
    snprintf(name, sizeof(name), "%.2s/%s", text, text);
    return path_of(b, path, size, "objects", name);
}

bool blob_store_object_index_path(const struct blob_store *b, const struct uuid *uuid,
                                  const uint8_t sha256[SHA256_SIZE], char *path, size_t size)
{
    char text[UUID_TEXT_SIZE];
    char sha[SHA256_TEXT_SIZE];
    char name[UUID_TEXT_SIZE + SHA256_TEXT_SIZE + 16];
    uuid_format(uuid, text);
    sha256_format(sha256, sha);
    snprintf(name, sizeof(name), "%02x/%s.%s.gsym", uuid->bytes[0], text, sha);
    return path_of(b, path, size, "symbols", name);
}

/* Digits, dash, lower-case hexadecimal, ".part": what blob_store_spool_create makes. */
static bool spool_name_valid(const char *name)
{
    size_t digits = strspn(name, "0123456789");
    if (digits == 0 || digits > 20 || name[digits] != '-')
        return false;
    const char *tail = name + digits + 1;
    size_t hex = strspn(tail, "0123456789abcdef");
    return hex == 16 && strcmp(tail + hex, SPOOL_SUFFIX) == 0;
}

bool blob_store_spool_path(const struct blob_store *b, const char *name, char *path, size_t size)
{
    return spool_name_valid(name) && path_of(b, path, size, "spool", name);
}

static enum err make_dir(const char *path, struct error *err)
{
    if (mkdir(path, DIR_MODE) == 0 || errno == EEXIST)
        return ERR_OK;
    return error_errno(err, errno, "cannot make folder %s", path);
}

/* This thread's files are synced later, together. */
static _Thread_local bool batching;

static enum err sync_dir(const char *path, struct error *err)
{
    if (batching)
        return ERR_OK;
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return error_errno(err, errno, "cannot open folder %s", path);
    int failed = fsync(fd) ? errno : 0;
    close(fd);
    return failed ? error_errno(err, failed, "cannot sync folder %s", path) : ERR_OK;
}

void blob_store_hold(struct blob_store *b)
{
    pthread_rwlock_wrlock(&b->removal);
}

void blob_store_release(struct blob_store *b)
{
    pthread_rwlock_unlock(&b->removal);
}

bool blob_store_folder_path(const struct blob_store *b, const char *folder, char *path, size_t size)
{
    return path_of(b, path, size, folder, "");
}

static enum err remove_file(struct blob_store *b, const char *path, struct error *err)
{
    pthread_rwlock_rdlock(&b->removal);
    int failed = unlink(path) == 0 || errno == ENOENT ? 0 : errno;
    pthread_rwlock_unlock(&b->removal);
    return failed ? error_errno(err, failed, "cannot remove %s", path) : ERR_OK;
}

void blob_store_work_remove(struct blob_store *b, const char *path)
{
    size_t n = strlen(b->dir);
    if (strncmp(path, b->dir, n) == 0 && strncmp(path + n, "/work/", 6) == 0)
        (void)leftovers_remove(&b->left, path + n + 1);
}

size_t blob_store_tidy(struct blob_store *b)
{
    return leftovers_retry(&b->left);
}

static bool each_entry(struct blob_store *b, const char *folder,
                       void (*visit)(struct blob_store *b, const char *path, const char *name))
{
    char dir[PATH_MAX];
    char path[PATH_MAX];
    DIR *d = path_of(b, dir, sizeof(dir), folder, "") ? opendir(dir) : NULL;
    if (!d)
        return false;
    for (struct dirent *e = readdir(d); e; e = readdir(d)) {
        int n = snprintf(path, sizeof(path), "%s/%s", dir, e->d_name);
        if (e->d_name[0] != '.' && n > 0 && (size_t)n < sizeof(path))
            visit(b, path, e->d_name);
    }
    closedir(d);
    return true;
}

static void drop_work(struct blob_store *b, const char *path, const char *name)
{
    (void)name;
    blob_store_work_remove(b, path);
}

enum err blob_store_open(const char *dir, struct blob_store **ret, struct error *err)
{
    static const char *const folders[] = {"", "symbols", "objects", "maps", "spool", "work"};
    enum err rc = ERR_OK;
    char path[PATH_MAX];
    struct blob_store *b = calloc(1, sizeof(*b));
    if (b)
        pthread_rwlock_init(&b->removal, NULL);
    if (!b || !(b->dir = strdup(dir))) {
        rc = error_set(err, ERR_NO_MEMORY, "no memory for the blob store");
        goto out;
    }
    leftovers_init(&b->left, b->dir);
    for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
        /* No path that is made later is longer than this one by more than 160 bytes. */
        if (!path_of(b, path, sizeof(path) - 160, folders[i], "")) {
            rc = error_set(err, ERR_INVALID, "the path of the storage folder is too long");
            goto out;
        }
        if ((rc = make_dir(path, err)))
            goto out;
    }
    each_entry(b, "work", drop_work);
    *ret = b;
    b = NULL;
out:
    blob_store_close(b);
    return rc;
}

void blob_store_close(struct blob_store *b)
{
    if (!b)
        return;
    if (b->left.base) {
        (void)leftovers_retry(&b->left);
        leftovers_done(&b->left);
    }
    pthread_rwlock_destroy(&b->removal);
    free(b->dir);
    free(b);
}

static enum err sync_file(const char *path, struct error *err)
{
    if (batching)
        return ERR_OK;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return error_errno(err, errno, "cannot open %s", path);
    int failed = fsync(fd) ? errno : 0;
    close(fd);
    return failed ? error_errno(err, failed, "cannot sync %s", path) : ERR_OK;
}

/* Syncs the file, renames it to `to` and syncs both folders that lead to it. */
static enum err install(struct blob_store *b, const char *from, const char *to, const char *folder,
                        struct error *err)
{
    char dir[PATH_MAX];
    const char *slash = strrchr(to, '/');
    snprintf(dir, sizeof(dir), "%.*s", (int)(slash - to), to);
    enum err rc = sync_file(from, err);
    if (rc)
        return rc;
    if (mkdir(dir, DIR_MODE) == 0) {
        char parent[PATH_MAX];
        path_of(b, parent, sizeof(parent), folder, "");
        if ((rc = sync_dir(parent, err)))
            return rc;
    } else if (errno != EEXIST) {
        return error_errno(err, errno, "cannot make folder %s", dir);
    }
    if (rename(from, to))
        return error_errno(err, errno, "cannot move a file to %s", to);
    return sync_dir(dir, err);
}

/* The whole file system: thousands of small files cost one commit of its journal instead of one
 * each. */
static enum err sync_all(struct blob_store *b, struct error *err)
{
    int fd = open(b->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return error_errno(err, errno, "cannot open folder %s", b->dir);
    int failed = syncfs(fd) ? errno : 0;
    close(fd);
    return failed ? error_errno(err, failed, "cannot sync folder %s", b->dir) : ERR_OK;
}

enum err blob_store_batch(struct blob_store *b, struct error *err)
{
    enum err rc = sync_all(b, err);
    batching = rc == ERR_OK;
    return rc;
}

enum err blob_store_batch_end(struct blob_store *b, enum err rc, struct error *err)
{
    batching = false;
    return rc == ERR_OK ? sync_all(b, err) : rc;
}

enum err blob_store_install_index(struct blob_store *b, const char *from, const struct uuid *uuid,
                                  struct error *err)
{
    char to[PATH_MAX];
    blob_store_index_path(b, uuid, to, sizeof(to));
    return install(b, from, to, "symbols", err);
}

enum err blob_store_install_object(struct blob_store *b, const char *from,
                                   const uint8_t sha256[SHA256_SIZE], struct error *err)
{
    char to[PATH_MAX];
    blob_store_object_path(b, sha256, to, sizeof(to));
    return install(b, from, to, "objects", err);
}

enum err blob_store_keep_index(struct blob_store *b, const char *from, const struct uuid *uuid,
                               const uint8_t sha256[SHA256_SIZE], struct error *err)
{
    char to[PATH_MAX];
    blob_store_object_index_path(b, uuid, sha256, to, sizeof(to));
    return install(b, from, to, "symbols", err);
}

bool blob_store_maps_path(const struct blob_store *b, char *path, size_t size)
{
    return path_of(b, path, size, "maps", "");
}

/* Apps are strangers' names: the folder's is made of a digest. */
static void own_maps_path(const struct blob_store *b, const char *own, char *path, size_t size)
{
    uint8_t digest[SHA256_SIZE];
    char text[SHA256_TEXT_SIZE], name[32];
    sha256_of(own, strlen(own), digest);
    snprintf(name, sizeof(name), "own-%.24s", sha256_format(digest, text));
    path_of(b, path, size, "maps", *own ? name : "");
}

const char *blob_store_own_maps(const struct blob_store *b, const char *own, char *path,
                                size_t size)
{
    own_maps_path(b, own, path, size);
    return *own && access(path, F_OK) == 0 ? path : NULL;
}

/* The maps as they are: how many, how large, and which is the oldest. */
struct maps_census {
    size_t count;
    uint64_t bytes;
    struct timespec oldest;
    char path[PATH_MAX];
};

static bool is_before(const struct timespec *a, const struct timespec *b)
{
    return a->tv_sec != b->tv_sec ? a->tv_sec < b->tv_sec : a->tv_nsec < b->tv_nsec;
}

static void count_maps(const char *dir, struct maps_census *ret)
{
    DIR *d = opendir(dir);
    memset(ret, 0, sizeof(*ret));
    for (struct dirent *e = d ? readdir(d) : NULL; e; e = readdir(d)) {
        char path[PATH_MAX];
        struct stat st;
        int n = snprintf(path, sizeof(path), "%s/%s", dir, e->d_name);
        if (e->d_name[0] == '.' || n < 0 || (size_t)n >= sizeof(path) || lstat(path, &st) != 0 ||
            S_ISDIR(st.st_mode))
            continue;
        if (ret->count++ == 0 || is_before(&st.st_mtim, &ret->oldest)) {
            ret->oldest = st.st_mtim;
            memcpy(ret->path, path, sizeof(path));
        }
        ret->bytes += (uint64_t)st.st_size;
    }
    if (d)
        closedir(d);
}

enum err blob_store_install_map(struct blob_store *b, const char *from, const char *own,
                                const struct uuid *uuid, bool link, struct error *err)
{
    char text[UUID_TEXT_SIZE];
    char dir[PATH_MAX - UUID_TEXT_SIZE - 16];
    char to[PATH_MAX];
    struct maps_census census;
    own_maps_path(b, own, dir, sizeof(dir));
    snprintf(to, sizeof(to), "%s/%s%s", dir, uuid_format(uuid, text),
             link ? ".plist" : ".bcsymbolmap");
    enum err rc = make_dir(dir, err);
    if (rc == ERR_OK)
        rc = install(b, from, to, "", err);
    for (bool many = true; rc == ERR_OK && many;) {
        count_maps(dir, &census);
        many = census.count > 1 &&
               (census.count > BLOB_MAPS_MAX || census.bytes > BLOB_MAPS_BYTES_MAX);
        if (many)
            rc = remove_file(b, census.path, err);
    }
    return rc;
}

static void folder_of(const char *path, char *dir, size_t size)
{
    snprintf(dir, size, "%.*s", (int)(strrchr(path, '/') - path), path);
}

enum err blob_store_use_index(struct blob_store *b, const struct uuid *uuid,
                              const uint8_t sha256[SHA256_SIZE], struct error *err)
{
    char target[PATH_MAX];
    char link[PATH_MAX];
    char fresh[PATH_MAX + 8];
    char dir[PATH_MAX];
    blob_store_object_index_path(b, uuid, sha256, target, sizeof(target));
    blob_store_index_path(b, uuid, link, sizeof(link));
    snprintf(fresh, sizeof(fresh), "%s.new", link);
    folder_of(link, dir, sizeof(dir));
    (void)unlink(fresh); /* of a run that ended in between */
    if (symlink(strrchr(target, '/') + 1, fresh))
        return error_errno(err, errno, "cannot make link %s", fresh);
    if (rename(fresh, link))
        return error_errno(err, errno, "cannot move a link to %s", link);
    return sync_dir(dir, err);
}

/* "UUID.SHA256.gsym" of an object that is not in the list. */
static bool is_surplus(const char *name, const char *uuid, const uint8_t (*keep)[SHA256_SIZE],
                       size_t count)
{
    const size_t n = UUID_TEXT_SIZE - 1;
    const size_t len = n + 1 + SHA256_TEXT_SIZE - 1 + 5;
    char sha[SHA256_TEXT_SIZE];
    if (strlen(name) != len || memcmp(name, uuid, n) != 0 || name[n] != '.' ||
        strcmp(name + len - 5, ".gsym") != 0)
        return false;
    for (size_t i = 0; i < count; i++) {
        if (memcmp(name + n + 1, sha256_format(keep[i], sha), SHA256_TEXT_SIZE - 1) == 0)
            return false;
    }
    return true;
}

enum err blob_store_prune_indexes(struct blob_store *b, const struct uuid *uuid,
                                  const uint8_t (*keep)[SHA256_SIZE], size_t count,
                                  struct error *err)
{
    char link[PATH_MAX];
    char dir[PATH_MAX];
    char path[PATH_MAX];
    char text[UUID_TEXT_SIZE];
    enum err rc = ERR_OK;
    uuid_format(uuid, text);
    blob_store_index_path(b, uuid, link, sizeof(link));
    folder_of(link, dir, sizeof(dir));
    DIR *d = opendir(dir);
    if (!d)
        return errno == ENOENT ? ERR_OK : error_errno(err, errno, "cannot open folder %s", dir);
    for (struct dirent *e = readdir(d); e && rc == ERR_OK; e = readdir(d)) {
        int n = snprintf(path, sizeof(path), "%s/%s", dir, e->d_name);
        if (is_surplus(e->d_name, text, keep, count) && n > 0 && (size_t)n < sizeof(path))
            rc = remove_file(b, path, err);
    }
    closedir(d);
    return rc;
}

/* "N-RANDOM": N for people, RANDOM so that no two runs give the same name. */
static enum err fresh_name(struct blob_store *b, const char *suffix, char *out, size_t size,
                           struct error *err)
{
    uint64_t random;
    if (getrandom(&random, sizeof(random), 0) != (ssize_t)sizeof(random))
        return error_errno(err, errno, "no random numbers");
    int n = snprintf(out, size, "%u-%016llx%s", atomic_fetch_add(&b->serial, 1) + 1,
                     (unsigned long long)random, suffix);
    if (n < 0 || (size_t)n >= size)
        return error_set(err, ERR_INTERNAL, "the buffer for a file name is too small");
    return ERR_OK;
}

enum err blob_store_spool_create(struct blob_store *b, char *ret_name, size_t name_size,
                                 int *ret_fd, struct error *err)
{
    char name[SPOOL_NAME];
    char path[PATH_MAX];
    enum err rc = fresh_name(b, SPOOL_SUFFIX, name, sizeof(name), err);
    if (rc)
        return rc;
    if (strlen(name) >= name_size)
        return error_set(err, ERR_INTERNAL, "the buffer for a spool name is too small");
    path_of(b, path, sizeof(path), "spool", name);
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0640);
    if (fd < 0)
        return error_errno(err, errno, "cannot make spool file %s", path);
    memcpy(ret_name, name, strlen(name) + 1);
    *ret_fd = fd;
    return ERR_OK;
}

enum err blob_store_probe_spool(struct blob_store *b, struct error *err)
{
    static const char text[] = "probe\n";
    char name[SPOOL_NAME];
    struct error ignored;
    int fd = -1;
    enum err rc = blob_store_spool_create(b, name, sizeof(name), &fd, err);
    if (rc)
        return rc;
    rc = file_write(fd, text, sizeof(text) - 1, "a spool file", err);
    if (!rc && fsync(fd))
        rc = error_errno(err, errno, "cannot sync a spool file");
    if (close(fd) && !rc)
        rc = error_errno(err, errno, "cannot write a spool file");
    enum err removed = blob_store_remove_spool(b, name, rc ? &ignored : err);
    return rc ? rc : removed;
}

enum err blob_store_remove_index(struct blob_store *b, const struct uuid *uuid, struct error *err)
{
    char path[PATH_MAX];
    blob_store_index_path(b, uuid, path, sizeof(path));
    return remove_file(b, path, err);
}

enum err blob_store_remove_object(struct blob_store *b, const uint8_t sha256[SHA256_SIZE],
                                  struct error *err)
{
    char path[PATH_MAX];
    blob_store_object_path(b, sha256, path, sizeof(path));
    return remove_file(b, path, err);
}

enum err blob_store_remove_spool(struct blob_store *b, const char *name, struct error *err)
{
    char path[PATH_MAX];
    char left[SPOOL_NAME + 8];
    if (!blob_store_spool_path(b, name, path, sizeof(path)))
        return error_set(err, ERR_INVALID, "not a name of a spool file");
    enum err rc = remove_file(b, path, err);
    if (rc && snprintf(left, sizeof(left), "spool/%s", name) < (int)sizeof(left))
        (void)leftovers_remove(&b->left, left);
    return rc;
}

enum err blob_store_sweep_spool(struct blob_store *b, bool (*keep)(void *ctx, const char *name),
                                void *ctx, struct error *err)
{
    char dir[PATH_MAX];
    char path[PATH_MAX];
    enum err rc = ERR_OK;
    path_of(b, dir, sizeof(dir), "spool", "");
    DIR *d = opendir(dir);
    if (!d)
        return error_errno(err, errno, "cannot open folder %s", dir);
    for (struct dirent *e = readdir(d); e && !rc; e = readdir(d)) {
        if (blob_store_spool_path(b, e->d_name, path, sizeof(path)) && !keep(ctx, e->d_name))
            rc = remove_file(b, path, err);
    }
    closedir(d);
    return rc;
}

enum err blob_store_work_create(struct blob_store *b, char *ret_path, size_t size,
                                struct error *err)
{
    char name[SPOOL_NAME];
    enum err rc = fresh_name(b, "", name, sizeof(name), err);
    if (rc)
        return rc;
    char path[PATH_MAX];
    if (!path_of(b, path, sizeof(path), "work", name) || strlen(path) >= size)
        return error_set(err, ERR_INTERNAL, "the buffer for a work folder's path is too small");
    if (mkdir(path, DIR_MODE))
        return error_errno(err, errno, "cannot make folder %s", path);
    memcpy(ret_path, path, strlen(path) + 1);
    return ERR_OK;
}

uint64_t blob_store_free_bytes(const struct blob_store *b)
{
    struct statvfs fs;
    if (statvfs(b->dir, &fs))
        return 0;
    return (uint64_t)fs.f_bavail * fs.f_frsize;
}
