#include "server/ingest/format_native_stack.h"

#include <stdio.h>
#include <string.h>

#include "base/utf8.h"
#include "server/ingest/format_place.h"
#include "server/ingest/privacy.h"

#define SYMBOL_MAX   2048
#define SYMBOL_LONG  "its symbol is left out: longer than 2048 bytes"
#define ARCH_MAX     32
#define IMG_PATH_MAX 1024

static bool no_memory(struct intake *in, struct fields *f)
{
    in->no_memory = true;
    return fields_refuse(f, "too large", "%s", "");
}

static bool keep_text(struct intake *in, struct fields *f, const char *s, const char **ret)
{
    *ret = s ? arena_strdup(in->arena, s) : NULL;
    return !s || *ret || no_memory(in, f);
}

static bool refuse_many(struct fields *f, const char *what, size_t max, const char *at)
{
    char reason[64];
    snprintf(reason, sizeof(reason), "too many %s: %zu at most", what, max);
    return fields_refuse(f, reason, "%s", at);
}

/* Empty and missing are nil; anything else has to be a UUID. */
static bool read_uuid(struct fields *f, json_t *object, const char *at, struct uuid *ret)
{
    memset(ret, 0, sizeof(*ret));
    const char *text = fields_text(f, object, at, "uuid", REPORT_TEXT_MAX);
    if (!text || !*text)
        return !f->failed;
    if (!uuid_parse(text, strlen(text), ret))
        return fields_refuse(f, "not a UUID", "%s.uuid", at);
    return true;
}

static bool frame_object(struct intake *in, struct fields *f, json_t *v, const char *at,
                         bool *has_kind, struct report_frame *ret)
{
    ret->has_address = fields_address(f, v, at, "address", &ret->address);
    if (!f->failed && fields_get(v, "offset")) {
        ret->placed = fields_address(f, v, at, "offset", &ret->offset);
        if (!read_uuid(f, v, at, &ret->uuid))
            return false;
        if (uuid_is_nil(&ret->uuid))
            return fields_refuse(f, "an offset needs the image's uuid", "%s.uuid", at);
    }
    const char *kind = fields_text(f, v, at, "kind", 16);
    if (kind && !frame_kind_parse(kind, &ret->kind))
        return fields_refuse(f, "not one of leaf, return, async, exact", "%s.kind", at);
    *has_kind = kind != NULL;
    const char *symbol = place_words(f, v, at, "symbol");
    const char *why = !symbol                                     ? NULL
                      : strlen(symbol) > SYMBOL_MAX               ? SYMBOL_LONG
                      : privacy_is_secret(symbol, strlen(symbol)) ? "looks like personal data"
                                                                  : NULL;
    if (why) {
        intake_drop(in, at, why);
        symbol = NULL;
    }
    if (f->failed || !keep_text(in, f, symbol && *symbol ? symbol : NULL, &ret->symbol))
        return false;
    if (!ret->has_address && !ret->placed)
        return fields_refuse(f, "neither address nor uuid and offset", "%s", at);
    return true;
}

/* "0x1 0x2 0x3" */
static bool stack_text(struct intake *in, struct fields *f, const char *text, const char *at,
                       struct report_frame **ret, size_t *ret_count)
{
    size_t room = 1;
    for (const char *p = text; *p; p++)
        room += *p == ' ' || *p == '\n' || *p == '\t' || *p == '\r';
    struct report_frame *frames = arena_array(in->arena, room, sizeof(*frames));
    if (!frames)
        return no_memory(in, f);
    size_t n = 0;
    for (const char *p = text; *(p += strspn(p, " \n\t\r"));) {
        size_t len = strcspn(p, " \n\t\r");
        if (!hex_address(p, len, &frames[n].address))
            return fields_refuse(f, NOT_AN_ADDRESS, "%s[%zu]", at, n);
        frames[n++].has_address = true;
        p += len;
    }
    *ret = frames;
    *ret_count = n;
    return true;
}

