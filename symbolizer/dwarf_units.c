#include "symbolizer/dwarf_units.h"

#include <stdlib.h>
#include <string.h>

#include "base/vec.h"

enum {
    DW_UT_compile = 0x01,
    DW_UT_type = 0x02,
    DW_UT_partial = 0x03,
    DW_UT_skeleton = 0x04,
    DW_UT_split_compile = 0x05,
    DW_UT_split_type = 0x06,
};

#define WORK_PER_ATTRIBUTE 16 /* of a table */

static const char *const text_past_end = "unit runs past .debug_info";
static const char *const text_work = "too much work";

/* The part of a header behind the length. */
static void read_header(const struct dwarf *d, struct cursor *c, struct dwarf_unit *u)
{
    u->version = cursor_u16(c, d->swap);
    if (c->overrun) {
        u->damage = text_past_end;
        return;
    }
    if (u->version < 2 || u->version > 5) {
        u->damage = "unit has a DWARF version that does not exist";
        return;
    }
    if (u->version >= 5) {
        u->type = cursor_u8(c);
        u->sizes.address = cursor_u8(c);
        u->abbrev_offset = dwarf_read_uint(c, u->sizes.offset, d->swap);
    } else {
        u->abbrev_offset = dwarf_read_uint(c, u->sizes.offset, d->swap);
        u->sizes.address = cursor_u8(c);
    }
    if (u->type == DW_UT_skeleton || u->type == DW_UT_split_compile)
        cursor_skip(c, 8);
    if (dwarf_unit_is_type(u))
        cursor_skip(c, (uint64_t)8 + u->sizes.offset);
    u->sizes.ref_addr = u->version == 2 ? u->sizes.address : u->sizes.offset;
    u->dies = (uint64_t)(c->p - d->info.p);
    if (c->overrun)
        u->damage = text_past_end;
    else if (u->sizes.address != 4 && u->sizes.address != 8)
        u->damage = "unit has an address size we cannot read";
}

/* False at the end, and where what follows is no unit. */
static bool next_unit(struct dwarf *d, struct cursor *c, struct dwarf_unit *ret)
{
    struct dwarf_unit u = {0};
    if (cursor_left(c) == 0)
        return false;
    u.offset = (uint64_t)(c->p - d->info.p);
    u.sizes.offset = 4;
    uint64_t length = cursor_u32(c, d->swap);
    if (length == 0xffffffff) {
        u.sizes.offset = 8;
        length = cursor_u64(c, d->swap);
    } else if (length >= 0xfffffff0) {
        d->damage = "unit has a reserved length";
        return false;
    }
    if (c->overrun || length == 0) {
        d->damage = "unit has no length";
        return false;
    }
    struct cursor body = *c;
    if (!cursor_skip(c, length)) {
        d->damage = text_past_end;
        return false;
    }
    body.end = c->p;
    u.end = (uint64_t)(c->p - d->info.p);
    read_header(d, &body, &u);
    *ret = u;
    return true;
}

static enum err find_units(struct dwarf *d, struct error *err)
{
    struct cursor c = d->info;
    struct dwarf_unit u;
    size_t cap = 0;
    while (next_unit(d, &c, &u)) {
        if (d->unit_count >= DWARF_UNITS_MAX)
            return error_set(err, ERR_LIMIT, ".debug_info has more than %zu units",
                             DWARF_UNITS_MAX);
        void *p = vec_grown(d->units, &cap, d->unit_count + 1, sizeof(u));
        if (!p)
            return error_set(err, ERR_NO_MEMORY, "no memory for DWARF units");
        d->units = p;
        d->units[d->unit_count++] = u;
    }
    return ERR_OK;
}

/* --- abbreviation tables ----------------------------------------------------------------------- */

static uint64_t sizes_key(const struct dwarf_unit *u)
{
    return (uint64_t)u->sizes.address << 16 | (uint64_t)u->sizes.offset << 8 | u->sizes.ref_addr;
}

/* Sorting pointers to units finds which tables there are, each with the sizes it is used with. */
static int compare_tables(const void *a, const void *b)
{
    const struct dwarf_unit *x = *(struct dwarf_unit *const *)a;
    const struct dwarf_unit *y = *(struct dwarf_unit *const *)b;
    if (x->abbrev_offset != y->abbrev_offset)
        return x->abbrev_offset < y->abbrev_offset ? -1 : 1;
    uint64_t kx = sizes_key(x), ky = sizes_key(y);
    if (kx != ky)
        return kx < ky ? -1 : 1;
    return x->offset < y->offset ? -1 : x->offset > y->offset;
}

struct table_job {
    struct dwarf *d;
    struct dwarf_unit **firsts; /* for each table, one unit that uses it */
};

static void read_table(void *ctx, size_t i, size_t worker)
{
    (void)worker;
    struct table_job *job = ctx;
    struct dwarf *d = job->d;
    struct cursor c = d->abbrev;
    struct dwarf_abbrevs *table = &d->tables[i];
    memset(table, 0, sizeof(*table));
    /* Tables that overlap could be read again and again: the work is counted. */
    if (dwarf_exhausted(d)) {
        table->damage = text_work;
        return;
    }
    if (!cursor_skip(&c, job->firsts[i]->abbrev_offset) || cursor_left(&c) == 0) {
        table->damage = "unit points outside .debug_abbrev";
        return;
    }
    dwarf_spend(d, dwarf_abbrevs_read(c, &job->firsts[i]->sizes, table) * WORK_PER_ATTRIBUTE);
}

