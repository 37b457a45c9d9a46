#include "symbolizer/symbolize.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "symbolizer/demangle.h"
#include "symbolizer/frame_cache.h"
#include "symbolizer/gsym_read.h"
#include "symbolizer/sigbus_guard.h"
#include "symbolizer/symbol_map.h"

#define TEXT_MAX     8192 /* of one name or path of an index; longer ones are cut */
#define SCRATCH_SIZE (GSYM_FRAMES_MAX * (3 * TEXT_MAX + GSYM_DISPLAY_MAX))
/* Of lists that one call needs for itself; more than any stack that an arena of ours holds. */
#define LISTS_SIZE ((size_t)256 << 20)

#define IMAGE_BITS 9
#define IMAGES_MAX (1u << IMAGE_BITS) /* open at a time; one of more pushes another one out */
#define APPS_MAX   16

enum index_state { INDEX_NONE, INDEX_OPEN, INDEX_UNAVAILABLE };

/* An image of the stack at hand, or of those that share. */
struct open_image {
    bool used;
    bool listed; /* in `taken` */
    struct uuid id;
    enum image_kind kind;
    uint32_t app;   /* for whom it was asked: a place in `apps` */
    uint64_t stack; /* the last one that it was in */
    enum index_state index;
    bool in_app;
    bool missed;      /* it has no index */
    bool approximate; /* the index is a stand-in's */
    const char *name;
    struct index_ref *ref; /* INDEX_OPEN, and until it is closed */
    uint64_t generation, vmaddr;
};

struct symbolizer {
    struct index_cache *cache;
    struct frame_cache *frames;
    uint64_t shares;  /* counted on */
    uint64_t sharing; /* 0: not */
    uint64_t stack;   /* counted on */
    uint64_t seed;
    struct open_image images[IMAGES_MAX];
    uint16_t taken[IMAGES_MAX]; /* places in it */
    size_t taken_count;
    const char *apps[APPS_MAX];
    size_t app_count;
    struct symbolizer_stats stats;
    struct frame scratch_frames[GSYM_FRAMES_MAX];
    char *scratch;      /* texts read from a mapped file, before anything is allocated for them */
    struct arena lists; /* of the call at hand, so that its answer is all that stays of it */
};

/* One call of symbolizer_stack. */
struct job {
    struct symbolizer *s;
    const struct image_lookup *lookup;
    struct arena *arena;
    uint32_t app;
    struct open_image *last; /* the image of the frame before */
    struct uuid *missing;
    size_t missing_count;
    struct uuid *unavailable;
    size_t unavailable_count;
};

struct symbolizer *symbolizer_new(struct index_cache *cache, size_t frame_cache_entries)
{
    struct symbolizer *s = calloc(1, sizeof(*s));
    if (!s)
        return NULL;
    s->cache = cache;
    s->seed = (uint64_t)(uintptr_t)s;
    arena_init(&s->lists, LISTS_SIZE);
    s->frames = frame_cache_new(frame_cache_entries);
    s->scratch = malloc(SCRATCH_SIZE);
    if (!s->frames || !s->scratch) {
        symbolizer_free(s);
        return NULL;
    }
    return s;
}

static void close_image(struct symbolizer *s, struct open_image *image)
{
    index_cache_release(s->cache, image->ref);
    image->ref = NULL;
    image->used = false;
}

static void close_images(struct symbolizer *s)
{
    for (size_t i = 0; i < s->taken_count; i++) {
        close_image(s, &s->images[s->taken[i]]);
        s->images[s->taken[i]].listed = false;
    }
    s->taken_count = 0;
    s->app_count = 0;
}

void symbolizer_free(struct symbolizer *s)
{
    if (!s)
        return;
    close_images(s);
    frame_cache_free(s->frames);
    arena_done(&s->lists);
    free(s->scratch);
    free(s);
}

void symbolizer_stats(const struct symbolizer *s, struct symbolizer_stats *ret)
{
    *ret = s->stats;
}

/* --- one address --------------------------------------------------------------------------- */

static const char *copy_text(char **at, const char *s)
{
    if (!s)
        return NULL;
    size_t n = strnlen(s, TEXT_MAX - 1);
    char *here = *at;
    memcpy(here, s, n);
    here[n] = 0;
    *at += n + 1;
    return here;
}

/* Reads the frames into the scratch memory, without names for people; everything that touches the
 * mapping is in here. */
