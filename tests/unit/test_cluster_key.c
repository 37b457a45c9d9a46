/* Covers: server/analysis/frame_fates.c */
#include "server/analysis/cluster_key.h"

#include <string.h>

#include "server/analysis/frame_memo.h"
#include "symbolizer/demangle_swift.h"
#include "tests/support/stacks.h"
#include "tests/support/unit.h"

#define MEMORY (8u * 1024 * 1024)

static struct arena arena;
static struct rules *rules;

static void use_rules(const char *text)
{
    struct error err = {0};
    enum err e =
        text ? rules_new(text, strlen(text), &rules, &err) : rules_new_default(&rules, &err);
    ck_assert_msg(e == ERR_OK, "%s", err.text);
    arena_init(&arena, MEMORY);
}

static void done(void)
{
    rules_free(rules);
    arena_done(&arena);
}

static struct cluster_verdict verdict_with(const struct key_options *options, const char *text)
{
    struct cluster_verdict v;
    struct error err = {0};
    struct resolved_stack stack = stack_from_text(text, &arena);
    enum err e = cluster_key_of(rules, options, "com.example.shop", &stack, &arena, &v, &err);
    ck_assert_msg(e == ERR_OK, "%s", err.text);
    size_t logical = 0;
    for (size_t i = 0; i < stack.count; i++)
        logical += stack.frames[i].frame_count ? stack.frames[i].frame_count : 1;
    ck_assert_uint_eq(v.fate_count, logical);
    for (size_t i = 0; i < v.fate_count; i++)
        ck_assert_msg(v.fates[i].rule && *v.fates[i].rule, "frame %zu of\n%s", i, text);
    return v;
}

static struct cluster_verdict verdict(const char *text)
{
    return verdict_with(NULL, text);
}

static bool same(const struct cluster_verdict *a, const struct cluster_verdict *b)
{
    return memcmp(a->key, b->key, CLUSTER_KEY_SIZE) == 0;
}

static void check_same(const char *a, const char *b)
{
    struct cluster_verdict va = verdict(a);
    struct cluster_verdict vb = verdict(b);
    ck_assert_msg(same(&va, &vb), "%s and %s", va.key_text, vb.key_text);
}

static void check_differ(const char *a, const char *b)
{
    struct cluster_verdict va = verdict(a);
    struct cluster_verdict vb = verdict(b);
    ck_assert_msg(!same(&va, &vb), "both %s\n%s\n%s", va.key_text, a, b);
}

#define LOOP                                                                                       \
    "CoreFoundation __CFRunLoopRun\nCoreFoundation CFRunLoopRunSpecific\n"                         \
    "GraphicsServices GSEventRunModal\nUIKitCore -[UIApplication _run]\n"                          \
    "UIKitCore UIApplicationMain\nShop!main\ndyld start\n"
#define CALLOUT "CoreFoundation __CFRUNLOOP_IS_CALLING_OUT_TO_A_BLOCK__\n" LOOP
#define PORT    "libsystem_kernel.dylib mach_msg2_trap\nlibsystem_kernel.dylib mach_msg\n"
#define IDLE    PORT "CoreFoundation __CFRunLoopServiceMachPort\n" LOOP

START_TEST(unrelated_stalls_with_equal_waits)
{
    use_rules(NULL);
    const char *a = PORT "libsqlite3.dylib unixRead\nShop!db_query\nShop!on_tap\n" CALLOUT;
    const char *b = PORT "libsqlite3.dylib unixRead\nShop!image_decode\nShop!on_tap\n" CALLOUT;
    const char *c = "libsystem_kernel.dylib __psynch_cvwait\nlibsystem_pthread.dylib "
                    "_pthread_cond_wait\nShop!sync_wait\nShop!on_tap\n" CALLOUT;
    const char *c2 = "libsystem_kernel.dylib __ulock_wait\nlibdispatch.dylib _dlock_wait\nShop!"
                     "sync_wait\nShop!on_tap\n" CALLOUT;
    const char *e = "QuartzCore CA::Layer::layout_if_needed(CA::Transaction*)\nQuartzCore "
                    "CA::Transaction::commit()\n" CALLOUT;
    check_differ(a, b);
    check_differ(a, c);
    check_same(c, c2);
    check_differ(IDLE, e);
    check_differ(IDLE, a);
    check_differ(e, c);
    struct cluster_verdict v = verdict(a);
    ck_assert_int_eq(v.kind, CLUSTER_APP);
    ck_assert_str_eq(v.key_text, "Shop|db_query");
    ck_assert_str_eq(v.title, "db_query");
    ck_assert_str_eq(v.function, "db_query");
    ck_assert_str_eq(v.image, "Shop");
    ck_assert_uint_eq(v.culprit_raw, 3);
    done();
}
END_TEST

