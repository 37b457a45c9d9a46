/*
 * Covers: server/analysis/normalize_parts.c server/analysis/normalize_swift.c
 * Covers: server/analysis/normalize_cxx.c server/analysis/normalize_objc.c
 * Covers: server/analysis/normalize_rust.c
 */
#include "server/analysis/normalize.h"

#include <stdio.h>
#include <string.h>

#include "tests/support/unit.h"

struct pair {
    const char *name;
    const char *key;
};

static const struct pair SWIFT[] = {
    {"Feed.reload(_:)", "Feed.reload(_:)"},
    {"Shop.Feed.reload(Swift.Int) -> ()", "Feed.reload(_:)"},
    {"closure #2 in Feed.reload(_:)", "Feed.reload(_:)"},
    {"closure #3 in Feed.reload(_:)", "Feed.reload(_:)"},
    {"closure #1 (T1) in foo(bar: T2)", "foo(bar:)"},
    {"foo(bar: T2)", "foo(bar:)"},
    {"closure #1 @Sendable () -> () in closure #2 () -> () in Shop.Feed.load() async -> ()",
     "Feed.load()"},
    {"implicit closure #1 in closure #2 in Feed.load()", "Feed.load()"},
    {"partial apply for closure #1 in Feed.load()", "Feed.load()"},
    {"partial apply forwarder for closure #1 () -> () in Shop.Feed.load() -> ()", "Feed.load()"},
    {"specialized Feed.load()", "Feed.load()"},
    {"merged Feed.load()", "Feed.load()"},
    {"@objc Feed.load()", "Feed.load()"},
    {"@nonobjc Feed.load()", "Feed.load()"},
    {"static Feed.load()", "static Feed.load()"},
    {"closure #1 in static Feed.load()", "static Feed.load()"},
    {"static Shop.Feed.load() -> ()", "static Feed.load()"},
    {"dispatch thunk of Feed.load()", "Feed.load()"},
    {"curry thunk of Feed.load()", "Feed.load()"},
    {"vtable thunk for Base.load() dispatching to Feed.load()", "Feed.load()"},
    {"async function pointer to Feed.load()", "Feed.load()"},
    {"(1) await resume partial function for Feed.load()", "Feed.load()"},
    {"(12) suspend resume partial function for Shop.Feed.load() async throws -> ()", "Feed.load()"},
    {"(1) suspend resume partial function for closure #1 () async -> () in main.Feed.load() async "
     "-> ()",
     "Feed.load()"},
    {"generic specialization <Swift.Int> of main.sort<A where A: Swift.Comparable>([A]) -> ()",
     "sort(_:)"},
    {"main.sort<A where A: Swift.Comparable>([A]) -> ()", "sort(_:)"},
    {"sort<A>(_:)", "sort(_:)"},
    {"function signature specialization <Arg[0] = [Closure Propagated : closure #1 (Swift.Int) -> "
     "() in Shop.a() -> (), Argument Types : [Swift.Int]> of Shop.Feed.each(_: () -> ()) -> ()",
     "Feed.each(_:)"},
    {"protocol witness for Subscriber.receive(_:) in conformance Subscribers.Sink<A, B>",
     "Subscribers.Sink.receive(_:)"},
    {"protocol witness for Swift.IteratorProtocol.next() -> A.Element? in conformance Shop.Feed : "
     "Swift.IteratorProtocol in Shop",
     "Feed.next()"},
    {"protocol witness for Store.isReady.getter in conformance Feed", "Feed.isReady.getter"},
    {"Feed.isReady.getter", "Feed.isReady.getter"},
    {"Shop.Feed.isReady.getter : Swift.Bool", "Feed.isReady.getter"},
    {"Shop.FeedView.body.getter : some", "FeedView.body.getter"},
    {"Feed.__allocating_init(id:)", "Feed.init(id:)"},
    {"Feed.__deallocating_deinit", "Feed.deinit"},
    {"Shop.(Cache in _3F2A00).drop() -> ()", "Cache.drop()"},
    {"(extension in Shop):Swift.Array.chunked(into: Swift.Int) -> [[A]]", "Array.chunked(into:)"},
    {"Array.chunked(into:)", "Array.chunked(into:)"},
    {"Shop.Feed.put([Swift.String : Any], at: (Swift.Int, Swift.Int)) -> ()", "Feed.put(_:at:)"},
    {"Shop.Feed.next(isolation: isolated Swift.Actor?) async throws(A) -> B?",
     "Feed.next(isolation:)"},
    {"variable initialization expression of Shop.Feed.items : [Swift.Int]", "Feed.items"},
    {"default argument 1 of Feed.put(_:at:)", "Feed.put(_:at:)"},
    {"helper #1 (_:) in Feed.load()", "helper #1 (_:) in Feed.load()"},
    {"helper #2 (Swift.Int) -> () in Shop.Feed.load() -> ()", "helper #2 (_:) in Feed.load()"},
    {"static String.< infix(_:_:)", "static String.<(_:_:)"},
    {"static Swift.String.< infix(Swift.String, Swift.String) -> Swift.Bool",
     "static String.<(_:_:)"},
    {"helper #1 <A>(a:) in static Feed.load()", "helper #1 (a:) in static Feed.load()"},
    {"init() -> Step #1 in Shop.run() -> () in Step #1 in Shop.run() -> ()",
     "init() in Step #1 in run()"},
    {"go() in Step #1 in Feed.load()", "go() in Step #1 in Feed.load()"},
    {"Feed.title.modify2", "Feed.title.modify"},
    {"Feed.title.read2", "Feed.title.read"},
    {"protocol witness for P.readAll() in conformance Feed", "Feed.readAll()"},
    {"protocol witness for static P.make() in conformance Feed", "static Feed.make()"},
    {"protocol witness for P.run() in conformance <A> [A]", "Array.run()"},
    {"protocol witness for P.run() in conformance <A, B where A: Swift.Hashable> [A : B] : Shop.P "
     "in "
     "Shop",
     "Dictionary.run()"},
    {"protocol witness for P.run() in conformance <A> A?", "Optional.run()"},
    {"protocol witness for static Comparable...< infix(_:_:) in conformance Feed",
     "static Feed...<(_:_:)"},
    {"key path getter for Feed.title : Feed", "Feed.title"},
    {"key path setter for Shop.Feed.title : Swift.String : Shop.Feed, serialized", "Feed.title"},
    {"reverse-mode derivative of Feed.f(_:)", "Feed.f(_:)"},
    {"forward-mode derivative of Shop.f(Swift.Float) -> Swift.Float with respect to parameters {0} "
     "and results {0}",
     "f(_:)"},
    {"autodiff subset parameters thunk for pullback from Feed.f(_:)", "Feed.f(_:)"},
    {"peer macro @Observe expansion #2 of title in Feed", "Feed.title"},
    {"freestanding macro expansion #1 of log in Feed.load()", "Feed.load()"},
    {"freestanding macro expansion #1 of log in module Shop file Feed.swift line 4 column 5",
     "Feed.swift"},
    {"outlined bridged method (mbnn) of @objc Feed.load()", "Feed.load()"},
    {"Feed.load() (.cold.1)", "Feed.load()"},
    {"bootstrap()", "bootstrap()"},
    {"Shop.bootstrap() -> ()", "bootstrap()"},
    {"one-time initialization function for shared", "shared"},
    {"$s4Shop4FeedC4loadyyYaFTQ0_", "$s4Shop4FeedC4loadyyYaF"},
    {"$s4Shop4FeedC4loadyyYaFTY12_", "$s4Shop4FeedC4loadyyYaF"},
    {"_$s4Shop4FeedC4loadyyYaF", "$s4Shop4FeedC4loadyyYaF"},
    {"$s4Shop4FeedC4loadyyF.resume.0", "$s4Shop4FeedC4loadyyF"},
    {"$s4Shop4FeedC4loadyyFTo", "$s4Shop4FeedC4loadyyF"},
};

