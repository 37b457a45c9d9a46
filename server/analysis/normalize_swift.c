/*
 * Swift names as its demangler prints them, simplified or in full. What the compiler made of a
 * function (closures, thunks, specialisations, async parts, witnesses) is that function; of the
 * function there remain the qualified name without its module and the argument labels.
 *
 * Both forms of a name give the same key: `Feed.reload(_:)` and
 * `Shop.Feed.reload(Swift.Int) async throws -> ()`. Only the full form has `->` or ` : type`, which
 * tells that its first component is a module.
 */
#include <string.h>

#include "server/analysis/normalize_parts.h"

/* `(for: T, U)` becomes `(for:_:)`; `(for:_:)` stays. */
static void put_labels(struct name_view inside, struct name_out *out)
{
    bool labels = true;
    for (size_t i = 0; i < inside.n; i++)
        labels = labels && (name_ident_char(inside.p[i]) || strchr(":`", inside.p[i]) != NULL);
    name_puts(out, "(");
    if (labels && inside.n > 0 && inside.p[inside.n - 1] == ':') {
        name_put_view(out, inside);
        name_puts(out, ")");
        return;
    }
    for (size_t i = 0; i < inside.n;) {
        size_t end = name_find_outside(inside, i, ",");
        if (end == NAME_NPOS)
            end = inside.n;
        struct name_view arg = name_trim(name_view_of(inside.p + i, end - i));
        size_t n = 0;
        while (n < arg.n && (name_ident_char(arg.p[n]) || arg.p[n] == '`'))
            n++;
        if (n > 0 && n < arg.n && arg.p[n] == ':')
            name_put(out, arg.p, n + 1);
        else if (arg.n > 0)
            name_puts(out, "_:");
        i = end + 1;
    }
    name_puts(out, ")");
}

/* `(Name in _0123ABC)`, `(extension in Module):`. Returns where to go on, 0 when it is neither. */
static size_t private_or_extension(struct name_view v, size_t i, struct name_out *out, bool *full)
{
    size_t end = name_skip_group(v, i);
    struct name_view inside = name_view_of(v.p + i + 1, end > i + 1 ? end - i - 2 : 0);
    if (name_starts(inside, "extension in ")) {
        *full = true;
        return end < v.n && v.p[end] == ':' ? end + 1 : end;
    }
    if (name_starts(inside, "in ") || name_starts(inside, "unknown context at ")) {
        if (name_out_ends(out, "."))
            out->n--;
        return end;
    }
    size_t in = name_find_outside(inside, 0, " in ");
    if (in == NAME_NPOS || (i > 0 && v.p[i - 1] != '.'))
        return 0;
    name_put(out, inside.p, in);
    return end;
}

static bool operator_char(char c)
{
    return strchr("/=-+!*%<>&|^~?", c) != NULL && c != 0;
}

/* Past the `(Failure)` of `throws(Failure)`; parameters never follow an effect. */
static size_t skip_thrown(struct name_view v, size_t i)
{
    bool thrown = i >= 6 && memcmp(v.p + i - 6, "throws", 6) == 0 && i < v.n && v.p[i] == '(';
    return thrown ? name_skip_group(v, i) : i;
}

/* ` #2` of what is local to a function; a list of labels behind it keeps its blank, too. */
static size_t put_local_number(struct name_view v, size_t i, struct name_out *out)
{
    size_t end = i + 2;
    while (end < v.n && name_digit(v.p[end]))
        end++;
    name_put(out, v.p + i, end - i);
    if (name_starts(name_view_from(v, end), " <"))
        end = name_skip_group(v, end + 1);
    bool labels = name_starts(name_view_from(v, end), "(");
    if (name_starts(name_view_from(v, end), " ("))
        end++, labels = true;
    if (labels)
        name_puts(out, " ");
    return end;
}

/* Past a blank: fixities and effects say nothing; a type ends the name. */
static size_t skip_words(struct name_view v, size_t i, bool *full, bool *done)
{
    static const char *const WORDS[] = {" infix", " prefix", " postfix",
                                        " async", " throws", " rethrows"};
    struct name_view rest = name_view_from(v, i);
    for (size_t k = 0; k < sizeof(WORDS) / sizeof(WORDS[0]); k++) {
        if (name_starts(rest, WORDS[k]) &&
            (rest.n == strlen(WORDS[k]) || !name_ident_char(rest.p[strlen(WORDS[k])])))
            return skip_thrown(v, i + strlen(WORDS[k]));
    }
    if (name_starts(rest, " ("))
        return i + 1;
    if (name_starts(rest, " -> ") || name_starts(rest, " : "))
        *full = true;
    *done = true;
    return i;
}

