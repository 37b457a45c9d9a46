#include "server/http/flame.h"

#include <stdlib.h>

static void put_frames(const struct flame *f, struct jout *j)
{
    size_t count;
    const struct call_function *functions = call_tree_functions(f->tree, &count);
    jout_object(j, "shared");
    jout_array(j, "frames");
    for (size_t i = 0; i < count; i++) {
        jout_object(j, NULL);
        jout_string(j, "name", functions[i].name);
        if (functions[i].file || functions[i].image)
            jout_string(j, "file", functions[i].file ? functions[i].file : functions[i].image);
        jout_end_object(j);
    }
    jout_end_array(j);
    jout_end_object(j);
}

/* Nodes that weigh something by themselves, one after the other. `path`: the functions of the one at
 * hand, outermost first. */
struct samples {
    const struct flame *f;
    size_t set, depth;
    uint32_t *path;
    struct call_node node;
    int64_t self;
};

static struct samples samples_of(const struct flame *f, size_t set, uint32_t *path)
{
    struct samples s = {.f = f, .set = set, .path = path, .self = -1};
    return s;
}

static bool next_sample(struct samples *s)
{
    size_t up = 0;
    do {
        if (s->self < 0)
            call_tree_root(s->f->tree, &s->node);
        else if (!call_tree_next(s->f->tree, &s->node, &up))
            return false;
        else
            s->path[(s->depth += 1 - up) - 1] = s->node.function;
        s->self = call_tree_self(s->f->tree, &s->node, s->set);
        s->self = s->self > 0 ? s->self : 0;
    } while (s->self == 0);
    return true;
}

static void put_sample(const struct samples *s, struct jout *j)
{
    jout_array(j, NULL);
    for (size_t i = 0; i < s->depth; i++)
        jout_uint(j, NULL, s->path[i]);
    jout_end_array(j);
}

static void put_profile(const struct flame *f, struct jout *j, size_t set, uint32_t *path)
{
    jout_object(j, NULL);
    jout_string(j, "type", "sampled");
    jout_string(j, "name", f->compare ? f->version[set] : f->title);
    jout_string(j, "unit", f->by_time ? "milliseconds" : "none");
    jout_uint(j, "startValue", 0);
    flame_put_value(f, j, "endValue", call_tree_total(f->tree, set));
    jout_array(j, "samples");
    for (struct samples s = samples_of(f, set, path); next_sample(&s) && !j->b->failed;)
        put_sample(&s, j);
    jout_end_array(j);
    jout_array(j, "weights");
    for (struct samples s = samples_of(f, set, path); next_sample(&s) && !j->b->failed;)
        flame_put_value(f, j, NULL, s.self);
    jout_end_array(j);
    jout_end_object(j);
}

void flame_speedscope(const struct flame *f, struct buf *out)
{
    struct jout j;
    uint32_t *path =
        malloc(call_tree_count(f->tree) * sizeof(*path)); /* no path is longer than all nodes */
    if (!path) {
        out->failed = true;
        return;
    }
    jout_init(&j, out);
    jout_object(&j, NULL);
    jout_string(&j, "$schema", "https://www.speedscope.app/file-format-schema.json");
    jout_string(&j, "exporter", "stallsymd");
    jout_string(&j, "name", f->title);
    jout_uint(&j, "activeProfileIndex", 0);
    put_frames(f, &j);
    jout_array(&j, "profiles");
    for (size_t set = 0; set < (f->compare ? 2 : 1); set++)
        put_profile(f, &j, set, path);
    jout_end_array(&j);
    jout_end_object(&j);
    free(path);
}
