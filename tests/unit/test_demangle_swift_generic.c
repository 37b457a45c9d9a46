/*
 * Names of our own for each production: signatures, requirements, conformances as arguments,
 * runtime records.
 *
 * Covers: symbolizer/demangle_swift_conformance.c
 */
#include <stddef.h>

#include "tests/support/swift_cases.h"
#include "tests/support/unit.h"

static const struct swift_case valid[] = {
    {"$s4Shop3runyyxSHRzSQRzlF", "Shop.run<A where A: Swift.Hashable, A: Swift.Equatable>(A) -> ()",
     "run<A>(_:)"},
    {"$s4Shop3runyyxAA4FeedCRbzlF", "Shop.run<A where A: Shop.Feed>(A) -> ()", "run<A>(_:)"},
    {"$s4Shop3runyyxRlzClF", "Shop.run<A where A: AnyObject>(A) -> ()", "run<A>(_:)"},
    {"$s4Shop3runyyxRlzUlF", "Shop.run<A where A: _UnknownLayout>(A) -> ()", "run<A>(_:)"},
    {"$s4Shop3runyyxRlzRlF", "Shop.run<A where A: _RefCountedObject>(A) -> ()", "run<A>(_:)"},
    {"$s4Shop3runyyxRlzNlF", "Shop.run<A where A: _NativeRefCountedObject>(A) -> ()", "run<A>(_:)"},
    {"$s4Shop3runyyxRlzDlF", "Shop.run<A where A: _NativeClass>(A) -> ()", "run<A>(_:)"},
    {"$s4Shop3runyyxRlzTlF", "Shop.run<A where A: _Trivial>(A) -> ()", "run<A>(_:)"},
    {"$s4Shop3runyyxRlzBlF", "Shop.run<A where A: >(A) -> ()", "run<A>(_:)"},
    {"$s4Shop3runyyxRlze64_lF", "Shop.run<A where A: _Trivial(65)>(A) -> ()", "run<A>(_:)"},
    {"$s4Shop3runyyxRlzE64_32_lF", "Shop.run<A where A: _Trivial(65, 33)>(A) -> ()", "run<A>(_:)"},
    {"$s4Shop3runyyxRlzm64_lF", "Shop.run<A where A: _TrivialAtMost(65)>(A) -> ()", "run<A>(_:)"},
    {"$s4Shop3runyyxRlzM64_32_lF", "Shop.run<A where A: _TrivialAtMost(65, 33)>(A) -> ()",
     "run<A>(_:)"},
    {"$s4Shop3runyyxRlzS4_lF", "Shop.run<A where A: (5)>(A) -> ()", "run<A>(_:)"},
    {"$s4Shop3runyyxSiRszlF", "Shop.run<A where A == Swift.Int>(A) -> ()", "run<A>(_:)"},
    {"$s4Shop3runyyxSTRzSi7ElementRtzlF",
     "Shop.run<A where A: Swift.Sequence, A.Element == Swift.Int>(A) -> ()", "run<A>(_:)"},
    {"$s4Shop3runyyxSTRzSH7ElementSTRpzlF",
     "Shop.run<A where A: Swift.Sequence, A.Swift.Sequence.Element: Swift.Hashable>(A) -> ()",
     "run<A>(_:)"},
    {"$s4Shop3runyyxSTRzAA4FeedC7ElementRczlF",
     "Shop.run<A where A: Swift.Sequence, A.Element: Shop.Feed>(A) -> ()", "run<A>(_:)"},
    {"$s4Shop3runyyxSTRzSi8IteratorST_7ElementStRTzlF",
     "Shop.run<A where A: Swift.Sequence, A.Swift.Sequence.Iterator.Swift.IteratorProtocol.Element "
     "== Swift.Int>(A) -> ()",
     "run<A>(_:)"},
    {"$s4Shop3runyyxSTRzSH8IteratorST_7ElementStRPzlF",
     "Shop.run<A where A: Swift.Sequence, "
     "A.Swift.Sequence.Iterator.Swift.IteratorProtocol.Element: Swift.Hashable>(A) -> ()",
     "run<A>(_:)"},
    {"$s4Shop3runyyxSTRz7ElementRmzClF",
     "Shop.run<A where A: Swift.Sequence, A.Element: AnyObject>(A) -> ()", "run<A>(_:)"},
    {"$s4Shop3runyyxRi_zlF", "Shop.run<A where A: ~Swift.Copyable>(A) -> ()", "run<A>(_:)"},
    {"$s4Shop3runyyxRi0_zlF", "Shop.run<A where A: ~Swift.Escapable>(A) -> ()", "run<A>(_:)"},
    {"$s4Shop3runyyxRi1_zlF", "Shop.run<A where A: ~Swift.<bit 2>>(A) -> ()", "run<A>(_:)"},
    {"$s4Shop3runyyxxQp_tRvzlF", "Shop.run<each A>(repeat A) -> ()", "run<each A>(_:)"},
    {"$s4Shop3runyyxxQp_q_q_QptRvzRv_q_Rhzr0_lF",
     "Shop.run<each A, B where A.shape == B.shape>(repeat A, repeat B) -> ()",
     "run<each A, B>(_:_:)"},
    {"$s4Shop3runyyxSiRVzlF", "Shop.run<let A>(A) -> ()", "run<let A>(_:)"},
    {"$s4Shop3runyyx_q_qd__tr0__lF", "Shop.run<A, B><A1>(A, B, A1) -> ()", "run<A, B><A1>(_:_:_:)"},
    {"$s4Shop3runyyxrzlF", "Shop.run<>(A) -> ()", "run<>(_:)"},
    {"$sxluD", "<A> A", NULL},
    {"$sSaySiGSHsMc", "protocol conformance descriptor for [Swift.Int] : Swift.Hashable in Swift",
     "protocol conformance descriptor for [Int]"},
    {"$s4Shop3BoxVyxGSHAAMc",
     "protocol conformance descriptor for Shop.Box<A> : Swift.Hashable in Shop",
     "protocol conformance descriptor for Box<A>"},
    {"$s4Shop3BoxVyxGSHAASHRzlMc",
     "protocol conformance descriptor for <A where A: Swift.Hashable> Shop.Box<A> : Swift.Hashable "
     "in Shop",
     "protocol conformance descriptor for <A> Box<A>"},
    {"$sSi4Shop1PAAHc",
     "protocol conformance descriptor runtime record for Swift.Int : Shop.P in Shop",
     "protocol conformance descriptor runtime record for Int"},
    {"$s4Shop4FeedVHn", "nominal type descriptor runtime record for Shop.Feed",
     "nominal type descriptor runtime record for Feed"},
    {"$s4Shop3runQryFQOHo",
     "opaque type descriptor runtime record for <<opaque return type of Shop.run() -> some>>",
     "opaque type descriptor runtime record for <<opaque return type of run()>>"},
    {"$s4Shop1PHr", "protocol descriptor runtime record for Shop.P",
     "protocol descriptor runtime record for P"},
    {"$s4Shop3runyyFHF", "accessible function runtime record for Shop.run() -> ()", "run()"},
};

/* Cut short, unknown letters, operands that are not there. */
static const struct swift_case invalid[] = {
    {"$s4Shop3runyyxRzC", NULL, NULL},
    {"$s4Shop3runyyxRlzQlF", NULL, NULL},
    {"$s4Shop3BoxVyxxSTHD_g_GD", NULL, NULL},
};

START_TEST(each_production_prints_as_it_should)
{
    SWIFT_CHECK(valid);
}
END_TEST

START_TEST(what_is_no_name_is_left_alone)
{
    SWIFT_CHECK(invalid);
}
END_TEST

UNIT_MAIN("demangle_swift_generic", each_production_prints_as_it_should,
          what_is_no_name_is_left_alone)
