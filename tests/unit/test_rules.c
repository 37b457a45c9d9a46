/* Covers: server/analysis/rules_match.c */
#include "server/analysis/rules.h"

#include <stdio.h>
#include <string.h>

#include "server/analysis/rules_match.h"
#include "tests/support/unit.h"

static struct rules *read_rules(const char *text)
{
    struct rules *rules = NULL;
    struct error err = {0};
    enum err e = rules_new(text, strlen(text), &rules, &err);
    ck_assert_msg(e == ERR_OK, "%s", err.text);
    return rules;
}

static void match(const struct rules *rules, const char *image, const char *name,
                  struct rule_match m[RULE_KINDS])
{
    struct rule_subject s = {.image = image, .key = name, .shown = name, .named = name != NULL};
    rules_match(rules, &s, m);
}

static const char *label(const struct rules *rules, const char *image, const char *name,
                         enum rule_kind kind)
{
    struct rule_match m[RULE_KINDS];
    match(rules, image, name, m);
    return m[kind].action ? m[kind].label : "";
}

START_TEST(globs)
{
    ck_assert(rules_glob("mach_msg*", "mach_msg"));
    ck_assert(rules_glob("mach_msg*", "mach_msg2_trap"));
    ck_assert(!rules_glob("mach_msg", "mach_msg2"));
    ck_assert(rules_glob("*", ""));
    ck_assert(rules_glob("", ""));
    ck_assert(!rules_glob("", "a"));
    ck_assert(!rules_glob("?", ""));
    ck_assert(rules_glob("a?c", "abc"));
    ck_assert(rules_glob("*ab*ab", "abxabab"));
    ck_assert(!rules_glob("*ab*abc", "abxabab"));
    ck_assert(rules_glob("-[UIView(*) *]", "-[UIView(Layout) fit]"));
    ck_assert(!rules_glob("Feed", "feed"));
    ck_assert(rules_glob("*******b", "aaaaaaab"));
    ck_assert(rules_glob("a*b*c", "aXbXbXc"));
    ck_assert(!rules_glob("a*b*c", "aXcXb"));
    ck_assert(rules_glob("*?b", "ab"));
    ck_assert(!rules_glob("*?b", "b"));
    ck_assert(rules_glob("*ab", "aab"));
    ck_assert(!rules_glob("*ab", "aba"));
    ck_assert(rules_glob("a*", "a"));
}
END_TEST

START_TEST(methods_of_class_and_object)
{
    struct rules *r = read_rules("vendor: \"?[Feed *\"\n"
                                 "plumbing: \"?[* load:]\"\n"
                                 "drop: \"?[A*\" ?ick\n");
    ck_assert_str_eq(label(r, "", "-[Feed load:]", RULE_CLASS), "vendor");
    ck_assert_str_eq(label(r, "", "+[Feed shared]", RULE_CLASS), "vendor");
    ck_assert_str_eq(label(r, "", "*[Feed shared]", RULE_CLASS), "");
    ck_assert_str_eq(label(r, "", "-[Feeder load]", RULE_CLASS), "");
    ck_assert_str_eq(label(r, "", "+[X load:]", RULE_PLUMBING), "plumbing");
    ck_assert_str_eq(label(r, "", "-[A b]", RULE_FATE), "drop");
    ck_assert_str_eq(label(r, "", "tick", RULE_FATE), "drop");
    rules_free(r);
}
END_TEST

START_TEST(the_first_line_of_each_kind_wins)
{
    struct rules *r = read_rules("keep: read_model\n"
                                 "drop=io: read*\n"
                                 "drop=other category=file: read_file\n"
                                 "category=late: read*\n");
    ck_assert_str_eq(label(r, "", "read_model", RULE_FATE), "keep");
    ck_assert_str_eq(label(r, "", "read_file", RULE_FATE), "drop io");
    ck_assert_str_eq(label(r, "", "read_file", RULE_CATEGORY), "category file");
    ck_assert_str_eq(label(r, "", "read_model", RULE_CATEGORY), "category late");
    ck_assert_str_eq(label(r, "", "write", RULE_FATE), "");
    rules_free(r);
}
END_TEST

