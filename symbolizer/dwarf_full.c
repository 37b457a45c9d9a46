#include "symbolizer/dwarf_full.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"

static const char *const text_refused = "libdwarf cannot read a DIE";

/* A DIE whose children are being visited, and the entry that calls below it belong to. */
struct visit {
    Dwarf_Die die;
    uint32_t owner;
};

struct walking {
    Dwarf_Debug debug;
    struct dwarf_skim *s;
    size_t depth;
    struct visit open[DWARF_FULL_DEPTH_MAX];
};

/* The attribute, or NULL. */
static Dwarf_Attribute find(Dwarf_Die die, Dwarf_Half number)
{
    Dwarf_Attribute a = NULL;
    Dwarf_Error error = NULL;
    return dwarf_attr(die, number, &a, &error) == DW_DLV_OK ? a : NULL;
}

static void release(const struct walking *w, Dwarf_Attribute a)
{
    dwarf_dealloc(w->debug, a, DW_DLA_ATTR);
}

static const char *text_of(Dwarf_Die die, Dwarf_Half number)
{
    char *text = NULL;
    Dwarf_Error error = NULL;
    if (dwarf_die_text(die, number, &text, &error) != DW_DLV_OK || !text || !*text)
        return NULL;
    return text;
}

static bool number_of(const struct walking *w, Dwarf_Die die, Dwarf_Half number, uint64_t *ret)
{
    Dwarf_Attribute a = find(die, number);
    Dwarf_Unsigned v = 0;
    Dwarf_Error error = NULL;
    if (!a)
        return false;
    bool good = dwarf_formudata(a, &v, &error) == DW_DLV_OK;
    if (!good) { /* DW_FORM_implicit_const and sdata are signed to 20210528 */
        Dwarf_Signed s = 0;
        good = dwarf_formsdata(a, &s, &error) == DW_DLV_OK;
        v = (Dwarf_Unsigned)s;
    }
    release(w, a);
    if (good)
        *ret = v;
    return good;
}

static uint64_t reference_of(const struct walking *w, Dwarf_Die die, Dwarf_Half number)
{
    Dwarf_Attribute a = find(die, number);
    Dwarf_Off v = 0;
    Dwarf_Error error = NULL;
    if (!a)
        return 0;
    bool good = dwarf_global_formref(a, &v, &error) == DW_DLV_OK;
    release(w, a);
    return good ? v : 0;
}

static void read_ranges(const struct walking *w, Dwarf_Die die, struct dwarf_entry *e)
{
    Dwarf_Attribute a = find(die, DW_AT_ranges);
    Dwarf_Half form = 0;
    Dwarf_Error error = NULL;
    if (!a)
        return;
    if (dwarf_whatform(a, &form, &error) == DW_DLV_OK) {
        Dwarf_Unsigned v = 0;
        Dwarf_Off offset = 0;
        if (form == DW_FORM_rnglistx && dwarf_formudata(a, &v, &error) == DW_DLV_OK) {
            e->ranges = v;
            e->ranges_form = DWARF_RANGES_INDEX;
        } else if (dwarf_global_formref(a, &offset, &error) == DW_DLV_OK) {
            e->ranges = offset;
            e->ranges_form = DWARF_RANGES_OFFSET;
        }
    }
    release(w, a);
}

static void read_bounds(Dwarf_Die die, struct dwarf_entry *e)
{
    Dwarf_Addr low = 0, high = 0;
    Dwarf_Half form = 0;
    enum Dwarf_Form_Class class = DW_FORM_CLASS_UNKNOWN;
    Dwarf_Error error = NULL;
    e->has_low = dwarf_lowpc(die, &low, &error) == DW_DLV_OK;
    e->low = e->has_low ? low : 0;
    if (dwarf_highpc_b(die, &high, &form, &class, &error) != DW_DLV_OK)
        return;
    e->high = high;
    e->high_form = class == DW_FORM_CLASS_ADDRESS ? DWARF_HIGH_ADDRESS : DWARF_HIGH_OFFSET;
}

static void read_entry(const struct walking *w, Dwarf_Die die, struct dwarf_entry *e)
{
    Dwarf_Off offset = 0;
    Dwarf_Error error = NULL;
    uint64_t v = 0;
    Dwarf_Bool flag = 0;
    if (dwarf_dieoffset(die, &offset, &error) == DW_DLV_OK)
        e->offset = offset;
    read_bounds(die, e);
    read_ranges(w, die, e);
    e->name = text_of(die, DW_AT_name);
    e->linkage = text_of(die, DW_AT_linkage_name);
    if (!e->linkage)
        e->linkage = text_of(die, DW_AT_MIPS_linkage_name);
    e->origin = reference_of(w, die, DW_AT_abstract_origin);
    if (!e->origin)
        e->origin = reference_of(w, die, DW_AT_specification);
    if (number_of(w, die, DW_AT_call_line, &v))
        e->call_line = v > UINT32_MAX ? UINT32_MAX : (uint32_t)v;
    e->has_call_file = number_of(w, die, DW_AT_call_file, &v);
    if (e->has_call_file)
        e->call_file = v > UINT32_MAX ? UINT32_MAX : (uint32_t)v;
    Dwarf_Attribute a = find(die, DW_AT_external);
    if (a) {
        e->external = dwarf_formflag(a, &flag, &error) == DW_DLV_OK && flag;
        release(w, a);
    }
}

