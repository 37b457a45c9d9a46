/* fuzz_demangle - any bytes are a name: an answer, ended, not empty, soon. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "symbolizer/demangle.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

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
    return 0;
}
