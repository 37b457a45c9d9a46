/*
 * replay_main - feeds files to a fuzz target, without a fuzzer.
 *
 * Without arguments the target's own committed inputs (tests/fuzz/corpus/NAME for fuzz_NAME, asked
 * from the top folder); else the files and folders that are named. Each input's name is printed
 * before it is tried, so that the last one is the culprit; the closing line is that of Check.
 */
#include <dirent.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/fuzz/fuzz.h"

#define INPUT_SECONDS_MAX 60 /* valgrind included */

static size_t tried;

static void try_input(const char *what, const uint8_t *data, size_t size)
{
    printf("%s\n", what);
    fflush(stdout);
    alarm(INPUT_SECONDS_MAX);
    LLVMFuzzerTestOneInput(data, size);
    alarm(0);
    tried++;
}

/* A copy of exactly the file's size, so that a read past its end is seen. */
static bool try_file(const char *path, size_t size)
{
    uint8_t *data = malloc(size ? size : 1);
    FILE *f = fopen(path, "rb");
    bool ok = data && f && fread(data, 1, size, f) == size;
    if (f)
        fclose(f);
    if (ok)
        try_input(path, data, size);
    else
        fprintf(stderr, "%s: cannot be read\n", path);
    free(data);
    return ok;
}

static bool try_path(const char *path);

static int is_entry(const struct dirent *e)
{
    return e->d_name[0] != '.';
}

static bool try_folder(const char *path)
{
    struct dirent **entries = NULL;
    bool ok = true;
    int n = scandir(path, &entries, is_entry, alphasort);
    for (int i = 0; i < n; i++) {
        char name[4096];
        snprintf(name, sizeof(name), "%s/%s", path, entries[i]->d_name);
        ok = try_path(name) && ok;
        free(entries[i]);
    }
    free(entries);
    return ok && n > 0;
}

static bool try_path(const char *path)
{
    struct stat st;
    if (stat(path, &st) != 0) {
        fprintf(stderr, "%s: there is no such file or folder\n", path);
        return false;
    }
    return S_ISDIR(st.st_mode) ? try_folder(path) : try_file(path, (size_t)st.st_size);
}

int main(int argc, char **argv)
{
    uint8_t nothing = 0;
    bool ok = true;
    if (argc < 2) {
        char own[4096];
        const char *slash = strrchr(argv[0], '/');
        const char *name = slash ? slash + 1 : argv[0];
        name += strncmp(name, "fuzz_", 5) == 0 ? 5 : 0;
        snprintf(own, sizeof(own), "tests/fuzz/corpus/%s", name);
        ok = try_path(own);
        try_input("(empty input)", &nothing, 0);
    }
    for (int i = 1; i < argc; i++)
        ok = try_path(argv[i]) && ok;
    if (!ok)
        fprintf(stderr, "inputs are missing\n");
    printf("Checks: %zu\n", tried);
    return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}
