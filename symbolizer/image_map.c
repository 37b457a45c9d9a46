#include "symbolizer/image_map.h"

#include <stdlib.h>
#include <string.h>

/* DESIGN. An image that gave its load address is a span. One that gave its slide alone gets a load
 * address from its vmaddr (known, or the linker's default for executables and bundle dylibs), or
 * else is a candidate for the slide group: everything in the shared cache has one slide, so the
 * slide most candidates have is the group's.
 *
 * Two cares with a group. Clients that send slides alone seldom send sizes, and an image without a
 * size would reach up to the next one known, over cache images whose place is not known yet. So an
 * image of the app without a size reaches no further than an executable's __TEXT may be, and a
 * system image without a size whose vmaddr was learnt stays in the group: it is placed with
 * everything known by then when the stack is symbolicated. */

#define EXECUTABLE_VMADDR_64 ((uint64_t)0x100000000)
#define EXECUTABLE_VMADDR_32 ((uint64_t)0x4000)
/* How far an image without a size reaches where a slide group is. */
#define UNSIZED_CAP_64 ((uint64_t)512 << 20)
#define UNSIZED_CAP_32 ((uint64_t)256 << 20)
/* Below this is nobody's code, above the other neither user space's nor a signed pointer into it. */
#define ADDRESS_MIN        ((uint64_t)0x1000)
#define ADDRESS_KERNEL     (~(uint64_t)0 << 47)
#define CACHE_ADDRESS_BITS 36

struct span {
    uint64_t start;
    uint64_t end;
    size_t entry;
};

struct image_map {
    struct image_entry *entries;
    struct span *spans;
    size_t span_count;
    bool *in_group;
    bool has_group;
    bool is_32;
    bool is_arm64;
    struct uuid group; /* nil without one */
    uint64_t group_slide;
};

/* --- where a path is ----------------------------------------------------------------------- */

enum where { BEGINS, CONTAINS };

static const struct {
    enum where where;
    const char *text;
    enum image_class class;
} path_rules[] = {
    {CONTAINS, "/RuntimeRoot/", IMAGE_CLASS_SYSTEM}, /* a simulator's system, inside Xcode.app */
    {CONTAINS, ".app/Contents/Developer/", IMAGE_CLASS_SYSTEM},
    {BEGINS, "/System/", IMAGE_CLASS_SYSTEM},
    {BEGINS, "/usr/lib/", IMAGE_CLASS_SYSTEM},
    {BEGINS, "/usr/libexec/", IMAGE_CLASS_SYSTEM},
    {BEGINS, "/Developer/", IMAGE_CLASS_SYSTEM},
    {BEGINS, "/private/var/Developer/", IMAGE_CLASS_SYSTEM},
    {BEGINS, "/Library/Apple/", IMAGE_CLASS_SYSTEM},
    {BEGINS, "/private/preboot/Cryptexes/", IMAGE_CLASS_SYSTEM},
    {BEGINS, "/private/var/db/dyld/", IMAGE_CLASS_SYSTEM},
    {CONTAINS, ".app/", IMAGE_CLASS_APP},
    {CONTAINS, ".appex/", IMAGE_CLASS_APP},
    {CONTAINS, "/Containers/Bundle/Application/", IMAGE_CLASS_APP},
    {CONTAINS, "/containers/Bundle/Application/", IMAGE_CLASS_APP},
    {CONTAINS, "/Containers/Data/Application/", IMAGE_CLASS_APP},
    {CONTAINS, "/var/mobile/Applications/", IMAGE_CLASS_APP},
};

enum image_class image_class_of_path(const char *path)
{
    if (!path)
        return IMAGE_CLASS_UNKNOWN;
    for (size_t i = 0; i < sizeof(path_rules) / sizeof(path_rules[0]); i++) {
        const char *text = path_rules[i].text;
        bool hit = path_rules[i].where == BEGINS ? strncmp(path, text, strlen(text)) == 0
                                                 : strstr(path, text) != NULL;
        if (hit)
            return path_rules[i].class;
    }
    return IMAGE_CLASS_UNKNOWN;
}

static bool ends_with(const char *s, const char *suffix)
{
    size_t n = strlen(s);
    size_t m = strlen(suffix);
    return n >= m && memcmp(s + n - m, suffix, m) == 0;
}

