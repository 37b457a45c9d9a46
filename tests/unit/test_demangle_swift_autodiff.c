/*
 * Names of our own for each production: derivatives and their witnesses.
 */
#include <stddef.h>

#include "tests/support/swift_cases.h"
#include "tests/support/unit.h"

static const struct swift_case valid[] = {
    {"$s4Shop3runyS2fFTJfSpSr",
     "forward-mode derivative of Shop.run(Swift.Float) -> Swift.Float with respect to parameters "
     "{0} and results {0}",
     "forward-mode derivative of run(_:)"},
    {"$s4Shop3runyS2fFTJrSpSr",
     "reverse-mode derivative of Shop.run(Swift.Float) -> Swift.Float with respect to parameters "
     "{0} and results {0}",
     "reverse-mode derivative of run(_:)"},
    {"$s4Shop3runyS2fFTJdSpSr",
     "differential of Shop.run(Swift.Float) -> Swift.Float with respect to parameters {0} and "
     "results {0}",
     "differential of run(_:)"},
    {"$s4Shop3runyS2fFTJpUSpSSr",
     "pullback of Shop.run(Swift.Float) -> Swift.Float with respect to parameters {1} and results "
     "{0, 1}",
     "pullback of run(_:)"},
    {"$s4Shop3runyxxlFlTJfSpSr",
     "forward-mode derivative of Shop.run<A>(A) -> A with respect to parameters {0} and results "
     "{0} with <A>",
     "forward-mode derivative of run<A>(_:)"},
    {"$s4Shop3runyS2fFTJVrSpSr",
     "vtable thunk for reverse-mode derivative of Shop.run(Swift.Float) -> Swift.Float with "
     "respect to parameters {0} and results {0}",
     "vtable thunk for reverse-mode derivative of run(_:)"},
    {"$s4Shop3runyS2fFTJSrSpSrSP",
     "autodiff subset parameters thunk for reverse-mode derivative from Shop.run(Swift.Float) -> "
     "Swift.Float with respect to parameters {0} and results {0} to parameters {0}",
     "autodiff subset parameters thunk for reverse-mode derivative from run(_:)"},
    {"$s4Shop3runyS2fFS2iIegyd_TJSrSpSrSP",
     "autodiff subset parameters thunk for reverse-mode derivative from Shop.run(Swift.Float) -> "
     "Swift.Float with respect to parameters {0} and results {0} to parameters {0} of type "
     "@escaping @callee_guaranteed (@unowned Swift.Int) -> (@unowned Swift.Int)",
     "autodiff subset parameters thunk for reverse-mode derivative from run(_:)"},
    {"$sS2fIegyd_TJSpSSpSrSUP",
     "autodiff subset parameters thunk for pullback from @escaping @callee_guaranteed (@unowned "
     "Swift.Float) -> (@unowned Swift.Float) with respect to parameters {0, 1} and results {0} to "
     "parameters {0}",
     "autodiff subset parameters thunk for pullback from @escaping @callee_guaranteed (@unowned "
     "Float) -> (@unowned Float)"},
    {"$sS2fIegyd_S2fIegyd_TJOp",
     "autodiff self-reordering reabstraction thunk for pullback from @escaping @callee_guaranteed "
     "(@unowned Swift.Float) -> (@unowned Swift.Float) to @escaping @callee_guaranteed (@unowned "
     "Swift.Float) -> (@unowned Swift.Float)",
     "autodiff self-reordering reabstraction thunk for @escaping @callee_guaranteed (@unowned "
     "Float) -> (@unowned Float)"},
    {"$sS2fIegyd_S2fIegyd_lTJOr",
     "autodiff self-reordering reabstraction thunk for reverse-mode derivative<A>  from @escaping "
     "@callee_guaranteed (@unowned Swift.Float) -> (@unowned Swift.Float) to @escaping "
     "@callee_guaranteed (@unowned Swift.Float) -> (@unowned Swift.Float)",
     "autodiff self-reordering reabstraction thunk for @escaping @callee_guaranteed (@unowned "
     "Float) -> (@unowned Float)"},
    {"$s4Shop3runyS2fFWJfSpSr",
     "forward-mode differentiability witness for Shop.run(Swift.Float) -> Swift.Float with respect "
     "to parameters {0} and results {0}",
     "forward-mode differentiability witness for run(_:) with respect to parameters {0} and "
     "results {0}"},
    {"$s4Shop3runyS2fFWJrSpSr",
     "reverse-mode differentiability witness for Shop.run(Swift.Float) -> Swift.Float with respect "
     "to parameters {0} and results {0}",
     "reverse-mode differentiability witness for run(_:) with respect to parameters {0} and "
     "results {0}"},
    {"$s4Shop3runyS2fFWJdSpSr",
     "normal differentiability witness for Shop.run(Swift.Float) -> Swift.Float with respect to "
     "parameters {0} and results {0}",
     "normal differentiability witness for run(_:) with respect to parameters {0} and results {0}"},
    {"$s4Shop3runyS2fFWJlSpSr",
     "linear differentiability witness for Shop.run(Swift.Float) -> Swift.Float with respect to "
     "parameters {0} and results {0}",
     "linear differentiability witness for run(_:) with respect to parameters {0} and results {0}"},
    {"$s4Shop3runyxxlFlWJrSpSr",
     "reverse-mode differentiability witness for Shop.run<A>(A) -> A with respect to parameters "
     "{0} and results {0} with <A>",
     "reverse-mode differentiability witness for run<A>(_:) with respect to parameters {0} and "
     "results {0} with <A>"},
};

/* Cut short, unknown letters, operands that are not there. */
static const struct swift_case invalid[] = {
    {"$s4Shop3runyS2fFTJxSpSr", NULL, NULL}, {"$s4Shop3runyS2fFTJfpSr", NULL, NULL},
    {"$s4Shop3runyS2fFTJfSSr", NULL, NULL},  {"$sSfIegy_TJOr", NULL, NULL},
    {"$s4Shop3runyS2fFWJqSpSr", NULL, NULL},
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

UNIT_MAIN("demangle_swift_autodiff", each_production_prints_as_it_should,
          what_is_no_name_is_left_alone)
