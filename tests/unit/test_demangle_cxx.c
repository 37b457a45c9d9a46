/* Covers: symbolizer/demangle_cxx*.c */
#include <glob.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <zlib.h>

#include "base/clock.h"
#include "symbolizer/demangle.h"
#include "symbolizer/demangle_cxx_tree.h"
#include "symbolizer/demangle_parts.h"
#include "tests/support/files.h"
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
    {"_ZN3FooD2Ev.cold.1", "Foo::~Foo() [clone .cold.1]"},
    {"_ZNSsC1EPKcRKSaIcE",
     "std::basic_string<char, std::char_traits<char>, std::allocator<char> >::basic_string(char "
     "const*, std::allocator<char> const&)"},
    {"_ZlsRSoRKSs", "operator<<(std::ostream&, std::string const&)"},
    {"_Z1fIiEPFidET_", "int (*f<int>(int))(double)"},
    {"_Z1fRA10_A3_Ki", "f(int const (&) [10][3])"},
    {"_Z1fPKA2_M3FooKFvPVKcE", "f(void (Foo::* const (*) [2])(char const volatile*) const)"},
    {"_Z1fPFPFivEdE", "f(int (*(*)(double))())"},
    {"_Z1fU13block_pointerFvvEU8__strongP1A", "f(void ( block_pointer)(), A* __strong)"},
    {"_Z1fIRiEvOT_", "void f<int&>(int&)"},
    {"_Z1fIOiEvRT_", "void f<int&&>(int&)"},
    {"_Z1fIJR1AO1BEEvDpOT_", "void f<A&, B&&>(A&, B&&)"},
    {"_Z1fIJEEvDpT_", "void f<>()"},
    {"_Z1fISt6vectorIiSaIiEEJEEvT_DpT0_",
     "void f<std::vector<int, std::allocator<int> >>(std::vector<int, std::allocator<int> >)"},
    {"_Z1fILi5ELin3ELb0ELc65ELN1A1EE2ELm7EEvv", "void f<5, -3, false, (char)65, (A::E)2, 7ul>()"},
    {"_ZN1AcvNS_1BIiEEEv", "A::operator A::B<int>()"},
    {"_ZN1A1fB5cxx11Ev", "A::f[abi:cxx11]()"},
    {"_ZNKR1A1fEv", "A::f() const &"},
    {"_ZNO1A1fEv", "A::f() &&"},
    {"_ZN1AUt0_1fEv", "A::{unnamed type#2}::f()"},
    {"_ZZN1A1fIiEEvT_ENKUlS1_RKT_E0_clIdEEDaiRKd",
     "auto A::f<int>(int)::{lambda(auto:1, auto:1 const&)#2}::operator()<double>(int, double "
     "const&) "
     "const"},
    {"_ZZ1fvENK1L1gEv_2", NULL},
    {"_ZZ1fvE1L_0", "f()::L"},
    {"_ZZ1fvEs_3", "f()::string literal"},
    {"_ZZ1fiEd_NKUlvE_clEv", "f(int)::{default arg#1}::{lambda()#1}::operator()() const"},
    {"_ZTv0_n24_N1A1fEv", "virtual thunk to A::f()"},
    {"_ZTch0_h16_N1A1fEv", "covariant return thunk to A::f()"},
    {"_ZTW1x", "TLS wrapper function for x"},
    {"_Z1fIiEN9enable_ifIXsr3std7is_sameIT_iEE5valueEvE4typeES1_",
     "enable_if<std::is_same<int, int>::value, void>::type f<int>(int)"},
    {"_Z1fIiEN9enable_ifIXaasr3std5is_aaIT_EE5valuentsr3std5is_bbIS1_EE5valueEvE4typeEv",
     "enable_if<std::is_aa<int>::value&&(!std::is_bb<int>::value), void>::type f<int>()"},
    {"_Z1fI1XIXadL_ZN1A1gEvEEEEvT_", "void f<X<&A::g> >(X<&A::g>)"},
    {"_Z1fI1XIXadL_Z1giEEEEvT_", "void f<X<&(g(int))> >(X<&(g(int))>)"},
    {"_Z1fIJidcEEv1XIXsZT_EE", "void f<int, double, char>(X<3>)"},
    {"_Z1fIJLi1ELi2EEEv1XIJXspT_EEE", "void f<1, 2>(X<1, 2>)"},
    {"_Z1fILi1EEv1XIXgtT_Li0EEE", "void f<1>(X<((1)>(0))>)"},
    {"_Z1fIiERAT__Kci", NULL},
    {"_Z1fPDv4_fS_", "f(float __vector(4)*, float __vector(4))"},
    {"_Z6invokeIRZ1gvE3$_0J1AR1BEEDTclscT_fp_spscT0_fp0_EEOS4_DpOS5_", NULL},
    {"_Z3addI1A1BEDTplclfp_EclL_Z1gvEfp0_EERKT_RKT0_", NULL},
    {"_ZmiIP1AS1_EDTmicldtfp_4baseEcldtfp0_4baseEERK4iterIT_ERKS3_IT0_E",
     "decltype ((({parm#1}.base)())-(({parm#2}.base)())) operator-<A*, A*>(iter<A*> const&, "
     "iter<A*> const&)"},
    {"_Z1fSt4pairIiSt6vectorIS_IddESaIS1_EEE", NULL},
    {"_Z1fPDoFvvE", "f(void (*)() noexcept)"},
    {"_Z1fM1AKDoFviE", "f(void (A::*)(int) noexcept const)"},
    {"_Z1fDdDeDf", "f(decimal64, decimal128, decimal32)"},
    {"_ZTC11GrGLTexture0_9GrTexture", "construction vtable for GrTexture-in-GrGLTexture"},
    {"_ZGTtNSt11logic_errorD0Ev", "transaction clone for std::logic_error::~logic_error()"},
    {"_ZGTnN1a1bEv", "non-transaction clone for a::b()"},
    {"_Z1fIiEDTcvT_fp_Ev", NULL},
    {"_Z1fIiEDTclfp_cvN1a4NoOpE_EEEvv", NULL},
    {"_Z1fIiEDTcv1a_Li1ELi2EEEv", "decltype ((a)(1, 2)) f<int>()"},
    {"_Z1fIiEDTtlT_Li1ELi2EEEv", "decltype (int{1, 2}) f<int>()"},
    {"_Z1fIiEDTilLi1EEEv", "decltype ({1}) f<int>()"},
    {"_Z1fIiEDTix3fooLi1EEv", "decltype (foo[1]) f<int>()"},
    {"_Z1fIiEDTqufp_Li1ELi2EEv", "decltype ({parm#1}?(1) : (2)) f<int>()"},
    {"_Z1fIiEDTppfp_Ev", "decltype ({parm#1}++) f<int>()"},
    {"_Z1fIiEDTpp_fp_Ev", "decltype (++{parm#1}) f<int>()"},
    {"_Z1fIiEDTmm_fp_Ev", "decltype (--{parm#1}) f<int>()"},
    {"_Z1fIiEDTdefp_Ev", "decltype (*{parm#1}) f<int>()"},
    {"_Z1fIiEDTcmfp_fp_Ev", "decltype ({parm#1},{parm#1}) f<int>()"},
    {"_Z1fIiEDTaSfp_fp_Ev", "decltype ({parm#1}={parm#1}) f<int>()"},
    {"_Z1fIiEDTdcT_fp_Ev", "decltype (dynamic_cast<int>({parm#1})) f<int>()"},
    {"_Z1fIiEDTccT_fp_Ev", "decltype (const_cast<int>({parm#1})) f<int>()"},
    {"_Z1fIiEDTrcT_fp_Ev", "decltype (reinterpret_cast<int>({parm#1})) f<int>()"},
    {"_Z3fooIiEDTcl1gfp_EET_", "decltype (g({parm#1})) foo<int>(int)"},
    {"_ZN1aUlPFbPKviEE_clES3_", NULL},
    {"_Zli2_kmy", "operator\"\" _k(unsigned long, unsigned long long)"},
    {"_ZNSt8literals15chrono_literalsli2msIJLc49EEEEDav",
     "auto std::literals::chrono_literals::operator\"\" ms<(char)49>()"},
    {"_Z1fPDF16_", "f(_Float16*)"},
    {"_Z1fu6__fp16PS_", "f(__fp16, __fp16*)"},
    {"_ZN1AcvT_IiEEv", "A::operator int<int>()"},
    {"_ZN1AIiEcvRKT_IdEEv", "A<int>::operator double const&<double>()"},
    {"_ZN1AcvM1BFT_S1_EIdEEv", "A::operator double (B::*)(double)<double>()"},
    {"_ZN1A1BcvT_IS0_EEv", "A::B::operator A::B<A::B>()"},
    {"_ZZN1AcvT_IiEEvENK1L1gEv", "A::operator int<int>()::L::g() const"},
    {"_ZNK1AcvSt6vectorIT_SaIS1_EEIiEEv",
     "A::operator std::vector<int, std::allocator<int> ><int>() const"},
};

