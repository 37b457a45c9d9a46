/*
 * debug_info_model - what a debug_info is made of.
 *
 * Purpose: shared by those who fill a debug_info (dwarf_walk, debug_info, symtab_fill) and the one
 * who reads it (gsym_write). Nobody else includes it.
 *
 * Invariants: what a unit read stays with the unit, in the unit's own numbers of names and files;
 * `name_ids` and `file_ids` turn those into entries of the whole, and are filled only for what a
 * surviving function uses. Inlined calls of a function stand in the order of a walk from the
 * outside in (preorder), `depth` 1 being inlined into the function itself. Ranges of a call are
 * sorted, apart from each other, and inside those of the call around it.
 *
 * Threads: one unit per thread while filling. Memory: debug_unit_done, debug_info_free.
 */
#ifndef STALLSYM_SYMBOLIZER_DEBUG_INFO_MODEL_H
#define STALLSYM_SYMBOLIZER_DEBUG_INFO_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "symbolizer/debug_info.h"
#include "symbolizer/dwarf_lines.h"
#include "symbolizer/object.h"
#include "symbolizer/string_table.h"

#define DEBUG_NO_UNIT UINT32_MAX
#define DEBUG_NO_FILE UINT32_MAX
/* Inlined calls nested deeper than this are left out. */
#define DEBUG_INLINE_DEPTH_MAX 512
/* Shown for an inlined call whose name cannot be found. */
#define DEBUG_UNKNOWN_NAME "??"

struct debug_inline {
    uint32_t name;      /* of the unit's names */
    uint32_t call_file; /* of the unit's files, DEBUG_NO_FILE: not given */
    uint32_t call_line;
    uint32_t depth;
    size_t first_range;
    uint32_t range_count;
};

/* A name of the unit. */
struct debug_name {
    const char *text;
    bool local;
    bool wants_symbol; /* has no linkage name though its language has them */
};

/* A function, or one of its ranges. */
struct debug_part {
    uint64_t start;
    uint64_t end;
    uint32_t name; /* 0: not known */
    size_t first_inline;
    size_t inline_count;
};

struct debug_unit {
    struct debug_part *parts; /* by start */
    size_t part_count, part_cap;
    struct debug_inline *inlines;
    size_t inline_count, inline_cap;
    struct object_range *ranges;
    size_t range_count, range_cap;
    struct debug_name *names; /* names[0] is none */
    size_t name_count, name_cap;
    struct dwarf_lines lines;
    struct object_range *orphans; /* code that has rows and no function */
    size_t orphan_count, orphan_cap;
    struct arena texts;
    const char *comp_dir; /* NULL: not known */
    const char *damage;   /* why the unit, or a piece of it, was given up */
    uint32_t *name_ids;   /* entry of the string table, 0: not asked for yet */
    uint32_t *file_ids;   /* 1 + file of the whole, 0: not asked for yet */
    uint32_t *dir_ids;    /* 1 + entry of the string table */
};

struct debug_function {
    uint64_t start;
    uint64_t end;
    uint32_t name; /* entry of the string table */
    uint32_t unit; /* DEBUG_NO_UNIT: only the symbol table knows it */
    uint32_t file; /* of the whole; where no row says one: from the symbol table. 0: none */
    size_t first_row;
    size_t row_count;
    size_t first_inline;
    size_t inline_count;
};

/* A file as the index has it: entries of the string table, 0 being "". */
struct debug_file {
    uint32_t directory;
    uint32_t base;
    uint32_t uses;
    uint32_t
        place; /* its number in the index: the more used the smaller, see debug_files_settle() */
};

struct debug_info {
    struct debug_unit *units;
    size_t unit_count;
    struct debug_function *functions;
    size_t function_count, function_cap;
    struct string_table strings;
    struct debug_file *files; /* files[0] is none */
    size_t file_count, file_cap;
    uint32_t *file_order; /* the files by their places */
    uint32_t *file_slots; /* hash table over files, see debug_files.c */
    size_t file_slot_count;
    struct arena symbol_texts;
    struct debug_info_counts counts;
};

/* Names that mean one thing in a program, whatever file they stand in, though they are not
 * external: Objective-C methods and their blocks, Swift, Rust. */
bool debug_name_is_unique(const char *name);

void debug_unit_done(struct debug_unit *u);

/* The file of the whole for the unit's file number, added if it is new; 0: none. False: no memory. */
bool debug_file_id(struct debug_info *d, struct debug_unit *u, uint32_t number, uint32_t *ret);
/* The same for a file that a symbol table names. */
bool debug_file_named(struct debug_info *d, const char *name, uint32_t *ret);
/* Gives out the places, when all uses are counted. False: no memory. */
bool debug_files_settle(struct debug_info *d);

#endif