static bool stack_array(struct intake *in, struct fields *f, json_t *array, const char *at,
                        bool *has_kind_any, struct report_frame **ret, bool **ret_has_kind,
                        size_t *ret_count)
{
    size_t n = json_array_size(array);
    struct report_frame *frames = arena_array(in->arena, n ? n : 1, sizeof(*frames));
    bool *has_kind = arena_array(in->arena, n ? n : 1, sizeof(*has_kind));
    if (!frames || !has_kind)
        return no_memory(in, f);
    for (size_t i = 0; i < n; i++) {
        json_t *v = json_array_get(array, i);
        if (json_is_object(v)) {
            char path[120];
            snprintf(path, sizeof(path), "%s[%zu]", at, i);
            if (!frame_object(in, f, v, path, &has_kind[i], &frames[i]))
                return false;
            *has_kind_any = *has_kind_any || has_kind[i];
            continue;
        }
        if (!json_address(v, &frames[i].address))
            return fields_refuse(f, NOT_AN_ADDRESS, "%s[%zu]", at, i);
        frames[i].has_address = true;
    }
    *ret = frames;
    *ret_has_kind = has_kind;
    *ret_count = n;
    return true;
}

bool native_stack(struct intake *in, struct fields *f, json_t *value, const char *at,
                  bool outermost_first, struct report_stack *ret)
{
    struct report_frame *frames = NULL;
    bool *has_kind = NULL;
    bool any_kind = false;
    size_t n = 0;
    ret->frames = NULL;
    ret->count = 0;
    if (f->failed)
        return false;
    if (!value)
        return true;
    if (json_is_string(value)) {
        const char *text = json_string_value(value);
        if (strlen(text) != json_string_length(value))
            return fields_refuse(f, "contains control characters", "%s", at);
        if (!stack_text(in, f, text, at, &frames, &n))
            return false;
    } else if (!json_is_array(value)) {
        return fields_refuse(f, "neither an array nor a string of addresses", "%s", at);
    } else if (!stack_array(in, f, value, at, &any_kind, &frames, &has_kind, &n)) {
        return false;
    }
    if (outermost_first) {
        for (size_t i = 0; i < n / 2; i++) {
            struct report_frame t = frames[i];
            frames[i] = frames[n - 1 - i];
            frames[n - 1 - i] = t;
            if (has_kind) {
                bool k = has_kind[i];
                has_kind[i] = has_kind[n - 1 - i];
                has_kind[n - 1 - i] = k;
            }
        }
    }
    for (size_t i = 0; i < n; i++) {
        if (!has_kind || !has_kind[i])
            frames[i].kind = i == 0 ? FRAME_LEAF : FRAME_RETURN;
    }
    if (n > in->limits->frames) {
        intake_drop(in, at, "outermost frames beyond the limit");
        n = in->limits->frames;
    }
    ret->frames = frames;
    ret->count = n;
    return true;
}

/* Without an offset a sample was taken an interval after the one before it and each of its repeats;
 * with no interval either, at the same time. */
