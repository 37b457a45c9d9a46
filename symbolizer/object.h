/*
 * object - one view over Mach-O and ELF object files: what the rest of the library sees.
 *
 * Purpose: an object file (dSYM companion, executable, dylib, ELF .debug) is opened from mapped
 * bytes; each architecture slice of a universal file is an object of its own, known by its UUID.
 *
 * Invariants: nothing a header says is believed before it was checked against the file's size
 * (Mach-O: <mach-o/loader.h>, <mach-o/fat.h> as described in Apple's Mach-O reference; ELF: gABI).
 * Sections are found under their ELF names (".debug_info"), whatever the format calls them.
 * Addresses are as the linker gave them; `text_vmaddr` is the address of __TEXT (ELF: of the first
 * executable PT_LOAD's image base), offsets elsewhere count from it.
 *
 * Threads: an object is read-only after object_open and may be shared. Memory: sections point into
 * the caller's bytes (decompressed ELF sections: owned by the object); object_close frees.
 */
#ifndef STALLSYM_SYMBOLIZER_OBJECT_H
#define STALLSYM_SYMBOLIZER_OBJECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/bytes.h"
#include "base/error.h"
#include "base/uuid.h"
#include "symbolizer/symbol_map.h"

#define OBJECT_ARCH_SIZE    16
#define OBJECT_BUILD_ID_MAX 64
#define OBJECT_SLICES_MAX   64
#define OBJECT_NAME_SIZE    256

enum object_format { OBJECT_MACHO, OBJECT_ELF };

/* What kind of file it is, for messages and for "richer replaces poorer". */
enum object_type { OBJECT_EXECUTABLE, OBJECT_DYLIB, OBJECT_DSYM, OBJECT_DEBUG, OBJECT_OTHER };

struct object_info {
    enum object_format format;
    enum object_type type;
    struct uuid uuid;                      /* never nil in an object that object_open accepted */
    uint8_t build_id[OBJECT_BUILD_ID_MAX]; /* ELF: the whole build-id */
    size_t build_id_len;
    char arch[OBJECT_ARCH_SIZE]; /* "arm64e", "x86_64", … ; ELF: "x86_64", "aarch64", … */
    char name[OBJECT_NAME_SIZE]; /* LC_ID_DYLIB's or DT_SONAME's base name; "" when it has none */
    uint8_t address_size;        /* 4 or 8 */
    bool swap;                   /* file's byte order is not the host's */
    bool has_dwarf;              /* there is a non-empty .debug_info */
    bool thumb;                  /* 32-bit ARM: bit 0 of code addresses is a mode bit */
    uint64_t text_vmaddr;
    uint64_t text_size;
};

/* A part of the address space that holds code: [start, end). */
struct object_range {
    uint64_t start;
    uint64_t end;
};

/* A function symbol; data, undefined, absolute and debugging (N_STAB) symbols are left out. */
struct object_symbol {
    uint64_t address; /* thumb bit cleared */
    uint64_t size;    /* 0: not known (Mach-O) */
    const char *name; /* as in the symbol table, without Mach-O's leading underscore; "" where only
                         LC_FUNCTION_STARTS knows of it */
    bool external;
    const char *file; /* source file of a symbol that is not external (ELF's STT_FILE), or NULL */
    uint32_t place;   /* in the symbol table: of aliases linkers and tools prefer the last */
};

/* Where the slices of a file are; a thin file is one slice. */
struct object_slice {
    uint64_t offset;
    uint64_t size;
};

struct object;

/* True when the first bytes look like an object file (thin or universal Mach-O, ELF). Never true
 * for a Java class file, though it shares a magic number with universal binaries. */
bool object_recognize(const void *data, uint64_t size);

/* Splits a file. Slices that lie outside the file or on the universal header are left out and
 * named in `ret_problem` (at most one line; "" when all is well). ERR_FORMAT when none is left. */
enum err object_slices(const void *data, uint64_t size, struct object_slice *ret, size_t *ret_count,
                       struct error *ret_problem, struct error *err);

/* Opens one slice. ERR_FORMAT: damaged; ERR_UNSUPPORTED: MH_OBJECT ("object file, not a dSYM") and
 * the like; ERR_INVALID: no LC_UUID / build-id, or it is zero. */
enum err object_open(const void *data, uint64_t size, struct object **ret, struct error *err);
void object_close(struct object *o);

const struct object_info *object_info(const struct object *o);

/* Bytes of the section with that ELF name (".debug_str_offsets"); false when there is none or it is
 * empty. Compressed sections are given decompressed. */
bool object_section(const struct object *o, const char *name, struct cursor *ret);

/* The bytes are a private mapping of a file that nobody writes to: pages may be given up. */
void object_set_mapped(struct object *o);
/* The section is not needed for now; asked for once more it is read from the file again. */
void object_release(const struct object *o, const char *name);

/* Hidden names (`__hidden#N_`) are read as this map has them, in DWARF and in the symbol table; the
 * map stays the caller's. NULL: as they are. Before the object is read. */
void object_set_symbol_map(struct object *o, struct symbol_map *map);
struct symbol_map *object_symbol_map(const struct object *o);

/* Executable sections, ascending, disjoint. */
const struct object_range *object_code(const struct object *o, size_t *ret_count);

/* Function symbols sorted by address, then name (all aliases kept), LC_FUNCTION_STARTS merged in as
 * nameless ones where no symbol is. Names live in the object or the arena. */
enum err object_symbols(const struct object *o, struct arena *arena,
                        const struct object_symbol **ret, size_t *ret_count, struct error *err);

#endif
