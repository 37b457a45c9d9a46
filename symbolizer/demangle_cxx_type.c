#include "symbolizer/demangle_cxx_parser.h"

/* --- template arguments ------------------------------------------------------------------------ */

/* What the parameter is, where its argument does not tell: a concept, a type, a template. It is
 * read and not shown. */
static bool skip_param_decl(struct cxx_parser *s)
{
    bool good = ++s->depth <= CXX_DEPTH_MAX;
    while (s->p[0] == 'T' && s->p[1] == 'p')
        s->p += 2;
    char c = s->p[0] == 'T' ? s->p[1] : 0;
    s->p += c ? 2 : 0;
    if (c == 'n')
        good = good && cxx_parse_type(s);
    else if (c == 'k')
        good = good && cxx_parse_name(s);
    else if (c == 't')
        while (good && !cxx_take(s, 'E'))
            good = skip_param_decl(s);
    else
        good = good && c == 'y';
    s->depth--;
    return good;
}

static uint16_t parse_template_arg(struct cxx_parser *s)
{
    if (s->p[0] == 'T' && s->p[1] && strchr("ynktp", s->p[1]) && !skip_param_decl(s))
        return 0;
    if (*s->p == 'I' || *s->p == 'J')
        return cxx_parse_template_args(s);
    if (cxx_take(s, 'L'))
        return cxx_parse_literal(s);
    if (!cxx_take(s, 'X'))
        return cxx_parse_type(s);
    uint16_t expression = cxx_parse_expression(s);
    return cxx_take(s, 'E') ? expression : 0;
}

uint16_t cxx_parse_template_args(struct cxx_parser *s)
{
    uint16_t last = s->last_name;
    bool in_conversion = s->in_conversion;
    uint16_t first = 0, at = 0;
    if (++s->depth > CXX_DEPTH_MAX)
        return 0;
    s->p++; /* I or J */
    if (cxx_take(s, 'E')) {
        s->depth--;
        return cxx_make(s, CXX_TEMPLATE_ARGS, 0, 0);
    }
    s->in_conversion = false;
    do {
        uint16_t arg = parse_template_arg(s);
        uint16_t item = arg ? cxx_make(s, CXX_TEMPLATE_ARGS, arg, 0) : 0;
        if (!item || !cxx_skip_constraint(s))
            return 0;
        cxx_append(s, &first, &at, item);
    } while (!cxx_take(s, 'E'));
    s->last_name = last;
    s->in_conversion = in_conversion;
    s->depth--;
    return first;
}

/* --- types ------------------------------------------------------------------------------------- */

/* Puts qualifiers around `inner`, the first of them outermost. */
uint16_t cxx_qualify(struct cxx_parser *s, const uint8_t *kinds, size_t count, uint16_t inner)
{
    for (; inner && count > 0; count--)
        inner = cxx_make(s, (enum cxx_kind)kinds[count - 1], inner, 0);
    return inner;
}

/* r, V, K; at most three. */
size_t cxx_take_qualifiers(struct cxx_parser *s, uint8_t kinds[3])
{
    size_t count = 0;
    for (; count < 3 && (*s->p == 'r' || *s->p == 'V' || *s->p == 'K'); s->p++)
        kinds[count++] = *s->p == 'r' ? CXX_RESTRICT : *s->p == 'V' ? CXX_VOLATILE : CXX_CONST;
    return count;
}

void cxx_bind_to_this(uint8_t *kinds, size_t count)
{
    for (size_t i = 0; i < count; i++)
        kinds[i] = (uint8_t)(kinds[i] - CXX_RESTRICT + CXX_THIS_RESTRICT);
}

/* By letter; the first character is what a literal of the type ends with: i, nothing. */
static const char *const builtins[26] = {
    "signed char",
    "bool",
    "char",
    "double",
    "long double",
    "float",
    "__float128",
    "unsigned char",
    "int",
    "unsigned int",
    NULL,
    "long",
    "unsigned long",
    "__int128",
    "unsigned __int128",
    NULL,
    NULL,
    NULL,
    "short",
    "unsigned short",
    NULL,
    "void",
    "wchar_t",
    "long long",
    "unsigned long long",
    "...",
};

static uint16_t parse_builtin(struct cxx_parser *s)
{
    char c = *s->p++;
    const char *text = builtins[c - 'a'];
    uint16_t i = text ? cxx_make_text(s, CXX_BUILTIN, text, strlen(text)) : 0;
    if (i)
        cxx_node(s, i)->code = c == 'n' ? 0 : c;
    return i;
}