/* What the runtime of these years does not know, or says otherwise than the ABI's text. */
static const char *const OWN_CASES[][2] = {
    {"_Z1fDF16b", "f(std::bfloat16_t)"},
    {"_ZN1BCI11AEi", "B::B(int)"},
    {"_ZN1BCI2N1a1AIiEEEi", "B::B(int)"},
    {"_ZNSt3__14moveB8ne180100IRiEEOu20__remove_reference_tIT_EOS2_",
     "__remove_reference_t(int&)&& std::__1::move[abi:ne180100]<int&>(int&)"},
    {"_Z1fu11matrix_typeILm4ELm4EfE", "f(matrix_type<4ul, 4ul, float>)"},
    {"_Z1fITkSt8integraliEvT_", "void f<int>(int)"},
    {"_Z1fITk1CiTk1DIiEdEvT_T0_", "void f<int, double>(int, double)"},
    {"_Z1gITnDaLi1ETyiEvv", "void g<1, int>()"},
    {"_Z1gITtTyTpTnT_E3fooEvv", "void g<foo>()"},
    {"_Z1gITpTnDaJLi1ELi2EEEvv", "void g<1, 2>()"},
    {"_Z1fITk1CiEvT_Q1DIT_E", "void f<int>(int)"},
    {"_Z1fIiEvT_QaaL_Z1CIS0_EEntL_Z1DIS0_EE", "void f<int>(int)"},
    {"_ZN1SIiQL_Z1CIT_EEE1fEv", "S<int>::f()"},
};

