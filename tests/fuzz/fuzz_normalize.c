/*
 * fuzz_normalize - any bytes are a function name.
 *
 * What must hold: the key form fits, is no longer than the name and its slack, is its own key form,
 * and is cut for a small buffer as it is for a large one.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/analysis/normalize.h"

#define NAME_MAX_BYTES 2048

static void require(int ok, const char *what, const char *name, const char *key)
{
    if (ok)
        return;
    fprintf(stderr, "%s: %s\n%s\n", what, name, key);
    abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char key[KEY_NAME_MAX];
    char again[KEY_NAME_MAX];
    char small[24];
    if (size > NAME_MAX_BYTES)
        return 0;
    char *name = malloc(size + 1);
    if (!name)
        return 0;
    memcpy(name, data, size);
    name[size] = 0;
    size_t n = normalize_function(name, NULL, 0, key, sizeof(key));
    require(n == strlen(key), "wrong length", name, key);
    require(n <= strlen(name) + KEY_NAME_SLACK, "longer than the name", name, key);
    normalize_function(key, NULL, 0, again, sizeof(again));
    require(n + 1 == sizeof(key) || strcmp(key, again) == 0, "not its own form", key, again);
    n = normalize_function(name, "dir/file.c", 1, key, sizeof(key));
    require(n == strlen(key), "wrong length with a file", name, key);
    normalize_function(name, "dir/file.c", 1, small, sizeof(small));
    require(strncmp(key, small, sizeof(small) - 1) == 0, "cut differently", key, small);
    free(name);
    return 0;
}
