#include <stddef.h>
#include <string.h>

#include "symbolizer/demangle_parts.h"

/* DESIGN. The C++ runtime's demangler has no cap: a substitution (S_, T_) repeats what stands
 * earlier, so 300 characters can ask for gigabytes, and it recurses as deep as the name is nested.
 * This pass reads a name once, from left to right, and adds up the most it can become. It knows
 * what nests (brackets ended by E), what is one operand and what is a list, but not which of the
 * earlier components a substitution means: it takes the largest one so far. So the result is too
 * large for names with many substitutions, by a factor that DEMANGLE_CXX_SIZE_MAX leaves room for.
 *
 * Size is in characters, depth in calls of the runtime's printing function: lists and qualified
 * names cost one call for each element before the one that is printed. */

#define SIZE_CEILING ((uint64_t)1 << 40)
#define WORD_SIZE    24 /* "unsigned long long", "operator<=>", " const&": longest words and signs */
#define STRING_SIZE  80 /* std::basic_string<char, std::char_traits<char>, …> */

/* A bracket that is open, and the operand that is being read in it. */
struct level {
    char kind; /* T: top, N: nested name, I: arguments, J: list, X: expression, L: literal */
    bool literal_typed;
    uint32_t open;  /* operands that the current item still waits for */
    uint32_t count; /* items */
    uint32_t item_depth;
    uint32_t depth; /* of the deepest item */
    uint64_t item_size;
    uint64_t size; /* of items that are finished */
};

struct scan {
    const char *p;
    size_t top;
    uint64_t largest; /* a substitution adds this */
    uint32_t deepest; /* and this */
    uint64_t longest; /* identifier: what a constructor repeats */
    bool unresolved;  /* an "sr" was met: see is_trap() */
    bool refused;
    struct level levels[DEMANGLE_CXX_DEPTH_MAX]; /* cleared one by one, as they are opened */
};

static uint64_t add(uint64_t a, uint64_t b)
{
    return a + b < SIZE_CEILING ? a + b : SIZE_CEILING;
}

static struct level *top(struct scan *s)
{
    return &s->levels[s->top];
}

/* In these everything belongs to one operand. */
static bool is_one_item(const struct level *l)
{
    return l->kind == 'N' || l->kind == 'X' || l->kind == 'L';
}

static void finish_item(struct level *l)
{
    l->size = add(l->size, add(l->item_size, 2));
    l->depth = l->item_depth > l->depth ? l->item_depth : l->depth;
    l->item_size = 0;
    l->item_depth = 0;
}

static void begin_item(struct level *l)
{
    if (l->open > 0)
        return;
    if (!is_one_item(l))
        finish_item(l);
    l->count++;
    l->open = 1;
}

static void grow_item(struct scan *s, uint64_t size, uint32_t depth)
{
    struct level *l = top(s);
    l->item_size = add(l->item_size, size);
    l->item_depth = (depth > l->item_depth ? depth : l->item_depth) + 1;
    if (l->item_size > s->largest)
        s->largest = l->item_size;
    if (l->item_depth > s->deepest)
        s->deepest = l->item_depth;
    if (l->item_depth > DEMANGLE_CXX_DEPTH_MAX)
        s->refused = true;
}

/* A whole operand. */
static void operand(struct scan *s, uint64_t size, uint32_t depth)
{
    begin_item(top(s));
    grow_item(s, size, depth);
    top(s)->open--;
    top(s)->literal_typed = true;
}

/* Something in front of an operand, which is waited for; `more` further ones. */
static void modifier(struct scan *s, uint32_t more)
{
    begin_item(top(s));
    top(s)->open += more;
    grow_item(s, WORD_SIZE, 0);
}

static void push(struct scan *s, char kind)
{
    if (s->top + 1 >= sizeof(s->levels) / sizeof(s->levels[0])) {
        s->refused = true;
        return;
    }
    s->top++;
    memset(top(s), 0, sizeof(*top(s)));
    top(s)->kind = kind;
}

/* An E: the bracket becomes an operand of the one around it, or (template arguments) grows the
 * operand they stand behind. */
