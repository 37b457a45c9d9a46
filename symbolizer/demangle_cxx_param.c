#include "symbolizer/demangle_cxx_printer.h"

/* Argument `index` of a list; NULL: none. */
static const struct cxx_node *argument(const struct cxx_printer *p, const struct cxx_node *list,
                                       uint16_t index)
{
    while (index > 0 && list->right) {
        list = cxx_at(p, list->right);
        index--;
    }
    return index == 0 && list->left ? cxx_at(p, list->left) : NULL;
}

/* What a parameter stands for; a pack stays a list. */
static const struct cxx_node *parameter(const struct cxx_printer *p, const struct cxx_node *n)
{
    return p->scope ? argument(p, cxx_at(p, p->scope->template->right), n->number) : NULL;
}

/* The same, of a pack the element that is being printed. */
const struct cxx_node *cxx_parameter_element(const struct cxx_printer *p, const struct cxx_node *n)
{
    const struct cxx_node *a = parameter(p, n);
    return a && a->kind == CXX_TEMPLATE_ARGS ? argument(p, a, p->pack_index) : a;
}

void cxx_print_param(struct cxx_printer *p, const struct cxx_node *n)
{
    if (p->in_lambda) {
        cxx_puts(p, "auto:");
        cxx_put_number(p, n->number + 1u);
        return;
    }
    const struct cxx_node *a = p->collapsed ? NULL : cxx_parameter_element(p, n);
    if (!a) {
        cxx_print_fail(p);
        return;
    }
    const struct cxx_scope *outer = p->scope;
    p->scope = outer->next;
    cxx_print_node(p, (uint16_t)(a - p->nodes));
    p->scope = outer;
}

/* The pack that a pattern expands; NULL: none. */
static const struct cxx_node *find_pack(struct cxx_printer *p, uint16_t i)
{
    const struct cxx_node *n = cxx_at(p, i);
    const struct cxx_node *found = NULL;
    if (i == 0 || p->failed)
        return NULL;
    if (p->depth >= CXX_DEPTH_MAX || p->steps >= CXX_STEPS_MAX) {
        cxx_print_fail(p);
        return NULL;
    }
    p->steps++;
    p->depth++;
    if (n->kind == CXX_PARAM) {
        const struct cxx_node *a = parameter(p, n);
        found = a && a->kind == CXX_TEMPLATE_ARGS ? a : NULL;
    } else if (n->kind != CXX_PACK && n->kind != CXX_LAMBDA && n->kind != CXX_DEFAULT_ARG &&
               n->kind != CXX_CTOR && n->kind != CXX_DTOR && n->kind != CXX_TAGGED) {
        found = find_pack(p, n->left);
        if (!found)
            found = find_pack(p, n->right);
    }
    p->depth--;
    return found;
}

static uint16_t pack_length(const struct cxx_printer *p, const struct cxx_node *pack)
{
    uint16_t length = 0;
    while (pack->left) {
        length++;
        if (!pack->right)
            break;
        pack = cxx_at(p, pack->right);
    }
    return length;
}

void cxx_print_pack(struct cxx_printer *p, const struct cxx_node *n)
{
    const struct cxx_node *pack = p->in_lambda ? NULL : find_pack(p, n->left);
    if (!pack) {
        /* The runtime prints the pattern, in brackets or not. */
        cxx_print_fail(p);
        return;
    }
    uint16_t length = pack_length(p, pack);
    for (uint16_t i = 0; i < length && !p->failed; i++) {
        p->pack_index = i;
        cxx_print_node(p, n->left);
        if (i + 1 < length)
            cxx_puts(p, ", ");
    }
}

void cxx_print_pack_length(struct cxx_printer *p, const struct cxx_node *n)
{
    const struct cxx_node *pack = p->in_lambda ? NULL : find_pack(p, n->left);
    if (pack)
        cxx_put_number(p, pack_length(p, pack));
    else
        cxx_print_fail(p);
}
