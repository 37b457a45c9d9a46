#include "symbolizer/demangle_cxx_printer.h"

static const char *const suffixes[] = {
    [CXX_POINTER] = "*",
    [CXX_REFERENCE] = "&",
    [CXX_RVALUE] = "&&",
    [CXX_COMPLEX] = " _Complex",
    [CXX_IMAGINARY] = " _Imaginary",
    [CXX_RESTRICT] = " restrict",
    [CXX_VOLATILE] = " volatile",
    [CXX_CONST] = " const",
    [CXX_THIS_RESTRICT] = " restrict",
    [CXX_THIS_VOLATILE] = " volatile",
    [CXX_THIS_CONST] = " const",
    [CXX_THIS_REFERENCE] = " &",
    [CXX_THIS_RVALUE] = " &&",
    [CXX_THIS_NOEXCEPT] = " noexcept",
};

void cxx_print_one_waiting(struct cxx_printer *p, const struct cxx_node *n)
{
    if (n->kind >= CXX_POINTER) {
        cxx_puts(p, suffixes[n->kind]);
    } else if (n->kind == CXX_VENDOR) {
        cxx_puts(p, " ");
        cxx_print_node(p, n->right);
    } else if (n->kind == CXX_VECTOR) {
        cxx_puts(p, " __vector(");
        cxx_print_node(p, n->left);
        cxx_puts(p, ")");
    } else if (n->kind == CXX_MEMBER) {
        if (p->last != '(')
            cxx_puts(p, " ");
        cxx_print_node(p, n->left);
        cxx_puts(p, "::*");
    } else {
        cxx_print_node(p, (uint16_t)(n - p->nodes));
    }
}

/* A function's name, const and the like of a local class's member taken off: they wait themselves. */
static void print_local_waiting(struct cxx_printer *p, const struct cxx_node *n)
{
    struct cxx_waiting *hold = p->waiting;
    p->waiting = NULL;
    cxx_print_node(p, n->left);
    p->waiting = hold;
    cxx_puts(p, "::");
    const struct cxx_node *entity = cxx_at(p, n->right);
    if (entity->kind == CXX_DEFAULT_ARG) {
        cxx_puts(p, "{default arg#");
        cxx_put_number(p, entity->number + 1u);
        cxx_puts(p, "}::");
        entity = cxx_at(p, entity->left);
    }
    while (cxx_is_of_this(entity))
        entity = cxx_at(p, entity->left);
    cxx_print_node(p, (uint16_t)(entity - p->nodes));
}

static bool is_around(const struct cxx_node *n)
{
    return n->kind >= CXX_MEMBER && !cxx_is_of_this(n);
}

static void print_function_rest(struct cxx_printer *p, const struct cxx_node *n,
                                struct cxx_waiting *list)
{
    bool bracket = false, space = false;
    for (const struct cxx_waiting *w = list; w && !w->printed && !bracket; w = w->next) {
        bracket = is_around(w->node);
        space = bracket && w->node->kind != CXX_POINTER && w->node->kind != CXX_REFERENCE &&
                w->node->kind != CXX_RVALUE;
    }
    if (bracket) {
        space = space || (p->last != '(' && p->last != '*');
        if (space && p->last != ' ')
            cxx_puts(p, " ");
        cxx_puts(p, "(");
    }
    struct cxx_waiting *hold = p->waiting;
    p->waiting = NULL;
    cxx_print_waiting(p, list, false);
    if (bracket)
        cxx_puts(p, ")");
    cxx_puts(p, "(");
    if (n->right)
        cxx_print_node(p, n->right);
    cxx_puts(p, ")");
    cxx_print_waiting(p, list, true);
    p->waiting = hold;
}

static void print_array_rest(struct cxx_printer *p, const struct cxx_node *n,
                             struct cxx_waiting *list)
{
    bool space = true;
    if (list) {
        const struct cxx_waiting *w = list;
        while (w && w->printed)
            w = w->next;
        bool bracket = w && w->node->kind != CXX_ARRAY;
        space = !w || bracket;
        if (bracket)
            cxx_puts(p, " (");
        cxx_print_waiting(p, list, false);
        if (bracket)
            cxx_puts(p, ")");
    }
    if (space)
        cxx_puts(p, " ");
    cxx_puts(p, "[");
    if (n->left)
        cxx_print_node(p, n->left);
    cxx_puts(p, "]");
}

