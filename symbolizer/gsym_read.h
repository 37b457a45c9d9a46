/*
 * gsym_read - answers from an index file in memory.
 *
 * Purpose: address in, frames out, innermost first; reads our files and those of llvm-gsymutil
 * (which have no footer: then vmaddr and size are unknown).
 *
 * Invariants: opening checks header, table bounds and order only; gsym_check() verifies every
 * table and the CRC (once, when a file is installed). A lookup is memory-safe whatever the bytes
 * are, allocates nothing, and never answers beyond a function's size. Names for people are made
 * when they are asked for, but few: see gsym_frame_display().
 *
 * Threads: read-only after opening, any number of readers. Memory: frames point into the mapped
 * file and live as long as the handle.
 */
#ifndef STALLSYM_SYMBOLIZER_GSYM_READ_H
#define STALLSYM_SYMBOLIZER_GSYM_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/stack.h"
#include "base/uuid.h"

#define GSYM_FRAMES_MAX  64 /* inline depth of one address; deeper levels are cut outermost-last */
#define GSYM_PATH_MAX    4096 /* directory and base name joined */
#define GSYM_DISPLAY_MAX 4096 /* a name for people */

struct gsym;

struct gsym_info {
    struct uuid uuid;
    bool has_footer;
    bool has_dwarf;
    uint64_t text_vmaddr; /* without a footer: 0 */
    uint64_t text_size;   /* without a footer: 0, unknown */
    uint32_t functions;
    uint64_t size; /* bytes of the file */
};

/* A frame inside the index: names are offsets' texts, the file still in two pieces. */
struct gsym_frame {
    const char *name;      /* linkage name, never NULL */
    const char *directory; /* NULL or "" when there is none */
    const char *base;      /* NULL: no file */
    uint32_t line;         /* 0: none */
    uint64_t from_start;   /* of the address, from the start of the function around */
    bool inlined;
    bool local;
};

/* Maps the file. ERR_NOT_FOUND when it is not there, ERR_FORMAT when it is no index. */
enum err gsym_open(const char *path, struct gsym **ret, struct error *err);
/* The same over bytes the caller keeps alive. */
enum err gsym_open_memory(const void *data, size_t size, struct gsym **ret, struct error *err);
void gsym_close(struct gsym *g);

const struct gsym_info *gsym_info(const struct gsym *g);

/* Every table, record and name, and the CRC. ERR_FORMAT names the place. */
enum err gsym_check(const struct gsym *g, struct error *err);

/* Whether names or files are hidden in it (`__hidden#N_`), for want of their symbol map. */
bool gsym_hides_names(const struct gsym *g);

/* `address` is a lookup address (as the linker gave it). The number of frames, 0 when no function
 * covers it; `ret` has room for `max` frames. */
size_t gsym_lookup(const struct gsym *g, uint64_t address, struct gsym_frame *ret, size_t max);

/* The name for people; `out` holds GSYM_DISPLAY_MAX. Equals `name` where that is shown as it is. */
const char *gsym_frame_display(const struct gsym_frame *f, char out[GSYM_DISPLAY_MAX]);

/* "directory/base" as shown; `out` holds GSYM_PATH_MAX. NULL when the frame has no file. Pseudo
 * files like "<compiler-generated>" are never joined with a directory. */
const char *gsym_frame_file(const struct gsym_frame *f, char out[GSYM_PATH_MAX]);

#endif
