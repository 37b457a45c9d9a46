#include "server/http/api_merges.h"

#include <stdlib.h>
#include <string.h>

#include "server/analysis/cluster_key.h"
#include "server/http/api.h"

#define PARTS_SHOWN 50
#define KEY_TEXT    (2 * PART_KEY_SIZE)
#define OP_ARENA    ((size_t)64 * 1024)
#define ID_MAX      INT64_MAX
#define RELATED_MAX 20

static const char *const KINDS[] = {
    [CLUSTER_RULE_MERGE] = "merge",
    [CLUSTER_RULE_APART] = "apart",
    [CLUSTER_RULE_DEPTH] = "depth",
};

static void print_key(struct jout *j, const char *name, const uint8_t key[PART_KEY_SIZE])
{
    static const char digits[] = "0123456789abcdef";
    char text[KEY_TEXT + 1];
    for (size_t i = 0; i < PART_KEY_SIZE; i++) {
        text[2 * i] = digits[key[i] >> 4];
        text[2 * i + 1] = digits[key[i] & 15];
    }
    text[KEY_TEXT] = '\0';
    jout_string(j, name, text);
}

static bool parse_key(const char *text, uint8_t key[PART_KEY_SIZE])
{
    if (strlen(text) != KEY_TEXT || strspn(text, "0123456789abcdef") != KEY_TEXT)
        return false;
    for (size_t i = 0; i < PART_KEY_SIZE; i++) {
        char byte[3] = {text[2 * i], text[2 * i + 1], '\0'};
        key[i] = (uint8_t)strtoul(byte, NULL, 16);
    }
    return true;
}

/* --- showing ---------------------------------------------------------------------------------- */

static void print_rule(struct jout *j, const char *name, const struct cluster_rule_row *rule)
{
    jout_object(j, name);
    jout_uint(j, "id", rule->id);
    jout_string(j, "bundle_id", rule->bundle_id);
    jout_string(j, "kind", KINDS[rule->kind]);
    jout_bool(j, "by_hand", rule->by_hand);
    print_key(j, "from", rule->from);
    jout_text(j, "from_title", rule->from_title);
    if (rule->kind == CLUSTER_RULE_DEPTH) {
        jout_null(j, "into");
        jout_null(j, "into_title");
        jout_uint(j, "depth", rule->depth);
    } else {
        print_key(j, "into", rule->into);
        jout_text(j, "into_title", rule->into_title);
        jout_null(j, "depth");
    }
    if (rule->by_hand)
        jout_null(j, "score");
    else
        jout_double(j, "score", (double)rule->score / SCORE_ONE);
    if (rule->by_hand)
        jout_null(j, "epoch");
    else
        jout_uint(j, "epoch", rule->epoch);
    if (rule->cluster_id)
        jout_uint(j, "cluster_id", rule->cluster_id);
    else
        jout_null(j, "cluster_id");
    jout_time(j, "created_at", rule->created_ms);
    jout_time(j, "undone_at", rule->undone_ms);
    jout_end_object(j);
}

static enum err print_parts(const struct read_tools *tools, struct jout *j,
                            const struct cluster_row *c, struct error *err)
{
    struct cluster_part *parts = NULL;
    size_t count = 0;
    enum err rc =
        read_cluster_parts(tools->storage, c->id, PARTS_SHOWN, tools->arena, &parts, &count, err);
    jout_array(j, "parts");
    for (size_t i = 0; i < count && rc == ERR_OK; i++) {
        jout_object(j, NULL);
        print_key(j, "key", parts[i].key);
        jout_text(j, "title", parts[i].title);
        jout_bool(j, "own", parts[i].own);
        jout_uint(j, "stack_count", parts[i].stacks);
        jout_uint(j, "count", parts[i].count);
        if (parts[i].merge.id)
            print_rule(j, "merged_by", &parts[i].merge);
        else
            jout_null(j, "merged_by");
        jout_end_object(j);
    }
    jout_end_array(j);
    return rc;
}

static int best_first(const void *a, const void *b)
{
    const struct related_row *x = a;
    const struct related_row *y = b;
    if (x->score != y->score)
        return x->score > y->score ? -1 : 1;
    return (x->cluster_id > y->cluster_id) - (x->cluster_id < y->cluster_id);
}

