#include "symbolizer/dwarf_lines.h"

#include <stdlib.h>
#include <string.h>

#include "base/vec.h"

enum {
    DW_LNS_copy = 1,
    DW_LNS_advance_pc,
    DW_LNS_advance_line,
    DW_LNS_set_file,
    DW_LNS_set_column,
    DW_LNS_negate_stmt,
    DW_LNS_set_basic_block,
    DW_LNS_const_add_pc,
    DW_LNS_fixed_advance_pc,
    DW_LNS_set_prologue_end,
    DW_LNS_set_epilogue_begin,
    DW_LNS_set_isa,
};

enum {
    DW_LNE_end_sequence = 1,
    DW_LNE_set_address,
    DW_LNE_define_file,
};

enum { DW_LNCT_path = 1, DW_LNCT_directory_index = 2 };

#define WORK_PER_FILE 16 /* also of directories: what they take of memory */

static const char *const text_header = "line table header runs past its section";
static const char *const text_memory = "no memory for a line table";
static const char *const text_work = "line tables cost too much work";

struct header {
    uint16_t version;
    uint8_t min_inst_length;
    uint8_t max_ops;
    int8_t line_base;
    uint8_t line_range;
    uint8_t opcode_base;
    const uint8_t *opcode_lengths; /* of opcodes 1 to opcode_base - 1 */
    struct cursor program;
};

/* The registers of the line-number machine, and where its sequence began. */
struct machine {
    uint64_t address;
    uint64_t last; /* address of the row before, kept or not */
    uint32_t op_index;
    uint32_t file;
    uint32_t line;
    size_t first; /* first row of the sequence */
    bool backwards;
};

void dwarf_lines_done(struct dwarf_lines *l)
{
    free(l->rows);
    free(l->files);
    free(l->directories);
    free(l->sequences);
    memset(l, 0, sizeof(*l));
}

/* --- header ------------------------------------------------------------------------------------ */

static const char *push_directory(struct dwarf_lines *l, const char *name)
{
    if (l->directory_count >= DWARF_LINES_FILES_MAX)
        return "line table has too many directories";
    void *p = vec_grown(l->directories, &l->directory_cap, l->directory_count + 1, sizeof(char *));
    if (!p)
        return text_memory;
    l->directories = p;
    l->name_bytes += name ? strlen(name) : 0;
    l->directories[l->directory_count++] = name;
    return NULL;
}

static const char *push_file(struct dwarf_lines *l, const char *name, uint64_t directory)
{
    if (l->file_count >= DWARF_LINES_FILES_MAX)
        return "line table has too many files";
    void *p = vec_grown(l->files, &l->file_cap, l->file_count + 1, sizeof(l->files[0]));
    if (!p)
        return text_memory;
    l->files = p;
    l->name_bytes += name ? strlen(name) : 0;
    l->files[l->file_count++] =
        (struct dwarf_file){name, directory > UINT32_MAX ? UINT32_MAX : (uint32_t)directory};
    return NULL;
}

/* name, directory, time, size */
static const char *read_file_v2(struct cursor *c, struct dwarf_lines *l)
{
    const char *name = cursor_cstr(c);
    uint64_t directory = cursor_uleb(c);
    cursor_uleb(c);
    cursor_uleb(c);
    return c->overrun ? text_header : push_file(l, name, directory);
}

static const char *read_tables_v2(struct cursor *c, const struct dwarf_unit *u,
                                  struct dwarf_lines *l)
{
    const char *damage = push_directory(l, u->comp_dir);
    l->first_file = 1;
    while (!damage && cursor_left(c) > 0 && *c->p != 0) {
        const char *name = cursor_cstr(c);
        damage = name ? push_directory(l, name) : text_header;
    }
    cursor_skip(c, 1);
    while (!damage && cursor_left(c) > 0 && *c->p != 0)
        damage = read_file_v2(c, l);
    cursor_skip(c, 1);
    if (!damage && c->overrun)
        damage = text_header;
    return damage;
}

