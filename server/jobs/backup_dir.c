#include "server/jobs/backup_dir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "storage/blob_stage.h"

#define MANIFEST       "MANIFEST"
#define MANIFEST_BYTES ((size_t)4096)
#define LIST_BYTES     ((size_t)4 << 20)
#define DIR_MODE       0750

static const struct {
    const char *name;
    size_t offset;
} FIELDS[] = {
    {"begun_ms", offsetof(struct backup_facts, begun_ms)},
    {"finished_ms", offsetof(struct backup_facts, finished_ms)},
    {"database_bytes", offsetof(struct backup_facts, database_bytes)},
    {"files", offsetof(struct backup_facts, files)},
    {"bytes", offsetof(struct backup_facts, bytes)},
};
#define FIELD_COUNT (sizeof(FIELDS) / sizeof(FIELDS[0]))

/* --- names ------------------------------------------------------------------------------------ */

/* RFC 3339 without what is no letter and no digit: names that sort as time goes. */
void backup_id_make(int64_t now_ms, char out[BACKUP_ID_SIZE])
{
    char text[CLOCK_TEXT_SIZE];
    size_t n = 0;
    clock_format_rfc3339(now_ms, text);
    for (const char *p = text; *p && n < BACKUP_ID_SIZE - 1; p++) {
        if (*p != '-' && *p != ':' && *p != '.')
            out[n++] = *p;
    }
    out[n] = 0;
}

bool backup_id_valid(const char *text)
{
    static const char shape[] = "00000000T000000000Z";
    if (strlen(text) != sizeof(shape) - 1)
        return false;
    for (size_t i = 0; i < sizeof(shape) - 1; i++) {
        bool digit = text[i] >= '0' && text[i] <= '9';
        if (shape[i] == '0' ? !digit : text[i] != shape[i])
            return false;
    }
    return true;
}

static enum err path_of(const char *dir, const char *before, const char *id, const char *after,
                        char *out, size_t size, struct error *err)
{
    int n = snprintf(out, size, "%s/%s%s%s", dir, before, id, after);
    if (n < 0 || (size_t)n >= size)
        return error_set(err, ERR_LIMIT, "the path of the backup folder is too long");
    return ERR_OK;
}

/* ".ID.tmp" */
static bool is_unfinished(const char *name)
{
    char id[BACKUP_ID_SIZE];
    size_t n = strlen(name);
    if (n != 1 + sizeof(id) - 1 + 4 || name[0] != '.' || strcmp(name + n - 4, ".tmp") != 0)
        return false;
    memcpy(id, name + 1, sizeof(id) - 1);
    id[sizeof(id) - 1] = 0;
    return backup_id_valid(id);
}

/* --- one backup ------------------------------------------------------------------------------- */

static enum err sync_folder(const char *path, struct error *err)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int failed = fd < 0 || fsync(fd) != 0 ? errno : 0;
    if (fd >= 0)
        close(fd);
    return failed ? error_errno(err, failed, "cannot sync the folder %s", path) : ERR_OK;
}

enum err backup_dir_prepare(const char *dir, struct error *err)
{
    char path[PATH_MAX];
    if (mkdir(dir, DIR_MODE) != 0 && errno != EEXIST)
        return error_errno(err, errno, "cannot make the backup folder %s", dir);
    DIR *d = opendir(dir);
    if (!d)
        return error_errno(err, errno, "cannot open the backup folder %s", dir);
    for (struct dirent *e = readdir(d); e; e = readdir(d)) {
        if (is_unfinished(e->d_name) &&
            path_of(dir, "", e->d_name, "", path, sizeof(path), NULL) == ERR_OK)
            blob_stage_remove_tree(path);
    }
    closedir(d);
    return ERR_OK;
}

enum err backup_dir_begin(const char *dir, const char *id, char *ret_path, size_t size,
                          struct error *err)
{
    enum err rc = path_of(dir, ".", id, ".tmp", ret_path, size, err);
    if (rc == ERR_OK && mkdir(ret_path, DIR_MODE) != 0)
        rc = error_errno(err, errno, "cannot make the folder %s", ret_path);
    return rc;
}

static enum err write_manifest(const char *folder, const struct backup_facts *facts,
                               struct error *err)
{
    char path[PATH_MAX], text[512];
    size_t n = 0;
    enum err rc = path_of(folder, "", MANIFEST, "", path, sizeof(path), err);
    if (rc != ERR_OK)
        return rc;
    for (size_t i = 0; i < FIELD_COUNT; i++) {
        uint64_t v;
        memcpy(&v, (const char *)facts + FIELDS[i].offset, sizeof(v));
        n += (size_t)snprintf(text + n, sizeof(text) - n, "%s %" PRIu64 "\n", FIELDS[i].name, v);
    }
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0640);
    if (fd < 0)
        return error_errno(err, errno, "cannot make %s", path);
    rc = file_write(fd, text, n, path, err);
    if (rc == ERR_OK && fsync(fd) != 0)
        rc = error_errno(err, errno, "cannot sync %s", path);
    close(fd);
    return rc;
}

