#include "server/http/api.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "server/analysis/call_tree.h"
#include "server/http/api_common.h"
#include "server/http/flame.h"
#include "storage/read_stack_weights.h"

#define SCRATCH_BYTES ((size_t)16 << 20) /* names of one stack that had to be made up */

/* One request. */
struct flamegraph {
    struct arena scratch; /* emptied after each stack */
    struct call_tree *tree;
    bool by_time;
    bool truncated;
    size_t stacks;
    uint32_t *path; /* functions of the stack at hand; on the heap: names may fill the arena */
    size_t path_room;
    uint32_t *kinds; /* functions by the numbers of frames; CALL_TREE_NONE: not yet */
    size_t kind_room;
    uint32_t epoch; /* of the numbers */
};

/* --- frames ----------------------------------------------------------------------------------- */

/* What a frame without a function is called: where it lies. */
static const char *make_name(struct flamegraph *g, const struct weighed_frame *f)
{
    char uuid[UUID_TEXT_SIZE];
    if (f->image_kind == IMAGE_NONE)
        return "???";
    return arena_printf(&g->scratch, "%.*s + 0x%" PRIx64, CALL_TREE_TEXT_MAX / 2,
                        f->image ? f->image : uuid_format(&f->image_id, uuid), f->offset);
}

static enum err function_of(struct flamegraph *g, const struct weighed_frame *f, uint32_t *ret,
                            struct error *err)
{
    const struct call_frame frame = {.function = f->function ? f->function : make_name(g, f),
                                     .image = f->image,
                                     .file = f->file,
                                     .in_app = f->in_app};
    if (!frame.function)
        return error_set(err, ERR_LIMIT, "the names of a stack take too much memory");
    return call_tree_function(g->tree, &frame, ret, err);
}

static void forget_kinds(struct flamegraph *g)
{
    if (g->kind_room)
        memset(g->kinds, 0xff, g->kind_room * sizeof(*g->kinds));
}

/* Room for what the frames of the stack are in the tree. */
static enum err make_room(struct flamegraph *g, const struct weighed_stack *s, struct error *err)
{
    const size_t known = g->kind_room;
    uint32_t *path = vec_grown(g->path, &g->path_room, s->frame_count + 1, sizeof(*path));
    g->path = path ? path : g->path;
    uint32_t *kinds = vec_grown(g->kinds, &g->kind_room, s->kind_count + 1, sizeof(*kinds));
    g->kinds = kinds ? kinds : g->kinds;
    if (!path || !kinds)
        return error_set(err, ERR_NO_MEMORY, "no memory for the frames of a stack");
    if (g->kind_room > known)
        memset(g->kinds + known, 0xff, (g->kind_room - known) * sizeof(*g->kinds));
    if (g->epoch != s->epoch)
        forget_kinds(g);
    g->epoch = s->epoch;
    return ERR_OK;
}

/* Outermost first: so functions are numbered. */
static enum err find_path(struct flamegraph *g, const struct weighed_stack *s, struct error *err)
{
    enum err rc = ERR_OK;
    for (size_t i = s->frame_count; i-- > 0 && rc == ERR_OK;) {
        uint32_t *kind = s->frames ? &g->path[i] : &g->kinds[s->numbers[i]];
        if (s->frames || *kind == CALL_TREE_NONE)
            rc = function_of(g, weighed_frame_at(s, i), kind, err);
        g->path[i] = *kind;
    }
    return rc;
}

static enum err try_stack(struct flamegraph *g, const struct weighed_stack *s,
                          const int64_t *weights, struct error *err)
{
    arena_reset(&g->scratch);
    enum err rc = find_path(g, s, err);
    return rc == ERR_OK ? call_tree_gather(g->tree, g->path, s->frame_count, weights, err) : rc;
}

/* The lightest half of the tree goes. *ret_smaller: it is smaller than it was. */
static enum err fold_half(struct flamegraph *g, bool *ret_smaller, struct error *err)
{
    const size_t nodes = call_tree_count(g->tree);
    bool folded;
    enum err rc = call_tree_fold(g->tree, nodes / 2, &folded, err);
    forget_kinds(g);
    *ret_smaller = folded && call_tree_count(g->tree) < nodes;
    g->truncated |= *ret_smaller;
    return rc;
}

/* Stacks that wait for others are part of the tree, which is folded until they fit. */
static enum err settle(struct flamegraph *g, struct error *err)
{
    enum err rc = call_tree_settle(g->tree, err);
    for (bool smaller = true; rc == ERR_LIMIT && smaller;) {
        rc = fold_half(g, &smaller, err);
        if (rc == ERR_OK)
            rc = call_tree_settle(g->tree, err);
    }
    return rc;
}

/* A tree that is full is folded until the stack fits; names of stacks that wait stay, as long as they
 * wait. */
static enum err add_to_tree(struct flamegraph *g, const struct weighed_stack *s,
                            const int64_t *weights, struct error *err)
{
    enum err rc = try_stack(g, s, weights, err);
    if (rc == ERR_LIMIT && (rc = settle(g, err)) == ERR_OK)
        rc = try_stack(g, s, weights, err);
    for (bool smaller = true; rc == ERR_LIMIT && smaller;) {
        rc = fold_half(g, &smaller, err);
        if (rc == ERR_OK)
            rc = try_stack(g, s, weights, err);
    }
    return rc;
}

