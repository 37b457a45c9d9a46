#include "symbolizer/dwarf_names.h"

#include <stdlib.h>
#include <string.h>

enum {
    DW_TAG_class_type = 0x02,
    DW_TAG_enumeration_type = 0x04,
    DW_TAG_structure_type = 0x13,
    DW_TAG_union_type = 0x17,
    DW_TAG_module = 0x1e,
    DW_TAG_interface_type = 0x38,
    DW_TAG_namespace = 0x39,
};

static void merge(const struct dwarf_entry *e, uint64_t die, struct dwarf_name *ret)
{
    if (!ret->linkage)
        ret->linkage = e->linkage;
    if (!ret->name)
        ret->name = e->name;
    ret->external = ret->external || e->external;
    ret->declaration = die;
}

static bool is_function(const struct dwarf_abbrev *a)
{
    return a->tag == DW_TAG_subprogram || a->tag == DW_TAG_inlined_subroutine ||
           a->tag == DW_TAG_entry_point;
}

/* Reads a DIE of which nobody else asked, behind its code. False: it cannot be read. */
static bool read_entry(struct dwarf *d, const struct dwarf_unit *u, const struct dwarf_abbrev *a,
                       struct cursor *c, struct dwarf_entry *ret)
{
    const uint8_t *from = c->p;
    bool good = dwarf_entry_read(d, u, a, c, ret);
    return dwarf_spend(d, a->spec_count + (uint64_t)(c->p - from)) && good;
}

static void follow(struct dwarf *d, uint64_t die, struct dwarf_name *ret)
{
    for (int step = 0; die && step < DWARF_CHAIN_MAX; step++) {
        const struct dwarf_unit *u = dwarf_unit_of(d, die);
        if (!u)
            return;
        struct cursor c = dwarf_unit_cursor(d, u, die);
        const struct dwarf_abbrev *a = dwarf_abbrevs_find(u->abbrevs, cursor_uleb(&c));
        struct dwarf_entry e = {0};
        if (!a || !is_function(a) || !read_entry(d, u, a, &c, &e))
            return;
        merge(&e, die, ret);
        /* The linkage name is what we came for; only whether it is external may stand further on. */
        if (ret->linkage && ret->external)
            return;
        die = e.origin;
    }
}

void dwarf_name_at(struct dwarf *d, uint64_t die, struct dwarf_name *ret)
{
    memset(ret, 0, sizeof(*ret));
    follow(d, die, ret);
}

void dwarf_name_of(struct dwarf *d, const struct dwarf_entry *e, struct dwarf_name *ret)
{
    memset(ret, 0, sizeof(*ret));
    merge(e, e->offset, ret);
    if (!ret->linkage || !ret->external)
        follow(d, e->origin, ret);
}

/* --- scopes ------------------------------------------------------------------------------------ */

static bool is_scope(uint16_t tag)
{
    switch (tag) {
    case DW_TAG_class_type:
    case DW_TAG_enumeration_type:
    case DW_TAG_structure_type:
    case DW_TAG_union_type:
    case DW_TAG_module:
    case DW_TAG_interface_type:
    case DW_TAG_namespace:
        return true;
    default:
        return false;
    }
}

struct scope {
    int64_t depth;
    const char *name; /* NULL: has none */
};

/* A walk over one unit, up to the last declaration asked for. */
struct scope_walk {
    struct dwarf *d;
    const struct dwarf_unit *u;
    struct arena *arena;
    struct scope open[DWARF_SCOPES_MAX];
    size_t open_count;
};

static const char *scope_text(const struct scope *s)
{
    return s->name ? s->name : "(anonymous namespace)";
}

static bool qualify(struct scope_walk *w, struct dwarf_scoped *item)
{
    if (w->open_count == 0)
        return true;
    size_t length = strlen(item->name) + 1;
    for (size_t i = 0; i < w->open_count; i++)
        length += strlen(scope_text(&w->open[i])) + 2;
    char *text = arena_alloc(w->arena, length);
    if (!text || !dwarf_spend(w->d, length))
        return false;
    char *p = text;
    for (size_t i = 0; i < w->open_count; i++) {
        const char *scope = scope_text(&w->open[i]);
        size_t n = strlen(scope);
        memcpy(p, scope, n);
        memcpy(p + n, "::", 2);
        p += n + 2;
    }
    memcpy(p, item->name, strlen(item->name) + 1);
    item->name = text;
    return true;
}

/* Steps over a DIE, or opens its scope. */
static bool pass_die(struct scope_walk *w, const struct dwarf_abbrev *a, struct cursor *c,
                     int64_t depth)
{
    if (!a->children || !is_scope(a->tag) || w->open_count == DWARF_SCOPES_MAX)
        return dwarf_abbrev_skip(w->u->abbrevs, a, c, w->d->swap);
    struct dwarf_entry e = {0};
    if (!read_entry(w->d, w->u, a, c, &e))
        return false;
    /* An unnamed class is no help to a reader; an unnamed namespace is what C++ calls it. */
    if (e.name || a->tag == DW_TAG_namespace)
        w->open[w->open_count++] = (struct scope){depth, symbol_map_name(w->d->map, e.name)};
    return true;
}

/* `list` ascends and lies in the unit. What stands behind damage keeps its plain name. */
static bool qualify_unit(struct scope_walk *w, struct dwarf_scoped *list, size_t count)
{
    struct cursor c = dwarf_unit_cursor(w->d, w->u, w->u->dies);
    const uint8_t *base = w->d->info.p;
    int64_t depth = 0;
    size_t i = 0;
    if (!dwarf_spend(w->d, list[count - 1].declaration - w->u->dies))
        return false;
    w->open_count = 0;
    while (i < count && c.p < c.end) {
        uint64_t offset = (uint64_t)(c.p - base);
        while (i < count && list[i].declaration <= offset) {
            if (list[i].declaration == offset && !qualify(w, &list[i]))
                return false;
            i++;
        }
        uint64_t code = cursor_uleb(&c);
        if (code == 0) {
            depth--;
            if (w->open_count && w->open[w->open_count - 1].depth == depth)
                w->open_count--;
            if (depth <= 0)
                break;
            continue;
        }
        const struct dwarf_abbrev *a = dwarf_abbrevs_find(w->u->abbrevs, code);
        if (!a || !pass_die(w, a, &c, depth))
            break;
        if (a->children)
            depth++;
    }
    return true;
}

static int compare_scoped(const void *a, const void *b)
{
    const struct dwarf_scoped *x = a, *y = b;
    if (x->declaration != y->declaration)
        return x->declaration < y->declaration ? -1 : 1;
    return x->user < y->user ? -1 : x->user > y->user;
}

bool dwarf_names_qualify(struct dwarf *d, struct dwarf_scoped *list, size_t count,
                         struct arena *arena)
{
    struct scope_walk w = {.d = d, .arena = arena};
    if (count > 1)
        qsort(list, count, sizeof(*list), compare_scoped);
    for (size_t i = 0; i < count;) {
        size_t end = i + 1;
        w.u = dwarf_unit_of(d, list[i].declaration);
        while (w.u && end < count && list[end].declaration < w.u->end)
            end++;
        if (w.u && !qualify_unit(&w, list + i, end - i))
            return false;
        i = end;
    }
    return true;
}
