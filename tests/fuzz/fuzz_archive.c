/*
 * fuzz_archive - any bytes are an upload.
 *
 * Caps are small, so that a bomb is cheap, and so are the windows: a run costs what its input does,
 * not what fresh memory does. One file holds the inputs, one takes what is unpacked.
 */
#define WINDOW     ((size_t)16 << 10)
#define RATIO_FROM ((uint64_t)16 << 10)
#include "symbolizer/archive.c"
#include "symbolizer/archive_gzip.c"

#include <stdio.h>
#include <sys/mman.h>

#include "tests/fuzz/fuzz.h"

static int sink = -1;
/* Or each run would map the locale's file anew. Leak checkers alone read it. */
static locale_t volatile held;

static int open_sink(void *ctx, const char *member, struct error *err)
{
    (void)ctx;
    (void)err;
    REQUIRE(member);
    return sink;
}

static enum err close_sink(void *ctx, int fd, bool complete, struct error *err)
{
    size_t *whole = ctx;
    (void)err;
    REQUIRE(fd == sink);
    *whole += complete;
    return ERR_OK;
}

/* Any rule that some members meet. */
static bool wants_some(void *ctx, const char *member, const void *head, size_t len)
{
    (void)ctx, (void)head;
    return member[0] && len > 0 && len % 2 == 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct archive_limits limits = {
        .member_bytes = 64 << 10, .total_bytes = 128 << 10, .members = 32, .ratio = 100};
    static char path[64];
    static int fd = -1;
    size_t whole = 0;
    struct archive_counts counts = {0};
    const struct archive_visitor visitor = {wants_some, open_sink, close_sink, &whole};
    struct error err = {.code = ERR_OK};
    if (fd < 0) {
        fd = memfd_create("upload", MFD_CLOEXEC);
        sink = open("/dev/null", O_WRONLY | O_CLOEXEC);
        held = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
        snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    }
    REQUIRE(pwrite(fd, data, size, 0) == (ssize_t)size && ftruncate(fd, (off_t)size) == 0);
    enum err e = archive_walk(path, &limits, &visitor, &counts, &err);
    REQUIRE(e == ERR_OK ? whole == counts.objects + counts.wanted : err.text[0]);
    return 0;
}
