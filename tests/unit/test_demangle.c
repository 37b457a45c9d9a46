/* Covers: symbolizer/demangle.c symbolizer/demangle_text.c */
#include "symbolizer/demangle.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/hash.h"
#include "symbolizer/demangle_parts.h"
#include "tests/support/unit.h"

static const char *const SAMPLES[][2] = {
    {"-[Feed reload:]", "-[Feed reload:]"},
    {"+[Feed(Cache) shared]", "+[Feed(Cache) shared]"},
    {"__41-[Feed reload:]_block_invoke_2", "-[Feed reload:] block"},
    {"_ZN3net6Client4pollEi", "net::Client::poll(int)"},
    {"__ZN3net6Client4pollEi", "net::Client::poll(int)"},
    {"___ZN3net6Client4pollEi_block_invoke", "net::Client::poll(int) block"},
    {"__foo_block_invoke", "foo block"},
    {"_RNvC9backtrace3foo.llvm.A5310EB9", "backtrace::foo"},
    {"__RNvC9backtrace3foo", "backtrace::foo"},
    {"_ZN4core3fmt5write17h0123456789abcdefE", "core::fmt::write"},
    {"__ZN4core3fmt5write17h0123456789abcdefE", "core::fmt::write"},
    {"$s4Shop4FeedC6reload5forceySb_tF", "Feed.reload(force:)"},
    {"_$s4Shop4FeedC6reload5forceySb_tF", "Feed.reload(force:)"},
    {"main", "main"},
    {"tick", "tick"},
    {"_", "_"},
    {"__", "__"},
    {"_Z", "_Z"},
    {"_R", "_R"},
    {"_T", "_T"},
    {"$s", "$s"},
    {"_ZN3fooE garbage", "_ZN3fooE garbage"},
    {"OUTLINED_FUNCTION_12", "OUTLINED_FUNCTION_12"},
};

START_TEST(each_language)
{
    char out[DEMANGLE_OUTPUT_MAX];
    for (size_t i = 0; i < sizeof(SAMPLES) / sizeof(SAMPLES[0]); i++) {
        bool differs = demangle(SAMPLES[i][0], out, sizeof(out));
        ck_assert_str_eq(out, SAMPLES[i][1]);
        ck_assert_int_eq(differs, strcmp(SAMPLES[i][0], SAMPLES[i][1]) != 0);
    }
}
END_TEST

START_TEST(names_from_devices)
{
    char out[256];
    ck_assert(demangle("$s4Shop4FeedC3runyyF", out, sizeof(out)));
    ck_assert_str_eq(out, "Feed.run()");
    ck_assert(demangle("_ZN4shop4main17h0123456789abcdefE", out, sizeof(out)));
    ck_assert_str_eq(out, "shop::main");
    ck_assert(demangle("__db_query_block_invoke", out, sizeof(out)));
    ck_assert_str_eq(out, "db_query block");
    ck_assert(demangle("_ZN4shop4mainEv", out, sizeof(out)));
    ck_assert_str_eq(out, "shop::main()");
    ck_assert(demangle("___Z3fooIiEDTcl1gfp_EET__block_invoke", out, sizeof(out)));
    ck_assert_str_eq(out, "decltype (g({parm#1})) foo<int>(int) block");
    /* the runtime never comes back from this one */
    static const char endless[] = "_ZTVFVFooAsr777777777777Cs_2A_777777777777777777777777777_RMf";
    ck_assert(!demangle(endless, out, sizeof(out)));
    ck_assert_str_eq(out, endless);
}
END_TEST

START_TEST(small_buffers)
{
    char out[32];
    ck_assert(!demangle("main", out, 0));
    for (size_t size = 1; size < sizeof(out); size++) {
        memset(out, 'x', sizeof(out));
        ck_assert(demangle("_ZN3net6Client4pollEi", out, size));
        ck_assert_uint_lt(strnlen(out, size), size);
        if (size > 22)
            ck_assert_str_eq(out, "net::Client::poll(int)");
        else if (size > 3)
            ck_assert_ptr_nonnull(strstr(out, "\xe2\x80\xa6"));
    }
    /* Never half a character: three bytes each here. */
    ck_assert(demangle("\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac", out, 8));
    ck_assert_str_eq(out, "\xe2\x82\xac\xe2\x80\xa6");
    ck_assert(!demangle("\xe2\x82\xac\xe2\x82\xac", out, 7));
    ck_assert_str_eq(out, "\xe2\x82\xac\xe2\x82\xac");
}
END_TEST

START_TEST(long_names)
{
    static char name[DEMANGLE_INPUT_MAX + 100];
    static char out[2 * DEMANGLE_OUTPUT_MAX];
    memset(name, 'x', sizeof(name) - 1);
    ck_assert(demangle(name, out, sizeof(out)));
    ck_assert_uint_eq(strlen(out), DEMANGLE_OUTPUT_MAX - 1);
    ck_assert_str_eq(out + DEMANGLE_OUTPUT_MAX - 4, "\xe2\x80\xa6");
    memcpy(name, "_ZN4", 4);
    ck_assert(demangle(name, out, sizeof(out)));
    ck_assert_int_eq(strncmp(out, "_ZN4xxx", 7), 0);
    /* A long identifier inside the cap, cut by the output's. */
    int n = snprintf(name, sizeof(name), "_RNvC3foo6000");
    memset(name + n, 'y', 6000);
    name[n + 6000] = 0;
    ck_assert(demangle(name, out, sizeof(out)));
    ck_assert_int_eq(strncmp(out, "foo::yyy", 8), 0);
    ck_assert_uint_eq(strlen(out), DEMANGLE_OUTPUT_MAX - 1);
}
END_TEST

/* Whatever is left of a name, or becomes of it: an answer, ended, not empty, soon. */
static void check_any(const char *name, const char *from)
{
    char out[DEMANGLE_OUTPUT_MAX];
    int64_t begin = clock_mono_ns();
    demangle(name, out, sizeof(out));
    ck_assert_msg(strnlen(out, sizeof(out)) < sizeof(out), "%s", from);
    ck_assert_msg(out[0] || !name[0], "%s", from);
    int64_t took = clock_mono_ns() - begin;
    ck_assert_msg(took < 200 * 1000000, "%s: %lld ns", name, (long long)took);
}

START_TEST(prefixes_and_mutations)
{
    static const char letters[] = "_ZNSIEKR0123456789PFvilsdTLXJDCBMG$hpq-[";
    uint64_t seed = 7;
    char name[256];
    for (size_t i = 0; i < sizeof(SAMPLES) / sizeof(SAMPLES[0]); i++) {
        size_t len = strlen(SAMPLES[i][0]);
        for (size_t n = 0; n <= len; n++) {
            memcpy(name, SAMPLES[i][0], n);
            name[n] = 0;
            check_any(name, SAMPLES[i][0]);
        }
        for (int round = 0; round < 2000; round++) {
            memcpy(name, SAMPLES[i][0], len + 1);
            for (int k = 0; k <= round % 6 && len > 0; k++) {
                seed = hash64(&seed, sizeof(seed), (uint64_t)k);
                name[(seed >> 16) % len] = letters[(seed & 0xffff) % (sizeof(letters) - 1)];
            }
            check_any(name, SAMPLES[i][0]);
        }
    }
}
END_TEST

UNIT_MAIN("demangle", each_language, names_from_devices, small_buffers, long_names,
          prefixes_and_mutations)
