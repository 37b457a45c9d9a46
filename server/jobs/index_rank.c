#include "server/jobs/index_rank.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define BLOCK 65536

struct side {
    int fd;
    uint64_t size;
    ssize_t len;
    uint8_t block[BLOCK];
};

static bool open_side(const char *path, struct side *s, bool *unread)
{
    struct stat st;
    s->fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (s->fd < 0 || fstat(s->fd, &st) != 0) {
        *unread |= path && errno != ENOENT;
        return false;
    }
    s->size = (uint64_t)st.st_size;
    return true;
}

/* Fills the block as far as the file goes. */
static bool next_block(struct side *s)
{
    s->len = 0;
    while (s->len < BLOCK) {
        ssize_t n = read(s->fd, s->block + s->len, (size_t)(BLOCK - s->len));
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return false;
        if (n == 0)
            break;
        s->len += n;
    }
    return true;
}

static int compare_bytes(struct side *a, struct side *b, bool *unread)
{
    if (a->size != b->size)
        return a->size < b->size ? -1 : 1;
    do {
        if (!next_block(a) || !next_block(b) || a->len != b->len) {
            *unread = true;
            return a->len < b->len ? -1 : 1;
        }
        int order = memcmp(a->block, b->block, (size_t)a->len);
        if (order)
            return order;
    } while (a->len == BLOCK);
    return 0;
}

int index_file_compare(const char *a, const char *b, bool *unread)
{
    static _Thread_local struct side x, y;
    bool has_a = open_side(a, &x, unread);
    bool has_b = open_side(b, &y, unread);
    int order = has_a && has_b ? compare_bytes(&x, &y, unread) : (int)has_b - (int)has_a;
    if (x.fd >= 0)
        close(x.fd);
    if (y.fd >= 0)
        close(y.fd);
    return order;
}

static int compare_riches(const struct index_rank *a, const struct index_rank *b)
{
    if (a->has_dwarf != b->has_dwarf)
        return a->has_dwarf ? 1 : -1;
    if (a->lines != b->lines)
        return a->lines > b->lines ? 1 : -1;
    if (a->functions != b->functions)
        return a->functions > b->functions ? 1 : -1;
    return (a->inlines > b->inlines) - (a->inlines < b->inlines);
}

int index_rank_compare(const struct index_rank *a, const struct index_rank *b)
{
    int order = compare_riches(a, b);
    if (order || !a->path || !b->path)
        return order;
    bool ignored = false;
    return -index_file_compare(a->path, b->path, a->unread ? a->unread : &ignored);
}

bool index_rank_conflict(const struct index_rank *a, const struct index_rank *b)
{
    if (a->text_vmaddr != b->text_vmaddr || a->text_size != b->text_size)
        return true;
    if (a->has_dwarf != b->has_dwarf || (!a->has_dwarf && a->functions != b->functions))
        return false;
    return index_rank_compare(a, b) != 0;
}
