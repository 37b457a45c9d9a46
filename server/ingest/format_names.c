#include "server/ingest/format_names.h"

#include <stdio.h>
#include <string.h>

#include "base/utf8.h"
#include "server/ingest/privacy.h"

#define NAME_SHOWN 64 /* bytes of a name */
#define PATH_SIZE  160
#define ID_FACTOR  64 /* above the length of any table: a place's number is its own */

/* One member that is read, and what is read of the objects in it. */
struct name {
    const char *text;
    const struct name *inside; /* NULL: whatever is in it is read, or refused, as a whole */
};

static const struct name APP[] = {{"bundle_id", NULL}, {"version", NULL}, {"build", NULL}, {0}};
static const struct name DEVICE[] = {
    {"model", NULL}, {"os_version", NULL}, {"os_build", NULL}, {"arch", NULL}, {0}};
static const struct name IMAGE[] = {
    {"uuid", NULL},         {"name", NULL}, {"arch", NULL}, {"slide", NULL},
    {"load_address", NULL}, {"size", NULL}, {"path", NULL}, {0}};
static const struct name FRAME[] = {{"address", NULL}, {"uuid", NULL},   {"offset", NULL},
                                    {"kind", NULL},    {"symbol", NULL}, {0}};
static const struct name SAMPLE[] = {{"offset_ms", NULL},    {"repeat_count", NULL},
                                     {"cpu_usage", NULL},    {"stack", FRAME},
                                     {"thread_state", NULL}, {0}};
static const struct name WAIT[] = {
    {"kind", NULL}, {"address", NULL}, {"owner_tid", NULL}, {"queue", NULL}, {0}};
static const struct name THREAD[] = {
    {"tid", NULL},     {"name", NULL},  {"state", NULL},     {"stack", FRAME},
    {"stalled", NULL}, {"queue", NULL}, {"waits_for", WAIT}, {0}};

/* Where a report or an item comes from: in it, or in the batch around it. */
#define PLACE                                                                                      \
    {"app", APP}, {"device", DEVICE}, {"bundle_id", NULL}, {"app_version", NULL}, {"build", NULL}, \
        {"os_version", NULL}, {"os_build", NULL}, {"arch", NULL},                                  \
    {                                                                                              \
        "sample_rate", NULL                                                                        \
    }
#define OF_STACKS                                                                                  \
    {"images", IMAGE}, {"image_set", NULL},                                                        \
    {                                                                                              \
        "order", NULL                                                                              \
    }

static const struct name REPORT[] = {{"id", NULL},
                                     {"kind", NULL},
                                     {"timestamp", NULL},
                                     {"duration_ms", NULL},
                                     {"threshold_type", NULL},
                                     {"page", NULL},
                                     {"path", NULL},
                                     {"cpu_usage", NULL},
                                     {"memory_usage", NULL},
                                     {"stack", FRAME},
                                     {"samples", SAMPLE},
                                     {"sample_interval_ms", NULL},
                                     {"threads", THREAD},
                                     {"stack_skipped", NULL},
                                     {"frame_gaps_ms", NULL},
                                     {"tags", NULL},
                                     OF_STACKS,
                                     PLACE,
                                     {0}};
static const struct name BATCH[] = {PLACE, OF_STACKS, {"reports", REPORT}, {0}};
static const struct name ITEM[] = {
    {"id", NULL}, {"day", NULL}, {"page", NULL}, {"foreground_ms", NULL}, {"launches", NULL}, PLACE,
    {0}};
static const struct name USAGE_BATCH[] = {{"id", NULL}, {"items", ITEM}, PLACE, {0}};
static const struct name SYMBOLICATE[] = {{"images", IMAGE},
                                          {"stacks", NULL},
                                          {"order", NULL},
                                          {"bundle_id", NULL},
                                          {"os_build", NULL},
                                          {"arch", NULL},
                                          {0}};

/* The way to an object; printed for the few that are listed. */
struct place {
    const struct place *up;
    const char *name;
    bool in_array;
    uint64_t id; /* of the names of the way, whatever the positions in arrays */
};

static size_t print_place(char *out, size_t size, const struct place *p)
{
    if (!p->up)
        return 0;
    size_t n = print_place(out, size, p->up);
    n += (size_t)snprintf(out + n, size - n, "%s%s.", p->name, p->in_array ? "[]" : "");
    return n < size ? n : size - 1;
}

