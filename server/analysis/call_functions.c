#include "server/analysis/call_functions.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/text.h"

#define CUT_SIZE (CALL_TREE_TEXT_MAX + 4)

enum err call_enlarge(size_t *bytes, size_t max_bytes, void **table, size_t size, size_t from,
                      size_t to, struct error *err)
{
    if (*bytes + (to - from) * size > max_bytes)
        return error_set(err, ERR_LIMIT, "the call tree takes more than %zu bytes", max_bytes);
    void *larger = realloc(*table, to * size);
    if (!larger)
        return error_set(err, ERR_NO_MEMORY, "no memory for a call tree");
    *table = larger;
    *bytes += (to - from) * size;
    return ERR_OK;
}

void call_functions_init(struct call_functions *f, size_t *bytes, size_t max_bytes)
{
    *f = (struct call_functions){.bytes = bytes, .max_bytes = max_bytes};
    arena_init(&f->texts, max_bytes ? max_bytes : 1);
}

void call_functions_done(struct call_functions *f)
{
    arena_done(&f->texts);
    free(f->items);
    free(f->by_text);
}

/* The text itself, or its beginning in `room`; no character is cut in two. */
static const char *shortened(const char *text, char room[CUT_SIZE])
{
    size_t len = text ? strnlen(text, CALL_TREE_TEXT_MAX + 1) : 0, end = CALL_TREE_TEXT_MAX;
    if (len <= CALL_TREE_TEXT_MAX)
        return text;
    while (end > CALL_TREE_TEXT_MAX - 4 && ((unsigned char)text[end] & 0xc0) == 0x80)
        end--;
    memcpy(room, text, end);
    memcpy(room + end, "...", 4);
    return room;
}

static uint64_t hash_texts(const char *function, const char *image)
{
    uint64_t h = image ? hash64(image, strlen(image), 1) : 0;
    return hash64(function, strlen(function), h);
}

static uint32_t *slot_of(const struct call_functions *f, const char *function, const char *image)
{
    size_t i = (size_t)hash_texts(function, image) & (f->slots - 1);
    for (; f->by_text[i]; i = (i + 1) & (f->slots - 1)) {
        const struct call_function *known = &f->items[f->by_text[i] - 1];
        if (text_same(known->name, function) && text_same(known->image, image))
            break;
    }
    return &f->by_text[i];
}

static enum err more_items(struct call_functions *f, struct error *err)
{
    const size_t room = f->room ? f->room * 2 : 256;
    enum err rc = call_enlarge(f->bytes, f->max_bytes, (void **)&f->items, sizeof(*f->items),
                               f->room, room, err);
    if (rc == ERR_OK)
        f->room = room;
    return rc;
}

static enum err more_slots(struct call_functions *f, struct error *err)
{
    const size_t slots = f->slots ? f->slots * 2 : 512;
    enum err rc = call_enlarge(f->bytes, f->max_bytes, (void **)&f->by_text, sizeof(*f->by_text),
                               f->slots, slots, err);
    if (rc != ERR_OK)
        return rc;
    f->slots = slots;
    memset(f->by_text, 0, slots * sizeof(*f->by_text));
    for (size_t i = 0; i < f->count; i++)
        *slot_of(f, f->items[i].name, f->items[i].image) = (uint32_t)i + 1;
    return ERR_OK;
}

static const char *keep(struct call_functions *f, const char *text, bool *failed)
{
    const char *copy = text ? arena_strdup(&f->texts, text) : NULL;
    *failed = *failed || (text && !copy);
    return copy;
}

static enum err no_room(const struct call_functions *f, struct error *err)
{
    if (!f->texts.capped)
        return error_set(err, ERR_NO_MEMORY, "no memory for the names of a call tree");
    return error_set(err, ERR_LIMIT, "the names of a call tree take too much memory");
}

static enum err note(struct call_functions *f, uint32_t number, const struct call_frame *from,
                     struct error *err)
{
    struct call_function *of = &f->items[number];
    char room[CUT_SIZE];
    const char *file = shortened(from->file, room);
    bool failed = false;
    of->in_app |= from->in_app;
    if (file && (!of->file || strcmp(file, of->file) < 0)) {
        const char *copy = keep(f, file, &failed);
        of->file = failed ? of->file : copy;
    }
    return failed ? no_room(f, err) : ERR_OK;
}

enum err call_functions_find(struct call_functions *f, const struct call_frame *frame,
                             uint32_t *ret, struct error *err)
{
    enum err rc = f->count == f->room ? more_items(f, err) : ERR_OK;
    char name_room[CUT_SIZE], image_room[CUT_SIZE];
    bool failed = false;
    if (rc == ERR_OK && f->count * 2 >= f->slots)
        rc = more_slots(f, err);
    if (rc != ERR_OK)
        return rc;
    const char *name = shortened(frame->function, name_room);
    const char *image = shortened(frame->image, image_room);
    uint32_t *slot = slot_of(f, name, image);
    if (*slot == 0) {
        f->items[f->count] = (struct call_function){.name = keep(f, name, &failed),
                                                    .image = keep(f, image, &failed)};
        if (failed)
            return no_room(f, err);
        *slot = (uint32_t)++f->count;
    }
    *ret = *slot - 1;
    return note(f, *ret, frame, err);
}
