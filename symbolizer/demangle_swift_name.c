#include "symbolizer/demangle_swift_parse.h"

#include <string.h>

#include "symbolizer/demangle_swift_punycode.h"

/* --- identifiers ---------------------------------------------------------------------------- */

/* A text put together from pieces; one piece alone is borrowed. */
struct pieces {
    struct swift_text text;
    char *own;
    size_t capacity;
};

static bool pieces_add(struct swift_arena *a, struct pieces *b, struct swift_text piece)
{
    if (!b->text.len && !b->own) {
        b->text = piece;
        return true;
    }
    size_t need = b->text.len + piece.len;
    if (need > b->capacity) {
        size_t capacity = need * 2;
        char *own = swift_arena_alloc(a, capacity);
        if (!own)
            return false;
        memcpy(own, b->text.s, b->text.len);
        b->own = own;
        b->text.s = own;
        b->capacity = capacity;
    }
    memcpy(b->own + b->text.len, piece.s, piece.len);
    b->text.len = need;
    return true;
}

static bool is_upper(char c)
{
    return c >= 'A' && c <= 'Z';
}

static bool is_lower(char c)
{
    return c >= 'a' && c <= 'z';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Later identifiers name the words of this one by a letter. A word ends at an underscore and before
 * an upper-case letter that follows another kind of character; it has two characters or more. */
static void remember_words(struct swift_parser *p, struct swift_text s)
{
    size_t start = s.len;
    for (size_t i = 0; i <= s.len && p->word_count < SWIFT_WORDS_MAX; i++) {
        char c = i < s.len ? s.s[i] : 0;
        bool gap = c == '_' || c == 0;
        if (start < i && (gap || (is_upper(c) && !is_upper(s.s[i - 1])))) {
            struct swift_text word = {s.s + start, i - start};
            if (word.len >= 2)
                p->words[p->word_count++] = word;
            start = s.len;
        }
        if (start == s.len && !gap && !is_digit(c))
            start = i;
    }
}

/* The words that letters stand for; an upper-case letter is the last one. */
static bool read_words(struct swift_parser *p, struct pieces *b, bool *words)
{
    while (*words) {
        char c = swift_peek(p);
        if (!is_lower(c) && !is_upper(c))
            return true;
        p->pos++;
        size_t index = (size_t)(is_lower(c) ? c - 'a' : c - 'A');
        if (index >= p->word_count || !pieces_add(p->arena, b, p->words[index]))
            return false;
        if (is_upper(c))
            *words = false;
    }
    return true;
}

/* NATURAL and as many characters. */
static bool read_literal(struct swift_parser *p, struct pieces *b, bool punycode)
{
    int count = swift_natural(p);
    if (count <= 0)
        return false;
    if (punycode)
        swift_accept(p, '_');
    if ((size_t)count > p->len - p->pos)
        return false;
    struct swift_text s = {p->text + p->pos, (size_t)count};
    p->pos += s.len;
    if (!punycode) {
        remember_words(p, s);
        return pieces_add(p->arena, b, s);
    }
    struct swift_text utf8;
    return swift_punycode_decode(p->arena, s, &utf8) && pieces_add(p->arena, b, utf8);
}

/* IDENTIFIER: a length and the characters; "0" begins one with word substitutions, "00" one in
 * Punycode. */
struct swift_node *swift_op_identifier(struct swift_parser *p)
{
    bool words = false;
    bool punycode = false;
    if (!is_digit(swift_peek(p)))
        return NULL;
    if (swift_accept(p, '0')) {
        punycode = swift_accept(p, '0');
        words = !punycode;
    }
    struct pieces b = {{"", 0}, NULL, 0};
    do {
        if (!read_words(p, &b, &words))
            return NULL;
        if (swift_accept(p, '0'))
            break;
        if (!read_literal(p, &b, punycode))
            return NULL;
    } while (words);
    if (!b.text.len)
        return NULL;
    struct swift_node *n = swift_node_text(p->arena, SK_Identifier, b.text);
    swift_substitution(p, n);
    return n;
}

/* --- operators -------------------------------------------------------------------------------- */

bool swift_operator_text(struct swift_arena *a, struct swift_text in, struct swift_text *ret)
{
    /*                                 abcdefghijklmnopqrstuvwxyz */
    static const char characters[] = "& @/= >    <*!|+?%-~   ^ .";
    char *out = swift_arena_alloc(a, in.len + 1);
    if (!out)
        return false;
    for (size_t i = 0; i < in.len; i++) {
        char c = in.s[i];
        if (!((unsigned char)c & 0x80)) {
            if (!is_lower(c) || characters[c - 'a'] == ' ')
                return false;
            c = characters[c - 'a'];
        }
        out[i] = c;
    }
    ret->s = out;
    ret->len = in.len;
    return true;
}

struct swift_node *swift_op_operator_name(struct swift_parser *p)
{
    static const enum swift_kind kinds[] = {SK_InfixOperator, SK_PrefixOperator,
                                            SK_PostfixOperator};
    struct swift_node *name = swift_pop(p, SK_Identifier);
    struct swift_text text;
    if (!name || !swift_operator_text(p->arena, swift_node_get_text(name), &text))
        return NULL;
    int fixity = swift_letter("ipP", swift_next(p));
    return fixity < 0 ? NULL : swift_node_text(p->arena, kinds[fixity], text);
}

/* --- names with a context ------------------------------------------------------------------------ */

/* LL: private to a file; Ll: the same without a name; La..Lj, LA..LJ: an entity that Clang
 * synthesised for another; L INDEX: local to a function. */
struct swift_node *swift_op_local_name(struct swift_parser *p)
{
    if (swift_accept(p, 'L')) {
        struct swift_node *discriminator = swift_pop(p, SK_Identifier);
        struct swift_node *name = swift_pop_class(p, SC_DECL_NAME);
        return swift_node2(p->arena, SK_PrivateDeclName, discriminator, name);
    }
    if (swift_accept(p, 'l'))
        return swift_node1(p->arena, SK_PrivateDeclName, swift_pop(p, SK_Identifier));
    char c = swift_peek(p);
    if ((c >= 'a' && c <= 'j') || (c >= 'A' && c <= 'J')) {
        struct swift_text letter = {p->text + p->pos, 1};
        p->pos++;
        struct swift_node *which = swift_node_text(p->arena, SK_Identifier, letter);
        return swift_node2(p->arena, SK_RelatedEntityDeclName, which, swift_pop_any(p));
    }
    struct swift_node *index = swift_index_node(p);
    struct swift_node *name = swift_pop_class(p, SC_DECL_NAME);
    return swift_node2(p->arena, SK_LocalDeclName, index, name);
}

/* --- substitutions ------------------------------------------------------------------------------ */

/* Pushes all but the last repetition. */
static struct swift_node *repeat(struct swift_parser *p, struct swift_node *n, int count)
{
    if (count > SWIFT_REPEAT_MAX)
        return NULL;
    while (n && count-- > 1) {
        if (!swift_nodes_push(p, &p->stack, n))
            return NULL;
    }
    return n;
}

/* A: each letter is a substitution, a number before it says how often; an upper-case letter is the
 * last. INDEX alone is a substitution past the 26th. */
struct swift_node *swift_op_substitution(struct swift_parser *p)
{
    const struct swift_nodes *subs = &p->substitutions;
    for (int count = -1;;) {
        char c = swift_next(p);
        if (is_lower(c) || is_upper(c)) {
            size_t index = (size_t)(is_lower(c) ? c - 'a' : c - 'A');
            if (index >= subs->count)
                return NULL;
            struct swift_node *n = repeat(p, subs->list[index], count);
            if (!n || is_upper(c))
                return n;
            if (!swift_nodes_push(p, &p->stack, n))
                return NULL;
            count = -1;
        } else if (c == '_') {
            size_t index = (size_t)((int64_t)count + 27);
            return index < subs->count ? subs->list[index] : NULL;
        } else if (is_digit(c)) {
            swift_back(p);
            count = swift_natural(p);
            if (count < 0)
                return NULL;
        } else {
            return NULL;
        }
    }
}

struct standard_type {
    const char *name;
    enum swift_kind kind;
};

/* clang-format off */
static const struct standard_type standard_types[128] = {
    ['A'] = {"AutoreleasingUnsafeMutablePointer", SK_Structure},
    ['B'] = {"BinaryFloatingPoint", SK_Protocol},
    ['D'] = {"Dictionary", SK_Structure},
    ['E'] = {"Encodable", SK_Protocol},
    ['F'] = {"FloatingPoint", SK_Protocol},
    ['G'] = {"RandomNumberGenerator", SK_Protocol},
    ['H'] = {"Hashable", SK_Protocol},
    ['I'] = {"DefaultIndices", SK_Structure},
    ['J'] = {"Character", SK_Structure},
    ['K'] = {"BidirectionalCollection", SK_Protocol},
    ['L'] = {"Comparable", SK_Protocol},
    ['M'] = {"MutableCollection", SK_Protocol},
    ['N'] = {"ClosedRange", SK_Structure},
    ['O'] = {"ObjectIdentifier", SK_Structure},
    ['P'] = {"UnsafePointer", SK_Structure},
    ['Q'] = {"Equatable", SK_Protocol},
    ['R'] = {"UnsafeBufferPointer", SK_Structure},
    ['S'] = {"String", SK_Structure},
    ['T'] = {"Sequence", SK_Protocol},
    ['U'] = {"UnsignedInteger", SK_Protocol},
    ['V'] = {"UnsafeRawPointer", SK_Structure},
    ['W'] = {"UnsafeRawBufferPointer", SK_Structure},
    ['X'] = {"RangeExpression", SK_Protocol},
    ['Y'] = {"RawRepresentable", SK_Protocol},
    ['Z'] = {"SignedInteger", SK_Protocol},
    ['a'] = {"Array", SK_Structure},
    ['b'] = {"Bool", SK_Structure},
    ['d'] = {"Double", SK_Structure},
    ['e'] = {"Decodable", SK_Protocol},
    ['f'] = {"Float", SK_Structure},
    ['h'] = {"Set", SK_Structure},
    ['i'] = {"Int", SK_Structure},
    ['j'] = {"Numeric", SK_Protocol},
    ['k'] = {"RandomAccessCollection", SK_Protocol},
    ['l'] = {"Collection", SK_Protocol},
    ['m'] = {"RangeReplaceableCollection", SK_Protocol},
    ['n'] = {"Range", SK_Structure},
    ['p'] = {"UnsafeMutablePointer", SK_Structure},
    ['q'] = {"Optional", SK_Enum},
    ['r'] = {"UnsafeMutableBufferPointer", SK_Structure},
    ['s'] = {"Substring", SK_Structure},
    ['t'] = {"IteratorProtocol", SK_Protocol},
    ['u'] = {"UInt", SK_Structure},
    ['v'] = {"UnsafeMutableRawPointer", SK_Structure},
    ['w'] = {"UnsafeMutableRawBufferPointer", SK_Structure},
    ['x'] = {"Strideable", SK_Protocol},
    ['y'] = {"StringProtocol", SK_Protocol},
    ['z'] = {"BinaryInteger", SK_Protocol},
};

/* Behind Sc. */
static const struct standard_type concurrency_types[128] = {
    ['A'] = {"Actor", SK_Protocol},
    ['C'] = {"CheckedContinuation", SK_Structure},
    ['E'] = {"CancellationError", SK_Structure},
    ['F'] = {"Executor", SK_Protocol},
    ['G'] = {"TaskGroup", SK_Structure},
    ['I'] = {"AsyncIteratorProtocol", SK_Protocol},
    ['J'] = {"UnownedJob", SK_Structure},
    ['M'] = {"MainActor", SK_Class},
    ['P'] = {"TaskPriority", SK_Structure},
    ['S'] = {"AsyncStream", SK_Structure},
    ['T'] = {"Task", SK_Structure},
    ['c'] = {"UnsafeContinuation", SK_Structure},
    ['e'] = {"UnownedSerialExecutor", SK_Structure},
    ['f'] = {"SerialExecutor", SK_Protocol},
    ['g'] = {"ThrowingTaskGroup", SK_Structure},
    ['h'] = {"TaskExecutor", SK_Protocol},
    ['i'] = {"AsyncSequence", SK_Protocol},
    ['s'] = {"AsyncThrowingStream", SK_Structure},
    ['t'] = {"UnsafeCurrentTask", SK_Structure},
};
/* clang-format on */

struct swift_node *swift_standard_type(struct swift_parser *p, enum swift_kind kind,
                                       const char *name)
{
    struct swift_node *module = swift_node_str(p->arena, SK_Module, "Swift");
    struct swift_node *id = swift_node_str(p->arena, SK_Identifier, name);
    return swift_type(p, swift_node2(p->arena, kind, module, id));
}

/* Sg: T? */
static struct swift_node *optional_type(struct swift_parser *p)
{
    struct swift_node *args = swift_over_type(p, SK_TypeList);
    struct swift_node *optional = swift_standard_type(p, SK_Enum, "Optional");
    struct swift_node *n =
        swift_type(p, swift_node2(p->arena, SK_BoundGenericEnum, optional, args));
    swift_substitution(p, n);
    return n;
}

/* S: a well-known module or type. */
struct swift_node *swift_op_standard_substitution(struct swift_parser *p)
{
    if (swift_accept(p, 'o'))
        return swift_node_str(p->arena, SK_Module, "__C");
    if (swift_accept(p, 'C'))
        return swift_node_str(p->arena, SK_Module, "__C_Synthesized");
    if (swift_accept(p, 'g'))
        return optional_type(p);
    int count = swift_natural(p);
    if (count > SWIFT_REPEAT_MAX)
        return NULL;
    const struct standard_type *table = swift_accept(p, 'c') ? concurrency_types : standard_types;
    unsigned char c = (unsigned char)swift_next(p);
    if (c >= 128 || !table[c].name)
        return NULL;
    return repeat(p, swift_standard_type(p, table[c].kind, table[c].name), count);
}