START_TEST(idle_apps)
{
    use_rules(NULL);
    struct cluster_verdict v = verdict(IDLE);
    ck_assert_int_eq(v.kind, CLUSTER_IDLE);
    ck_assert_str_eq(v.category, "idle");
    ck_assert_str_eq(v.title, "Idle (main run loop)");
    ck_assert_uint_eq(v.culprit_raw, SIZE_MAX);
    ck_assert_ptr_null(v.function);
    /* between two events */
    v = verdict(LOOP);
    ck_assert_int_eq(v.kind, CLUSTER_IDLE);
    /* main of the app has no symbols yet: nothing outside UIApplicationMain counts */
    v = verdict(PORT "CoreFoundation __CFRunLoopServiceMachPort\nCoreFoundation "
                     "__CFRunLoopRun\nUIKitCore UIApplicationMain\nShop!?40\ndyld start\n");
    ck_assert_int_eq(v.kind, CLUSTER_IDLE);
    /* SwiftUI */
    v = verdict(PORT
                "CoreFoundation __CFRunLoopServiceMachPort\nCoreFoundation __CFRunLoopRun\n"
                "CoreFoundation CFRunLoopRunSpecific\nGraphicsServices GSEventRunModal\n"
                "UIKitCore -[UIApplication _run]\nUIKitCore UIApplicationMain\n"
                "SwiftUI closure #1 in KitRendererCommon(_:)\nSwiftUI runApp<A>(_:)\n"
                "SwiftUI static App.main()\nShop!static ShopApp.$main()\nShop!main\ndyld start\n");
    ck_assert_int_eq(v.kind, CLUSTER_IDLE);
    done();
}
END_TEST

START_TEST(what_only_looks_idle)
{
    use_rules(NULL);
    /* the same port wait, called by something */
    struct cluster_verdict v =
        verdict(PORT "libxpc.dylib xpc_connection_send_message_with_reply_sync\n" CALLOUT);
    ck_assert_int_eq(v.kind, CLUSTER_SYSTEM_ONLY);
    ck_assert_str_eq(v.category, "ipc");
    /* a lock under the run loop */
    v = verdict("libsystem_kernel.dylib __psynch_mutexwait\n" LOOP);
    ck_assert_int_eq(v.kind, CLUSTER_SYSTEM_ONLY);
    /* a call-out whose callee is not known */
    v = verdict("UIKitCore ?10\n" CALLOUT);
    ck_assert_int_eq(v.kind, CLUSTER_SYSTEM_ONLY);
    /* a wait without a run loop */
    v = verdict(PORT "libsystem_pthread.dylib _pthread_start\n");
    ck_assert_int_eq(v.kind, CLUSTER_SYSTEM_ONLY);
    /* no names at all */
    v = verdict(
        "libsystem_kernel.dylib ?10\nlibsystem_kernel.dylib ?20\nCoreFoundation ?30\n"
        "CoreFoundation ?40\nGraphicsServices ?50\nUIKitCore ?60\nUIKitCore ?70\ndyld ?80\n");
    ck_assert_int_eq(v.kind, CLUSTER_SYSTEM_ONLY);
    ck_assert_str_eq(v.category, "unknown");
    ck_assert_str_eq(v.key_text, "images: libsystem_kernel.dylib < CoreFoundation < "
                                 "GraphicsServices < UIKitCore < dyld");
    done();
}
END_TEST