/* The DF is read. */
static uint16_t parse_float(struct cxx_parser *s)
{
    static const struct {
        const char *code, *text;
    } list[] = {
        {"16_", "_Float16"},    {"32_", "_Float32"},        {"64_", "_Float64"},
        {"128_", "_Float128"},  {"32x", "_Float32x"},       {"64x", "_Float64x"},
        {"128x", "_Float128x"}, {"16b", "std::bfloat16_t"},
    };
    for (size_t i = 0; i < sizeof(list) / sizeof(list[0]); i++) {
        size_t n = strlen(list[i].code);
        if (strncmp(s->p, list[i].code, n) != 0)
            continue;
        s->p += n;
        return cxx_make_text(s, CXX_BUILTIN, list[i].text, strlen(list[i].text));
    }
    return 0;
}

/* The Dv is read. */
static uint16_t parse_vector(struct cxx_parser *s)
{
    const char *text = s->p;
    while (cxx_is_digit(*s->p))
        s->p++;
    if (s->p == text || *s->p != '_')
        return 0;
    uint16_t length = cxx_make_text(s, CXX_NAME, text, (size_t)(s->p - text));
    s->p++;
    uint16_t type = length ? cxx_parse_type(s) : 0;
    return type ? cxx_make(s, CXX_VECTOR, length, type) : 0;
}

/* The D is read. */
static uint16_t parse_extended(struct cxx_parser *s)
{
    static const struct {
        char code;
        const char *text;
    } list[] = {
        {'a', "auto"},      {'c', "decltype(auto)"}, {'s', "char16_t"},
        {'u', "char8_t"},   {'i', "char32_t"},       {'n', "decltype(nullptr)"},
        {'d', "decimal64"}, {'e', "decimal128"},     {'f', "decimal32"},
        {'h', "half"},
    };
    char c = *s->p;
    s->p += c != 0;
    if (c == 't' || c == 'T') {
        uint16_t type = cxx_make_over(s, CXX_DECLTYPE, cxx_parse_expression(s));
        return cxx_take(s, 'E') ? cxx_remember(s, type) : 0;
    }
    if (c == 'F')
        return parse_float(s);
    if (c == 'v')
        return cxx_remember(s, parse_vector(s));
    if (c == 'p')
        return cxx_remember(s, cxx_make_over(s, CXX_PACK, cxx_parse_type(s)));
    for (size_t i = 0; i < sizeof(list) / sizeof(list[0]); i++) {
        if (list[i].code != c)
            continue;
        uint16_t n = cxx_make_text(s, CXX_BUILTIN, list[i].text, strlen(list[i].text));
        if (n && c == 'n')
            cxx_node(s, n)->code = 'n';
        return n;
    }
    return 0;
}

static bool at_end_of_params(const char *p)
{
    return *p == 0 || *p == 'E' || *p == '.' || *p == 'Q' ||
           ((*p == 'R' || *p == 'O') && p[1] == 'E');
}

uint16_t cxx_parse_params(struct cxx_parser *s)
{
    uint16_t first = 0, at = 0;
    while (!at_end_of_params(s->p)) {
        uint16_t type = cxx_parse_type(s);
        uint16_t item = type ? cxx_make(s, CXX_PARAMS, type, 0) : 0;
        if (!item)
            return 0;
        cxx_append(s, &first, &at, item);
    }
    if (first && !cxx_node(s, first)->right && cxx_node(s, cxx_node(s, first)->left)->code == 'v')
        cxx_node(s, first)->left = 0;
    return first;
}

uint16_t cxx_parse_signature(struct cxx_parser *s, bool has_result)
{
    uint16_t result = 0;
    if (cxx_take(s, 'J'))
        has_result = true;
    if (has_result && (result = cxx_parse_type(s)) == 0)
        return 0;
    uint16_t params = cxx_parse_params(s);
    return params ? cxx_make(s, CXX_FUNCTION, result, params) : 0;
}

/* The F is read. */
static uint16_t parse_function(struct cxx_parser *s)
{
    cxx_take(s, 'Y');
    uint16_t type = cxx_parse_signature(s, true);
    char reference = *s->p == 'R' || *s->p == 'O' ? *s->p++ : 0;
    if (reference)
        type = cxx_make_over(s, reference == 'R' ? CXX_THIS_REFERENCE : CXX_THIS_RVALUE, type);
    return cxx_take(s, 'E') ? type : 0;
}

/* The A is read. */
static uint16_t parse_array(struct cxx_parser *s)
{
    uint16_t bound = 0;
    const char *text = s->p;
    while (cxx_is_digit(*s->p))
        s->p++;
    if (s->p > text)
        bound = cxx_make_text(s, CXX_NAME, text, (size_t)(s->p - text));
    else if (*s->p != '_')
        bound = cxx_parse_expression(s);
    if (!bound && s->p[0] != '_')
        return 0;
    if (!cxx_take(s, '_'))
        return 0;
    uint16_t type = cxx_parse_type(s);
    return type ? cxx_make(s, CXX_ARRAY, bound, type) : 0;
}

