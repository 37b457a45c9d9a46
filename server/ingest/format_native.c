#include "server/ingest/format_native.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/hash.h"
#include "server/ingest/format_body.h"
#include "server/ingest/format_names.h"
#include "server/ingest/format_native_stack.h"
#include "server/ingest/format_place.h"
#include "server/ingest/named_sets.h"
#include "server/ingest/privacy.h"

#define PATH_STEPS_MAX 64
#define TAG_KEY_MAX    64
#define TAG_VALUE_MAX  128
#define GAPS_MAX       1000
#define TIMESTAMP_MAX  ((int64_t)1 << 53)

/* What a batch says for all its reports; a flat report is a batch of its own. */
struct batch {
    json_t *object;
    json_t *app;    /* NULL */
    json_t *device; /* NULL, object or string */
    struct report_images *images;
    const char *set;      /* image_set without images */
    struct fields broken; /* failed: every report of the batch is refused with this */
};

static bool read_texts(struct intake *in, struct fields *f, json_t *o, json_t *batch,
                       struct report *r)
{
    struct place_texts t;
    if (!place_read(in, f, o, batch, &t))
        return false;
    r->bundle_id = t.bundle_id;
    r->version = t.version;
    r->build = t.build;
    r->device = t.device;
    r->os_version = t.os_version;
    r->os_build = t.os_build;
    r->arch = t.arch;
    return true;
}

/* --- single fields ---------------------------------------------------------------------------- */

static bool read_kind(struct intake *in, struct fields *f, json_t *o, struct report *r)
{
    static const struct {
        const char *prefix;
        enum report_kind kind;
    } thresholds[] = {{"runloop_800", REPORT_STALL},
                      {"runloop_500", REPORT_SLIGHT_STALL},
                      {"fps", REPORT_FRAME_DROP}};
    const char *kind = fields_text(f, o, "", "kind", 64);
    const char *threshold = place_words(f, o, "", "threshold_type");
    r->kind = REPORT_STALL;
    if (kind && !report_kind_parse(kind, &r->kind))
        return fields_refuse(f, "not one of stall, slight_stall, hang, frame_drop, launch", "%s",
                             "kind");
    bool known = kind || !threshold || !*threshold;
    for (size_t i = 0; !known && i < sizeof(thresholds) / sizeof(thresholds[0]); i++) {
        known = strncmp(threshold, thresholds[i].prefix, strlen(thresholds[i].prefix)) == 0;
        if (known)
            r->kind = thresholds[i].kind;
    }
    if (!known)
        intake_drop(in, "threshold_type",
                    "names no kind, so that it is a stall: known ones begin with runloop_800, "
                    "runloop_500 or fps, for others `kind` says it");
    return !f->failed && place_keep_clean(in, f, threshold, REPORT_WORD_MAX, "threshold_type",
                                          &r->threshold_type);
}

static bool read_timestamp(struct fields *f, json_t *o, struct report *r)
{
    json_t *v = fields_get(o, "timestamp");
    if (!v || f->failed)
        return !f->failed;
    r->has_timestamp = true;
    if (json_is_string(v)) {
        if (clock_parse_rfc3339(json_string_value(v), json_string_length(v), &r->timestamp_ms))
            return true;
        return fields_refuse(f, "not an RFC 3339 time with its zone, like 2026-11-30T08:00:00Z",
                             "%s", "timestamp");
    }
    if (json_is_number(v) && !(fabs(json_number_value(v)) <= (double)TIMESTAMP_MAX))
        return fields_refuse(f, "out of range: milliseconds since 1970 are wanted", "%s",
                             "timestamp");
    return fields_rounded(f, o, "", "timestamp", -TIMESTAMP_MAX, TIMESTAMP_MAX, &r->timestamp_ms);
}

static bool read_numbers(struct intake *in, struct fields *f, json_t *o, const struct batch *b,
                         struct report *r)
{
    int64_t cpu = -1, memory = -1;
    r->duration_ms = -1;
    fields_rounded(f, o, "", "duration_ms", 0, DURATION_MAX_MS, &r->duration_ms);
    fields_rounded(f, o, "", "cpu_usage", 0, 100000, &cpu);
    fields_rounded(f, o, "", "memory_usage", 0, 10000000, &memory);
    r->sample_rate = place_sample_rate(in, f, o, b->object);
    r->cpu_usage = (int32_t)cpu;
    r->memory_usage = (int32_t)memory;
    return !f->failed;
}

