#include "storage/symbolication.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

static bool grow(struct symbolication *s)
{
    size_t cap = s->cap ? s->cap * 2 : 16, mask = cap * 2 - 1;
    struct symbolication_row *rows = arena_array(s->arena, cap, sizeof(*rows));
    uint32_t *slots = arena_array(s->arena, cap * 2, sizeof(*slots));
    if (!rows || !slots)
        return false;
    for (size_t i = 0; i < s->count; i++) {
        rows[i] = s->rows[i];
        size_t at = hash64(rows[i].key, strlen(rows[i].key), 0) & mask;
        while (slots[at])
            at = (at + 1) & mask;
        slots[at] = (uint32_t)i + 1;
    }
    s->rows = rows;
    s->slots = slots;
    s->cap = cap;
    return true;
}

/* The row of a key; *ret is NULL past the last one that has room. */
static enum err row_of(struct symbolication *s, const char *key, struct symbolication_row **ret,
                       struct error *err)
{
    *ret = NULL;
    if (s->count == s->cap && s->count < SYMBOLICATION_KEYS_MAX && !grow(s))
        return error_set(err, ERR_NO_MEMORY, "no memory for an answer");
    size_t mask = s->cap * 2 - 1;
    size_t at = hash64(key, strlen(key), 0) & mask;
    while (s->slots[at] && strcmp(s->rows[s->slots[at] - 1].key, key) != 0)
        at = (at + 1) & mask;
    if (!s->slots[at]) {
        if (s->count == SYMBOLICATION_KEYS_MAX)
            return ERR_OK;
        struct symbolication_row *row = &s->rows[s->count];
        if (!(row->key = arena_strdup(s->arena, key)))
            return error_set(err, ERR_NO_MEMORY, "no memory for an answer");
        s->slots[at] = (uint32_t)++s->count;
    }
    *ret = &s->rows[s->slots[at] - 1];
    return ERR_OK;
}

enum err symbolication_add(struct symbolication *s, const char *key, uint64_t frames,
                           uint64_t resolved, struct error *err)
{
    struct symbolication_row *row = NULL;
    enum err rc = row_of(s, key, &row, err);
    if (!row)
        return rc;
    row->frames += frames;
    row->resolved += resolved;
    return ERR_OK;
}

enum err symbolication_add_version(struct symbolication *s, const char *bundle_id,
                                   const char *version, uint64_t frames, uint64_t resolved,
                                   struct error *err)
{
    struct symbolication_row *row = NULL;
    const char *key = arena_printf(s->arena, "%s%s%s", bundle_id, *version ? " " : "", version);
    enum err rc =
        key ? row_of(s, key, &row, err) : error_set(err, ERR_NO_MEMORY, "no memory for an answer");
    if (!row)
        return rc;
    if (!row->version) {
        row->bundle_id = arena_strdup(s->arena, bundle_id);
        row->version = arena_strdup(s->arena, version);
        if (!row->bundle_id || !row->version)
            return error_set(err, ERR_NO_MEMORY, "no memory for an answer");
    }
    row->frames += frames;
    row->resolved += resolved;
    return ERR_OK;
}

enum err symbolication_add_stack(struct symbolication *s, const struct resolved_stack *stack,
                                 uint64_t times, struct error *err)
{
    enum err rc = ERR_OK;
    for (size_t i = 0; i < stack->count && !rc; i++) {
        const struct resolved_frame *f = &stack->frames[i];
        if (f->in_app)
            rc = symbolication_add(s, f->image_name ? f->image_name : "", times,
                                   f->frame_count ? times : 0, err);
    }
    return rc;
}

static int by_frames(const void *a, const void *b)
{
    const struct symbolication_row *x = a;
    const struct symbolication_row *y = b;
    if (x->frames != y->frames)
        return x->frames > y->frames ? -1 : 1;
    return strcmp(x->key, y->key);
}

void symbolication_rows(struct symbolication *s, size_t limit, struct symbolication_row **ret,
                        size_t *ret_count)
{
    if (s->count)
        qsort(s->rows, s->count, sizeof(*s->rows), by_frames);
    *ret = s->rows;
    *ret_count = s->count < limit ? s->count : limit;
}
