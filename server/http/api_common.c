#include "server/http/api_common.h"

#include <math.h>
#include <string.h>

#include "server/analysis/overlay.h"
#include "server/http/frames_json.h"
#include "server/http/media_type.h"
#include "symbolizer/demangle_swift.h"

#define OP_ARENA ((size_t)4096) /* of an op that names one row */

enum err api_bundle(const struct http_request *r, const char **ret, struct error *err)
{
    const char *asked = query_text(&r->query, "bundle_id");
    const char *bound = r->identity.bundle_id;
    if (asked && bound && strcmp(asked, bound) != 0)
        return error_set(err, ERR_DENIED, "the token is bound to another app");
    *ret = bound ? bound : asked;
    return ERR_OK;
}

bool api_sees(const struct http_request *r, const char *bundle_id)
{
    const char *bound = r->identity.bundle_id;
    return !bound || !bundle_id || !*bundle_id || strcmp(bundle_id, bound) == 0;
}

enum err api_list_read(const struct http_request *r, struct api_list *ret, struct error *err)
{
    struct api_list list;
    enum err rc = query_filter(&r->query, &list.filter, err);
    if (rc == ERR_OK)
        rc = query_page(&r->query, &list.limit, &list.cursor, err);
    if (rc == ERR_OK)
        rc = api_bundle(r, &list.filter.bundle_id, err);
    if (rc == ERR_OK)
        *ret = list;
    return rc;
}

enum err api_id(const struct http_request *r, size_t index, uint64_t *ret, struct error *err)
{
    int64_t id;
    if (!query_parse_int(r->params[index], &id) || id <= 0)
        return error_set(err, ERR_NOT_FOUND, "no such id");
    *ret = (uint64_t)id;
    return ERR_OK;
}

enum err api_uuid(const struct http_request *r, size_t index, struct uuid *ret, struct error *err)
{
    const char *text = r->params[index];
    if (!uuid_parse(text, strlen(text), ret))
        return error_set(err, ERR_INVALID, "\"%.64s\" is not a UUID", text);
    return ERR_OK;
}

enum err api_app(const struct http_request *r, const char **ret, struct error *err)
{
    if (strlen(r->params[0]) > API_BUNDLE_MAX)
        return error_set(err, ERR_INVALID, "this is no bundle id");
    if (!api_sees(r, r->params[0]))
        return error_set(err, ERR_DENIED, "the token is bound to another app");
    *ret = r->params[0];
    return ERR_OK;
}

void *api_state(struct http_request *r, size_t size)
{
    r->state = arena_alloc(&r->arena, size);
    if (!r->state)
        http_problem(r, 503, "no memory to spare; try again");
    return r->state;
}

static bool is_json(const struct http_request *r)
{
    return media_type_is(r->content_type, TYPE_JSON) ||
           (strcmp(r->route->method, "PATCH") == 0 &&
            media_type_is(r->content_type, "application/merge-patch+json"));
}

json_t *api_body(struct http_request *r, const char *const *known, struct fields *f)
{
    struct error err;
    json_t *body = NULL;
    fields_init(f, &r->arena);
    if (!is_json(r)) {
        http_problem(r, 415, "Content-Type: application/json is read here");
        return NULL;
    }
    if (json_text_load(r->body.data ? r->body.data : "", r->body.len, &body, &err) != ERR_OK) {
        http_reply_error(r, &err);
        return NULL;
    }
    if (!json_is_object(body))
        fields_refuse(f, "an object is expected", "%s", "");
    else if (known)
        (void)fields_known(f, body, "", known);
    if (!f->failed)
        return body;
    json_decref(body);
    http_refuse_shape(r, f->path, f->reason);
    return NULL;
}

enum err api_who(struct http_request *r, const struct read_tools *tools, const char **ret,
                 struct error *err)
{
    struct token_row *rows = NULL;
    size_t count = 0;
    const char *name = NULL;
    enum err rc = read_tokens(tools->storage, tools->arena, &rows, &count, err);
    if (rc != ERR_OK)
        return rc;
    for (size_t i = 0; i < count; i++) {
        if (rows[i].id == r->identity.token_id)
            name = *rows[i].name ? rows[i].name : NULL;
    }
    /* It outlives the read: the request's own arena. */
    if (r->identity.token_id)
        *ret =
            name ? arena_strdup(&r->arena, name)
                 : arena_printf(&r->arena, "token %llu", (unsigned long long)r->identity.token_id);
    return *ret || !r->identity.token_id ? ERR_OK
                                         : error_set(err, ERR_NO_MEMORY, "no memory for a name");
}

struct write_op *api_op(struct http_request *r, enum err rc, const struct error *err,
                        enum write_op_kind kind)
{
    struct error failed;
    struct write_op *op = rc == ERR_OK ? write_op_new(kind, OP_ARENA) : NULL;
    if (op)
        return op;
    if (rc == ERR_OK) {
        error_set(&failed, ERR_NO_MEMORY, "no memory for a write");
        err = &failed;
    }
    http_reply_error(r, err);
    http_finish(r);
    return NULL;
}

void api_items_begin(struct http_request *r, struct jout *j)
{
    jout_init(j, http_reply(r, 200, TYPE_JSON));
    jout_object(j, NULL);
    jout_array(j, "items");
}

