#include "server/http/api.h"

#include <stdio.h>
#include <string.h>

#include "server/http/api_common.h"
#include "server/http/api_ingest.h"
#include "server/http/frames_json.h"
#include "server/http/media_type.h"
#include "server/http/shelf_lookup.h"
#include "server/http/symbolicate_text.h"
#include "server/ingest/format_names.h"
#include "server/ingest/format_native_stack.h"
#include "server/ingest/intake.h"
#include "server/jobs/json_text.h"
#include "symbolizer/demangle_swift.h"
#include "symbolizer/image_map.h"

#define STACKS_MAX 1000
#define FRAMES_MAX 100000 /* of all stacks together */

/* One request: what the body said, and what its stacks become. */
struct symbolicate {
    struct http_request *r;
    const struct read_tools *tools;
    struct intake in;
    struct fields fields;
    struct report_images images;
    struct report_stack *stacks;
    size_t stack_count;
    const char *bundle_id, *os, *arch;
    struct image_map *map;
    struct shelf_lookup shelves;
    bool group_read;
    enum err group_rc;
    struct error group_error;
    struct layout_row *members; /* of the slide group */
    size_t member_count;
};

/* --- the body --------------------------------------------------------------------------------- */

static bool read_stacks(struct symbolicate *s, json_t *body)
{
    struct fields *f = &s->fields;
    json_t *array = fields_array(f, body, "", "stacks");
    size_t count = json_array_size(array), frames = 0;
    const char *order = fields_text(f, body, "", "order", 32);
    bool outermost_first = order && strcmp(order, "outermost_first") == 0;
    if (f->failed)
        return false;
    if (!array)
        return fields_refuse(f, "an array of stacks is expected", "%s", "stacks");
    if (order && !outermost_first && strcmp(order, "innermost_first") != 0)
        return fields_refuse(f, "neither innermost_first nor outermost_first", "%s", "order");
    if (count > STACKS_MAX)
        return fields_refuse(f, "too many stacks", "%s", "stacks");
    s->stacks = arena_array(s->tools->arena, count ? count : 1, sizeof(*s->stacks));
    if (!s->stacks)
        return fields_refuse(f, "too large", "%s", "stacks");
    for (size_t i = 0; i < count; i++) {
        char at[48];
        snprintf(at, sizeof(at), "stacks[%zu]", i);
        if (!native_stack(&s->in, f, json_array_get(array, i), at, outermost_first, &s->stacks[i]))
            return false;
        if (s->in.dropped_count > 0) /* it was cut: an answer would have fewer frames than asked */
            return fields_refuse(f, "too many frames", "%s", at);
        frames += s->stacks[i].count;
        if (frames > FRAMES_MAX)
            return fields_refuse(f, "too many frames", "%s", at);
    }
    s->stack_count = count;
    return true;
}

static bool read_body(struct symbolicate *s, json_t *body)
{
    struct fields *f = &s->fields;
    if (!json_is_object(body))
        return fields_refuse(f, "an object with images and stacks is expected", "%s", "");
    names_check(&s->in, body, NAMES_SYMBOLICATE);
    s->bundle_id = fields_text(f, body, "", "bundle_id", REPORT_TEXT_MAX);
    s->os = fields_text(f, body, "", "os_build", REPORT_TEXT_MAX);
    s->arch = fields_text(f, body, "", "arch", REPORT_TEXT_MAX);
    json_t *images = fields_array(f, body, "", "images");
    if (f->failed || (images && !native_images(&s->in, f, images, "images", &s->images)))
        return false;
    return read_stacks(s, body);
}

/* --- images ----------------------------------------------------------------------------------- */

static bool find_facts(void *ctx, const struct uuid *image, struct image_facts *ret)
{
    const struct symbolicate *s = ctx;
    for (size_t i = 0; i < s->images.count; i++) {
        const struct image_entry *e = &s->images.entries[i];
        struct uuid id = uuid_is_nil(&e->uuid) ? image_named_id(e->name) : e->uuid;
        if (uuid_equal(&id, image)) {
            *ret = (struct image_facts){.name = e->name, .class = e->class};
            return true;
        }
    }
    return false;
}

/* Whose symbol files and places of images count: the token's app, else the one that the body names. NULL:
 * any. */
static const char *app_of(const struct symbolicate *s)
{
    const char *bound = s->r->identity.bundle_id;
    return bound ? bound : s->bundle_id;
}

/* The members of the body's slide group: it has one OS and one arch, so there is one. */
static bool place(void *ctx, const struct uuid *group, uint64_t unslid, struct uuid *ret_image,
                  uint64_t *ret_offset)
{
    struct symbolicate *s = ctx;
    if (!s->group_read) {
        const char *app = app_of(s);
        s->group_read = true;
        s->group_rc = read_group(s->tools->storage, app, group, s->tools->arena, &s->members,
                                 &s->member_count, &s->group_error);
        if (s->group_rc == ERR_OK && app && s->member_count == 0) /* an OS that is new to the app */
            s->group_rc = read_group(s->tools->storage, NULL, group, s->tools->arena, &s->members,
                                     &s->member_count, &s->group_error);
    }
    return layouts_place(s->members, s->member_count, unslid, ret_image, ret_offset);
}