/* A list of DWARF 5: what each entry is made of, then the entries. */
static const char *read_list_v5(struct cursor *c, const struct dwarf *d, const struct dwarf_unit *u,
                                bool directories, struct dwarf_lines *l)
{
    struct {
        uint64_t content, form;
    } formats[UINT8_MAX];
    uint8_t format_count = cursor_u8(c);
    for (unsigned i = 0; i < format_count; i++) {
        formats[i].content = cursor_uleb(c);
        formats[i].form = cursor_uleb(c);
    }
    uint64_t count = cursor_uleb(c);
    if (c->overrun || (format_count == 0 && count > 0))
        return text_header;
    for (uint64_t i = 0; i < count; i++) {
        const char *name = NULL;
        uint64_t directory = 0;
        const uint8_t *before = c->p;
        for (unsigned k = 0; k < format_count; k++) {
            struct dwarf_value v;
            if (!dwarf_form_read(c, formats[k].form, 0, d, u, &v))
                return text_header;
            if (formats[k].content == DW_LNCT_path)
                name = v.text;
            else if (formats[k].content == DW_LNCT_directory_index)
                directory = v.number;
        }
        if (c->p == before)
            return "line table has entries without bytes";
        const char *damage = directories ? push_directory(l, name) : push_file(l, name, directory);
        if (damage)
            return damage;
    }
    return NULL;
}

static const char *read_header(struct dwarf *d, const struct dwarf_unit *u, struct dwarf_lines *l,
                               struct header *h)
{
    struct cursor c = d->line;
    struct dwarf_unit shape = *u; /* the table has sizes of its own */
    if (!cursor_skip(&c, u->stmt_list))
        return "unit points outside .debug_line";
    uint64_t length = cursor_u32(&c, d->swap);
    shape.sizes.offset = 4;
    if (length == 0xffffffff) {
        length = cursor_u64(&c, d->swap);
        shape.sizes.offset = 8;
    }
    if (c.overrun || length > cursor_left(&c))
        return "line table runs past .debug_line";
    c.end = c.p + length;
    h->version = cursor_u16(&c, d->swap);
    if (h->version < 2 || h->version > 5)
        return c.overrun ? text_header : "line table has a version that does not exist";
    if (h->version >= 5) {
        shape.sizes.address = cursor_u8(&c);
        cursor_skip(&c, 1); /* segment selectors */
    }
    uint64_t header_length = dwarf_read_uint(&c, shape.sizes.offset, d->swap);
    if (c.overrun || header_length > cursor_left(&c))
        return text_header;
    /* Any number of units may have the same table. */
    if (!dwarf_spend(d, header_length))
        return text_work;
    h->program = c;
    cursor_skip(&h->program, header_length);
    c.end = h->program.p;
    h->min_inst_length = cursor_u8(&c);
    h->max_ops = h->version >= 4 ? cursor_u8(&c) : 1;
    cursor_skip(&c, 1); /* default_is_stmt: rows count either way */
    h->line_base = (int8_t)cursor_u8(&c);
    h->line_range = cursor_u8(&c);
    h->opcode_base = cursor_u8(&c);
    if (c.overrun)
        return text_header;
    if (h->opcode_base == 0)
        return "line table has opcode_base 0";
    h->opcode_lengths = cursor_take(&c, (size_t)h->opcode_base - 1);
    if (c.overrun)
        return text_header;
    if (h->version < 5)
        return read_tables_v2(&c, u, l);
    l->first_file = 0;
    const char *damage = read_list_v5(&c, d, &shape, true, l);
    return damage ? damage : read_list_v5(&c, d, &shape, false, l);
}

/* --- program ----------------------------------------------------------------------------------- */

static void advance(const struct header *h, struct machine *m, uint64_t operations)
{
    uint64_t before = m->address;
    if (h->max_ops <= 1) {
        m->address += operations * h->min_inst_length;
    } else {
        uint64_t sum = m->op_index + operations;
        m->address += sum / h->max_ops * h->min_inst_length;
        m->op_index = (uint32_t)(sum % h->max_ops);
    }
    if (m->address < before)
        m->backwards = true;
}

static bool push_row(struct dwarf_lines *l, uint64_t address, uint32_t file, uint32_t line)
{
    if (l->row_count == l->row_cap) {
        void *p = vec_grown(l->rows, &l->row_cap, l->row_count + 1, sizeof(l->rows[0]));
        if (!p)
            return false;
        l->rows = p;
    }
    l->rows[l->row_count++] = (struct dwarf_row){address, file, line};
    return true;
}

