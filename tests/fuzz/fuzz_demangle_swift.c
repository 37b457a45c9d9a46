/*
 * fuzz_demangle_swift - any bytes are a Swift name.
 *
 * The input is a name; one that does not begin like a Swift name gets a prefix by its first byte.
 * Each form is printed into a large buffer and into a small one. What must hold: a NUL inside the
 * buffer, the cut text is the beginning of the whole one, and a name that was refused is answered
 * as it is.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "symbolizer/demangle_swift.h"

#define NAME_MAX_BYTES 4096

static void require(bool ok, const char *what, const char *name)
{
    if (ok)
        return;
    fprintf(stderr, "%s: %s\n", what, name);
    abort();
}

static void check_form(const char *name, enum swift_form form)
{
    static char whole[256 * 1024];
    char small[40];
    memset(whole, 'x', NAME_MAX_BYTES + 16);
    bool ok = demangle_swift(name, form, whole, sizeof(whole));
    require(memchr(whole, 0, sizeof(whole)) != NULL, "no NUL", name);
    require(ok || !strcmp(whole, name), "refused, but changed", name);
    require(!ok || whole[0], "empty", name);
    bool again = demangle_swift(name, form, small, sizeof(small));
    size_t len = strnlen(small, sizeof(small));
    require(len < sizeof(small), "no NUL when cut", name);
    if (ok == again)
        require(!strncmp(whole, small, len), "cut differently", name);
    /* A tree can turn out to be odd only past the cut. */
    require(!ok || again, "refused when cut", name);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const prefixes[] = {"$s",  "_T",    "_T0", "_Tt",
                                           "_TF", "_TTSf", "$S",  "@__swiftmacro_"};
    char name[NAME_MAX_BYTES + 32];
    if (!size || size > NAME_MAX_BYTES)
        return 0;
    size_t at = 0;
    if (data[0] != '$' && data[0] != '_' && data[0] != '@') {
        const char *prefix = prefixes[data[0] % 8];
        at = strlen(prefix);
        memcpy(name, prefix, at);
        data++;
        size--;
    }
    memcpy(name + at, data, size);
    name[at + size] = 0;
    for (int form = SWIFT_FULL; form <= SWIFT_KEY; form++)
        check_form(name, (enum swift_form)form);
    return 0;
}
