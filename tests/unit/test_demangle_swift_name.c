/*
 * Names of our own for each production: identifiers, words, operators, local and private names, substitutions, suffixes.
 */
#include <stddef.h>

#include "tests/support/swift_cases.h"
#include "tests/support/unit.h"

static const struct swift_case valid[] = {
    {"$s4Shop4FeedV", "Shop.Feed", "Feed"},
    {"$s4Shop4FeedC", "Shop.Feed", "Feed"},
    {"$s4Shop4FeedO", "Shop.Feed", "Feed"},
    {"$s4Shop4FeedP", "Shop.Feed", "Feed"},
    {"$s4Shop4Feeda", "Shop.Feed", "Feed"},
    {"$s4Shop4FeedV4ItemC", "Shop.Feed.Item", "Feed.Item"},
    {"$s4Shop04FeedA0V", "Shop.FeedShop", "FeedShop"},
    {"$s4Shop8FeedItemV0bA0V", "Shop.FeedItem.FeedShop", "FeedItem.FeedShop"},
    {"$s4Shop8FeedItemV0bcA4ViewV", "Shop.FeedItem.FeedItemShopView", "FeedItem.FeedItemShopView"},
    {"$s8feedItem0aB4ViewV", "feedItem.feedItemView", "feedItemView"},
    {"$s4Shop4FeedC2eeoiySbAC_ACtFZ",
     "static Shop.Feed.== infix(Shop.Feed, Shop.Feed) -> Swift.Bool", "static Feed.== infix(_:_:)"},
    {"$s4Shop1poPyS2iF", "Shop.+ postfix(Swift.Int) -> Swift.Int", "+ postfix(_:)"},
    {"$s4Shop1popyS2iF", "Shop.+ prefix(Swift.Int) -> Swift.Int", "+ prefix(_:)"},
    {"$s4Shop2ggoiyS2i_SitF", "Shop.>> infix(Swift.Int, Swift.Int) -> Swift.Int", ">> infix(_:_:)"},
    {"$s4Shop10acegloqrstoiyS2i_SitF", "Shop.&@=><|?%-~ infix(Swift.Int, Swift.Int) -> Swift.Int",
     "&@=><|?%-~ infix(_:_:)"},
    {"$s4Shop008caf_dmaayyF", "Shop.caféé() -> ()", "caféé()"},
    {"$s4Shop1x33_0123456789ABCDEF0123456789ABCDEFLLSivp",
     "Shop.(x in _0123456789ABCDEF0123456789ABCDEF) : Swift.Int", "x"},
    {"$s4Shop3runyyF3oneL_yyF", "one #1 () -> () in Shop.run() -> ()", "one #1 () in run()"},
    {"$s4Shop3runyyF3oneL0_yyF", "one #2 () -> () in Shop.run() -> ()", "one #2 () in run()"},
    {"$s4Shop3runyyF3oneL_V3twoyyF", "two() -> () in one #1 in Shop.run() -> ()",
     "two() in one #1 in run()"},
    {"$s4Shop3runyyF3oneL_Cfd", "deinit in one #1 in Shop.run() -> ()",
     "deinit in one #1 in run()"},
    {"$sSo8NSObjectC", "__C.NSObject", "NSObject"},
    {"$sSC9ErrorCodeLeV", "__C_Synthesized.related decl 'e' for ErrorCode",
     "related decl 'e' for ErrorCode"},
    {"$sSo9ErrorCodeLaV", "__C.related decl 'a' for ErrorCode", "related decl 'a' for ErrorCode"},
    {"$sSa", "Swift.Array", "Array"},
    {"$sSaD", "Swift.Array", "Array"},
    {"$sSi_S2btD", "(Swift.Int, Swift.Bool, Swift.Bool)", "(Int, Bool, Bool)"},
    {"$s4Shop4FeedV_A2CtD", "(Shop.Feed, Shop.Feed, Shop.Feed)", "(Feed, Feed, Feed)"},
    {"$s4Shop4FeedV_A3CtD", "(Shop.Feed, Shop.Feed, Shop.Feed, Shop.Feed)",
     "(Feed, Feed, Feed, Feed)"},
    {"$sScT8priority9operationScTyxq_GScPSg_xyYaKcntcfC",
     "Swift.Task.init(priority: Swift.TaskPriority?, operation: __owned () async throws -> A) -> "
     "Swift.Task<A, B>",
     "Task.init(priority:operation:)"},
    {"$sSq", "Swift.Optional", "Optional"},
    {"$s1a", "a", NULL},
    {"$s4Shop4FeedV.resume.0", "Shop.Feed with unmangled suffix \".resume.0\"", "Feed"},
    {"$s4Shop4FeedV.cold.1", "Shop.Feed with unmangled suffix \".cold.1\"", "Feed"},
    {"$s4Shop3runyyF.llvm.123", "Shop.run() -> () with unmangled suffix \".llvm.123\"", "run()"},
    {"$s4Shop3runyyFTm.llvm.1", "merged Shop.run() -> () with unmangled suffix \".llvm.1\"",
     "run()"},
};

/* Cut short, unknown letters, operands that are not there. */
static const struct swift_case invalid[] = {
    {"$s4Shop04FeedZ0V", NULL, NULL},
    {"$s4Shop1boiyS2i_SitF", NULL, NULL},
    {"$sS2iSit", NULL, NULL},
    {"$sSc", NULL, NULL},
    {"$sScZ", NULL, NULL},
    {"$s0", NULL, NULL},
    {"$s", NULL, NULL},
    {"$s00", NULL, NULL},
    {"$s4Sho", NULL, NULL},
    {"$s99999999999999a", NULL, NULL},
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

UNIT_MAIN("demangle_swift_name", each_production_prints_as_it_should, what_is_no_name_is_left_alone)
