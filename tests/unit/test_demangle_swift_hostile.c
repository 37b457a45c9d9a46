/*
 * Names that are no names, or more than they look: whatever comes in, an answer comes out in time
 * and inside the memory that is promised (the tests run on a small stack).
 *
 * Covers: symbolizer/demangle_swift_parse.c
 * Covers: symbolizer/demangle_swift_print.c
 * Covers: symbolizer/demangle_swift_print_type.c
 */
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "symbolizer/demangle_swift.h"
#include "symbolizer/demangle_swift_node.h"
#include "symbolizer/demangle_swift_print.h"
#include "tests/support/unit.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define STACK_BYTES ((size_t)4 * 1024 * 1024) /* its frames are larger */
#define LONG_STEP   37
#else
#define STACK_BYTES ((size_t)320 * 1024)
#define LONG_STEP   1
#endif

/* Every value of every byte takes half a minute: that is for STALLSYM_LONG=1 (tests/e2e/long.sh). */
static int mutation_step(void)
{
    return getenv("STALLSYM_LONG") ? LONG_STEP : 37;
}

/* Far more than any of them takes, even under valgrind. */
#define SECONDS_MAX 5.0

#define NAME_BYTES 4096

/* Names of each kind, to be cut and changed. */
static const char *const names[] = {
    "$s4Shop4FeedC6reload5forceySb_tFySSXEfU_",
    "$s3red4testyAA3ResOyxSayq_GAEs5ErrorAAq_sAFHD1__HCg_GADyxq_GsAFR_r0_lF",
    "$sxIeghHr_xs5Error_pIegHrzo_s8SendableRzs5NeverORs_r0_lTRTATQ0_",
    "$s14swift_ide_test14myColorLiteral3red5green4blue5alphaAA0E0VSf_S3ftcfm",
    "$s4Shop3runyySiF3abcSiSSTf4c_n",
    "$s4Shop3runyySiF14$s4Shop3twoyyFTf4pf_n",
    "$s4Shop3runyyxxQp_q_q_QptRvzRv_q_Rhzr0_lF",
    "$s4Shop4FeedC5titleSSvpACTKq",
    "$s4Shop3BoxVAASHRzlE3runyyFyycfU_TA.12",
    "$s4Shop3runyS2fFS2iIegyd_TJSrSpSrSP",
    "_$s15raw_identifiers0020foospace_liaADEDGcjayyF",
    "@__swiftmacro_1a13testStringifyAA1bySi_SitF9stringifyfMf_",
    "_T08mangling14varargsVsArrayySi3arrd_SS1ntF",
    "_TFVV15nested_generics5Lunch6DinnerCfT11firstCoursex12secondCourseGSqqd___9leftoversx14trans"
    "formationFxqd___GS1_x_qd___",
    "_TTSf1cl35_TFF7specgen6callerFSiT_U_FTSiSi_T_Si___TF7specgen12take_closureFFTSiSi_T_T_",
    "_TTRXFo_oCSo13SKPhysicsBodydVSC7CGPointdGSpV10ObjectiveC8ObjCBool___XFdCb_dS_dS0_dGSpS1____",
    "_TF8manglingX27ihqwctvzcJBfGFJdrssDxIboAybFT_T_",
};

#define NAME_COUNT (sizeof(names) / sizeof(names[0]))

static char out[64 * 1024];

/* An answer, and nothing behind the buffer. */
static void answer(const char *name, enum swift_form form, size_t size)
{
    memset(out, 0x5A, size + 1 < sizeof(out) ? size + 1 : size);
    bool ok = demangle_swift(name, form, out, size);
    size_t len = strnlen(out, size);
    ck_assert_uint_lt(len, size);
    if (size < sizeof(out))
        ck_assert_int_eq(out[size], 0x5A);
    if (!ok)
        ck_assert(!strncmp(out, name, len));
    else
        ck_assert_uint_gt(len, 0);
}

static void answer_all(const char *name)
{
    for (int form = SWIFT_FULL; form <= SWIFT_KEY; form++)
        answer(name, (enum swift_form)form, sizeof(out));
}

/* Runs the body on a stack that leaves room for the arena in the megabyte that is promised. */
static void on_small_stack(void *(*body)(void *))
{
    pthread_attr_t attr;
    pthread_t thread;
    ck_assert_uint_le(320 * 1024 + SWIFT_ARENA_LIMIT, 1024 * 1024);
    ck_assert_int_eq(pthread_attr_init(&attr), 0);
    ck_assert_int_eq(pthread_attr_setstacksize(&attr, STACK_BYTES), 0);
    ck_assert_int_eq(pthread_create(&thread, &attr, body, NULL), 0);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    pthread_attr_destroy(&attr);
}

/* --- prefixes and mutations --------------------------------------------------------------------- */