/* Takes the DIE down if it matters; `*owner` becomes what its children belong to. */
static const char *take(struct walking *w, Dwarf_Die die, uint32_t *owner)
{
    struct dwarf_skim *s = w->s;
    Dwarf_Half tag = 0;
    Dwarf_Error error = NULL;
    if (dwarf_tag(die, &tag, &error) != DW_DLV_OK)
        return text_refused;
    bool inlined = tag == DW_TAG_inlined_subroutine;
    if ((tag != DW_TAG_subprogram && !inlined) || (inlined && *owner == DWARF_NO_PARENT))
        return NULL;
    struct dwarf_entry e = {.inlined = inlined, .parent = inlined ? *owner : DWARF_NO_PARENT};
    read_entry(w, die, &e);
    if (!inlined && !e.has_low && e.ranges_form == DWARF_RANGES_NONE) {
        *owner = DWARF_NO_PARENT;
        return NULL;
    }
    void *p = vec_grown(s->entries, &s->cap, s->count + 1, sizeof(e));
    if (!p || s->count >= DWARF_NO_PARENT - 1)
        return "no memory for entries";
    s->entries = p;
    *owner = (uint32_t)s->count;
    s->entries[s->count++] = e;
    return NULL;
}

/* Next DIE beside `die`, which is given back. NULL: there is none. */
static Dwarf_Die next_of(const struct walking *w, Dwarf_Die die, const char **damage)
{
    Dwarf_Die next = NULL;
    Dwarf_Error error = NULL;
    int result = dwarf_siblingof_b(w->debug, die, 1, &next, &error);
    dwarf_dealloc(w->debug, die, DW_DLA_DIE);
    if (result == DW_DLV_ERROR)
        *damage = text_refused;
    return result == DW_DLV_OK ? next : NULL;
}

/* Visits `die` and what is below it; the walk gives all DIEs back. */
static const char *visit_all(struct walking *w, Dwarf_Die die)
{
    const char *damage = NULL;
    uint32_t owner = DWARF_NO_PARENT; /* of the DIEs beside `die` */
    while (die && !damage) {
        uint32_t mine = owner;
        Dwarf_Die child = NULL;
        Dwarf_Error error = NULL;
        damage = take(w, die, &mine);
        int result = damage ? DW_DLV_NO_ENTRY : dwarf_child(die, &child, &error);
        if (result == DW_DLV_ERROR)
            damage = text_refused;
        if (result == DW_DLV_OK && w->depth == DWARF_FULL_DEPTH_MAX) {
            dwarf_dealloc(w->debug, child, DW_DLA_DIE);
            damage = "DIEs are nested too deeply";
        } else if (result == DW_DLV_OK) {
            w->open[w->depth++] = (struct visit){die, owner};
            die = child;
            owner = mine;
            continue;
        }
        /* The unit's own DIE has no siblings: what libdwarf would call one is the next unit. */
        while (die && !damage) {
            Dwarf_Die next = NULL;
            if (w->depth > 0)
                next = next_of(w, die, &damage);
            else
                dwarf_dealloc(w->debug, die, DW_DLA_DIE);
            die = next;
            if (die || damage || w->depth == 0)
                break;
            die = w->open[--w->depth].die;
            owner = w->open[w->depth].owner;
        }
    }
    if (die)
        dwarf_dealloc(w->debug, die, DW_DLA_DIE);
    while (w->depth > 0)
        dwarf_dealloc(w->debug, w->open[--w->depth].die, DW_DLA_DIE);
    return damage;
}

const char *dwarf_full_unit(const struct dwarf_object *o, const struct dwarf_unit *u,
                            struct dwarf_skim *s)
{
    Dwarf_Die die = NULL;
    Dwarf_Error error = NULL;
    s->count = 0;
    struct walking *w = malloc(sizeof(*w));
    if (!w)
        return "no memory for entries";
    w->debug = dwarf_object_debug(o);
    w->s = s;
    w->depth = 0;
    const char *damage = text_refused;
    if (dwarf_offdie_b(w->debug, u->dies, 1, &die, &error) == DW_DLV_OK)
        damage = visit_all(w, die);
    if (damage)
        s->count = 0;
    free(w);
    return damage;
}
