#include "symbolizer/dwarf_form.h"

#include <string.h>

#include "symbolizer/dwarf_units.h"

struct form {
    uint8_t shape;
    uint8_t bytes;
    uint8_t meaning;
};

static const struct form forms[] = {
    [0x01] = {FORM_ADDRESS, 0, MEANS_ADDRESS},      /* addr */
    [0x03] = {FORM_BLOCK2, 0, MEANS_NOTHING},       /* block2 */
    [0x04] = {FORM_BLOCK4, 0, MEANS_NOTHING},       /* block4 */
    [0x05] = {FORM_FIXED, 2, MEANS_CONSTANT},       /* data2 */
    [0x06] = {FORM_FIXED, 4, MEANS_CONSTANT},       /* data4 */
    [0x07] = {FORM_FIXED, 8, MEANS_CONSTANT},       /* data8 */
    [0x08] = {FORM_STRING, 0, MEANS_NOTHING},       /* string */
    [0x09] = {FORM_BLOCK, 0, MEANS_NOTHING},        /* block */
    [0x0a] = {FORM_BLOCK1, 0, MEANS_NOTHING},       /* block1 */
    [0x0b] = {FORM_FIXED, 1, MEANS_CONSTANT},       /* data1 */
    [0x0c] = {FORM_FIXED, 1, MEANS_FLAG},           /* flag */
    [0x0d] = {FORM_LEB, 0, MEANS_SIGNED},           /* sdata */
    [0x0e] = {FORM_OFFSET, 0, MEANS_STR},           /* strp */
    [0x0f] = {FORM_LEB, 0, MEANS_CONSTANT},         /* udata */
    [0x10] = {FORM_REF_ADDR, 0, MEANS_REFERENCE},   /* ref_addr */
    [0x11] = {FORM_FIXED, 1, MEANS_UNIT_REFERENCE}, /* ref1 */
    [0x12] = {FORM_FIXED, 2, MEANS_UNIT_REFERENCE}, /* ref2 */
    [0x13] = {FORM_FIXED, 4, MEANS_UNIT_REFERENCE}, /* ref4 */
    [0x14] = {FORM_FIXED, 8, MEANS_UNIT_REFERENCE}, /* ref8 */
    [0x15] = {FORM_LEB, 0, MEANS_UNIT_REFERENCE},   /* ref_udata */
    [0x16] = {FORM_INDIRECT, 0, MEANS_NOTHING},     /* indirect */
    [0x17] = {FORM_OFFSET, 0, MEANS_OFFSET},        /* sec_offset */
    [0x18] = {FORM_BLOCK, 0, MEANS_NOTHING},        /* exprloc */
    [0x19] = {FORM_FIXED, 0, MEANS_PRESENT},        /* flag_present */
    [0x1a] = {FORM_LEB, 0, MEANS_STR_INDEX},        /* strx */
    [0x1b] = {FORM_LEB, 0, MEANS_ADDRESS_INDEX},    /* addrx */
    [0x1c] = {FORM_FIXED, 4, MEANS_NOTHING},        /* ref_sup4 */
    [0x1d] = {FORM_OFFSET, 0, MEANS_NOTHING},       /* strp_sup */
    [0x1e] = {FORM_FIXED, 16, MEANS_NOTHING},       /* data16 */
    [0x1f] = {FORM_OFFSET, 0, MEANS_LINE_STR},      /* line_strp */
    [0x20] = {FORM_FIXED, 8, MEANS_NOTHING},        /* ref_sig8 */
    [0x21] = {FORM_FIXED, 0, MEANS_IMPLICIT},       /* implicit_const */
    [0x22] = {FORM_LEB, 0, MEANS_INDEX},            /* loclistx */
    [0x23] = {FORM_LEB, 0, MEANS_INDEX},            /* rnglistx */
    [0x24] = {FORM_FIXED, 8, MEANS_NOTHING},        /* ref_sup8 */
    [0x25] = {FORM_FIXED, 1, MEANS_STR_INDEX},      /* strx1 */
    [0x26] = {FORM_FIXED, 2, MEANS_STR_INDEX},      /* strx2 */
    [0x27] = {FORM_FIXED, 3, MEANS_STR_INDEX},      /* strx3 */
    [0x28] = {FORM_FIXED, 4, MEANS_STR_INDEX},      /* strx4 */
    [0x29] = {FORM_FIXED, 1, MEANS_ADDRESS_INDEX},  /* addrx1 */
    [0x2a] = {FORM_FIXED, 2, MEANS_ADDRESS_INDEX},  /* addrx2 */
    [0x2b] = {FORM_FIXED, 3, MEANS_ADDRESS_INDEX},  /* addrx3 */
    [0x2c] = {FORM_FIXED, 4, MEANS_ADDRESS_INDEX},  /* addrx4 */
};