START_TEST(nameless_kernel_frames_do_not_hide_an_idle_loop)
{
    use_rules(NULL);
    struct cluster_verdict v = verdict("libsystem_kernel.dylib ?10\nCoreFoundation "
                                       "__CFRunLoopServiceMachPort\n" LOOP);
    ck_assert_int_eq(v.kind, CLUSTER_IDLE);
    v = verdict(PORT "libxpc.dylib ?10\nCoreFoundation __CFRunLoopRun\nUIKitCore "
                     "UIApplicationMain\n");
    ck_assert_int_eq(v.kind, CLUSTER_SYSTEM_ONLY);
    done();
}
END_TEST

START_TEST(the_leaf_and_the_compiler_do_not_matter)
{
    use_rules(NULL);
    const char *plain = "libsqlite3.dylib sqlite3_step\nShop!Feed.reload(_:)\nShop!main\n";
    static const char *const SAME[] = {
        "libsystem_kernel.dylib pread\nlibsqlite3.dylib sqlite3_step\nShop!Feed.reload(_:)\n",
        "Shop!closure #2 in Feed.reload(_:)\nShop!Feed.reload(_:)\nShop!main\n",
        "Shop!closure #7 in Feed.reload(_:)\nShop!Cart.open()\nShop!main\n",
        "libswiftCore.dylib swift_retain\nShop!specialized Feed.reload(_:)\n",
        "Shop!OUTLINED_FUNCTION_3\nShop!Feed.reload(_:)\n",
        "Shop!thunk for @escaping @callee_guaranteed () -> ()\nShop!@objc Feed.reload(_:)\n",
        "Shop!Shop.Feed.reload(Swift.Int) -> () (.cold.1)\n",
        "Shop!(1) await resume partial function for Feed.reload(_:)\n",
        "Shop!specialized Sequence.map<A>(_:)\nShop!Feed.reload(_:)\n",
        "+Shop!closure #1 in Feed.reload(_:)\nShop!Feed.reload(_:)\nShop!main\n",
        "Shop!std::vector<int>::push_back(int)\nShop!operator new(unsigned long)\n"
        "Shop!Feed.reload(_:)\n",
    };
    for (size_t i = 0; i < sizeof(SAME) / sizeof(SAME[0]); i++)
        check_same(plain, SAME[i]);
    check_differ(plain, "Shop!Feed.load(_:)\nShop!Feed.reload(_:)\n");
    check_differ(plain, "ShopKit!Feed.reload(_:)\n");
    done();
}
END_TEST

START_TEST(keys_do_not_depend_on_lines_or_builds)
{
    use_rules(NULL);
    struct resolved_stack a =
        stack_from_text("Shop!Feed.reload(_:) @@Feed.swift\nShop!main\n", &arena);
    struct resolved_stack b =
        stack_from_text("Shop!Feed.reload(_:) @@Feed2.swift\nShop!main\n", &arena);
    struct resolved_frame *frames = (struct resolved_frame *)b.frames;
    struct frame *frame = (struct frame *)frames[0].frames;
    struct cluster_verdict va;
    struct cluster_verdict vb;
    frames[0].image.bytes[3] ^= 1; /* another build */
    frames[0].raw.offset = frames[0].offset = 0x4444;
    frame->line = 812;
    ck_assert_int_eq(cluster_key_of(rules, NULL, "app", &a, &arena, &va, NULL), ERR_OK);
    ck_assert_int_eq(cluster_key_of(rules, NULL, "app", &b, &arena, &vb, NULL), ERR_OK);
    ck_assert(same(&va, &vb));
    ck_assert_mem_eq(va.variant, vb.variant, CLUSTER_KEY_SIZE);
    ck_assert_str_eq(va.file, "Feed.swift");
    ck_assert_int_eq(cluster_key_of(rules, NULL, "other app", &b, &arena, &vb, NULL), ERR_OK);
    ck_assert(!same(&va, &vb));
    done();
}
END_TEST

static const char *repeat(const char *text, size_t times, const char *tail)
{
    size_t n = strlen(text);
    char *out = arena_alloc(&arena, n * times + strlen(tail) + 1);
    for (size_t i = 0; i < times; i++)
        memcpy(out + i * n, text, n);
    memcpy(out + n * times, tail, strlen(tail));
    return out;
}

