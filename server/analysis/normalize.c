/*
 * The common part: what says nothing is dropped, compilers' suffixes go, the language is told by
 * the looks of what is left, and the form is applied until it does not change any more.
 */
#include "server/analysis/normalize.h"

#include <string.h>

#include "server/analysis/normalize_parts.h"

#define NAME_INPUT_MAX  16384 /* bytes of a name that are looked at */
#define NAME_PASSES_MAX 8

/* Names that tools print where they know none. */
static bool is_unnamed(struct name_view v)
{
    static const char *const STARTS[] = {"___lldb_unnamed_symbol",
                                         "__hidden#",
                                         "_mh_",
                                         "__mh_",
                                         "<redacted>",
                                         "<unknown",
                                         "<hidden",
                                         "<compiler-generated",
                                         "<anonymous closure",
                                         "<deduplicated_symbol",
                                         "???",
                                         "(null)"};
    if (v.n == 0 || name_equals(v, "??") || name_equals(v, "?"))
        return true;
    for (size_t k = 0; k < sizeof(STARTS) / sizeof(STARTS[0]); k++) {
        if (name_starts(v, STARTS[k]))
            return true;
    }
    if (!name_starts(v, "0x"))
        return false;
    size_t i = 2;
    while (i < v.n && strchr("0123456789abcdefABCDEF", v.p[i]) != NULL && v.p[i] != 0)
        i++;
    return i == v.n;
}

/* Functions that the compiler or the runtime puts between a caller and what it calls. */
static bool is_artefact(struct name_view v)
{
    static const char *const STARTS[] = {
        "OUTLINED_FUNCTION_", "_OUTLINED_FUNCTION_",    "__swift_",        "___swift_",
        "objc_msgSend",       "_objc_msgSend",          "swift_retain",    "swift_release",
        "_swift_retain",      "_swift_release",         "objc_retain",     "objc_release",
        "DYLD-STUB$$",        "__clang_call_terminate", "symbol stub for",
    };
    static const char *const WORDS[] = {
        "partial apply",
        "partial apply forwarder",
        "async",
        "await",
        "class",
        "closure",
        "dynamic",
        "final",
        "for",
        "func",
        "generic",
        "implicit",
        "in",
        "init",
        "merged",
        "mutating",
        "of",
        "override",
        "partial",
        "rethrows",
        "some",
        "specialized",
        "static",
        "super",
        "throws",
        "thunk",
        "where",
        "operator()",
        "block",
    };
    for (size_t k = 0; k < sizeof(STARTS) / sizeof(STARTS[0]); k++) {
        if (name_starts(v, STARTS[k]))
            return true;
    }
    for (size_t k = 0; k < sizeof(WORDS) / sizeof(WORDS[0]); k++) {
        if (name_equals(v, WORDS[k]))
            return true;
    }
    if (v.n > 1 && (v.p[0] == '@' || v.p[0] == '#') && !name_starts(v, "@objc ") &&
        !name_starts(v, "@nonobjc "))
        return true;
    for (size_t i = 0; i < v.n; i++) {
        if ((v.p[i] >= 'a' && v.p[i] <= 'z') || (v.p[i] >= 'A' && v.p[i] <= 'Z') ||
            (unsigned char)v.p[i] >= 0x80)
            return false;
    }
    return strchr("_+-*/<>=!&|^%~.?", v.p[0]) == NULL; /* an operator is a name */
}

/* A word of `SUFFIXES` before the numbers at the end: `.cold.1`, `.llvm.123`, `.part.0`. */
static size_t clone_suffix(struct name_view v)
{
    static const struct {
        const char *word;
        bool needs_number;
    } SUFFIXES[] = {
        {".cold", false},   {".llvm", true},        {".part", true},     {".isra", true},
        {".resume", true},  {".constprop", true},   {".lto_priv", true}, {".thunk", true},
        {".island", false}, {".specialized", true}, {".uncached", true}, {".clone", true},
    };
    size_t i = v.n;
    while (i > 0 && name_digit(v.p[i - 1]))
        i--;
    bool number = i < v.n && i > 0 && v.p[i - 1] == '.';
    struct name_view head = number ? name_view_of(v.p, i - 1) : v;
    for (size_t k = 0; k < sizeof(SUFFIXES) / sizeof(SUFFIXES[0]); k++) {
        if (name_ends(head, SUFFIXES[k].word) && (number || !SUFFIXES[k].needs_number) &&
            head.n > strlen(SUFFIXES[k].word))
            return v.n - (head.n - strlen(SUFFIXES[k].word));
    }
    return number && i > 1 ? v.n - (i - 1) : 0; /* `counter.27`: a static made unique */
}