/* One string for a path given as an array; "A->B" as it is. */
static bool read_path(struct intake *in, struct fields *f, json_t *o, struct report *r)
{
    json_t *v = f->failed ? NULL : fields_get(o, "path");
    size_t cap = in->limits->path_bytes;
    char *joined = v ? arena_alloc(in->arena, cap + 1) : NULL;
    r->path = "";
    if (!v || f->failed)
        return !f->failed;
    if (!joined)
        return place_no_memory(in, f);
    if (!json_is_string(v) && !json_is_array(v))
        return fields_refuse(f, "neither an array nor a string", "%s", "path");
    size_t steps = json_is_array(v) ? json_array_size(v) : 1, n = 0;
    for (size_t i = 0; i < steps; i++) {
        json_t *step = json_is_array(v) ? json_array_get(v, i) : v;
        if (!json_is_string(step) || !json_clean_text(step, SIZE_MAX))
            return fields_refuse(f, "not a page name", "path[%zu]", i);
        char *text = arena_strdup(in->arena, json_string_value(step));
        if (!text)
            return place_no_memory(in, f);
        privacy_trim_url(text);
        size_t len = strlen(text), arrow = n ? 2 : 0;
        if (i >= PATH_STEPS_MAX || n + arrow + len > cap) {
            intake_drop(in, "path", "longer than the limit");
            break;
        }
        memcpy(joined + n, "->", arrow);
        memcpy(joined + n + arrow, text, len);
        n += arrow + len;
    }
    joined[n] = 0;
    r->path = joined;
    if (privacy_is_personal(joined, n)) {
        intake_drop(in, "path", "looks like personal data");
        r->path = PRIVACY_REMOVED;
    }
    return true;
}

/* Addresses without user and query. */
static bool keep_tag(json_t *kept, const char *key, json_t *v)
{
    char text[TAG_VALUE_MAX + 1];
    if (json_is_string(v) && json_string_length(v) < sizeof(text)) {
        memcpy(text, json_string_value(v), json_string_length(v) + 1);
        if (privacy_trim_url(text))
            return json_object_set_new(kept, key, json_string(text)) == 0;
    }
    return json_object_set(kept, key, v) == 0;
}

/* By its name, unless that is at fault itself. */
static void drop_tag(struct intake *in, const char *key, const char *why)
{
    char path[TAG_KEY_MAX + 8] = "tags";
    if (strlen(key) <= TAG_KEY_MAX && json_clean_key(key, strlen(key)) &&
        !privacy_is_personal(key, strlen(key)))
        snprintf(path, sizeof(path), "tags.%s", key);
    intake_drop(in, path, why);
}

static bool read_tags(struct intake *in, struct fields *f, json_t *o, struct report *r)
{
    json_t *tags = fields_object(f, o, "", "tags");
    if (!tags || json_object_size(tags) == 0)
        return !f->failed;
    json_t *kept = json_object();
    const char *key;
    json_t *v;
    json_object_foreach(tags, key, v)
    {
        bool scalar = json_is_number(v) || json_is_boolean(v) ||
                      (json_is_string(v) && json_clean_text(v, TAG_VALUE_MAX));
        const char *why = NULL;
        if (!scalar || strlen(key) > TAG_KEY_MAX)
            why = "not a short text, number or boolean";
        else if (json_object_size(kept) >= in->limits->tags)
            why = "more tags than the limit";
        else if (privacy_is_personal(key, strlen(key)) ||
                 (json_is_string(v) &&
                  privacy_is_personal(json_string_value(v), json_string_length(v))))
            why = "looks like personal data";
        if (why)
            drop_tag(in, key, why);
        else if (!keep_tag(kept, key, v))
            in->no_memory = true;
    }
    char *text = json_object_size(kept) ? json_dumps(kept, JSON_COMPACT | JSON_SORT_KEYS) : NULL;
    bool ok = place_keep(in, f, text, &r->tags);
    free(text);
    json_decref(kept);
    return ok;
}

static bool read_gaps(struct intake *in, struct fields *f, json_t *o, struct report *r)
{
    json_t *array = fields_array(f, o, "", "frame_gaps_ms");
    size_t n = json_array_size(array);
    if (!array || n == 0)
        return !f->failed;
    if (n > GAPS_MAX) {
        intake_drop(in, "frame_gaps_ms", "more gaps than the limit");
        n = GAPS_MAX;
    }
    int32_t *gaps = arena_array(in->arena, n, sizeof(*gaps));
    if (!gaps)
        return place_no_memory(in, f);
    for (size_t i = 0; i < n; i++) {
        double d = json_number_value(json_array_get(array, i));
        if (!json_is_number(json_array_get(array, i)) || !(d >= 0 && d <= 1e9))
            return fields_refuse(f, "not a duration", "frame_gaps_ms[%zu]", i);
        gaps[i] = (int32_t)d;
    }
    r->frame_gaps_ms = gaps;
    r->frame_gap_count = n;
    return true;
}