START_TEST(recursion_is_one_frame)
{
    use_rules("depth=3 image=Shop\ndrop=base: main\n");
    const char *tail = "Shop!start_walk\nShop!main\n";
    const char *w3 = repeat("Shop!walk\n", 3, tail);
    const char *w40 = repeat("Shop!walk\n", 40, tail);
    const char *p2 = repeat("Shop!ping\nShop!pong\n", 2, tail);
    const char *p9 = repeat("Shop!ping\nShop!pong\n", 9, tail);
    check_same(w3, w40);
    check_same(p2, p9);
    check_differ(w3, p2);
    struct cluster_verdict v = verdict(w40);
    ck_assert_str_eq(v.key_text, "Shop|walk < Shop|start_walk");
    v = verdict(p9);
    ck_assert_str_eq(v.key_text, "Shop|ping < Shop|pong < Shop|start_walk");
    rules_free(rules);
    arena_done(&arena);

    use_rules(NULL); /* depth 1: cut stacks and samples in either function of a cycle are one */
    check_same(repeat("Shop!walk\n", 3, "Shop!main\n"), repeat("Shop!walk\n", 400, ""));
    check_same(repeat("Shop!pong\nShop!ping\n", 4, ""), repeat("Shop!ping\nShop!pong\n", 9, ""));
    check_same(repeat("Shop!c\nShop!a\nShop!b\n", 3, ""),
               repeat("Shop!b\nShop!c\nShop!a\n", 2, ""));
    /* a closure that a function hands to a helper is no recursion: the function is the culprit */
    check_same("Shop!closure #1 in walk()\nShop!each(_:)\nShop!walk()\nShop!main\n",
               "Shop!walk()\nShop!main\n");
    done();
}
END_TEST

START_TEST(static_twins_stay_apart)
{
    use_rules(NULL);
    check_differ("Shop!tick @@/src/clock.c %local\n", "Shop!tick @@/src/timer.c %local\n");
    check_same("Shop!tick @@/src/clock.c %local\n", "Shop!tick.cold.1 @@/other/clock.c %local\n");
    struct cluster_verdict v = verdict("Shop!tick @@/src/clock.c %local\n");
    ck_assert_str_eq(v.key_text, "Shop|tick@clock.c");
    ck_assert_str_eq(v.title, "tick");
    done();
}
END_TEST

START_TEST(equal_names_by_way_of_other_call_sites)
{
    use_rules(NULL);
    struct cluster_verdict a = verdict(PORT "Shop!db_query\nShop!on_tap\n" CALLOUT);
    struct cluster_verdict b = verdict(
        "libsystem_kernel.dylib ?10\nlibsystem_kernel.dylib ?20\nShop!db_query\nShop!on_tap\n"
        "CoreFoundation ?30\nCoreFoundation ?40\nUIKitCore ?50\nShop!main\ndyld ?60\n");
    ck_assert(same(&a, &b)); /* B72: the device stopped sending names */
    done();
}
END_TEST

START_TEST(the_sdk_is_never_the_cause)
{
    use_rules(NULL);
    const char *plain = "Shop!Feed.reload(_:)\nShop!main\n";
    check_same(plain, "Shop!-[SentryHub captureEvent:]\nShop!Feed.reload(_:)\nShop!main\n");
    check_same(plain,
               "Shop!ksmc_fillState\nShop!-[KSCrash sharedInstance]\nShop!Feed.reload(_:)\n");
    check_same(plain, "Shop!__27-[WCBlockMonitorMgr check]_block_invoke\nShop!Feed.reload(_:)\n");
    check_same(plain, "Sentry!-[Foo bar]\nShop!Feed.reload(_:)\n");
    struct cluster_verdict v = verdict("Shop!-[SentryHub a]\nShop!Feed.reload(_:)\n");
    ck_assert_str_eq(v.fates[0].rule, "drop sdk: ?[Sentry*");
    ck_assert(!v.fates[0].kept);
    ck_assert(v.fates[1].kept);
    ck_assert_str_eq(v.fates[1].rule, "first app frame");
    done();
}
END_TEST