static const struct pair CXX[] = {
    {"net::Client::poll(int)", "net::Client::poll"},
    {"void foo<int>(int)", "foo<>"},
    {"unsigned long ns::B<int, std::vector<A> >::size() const", "ns::B<>::size"},
    {"ns::A::A(ns::A&&)", "ns::A::A"},
    {"ns::A::~A()", "ns::A::~A"},
    {"foo(int)::$_0::operator()(int) const", "foo"},
    {"foo(int)::$_5::operator()(int) const", "foo"},
    {"foo(int)::{lambda(int)#1}::operator()(int) const", "foo"},
    {"foo(int) const::'lambda'(int)::operator()(int) const", "foo"},
    {"auto ns::foo(int)::'lambda0'(auto)::operator()<int>(int) const", "ns::foo"},
    {"A::f(std::function<void (int)>)::{lambda()#2}::operator()() const::{lambda(int)#1}::operator("
     ")(int) const",
     "A::f"},
    {"foo()::Local::bar()", "foo::Local::bar"},
    {"Functor::operator()(int)", "Functor::operator()"},
    {"ns::A::operator bool() const", "ns::A::operator bool"},
    {"ns::operator<(A const&, B const&)", "ns::operator<"},
    {"ns::A::operator->() const", "ns::A::operator->"},
    {"operator new(unsigned long)", "operator new"},
    {"void ns::A::f<&ns::B::g>(int)", "ns::A::f<>"},
    {"(anonymous namespace)::load(int)", "(anonymous)::load"},
    {"ns::{anonymous}::load(int)", "ns::(anonymous)::load"},
    {"ns::$_3::operator()(int) const", "ns::$_"},
    {"std::__1::mutex::lock()", "std::mutex::lock"},
    {"std::__cxx11::basic_string<char>::append(char const*)", "std::basic_string<>::append"},
    {"A::f[abi:cxx11](int)", "A::f"},
    {"foo(int) [clone .cold]", "foo"},
    {"foo(int) [clone .part.0] [clone .constprop.1]", "foo"},
    {"foo(int) (.llvm.8812)", "foo"},
    {"virtual thunk to A::f()", "A::f"},
    {"non-virtual thunk to A::f()", "A::f"},
    {"invocation function for block in A::f(int)", "A::f"},
    {"A::f(int) block", "A::f"},
    {"ns::doc::read (this=0x7fffffffcee0, bytes=..., password=u\"a(b\")", "ns::doc::read"},
    {"void (*ns::get<int>(int))(char)", "ns::get<>"},
    {"decltype(std::declval<A&>()()) std::__1::__invoke[abi:v160006]<A&>()", "std::__invoke<>"},
    {"core::ptr::drop_in_place::h0123456789abcdef", "core::ptr::drop_in_place"},
    {"shop::feed::reload::{{closure}}::h0123456789abcdef", "shop::feed::reload"},
    {"shop[9f3c2a1b]::feed::reload::{closure#3}", "shop::feed::reload"},
    {"<alloc::vec::Vec<T,A> as core::ops::drop::Drop>::drop",
     "<alloc::vec::Vec<> as core::ops::drop::Drop>::drop"},
    /* Rust's two ways to write a type's own function, and what tools without Rust make of one */
    {"<shop::feed::Feed>::reload", "shop::feed::Feed::reload"},
    {"<shop::Pool<u8>>::get::{closure#0}", "shop::Pool<>::get"},
    {"<dyn shop::Load>::all", "shop::Load::all"},
    {"shop::feed::Feed::reload::_$u7b$$u7b$closure$u7d$$u7d$::h0123456789abcdef",
     "shop::feed::Feed::reload"},
    {"_$LT$shop..feed..Feed$u20$as$u20$shop..Load$GT$::load::h0123456789abcdef",
     "<shop::feed::Feed as shop::Load>::load"},
    {"shop::scoped::Scoped$LT$T$GT$::set::h0123456789abcdef", "shop::scoped::Scoped<>::set"},
    {"shop::a$LT$T$GT$::set::h0123456789abcde", "shop::a$LT$T$GT$::set::h0123456789abcde"},
};

