/*
 * From fated frames to a key. Every kind of key is a list of parts; the parts joined are the
 * readable key text, and the hash of app, kind and parts is the key.
 */
#include "server/analysis/cluster_key.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/text.h"
#include "server/analysis/category.h"
#include "server/analysis/frame_fates.h"

#define CYCLE_MAX     4  /* a, b, a, b: recursion through so many functions is folded */
#define SYSTEM_FRAMES 3  /* in the key of a system-only stack */
#define IMAGES_MAX    16 /* in the key of a stack without any name */
#define PART_TEXT_MAX 8192

struct keying {
    const struct rules *rules;
    const struct key_options *options;
    const char *bundle_id;
    struct arena *arena;
    struct error *err;
    struct fated_stack stack;
    size_t *list; /* indexes of the frames that may make the key, innermost first */
    size_t count;
    bool *kept; /* by frame */
    struct cluster_verdict v;
};

static const char *const KIND_NAMES[] = {
    [CLUSTER_APP] = "app",
    [CLUSTER_SYSTEM_ONLY] = "system_only",
    [CLUSTER_IDLE] = "idle",
    [CLUSTER_UNMAPPABLE] = "unmappable",
    [CLUSTER_PROVISIONAL] = "provisional",
};

const char *cluster_kind_name(enum cluster_kind kind)
{
    return KIND_NAMES[kind];
}

static enum err no_memory(struct keying *k)
{
    return error_set(k->err, ERR_NO_MEMORY, "no memory for a cluster key");
}

static void hash_text(struct sha256 *sha, const char *text)
{
    sha256_update(sha, text, strlen(text) + 1); /* with its NUL: parts cannot run together */
}

static void finish_hash(struct sha256 *sha, uint8_t out[CLUSTER_KEY_SIZE])
{
    uint8_t digest[SHA256_SIZE];
    sha256_final(sha, digest);
    memcpy(out, digest, CLUSTER_KEY_SIZE);
}

static void start_hash(const struct keying *k, const char *what, struct sha256 *sha)
{
    const uint8_t form = KEY_FORM;
    sha256_init(sha);
    sha256_update(sha, &form, sizeof(form));
    hash_text(sha, what);
    hash_text(sha, k->bundle_id ? k->bundle_id : "");
}

static enum err set_key_of(struct keying *k, const char *what, const char *text, const char *title)
{
    struct sha256 sha;
    if (!text || !title)
        return no_memory(k);
    k->v.key_text = text;
    k->v.title = title;
    start_hash(k, what, &sha);
    hash_text(&sha, text);
    finish_hash(&sha, k->v.key);
    return ERR_OK;
}

static enum err set_key(struct keying *k, enum cluster_kind kind, const char *text,
                        const char *title)
{
    k->v.kind = kind;
    return set_key_of(k, cluster_kind_name(kind), text, title);
}

static const struct fated_frame *listed(const struct keying *k, size_t i)
{
    return &k->stack.frames[k->list[i]];
}

static bool same_frame(const struct fated_frame *a, const struct fated_frame *b)
{
    if (a->named != b->named || !text_same(a->image, b->image))
        return false;
    if (a->named)
        return a->rules->key_len == b->rules->key_len && text_same(a->key, b->key);
    return uuid_equal(&a->raw->image, &b->raw->image) && a->raw->offset == b->raw->offset;
}

static int compare_frames(const struct fated_frame *a, const struct fated_frame *b)
{
    int c = strcmp(a->key, b->key);
    return c ? c : strcmp(a->image, b->image);
}

/* Frames that may be the culprit: the app's, and when there are none, vendors'. */
static void list_app_frames(struct keying *k, bool vendor)
{
    k->count = 0;
    for (size_t i = 0; i < k->stack.count; i++) {
        const struct fated_frame *f = &k->stack.frames[i];
        if ((vendor ? f->vendor : f->in_app) && !f->drop && !f->beyond)
            k->list[k->count++] = i;
    }
}

