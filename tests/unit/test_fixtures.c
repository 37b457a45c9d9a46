/* Symbol files built by tests/fixtures/build.sh; what is expected stands in their source text. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "symbolizer/dwarf_full.h"
#include "symbolizer/gsym_format.h"
#include "tests/support/index_of.h"
#include "tests/support/unit.h"

#define DWARF "/Contents/Resources/DWARF/"

/* Where fixtures lie: $STALLSYM_FIXTURES, else beside this program (BUILD/unit/test_fixtures). */
static bool fixture(const char *name, char *out, size_t size)
{
    const char *folder = getenv("STALLSYM_FIXTURES");
    char self[512];
    if (folder) {
        snprintf(out, size, "%s/%s", folder, name);
    } else {
        ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
        ck_assert_int_gt(n, 0);
        self[n] = 0;
        *strrchr(self, '/') = 0;
        snprintf(out, size, "%s/../fixtures/%s", self, name);
    }
    if (access(out, R_OK) == 0)
        return true;
    printf("skipped: no fixture %s (make fixtures)\n", name);
    return false;
}

struct expected {
    const char *answer;
    bool whether;
};

static void expect_all(const char *name, size_t slice, const struct expected *list, size_t count)
{
    char path[1024];
    struct index_of i;
    if (!fixture(name, path, sizeof(path)))
        return;
    ck_assert_msg(index_file(path, slice, NULL, &i), "%s", i.error.text);
    uint64_t base = gsym_info(i.gsym)->text_vmaddr;
    for (size_t k = 0; k < count; k++)
        ck_assert_msg(index_has_answer(&i, base, base + 0x20000, list[k].answer) == list[k].whether,
                      "%s: %s %s", name, list[k].whether ? "missing" : "wrong", list[k].answer);
    index_of_done(&i);
}

static const struct expected basic[] = {
    /* inlines over three files: each outer line is the next inner one's call line */
    {"deep inl_deep.h:7 <- mid inl_mid.h:5 <- outer inl_app.c:5", true},
    {"deep inl_deep.h:6 <- mid inl_mid.h:5 <- outer inl_app.c:5", true},
    {"outer inl_app.c:6", true},
    {"outer inl_deep.h:7", false},
    /* static functions of one name in two files are two */
    {"tick twin_a.c:5", true},
    {"tick twin_b.c:6", true},
    {"run_b twin_a.c:9", false},
    /* code behind the hot path belongs to one call or the other */
    {"check cold.c:7 <- two_checks cold.c:15", true},
    {"check cold.c:7 <- two_checks cold.c:17", true},
    {"check cold.c:6 <- two_checks cold.c:15", true},
    /* a call that does not return is the last of its function */
    {"enter_stall noreturn.c:7", true},
    {"innocent_neighbour noreturn.c:12", true},
    /* line tables only: linkage names from the symbol table */
    {"_ZN3net6ClientC2Ei gmlt.cc:14", true},
    {"_ZN3net6ClientD2Ev gmlt.cc:19", true},
    {"twice gmlt.cc:24 <- _ZN3net6Client4pollEi gmlt.cc:30", true},
    {"poll gmlt.cc:30", false},
    /* no debugging information at all */
    {"report :0", true},
    {"park_forever :0", true},
};

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

START_TEST(arm64)
{
    expect_all("basic.dylib.dSYM" DWARF "basic.dylib", 0, basic, COUNT(basic));
}
END_TEST

START_TEST(x86_64)
{
    expect_all("x86_64/basic.dylib.dSYM" DWARF "basic.dylib", 0, basic, COUNT(basic));
}
END_TEST

START_TEST(both_slices_of_a_universal_file)
{
    expect_all("fat.dSYM" DWARF "fat", 0, basic, COUNT(basic));
    expect_all("fat.dSYM" DWARF "fat", 1, basic, COUNT(basic));
}
END_TEST

START_TEST(dwarf_5)
{
    expect_all("v5.dylib.dSYM" DWARF "v5.dylib", 0, basic, COUNT(basic));
}
END_TEST

START_TEST(names_over_units)
{
    static const struct expected list[] = {
        {"checksum lto_a.c:5 <- render lto_b.c:7", true},
        {"checksum lto_a.c:6 <- render lto_b.c:7", true},
        {"render lto_b.c:8", true},
        {"deep inl_deep.h:7 <- mid inl_mid.h:5 <- outer inl_app.c:5", true},
    };
    expect_all("lto.dylib.dSYM" DWARF "lto.dylib", 0, list, COUNT(list));
}
END_TEST

/* Dead code keeps its DIEs, at address 0 or ~0. */
static const struct expected dead[] = {
    {"run_b twin_b.c:11", true}, {"tick twin_a.c:5", true},    {"tick twin_b.c:6", true},
    {"run_a twin_a.c:11", true}, {"outer inl_app.c:6", false}, {"two_checks cold.c:18", false},
};

START_TEST(elf_and_dead_functions)
{
    expect_all("elf-v4", 0, dead, COUNT(dead));
    expect_all("elf-v5", 0, dead, COUNT(dead));
}
END_TEST

static const char *const all[] = {
    "basic.dylib.dSYM" DWARF "basic.dylib",
    "x86_64/basic.dylib.dSYM" DWARF "basic.dylib",
    "fat.dSYM" DWARF "fat",
    "v5.dylib.dSYM" DWARF "v5.dylib",
    "lto.dylib.dSYM" DWARF "lto.dylib",
    "elf-v4",
    "elf-v5",
    "basic.dylib",
};

START_TEST(same_bytes_for_any_number_of_workers)
{
    char path[1024];
    struct parallel_for *two = parallel_new(2), *five = parallel_new(5);
    for (size_t i = 0; i < COUNT(all); i++) {
        struct index_of a, b, c;
        struct mapped x, y, z;
        if (!fixture(all[i], path, sizeof(path)))
            continue;
        ck_assert(index_file(path, 0, NULL, &a) && index_file(path, 0, two, &b));
        ck_assert(index_file(path, 0, five, &c));
        ck_assert(index_bytes(&a, &x) && index_bytes(&b, &y) && index_bytes(&c, &z));
        ck_assert_uint_eq(x.size, y.size);
        ck_assert_uint_eq(x.size, z.size);
        ck_assert(memcmp(x.data, y.data, x.size) == 0 && memcmp(x.data, z.data, x.size) == 0);
        unmap_file(&x);
        unmap_file(&y);
        unmap_file(&z);
        index_of_done(&a);
        index_of_done(&b);
        index_of_done(&c);
    }
    parallel_free(two);
    parallel_free(five);
}
END_TEST

UNIT_MAIN("fixtures", arm64, x86_64, both_slices_of_a_universal_file, dwarf_5, names_over_units,
          elf_and_dead_functions, same_bytes_for_any_number_of_workers)
