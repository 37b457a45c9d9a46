#include "storage/sqlite_log_file.h"

#include <pthread.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define VFS_NAME "stallsym"
/* Of the log's format: before each page, and where its header says how large the database is after the
 * commit, 0 but in the last frame of one. */
#define FRAME_HEADER 24
#define FRAME_SIZE   4
#define SIZE_BYTES   4

struct log_file {
    sqlite3_file base;
    sqlite3_file *inner; /* behind this struct */
    uint8_t *piece;      /* SQLITE_LOG_PIECE, or NULL: not yet */
    sqlite3_int64 at;    /* of the piece, in the file */
    int len;
    bool commits; /* nothing gathers */
};

static struct log_file *log_of(sqlite3_file *file)
{
    return (struct log_file *)file;
}

static int flush(struct log_file *f)
{
    const int len = f->len;
    f->len = 0;
    return len ? f->inner->pMethods->xWrite(f->inner, f->piece, len, f->at) : SQLITE_OK;
}

static bool ends_a_commit(const uint8_t *header)
{
    static const uint8_t none[SIZE_BYTES];
    return memcmp(header + FRAME_SIZE, none, sizeof(none)) != 0;
}

static int log_write(sqlite3_file *file, const void *data, int len, sqlite3_int64 at)
{
    struct log_file *f = log_of(file);
    int rc = SQLITE_OK;
    if (len == FRAME_HEADER)
        f->commits = ends_a_commit(data);
    if (f->len && (f->commits || at != f->at + f->len || len > SQLITE_LOG_PIECE - f->len))
        rc = flush(f);
    if (rc)
        return rc;
    if (!f->piece)
        f->piece = malloc(SQLITE_LOG_PIECE);
    if (f->commits || !f->piece || len > SQLITE_LOG_PIECE)
        return f->inner->pMethods->xWrite(f->inner, data, len, at);
    if (!f->len)
        f->at = at;
    memcpy(f->piece + f->len, data, (size_t)len);
    f->len += len;
    return SQLITE_OK;
}

static int log_close(sqlite3_file *file)
{
    struct log_file *f = log_of(file);
    const int rc = flush(f);
    const int closed = f->inner->pMethods->xClose(f->inner);
    free(f->piece);
    f->piece = NULL;
    return rc ? rc : closed;
}

static int log_read(sqlite3_file *file, void *data, int len, sqlite3_int64 at)
{
    struct log_file *f = log_of(file);
    const int rc = flush(f);
    return rc ? rc : f->inner->pMethods->xRead(f->inner, data, len, at);
}

static int log_truncate(sqlite3_file *file, sqlite3_int64 size)
{
    struct log_file *f = log_of(file);
    const int rc = flush(f);
    return rc ? rc : f->inner->pMethods->xTruncate(f->inner, size);
}

static int log_sync(sqlite3_file *file, int flags)
{
    struct log_file *f = log_of(file);
    const int rc = flush(f);
    return rc ? rc : f->inner->pMethods->xSync(f->inner, flags);
}

static int log_size(sqlite3_file *file, sqlite3_int64 *ret)
{
    struct log_file *f = log_of(file);
    const int rc = flush(f);
    return rc ? rc : f->inner->pMethods->xFileSize(f->inner, ret);
}

static int log_lock(sqlite3_file *file, int level)
{
    struct log_file *f = log_of(file);
    return f->inner->pMethods->xLock(f->inner, level);
}

static int log_unlock(sqlite3_file *file, int level)
{
    struct log_file *f = log_of(file);
    return f->inner->pMethods->xUnlock(f->inner, level);
}

static int log_check_lock(sqlite3_file *file, int *ret)
{
    struct log_file *f = log_of(file);
    return f->inner->pMethods->xCheckReservedLock(f->inner, ret);
}

static int log_control(sqlite3_file *file, int op, void *arg)
{
    struct log_file *f = log_of(file);
    const int rc = flush(f);
    return rc ? rc : f->inner->pMethods->xFileControl(f->inner, op, arg);
}

static int log_sector(sqlite3_file *file)
{
    struct log_file *f = log_of(file);
    return f->inner->pMethods->xSectorSize(f->inner);
}

static int log_device(sqlite3_file *file)
{
    struct log_file *f = log_of(file);
    return f->inner->pMethods->xDeviceCharacteristics(f->inner);
}

static const sqlite3_io_methods log_methods = {
    .iVersion = 1,
    .xClose = log_close,
    .xRead = log_read,
    .xWrite = log_write,
    .xTruncate = log_truncate,
    .xSync = log_sync,
    .xFileSize = log_size,
    .xLock = log_lock,
    .xUnlock = log_unlock,
    .xCheckReservedLock = log_check_lock,
    .xFileControl = log_control,
    .xSectorSize = log_sector,
    .xDeviceCharacteristics = log_device,
};

static int open_file(sqlite3_vfs *vfs, sqlite3_filename name, sqlite3_file *file, int flags,
                     int *ret_flags)
{
    sqlite3_vfs *system = vfs->pAppData;
    if (!(flags & SQLITE_OPEN_WAL))
        return system->xOpen(system, name, file, flags, ret_flags);
    struct log_file *f = log_of(file);
    *f = (struct log_file){.inner = (sqlite3_file *)(f + 1)};
    const int rc = system->xOpen(system, name, f->inner, flags, ret_flags);
    if (f->inner->pMethods)
        f->base.pMethods = &log_methods;
    return rc;
}

static bool registered;

static void add(void)
{
    static sqlite3_vfs vfs;
    sqlite3_vfs *system = sqlite3_vfs_find(NULL);
    if (!system)
        return;
    vfs = *system;
    vfs.pNext = NULL;
    vfs.zName = VFS_NAME;
    vfs.pAppData = system;
    vfs.szOsFile += (int)sizeof(struct log_file);
    vfs.xOpen = open_file;
    registered = sqlite3_vfs_register(&vfs, 0) == SQLITE_OK;
}

const char *sqlite_log_vfs(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    (void)pthread_once(&once, add);
    return registered ? VFS_NAME : NULL;
}
