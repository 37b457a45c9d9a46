#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#define BLOCK_BYTES 16384

enum err file_write(int fd, const void *data, size_t len, const char *what, struct error *err)
{
    const char *p = data;
    while (len > 0) {
        ssize_t n = write(fd, p, len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return error_errno(err, errno, "cannot write %s", what);
        p += n;
        len -= (size_t)n;
    }
    return ERR_OK;
}

enum err file_read(const char *path, struct buf *out, struct error *err)
{
    char block[BLOCK_BYTES];
    enum err rc = ERR_OK;
    ssize_t n = 1;
    struct stat st;
    const size_t before = out->len;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* would wait for a pipe's writer */
    if (fd < 0 || fstat(fd, &st) || fcntl(fd, F_SETFL, 0)) {
        rc = error_errno(err, errno, "cannot open %s", path);
        if (fd >= 0)
            close(fd);
        return rc;
    }
    while (rc == ERR_OK && n != 0) {
        n = read(fd, block, sizeof(block));
        if (n < 0 && errno != EINTR)
            rc = error_errno(err, errno, "cannot read %s", path);
        else if (n > 0 && !buf_put(out, block, (size_t)n))
            rc = out->capped
                     ? error_set(err, ERR_LIMIT, "%s is larger than %zu bytes", path, out->limit)
                     : error_set(err, ERR_NO_MEMORY, "no memory to read %s", path);
    }
    close(fd);
    if (rc == ERR_OK && S_ISFIFO(st.st_mode) && out->len == before)
        rc = error_set(err, ERR_IO, "nobody writes to %s, which is a pipe", path);
    return rc;
}
