/*
 * Two ways lead to the key of a Swift function: from its linkage name (demangle_swift's key form) and
 * from what is shown of it (normalize_function). Both must put the same names together and the same
 * names apart. What they may differ in is listed here, kind by kind.
 *
 * Covers: server/analysis/normalize_swift_prefix.c
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/analysis/normalize.h"
#include "symbolizer/demangle_swift.h"
#include "symbolizer/demangle_swift_parse.h"
#include "tests/support/unit.h"

#define TEXT_MAX  16384
#define NAMES_MAX 20000

/* --- what the forms may differ in ------------------------------------------------------------ */

/* No cause: a sample never means them, so what is shown has no identity, and the next frame is the
 * cause. (The key form, which must say something, says what they are or whose they are.) */
static const struct {
    const char *start; /* of the simplified form */
    const char *why;
} NO_CAUSE[] = {
    {"type metadata ", "data, and the functions that fetch it for their callers"},
    {"full type metadata ", "data"},
    {"generic type metadata ", "data"},
    {"class metadata base offset ", "data"},
    {"lazy cache variable ", "data"},
    {"lazy protocol witness table ", "fetches data for its caller"},
    {"metaclass for ", "data"},
    {"method lookup function for ", "fetches a pointer for its caller"},
    {"method descriptor for ", "data"},
    {"property descriptor for ", "data"},
    {"nominal type descriptor ", "data"},
    {"opaque type descriptor ", "data"},
    {"protocol descriptor ", "data"},
    {"protocol conformance ", "data"},
    {"concrete protocol conformance ", "data"},
    {"protocol requirements base descriptor ", "data"},
    {"base conformance descriptor ", "data"},
    {"associated type ", "data, and the functions that fetch it for their callers"},
    {"associated conformance ", "data"},
    {"default associated ", "fetches data for its caller"},
    {"protocol witness table ", "data, and the functions that fetch it for their callers"},
    {"generic protocol witness table ", "data"},
    {"instantiation function for ", "makes data for its caller"},
    {"value witness table for ", "data"},
    {"enum case for ", "data"},
    {"direct field offset for ", "data"},
    {"indirect field offset for ", "data"},
    {"one-time initialization token for ", "data"},
    {"outlined variable #", "data"},
    {"outlined read-only object #", "data"},
    {"coroutine continuation prototype ", "a signature"},
    {"#_hasSymbol query for ", "asks whether something is there"},
    {"outlined ", "copies and destroys values for any caller"},
    {"thunk for ", "belongs to types, not to a function"},
    {"reabstraction thunk ", "belongs to types, not to a function"},
    {"autodiff ", "belongs to types, not to a function"},
    {"key path index ", "compares and hashes for any caller"},
    {"@objc completion handler ", "belongs to types, not to a function"},
};

/* The function is not in the simplified form. */
static bool of_nothing(const char *s)
{
    size_t n = strlen(s);
    return strcmp(s, "partial apply") == 0 || /* or a closure of top-level code */
           (strstr(s, "closure #") && n > 4 && strcmp(s + n - 4, " in ") == 0);
}

