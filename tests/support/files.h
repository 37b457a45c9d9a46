/*
 * files - folders and mapped files for the tests.
 *
 * Purpose: a scratch folder that goes away, a file mapped as the product maps it, the shared data
 * where it is present.
 *
 * Threads: one. Memory: unmap_file, scratch_remove.
 */
#ifndef STALLSYM_TESTS_FILES_H
#define STALLSYM_TESTS_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mapped {
    const uint8_t *data;
    size_t size;
};

/* Reads only. False when there is no such file. */
bool map_file(const char *path, struct mapped *ret);
void unmap_file(struct mapped *m);

/* A new folder; its path in `out` (at least 64 bytes). Aborts without. */
const char *scratch_make(char *out, size_t size);
/* The folder with everything in it. */
void scratch_remove(const char *path);
void write_file(const char *path, const void *data, size_t len);
/* How many entries a folder has. */
size_t count_files(const char *path);

/* "$STALLSYM_DATA" or "../shared/data", then "/" and `name`; NULL, saying so, when it is absent. */
const char *shared_data(const char *name, char *out, size_t size);
/* The same for a folder of bug cases, "../shared/research/bugcases/" and `name`. */
const char *shared_bugcase(const char *name, char *out, size_t size);

#endif
