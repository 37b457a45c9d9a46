#include "symbolizer/demangle_cxx_parser.h"

/* --- names ------------------------------------------------------------------------------------- */

uint16_t cxx_parse_source_name(struct cxx_parser *s)
{
    static const char anonymous[] = "(anonymous namespace)";
    uint32_t length;
    if (!cxx_take_number(s, &length) || length == 0 || length > (size_t)(s->end - s->p))
        return 0;
    const char *text = s->p;
    s->p += length;
    if (length >= 10 && memcmp(text, "_GLOBAL_", 8) == 0 && strchr("._$", text[8]) &&
        text[9] == 'N')
        s->last_name = cxx_make_text(s, CXX_NAME, anonymous, sizeof(anonymous) - 1);
    else
        s->last_name = cxx_make_text(s, CXX_NAME, text, length);
    return s->last_name;
}

/* The code's two letters, then how it is written. */
static const char operators[][8] = {
    "aN&=", "aS=",  "aa&&",  "ad&",  "an&",  "cl()",  "cm,",  "co~",  "dV/=",
    "de*",  "dv/",  "eO^=",  "eo^",  "eq==", "ge>=",  "gt>",  "ix[]", "lS<<=",
    "le<=", "ls<<", "lt<",   "mI-=", "mL*=", "mi-",   "ml*",  "mm--", "ne!=",
    "ng-",  "nt!",  "nwnew", "oR|=", "oo||", "or|",   "pL+=", "pl+",  "pm->*",
    "pp++", "ps+",  "pt->",  "qu?",  "rM%=", "rS>>=", "rm%",  "rs>>", "ss<=>",
};

uint16_t cxx_parse_operator(struct cxx_parser *s)
{
    char a = s->p[0], b = a ? s->p[1] : 0;
    if (!b)
        return 0;
    s->p += 2;
    if (a == 'c' && b == 'v') {
        bool outer = s->in_conversion;
        s->in_conversion = true;
        uint16_t type = cxx_parse_type(s);
        s->in_conversion = outer;
        return cxx_make_over(s, CXX_CONVERSION, type);
    }
    if (a == 'l' && b == 'i')
        return cxx_make_over(s, CXX_LITERAL_OPERATOR, cxx_parse_source_name(s));
    if (a == 'd' && b == 'l')
        return cxx_make_text(s, CXX_OPERATOR, "delete", 6);
    if (a == 'd' && b == 'a')
        return cxx_make_text(s, CXX_OPERATOR, "delete[]", 8);
    if (a == 'n' && b == 'a')
        return cxx_make_text(s, CXX_OPERATOR, "new[]", 5);
    for (size_t i = 0; i < sizeof(operators) / sizeof(operators[0]); i++) {
        if (operators[i][0] == a && operators[i][1] == b)
            return cxx_make_text(s, CXX_OPERATOR, operators[i] + 2, strlen(operators[i] + 2));
    }
    return 0;
}

static uint16_t parse_ctor_dtor(struct cxx_parser *s)
{
    char a = s->p[0];
    uint16_t class = s->last_name;
    /* A base class's constructor, inherited: the class is the one it makes. */
    bool is_inherited = a == 'C' && s->p[1] == 'I';
    char b = s->p[is_inherited ? 2 : 1];
    if (!b || !strchr(is_inherited ? "12" : a == 'C' ? "12345" : "01245", b))
        return 0;
    s->p += is_inherited ? 3 : 2;
    if (is_inherited && !cxx_parse_type(s))
        return 0;
    s->last_name = class;
    return cxx_make_over(s, a == 'C' ? CXX_CTOR : CXX_DTOR, class);
}

static uint16_t parse_closure(struct cxx_parser *s)
{
    uint32_t number;
    if (s->p[1] == 't') {
        s->p += 2;
        if (!cxx_take_index(s, &number))
            return 0;
        return cxx_remember(s, cxx_make_number(s, CXX_UNNAMED, 0, number));
    }
    if (s->p[1] != 'l')
        return 0;
    s->p += 2;
    uint16_t params = cxx_parse_params(s);
    if (!params || !cxx_take(s, 'E') || !cxx_take_index(s, &number))
        return 0;
    return cxx_make_number(s, CXX_LAMBDA, params, number);
}