static const struct pair OTHERS[] = {
    {"-[Feed reload:]", "-[Feed reload:]"},
    {"+[Feed shared]", "+[Feed shared]"},
    {"__16-[Feed reload:]_block_invoke", "-[Feed reload:]"},
    {"__16-[Feed reload:]_block_invoke_2", "-[Feed reload:]"},
    {"__16-[Feed reload:]_block_invoke.113", "-[Feed reload:]"},
    {"__16-[Feed reload:]_block_invoke_2.cold.1", "-[Feed reload:]"},
    {"-[Feed reload:] block", "-[Feed reload:]"},
    {"-[UIView(UIConstraintBasedLayout) systemLayoutSizeFittingSize:]",
     "-[UIView(UIConstraintBasedLayout) systemLayoutSizeFittingSize:]"},
    {"-[Feed .cxx_destruct]", "-[Feed .cxx_destruct]"},
    {"-[Feed reload:] + 124", "-[Feed reload:]"},
    /* il2cpp: forty digits that change with every build */
    {"Enemy_Update_m0123456789ABCDEF0123456789ABCDEF01234567", "Enemy_Update"},
    {"Pool_1_Get_mF0B1C2D3E4F5061728394A5B6C7D8E9F0A1B2C3D_gshared_inline", "Pool_1_Get"},
    {"Invoker_t700C6383A2A510C2CF4DD86DABD5CA9FF70ADAC5(void (*)(), void*)", "Invoker"},
    {"Loader_U3CRunU3Eb__6_12_mD2571AB5D64980EC6B23A5512C93FD0DEBAC614B", "Loader_Run"},
    {"U3CU3Ec_U3CRunU3Eb__6_12_mD2571AB5D64980EC6B23A5512C93FD0DEBAC614B",
     "U3CU3Ec_U3CRunU3Eb__6_12"}, /* of no class that is known */
    {"Loader_U3CRunU3Ed__6_MoveNext", "Loader_U3CRunU3Ed__6_MoveNext"},
    {"_ChartPainter.paint.<anonymous closure>.<anonymous closure>", "_ChartPainter.paint"},
    {"Enemy_Update_m0123456789ABCDEF0123456789ABCDEF0123456",
     "Enemy_Update_m0123456789ABCDEF0123456789ABCDEF0123456"},
    {"Enemy_Update_m0123456789abcdef0123456789abcdef01234567",
     "Enemy_Update_m0123456789abcdef0123456789abcdef01234567"},
    {"Enemy_Update_x0123456789ABCDEF0123456789ABCDEF01234567",
     "Enemy_Update_x0123456789ABCDEF0123456789ABCDEF01234567"},
    {"db_query", "db_query"},
    {"db_query.cold.1", "db_query"},
    {"db_query.part.0", "db_query"},
    {"db_query.isra.0.constprop.2", "db_query"},
    {"db_query.llvm.1234567", "db_query"},
    {"db_query.123", "db_query"},
    {"__db_query_block_invoke", "db_query"},
    {"__db_query_block_invoke_3", "db_query"},
    {"mach_msg2_trap", "mach_msg2_trap"},
    {"__CFRUNLOOP_IS_CALLING_OUT_TO_A_BLOCK__", "__CFRUNLOOP_IS_CALLING_OUT_TO_A_BLOCK__"},
};