/* "….app/Shop", "….appex/Share", "….app/Contents/MacOS/Shop": nothing deeper, and no dylib. */
static bool is_executable_path(const char *path)
{
    static const char *const bundles[] = {".app/", ".appex/"};
    static const char inside[] = "Contents/MacOS/";
    const char *rest = NULL;
    for (size_t i = 0; i < sizeof(bundles) / sizeof(bundles[0]); i++) {
        for (const char *at = path; (at = strstr(at, bundles[i])) != NULL;) {
            at += strlen(bundles[i]);
            if (!rest || at > rest)
                rest = at;
        }
    }
    if (!rest)
        return false;
    if (strncmp(rest, inside, sizeof(inside) - 1) == 0)
        rest += sizeof(inside) - 1;
    return rest[0] && !strchr(rest, '/') && !ends_with(rest, ".dylib");
}

static bool is_32_bit(const char *arch)
{
    return arch && (strncmp(arch, "armv", 4) == 0 || strcmp(arch, "i386") == 0 ||
                    strcmp(arch, "arm64_32") == 0);
}

/* --- building ------------------------------------------------------------------------------ */

/* What the build knows of an entry besides what the client said. */
enum place { PLACE_NOWHERE, PLACE_AT, PLACE_CANDIDATE };

struct draft {
    enum place place;
    uint64_t load;
    bool learnt_in_cache; /* its vmaddr came from the layout and is none of the defaults */
};

static bool slide_alone(const struct image_entry *e)
{
    return e->has_slide && !e->has_load_address;
}

static int compare_u64(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a;
    uint64_t y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* The slides of images that might be in the cache, ascending. */
struct slides {
    uint64_t *values;
    size_t count;
};

static bool slides_shared(const struct slides *s, uint64_t slide)
{
    size_t from = 0;
    size_t n = s->count;
    while (n > 0) {
        size_t half = n / 2;
        if (s->values[from + half] < slide) {
            from += half + 1;
            n -= half + 1;
        } else {
            n = half;
        }
    }
    return from + 1 < s->count && s->values[from] == slide && s->values[from + 1] == slide;
}

/* A dylib of an app is linked at 0, so its slide is its load address, above the 4 GB no 64-bit
 * process maps anything below; an executable's slide and the cache's are small. */
static bool slide_is_small(const struct image_map *m, const struct image_entry *e)
{
    return m->is_32 || (int64_t)e->slide < (int64_t)EXECUTABLE_VMADDR_64;
}

static bool may_be_executable(const struct image_map *m, const struct image_entry *e)
{
    return slide_alone(e) && e->class == IMAGE_CLASS_UNKNOWN && slide_is_small(m, e) &&
           !ends_with(e->name, ".dylib") && strcmp(e->name, "dyld") != 0;
}

/* The executable among images without paths: one with a slide of its own, else the first image (as
 * dyld lists them). SIZE_MAX when an entry is known to be it, or none can be. */
static size_t guess_executable(const struct image_map *m, size_t count, const struct slides *slides)
{
    for (size_t i = 0; i < count; i++) {
        const struct image_entry *e = &m->entries[i];
        if (e->class == IMAGE_CLASS_APP && e->path && is_executable_path(e->path))
            return SIZE_MAX;
    }
    if (count == 0 || m->entries[0].has_load_address)
        return SIZE_MAX;
    for (size_t i = 0; i < count; i++) {
        const struct image_entry *e = &m->entries[i];
        if (may_be_executable(m, e) && !slides_shared(slides, e->slide))
            return i;
    }
    return may_be_executable(m, &m->entries[0]) ? 0 : SIZE_MAX;
}

static struct draft draft_by_default(const struct image_map *m, size_t i, size_t executable,
                                     const struct slides *slides)
{
    const struct image_entry *e = &m->entries[i];
    uint64_t vmaddr = m->is_32 ? EXECUTABLE_VMADDR_32 : EXECUTABLE_VMADDR_64;
    bool is_executable = i == executable;
    bool in_cache = false;
    switch (e->class) {
    case IMAGE_CLASS_APP:
        is_executable = is_executable_path(e->path);
        break;
    case IMAGE_CLASS_SYSTEM:
        in_cache = slide_is_small(m, e) || slides_shared(slides, e->slide);
        break;
    case IMAGE_CLASS_UNKNOWN:
        in_cache = !is_executable &&
                   (slides_shared(slides, e->slide) || (!m->is_32 && slide_is_small(m, e)));
        break;
    }
    if (in_cache)
        return (struct draft){.place = PLACE_CANDIDATE};
    return (struct draft){.place = PLACE_AT, .load = (is_executable ? vmaddr : 0) + e->slide};
}

static void choose_group(struct image_map *m, size_t count, const struct draft *drafts,
                         uint64_t *scratch)
{
    size_t n = 0;
    for (size_t i = 0; i < count; i++) {
        if (drafts[i].place == PLACE_CANDIDATE)
            scratch[n++] = m->entries[i].slide;
    }
    qsort(scratch, n, sizeof(*scratch), compare_u64);
    size_t best = 0;
    for (size_t i = 0, run = 0; i < n; i++) {
        run = i > 0 && scratch[i] == scratch[i - 1] ? run + 1 : 1;
        if (run > best) {
            best = run;
            m->group_slide = scratch[i];
        }
    }
    m->has_group = n > 0;
}

static int compare_spans(const void *a, const void *b)
{
    const struct span *x = a;
    const struct span *y = b;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    return x->entry < y->entry ? -1 : x->entry > y->entry;
}

/* Of two images at one address the one that says more of itself is the better. */
static bool says_more(const struct image_entry *a, const struct image_entry *b)
{
    bool a_known = !uuid_is_nil(&a->uuid);
    bool b_known = !uuid_is_nil(&b->uuid);
    if (a_known != b_known)
        return a_known;
    return a->size != 0 && b->size == 0;
}

static uint64_t span_end(const struct image_map *m, const struct image_entry *e, uint64_t start)
{
    uint64_t size = e->size;
    if (size == 0) {
        size = IMAGE_SIZE_CAP;
        if (m->has_group)
            size = m->is_32 ? UNSIZED_CAP_32 : UNSIZED_CAP_64;
    }
    return size > UINT64_MAX - start ? UINT64_MAX : start + size;
}

/* Sorts the placed entries, one for each load address, none reaching into the next. */
static void build_spans(struct image_map *m, size_t count, const struct draft *drafts)
{
    size_t n = 0;
    for (size_t i = 0; i < count; i++) {
        if (drafts[i].place == PLACE_AT)
            m->spans[n++] = (struct span){.start = drafts[i].load, .entry = i};
    }
    qsort(m->spans, n, sizeof(*m->spans), compare_spans);
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        struct span *last = kept > 0 ? &m->spans[kept - 1] : NULL;
        if (!last || last->start != m->spans[i].start)
            m->spans[kept++] = m->spans[i];
        else if (says_more(&m->entries[m->spans[i].entry], &m->entries[last->entry]))
            last->entry = m->spans[i].entry;
    }
    m->span_count = kept;
    for (size_t i = 0; i < kept; i++) {
        struct span *s = &m->spans[i];
        s->end = span_end(m, &m->entries[s->entry], s->start);
        if (i + 1 < kept && s->end > m->spans[i + 1].start)
            s->end = m->spans[i + 1].start;
    }
}