/* Direct recursion is one frame; of a, b, a, b there remain a and b. */
static void fold_repeats(struct keying *k)
{
    size_t n = 0;
    for (size_t i = 0; i < k->count; i++) {
        bool repeated = false;
        for (size_t period = 1; period <= CYCLE_MAX && !repeated; period++) {
            size_t j = 0;
            /* the `period` frames from i on are the last `period` ones that were kept */
            while (j < period && n >= period && i + j < k->count &&
                   same_frame(listed(k, i + j), &k->stack.frames[k->list[n - period + j]]))
                j++;
            if (j == period) {
                repeated = true;
                i += period - 1;
            }
        }
        if (!repeated)
            k->list[n++] = k->list[i];
    }
    k->count = n;
}

/*
 * Mutual recursion on top: a sample may be taken in any function of the cycle, so the smallest name
 * stands for all of it. `list` is not folded yet. The frame moves to the front.
 */
static void settle_cycle(struct keying *k)
{
    for (size_t period = 2; period <= CYCLE_MAX && period < k->count; period++) {
        if (!same_frame(listed(k, 0), listed(k, period)) || 2 * period > k->count)
            continue;
        bool cycle = true;
        for (size_t i = 1; i < period && cycle; i++)
            cycle = same_frame(listed(k, i), listed(k, i + period));
        if (!cycle)
            continue;
        size_t least = 0;
        for (size_t i = 1; i < period; i++) {
            if (compare_frames(listed(k, i), listed(k, least)) < 0)
                least = i;
        }
        if (!listed(k, least)->named)
            return;
        memmove(k->list, k->list + least, (k->count - least) * sizeof(*k->list));
        k->count -= least;
        return;
    }
}

static bool unmappable(const struct keying *k)
{
    for (size_t i = 0; i < k->stack.count; i++) {
        if (k->stack.frames[i].named || k->stack.frames[i].raw->status != FRAME_NO_IMAGE)
            return false;
    }
    return true;
}

static bool reason_is(const struct fated_frame *f, const char *reason)
{
    return f->drop && strcmp(f->drop, reason) == 0;
}

/* Nothing but the run loop, its thread's base and the wait for the next event. */
static bool idle(const struct keying *k)
{
    bool run_loop = false;
    for (size_t i = 0; i < k->stack.count; i++) {
        const struct fated_frame *f = &k->stack.frames[i];
        if (f->beyond)
            continue;
        if (!reason_is(f, "port") && !reason_is(f, "runloop") && !reason_is(f, "base"))
            return false;
        run_loop = run_loop || (f->named && reason_is(f, "runloop"));
    }
    return run_loop;
}

static void keep(struct keying *k, size_t frame, const char *rule)
{
    k->kept[frame] = true;
    if (!*k->stack.frames[frame].rule)
        k->stack.frames[frame].rule = rule;
}

/* How a frame stands in a key: its name, `image+?` when its image has no function there, or image
 * and offset while the symbol file is awaited. */
static const char *part_name(struct keying *k, const struct fated_frame *f)
{
    if (f->named)
        return f->key;
    if (!f->waiting)
        return arena_printf(k->arena, "%s+?", *f->image ? f->image : "?");
    char id[UUID_TEXT_SIZE];
    return arena_printf(k->arena, "%s+0x%llx", uuid_format(&f->raw->image, id),
                        (unsigned long long)f->raw->offset);
}

static const char *part_title(struct keying *k, const struct fated_frame *f)
{
    if (f->named) {
        const char *at = strrchr(f->key, '@');
        return at && at > f->key ? arena_strndup(k->arena, f->key, (size_t)(at - f->key)) : f->key;
    }
    if (!f->waiting)
        return part_name(k, f);
    return arena_printf(k->arena, "%s+0x%llx", *f->image ? f->image : "?",
                        (unsigned long long)f->raw->offset);
}

static enum err finish_text(struct keying *k, struct buf *b, const char **ret)
{
    if (b->failed)
        return no_memory(k);
    *ret = arena_strndup(k->arena, b->data ? b->data : "", b->len);
    return *ret ? ERR_OK : no_memory(k);
}

/* A frame that tells a cause: a name of its own, or a place that gets one. */
static bool solid(const struct fated_frame *f)
{
    return !f->plumbing && (f->named || f->waiting);
}

