/* fuzz_elf - any bytes behind ELF's four are an ELF file. */
#include "tests/fuzz/exercise_object.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 4)
        return 0;
    uint8_t *copy = malloc(size);
    memcpy(copy, data, size);
    memcpy(copy, "\177ELF", 4);
    exercise_object(copy, size);
    free(copy);
    return 0;
}
