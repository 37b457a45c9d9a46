/*
 * bench_demangle - Swift names a second, beside __cxa_demangle.
 *
 * Names of the Swift standard library (data/swift/stdlib.tsv; a table of our own without it) against
 * the C++ names that this process' libstdc++ exports, each Swift name paired with a C++ name of its
 * length. Rounds alternate and medians count. Prints the ratio of the two rates for each form, and
 * how far the most expensive name is from the mean per byte.
 */
#include <elf.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "symbolizer/demangle_swift.h"

char *__cxa_demangle(const char *name, char *out, size_t *size, int *status);

#define ROUNDS  9
#define REPEATS 5

struct names {
    char **list;
    size_t count;
    size_t capacity;
};

static void names_add(struct names *n, const char *name)
{
    if (n->count == n->capacity) {
        n->capacity = n->capacity ? n->capacity * 2 : 1024;
        n->list = realloc(n->list, n->capacity * sizeof(*n->list));
    }
    if (n->list)
        n->list[n->count++] = strdup(name);
}

static void names_done(struct names *n)
{
    for (size_t i = 0; i < n->count; i++)
        free(n->list[i]);
    free(n->list);
}

static int by_length(const void *a, const void *b)
{
    size_t la = strlen(*(char *const *)a);
    size_t lb = strlen(*(char *const *)b);
    return la < lb ? -1 : la > lb;
}

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* --- names -------------------------------------------------------------------------------------- */

static void load_swift(struct names *n)
{
    static const char *const own[] = {
        "$s4Shop4FeedC6reload5forceySb_tFySSXEfU_",
        "$s4Shop4FeedC5titleSSvg",
        "$s4Shop4FeedC5itemsSayAA4ItemVGvsTo",
        "$sxIeghHr_xs5Error_pIegHrzo_s8SendableRzs5NeverORs_r0_lTRTQ0_",
        "$s3red4testyAA3ResOyxSayq_GAEs5ErrorAAq_sAFHD1__HCg_GADyxq_GsAFR_r0_lF",
        "$s14swift_ide_test14myColorLiteral3red5green4blue5alphaAA0E0VSf_S3ftcfm",
        "_TFVFC15nested_generics7HotDogs11applyRelishFT_T_L_6RelishCfT8materialx_GS1_x_",
    };
    const char *data = getenv("STALLSYM_DATA");
    char path[512];
    snprintf(path, sizeof(path), "%s/swift/stdlib.tsv", data ? data : "../shared/data");
    FILE *f = fopen(path, "r");
    if (!f) {
        printf("demangle: no %s, using a table of %zu names\n", path, sizeof(own) / sizeof(own[0]));
        for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
            names_add(n, own[i]);
        return;
    }
    char *line = NULL;
    size_t capacity = 0;
    while (getline(&line, &capacity, f) > 0) {
        line[strcspn(line, "\t\n")] = 0;
        names_add(n, line);
    }
    free(line);
    fclose(f);
}

/* Where libstdc++ was loaded from. */
static bool find_libstdcxx(char *path, size_t size)
{
    FILE *f = fopen("/proc/self/maps", "r");
    char line[1024];
    bool found = false;
    while (f && !found && fgets(line, sizeof(line), f)) {
        const char *start = strchr(line, '/');
        if (!start || !strstr(start, "libstdc++"))
            continue;
        snprintf(path, size, "%.*s", (int)strcspn(start, "\n"), start);
        found = true;
    }
    if (f)
        fclose(f);
    return found;
}

static void add_dynamic_symbols(struct names *n, const char *elf)
{
    const Elf64_Ehdr *header = (const Elf64_Ehdr *)elf;
    const Elf64_Shdr *sections = (const Elf64_Shdr *)(elf + header->e_shoff);
    for (int i = 0; i < header->e_shnum; i++) {
        if (sections[i].sh_type != SHT_DYNSYM)
            continue;
        const Elf64_Sym *symbols = (const Elf64_Sym *)(elf + sections[i].sh_offset);
        const char *strings = elf + sections[sections[i].sh_link].sh_offset;
        for (size_t s = 0; s < sections[i].sh_size / sizeof(*symbols); s++) {
            const char *name = strings + symbols[s].st_name;
            if (!strncmp(name, "_Z", 2))
                names_add(n, name);
        }
    }
}

static void load_cxx(struct names *n)
{
    char path[1024];
    struct stat st;
    if (!find_libstdcxx(path, sizeof(path)))
        return;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0 && !fstat(fd, &st)) {
        char *elf = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (elf != MAP_FAILED) {
            add_dynamic_symbols(n, elf);
            munmap(elf, (size_t)st.st_size);
        }
    }
    if (fd >= 0)
        close(fd);
    if (n->count)
        qsort(n->list, n->count, sizeof(*n->list), by_length);
}