struct swift_scan {
    struct name_view v;
    size_t i;
    bool full;
    bool done;
};

static void step(struct swift_scan *s, struct name_out *out)
{
    char c = s->v.p[s->i];
    if (c == '(') {
        size_t next = private_or_extension(s->v, s->i, out, &s->full);
        if (next == 0) {
            next = name_skip_group(s->v, s->i);
            bool closed = next > s->i + 1 && s->v.p[next - 1] == ')';
            put_labels(name_view_of(s->v.p + s->i + 1, next - s->i - (closed ? 2 : 1)), out);
        }
        s->i = next;
    } else if (c == '<' && s->i > 0 &&
               (name_ident_char(s->v.p[s->i - 1]) || strchr(")>`", s->v.p[s->i - 1]) != NULL)) {
        s->i = name_skip_group(s->v, s->i);
    } else if (operator_char(c) && (s->i == 0 || strchr(". ", s->v.p[s->i - 1]) != NULL)) {
        while (s->i < s->v.n && operator_char(s->v.p[s->i])) {
            /* `.<<A>(A)`: the last `<` opens the generics of an operator */
            if (s->v.p[s->i] == '<' && s->i + 1 < s->v.n && name_ident_char(s->v.p[s->i + 1]) &&
                s->i > 0 && operator_char(s->v.p[s->i - 1])) {
                s->i = name_skip_group(s->v, s->i);
                break;
            }
            name_put(out, s->v.p + s->i++, 1);
        }
    } else if (c == ' ' && s->i + 2 < s->v.n && s->v.p[s->i + 1] == '#' &&
               name_digit(s->v.p[s->i + 2])) {
        s->i = put_local_number(s->v, s->i, out);
    } else if (c == ' ') {
        s->i = skip_words(s->v, s->i, &s->full, &s->done);
    } else {
        name_put(out, s->v.p + s->i++, 1);
    }
}

/* Removes `module.` from what begins at `start`. */
static void drop_module(struct name_out *out, size_t start)
{
    size_t i = start;
    while (i < out->n && name_ident_char(out->p[i]))
        i++;
    if (i == start || i + 1 >= out->n || out->p[i] != '.')
        return;
    i++;
    memmove(out->p + start, out->p + i, out->n - i);
    out->n -= i - start;
}

static void replace(struct name_out *out, size_t start, const char *from, const char *to)
{
    size_t n = strlen(from);
    size_t m = strlen(to); /* never longer than `from` */
    for (size_t i = start; i + n <= out->n; i++) {
        if (memcmp(out->p + i, from, n) != 0)
            continue;
        memcpy(out->p + i, to, m);
        memmove(out->p + i + m, out->p + i + n, out->n - i - n);
        out->n -= n - m;
    }
}

/* Whether it was in the full form, so that its module is gone. */
static bool put_entity(struct name_view v, struct name_out *out)
{
    size_t start = out->n;
    struct swift_scan s = {.v = v};
    if (name_starts(v, "<") && v.n > 1 && name_ident_char(v.p[1])) {
        s.i = name_skip_group(v, 0); /* `<A where A: P> M.T`: the type of a conformance */
        while (s.i < v.n && v.p[s.i] == ' ')
            s.i++;
    }
    while (s.i < s.v.n && !s.done)
        step(&s, out);
    bool module = s.full || name_starts(v, "Swift.") || name_starts(v, "__C.");
    if (module)
        drop_module(out, start);
    replace(out, start, "__allocating_init", "init");
    replace(out, start, "__isolated_deallocating_deinit", "deinit");
    replace(out, start, "__deallocating_deinit", "deinit");
    if (name_out_ends(out, ".modify2") || name_out_ends(out, ".read2"))
        out->n--; /* the second kind of coroutine */
    return module;
}

