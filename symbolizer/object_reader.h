/*
 * object_reader - what a file format gives to object.c.
 *
 * Purpose: macho.c and elf.c stand behind one table each; object.c owns what they have in common
 * (which format, order of ranges and symbols). Nobody else includes this.
 *
 * Invariants: a reader checks every claim of a header against `size` before it believes it.
 * `code` and `symbols` may be unordered and hold duplicates; object.c puts them in order.
 *
 * Threads: after open everything is read-only. Memory: `ret` of open belongs to the caller, who
 * gives it to close; everything else points into it, the file's bytes or the arena.
 */
#ifndef STALLSYM_SYMBOLIZER_OBJECT_READER_H
#define STALLSYM_SYMBOLIZER_OBJECT_READER_H

#include "symbolizer/object.h"

/* More function symbols than any real image has; 32 bytes each while they are sorted. */
#define OBJECT_SYMBOLS_MAX ((size_t)1 << 24)

struct object_reader {
    bool (*recognize)(const void *data, uint64_t size);
    enum err (*slices)(const void *data, uint64_t size, struct object_slice *ret, size_t *ret_count,
                       struct error *ret_problem, struct error *err);
    enum err (*open)(const void *data, uint64_t size, struct object_info *ret_info, void **ret,
                     struct error *err);
    void (*close)(void *reader);
    /* Of formats that hide names; else NULL. */
    void (*set_map)(void *reader, struct symbol_map *map);
    bool (*section)(const void *reader, const char *name, struct cursor *ret);
    const struct object_range *(*code)(const void *reader, size_t *ret_count);
    enum err (*symbols)(const void *reader, struct arena *arena, struct object_symbol **ret,
                        size_t *ret_count, struct error *err);
};

#endif