/* ` (.cold.1)`, ` [clone .part.0]`, ` [inlined]`, ` with unmangled suffix "…"`, ` + 123`. */
static size_t bracket_suffix(struct name_view v)
{
    size_t unmangled = v.n > 0 && v.p[v.n - 1] == '"'
                           ? name_find_outside(v, 0, " with unmangled suffix ")
                           : NAME_NPOS;
    if (unmangled != NAME_NPOS)
        return v.n - unmangled;
    static const char *const OPENS[] = {" (.", " [clone ", " [inlined"};
    if (v.n > 0 && (v.p[v.n - 1] == ')' || v.p[v.n - 1] == ']')) {
        for (size_t i = v.n - 1; i > 0; i--) {
            for (size_t k = 0; k < sizeof(OPENS) / sizeof(OPENS[0]); k++) {
                if (name_starts(name_view_from(v, i), OPENS[k]))
                    return v.n - i;
            }
            if (v.n - i > 128 || ((v.p[i] == '(' || v.p[i] == '[') && v.p[i - 1] != ' '))
                break;
        }
    }
    size_t i = v.n; /* ` + 123`: the offset that backtrace() prints */
    while (i > 0 && name_digit(v.p[i - 1]))
        i--;
    return i < v.n && i > 3 && memcmp(v.p + i - 3, " + ", 3) == 0 ? v.n - (i - 3) : 0;
}

/* `Enemy_Update_m` and forty hexadecimal digits, `…_gshared_inline`: what il2cpp makes of a method
 * of C#; the digits change with every build of the game. */
static size_t il2cpp_suffix(struct name_view v)
{
    static const char *const TAILS[] = {"_inline", "_gshared", "_AdjustorThunk"};
    enum { DIGITS = 40 };
    struct name_view head = v;
    for (size_t k = 0; k < sizeof(TAILS) / sizeof(TAILS[0]); k++) {
        if (name_ends(head, TAILS[k]))
            head.n -= strlen(TAILS[k]);
    }
    if (head.n < DIGITS + 3)
        return 0;
    const char *digits = head.p + head.n - DIGITS;
    for (size_t i = 0; i < DIGITS; i++) {
        if (!name_digit(digits[i]) && (digits[i] < 'A' || digits[i] > 'F'))
            return 0;
    }
    if (digits[-2] != '_' || (digits[-1] != 'm' && digits[-1] != 't'))
        return 0;
    return v.n - (head.n - DIGITS - 2);
}

/* `Feed.load.<anonymous closure>`: Dart's way to name a closure. */
static size_t dart_suffix(struct name_view v)
{
    static const char CLOSURE[] = ".<anonymous closure>";
    return name_ends(v, CLOSURE) ? sizeof(CLOSURE) - 1 : 0;
}

/* `Feed_U3CLoadU3Eb__6_12`: a closure of C# is the method that it was written in, where it stands
 * in the method's class. (`<` and `>` cannot be in a name of C: they are U3C and U3E.) */
static bool put_il2cpp_closure(struct name_view v, struct name_out *out)
{
    size_t end = v.n;
    while (end > 0 && (name_digit(v.p[end - 1]) || v.p[end - 1] == '_'))
        end--;
    const struct name_view head = name_view_of(v.p, end);
    size_t open = name_find_outside(head, 1, "_U3C");
    if (end + 2 >= v.n || !name_ends(head, "U3Eb") || open == NAME_NPOS || open + 8 >= end ||
        name_starts(v, "U3C"))
        return false;
    name_put(out, v.p, open + 1);
    name_put(out, v.p + open + 4, end - open - 8);
    return true;
}

static struct name_view strip_suffixes(struct name_view v)
{
    for (;;) {
        size_t n = bracket_suffix(v);
        if (n == 0)
            n = dart_suffix(v);
        if (n == 0)
            n = clone_suffix(v);
        if (n == 0)
            n = il2cpp_suffix(v);
        if (n == 0 || n >= v.n)
            return v;
        v = name_trim(name_view_of(v.p, v.n - n));
    }
}