static void fill_entries(struct image_map *m, size_t count, struct slides *slides)
{
    for (size_t i = 0; i < count; i++) {
        struct image_entry *e = &m->entries[i];
        e->class = image_class_of_path(e->path);
        e->has_vmaddr = e->has_slide && e->has_load_address;
        e->vmaddr = e->has_vmaddr ? e->load_address - e->slide : 0;
        if (slide_alone(e) && e->class != IMAGE_CLASS_APP)
            slides->values[slides->count++] = e->slide;
    }
    qsort(slides->values, slides->count, sizeof(*slides->values), compare_u64);
}

static void draft_entries(const struct image_map *m, size_t count,
                          const struct image_layout *layout, const struct slides *slides,
                          struct draft *drafts)
{
    size_t executable = guess_executable(m, count, slides);
    uint64_t plain_vmaddr = m->is_32 ? EXECUTABLE_VMADDR_32 : EXECUTABLE_VMADDR_64;
    for (size_t i = 0; i < count; i++) {
        const struct image_entry *e = &m->entries[i];
        uint64_t vmaddr;
        if (e->has_load_address)
            drafts[i] = (struct draft){.place = PLACE_AT, .load = e->load_address};
        else if (!e->has_slide)
            drafts[i] = (struct draft){.place = PLACE_NOWHERE};
        else if (layout && layout->vmaddr && !uuid_is_nil(&e->uuid) &&
                 layout->vmaddr(layout->ctx, &e->uuid, &vmaddr))
            drafts[i] = (struct draft){.place = PLACE_AT,
                                       .load = vmaddr + e->slide,
                                       .learnt_in_cache = vmaddr != 0 && vmaddr != plain_vmaddr};
        else
            drafts[i] = draft_by_default(m, i, executable, slides);
    }
}

