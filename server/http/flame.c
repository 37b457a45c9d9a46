#include "server/http/flame.h"

#include "server/http/http_request.h"
#include "storage/figures.h"

/* The drawing's own style and script; nothing is loaded or sent. */
#define INLINE_ONLY                                                                                \
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; "                  \
    "frame-ancestors 'none'"

#define NODES_LEAST 4 /* less cannot be folded */

const struct flame_format FLAME_FORMATS[] = {
    {"json", TYPE_JSON, NULL, flame_json},
    {"folded", "text/plain; charset=utf-8", NULL, flame_folded},
    {"speedscope", TYPE_JSON, NULL, flame_speedscope},
    {"svg", "image/svg+xml", INLINE_ONLY, flame_svg},
};
const size_t FLAME_FORMAT_COUNT = sizeof(FLAME_FORMATS) / sizeof(FLAME_FORMATS[0]);

double flame_value(const struct flame *f, int64_t weight)
{
    return f->by_time ? (double)weight : (double)weight / FIGURES_WEIGHT_ONE;
}

void flame_put_value(const struct flame *f, struct jout *j, const char *key, int64_t weight)
{
    if (f->by_time)
        jout_int(j, key, weight);
    else if (weight % FIGURES_WEIGHT_ONE == 0)
        jout_int(j, key, weight / FIGURES_WEIGHT_ONE);
    else
        jout_double(j, key, flame_value(f, weight));
}

double flame_share(const struct flame *f, const struct call_node *n, size_t set)
{
    const int64_t total = call_tree_total(f->tree, set);
    return total > 0 ? (double)n->value[set] / (double)total : 0;
}

double flame_delta(const struct flame *f, const struct call_node *n)
{
    return flame_share(f, n, 0) - flame_share(f, n, 1);
}

enum err flame_print(struct flame *f, const struct flame_format *format, struct buf *out,
                     struct error *err)
{
    size_t max = FLAME_NODES_MAX;
    for (;;) {
        bool folded;
        enum err rc = call_tree_fold(f->tree, max, &folded, err);
        if (rc != ERR_OK)
            return rc;
        f->truncated |= folded;
        buf_clear(out);
        format->print(f, out);
        if (!out->failed)
            return ERR_OK;
        if (!out->capped)
            return error_set(err, ERR_NO_MEMORY, "no memory for a flame graph");
        const size_t count = call_tree_count(f->tree);
        if (count <= NODES_LEAST)
            return error_set(err, ERR_LIMIT, "the flame graph is too large");
        max = count / 2;
    }
}
