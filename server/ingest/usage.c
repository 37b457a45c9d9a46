#include "server/ingest/usage.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/hash.h"
#include "server/ingest/format_body.h"
#include "server/ingest/format_names.h"
#include "server/ingest/format_place.h"

#define PAST_DAYS 30

/* The batch that items stand in; a flat item is a batch of its own. */
struct batch {
    json_t *object;
    const char *at; /* its place in the body */
    uint32_t line;
};

static struct op_usage_item *new_item(struct intake *in)
{
    if (in->next_index > in->limits->reports ||
        !arena_room(in->arena, (void **)&in->usage, in->usage_count, &in->usage_room,
                    sizeof(*in->usage))) {
        in->no_memory |= in->next_index <= in->limits->reports;
        return NULL;
    }
    struct op_usage_item *u = &in->usage[in->usage_count];
    memset(u, 0, sizeof(*u));
    return u;
}

/* "2026-11-29"; absent, or out of range: today. */
static bool read_day(struct intake *in, struct fields *f, json_t *o, struct op_usage_item *u)
{
    json_t *v = f->failed ? NULL : fields_get(o, "day");
    const char *text = json_word(v);
    const int32_t today = clock_day(u->received_ms);
    u->day = today;
    if (!v)
        return !f->failed;
    if (!text || !clock_parse_day(text, strlen(text), &u->day))
        return fields_refuse(f, "not a day like 2026-11-29", "%s", "day");
    if (u->day < today - PAST_DAYS || u->day > today + 1) {
        intake_drop(in, "day", "not from 30 days ago to tomorrow; today stands in its place");
        u->day = today;
    }
    return true;
}

static bool read_numbers(struct intake *in, struct fields *f, json_t *o, const struct batch *b,
                         struct op_usage_item *u)
{
    bool any =
        fields_rounded(f, o, "", "foreground_ms", 0, USAGE_FOREGROUND_MAX, &u->foreground_ms);
    any |= fields_rounded(f, o, "", "launches", 0, USAGE_LAUNCHES_MAX, &u->launches);
    if (!f->failed && !any)
        return fields_refuse(f, "neither foreground_ms nor launches", "%s", "foreground_ms");
    u->weight = 1 / place_sample_rate(in, f, o, b->object);
    return !f->failed;
}

static bool hash_json(struct sha256 *h, json_t *v)
{
    char *text = v ? json_dumps(v, JSON_COMPACT | JSON_SORT_KEYS | JSON_ENCODE_ANY) : NULL;
    sha256_update(h, text ? text : "", (text ? strlen(text) : 0) + 1);
    free(text);
    return !v || text;
}

/* Without any id: what the batch says beside its items, the item, and its place. */
static bool content_id(struct intake *in, struct fields *f, json_t *o, const struct batch *b,
                       size_t place, const char **ret)
{
    struct sha256 h;
    uint8_t digest[SHA256_SIZE];
    char hex[SHA256_TEXT_SIZE];
    const char *key;
    json_t *v;
    bool ok = true;
    sha256_init(&h);
    sha256_update(&h, &place, sizeof(place));
    ok &= hash_json(&h, o);
    if (b->object != o) {
        json_object_foreach(b->object, key, v)
        {
            if (strcmp(key, "items") == 0)
                continue;
            sha256_update(&h, key, strlen(key) + 1);
            ok &= hash_json(&h, v);
        }
    }
    sha256_final(&h, digest);
    sha256_format(digest, hex);
    *ret = ok ? arena_printf(in->arena, "content-%.32s", hex) : NULL;
    return *ret || place_no_memory(in, f);
}

static bool read_id(struct intake *in, struct fields *f, json_t *o, const struct batch *b,
                    size_t place, struct op_usage_item *u)
{
    const char *id = fields_text(f, o, "", "id", REPORT_ID_MAX);
    const char *of_batch =
        b->object == o ? NULL : fields_text(f, b->object, "", "id", REPORT_ID_MAX);
    if (f->failed)
        return false;
    if ((!id || !*id) && of_batch && *of_batch) {
        id = arena_printf(in->arena, "%s#%zu", of_batch, place);
        if (!id)
            return place_no_memory(in, f);
    }
    if ((!id || !*id) && !content_id(in, f, o, b, place, &id))
        return false;
    usage_id_hash(u->bundle_id, id, u->id_hash);
    return true;
}