/* Plumbing tells no cause, only how a cause was reached or what it waited in: where a frame that
 * tells one is among the first `count`, plumbing is no part of the key. */
static bool left_out(const struct keying *k, size_t count, size_t i)
{
    return listed(k, i)->plumbing && count > 0 && solid(listed(k, count - 1));
}

/* How many of the listed frames make the key: the depth that the culprit's rule wants, and one more
 * for each frame of plumbing or without a name in front. */
static size_t key_length(const struct keying *k)
{
    size_t first = 0;
    while (first + 1 < k->count && listed(k, first)->plumbing)
        first++;
    size_t wanted = listed(k, first)->depth ? listed(k, first)->depth : 1;
    size_t found = 0;
    size_t n = 0;
    while (n < k->count && n < KEY_DEPTH_MAX && found < wanted) {
        const struct fated_frame *f = listed(k, n++);
        found += solid(f);
        if (f->waiting)
            break; /* its file will say more */
    }
    return n;
}

static enum err join(struct keying *k, size_t count, const char *separator, bool with_image,
                     bool title, const char **ret)
{
    struct buf b;
    enum err e = ERR_OK;
    buf_init(&b, (KEY_DEPTH_MAX + 1) * PART_TEXT_MAX);
    for (size_t i = 0; i < count && e == ERR_OK; i++) {
        const struct fated_frame *f = listed(k, i);
        const char *name = title ? part_title(k, f) : part_name(k, f);
        if (!name) {
            e = no_memory(k);
            break;
        }
        if (left_out(k, count, i))
            continue;
        if (b.len > 0)
            buf_puts(&b, separator);
        if (with_image && !(f->vendor && f->named) && (f->named || !f->waiting)) {
            buf_puts(&b, f->image);
            buf_putc(&b, '|');
        }
        buf_puts(&b, name);
    }
    if (e == ERR_OK)
        e = finish_text(k, &b, ret);
    buf_done(&b);
    return e;
}

static void set_culprit(struct keying *k, size_t frame)
{
    const struct fated_frame *f = &k->stack.frames[frame];
    k->v.culprit_raw = f->raw_index;
    k->v.image = *f->image ? f->image : NULL;
    if (!f->named)
        return;
    k->v.function = f->frame->function;
    k->v.file = f->frame->file;
}

static void set_variant(struct keying *k)
{
    struct sha256 sha;
    start_hash(k, "variant", &sha);
    for (size_t i = 0; i < k->count && i < VARIANT_FRAMES; i++) {
        const char *name = part_name(k, listed(k, i));
        hash_text(&sha, name ? name : "");
    }
    finish_hash(&sha, k->v.variant);
}

static enum err key_of_app(struct keying *k)
{
    size_t n = key_length(k);
    size_t first = 0;
    while (left_out(k, n, first))
        first++;
    bool waits = listed(k, n - 1)->waiting;
    const char *text = NULL;
    const char *title = NULL;
    enum err e = join(k, n, " < ", true, false, &text);
    if (e == ERR_OK)
        e = join(k, n, " < ", false, true, &title);
    if (e != ERR_OK)
        return e;
    for (size_t i = first; i < n; i++) {
        const char *why = i == 0 ? "first app frame" : "within the depth";
        if (i == 0 && waits && n == 1)
            why = "waits for its symbol file";
        else if (i > 0 && listed(k, i - 1)->plumbing)
            why = "behind plumbing";
        if (!left_out(k, n, i))
            keep(k, k->list[i], why);
    }
    set_culprit(k, k->list[first]);
    return set_key(k, waits ? CLUSTER_PROVISIONAL : CLUSTER_APP, text, title);
}

/* Fills the list with system frames of one quality; true when there are any. */
static bool list_system(struct keying *k, bool (*wanted)(const struct fated_frame *))
{
    k->count = 0;
    for (size_t i = 0; i < k->stack.count; i++) {
        const struct fated_frame *f = &k->stack.frames[i];
        if (f->named && *f->key && !f->beyond && wanted(f))
            k->list[k->count++] = i;
    }
    return k->count > 0;
}