bool native_samples(struct intake *in, struct fields *f, json_t *array, int64_t interval_ms,
                    bool outermost_first, struct report *r)
{
    size_t n = json_array_size(array);
    if (n > in->limits->samples)
        return refuse_many(f, "samples", in->limits->samples, "samples");
    struct report_sample *samples = arena_array(in->arena, n ? n : 1, sizeof(*samples));
    if (!samples)
        return no_memory(in, f);
    int64_t next = 0;
    for (size_t i = 0; i < n && !f->failed; i++) {
        char at[48], stack_at[64];
        json_t *v = json_array_get(array, i);
        struct report_sample *s = &samples[i];
        snprintf(at, sizeof(at), "samples[%zu]", i);
        snprintf(stack_at, sizeof(stack_at), "%s.stack", at);
        if (!json_is_object(v))
            return fields_refuse(f, "not an object", "%s", at);
        int64_t offset = next, repeat = 1, cpu = -1;
        fields_rounded(f, v, at, "offset_ms", 0, DURATION_MAX_MS, &offset);
        fields_rounded(f, v, at, "repeat_count", 1, 1000000, &repeat);
        fields_rounded(f, v, at, "cpu_usage", 0, 10000, &cpu);
        next = offset + interval_ms * repeat;
        next = next < DURATION_MAX_MS ? next : DURATION_MAX_MS;
        s->offset_ms = (int32_t)offset;
        s->repeat_count = (uint32_t)repeat;
        s->cpu_usage = (int16_t)cpu;
        if (!place_keep_clean(in, f, place_words(f, v, at, "thread_state"), REPORT_WORD_MAX,
                              "samples", &s->thread_state) ||
            !native_stack(in, f, fields_get(v, "stack"), stack_at, outermost_first, &s->stack))
            return false;
        if (s->stack.count == 0)
            return fields_refuse(f, "no stack", "%s", stack_at);
    }
    r->samples = samples;
    r->sample_count = n;
    return !f->failed;
}

static bool keep_described(struct intake *in, struct fields *f, const char *text, size_t max,
                           const char **ret)
{
    return place_keep_clean(in, f, text, max, "threads", ret);
}

static bool read_wait(struct intake *in, struct fields *f, json_t *v, const char *at,
                      struct report_thread *t)
{
    t->owner_tid = -1;
    json_t *wait = fields_object(f, v, at, "waits_for");
    if (!wait)
        return !f->failed;
    char path[64];
    snprintf(path, sizeof(path), "%s.waits_for", at);
    const char *kind = place_words(f, wait, path, "kind");
    if (!keep_described(in, f, place_words(f, wait, path, "queue"), REPORT_TEXT_MAX,
                        &t->waits_queue))
        return false;
    fields_address(f, wait, path, "address", &t->waits_address);
    fields_rounded(f, wait, path, "owner_tid", 0, INT64_MAX, &t->owner_tid);
    return !f->failed &&
           keep_described(in, f, kind ? kind : "unknown", REPORT_WORD_MAX, &t->waits_kind);
}

bool native_threads(struct intake *in, struct fields *f, json_t *array, bool outermost_first,
                    struct report *r)
{
    size_t n = json_array_size(array);
    if (n > in->limits->threads)
        return refuse_many(f, "threads", in->limits->threads, "threads");
    struct report_thread *threads = arena_array(in->arena, n ? n : 1, sizeof(*threads));
    if (!threads)
        return no_memory(in, f);
    for (size_t i = 0; i < n && !f->failed; i++) {
        char at[48], stack_at[64];
        json_t *v = json_array_get(array, i);
        struct report_thread *t = &threads[i];
        snprintf(at, sizeof(at), "threads[%zu]", i);
        snprintf(stack_at, sizeof(stack_at), "%s.stack", at);
        if (!json_is_object(v))
            return fields_refuse(f, "not an object", "%s", at);
        t->tid = (int64_t)i;
        fields_rounded(f, v, at, "tid", 0, INT64_MAX, &t->tid);
        fields_bool(f, v, at, "stalled", &t->stalled);
        if (!keep_described(in, f, place_words(f, v, at, "name"), REPORT_TEXT_MAX, &t->name) ||
            !keep_described(in, f, place_words(f, v, at, "state"), REPORT_WORD_MAX, &t->state) ||
            !keep_described(in, f, place_words(f, v, at, "queue"), REPORT_TEXT_MAX, &t->queue) ||
            !read_wait(in, f, v, at, t) ||
            !native_stack(in, f, fields_get(v, "stack"), stack_at, outermost_first, &t->stack))
            return false;
    }
    r->threads = threads;
    r->thread_count = n;
    return !f->failed;
}

static const char *base_name(const char *path)
{
    const char *slash = path ? strrchr(path, '/') : NULL;
    return slash && slash[1] ? slash + 1 : path;
}

