#include "storage/sqlite_files.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static bool log_path(const char *path, char *out, size_t size)
{
    int n = snprintf(out, size, "%s-wal", path);
    return n > 0 && (size_t)n < size;
}

/* A log begins with a number that is not 0, and is written from its beginning without a gap. One that
 * cannot be read is for whoever reads it; where the file system knows no holes there is none. */
static bool is_hollow(const char *log, int64_t log_bytes)
{
    uint32_t number = 1;
    const int fd = open(log, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    const bool nothing = pread(fd, &number, sizeof(number), 0) == sizeof(number) && number == 0;
    const off_t hole = lseek(fd, 0, SEEK_HOLE);
    (void)close(fd); /* ends no locks: SQLite's are on the other files */
    return nothing || (hole >= 0 && hole < log_bytes);
}

void sqlite_files_note(struct sqlite_files *f, const char *path)
{
    char log[PATH_MAX];
    struct stat st;
    f->database.known = stat(path, &st) == 0;
    if (f->database.known)
        f->database.ino = st.st_ino;
    f->log.known = log_path(path, log, sizeof(log)) && stat(log, &st) == 0;
    if (f->log.known)
        f->log.ino = st.st_ino;
    atomic_store(&f->cut, false);
}

enum sqlite_files_state sqlite_files_look(const struct sqlite_files *f, const char *path,
                                          int64_t log_bytes)
{
    char log[PATH_MAX];
    struct stat st;
    if (f->database.known && (stat(path, &st) != 0 || st.st_ino != f->database.ino))
        return FILES_DATABASE_GONE;
    if (!f->log.known)
        return FILES_OK;
    if (!log_path(path, log, sizeof(log)) || stat(log, &st) != 0 || st.st_ino != f->log.ino)
        return FILES_LOG_GONE;
    if (atomic_load(&f->cut) || st.st_size < log_bytes)
        return FILES_LOG_CUT;
    return log_bytes > 0 && is_hollow(log, log_bytes) ? FILES_LOG_HOLLOW : FILES_OK;
}

enum err sqlite_files_error(enum sqlite_files_state state, struct error *err)
{
    static const char cut[] =
        "the database's write-ahead log was cut; nothing is written until the "
        "daemon is started anew, and what the log had is lost";
    static const char *const words[] = {
        [FILES_OK] = "nothing is wrong",
        [FILES_DATABASE_GONE] = "the database file was moved or removed; nothing is written until "
                                "it is back, or the daemon is started anew",
        [FILES_LOG_GONE] = "the database's write-ahead log was moved or removed; nothing is "
                           "written until it is back, or the daemon is started anew",
        [FILES_LOG_CUT] = cut,
        [FILES_LOG_HOLLOW] = cut,
    };
    return error_set(err, ERR_IO, "%s", words[state]);
}