/* The conforming type; with sugar in place of a name it is one of the standard library's. */
static void put_type(struct name_view type, struct name_out *out)
{
    size_t start = out->n;
    size_t end = name_find_outside(type, 0, " : ");
    struct name_view name = end == NAME_NPOS ? type : name_view_of(type.p, end);
    struct name_view bare = name;
    if (name_starts(bare, "<"))
        bare = name_trim(name_view_from(bare, name_skip_group(bare, 0)));
    if (name_ends(bare, "?")) {
        name_puts(out, "Optional");
    } else if (name_starts(bare, "[") && name_skip_group(bare, 0) == bare.n) {
        struct name_view inside = name_view_of(bare.p + 1, bare.n > 2 ? bare.n - 2 : 0);
        bool pairs = name_find_outside(inside, 0, " : ") != NAME_NPOS;
        name_puts(out, pairs ? "Dictionary" : "Array");
    } else if (!put_entity(name, out) && end != NAME_NPOS) {
        drop_module(out, start);
    }
}

/* `.getter` of a property or subscript, which belongs to its name. */
static bool accessor(struct name_view v)
{
    static const char *const ACCESSORS[] = {
        ".getter",
        ".setter",
        ".modify",
        ".read",
        ".willset",
        ".didset",
        ".borrow",
        ".mutate",
        ".init",
        ".materializeForSet",
        ".unsafeAddressor",
        ".unsafeMutableAddressor",
    };
    for (size_t k = 0; k < sizeof(ACCESSORS) / sizeof(ACCESSORS[0]); k++) {
        if (name_equals(v, ACCESSORS[k]))
            return true;
    }
    return false;
}

/* The implementation behind a witness: the conforming type and the requirement's last name. */
static void put_witness(struct name_view requirement, struct name_view type, struct name_out *out)
{
    size_t start = out->n;
    put_type(type, out);
    size_t middle = out->n;
    put_entity(requirement, out);
    size_t dot = middle;
    for (size_t i = middle; i + 1 < out->n && out->p[i] != '('; i++) {
        bool separates = out->p[i] == '.' && i > middle && name_ident_char(out->p[i - 1]);
        if (separates && !accessor(name_view_of(out->p + i, out->n - i)))
            dot = i;
    }
    if (dot == middle) { /* no type in front of the requirement */
        if (middle > start && out->n > middle && out->n < out->size) {
            memmove(out->p + middle + 1, out->p + middle, out->n - middle);
            out->p[middle] = '.';
            out->n++;
        }
        return;
    }
    memmove(out->p + middle, out->p + dot, out->n - dot);
    out->n -= dot - middle;
}

static bool private_name(struct name_view v)
{
    return name_starts(v, "_") || name_starts(v, "$");
}

/* Where the function ends and what it stands in begins. A method of a local type may return the type,
 * which is printed with the same context: `init() -> T #1 in f() in T #1 in f()`. */
static size_t context_at(struct name_view v)
{
    size_t in = name_find_outside(v, 0, " in ");
    size_t arrow = in == NAME_NPOS ? NAME_NPOS : name_find_outside(v, 0, " -> ");
    if (arrow == NAME_NPOS || arrow > in)
        return in;
    struct name_view type = name_view_from(v, arrow + 4);
    size_t at = in;
    for (int tries = 0; at != NAME_NPOS && tries < NAME_NESTING_MAX; tries++) {
        struct name_view context = name_view_from(v, at + 4);
        if (type.n > context.n && memcmp(type.p, context.p, context.n) == 0)
            return at;
        at = name_find_outside(v, at + 4, " in ");
    }
    return in;
}

/* One name after another: `helper #1 (_:) in Feed.load()`. */
static void put_chain(struct name_view v, struct name_out *out)
{
    for (int hops = 0; v.n > 0 && hops < NAME_NESTING_MAX; hops++) {
        struct swift_wrapped w;
        v = normalize_swift_unwrap(v, &w);
        if (normalize_swift_value_witness(v) || v.n == 0)
            return;
        size_t in = context_at(v);
        struct name_view inner = in == NAME_NPOS ? v : name_view_of(v.p, in);
        v = in == NAME_NPOS ? name_view_of(v.p, 0) : name_view_from(v, in + 4);
        if (w.is_static)
            name_puts(out, "static ");
        if (w.is_member && v.n > 0) { /* `title in Feed` */
            size_t end = name_find_outside(v, 0, " in ");
            put_entity(end == NAME_NPOS ? v : name_view_of(v.p, end), out);
            name_puts(out, ".");
            v = end == NAME_NPOS ? name_view_of(v.p, 0) : name_view_from(v, end + 4);
        }
        if (w.type.n > 0)
            put_witness(inner, w.type, out);
        else
            put_entity(inner, out);
        if (v.n == 0 || private_name(v))
            return;
        name_puts(out, " in ");
    }
}