/* Without an id of its own a report is known by what it says, so that a retry counts once. */
static bool read_id(struct intake *in, struct fields *f, json_t *o, const struct batch *b,
                    struct report *r)
{
    const char *id = fields_text(f, o, "", "id", REPORT_ID_MAX);
    if (f->failed)
        return false;
    if (id && *id)
        return place_keep(in, f, id, &r->id);
    uint8_t digest[SHA256_SIZE];
    char hex[SHA256_TEXT_SIZE];
    struct sha256 h;
    sha256_init(&h);
    json_t *parts[] = {o, b->object == o ? NULL : b->app, b->object == o ? NULL : b->device};
    for (size_t i = 0; i < 3; i++) {
        char *text =
            parts[i] ? json_dumps(parts[i], JSON_COMPACT | JSON_SORT_KEYS | JSON_ENCODE_ANY) : NULL;
        if (parts[i] && !text)
            return place_no_memory(in, f);
        sha256_update(&h, text ? text : "", (text ? strlen(text) : 0) + 1);
        free(text);
    }
    sha256_final(&h, digest);
    sha256_format(digest, hex);
    r->id = arena_printf(in->arena, "content-%.32s", hex);
    return r->id || place_no_memory(in, f);
}

/* --- images ----------------------------------------------------------------------------------- */

static bool refuse_set(struct intake *in, struct fields *f, const char *set)
{
    const char *kept;
    if (place_keep(in, f, set, &kept) && kept)
        intake_need_set(in, kept);
    return fields_refuse(f, "unknown_image_set", "%s", "image_set");
}

/* The images that stand in `o` (a batch or a report), NULL when none do. */
static bool own_images(struct intake *in, struct fields *f, json_t *o, struct report_images **ret,
                       const char **ret_set)
{
    json_t *array = fields_get(o, "images");
    *ret_set = fields_text(f, o, "", "image_set", REPORT_TEXT_MAX);
    *ret = NULL;
    if (!array || f->failed)
        return !f->failed;
    struct report_images *images = arena_alloc(in->arena, sizeof(*images));
    if (!images)
        return place_no_memory(in, f);
    if (!native_images(in, f, array, "images", images))
        return false;
    if (*ret_set && **ret_set) {
        images->defines_set = true;
        if (!place_keep(in, f, *ret_set, &images->set))
            return false;
    }
    *ret = images;
    return true;
}

static bool read_images(struct intake *in, struct fields *f, json_t *o, const struct batch *b,
                        struct report *r)
{
    struct report_images *images = NULL;
    const char *set = NULL;
    if (o != b->object && !own_images(in, f, o, &images, &set))
        return false;
    if (!images && !set) {
        images = b->images;
        set = b->set;
    }
    if (images && images->defines_set && !named_set_note(in, r->bundle_id, images))
        return place_no_memory(in, f);
    if (!images && set && *set) {
        images = named_set_images(in, r->bundle_id, set);
        if (!images)
            return refuse_set(in, f, set);
    }
    native_tell_images(in, images);
    r->images = images;
    return true;
}

/* --- reports and batches ---------------------------------------------------------------------- */

/* A stack may be empty (the device could not walk it); a report that does not speak of one at all
 * has to say why, or to be of a kind without. */
static bool speaks_of_stack(json_t *o, const struct report *r)
{
    return fields_get(o, "stack") || fields_get(o, "samples") || fields_get(o, "threads") ||
           r->stack_skipped || r->kind == REPORT_FRAME_DROP;
}

static bool same_stack(const struct report_stack *a, const struct report_stack *b)
{
    bool same = a->count == b->count;
    for (size_t i = 0; i < a->count && same; i++)
        same = a->frames[i].address == b->frames[i].address &&
               a->frames[i].offset == b->frames[i].offset &&
               uuid_equal(&a->frames[i].uuid, &b->frames[i].uuid);
    return same;
}

/* Of a report with several samples one of them is the stack (design: the longest stage); a stack
 * beside them has no time, and is none of them or the same again. */
static void let_samples_speak(struct intake *in, struct report *r)
{
    bool known = r->stack.count == 0 || r->sample_count < 2;
    for (size_t i = 0; i < r->sample_count && !known; i++)
        known = same_stack(&r->stack, &r->samples[i].stack);
    if (!known)
        intake_drop(in, "stack", "the samples say which stack it was");
    if (r->sample_count > 1)
        r->stack = (struct report_stack){NULL, 0};
}

