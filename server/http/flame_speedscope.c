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

/* The indexes of the frames from the root to `node`. */
static void put_sample(const struct call_node *nodes, struct jout *j, uint32_t node, uint32_t *path)
{
    size_t n = 0;
    for (; node != 0; node = nodes[node].parent)
        path[n++] = nodes[node].function;
    jout_array(j, NULL);
    while (n > 0)
        jout_uint(j, NULL, path[--n]);
    jout_end_array(j);
}

static void put_profile(const struct flame *f, struct jout *j, size_t set, uint32_t *path)
{
    size_t count;
    const struct call_node *nodes = call_tree_nodes(f->tree, &count);
    jout_object(j, NULL);
    jout_string(j, "type", "sampled");
    jout_string(j, "name", f->compare ? f->version[set] : f->title);
    jout_string(j, "unit", f->by_time ? "milliseconds" : "none");
    jout_uint(j, "startValue", 0);
    flame_put_value(f, j, "endValue", nodes[0].value[set]);
    jout_array(j, "samples");
    for (uint32_t n = 0; n < count && !j->b->failed; n++) {
        if (call_tree_self(f->tree, n, set) > 0)
            put_sample(nodes, j, n, path);
    }
    jout_end_array(j);
    jout_array(j, "weights");
    for (uint32_t n = 0; n < count && !j->b->failed; n++) {
        int64_t self = call_tree_self(f->tree, n, set);
        if (self > 0)
            flame_put_value(f, j, NULL, self);
    }
    jout_end_array(j);
    jout_end_object(j);
}

void flame_speedscope(const struct flame *f, struct buf *out)
{
    struct jout j;
    size_t count;
    (void)call_tree_nodes(f->tree, &count);
    uint32_t *path = malloc(count * sizeof(*path)); /* no path is longer than all nodes */
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
