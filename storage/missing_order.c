#include "storage/missing_order.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

/* The app's place among equals is a hash of its name: a cursor is made of numbers. */
#define KEYS 5

static void keys_of(const struct missing_row *m, int64_t keys[KEYS])
{
    uint8_t digest[SHA256_SIZE];
    sha256_of(m->bundle_id, strlen(m->bundle_id), digest);
    keys[0] = m->class == IMAGE_CLASS_SYSTEM;
    keys[1] = -(int64_t)m->reports;
    memcpy(&keys[2], m->uuid.bytes, 8);
    memcpy(&keys[3], m->uuid.bytes + 8, 8);
    memcpy(&keys[4], digest, 8);
}

static int compare_keys(const int64_t *a, const int64_t *b)
{
    for (size_t i = 0; i < KEYS; i++) {
        if (a[i] != b[i])
            return a[i] < b[i] ? -1 : 1;
    }
    return 0;
}

static int by_keys(const void *a, const void *b)
{
    int64_t x[KEYS], y[KEYS];
    keys_of(a, x);
    keys_of(b, y);
    return compare_keys(x, y);
}

enum err missing_page(struct missing_row *rows, size_t count, size_t limit, const char *cursor,
                      struct arena *arena, struct missing_row **ret, size_t *ret_count,
                      const char **ret_next, struct error *err)
{
    int64_t after[KEYS];
    int64_t keys[KEYS];
    bool started = false;
    size_t first = 0;
    const char *next = NULL;
    enum err rc = read_cursor_parse(cursor, 'm', after, KEYS, &started, err);
    if (rc)
        return rc;
    if (count)
        qsort(rows, count, sizeof(*rows), by_keys);
    for (; started && first < count; first++) {
        keys_of(&rows[first], keys);
        if (compare_keys(keys, after) > 0)
            break;
    }
    size_t n = count - first < limit ? count - first : limit;
    if (n && first + n < count) {
        keys_of(&rows[first + n - 1], keys);
        if (!(next = read_cursor_make(arena, 'm', keys, KEYS)))
            return error_set(err, ERR_NO_MEMORY, "no memory for a cursor");
    }
    *ret = rows ? rows + first : NULL;
    *ret_count = n;
    *ret_next = next;
    return ERR_OK;
}