START_TEST(vendors_stand_back)
{
    use_rules(NULL);
    const char *plain = "Shop!Feed.reload(_:)\nShop!main\n";
    check_same(plain, "GRDB!DatabaseQueue.read<A>(_:)\nShop!Feed.reload(_:)\n");
    check_same(plain, "Shop!-[FMResultSet next]\nShop!-[FMDatabaseQueue inDatabase:]\nShop!"
                      "Feed.reload(_:)\n");
    /* a vendor without symbols holds nothing up */
    check_same(plain, "GRDB!?1c0\nShop!Feed.reload(_:)\n");
    /* alone it is better than nothing */
    struct cluster_verdict v = verdict("GRDB!DatabaseQueue.read<A>(_:)\nlibdispatch.dylib "
                                       "_dispatch_client_callout\n");
    ck_assert_int_eq(v.kind, CLUSTER_APP);
    ck_assert_str_eq(v.key_text, "DatabaseQueue.read(_:)");
    /* linked into the app or a framework of its own, it is the same function */
    check_same("Realm!realm::DB::open(x)\n", "Shop!realm::DB::open(x)\n");
    done();
}
END_TEST

START_TEST(system_only)
{
    use_rules(NULL);
    const char *a = PORT "QuartzCore CARenderServerSnapshot_\nUIKitCore "
                         "-[UIApplication _createSnapshot]\n" CALLOUT;
    struct cluster_verdict v = verdict(a);
    ck_assert_int_eq(v.kind, CLUSTER_SYSTEM_ONLY);
    ck_assert_str_eq(v.key_text, "Scene snapshot"); /* a system_group of the default rules */
    ck_assert_uint_eq(v.culprit_raw, SIZE_MAX);
    ck_assert_ptr_null(v.image);
    check_same(a, "QuartzCore CARenderServerSnapshot_\nUIKitCore -[UIApplication x]\n" CALLOUT);
    check_differ(a, "CoreText CTLineDraw\nUIKitCore -[UIApplication x]\n" CALLOUT);
    /* containers when nothing else is there */
    v = verdict(
        "UIKitCore -[UIWindow sendEvent:]\nUIKitCore -[UIApplication sendEvent:]\n" CALLOUT);
    ck_assert_str_eq(v.key_text, "-[UIWindow sendEvent:] < -[UIApplication sendEvent:]");
    /* three at most */
    v = verdict("A a\nB b\nC c\nD d\n");
    ck_assert_str_eq(v.key_text, "a < b < c");
    ck_assert_str_eq(v.fates[3].rule, "beyond the first system frames");
    /* not in one cluster with an app's function of that name */
    check_differ("A a\n", "A!a\n");
    done();
}
END_TEST

START_TEST(system_groups)
{
    use_rules("system_group=Fonts: TFont::*\nsystem_group=Layout: NSIS* TFont::late\n"
              "boundary: loop\n");
    struct cluster_verdict v = verdict("CoreText TFont::get(int)\nUIKitCore a\nUIKitCore NSISx\n");
    ck_assert_int_eq(v.kind, CLUSTER_SYSTEM_ONLY);
    ck_assert_str_eq(v.key_text, "Fonts");
    ck_assert_str_eq(v.title, "Fonts");
    ck_assert(v.fates[0].kept && !v.fates[1].kept);
    ck_assert_str_eq(v.fates[0].rule, "system_group Fonts");
    /* the file's first line decides, wherever its frame is */
    check_same("CoreText TFont::get(int)\n", "UIKitCore NSISx\nCoreText TFont::set()\nU x\n");
    check_differ("UIKitCore NSISx\n", "CoreText TFont::set()\n");
    /* not where the app's own code is, nor outside a boundary */
    v = verdict("CoreText TFont::get(int)\nShop!Feed.reload()\n");
    ck_assert_str_eq(v.key_text, "Shop|Feed.reload()");
    v = verdict("UIKitCore a\nlibc loop\nCoreText TFont::get(int)\n");
    ck_assert_str_eq(v.key_text, "a < loop");
    done();
}
END_TEST