static void shelf(void *ctx, const struct uuid *image, struct uuid *ret)
{
    struct symbolicate *s = ctx;
    shelf_lookup_find(&s->shelves, image, ret);
}

/* --- stacks ----------------------------------------------------------------------------------- */

static enum err symbolicate_one(struct symbolicate *s, struct jout *j,
                                const struct report_stack *stack, struct error *err)
{
    struct arena *arena = s->tools->arena;
    struct raw_frame *frames = arena_array(arena, stack->count + 1, sizeof(*frames));
    uint64_t *addresses = arena_array(arena, stack->count + 1, sizeof(*addresses));
    struct image_lookup lookup = {.facts = find_facts, .place = place, .shelf = shelf, .ctx = s};
    struct symbolized out;
    struct cluster_verdict verdict;
    struct key_options options = {.linkage_key = demangle_swift_key};
    if (!frames || !addresses)
        return error_set(err, ERR_NO_MEMORY, "no memory for a stack");
    for (size_t i = 0; i < stack->count; i++) {
        const struct report_frame *f = &stack->frames[i];
        frames[i] = (struct raw_frame){.kind = f->kind, .symbol = f->symbol};
        if (f->placed) {
            frames[i].image = f->uuid;
            frames[i].offset = f->offset;
            frames[i].image_kind = IMAGE_UUID;
        } else {
            image_map_find(s->map, f->address, &frames[i], NULL);
            frames[i].kind = f->kind;
            frames[i].symbol = f->symbol;
        }
        addresses[i] = f->has_address ? f->address : frames[i].offset;
    }
    struct raw_stack raw = {frames, stack->count};
    enum err rc = symbolizer_stack(s->tools->symbolizer, &raw, &lookup, arena, &out, err);
    if (rc == ERR_OK && s->group_rc != ERR_OK) /* without the places it would be another answer */
        return error_set(err, s->group_rc, "%s", s->group_error.text);
    if (rc == ERR_OK && s->shelves.rc != ERR_OK)
        return error_set(err, s->shelves.rc, "%s", s->shelves.error.text);
    if (rc == ERR_OK)
        rc = cluster_key_of(live_rules_now(s->r->services->rules), &options,
                            s->bundle_id ? s->bundle_id : "", &out.stack, arena, &verdict, err);
    if (rc == ERR_OK)
        frames_json_print(j, NULL, &out.stack, addresses, &verdict, false);
    return rc;
}

static enum err symbolicate_all(struct symbolicate *s, struct error *err)
{
    const char *app = app_of(s);
    struct layout_view view = layouts_view(s->r->services->layouts, app ? app : "");
    const struct image_layout layout = {layouts_find, &view};
    shelf_lookup_init(&s->shelves, s->tools->storage, app);
    struct jout j;
    enum err rc = image_map_build(s->images.entries, s->images.count, s->os ? s->os : "",
                                  s->arch ? s->arch : "", &layout, s->tools->arena, &s->map, err);
    jout_init(&j, http_reply(s->r, 200, TYPE_JSON));
    jout_object(&j, NULL);
    jout_array(&j, "stacks");
    for (size_t i = 0; rc == ERR_OK && i < s->stack_count; i++)
        rc = symbolicate_one(s, &j, &s->stacks[i], err);
    jout_end_array(&j);
    api_ingest_print_ignored(&j, s->in.ignored, s->in.ignored_count);
    jout_end_object(&j);
    return rc;
}

enum err api_symbolicate(struct http_request *r, const struct read_tools *tools, struct error *err)
{
    struct symbolicate s = {.r = r, .tools = tools};
    struct ingest_request request = {.limits = r->services->ingest_limits};
    json_t *body = NULL;
    if (symbolicate_is_text(r))
        return symbolicate_text(r, tools, err);
    if (!media_type_is(r->content_type, TYPE_JSON)) {
        http_problem(r, 415,
                     "Content-Type: application/json, text/plain and application/x-ips "
                     "are read here");
        return ERR_OK;
    }
    enum err rc = json_text_load(r->body.data ? r->body.data : "", r->body.len, &body, err);
    if (rc != ERR_OK) {
        http_reply_error(r, err); /* the client may be at fault */
        return ERR_OK;
    }
    intake_init(&s.in, &request, tools->arena);
    fields_init(&s.fields, tools->arena);
    if (read_body(&s, body))
        rc = symbolicate_all(&s, err);
    else
        http_refuse_shape(r, s.fields.path, s.fields.reason);
    json_decref(body);
    return rc;
}
