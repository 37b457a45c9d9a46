/* Covers: symbolizer/demangle_cxx.c symbolizer/demangle_cxx_cost.c */
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "base/clock.h"
#include "symbolizer/demangle.h"
#include "symbolizer/demangle_parts.h"
#include "tests/support/unit.h"

static const char *const CASES[][2] = {
    {"_Z3foov", "foo()"},
    {"_ZN3net6Client4pollEi", "net::Client::poll(int)"},
    {"_ZNK3net6Client4sizeEv", "net::Client::size() const"},
    {"_ZN12_GLOBAL__N_13fooEv", "(anonymous namespace)::foo()"},
    {"_ZNSt6vectorIN3foo3BarESaIS1_EE9push_backERKS1_",
     "std::vector<foo::Bar, std::allocator<foo::Bar> >::push_back(foo::Bar const&)"},
    {"_ZN3FooC1Ev", "Foo::Foo()"},
    {"_ZN3FooD0Ev", "Foo::~Foo()"},
    {"_ZN3FooplERKS_", "Foo::operator+(Foo const&)"},
    {"_ZN3FoocviEv", "Foo::operator int()"},
    {"_ZZ4mainENK3$_0clEv", "main::$_0::operator()() const"},
    {"_ZZ1fvENKUliE_clEi", "f()::{lambda(int)#1}::operator()(int) const"},
    {"_Z1fPFivE", "f(int (*)())"},
    {"_Z1fA10_i", "f(int [10])"},
    {"_Z1fM3FooFivE", "f(int (Foo::*)())"},
    {"_Z1gILi5ELb1EEvv", "void g<5, true>()"},
    {"_Z1gIJidEEvDpT_", "void g<int, double>(int, double)"},
    {"_ZTV3Foo", "vtable for Foo"},
    {"_ZThn16_N3Foo3barEv", "non-virtual thunk to Foo::bar()"},
    {"_ZGVZ1fvE1x", "guard variable for f()::x"},
    {"_Z3foov.cold.1", "foo() [clone .cold.1]"},
    {"_ZNKSt8functionIFvvEEclEv", "std::function<void ()>::operator()() const"},
    {"_ZL5tickyv", "ticky()"},
};

START_TEST(names)
{
    char out[DEMANGLE_OUTPUT_MAX];
    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
        ck_assert(demangle(CASES[i][0], out, sizeof(out)));
        ck_assert_str_eq(out, CASES[i][1]);
    }
}
END_TEST

/* The estimate is never below what the runtime answers, and not absurdly above. */
START_TEST(estimates)
{
    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
        struct demangle_cost cost = demangle_cxx_cost(CASES[i][0]);
        ck_assert_msg(cost.size >= strlen(CASES[i][1]), "%s", CASES[i][0]);
        ck_assert_msg(cost.size < 4096 && cost.depth < 40, "%s: %llu %llu", CASES[i][0],
                      (unsigned long long)cost.size, (unsigned long long)cost.depth);
    }
}
END_TEST

static char name[DEMANGLE_INPUT_MAX + 1];
static char out[DEMANGLE_OUTPUT_MAX];

static size_t append(size_t at, const char *s)
{
    size_t n = strlen(s);
    if (at + n < sizeof(name))
        memcpy(name + at, s, n + 1);
    return at + n < sizeof(name) ? at + n : at;
}

static size_t append_substitution(size_t at, unsigned i)
{
    char s[16] = "S_";
    if (i > 0)
        snprintf(s, sizeof(s), "S%c_", i <= 10 ? '0' + (int)i - 1 : 'A' + (int)i - 11);
    return append(at, s);
}

/* B48: each type holds the one before several times. */
START_TEST(doubling)
{
    static const char *const kinds[][3] = {
        {"St4pairI", "", "E"}, {"PF", "", "E"}, {"M", "", ""}, {"3fooIJ", "", "EE"}, {"F", "", "E"},
    };
    for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++) {
        for (unsigned copies = 2; copies < 5; copies++) {
            size_t n = append(0, "_Z1fI3aaa");
            for (unsigned i = 0; i < 30; i++) {
                n = append(n, kinds[k][0]);
                for (unsigned c = 0; c < copies; c++)
                    n = append_substitution(n, i);
                n = append(n, kinds[k][2]);
            }
            append(n, "Evv");
            struct rusage before, after;
            getrusage(RUSAGE_SELF, &before);
            int64_t begin = clock_mono_ns();
            demangle(name, out, sizeof(out));
            int64_t took = clock_mono_ns() - begin;
            getrusage(RUSAGE_SELF, &after);
            ck_assert_int_eq(strncmp(out, "_Z1f", 4) == 0 || out[0] == 'v', 1);
            ck_assert_msg(took < 50 * 1000000, "%s: %lld ns", name, (long long)took);
            ck_assert_int_lt(after.ru_maxrss - before.ru_maxrss, 10 * 1024);
        }
    }
}
END_TEST