/* Told with the first report that has these images, as empty UUIDs are. */
static bool keep_cut(struct intake *in, struct fields *f, const char *text, size_t max,
                     const char *key, size_t index, struct report_images *images, const char **ret)
{
    const size_t len = text ? strlen(text) : 0;
    if (len <= max)
        return keep_text(in, f, text, ret);
    if (images->cut_texts++ == 0) {
        images->cut_of = index;
        images->cut_key = key;
    }
    *ret = arena_printf(in->arena, "%.*s", (int)utf8_cut(text, max), text);
    return *ret || no_memory(in, f);
}

static bool native_image(struct intake *in, struct fields *f, json_t *v, const char *at,
                         size_t index, struct report_images *images)
{
    struct image_entry *e = &images->entries[index];
    if (!read_uuid(f, v, at, &e->uuid))
        return false;
    if (uuid_is_nil(&e->uuid) && json_object_get(v, "uuid") && images->empty_uuids++ == 0)
        images->empty_uuid = index;
    const char *name = place_words(f, v, at, "name");
    const char *path = place_words(f, v, at, "path");
    const char *arch = fields_text(f, v, at, "arch", ARCH_MAX);
    e->has_slide = fields_address(f, v, at, "slide", &e->slide);
    e->has_load_address = fields_address(f, v, at, "load_address", &e->load_address);
    fields_address(f, v, at, "size", &e->size);
    if (f->failed)
        return false;
    if (!e->has_slide && !e->has_load_address)
        return fields_refuse(f, "neither slide nor load_address", "%s", at);
    if (!name || !*name)
        name = path && *path ? path : "unknown";
    name = base_name(name); /* folders may be named after people */
    if (privacy_is_secret(name, strlen(name)))
        name = PRIVACY_REMOVED;
    return keep_cut(in, f, name, REPORT_TEXT_MAX, "name", index, images, &e->name) &&
           keep_cut(in, f, path, IMG_PATH_MAX, "path", index, images, &e->path) &&
           keep_text(in, f, arch && *arch ? arch : NULL, &e->arch);
}

bool native_images(struct intake *in, struct fields *f, json_t *array, const char *at,
                   struct report_images *ret)
{
    if (!json_is_array(array))
        return fields_refuse(f, "not an array", "%s", at);
    size_t n = json_array_size(array);
    if (n > in->limits->images)
        return refuse_many(f, "images", in->limits->images, at);
    struct image_entry *entries = arena_array(in->arena, n ? n : 1, sizeof(*entries));
    if (!entries)
        return no_memory(in, f);
    ret->entries = entries;
    ret->count = n;
    for (size_t i = 0; i < n; i++) {
        char path[80];
        json_t *v = json_array_get(array, i);
        snprintf(path, sizeof(path), "%s[%zu]", at, i);
        if (!json_is_object(v))
            return fields_refuse(f, "not an object", "%s", path);
        if (!native_image(in, f, v, path, i, ret))
            return false;
    }
    return true;
}

static void tell(struct intake *in, size_t index, const char *key, const char *reason, size_t count,
                 const char *others)
{
    char path[64], more[64] = "";
    snprintf(path, sizeof(path), "images[%zu].%s", index, key);
    if (count > 1)
        snprintf(more, sizeof(more), "%s%zu more", others, count - 1);
    reason = arena_printf(in->arena, "%s%s", reason, more);
    if (reason)
        intake_drop(in, path, reason);
    in->no_memory = in->no_memory || !reason;
}

void native_tell_images(struct intake *in, struct report_images *images)
{
    if (images && images->empty_uuids > 0)
        tell(in, images->empty_uuid, "uuid", "empty: no symbol file names this image's frames",
             images->empty_uuids, ", nor those of ");
    if (images && images->cut_texts > 0)
        tell(in, images->cut_of, images->cut_key, "cut: too long", images->cut_texts, ", as are ");
    if (images)
        images->empty_uuids = images->cut_texts = 0;
}
