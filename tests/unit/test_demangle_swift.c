#include "symbolizer/demangle_swift.h"

#include <stdio.h>
#include <string.h>

#include "tests/support/swift_cases.h"
#include "tests/support/unit.h"

/* The answers of Apple's own tool, where the data is: name, full, simplified on a line. */
static void check_file(const char *file)
{
    const char *data = getenv("STALLSYM_DATA");
    char path[512];
    snprintf(path, sizeof(path), "%s/swift/%s", data ? data : "../shared/data", file);
    FILE *f = fopen(path, "r");
    if (!f) {
        printf("skipped: no %s\n", path);
        return;
    }
    char *line = NULL;
    size_t capacity = 0;
    size_t names = 0;
    ssize_t len;
    while ((len = getline(&line, &capacity, f)) > 0) {
        if (line[len - 1] == '\n')
            line[len - 1] = 0;
        char *full = strchr(line, '\t');
        char *simplified = full ? strchr(full + 1, '\t') : NULL;
        ck_assert_ptr_nonnull(simplified);
        *full++ = 0;
        *simplified++ = 0;
        bool valid = strcmp(line, full) != 0;
        struct swift_case c = {line, valid ? full : NULL, valid ? simplified : NULL};
        swift_check(&c, 1);
        names++;
    }
    free(line);
    fclose(f);
    printf("%s: %zu names, both forms as Apple's\n", file, names);
}

START_TEST(names_of_the_swift_project)
{
    check_file("cases.tsv");
}
END_TEST

START_TEST(names_of_the_standard_library)
{
    check_file("stdlib.tsv");
}
END_TEST

START_TEST(names_of_old_apps)
{
    check_file("old.tsv");
}
END_TEST

START_TEST(the_example_of_the_manual)
{
    static const struct swift_case cases[] = {
        {"_$s4Shop4FeedC6reload5forceySb_tFySSXEfU_",
         "closure #1 (Swift.String) -> () in Shop.Feed.reload(force: Swift.Bool) -> ()",
         "closure #1 in Feed.reload(force:)"},
    };
    SWIFT_CHECK(cases);
    char out[64];
    ck_assert(demangle_swift(cases[0].name, SWIFT_KEY, out, sizeof(out)));
    ck_assert_str_eq(out, "Feed.reload(force:)");
}
END_TEST

START_TEST(every_prefix_is_known)
{
    static const char *const yes[] = {"$s4Shop4FeedCD",  "_$s4Shop4FeedCD", "$S4Shop4FeedCD",
                                      "_$S4Shop4FeedCD", "$e4Shop4FeedCD",  "_$e4Shop4FeedCD",
                                      "_T04Shop4FeedCD", "_TtC4Shop4Feed",  "__$s4Shop4FeedCD",
                                      "__TtC4Shop4Feed", "__T04Shop4FeedCD"};
    for (size_t i = 0; i < sizeof(yes) / sizeof(yes[0]); i++) {
        char out[64];
        ck_assert_msg(demangle_swift_is_mangled(yes[i]), "%s", yes[i]);
        ck_assert_msg(demangle_swift(yes[i], SWIFT_FULL, out, sizeof(out)), "%s", yes[i]);
        ck_assert_str_eq(out, "Shop.Feed");
    }
}
END_TEST

START_TEST(other_names_are_left_alone)
{
    static const char *const no[] = {
        "",       "main",    "_main",       "$", "$x4ShopD", "_ZN3FooD1Ev", "_RNvC1a1b",
        "-[A b]", "s4ShopD", "___$s4ShopD", "_", "__",       "S4ShopD"};
    for (size_t i = 0; i < sizeof(no) / sizeof(no[0]); i++) {
        char out[64];
        ck_assert_msg(!demangle_swift_is_mangled(no[i]), "%s", no[i]);
        ck_assert(!demangle_swift(no[i], SWIFT_FULL, out, sizeof(out)));
        ck_assert_str_eq(out, no[i]);
    }
}
END_TEST

START_TEST(the_buffer_cuts_at_every_size)
{
    static const char *const names[] = {"$s4Shop4FeedC6reload5forceySb_tFySSXEfU_",
                                        "_TF8manglingX27ihqwctvzcJBfGFJdrssDxIboAybFT_T_", "main"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        char whole[256];
        bool ok = demangle_swift(names[i], SWIFT_FULL, whole, sizeof(whole));
        for (size_t size = 1; size < sizeof(whole); size++) {
            char out[256];
            memset(out, 'x', sizeof(out));
            ck_assert_int_eq(demangle_swift(names[i], SWIFT_FULL, out, size),
                             size > 1 ? ok : false);
            size_t len = strlen(out);
            ck_assert_uint_lt(len, size);
            if (size > 1)
                ck_assert(!strncmp(out, whole, len));
            /* Never inside a character, and no shorter than that needs. */
            ck_assert(((unsigned char)whole[len] & 0xC0) != 0x80);
            ck_assert(len + 4 >= size || len == strlen(whole));
        }
    }
    char none = 'x';
    ck_assert(!demangle_swift(names[0], SWIFT_FULL, &none, 0));
    ck_assert_int_eq(none, 'x');
}
END_TEST

UNIT_MAIN("demangle_swift", names_of_the_swift_project, names_of_the_standard_library,
          names_of_old_apps, the_example_of_the_manual, every_prefix_is_known,
          other_names_are_left_alone, the_buffer_cuts_at_every_size)