static void *prefixes(void *arg)
{
    char name[512];
    (void)arg;
    for (size_t i = 0; i < NAME_COUNT; i++) {
        size_t len = strlen(names[i]);
        for (size_t n = 0; n <= len; n++) {
            snprintf(name, sizeof(name), "%.*s", (int)n, names[i]);
            answer_all(name);
        }
    }
    return NULL;
}

START_TEST(every_prefix_has_an_answer)
{
    on_small_stack(prefixes);
}
END_TEST

static void *mutations(void *arg)
{
    char name[512];
    (void)arg;
    for (size_t i = 0; i < NAME_COUNT; i++) {
        size_t len = strlen(names[i]);
        snprintf(name, sizeof(name), "%s", names[i]);
        for (size_t at = 0; at < len; at++) {
            for (int c = 1; c < 256; c += mutation_step()) {
                name[at] = (char)c;
                answer(name, (enum swift_form)(c % 3), 256);
            }
            name[at] = names[i][at];
        }
    }
    return NULL;
}

START_TEST(every_changed_byte_has_an_answer)
{
    on_small_stack(mutations);
}
END_TEST

/* The same with the Swift project's names, where they are. */
static void *project_names(void *arg)
{
    const char *data = getenv("STALLSYM_DATA");
    char path[512];
    char *line = NULL;
    size_t capacity = 0;
    (void)arg;
    snprintf(path, sizeof(path), "%s/swift/cases.tsv", data ? data : "../shared/data");
    FILE *f = fopen(path, "r");
    if (!f) {
        printf("skipped: no %s\n", path);
        return NULL;
    }
    while (getline(&line, &capacity, f) > 0) {
        line[strcspn(line, "\t\n")] = 0;
        size_t len = strlen(line);
        for (size_t at = 0; at < len; at++) {
            char was = line[at];
            for (int c = 1; c < 256; c += mutation_step()) {
                line[at] = (char)c;
                answer(line, (enum swift_form)(c % 3), 256);
            }
            line[at] = 0;
            answer(line, (enum swift_form)(at % 3), 256);
            line[at] = was;
        }
    }
    free(line);
    fclose(f);
    return NULL;
}

START_TEST(so_have_those_of_the_swift_project)
{
    on_small_stack(project_names);
}
END_TEST

/* --- deep, wide and doubling ----------------------------------------------------------------------- */

/* PREFIX, then a piece again and again up to 4 KB, then an end. */
struct grown {
    const char *prefix;
    const char *piece;
    const char *end;
};

static const struct grown grown[] = {
    {"$sSi", "Sg", "D"},
    {"$sSi", "_t", "D"},
    {"$sSi", "Sic", "D"},
    {"$sx", "m", "D"},
    {"$sx", "z", "D"},
    {"$s", "x", ""},
    {"$s", "_", ""},
    {"$s", "y", ""},
    {"$s", "Si", "tD"},
    {"$sSa", "Sa", "D"},
    {"$sSay", "Say", "SiGG"},
    {"$s1aC", "A2048B", ""},
    {"$s", "S2048i", ""},
    {"$s1a1bC", "A9999999999B", ""},
    {"$s1a1bC", "1cC", "y_____G"},
    {"$s1a1bC", "1cV", "ySi_Si_Si_SiG"},
    {"$s1a1byyF", "yycfU_", ""},
    {"$s1a1byyF", "1cL_yyF", ""},
    {"$s1a1byyF", "Z", ""},
    {"$s1a1byyF", "Tm", ""},
    {"$s1a1byyF", "TA", ""},
    {"$s1a1byyF", "Tc", ""},
    {"$s1a1byyF", "Si_Tg5", ""},
    {"$s1a1byyF", "Tf4d_n", ""},
    {"$s1a1byyF", "Tf4", ""},
    {"$s1a1byyF1c", "Tf4pf_n", ""},
    {"$s1a1b", "QrF", ""},
    {"$s", "I", ""},
    {"$s", "Ieg_", "TR"},
    {"$sSi", "Iegy_", "D"},
    {"$s", "xRzl", "u"},
    {"$sxSH", "Rz", "l"},
    {"$sx", "r0_l", "D"},
    {"$s7Element", "Qz", "D"},
    {"$s", "$1_", "D"},
    {"$s04", "abcdA", ""},
    {"$s", "00", ""},
    {"$s3abc", "0a", ""},
    {"$s", "9", ""},
    {"$s", ".", ""},
    {"$s", "\xFF", "Si"},
    {"$s", "\x01\x01\x01\x01\x01", ""},
    {"_Tt", "M", "Si"},
    {"_Tt", "GSa", "Si"},
    {"_Tt", "T", ""},
    {"_Tt", "F", ""},
    {"_Tt", "u", ""},
    {"_Tt", "Q", ""},
    {"_TtQ", "Qs", "1a"},
    {"_Tt", "XB", ""},
    {"_Tt", "XFo_i", ""},
    {"_TtR", "R", "Si"},
    {"_Tt", "W", ""},
    {"_T", "F", "1aFT_T_"},
    {"_T", "C", "1a"},
    {"_TF", "E1a", ""},
    {"_TF", "e1ar", ""},
    {"_TFF", "F", "1a1bFT_T_"},
    {"_TPA__T", "PA__T", ""},
    {"_TTSg5", "Si_", "_"},
    {"_TTS", "f4d___TTS", ""},
    {"_TtX", "X", ""},
    {"_TtGSqG", "SqG", ""},
};

