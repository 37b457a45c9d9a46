#include "symbolizer/gsym_encode.h"

#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "symbolizer/gsym_format.h"

/* Line deltas that a special opcode can carry; 15 leave address deltas up to 15 beside them. */
#define LINE_WINDOW      15
#define DELTA_COUNTS     256 /* deltas from -128 to 127 are counted */
#define DELTA_MIDDLE     128
#define SPECIAL_PER_BYTE (256 - GSYM_LINE_FIRST_SPECIAL)

void gsym_rows_done(struct gsym_rows *rows)
{
    free(rows->items);
    memset(rows, 0, sizeof(*rows));
}

bool gsym_rows_of(const struct debug_info *d, const struct debug_function *f,
                  struct gsym_rows *rows)
{
    rows->count = 0;
    if (f->row_count == 0 && f->file == 0)
        return true;
    void *p = vec_grown(rows->items, &rows->cap, f->row_count + 1, sizeof(rows->items[0]));
    if (!p)
        return false;
    rows->items = p;
    if (f->unit == DEBUG_NO_UNIT) {
        rows->items[rows->count++] = (struct dwarf_row){f->start, d->files[f->file].place, 0};
        return true;
    }
    const struct debug_unit *u = &d->units[f->unit];
    for (size_t i = 0; i < f->row_count; i++) {
        struct dwarf_row row = u->lines.rows[f->first_row + i];
        const struct dwarf_file *file = NULL;
        if (row.file != DWARF_ROW_END)
            file = dwarf_lines_file(&u->lines, row.file);
        uint32_t id = file ? u->file_ids[file - u->lines.files] : 0;
        row.file = id ? d->files[id - 1].place : 0;
        if (row.address < f->start)
            row.address = f->start;
        struct dwarf_row *last = rows->count ? &rows->items[rows->count - 1] : NULL;
        if (last && last->address == row.address)
            *last = row;
        else if (!last || last->file != row.file || last->line != row.line)
            rows->items[rows->count++] = row;
    }
    /* Rows of which none says anything are no line table. */
    for (size_t i = 0; i < rows->count; i++) {
        if (rows->items[i].file != 0)
            return true;
    }
    rows->count = 0;
    return true;
}

/* The window of line deltas that most rows fall into. */
static void choose_window(const struct gsym_rows *rows, int64_t *ret_min, int64_t *ret_max)
{
    uint32_t counts[DELTA_COUNTS + LINE_WINDOW] = {0};
    int64_t least = INT64_MAX, most = INT64_MIN;
    for (size_t i = 1; i < rows->count; i++) {
        int64_t delta = (int64_t)rows->items[i].line - (int64_t)rows->items[i - 1].line;
        least = delta < least ? delta : least;
        most = delta > most ? delta : most;
        if (delta >= -DELTA_MIDDLE && delta < DELTA_MIDDLE)
            counts[delta + DELTA_MIDDLE]++;
    }
    if (least > most)
        least = most = 0;
    if (most - least >= LINE_WINDOW) {
        uint32_t sum = 0, best = 0;
        int at = 0;
        for (int i = 0; i < LINE_WINDOW; i++)
            sum += counts[i];
        best = sum;
        for (int i = 1; i < DELTA_COUNTS; i++) {
            sum += counts[i + LINE_WINDOW - 1] - counts[i - 1];
            if (sum > best) {
                best = sum;
                at = i;
            }
        }
        least = at - DELTA_MIDDLE;
        most = least + LINE_WINDOW - 1;
    }
    *ret_min = least;
    *ret_max = most;
}

void gsym_encode_lines(const struct gsym_rows *rows, uint64_t start, struct buf *out)
{
    int64_t min, max;
    choose_window(rows, &min, &max);
    uint64_t span = (uint64_t)(max - min) + 1;
    struct dwarf_row last = {start, 1, rows->items[0].line};
    buf_sleb(out, min);
    buf_sleb(out, max);
    buf_uleb(out, last.line);
    for (size_t i = 0; i < rows->count; i++) {
        const struct dwarf_row *row = &rows->items[i];
        int64_t line = (int64_t)row->line - (int64_t)last.line;
        uint64_t address = row->address - last.address;
        if (row->file != last.file) {
            buf_u8(out, GSYM_LINE_SET_FILE);
            buf_uleb(out, row->file);
        }
        uint64_t special = SPECIAL_PER_BYTE;
        if (line >= min && line <= max && address < SPECIAL_PER_BYTE)
            special = (uint64_t)(line - min) + address * span;
        if (special < SPECIAL_PER_BYTE) {
            buf_u8(out, (uint8_t)(special + GSYM_LINE_FIRST_SPECIAL));
        } else {
            if (line != 0) {
                buf_u8(out, GSYM_LINE_ADVANCE_LINE);
                buf_sleb(out, line);
            }
            buf_u8(out, GSYM_LINE_ADVANCE_PC);
            buf_uleb(out, address);
        }
        last = *row;
    }
    buf_u8(out, GSYM_LINE_END_SEQUENCE);
}