/* Functions of value witness tables copy, move and destroy values for any caller. */
static bool value_witness(const char *s)
{
    return strstr(s, " for ") && !strchr(s, '(') &&
           strspn(s, "abcdefghijklmnopqrstuvwxyz"
                     "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == (size_t)(strstr(s, " for ") - s);
}

static const char *unwrapped(const char *s)
{
    static const char *const WRAPPERS[] = {"partial apply for ", "specialized ", "merged "};
    for (size_t i = 0; i < sizeof(WRAPPERS) / sizeof(WRAPPERS[0]); i++) {
        if (strncmp(s, WRAPPERS[i], strlen(WRAPPERS[i])) == 0)
            return unwrapped(s + strlen(WRAPPERS[i]));
    }
    return s;
}

static bool no_cause(const char *simplified)
{
    const char *s = unwrapped(simplified);
    for (size_t i = 0; i < sizeof(NO_CAUSE) / sizeof(NO_CAUSE[0]); i++) {
        if (strncmp(s, NO_CAUSE[i].start, strlen(NO_CAUSE[i].start)) == 0)
            return true;
    }
    return value_witness(s) || of_nothing(s);
}

/* Names of types alone stand in metadata, never on code: `[Int]` is a text like any other there. */
static bool is_type(const char *name)
{
    static const enum swift_kind OTHERS[] = {SK_Type, SK_TypeMangling, SK_ImplFunctionType};
    struct swift_text text = {name, strlen(name)};
    struct swift_arena a;
    swift_arena_init(&a);
    const struct swift_node *root =
        swift_prefix_length(text) ? swift_parse(&a, text) : swift_parse_old(&a, text);
    const struct swift_node *first = swift_node_child(root, 0);
    bool found = strncmp(name, "_Tt", 3) == 0 || (first && swift_node_in(first, SC_SIMPLE) &&
                                                  first->kind != SK_BoundGenericFunction);
    for (size_t i = 0; i < sizeof(OTHERS) / sizeof(OTHERS[0]); i++)
        found = found || swift_node_is(first, OTHERS[i]);
    swift_arena_done(&a);
    return found;
}

/* No printed form says whose `shared` is initialised: cluster keys ask the linkage name there. */
static bool once(const char *simplified)
{
    return strstr(simplified, "one-time initialization function for ") != NULL;
}

/* The full form shows a module first, but where no type is printed behind, nothing tells it from a
 * type: it stays. */
static bool module_stays(const char *full, const char *of_full, const char *of_simplified)
{
    static const char *const WITHOUT_TYPE[] = {"deinit", "__ivar_destroyer", "macro "};
    size_t n = strlen(of_simplified);
    size_t m = strlen(of_full);
    bool known = false;
    for (size_t i = 0; i < sizeof(WITHOUT_TYPE) / sizeof(WITHOUT_TYPE[0]); i++)
        known = known || strstr(full, WITHOUT_TYPE[i]);
    return known && m > n + 1 && of_full[m - n - 1] == '.' &&
           strcmp(of_full + m - n, of_simplified) == 0;
}

/* --- names -------------------------------------------------------------------------------------- */

struct pair {
    char *key;        /* from the linkage name */
    char *normalized; /* from what is shown */
    char *name;
};

static struct pair pairs[NAMES_MAX];
static size_t pair_count;
static size_t without_identity;

static void add_name(const char *name)
{
    static char full[TEXT_MAX];
    static char simplified[TEXT_MAX];
    static char key[TEXT_MAX];
    char a[KEY_NAME_MAX];
    char b[KEY_NAME_MAX];
    if (!demangle_swift(name, SWIFT_KEY, key, sizeof(key)) || is_type(name))
        return;
    ck_assert(demangle_swift(name, SWIFT_FULL, full, sizeof(full)));
    ck_assert(demangle_swift(name, SWIFT_SIMPLIFIED, simplified, sizeof(simplified)));
    if (strlen(full) >= KEY_NAME_MAX * 8 || strlen(key) >= KEY_NAME_MAX)
        return; /* cut */
    normalize_function(once(simplified) ? key : simplified, NULL, 0, a, sizeof(a));
    normalize_function(once(simplified) ? key : full, NULL, 0, b, sizeof(b));
    ck_assert_msg(strcmp(a, b) == 0 || (!*a && no_cause(simplified)) || module_stays(full, b, a),
                  "%s\n%s: %s\n%s: %s", name, simplified, a, full, b);
    if (!*a) {
        ck_assert_msg(no_cause(simplified), "%s has no identity: %s", name, simplified);
        without_identity++;
        return;
    }
    normalize_function(key, NULL, 0, b, sizeof(b));
    ck_assert_msg(strcmp(key, b) == 0, "%s: key %s, of which the key is %s", name, key, b);
    ck_assert_uint_lt(pair_count, NAMES_MAX);
    pairs[pair_count++] = (struct pair){strdup(key), strdup(a), strdup(name)};
}

static int by_key(const void *a, const void *b)
{
    return strcmp(((const struct pair *)a)->key, ((const struct pair *)b)->key);
}

static int by_normalized(const void *a, const void *b)
{
    return strcmp(((const struct pair *)a)->normalized, ((const struct pair *)b)->normalized);
}

/* Same partition: names next to each other in one order are equal in both or in neither. */
static void check_partitions(void)
{
    for (int order = 0; order < 2; order++) {
        qsort(pairs, pair_count, sizeof(pairs[0]), order ? by_key : by_normalized);
        for (size_t i = 1; i < pair_count; i++) {
            const struct pair *x = &pairs[i - 1];
            const struct pair *y = &pairs[i];
            ck_assert_msg((by_key(x, y) == 0) == (by_normalized(x, y) == 0),
                          "%s: key %s, shown %s\n%s: key %s, shown %s", x->name, x->key,
                          x->normalized, y->name, y->key, y->normalized);
        }
    }
    for (size_t i = 0; i < pair_count; i++) {
        free(pairs[i].key);
        free(pairs[i].normalized);
        free(pairs[i].name);
    }
    pair_count = 0;
}

/* Functions and variables of all sorts; together with what compilers add to their names. */
static const char *const OWN[] = {
    "$s4Shop3runyyF",
    "$s4Shop3runyySiF",
    "$s4Shop3run1aySi_tF",
    "$s4Shop3run1a1bySi_SStF",
    "$s4Shop4walkyyF",
    "$s4Shop3runyyxlF",
    "$s4Shop3runyyxSHRzlF",
    "$s4Shop4FeedC3runyyF",
    "$s4Shop4FeedC3runyyFZ",
    "$s4Shop4FeedC3runyyYaKF",
    "$s4Shop4HomeC3runyyF",
    "$s4Shop4HomeC4ItemV3runyyF",
    "$s4Shop4HomeC4ItemC3runyyFZ",
    "$s4Shop4FeedC5titleSSvg",
    "$s4Shop4FeedC5titleSSvs",
    "$s4Shop4FeedC5titleSSvM",
    "$s4Shop4FeedC5titleSSvx",
    "$s4Shop4FeedC5titleSSvr",
    "$s4Shop4FeedC5titleSSvy",
    "$s4Shop4FeedC5titleSSvW",
    "$s4Shop4FeedC5titleSSvpfi",
    "$s4Shop4FeedC5titleSSvpfP",
    "$s4Shop4FeedC5titleSSvpZ",
    "$s4Shop4FeedC5titleSSvgZ",
    "$s4Shop4FeedCACycfc",
    "$s4Shop4FeedCACycfC",
    "$s4Shop4FeedC1xACSi_tcfc",
    "$s4Shop4FeedCfd",
    "$s4Shop4FeedCfD",
    "$s4Shop4FeedCfZ",
    "$s4Shop4FeedCfE",
    "$s4Shop4FeedCySiSScig",
    "$s4Shop4FeedCySiSScis",
    "$s4Shop4FeedC4safeSiSS_tcig",
    "$s4Shop4FeedC2eeoiySbAC_ACtFZ",
    "$s4Shop4FeedC1loiySbAC_ACtFZ",
    "$s4Shop4FeedC3lezoiySbAC_ACtFZ",
    "$s4Shop4FeedC3runyyFAA4BaseCADyyFTV",
    "$s4Shop4FeedCAA1PA2aDP3runyyFTW",
    "$s4Shop4HomeCAA1PA2aDP3runyyFTW",
    "$s4Shop4FeedCAA1PA2aDP7readAllyyFTW",
    "$s4Shop4FeedCAA1PA2aDP4makeyyFZTW",
    "$s4Shop4FeedCAA1PA2aDP5titleSSvgTW",
    "$s4Shop4FeedCAA1PA2aDP5titleSSvxTW",
    "$s4Shop4FeedCAA1PA2aDP5titleSSvMTW",
    "$s4Shop4FeedV4ItemVyx_GAA1PA2fGP2eeoiySbx_xtFZTW",
    "$sSayxG4Shop1PA2cDP3runyyFTW",
    "$sxSg4Shop1PA2cDP3runyyFTW",
    "$sSa4ShopE3runyyF",
    "$sSa4ShopSHRzlE3runyyF",
    "$s4Shop3BoxVAASHRzlE3runyyF",
    "$s4Shop1PPAAE3runyyF",
    "$s4Shop1PP3runyyFTS",
    "$s4Shop4FeedC4step33_0123456789ABCDEF0123456789ABCDEFLLyyF",
    "$s4Shop3runyyF4stepL_yyF",
    "$s4Shop3runyyF4stepL0_yyF",
    "$s4Shop3runyyFyycfU_4stepL_yyF",
    "$s4Shop4walkyyF4stepL_yyF",
    "$s4Shop3runyyF4StepL_V2goyyF",
    "$s4Shop3runyyF4StepL_VADycfC",
    "$s4Shop4FeedC6reloadyyFZ4StepL_V2goyyFZ",
    "$s4Shop4FeedC6reloadyyFZ4stepL_yyxlF",
    "$s4Shop4FeedC6reloadyyFZ4stepL_1ayx_tlF",
    "$s4Shop4FeedC5titleSSvpfi4stepL_yyF",
    "$s4Shop4FeedC5title7ObservefMa_",
    "$s4Shop4FeedC5title7ObservefMp0_",
    "$s4Shop4FeedC3runyyF9stringifyfMf_",
    "$s4Shop4FeedC6shared_WZ",
    "$s4Shop4HomeC6shared_WZ",
    "$s4Shop3one_WZ",
    "$s4Shop4FeedC6sharedACvau",
    "$s4Shop4FeedC6sharedACvpZ",
    "_TFC4Shop4Feed3runfT_T_",
    "_TTWC4Shop4FeedS_1PS_FS1_3runfT_T_",
    "_TZFC4Shop4Feed3runfT_T_",
    "_T04Shop4FeedC3runyyF",
    "_$s4Shop4FeedC3runyyF",
};

static const char *const ENDINGS[] = {
    "",        "yycfU_",      "yycfU0_",  "yycfU_yycfU_", "yycfu_",       "yycfU_TA",
    "Tm",      "To",          "TD",       "Tc",           "Tj",           "Tq",
    "Tu",      "TQ0_",        "TQ12_",    "TY1_",         "yycfU_TQ0_",   "Tf4d_n",
    "Tf4nd_n", "Tf4d_nTm",    "Tf4d_nTA", "Si_Tg5",       "Si_Tg5Tf4d_n", "Si_TG5",
    "Si_Tp5",  "Tv_",         "TwB",      "Twb",          "TX",           "TI",
    "Tx",      "Twc",         "TE",       ".cold.1",      ".resume.0",    ".llvm.1234567",
    "fA_",     "yycfU_TA.12", "ACTK",     "ACTk",         "MV",           "TJfSpSr",
    "TJrSpSr", "WJrSpSr",
};

START_TEST(own_names)
{
    char name[256];
    for (size_t i = 0; i < sizeof(OWN) / sizeof(OWN[0]); i++) {
        for (size_t k = 0; k < sizeof(ENDINGS) / sizeof(ENDINGS[0]); k++) {
            snprintf(name, sizeof(name), "%s%s", OWN[i], ENDINGS[k]);
            add_name(name);
        }
    }
    ck_assert_uint_gt(pair_count, 2000);
    add_name("$s4mainyycfU_");
    add_name("$s4mainyycfU_yycfu_TA");
    check_partitions();
}
END_TEST

START_TEST(apples_names)
{
    static const char *const FILES[] = {"cases.tsv", "stdlib.tsv", "old.tsv"};
    static char line[256 * 1024];
    const char *data = getenv("STALLSYM_DATA");
    for (size_t i = 0; i < sizeof(FILES) / sizeof(FILES[0]); i++) {
        char path[512];
        snprintf(path, sizeof(path), "%s/swift/%s", data ? data : "../shared/data", FILES[i]);
        FILE *f = fopen(path, "r");
        if (!f) {
            printf("skipped: %s is not there\n", path);
            return;
        }
        while (fgets(line, sizeof(line), f)) {
            line[strcspn(line, "\t\n")] = 0;
            add_name(line);
        }
        fclose(f);
    }
    ck_assert_uint_gt(pair_count, 4000);
    ck_assert_uint_lt(without_identity, pair_count);
    check_partitions();
}
END_TEST

UNIT_MAIN("swift_keys", own_names, apples_names)