static enum err read_tables(struct dwarf *d, const struct parallel_for *parallel, struct error *err)
{
    enum err code = ERR_OK;
    size_t readable = 0, tables = 0;
    struct dwarf_unit **order = calloc(d->unit_count + 1, sizeof(struct dwarf_unit *));
    struct table_job job = {d, calloc(d->unit_count + 1, sizeof(struct dwarf_unit *))};
    if (!order || !job.firsts) {
        code = error_set(err, ERR_NO_MEMORY, "no memory for DWARF units");
        goto out;
    }
    for (size_t i = 0; i < d->unit_count; i++) {
        if (!d->units[i].damage)
            order[readable++] = &d->units[i];
    }
    qsort(order, readable, sizeof(struct dwarf_unit *), compare_tables);
    for (size_t i = 0; i < readable; i++) {
        if (i == 0 || order[i]->abbrev_offset != order[i - 1]->abbrev_offset ||
            sizes_key(order[i]) != sizes_key(order[i - 1]))
            job.firsts[tables++] = order[i];
    }
    d->tables = calloc(tables + 1, sizeof(struct dwarf_abbrevs));
    if (!d->tables) {
        code = error_set(err, ERR_NO_MEMORY, "no memory for abbreviation tables");
        goto out;
    }
    d->table_count = tables;
    parallel_run(parallel, tables, read_table, &job);
    for (size_t i = 0, t = 0; i < readable; i++) {
        while (t + 1 < tables && compare_tables(&job.firsts[t + 1], &order[i]) <= 0)
            t++;
        order[i]->abbrevs = &d->tables[t];
        order[i]->damage = d->tables[t].damage;
    }
out:
    free(order);
    free(job.firsts);
    return code;
}

/* --- the unit's own DIE ------------------------------------------------------------------------ */

static void take_base(struct dwarf_unit *u, uint16_t attribute, uint64_t v)
{
    switch (attribute) {
    case DW_AT_str_offsets_base:
        u->str_offsets_base = v;
        break;
    case DW_AT_addr_base:
        u->addr_base = v;
        break;
    case DW_AT_rnglists_base:
        u->rnglists_base = v;
        break;
    default:
        break;
    }
}

static void take_attribute(struct dwarf_unit *u, uint16_t attribute, const struct dwarf_value *v)
{
    switch (attribute) {
    case DW_AT_name:
        u->name = v->text;
        break;
    case DW_AT_comp_dir:
        u->comp_dir = v->text;
        break;
    case DW_AT_stmt_list:
        /* DWARF 2 and 3 have no class of offsets: a plain number it is there. */
        if (v->class == DWARF_CLASS_OFFSET || v->class == DWARF_CLASS_CONSTANT) {
            u->stmt_list = v->number;
            u->has_lines = true;
        }
        break;
    case DW_AT_low_pc:
        if (v->class == DWARF_CLASS_ADDRESS)
            u->low_pc = v->number;
        break;
    case DW_AT_language:
        if (v->class == DWARF_CLASS_CONSTANT && v->number <= UINT16_MAX)
            u->language = (uint16_t)v->number;
        break;
    default:
        break;
    }
}

/* Twice over the attributes: the bases first, whatever stands before them. */
static void read_unit_die(void *ctx, size_t i, size_t worker)
{
    (void)worker;
    struct dwarf *d = ctx;
    struct dwarf_unit *u = &d->units[i];
    if (u->damage)
        return;
    if (dwarf_exhausted(d)) {
        u->damage = text_work;
        return;
    }
    uint64_t header = u->sizes.offset == 8 ? 16 : 8;
    u->str_offsets_base = header;
    u->addr_base = header;
    u->rnglists_base = header + 4;
    for (int pass = 0; pass < 2; pass++) {
        struct cursor c = dwarf_unit_cursor(d, u, u->dies);
        uint64_t code = cursor_uleb(&c);
        if (code == 0)
            return; /* dsymutil leaves units of which nothing was kept: no DIE at all */
        const struct dwarf_abbrev *a = dwarf_abbrevs_find(u->abbrevs, code);
        if (!a) {
            u->damage = "unit begins with an unknown abbreviation";
            return;
        }
        const struct dwarf_spec *spec = dwarf_abbrev_specs(u->abbrevs, a);
        dwarf_spend(d, a->spec_count);
        for (uint32_t k = 0; k < a->spec_count; k++, spec++) {
            struct dwarf_value v;
            if (!dwarf_form_read(&c, spec->form, spec->implicit, d, u, &v)) {
                u->damage = "unit's own DIE cannot be read";
                return;
            }
            if (pass == 0 && (v.class == DWARF_CLASS_OFFSET || v.class == DWARF_CLASS_CONSTANT))
                take_base(u, spec->attribute, v.number);
            else if (pass == 1)
                take_attribute(u, spec->attribute, &v);
        }
    }
    u->comp_dir = symbol_map_name(d->map, u->comp_dir);
}