static bool not_dropped(const struct fated_frame *f)
{
    return !f->drop;
}

static bool a_container(const struct fated_frame *f)
{
    return reason_is(f, "container");
}

static bool no_loop(const struct fated_frame *f)
{
    return !reason_is(f, "port") && !reason_is(f, "runloop") && !reason_is(f, "base") &&
           !reason_is(f, "callout");
}

static bool anything(const struct fated_frame *f)
{
    (void)f;
    return true;
}

static enum err key_of_images(struct keying *k)
{
    struct buf b;
    const char *last = NULL;
    size_t n = 0;
    const char *text = NULL;
    buf_init(&b, (IMAGES_MAX + 1) * PART_TEXT_MAX);
    for (size_t i = 0; i < k->stack.count && n < IMAGES_MAX; i++) {
        const struct fated_frame *f = &k->stack.frames[i];
        if (!*f->image || (last && strcmp(last, f->image) == 0))
            continue;
        buf_puts(&b, n++ > 0 ? " < " : "images: ");
        buf_puts(&b, f->image);
        last = f->image;
        keep(k, i, "no names: the sequence of images");
    }
    if (n == 0)
        buf_puts(&b, "images: unknown");
    enum err e = finish_text(k, &b, &text);
    buf_done(&b);
    k->count = 0;
    return e == ERR_OK ? set_key(k, CLUSTER_SYSTEM_ONLY, text, text) : e;
}

static enum err key_of_system(struct keying *k)
{
    const char *text = NULL;
    const char *title = NULL;
    if (!list_system(k, not_dropped) && !list_system(k, a_container) && !list_system(k, no_loop) &&
        !list_system(k, anything))
        return key_of_images(k);
    fold_repeats(k);
    size_t n = k->count < SYSTEM_FRAMES ? k->count : SYSTEM_FRAMES;
    enum err e = join(k, n, " < ", false, false, &text);
    if (e == ERR_OK)
        e = join(k, 1, " < ", false, true, &title);
    if (e != ERR_OK)
        return e;
    for (size_t i = 0; i < n; i++)
        keep(k, k->list[i], "one of the first three system frames");
    return set_key(k, CLUSTER_SYSTEM_ONLY, text, title);
}

/* The first `group=` line of the file among those that meet a frame. */
static const struct rule_match *group_of(const struct keying *k)
{
    const struct rule_match *best = NULL;
    for (size_t i = 0; i < k->stack.count && !k->stack.frames[i].beyond; i++) {
        const struct frame_decision *d = k->stack.frames[i].rules;
        const struct rule_match *m = &d->group;
        if (d->special && m->action && (!best || m->order < best->order))
            best = m;
    }
    return best;
}

/* The first `system_group=` line of the file among those that meet a frame: what stalls the app
 * without its own code in it, under one name on every system version. */
static enum err set_system_group(struct keying *k)
{
    size_t at = k->stack.count;
    for (size_t i = 0; i < k->stack.count && !k->stack.frames[i].beyond; i++) {
        const struct frame_decision *d = k->stack.frames[i].rules;
        const struct rule_match *m = &d->system_group;
        if (d->special && m->action &&
            (at == k->stack.count || m->order < k->stack.frames[at].rules->system_group.order))
            at = i;
    }
    if (at == k->stack.count)
        return ERR_OK;
    const struct rule_match *best = &k->stack.frames[at].rules->system_group;
    memset(k->kept, 0, k->stack.count * sizeof(*k->kept));
    k->kept[at] = true;
    k->stack.frames[at].rule = best->why;
    return set_key_of(k, "system_group", best->action->text, best->action->text);
}

static const char *owner_of(const struct keying *k)
{
    for (size_t i = 0; i < k->stack.count; i++) {
        const struct fated_frame *f = &k->stack.frames[i];
        if ((f->in_app || f->vendor) && !f->drop && !f->beyond && f->owner)
            return f->owner;
    }
    return NULL;
}

