/*
 * temp_dir - a folder of a test's own.
 *
 * Purpose: temp_dir_new() makes a fresh folder under $TMPDIR (or /tmp); temp_dir_free() removes it
 * with all that is inside.
 *
 * Threads: any. Memory: the path is freed by temp_dir_free().
 */
#ifndef STALLSYM_TESTS_TEMP_DIR_H
#define STALLSYM_TESTS_TEMP_DIR_H

#include <stddef.h>

char *temp_dir_new(void);
void temp_dir_free(char *path);
/* Regular files below it. */
size_t temp_dir_count(const char *path);

#endif
