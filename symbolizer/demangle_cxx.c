#include <stdlib.h>
#include <string.h>

#include "symbolizer/demangle.h"
#include "symbolizer/demangle_cxx_tree.h"
#include "symbolizer/demangle_parts.h"

/* Of the C++ runtime (Itanium C++ ABI, section 3.4), which has no header for C. */
char *__cxa_demangle(const char *mangled, char *buffer, size_t *length, int *status);

bool demangle_cxx_own(const char *name, char *out, size_t size)
{
    struct cxx_tree tree;
    struct demangle_out o;
    if (strncmp(name, "_Z", 2) != 0 || !cxx_parse(name, &tree))
        return false;
    demangle_out_init(&o, out, size);
    if (!cxx_print(&tree, &o))
        return false;
    demangle_out_end(&o);
    return true;
}

bool demangle_cxx_is_own(const char *name)
{
    struct cxx_tree tree;
    return strncmp(name, "_Z", 2) == 0 && cxx_parse(name, &tree) &&
           (tree.plain || cxx_can_print(&tree));
}

/* Safe to ask only where a crash or a loop costs no more than a child. */
static bool by_runtime(const char *name, char *out, size_t size)
{
    int status = 0;
    char *text = __cxa_demangle(name, NULL, NULL, &status);
    if (!text)
        return false;
    struct demangle_out o;
    demangle_out_init(&o, out, size);
    demangle_puts(&o, text);
    demangle_out_end(&o);
    free(text);
    return true;
}

/* Names that are too costly, or that it may not come back from: those are not well-formed, and so
 * not read by our own reader. */
static bool may_ask_runtime(const char *name)
{
    struct cxx_tree tree;
    struct demangle_cost cost = demangle_cxx_cost(name);
    return cost.size <= DEMANGLE_CXX_SIZE_MAX && cost.depth <= DEMANGLE_CXX_DEPTH_MAX &&
           (!cost.unresolved || cxx_parse(name, &tree));
}

bool demangle_cxx(const char *name, char *out, size_t size)
{
    return demangle_cxx_own(name, out, size) ||
           (strncmp(name, "_Z", 2) == 0 && may_ask_runtime(name) && by_runtime(name, out, size));
}
