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
    part own;
} rules[] = {
    {"-[", 0, no_part, no_part},
    {"+[", 0, no_part, no_part},
    {"__hidden#", 0, demangle_hidden, demangle_hidden},
    {"__", 0, demangle_objc, demangle_objc_own},
    {"_R", 0, demangle_rust, demangle_rust},
    {"__R", 1, demangle_rust, demangle_rust},
    {"_Z", 0, demangle_rust, demangle_rust},
    {"__Z", 1, demangle_rust, demangle_rust},
    {"_Z", 0, demangle_cxx, demangle_cxx_own},
    {"__Z", 1, demangle_cxx, demangle_cxx_own},
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

static bool demangle_by(const char *name, bool own, char *out, size_t size)
{
    if (strlen(name) > DEMANGLE_INPUT_MAX)
        return false;
    if (demangle_swift_is_mangled(name))
        return demangle_swift_name(name, SWIFT_SIMPLIFIED, out, size);
    for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
        const struct rule *r = &rules[i];
        if (starts(name, r->prefix) && (own ? r->own : r->demangle)(name + r->skip, out, size))
            return true;
    }
    return false;
}

static bool answer(const char *name, bool own, char *out, size_t size)
{
    if (size == 0)
        return false;
    if (size > DEMANGLE_OUTPUT_MAX)
        size = DEMANGLE_OUTPUT_MAX;
    if (demangle_by(name, own, out, size) && out[0])
        return strcmp(name, out) != 0;
    struct demangle_out o;
    demangle_out_init(&o, out, size);
    demangle_puts(&o, name);
    demangle_out_end(&o);
    return o.full;
}

bool demangle(const char *name, char *out, size_t size)
{
    return answer(name, false, out, size);
}

bool demangle_own(const char *name, char *out, size_t size)
{
    return answer(name, true, out, size);
}

/* "17h<16 hexadecimal digits>E" */
static bool is_legacy_rust(const char *name, size_t length)
{
    return length > 20 && name[length - 1] == 'E' && memcmp(name + length - 20, "17h", 3) == 0;
}

bool demangle_is_own(const char *name)
{
    char out[DEMANGLE_OUTPUT_MAX];
    size_t length = strlen(name);
    /* Nearly all there are; nothing has to be written for the answer. */
    if (length <= DEMANGLE_INPUT_MAX && !is_legacy_rust(name, length) && demangle_cxx_is_own(name))
        return true;
    return demangle_by(name, true, out, sizeof(out)) && out[0];
}

bool demangle_full(const char *name, char *out, size_t size)
{
    return size > 0 && strlen(name) <= DEMANGLE_INPUT_MAX && demangle_swift_is_mangled(name) &&
           demangle_swift_name(name, SWIFT_FULL, out, size);
}