static size_t read_frames(struct symbolizer *s, const struct gsym *g, uint64_t address,
                          char **ret_at)
{
    struct gsym_frame found[GSYM_FRAMES_MAX];
    char path[GSYM_PATH_MAX];
    char *at = s->scratch;
    size_t count = gsym_lookup(g, address, found, GSYM_FRAMES_MAX);
    for (size_t i = 0; i < count; i++) {
        const struct gsym_frame *from = &found[i];
        struct frame *to = &s->scratch_frames[i];
        to->mangled = copy_text(&at, from->name);
        to->function = NULL;
        /* A path that the store hid is none: its number is another one in every build. */
        bool hidden = from->base && symbol_map_is_hidden(from->base);
        to->file = hidden ? NULL : copy_text(&at, gsym_frame_file(from, path));
        to->line = hidden ? 0 : from->line;
        to->inlined = from->inlined;
        to->local = from->local;
        to->from_start = from->from_start;
    }
    *ret_at = at;
    return count;
}

/* Outside of the guard: a demangler may hold memory. */
static void name_frames(struct symbolizer *s, size_t count, char *at)
{
    for (size_t i = 0; i < count; i++) {
        struct frame *f = &s->scratch_frames[i];
        const struct gsym_frame named = {.name = f->mangled};
        f->function = gsym_frame_display(&named, at);
        if (f->function == at)
            at += strlen(at) + 1;
    }
}

/* False when the mapping failed. */
static bool read_guarded(struct symbolizer *s, const struct gsym *g, uint64_t address,
                         size_t *ret_count)
{
    struct sigbus_guard guard;
    char *at = NULL;
    if (sigbus_guard_enter(&guard) != 0)
        return false;
    *ret_count = read_frames(s, g, address, &at);
    sigbus_guard_leave(&guard);
    name_frames(s, *ret_count, at);
    return true;
}

/* --- images of the stack ------------------------------------------------------------------- */

/* Images that every process has, for reports without paths. */
static bool is_known_system_name(const char *name)
{
    static const char *const names[] = {
        "AVFAudio",
        "AVFoundation",
        "AttributeGraph",
        "BaseBoard",
        "BoardServices",
        "CFNetwork",
        "Combine",
        "CoreData",
        "CoreFoundation",
        "CoreGraphics",
        "CoreImage",
        "CoreLocation",
        "CoreMedia",
        "CoreText",
        "CoreVideo",
        "Foundation",
        "FrontBoardServices",
        "GraphicsServices",
        "ImageIO",
        "IOKit",
        "IOSurface",
        "JavaScriptCore",
        "Metal",
        "Network",
        "QuartzCore",
        "Security",
        "SwiftUI",
        "SwiftUICore",
        "UIFoundation",
        "UIKit",
        "UIKitCore",
        "WebCore",
        "WebKit",
        "dyld",
        "dyld_sim",
        "libc++.1.dylib",
        "libc++abi.dylib",
        "libdispatch.dylib",
        "libdyld.dylib",
        "libobjc.A.dylib",
        "libsqlite3.dylib",
        "libxpc.dylib",
    };
    static const char *const prefixes[] = {"libsystem_", "libSystem", "libswift"};
    for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
        if (strncmp(name, prefixes[i], strlen(prefixes[i])) == 0)
            return true;
    }
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (strcmp(name, names[i]) == 0)
            return true;
    }
    return false;
}

bool image_is_app(const struct image_facts *facts)
{
    if (facts->class == IMAGE_CLASS_UNKNOWN)
        return !facts->name || !is_known_system_name(facts->name);
    return facts->class == IMAGE_CLASS_APP;
}

static enum err learn_facts(struct job *j, struct open_image *image, struct error *err)
{
    struct image_facts facts = {0};
    if (j->lookup && j->lookup->facts)
        j->lookup->facts(j->lookup->ctx, &image->id, &facts);
    image->in_app = image_is_app(&facts);
    image->name = facts.name ? arena_strdup(j->arena, facts.name) : NULL;
    return facts.name && !image->name ? error_set(err, ERR_NO_MEMORY, "no memory for an image")
                                      : ERR_OK;
}

static void add_once(struct uuid *list, size_t *count, const struct uuid *id)
{
    if (!uuid_is_in(list, *count, id))
        list[(*count)++] = *id;
}

static int compare_stand_ins(const void *a, const void *b)
{
    const struct stand_in *x = a;
    const struct stand_in *y = b;
    int order = uuid_compare(&x->uuid, &y->uuid);
    return order ? order : strcmp(x->app, y->app);
}