static enum err print_related(const struct read_tools *tools, struct jout *j,
                              const struct cluster_row *c, struct error *err)
{
    struct related_row *rows = NULL;
    size_t count = 0;
    size_t shown = 0;
    enum err rc =
        read_related(tools->storage, c->bundle_id, c->id, tools->arena, &rows, &count, err);
    if (rc == ERR_OK && count > 0)
        qsort(rows, count, sizeof(*rows), best_first);
    jout_array(j, "related");
    for (size_t i = 0; i < count && shown < RELATED_MAX && rc == ERR_OK; i++) {
        if (rows[i].cluster_id == 0)
            continue;
        jout_object(j, NULL);
        jout_uint(j, "id", rows[i].cluster_id);
        jout_text(j, "title", rows[i].title);
        jout_double(j, "score", (double)rows[i].score / SCORE_ONE);
        jout_end_object(j);
        shown++;
    }
    jout_end_array(j);
    return rc;
}

enum err api_print_made_of(const struct read_tools *tools, struct jout *j,
                           const struct cluster_row *c, struct error *err)
{
    enum err rc = print_parts(tools, j, c, err);
    return rc == ERR_OK ? print_related(tools, j, c, err) : rc;
}

enum err api_get_cluster_rules(struct http_request *r, const struct read_tools *tools,
                               struct error *err)
{
    struct cluster_rule_row *rows = NULL;
    size_t count = 0;
    size_t limit = 0;
    const char *bundle_id = NULL;
    const char *cursor = NULL;
    const char *next = NULL;
    bool undone = false;
    struct jout j;
    enum err rc = query_page(&r->query, &limit, &cursor, err);
    if (rc == ERR_OK)
        rc = query_bool(&r->query, "undone", &undone, err);
    if (rc == ERR_OK)
        rc = api_bundle(r, &bundle_id, err);
    if (rc == ERR_OK)
        rc = read_cluster_rules(tools->storage, bundle_id, undone, limit, cursor, tools->arena,
                                &rows, &count, &next, err);
    if (rc != ERR_OK)
        return rc;
    api_items_begin(r, &j);
    for (size_t i = 0; i < count; i++)
        print_rule(&j, NULL, &rows[i]);
    api_items_end(&j, next);
    return ERR_OK;
}

/* --- changing --------------------------------------------------------------------------------- */

static struct write_op *new_rule(struct http_request *r, enum cluster_rule_kind kind)
{
    struct write_op *op = write_op_new(WRITE_CLUSTER_RULE, OP_ARENA);
    if (!op) {
        http_problem(r, 503, "no memory to spare; try again");
        return NULL;
    }
    op->u.cluster_rule = (struct op_cluster_rule){
        .kind = kind, .bundle_id = r->identity.bundle_id, .now_ms = r->now_ms};
    return op;
}

static void rule_written(struct http_request *r, struct write_op *op, enum err rc,
                         const struct error *err)
{
    const struct op_cluster_rule *o = &op->u.cluster_rule;
    struct jout j;
    if (rc != ERR_OK) {
        http_reply_error(r, err);
        http_finish(r);
        return;
    }
    epochs_ring(r->services->epochs);
    jout_init(&j, http_reply(r, 202, TYPE_JSON));
    jout_object(&j, NULL);
    jout_uint(&j, "cluster_id", o->cluster_id);
    jout_string(&j, "state", "applying");
    jout_array(&j, "rules");
    for (size_t i = 0; i < o->rule_count; i++)
        jout_uint(&j, NULL, o->rule_ids[i]);
    jout_end_array(&j);
    jout_end_object(&j);
    http_finish(r);
}