/* None of these is one. */
static const char *const WRONG_CASES[] = {
    "_ZN1BCI31AEi", "_ZN1BCI",      "_ZN1BCI1",   "_Z1fDF16",    "_Z1fDF7_",
    "_Z1fu",        "_Z1fu9__fp16", "_Z1fITkEvv", "_Z1fITkiEvv", "_Z1fITtTyEvv",
    "_Z1fITpEvv",   "_Z1fIiEvT_Q",  "_Zli",       "_Z1fITnEvv",  "_Z1fTy",
};

char *__cxa_demangle(const char *mangled, char *buffer, size_t *length, int *status);

/* True when our own reader knows the name; then it says what the runtime says, if that answers. */
static bool same_as_runtime(const char *s)
{
    static char own[(size_t)1 << 16];
    if (!demangle_cxx(s, own, sizeof(own)))
        return false;
    if (strlen(own) + 8 > sizeof(own)) /* cut: the runtime may need gigabytes */
        return true;
    char *theirs = __cxa_demangle(s, NULL, NULL, NULL);
    if (theirs)
        ck_assert_msg(strcmp(own, theirs) == 0, "%s\n %s\n %s", s, own, theirs);
    free(theirs);
    return true;
}

static char out[DEMANGLE_OUTPUT_MAX];

START_TEST(names)
{
    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
        same_as_runtime(CASES[i][0]);
        if (!CASES[i][1])
            continue;
        ck_assert_msg(demangle_cxx(CASES[i][0], out, sizeof(out)), "%s", CASES[i][0]);
        ck_assert_str_eq(out, CASES[i][1]);
        ck_assert(demangle(CASES[i][0], out, sizeof(out)));
        ck_assert_str_eq(out, CASES[i][1]);
    }
    for (size_t i = 0; i < sizeof(OWN_CASES) / sizeof(OWN_CASES[0]); i++) {
        ck_assert_msg(demangle_cxx(OWN_CASES[i][0], out, sizeof(out)), "%s", OWN_CASES[i][0]);
        ck_assert_str_eq(out, OWN_CASES[i][1]);
    }
    for (size_t i = 0; i < sizeof(WRONG_CASES) / sizeof(WRONG_CASES[0]); i++)
        ck_assert_msg(!demangle_cxx(WRONG_CASES[i], out, sizeof(out)), "%s", WRONG_CASES[i]);
    ck_assert(!demangle_cxx("_Z1fT_", out, sizeof(out)));
    ck_assert(!demangle_cxx("_Z1fS_", out, sizeof(out)));
    ck_assert(!demangle_cxx("_Z9999999fv", out, sizeof(out)));
}
END_TEST

