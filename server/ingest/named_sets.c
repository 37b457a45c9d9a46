#include "server/ingest/named_sets.h"

#include <string.h>

#include "base/buf.h"
#include "server/ingest/image_set.h"

#define IMAGE_SET_MAX ((size_t)4 * 1024 * 1024)

struct named_set *named_set_find(const struct intake *in, const char *bundle_id, const char *name)
{
    for (size_t i = in->set_count; i-- > 0;) {
        struct named_set *s = &in->sets[i];
        if (strcmp(s->name, name) == 0 && strcmp(s->bundle_id, bundle_id) == 0)
            return s;
    }
    return NULL;
}

static struct named_set *add(struct intake *in, const char *bundle_id, struct report_images *images)
{
    if (!arena_room(in->arena, (void **)&in->sets, in->set_count, &in->set_room,
                    sizeof(*in->sets))) {
        in->no_memory = true;
        return NULL;
    }
    struct named_set *s = &in->sets[in->set_count++];
    *s = (struct named_set){.bundle_id = bundle_id,
                            .name = images->set,
                            .images = images,
                            .data = images->data,
                            .len = images->len};
    return s;
}

static void join(struct intake *in, struct named_set *s, struct report_images *images)
{
    enum image_set_standing standing = IMAGE_SET_OTHER;
    if (s->len > 0 && images->len > 0)
        standing = image_set_compare(s->data, s->len, images->data, images->len, in->arena);
    if (standing == IMAGE_SET_OTHER)
        s->len = 0;
    if (standing != IMAGE_SET_GROWN)
        return;
    s->images = images;
    s->data = images->data;
    s->len = images->len;
}

static bool encode(struct intake *in, struct report_images *images)
{
    struct buf out;
    buf_init(&out, IMAGE_SET_MAX);
    if (image_set_encode(images->entries, images->count, &out))
        images->data = arena_memdup(in->arena, out.data, out.len);
    images->len = out.len;
    buf_done(&out);
    in->no_memory |= !images->data;
    return images->data;
}

bool named_set_note(struct intake *in, const char *bundle_id, struct report_images *images)
{
    if (images->set_of && strcmp(images->set_of, bundle_id) == 0)
        return true;
    if (!images->data && !encode(in, images))
        return false;
    struct named_set *s = named_set_find(in, bundle_id, images->set);
    if (s)
        join(in, s, images);
    else if (!(s = add(in, bundle_id, images)))
        return false;
    images->set_of = bundle_id;
    s->defined = true;
    return true;
}

/* ERR_NOT_FOUND: nothing is stored under the name. */
static enum err read_stored(struct intake *in, const char *bundle_id, const char *name,
                            struct report_images **ret)
{
    struct error err;
    struct report_images *images = arena_alloc(in->arena, sizeof(*images));
    const char *kept = arena_strdup(in->arena, name);
    if (!images || !kept) {
        in->no_memory = true;
        return ERR_NO_MEMORY;
    }
    images->set = kept;
    enum err rc = in->request->reader ? read_image_set(in->request->reader, bundle_id, name,
                                                       in->arena, &images->data, &images->len, &err)
                                      : ERR_NOT_FOUND;
    if (rc == ERR_OK && images->len > 0)
        rc = image_set_decode(images->data, images->len, in->arena, &images->entries,
                              &images->count, &err);
    *ret = images;
    return rc;
}

struct report_images *named_set_images(struct intake *in, const char *bundle_id, const char *name)
{
    struct named_set *s = named_set_find(in, bundle_id, name);
    struct report_images *stored = NULL;
    if (!s || !s->asked) {
        enum err rc = read_stored(in, bundle_id, name, &stored);
        if (rc != ERR_OK && (rc != ERR_NOT_FOUND || !s))
            return NULL;
        if (!s)
            s = add(in, bundle_id, stored);
        else if (rc == ERR_OK)
            join(in, s, stored);
        if (!s)
            return NULL;
        s->asked = true;
    }
    return s->len > 0 ? s->images : NULL;
}
