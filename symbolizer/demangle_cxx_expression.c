#include "symbolizer/demangle_cxx_parser.h"

/* The address of a function or variable. */
static uint16_t parse_literal_name(struct cxx_parser *s)
{
    cxx_take(s, '_');
    uint16_t name = cxx_take(s, 'Z') ? cxx_parse_encoding(s, false) : 0;
    return name && cxx_take(s, 'E') ? name : 0;
}

uint16_t cxx_parse_literal(struct cxx_parser *s)
{
    if (*s->p == '_' || *s->p == 'Z')
        return parse_literal_name(s);
    uint16_t type = cxx_parse_type(s);
    if (!type)
        return 0;
    if (*s->p == 'E' && cxx_kind_of(s, type) == CXX_BUILTIN && cxx_node(s, type)->code == 'n') {
        s->p++;
        return type;
    }
    enum cxx_kind kind = cxx_take(s, 'n') ? CXX_LITERAL_NEGATIVE : CXX_LITERAL;
    const char *text = s->p;
    const char *end = strchr(text, 'E');
    if (!end || end == text)
        return 0;
    uint16_t literal = cxx_make_text(s, kind, text, (size_t)(end - text));
    if (literal)
        cxx_set_left(s, literal, type);
    s->p = end + 1;
    return literal;
}

/* "3std7is_sameI…EE": names as they were written, no substitutions. */
static uint16_t parse_levels(struct cxx_parser *s)
{
    uint16_t whole = 0;
    while (cxx_is_digit(*s->p)) {
        uint16_t part = cxx_parse_unqualified(s);
        if (!part)
            return 0;
        whole = whole ? cxx_make(s, CXX_QUALIFIED, whole, part) : part;
        whole = cxx_parse_arguments_of(s, whole, false);
        if (!whole)
            return 0;
    }
    return cxx_take(s, 'E') ? whole : 0;
}

/* A member of a type. */
static uint16_t parse_scoped(struct cxx_parser *s)
{
    uint16_t type = cxx_is_digit(*s->p) ? parse_levels(s) : cxx_parse_type(s);
    uint16_t name = type ? cxx_parse_unqualified(s) : 0;
    name = cxx_parse_arguments_of(s, name, false);
    return name ? cxx_make(s, CXX_QUALIFIED, type, name) : 0;
}

static bool is_among(const char *list, char a, char b)
{
    for (; *list; list += 3) {
        if (list[0] == a && list[1] == b)
            return true;
    }
    return false;
}

/* The condition is read. */
static uint16_t parse_choice(struct cxx_parser *s, uint16_t condition)
{
    uint16_t yes = cxx_parse_expression(s);
    uint16_t no = yes ? cxx_parse_expression(s) : 0;
    uint16_t pair = no ? cxx_make(s, CXX_PAIR, yes, no) : 0;
    return pair ? cxx_make(s, CXX_CHOICE, condition, pair) : 0;
}

static uint16_t parse_operation(struct cxx_parser *s, char a, char b)
{
    bool is_unary = is_among("ad nt ng co de ps pp mm ", a, b);
    if (!is_unary && !is_among("aa oo eq ne lt gt le ge pl mi ml dv rm an or eo ls rs ix cm aS pL "
                               "mI mL dV rM aN oR eO lS rS ss pm qu ",
                               a, b))
        return 0;
    uint16_t sign = cxx_parse_operator(s);
    /* "++a" says so, "a++" does not. */
    bool is_postfix = sign && is_among("pp mm ", a, b) && !cxx_take(s, '_');
    uint16_t left = sign ? cxx_parse_expression(s) : 0;
    if (!left || is_unary)
        return left ? cxx_make(s, is_postfix ? CXX_POSTFIX : CXX_UNARY, sign, left) : 0;
    if (a == 'q')
        return parse_choice(s, left);
    uint16_t right = cxx_parse_expression(s);
    uint16_t pair = right ? cxx_make(s, CXX_PAIR, left, right) : 0;
    return pair ? cxx_make(s, CXX_BINARY, sign, pair) : 0;
}

/* "expressions… E", maybe none. */
static uint16_t parse_list(struct cxx_parser *s)
{
    uint16_t first = 0, at = 0;
    while (!cxx_take(s, 'E')) {
        uint16_t argument = cxx_parse_expression(s);
        uint16_t item = argument ? cxx_make(s, CXX_PARAMS, argument, 0) : 0;
        if (!item)
            return 0;
        cxx_append(s, &first, &at, item);
    }
    return first ? first : cxx_make(s, CXX_PARAMS, 0, 0);
}

