#include "symbolizer/demangle_cxx_printer.h"

/* Kept out of what calls itself: its frame stays small, and without a guard. */
#define APART __attribute__((noinline))

void cxx_put_number(struct cxx_printer *p, uint32_t v)
{
    char digits[12];
    size_t from = sizeof(digits);
    do {
        digits[--from] = (char)('0' + v % 10);
        v /= 10;
    } while (v > 0);
    cxx_put(p, digits + from, sizeof(digits) - from);
}

/* The name waits for the type, which puts it in its place. */
static APART void print_typed(struct cxx_printer *p, const struct cxx_node *n)
{
    struct cxx_waiting *hold = p->waiting;
    struct cxx_waiting list[4];
    size_t count = 0;
    const struct cxx_node *name = cxx_at(p, n->left);
    p->waiting = NULL;
    for (;; name = cxx_at(p, name->left)) {
        if (count == 4) {
            cxx_print_fail(p);
            return;
        }
        list[count] = (struct cxx_waiting){p->waiting, name, p->scope, false};
        p->waiting = &list[count++];
        if (!cxx_is_of_this(name))
            break;
    }
    if (name->kind == CXX_LOCAL) {
        name = cxx_at(p, name->right);
        if (name->kind == CXX_DEFAULT_ARG)
            name = cxx_at(p, name->left);
        for (; cxx_is_of_this(name); name = cxx_at(p, name->left)) {
            if (count == 4) {
                cxx_print_fail(p);
                return;
            }
            list[count] = list[count - 1];
            list[count].next = &list[count - 1];
            p->waiting = &list[count];
            list[count - 1].node = name;
            list[count - 1].printed = false;
            list[count - 1].scope = p->scope;
            count++;
        }
    }
    struct cxx_scope scope = {p->scope, name};
    if (name->kind == CXX_TEMPLATE)
        p->scope = &scope;
    cxx_print_node(p, n->right);
    p->scope = scope.next;
    while (count > 0) {
        count--;
        if (list[count].printed)
            continue;
        cxx_puts(p, " ");
        cxx_print_one_waiting(p, list[count].node);
    }
    p->waiting = hold;
}

static void print_template(struct cxx_printer *p, const struct cxx_node *n)
{
    struct cxx_waiting *hold = p->waiting;
    const struct cxx_node *outer = p->template;
    p->waiting = NULL;
    p->template = n;
    cxx_print_node(p, n->left);
    p->template = NULL;
    if (p->last == '<')
        cxx_puts(p, " ");
    cxx_puts(p, "<");
    cxx_print_node(p, n->right);
    if (p->last == '>')
        cxx_puts(p, " ");
    cxx_puts(p, ">");
    p->template = outer;
    p->waiting = hold;
}

/* Of an empty pack the comma goes again; as the runtime does, the blank counts as the last character
 * printed all the same. */
static void print_list(struct cxx_printer *p, const struct cxx_node *n)
{
    if (n->left)
        cxx_print_node(p, n->left);
    if (!n->right)
        return;
    cxx_puts(p, ", ");
    size_t before = p->out->len;
    cxx_print_node(p, n->right);
    if (p->out->len == before && !p->out->full)
        p->out->len -= 2;
}

static void print_nested(struct cxx_printer *p, const struct cxx_node *n)
{
    cxx_print_node(p, n->left);
    cxx_puts(p, "::");
    const struct cxx_node *right = cxx_at(p, n->right);
    if (right->kind == CXX_DEFAULT_ARG) {
        cxx_puts(p, "{default arg#");
        cxx_put_number(p, right->number + 1u);
        cxx_puts(p, "}::");
        cxx_print_node(p, right->left);
        return;
    }
    cxx_print_node(p, n->right);
}

static APART void print_lambda(struct cxx_printer *p, const struct cxx_node *n)
{
    bool outer = p->in_lambda, disturbed = p->disturbed;
    struct cxx_waiting *hold = p->waiting;
    cxx_puts(p, "{lambda(");
    p->in_lambda = true;
    p->disturbed = hold != NULL;
    p->waiting = NULL;
    cxx_print_node(p, n->left);
    p->waiting = hold;
    p->disturbed = disturbed;
    p->in_lambda = outer;
    cxx_puts(p, ")#");
    cxx_put_number(p, n->number + 1u);
    cxx_puts(p, "}");
}

static void print_operator(struct cxx_printer *p, const struct cxx_node *n)
{
    cxx_puts(p, "operator");
    if (n->text[0] >= 'a' && n->text[0] <= 'z')
        cxx_puts(p, " ");
    cxx_put_text(p, n);
}

/* The type is one of the operator's own template parameters, or made of them. */
static void print_conversion(struct cxx_printer *p, const struct cxx_node *n)
{
    struct cxx_scope scope = {p->scope, p->template};
    if (p->template)
        p->scope = &scope;
    cxx_puts(p, "operator ");
    cxx_print_node(p, n->left);
    p->scope = scope.next;
}

