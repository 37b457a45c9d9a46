#include "server/http/flame.h"

static void put_values(const struct flame *f, struct jout *j, const struct call_node *n)
{
    flame_put_value(f, j, "value", n->value[0]);
    flame_put_value(f, j, "self", call_tree_self(f->tree, n, 0));
    if (!f->compare)
        return;
    flame_put_value(f, j, "compare_value", n->value[1]);
    flame_put_value(f, j, "compare_self", call_tree_self(f->tree, n, 1));
    jout_double(j, "delta", flame_delta(f, n));
}

/* Up to its children, which are left open. */
static void open_node(const struct flame *f, struct jout *j, const struct call_node *n)
{
    size_t ignored;
    const struct call_function *functions = call_tree_functions(f->tree, &ignored);
    const struct call_function *of = n->function == CALL_TREE_NONE ? NULL : &functions[n->function];
    jout_object(j, NULL);
    jout_string(j, "name", of ? of->name : "all");
    jout_string(j, "image", of ? of->image : NULL);
    jout_text(j, "file", of ? of->file : NULL);
    jout_bool(j, "in_app", of && of->in_app);
    put_values(f, j, n);
    jout_array(j, "children");
}

static void close_nodes(struct jout *j, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        jout_end_array(j);
        jout_end_object(j);
    }
}

/* A tree may be deeper than the C stack: no recursion. */
static void put_tree(const struct flame *f, struct jout *j)
{
    size_t depth = 1, up;
    struct call_node n;
    call_tree_root(f->tree, &n);
    open_node(f, j, &n);
    while (call_tree_next(f->tree, &n, &up)) {
        close_nodes(j, up);
        open_node(f, j, &n);
        depth += 1 - up;
        if (j->b->failed)
            return;
    }
    close_nodes(j, depth);
}

void flame_json(const struct flame *f, struct buf *out)
{
    struct jout j;
    jout_init(&j, out);
    jout_object(&j, NULL);
    jout_string(&j, "weight", f->by_time ? "time" : "count");
    jout_string(&j, "unit", f->by_time ? "ms" : "reports");
    jout_string(&j, "source", f->scope.source);
    jout_time(&j, "since", f->scope.since_ms);
    jout_uint(&j, "stacks", f->stacks);
    jout_uint(&j, "nodes", call_tree_count(f->tree) - 1);
    jout_bool(&j, "truncated", f->truncated);
    flame_put_value(f, &j, "total", call_tree_total(f->tree, 0));
    if (f->compare) {
        jout_string(&j, "version", f->version[0]);
        jout_string(&j, "compare_version", f->version[1]);
        flame_put_value(f, &j, "compare_total", call_tree_total(f->tree, 1));
    }
    /* The root is the last member: jout's comma state is one. */
    buf_puts(out, ",\"root\":");
    j.comma = false;
    put_tree(f, &j);
    jout_end_object(&j);
}