/* "callee arguments… E" */
static uint16_t parse_call(struct cxx_parser *s)
{
    uint16_t callee = cxx_parse_expression(s);
    /* A function is called without its parameters being shown. */
    if (!callee || cxx_node(s, callee)->kind == CXX_TYPED)
        return 0;
    uint16_t arguments = parse_list(s);
    return arguments ? cxx_make(s, CXX_CALL, callee, arguments) : 0;
}

/* "(type)value", "(type)(values…)" */
static uint16_t parse_c_cast(struct cxx_parser *s)
{
    uint16_t type = cxx_parse_type(s);
    if (!type)
        return 0;
    uint16_t operand = cxx_take(s, '_') ? parse_list(s) : cxx_parse_expression(s);
    return operand ? cxx_make(s, CXX_C_CAST, type, operand) : 0;
}

/* "type{values…}", "{values…}" */
static uint16_t parse_braces(struct cxx_parser *s, bool has_type)
{
    uint16_t type = has_type ? cxx_parse_type(s) : 0;
    uint16_t values = type || !has_type ? parse_list(s) : 0;
    return values ? cxx_make(s, CXX_BRACES, type, values) : 0;
}

/* A function or variable by its name alone. */
static uint16_t parse_unresolved(struct cxx_parser *s)
{
    return cxx_parse_arguments_of(s, cxx_parse_unqualified(s), false);
}

/* "a.b", "a->b" */
static uint16_t parse_member(struct cxx_parser *s, const char *sign)
{
    uint16_t text = cxx_make_text(s, CXX_OPERATOR, sign, strlen(sign));
    uint16_t left = text ? cxx_parse_expression(s) : 0;
    uint16_t name = left ? cxx_parse_unqualified(s) : 0;
    name = cxx_parse_arguments_of(s, name, false);
    uint16_t pair = name ? cxx_make(s, CXX_PAIR, left, name) : 0;
    return pair ? cxx_make(s, CXX_BINARY, text, pair) : 0;
}

static uint16_t parse_cast(struct cxx_parser *s, const char *word)
{
    uint16_t type = cxx_parse_type(s);
    uint16_t operand = type ? cxx_parse_expression(s) : 0;
    uint16_t cast = operand ? cxx_make_text(s, CXX_CAST, word, strlen(word)) : 0;
    if (cast) {
        cxx_node(s, cast)->left = type;
        cxx_node(s, cast)->right = operand;
    }
    return cast;
}

static uint16_t parse_argument(struct cxx_parser *s)
{
    uint32_t number;
    if (cxx_take(s, 'T'))
        return cxx_make_number(s, CXX_ARGUMENT, 0, 0);
    return cxx_take_index(s, &number) ? cxx_make_number(s, CXX_ARGUMENT, 0, number + 1) : 0;
}

/* Expressions of two letters; the letters are read. */
static uint16_t parse_lettered(struct cxx_parser *s, char a, char b)
{
    if (a == 's' && b == 'r')
        return parse_scoped(s);
    if (a == 's' && (b == 'p' || b == 'Z'))
        return cxx_make_over(s, b == 'p' ? CXX_PACK : CXX_PACK_LENGTH, cxx_parse_expression(s));
    if (a == 's' && b == 'c')
        return parse_cast(s, "static_cast");
    if (b == 'c' && (a == 'd' || a == 'r' || a == 'c'))
        return parse_cast(s, a == 'd'   ? "dynamic_cast"
                             : a == 'r' ? "reinterpret_cast"
                                        : "const_cast");
    if (a == 'c' && b == 'v')
        return parse_c_cast(s);
    if (b == 'l' && (a == 't' || a == 'i'))
        return parse_braces(s, a == 't');
    if (a == 'f' && b == 'p')
        return parse_argument(s);
    if (a == 'c' && b == 'l')
        return parse_call(s);
    if (a == 'd' && b == 't')
        return parse_member(s, ".");
    return a == 'p' && b == 't' ? parse_member(s, "->") : 0;
}

uint16_t cxx_parse_expression(struct cxx_parser *s)
{
    char a = s->p[0], b = a ? s->p[1] : 0;
    uint16_t expression;
    if (++s->depth > CXX_DEPTH_MAX)
        return 0;
    if (cxx_take(s, 'L')) {
        expression = cxx_parse_literal(s);
    } else if (cxx_take(s, 'T')) {
        expression = cxx_parse_template_param(s);
    } else if (cxx_is_digit(a)) {
        expression = parse_unresolved(s);
    } else if (is_among("sr sp sZ sc dc rc cc cv tl il fp cl dt pt ", a, b)) {
        s->p += 2;
        expression = parse_lettered(s, a, b);
    } else {
        expression = parse_operation(s, a, b);
    }
    s->depth--;
    return expression;
}

bool cxx_skip_constraint(struct cxx_parser *s)
{
    return !cxx_take(s, 'Q') || cxx_parse_expression(s) != 0;
}