/* --- opening ----------------------------------------------------------------------------------- */

static void take_sections(struct dwarf *d, const struct object *o)
{
    const struct {
        const char *name;
        struct cursor *section;
    } sections[] = {
        {".debug_info", &d->info},         {".debug_abbrev", &d->abbrev},
        {".debug_line", &d->line},         {".debug_line_str", &d->line_str},
        {".debug_str", &d->str},           {".debug_str_offsets", &d->str_offsets},
        {".debug_addr", &d->addr},         {".debug_ranges", &d->ranges},
        {".debug_rnglists", &d->rnglists},
    };
    uint64_t bytes = 0;
    for (size_t i = 0; i < sizeof(sections) / sizeof(sections[0]); i++) {
        if (!object_section(o, sections[i].name, sections[i].section))
            *sections[i].section = cursor_of("", 0);
        bytes += cursor_left(sections[i].section);
    }
    d->work_limit = bytes * DWARF_WORK_PER_BYTE;
    if (d->work_limit < DWARF_WORK_MIN)
        d->work_limit = DWARF_WORK_MIN;
}

enum err dwarf_open(const struct object *o, const struct parallel_for *parallel, struct dwarf **ret,
                    struct error *err)
{
    struct dwarf *d = calloc(1, sizeof(*d));
    if (!d)
        return error_set(err, ERR_NO_MEMORY, "no memory for DWARF");
    const struct object_info *info = object_info(o);
    d->swap = info->swap;
    d->thumb = info->thumb;
    d->address_size = info->address_size;
    d->map = object_symbol_map(o);
    d->code = object_code(o, &d->code_count);
    take_sections(d, o);
    enum err code = ERR_OK;
    if (cursor_left(&d->info) == 0) {
        code = error_set(err, ERR_NOT_FOUND, "no .debug_info");
        goto out;
    }
    code = find_units(d, err);
    if (code)
        goto out;
    code = read_tables(d, parallel, err);
    if (code)
        goto out;
    parallel_run(parallel, d->unit_count, read_unit_die, d);
out:
    if (code)
        dwarf_close(d);
    else
        *ret = d;
    return code;
}

void dwarf_close(struct dwarf *d)
{
    if (!d)
        return;
    for (size_t i = 0; i < d->table_count; i++)
        dwarf_abbrevs_done(&d->tables[i]);
    free(d->tables);
    free(d->units);
    free(d);
}

const struct dwarf_unit *dwarf_unit_of(const struct dwarf *d, uint64_t offset)
{
    size_t lo = 0, hi = d->unit_count;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (d->units[mid].end <= offset)
            lo = mid + 1;
        else
            hi = mid;
    }
    if (lo == d->unit_count)
        return NULL;
    const struct dwarf_unit *u = &d->units[lo];
    return !u->damage && offset >= u->dies && offset < u->end ? u : NULL;
}

struct cursor dwarf_unit_cursor(const struct dwarf *d, const struct dwarf_unit *u, uint64_t offset)
{
    struct cursor c;
    if (offset < u->dies || offset > u->end ||
        !bytes_slice(d->info.p, cursor_left(&d->info), offset, u->end - offset, &c))
        c = cursor_of("", 0);
    return c;
}

bool dwarf_unit_is_type(const struct dwarf_unit *u)
{
    return u->type == DW_UT_type || u->type == DW_UT_split_type;
}

bool dwarf_unit_has_scopes(const struct dwarf_unit *u)
{
    /* DWARF 5 section 7.12 and, for the last two, dwarfstd.org/languages.html. */
    static const uint16_t languages[] = {
        0x04, 0x11,       /* C++, Objective-C++ */
        0x13, 0x1c, 0x1e, /* D, Rust, Swift */
        0x19, 0x1a, 0x21, /* C++03, 11, 14 */
        0x2a, 0x2b,       /* C++17, 20 */
    };
    for (size_t i = 0; i < sizeof(languages) / sizeof(languages[0]); i++) {
        if (u->language == languages[i])
            return true;
    }
    return false;
}

const struct object_range *dwarf_code_at(const struct dwarf *d, uint64_t address)
{
    static const struct object_range anywhere = {1, UINT64_MAX - 1}, low = {1, UINT32_MAX - 1};
    if (d->code_count == 0) {
        const struct object_range *r = d->address_size == 4 ? &low : &anywhere;
        return address >= r->start && address < r->end ? r : NULL;
    }
    size_t lo = 0, hi = d->code_count;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (d->code[mid].end <= address)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo < d->code_count && d->code[lo].start <= address ? &d->code[lo] : NULL;
}

bool dwarf_spend(struct dwarf *d, uint64_t work)
{
    return atomic_fetch_add_explicit(&d->spent, work, memory_order_relaxed) + work <= d->work_limit;
}

bool dwarf_exhausted(struct dwarf *d)
{
    return atomic_load_explicit(&d->spent, memory_order_relaxed) > d->work_limit;
}
