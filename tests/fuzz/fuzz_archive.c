/* fuzz_archive - any bytes are an upload. Caps are small, so that a bomb is cheap. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "symbolizer/archive.h"

static int open_sink(void *ctx, const char *member, struct error *err)
{
    (void)ctx;
    (void)err;
    if (!member)
        abort();
    return open("/dev/null", O_WRONLY | O_CLOEXEC);
}

static enum err close_sink(void *ctx, int fd, bool complete, struct error *err)
{
    size_t *whole = ctx;
    (void)err;
    *whole += complete;
    close(fd);
    return ERR_OK;
}

/* Any rule that some members meet. */
static bool wants_some(void *ctx, const char *member, const void *head, size_t len)
{
    (void)ctx, (void)head;
    return member[0] && len > 0 && len % 2 == 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct archive_limits limits = {
        .member_bytes = 1 << 20, .total_bytes = 4 << 20, .members = 100, .ratio = 200};
    char path[64];
    size_t whole = 0;
    struct archive_counts counts = {0};
    const struct archive_visitor visitor = {wants_some, open_sink, close_sink, &whole};
    struct error err = {.code = ERR_OK};
    int fd = memfd_create("upload", MFD_CLOEXEC);
    if (fd < 0 || write(fd, data, size) != (ssize_t)size)
        abort();
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    enum err e = archive_walk(path, &limits, &visitor, &counts, &err);
    if (e == ERR_OK ? whole != counts.objects + counts.wanted : !err.text[0])
        abort();
    close(fd);
    return 0;
}
