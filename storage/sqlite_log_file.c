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
/* Of the locks of a log, that of who writes to it. */
#define WRITE_LOCK 0

struct log_file {
    sqlite3_file base;
    sqlite3_file *inner; /* behind this struct */
    struct database_file *database;
    uint8_t *piece;   /* SQLITE_LOG_PIECE, or NULL: not yet */
    sqlite3_int64 at; /* of the piece, in the file */
    int len;
    int lost; /* what the system said to a piece that it did not take, until the transaction ends */
    bool gathers;
};

/* Behind what the default VFS keeps of a file. */
struct database_file {
    sqlite3_io_methods methods; /* the default ones but for xShmLock */
    const sqlite3_io_methods *system;
    struct log_file *log; /* NULL: not open */
};

static struct log_file *log_of(sqlite3_file *file)
{
    return (struct log_file *)file;
}

static int flush(struct log_file *f)
{
    const int len = f->len;
    f->len = 0;
    if (len && !f->lost)
        f->lost = f->inner->pMethods->xWrite(f->inner, f->piece, len, f->at);
    return f->lost;
}

static bool ends_a_commit(const uint8_t *header)
{
    static const uint8_t none[SIZE_BYTES];
    return memcmp(header + FRAME_SIZE, none, sizeof(none)) != 0;
}

static int log_write(sqlite3_file *file, const void *data, int len, sqlite3_int64 at)
{
    struct log_file *f = log_of(file);
    int rc = f->lost;
    if (len == FRAME_HEADER && ends_a_commit(data))
        f->gathers = false;
    if (f->len && (!f->gathers || at != f->at + f->len || len > SQLITE_LOG_PIECE - f->len))
        rc = flush(f);
    if (rc)
        return rc;
    if (!f->piece)
        f->piece = malloc(SQLITE_LOG_PIECE);
    if (!f->gathers || !f->piece || len > SQLITE_LOG_PIECE)
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
    f->database->log = NULL;
    free(f->piece);
    f->piece = NULL;
    return f->inner->pMethods->xClose(f->inner);
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

/* --- the database, whose locks tell when a transaction begins and ends ------------------------- */

static size_t system_size; /* of what the default VFS keeps of a file */

static struct database_file *database_of(sqlite3_file *file)
{
    return (struct database_file *)((uint8_t *)file + system_size);
}

/* What was not committed is of no use behind its transaction: others may write in its place. */
static void begin_anew(struct log_file *f, bool gathers)
{
    f->len = 0;
    f->lost = SQLITE_OK;
    f->gathers = gathers;
}

static int database_lock(sqlite3_file *file, int first, int count, int flags)
{
    const struct database_file *d = database_of(file);
    const bool writes = d->log && first == WRITE_LOCK && (flags & SQLITE_SHM_EXCLUSIVE);
    if (writes && (flags & SQLITE_SHM_UNLOCK))
        begin_anew(d->log, false);
    const int rc = d->system->xShmLock(file, first, count, flags);
    if (writes && (flags & SQLITE_SHM_LOCK) && rc == SQLITE_OK)
        begin_anew(d->log, true);
    return rc;
}

static void watch_locks(sqlite3_file *file)
{
    struct database_file *d = database_of(file);
    *d = (struct database_file){.methods = *file->pMethods, .system = file->pMethods};
    d->methods.xShmLock = database_lock;
    file->pMethods = &d->methods;
}

/* --- the VFS ---------------------------------------------------------------------------------- */

static int open_log(sqlite3_vfs *system, sqlite3_filename name, sqlite3_file *file, int flags,
                    int *ret_flags)
{
    struct log_file *f = log_of(file);
    *f = (struct log_file){.inner = (sqlite3_file *)(f + 1)};
    const int rc = system->xOpen(system, name, f->inner, flags, ret_flags);
    if (rc != SQLITE_OK)
        return rc;
    f->database = database_of(sqlite3_database_file_object(name));
    f->database->log = f;
    f->base.pMethods = &log_methods;
    return SQLITE_OK;
}

static int open_file(sqlite3_vfs *vfs, sqlite3_filename name, sqlite3_file *file, int flags,
                     int *ret_flags)
{
    sqlite3_vfs *system = vfs->pAppData;
    if (flags & SQLITE_OPEN_WAL)
        return open_log(system, name, file, flags, ret_flags);
    const int rc = system->xOpen(system, name, file, flags, ret_flags);
    if (rc == SQLITE_OK && (flags & SQLITE_OPEN_MAIN_DB) && file->pMethods->iVersion >= 2)
        watch_locks(file);
    return rc;
}

static bool registered;

static void add(void)
{
    static sqlite3_vfs vfs;
    static const size_t align = _Alignof(struct database_file);
    sqlite3_vfs *system = sqlite3_vfs_find(NULL);
    if (!system)
        return;
    system_size = ((size_t)system->szOsFile + align - 1) / align * align;
    vfs = *system;
    vfs.pNext = NULL;
    vfs.zName = VFS_NAME;
    vfs.pAppData = system;
    vfs.szOsFile = (int)(system_size + sizeof(struct log_file) + sizeof(struct database_file));
    vfs.xOpen = open_file;
    registered = sqlite3_vfs_register(&vfs, 0) == SQLITE_OK;
}

const char *sqlite_log_vfs(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    (void)pthread_once(&once, add);
    return registered ? VFS_NAME : NULL;
}
