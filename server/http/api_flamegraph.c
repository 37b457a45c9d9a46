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
    struct call_frame *frames; /* of the stack at hand; on the heap: names may fill the arena */
    size_t frame_room;
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

/* A tree that is full is folded, to half of its nodes, until the stack fits. */
static enum err add_to_tree(struct flamegraph *g, size_t count, const int64_t *weights,
                            struct error *err)
{
    enum err rc = call_tree_add(g->tree, g->frames, count, weights, err);
    size_t nodes, left;
    (void)call_tree_nodes(g->tree, &nodes);
    for (bool folded = true; rc == ERR_LIMIT && folded; nodes = left) {
        rc = call_tree_fold(g->tree, nodes / 2, &folded, err);
        (void)call_tree_nodes(g->tree, &left);
        folded = folded && left < nodes;
        g->truncated |= folded;
        if (rc == ERR_OK)
            rc = call_tree_add(g->tree, g->frames, count, weights, err);
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
    arena_reset(&g->scratch);
    struct call_frame *room =
        vec_grown(g->frames, &g->frame_room, s->frame_count + 1, sizeof(*room));
    if (!room)
        return error_set(err, ERR_NO_MEMORY, "no memory for the frames of a stack");
    g->frames = room;
    for (size_t i = 0; i < s->frame_count; i++) {
        const struct weighed_frame *f = &s->frames[i];
        g->frames[i] = (struct call_frame){.function = f->function ? f->function : make_name(g, f),
                                           .image = f->image,
                                           .file = f->file,
                                           .in_app = f->in_app,
                                           .lasting = f->lasting};
        if (!g->frames[i].function)
            return error_set(err, ERR_LIMIT, "the names of a stack take too much memory");
    }
    g->stacks++;
    return add_to_tree(g, s->frame_count, weights, err);
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
    struct flamegraph g = {.frames = NULL};
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
        rc = draw(r, &g, &q, &scopes[0], err);
    call_tree_free(g.tree);
    arena_done(&g.scratch);
    free(g.frames);
    return rc;
}