static bool emit(struct machine *m, struct dwarf_lines *l)
{
    if (l->row_count > m->first) {
        struct dwarf_row *last = &l->rows[l->row_count - 1];
        if (m->address < m->last) {
            m->backwards = true;
            return true;
        }
        m->last = m->address;
        if (m->address == last->address) {
            last->file = m->file;
            last->line = m->line;
            return true;
        }
        if (m->file == last->file && m->line == last->line)
            return true;
    }
    m->last = m->address;
    return push_row(l, m->address, m->file, m->line);
}

static void reset(struct machine *m, size_t row_count)
{
    memset(m, 0, sizeof(*m));
    m->file = 1;
    m->line = 1;
    m->first = row_count;
}

static bool end_sequence(const struct dwarf *d, struct machine *m, struct dwarf_lines *l)
{
    size_t first = m->first;
    bool kept = !m->backwards && l->row_count > first && m->address >= m->last &&
                m->address > l->rows[first].address && dwarf_code_at(d, l->rows[first].address);
    if (!kept) {
        l->row_count = first;
        reset(m, first);
        return true;
    }
    if (l->rows[l->row_count - 1].address == m->address)
        l->row_count--;
    if (!push_row(l, m->address, DWARF_ROW_END, 0))
        return false;
    void *p =
        vec_grown(l->sequences, &l->sequence_cap, l->sequence_count + 1, sizeof(l->sequences[0]));
    if (!p)
        return false;
    l->sequences = p;
    l->sequences[l->sequence_count++] =
        (struct dwarf_sequence){l->rows[first].address, m->address, first, l->row_count};
    reset(m, l->row_count);
    return true;
}

/* NULL, or why the program cannot go on. */
static const char *extended(const struct dwarf *d, struct cursor *c, struct machine *m,
                            struct dwarf_lines *l)
{
    uint64_t length = cursor_uleb(c);
    if (c->overrun || length == 0 || length > cursor_left(c))
        return "line program runs past its table";
    struct cursor body = cursor_of(c->p, (size_t)length);
    cursor_skip(c, length);
    switch (cursor_u8(&body)) {
    case DW_LNE_end_sequence:
        return end_sequence(d, m, l) ? NULL : text_memory;
    case DW_LNE_set_address: {
        uint64_t address = dwarf_read_uint(&body, (unsigned)cursor_left(&body), d->swap);
        if (l->row_count > m->first && address < m->last)
            m->backwards = true;
        m->address = d->thumb ? address & ~(uint64_t)1 : address;
        m->op_index = 0;
        return NULL;
    }
    case DW_LNE_define_file:
        return read_file_v2(&body, l);
    default:
        return NULL;
    }
}

/* A standard opcode; one that is not known has as many operands as the header says. */
static const char *standard(const struct dwarf *d, const struct header *h, uint8_t opcode,
                            struct cursor *c, struct machine *m, struct dwarf_lines *l)
{
    switch (opcode) {
    case DW_LNS_copy:
        return emit(m, l) ? NULL : text_memory;
    case DW_LNS_advance_pc:
        advance(h, m, cursor_uleb(c));
        return NULL;
    case DW_LNS_advance_line:
        m->line += (uint32_t)cursor_sleb(c);
        return NULL;
    case DW_LNS_set_file: {
        uint64_t file = cursor_uleb(c);
        m->file = file < DWARF_ROW_END ? (uint32_t)file : DWARF_ROW_END - 1;
        return NULL;
    }
    case DW_LNS_set_column:
    case DW_LNS_set_isa:
        cursor_uleb(c);
        return NULL;
    case DW_LNS_negate_stmt:
    case DW_LNS_set_basic_block:
    case DW_LNS_set_prologue_end:
    case DW_LNS_set_epilogue_begin:
        return NULL;
    case DW_LNS_const_add_pc:
        if (h->line_range == 0)
            return "line table has line_range 0";
        advance(h, m, (uint64_t)(255 - h->opcode_base) / h->line_range);
        return NULL;
    case DW_LNS_fixed_advance_pc:
        m->address += cursor_u16(c, d->swap);
        m->op_index = 0;
        return NULL;
    default:
        for (unsigned i = 0; i < h->opcode_lengths[opcode - 1]; i++)
            cursor_uleb(c);
        return NULL;
    }
}