static enum err add_stack(void *ctx, const struct weighed_stack *s, struct error *err)
{
    struct flamegraph *g = ctx;
    int64_t weights[CALL_TREE_WEIGHTS];
    for (size_t i = 0; i < CALL_TREE_WEIGHTS; i++)
        weights[i] = g->by_time ? s->weights[i].stall_ms : s->weights[i].weighted;
    if (weights[0] == 0 && weights[1] == 0)
        return ERR_OK;
    enum err rc = make_room(g, s, err);
    g->stacks++;
    return rc == ERR_OK ? add_to_tree(g, s, weights, err) : rc;
}

/* --- the question ----------------------------------------------------------------------------- */

struct question {
    const struct flame_format *format;
    struct read_filter filters[WEIGHT_FILTERS_MAX];
    size_t filter_count;
    uint64_t cluster_id; /* 0: of all */
    const char *title;
};

static enum err read_format(const struct query *q, const struct flame_format **ret,
                            struct error *err)
{
    const char *names[8];
    size_t at = 0;
    for (size_t i = 0; i < FLAME_FORMAT_COUNT; i++)
        names[i] = FLAME_FORMATS[i].name;
    enum err rc = query_word(q, "format", names, FLAME_FORMAT_COUNT, &at, err);
    *ret = &FLAME_FORMATS[at];
    return rc;
}

/* A cluster that the token may see, by an id that it has or had. */
static enum err read_cluster_id(struct http_request *r, const struct read_tools *tools,
                                struct question *q, struct error *err)
{
    struct read_filter any;
    struct cluster_row c;
    int64_t id = 0;
    enum err rc = query_int(&r->query, "cluster_id", 1, INT64_MAX, &id, err);
    if (rc != ERR_OK || id == 0)
        return rc;
    read_filter_init(&any);
    rc = read_cluster(tools->storage, (uint64_t)id, &any, tools->arena, &c, err);
    if (rc == ERR_NOT_FOUND || (rc == ERR_OK && !api_sees(r, c.bundle_id)))
        return error_set(err, ERR_NOT_FOUND, "no such cluster");
    if (rc != ERR_OK)
        return rc;
    q->cluster_id = c.id;
    q->title = c.title;
    return ERR_OK;
}

static enum err read_question(struct http_request *r, const struct read_tools *tools,
                              struct question *q, struct error *err)
{
    const char *other = query_text(&r->query, "compare_version");
    enum err rc = query_filter(&r->query, &q->filters[0], err);
    if (rc == ERR_OK)
        rc = api_bundle(r, &q->filters[0].bundle_id, err);
    if (rc == ERR_OK)
        rc = read_format(&r->query, &q->format, err);
    if (rc != ERR_OK)
        return rc;
    q->title = q->filters[0].bundle_id ? q->filters[0].bundle_id : "all apps";
    q->filter_count = 1;
    if (other) {
        if (!q->filters[0].version)
            return error_set(err, ERR_INVALID, "compare_version: version is missing");
        if (strcmp(other, q->filters[0].version) == 0)
            return error_set(err, ERR_INVALID, "compare_version: is the version itself");
        q->filters[1] = q->filters[0];
        q->filters[1].version = other;
        q->filter_count = 2;
    }
    return read_cluster_id(r, tools, q, err);
}

static enum err draw(struct http_request *r, const struct flamegraph *g, const struct question *q,
                     const struct breakdown_scope *scope, struct error *err)
{
    struct flame f = {.tree = g->tree,
                      .truncated = g->truncated,
                      .by_time = g->by_time,
                      .compare = q->filter_count == 2,
                      .stacks = g->stacks,
                      .title = q->title,
                      .version = {q->filters[0].version, q->filters[1].version},
                      .scope = *scope};
    struct buf *out = http_reply(r, 200, q->format->content_type);
    r->reply.policy = q->format->policy;
    return flame_print(&f, q->format, out, err);
}

enum err api_get_flamegraph(struct http_request *r, const struct read_tools *tools,
                            struct error *err)
{
    static const char *const weights[] = {"count", "time"};
    struct flamegraph g = {.path = NULL};
    struct breakdown_scope scopes[WEIGHT_FILTERS_MAX];
    struct question q = {.filter_count = 0};
    size_t weight = 0;
    enum err rc = query_word(&r->query, "weight", weights, 2, &weight, err);
    if (rc == ERR_OK)
        rc = read_question(r, tools, &q, err);
    if (rc != ERR_OK)
        return rc;
    g.by_time = weight == 1;
    arena_init(&g.scratch, SCRATCH_BYTES);
    g.tree = call_tree_new(tools->arena->limit);
    if (!g.tree)
        return error_set(err, ERR_NO_MEMORY, "no memory for a call tree");
    rc = read_stack_weights(tools->storage, q.cluster_id, q.filters, q.filter_count, tools->arena,
                            add_stack, &g, scopes, err);
    if (rc == ERR_OK)
        rc = settle(&g, err);
    if (rc == ERR_OK)
        rc = draw(r, &g, &q, &scopes[0], err);
    call_tree_free(g.tree);
    arena_done(&g.scratch);
    free(g.path);
    free(g.kinds);
    return rc;
}
