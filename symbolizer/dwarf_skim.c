#include "symbolizer/dwarf_skim.h"

#include <stdlib.h>
#include <string.h>

#include "base/vec.h"

#define ENTRIES_MAX ((size_t)UINT32_MAX - 1)

const char dwarf_skim_unknown_form[] = "a DIE has a form of unknown size";
static const char text_past_end[] = "a DIE runs past its unit";

/* A function or inlined call whose children are being read. */
struct open_entry {
    int64_t depth;
    uint32_t entry; /* DWARF_NO_PARENT: a function without code, nothing below counts */
};

void dwarf_skim_done(struct dwarf_skim *s)
{
    free(s->entries);
    memset(s, 0, sizeof(*s));
}

static uint32_t clamp32(uint64_t v)
{
    return v > UINT32_MAX ? UINT32_MAX : (uint32_t)v;
}

static void take_high(const struct dwarf_value *v, struct dwarf_entry *e)
{
    e->high = v->number;
    if (v->class == DWARF_CLASS_ADDRESS)
        e->high_form = DWARF_HIGH_ADDRESS;
    else if (v->class == DWARF_CLASS_CONSTANT)
        e->high_form = DWARF_HIGH_OFFSET;
}

static void take_ranges(const struct dwarf_value *v, struct dwarf_entry *e)
{
    e->ranges = v->number;
    if (v->class == DWARF_CLASS_INDEX)
        e->ranges_form = DWARF_RANGES_INDEX;
    else if (v->class == DWARF_CLASS_OFFSET || v->class == DWARF_CLASS_CONSTANT)
        e->ranges_form = DWARF_RANGES_OFFSET;
}

static void take_attribute(uint16_t attribute, const struct dwarf_value *v, struct dwarf_entry *e)
{
    switch (attribute) {
    case DW_AT_name:
        e->name = v->text && *v->text ? v->text : NULL;
        break;
    case DW_AT_linkage_name:
    case DW_AT_MIPS_linkage_name:
        /* An empty one is none: the plain name counts. */
        if (v->text && *v->text)
            e->linkage = v->text;
        break;
    case DW_AT_low_pc:
        e->has_low = v->class == DWARF_CLASS_ADDRESS;
        e->low = v->number;
        break;
    case DW_AT_high_pc:
        take_high(v, e);
        break;
    case DW_AT_ranges:
        take_ranges(v, e);
        break;
    case DW_AT_abstract_origin:
        if (v->class == DWARF_CLASS_REFERENCE)
            e->origin = v->number;
        break;
    case DW_AT_specification:
        if (v->class == DWARF_CLASS_REFERENCE && !e->origin)
            e->origin = v->number;
        break;
    case DW_AT_external:
        e->external = v->class == DWARF_CLASS_FLAG && v->number != 0;
        break;
    case DW_AT_call_line:
        if (v->class == DWARF_CLASS_CONSTANT)
            e->call_line = clamp32(v->number);
        break;
    case DW_AT_call_file:
        if (v->class == DWARF_CLASS_CONSTANT) {
            e->call_file = clamp32(v->number);
            e->has_call_file = true;
        }
        break;
    default:
        break;
    }
}

/* Nearly all values have a size that the abbreviation tells. */
static inline bool read_value(const struct dwarf *d, const struct dwarf_unit *u,
                              const struct dwarf_spec *spec, struct cursor *c,
                              struct dwarf_value *ret)
{
    uint64_t number;
    switch (spec->bytes) {
    case 0:
        number = (uint64_t)spec->implicit;
        break;
    case 1:
        number = cursor_u8(c);
        break;
    case 2:
        number = cursor_u16(c, d->swap);
        break;
    case 4:
        number = cursor_u32(c, d->swap);
        break;
    case 8:
        number = cursor_u64(c, d->swap);
        break;
    default:
        return dwarf_form_read(c, spec->form, spec->implicit, d, u, ret);
    }
    ret->text = NULL;
    dwarf_form_give((enum dwarf_meaning)spec->meaning, number, d, u, ret);
    return !c->overrun;
}

bool dwarf_entry_read(const struct dwarf *d, const struct dwarf_unit *u,
                      const struct dwarf_abbrev *a, struct cursor *c, struct dwarf_entry *ret)
{
    const struct dwarf_spec *spec = dwarf_abbrev_specs(u->abbrevs, a);
    for (uint32_t i = 0; i < a->spec_count; i++, spec++) {
        struct dwarf_value v;
        if (spec->wanted) {
            if (!read_value(d, u, spec, c, &v))
                return false;
            take_attribute(spec->attribute, &v, ret);
        } else if (spec->bytes >= 0 ? !cursor_skip(c, (uint64_t)spec->bytes)
                                    : !dwarf_form_skip(c, spec->form, &u->sizes, d->swap)) {
            return false;
        }
    }
    return true;
}

static bool has_code(const struct dwarf_entry *e)
{
    return e->has_low || e->ranges_form != DWARF_RANGES_NONE;
}