static void join_group(struct image_map *m, size_t count, struct draft *drafts)
{
    for (size_t i = 0; i < count && m->has_group; i++) {
        const struct image_entry *e = &m->entries[i];
        if (!slide_alone(e) || e->slide != m->group_slide || e->class == IMAGE_CLASS_APP)
            continue;
        bool unsized = drafts[i].learnt_in_cache && e->size == 0;
        if (drafts[i].place != PLACE_CANDIDATE && !unsized)
            continue;
        drafts[i].place = PLACE_CANDIDATE;
        m->in_group[i] = true;
    }
}

enum err image_map_build(struct image_entry *entries, size_t count, const char *os,
                         const char *arch, const struct image_layout *layout, struct arena *arena,
                         struct image_map **ret, struct error *err)
{
    struct image_map *m = arena_alloc(arena, sizeof(*m));
    struct draft *drafts = arena_array(arena, count, sizeof(*drafts));
    struct slides slides = {arena_array(arena, count, sizeof(*slides.values)), 0};
    if (!m || !drafts || !slides.values)
        return error_set(err, ERR_NO_MEMORY, "no memory for %zu images", count);
    m->entries = entries;
    m->spans = arena_array(arena, count, sizeof(*m->spans));
    m->in_group = arena_array(arena, count, sizeof(*m->in_group));
    if (!m->spans || !m->in_group)
        return error_set(err, ERR_NO_MEMORY, "no memory for %zu images", count);
    if (!arch && count > 0)
        arch = entries[0].arch;
    m->is_32 = is_32_bit(arch);
    m->is_arm64 = arch && strncmp(arch, "arm64", 5) == 0 && !m->is_32;

    fill_entries(m, count, &slides);
    draft_entries(m, count, layout, &slides, drafts);
    choose_group(m, count, drafts, slides.values);
    if (m->has_group)
        m->group = image_group_id(os ? os : "", arch ? arch : "");
    join_group(m, count, drafts);
    build_spans(m, count, drafts);
    *ret = m;
    return ERR_OK;
}

/* --- asking -------------------------------------------------------------------------------- */

static const struct span *find_span(const struct image_map *m, uint64_t address)
{
    size_t from = 0;
    size_t n = m->span_count;
    while (n > 0) {
        size_t half = n / 2;
        if (m->spans[from + half].start <= address) {
            from += half + 1;
            n -= half + 1;
        } else {
            n = half;
        }
    }
    if (from == 0 || address >= m->spans[from - 1].end)
        return NULL;
    return &m->spans[from - 1];
}

/* The unslid address of an address in no image; false when it cannot be one of the cache. Signed
 * pointers (arm64e) have their high bits removed: the cache lies within 36 bits there. */
static bool unslide(const struct image_map *m, uint64_t address, uint64_t *ret)
{
    if (!m->has_group || address < ADDRESS_MIN || (address & ADDRESS_KERNEL) == ADDRESS_KERNEL)
        return false;
    bool is_signed = m->is_arm64 ? address >> CACHE_ADDRESS_BITS != 0 : address >> 47 != 0;
    if (is_signed)
        address &= ((uint64_t)1 << CACHE_ADDRESS_BITS) - 1;
    uint64_t unslid = address - m->group_slide;
    if (unslid < ADDRESS_MIN || unslid >> 47 != 0)
        return false;
    *ret = unslid;
    return true;
}

void image_map_find(const struct image_map *m, uint64_t address, struct raw_frame *ret,
                    size_t *ret_entry)
{
    static const unsigned address_bits[] = {64, 47, 39, 36};
    const struct span *s = NULL;
    uint64_t plain = address;
    for (size_t i = 0; i < sizeof(address_bits) / sizeof(address_bits[0]) && !s; i++) {
        plain = address & (~(uint64_t)0 >> (64 - address_bits[i]));
        s = find_span(m, plain);
    }
    memset(&ret->image, 0, sizeof(ret->image));
    ret->offset = 0;
    ret->image_kind = IMAGE_NONE;
    if (ret_entry)
        *ret_entry = s ? s->entry : SIZE_MAX;
    if (s) {
        const struct image_entry *e = &m->entries[s->entry];
        bool named = uuid_is_nil(&e->uuid);
        ret->image_kind = named ? IMAGE_NAMED : IMAGE_UUID;
        ret->image = named ? image_named_id(e->name) : e->uuid;
        ret->offset = plain - s->start;
    } else if (unslide(m, address, &ret->offset)) {
        ret->image_kind = IMAGE_GROUP;
        ret->image = m->group;
    }
}

const struct uuid *image_map_group(const struct image_map *m)
{
    return &m->group;
}

bool image_map_in_group(const struct image_map *m, size_t entry)
{
    return m->in_group[entry];
}