static const char *run_program(const struct dwarf *d, const struct header *h, struct dwarf_lines *l)
{
    const char *damage = NULL;
    struct cursor c = h->program;
    struct machine m;
    reset(&m, l->row_count);
    while (!damage && c.p < c.end) {
        uint8_t opcode = cursor_u8(&c);
        if (opcode >= h->opcode_base) {
            if (h->line_range == 0) {
                damage = "line table has line_range 0";
                break;
            }
            unsigned adjusted = (unsigned)opcode - h->opcode_base;
            advance(h, &m, adjusted / h->line_range);
            m.line += (uint32_t)(h->line_base + (int)(adjusted % h->line_range));
            if (!emit(&m, l))
                damage = text_memory;
        } else if (opcode == 0) {
            damage = extended(d, &c, &m, l);
        } else {
            damage = standard(d, h, opcode, &c, &m, l);
        }
        if (!damage && c.overrun)
            damage = "line program runs past its table";
    }
    l->row_count = m.first; /* a sequence that has not ended says nothing of where it ends */
    return damage;
}

/* --- order ------------------------------------------------------------------------------------- */

static int compare_sequences(const void *a, const void *b)
{
    const struct dwarf_sequence *x = a, *y = b;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    /* Longer ones first, so that of two that start together the shorter, later one is seen. */
    if (x->end != y->end)
        return x->end > y->end ? -1 : 1;
    return x->first < y->first ? -1 : x->first > y->first;
}

/* Copies the sequences in order of address; each ends where the next begins. */
static const char *put_in_order(struct dwarf_lines *l)
{
    struct dwarf_row *rows = malloc(l->row_count * sizeof(*rows));
    if (!rows)
        return text_memory;
    size_t count = 0;
    qsort(l->sequences, l->sequence_count, sizeof(l->sequences[0]), compare_sequences);
    for (size_t i = 0; i < l->sequence_count; i++) {
        const struct dwarf_sequence *s = &l->sequences[i];
        uint64_t bound = i + 1 < l->sequence_count ? l->sequences[i + 1].start : UINT64_MAX;
        for (size_t k = s->first; k < s->last && l->rows[k].address < bound; k++)
            rows[count++] = l->rows[k];
    }
    free(l->rows);
    l->rows = rows;
    l->row_cap = l->row_count;
    l->row_count = count;
    return NULL;
}

static bool is_ordered(const struct dwarf_lines *l)
{
    for (size_t i = 1; i < l->sequence_count; i++) {
        if (l->sequences[i].start < l->sequences[i - 1].end)
            return false;
    }
    return true;
}

static void restore_names(struct symbol_map *map, struct dwarf_lines *l)
{
    for (size_t i = 0; i < l->directory_count; i++)
        l->directories[i] = symbol_map_name(map, l->directories[i]);
    for (size_t i = 0; i < l->file_count; i++)
        l->files[i].name = symbol_map_name(map, l->files[i].name);
}

const char *dwarf_lines_read(struct dwarf *d, const struct dwarf_unit *u, struct dwarf_lines *l)
{
    struct header h = {0};
    l->row_count = l->file_count = l->directory_count = l->sequence_count = 0;
    l->name_bytes = 0;
    l->first_file = u->version >= 5 ? 0 : 1;
    if (!u->has_lines)
        return NULL;
    const char *damage = read_header(d, u, l, &h);
    if (!dwarf_spend(d, (l->file_count + l->directory_count) * WORK_PER_FILE + l->name_bytes))
        return text_work;
    if (d->map)
        restore_names(d->map, l);
    if (damage)
        return damage;
    if (!dwarf_spend(d, cursor_left(&h.program)))
        return text_work;
    damage = run_program(d, &h, l);
    if (!is_ordered(l)) {
        const char *order = put_in_order(l);
        if (order)
            l->row_count = 0;
        damage = damage ? damage : order;
    }
    return damage;
}

size_t dwarf_lines_at(const struct dwarf_row *rows, size_t count, uint64_t address)
{
    size_t lo = 0, hi = count;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (rows[mid].address <= address)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo == 0 ? SIZE_MAX : lo - 1;
}

const struct dwarf_file *dwarf_lines_file(const struct dwarf_lines *l, uint32_t number)
{
    uint32_t index = number - l->first_file;
    return number >= l->first_file && index < l->file_count ? &l->files[index] : NULL;
}