START_TEST(a_match_says_line_and_pattern)
{
    struct rule_match m[RULE_KINDS];
    struct rules *r = read_rules("# waits\n\ndrop=wait: psynch*\n   mach_msg*\n");
    match(r, "", "mach_msg_trap", m);
    ck_assert_ptr_nonnull(m[RULE_FATE].action);
    ck_assert_uint_eq(m[RULE_FATE].line, 3);
    ck_assert_str_eq(m[RULE_FATE].pattern, "mach_msg*");
    ck_assert_str_eq(m[RULE_FATE].action->text, "wait");
    rules_free(r);
}
END_TEST

START_TEST(matchers)
{
    struct rules *r = read_rules("vendor image=GRDB,Realm* image!=RealmMine\n"
                                 "group=router file=Router.swift\n"
                                 "plumbing on=app position=0-1: *.sync(_:)\n"
                                 "drop=x named=no image=dyld\n"
                                 "depth=3 function=\"-[Feed *\"\n"
                                 "owner=feed image=Shop: \"-[A b:c:], d\" !\"*[A b*\"\n");
    struct rule_match m[RULE_KINDS];
    ck_assert_str_eq(label(r, "GRDB", "a", RULE_CLASS), "vendor");
    ck_assert_str_eq(label(r, "RealmSwift", "a", RULE_CLASS), "vendor");
    ck_assert_str_eq(label(r, "RealmMine", "a", RULE_CLASS), "");
    ck_assert_str_eq(label(r, "Shop", "-[A b:c:], d", RULE_OWNER), "");

    struct rule_subject s = {.image = "Shop", .key = "a", .shown = "a", .named = true};
    s.file = "/src/Router.swift";
    rules_match(r, &s, m);
    ck_assert_str_eq(m[RULE_GROUP].action->text, "router");
    s = (struct rule_subject){.image = "Shop", .key = "Db.sync(_:)", .named = true, .in_app = true};
    rules_match(r, &s, m);
    ck_assert_ptr_nonnull(m[RULE_PLUMBING].action);
    s.position = 2;
    rules_match(r, &s, m);
    ck_assert_ptr_null(m[RULE_PLUMBING].action);
    s.position = 0;
    s.in_app = false;
    rules_match(r, &s, m);
    ck_assert_ptr_null(m[RULE_PLUMBING].action);
    s = (struct rule_subject){.image = "dyld"};
    rules_match(r, &s, m);
    ck_assert_ptr_nonnull(m[RULE_FATE].action);
    s.named = true;
    rules_match(r, &s, m);
    ck_assert_ptr_null(m[RULE_FATE].action);
    match(r, "Shop", "-[Feed reload]", m);
    ck_assert_uint_eq(m[RULE_DEPTH].action->number, 3);
    rules_free(r);
}
END_TEST

START_TEST(modules)
{
    struct rules *r = read_rules("vendor module=Alamofire,Rx* module!=RxPharmacy\n"
                                 "drop=x image=Shop module=Rx*: Feed.*\n");
    struct rule_match m[RULE_KINDS];
    struct rule_subject s = {.image = "Shop", .key = "Feed.a", .named = true};
    rules_match(r, &s, m);
    ck_assert_ptr_null(m[RULE_CLASS].action);
    ck_assert_ptr_null(m[RULE_FATE].action);
    s.module = "Alamofire";
    rules_match(r, &s, m);
    ck_assert_str_eq(m[RULE_CLASS].label, "vendor");
    ck_assert_ptr_null(m[RULE_FATE].action);
    s.module = "RxCocoa";
    rules_match(r, &s, m);
    ck_assert_str_eq(m[RULE_CLASS].label, "vendor");
    ck_assert_str_eq(m[RULE_FATE].label, "drop x");
    s.module = "RxPharmacy";
    rules_match(r, &s, m);
    ck_assert_ptr_null(m[RULE_CLASS].action);
    rules_free(r);
}
END_TEST

