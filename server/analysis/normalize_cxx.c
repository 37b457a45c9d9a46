/*
 * C++ and Rust names, demangled. One pass from left to right copies the qualified name and leaves
 * out what differs between compiler runs or instantiations: return types, template arguments,
 * parameters, ABI tags, inline namespaces of the standard library, lambda numbers, hashes.
 *
 * gdb prints `name (param=value, …)`: the blank before the bracket is what tells it from the
 * blank after a return type.
 */
#include <string.h>

#include "server/analysis/normalize_parts.h"

#define ANONYMOUS "(anonymous)" /* no longer than gcc's {anonymous} */

struct cxx_scan {
    struct name_view v;
    size_t i;
    struct name_out *out;
    size_t start;     /* of this name in the output: a return type is dropped back to here */
    bool in_function; /* `foo(int)::` stands before */
    bool lambda;      /* a lambda was just left out: its operator() follows */
    bool done;
    int nesting;
};

static void scan_cxx(struct name_view v, struct name_out *out, int nesting);

static const char *const PREFIXES[] = {
    "virtual thunk to ",
    "non-virtual thunk to ",
    "covariant return thunk to ",
    "invocation function for block in ",
    "thread-local wrapper routine for ",
    "thread-local initialization routine for ",
    "guard variable for ",
    "transaction clone for ",
    "non-transaction clone for ",
};

bool normalize_is_cxx(struct name_view v)
{
    if (name_find_outside(v, 0, "::") != NAME_NPOS || name_find_outside(v, 0, "(") != NAME_NPOS)
        return true;
    return name_starts(v, "operator") || name_find_outside(v, 0, " operator") != NAME_NPOS;
}

static bool at(const struct cxx_scan *s, const char *text)
{
    return name_starts(name_view_from(s->v, s->i), text);
}

static bool component_start(const struct cxx_scan *s)
{
    return s->i == 0 || !name_ident_char(s->v.p[s->i - 1]);
}

static void leave_out_lambda(struct cxx_scan *s)
{
    if (s->in_function && name_out_ends(s->out, "::"))
        s->out->n -= 2;
    else if (!name_out_ends(s->out, "$_"))
        name_puts(s->out, "$_"); /* of no function: a lambda is all that is known */
    s->lambda = true;
}

static size_t skip_blanks(struct name_view v, size_t i)
{
    while (i < v.n && v.p[i] == ' ')
        i++;
    return i;
}

/* What may stand between a parameter list and the `::` of something local to the function. */
static size_t skip_qualifiers(struct name_view v, size_t i)
{
    static const char *const WORDS[] = {"const", "volatile", "noexcept", "&&", "&"};
    for (;;) {
        size_t j = skip_blanks(v, i);
        size_t k = 0;
        while (k < sizeof(WORDS) / sizeof(WORDS[0]) && !name_starts(name_view_from(v, j), WORDS[k]))
            k++;
        if (k < sizeof(WORDS) / sizeof(WORDS[0]))
            i = j + strlen(WORDS[k]);
        else if (j < v.n && v.p[j] == '[')
            i = name_skip_group(v, j);
        else
            return i;
    }
}

static void skip_parameters(struct cxx_scan *s)
{
    s->i = skip_qualifiers(s->v, name_skip_group(s->v, s->i));
    if (at(s, "::")) {
        s->in_function = true;
        return;
    }
    s->done = true;
}

static void on_round(struct cxx_scan *s)
{
    if (at(s, "(anonymous namespace)") || at(s, "(anonymous class)") || at(s, ANONYMOUS)) {
        name_puts(s->out, ANONYMOUS);
        s->i = name_skip_group(s->v, s->i);
    } else if (name_out_ends(s->out, "decltype") && s->out->n == s->start + 8) {
        s->out->n = s->start; /* a return type */
        s->i = name_skip_group(s->v, s->i);
    } else if (s->out->n == s->start && !s->lambda) {
        s->i++;
        while (at(s, "*") || at(s, "&"))
            s->i++; /* `(*f(int))(char)`: a function that returns a function */
    } else {
        skip_parameters(s);
    }
}

static void on_blank(struct cxx_scan *s)
{
    size_t next = skip_blanks(s->v, s->i);
    struct name_view rest = name_view_from(s->v, next);
    bool parameters = name_starts(rest, "(") && !name_starts(rest, "(anonymous") &&
                      !name_starts(rest, "(*") && !name_starts(rest, "(&");
    s->i = next;
    if (parameters || (name_starts(rest, "<") && s->out->n > s->start &&
                       !name_ident_char(s->out->p[s->out->n - 1])))
        return;           /* `operator<< <char>` has its blank to keep the brackets apart */
    s->out->n = s->start; /* that was a return type */
    s->in_function = s->lambda = false;
}

