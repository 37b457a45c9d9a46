/* Covers: symbolizer/demangle_rust*.c */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "symbolizer/demangle.h"
#include "tests/support/unit.h"

static void check(const char *const cases[][2], size_t count)
{
    char out[DEMANGLE_OUTPUT_MAX];
    for (size_t i = 0; i < count; i++) {
        demangle(cases[i][0], out, sizeof(out));
        ck_assert_msg(strcmp(out, cases[i][1]) == 0, "%s\n  is   %s\n  want %s", cases[i][0], out,
                      cases[i][1]);
    }
}
#define CHECK(cases) check(cases, sizeof(cases) / sizeof(cases[0]))

START_TEST(v0)
{
    static const char *const cases[][2] = {
        {"_RNvC6_123foo3bar", "123foo::bar"},
        {"_RNvCs15kBYyAo9fc_7mycrate7example", "mycrate::example"},
        {"_RNvMs_Cs4Cv8Wi1oAIB_7mycrateNtB4_7Example3foo", "<mycrate::Example>::foo"},
        {"_RNqCs4fqI2P2rA04_11utf8_identsu30____7hkackfecea1cbdathfdh9hlq6y",
         "utf8_idents::\u10e1\u10d0\u10ed\u10db\u10d4\u10da\u10d0\u10d3_\u10d2\u10d4\u10db\u10e0"
         "\u10d8\u10d4\u10da\u10d8_\u10e1\u10d0\u10d3\u10d8\u10da\u10d8"},
        {"_RNCNCNgCs6DXkGYLi8lr_2cc5spawn00B5_", "cc::spawn::{closure#0}::{closure#0}"},
        {"_RNCINkXs25_NgCsbmNqQUJIY6D_4core5sliceINyB9_4IterhENuNgNoBb_4iter8iterator8Iterator9"
         "rpositionNCNgNpB9_6memchr7memrchrs_0E0Bb_",
         "<core::slice::Iter<u8> as core::iter::iterator::Iterator>::rposition::<core::slice::"
         "memchr::memrchr::{closure#1}>::{closure#0}"},
        {"_RINbNbCskIICzLVDPPb_5alloc5alloc8box_freeDINbNiB4_5boxed5FnBoxuEp6OutputuEL_"
         "ECs1iopQbuBiw2_3std",
         "alloc::alloc::box_free::<dyn alloc::boxed::FnBox<(), Output = ()>>"},
        {"_RMC0INtC8arrayvec8ArrayVechKj7b_E", "<arrayvec::ArrayVec<u8, 123>>"},
        {"_RMCs4fqI2P2rA04_13const_genericINtB0_8UnsignedKhb_E", "<const_generic::Unsigned<11>>"},
        {"_RMCs4fqI2P2rA04_13const_genericINtB0_6SignedKanb_E", "<const_generic::Signed<-11>>"},
        {"_RMCs4fqI2P2rA04_13const_genericINtB0_4BoolKb0_E", "<const_generic::Bool<false>>"},
        {"_RMCs4fqI2P2rA04_13const_genericINtB0_4BoolKb1_E", "<const_generic::Bool<true>>"},
        {"_RMCs4fqI2P2rA04_13const_genericINtB0_4CharKc76_E", "<const_generic::Char<'v'>>"},
        {"_RMCs4fqI2P2rA04_13const_genericINtB0_4CharKca_E", "<const_generic::Char<'\\n'>>"},
        {"_RMCs4fqI2P2rA04_13const_genericINtB0_4CharKc2202_E", "<const_generic::Char<'\u2202'>>"},
        {"_RNvNvMCs4fqI2P2rA04_13const_genericINtB4_3FooKpE3foo3FOO",
         "<const_generic::Foo<_>>::foo::FOO"},
        {"_RC3foo.llvm.9D1C9369", "foo"},
        {"_RMC0FG_RL0_hEu", "<for<'a> fn(&'a u8)>"},
        {"_RMC0FUKCjEz", "<unsafe extern \"C\" fn(usize) -> !>"},
        {"_RMC0FK8rust_x_yEu", "<extern \"rust-x-y\" fn()>"},
        {"_RMC0TlE", "<(i32,)>"},
        {"_RMC0TlmE", "<(i32, u32)>"},
        {"_RMC0TE", "<()>"},
        {"_RMC0RSh", "<&[u8]>"},
        {"_RMC0QAhj4_", "<&mut [u8; 4]>"},
        {"_RMC0PO"
         "e",
         "<*const *mut str>"},
        {"_RYhNtC3std5Clone", "<u8 as std::Clone>"},
    };
    CHECK(cases);
}
END_TEST