/* Rules without functions are found by the first bytes of their images: however short those are, in
 * the order of the file, and together with what else the rule wants. */
START_TEST(rules_of_images)
{
    struct rules *r = read_rules("vendor image=Realm\n"
                                 "app image=Re*,R\n"
                                 "vendor image=R??b,*Kit image!=MapKit\n"
                                 "owner=maps image=MapKit,Maps file=Map.swift\n");
    ck_assert_str_eq(label(r, "Realm", "f", RULE_CLASS), "vendor");
    ck_assert_str_eq(label(r, "Realms", "f", RULE_CLASS), "app");
    ck_assert_str_eq(label(r, "R", "f", RULE_CLASS), "app");
    ck_assert_str_eq(label(r, "Rx", "f", RULE_CLASS), "");
    ck_assert_str_eq(label(r, "Rxyb", "f", RULE_CLASS), "vendor");
    ck_assert_str_eq(label(r, "WebKit", "f", RULE_CLASS), "vendor");
    ck_assert_str_eq(label(r, "MapKit", "f", RULE_CLASS), "");
    ck_assert_str_eq(label(r, "MapKit", "f", RULE_OWNER), "");
    ck_assert_str_eq(label(r, "", "f", RULE_CLASS), "");
    struct rule_match m[RULE_KINDS];
    struct rule_subject s = {.image = "Maps", .key = "f", .file = "/a/Map.swift", .named = true};
    rules_match(r, &s, m);
    ck_assert_str_eq(m[RULE_OWNER].label, "owner maps");
    ck_assert_ptr_null(m[RULE_OWNER].pattern);
    rules_free(r);
}
END_TEST

START_TEST(shown_names_match_too)
{
    struct rules *r = read_rules("drop=block: *_block_invoke_2\n");
    struct rule_match m[RULE_KINDS];
    struct rule_subject s = {.key = "-[Feed a]", .shown = "__8-[Feed a]_block_invoke_2"};
    rules_match(r, &s, m);
    ck_assert_ptr_nonnull(m[RULE_FATE].action);
    s.shown = "__8-[Feed a]_block_invoke";
    rules_match(r, &s, m);
    ck_assert_ptr_null(m[RULE_FATE].action);
    rules_free(r);
}
END_TEST

START_TEST(patterns_need_not_say_static)
{
    struct rules *r = read_rules("drop=a: Feed.load*\n"
                                 "drop=b: \"static Cart.*\"\n"
                                 "drop=c image=Shop: *.pay() !Cart.*\n");
    ck_assert_str_eq(label(r, "", "static Feed.load()", RULE_FATE), "drop a");
    ck_assert_str_eq(label(r, "", "static Cart.open()", RULE_FATE), "drop b");
    ck_assert_str_eq(label(r, "", "Cart.open()", RULE_FATE), "");
    ck_assert_str_eq(label(r, "Shop", "static Till.pay()", RULE_FATE), "drop c");
    ck_assert_str_eq(label(r, "", "static", RULE_FATE), "");
    rules_free(r);
}
END_TEST

START_TEST(flags_can_be_taken_back)
{
    struct rules *r = read_rules("boundary=no image=Shop: Main*\nboundary: Main*\n");
    struct rule_match m[RULE_KINDS];
    match(r, "Shop", "MainLoop", m);
    ck_assert_int_eq(m[RULE_BOUNDARY].action->value, VALUE_NO);
    match(r, "Other", "MainLoop", m);
    ck_assert_int_eq(m[RULE_BOUNDARY].action->value, VALUE_YES);
    rules_free(r);
}
END_TEST