void api_items_end(struct jout *j, const char *next_cursor)
{
    jout_end_array(j);
    jout_string(j, "next_cursor", next_cursor);
    jout_end_object(j);
}

static const char *const DIMENSIONS[BREAKDOWN_DIMENSIONS] = {
    [BY_VERSION] = "version", [BY_BUILD] = "build",
    [BY_DEVICE] = "device",   [BY_OS_VERSION] = "os_version",
    [BY_PAGE] = "page",       [BY_DAY] = "day",
    [BY_KIND] = "kind",       [BY_CATEGORY] = "category",
};

bool api_dimension(const char *name, enum breakdown_by *ret)
{
    for (int i = BY_VERSION; i < BREAKDOWN_DIMENSIONS; i++) {
        if (strcmp(DIMENSIONS[i], name) == 0) {
            *ret = (enum breakdown_by)i;
            return true;
        }
    }
    return false;
}

const char *api_dimension_name(enum breakdown_by by)
{
    return DIMENSIONS[by];
}

void api_print_rate(struct jout *j, uint64_t weighted_stall_ms, bool known, uint64_t foreground_ms)
{
    const double hours = (double)foreground_ms / 3600000;
    jout_double(j, "usage_hours", known ? hours : (double)NAN);
    jout_double(j, "stall_rate",
                known && foreground_ms > 0 ? (double)weighted_stall_ms / 1000 / hours
                                           : (double)NAN);
}

void api_print_figures(struct jout *j, const struct duration_figures *f)
{
    jout_uint(j, "count", f->count);
    jout_double(j, "weighted_count", f->weighted);
    jout_double(j, "stall_seconds", (double)f->stall_ms / 1000);
    jout_double(j, "weighted_stall_seconds", (double)f->weighted_stall_ms / 1000);
    jout_known(j, "p50_ms", f->p50_ms);
    jout_known(j, "p90_ms", f->p90_ms);
    jout_known(j, "p99_ms", f->p99_ms);
}

/* What is known of a stack before the resolver came: its images. */
static enum err pending_stack(const struct read_tools *tools, const struct stack_row *stack,
                              struct resolved_stack *ret, struct error *err)
{
    struct resolved_frame *frames = arena_array(tools->arena, stack->raw.count, sizeof(*frames));
    if (!frames && stack->raw.count > 0)
        return error_set(err, ERR_NO_MEMORY, "no memory for a stack");
    for (size_t i = 0; i < stack->raw.count; i++) {
        const struct raw_frame *raw = &stack->raw.frames[i];
        struct image_row image = {.name = NULL};
        frames[i] = (struct resolved_frame){
            .raw = *raw,
            .status = raw->image_kind == IMAGE_NONE ? FRAME_NO_IMAGE : FRAME_NO_SYMBOLS,
            .image = raw->image,
            .offset = raw->offset,
        };
        enum err rc = raw->image_kind == IMAGE_NONE
                          ? ERR_NOT_FOUND
                          : read_image(tools->storage, stack->bundle_id, &raw->image, tools->arena,
                                       &image, err);
        if (rc != ERR_OK && rc != ERR_NOT_FOUND)
            return rc;
        frames[i].image_name = image.name;
        frames[i].in_app = image.class == IMAGE_CLASS_APP;
    }
    *ret = (struct resolved_stack){frames, stack->raw.count};
    return ERR_OK;
}

/* What the app's epoch and people added to the rules. */
static enum err read_overlay(const struct read_tools *tools, const char *bundle_id,
                             struct overlay *ret, bool *ret_found, struct error *err)
{
    struct overlay_row *rows = NULL;
    size_t count = 0;
    enum err rc = read_overlays(tools->storage, 0, tools->arena, &rows, &count, err);
    for (size_t i = 0; i < count && rc == ERR_OK; i++) {
        if (strcmp(rows[i].bundle_id, bundle_id) != 0)
            continue;
        *ret_found = overlay_decode(rows[i].data, rows[i].len, tools->arena, ret, err) == ERR_OK;
    }
    return rc;
}

enum err api_print_stack(struct http_request *r, const struct read_tools *tools, struct jout *j,
                         const char *key, const struct stack_row *stack, const uint64_t *addresses,
                         bool explain, struct error *err)
{
    struct resolved_stack resolved = stack->resolved;
    struct cluster_verdict verdict;
    enum err rc = ERR_OK;
    if (resolved.count == 0)
        rc = pending_stack(tools, stack, &resolved, err);
    if (rc != ERR_OK)
        return rc;
    /* The rules of now over the frames of then; a cluster that waits for nobody any more was keyed
     * without the frames that never came. */
    struct key_options options = {.skip_unresolved = !stack->provisional && !stack->pending,
                                  .linkage_key = demangle_swift_key};
    struct overlay overlay;
    bool has_overlay = false;
    if (explain)
        rc = read_overlay(tools, stack->bundle_id, &overlay, &has_overlay, err);
    if (rc == ERR_OK)
        rc = overlay_key_of(has_overlay ? &overlay : NULL, live_rules_now(r->services->rules),
                            &options, stack->bundle_id, &resolved, explain, tools->arena, &verdict,
                            err);
    if (rc != ERR_OK)
        return rc;
    frames_json_print(j, key, &resolved, addresses, &verdict, explain);
    return ERR_OK;
}