void normalize_swift(struct name_view v, struct name_out *out)
{
    size_t start = out->n;
    put_chain(v, out);
    while (name_out_ends(out, " in ") && out->n >= start + 4)
        out->n -= 4;
    struct name_view got = name_trim(name_view_of(out->p + start, out->n - start));
    if (got.n != out->n - start) {
        memmove(out->p + start, got.p, got.n);
        out->n = start + got.n;
    }
}

/* `(at:_:)`, and `(at: Index` where types are told. */
static bool label_list(struct name_view v, size_t open)
{
    size_t i = open + 1;
    while (i < v.n && (name_ident_char(v.p[i]) || v.p[i] == ':'))
        i++;
    if (i < v.n && v.p[i] == ' ' && v.p[i - 1] == ':')
        return true;
    return i < v.n && v.p[i] == ')' && (i == open + 1 || v.p[i - 1] == ':');
}

/* `helper #1 (_:) in …` and operators, which name their fixity. */
static bool swift_words(struct name_view v)
{
    static const char *const WORDS[] = {" infix", " prefix", " postfix"};
    size_t number = name_find_outside(v, 0, " #");
    if (number != NAME_NPOS && number + 2 < v.n && name_digit(v.p[number + 2]))
        return true;
    for (size_t k = 0; k < sizeof(WORDS) / sizeof(WORDS[0]); k++) {
        size_t found = name_find_outside(v, 0, WORDS[k]);
        size_t end = found + strlen(WORDS[k]);
        if (found != NAME_NPOS && end < v.n && (v.p[end] == '(' || v.p[end] == '<'))
            return true;
    }
    return false;
}

bool normalize_is_swift(struct name_view v)
{
    if (normalize_swift_prefixed(v) || normalize_swift_value_witness(v))
        return true;
    if (name_find_outside(v, 0, "::") != NAME_NPOS || name_find_outside(v, 0, "operator") == 0)
        return false;
    size_t in = name_find_outside(v, 0, " in ");
    if (in != NAME_NPOS && normalize_swift_prefixed(name_view_from(v, in + 4)))
        return true;
    if (name_starts(v, "(extension in ") || name_find_outside(v, 0, " -> ") != NAME_NPOS ||
        name_find_outside(v, 0, " : ") != NAME_NPOS || swift_words(v))
        return true;
    size_t open = name_find_outside(v, 0, "(");
    size_t dot = name_find_outside(v, 0, ".");
    size_t blank = name_find_outside(v, 0, " ");
    if (dot != NAME_NPOS && dot > 0 && dot + 1 < v.n && (blank == NAME_NPOS || dot < blank) &&
        (open == NAME_NPOS || dot < open))
        return true;
    if (open == NAME_NPOS || open == 0)
        return false;
    return label_list(v, open) && (blank == NAME_NPOS || open < blank);
}

bool normalize_is_swift_mangled(struct name_view v)
{
    static const char *const STARTS[] = {"$s",  "_$s", "$S",  "_$S",  "$e",  "_$e",
                                         "_T0", "_Tt", "_TF", "__T0", "__TF"};
    for (size_t k = 0; k < sizeof(STARTS) / sizeof(STARTS[0]); k++) {
        if (name_starts(v, STARTS[k]))
            return true;
    }
    return false;
}

/* Operators at the end of a mangled name that make of a function something that is still it: async
 * parts (`TQ0_`, `TY1_`), its entry pointer, thunks, merged copies. */
static size_t mangled_tail(struct name_view v)
{
    static const char *const TAILS[] = {"Tu", "TA", "Ta", "To", "TO", "Tm", "Tj", "TD", "Td", "Tc"};
    size_t i = v.n;
    if (i > 3 && v.p[i - 1] == '_') {
        i--;
        while (i > 0 && name_digit(v.p[i - 1]))
            i--;
        if (i > 2 && v.p[i - 2] == 'T' && (v.p[i - 1] == 'Q' || v.p[i - 1] == 'Y'))
            return v.n - (i - 2);
        return 0;
    }
    for (size_t k = 0; k < sizeof(TAILS) / sizeof(TAILS[0]); k++) {
        if (name_ends(v, TAILS[k]) && v.n > 4)
            return 2;
    }
    return 0;
}

void normalize_swift_mangled(struct name_view v, struct name_out *out)
{
    if (name_starts(v, "_$") || name_starts(v, "__T"))
        v = name_view_from(v, 1);
    for (size_t n = mangled_tail(v); n > 0; n = mangled_tail(v))
        v.n -= n;
    name_put_view(out, v);
}