static const struct {
    const char *text;
    const char *error;
} BAD[] = {
    {"drp: a", "line 1: unknown action `drp` (patterns of functions stand after a colon)"},
    {"vendor Kit*", "line 1: unknown action `Kit*` (patterns of functions stand after a colon)"},
    {"\n\n# c\ndrop: a\nkeep drop: b", "line 5: `drop` contradicts what stands before it"},
    {"drop img=Shop: a", "line 1: unknown matcher `img=`"},
    {"drop", "line 1: this rule would meet every frame; give it a matcher"},
    {"drop:", "line 1: no function pattern after the colon"},
    {"drop: \"a", "line 1: a quote that is never closed"},
    {"drop: \"\"", "line 1: an empty pattern"},
    {"drop image=: a", "line 1: an empty pattern"},
    {"image=Shop: a", "line 1: a rule without an action"},
    {"depth=0: a", "line 1: `depth` wants a number from 1 to 16"},
    {"depth=17: a", "line 1: `depth` wants a number from 1 to 16"},
    {"depth=x: a", "line 1: `depth` wants a number from 1 to 16"},
    {"depth: a", "line 1: `depth` wants a number from 1 to 16"},
    {"group: a", "line 1: `group` wants a name"},
    {"keep=yes: a", "line 1: `keep` takes no value"},
    {"boundary=maybe: a", "line 1: `boundary` wants yes or no, not `maybe`"},
    {"drop on=phone: a", "line 1: `on` wants app, system, vendor or any, not `phone`"},
    {"drop position=2-1: a", "line 1: `position` wants N, N-M or N-"},
    {"drop position=-: a", "line 1: `position` wants N, N-M or N-"},
    {"drop position=x: a", "line 1: `position` wants N, N-M or N-"},
    {"drop on!=app: a", "line 1: `on` cannot be negated"},
    {"platform: a", "line 1: `platform` wants `image=` alone"},
    {"platform drop image=a", "line 1: `platform` goes with no other action"},
    {"drop: a\n  b\n  \"c", "line 3: a quote that is never closed"},
};

START_TEST(mistakes_are_named)
{
    for (size_t i = 0; i < sizeof(BAD) / sizeof(BAD[0]); i++) {
        struct rules *rules = NULL;
        struct error err = {0};
        enum err e = rules_new(BAD[i].text, strlen(BAD[i].text), &rules, &err);
        ck_assert_msg(e == ERR_INVALID, "%s", BAD[i].text);
        ck_assert_str_eq(err.text, BAD[i].error);
        ck_assert_ptr_null(rules);
    }
}
END_TEST

START_TEST(caps)
{
    struct rules *rules = NULL;
    struct error err = {0};
    char *text = malloc(RULES_TEXT_MAX + 1);
    ck_assert_ptr_nonnull(text);
    memset(text, ' ', RULES_TEXT_MAX + 1);
    ck_assert_int_eq(rules_new(text, RULES_TEXT_MAX + 1, &rules, &err), ERR_LIMIT);
    memset(text, 'a', 1000);
    memcpy(text, "drop: ", 6);
    ck_assert_int_eq(rules_new(text, 6 + RULES_PATTERN_MAX, &rules, &err), ERR_OK);
    rules_free(rules);
    rules = NULL;
    ck_assert_int_eq(rules_new(text, 6 + RULES_PATTERN_MAX + 1, &rules, &err), ERR_LIMIT);
    ck_assert_str_eq(err.text, "line 1: a word has more than 512 bytes");
    size_t n = 0;
    for (int i = 0; i <= RULES_LINES_MAX; i++)
        n += (size_t)snprintf(text + n, RULES_TEXT_MAX - n, "drop: a\n");
    ck_assert_int_eq(rules_new(text, n, &rules, &err), ERR_LIMIT);
    n = (size_t)snprintf(text, 16, "drop:");
    while (n < 2 * RULES_PATTERNS_MAX + 100)
        n += (size_t)snprintf(text + n, RULES_TEXT_MAX - n, " b");
    ck_assert_int_eq(rules_new(text, n, &rules, &err), ERR_LIMIT);
    ck_assert_int_eq(rules_new("drop: a\0b", 9, &rules, &err), ERR_INVALID);
    free(text);
}
END_TEST

