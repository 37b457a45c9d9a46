#include <string.h>

#include "symbolizer/demangle_cxx_tree.h"
#include "symbolizer/demangle_parts.h"

bool demangle_cxx(const char *name, char *out, size_t size)
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
