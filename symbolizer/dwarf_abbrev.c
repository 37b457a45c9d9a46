#include "symbolizer/dwarf_abbrev.h"

#include <stdlib.h>
#include <string.h>

#include "base/vec.h"

/* What grows while a table is read. */
struct reading {
    struct dwarf_abbrevs *table;
    size_t abbrev_cap;
    size_t spec_count, spec_cap;
    size_t step_count, step_cap;
};

static bool push_step(struct reading *r, uint32_t fixed, uint32_t form)
{
    void *p =
        vec_grown(r->table->steps, &r->step_cap, r->step_count + 1, sizeof(struct dwarf_step));
    if (!p)
        return false;
    r->table->steps = p;
    r->table->steps[r->step_count++] = (struct dwarf_step){fixed, form};
    return true;
}

/* What functions and inlined calls are asked for. */
static bool is_wanted(uint64_t attribute)
{
    switch (attribute) {
    case DW_AT_name:
    case DW_AT_linkage_name:
    case DW_AT_MIPS_linkage_name:
    case DW_AT_low_pc:
    case DW_AT_high_pc:
    case DW_AT_ranges:
    case DW_AT_abstract_origin:
    case DW_AT_specification:
    case DW_AT_external:
    case DW_AT_call_line:
    case DW_AT_call_file:
        return true;
    default:
        return false;
    }
}

static bool push_spec(struct reading *r, uint64_t attribute, uint64_t form, int64_t implicit)
{
    void *p =
        vec_grown(r->table->specs, &r->spec_cap, r->spec_count + 1, sizeof(struct dwarf_spec));
    if (!p)
        return false;
    r->table->specs = p;
    /* Nothing we ask for has a number beyond 16 bits, and no form we know has. */
    r->table->specs[r->spec_count++] = (struct dwarf_spec){
        .attribute = attribute <= UINT16_MAX ? (uint16_t)attribute : 0,
        .form = form <= UINT16_MAX ? (uint16_t)form : 0,
        .bytes = (int8_t)dwarf_form_fixed(form, &r->table->sizes),
        .meaning = (uint8_t)dwarf_form_meaning(form),
        .wanted = is_wanted(attribute),
        .implicit = implicit,
    };
    return true;
}

static const char *read_specs(struct reading *r, struct cursor *c, struct dwarf_abbrev *a)
{
    uint32_t fixed = 0;
    bool has_code = false;
    a->first_spec = (uint32_t)r->spec_count;
    a->first_step = (uint32_t)r->step_count;
    for (;;) {
        uint64_t attribute = cursor_uleb(c);
        uint64_t form = cursor_uleb(c);
        int64_t implicit = form == DW_FORM_implicit_const ? cursor_sleb(c) : 0;
        if (c->overrun)
            return "abbreviation table runs past its section";
        if (attribute == 0 && form == 0)
            break;
        if (r->spec_count >= DWARF_ABBREVS_MAX)
            return "abbreviation table has too many attributes";
        if (!push_spec(r, attribute, form, implicit))
            return "no memory for an abbreviation table";
        has_code = has_code || attribute == DW_AT_low_pc || attribute == DW_AT_ranges;
        int bytes = dwarf_form_fixed(form, &r->table->sizes);
        if (bytes >= 0) {
            fixed += (uint32_t)bytes;
            continue;
        }
        if (!push_step(r, fixed, form > 0 && form <= UINT16_MAX ? (uint32_t)form : DWARF_NO_FORM))
            return "no memory for an abbreviation table";
        fixed = 0;
    }
    a->spec_count = (uint32_t)(r->spec_count - a->first_spec);
    a->fixed = fixed;
    if (r->step_count > a->first_step) {
        a->fixed = DWARF_NOT_FIXED;
        if (fixed > 0 && !push_step(r, fixed, 0))
            return "no memory for an abbreviation table";
    }
    a->step_count = (uint32_t)(r->step_count - a->first_step);
    if (a->tag == DW_TAG_inlined_subroutine)
        a->role = DWARF_ROLE_INLINE;
    else if (a->tag == DW_TAG_subprogram)
        a->role = has_code ? DWARF_ROLE_FUNCTION : DWARF_ROLE_DECLARATION;
    return NULL;
}

