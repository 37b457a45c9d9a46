#include "server/ingest/app_batch.h"

#include <string.h>
#include <sys/random.h>

#include "base/buf.h"
#include "base/hash.h"

#define RAW_STACK_MAX ((size_t)4 * 1024 * 1024)

static bool grow_set(struct index_set *s)
{
    size_t room = s->room ? s->room * 2 : 64;
    uint8_t(*keys)[16] = arena_array(s->arena, room, sizeof(*keys));
    uint32_t *slots = arena_array(s->arena, room * 2, sizeof(*slots));
    if (!keys || !slots)
        return false;
    if (s->count)
        memcpy(keys, s->keys, s->count * sizeof(*keys));
    for (size_t i = 0; i < s->count; i++) {
        size_t at = hash64(keys[i], sizeof(keys[i]), s->seed) & (room * 2 - 1);
        while (slots[at])
            at = (at + 1) & (room * 2 - 1);
        slots[at] = (uint32_t)i + 1;
    }
    s->keys = keys;
    s->slots = slots;
    s->room = room;
    return true;
}

/* Index of the key, added when new (`ret_added`). UINT32_MAX without memory. */
static uint32_t index_set_put(struct index_set *s, const uint8_t key[16], bool *ret_added)
{
    *ret_added = false;
    if (s->count == s->room && !grow_set(s))
        return UINT32_MAX;
    size_t mask = s->room * 2 - 1;
    size_t at = hash64(key, 16, s->seed) & mask;
    for (; s->slots[at]; at = (at + 1) & mask) {
        if (memcmp(s->keys[s->slots[at] - 1], key, 16) == 0)
            return s->slots[at] - 1;
    }
    memcpy(s->keys[s->count], key, 16);
    s->slots[at] = (uint32_t)s->count + 1;
    *ret_added = true;
    return (uint32_t)s->count++;
}

static void init_set(struct index_set *s, struct arena *arena)
{
    s->arena = arena;
    /* Image ids come from strangers: they must not choose the slots. */
    if (getrandom(&s->seed, sizeof(s->seed), 0) != (ssize_t)sizeof(s->seed))
        s->seed = (uint64_t)(uintptr_t)s;
}

void app_batch_init(struct app_batch *b, struct arena *arena, const char *bundle_id)
{
    memset(b, 0, sizeof(*b));
    b->arena = arena;
    init_set(&b->stack_keys, arena);
    init_set(&b->image_keys, arena);
    b->op.bundle_id = bundle_id;
}

struct op_report *app_batch_report(struct app_batch *b)
{
    if (!arena_room(b->arena, (void **)&b->op.reports, b->op.report_count, &b->report_room,
                    sizeof(*b->op.reports)))
        return NULL;
    return &b->op.reports[b->op.report_count++];
}

static bool encode(struct app_batch *b, const struct raw_stack *raw, struct op_stack *s)
{
    struct buf out;
    buf_init(&out, RAW_STACK_MAX);
    bool ok = raw_stack_encode(raw, &out);
    s->raw = ok ? arena_memdup(b->arena, out.data, out.len) : NULL;
    s->raw_len = out.len;
    buf_done(&out);
    return s->raw != NULL;
}

uint32_t app_batch_stack(struct app_batch *b, const struct raw_stack *raw)
{
    uint8_t hash[STACK_HASH_SIZE];
    bool added;
    raw_stack_hash(b->op.bundle_id, raw, hash);
    if (!arena_room(b->arena, (void **)&b->op.stacks, b->op.stack_count, &b->stack_room,
                    sizeof(*b->op.stacks)))
        return NO_STACK;
    uint32_t i = index_set_put(&b->stack_keys, hash, &added);
    if (i == UINT32_MAX || !added)
        return i;
    struct op_stack *s = &b->op.stacks[i];
    memset(s, 0, sizeof(*s));
    memcpy(s->hash, hash, sizeof(hash));
    s->frame_count = (uint32_t)raw->count;
    if (!encode(b, raw, s))
        return NO_STACK;
    b->op.stack_count++;
    return i;
}

bool app_batch_image(struct app_batch *b, const struct op_image *image)
{
    bool added;
    struct op_image *images = (struct op_image *)b->op.images;
    if (!arena_room(b->arena, (void **)&images, b->op.image_count, &b->image_room, sizeof(*images)))
        return false;
    b->op.images = images;
    uint32_t i = index_set_put(&b->image_keys, image->id.bytes, &added);
    if (i == UINT32_MAX)
        return false;
    if (added) {
        images[b->op.image_count++] = *image;
    } else {
        /* A batch may learn more of an image than its first mention said. */
        images[i].in_group = images[i].in_group || image->in_group;
        if (image->in_group)
            images[i].group = image->group;
    }
    return true;
}