/* `<shop::feed::Feed>::load`: Rust's newer linkage names put a type's own functions so, the older
 * ones write `shop::feed::Feed::load`. */
static bool is_rust_path(struct name_view inside)
{
    for (size_t i = 0; i < inside.n && inside.p[i] != '<'; i++) {
        if (!name_ident_char(inside.p[i]) && inside.p[i] != ':')
            return false;
    }
    return inside.n > 0 && inside.p[0] != '<';
}

/* `<…>`: template arguments, or the `<T as Trait>` that Rust begins a name with. */
static void on_angle(struct cxx_scan *s)
{
    size_t end = name_skip_group(s->v, s->i);
    bool closed = end > s->i + 1 && s->v.p[end - 1] == '>';
    if (s->out->n == s->start && !s->lambda) {
        struct name_view inside =
            name_view_of(s->v.p + s->i + 1, end - s->i - 1 - (closed ? 1 : 0));
        size_t as = name_find_outside(inside, 0, " as ");
        bool path = as == NAME_NPOS && closed && is_rust_path(inside);
        name_puts(s->out, path ? "" : "<");
        if (as == NAME_NPOS) {
            scan_cxx(inside, s->out, s->nesting + 1);
        } else {
            scan_cxx(name_view_of(inside.p, as), s->out, s->nesting + 1);
            name_puts(s->out, " as ");
            scan_cxx(name_view_from(inside, as + 4), s->out, s->nesting + 1);
        }
        name_puts(s->out, path ? "" : ">");
    } else if (!s->lambda) {
        if (name_out_ends(s->out, "::"))
            s->out->n -= 2; /* Rust's `f::<T>` */
        if (!name_out_ends(s->out, "<>"))
            name_puts(s->out, "<>");
    }
    s->i = end;
}

/* `{lambda(int)#1}`, `{{closure}}`, `{closure#0}`, `{anonymous}`, `{impl#3}`. */
static void on_curly(struct cxx_scan *s)
{
    size_t end = name_skip_group(s->v, s->i);
    struct name_view inside = name_view_of(s->v.p + s->i, end - s->i);
    if (name_starts(inside, "{lambda") || name_starts(inside, "{closure") ||
        name_starts(inside, "{{closure") || name_starts(inside, "{default arg") ||
        name_starts(inside, "{unnamed")) {
        s->in_function =
            s->in_function || name_starts(inside, "{closure") || name_starts(inside, "{{closure");
        leave_out_lambda(s);
    } else if (name_starts(inside, "{anonymous}")) {
        name_puts(s->out, ANONYMOUS);
    } else {
        for (size_t k = 0; k < inside.n; k++) {
            if (inside.p[k] == '#')
                while (k + 1 < inside.n && name_digit(inside.p[k + 1]))
                    k++;
            else
                name_put(s->out, inside.p + k, 1);
        }
    }
    s->i = end;
}

/* 'lambda'(int), 'lambda0'(…), 'unnamed'. */
static void on_quote(struct cxx_scan *s)
{
    size_t end = s->i + 1;
    while (end < s->v.n && s->v.p[end] != '\'')
        end++;
    end = end < s->v.n ? end + 1 : s->v.n;
    leave_out_lambda(s);
    s->i = end;
    if (s->i < s->v.n && s->v.p[s->i] == '(')
        s->i = name_skip_group(s->v, s->i);
}

/* Past the symbol of an operator that is not a type: `()`, `[]`, `<<=`, ` new[]`, `"" _x`. */
static size_t operator_end(struct name_view v, size_t i)
{
    static const char *const OPERATORS[] = {
        "()",  "[]",  " new[]", " delete[]", " new", " delete", " co_await", "<=>", "<<=",
        ">>=", "->*", "->",     "<<",        ">>",   "<=",      ">=",        "==",  "!=",
        "&&",  "||",  "++",     "--",        "+=",   "-=",      "*=",        "/=",  "%=",
        "^=",  "&=",  "|=",     "<",         ">",    "+",       "-",         "*",   "/",
        "%",   "^",   "&",      "|",         "~",    "!",       "=",         ",",
    };
    struct name_view rest = name_view_from(v, i);
    for (size_t k = 0; k < sizeof(OPERATORS) / sizeof(OPERATORS[0]); k++) {
        if (name_starts(rest, OPERATORS[k]))
            return i + strlen(OPERATORS[k]);
    }
    size_t end = name_find_outside(v, i, "(");
    return end == NAME_NPOS ? v.n : end;
}