static uint16_t parse_tags(struct cxx_parser *s, uint16_t name)
{
    uint16_t last = s->last_name;
    while (name && cxx_take(s, 'B')) {
        uint16_t tag = cxx_parse_source_name(s);
        name = tag ? cxx_make(s, CXX_TAGGED, name, tag) : 0;
    }
    s->last_name = last;
    return name;
}

uint16_t cxx_parse_unqualified(struct cxx_parser *s)
{
    uint16_t name = 0;
    char c = *s->p;
    if (cxx_is_digit(c)) {
        name = cxx_parse_source_name(s);
    } else if (cxx_is_lower(c)) {
        name = cxx_parse_operator(s);
    } else if (c == 'C' || c == 'D') {
        name = parse_ctor_dtor(s);
    } else if (c == 'L') {
        s->p++;
        name = cxx_parse_source_name(s);
        if (!cxx_skip_discriminator(s))
            return 0;
    } else if (c == 'U') {
        name = parse_closure(s);
    }
    return parse_tags(s, name);
}

/* What the letter behind S stands for; before a constructor it is spelled out. */
struct standard {
    char code;
    const char *shown, *spelled, *last;
};

static uint16_t parse_standard(struct cxx_parser *s, bool is_prefix)
{
    static const struct standard list[] = {
        {'t', "std", "std", NULL},
        {'a', "std::allocator", "std::allocator", "allocator"},
        {'b', "std::basic_string", "std::basic_string", "basic_string"},
        {'s', "std::string",
         "std::basic_string<char, std::char_traits<char>, std::allocator<char> >", "basic_string"},
        {'i', "std::istream", "std::basic_istream<char, std::char_traits<char> >", "basic_istream"},
        {'o', "std::ostream", "std::basic_ostream<char, std::char_traits<char> >", "basic_ostream"},
        {'d', "std::iostream", "std::basic_iostream<char, std::char_traits<char> >",
         "basic_iostream"},
    };
    char c = *s->p++;
    for (size_t i = 0; i < sizeof(list) / sizeof(list[0]); i++) {
        const struct standard *std = &list[i];
        if (std->code != c)
            continue;
        if (*s->p == 'B')
            return 0;
        if (std->last)
            s->last_name = cxx_make_text(s, CXX_NAME, std->last, strlen(std->last));
        bool spelled = is_prefix && (*s->p == 'C' || *s->p == 'D');
        const char *text = spelled ? std->spelled : std->shown;
        return cxx_make_text(s, CXX_STD, text, strlen(text));
    }
    return 0;
}

/* The S is read. */
uint16_t cxx_parse_substitution(struct cxx_parser *s, bool is_prefix)
{
    uint32_t v = 0;
    char c = *s->p;
    if (cxx_is_lower(c))
        return parse_standard(s, is_prefix);
    if (c != '_') {
        for (; cxx_is_digit(*s->p) || cxx_is_upper(*s->p); s->p++) {
            v = v * 36 + (uint32_t)(cxx_is_digit(*s->p) ? *s->p - '0' : *s->p - 'A' + 10);
            if (v > CXX_SUBS_MAX)
                return 0;
        }
        v++;
    }
    if (!cxx_take(s, '_') || v >= s->sub_count)
        return 0;
    return s->subs[v];
}

/* The T is read. */
uint16_t cxx_parse_template_param(struct cxx_parser *s)
{
    uint32_t number;
    return cxx_take_index(s, &number) ? cxx_make_number(s, CXX_PARAM, 0, number) : 0;
}

static uint16_t parse_prefix_part(struct cxx_parser *s, char c)
{
    if (cxx_is_digit(c) || cxx_is_lower(c) || c == 'C' || c == 'U' || c == 'L' || c == 'D')
        return cxx_parse_unqualified(s);
    if (c == 'I')
        return cxx_parse_template_args(s);
    s->p++;
    if (c == 'S')
        return cxx_parse_substitution(s, true);
    return c == 'T' ? cxx_parse_template_param(s) : 0;
}