static APART void print_literal(struct cxx_printer *p, const struct cxx_node *n)
{
    static const char endings[][5] = {"i", "ju", "ll", "mul", "xll", "yull"};
    const struct cxx_node *type = cxx_at(p, n->left);
    bool negative = n->kind == CXX_LITERAL_NEGATIVE;
    char code = type->kind == CXX_BUILTIN ? type->code : 0;
    if (code == 'b' && n->number == 1 && !negative && (n->text[0] == '0' || n->text[0] == '1')) {
        cxx_puts(p, n->text[0] == '0' ? "false" : "true");
        return;
    }
    const char *ending = NULL;
    for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++) {
        if (endings[i][0] == code)
            ending = endings[i] + 1;
    }
    if (!ending) {
        cxx_puts(p, "(");
        cxx_print_node(p, n->left);
        cxx_puts(p, ")");
    }
    if (negative)
        cxx_puts(p, "-");
    bool is_real = code && strchr("defg", code);
    if (is_real)
        cxx_puts(p, "[");
    cxx_put_text(p, n);
    if (is_real)
        cxx_puts(p, "]");
    if (ending)
        cxx_puts(p, ending);
}

/* --- expressions ------------------------------------------------------------------------------- */

/* A member template in brackets or not: runtimes of GCC 12 and 14 differ. */
static bool is_disputed(const struct cxx_printer *p, const struct cxx_node *n)
{
    return n->kind == CXX_QUALIFIED && cxx_at(p, n->right)->kind == CXX_TEMPLATE;
}

static void print_operand(struct cxx_printer *p, uint16_t i)
{
    const struct cxx_node *n = cxx_at(p, i);
    bool is_simple = n->kind == CXX_NAME || n->kind == CXX_QUALIFIED || n->kind == CXX_ARGUMENT ||
                     n->kind == CXX_BRACES;
    if (is_disputed(p, n)) {
        cxx_print_fail(p);
        return;
    }
    if (!is_simple)
        cxx_puts(p, "(");
    cxx_print_node(p, i);
    if (!is_simple)
        cxx_puts(p, ")");
}

static void print_argument(struct cxx_printer *p, const struct cxx_node *n)
{
    if (n->number == 0) {
        cxx_puts(p, "this");
        return;
    }
    cxx_puts(p, "{parm#");
    cxx_put_number(p, n->number);
    cxx_puts(p, "}");
}

static void print_unary(struct cxx_printer *p, const struct cxx_node *n)
{
    const struct cxx_node *sign = cxx_at(p, n->left);
    const struct cxx_node *operand = cxx_at(p, n->right);
    uint16_t shown = n->right;
    /* A function's address is shown without its parameters. */
    if (sign->text[0] == '&' && operand->kind == CXX_TYPED &&
        cxx_at(p, operand->left)->kind == CXX_QUALIFIED)
        shown = operand->left;
    cxx_put_text(p, sign);
    print_operand(p, shown);
}

static void print_binary(struct cxx_printer *p, const struct cxx_node *n)
{
    const struct cxx_node *sign = cxx_at(p, n->left);
    const struct cxx_node *pair = cxx_at(p, n->right);
    bool is_greater = sign->number == 1 && sign->text[0] == '>';
    if (is_greater)
        cxx_puts(p, "(");
    print_operand(p, pair->left);
    if (sign->text[0] == '[') {
        cxx_puts(p, "[");
        cxx_print_node(p, pair->right);
        cxx_puts(p, "]");
        return;
    }
    cxx_put_text(p, sign);
    print_operand(p, pair->right);
    if (is_greater)
        cxx_puts(p, ")");
}

static void print_choice(struct cxx_printer *p, const struct cxx_node *n)
{
    const struct cxx_node *pair = cxx_at(p, n->right);
    print_operand(p, n->left);
    cxx_puts(p, "?");
    print_operand(p, pair->left);
    cxx_puts(p, " : ");
    print_operand(p, pair->right);
}

/* --- the whole --------------------------------------------------------------------------------- */