static bool fill(struct intake *in, struct fields *f, json_t *o, const struct batch *b,
                 size_t place, struct op_usage_item *u)
{
    struct place_texts t;
    if (!json_is_object(o))
        return fields_refuse(f, "not an object", "%s", "");
    if (!place_read(in, f, o, b->object, &t))
        return false;
    u->received_ms = in->request->now_ms;
    u->bundle_id = t.bundle_id;
    u->version = t.version;
    u->build = t.build;
    u->device = t.device;
    u->arch = t.arch;
    u->os_version = t.os_version;
    u->os_build = t.os_build;
    return read_id(in, f, o, b, place, u) && read_day(in, f, o, u) &&
           read_numbers(in, f, o, b, u) &&
           place_keep_page(in, f, place_words(f, o, "", "page"), "page", &u->page) && !f->failed;
}

/* Usage makes apps as reports do. */
static bool is_admitted(struct intake *in, struct fields *f, const struct op_usage_item *u)
{
    const struct ingest_request *request = in->request;
    bool bound = request->bundle_id && strcmp(request->bundle_id, u->bundle_id) == 0;
    return !request->admission || admission_bring(request->admission, u->bundle_id, bound) ||
           fields_refuse(f, "too_many_apps", "%s", "");
}

static void one_item(struct intake *in, json_t *o, const struct batch *b, const char *at,
                     size_t place)
{
    struct fields f;
    char path[256];
    fields_init(&f, in->arena);
    struct op_usage_item *u = new_item(in);
    in->next_index++;
    if (!u)
        return;
    if (fill(in, &f, o, b, place, u) && is_admitted(in, &f, u)) {
        in->usage_count++;
        return;
    }
    snprintf(path, sizeof(path), "%s%s%s", at, *at && *f.path ? "." : "", f.path);
    in->next_index--; /* counted again as refused */
    intake_refuse_line(in, b->line, path, f.reason);
}

static enum err read_document(struct intake *in, json_t *o, const char *at, uint32_t line,
                              struct error *err)
{
    const struct batch b = {o, at, line};
    json_t *items = json_is_object(o) ? fields_get(o, "items") : NULL;
    const bool flat =
        !items && (json_object_get(o, "foreground_ms") || json_object_get(o, "launches"));
    if (!json_is_object(o) || (items && !json_is_array(items)) || (!items && !flat))
        return error_set(err, ERR_INVALID,
                         "%s%sneither a batch (an object with `items`) nor an item", at,
                         *at ? ": " : "");
    names_check(in, o, flat ? NAMES_FLAT_USAGE : NAMES_USAGE_BATCH);
    if (flat)
        one_item(in, o, &b, at, 0);
    for (size_t i = 0; i < json_array_size(items) && !in->no_memory; i++) {
        char path[64];
        snprintf(path, sizeof(path), "%s%sitems[%zu]", at, *at ? "." : "", i);
        one_item(in, json_array_get(items, i), &b, path, i);
        if (in->next_index > in->limits->reports)
            break;
    }
    return ERR_OK;
}

enum err ingest_usage(const struct ingest_request *request, struct ingest_result *ret,
                      struct error *err)
{
    static const struct format_body usage = {read_document, "neither a batch nor an item",
                                             "`items` is empty"};
    struct intake in;
    struct write_op *op = write_op_new(WRITE_USAGE, request->limits->arena_bytes);
    if (!op)
        return error_set(err, ERR_NO_MEMORY, "no memory for the body");
    intake_init(&in, request, op->arena);
    enum err rc = format_body_read(&in, &usage, err);
    if (rc == ERR_OK && in.next_index > request->limits->reports)
        rc = error_set(err, ERR_LIMIT, "more than %zu items in one body", request->limits->reports);
    if (rc == ERR_OK && in.no_memory)
        rc = intake_no_memory(&in, err);
    if (rc != ERR_OK) {
        write_op_free(op);
        return rc;
    }
    op->u.usage = (struct op_usage){in.usage, in.usage_count};
    ingest_publish(&in, ret);
    ret->reports = (uint32_t)in.usage_count;
    ret->op = in.usage_count > 0 ? op : NULL;
    return ERR_OK;
}

void ingest_usage_count(const struct write_op *op, uint32_t *ret_accepted, uint32_t *ret_duplicates)
{
    uint32_t duplicates = 0;
    for (size_t i = 0; i < op->u.usage.count; i++)
        duplicates += op->u.usage.items[i].duplicate;
    *ret_accepted = (uint32_t)op->u.usage.count - duplicates;
    *ret_duplicates = duplicates;
}