START_TEST(unmappable)
{
    use_rules(NULL);
    struct cluster_verdict v = verdict("-\n-\n");
    ck_assert_int_eq(v.kind, CLUSTER_UNMAPPABLE);
    check_same("-\n-\n", "-\n-\n-\n");
    check_same("-\n", "");
    check_differ("-\n", "Shop!?10\n-\n");
    v = verdict("-\nShop!Feed.reload(_:)\n");
    ck_assert_int_eq(v.kind, CLUSTER_APP);
    ck_assert_str_eq(v.fates[0].rule, "in no image");
    done();
}
END_TEST

START_TEST(provisional)
{
    use_rules(NULL);
    const char *a = PORT "Shop!?1c0\nShop!?240\n" CALLOUT;
    struct cluster_verdict v = verdict(a);
    ck_assert_int_eq(v.kind, CLUSTER_PROVISIONAL);
    ck_assert_str_eq(v.title, "Shop+0x1c0");
    ck_assert_uint_eq(v.culprit_raw, 2);
    ck_assert_str_eq(v.image, "Shop");
    ck_assert_ptr_null(v.function);
    ck_assert_str_eq(v.fates[2].rule, "waits for its symbol file");
    check_same(a, "libsystem_kernel.dylib ?10\nShop!?1c0\nUIKitCore ?10\nShop!?240\n");
    check_differ(a, PORT "Shop!?1d0\nShop!?240\n" CALLOUT);
    check_differ(a, PORT "Shop2!?1c0\nShop!?240\n" CALLOUT);
    /* a resolved frame outside does not help: the cause is the inner one */
    v = verdict("Shop!?1c0\nShop!Feed.reload(_:)\n");
    ck_assert_int_eq(v.kind, CLUSTER_PROVISIONAL);
    /* a resolved cause does not wait for what lies outside */
    v = verdict("Shop!Feed.reload(_:)\nKit!?1c0\n");
    ck_assert_int_eq(v.kind, CLUSTER_APP);
    done();
}
END_TEST

START_TEST(waiting_no_longer)
{
    use_rules(NULL);
    const struct key_options skip = {.skip_unresolved = true};
    struct cluster_verdict v = verdict_with(&skip, "Kit!?1c0\nShop!Feed.reload(_:)\n");
    ck_assert_int_eq(v.kind, CLUSTER_APP);
    ck_assert_str_eq(v.key_text, "Shop|Feed.reload(_:)");
    ck_assert_str_eq(v.fates[0].rule, "skipped: no symbol file came");
    v = verdict_with(&skip, "Kit!?1c0\nShop!?240\n");
    ck_assert_int_eq(v.kind, CLUSTER_PROVISIONAL);
    done();
}
END_TEST

START_TEST(out_of_range)
{
    use_rules(NULL);
    struct cluster_verdict v = verdict("Shop!\?\?1c0\nShop!Feed.reload(_:)\nShop!Cart.open()\n");
    ck_assert_int_eq(v.kind, CLUSTER_APP);
    ck_assert_str_eq(v.key_text, "Shop|Shop+? < Shop|Feed.reload(_:)");
    check_same("Shop!\?\?1c0\nShop!Feed.reload(_:)\n", "Shop!\?\?888\nShop!Feed.reload(_:)\n");
    v = verdict("Shop!__hidden#12_\nShop!Feed.reload(_:)\n"); /* B39 */
    ck_assert_str_eq(v.key_text, "Shop|Shop+? < Shop|Feed.reload(_:)");
    v = verdict("Shop!\?\?1c0\n");
    ck_assert_str_eq(v.key_text, "Shop|Shop+?");
    done();
}
END_TEST

START_TEST(main_is_no_app_frame)
{
    use_rules(NULL);
    struct cluster_verdict v = verdict("libsystem_c.dylib sleep\nShop!main\ndyld start\n");
    ck_assert_int_eq(v.kind, CLUSTER_SYSTEM_ONLY);
    done();
}
END_TEST