/* Nothing that tells one cause from another (B27, B39, B52). */
static const char *const NOTHING[] = {
    "",
    "   ",
    "0x1043f2a10",
    "<redacted>",
    "<unknown>",
    "<compiler-generated>",
    "<anonymous closure>",
    "<hidden>",
    "???",
    "__hidden#8730_",
    "___lldb_unnamed_symbol12$$Shop",
    "OUTLINED_FUNCTION_3",
    "__swift_destroy_boxed_opaque_existential_1",
    "objc_msgSend$reload",
    "swift_retain",
    "thunk for @escaping @callee_guaranteed () -> ()",
    "partial apply for thunk for @escaping @callee_guaranteed @Sendable () -> ()",
    "reabstraction thunk helper from @callee_guaranteed () -> () to @escaping () -> ()",
    "outlined copy of Swift.String",
    "outlined variable #0 of Feed.load()",
    "partial apply",
    "protocol requirements base descriptor for Feed",
    "method descriptor for Feed.load()",
    "outlined init with take of Any",
    "type metadata accessor for Shop.Feed",
    "lazy protocol witness table accessor for type Feed and conformance Feed",
    "destroy value witness for Shop.Feed",
    "@callee_guaranteed",
    "throws",
    "#1",
    "12",
    "static",
    "async",
    "closure #1",
    "operator()",
    "$_3::operator()(int) const",
};

static void check_pairs(const struct pair *pairs, size_t n)
{
    char key[KEY_NAME_MAX];
    for (size_t i = 0; i < n; i++) {
        normalize_function(pairs[i].name, NULL, 0, key, sizeof(key));
        ck_assert_msg(strcmp(key, pairs[i].key) == 0, "%s: got %s, not %s", pairs[i].name, key,
                      pairs[i].key);
    }
}

#define CHECK_PAIRS(pairs) check_pairs(pairs, sizeof(pairs) / sizeof((pairs)[0]))

START_TEST(swift)
{
    CHECK_PAIRS(SWIFT);
}
END_TEST

