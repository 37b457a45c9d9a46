/*
 * Names of our own for each production: generic and function signature specialisations.
 */
#include <stddef.h>

#include "tests/support/swift_cases.h"
#include "tests/support/unit.h"

static const struct swift_case valid[] = {
    {"$s4Shop3runyyxlFSi_Tg5", "generic specialization <Swift.Int> of Shop.run<A>(A) -> ()",
     "specialized run<A>(_:)"},
    {"$s4Shop3runyyxlFSi_Tgq5",
     "generic specialization <serialized, Swift.Int> of Shop.run<A>(A) -> ()",
     "specialized run<A>(_:)"},
    {"$s4Shop3runyyxlFSi_Tgm5", "generic specialization <Swift.Int> of Shop.run<A>(A) -> ()",
     "specialized run<A>(_:)"},
    {"$s4Shop3runyyxlFSi_TGmq5",
     "generic not re-abstracted specialization <serialized, Swift.Int> of Shop.run<A>(A) -> ()",
     "specialized run<A>(_:)"},
    {"$s4Shop3runyyxlFSi_Tga5", "generic specialization <Swift.Int> of Shop.run<A>(A) -> ()",
     "specialized run<A>(_:)"},
    {"$s4Shop3runyyxlFSi_Tgr5", "generic specialization <Swift.Int> of Shop.run<A>(A) -> ()",
     "specialized run<A>(_:)"},
    {"$s4Shop3runyyxlFSi_TG5",
     "generic not re-abstracted specialization <Swift.Int> of Shop.run<A>(A) -> ()",
     "specialized run<A>(_:)"},
    {"$s4Shop3runyyxlFSi_TB5", "generic specialization <Swift.Int> of Shop.run<A>(A) -> ()",
     "specialized run<A>(_:)"},
    {"$s4Shop3runyyxlFSi_Ts5", "generic pre-specialization <Swift.Int> of Shop.run<A>(A) -> ()",
     "specialized run<A>(_:)"},
    {"$s4Shop3runyyxlFSi_Ti5", "inlined generic function <Swift.Int> of Shop.run<A>(A) -> ()",
     "specialized run<A>(_:)"},
    {"$s4Shop3runyyx_q_tr0_lFSi_SSTg5",
     "generic specialization <Swift.Int, Swift.String> of Shop.run<A, B>(A, B) -> ()",
     "specialized run<A, B>(_:_:)"},
    {"$s4Shop3runyyxlFSi_Tt0g5", "generic specialization <Swift.Int> of Shop.run<A>(A) -> ()",
     "specialized run<A>(_:)"},
    {"$s4Shop3runyyxlFSi_Ttt1G5",
     "generic not re-abstracted specialization <Swift.Int> of Shop.run<A>(A) -> ()",
     "specialized run<A>(_:)"},
    {"$s4Shop3runyyxlFSiTp5",
     "generic partial specialization <Signature = Swift.Int> of Shop.run<A>(A) -> ()",
     "specialized run<A>(_:)"},
    {"$s4Shop3runyyxlFSiTP5",
     "generic not-reabstracted partial specialization <Signature = Swift.Int> of Shop.run<A>(A) -> "
     "()",
     "specialized run<A>(_:)"},
    {"$s4Shop3runyySiFTf4d_n",
     "function signature specialization <Arg[0] = Dead> of Shop.run(Swift.Int) -> ()",
     "specialized run(_:)"},
    {"$s4Shop3runyySiFTf4dG_n",
     "function signature specialization <Arg[0] = Dead and Owned To Guaranteed> of "
     "Shop.run(Swift.Int) -> ()",
     "specialized run(_:)"},
    {"$s4Shop3runyySiFTf4dO_n",
     "function signature specialization <Arg[0] = Dead and Guaranteed To Owned> of "
     "Shop.run(Swift.Int) -> ()",
     "specialized run(_:)"},
    {"$s4Shop3runyySiFTf4dX_n",
     "function signature specialization <Arg[0] = Dead and Exploded> of Shop.run(Swift.Int) -> ()",
     "specialized run(_:)"},
    {"$s4Shop3runyySiFTf4dGX_n",
     "function signature specialization <Arg[0] = Dead and Owned To Guaranteed and Exploded> of "
     "Shop.run(Swift.Int) -> ()",
     "specialized run(_:)"},
    {"$s4Shop3runyySiFTf4g_n",
     "function signature specialization <Arg[0] = Owned To Guaranteed> of Shop.run(Swift.Int) -> "
     "()",
     "specialized run(_:)"},
    {"$s4Shop3runyySiFTf4gX_n",
     "function signature specialization <Arg[0] = Owned To Guaranteed and Exploded> of "
     "Shop.run(Swift.Int) -> ()",
     "specialized run(_:)"},
    {"$s4Shop3runyySiFTf4o_n",
     "function signature specialization <Arg[0] = Guaranteed To Owned> of Shop.run(Swift.Int) -> "
     "()",
     "specialized run(_:)"},
    {"$s4Shop3runyySiFTf4oX_n",
     "function signature specialization <Arg[0] = Guaranteed To Owned and Exploded> of "
     "Shop.run(Swift.Int) -> ()",
     "specialized run(_:)"},
    {"$s4Shop3runyySiFTf4x_n",
     "function signature specialization <Arg[0] = Exploded> of Shop.run(Swift.Int) -> ()",
     "specialized run(_:)"},
    {"$s4Shop3runyySiFTf4i_n",
     "function signature specialization <Arg[0] = Value Promoted from Box> of Shop.run(Swift.Int) "
     "-> ()",
     "specialized run(_:)"},
    {"$s4Shop3runyySiFTf4s_n",
     "function signature specialization <Arg[0] = Stack Promoted from Box> of Shop.run(Swift.Int) "
     "-> ()",
     "specialized run(_:)"},
    {"$s4Shop3runyySiFTf4r_n",
     "function signature specialization <Arg[0] = InOut Converted to Out> of Shop.run(Swift.Int) "
     "-> ()",
     "specialized run(_:)"},
    {"$s4Shop3runyySiFTf4e_n",
     "function signature specialization <Arg[0] = Existential To Protocol Constrained Generic> of "
     "Shop.run(Swift.Int) -> ()",
     "specialized run(_:)"},
    {"$s4Shop3runyySiFTf4eD_n",
     "function signature specialization <Arg[0] = Existential To Protocol Constrained Generic and "
     "Dead> of Shop.run(Swift.Int) -> ()",
     "specialized run(_:)"},
    {"$s4Shop3runyySiFTf4eGX_n",
     "function signature specialization <Arg[0] = Existential To Protocol Constrained Generic and "
     "Owned To Guaranteed and Exploded> of Shop.run(Swift.Int) -> ()",
     "specialized run(_:)"},
    {"$s4Shop3runyySiFTf4n_n", "function signature specialization <> of Shop.run(Swift.Int) -> ()",
     "specialized run(_:)"},
    {"$s4Shop3runyySi_SitFTf4nd_n",
     "function signature specialization <Arg[1] = Dead> of Shop.run(Swift.Int, Swift.Int) -> ()",
     "specialized run(_:_:)"},
    {"$s4Shop3runyySi_SitFTf4nd_g",
     "function signature specialization <Arg[1] = Dead, Return = Owned To Guaranteed> of "
     "Shop.run(Swift.Int, Swift.Int) -> ()",
     "specialized run(_:_:)"},
    {"$s4Shop3runyySiFTf4pi42_n",
     "function signature specialization <Arg[0] = [Constant Propagated Integer : 42]> of "
     "Shop.run(Swift.Int) -> ()",
     "specialized run(_:)"},
    {"$s4Shop3runyySiFTf4pd42_n",
     "function signature specialization <Arg[0] = [Constant Propagated Float : 42]> of "
     "Shop.run(Swift.Int) -> ()",
     "specialized run(_:)"},
    {"$s4Shop3runyySiF3abcTf4pf_n",
     "function signature specialization <Arg[0] = [Constant Propagated Function : abc]> of "
     "Shop.run(Swift.Int) -> ()",
     "specialized run(_:)"},
    {"$s4Shop3runyySiF3abcTf4pg_n",
     "function signature specialization <Arg[0] = [Constant Propagated Global : abc]> of "
     "Shop.run(Swift.Int) -> ()",
     "specialized run(_:)"},
    {"$s4Shop3runyySiF3abcTf4psb_n",
     "function signature specialization <Arg[0] = [Constant Propagated String : u8'abc']> of "
     "Shop.run(Swift.Int) -> ()",
     "specialized run(_:)"},
    {"$s4Shop3runyySiF3abcTf4psw_n",
     "function signature specialization <Arg[0] = [Constant Propagated String : u16'abc']> of "
     "Shop.run(Swift.Int) -> ()",
     "specialized run(_:)"},
    {"$s4Shop3runyySiF3abcTf4psc_n",
     "function signature specialization <Arg[0] = [Constant Propagated String : objc'abc']> of "
     "Shop.run(Swift.Int) -> ()",
     "specialized run(_:)"},
    {"$s4Shop3runyySiF4_123Tf4psb_n",
     "function signature specialization <Arg[0] = [Constant Propagated String : u8'123']> of "
     "Shop.run(Swift.Int) -> ()",
     "specialized run(_:)"},
    {"$s4Shop3runyySiF3abcSiSSTf4c_n",
     "function signature specialization <Arg[0] = [Closure Propagated : abc, Argument Types : "
     "[Swift.IntSwift.String]> of Shop.run(Swift.Int) -> ()",
     "specialized run(_:)"},
    {"$s4Shop3runyySiF3abcTf4c_n",
     "function signature specialization <Arg[0] = [Closure Propagated : abc, Argument Types : []> "
     "of Shop.run(Swift.Int) -> ()",
     "specialized run(_:)"},
    {"$s4Shop3runyySiF3abcSiSSTf4pk_n",
     "function signature specialization <Arg[0] = [Constant Propagated KeyPath : "
     "abc<Swift.Int,Swift.String>]> of Shop.run(Swift.Int) -> ()",
     "specialized run(_:)"},
    {"$s4Shop3runyySiF14$s4Shop3twoyyFTf4pf_n",
     "function signature specialization <Arg[0] = [Constant Propagated Function : Shop.two() -> "
     "()]> of Shop.run(Swift.Int) -> ()",
     "specialized run(_:)"},
    {"$s4Shop3runyySiF3abc3defTf4pfpf_n",
     "function signature specialization <Arg[0] = [Constant Propagated Function : abc], Arg[1] = "
     "[Constant Propagated Function : def]> of Shop.run(Swift.Int) -> ()",
     "specialized run(_:)"},
    {"$s4Shop3runyySiFTfq4d_n",
     "function signature specialization <serialized, Arg[0] = Dead> of Shop.run(Swift.Int) -> ()",
     "specialized run(_:)"},
    {"$s4Shop3runyySiFTf4d_nTm",
     "merged function signature specialization <Arg[0] = Dead> of Shop.run(Swift.Int) -> ()",
     "specialized run(_:)"},
    {"$s4Shop3runyyxlFSi_Tg5Tf4d_n",
     "function signature specialization <Arg[0] = Dead> of generic specialization <Swift.Int> of "
     "Shop.run<A>(A) -> ()",
     "specialized run<A>(_:)"},
};

/* Cut short, unknown letters, operands that are not there. */
static const struct swift_case invalid[] = {
    {"$s4Shop3runyyxlFSi_Ttx5", NULL, NULL}, {"$s4Shop3runyyxlFSi_TgX", NULL, NULL},
    {"$s4Shop3runyySiFTf4pi_n", NULL, NULL}, {"$s4Shop3runyySiF3abcTf4psx_n", NULL, NULL},
    {"$s4Shop3runyySiFTf4pf_n", NULL, NULL}, {"$s4Shop3runyySiFTf4py_n", NULL, NULL},
    {"$s4Shop3runyySiFTf4k_n", NULL, NULL},  {"$s4Shop3runyySiFTf4d", NULL, NULL},
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

UNIT_MAIN("demangle_swift_special", each_production_prints_as_it_should,
          what_is_no_name_is_left_alone)
