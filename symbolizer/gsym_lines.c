#include "symbolizer/gsym_lines.h"

#include <stddef.h>

#include "symbolizer/gsym_format.h"

/* A running line program. */
struct lines {
    struct cursor c;
    uint32_t line_delta_min;
    uint32_t range;      /* of line deltas in a special opcode, at least 1 */
    uint32_t reciprocal; /* 65536 / range + 1: exact for the quotient of anything below 256 */
    uint64_t address;
    struct gsym_row row;
};

enum step { STEP_ROW, STEP_END, STEP_DAMAGED };

static bool lines_begin(struct lines *l, struct cursor table, uint64_t function)
{
    l->c = table;
    uint64_t min = (uint64_t)cursor_sleb(&l->c);
    uint64_t max = (uint64_t)cursor_sleb(&l->c);
    uint64_t first = cursor_uleb(&l->c);
    uint64_t span = max - min;
    if (l->c.overrun || (int64_t)max < (int64_t)min || span >= UINT32_MAX)
        return false;
    l->line_delta_min = (uint32_t)min;
    l->range = (uint32_t)span + 1;
    l->reciprocal = 65536 / l->range + 1;
    l->address = function;
    l->row = (struct gsym_row){.file = 1, .line = (uint32_t)first};
    return true;
}

/* Up to the next row. Lines are counted modulo 2^32, as the format's own tools do. */
static inline enum step lines_step(struct lines *l)
{
    while (l->c.p < l->c.end) {
        uint32_t op = *l->c.p++;
        if (op >= GSYM_LINE_FIRST_SPECIAL) {
            uint32_t n = op - GSYM_LINE_FIRST_SPECIAL;
            uint32_t quotient = l->range > n ? 0 : n * l->reciprocal >> 16;
            l->row.line += l->line_delta_min + (n - quotient * l->range);
            l->address += quotient;
            return STEP_ROW;
        }
        switch (op) {
        case GSYM_LINE_END_SEQUENCE:
            return STEP_END;
        case GSYM_LINE_SET_FILE:
            l->row.file = (uint32_t)cursor_uleb(&l->c);
            break;
        case GSYM_LINE_ADVANCE_PC:
            l->address += cursor_uleb(&l->c);
            return l->c.overrun ? STEP_DAMAGED : STEP_ROW;
        default:
            l->row.line += (uint32_t)cursor_sleb(&l->c);
            break;
        }
    }
    return STEP_DAMAGED;
}

bool gsym_lines_find(struct cursor table, uint64_t function, uint64_t address, struct gsym_row *ret)
{
    struct lines l;
    struct gsym_row best = {0};
    bool found = false;
    if (!lines_begin(&l, table, function))
        return false;
    while (lines_step(&l) == STEP_ROW && l.address <= address) {
        best = l.row;
        found = true;
    }
    if (found)
        *ret = best;
    return found;
}

const char *gsym_lines_check(struct cursor table, uint32_t file_count)
{
    struct lines l;
    enum step step;
    if (!lines_begin(&l, table, 0))
        return "line table: bad header";
    uint64_t before = 0;
    while ((step = lines_step(&l)) == STEP_ROW) {
        if (l.address < before)
            return "line table: addresses descend";
        if (l.row.file >= file_count)
            return "line table: no such file";
        before = l.address;
    }
    return step == STEP_END ? NULL : "line table: ends early";
}