static void print_kind(struct cxx_printer *p, const struct cxx_node *n)
{
    switch ((enum cxx_kind)n->kind) {
    case CXX_NAME:
    case CXX_STD:
    case CXX_BUILTIN:
        cxx_put_text(p, n);
        break;
    case CXX_QUALIFIED:
    case CXX_LOCAL:
        print_nested(p, n);
        break;
    case CXX_DEFAULT_ARG:
        cxx_print_fail(p);
        break;
    case CXX_TAGGED:
        cxx_print_node(p, n->left);
        cxx_puts(p, "[abi:");
        cxx_print_node(p, n->right);
        cxx_puts(p, "]");
        break;
    case CXX_TEMPLATE:
        print_template(p, n);
        break;
    case CXX_TEMPLATE_ARGS:
    case CXX_PARAMS:
        print_list(p, n);
        break;
    case CXX_PARAM:
        cxx_print_param(p, n);
        break;
    case CXX_PACK:
        cxx_print_pack(p, n);
        break;
    case CXX_TYPED:
        print_typed(p, n);
        break;
    case CXX_FUNCTION:
        cxx_print_function(p, n);
        break;
    case CXX_OPERATOR:
        print_operator(p, n);
        break;
    case CXX_CONVERSION:
        print_conversion(p, n);
        break;
    case CXX_LITERAL_OPERATOR:
        cxx_puts(p, "operator\"\" ");
        cxx_print_node(p, n->left);
        break;
    case CXX_CTOR:
        cxx_print_node(p, n->left);
        break;
    case CXX_DTOR:
        cxx_puts(p, "~");
        cxx_print_node(p, n->left);
        break;
    case CXX_LAMBDA:
        print_lambda(p, n);
        break;
    case CXX_UNNAMED:
        cxx_puts(p, "{unnamed type#");
        cxx_put_number(p, n->number + 1u);
        cxx_puts(p, "}");
        break;
    case CXX_SPECIAL:
        cxx_put_text(p, n);
        cxx_print_node(p, n->left);
        break;
    case CXX_UNARY:
        print_unary(p, n);
        break;
    case CXX_BINARY:
        print_binary(p, n);
        break;
    case CXX_PACK_LENGTH:
        cxx_print_pack_length(p, n);
        break;
    case CXX_CALL:
        print_operand(p, n->left);
        print_operand(p, n->right);
        break;
    case CXX_CAST:
        cxx_put_text(p, n);
        cxx_puts(p, "<");
        cxx_print_node(p, n->left);
        cxx_puts(p, ">(");
        cxx_print_node(p, n->right);
        cxx_puts(p, ")");
        break;
    case CXX_C_CAST:
        cxx_puts(p, "(");
        cxx_print_node(p, n->left);
        cxx_puts(p, ")");
        print_operand(p, n->right);
        break;
    case CXX_BRACES:
        if (n->left)
            cxx_print_node(p, n->left);
        cxx_puts(p, "{");
        cxx_print_node(p, n->right);
        cxx_puts(p, "}");
        break;
    case CXX_CHOICE:
        print_choice(p, n);
        break;
    case CXX_POSTFIX:
        print_operand(p, n->right);
        cxx_put_text(p, cxx_at(p, n->left));
        break;
    case CXX_ARGUMENT:
        print_argument(p, n);
        break;
    case CXX_DECLTYPE:
        cxx_puts(p, "decltype (");
        cxx_print_node(p, n->left);
        cxx_puts(p, ")");
        break;
    case CXX_TRANSFORMED:
        cxx_print_node(p, n->left);
        cxx_puts(p, "(");
        cxx_print_node(p, n->right);
        cxx_puts(p, ")");
        break;
    case CXX_PAIR:
        cxx_print_fail(p);
        break;
    case CXX_CLONE:
        cxx_print_node(p, n->left);
        cxx_puts(p, " [clone ");
        cxx_print_node(p, n->right);
        cxx_puts(p, "]");
        break;
    case CXX_CONSTRUCTION:
        cxx_print_node(p, n->left);
        cxx_puts(p, "-in-");
        cxx_print_node(p, n->right);
        break;
    case CXX_LITERAL:
    case CXX_LITERAL_NEGATIVE:
        print_literal(p, n);
        break;
    case CXX_ARRAY:
        cxx_print_array(p, n);
        break;
    case CXX_VECTOR:
    case CXX_MEMBER:
        cxx_print_around(p, n, n->right);
        break;
    case CXX_REFERENCE:
    case CXX_RVALUE:
        cxx_print_reference(p, n);
        break;
    case CXX_RESTRICT:
    case CXX_VOLATILE:
    case CXX_CONST:
        cxx_print_qualifier(p, n);
        break;
    case CXX_VENDOR:
    case CXX_POINTER:
    case CXX_COMPLEX:
    case CXX_IMAGINARY:
    case CXX_THIS_RESTRICT:
    case CXX_THIS_VOLATILE:
    case CXX_THIS_CONST:
    case CXX_THIS_REFERENCE:
    case CXX_THIS_RVALUE:
    case CXX_THIS_NOEXCEPT:
        cxx_print_around(p, n, n->left);
        break;
    }
}

void cxx_print_node(struct cxx_printer *p, uint16_t i)
{
    if (p->failed)
        return;
    if (p->depth >= CXX_DEPTH_MAX || p->steps >= CXX_STEPS_MAX) {
        cxx_print_fail(p);
        return;
    }
    p->steps++;
    p->depth++;
    print_kind(p, cxx_at(p, i));
    p->depth--;
}

bool cxx_print(const struct cxx_tree *t, struct demangle_out *out)
{
    struct cxx_printer p = {.nodes = t->nodes, .out = out};
    cxx_print_node(&p, t->root);
    return !p.failed;
}