static bool read_stacks(struct intake *in, struct fields *f, json_t *o, const struct batch *b,
                        struct report *r)
{
    const char *order = fields_text(f, o, "", "order", 32);
    if (!order)
        order = fields_text(f, b->object, "", "order", 32);
    if (f->failed)
        return false;
    bool outermost_first = order && strcmp(order, "outermost_first") == 0;
    if (order && !outermost_first && strcmp(order, "innermost_first") != 0)
        return fields_refuse(f, "neither innermost_first nor outermost_first", "%s", "order");
    int64_t interval_ms = 0;
    fields_rounded(f, o, "", "sample_interval_ms", 0, DURATION_MAX_MS, &interval_ms);
    json_t *samples = fields_array(f, o, "", "samples");
    json_t *threads = fields_array(f, o, "", "threads");
    if (f->failed ||
        !native_stack(in, f, fields_get(o, "stack"), "stack", outermost_first, &r->stack) ||
        (samples && !native_samples(in, f, samples, interval_ms, outermost_first, r)) ||
        (threads && !native_threads(in, f, threads, outermost_first, r)))
        return false;
    let_samples_speak(in, r);
    if (!place_keep_clean(in, f, place_words(f, o, "", "stack_skipped"), REPORT_WORD_MAX,
                          "stack_skipped", &r->stack_skipped) ||
        f->failed)
        return false;
    if (!speaks_of_stack(o, r))
        return fields_refuse(f, "no stack", "%s", "stack");
    return true;
}

static bool fill_report(struct intake *in, struct fields *f, json_t *o, const struct batch *b,
                        struct report *r)
{
    if (!json_is_object(o))
        return fields_refuse(f, "not an object", "%s", "");
    if (b->broken.failed)
        return fields_refuse(f, b->broken.reason, "%s", b->broken.path);
    return read_texts(in, f, o, b->object, r) && read_id(in, f, o, b, r) &&
           read_kind(in, f, o, r) && read_timestamp(f, o, r) && read_numbers(in, f, o, b, r) &&
           place_keep_page(in, f, place_words(f, o, "", "page"), "page", &r->page) &&
           read_path(in, f, o, r) && read_tags(in, f, o, r) && read_gaps(in, f, o, r) &&
           read_images(in, f, o, b, r) && read_stacks(in, f, o, b, r) && !f->failed;
}

/* "stack[3]" of report 7 is "reports[7].stack[3]" in a batch. */
static void refuse_report(struct intake *in, const struct fields *f, const char *at)
{
    char path[256];
    snprintf(path, sizeof(path), "%s%s%s", at, *at && *f->path ? "." : "", f->path);
    intake_refuse(in, path, f->reason);
}

static bool one_report(struct intake *in, json_t *o, const struct batch *b, const char *at,
                       uint32_t line)
{
    struct fields f;
    fields_init(&f, in->arena);
    struct report *r = intake_report(in, line);
    if (!r)
        return false;
    if (!fill_report(in, &f, o, b, r))
        refuse_report(in, &f, b->broken.failed ? "" : at);
    return !in->no_memory && in->next_index <= in->limits->reports;
}

static bool is_report(const json_t *o)
{
    static const char *const marks[] = {
        "stack", "samples", "threads", "stack_skipped", "frame_gaps_ms", "kind", "threshold_type"};
    for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++) {
        if (json_object_get(o, marks[i]))
            return true;
    }
    return false;
}

static enum err read_object(struct intake *in, json_t *o, const char *at, uint32_t line,
                            struct error *err)
{
    struct batch b = {.object = o, .app = fields_get(o, "app"), .device = fields_get(o, "device")};
    json_t *reports = json_is_object(o) ? fields_get(o, "reports") : NULL;
    fields_init(&b.broken, in->arena);
    if (reports && !json_is_array(reports))
        return error_set(err, ERR_INVALID, "%s%s`reports` is no array", at, *at ? ": " : "");
    if (!json_is_object(o) || (!reports && !is_report(o)))
        return error_set(err, ERR_INVALID,
                         "%s%sneither a batch (an object with `reports`) nor a report (one with "
                         "`stack`, `samples` or `threads`)",
                         at, *at ? ": " : "");
    names_check(in, o, reports ? NAMES_BATCH : NAMES_FLAT_REPORT);
    if (!own_images(in, &b.broken, o, &b.images, &b.set) && in->no_memory)
        return ERR_OK;
    if (!reports) {
        one_report(in, o, &b, at, line);
        return ERR_OK;
    }
    for (size_t i = 0; i < json_array_size(reports); i++) {
        char path[64];
        snprintf(path, sizeof(path), "%s%sreports[%zu]", at, *at ? "." : "", i);
        if (!one_report(in, json_array_get(reports, i), &b, path, line))
            break;
    }
    return ERR_OK;
}

enum err format_native_read(struct intake *in, struct error *err)
{
    static const struct format_body native = {read_object, "neither a batch nor a report",
                                              "`reports` is empty"};
    return format_body_read(in, &native, err);
}