static const char *read_table(struct reading *r, struct cursor *c)
{
    struct dwarf_abbrevs *t = r->table;
    /* Some writers leave out the end mark of the last table. */
    while (cursor_left(c) > 0) {
        struct dwarf_abbrev a = {0};
        a.code = cursor_uleb(c);
        if (a.code == 0 && !c->overrun)
            return NULL;
        uint64_t tag = cursor_uleb(c);
        a.tag = tag <= UINT16_MAX ? (uint16_t)tag : 0;
        a.children = cursor_u8(c) != 0;
        const char *damage = read_specs(r, c, &a);
        if (damage)
            return damage;
        void *p = vec_grown(t->list, &r->abbrev_cap, t->count + 1, sizeof(a));
        if (!p)
            return "no memory for an abbreviation table";
        t->list = p;
        t->list[t->count++] = a;
    }
    return NULL;
}

/* By code; equal ones in the order of the table, which is that of their attributes. */
static int compare_codes(const void *a, const void *b)
{
    const struct dwarf_abbrev *x = a, *y = b;
    if (x->code != y->code)
        return x->code < y->code ? -1 : 1;
    return x->first_spec < y->first_spec ? -1 : x->first_spec > y->first_spec;
}

static void order_by_code(struct dwarf_abbrevs *t)
{
    bool ascending = true;
    for (size_t i = 1; i < t->count; i++)
        ascending = ascending && t->list[i - 1].code < t->list[i].code;
    if (!ascending)
        qsort(t->list, t->count, sizeof(t->list[0]), compare_codes);
    size_t kept = 0;
    for (size_t i = 0; i < t->count; i++) {
        if (kept == 0 || t->list[kept - 1].code != t->list[i].code)
            t->list[kept++] = t->list[i];
    }
    t->count = kept;
    /* Ascending and distinct: dense when the ends fit. */
    t->dense = kept > 0 && t->list[0].code == 1 && t->list[kept - 1].code == kept;
}

uint64_t dwarf_abbrevs_read(struct cursor c, const struct dwarf_sizes *sizes,
                            struct dwarf_abbrevs *ret)
{
    struct reading r = {.table = ret};
    memset(ret, 0, sizeof(*ret));
    ret->sizes = *sizes;
    const char *damage = read_table(&r, &c);
    uint64_t work = ret->count + r.spec_count;
    if (damage)
        dwarf_abbrevs_done(ret);
    else
        order_by_code(ret);
    ret->damage = damage;
    return work;
}

void dwarf_abbrevs_done(struct dwarf_abbrevs *a)
{
    if (!a)
        return;
    free(a->list);
    free(a->specs);
    free(a->steps);
    memset(a, 0, sizeof(*a));
}

const struct dwarf_abbrev *dwarf_abbrevs_search(const struct dwarf_abbrevs *a, uint64_t code)
{
    size_t lo = 0, hi = a->count;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (a->list[mid].code < code)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo < a->count && a->list[lo].code == code ? &a->list[lo] : NULL;
}

bool dwarf_abbrev_skip_steps(const struct dwarf_abbrevs *a, const struct dwarf_abbrev *abbrev,
                             struct cursor *c, bool swap)
{
    const struct dwarf_step *step = a->steps + abbrev->first_step;
    const struct dwarf_step *end = step + abbrev->step_count;
    for (; step < end; step++) {
        if (!cursor_skip(c, step->fixed))
            return false;
        /* The last step may be a fixed tail alone. */
        if (step->form == 0)
            return true;
        if (!dwarf_form_skip(c, step->form, &a->sizes, swap))
            return false;
    }
    return true;
}
