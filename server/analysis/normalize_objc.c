/*
 * Objective-C methods and their blocks. A method is its own key, category included; a block is
 * the method it was written in, since blocks are numbered anew by every compiler run.
 */
#include "server/analysis/normalize_parts.h"

/* Where `-[` or `+[` stands behind the `__41` of a block; NAME_NPOS when this is no method. */
static size_t method_start(struct name_view v)
{
    size_t i = 0;
    while (i < v.n && (v.p[i] == '_' || name_digit(v.p[i])))
        i++;
    if (i + 1 < v.n && (v.p[i] == '-' || v.p[i] == '+') && v.p[i + 1] == '[')
        return i;
    return NAME_NPOS;
}

bool normalize_is_objc(struct name_view v)
{
    return method_start(v) != NAME_NPOS;
}

void normalize_objc(struct name_view v, struct name_out *out)
{
    v = name_view_from(v, method_start(v));
    for (size_t i = 2; i < v.n; i++) {
        if (v.p[i] == ']') {
            v.n = i + 1;
            break;
        }
    }
    name_put_view(out, v);
}