/* What a stranger called it, fit to be shown. */
static void print_name(char *out, size_t size, const char *key)
{
    const size_t len = strlen(key), max = size - 1 < NAME_SHOWN ? size - 1 : NAME_SHOWN;
    size_t n = 0;
    if (privacy_is_personal(key, len)) {
        snprintf(out, size, "%s", PRIVACY_REMOVED);
        return;
    }
    while (n < len) {
        size_t step = utf8_sequence(key + n, len - n);
        bool plain = step > 1 || (step == 1 && (unsigned char)key[n] >= 0x20 && key[n] != 0x7f);
        step = step ? step : 1;
        if (n + step > max)
            break;
        memcpy(out + n, plain ? key + n : "?", step);
        n += step;
    }
    out[n] = 0;
}

/* True: counted with one that is listed. */
static bool count_again(struct intake *in, const struct place *at, const char *key)
{
    for (size_t i = 0; i < in->ignored_count; i++) {
        struct ingest_ignored *x = &in->ignored[i];
        if (x->place == at->id && strncmp(x->key, key, sizeof(x->key) - 1) == 0) {
            x->count++;
            return true;
        }
    }
    return false;
}

/* Without memory nothing is listed: what the readers need is told by them. */
static void list_name(struct intake *in, const struct place *at, const char *key)
{
    char path[PATH_SIZE] = "(other)";
    if (!in->ignored)
        in->ignored = arena_array(in->arena, IGNORED_MAX, sizeof(*in->ignored));
    if (!in->ignored || count_again(in, at, key))
        return;
    if (in->ignored_count == IGNORED_MAX) {
        in->ignored[IGNORED_MAX - 1].count++;
        return;
    }
    struct ingest_ignored *x = &in->ignored[in->ignored_count];
    memset(x, 0, sizeof(*x));
    x->place = UINT64_MAX;
    x->count = 1;
    if (in->ignored_count < IGNORED_MAX - 1) {
        const size_t n = print_place(path, sizeof(path), at);
        print_name(path + n, sizeof(path) - n, key);
        snprintf(x->key, sizeof(x->key), "%s", key);
        x->place = at->id;
    }
    x->path = arena_strdup(in->arena, path);
    in->ignored_count += x->path != NULL;
}

/* Clients name members in one order, mostly ours: the search goes on behind the last one found. */
static const struct name *find_name(const struct name *names, const struct name *from,
                                    const char *key)
{
    for (const struct name *n = from; n->text; n++) {
        if (n->text[0] == key[0] && strcmp(n->text, key) == 0)
            return n;
    }
    for (const struct name *n = names; n < from; n++) {
        if (n->text[0] == key[0] && strcmp(n->text, key) == 0)
            return n;
    }
    return NULL;
}

static void look_inside(struct intake *in, json_t *object, const struct name *names,
                        const struct place *at);

static void look_at(struct intake *in, json_t *value, const struct name *names, struct place *at)
{
    if (json_is_object(value))
        look_inside(in, value, names, at);
    at->in_array = true;
    for (size_t i = 0; i < json_array_size(value); i++) {
        json_t *v = json_array_get(value, i);
        if (json_is_object(v))
            look_inside(in, v, names, at);
    }
}

static void look_inside(struct intake *in, json_t *object, const struct name *names,
                        const struct place *at)
{
    const struct name *next = names;
    const char *key;
    json_t *value;
    json_object_foreach(object, key, value)
    {
        const struct name *n = find_name(names, next, key);
        if (!n) {
            list_name(in, at, key);
            continue;
        }
        next = n + 1;
        if (n->inside) {
            struct place inside = {at, n->text, false, at->id * ID_FACTOR + (n - names) + 1};
            look_at(in, value, n->inside, &inside);
        }
    }
}

void names_check(struct intake *in, json_t *document, enum names_of what)
{
    static const struct name *const tables[] = {[NAMES_BATCH] = BATCH,
                                                [NAMES_FLAT_REPORT] = REPORT,
                                                [NAMES_USAGE_BATCH] = USAGE_BATCH,
                                                [NAMES_FLAT_USAGE] = ITEM,
                                                [NAMES_SYMBOLICATE] = SYMBOLICATE};
    const struct place root = {0};
    look_inside(in, document, tables[what], &root);
}
