/*
 * symbol_map - the names behind `__hidden#N_`: one .bcsymbolmap.
 *
 * Purpose: the store compiled bitcode anew and hid the names of functions and the paths of files;
 * the map that the app's own build left says what number N was. A text file: a line with the
 * version, then one line for each number, from 0. In version 1.0 names of symbols lack the
 * underscore that the Mach-O symbol table puts in front; those with a \1 in front are complete.
 *
 * Invariants: a map is UTF-8, at most SYMBOL_MAP_BYTES_MAX bytes and SYMBOL_MAP_NAMES_MAX names; what
 * is wrong is said with its line. A number that the map does not have stays hidden and is counted.
 *
 * Threads: read-only after it was opened, but for the count. Memory: symbol_map_free; texts live as
 * long as the map.
 */
#ifndef STALLSYM_SYMBOLIZER_SYMBOL_MAP_H
#define STALLSYM_SYMBOLIZER_SYMBOL_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

#define SYMBOL_MAP_BYTES_MAX ((size_t)256 << 20)
#define SYMBOL_MAP_NAMES_MAX ((size_t)1 << 24)
#define SYMBOL_MAP_HEAD      64 /* bytes by which a map is known */
/* What a map without its name is told. */
#define SYMBOL_MAP_ALONE                                                                           \
    "a symbol map does not say whose it is but by its name: put UUID.bcsymbolmap into a zip"

struct symbol_map;

/* True when the first bytes are a map's, of whatever version. */
bool symbol_map_recognize(const void *head, size_t len);
/* ERR_FORMAT no map, or damaged; ERR_UNSUPPORTED its version; ERR_LIMIT too large. */
enum err symbol_map_open(const char *path, struct symbol_map **ret, struct error *err);
/* The same over bytes, which are copied. */
enum err symbol_map_parse(const void *data, size_t size, struct symbol_map **ret,
                          struct error *err);
void symbol_map_free(struct symbol_map *m);
size_t symbol_map_count(const struct symbol_map *m);

/* `__hidden#N_`; of a Mach-O symbol also with one more underscore in front. */
bool symbol_map_is_hidden(const char *name);
/* A name or path of DWARF: the one behind it, else the text itself. `m` may be NULL. */
const char *symbol_map_name(const struct symbol_map *m, const char *text);
/* A name of the symbol table as it stands there, hidden or not: without Mach-O's underscore. */
const char *symbol_map_symbol(const struct symbol_map *m, const char *text);

#endif