static void *deep_names(void *arg)
{
    static char name[NAME_BYTES + 64];
    (void)arg;
    for (size_t i = 0; i < sizeof(grown) / sizeof(grown[0]); i++) {
        const struct grown *g = &grown[i];
        size_t len = (size_t)snprintf(name, sizeof(name), "%s", g->prefix);
        size_t piece = strlen(g->piece);
        while (len + piece + strlen(g->end) < NAME_BYTES) {
            memcpy(name + len, g->piece, piece);
            len += piece;
        }
        snprintf(name + len, sizeof(name) - len, "%s", g->end);
        struct timespec t0;
        struct timespec t1;
        clock_gettime(CLOCK_MONOTONIC, &t0);
        answer_all(name);
        clock_gettime(CLOCK_MONOTONIC, &t1);
        double s = (double)(t1.tv_sec - t0.tv_sec) + (double)(t1.tv_nsec - t0.tv_nsec) / 1e9;
        ck_assert_msg(s < SECONDS_MAX, "%s %s: %.1f s", g->prefix, g->piece, s);
    }
    return NULL;
}

START_TEST(deep_and_wide_names)
{
    on_small_stack(deep_names);
}
END_TEST

/* Each dictionary has the one before as key and as value: 2^n words from a few bytes each. */
static void *doubling(void *arg)
{
    char name[512] = "$sSDySiSiG";
    (void)arg;
    for (char c = 'A'; c < 'Z'; c++) {
        char piece[16];
        snprintf(piece, sizeof(piece), "SDyA%cA%cG", c, c);
        size_t len = strlen(name);
        snprintf(name + len, sizeof(name) - len, "%sD", piece);
        answer_all(name);
        answer(name, SWIFT_FULL, 100);
        name[len + strlen(piece)] = 0;
    }
    return NULL;
}

START_TEST(names_that_double)
{
    on_small_stack(doubling);
}
END_TEST

/* Names inside names: each layer is a constant of the next. */
static void *nested(void *arg)
{
    static char inner[NAME_BYTES];
    static char outer[NAME_BYTES + 64];
    (void)arg;
    snprintf(inner, sizeof(inner), "$s1a1byyF");
    while (strlen(inner) + 32 < sizeof(inner)) {
        snprintf(outer, sizeof(outer), "$s1a1cyySiF%zu%sTf4pf_n", strlen(inner), inner);
        answer_all(outer);
        memcpy(inner, outer, strlen(outer) + 1);
    }
    return NULL;
}

START_TEST(names_inside_names)
{
    on_small_stack(nested);
}
END_TEST

START_TEST(too_long_a_name_is_left_alone)
{
    size_t size = SWIFT_NAME_MAX + 2;
    char *name = malloc(size);
    char *text = malloc(size + 16);
    ck_assert(name && text);
    memset(name, 'Z', size);
    memcpy(name, "$s1a1byyF", 9);
    name[SWIFT_NAME_MAX + 1] = 0;
    ck_assert(!demangle_swift(name, SWIFT_FULL, text, size + 16));
    ck_assert_str_eq(text, name);
    free(name);
    free(text);
}
END_TEST

/* A tree as deep as the printer goes says so where it stops. */
START_TEST(too_deep_a_tree_says_so)
{
    char name[NAME_BYTES];
    size_t len = (size_t)snprintf(name, sizeof(name), "$sSi");
    for (int i = 0; i < 1000; i++)
        len += (size_t)snprintf(name + len, sizeof(name) - len, "Sg");
    ck_assert(demangle_swift(name, SWIFT_FULL, out, sizeof(out)));
    ck_assert_msg(!strncmp(out, "<<too complex>>?", 16), "%.40s", out);
}
END_TEST

UNIT_MAIN("demangle_swift_hostile", every_prefix_has_an_answer, every_changed_byte_has_an_answer,
          so_have_those_of_the_swift_project, deep_and_wide_names, names_that_double,
          names_inside_names, too_long_a_name_is_left_alone, too_deep_a_tree_says_so)