/* Frames that neither a rule nor the key spoke about. */
static const char *default_fate(const struct keying *k, const struct fated_frame *f)
{
    if (f->raw->status == FRAME_NO_IMAGE && !f->named)
        return "in no image";
    if (f->plumbing && (f->in_app || f->vendor))
        return "plumbing: the frame behind it tells the cause";
    if (f->in_app)
        return f->named || k->v.kind == CLUSTER_PROVISIONAL ? "beyond the depth" : "no name";
    if (!f->named)
        return "no name";
    return k->v.kind == CLUSTER_SYSTEM_ONLY ? "beyond the first system frames"
                                            : "not the app's own code";
}

static enum err set_fates(struct keying *k)
{
    struct frame_fate *fates =
        arena_array(k->arena, k->stack.count ? k->stack.count : 1, sizeof(*fates));
    if (!fates)
        return no_memory(k);
    for (size_t i = 0; i < k->stack.count; i++) {
        const struct fated_frame *f = &k->stack.frames[i];
        fates[i].raw_index = f->raw_index;
        fates[i].frame_index = f->frame_index;
        fates[i].kept = k->kept[i];
        fates[i].in_app = f->in_app;
        fates[i].rule = *f->rule ? f->rule : default_fate(k, f);
    }
    k->v.fates = fates;
    k->v.fate_count = k->stack.count;
    return ERR_OK;
}

/* With `skip_unresolved` frames that wait for a file stand back behind resolved ones. */
static void skip_waiting(struct keying *k)
{
    size_t named = 0;
    for (size_t i = 0; i < k->count; i++)
        named += listed(k, i)->named;
    if (named == 0)
        return;
    size_t n = 0;
    for (size_t i = 0; i < k->count; i++) {
        struct fated_frame *f = &k->stack.frames[k->list[i]];
        if (f->waiting)
            f->rule = "skipped: no symbol file came";
        else
            k->list[n++] = k->list[i];
    }
    k->count = n;
}

static enum err make_key(struct keying *k)
{
    if (unmappable(k))
        return set_key(k, CLUSTER_UNMAPPABLE, "unmappable", "Stacks outside all images");
    list_app_frames(k, false);
    if (k->count == 0)
        list_app_frames(k, true);
    if (k->options && k->options->skip_unresolved)
        skip_waiting(k);
    if (k->count > 0) {
        settle_cycle(k);
        fold_repeats(k);
        return key_of_app(k);
    }
    if (idle(k))
        return set_key(k, CLUSTER_IDLE, "idle", "Idle (main run loop)");
    return key_of_system(k);
}

enum err cluster_key_of(const struct rules *rules, const struct key_options *options,
                        const char *bundle_id, const struct resolved_stack *stack,
                        struct arena *arena, struct cluster_verdict *ret, struct error *err)
{
    struct keying k = {.rules = rules,
                       .options = options,
                       .bundle_id = bundle_id,
                       .arena = arena,
                       .err = err,
                       .v = {.culprit_raw = SIZE_MAX}};
    enum err e = frame_fates_of(rules, options, stack, arena, &k.stack, err);
    if (e != ERR_OK)
        return e;
    size_t room = k.stack.count ? k.stack.count : 1;
    k.list = arena_array(arena, room, sizeof(*k.list));
    k.kept = arena_array(arena, room, sizeof(*k.kept));
    if (!k.list || !k.kept)
        return no_memory(&k);
    e = make_key(&k);
    if (e != ERR_OK)
        return e;
    set_variant(&k);
    if (k.v.kind == CLUSTER_SYSTEM_ONLY && (e = set_system_group(&k)) != ERR_OK)
        return e;
    const struct rule_match *group = group_of(&k);
    bool cause = k.v.kind == CLUSTER_APP || k.v.kind == CLUSTER_SYSTEM_ONLY;
    if (group && cause) {
        e = set_key_of(&k, "group", group->action->text, group->action->text);
        if (e != ERR_OK)
            return e;
    }
    k.v.category = category_of(&k.stack, k.v.kind);
    k.v.owner = owner_of(&k);
    e = set_fates(&k);
    if (e != ERR_OK)
        return e;
    *ret = k.v;
    return ERR_OK;
}
