#include "server/ingest/format_place.h"

#include <string.h>

#include "base/utf8.h"
#include "server/ingest/privacy.h"

#define RATE_MIN   1e-6
#define RATE_LEAST 1e-4 /* 1 / FIGURES_WEIGHT_MAX */

bool place_no_memory(struct intake *in, struct fields *f)
{
    in->no_memory = true;
    return fields_refuse(f, "too large", "%s", "");
}

bool place_keep(struct intake *in, struct fields *f, const char *s, const char **ret)
{
    *ret = s ? arena_strdup(in->arena, s) : NULL;
    return !s || *ret || place_no_memory(in, f);
}

const char *place_words(struct fields *f, json_t *object, const char *at, const char *key)
{
    return fields_text(f, object, at, key, SIZE_MAX);
}

/* Looked at before it is cut: half of an address looks like none. */
bool place_keep_clean(struct intake *in, struct fields *f, const char *text, size_t max,
                      const char *at, const char **ret)
{
    char *copy = text ? arena_strdup(in->arena, text) : NULL;
    *ret = copy;
    if (!copy)
        return !text || place_no_memory(in, f);
    privacy_trim_url(copy);
    if (privacy_is_personal(copy, strlen(copy))) {
        intake_drop(in, at, "looks like personal data");
        *ret = PRIVACY_REMOVED;
    } else if (strlen(copy) > max) {
        const char *reason = arena_printf(in->arena, "cut: longer than %zu bytes", max);
        if (!reason)
            return place_no_memory(in, f);
        copy[utf8_cut(copy, max)] = 0;
        intake_drop(in, at, reason);
    }
    return true;
}

/* Page names are class names. */
bool place_keep_page(struct intake *in, struct fields *f, const char *text, const char *at,
                     const char **ret)
{
    return place_keep_clean(in, f, text ? text : "", REPORT_TEXT_MAX, at, ret);
}

double place_sample_rate(struct intake *in, struct fields *f, json_t *entry, json_t *batch)
{
    double rate = 1;
    if (!fields_number(f, entry, "", "sample_rate", RATE_MIN, 1, &rate) && batch != entry)
        fields_number(f, batch, "", "sample_rate", RATE_MIN, 1, &rate);
    if (!f->failed && rate < RATE_LEAST)
        intake_drop(in, "sample_rate", "below 0.0001: it counts as that");
    return rate;
}

/* A text may stand in the entry's or batch's sub-object, or flat in either; the entry wins. */
struct place {
    const char *object; /* "app", "device" */
    const char *key;    /* inside it */
    const char *flat;   /* name beside it */
};

static const struct place BUNDLE_ID = {"app", "bundle_id", "bundle_id"};
static const struct place VERSION = {"app", "version", "app_version"};
static const struct place BUILD = {"app", "build", "build"};
static const struct place OS_VERSION = {"device", "os_version", "os_version"};
static const struct place OS_BUILD = {"device", "os_build", "os_build"};
static const struct place ARCH = {"device", "arch", "arch"};

static const char *placed_text(struct fields *f, json_t *entry, json_t *batch,
                               const struct place *p)
{
    json_t *levels[] = {entry, batch};
    for (size_t i = 0; i < 2; i++) {
        const char *text = fields_text(f, levels[i], "", p->flat, REPORT_TEXT_MAX);
        json_t *object = text ? NULL : fields_get(levels[i], p->object);
        if (!text && json_is_object(object))
            text = fields_text(f, object, p->object, p->key, REPORT_TEXT_MAX);
        if (text || f->failed || levels[0] == levels[1])
            return text;
    }
    return NULL;
}

static const char *device_model(struct fields *f, json_t *entry, json_t *batch)
{
    json_t *levels[] = {entry, batch};
    for (size_t i = 0; i < 2; i++) {
        json_t *device = fields_get(levels[i], "device");
        const char *text = NULL;
        if (json_is_object(device))
            text = place_words(f, device, "device", "model");
        else if (device)
            text = place_words(f, levels[i], "", "device");
        if (text || f->failed)
            return text;
    }
    return NULL;
}

bool place_read(struct intake *in, struct fields *f, json_t *entry, json_t *batch,
                struct place_texts *ret)
{
    const char *bound = in->request->bundle_id;
    const char *bundle = placed_text(f, entry, batch, &BUNDLE_ID);
    if (f->failed)
        return false;
    if (bound && bundle && strcmp(bound, bundle) != 0)
        return fields_refuse(f, "the token is bound to another app", "%s", "bundle_id");
    if (!bundle)
        bundle = bound;
    json_t *app = fields_get(fields_get(entry, "app") ? entry : batch, "app");
    if ((!bundle || !*bundle) && app && !json_is_object(app))
        return fields_refuse(f, "not an object with a `bundle_id`", "%s", "app");
    if (!bundle || !*bundle)
        return fields_refuse(f, "no app is named", "%s", "bundle_id");
    const struct {
        const struct place *place;
        const char **to;
    } texts[] = {{&VERSION, &ret->version},
                 {&BUILD, &ret->build},
                 {&OS_VERSION, &ret->os_version},
                 {&OS_BUILD, &ret->os_build},
                 {&ARCH, &ret->arch}};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        const char *text = placed_text(f, entry, batch, texts[i].place);
        if (f->failed || !place_keep(in, f, text ? text : "", texts[i].to))
            return false;
    }
    const char *model = device_model(f, entry, batch);
    return !f->failed && place_keep_page(in, f, model, "device", &ret->device) &&
           place_keep(in, f, bundle, &ret->bundle_id);
}
