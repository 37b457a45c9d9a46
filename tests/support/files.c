#include "tests/support/files.h"

#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

bool map_file(const char *path, struct mapped *ret)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    void *map = MAP_FAILED;
    if (fstat(fd, &st) == 0 && st.st_size > 0)
        map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    close(fd);
    if (map == MAP_FAILED)
        return false;
    *ret = (struct mapped){map, (size_t)st.st_size};
    return true;
}

void unmap_file(struct mapped *m)
{
    if (m->data)
        munmap((void *)(uintptr_t)m->data, m->size);
    m->data = NULL;
}

const char *scratch_make(char *out, size_t size)
{
    const char *tmp = getenv("TMPDIR");
    snprintf(out, size, "%s/stallsym-test-XXXXXX", tmp ? tmp : "/tmp");
    if (!mkdtemp(out))
        abort();
    return out;
}

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *walk)
{
    (void)st;
    (void)kind;
    (void)walk;
    return remove(path);
}

void scratch_remove(const char *path)
{
    nftw(path, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

void write_file(const char *path, const void *data, size_t len)
{
    FILE *f = fopen(path, "wb");
    if (!f || fwrite(data, 1, len, f) != len || fclose(f) != 0)
        abort();
}

size_t count_files(const char *path)
{
    size_t n = 0;
    DIR *dir = opendir(path);
    if (!dir)
        return 0;
    for (const struct dirent *e = readdir(dir); e; e = readdir(dir))
        n += strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0;
    closedir(dir);
    return n;
}

static const char *if_present(const char *out)
{
    if (access(out, R_OK) == 0)
        return out;
    printf("skipped: no %s\n", out);
    return NULL;
}

const char *shared_data(const char *name, char *out, size_t size)
{
    const char *root = getenv("STALLSYM_DATA");
    snprintf(out, size, "%s/%s", root ? root : "../shared/data", name);
    return if_present(out);
}

const char *shared_bugcase(const char *name, char *out, size_t size)
{
    const char *root = getenv("STALLSYM_BUGCASES");
    snprintf(out, size, "%s/%s", root ? root : "../shared/research/bugcases", name);
    return if_present(out);
}