enum err backup_dir_finish(const char *dir, const char *id, const struct backup_facts *facts,
                           struct error *err)
{
    char aside[PATH_MAX], path[PATH_MAX] = "";
    enum err rc = path_of(dir, ".", id, ".tmp", aside, sizeof(aside), err);
    if (rc == ERR_OK)
        rc = path_of(dir, "", id, "", path, sizeof(path), err);
    if (rc == ERR_OK)
        rc = write_manifest(aside, facts, err);
    if (rc == ERR_OK)
        rc = sync_folder(aside, err);
    if (rc == ERR_OK && rename(aside, path) != 0)
        rc = error_errno(err, errno, "cannot rename the backup to %s", path);
    return rc == ERR_OK ? sync_folder(dir, err) : rc;
}

void backup_dir_abort(const char *dir, const char *id)
{
    char path[PATH_MAX];
    if (path_of(dir, ".", id, ".tmp", path, sizeof(path), NULL) == ERR_OK)
        blob_stage_remove_tree(path);
}

/* --- all of them ------------------------------------------------------------------------------ */

static void read_line(const char *line, struct backup_facts *ret)
{
    for (size_t i = 0; i < FIELD_COUNT; i++) {
        size_t n = strlen(FIELDS[i].name);
        if (strncmp(line, FIELDS[i].name, n) == 0 && line[n] == ' ') {
            uint64_t v = strtoull(line + n + 1, NULL, 10);
            memcpy((char *)ret + FIELDS[i].offset, &v, sizeof(v));
        }
    }
}

static bool read_manifest(const char *dir, const char *id, struct backup_facts *ret)
{
    char path[PATH_MAX];
    struct buf text;
    buf_init(&text, MANIFEST_BYTES);
    bool good = path_of(dir, "", id, "/" MANIFEST, path, sizeof(path), NULL) == ERR_OK &&
                file_read(path, &text, NULL) == ERR_OK && buf_putc(&text, 0);
    *ret = (struct backup_facts){0};
    for (const char *p = good ? text.data : NULL; p; p = strchr(p, '\n'), p = p ? p + 1 : NULL)
        read_line(p, ret);
    buf_done(&text);
    return good;
}

static int by_age(const void *a, const void *b)
{
    const struct backup_entry *x = a, *y = b;
    return strcmp(y->id, x->id);
}

enum err backup_dir_list(const char *dir, struct arena *arena, struct backup_entry **ret,
                         size_t *ret_count, struct error *err)
{
    struct backup_entry *list = NULL;
    size_t count = 0, cap = 0;
    enum err rc = ERR_OK;
    DIR *d = opendir(dir);
    if (!d)
        return error_errno(err, errno, "cannot open the backup folder %s", dir);
    for (struct dirent *e = readdir(d); e && rc == ERR_OK; e = readdir(d)) {
        struct backup_facts facts;
        if (!backup_id_valid(e->d_name) || !read_manifest(dir, e->d_name, &facts))
            continue;
        if (!arena_room(arena, (void **)&list, count, &cap, sizeof(list[0]))) {
            rc = error_set(err, ERR_NO_MEMORY, "no memory for a list of backups");
            break;
        }
        memcpy(list[count].id, e->d_name, BACKUP_ID_SIZE);
        list[count++].facts = facts;
    }
    closedir(d);
    if (rc != ERR_OK)
        return rc;
    if (count > 1)
        qsort(list, count, sizeof(list[0]), by_age);
    *ret = list;
    *ret_count = count;
    return ERR_OK;
}

/* Renamed first: what is half removed is no backup. */
static enum err remove_one(const char *dir, const char *id, struct error *err)
{
    char path[PATH_MAX], aside[PATH_MAX];
    enum err rc = path_of(dir, "", id, "", path, sizeof(path), err);
    if (rc == ERR_OK)
        rc = path_of(dir, ".", id, ".tmp", aside, sizeof(aside), err);
    if (rc == ERR_OK && rename(path, aside) != 0)
        rc = error_errno(err, errno, "cannot remove the backup %s", path);
    if (rc == ERR_OK)
        blob_stage_remove_tree(aside);
    return rc;
}

enum err backup_dir_prune(const char *dir, size_t keep, size_t *ret_removed, struct error *err)
{
    struct arena arena;
    struct backup_entry *list = NULL;
    size_t count = 0, removed = 0;
    arena_init(&arena, LIST_BYTES);
    enum err rc = backup_dir_list(dir, &arena, &list, &count, err);
    for (size_t i = keep; rc == ERR_OK && i < count; i++) {
        rc = remove_one(dir, list[i].id, err);
        removed += rc == ERR_OK;
    }
    arena_done(&arena);
    *ret_removed = removed;
    return rc;
}

uint64_t backup_dir_free_bytes(const char *dir)
{
    struct statvfs fs;
    if (statvfs(dir, &fs) != 0)
        return 0;
    return (uint64_t)fs.f_bavail * fs.f_frsize;
}