START_TEST(empty_texts_and_line_ends)
{
    struct rules *r = read_rules("");
    ck_assert_str_eq(label(r, "", "a", RULE_FATE), "");
    rules_free(r);
    r = read_rules("# only this");
    rules_free(r);
    r = read_rules("drop=x: a\r\n\tb\r\n\r\nkeep: c # why\r\n");
    ck_assert_str_eq(label(r, "", "a", RULE_FATE), "drop x");
    ck_assert_str_eq(label(r, "", "b", RULE_FATE), "drop x");
    ck_assert_str_eq(label(r, "", "c", RULE_FATE), "keep");
    rules_free(r);
}
END_TEST

START_TEST(the_version_is_the_text)
{
    struct rules *a = read_rules("drop: a\n");
    struct rules *b = read_rules("drop: a\n");
    struct rules *c = read_rules("drop: b\n");
    ck_assert_str_eq(rules_version(a), rules_version(b));
    ck_assert_str_ne(rules_version(a), rules_version(c));
    ck_assert_uint_eq(strlen(rules_version(a)), 64);
    rules_free(a);
    rules_free(b);
    rules_free(c);
    rules_free(NULL);
}
END_TEST

START_TEST(the_default_is_good)
{
    struct rules *r = NULL;
    struct error err = {0};
    enum err e = rules_new_default(&r, &err);
    ck_assert_msg(e == ERR_OK, "%s", err.text);
    static const char *const SYSTEM[] = {"UIKitCore", "libdispatch.dylib", "SwiftUICore",
                                         "dyld",      "AttributeGraph",    "libswiftCore.dylib",
                                         "WebKit"};
    static const char *const OTHER[] = {"Shop", "ShopKit", "GRDB", "Flutter", "", "MyFoundation"};
    for (size_t i = 0; i < sizeof(SYSTEM) / sizeof(SYSTEM[0]); i++)
        ck_assert_msg(rules_is_platform(r, SYSTEM[i]), "%s", SYSTEM[i]);
    for (size_t i = 0; i < sizeof(OTHER) / sizeof(OTHER[0]); i++)
        ck_assert_msg(!rules_is_platform(r, OTHER[i]), "%s", OTHER[i]);
    ck_assert(!rules_is_platform(r, NULL));
    ck_assert_str_eq(label(r, "libsystem_kernel.dylib", "mach_msg2_trap", RULE_FATE), "drop port");
    ck_assert_str_eq(label(r, "Shop", "-[FMDatabaseQueue inDatabase:]", RULE_CLASS), "");
    rules_free(r);
}
END_TEST