/* For each Swift name one of the C++ names of its length, as near as there is. */
static void pair(const struct names *swift, const struct names *cxx, struct names *ret)
{
    size_t turn = 0;
    for (size_t i = 0; i < swift->count; i++) {
        size_t want = strlen(swift->list[i]);
        size_t lo = 0;
        size_t hi = cxx->count;
        while (lo < hi) {
            size_t mid = (lo + hi) / 2;
            if (strlen(cxx->list[mid]) < want)
                lo = mid + 1;
            else
                hi = mid;
        }
        size_t same = 0;
        while (lo + same < cxx->count && strlen(cxx->list[lo + same]) == want)
            same++;
        if (same)
            lo += turn++ % same;
        names_add(ret, cxx->list[lo < cxx->count ? lo : cxx->count - 1]);
    }
}

/* --- measuring ------------------------------------------------------------------------------------ */

static uint64_t time_swift(const struct names *n, enum swift_form form)
{
    static char out[64 * 1024];
    uint64_t start = now_ns();
    for (size_t i = 0; i < n->count; i++)
        demangle_swift(n->list[i], form, out, sizeof(out));
    return now_ns() - start;
}

static uint64_t time_cxx(const struct names *n)
{
    char *out = malloc(256);
    size_t size = 256;
    uint64_t start = now_ns();
    for (size_t i = 0; i < n->count; i++) {
        int status;
        char *s = __cxa_demangle(n->list[i], out, &size, &status);
        if (s)
            out = s;
    }
    uint64_t ns = now_ns() - start;
    free(out);
    return ns;
}

static int by_value(const void *a, const void *b)
{
    uint64_t va = *(const uint64_t *)a;
    uint64_t vb = *(const uint64_t *)b;
    return va < vb ? -1 : va > vb;
}

static uint64_t median(uint64_t *v)
{
    qsort(v, ROUNDS, sizeof(*v), by_value);
    return v[ROUNDS / 2];
}

static size_t bytes_of(const struct names *n)
{
    size_t bytes = 0;
    for (size_t i = 0; i < n->count; i++)
        bytes += strlen(n->list[i]);
    return bytes;
}

static void rates(const struct names *swift, const struct names *cxx)
{
    static const char *const forms[] = {"full", "simplified", "key"};
    for (int form = SWIFT_FULL; form <= SWIFT_KEY; form++) {
        uint64_t a[ROUNDS];
        uint64_t b[ROUNDS];
        for (int r = 0; r < ROUNDS; r++) {
            a[r] = time_swift(swift, (enum swift_form)form);
            b[r] = time_cxx(cxx);
        }
        double ra = (double)swift->count * 1e9 / (double)median(a);
        double rb = (double)cxx->count * 1e9 / (double)median(b);
        printf("demangle swift %-10s %9.0f names/s, __cxa_demangle %9.0f: ratio %.2f (goal 0.5)\n",
               forms[form], ra, rb, ra / rb);
    }
}

static void worst(const struct names *n)
{
    static char out[64 * 1024];
    double sum = 0;
    double most = 0;
    const char *which = "";
    for (size_t i = 0; i < n->count; i++) {
        uint64_t best = UINT64_MAX;
        for (int r = 0; r < REPEATS; r++) {
            uint64_t start = now_ns();
            demangle_swift(n->list[i], SWIFT_FULL, out, sizeof(out));
            uint64_t ns = now_ns() - start;
            best = ns < best ? ns : best;
        }
        sum += (double)best;
        double per_byte = (double)best / (double)strlen(n->list[i]);
        if (per_byte > most) {
            most = per_byte;
            which = n->list[i];
        }
    }
    double mean = sum / (double)bytes_of(n);
    printf("demangle swift mean %.1f ns a byte, worst %.1f: ratio %.1f (goal below 50)\n", mean,
           most, most / mean);
    printf("demangle swift worst: %s\n", which);
}

int main(void)
{
    struct names swift = {NULL, 0, 0};
    struct names cxx = {NULL, 0, 0};
    struct names paired = {NULL, 0, 0};
    load_swift(&swift);
    load_cxx(&cxx);
    if (!swift.count || !cxx.count) {
        printf("demangle: skipped, no names to compare\n");
        return 0;
    }
    pair(&swift, &cxx, &paired);
    printf("demangle: %zu names, Swift %zu bytes, C++ %zu bytes\n", swift.count, bytes_of(&swift),
           bytes_of(&paired));
    rates(&swift, &paired);
    worst(&swift);
    names_done(&swift);
    names_done(&cxx);
    names_done(&paired);
    return 0;
}
