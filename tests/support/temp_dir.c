#include "tests/support/temp_dir.h"

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static _Thread_local size_t files_seen;

char *temp_dir_new(void)
{
    const char *base = getenv("TMPDIR");
    char path[512];
    snprintf(path, sizeof(path), "%s/stallsym-test-XXXXXX", base && *base ? base : "/tmp");
    char *made = mkdtemp(path);
    if (!made) {
        fprintf(stderr, "cannot make %s: %s\n", path, strerror(errno));
        exit(EXIT_FAILURE);
    }
    return strdup(made);
}

static int remove_entry(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
    (void)st;
    (void)flag;
    (void)ftw;
    return remove(path);
}

static int count_entry(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
    (void)path;
    (void)st;
    (void)ftw;
    files_seen += flag == FTW_F;
    return 0;
}

void temp_dir_free(char *path)
{
    if (!path)
        return;
    (void)nftw(path, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
    free(path);
}

size_t temp_dir_count(const char *path)
{
    files_seen = 0;
    (void)nftw(path, count_entry, 16, FTW_PHYS);
    return files_seen;
}
