#include "server/http/flame.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/utf8.h"
#include "base/vec.h"
#include "flame_assets.h"

/* DESIGN. One <g> a node: its rectangle, its name as far as it fits, and a <title> with all there is
 * to tell, which is also where the script finds it. The root is on top. Colours are classes, so that
 * the style sheet alone knows light from dark. A zoom moves what is there already. */

#define WIDTH     1200.0
#define ROW       17
#define TOP       64
#define CHARACTER 7.3
#define COLOURS   8 /* of the app's frames; of others half as many */

/* XML text: markup escaped, what is no character of XML replaced. */
static void put_xml(struct buf *b, const char *s, size_t len)
{
    for (size_t i = 0; i < len;) {
        size_t n = utf8_sequence(s + i, len - i);
        unsigned char c = (unsigned char)s[i];
        if (c == '<')
            buf_puts(b, "&lt;");
        else if (c == '>')
            buf_puts(b, "&gt;");
        else if (c == '&')
            buf_puts(b, "&amp;");
        else if (c == '"')
            buf_puts(b, "&quot;");
        else if (n == 0 || c < ' ' || c == 0x7f ||
                 (n == 3 && memcmp(s + i, "\xef\xbf\xbe", 2) == 0 &&
                  (unsigned char)s[i + 2] >= 0xbe))
            buf_putc(b, n == 0 || c >= ' ' ? '?' : ' ');
        else
            buf_put(b, s + i, n);
        i += n ? n : 1;
    }
}

static void put_text(struct buf *b, const char *s)
{
    put_xml(b, s, strlen(s));
}

/* As much of the name as `width` pixels hold; nothing where that is next to nothing. */
static void put_fitting(struct buf *b, const char *name, double width)
{
    size_t room = width > 4 ? (size_t)((width - 4) / CHARACTER) : 0;
    size_t len = strlen(name), at = 0, letters = 0, cut = 0;
    if (room < 3)
        return;
    while (at < len && letters <= room) {
        size_t n = utf8_sequence(name + at, len - at);
        if (letters == room - 2)
            cut = at;
        at += n ? n : 1;
        letters++;
    }
    if (letters <= room)
        cut = len;
    put_xml(b, name, cut);
    if (letters > room)
        buf_puts(b, "..");
}

static void put_value(const struct flame *f, struct buf *b, int64_t weight)
{
    if (f->by_time)
        buf_printf(b, "%.3f s", (double)weight / 1000);
    else
        buf_printf(b, "%.6g reports", flame_value(f, weight));
}

static void put_share(const struct flame *f, struct buf *b, const struct call_node *n, size_t set)
{
    put_value(f, b, n->value[set]);
    buf_printf(b, ", %.2f %%", 100 * flame_share(f, n, set));
}

/* Steps of change, in shares of the whole: beyond the last one it is the strongest colour. */
static unsigned strength(double delta)
{
    static const double steps[] = {0.0005, 0.005, 0.02, 0.05, 0.1};
    unsigned n = 0;
    while (n < 5 && fabs(delta) >= steps[n])
        n++;
    return n;
}

static void put_class(const struct flame *f, struct buf *b, const struct call_node *n,
                      const struct call_function *of)
{
    if (f->compare) {
        double delta = flame_delta(f, n);
        unsigned step = strength(delta);
        if (step == 0)
            buf_puts(b, "z");
        else
            buf_printf(b, "%c%u", delta > 0 ? 'p' : 'n', step);
        return;
    }
    const char *image = of && of->image ? of->image : "";
    uint64_t h = of ? hash64(of->name, strlen(of->name), hash64(image, strlen(image), 0)) : 0;
    bool in_app = of && of->in_app;
    buf_printf(b, "%c%u", in_app ? 'a' : 's', (unsigned)(h % (in_app ? COLOURS : COLOURS / 2)));
}

/* What the tooltip says; the first line is the name. */
static void put_title(const struct flame *f, struct buf *b, const struct call_node *n,
                      const struct call_function *of)
{
    put_text(b, of ? of->name : "all");
    if (of && (of->image || of->file)) {
        buf_puts(b, "\n");
        put_text(b, of->image ? of->image : "");
        buf_puts(b, of->image && of->file ? ", " : "");
        put_text(b, of->file ? of->file : "");
    }
    buf_puts(b, "\n");
    put_share(f, b, n, 0);
    if (f->compare) {
        buf_puts(b, "; before: ");
        put_share(f, b, n, 1);
        buf_printf(b, "; %+.2f points", 100 * flame_delta(f, n));
    }
}

/* Of the picture's width; two sets side by side share it. */
static double width_of(const struct flame *f, const struct call_node *n)
{
    double share = flame_share(f, n, 0);
    return f->compare ? (share + flame_share(f, n, 1)) / 2 : share;
}