/* Names that look like a vendor's or the runtime's, and are an app's own. */
START_TEST(the_default_leaves_apps_alone)
{
    static const char *const OWN[] = {"-[PINCodeViewController viewDidLoad]",
                                      "-[FIRSTViewController tap]",
                                      "KFCMenu.load()",
                                      "UnityBridge.send(_:)",
                                      "-[MASterList reload]",
                                      "-[LOTteryView draw]",
                                      "class_register",
                                      "object_pool_get",
                                      "small_buffer_fill",
                                      "Card.measure(_:)",
                                      "runApp(_:)",
                                      "Feed.read(_:)",
                                      "read_all",
                                      "Update.apply()",
                                      "Rule.check(_:)",
                                      "Publisher.emit(_:)",
                                      "Array.chunked(into:)",
                                      "-[NSString(Shop) trimmed]",
                                      "DispatchQueue.onMain(_:)",
                                      "Attribute.parse(_:)",
                                      "-[ViewController viewDidLoad]",
                                      "AppDelegate.application(_:didFinishLaunchingWithOptions:)"};
    struct rules *r = NULL;
    ck_assert_int_eq(rules_new_default(&r, NULL), ERR_OK);
    for (size_t i = 0; i < sizeof(OWN) / sizeof(OWN[0]); i++) {
        struct rule_match m[RULE_KINDS];
        struct rule_subject s = {.image = "Shop", .key = OWN[i], .shown = OWN[i], .named = true};
        s.in_app = true;
        rules_match(r, &s, m);
        ck_assert_msg(!m[RULE_FATE].action, "%s: %s", OWN[i], m[RULE_FATE].why);
        ck_assert_msg(!m[RULE_CLASS].action, "%s: %s", OWN[i], m[RULE_CLASS].why);
        ck_assert_msg(!m[RULE_PLUMBING].action, "%s", OWN[i]);
    }
    static const char *const IMAGES[] = {
        "AXA", "Assistant", "DataAccess", "libplug.dylib", "TranslationApp", "MapsPro", "CoreShop"};
    for (size_t i = 0; i < sizeof(IMAGES) / sizeof(IMAGES[0]); i++)
        ck_assert_msg(!rules_is_platform(r, IMAGES[i]), "%s", IMAGES[i]);
    rules_free(r);
}
END_TEST

/* Patterns that begin with no plain text are passed over by what the name lacks: never one that matches. */
START_TEST(loose_patterns_are_not_passed_over)
{
    static const char *const PATTERNS[] = {
        "*ab*", "*a*b", "?ab",     "*a?b*", "*ab?cd*",    "a*b*c*d", "*\xc3\xa9*", "*zz",
        "*a",   "*??*", "*ba*ab*", "?",     "*static f*", "*x y*",   "*::*<*>*",   "*-[*]",
    };
    static const char *const NAMES[] = {
        "ab",         "xab",  "axb", "a",          "abxcd",        "ab_cd",
        "bxxab",      "baab", "zz",  "zzz",        "caf\xc3\xa9s", "abcd",
        "static f()", "f()",  "x y", "n::c<d>::e", "-[Feed a]",
    };
    for (size_t p = 0; p < sizeof(PATTERNS) / sizeof(PATTERNS[0]); p++) {
        char text[64];
        struct rules *r = NULL;
        struct rule_match m[RULE_KINDS];
        snprintf(text, sizeof(text), "drop=x: \"%s\"\n", PATTERNS[p]);
        ck_assert_int_eq(rules_new(text, strlen(text), &r, NULL), ERR_OK);
        for (size_t n = 0; n < sizeof(NAMES) / sizeof(NAMES[0]); n++) {
            const struct rule_subject key = {.key = NAMES[n], .named = true};
            const struct rule_subject shown = {.key = "", .shown = NAMES[n], .named = true};
            bool wanted = rules_glob(PATTERNS[p], NAMES[n]);
            rules_match(r, &shown, m);
            ck_assert_msg((m[RULE_FATE].action != NULL) == wanted, "%s %s", PATTERNS[p], NAMES[n]);
            if (strncmp(NAMES[n], "static ", 7) == 0) /* it may be left out */
                wanted = wanted || rules_glob(PATTERNS[p], NAMES[n] + 7);
            rules_match(r, &key, m);
            ck_assert_msg((m[RULE_FATE].action != NULL) == wanted, "%s %s", PATTERNS[p], NAMES[n]);
        }
        rules_free(r);
    }
}
END_TEST

UNIT_MAIN("rules", loose_patterns_are_not_passed_over, globs, methods_of_class_and_object,
          the_first_line_of_each_kind_wins, a_match_says_line_and_pattern, matchers, modules,
          rules_of_images, shown_names_match_too, patterns_need_not_say_static,
          flags_can_be_taken_back, mistakes_are_named, caps, empty_texts_and_line_ends,
          the_version_is_the_text, the_default_is_good, the_default_leaves_apps_alone)