static const struct form gnu_forms[] = {
    {FORM_LEB, 0, MEANS_NOTHING},    /* 0x1f01 GNU_addr_index: split files only */
    {FORM_LEB, 0, MEANS_NOTHING},    /* 0x1f02 GNU_str_index */
    {FORM_OFFSET, 0, MEANS_NOTHING}, /* 0x1f20 GNU_ref_alt */
    {FORM_OFFSET, 0, MEANS_NOTHING}, /* 0x1f21 GNU_strp_alt */
};

static struct form form_of(uint64_t form)
{
    static const struct form unknown = {FORM_UNKNOWN, 0, MEANS_NOTHING};
    if (form < sizeof(forms) / sizeof(forms[0]))
        return forms[form];
    switch (form) {
    case 0x1f01:
        return gnu_forms[0];
    case 0x1f02:
        return gnu_forms[1];
    case 0x1f20:
        return gnu_forms[2];
    case 0x1f21:
        return gnu_forms[3];
    default:
        return unknown;
    }
}

enum dwarf_form_shape dwarf_form_shape(uint64_t form, uint8_t *ret_bytes)
{
    struct form f = form_of(form);
    *ret_bytes = f.bytes;
    return f.shape;
}

static int fixed_bytes(const struct form *f, const struct dwarf_sizes *sizes)
{
    switch ((enum dwarf_form_shape)f->shape) {
    case FORM_FIXED:
        return f->bytes;
    case FORM_ADDRESS:
        return sizes->address;
    case FORM_OFFSET:
        return sizes->offset;
    case FORM_REF_ADDR:
        return sizes->ref_addr;
    case FORM_UNKNOWN:
    case FORM_LEB:
    case FORM_BLOCK1:
    case FORM_BLOCK2:
    case FORM_BLOCK4:
    case FORM_BLOCK:
    case FORM_STRING:
    case FORM_INDIRECT:
        break;
    }
    return -1;
}

enum dwarf_meaning dwarf_form_meaning(uint64_t form)
{
    return (enum dwarf_meaning)form_of(form).meaning;
}

int dwarf_form_fixed(uint64_t form, const struct dwarf_sizes *sizes)
{
    struct form f = form_of(form);
    return fixed_bytes(&f, sizes);
}

/* DW_FORM_indirect names the form in the value; a second one behind it is nobody's file. */
static uint64_t indirect_form(struct cursor *c)
{
    uint64_t form = cursor_uleb(c);
    return form == 0x16 || form == DW_FORM_implicit_const ? 0 : form;
}

bool dwarf_form_skip(struct cursor *c, uint64_t form, const struct dwarf_sizes *sizes, bool swap)
{
    struct form f = form_of(form);
    if (f.shape == FORM_INDIRECT)
        f = form_of(indirect_form(c));
    int fixed = fixed_bytes(&f, sizes);
    if (fixed >= 0)
        return cursor_skip(c, (uint64_t)fixed);
    switch ((enum dwarf_form_shape)f.shape) {
    case FORM_LEB:
        cursor_uleb(c);
        return !c->overrun;
    case FORM_BLOCK1:
        return cursor_skip(c, cursor_u8(c)) && !c->overrun;
    case FORM_BLOCK2:
        return cursor_skip(c, cursor_u16(c, swap)) && !c->overrun;
    case FORM_BLOCK4:
        return cursor_skip(c, cursor_u32(c, swap)) && !c->overrun;
    case FORM_BLOCK:
        return cursor_skip(c, cursor_uleb(c)) && !c->overrun;
    case FORM_STRING:
        return cursor_cstr(c) != NULL;
    case FORM_UNKNOWN:
    case FORM_INDIRECT:
    case FORM_FIXED:
    case FORM_ADDRESS:
    case FORM_OFFSET:
    case FORM_REF_ADDR:
        break;
    }
    return false;
}

uint64_t dwarf_read_uint(struct cursor *c, unsigned bytes, bool swap)
{
    switch (bytes) {
    case 1:
        return cursor_u8(c);
    case 2:
        return cursor_u16(c, swap);
    case 4:
        return cursor_u32(c, swap);
    case 8:
        return cursor_u64(c, swap);
    default:
        break;
    }
    uint64_t v = 0;
    const uint8_t *p = cursor_take(c, bytes);
    for (unsigned i = 0; p && i < bytes && i < 8; i++)
        v |= (uint64_t)p[swap ? bytes - 1 - i : i] << (8 * i);
    return v;
}

const char *dwarf_text_at(const struct cursor *section, uint64_t offset)
{
    if (offset >= cursor_left(section))
        return NULL;
    /* A section that ends with a NUL ends every text in it: no need to look for this one's. */
    if (section->end[-1] == 0)
        return (const char *)section->p + offset;
    struct cursor c = *section;
    cursor_skip(&c, offset);
    return cursor_cstr(&c);
}

