/*
 * Names of our own for each production: attributes, thunks, key paths, protocol descriptors.
 *
 * Covers: symbolizer/demangle_swift_print_thunk.c
 */
#include <stddef.h>

#include "tests/support/swift_cases.h"
#include "tests/support/unit.h"

static const struct swift_case valid[] = {
    {"$s4Shop3runyyFTo", "@objc Shop.run() -> ()", "@objc run()"},
    {"$s4Shop3runyyFTO", "@nonobjc Shop.run() -> ()", "@nonobjc run()"},
    {"$s4Shop3runyyFTD", "dynamic Shop.run() -> ()", "dynamic run()"},
    {"$s4Shop3runyyFTd", "super Shop.run() -> ()", "super run()"},
    {"$s4Shop3runyyFTE", "distributed thunk Shop.run() -> ()", "run()"},
    {"$s4Shop3runyyFTF", "distributed accessor for Shop.run() -> ()", "run()"},
    {"$s4Shop3runyyFTa", "partial apply ObjC forwarder for Shop.run() -> ()",
     "partial apply for run()"},
    {"$s4Shop3runyyFTA", "partial apply forwarder for Shop.run() -> ()", "partial apply for run()"},
    {"$s4Shop3runyyFTm", "merged Shop.run() -> ()", "run()"},
    {"$s4Shop3runyyFTX", "dynamically replaceable variable for Shop.run() -> ()", "run()"},
    {"$s4Shop3runyyFTx", "dynamically replaceable key for Shop.run() -> ()", "run()"},
    {"$s4Shop3runyyFTI", "dynamically replaceable thunk for Shop.run() -> ()", "run()"},
    {"$s4Shop3runyyFTu", "async function pointer to Shop.run() -> ()",
     "async function pointer to run()"},
    {"$s4Shop3runyyFTwb", "back deployment thunk for Shop.run() -> ()", "run()"},
    {"$s4Shop3runyyFTwB", "back deployment fallback for Shop.run() -> ()",
     "back deployment fallback for run()"},
    {"$s4Shop3runyyFTwc", "coro function pointer to Shop.run() -> ()",
     "coro function pointer to run()"},
    {"$s4Shop3runyyFTwd", "default override of Shop.run() -> ()", "default override of run()"},
    {"$s4Shop3runyyFTwS", "#_hasSymbol query for Shop.run() -> ()", "#_hasSymbol query for run()"},
    {"$s4Shop3runyyFTc", "curry thunk of Shop.run() -> ()", "curry thunk of run()"},
    {"$s4Shop3runyyFTj", "dispatch thunk of Shop.run() -> ()", "dispatch thunk of run()"},
    {"$s4Shop3runyyFTq", "method descriptor for Shop.run() -> ()", "method descriptor for run()"},
    {"$s4Shop3runyyFTTI", "identity thunk of Shop.run() -> ()", "identity thunk of run()"},
    {"$s4Shop1PP3runyyFTS", "protocol self-conformance witness for Shop.P.run() -> ()",
     "protocol self-conformance witness for P.run()"},
    {"$s4Shop4FeedC3runyyFAA4BaseCADyyFTV",
     "vtable thunk for Shop.Base.run() -> () dispatching to Shop.Feed.run() -> ()",
     "vtable thunk for Base.run() dispatching to Feed.run()"},
    {"$s4Shop4FeedC3runyyFAA4BaseC4walkyyFTV",
     "vtable thunk for Shop.Base.walk() -> () dispatching to Shop.Feed.run() -> ()",
     "vtable thunk for Base.walk() dispatching to Feed.run()"},
    {"$s4Shop4FeedCAA1PA2aDP3runyyFTW",
     "protocol witness for Shop.P.run() -> () in conformance Shop.Feed : Shop.P in Shop",
     "protocol witness for P.run() in conformance Feed"},
    {"$s4Shop4FeedCAA1PA2aDP5titleSSvgTW",
     "protocol witness for Shop.P.title.getter : Swift.String in conformance Shop.Feed : Shop.P in "
     "Shop",
     "protocol witness for P.title.getter in conformance Feed"},
    {"$s4Shop4FeedCAA1PA2aDP4makeyyFZTW",
     "protocol witness for static Shop.P.make() -> () in conformance Shop.Feed : Shop.P in Shop",
     "protocol witness for static P.make() in conformance Feed"},
    {"$sIeg_ytIegr_TR",
     "reabstraction thunk helper from @escaping @callee_guaranteed () -> () to @escaping "
     "@callee_guaranteed () -> (@out ())",
     "thunk for @escaping @callee_guaranteed () -> ()"},
    {"$sIeg_ytIegr_Tr",
     "reabstraction thunk from @escaping @callee_guaranteed () -> () to @escaping "
     "@callee_guaranteed () -> (@out ())",
     "thunk for @escaping @callee_guaranteed () -> ()"},
    {"$sxIegn_xIegi_lTR",
     "reabstraction thunk helper <A> from @escaping @callee_guaranteed (@in_guaranteed A) -> () to "
     "@escaping @callee_guaranteed (@in A) -> ()",
     "thunk for @escaping @callee_guaranteed (@in_guaranteed A) -> ()"},
    {"$sIeg_ytIegr_4Shop4FeedCTy",
     "reabstraction thunk from @escaping @callee_guaranteed () -> () to @escaping "
     "@callee_guaranteed () -> (@out ()) self Shop.Feed",
     "reabstraction thunk from @escaping @callee_guaranteed () -> () to @escaping "
     "@callee_guaranteed () -> (@out ()) self Feed"},
    {"$sIeg_ytIegr_TRScMTU",
     "reabstraction thunk helper from @escaping @callee_guaranteed () -> () to @escaping "
     "@callee_guaranteed () -> (@out ()) with global actor constraint Swift.MainActor",
     "thunk for @escaping @callee_guaranteed () -> () with global actor constraint MainActor"},
    {"$s4Shop3runyyYaFTQ_", "(0) await resume partial function for Shop.run() async -> ()",
     "run()"},
    {"$s4Shop3runyyYaFTQ1_", "(2) await resume partial function for Shop.run() async -> ()",
     "run()"},
    {"$s4Shop3runyyYaFTY0_", "(1) suspend resume partial function for Shop.run() async -> ()",
     "run()"},
    {"$s4Shop3runyyYaFTATQ0_",
     "(1) await resume partial function for partial apply forwarder for Shop.run() async -> ()",
     "partial apply for run()"},
    {"$s4Shop3runyyFyycfU_TA",
     "partial apply forwarder for closure #1 () -> () in Shop.run() -> ()",
     "partial apply for closure #1 in run()"},
    {"$s4Shop3runyyFyycfU_TATm",
     "merged partial apply forwarder for closure #1 () -> () in Shop.run() -> ()",
     "partial apply for closure #1 in run()"},
    {"$s4Shop3runyyFyycfU_TA.12",
     "partial apply forwarder for closure #1 () -> () in Shop.run() -> () with unmangled suffix "
     "\".12\"",
     "partial apply for closure #1 in run()"},
    {"$sTA", "partial apply forwarder", "partial apply"},
    {"$sTa", "partial apply ObjC forwarder", "partial apply"},
    {"$sIetA_TC",
     "coroutine continuation prototype for @escaping @convention(thin) @yield_once () -> ()", NULL},
    {"$sIeyB_ytTz_",
     "@objc completion handler block implementation for @escaping @callee_unowned "
     "@convention(block) () -> () with result type ()",
     NULL},
    {"$sIeyB_SSTz0_",
     "@objc completion handler block implementation for @escaping @callee_unowned "
     "@convention(block) () -> () with result type Swift.String nonzero on error",
     "@objc completion handler block implementation for @escaping @callee_unowned "
     "@convention(block) () -> () with result type String nonzero on error"},
    {"$sIeyB_SSTZ1_",
     "predefined @objc completion handler block implementation for @escaping @callee_unowned "
     "@convention(block) () -> () with result type Swift.String zero on error",
     "predefined @objc completion handler block implementation for @escaping @callee_unowned "
     "@convention(block) () -> () with result type String zero on error"},
    {"$sIeyB_SSTz7_",
     "@objc completion handler block implementation for @escaping @callee_unowned "
     "@convention(block) () -> () with result type Swift.String <invalid error flag>",
     "@objc completion handler block implementation for @escaping @callee_unowned "
     "@convention(block) () -> () with result type String <invalid error flag>"},
    {"$sIeyB_SSlTz_",
     "@objc completion handler block implementation for <A>@escaping @callee_unowned "
     "@convention(block) () -> () with result type Swift.String",
     "@objc completion handler block implementation for <A>@escaping @callee_unowned "
     "@convention(block) () -> () with result type String"},
    {"$s4Shop4FeedC5titleSSvpACTK",
     "key path getter for Shop.Feed.title : Swift.String : Shop.Feed",
     "key path getter for Feed.title : Feed"},
    {"$s4Shop4FeedC5titleSSvpACTk",
     "key path setter for Shop.Feed.title : Swift.String : Shop.Feed",
     "key path setter for Feed.title : Feed"},
    {"$s4Shop4FeedC5titleSSvpACTKq",
     "key path getter for Shop.Feed.title : Swift.String : Shop.Feed, serialized",
     "key path getter for Feed.title : Feed, serialized"},
    {"$s4Shop4FeedC3runyyFACTkmu", "key path unapplied method Shop.Feed.run() -> () : Shop.Feed",
     "key path unapplied method Feed.run() : Feed"},
    {"$s4Shop4FeedC3runyyFACTkMA", "key path applied method Shop.Feed.run() -> () : Shop.Feed",
     "key path applied method Feed.run() : Feed"},
    {"$s4Shop3BoxV5titleSSvplxTK", "key path getter for Shop.Box.title : Swift.String : <A>A",
     "key path getter for Box.title : <A>A"},
    {"$s4Shop3BoxV5titleSSvplACyxGTK",
     "key path getter for Shop.Box.title : Swift.String : <A>Shop.Box<A>",
     "key path getter for Box.title : <A>Box<A>"},
    {"$sSiSSTH", "key path index equality operator for (Swift.Int, Swift.String)",
     "key path index equality operator for (Int, String)"},
    {"$sSiTh", "key path index hash operator for (Swift.Int)",
     "key path index hash operator for (Int)"},
    {"$sSilTh", "key path index hash operator for <A>(Swift.Int)",
     "key path index hash operator for <A>(Int)"},
    {"$sSiTHq", "key path index equality operator for (Swift.Int)",
     "key path index equality operator for (Int)"},
    {"$s4Shop3runyyFTv_", "outlined variable #0 of Shop.run() -> ()",
     "outlined variable #0 of run()"},
    {"$s4Shop3runyyFTv3_", "outlined variable #4 of Shop.run() -> ()",
     "outlined variable #4 of run()"},
    {"$s4Shop3runyyFTv_r", "outlined read-only object #0 of Shop.run() -> ()",
     "outlined read-only object #0 of run()"},
    {"$s4Shop3runyyFToTembnn_", "outlined bridged method (mbnn) of @objc Shop.run() -> ()",
     "outlined bridged method (mbnn) of @objc run()"},
    {"$s4Shop3runyyFToTepb_", "outlined bridged method (pb) of @objc Shop.run() -> ()",
     "outlined bridged method (pb) of @objc run()"},
    {"$s4Item4Shop1PPTl", "associated type descriptor for Shop.P.Item",
     "associated type descriptor for P.Item"},
    {"$s4Shop1PTL", "protocol requirements base descriptor for Shop.P",
     "protocol requirements base descriptor for P"},
    {"$s4Item4Shop1PPTM", "default associated type metadata accessor for Shop.P.Item",
     "default associated type metadata accessor for P.Item"},
    {"$s4Shop1PP4ItemAC_SHTn",
     "associated conformance descriptor for Shop.P.Shop.P.Item: Swift.Hashable",
     "associated conformance descriptor for P.P.Item: Hashable"},
    {"$s4Shop1PP4ItemAC_SHTN",
     "default associated conformance accessor for Shop.P.Shop.P.Item: Swift.Hashable",
     "default associated conformance accessor for P.P.Item: Hashable"},
    {"$s4Shop1PPSHTb", "base conformance descriptor for Shop.P: Swift.Hashable",
     "base conformance descriptor for P: Hashable"},
};

/* Cut short, unknown letters, operands that are not there. */
static const struct swift_case invalid[] = {
    {"$s4Shop3runyyFTwz", NULL, NULL},
    {"$s4Shop3runyyFTTx", NULL, NULL},
    {"$sIeg_TR", NULL, NULL},
    {"$sTH", NULL, NULL},
    {"$s4Shop3runyyFToTe_", NULL, NULL},
    {"$s4Shop3runyyFToTex_", NULL, NULL},
    {"$s4Shop1PSHTb", NULL, NULL},
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

UNIT_MAIN("demangle_swift_thunk", each_production_prints_as_it_should,
          what_is_no_name_is_left_alone)
