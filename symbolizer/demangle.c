#include "symbolizer/demangle.h"

#include <string.h>

#include "symbolizer/demangle_parts.h"
#include "symbolizer/demangle_swift.h"
#include "symbolizer/symbol_map.h"

typedef bool (*part)(const char *name, char *out, size_t size);

static bool no_part(const char *name, char *out, size_t size)
{
    (void)name, (void)out, (void)size;
    return false;
}

/* What the store hid, and no map said: the number is another one in every build. */
static bool demangle_hidden(const char *name, char *out, size_t size)
{
    struct demangle_out o;
    if (!symbol_map_is_hidden(name))
        return false;
    demangle_out_init(&o, out, size);
    demangle_puts(&o, "<hidden>");
    demangle_out_end(&o);
    return true;
}

/* In this order: a block of a C++ function is a block first, and old Rust names look like C++. A
 * Mach-O symbol may still have its own underscore, except before "-[" where there never is one. */
static const struct rule {
    const char *prefix;
    size_t skip;
    part demangle;
} rules[] = {
    {"-[", 0, no_part},       {"+[", 0, no_part},        {"__hidden#", 0, demangle_hidden},
    {"__", 0, demangle_objc}, {"_R", 0, demangle_rust},  {"__R", 1, demangle_rust},
    {"_Z", 0, demangle_rust}, {"__Z", 1, demangle_rust}, {"_Z", 0, demangle_cxx},
    {"__Z", 1, demangle_cxx},
};

/* Swift's demangler cuts without a mark: what fills the buffer counts as cut. */
static bool demangle_swift_name(const char *name, enum swift_form form, char *out, size_t size)
{
    if (!demangle_swift(name, form, out, size))
        return false;
    struct demangle_out o = {.data = out, .size = size, .len = strlen(out)};
    o.full = size - o.len < 5;
    demangle_out_end(&o);
    return true;
}

static bool starts(const char *name, const char *prefix)
{
    while (*prefix && *name == *prefix) {
        name++;
        prefix++;
    }
    return *prefix == 0;
}

static bool demangle_by(const char *name, char *out, size_t size)
{
    if (strlen(name) > DEMANGLE_INPUT_MAX)
        return false;
    if (demangle_swift_is_mangled(name))
        return demangle_swift_name(name, SWIFT_SIMPLIFIED, out, size);
    for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
        const struct rule *r = &rules[i];
        if (starts(name, r->prefix) && r->demangle(name + r->skip, out, size))
            return true;
    }
    return false;
}

bool demangle(const char *name, char *out, size_t size)
{
    if (size == 0)
        return false;
    if (size > DEMANGLE_OUTPUT_MAX)
        size = DEMANGLE_OUTPUT_MAX;
    if (demangle_by(name, out, size) && out[0])
        return strcmp(name, out) != 0;
    struct demangle_out o;
    demangle_out_init(&o, out, size);
    demangle_puts(&o, name);
    demangle_out_end(&o);
    return o.full;
}

bool demangle_full(const char *name, char *out, size_t size)
{
    return size > 0 && strlen(name) <= DEMANGLE_INPUT_MAX && demangle_swift_is_mangled(name) &&
           demangle_swift_name(name, SWIFT_FULL, out, size);
}