START_TEST(cxx_and_rust)
{
    CHECK_PAIRS(CXX);
}
END_TEST

START_TEST(objc_and_c)
{
    CHECK_PAIRS(OTHERS);
}
END_TEST

START_TEST(names_without_identity)
{
    char key[KEY_NAME_MAX];
    for (size_t i = 0; i < sizeof(NOTHING) / sizeof(NOTHING[0]); i++) {
        normalize_function(NOTHING[i], NULL, 0, key, sizeof(key));
        ck_assert_msg(*key == 0, "%s: got %s", NOTHING[i], key);
    }
    ck_assert_uint_eq(normalize_function(NULL, NULL, 0, key, sizeof(key)), 0);
}
END_TEST

START_TEST(different_functions_stay_apart)
{
    static const char *const NAMES[] = {
        "Feed.reload()",
        "Feed.reload(_:)",
        "Feed.reload(animated:)",
        "static Feed.reload(animated:)",
        "helper #1 () in Feed.reload()",
        "helper #2 () in Feed.reload()",
        "Feed.load()",
        "Cart.reload()",
        "-[Feed reload]",
        "+[Feed reload]",
        "-[Feed(Cache) reload]",
        "Feed::reload()",
        "ns::Feed::reload()",
        "Feed<int>::reload()",
        "Feed::operator()(int)",
        "Feed::operator[](int)",
        "Feed.items.getter",
        "Feed.items.setter",
        "helper() in Feed.reload()",
        "feed_reload",
        "String.==(_:_:)",
        "String.<(_:_:)",
        "A::operator<(A)",
        "A::operator<<(A)",
        "A::operator<=(A)",
    };
    size_t n = sizeof(NAMES) / sizeof(NAMES[0]);
    char a[KEY_NAME_MAX];
    char b[KEY_NAME_MAX];
    for (size_t i = 0; i < n; i++) {
        for (size_t k = i + 1; k < n; k++) {
            normalize_function(NAMES[i], NULL, 0, a, sizeof(a));
            normalize_function(NAMES[k], NULL, 0, b, sizeof(b));
            ck_assert_msg(strcmp(a, b) != 0, "%s and %s are both %s", NAMES[i], NAMES[k], a);
        }
    }
}
END_TEST

START_TEST(local_functions_take_their_file)
{
    char key[KEY_NAME_MAX];
    normalize_function("tick", "/src/app/clock.c", 1, key, sizeof(key));
    ck_assert_str_eq(key, "tick@clock.c");
    normalize_function("tick", "timer.c", 1, key, sizeof(key));
    ck_assert_str_eq(key, "tick@timer.c");
    normalize_function("tick.cold.1", "timer.c", 1, key, sizeof(key));
    ck_assert_str_eq(key, "tick@timer.c");
    normalize_function("tick", "timer.c", 0, key, sizeof(key));
    ck_assert_str_eq(key, "tick");
    normalize_function("tick", NULL, 1, key, sizeof(key));
    ck_assert_str_eq(key, "tick");
    normalize_function("tick@clock.c", "clock.c", 1, key, sizeof(key));
    ck_assert_str_eq(key, "tick@clock.c");
    normalize_function("(anonymous namespace)::tick(int)", "a/clock.cpp", 1, key, sizeof(key));
    ck_assert_str_eq(key, "(anonymous)::tick@clock.cpp");
    normalize_function("-[Feed reload:]", "Feed.m", 1, key, sizeof(key));
    ck_assert_str_eq(key, "-[Feed reload:]");
    normalize_function("Feed.reload()", "Feed.swift", 1, key, sizeof(key));
    ck_assert_str_eq(key, "Feed.reload()");
    normalize_function("__cxx_global_var_init.3", "Table.cpp", 0, key, sizeof(key));
    ck_assert_str_eq(key, "__cxx_global_var_init@Table.cpp");
}
END_TEST