/* The asking app's own first; NULL: none. */
static const struct stand_in *find_stand_in(const struct image_lookup *l, const struct uuid *image)
{
    const struct stand_in *found = NULL;
    if (!l || l->stand_in_count == 0)
        return NULL;
    struct stand_in key = {.uuid = *image, .app = l->app};
    found = bsearch(&key, l->stand_ins, l->stand_in_count, sizeof(key), compare_stand_ins);
    if (found)
        return found;
    key.app = "";
    return bsearch(&key, l->stand_ins, l->stand_in_count, sizeof(key), compare_stand_ins);
}

static enum err acquire(struct job *j, const struct uuid *image, struct index_ref **ret,
                        struct error *err)
{
    struct uuid shelf = *image;
    if (j->lookup && j->lookup->shelf)
        j->lookup->shelf(j->lookup->ctx, image, &shelf);
    return index_cache_acquire(j->s->cache, &shelf, ret, err);
}

/* The index of the image's stand-in, where it has one that can be used. */
static enum err open_stand_in(struct job *j, struct open_image *image, struct error *err)
{
    const struct stand_in *found = find_stand_in(j->lookup, &image->id);
    if (!found)
        return ERR_OK;
    enum err rc = acquire(j, &found->stand_in, &image->ref, err);
    if (rc == ERR_BUSY || rc == ERR_NO_MEMORY)
        return rc;
    if (rc == ERR_OK) {
        image->index = INDEX_OPEN;
        image->approximate = true;
    }
    return ERR_OK;
}

/* Looks for the index of an image that has a UUID. */
static enum err open_index(struct job *j, struct open_image *image, struct error *err)
{
    enum err rc = acquire(j, &image->id, &image->ref, err);
    if (rc == ERR_BUSY || rc == ERR_NO_MEMORY)
        return rc;
    image->missed = rc == ERR_NOT_FOUND;
    if (image->missed)
        rc = open_stand_in(j, image, err);
    else
        image->index = rc == ERR_OK ? INDEX_OPEN : INDEX_UNAVAILABLE;
    if (image->index == INDEX_OPEN) {
        image->generation = index_ref_generation(image->ref);
        image->vmaddr = gsym_info(index_ref_gsym(image->ref))->text_vmaddr;
    }
    return image->missed ? rc : ERR_OK;
}

/* Into a place of its own. */
static enum err open_image(struct job *j, const struct uuid *id, enum image_kind kind,
                           struct open_image *image, struct error *err)
{
    enum err rc = ERR_OK;
    if (!image->listed)
        j->s->taken[j->s->taken_count++] = (uint16_t)(image - j->s->images);
    close_image(j->s, image);
    *image = (struct open_image){.listed = true, .id = *id, .kind = kind, .app = j->app};
    if (kind == IMAGE_UUID && !uuid_is_nil(id))
        rc = open_index(j, image, err);
    if (rc == ERR_OK)
        rc = learn_facts(j, image, err);
    image->used = rc == ERR_OK;
    if (rc != ERR_OK)
        close_image(j->s, image);
    return rc;
}

static bool is_image(const struct job *j, const struct open_image *image, const struct uuid *id,
                     enum image_kind kind)
{
    return uuid_equal(&image->id, id) && image->kind == kind && image->app == j->app;
}

/* Where the image is, or the one of its two places that is free, or was asked for longer ago. */
static struct open_image *place_of(const struct job *j, const struct uuid *id, enum image_kind kind)
{
    uint64_t half[2];
    memcpy(half, id->bytes, sizeof(half));
    uint64_t h = (half[0] ^ j->s->seed) * 0x9e3779b97f4a7c15u;
    h = (h ^ h >> 29 ^ half[1] ^ ((uint64_t)kind << 32 | j->app)) * 0xbf58476d1ce4e5b9u;
    struct open_image *a = &j->s->images[h >> (64 - IMAGE_BITS)];
    struct open_image *b = &j->s->images[h >> (64 - IMAGE_BITS) ^ 1];
    if (a->used && is_image(j, a, id, kind))
        return a;
    if (b->used && is_image(j, b, id, kind))
        return b;
    return !a->used || (b->used && a->stack < b->stack) ? a : b;
}

/* The image of a frame, with its index open where there is one. ERR_BUSY and ERR_NO_MEMORY end the
 * whole stack: they say nothing about the image, and the stack must not be stored without it. */