START_TEST(depth_and_plumbing)
{
    use_rules("plumbing: *.withLock(_:)\ndepth=2: Router.*\n");
    struct cluster_verdict v = verdict("Shop!Lock.withLock(_:)\nShop!Feed.reload()\nShop!a\n");
    ck_assert_str_eq(v.key_text, "Shop|Feed.reload()");
    ck_assert_str_eq(v.title, "Feed.reload()");
    ck_assert_str_eq(v.function, "Feed.reload()");
    ck_assert_uint_eq(v.culprit_raw, 1);
    ck_assert(!v.fates[0].kept && v.fates[1].kept);
    ck_assert_str_eq(v.fates[0].rule, "plumbing: the frame behind it tells the cause");
    ck_assert_str_eq(v.fates[1].rule, "behind plumbing");
    /* inside the lock and waiting for it: one cause */
    check_same("Shop!Lock.withLock(_:)\nShop!Feed.reload()\nShop!a\n",
               "Shop!closure #1 in Feed.reload()\nShop!Lock.withLock(_:)\nShop!Feed.reload()\n");
    ck_assert_str_eq(v.fates[2].rule, "beyond the depth");
    v = verdict(
        "Shop!Lock.withLock(_:)\nShop!Lock.withLock(_:)\nShop!B.withLock(_:)\nShop!f\nShop!g\n");
    ck_assert_str_eq(v.key_text, "Shop|f");
    v = verdict("Shop!Lock.withLock(_:)\nShop!Router.open(_:)\nShop!B.withLock(_:)\nShop!f\n");
    ck_assert_str_eq(v.key_text, "Shop|Router.open(_:) < Shop|f"); /* the culprit's depth */
    v = verdict("Shop!Lock.withLock(_:)\nShop!B.withLock(_:)\n");
    ck_assert_str_eq(v.key_text, "Shop|Lock.withLock(_:) < Shop|B.withLock(_:)");
    v = verdict("Shop!Lock.withLock(_:)\n");
    ck_assert_str_eq(v.key_text, "Shop|Lock.withLock(_:)");
    v = verdict("Shop!Router.open(_:)\nShop!Feed.reload()\nShop!a\n");
    ck_assert_str_eq(v.key_text, "Shop|Router.open(_:) < Shop|Feed.reload()");
    v = verdict("Shop!Feed.reload()\nShop!Router.open(_:)\n");
    ck_assert_str_eq(v.key_text, "Shop|Feed.reload()");
    done();
}
END_TEST

START_TEST(boundaries)
{
    use_rules("boundary: loop\n");
    struct cluster_verdict v = verdict("libc read\nShop!loop\nShop!Feed.reload()\n");
    ck_assert_str_eq(v.key_text, "Shop|loop");
    v = verdict("libc read\nlibc loop\nShop!Feed.reload()\n");
    ck_assert_int_eq(v.kind, CLUSTER_SYSTEM_ONLY);
    ck_assert_str_eq(v.fates[2].rule, "beyond the boundary");
    done();
}
END_TEST

START_TEST(groups_categories_owners)
{
    use_rules("group=login: *Login*\ncategory=late: b\ncategory=early: c\nowner=core image=Core\n"
              "owner=feed: Feed.*\n");
    struct cluster_verdict a = verdict("Shop!f\nShop!LoginFlow.start()\n");
    struct cluster_verdict b = verdict("libc -[Login x]\n");
    ck_assert(same(&a, &b));
    ck_assert_str_eq(a.title, "login");
    ck_assert_str_eq(a.category, "cpu");
    a = verdict("Shop!c\nShop!b\n");
    ck_assert_str_eq(a.category, "late"); /* the first line of the file, not the first frame */
    ck_assert_ptr_null(a.owner);
    a = verdict("Core!x\nShop!Feed.load()\n");
    ck_assert_str_eq(a.owner, "core");
    a = verdict("Shop!x\nShop!Feed.load()\n");
    ck_assert_str_eq(a.owner, "feed");
    done();
}
END_TEST

START_TEST(classes_by_rule)
{
    use_rules("app image=libplug.dylib\nsystem: legacy_*\nvendor: acme_*\n");
    struct cluster_verdict v = verdict("libplug.dylib plug_wait\nShop!f\n");
    ck_assert_str_eq(v.key_text, "libplug.dylib|plug_wait");
    ck_assert(v.fates[0].in_app);
    v = verdict("Shop!legacy_wait\nShop!acme_wait\nShop!f\n");
    ck_assert_str_eq(v.key_text, "Shop|f");
    ck_assert(!v.fates[0].in_app);
    ck_assert_str_eq(v.fates[1].rule, "vendor: acme_*");
    const struct key_options only = {.app_image = "Kit"};
    v = verdict_with(&only, "Shop!f\nKit g\n");
    ck_assert_str_eq(v.key_text, "Kit|g");
    done();
}
END_TEST