/* Names with pieces lost, doubled, put in: whatever they mean, both say the same. Not those of
 * conversions: which template arguments are the type's and which the function's, runtimes of
 * different years do not agree on. */
START_TEST(damaged_names)
{
    static const char *const pieces[] = {
        "S_",  "S0_",  "T_", "T0_",  "PK",   "R",   "O",     "Dp", "I",     "E",
        "J",   "N",    "K",  "F",    "Li3E", "i",   "v",     "C1", "D2",    "A3_",
        "M",   "Z",    "St", "Ss",   "cv",   "Sa",  "UlvE_", "L",  "B3abi", "_",
        "Ut_", "3foo", "r",  "Lb1E", "DTcl", "fp_", "sp",    "sc", "dt",    "Dv4_"};
    uint64_t seed = 88172645463325252u;
    size_t known = 0, count = sizeof(CASES) / sizeof(CASES[0]);
    for (int turn = 0; turn < 60000; turn++) {
        seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
        const char *from = CASES[(seed >> 8) % count][0];
        const char *piece = pieces[(seed >> 20) % (sizeof(pieces) / sizeof(pieces[0]))];
        size_t n = strlen(from);
        size_t cut = 2 + (seed >> 32) % (n - 2);
        size_t lost = (seed >> 52) % 4;
        char s[256];
        snprintf(s, sizeof(s), "%.*s%s%s", (int)cut, from, seed >> 62 ? piece : "",
                 from + (cut + lost < n ? cut + lost : n));
        known += strstr(s, "cv") ? demangle_cxx(s, out, sizeof(out)) : same_as_runtime(s);
    }
    ck_assert_uint_gt(known, 3000);
}
END_TEST

/* Every C++ name in the answers of the judges. */
START_TEST(real_names)
{
    static char line[(size_t)1 << 16];
    size_t known = 0, all = 0;
    char folder[1024], pattern[1100];
    glob_t files;
    if (!shared_data("truth", folder, sizeof(folder)))
        return;
    snprintf(pattern, sizeof(pattern), "%s/*.tsv.gz", folder);
    ck_assert_int_eq(glob(pattern, 0, NULL, &files), 0);
    for (size_t i = 0; i < files.gl_pathc; i++) {
        gzFile f = gzopen(files.gl_pathv[i], "rb");
        while (f && gzgets(f, line, sizeof(line))) {
            for (char *at = line; (at = strstr(at, "_Z")) != NULL;) {
                size_t n = strcspn(at, "\t\n |;,\"");
                char end = at[n];
                at[n] = 0;
                if (at == line || strchr("\t |;,\"", at[-1])) {
                    all++;
                    known += same_as_runtime(at);
                }
                at[n] = end;
                at += n;
            }
        }
        gzclose(f);
    }
    globfree(&files);
    printf("%zu C++ names, %zu known\n", all, known);
    ck_assert_uint_gt(known * 1000, all * 999);
}
END_TEST

static char name[DEMANGLE_INPUT_MAX + 1];

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

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SMALL_STACK ((size_t)2 * 1024 * 1024) /* frames are larger there */
#else
#define SMALL_STACK ((size_t)256 * 1024)
#endif

/* B49: nests of every kind on a small stack. */
START_TEST(deep_names_on_a_small_stack)
{
    pthread_attr_t attr;
    pthread_t id;
    void *result = NULL;
    pthread_attr_init(&attr);
    ck_assert_int_eq(pthread_attr_setstacksize(&attr, SMALL_STACK), 0);
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
        "_Z1fIXsr1aplC",
        "_Z1fIXsr1aseD",
        "_Z1fIXsr1aplU",
        "_Z1fIXsr1aplDp",
        "_Z1fIXsr1aplC_",
        "_Z1fIXsr1a1bC",
        "_Z1fIXsr1a1bD",
        "_Z1fIXsr1apl1bC",
        "_Z1fIXsriserC",
        "_Z1fIXsr1aliC",
        "_Z1fIXaasriserCE",
        "_ZN1bI1aXsr1a1bD3E",
        "_Z1fI1aEN1bIXaasr1cIT_EE1vsrr1dIS1_EE1vE1tEv",
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

UNIT_MAIN("demangle_cxx", names, damaged_names, real_names, doubling, doubling_by_parameters,
          deep_names_on_a_small_stack, names_without_end, refused_ones_stay)