static enum err find_image(struct job *j, const struct uuid *id, enum image_kind kind,
                           struct open_image **ret, struct error *err)
{
    *ret = j->last;
    if (j->last && is_image(j, j->last, id, kind))
        return ERR_OK;
    struct open_image *image = place_of(j, id, kind);
    if (!image->used || !is_image(j, image, id, kind)) {
        j->last = NULL;
        enum err rc = open_image(j, id, kind, image, err);
        if (rc != ERR_OK)
            return rc;
    }
    *ret = j->last = image;
    if (image->stack == j->s->stack)
        return ERR_OK;
    image->stack = j->s->stack;
    if (image->missed)
        add_once(j->missing, &j->missing_count, id);
    else if (image->index == INDEX_UNAVAILABLE)
        add_once(j->unavailable, &j->unavailable_count, id);
    return ERR_OK;
}

static void poison_image(struct job *j, struct open_image *image)
{
    index_cache_poison(j->s->cache, image->ref);
    image->index = INDEX_UNAVAILABLE;
    if (!image->approximate)
        add_once(j->unavailable, &j->unavailable_count, &image->id);
}

/* --- frames -------------------------------------------------------------------------------- */

static const struct frame *frames_of(struct job *j, struct frame_block *block)
{
    if (j->s->sharing)
        return frame_block_share(block, j->s->sharing, j->arena);
    return frame_block_copy(block, j->arena);
}

/* Frames of an offset into an open image; sets the status. */
static enum err look_up(struct job *j, struct open_image *image, struct resolved_frame *f,
                        struct error *err)
{
    const struct gsym *g = index_ref_gsym(image->ref);
    const uint64_t generation = image->generation;
    uint64_t address = image->vmaddr + f->offset;
    size_t count = 0;
    if (f->raw.kind == FRAME_RETURN)
        address--;
    uint64_t from_start = 0;
    struct frame_block *block = frame_cache_get(j->s->frames, generation, address);
    if (block) {
        j->s->stats.cache_hits++;
        count = block->count;
        from_start = block->from_start;
        f->frames = count > 0 ? frames_of(j, block) : NULL;
        f->frames_id = count > 0 ? block->id : 0;
    } else if (read_guarded(j->s, g, address, &count)) {
        const struct frame_block *kept =
            frame_cache_put(j->s->frames, generation, address, j->s->scratch_frames, count);
        from_start = count > 0 ? j->s->scratch_frames[0].from_start : 0;
        f->frames_id = kept && count > 0 ? kept->id : 0;
        f->frames = count > 0 ? frames_copy(j->s->scratch_frames, count, j->arena) : NULL;
    } else {
        poison_image(j, image);
        f->status = FRAME_NO_SYMBOLS;
        return ERR_OK;
    }
    if (count > 0 && !f->frames)
        return error_set(err, ERR_NO_MEMORY, "no memory for the frames of a stack");
    if (count > 0) {
        f->has_function_offset = true;
        f->function_offset = from_start + (f->raw.kind == FRAME_RETURN);
    }
    f->has_index = true;
    f->frame_count = count;
    f->status = count > 0 ? FRAME_RESOLVED : FRAME_OUT_OF_RANGE;
    return ERR_OK;
}

/* A name the device gave, where no symbol file has a better one; a linkage name is shown as one of
 * an index is. */
static enum err use_device_name(struct job *j, struct resolved_frame *f, struct error *err)
{
    char shown[DEMANGLE_OUTPUT_MAX];
    struct frame device = {.function = f->raw.symbol};
    if (demangle(f->raw.symbol, shown, sizeof(shown)))
        device = (struct frame){.function = shown, .mangled = f->raw.symbol};
    f->frames = frames_copy(&device, 1, j->arena);
    if (!f->frames)
        return error_set(err, ERR_NO_MEMORY, "no memory for the frames of a stack");
    f->frame_count = 1;
    return ERR_OK;
}

static enum err resolve_in_image(struct job *j, enum image_kind kind, struct resolved_frame *f,
                                 struct error *err)
{
    struct open_image *image = NULL;
    enum err rc = find_image(j, &f->image, kind, &image, err);
    if (rc != ERR_OK)
        return rc;
    f->image_name = image->name;
    f->in_app = image->in_app;
    f->status = FRAME_NO_SYMBOLS;
    bool named = f->raw.symbol && f->raw.symbol[0];
    if (image->index != INDEX_OPEN || (image->approximate && named))
        return ERR_OK;
    rc = look_up(j, image, f, err);
    f->approximate = image->approximate && f->has_index;
    return rc;
}

