#include "server/analysis/category.h"

#include <string.h>

#include "tests/support/stacks.h"
#include "tests/support/unit.h"

#define LOOP "CoreFoundation __CFRunLoopRun\nUIKitCore UIApplicationMain\nShop!main\ndyld start\n"
#define PORT "libsystem_kernel.dylib mach_msg2_trap\nlibsystem_kernel.dylib mach_msg\n"

static const struct {
    const char *category;
    const char *stack;
} KINDS[] = {
    {"lock", "libsystem_kernel.dylib __psynch_mutexwait\nlibsystem_pthread.dylib "
             "_pthread_mutex_firstfit_lock_slow\nFoundation -[NSLock lock]\nShop!Feed.load()\n"},
    {"lock",
     "libsystem_kernel.dylib __ulock_wait\nlibdispatch.dylib _dlock_wait\nlibdispatch.dylib "
     "__DISPATCH_WAIT_FOR_QUEUE__\nlibdispatch.dylib _dispatch_sync_f_slow\nShop!f\n"},
    {"lock", "libsystem_platform.dylib _os_unfair_lock_lock_slow\nShop!f\n"},
    {"network_sync", "libsystem_kernel.dylib kevent\nlibsystem_info.dylib si_addrinfo\n"
                     "libsystem_info.dylib getaddrinfo\nShop!f\n"},
    {"network_sync", "libsystem_kernel.dylib __psynch_cvwait\nCFNetwork +[NSURLConnection "
                     "sendSynchronousRequest:returningResponse:error:]\nShop!f\n"},
    {"database", "libsystem_kernel.dylib pread\nlibsqlite3.dylib unixRead\nlibsqlite3.dylib "
                 "sqlite3_step\nShop!f\n"},
    {"database", "CoreData -[NSManagedObjectContext executeFetchRequest:error:]\nShop!f\n"},
    {"file_io", "libsystem_kernel.dylib open\nShop!f\n"},
    {"file_io", "CoreFoundation CFPreferencesSynchronize\nShop!f\n"},
    {"file_io", "Foundation -[NSFileManager contentsOfDirectoryAtPath:error:]\nShop!f\n"},
    {"parsing", "Foundation JSONDecoder.decode<A>(_:from:)\nShop!f\n"},
    {"parsing", "Foundation +[NSKeyedUnarchiver unarchiveObjectWithData:]\nShop!f\n"},
    {"image", "ImageIO IIOReadPlugin::callDecodeImage(int)\nCoreGraphics ripc_DrawImage\nShop!f\n"},
    {"layout", "CoreAutoLayout -[NSISEngine optimize]\nShop!f\n"},
    {"layout", "CoreText CTLineCreateWithAttributedString\nShop!f\n"},
    {"layout", "AttributeGraph AG::Graph::propagate_dirty(int)\nSwiftUI x\n" LOOP},
    {"render", PORT "QuartzCore CA::Render::Encoder::send_message(int)\nQuartzCore "
                    "CA::Transaction::commit()\n" LOOP},
    {"render", "CoreGraphics CGContextFillRect\nShop!f\n"},
    {"javascript", "JavaScriptCore JSC::Interpreter::execute(int)\nShop!f\n"},
    {"javascript", "hermes facebook::hermes::HermesRuntimeImpl::call(int)\nShop!f\n"},
    {"ipc", PORT "libxpc.dylib xpc_connection_send_message_with_reply_sync\nSecurity "
                 "SecItemCopyMatching\nShop!f\n"},
    {"ipc", PORT "CoreLocation +[CLLocationManager authorizationStatus]\nShop!f\n"},
    {"ipc", PORT "UIKitCore -[UIPasteboard string]\nShop!f\n"},
    {"allocation", "libsystem_malloc.dylib szone_malloc\nShop!f\n"},
    {"launch", "dyld dyld4::JustInTimeLoader::applyFixups\ndyld dyld4::prepare(int)\ndyld start\n"},
    {"launch", "libobjc.A.dylib call_load_methods\nShop!+[Feed load]\n"},
    {"cpu", "Shop!Feed.load()\n" LOOP},
    {"cpu", "libswiftCore.dylib swift_retain\nShop!Feed.load()\n" LOOP},
    {"cpu", "Lottie!Layer.draw()\nShop!Feed.load()\n" LOOP},
    {"unknown", "UIKitCore -[UIFoo bar]\nShop!Feed.load()\n" LOOP},
    {"idle", PORT "CoreFoundation __CFRunLoopServiceMachPort\n" LOOP},
    {"unknown", "-\n-\n"},
    {"unknown", "libsystem_kernel.dylib ?10\nUIKitCore ?20\n"},
};

static struct arena arena;

static const char *category(const struct rules *rules, const char *text)
{
    struct cluster_verdict v;
    struct error err = {0};
    struct resolved_stack stack = stack_from_text(text, &arena);
    enum err e = cluster_key_of(rules, NULL, "app", &stack, &arena, &v, &err);
    ck_assert_msg(e == ERR_OK, "%s", err.text);
    return v.category;
}

START_TEST(every_kind)
{
    struct rules *rules = NULL;
    ck_assert_int_eq(rules_new_default(&rules, NULL), ERR_OK);
    arena_init(&arena, 4 << 20);
    for (size_t i = 0; i < sizeof(KINDS) / sizeof(KINDS[0]); i++) {
        const char *got = category(rules, KINDS[i].stack);
        ck_assert_msg(strcmp(got, KINDS[i].category) == 0, "%s, not %s:\n%s", got,
                      KINDS[i].category, KINDS[i].stack);
    }
    arena_done(&arena);
    rules_free(rules);
}
END_TEST

START_TEST(the_first_rule_wins_and_boundaries_hold)
{
    static const char TEXT[] = "category=late: b\ncategory=early: a\nboundary: edge\n";
    struct rules *rules = NULL;
    ck_assert_int_eq(rules_new(TEXT, strlen(TEXT), &rules, NULL), ERR_OK);
    arena_init(&arena, 1 << 20);
    ck_assert_str_eq(category(rules, "L a\nL b\n"), "late");
    ck_assert_str_eq(category(rules, "L a\nL edge\nL b\n"), "early");
    ck_assert_str_eq(category(rules, "L x\nL edge\nL b\n"), "unknown");
    arena_done(&arena);
    rules_free(rules);
}
END_TEST

UNIT_MAIN("category", every_kind, the_first_rule_wins_and_boundaries_hold)