/* The same through template parameters: T_ is the whole argument list's first member. */
START_TEST(doubling_by_parameters)
{
    size_t n = append(0, "_Z1fI");
    for (unsigned i = 0; i < 40; i++)
        n = append(n, "1aI");
    n = append(n, "i");
    for (unsigned i = 0; i < 41; i++)
        n = append(n, "E");
    n = append(n, "v");
    for (unsigned i = 0; i < 60; i++)
        n = append(n, "1bIT_T_T_E");
    int64_t begin = clock_mono_ns();
    demangle(name, out, sizeof(out));
    ck_assert_int_lt(clock_mono_ns() - begin, 50 * 1000000);
    ck_assert(out[0]);
}
END_TEST

static void *nest(void *arg)
{
    static const char *const opens[] = {
        "1aI", "P",    "N1aI", "PF", "A1_", "M1aP",   "K",  "DpI",     "X",      "Dt",
        "LN",  "ZN1a", "J",    "i",  "S_",  "1aI1bJ", "PK", "RA2_A3_", "U3fooI", "1bIiiiiiiiiiii"};
    (void)arg;
    for (size_t k = 0; k < sizeof(opens) / sizeof(opens[0]); k++) {
        for (unsigned levels = 10; levels < 4000; levels += levels / 3) {
            size_t n = append(0, "_Z1fI");
            for (unsigned i = 0; i < levels; i++)
                n = append(n, opens[k]);
            n = append(n, "i");
            size_t brackets = 0;
            for (const char *p = opens[k]; *p; p++)
                brackets += strchr("INFXJLZ", *p) != NULL || (p[0] == 'D' && p[1] == 't');
            for (unsigned i = 0; i < levels * brackets; i++)
                n = append(n, "E");
            append(n, "Evv");
            demangle(name, out, sizeof(out));
            if (!out[0])
                return NULL;
        }
    }
    return name;
}

/* B49: nests of every kind on a small stack. */
START_TEST(deep_names_on_a_small_stack)
{
    pthread_attr_t attr;
    pthread_t id;
    void *result = NULL;
    pthread_attr_init(&attr);
    ck_assert_int_eq(pthread_attr_setstacksize(&attr, 256 * 1024), 0);
    ck_assert_int_eq(pthread_create(&id, &attr, nest, NULL), 0);
    ck_assert_int_eq(pthread_join(id, &result), 0);
    ck_assert_ptr_eq(result, name);
    pthread_attr_destroy(&attr);
}
END_TEST

/* The runtime of GCC 12 never comes back from these. */
START_TEST(names_without_end)
{
    static const char *const names_of[] = {
        "_Z1fIXsr1aplC",  "_Z1fIXsr1aseD", "_Z1fIXsr1aplU",    "_Z1fIXsr1aplDp",
        "_Z1fIXsr1aplC_", "_Z1fIXsr1a1bC", "_Z1fIXsr1a1bD",    "_Z1fIXsr1apl1bC",
        "_Z1fIXsriserC",  "_Z1fIXsr1aliC", "_Z1fIXaasriserCE", "_ZN1bI1aXsr1a1bD3E",
    };
    for (size_t i = 0; i < sizeof(names_of) / sizeof(names_of[0]); i++) {
        ck_assert(!demangle(names_of[i], out, sizeof(out)));
        ck_assert_str_eq(out, names_of[i]);
    }
    /* Well-formed ones are read. */
    ck_assert(demangle("_Z1fIiEN9enable_ifIXsr1aIT_EE1bEvE4typeES1_", out, sizeof(out)));
}
END_TEST

START_TEST(refused_ones_stay)
{
    size_t n = append(0, "_Z1f");
    for (int i = 0; i < 500; i++)
        n = append(n, "P");
    append(n, "i");
    ck_assert(!demangle_cxx(name, out, sizeof(out)));
    ck_assert(!demangle(name, out, sizeof(out)));
    ck_assert_str_eq(out, name);
    ck_assert(!demangle_cxx("foo", out, sizeof(out)));
    ck_assert(!demangle_cxx("_Z", out, sizeof(out)));
}
END_TEST

UNIT_MAIN("demangle_cxx", names, estimates, doubling, doubling_by_parameters,
          deep_names_on_a_small_stack, names_without_end, refused_ones_stay)
