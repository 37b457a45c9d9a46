/* fuzz_demangle - any bytes are a name: an answer, ended, not empty, no larger than estimated. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "symbolizer/demangle.h"
#include "symbolizer/demangle_cxx_tree.h"
#include "symbolizer/demangle_parts.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Of the C++ runtime. */
char *__cxa_demangle(const char *mangled, char *buffer, size_t *length, int *status);

/* What is seen to be printable can be printed. */
static void check_plain(const char *name)
{
    struct cxx_tree tree;
    if (cxx_parse(name, &tree) && tree.plain && !cxx_can_print(&tree))
        abort();
}

static void check_estimate(const char *name)
{
    struct demangle_cost cost = demangle_cxx_cost(name);
    if (cost.size > DEMANGLE_CXX_SIZE_MAX || cost.depth > DEMANGLE_CXX_DEPTH_MAX ||
        (cost.unresolved && !demangle_cxx_is_own(name)))
        return;
    char *text = __cxa_demangle(name, NULL, NULL, NULL);
    if (text && strlen(text) > 4096 && strlen(text) / 4 > cost.size)
        abort();
    /* What our own reader knows, the runtime says alike. */
    static char own[(size_t)1 << 20];
    if (text && strlen(text) < sizeof(own) && demangle_cxx_own(name, own, sizeof(own)) &&
        strcmp(own, text) != 0)
        abort();
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char name[DEMANGLE_INPUT_MAX + 64];
    char out[DEMANGLE_OUTPUT_MAX];
    if (size < 1 || size >= sizeof(name))
        return 0;
    memcpy(name, data + 1, size - 1);
    name[size - 1] = 0;
    size_t room = data[0] % 16 ? sizeof(out) : (size_t)data[0] / 16 + 1;
    memset(out, 'x', sizeof(out));
    demangle(name, out, room);
    if (!memchr(out, 0, room))
        abort();
    if (name[0] && room > 1 && !out[0] && ((unsigned char)name[0] & 0x80) == 0)
        abort();
    if (strncmp(name, "_Z", 2) == 0)
        check_estimate(name);
    if (strncmp(name, "_Z", 2) == 0)
        check_plain(name);
    return 0;
}