static void on_operator(struct cxx_scan *s)
{
    size_t begin = s->i;
    size_t symbol = begin + strlen("operator");
    size_t end = operator_end(s->v, symbol);
    s->i = end;
    if (s->lambda && name_starts(name_view_from(s->v, symbol), "()")) {
        if (name_out_ends(s->out, "::"))
            s->out->n -= 2;
        return; /* swallowed with its lambda; `lambda` stays set for its template arguments */
    }
    if (symbol < s->v.n && s->v.p[symbol] == ' ' && end > symbol + 1 &&
        name_ident_char(s->v.p[end - 1]) && !name_starts(name_view_from(s->v, symbol), " new") &&
        !name_starts(name_view_from(s->v, symbol), " delete")) {
        name_puts(s->out, "operator "); /* a conversion: its type is part of the name */
        struct name_out *out = s->out;
        for (size_t k = symbol + 1; k < end;) {
            if (s->v.p[k] == '<') {
                name_puts(out, "<>");
                k = name_skip_group(s->v, k);
            } else {
                name_put(out, s->v.p + k++, 1);
            }
        }
        return;
    }
    name_put(s->out, s->v.p + begin, end - begin);
}

static bool hex_hash(struct name_view v)
{
    if (v.n < 17 || v.p[0] != 'h' || (v.n > 17 && name_ident_char(v.p[17])))
        return false;
    for (size_t i = 1; i < 17; i++) {
        if (!name_digit(v.p[i]) && !(v.p[i] >= 'a' && v.p[i] <= 'f'))
            return false;
    }
    return true;
}

static void on_colons(struct cxx_scan *s)
{
    struct name_view rest = name_view_from(s->v, s->i + 2);
    s->i += 2;
    if (hex_hash(rest)) {
        s->i += 17; /* Rust's ::h0123456789abcdef */
        return;
    }
    if (name_out_ends(s->out, "std")) {
        static const char *const INLINE[] = {"__1::", "__cxx11::", "__ndk1::", "__2::"};
        for (size_t k = 0; k < sizeof(INLINE) / sizeof(INLINE[0]); k++) {
            if (name_starts(rest, INLINE[k])) {
                s->i += strlen(INLINE[k]);
                break;
            }
        }
    }
    if (s->lambda && !at(s, "operator") && !at(s, "{") && !at(s, "'") && !at(s, "$_"))
        s->lambda = false;
    if (!s->lambda && s->out->n > s->start)
        name_puts(s->out, "::");
    else if (s->lambda && !at(s, "operator"))
        name_puts(s->out, "::");
}

static void step(struct cxx_scan *s)
{
    char c = s->v.p[s->i];
    if (c == '(') {
        on_round(s);
    } else if (c == ' ') {
        on_blank(s);
    } else if (c == '<') {
        on_angle(s);
    } else if (c == '[') {
        s->i = name_skip_group(s->v, s->i); /* ABI tags, clones, crate disambiguators */
    } else if (c == '{') {
        on_curly(s);
    } else if (c == '\'') {
        on_quote(s);
    } else if (at(s, "::")) {
        on_colons(s);
    } else if (component_start(s) && at(s, "operator") &&
               (s->i + 8 >= s->v.n || !name_ident_char(s->v.p[s->i + 8]))) {
        on_operator(s);
    } else if (component_start(s) && at(s, "$_")) {
        leave_out_lambda(s);
        s->i += 2;
        while (s->i < s->v.n && name_digit(s->v.p[s->i]))
            s->i++;
    } else {
        s->lambda = false;
        name_put(s->out, s->v.p + s->i, 1);
        s->i++;
    }
}

static void scan_cxx(struct name_view v, struct name_out *out, int nesting)
{
    if (nesting > NAME_NESTING_MAX)
        return;
    struct cxx_scan s = {.v = name_trim(v), .out = out, .start = out->n, .nesting = nesting};
    while (s.i < s.v.n && !s.done)
        step(&s);
}

void normalize_cxx(struct name_view v, struct name_out *out)
{
    for (size_t i = 0; i < sizeof(PREFIXES) / sizeof(PREFIXES[0]);) {
        if (name_starts(v, PREFIXES[i])) {
            v = name_view_from(v, strlen(PREFIXES[i]));
            i = 0;
        } else {
            i++;
        }
    }
    size_t start = out->n;
    scan_cxx(v, out, 0);
    while (name_out_ends(out, "::") && out->n > start)
        out->n -= 2;
    struct name_view got = name_view_of(out->p + start, out->n - start);
    if (name_equals(got, "operator()") || name_equals(got, "$_"))
        out->n = start;
}