START_TEST(not_v0)
{
    static const char *const cases[][2] = {
        {"_R", "_R"},
        {"_RN", "_RN"},
        {"_RNvC3foo", "_RNvC3foo"},
        {"_RNvC3foo4bar", "_RNvC3foo4bar"},
        {"_RNvC3foo3barX", "_RNvC3foo3barX"},
        {"_R1NvC3foo3bar", "_R1NvC3foo3bar"},
        {"_RB_", "_RB_"},
        {"_RMC0B2_", "_RMC0B2_"},
        {"_RNvC99999999999999999999foo3bar", "_RNvC99999999999999999999foo3bar"},
        {"_RMC0INtC1aKc110000_E", "_RMC0INtC1aKc110000_E"},
        {"_RMC0DL_", "_RMC0DL_"},
        {"_Report", "_Report"},
    };
    CHECK(cases);
}
END_TEST

START_TEST(legacy)
{
    static const char *const cases[][2] = {
        {"_ZN4core3fmt5write17h0123456789abcdefE", "core::fmt::write"},
        {"_ZN4core3fmt5write17h0123456789abcdefE.llvm.123", "core::fmt::write"},
        {"_ZN28_$u7b$$u7b$closure$u7d$$u7d$17h0123456789abcdefE", "{{closure}}"},
        {"_ZN71_$LT$Test$u20$$u2b$$u20$$u27$static$u20$as$u20$foo..Bar$LT$Test$GT$$GT$3bar"
         "17h930b740aa94f1d3aE",
         "<Test + 'static as foo::Bar<Test>>::bar"},
        {"_ZN9$RF$testA17h0123456789abcdefE", "&testA"},
        {"_ZN9$BP$test417h0123456789abcdefE", "*test4"},
        {"_ZN10foo.llvm.x17h0123456789abcdefE", "foo.llvm.x"},
        {"_ZN9$q$$u7ffx17h0123456789abcdefE", "$q$$u7ffx"},
        /* No hash: that is C++. */
        {"_ZN4core3fmt5writeE", "core::fmt::write"},
        {"_ZN4core3fmt5write17h0123456789abcdegE", "core::fmt::write::h0123456789abcdeg"},
    };
    CHECK(cases);
}
END_TEST

/* Back references that double, and nests without end. */
START_TEST(hostile)
{
    char name[DEMANGLE_INPUT_MAX];
    char out[DEMANGLE_OUTPUT_MAX];
    int64_t begin = clock_mono_ns();
    /* Thirty tuples, each twice the one before: cut where the output ends. */
    demangle("_RMC0TTuuETB3_B3_ETB7_B7_ETBf_Bf_ETBn_Bn_ETBv_Bv_ETBD_BD_ETBL_BL_ETBT_BT_ETB11_B11_E"
             "TB19_B19_ETB1j_B1j_ETB1t_B1t_ETB1D_B1D_ETB1N_B1N_ETB1X_B1X_ETB27_B27_ETB2h_B2h_ETB2r_"
             "B2r_ETB2B_B2B_ETB2L_B2L_ETB2V_B2V_ETB35_B35_ETB3f_B3f_ETB3p_B3p_ETB3z_B3z_ETB3J_B3J_E"
             "TB3T_B3T_ETB43_B43_ETB4d_B4d_ETB4n_B4n_EE",
             out, sizeof(out));
    ck_assert_int_eq(strncmp(out, "<(((), ()), (((), ()), ((), ())), ", 34), 0);
    ck_assert_uint_eq(strlen(out), DEMANGLE_OUTPUT_MAX - 1);

    static const char *const repeats[] = {"R", "T", "INtC1a", "FG_", "D", "Nv", "Y", "S", "M"};
    for (size_t i = 0; i < sizeof(repeats) / sizeof(repeats[0]); i++) {
        int n = snprintf(name, sizeof(name), "_RMC0");
        while ((size_t)n + 10 < sizeof(name))
            n += snprintf(name + n, sizeof(name) - (size_t)n, "%s", repeats[i]);
        demangle(name, out, sizeof(out));
        ck_assert(out[0]);
    }
    ck_assert_int_lt(clock_mono_ns() - begin, 500 * 1000000);
}
END_TEST

UNIT_MAIN("demangle_rust", v0, not_v0, legacy, hostile)