/* A cut name may lose its identity, never its memory safety, and what comes out is its own form. */
static void check_prefixes(const char *name)
{
    char cut[KEY_NAME_MAX];
    char key[KEY_NAME_MAX];
    char again[KEY_NAME_MAX];
    size_t len = strlen(name);
    for (size_t n = 0; n <= len && n < sizeof(cut); n++) {
        char *exact = malloc(n + 1); /* so that a sanitizer sees a read past the end */
        ck_assert_ptr_nonnull(exact);
        memcpy(exact, name, n);
        exact[n] = 0;
        size_t got = normalize_function(exact, NULL, 0, key, sizeof(key));
        ck_assert_uint_eq(got, strlen(key));
        ck_assert_msg(got <= n + KEY_NAME_SLACK, "%s grows to %s", exact, key);
        normalize_function(key, NULL, 0, again, sizeof(again));
        ck_assert_msg(strcmp(key, again) == 0, "%s: %s, then %s", exact, key, again);
        free(exact);
    }
}

START_TEST(every_prefix_is_safe_and_every_form_is_its_own)
{
    for (size_t i = 0; i < sizeof(SWIFT) / sizeof(SWIFT[0]); i++)
        check_prefixes(SWIFT[i].name);
    for (size_t i = 0; i < sizeof(CXX) / sizeof(CXX[0]); i++)
        check_prefixes(CXX[i].name);
    for (size_t i = 0; i < sizeof(OTHERS) / sizeof(OTHERS[0]); i++)
        check_prefixes(OTHERS[i].name);
    for (size_t i = 0; i < sizeof(NOTHING) / sizeof(NOTHING[0]); i++)
        check_prefixes(NOTHING[i]);
}
END_TEST

START_TEST(small_buffers_cut)
{
    char small[8];
    ck_assert_uint_eq(normalize_function("Feed.reload(_:)", NULL, 0, small, sizeof(small)), 7);
    ck_assert_str_eq(small, "Feed.re");
    small[0] = 'x';
    ck_assert_uint_eq(normalize_function("Feed", NULL, 0, small, 0), 0);
    ck_assert_int_eq(small[0], 'x');
}
END_TEST

START_TEST(long_names_end)
{
    size_t n = 200000;
    char *name = malloc(n + 1);
    char key[KEY_NAME_MAX];
    ck_assert_ptr_nonnull(name);
    static const char FILLERS[] = "<([{a:.'$\"";
    for (const char *f = FILLERS; *f; f++) {
        memset(name, *f, n);
        name[n] = 0;
        ck_assert_uint_lt(normalize_function(name, NULL, 0, key, sizeof(key)), sizeof(key));
    }
    free(name);
}
END_TEST

/* Data descriptors and bare types are no functions: both forms need not agree on them. */
static int no_function(const char *full)
{
    static const char *const MARKS[] = {"descriptor", "derivative", "deinit",
                                        "symbolic",   "macro",      " key for "};
    for (size_t i = 0; i < sizeof(MARKS) / sizeof(MARKS[0]); i++) {
        if (strstr(full, MARKS[i]))
            return 1;
    }
    return !strchr(full, '(');
}

START_TEST(both_forms_of_apples_demangler_agree)
{
    static const char *const FILES[] = {"swift/stdlib.tsv", "swift/old.tsv"};
    size_t compared = 0;
    for (size_t i = 0; i < 2; i++) {
        char line[16384];
        char path[512];
        const char *data = getenv("STALLSYM_DATA");
        snprintf(path, sizeof(path), "%s/%s", data ? data : "../shared/data", FILES[i]);
        FILE *f = fopen(path, "r");
        if (!f) {
            printf("skipped: %s is not there\n", path);
            return;
        }
        while (fgets(line, sizeof(line), f)) {
            char a[KEY_NAME_MAX];
            char b[KEY_NAME_MAX];
            char *full = strchr(line, '\t');
            char *simplified = full ? strchr(full + 1, '\t') : NULL;
            if (!simplified)
                continue;
            *simplified++ = 0;
            full++;
            simplified[strcspn(simplified, "\r\n")] = 0;
            if (no_function(full))
                continue;
            normalize_function(full, NULL, 0, a, sizeof(a));
            normalize_function(simplified, NULL, 0, b, sizeof(b));
            ck_assert_msg(strcmp(a, b) == 0, "%s: %s\n%s: %s", full, a, simplified, b);
            compared++;
        }
        fclose(f);
    }
    ck_assert_uint_gt(compared, 3000);
}
END_TEST

UNIT_MAIN("normalize", swift, cxx_and_rust, objc_and_c, names_without_identity,
          different_functions_stay_apart, local_functions_take_their_file,
          every_prefix_is_safe_and_every_form_is_its_own, small_buffers_cut, long_names_end,
          both_forms_of_apples_demangler_agree)
