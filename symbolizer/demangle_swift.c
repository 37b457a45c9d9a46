#include "symbolizer/demangle_swift.h"

#include <string.h>

#include "symbolizer/demangle_swift_key.h"
#include "symbolizer/demangle_swift_parse.h"
#include "symbolizer/demangle_swift_print.h"

/* The name without Mach-O's underscore; NULL when it does not begin like a Swift name. */
static const char *swift_start(const char *name)
{
    struct swift_text whole = {name, strnlen(name, SWIFT_NAME_MAX)};
    if (swift_prefix_length(whole) || !strncmp(name, "_T", 2))
        return name;
    return name[0] == '_' && (!strncmp(name + 1, "_T", 2) || !strncmp(name + 1, "_$", 2)) ? name + 1
                                                                                          : NULL;
}

bool demangle_swift_is_mangled(const char *name)
{
    const char *start = swift_start(name);
    struct swift_text text = {start, start ? strnlen(start, SWIFT_NAME_MAX) : 0};
    return start && (swift_prefix_length(text) || start[1] == 'T');
}

/* "_Tt" names are of the old scheme even where they look like the new one. */
static const struct swift_node *parse(struct swift_arena *a, struct swift_text name)
{
    return swift_prefix_length(name) ? swift_parse(a, name) : swift_parse_old(a, name);
}

/* Cuts off what remains of a character that did not fit. */
static size_t whole_characters(const char *s, size_t len)
{
    size_t start = len;
    while (start && ((unsigned char)s[start - 1] & 0xC0) == 0x80)
        start--;
    if (!start || (unsigned char)s[start - 1] < 0xC0)
        return len;
    unsigned char lead = (unsigned char)s[start - 1];
    size_t need = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
    return len - (start - 1) < need ? start - 1 : len;
}

static void copy_cut(const char *name, char *out, size_t size)
{
    size_t len = strlen(name);
    if (len > size - 1)
        len = whole_characters(name, size - 1);
    memcpy(out, name, len);
    out[len] = 0;
}

static bool print(struct swift_arena *a, const struct swift_node *root, enum swift_form form,
                  char *out, size_t size)
{
    struct swift_printer p = {0};
    p.out = out;
    p.size = size;
    p.arena = a;
    p.simplified = form != SWIFT_FULL;
    p.where = !p.simplified;
    p.sugar = true;
    p.key = form == SWIFT_KEY;
    if (p.key)
        swift_print_key(&p, root);
    else
        swift_print(&p, root, 0);
    if (p.cut)
        p.len = whole_characters(out, p.len);
    out[p.len] = 0;
    return !p.failed && !a->full && p.len > 0;
}

bool demangle_swift(const char *name, enum swift_form form, char *out, size_t size)
{
    if (!size)
        return false;
    const char *start = swift_start(name);
    struct swift_text text = {start, start ? strlen(start) : 0};
    bool ok = false;
    if (start && text.len <= SWIFT_NAME_MAX) {
        struct swift_arena a;
        swift_arena_init(&a);
        const struct swift_node *root = parse(&a, text);
        ok = root && print(&a, root, form, out, size);
        swift_arena_done(&a);
    }
    if (!ok)
        copy_cut(name, out, size);
    return ok;
}

bool demangle_swift_key(const char *name, char *out, size_t size)
{
    return demangle_swift(name, SWIFT_KEY, out, size);
}
