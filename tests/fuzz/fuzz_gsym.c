/* fuzz_gsym - any bytes are an index file, and every address is asked of it. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "symbolizer/gsym_read.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void ask(const struct gsym *g, uint64_t address)
{
    struct gsym_frame frames[GSYM_FRAMES_MAX];
    char path[GSYM_PATH_MAX], display[GSYM_DISPLAY_MAX];
    size_t count = gsym_lookup(g, address, frames, GSYM_FRAMES_MAX);
    if (count > GSYM_FRAMES_MAX)
        abort();
    for (size_t i = 0; i < count; i++) {
        const char *file = gsym_frame_file(&frames[i], path);
        if (!frames[i].name[0] || !gsym_frame_display(&frames[i], display)[0] || (file && !file[0]))
            abort();
        if (frames[i].line != 0 && !file)
            abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct gsym *g = NULL;
    uint64_t base = 0;
    if (gsym_open_memory(data, size, &g, NULL) != ERR_OK)
        return 0;
    gsym_check(g, NULL);
    memcpy(&base, data + 8, sizeof(base));
    for (uint64_t i = 0; i < 64; i++)
        ask(g, base + i);
    for (unsigned bit = 6; bit < 64; bit++)
        ask(g, base + ((uint64_t)1 << bit));
    ask(g, base - 1);
    ask(g, UINT64_MAX);
    gsym_close(g);
    return 0;
}
