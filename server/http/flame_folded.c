#include "server/http/flame.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "base/vec.h"

/* What stands between frames, and between lines, cannot stand in a name. */
static void put_name(struct buf *b, const char *s)
{
    for (; *s; s++)
        buf_putc(b, *s == ';' ? ':' : (unsigned char)*s < ' ' || *s == 0x7f ? ' ' : *s);
}

/* Whole numbers are what every reader of folded stacks takes; nothing that is there becomes 0. */
static int64_t whole(const struct flame *f, int64_t weight)
{
    int64_t v = llround(flame_value(f, weight));
    return weight > 0 && v == 0 ? 1 : v;
}

/* A stack's line, of what the node weighs by itself. `path` is the names so far. */
static void put_line(const struct flame *f, struct buf *out, const struct buf *path,
                     const struct call_node *n)
{
    int64_t self = whole(f, call_tree_self(f->tree, n, 0));
    int64_t other = f->compare ? whole(f, call_tree_self(f->tree, n, 1)) : 0;
    if (self <= 0 && other <= 0)
        return;
    if (path->len > 0)
        buf_put(out, path->data, path->len);
    else
        buf_puts(out, "(no frames)");
    /* The order of `difffolded`: before, after. */
    if (f->compare)
        buf_printf(out, " %" PRId64, other);
    buf_printf(out, " %" PRId64 "\n", self);
}

static void cut_path(struct buf *path, const size_t *ends, size_t depth)
{
    path->len = depth ? ends[depth - 1] : 0;
}

void flame_folded(const struct flame *f, struct buf *out)
{
    size_t ignored, up, depth = 0, room = 64;
    struct call_node n;
    const struct call_function *functions = call_tree_functions(f->tree, &ignored);
    size_t *ends = malloc(room * sizeof(*ends)); /* of the path, by depth */
    struct buf path;
    if (!ends) {
        out->failed = true;
        return;
    }
    buf_init(&path, out->limit);
    call_tree_root(f->tree, &n);
    put_line(f, out, &path, &n);
    while (call_tree_next(f->tree, &n, &up)) {
        depth -= up;
        cut_path(&path, ends, depth);
        if (depth == room) {
            size_t *larger = vec_grown(ends, &room, depth + 1, sizeof(*ends));
            if (!larger) {
                out->failed = true;
                break;
            }
            ends = larger;
        }
        if (depth > 0)
            buf_putc(&path, ';');
        put_name(&path, functions[n.function].name);
        ends[depth++] = path.len;
        put_line(f, out, &path, &n);
        if (out->failed || path.failed)
            break;
    }
    if (path.failed)
        out->failed = true;
    free(ends);
    buf_done(&path);
}