static uint16_t parse_prefix(struct cxx_parser *s)
{
    uint16_t whole = 0;
    while (!cxx_take(s, 'E')) {
        char c = *s->p;
        if (c == 'M' && whole) {
            s->p++;
            continue;
        }
        bool is_start = c == 'S' || c == 'T';
        if ((c == 'I' && !whole) || (is_start && whole))
            return 0;
        uint16_t part = parse_prefix_part(s, c);
        if (!part)
            return 0;
        if (whole)
            part = cxx_make(s, c == 'I' ? CXX_TEMPLATE : CXX_QUALIFIED, whole, part);
        whole = part;
        if (!whole || (c != 'S' && *s->p != 'E' && !cxx_remember(s, whole)))
            return 0;
    }
    return whole;
}

/* The N is read. */
static uint16_t parse_nested(struct cxx_parser *s)
{
    uint8_t kinds[3];
    size_t count = cxx_take_qualifiers(s, kinds);
    char reference = *s->p == 'R' || *s->p == 'O' ? *s->p++ : 0;
    cxx_bind_to_this(kinds, count);
    uint16_t name = cxx_qualify(s, kinds, count, parse_prefix(s));
    if (reference)
        name = cxx_make_over(s, reference == 'R' ? CXX_THIS_REFERENCE : CXX_THIS_RVALUE, name);
    return name;
}

static void drop_result(struct cxx_parser *s, uint16_t function)
{
    uint16_t type = cxx_node(s, function)->right;
    if (cxx_kind_of(s, function) == CXX_TYPED && cxx_kind_of(s, type) == CXX_FUNCTION)
        cxx_node(s, type)->left = 0;
}

/* The Z is read. */
static uint16_t parse_local(struct cxx_parser *s)
{
    static const char literal[] = "string literal";
    uint16_t name;
    uint16_t function = cxx_parse_encoding(s, false);
    if (!function || !cxx_take(s, 'E'))
        return 0;
    if (cxx_take(s, 's')) {
        name = cxx_skip_discriminator(s) ? cxx_make_text(s, CXX_NAME, literal, sizeof(literal) - 1)
                                         : 0;
    } else {
        uint32_t number = 0;
        bool is_default = cxx_take(s, 'd');
        if (is_default && !cxx_take_index(s, &number))
            return 0;
        name = cxx_parse_name(s);
        if (!name)
            return 0;
        if (cxx_kind_of(s, name) != CXX_LAMBDA && cxx_kind_of(s, name) != CXX_UNNAMED &&
            !cxx_skip_discriminator(s))
            return 0;
        if (is_default)
            name = cxx_make_number(s, CXX_DEFAULT_ARG, name, number);
    }
    drop_result(s, function);
    return name ? cxx_make(s, CXX_LOCAL, function, name) : 0;
}

/* "<args>" behind a name, where they are. */
uint16_t cxx_parse_arguments_of(struct cxx_parser *s, uint16_t name, bool is_new)
{
    if (!name || *s->p != 'I')
        return name;
    if (is_new && !cxx_remember(s, name))
        return 0;
    uint16_t args = cxx_parse_template_args(s);
    return args ? cxx_make(s, CXX_TEMPLATE, name, args) : 0;
}

static uint16_t parse_std_member(struct cxx_parser *s)
{
    uint16_t std = cxx_make_text(s, CXX_NAME, "std", 3);
    uint16_t name = cxx_parse_unqualified(s);
    return std && name ? cxx_make(s, CXX_QUALIFIED, std, name) : 0;
}

uint16_t cxx_parse_name(struct cxx_parser *s)
{
    uint16_t name = 0;
    if (++s->depth > CXX_DEPTH_MAX)
        return 0;
    if (cxx_take(s, 'N')) {
        name = parse_nested(s);
    } else if (cxx_take(s, 'Z')) {
        name = parse_local(s);
    } else if (*s->p == 'U') {
        name = cxx_parse_unqualified(s);
    } else if (s->p[0] == 'S' && s->p[1] == 't') {
        s->p += 2;
        name = cxx_parse_arguments_of(s, parse_std_member(s), true);
    } else if (cxx_take(s, 'S')) {
        name = cxx_parse_arguments_of(s, cxx_parse_substitution(s, false), false);
    } else {
        name = cxx_parse_arguments_of(s, cxx_parse_unqualified(s), true);
    }
    s->depth--;
    return name;
}
