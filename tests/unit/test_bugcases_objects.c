/* The bug cases B10, B18, B22 and B25, as far as an upload goes, through symbol_index_build. */
#include <inttypes.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "symbolizer/symbol_index.h"
#include "tests/support/files.h"
#include "tests/support/unit.h"

#define FEED "4C4C44DC-5555-3144-A100-C10E3A4B6D1E"
#define PLUG "4C4C4488-5555-3144-A192-B4B385B8C330"

struct seen {
    char indexed[512]; /* "UUID arch;…" */
    char refused[512]; /* "reason;…" */
    size_t count;
    uint64_t functions;
    uint64_t lines;
};

static void keep(void *ctx, const struct slice_report *r)
{
    struct seen *s = ctx;
    char uuid[UUID_TEXT_SIZE];
    s->count++;
    s->functions += r->functions;
    s->lines += r->lines;
    if (r->state == SLICE_INDEXED) {
        size_t len = strlen(s->indexed);
        snprintf(s->indexed + len, sizeof(s->indexed) - len, "%s %s;", uuid_format(&r->uuid, uuid),
                 r->arch);
    } else {
        size_t len = strlen(s->refused);
        snprintf(s->refused + len, sizeof(s->refused) - len, "%s;", r->reason);
    }
}

static enum err index_case(const char *path, struct seen *seen, struct error *err)
{
    char out[64];
    memset(seen, 0, sizeof(*seen));
    *err = (struct error){.code = ERR_OK};
    const struct symbol_index_options options = {
        .out_dir = scratch_make(out, sizeof(out)),
        .limits = ARCHIVE_LIMITS_DEFAULT,
        .keep_objects = true,
    };
    struct symbol_index_totals totals;
    enum err e = symbol_index_build(path, &options, keep, seen, &totals, err);
    scratch_remove(out);
    return e;
}

struct expect {
    const char *file;
    enum err code;
    const char *indexed;
    const char *refused; /* the beginning */
};

static void ck_cases(const char *folder, const struct expect *rows, size_t count)
{
    char name[256], path[1024];
    for (size_t i = 0; i < count; i++) {
        struct seen seen;
        struct error err;
        snprintf(name, sizeof(name), "%s/%s", folder, rows[i].file);
        if (!shared_bugcase(name, path, sizeof(path)))
            continue;
        enum err e = index_case(path, &seen, &err);
        ck_assert_msg(e == rows[i].code, "%s: %d \"%s\"", name, e, err.text);
        if (e == ERR_OK)
            ck_assert_msg(strcmp(seen.indexed, rows[i].indexed) == 0, "%s: \"%s\"", name,
                          seen.indexed);
        ck_assert_msg(strncmp(seen.refused, rows[i].refused, strlen(rows[i].refused)) == 0,
                      "%s: \"%s\"", name, seen.refused);
    }
}

#define CASES(folder, rows) ck_cases(folder, rows, sizeof(rows) / sizeof((rows)[0]))

START_TEST(b10_universal_files)
{
#define ARM64  "4C4C4495-5555-3144-A127-A1B42B5541AC arm64;"
#define ARM64E "4C4C44B3-5555-3144-A116-BCE44807D4E1 arm64e;"
#define X86_64 "4C4C44B1-5555-3144-A1D9-74D6D0EA1070 x86_64;"
    static const struct expect rows[] = {
        {"fat32", ERR_OK, ARM64 ARM64E X86_64, ""},
        {"fat64", ERR_OK, ARM64 ARM64E X86_64, ""},
        {"fat64_slice_at_0", ERR_OK, ARM64E X86_64, "slice 0 of 3 lies on the universal header"},
        {"fat64_slice_too_big", ERR_OK, ARM64E X86_64, "slice 0 of 3 ends past the end"},
        {"fat64_nfat_huge", ERR_FORMAT, "", "the universal header says 4294967295 slices"},
        {"javaclass", ERR_FORMAT, "", ""},
    };
    CASES("B10", rows);
}
END_TEST

START_TEST(b18_zips)
{
    static const struct expect rows[] = {
        {"macos.zip", ERR_OK, FEED " arm64;" PLUG " arm64;", ""},
        {"two_in_one_bundle.zip", ERR_OK, FEED " arm64;" PLUG " arm64;", ""},
        {"bare_file.zip", ERR_OK, FEED " arm64;", ""},
        {"slip.zip", ERR_OK, FEED " arm64;", ""},
        {"symlink.zip", ERR_OK, FEED " arm64;", ""},
        {"bomb_ratio.zip", ERR_NOT_FOUND, "", ""},
        {"lying_size.zip", ERR_NOT_FOUND, "", ""},
        {"overlap.zip", ERR_OK, FEED " arm64;", ""},
        {"streamed.zip", ERR_OK, FEED " arm64;", ""},
        {"zip64.zip", ERR_OK, FEED " arm64;", ""},
        {"truncated.zip", ERR_FORMAT, "", ""},
        {"not_a_zip.zip", ERR_FORMAT, "", ""},
        {"empty.zip", ERR_NOT_FOUND, "", ""},
        {"no_symbols.zip", ERR_NOT_FOUND, "", ""},
        {"bad_crc.zip", ERR_FORMAT, "", ""},
    };
    CASES("B18", rows);
    ck_assert_int_ne(access("/tmp/slip_b18_link", F_OK), 0);
    ck_assert_int_ne(access("/tmp/slip_b18", F_OK), 0);
}
END_TEST

START_TEST(b25_uuids)
{
    static const struct expect rows[] = {
        {"no_uuid", ERR_INVALID, "", "no LC_UUID;"},
        {"zero_uuid", ERR_INVALID, "", "LC_UUID is zero;"},
        {"two_uuids", ERR_OK, FEED " arm64;", ""},
        {"mixed.zip", ERR_OK, FEED " arm64;", "no LC_UUID;LC_UUID is zero;"},
    };
    CASES("B25", rows);
}
END_TEST

/* Rings and bad lengths in DWARF: quick, small, and the function is there in any case. */
START_TEST(b22_damaged_dwarf)
{
    static const char *const files[] = {
        "ok_control",      "self_ref",       "two_cycle",     "ref_past_cu",  "ref_mid_die",
        "ref_to_cu_die",   "abbrev_off_bad", "abbrev_no_end", "cu_len_huge",  "cu_len_zero",
        "cu_len_reserved", "cu_version_99",  "addr_size_0",   "line_range_0", "opcode_base_0",
        "line_len_huge",   "stmt_list_bad",  "high_pc_wrap",  "name_off_bad",
    };
    char name[256], path[1024];
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        struct seen seen;
        struct error err;
        struct timespec before, after;
        snprintf(name, sizeof(name), "B22/%s", files[i]);
        if (!shared_bugcase(name, path, sizeof(path)))
            continue;
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &before);
        ck_assert_msg(index_case(path, &seen, &err) == ERR_OK, "%s: %s", name, err.text);
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &after);
        ck_assert_int_le(after.tv_sec - before.tv_sec, 1);
        ck_assert_msg(seen.functions == 1, "%s: %" PRIu64 " functions", name, seen.functions);
    }
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    ck_assert_int_lt(usage.ru_maxrss, 50 << 10);
#endif
}
END_TEST

UNIT_MAIN("bugcases_objects", b10_universal_files, b18_zips, b25_uuids, b22_damaged_dwarf)