static bool read_from(struct fields *f, json_t *body, struct write_op *op)
{
    struct op_cluster_rule *o = &op->u.cluster_rule;
    json_t *from = fields_array(f, body, "", "from");
    size_t count = json_array_size(from);
    int64_t into = 0;
    if (!fields_int(f, body, "", "into", 1, ID_MAX, &into))
        return fields_refuse(f, "an id of a cluster is expected", "%s", "into");
    o->cluster_id = (uint64_t)into;
    if (f->failed || count == 0 || count > CLUSTER_FROM_MAX)
        return fields_refuse(f, "1 to 100 ids of clusters are expected", "%s", "from");
    uint64_t *ids = arena_array(op->arena, count, sizeof(*ids));
    for (size_t i = 0; i < count && ids; i++) {
        int64_t id = 0;
        if (!json_whole(json_array_get(from, i), &id) || id < 1)
            return fields_refuse(f, "not an id of a cluster", "from[%zu]", i);
        ids[i] = (uint64_t)id;
        if (ids[i] == o->cluster_id)
            return fields_refuse(f, "a cluster cannot be merged with itself", "from[%zu]", i);
        for (size_t k = 0; k < i; k++) {
            if (ids[k] == ids[i])
                return fields_refuse(f, "is there twice", "from[%zu]", i);
        }
    }
    o->from = ids;
    o->from_count = count;
    return ids || fields_refuse(f, "too large", "%s", "");
}

void api_post_merge(struct http_request *r)
{
    static const char *const keys[] = {"into", "from", NULL};
    struct fields f;
    json_t *body = api_body(r, keys, &f);
    struct write_op *op = body ? new_rule(r, CLUSTER_RULE_MERGE) : NULL;
    bool good = op && read_from(&f, body, op);
    json_decref(body);
    if (good) {
        http_write(r, op, rule_written);
        return;
    }
    if (op)
        http_refuse_shape(r, f.path, f.reason);
    write_op_free(op);
}

static bool read_split(struct fields *f, json_t *body, struct op_cluster_rule *o)
{
    int64_t depth = 0;
    const char *part = fields_text(f, body, "", "part", KEY_TEXT);
    bool has_depth = fields_int(f, body, "", "depth", 2, KEY_DEPTH_MAX, &depth);
    if (f->failed)
        return false;
    if (part && !parse_key(part, o->part))
        return fields_refuse(f, "not a key of a part", "%s", "part");
    if (!part && !has_depth)
        return fields_refuse(f, "`part` (a merge is taken back), `depth`, or both are expected",
                             "%s", "");
    o->has_part = part != NULL;
    o->kind = has_depth ? CLUSTER_RULE_DEPTH : CLUSTER_RULE_APART;
    o->depth = (uint32_t)depth;
    return true;
}

void api_post_split(struct http_request *r)
{
    static const char *const keys[] = {"part", "depth", NULL};
    struct fields f;
    struct error err;
    uint64_t id = 0;
    if (api_id(r, 0, &id, &err) != ERR_OK) {
        http_problem(r, 404, "no such cluster");
        return;
    }
    json_t *body = api_body(r, keys, &f);
    struct write_op *op = body ? new_rule(r, CLUSTER_RULE_APART) : NULL;
    bool good = op && read_split(&f, body, &op->u.cluster_rule);
    json_decref(body);
    if (good) {
        op->u.cluster_rule.cluster_id = id;
        http_write(r, op, rule_written);
        return;
    }
    if (op)
        http_refuse_shape(r, f.path, f.reason);
    write_op_free(op);
}

static void rule_undone(struct http_request *r, struct write_op *op, enum err rc,
                        const struct error *err)
{
    (void)op;
    if (rc == ERR_OK) {
        epochs_ring(r->services->epochs);
        http_reply(r, 204, NULL);
    } else {
        http_reply_error(r, err);
    }
    http_finish(r);
}

void api_delete_cluster_rule(struct http_request *r)
{
    struct error err;
    uint64_t id = 0;
    if (api_id(r, 0, &id, &err) != ERR_OK) {
        http_problem(r, 404, "no such rule");
        return;
    }
    struct write_op *op = write_op_new(WRITE_CLUSTER_RULE_UNDO, OP_ARENA);
    if (!op) {
        http_problem(r, 503, "no memory to spare; try again");
        return;
    }
    op->u.cluster_rule_undo = (struct op_cluster_rule_undo){
        .bundle_id = r->identity.bundle_id, .rule_id = id, .now_ms = r->now_ms};
    http_write(r, op, rule_undone);
}
