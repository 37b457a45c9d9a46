#include "symbolizer/demangle_swift_punycode.h"

#include <string.h>

#include "tests/support/unit.h"

/* The text, or NULL when it is refused. */
static const char *decode(const char *in, size_t len, char *out, size_t size)
{
    struct swift_arena a;
    struct swift_text t = {in, len};
    swift_arena_init(&a);
    bool ok = swift_punycode_decode(&a, t, &t);
    if (ok) {
        ck_assert_uint_lt(t.len, size);
        memcpy(out, t.s, t.len);
        out[t.len] = 0;
    }
    swift_arena_done(&a);
    return ok ? out : NULL;
}

START_TEST(texts)
{
    static const struct {
        const char *in;
        const char *out;
    } cases[] = {
        {"caf_dma", "café"},
        {"maana_pta", "mañana"},
        {"ihqwctvzcJBfGFJdrssDxIboAyb", "他們爲什麽不說中文"},
        {"wxa", "λ"},
        {"wgvHBaBBJe", "日本語"},
        {"Gre_GkaIi", "Größe"},
        {"ab_noICa", "a😀b"},
        {"eCIh", "😀"},
        {"Jca", "é"},
        {"100_", "100"},
        {"foospace_ntJBb", "foo space"}, /* ASCII that symbols may not have */
        {"xy_uhJk", "x-y"},
        {"pathfoo_yuEHaaCi", "path://foo"},
        {"abc_", "abc"},
        {"_", ""},
        {"", ""},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char out[256];
        const char *got = decode(cases[i].in, strlen(cases[i].in), out, sizeof(out));
        ck_assert_msg(got && !strcmp(got, cases[i].out), "%s: want %s, got %s", cases[i].in,
                      cases[i].out, got ? got : "(refused)");
    }
}
END_TEST

/* What cannot be read ends the text, as with Apple's tool. */
START_TEST(texts_that_break_off)
{
    static const struct {
        const char *in;
        const char *out;
    } cases[] = {
        {"abc_!", "abc"},      /* no digit */
        {"abc_ZZ", "abc"},     /* letters past J are none */
        {"caf_d", "caf"},      /* a number that goes on */
        {"a_JJJJJJJJJJ", "a"}, /* and on, past any code point's position */
        {"\xC3\xA9_abc", ""},  /* not ASCII before the delimiter */
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char out[256];
        const char *got = decode(cases[i].in, strlen(cases[i].in), out, sizeof(out));
        ck_assert_msg(got && !strcmp(got, cases[i].out), "%s: want %s, got %s", cases[i].in,
                      cases[i].out, got ? got : "(refused)");
    }
}
END_TEST

START_TEST(more_than_the_cap_is_refused)
{
    static char in[SWIFT_PUNYCODE_MAX + 1];
    static char out[SWIFT_PUNYCODE_MAX * 4];
    memset(in, 'a', sizeof(in));
    in[SWIFT_PUNYCODE_MAX - 1] = '_';
    ck_assert_ptr_nonnull(decode(in, SWIFT_PUNYCODE_MAX, out, sizeof(out)));
    ck_assert_ptr_null(decode(in, SWIFT_PUNYCODE_MAX + 1, out, sizeof(out)));
}
END_TEST

/* Whatever is decoded is UTF-8 in form and inside its buffer: every text of three letters. */
START_TEST(all_short_texts)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKZ_0";
    char in[4] = {0};
    char out[64];
    for (size_t a = 0; letters[a]; a++) {
        for (size_t b = 0; letters[b]; b++) {
            for (size_t c = 0; letters[c]; c++) {
                in[0] = letters[a];
                in[1] = letters[b];
                in[2] = letters[c];
                const char *got = decode(in, 3, out, sizeof(out));
                for (; got && *got; got++)
                    ck_assert_uint_lt((unsigned char)*got, 0xF8);
            }
        }
    }
}
END_TEST

UNIT_MAIN("demangle_swift_punycode", texts, texts_that_break_off, more_than_the_cap_is_refused,
          all_short_texts)