static uint16_t parse_qualified_type(struct cxx_parser *s)
{
    uint8_t kinds[3];
    size_t count = cxx_take_qualifiers(s, kinds);
    uint16_t inner;
    bool is_noexcept = s->p[0] == 'D' && s->p[1] == 'o' && s->p[2] == 'F';
    if (is_noexcept)
        s->p += 2;
    if (cxx_take(s, 'F')) {
        inner = parse_function(s);
        /* Its own reference qualifier is for the runtime to place. */
        if (inner && cxx_kind_of(s, inner) != CXX_FUNCTION)
            return 0;
        if (is_noexcept)
            inner = cxx_make_over(s, CXX_THIS_NOEXCEPT, inner);
        cxx_bind_to_this(kinds, count);
    } else {
        inner = cxx_parse_type(s);
    }
    return cxx_remember(s, cxx_qualify(s, kinds, count, inner));
}

/* Of what begins with S: what is known already is no new substitution. */
static uint16_t parse_s_type(struct cxx_parser *s)
{
    char next = s->p[1];
    if (cxx_is_digit(next) || next == '_' || cxx_is_upper(next)) {
        s->p++;
        uint16_t type = cxx_parse_substitution(s, false);
        if (!type || *s->p != 'I')
            return type;
        return cxx_remember(s, cxx_parse_arguments_of(s, type, false));
    }
    uint16_t type = cxx_parse_name(s);
    return type && cxx_kind_of(s, type) == CXX_STD ? type : cxx_remember(s, type);
}

static uint16_t parse_member_pointer(struct cxx_parser *s)
{
    uint16_t class = cxx_parse_type(s);
    uint16_t type = class ? cxx_parse_type(s) : 0;
    return type ? cxx_make(s, CXX_MEMBER, class, type) : 0;
}

/* A compiler's own type, "u6__fp16", or what it makes of one, "u20__remove_reference_tIRiE"; the u
 * is read. */
static uint16_t parse_vendor_type(struct cxx_parser *s)
{
    uint16_t name = cxx_parse_source_name(s);
    if (!name || *s->p != 'I')
        return name;
    uint16_t args = cxx_parse_template_args(s);
    if (!args)
        return 0;
    return cxx_make(s, cxx_node(s, args)->right ? CXX_TEMPLATE : CXX_TRANSFORMED, name, args);
}

static uint16_t parse_vendor_qualified(struct cxx_parser *s)
{
    uint16_t name = cxx_parse_source_name(s);
    if (!name || *s->p == 'I')
        return 0;
    uint16_t type = cxx_parse_type(s);
    return type ? cxx_make(s, CXX_VENDOR, type, name) : 0;
}

static uint16_t parse_upper_type(struct cxx_parser *s, char c)
{
    switch (c) {
    case 'F':
        return parse_function(s);
    case 'A':
        return parse_array(s);
    case 'M':
        return parse_member_pointer(s);
    case 'T':
        if (s->in_conversion) /* arguments behind it are the operator's */
            return cxx_parse_template_param(s);
        return cxx_parse_arguments_of(s, cxx_parse_template_param(s), true);
    case 'O':
        return cxx_make_over(s, CXX_RVALUE, cxx_parse_type(s));
    case 'P':
        return cxx_make_over(s, CXX_POINTER, cxx_parse_type(s));
    case 'R':
        return cxx_make_over(s, CXX_REFERENCE, cxx_parse_type(s));
    case 'C':
        return cxx_make_over(s, CXX_COMPLEX, cxx_parse_type(s));
    case 'G':
        return cxx_make_over(s, CXX_IMAGINARY, cxx_parse_type(s));
    case 'U':
        return parse_vendor_qualified(s);
    default:
        return 0;
    }
}

uint16_t cxx_parse_type(struct cxx_parser *s)
{
    char c = *s->p;
    uint16_t type;
    if (++s->depth > CXX_DEPTH_MAX)
        return 0;
    if (c == 'r' || c == 'V' || c == 'K' || (c == 'D' && s->p[1] == 'o')) {
        type = parse_qualified_type(s);
    } else if (c == 'u') {
        s->p++;
        type = cxx_remember(s, parse_vendor_type(s));
    } else if (cxx_is_lower(c)) {
        type = parse_builtin(s);
    } else if (cxx_is_digit(c) || c == 'N' || c == 'Z') {
        type = cxx_parse_name(s);
        if (cxx_is_of_this(cxx_node(s, type)))
            return 0;
        type = cxx_remember(s, type);
    } else if (c == 'S') {
        type = parse_s_type(s);
    } else if (c == 'D') {
        s->p++;
        type = parse_extended(s);
    } else {
        s->p += c != 0;
        type = cxx_remember(s, parse_upper_type(s, c));
    }
    s->depth--;
    return type;
}