static const char *text_by_index(const struct dwarf *d, const struct dwarf_unit *u, uint64_t index)
{
    struct cursor c = d->str_offsets;
    uint64_t at;
    if (__builtin_mul_overflow(index, (uint64_t)u->sizes.offset, &at) ||
        __builtin_add_overflow(at, u->str_offsets_base, &at) || !cursor_skip(&c, at))
        return NULL;
    uint64_t offset = dwarf_read_uint(&c, u->sizes.offset, d->swap);
    return c.overrun ? NULL : dwarf_text_at(&d->str, offset);
}

bool dwarf_address_at(const struct dwarf *d, const struct dwarf_unit *u, uint64_t index,
                      uint64_t *ret)
{
    struct cursor c = d->addr;
    uint64_t at;
    if (__builtin_mul_overflow(index, (uint64_t)u->sizes.address, &at) ||
        __builtin_add_overflow(at, u->addr_base, &at) || !cursor_skip(&c, at))
        return false;
    uint64_t v = dwarf_read_uint(&c, u->sizes.address, d->swap);
    if (c.overrun)
        return false;
    *ret = v;
    return true;
}

void dwarf_form_give(enum dwarf_meaning meaning, uint64_t v, const struct dwarf *d,
                     const struct dwarf_unit *u, struct dwarf_value *ret)
{
    ret->number = v;
    switch (meaning) {
    case MEANS_ADDRESS:
        ret->class = DWARF_CLASS_ADDRESS;
        break;
    case MEANS_ADDRESS_INDEX:
        ret->class =
            dwarf_address_at(d, u, v, &ret->number) ? DWARF_CLASS_ADDRESS : DWARF_CLASS_NONE;
        break;
    case MEANS_CONSTANT:
    case MEANS_SIGNED:
    case MEANS_IMPLICIT:
        ret->class = DWARF_CLASS_CONSTANT;
        break;
    case MEANS_OFFSET:
        ret->class = DWARF_CLASS_OFFSET;
        break;
    case MEANS_INDEX:
        ret->class = DWARF_CLASS_INDEX;
        break;
    case MEANS_UNIT_REFERENCE:
        ret->class = DWARF_CLASS_REFERENCE;
        if (__builtin_add_overflow(v, u->offset, &ret->number) || ret->number >= u->end)
            ret->class = DWARF_CLASS_NONE;
        break;
    case MEANS_REFERENCE:
        ret->class = DWARF_CLASS_REFERENCE;
        break;
    case MEANS_STR:
        ret->class = DWARF_CLASS_TEXT;
        ret->text = dwarf_text_at(&d->str, v);
        break;
    case MEANS_LINE_STR:
        ret->class = DWARF_CLASS_TEXT;
        ret->text = dwarf_text_at(&d->line_str, v);
        break;
    case MEANS_STR_INDEX:
        ret->class = DWARF_CLASS_TEXT;
        ret->text = text_by_index(d, u, v);
        break;
    case MEANS_FLAG:
        ret->class = DWARF_CLASS_FLAG;
        break;
    case MEANS_PRESENT:
        ret->class = DWARF_CLASS_FLAG;
        ret->number = 1;
        break;
    case MEANS_NOTHING:
        ret->class = DWARF_CLASS_NONE;
        break;
    }
}

bool dwarf_form_read(struct cursor *c, uint64_t form, int64_t implicit, const struct dwarf *d,
                     const struct dwarf_unit *u, struct dwarf_value *ret)
{
    struct dwarf_value value = {DWARF_CLASS_NONE, 0, NULL};
    struct form f = form_of(form);
    if (f.shape == FORM_INDIRECT) {
        form = indirect_form(c);
        f = form_of(form);
    }
    *ret = value;
    if (f.shape == FORM_STRING) {
        ret->class = DWARF_CLASS_TEXT;
        ret->text = cursor_cstr(c);
        return ret->text != NULL;
    }
    if (f.meaning == MEANS_NOTHING)
        return dwarf_form_skip(c, form, &u->sizes, d->swap);
    uint64_t v;
    int fixed = fixed_bytes(&f, &u->sizes);
    if (f.meaning == MEANS_IMPLICIT)
        v = (uint64_t)implicit;
    else if (fixed >= 0)
        v = dwarf_read_uint(c, (unsigned)fixed, d->swap);
    else if (f.meaning == MEANS_SIGNED)
        v = (uint64_t)cursor_sleb(c);
    else
        v = cursor_uleb(c);
    if (c->overrun)
        return false;
    dwarf_form_give((enum dwarf_meaning)f.meaning, v, d, u, ret);
    return true;
}