/* A block is the function it was written in: `__load_block_invoke_2`, `load(int) block`. */
static struct name_view strip_block(struct name_view v)
{
    static const char BLOCK[] = "_block_invoke";
    size_t i = v.n;
    while (i > 0 && name_digit(v.p[i - 1]))
        i--;
    if (i < v.n && i > 0 && (v.p[i - 1] == '_' || v.p[i - 1] == ' '))
        i--;
    else
        i = v.n;
    struct name_view head = name_view_of(v.p, i);
    if (name_ends(head, BLOCK) && head.n > strlen(BLOCK)) {
        head.n -= strlen(BLOCK);
        if (name_starts(head, "___Z"))
            return name_view_from(head, 2);
        return name_starts(head, "__") ? name_view_from(head, 2) : head;
    }
    if (name_ends(head, " block") && head.n > 6)
        return name_view_of(head.p, head.n - 6);
    return v;
}

static enum name_kind kind_of(struct name_view v)
{
    if (is_unnamed(v) || is_artefact(v))
        return NAME_NOTHING;
    if (normalize_is_objc(v))
        return NAME_OBJC;
    if (normalize_is_swift_mangled(v))
        return NAME_SWIFT_MANGLED;
    if (normalize_is_swift(v))
        return NAME_SWIFT;
    return normalize_is_cxx(v) ? NAME_CXX : NAME_C;
}

static enum name_kind normalize_once(struct name_view v, struct name_out *out)
{
    v = strip_suffixes(name_trim(v));
    for (struct name_view inner = strip_block(v); inner.n < v.n; inner = strip_block(v))
        v = strip_suffixes(name_trim(inner));
    enum name_kind kind = kind_of(v);
    switch (kind) {
    case NAME_NOTHING:
        break;
    case NAME_OBJC:
        normalize_objc(v, out);
        break;
    case NAME_SWIFT:
        normalize_swift(v, out);
        break;
    case NAME_SWIFT_MANGLED:
        normalize_swift_mangled(v, out);
        break;
    case NAME_CXX:
        normalize_cxx(v, out);
        break;
    case NAME_C:
        if (!put_il2cpp_closure(v, out))
            name_put_view(out, v);
        break;
    }
    return kind;
}

/* The functions that run a file's static constructors are called alike in every file. */
static bool needs_file(struct name_view key)
{
    return name_starts(key, "__cxx_global_var_init") || name_starts(key, "__cxx_global_array_dtor");
}

static void put_file(const char *file, struct name_out *out)
{
    const char *base = strrchr(file, '/');
    base = base ? base + 1 : file;
    if (!*base || memchr(out->p, '@', out->n))
        return;
    name_puts(out, "@");
    name_puts(out, base);
}

size_t normalize_function(const char *function, const char *file, int local, char *out, size_t size)
{
    char passes[2][KEY_NAME_MAX];
    char plain[KEY_NAME_MAX];
    if (size == 0)
        return 0;
    out[0] = 0;
    if (!function)
        return 0;
    const struct name_view whole =
        name_trim(name_view_of(function, strnlen(function, NAME_INPUT_MAX)));
    struct name_out decoded = {plain, 0, sizeof(plain)};
    struct name_view v = normalize_rust_escapes(whole, &decoded);
    enum name_kind kind = NAME_NOTHING;
    struct name_out key = {passes[0], 0, KEY_NAME_MAX - 1};
    bool settled = false;
    for (int pass = 0; pass < NAME_PASSES_MAX && !settled; pass++) {
        key = (struct name_out){passes[pass % 2], 0, KEY_NAME_MAX - 1};
        enum name_kind now = normalize_once(v, &key);
        if (pass == 0)
            kind = now;
        settled = key.n == v.n && (v.n == 0 || memcmp(key.p, v.p, v.n) == 0);
        v = name_view_of(key.p, key.n);
    }
    if (!settled) { /* no name of any language: as it is */
        key = (struct name_out){passes[0], 0, KEY_NAME_MAX - 1};
        name_put_view(&key, whole);
    }
    if (file && key.n > 0 && (local || needs_file(name_view_of(key.p, key.n))) &&
        (kind == NAME_C || kind == NAME_CXX))
        put_file(file, &key);
    size_t n = key.n < size ? key.n : size - 1;
    memcpy(out, key.p, n);
    out[n] = 0;
    return n;
}

int normalize_is_unnamed(const char *function)
{
    return !function || is_unnamed(name_trim(name_view_of(function, strnlen(function, 512))));
}