static enum err resolve_frame(struct job *j, const struct raw_frame *raw, struct resolved_frame *f,
                              struct error *err)
{
    const struct image_lookup *lookup = j->lookup;
    enum err rc = ERR_OK;
    j->s->stats.frames++;
    f->raw = *raw;
    f->image = raw->image;
    f->offset = raw->offset;
    if (raw->symbol) {
        f->raw.symbol = arena_strdup(j->arena, raw->symbol);
        if (!f->raw.symbol)
            return error_set(err, ERR_NO_MEMORY, "no memory for the frames of a stack");
    }
    switch (raw->image_kind) {
    case IMAGE_NONE:
        f->status = FRAME_NO_IMAGE;
        break;
    case IMAGE_UUID:
    case IMAGE_NAMED:
        rc = resolve_in_image(j, raw->image_kind, f, err);
        break;
    case IMAGE_GROUP:
        if (lookup && lookup->place &&
            lookup->place(lookup->ctx, &raw->image, raw->offset, &f->image, &f->offset)) {
            rc = resolve_in_image(j, IMAGE_UUID, f, err);
        } else {
            f->status = FRAME_NO_SYMBOLS;
            add_once(j->missing, &j->missing_count, &raw->image);
        }
        break;
    }
    if (rc != ERR_OK || f->frame_count > 0 || !f->raw.symbol || !f->raw.symbol[0])
        return rc;
    return use_device_name(j, f, err);
}

void symbolizer_share(struct symbolizer *s)
{
    close_images(s);
    s->sharing = ++s->shares;
}

void symbolizer_share_end(struct symbolizer *s)
{
    close_images(s);
    s->sharing = 0;
}

/* For whom images are asked. */
static enum err learn_app(struct job *j, struct error *err)
{
    struct symbolizer *s = j->s;
    const char *app = j->lookup ? j->lookup->app : NULL;
    if (!s->sharing)
        return ERR_OK;
    for (size_t i = 0; i < s->app_count; i++) {
        if (text_same(s->apps[i], app)) {
            j->app = (uint32_t)i;
            return ERR_OK;
        }
    }
    if (s->app_count == APPS_MAX)
        close_images(s);
    const char *kept = app ? arena_strdup(j->arena, app) : NULL;
    if (app && !kept)
        return error_set(err, ERR_NO_MEMORY, "no memory for an app");
    j->app = (uint32_t)s->app_count;
    s->apps[s->app_count++] = kept;
    return ERR_OK;
}

/* Lists as long as the stack, of which most are nearly empty. */
static enum err begin_job(struct job *j, size_t frames, struct error *err)
{
    struct symbolizer *s = j->s;
    arena_reset(&s->lists);
    s->stack++;
    j->missing = arena_array(&s->lists, frames, sizeof(*j->missing));
    j->unavailable = arena_array(&s->lists, frames, sizeof(*j->unavailable));
    return j->missing && j->unavailable
               ? learn_app(j, err)
               : error_set(err, ERR_NO_MEMORY, "no memory for a stack of %zu frames", frames);
}

/* What stays of a list. */
static enum err keep(struct arena *arena, const struct uuid *list, size_t count,
                     const struct uuid **ret, struct error *err)
{
    *ret = count > 0 ? arena_memdup(arena, list, count * sizeof(*list)) : NULL;
    return count == 0 || *ret ? ERR_OK : error_set(err, ERR_NO_MEMORY, "no memory for images");
}

enum err symbolizer_stack(struct symbolizer *s, const struct raw_stack *raw,
                          const struct image_lookup *images, struct arena *arena,
                          struct symbolized *ret, struct error *err)
{
    struct job j = {.s = s, .lookup = images, .arena = arena};
    struct resolved_frame *frames = arena_array(arena, raw->count, sizeof(*frames));
    if (!frames)
        return error_set(err, ERR_NO_MEMORY, "no memory for a stack of %zu frames", raw->count);
    enum err rc = begin_job(&j, raw->count, err);
    for (size_t i = 0; i < raw->count && rc == ERR_OK; i++)
        rc = resolve_frame(&j, &raw->frames[i], &frames[i], err);
    if (!s->sharing)
        close_images(s);
    if (rc == ERR_OK)
        rc = keep(arena, j.missing, j.missing_count, &ret->missing, err);
    if (rc == ERR_OK)
        rc = keep(arena, j.unavailable, j.unavailable_count, &ret->unavailable, err);
    if (rc != ERR_OK)
        return rc;
    ret->stack = (struct resolved_stack){.frames = frames, .count = raw->count};
    ret->missing_count = j.missing_count;
    ret->unavailable_count = j.unavailable_count;
    return ERR_OK;
}
