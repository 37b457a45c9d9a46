#include "storage/symbolication.h"

#include <stdlib.h>
#include <string.h>

#define KEYS_MAX 100000

enum err symbolication_add(struct symbolication *s, const char *key, uint64_t frames,
                           uint64_t resolved, struct error *err)
{
    size_t i = 0;
    while (i < s->count && strcmp(s->rows[i].key, key) != 0)
        i++;
    if (i == s->count) {
        if (s->count == KEYS_MAX)
            return error_set(err, ERR_LIMIT, "too many images");
        if (s->count == s->cap) {
            size_t cap = s->cap ? s->cap * 2 : 16;
            struct symbolication_row *rows = arena_array(s->arena, cap, sizeof(*rows));
            if (!rows)
                return error_set(err, ERR_NO_MEMORY, "no memory for an answer");
            if (s->count)
                memcpy(rows, s->rows, s->count * sizeof(*rows));
            s->rows = rows;
            s->cap = cap;
        }
        if (!(s->rows[i].key = arena_strdup(s->arena, key)))
            return error_set(err, ERR_NO_MEMORY, "no memory for an answer");
        s->count++;
    }
    s->rows[i].frames += frames;
    s->rows[i].resolved += resolved;
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