/* What is open while a unit is read. */
struct skimming {
    const struct dwarf *d;
    const struct dwarf_unit *u;
    struct dwarf_skim *s;
    size_t open_count;
    struct open_entry open[DWARF_SKIM_DEPTH_MAX];
};

static const char *push_open(struct skimming *k, int64_t depth, uint32_t entry)
{
    if (k->open_count == DWARF_SKIM_DEPTH_MAX)
        return "functions are nested too deeply";
    k->open[k->open_count++] = (struct open_entry){depth, entry};
    return NULL;
}

/* A DIE that may matter, its code being read. */
static const char *take_die(struct skimming *k, const struct dwarf_abbrev *a, uint64_t offset,
                            struct cursor *c, int64_t depth)
{
    struct dwarf_skim *s = k->s;
    bool inlined = a->role == DWARF_ROLE_INLINE;
    uint32_t parent = k->open_count ? k->open[k->open_count - 1].entry : DWARF_NO_PARENT;
    if (inlined ? parent == DWARF_NO_PARENT : a->role == DWARF_ROLE_DECLARATION) {
        if (!dwarf_abbrev_skip(k->u->abbrevs, a, c, k->d->swap))
            return c->overrun ? text_past_end : dwarf_skim_unknown_form;
        /* A declaration matters only as a wall inside a function that has code. */
        return !inlined && a->children && k->open_count ? push_open(k, depth, DWARF_NO_PARENT)
                                                        : NULL;
    }
    void *p = vec_grown(s->entries, &s->cap, s->count + 1, sizeof(s->entries[0]));
    if (!p || s->count >= ENTRIES_MAX)
        return "no memory for entries";
    s->entries = p;
    struct dwarf_entry *e = &s->entries[s->count];
    memset(e, 0, sizeof(*e));
    e->offset = offset;
    e->inlined = inlined;
    e->parent = inlined ? parent : DWARF_NO_PARENT;
    s->work += a->spec_count; /* more than bytes: some forms have none */
    if (s->work > k->d->work_limit)
        return "DIEs cost too much work";
    if (!dwarf_entry_read(k->d, k->u, a, c, e))
        return c->overrun ? text_past_end : dwarf_skim_unknown_form;
    uint32_t index = DWARF_NO_PARENT;
    if (inlined || has_code(e))
        index = (uint32_t)s->count++;
    return a->children ? push_open(k, depth, index) : NULL;
}

/* A DIE that is not stepped over in one add, its code being read. */
static const char *take_other(struct skimming *k, const struct dwarf_abbrev *a, uint64_t offset,
                              struct cursor *c, int64_t depth)
{
    if (a->role != DWARF_ROLE_OTHER)
        return take_die(k, a, offset, c, depth);
    if (dwarf_abbrev_skip(k->u->abbrevs, a, c, k->d->swap))
        return NULL;
    return c->overrun ? text_past_end : dwarf_skim_unknown_form;
}

/* The end of a list of children. False: it was the unit's. */
static inline bool close_list(struct skimming *k, int64_t *depth)
{
    --*depth;
    if (k->open_count && k->open[k->open_count - 1].depth == *depth)
        k->open_count--;
    return *depth > 0;
}

/* `p` is where the cursor stands, kept apart from it: the loop goes over millions of DIEs. */
static const char *skim(struct skimming *k)
{
    const struct dwarf_abbrevs *abbrevs = k->u->abbrevs;
    const uint8_t *base = k->d->info.p;
    struct cursor c = dwarf_unit_cursor(k->d, k->u, k->u->dies);
    const uint8_t *p = c.p;
    const uint8_t *const end = c.end;
    int64_t depth = 0;
    while (p < end) {
        const uint8_t *die = p;
        uint64_t code = *p++;
        if (code >= 0x80) {
            c.p = die;
            code = cursor_uleb(&c);
            p = c.p;
        }
        if (code == 0) {
            if (!close_list(k, &depth))
                break;
            continue;
        }
        const struct dwarf_abbrev *a = dwarf_abbrevs_find(abbrevs, code);
        if (!a)
            return "a DIE has an unknown abbreviation";
        if (a->role == DWARF_ROLE_OTHER && a->fixed != DWARF_NOT_FIXED &&
            a->fixed <= (size_t)(end - p)) {
            p += a->fixed;
        } else {
            c.p = p;
            const char *damage = take_other(k, a, (uint64_t)(die - base), &c, depth);
            if (damage)
                return damage;
            p = c.p;
        }
        if (a->children)
            depth++;
        else if (depth == 0)
            break;
    }
    return c.overrun ? text_past_end : NULL;
}

const char *dwarf_skim_unit(const struct dwarf *d, const struct dwarf_unit *u, struct dwarf_skim *s)
{
    s->count = 0;
    s->work = 0;
    if (u->damage)
        return u->damage;
    /* 16 kB: too much for a stack that a caller chose. */
    struct skimming *k = malloc(sizeof(*k));
    if (!k)
        return "no memory for entries";
    k->d = d;
    k->u = u;
    k->s = s;
    k->open_count = 0;
    const char *damage = skim(k);
    free(k);
    if (damage)
        s->count = 0;
    return damage;
}