/* --- inlined calls ----------------------------------------------------------------------------- */

/* The part of a call's ranges that lies in the piece: where the first of it begins, and how many. */
static size_t count_ranges(const struct debug_unit *u, const struct debug_inline *node,
                           const struct debug_function *f, uint64_t *ret_start)
{
    const struct object_range *r = u->ranges + node->first_range;
    size_t count = 0;
    for (size_t i = 0; i < node->range_count; i++) {
        if (r[i].end <= f->start || r[i].start >= f->end)
            continue;
        if (count++ == 0)
            *ret_start = r[i].start > f->start ? r[i].start : f->start;
    }
    return count;
}

static void put_ranges(const struct debug_unit *u, const struct debug_inline *node,
                       const struct debug_function *f, size_t count, uint64_t base, struct buf *out)
{
    const struct object_range *r = u->ranges + node->first_range;
    buf_uleb(out, count);
    for (size_t i = 0; i < node->range_count; i++) {
        if (r[i].end <= f->start || r[i].start >= f->end)
            continue;
        uint64_t start = r[i].start > f->start ? r[i].start : f->start;
        uint64_t end = r[i].end < f->end ? r[i].end : f->end;
        buf_uleb(out, start - base);
        buf_uleb(out, end - start);
    }
}

static uint32_t file_of(const struct debug_info *d, const struct debug_unit *u, uint32_t number)
{
    const struct dwarf_file *file =
        number == DEBUG_NO_FILE ? NULL : dwarf_lines_file(&u->lines, number);
    uint32_t id = file ? u->file_ids[file - u->lines.files] : 0;
    return id ? d->files[id - 1].place : 0;
}

/* Where names of the unit stand in the index's string table. */
static uint32_t name_of(const struct debug_info *d, const struct debug_unit *u, uint32_t name)
{
    return d->strings.entries[u->name_ids[name]].place;
}

/* The open calls around the one being written, [0] being the function itself. */
struct level {
    uint64_t base;       /* what ranges of its children count from */
    size_t has_children; /* place of the byte that says so */
    bool used;
};

static void put_head(const struct debug_info *d, const struct debug_unit *u,
                     const struct debug_inline *node, uint32_t name, struct level *level,
                     struct buf *out)
{
    level->used = false;
    level->has_children = out->len;
    buf_u8(out, 0);
    buf_u32(out, name);
    buf_uleb(out, node ? file_of(d, u, node->call_file) : 0);
    buf_uleb(out, node ? node->call_line : 0);
}

/* Ends the lists of children of the calls deeper than `depth`. */
static void close_levels(const struct level *levels, size_t from, size_t depth, struct buf *out)
{
    for (size_t i = from; i > depth; i--) {
        if (levels[i].used)
            buf_uleb(out, 0);
    }
}

bool gsym_encode_inlines(const struct debug_info *d, const struct debug_function *f,
                         struct buf *out)
{
    struct level levels[DEBUG_INLINE_DEPTH_MAX + 1];
    const struct debug_unit *u = f->unit == DEBUG_NO_UNIT ? NULL : &d->units[f->unit];
    size_t begin = out->len;
    size_t open = 0; /* depth of the call written last */
    if (!u || f->inline_count == 0)
        return false;
    buf_uleb(out, 1);
    buf_uleb(out, 0);
    buf_uleb(out, f->end - f->start);
    put_head(d, u, NULL, d->strings.entries[f->name].place, &levels[0], out);
    levels[0].base = f->start;
    for (size_t i = 0; i < f->inline_count && !out->failed; i++) {
        const struct debug_inline *node = &u->inlines[f->first_inline + i];
        uint64_t start = 0;
        size_t count = count_ranges(u, node, f, &start);
        if (count == 0)
            continue;
        /* Its parent has a range wherever it has one, so that the depth is at most one more. */
        size_t depth = node->depth <= open + 1 ? node->depth : open + 1;
        close_levels(levels, open, depth - 1, out);
        struct level *parent = &levels[depth - 1];
        if (!parent->used && !out->failed)
            out->data[parent->has_children] = 1;
        parent->used = true;
        put_ranges(u, node, f, count, parent->base, out);
        put_head(d, u, node, name_of(d, u, node->name), &levels[depth], out);
        levels[depth].base = start;
        open = depth;
    }
    if (!levels[0].used) {
        if (!out->failed)
            out->len = begin;
        return false;
    }
    close_levels(levels, open, 0, out);
    buf_uleb(out, 0);
    return true;
}
