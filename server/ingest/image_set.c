#include "server/ingest/image_set.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"

#define VERSION    1
#define IMAGES_MAX 100000

#define HAS_SLIDE 1u
#define HAS_LOAD  2u
#define HAS_ARCH  4u

/* A path stands in for its class: image_map derives the class from the path again. */
static const char *const class_paths[] = {
    [IMAGE_CLASS_UNKNOWN] = NULL,
    [IMAGE_CLASS_APP] = "/var/containers/Bundle/Application/App.app/Frameworks/Image",
    [IMAGE_CLASS_SYSTEM] = "/System/Library/Image",
};
/* The main executable is told from the app's own dylibs by its place (image_map.h). */
static const char main_path[] = "/var/containers/Bundle/Application/App.app/Image";
#define CLASS_MAIN 3u

static bool is_main_executable(const char *path)
{
    const char *app = path ? strstr(path, ".app/") : NULL;
    return app && !strchr(app + strlen(".app/"), '/');
}

static void put_text(struct buf *out, const char *s)
{
    size_t n = strlen(s);
    buf_uleb(out, n);
    buf_put(out, s, n);
}

bool image_set_encode(const struct image_entry *entries, size_t count, struct buf *out)
{
    buf_u8(out, VERSION);
    buf_uleb(out, count);
    for (size_t i = 0; i < count; i++) {
        const struct image_entry *e = &entries[i];
        unsigned class = (unsigned)image_class_of_path(e->path);
        if (class == IMAGE_CLASS_APP && is_main_executable(e->path))
            class = CLASS_MAIN;
        buf_put(out, &e->uuid, sizeof(e->uuid));
        buf_u8(out, (uint8_t)(class << 4 | (e->has_slide ? HAS_SLIDE : 0) |
                              (e->has_load_address ? HAS_LOAD : 0) | (e->arch ? HAS_ARCH : 0)));
        put_text(out, e->name);
        if (e->arch)
            put_text(out, e->arch);
        if (e->has_slide)
            buf_uleb(out, e->slide);
        if (e->has_load_address)
            buf_uleb(out, e->load_address);
        buf_uleb(out, e->size);
    }
    return !out->failed;
}

static const char *take_text(struct cursor *c, struct arena *arena)
{
    uint64_t n = cursor_uleb(c);
    const uint8_t *p = n <= cursor_left(c) ? cursor_take(c, (size_t)n) : NULL;
    return p ? arena_strndup(arena, (const char *)p, (size_t)n) : NULL;
}

static bool take_entry(struct cursor *c, struct arena *arena, struct image_entry *e)
{
    const uint8_t *uuid = cursor_take(c, sizeof(e->uuid));
    uint8_t flags = cursor_u8(c);
    unsigned class = flags >> 4;
    if (!uuid || class > CLASS_MAIN)
        return false;
    memcpy(&e->uuid, uuid, sizeof(e->uuid));
    e->path = class == CLASS_MAIN ? main_path : class_paths[class];
    e->name = take_text(c, arena);
    if (!e->name)
        return false;
    if (flags & HAS_ARCH) {
        e->arch = take_text(c, arena);
        if (!e->arch)
            return false;
    }
    e->has_slide = flags & HAS_SLIDE;
    e->has_load_address = flags & HAS_LOAD;
    e->slide = e->has_slide ? cursor_uleb(c) : 0;
    e->load_address = e->has_load_address ? cursor_uleb(c) : 0;
    e->size = cursor_uleb(c);
    return !c->overrun;
}

enum err image_set_decode(const void *data, size_t len, struct arena *arena,
                          struct image_entry **ret, size_t *ret_count, struct error *err)
{
    struct cursor c = cursor_of(data, len);
    if (cursor_u8(&c) != VERSION)
        return error_set(err, ERR_FORMAT, "image set: unknown version");
    uint64_t count = cursor_uleb(&c);
    if (c.overrun || count > IMAGES_MAX)
        return error_set(err, ERR_FORMAT, "image set: bad count");
    struct image_entry *entries = arena_array(arena, (size_t)count, sizeof(*entries));
    if (!entries)
        return error_set(err, ERR_NO_MEMORY, "image set: no memory");
    for (size_t i = 0; i < count; i++) {
        if (!take_entry(&c, arena, &entries[i]))
            return error_set(err, ERR_FORMAT, "image set: image %zu is damaged", i);
    }
    *ret = entries;
    *ret_count = (size_t)count;
    return ERR_OK;
}

static int by_number(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

/* Which image, and where: all that decides what an address means. */
static int by_place(const void *a, const void *b)
{
    const struct image_entry *x = a, *y = b;
    int d = memcmp(&x->uuid, &y->uuid, sizeof(x->uuid));
    if (!d && uuid_is_nil(&x->uuid))
        d = strcmp(x->name, y->name);
    if (!d)
        d = (int)x->has_slide - (int)y->has_slide;
    if (!d)
        d = (int)x->has_load_address - (int)y->has_load_address;
    if (!d)
        d = by_number(x->slide, y->slide);
    return d ? d : by_number(x->load_address, y->load_address);
}

/* Both in order of place. */
static bool holds_all(const struct image_entry *all, size_t count, const struct image_entry *some,
                      size_t some_count)
{
    size_t at = 0;
    for (size_t i = 0; i < some_count; i++) {
        while (at < count && by_place(&all[at], &some[i]) < 0)
            at++;
        if (at == count || by_place(&all[at], &some[i]) != 0)
            return false;
    }
    return true;
}

enum image_set_standing image_set_compare(const void *stored, size_t stored_len, const void *sent,
                                          size_t sent_len, struct arena *arena)
{
    struct image_entry *old = NULL, *new = NULL;
    size_t old_count = 0;
    size_t new_count = 0;
    struct error err;
    if (stored_len == sent_len && memcmp(stored, sent, sent_len) == 0)
        return IMAGE_SET_HELD;
    if (image_set_decode(stored, stored_len, arena, &old, &old_count, &err) != ERR_OK ||
        image_set_decode(sent, sent_len, arena, &new, &new_count, &err) != ERR_OK)
        return IMAGE_SET_OTHER;
    qsort(old, old_count, sizeof(*old), by_place);
    qsort(new, new_count, sizeof(*new), by_place);
    if (holds_all(old, old_count, new, new_count))
        return IMAGE_SET_HELD;
    return holds_all(new, new_count, old, old_count) ? IMAGE_SET_GROWN : IMAGE_SET_OTHER;
}
