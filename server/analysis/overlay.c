#include "server/analysis/overlay.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "server/analysis/similar_shapes.h"

#define FORM 1 /* of the bytes */

static enum err no_memory(struct error *err)
{
    return error_set(err, ERR_NO_MEMORY, "no memory for an overlay of cluster rules");
}

/* --- where a stack belongs -------------------------------------------------------------------- */

static int compare_base(const char *name, size_t len, const char *base)
{
    int c = strncmp(name, base, len);
    return c ? c : -(base[len] != '\0');
}

static bool listed(const struct overlay_names *names, const char *name)
{
    size_t len = similar_base_length(name);
    size_t low = 0;
    size_t high = names->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int c = compare_base(name, len, names->items[middle]);
        if (c == 0)
            return true;
        if (c < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return false;
}

static int compare_holds(const void *a, const void *b)
{
    const struct overlay_hold *x = a;
    const struct overlay_hold *y = b;
    return memcmp(x->cluster, y->cluster, CLUSTER_KEY_SIZE);
}

static int compare_depths(const void *a, const void *b)
{
    const struct overlay_depth *x = a;
    const struct overlay_depth *y = b;
    return memcmp(x->key, y->key, CLUSTER_KEY_SIZE);
}

static const struct overlay_names *plumbing_of(const struct overlay *o, const uint8_t *cluster)
{
    struct overlay_hold wanted = {.plumbing = {NULL, 0}};
    if (o->hold_count == 0)
        return &o->plumbing;
    memcpy(wanted.cluster, cluster, CLUSTER_KEY_SIZE);
    const struct overlay_hold *hold =
        bsearch(&wanted, o->holds, o->hold_count, sizeof(wanted), compare_holds);
    return hold ? &hold->plumbing : &o->plumbing;
}

static uint32_t depth_of(const struct overlay *o, const uint8_t *key)
{
    struct overlay_depth wanted = {.depth = 0};
    if (o->depth_count == 0)
        return 0;
    memcpy(wanted.key, key, CLUSTER_KEY_SIZE);
    const struct overlay_depth *depth =
        bsearch(&wanted, o->depths, o->depth_count, sizeof(wanted), compare_depths);
    return depth ? depth->depth : 0;
}

static void hash_key(uint8_t key[CLUSTER_KEY_SIZE], const char *text, size_t len)
{
    uint8_t digest[SHA256_SIZE];
    struct sha256 sha;
    sha256_init(&sha);
    sha256_update(&sha, key, CLUSTER_KEY_SIZE);
    sha256_update(&sha, text, len);
    sha256_final(&sha, digest);
    memcpy(key, digest, CLUSTER_KEY_SIZE);
}

static void deepen(const struct similar_stack *stack, const size_t *at, size_t count,
                   uint32_t depth, struct overlay_place *ret)
{
    ret->deepened = true;
    memcpy(ret->origin, ret->key, CLUSTER_KEY_SIZE);
    for (size_t i = ret->skipped + 1; i < count && i < ret->skipped + depth; i++) {
        const char *name = stack->names[at[i]];
        hash_key(ret->key, "deeper", sizeof("deeper"));
        hash_key(ret->key, name, similar_base_length(name));
        ret->ends[ret->end_count++] = at[i];
    }
}

void overlay_place(const struct overlay *o, const struct similar_stack *stack,
                   struct overlay_place *ret)
{
    size_t at[SIMILAR_FRAMES];
    size_t count = similar_distinct_frames(stack, at);
    memset(ret, 0, sizeof(*ret));
    memcpy(ret->key, stack->cluster, CLUSTER_KEY_SIZE);
    if (stack->kind != CLUSTER_APP || count == 0)
        return;
    const struct overlay_names *plumbing = plumbing_of(o, stack->cluster);
    while (plumbing->count > 0 && ret->skipped + 1 < count &&
           listed(plumbing, stack->names[at[ret->skipped]]))
        ret->skipped++;
    ret->head = at[ret->skipped];
    if (ret->skipped > 0)
        hash_key(ret->key, stack->names[ret->head], strlen(stack->names[ret->head]));
    uint32_t depth = depth_of(o, ret->key);
    if (depth > 1 && ret->skipped + 1 < count)
        deepen(stack, at, count, depth < KEY_DEPTH_MAX ? depth : KEY_DEPTH_MAX, ret);
}

/* --- holds ------------------------------------------------------------------------------------ */

struct held_name {
    uint8_t cluster[CLUSTER_KEY_SIZE];
    const char *name; /* NULL: the cluster is held, no name yet */
};

static int compare_held(const void *a, const void *b)
{
    const struct held_name *x = a;
    const struct held_name *y = b;
    int c = memcmp(x->cluster, y->cluster, CLUSTER_KEY_SIZE);
    if (c || !x->name || !y->name)
        return c ? c : (x->name != NULL) - (y->name != NULL);
    return strcmp(x->name, y->name);
}

static int compare_keys(const void *a, const void *b)
{
    return memcmp(a, b, CLUSTER_KEY_SIZE);
}

static bool decided(const struct overlay_place *p, const uint8_t (*keys)[CLUSTER_KEY_SIZE],
                    size_t key_count)
{
    return bsearch(p->key, keys, key_count, CLUSTER_KEY_SIZE, compare_keys) ||
           (p->deepened && bsearch(p->origin, keys, key_count, CLUSTER_KEY_SIZE, compare_keys));
}

static enum err add_held(struct arena *arena, struct held_name **rows, size_t *count, size_t *cap,
                         const uint8_t *cluster, const char *name, struct error *err)
{
    if (!arena_room(arena, (void **)rows, *count, cap, sizeof(**rows)))
        return no_memory(err);
    struct held_name *row = &(*rows)[(*count)++];
    memcpy(row->cluster, cluster, CLUSTER_KEY_SIZE);
    row->name = name ? arena_strndup(arena, name, similar_base_length(name)) : NULL;
    return name && !row->name ? no_memory(err) : ERR_OK;
}

/* Rows sorted, each once, become holds. */
static enum err make_holds(struct held_name *rows, size_t count, struct arena *arena,
                           struct overlay *ret, struct error *err)
{
    const char **names = arena_array(arena, count + 1, sizeof(*names));
    ret->holds = arena_array(arena, count + 1, sizeof(*ret->holds));
    if (!names || !ret->holds)
        return no_memory(err);
    if (count > 0)
        qsort(rows, count, sizeof(*rows), compare_held);
    for (size_t i = 0; i < count; i++) {
        bool fresh = i == 0 || memcmp(rows[i].cluster, rows[i - 1].cluster, CLUSTER_KEY_SIZE) != 0;
        if (fresh && ret->hold_count == OVERLAY_ROWS_MAX)
            break;
        if (fresh) {
            struct overlay_hold *hold = &ret->holds[ret->hold_count++];
            memcpy(hold->cluster, rows[i].cluster, CLUSTER_KEY_SIZE);
            hold->plumbing = (struct overlay_names){names, 0};
        }
        struct overlay_names *held = &ret->holds[ret->hold_count - 1].plumbing;
        if (!rows[i].name || held->count == OVERLAY_NAMES_MAX ||
            (held->count > 0 && strcmp(held->items[held->count - 1], rows[i].name) == 0))
            continue;
        held->items[held->count++] = rows[i].name;
        names++;
    }
    return ERR_OK;
}

enum err overlay_holds(const struct overlay *now, const struct similar_stack *stacks, size_t count,
                       const uint8_t (*keys)[CLUSTER_KEY_SIZE], size_t key_count,
                       struct arena *arena, struct overlay *ret, struct error *err)
{
    struct held_name *rows = NULL;
    size_t n = 0;
    size_t cap = 0;
    struct overlay holds = {.hold_count = 0};
    struct overlay_place place;
    enum err rc = ERR_OK;
    for (size_t i = 0; i < count && key_count > 0 && !rc; i++) {
        overlay_place(now, &stacks[i], &place);
        if (stacks[i].kind == CLUSTER_APP && decided(&place, keys, key_count))
            rc = add_held(arena, &rows, &n, &cap, stacks[i].cluster, NULL, err);
    }
    if (!rc)
        rc = make_holds(rows, n, arena, &holds, err);
    /* Of the clusters that are held what was skipped, or is held already. */
    for (size_t i = 0; i < count && holds.hold_count > 0 && !rc; i++) {
        struct overlay_hold wanted = {.plumbing = {NULL, 0}};
        memcpy(wanted.cluster, stacks[i].cluster, CLUSTER_KEY_SIZE);
        if (!bsearch(&wanted, holds.holds, holds.hold_count, sizeof(wanted), compare_holds))
            continue;
        size_t at[SIMILAR_FRAMES];
        (void)similar_distinct_frames(&stacks[i], at);
        overlay_place(now, &stacks[i], &place);
        for (uint32_t k = 0; k < place.skipped && !rc; k++)
            rc = add_held(arena, &rows, &n, &cap, stacks[i].cluster, stacks[i].names[at[k]], err);
    }
    ret->holds = NULL;
    ret->hold_count = 0;
    return rc ? rc : make_holds(rows, n, arena, ret, err);
}

/* --- bytes ------------------------------------------------------------------------------------ */

static void put_names(struct buf *out, const struct overlay_names *names)
{
    buf_uleb(out, names->count);
    for (size_t i = 0; i < names->count; i++) {
        size_t len = strlen(names->items[i]);
        buf_uleb(out, len);
        buf_put(out, names->items[i], len);
    }
}

bool overlay_encode(const struct overlay *o, struct buf *out)
{
    buf_u8(out, FORM);
    put_names(out, &o->plumbing);
    buf_uleb(out, o->hold_count);
    for (size_t i = 0; i < o->hold_count; i++) {
        buf_put(out, o->holds[i].cluster, CLUSTER_KEY_SIZE);
        put_names(out, &o->holds[i].plumbing);
    }
    buf_uleb(out, o->depth_count);
    for (size_t i = 0; i < o->depth_count; i++) {
        buf_put(out, o->depths[i].key, CLUSTER_KEY_SIZE);
        buf_uleb(out, o->depths[i].depth);
    }
    return !out->failed;
}

static size_t get_count(struct cursor *c, size_t max)
{
    uint64_t n = cursor_uleb(c);
    if (n > max)
        c->overrun = true;
    return c->overrun ? 0 : (size_t)n;
}

static bool get_names(struct cursor *c, struct arena *arena, struct overlay_names *ret)
{
    size_t n = get_count(c, OVERLAY_NAMES_MAX);
    ret->items = arena_array(arena, n + 1, sizeof(*ret->items));
    if (!ret->items)
        return false;
    for (size_t i = 0; i < n && !c->overrun; i++) {
        size_t len = get_count(c, OVERLAY_BYTES_MAX);
        const void *text = cursor_take(c, len);
        if (!text)
            break;
        if (!(ret->items[i] = arena_strndup(arena, text, len)))
            return false;
        ret->count++;
    }
    return true;
}

static bool get_key(struct cursor *c, uint8_t key[CLUSTER_KEY_SIZE])
{
    const void *bytes = cursor_take(c, CLUSTER_KEY_SIZE);
    if (bytes)
        memcpy(key, bytes, CLUSTER_KEY_SIZE);
    return bytes != NULL;
}

enum err overlay_decode(const void *data, size_t len, struct arena *arena, struct overlay *ret,
                        struct error *err)
{
    struct overlay o = {.hold_count = 0};
    struct cursor c = cursor_of(data, len);
    if (cursor_u8(&c) != FORM)
        return error_set(err, ERR_FORMAT, "an overlay of another form");
    if (!get_names(&c, arena, &o.plumbing))
        return no_memory(err);
    size_t n = get_count(&c, OVERLAY_ROWS_MAX);
    if (!(o.holds = arena_array(arena, n + 1, sizeof(*o.holds))))
        return no_memory(err);
    for (; o.hold_count < n && get_key(&c, o.holds[o.hold_count].cluster); o.hold_count++) {
        if (!get_names(&c, arena, &o.holds[o.hold_count].plumbing))
            return no_memory(err);
    }
    n = get_count(&c, OVERLAY_ROWS_MAX);
    if (!(o.depths = arena_array(arena, n + 1, sizeof(*o.depths))))
        return no_memory(err);
    for (; o.depth_count < n && get_key(&c, o.depths[o.depth_count].key); o.depth_count++)
        o.depths[o.depth_count].depth = (uint32_t)get_count(&c, KEY_DEPTH_MAX);
    if (c.overrun || cursor_left(&c) > 0)
        return error_set(err, ERR_FORMAT, "an overlay is damaged");
    *ret = o;
    return ERR_OK;
}

/* --- for people ------------------------------------------------------------------------------- */

/* `tick@clock.c` is shown without its file. */
static enum err append(struct arena *arena, const char *name, struct cluster_verdict *v,
                       struct error *err)
{
    const char *at = strrchr(name, '@');
    int shown = at && at > name ? (int)(at - name) : (int)strlen(name);
    v->title = arena_printf(arena, "%s < %.*s", v->title, shown, name);
    v->key_text = arena_printf(arena, "%s < %s", v->key_text, name);
    return v->title && v->key_text ? ERR_OK : no_memory(err);
}

static enum err name_part(const struct overlay_place *place, const struct similar_stack *stack,
                          struct arena *arena, struct cluster_verdict *verdict, struct error *err)
{
    enum err rc = ERR_OK;
    if (place->skipped > 0)
        rc = append(arena, stack->names[place->head], verdict, err);
    for (size_t i = 0; i < place->end_count && !rc; i++)
        rc = append(arena, stack->names[place->ends[i]], verdict, err);
    return rc;
}

static void set_fate(struct frame_fate *fates, size_t count, const struct similar_stack *stack,
                     size_t name, const char *rule)
{
    size_t at = stack->at ? stack->at[name] : count;
    if (at < count) {
        fates[at].kept = true;
        fates[at].rule = rule;
    }
}

static enum err explain_part(const struct overlay_place *place, const struct similar_stack *stack,
                             struct arena *arena, struct cluster_verdict *verdict,
                             struct error *err)
{
    size_t at[SIMILAR_FRAMES];
    struct frame_fate *fates =
        arena_memdup(arena, verdict->fates, verdict->fate_count * sizeof(*fates));
    if (!fates)
        return no_memory(err);
    (void)similar_distinct_frames(stack, at);
    for (uint32_t i = 0; i < place->skipped; i++)
        set_fate(fates, verdict->fate_count, stack, at[i],
                 "plumbing learnt from this app's stacks");
    if (place->skipped > 0)
        set_fate(fates, verdict->fate_count, stack, place->head, "behind learnt plumbing");
    for (size_t i = 0; i < place->end_count; i++)
        set_fate(fates, verdict->fate_count, stack, place->ends[i], "split by hand");
    verdict->fates = fates;
    return ERR_OK;
}

enum err overlay_key_of(const struct overlay *o, const struct rules *rules,
                        const struct key_options *options, const char *bundle_id,
                        const struct resolved_stack *stack, bool explain, struct arena *arena,
                        struct cluster_verdict *ret, struct error *err)
{
    struct cluster_verdict verdict;
    struct similar_stack similar;
    struct overlay_place place;
    enum err rc = cluster_key_of(rules, options, bundle_id, stack, arena, &verdict, err);
    if (!rc && o && verdict.kind == CLUSTER_APP) {
        rc = similar_stack_of(rules, options, stack, &verdict, 1, arena, &similar, err);
        if (rc)
            return rc;
        overlay_place(o, &similar, &place);
        if (memcmp(place.key, verdict.key, CLUSTER_KEY_SIZE) != 0) {
            rc = name_part(&place, &similar, arena, &verdict, err);
            if (!rc && explain && verdict.fate_count > 0)
                rc = explain_part(&place, &similar, arena, &verdict, err);
            memcpy(verdict.key, place.key, CLUSTER_KEY_SIZE);
        }
    }
    if (!rc)
        *ret = verdict;
    return rc;
}