static void pop(struct scan *s)
{
    struct level *l = top(s);
    finish_item(l);
    char kind = l->kind;
    uint64_t size = l->size;
    uint32_t depth = l->depth + l->count;
    if (s->top == 0)
        return;
    s->top--;
    if (kind == 'I')
        grow_item(s, add(size, 4), depth);
    else
        operand(s, add(size, 4), depth);
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static void skip_digits(struct scan *s)
{
    while (is_digit(*s->p))
        s->p++;
}

/* "[number]_" */
static void skip_index(struct scan *s)
{
    while (is_digit(*s->p) || (*s->p >= 'A' && *s->p <= 'Z'))
        s->p++;
    if (*s->p == '_')
        s->p++;
}

static void substitution(struct scan *s)
{
    skip_index(s);
    operand(s, add(s->largest, 2), s->deepest);
}

/* --- tokens; each is called with its first character read ----------------------------------- */

static void read_identifier(struct scan *s)
{
    uint64_t len = 0;
    for (s->p--; is_digit(*s->p); s->p++) {
        len = len * 10 + (uint64_t)(*s->p - '0');
        if (len > SIZE_CEILING)
            len = SIZE_CEILING;
    }
    uint64_t left = strnlen(s->p, len);
    s->p += left;
    if (left > s->longest)
        s->longest = left;
    operand(s, left + WORD_SIZE, 0); /* "(anonymous namespace)" is longer than its code */
}

static void read_s(struct scan *s)
{
    char c = *s->p;
    if (c == '_' || is_digit(c) || (c >= 'A' && c <= 'Z')) {
        substitution(s);
    } else if (c == 't') {
        s->p++;
        modifier(s, 0);
        if (top(s)->kind == 'N')
            top(s)->open = 0;
    } else {
        s->p += c != 0;
        operand(s, STRING_SIZE, 2);
    }
}

static void read_t(struct scan *s)
{
    char c = *s->p;
    if (c == '_' || is_digit(c)) {
        substitution(s);
    } else if (c == 'L') {
        s->p++;
        skip_index(s);
        substitution(s);
    } else {
        /* Special names (TV, Th12_, …), class and enum keywords (Ts, Tu, Te). */
        s->p += c != 0;
        if (c == 'h' || c == 'v' || c == 'c') {
            while (is_digit(*s->p) || *s->p == 'n' || *s->p == '_' || *s->p == 'h' || *s->p == 'v')
                s->p++;
        }
        modifier(s, c == 'C' ? 1 : 0);
    }
}

static void read_d(struct scan *s)
{
    char c = *s->p;
    s->p += c != 0;
    if (c == 't' || c == 'T' || c == 'O' || c == 'w') {
        begin_item(top(s));
        top(s)->open += c == 'O' || c == 'w';
        push(s, 'X');
    } else if (c == 'C') {
        begin_item(top(s));
        push(s, 'J');
    } else if (c == 'v' || c == 'B' || c == 'U') {
        skip_digits(s);
        if (*s->p == '_')
            s->p++;
        if (c == 'v')
            modifier(s, 0);
        else
            operand(s, WORD_SIZE, 1);
    } else if (c == 'p' || c == 'o' || c == 'x') {
        modifier(s, 0);
    } else {
        operand(s, s->longest + WORD_SIZE, 1); /* a destructor, or decltype(nullptr) and so on */
    }
}

static void read_l(struct scan *s)
{
    struct level *l = top(s);
    bool is_name = is_digit(*s->p) && (l->kind == 'N' || l->kind == 'T');
    if (is_name) /* a static function or variable */
        return;
    begin_item(l);
    push(s, 'L');
    if (strncmp(s->p, "_Z", 2) == 0) {
        s->p += 2;
        top(s)->kind = 'J';
    }
}

static void read_u(struct scan *s)
{
    char c = *s->p;
    if (c == 'l') {
        s->p++;
        begin_item(top(s));
        push(s, 'J');
    } else if (c == 't' || c == 'b') {
        s->p++;
        skip_index(s);
        operand(s, WORD_SIZE, 1);
    } else {
        modifier(s, 1); /* a vendor's qualifier: its name, then the type */
    }
}

/* An array: its bound, then its type. */
static void read_a(struct scan *s)
{
    if (is_digit(*s->p))
        skip_digits(s);
    if (*s->p == '_') {
        s->p++;
        modifier(s, 0);
    } else {
        modifier(s, 1);
    }
}

/* Two lower-case letters where a name or an expression may stand. */
static void read_operator(struct scan *s, char first)
{
    static const char *const with_end[] = {"cl", "cp", "il", "tl", "nw", "na", "so", "sP"};
    char second = *s->p;
    s->p += second != 0;
    struct level *l = top(s);
    if (first == 's' && second == 'r')
        s->unresolved = true;
    if (l->kind == 'X' && first == 'f' && (second == 'p' || second == 'L')) {
        while (*s->p && *s->p != '_')
            s->p++;
        s->p += *s->p == '_';
    }
    for (size_t i = 0; l->kind == 'X' && i < sizeof(with_end) / sizeof(with_end[0]); i++) {
        if (with_end[i][0] == first && with_end[i][1] == second) {
            begin_item(l);
            push(s, 'X');
            return;
        }
    }
    operand(s, WORD_SIZE, 1);
}

static bool expects_name(const struct level *l)
{
    return l->kind == 'N' || l->kind == 'X' || (l->kind == 'T' && l->count == 0);
}

/* What is left of a literal after its type: its value. */
static void skip_value(struct scan *s)
{
    while (*s->p && *s->p != 'E')
        s->p++;
}

static void read_lower(struct scan *s, char c)
{
    if (expects_name(top(s)) && *s->p >= 'a' && *s->p <= 'z')
        read_operator(s, c);
    else if (c == 'r')
        modifier(s, 0);
    else if (c == 'u')
        modifier(s, 0);
    else
        operand(s, WORD_SIZE, 1);
}

/* The runtime of GCC 12 does not end when a name after "sr" (a member of a dependent type) goes on
 * with the letter of a constructor, destructor or lambda and is none. */
static bool is_trap(const struct scan *s, char c)
{
    const struct level *l = &s->levels[s->top];
    char next = *s->p;
    if (!s->unresolved || next == 0)
        return s->unresolved && (c == 'C' || c == 'D' || c == 'U');
    if (c == 'C')
        return !strchr("12345I", next);
    if (c == 'U')
        return !strchr("lt", next);
    if (c == 'D')
        return !strchr(is_one_item(l) ? "01245tTC" : "01245tTCpnvacisudefhBoOwx", next);
    return false;
}

static void read_upper(struct scan *s, char c)
{
    if (is_trap(s, c)) {
        s->refused = true;
        return;
    }
    switch (c) {
    case 'N':
    case 'X':
    case 'J':
    case 'F':
    case 'Z':
        /* Of a local name more follows: the entity inside the function. */
        begin_item(top(s));
        top(s)->open += c == 'Z';
        push(s, c == 'N' || c == 'X' ? c : c == 'Z' ? 'T' : 'J');
        break;
    case 'I':
        push(s, 'I');
        break;
    case 'S':
        read_s(s);
        break;
    case 'T':
        read_t(s);
        break;
    case 'D':
        read_d(s);
        break;
    case 'L':
        read_l(s);
        break;
    case 'U':
        read_u(s);
        break;
    case 'A':
        read_a(s);
        break;
    case 'M':
        modifier(s, 1);
        break;
    case 'C':
        if (is_digit(*s->p) || (*s->p == 'I' && is_digit(s->p[1]))) {
            s->p += *s->p == 'I' ? 2 : 1;
            operand(s, s->longest + WORD_SIZE, 1);
            break;
        }
        modifier(s, 0);
        break;
    default: /* P, R, O, K, V, G, B, W, Y, Q, H */
        modifier(s, 0);
        if (top(s)->kind == 'N')
            top(s)->open = 0;
        break;
    }
}

__attribute__((noinline)) struct demangle_cost demangle_cxx_cost(const char *name)
{
    struct scan s;
    memset(&s, 0, offsetof(struct scan, levels));
    memset(&s.levels[0], 0, sizeof(s.levels[0]));
    s.p = name + 2;
    s.levels[0].kind = 'T';
    while (*s.p && *s.p != '.' && !s.refused) {
        char c = *s.p++;
        if (top(&s)->kind == 'L' && top(&s)->literal_typed && c != 'E' && c != 'I')
            skip_value(&s);
        else if (c == 'E')
            pop(&s);
        else if (c == '_')
            skip_digits(&s); /* a discriminator */
        else if (is_digit(c))
            read_identifier(&s);
        else if (c >= 'a' && c <= 'z')
            read_lower(&s, c);
        else
            read_upper(&s, c);
    }
    while (s.top > 0)
        pop(&s);
    finish_item(top(&s));
    struct demangle_cost cost = {top(&s)->size, top(&s)->depth + (uint64_t)top(&s)->count,
                                 s.unresolved};
    if (s.refused)
        cost.depth = DEMANGLE_CXX_DEPTH_MAX + 1;
    return cost;
}
