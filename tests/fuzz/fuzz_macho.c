/* fuzz_macho - any bytes are a Mach-O file: thin, or universal with the second half as its slice. */
#include "tests/fuzz/exercise_object.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size >= 4 && memcmp(data, "\177ELF", 4) == 0)
        return 0;
    exercise_object(data, size);
    return 0;
}