/* What waits and was not printed; what belongs to `this` only behind the parameters. */
void cxx_print_waiting(struct cxx_printer *p, struct cxx_waiting *w, bool behind)
{
    for (; w && !p->failed; w = w->next) {
        if (w->printed || (!behind && cxx_is_of_this(w->node)))
            continue;
        const struct cxx_scope *hold = p->scope;
        enum cxx_kind kind = (enum cxx_kind)w->node->kind;
        w->printed = true;
        p->scope = w->scope;
        if (kind == CXX_FUNCTION)
            print_function_rest(p, w->node, w->next);
        else if (kind == CXX_ARRAY)
            print_array_rest(p, w->node, w->next);
        else if (kind == CXX_LOCAL)
            print_local_waiting(p, w->node);
        else
            cxx_print_one_waiting(p, w->node);
        p->scope = hold;
        if (kind == CXX_FUNCTION || kind == CXX_ARRAY || kind == CXX_LOCAL)
            return;
    }
}

/* `inner`, around which `n` stands. */
void cxx_print_around(struct cxx_printer *p, const struct cxx_node *n, uint16_t inner)
{
    struct cxx_waiting w = {p->waiting, n, p->scope, false};
    p->waiting = &w;
    cxx_print_node(p, inner);
    if (!w.printed)
        cxx_print_one_waiting(p, n);
    p->waiting = w.next;
}

void cxx_print_function(struct cxx_printer *p, const struct cxx_node *n)
{
    if (p->disturbed && p->waiting) {
        cxx_print_fail(p);
        return;
    }
    if (n->left) {
        struct cxx_waiting w = {p->waiting, n, p->scope, false};
        p->waiting = &w;
        cxx_print_node(p, n->left);
        p->waiting = w.next;
        if (w.printed)
            return;
        cxx_puts(p, " ");
    }
    print_function_rest(p, n, p->waiting);
}

static bool is_cv(const struct cxx_node *n)
{
    return n->kind >= CXX_RESTRICT && n->kind <= CXX_CONST;
}

/* const of an array is const of its elements. */
void cxx_print_array(struct cxx_printer *p, const struct cxx_node *n)
{
    struct cxx_waiting *hold = p->waiting;
    struct cxx_waiting list[4] = {{hold, n, p->scope, false}};
    size_t count = 1;
    if (p->disturbed && hold) {
        cxx_print_fail(p);
        return;
    }
    p->waiting = &list[0];
    for (struct cxx_waiting *w = hold; w && is_cv(w->node); w = w->next) {
        if (w->printed)
            continue;
        if (count == 4) {
            cxx_print_fail(p);
            return;
        }
        list[count] = *w;
        list[count].next = p->waiting;
        p->waiting = &list[count++];
        w->printed = true;
    }
    cxx_print_node(p, n->right);
    p->waiting = hold;
    if (list[0].printed)
        return;
    while (count > 1)
        cxx_print_one_waiting(p, list[--count].node);
    print_array_rest(p, n, p->waiting);
}

/* & and && of a parameter that is a reference itself are one reference. */
void cxx_print_reference(struct cxx_printer *p, const struct cxx_node *n)
{
    const struct cxx_node *inner = cxx_at(p, n->left);
    bool collapsed = false;
    if (!p->in_lambda && inner->kind == CXX_PARAM) {
        inner = p->collapsed ? NULL : cxx_parameter_element(p, inner);
        if (!inner) {
            cxx_print_fail(p);
            return;
        }
        collapsed = true;
    }
    uint16_t below = n->left;
    if (inner->kind == CXX_REFERENCE || inner->kind == n->kind) {
        n = inner;
        below = inner->left;
    } else if (inner->kind == CXX_RVALUE) {
        below = inner->left;
    } else {
        collapsed = false;
    }
    /* What is in the argument is printed as if it stood here: no place for parameters of its own. */
    p->collapsed += collapsed;
    cxx_print_around(p, n, below);
    p->collapsed -= collapsed;
}

void cxx_print_qualifier(struct cxx_printer *p, const struct cxx_node *n)
{
    for (const struct cxx_waiting *w = p->waiting; w; w = w->next) {
        if (w->printed)
            continue;
        if (!is_cv(w->node))
            break;
        if (w->node->kind == n->kind) {
            cxx_print_node(p, n->left);
            return;
        }
    }
    cxx_print_around(p, n, n->left);
}