START_TEST(variants_tell_ways_apart)
{
    use_rules(NULL);
    struct cluster_verdict a = verdict("Shop!a\nShop!b\nShop!main\n");
    struct cluster_verdict b = verdict("libc read\nShop!a\nShop!b\n");
    struct cluster_verdict c = verdict("Shop!a\nShop!c\nShop!main\n");
    ck_assert(same(&a, &c));
    ck_assert_mem_eq(a.variant, b.variant, CLUSTER_KEY_SIZE);
    ck_assert_mem_ne(a.variant, c.variant, CLUSTER_KEY_SIZE);
    done();
}
END_TEST

START_TEST(no_memory_is_said)
{
    use_rules(NULL);
    struct error err = {0};
    struct cluster_verdict v;
    struct resolved_stack stack = stack_from_text(IDLE, &arena);
    struct resolved_stack app = stack_from_text("Shop!a\nShop!b\n" CALLOUT, &arena);
    size_t failed = 0;
    for (size_t limit = 16; limit < 64 * 1024; limit += 48) {
        struct arena small;
        arena_init(&small, limit);
        failed += cluster_key_of(rules, NULL, "a", &stack, &small, &v, &err) == ERR_NO_MEMORY;
        arena_reset(&small);
        failed += cluster_key_of(rules, NULL, "a", &app, &small, &v, &err) == ERR_NO_MEMORY;
        arena_done(&small);
    }
    ck_assert_uint_gt(failed, 10);
    done();
}
END_TEST

/* What is shown of a variable's first use does not say whose it is. */
static struct cluster_verdict first_use_of(const char *mangled, const struct key_options *options)
{
    struct cluster_verdict v;
    const struct frame frame = {.function = "one-time initialization function for shared",
                                .mangled = mangled};
    const struct resolved_frame resolved = {.status = FRAME_RESOLVED,
                                            .in_app = true,
                                            .image_name = "Shop",
                                            .frames = &frame,
                                            .frame_count = 1};
    const struct resolved_stack stack = {&resolved, 1};
    ck_assert_int_eq(cluster_key_of(rules, options, "com.example.shop", &stack, &arena, &v, NULL),
                     ERR_OK);
    return v;
}

START_TEST(variables_of_two_types)
{
    use_rules(NULL);
    struct key_options options = {.linkage_key = demangle_swift_key,
                                  .memo = frame_memo_new(rules, 64)};
    for (int i = 0; i < 2; i++) { /* the second time from the memo */
        struct cluster_verdict feed = first_use_of("$s4Shop4FeedC6shared_WZ", &options);
        struct cluster_verdict cart = first_use_of("$s4Shop4CartC6shared_WZ", &options);
        ck_assert_str_eq(feed.title, "Feed.shared");
        ck_assert_str_eq(cart.title, "Cart.shared");
        ck_assert(!same(&feed, &cart));
    }
    struct cluster_verdict unknown = first_use_of(NULL, &options);
    ck_assert_str_eq(unknown.title, "shared");
    unknown = first_use_of("not Swift's", &options);
    ck_assert_str_eq(unknown.title, "shared");
    frame_memo_free(options.memo);
    done();
}
END_TEST

UNIT_MAIN("cluster_key", variables_of_two_types, unrelated_stalls_with_equal_waits, idle_apps,
          what_only_looks_idle, nameless_kernel_frames_do_not_hide_an_idle_loop,
          the_leaf_and_the_compiler_do_not_matter, keys_do_not_depend_on_lines_or_builds,
          recursion_is_one_frame, static_twins_stay_apart, equal_names_by_way_of_other_call_sites,
          the_sdk_is_never_the_cause, vendors_stand_back, system_only, system_groups, unmappable,
          provisional, waiting_no_longer, out_of_range, main_is_no_app_frame, depth_and_plumbing,
          boundaries, groups_categories_owners, classes_by_rule, variants_tell_ways_apart,
          no_memory_is_said)