static void put_node(const struct flame *f, struct buf *b, const struct call_node *n, size_t depth,
                     double x, double width)
{
    size_t ignored;
    const struct call_function *of =
        n->function == CALL_TREE_NONE ? NULL : &call_tree_functions(f->tree, &ignored)[n->function];
    size_t y = TOP + depth * ROW;
    buf_puts(b, "<g class=\"f ");
    put_class(f, b, n, of);
    buf_puts(b, "\"><title>");
    put_title(f, b, n, of);
    buf_printf(b, "</title><rect x=\"%.3f\" y=\"%zu\" width=\"%.3f\" height=\"%d\"/>", x * WIDTH, y,
               width * WIDTH, ROW - 1);
    if (width * WIDTH > 3 * CHARACTER) {
        buf_printf(b, "<text x=\"%.3f\" y=\"%zu\">", x * WIDTH + 3, y + 12);
        put_fitting(b, of ? of->name : "all", width * WIDTH);
        buf_puts(b, "</text>");
    }
    buf_puts(b, "</g>\n");
}

/* Draws the nodes that are wide enough; how deep they go. Without memory: 0. */
static size_t put_nodes(const struct flame *f, struct buf *b)
{
    size_t up = 0, depth = 0, deepest = 0, room = 64;
    double *free_from = calloc(room, sizeof(*free_from)); /* by depth: where the next one begins */
    struct call_node n;
    bool more = true;
    if (!free_from)
        return 0;
    call_tree_root(f->tree, &n);
    while (more && !b->failed) {
        double width = n.function == CALL_TREE_NONE ? 1 : width_of(f, &n);
        bool drawn = width >= FLAME_WIDTH_MIN;
        if (depth + 2 > room) {
            double *larger = vec_grown(free_from, &room, depth + 2, sizeof(*free_from));
            if (!larger) {
                deepest = 0;
                break;
            }
            free_from = larger;
        }
        if (drawn) {
            put_node(f, b, &n, depth, free_from[depth], width);
            free_from[depth + 1] = free_from[depth];
            deepest = depth + 1 > deepest ? depth + 1 : deepest;
        }
        free_from[depth] += width;
        more = (drawn ? call_tree_next : call_tree_next_outside)(f->tree, &n, &up);
        depth += 1 - up;
    }
    free(free_from);
    return deepest;
}

static void put_head(const struct flame *f, struct buf *b, size_t height)
{
    struct call_node root;
    call_tree_root(f->tree, &root);
    buf_printf(b,
               "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"100%%\" viewBox=\"0 0 %d %zu\" "
               "preserveAspectRatio=\"xMinYMin meet\">\n<title>",
               (int)WIDTH, height);
    put_text(b, f->title);
    buf_puts(b, "</title>\n<style>\n");
    buf_put(b, asset_flamegraph_css, sizeof(asset_flamegraph_css));
    buf_puts(b, "</style>\n<text class=\"head\" x=\"3\" y=\"18\">");
    put_fitting(b, f->title, WIDTH / 1.3);
    buf_puts(b, "</text>\n<text class=\"dim\" x=\"3\" y=\"36\">");
    put_share(f, b, &root, 0);
    if (f->compare) {
        buf_puts(b, " of ");
        put_text(b, f->version[0]);
        buf_puts(b, ", compared with ");
        put_value(f, b, root.value[1]);
        buf_puts(b, " of ");
        put_text(b, f->version[1]);
        buf_puts(b, ": red takes a larger share than there, blue a smaller one");
    } else {
        buf_printf(b, ", %zu stacks", f->stacks);
    }
    if (f->truncated)
        buf_puts(b, "; the lightest calls are in " CALL_TREE_OTHER);
    buf_puts(
        b, "</text>\n<text id=\"details\" class=\"dim\" x=\"3\" y=\"54\">Click to zoom, Ctrl-F to "
           "search</text>\n<text id=\"reset\" class=\"link\" x=\"960\" y=\"18\" "
           "visibility=\"hidden\">reset zoom</text>\n<text id=\"search\" class=\"link\" "
           "x=\"1050\" y=\"18\">search</text>\n<text id=\"matched\" class=\"dim\" x=\"1050\" "
           "y=\"36\"></text>\n");
}

void flame_svg(const struct flame *f, struct buf *out)
{
    struct buf nodes;
    buf_init(&nodes, out->limit);
    size_t rows = put_nodes(f, &nodes);
    put_head(f, out, TOP + rows * ROW + 8);
    buf_put(out, nodes.data ? nodes.data : "", nodes.len);
    buf_puts(out, "<script><![CDATA[\n");
    buf_put(out, asset_flamegraph_js, sizeof(asset_flamegraph_js));
    buf_puts(out, "]]></script>\n</svg>\n");
    out->failed = out->failed || nodes.failed || rows == 0;
    buf_done(&nodes);
}
