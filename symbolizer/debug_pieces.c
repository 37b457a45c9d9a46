#include "symbolizer/debug_pieces.h"

#include <stdlib.h>
#include <string.h>

#include "base/vec.h"

/* A function as its unit has it, with what decides between two of them. */
struct claim {
    uint64_t start;
    uint64_t end;
    uint32_t unit;
    uint32_t index; /* of the part */
    uint32_t worth;
};

/* Code with rows and without a function, of any unit. */
struct orphan {
    uint64_t start;
    uint64_t end;
    uint32_t unit;
};

void debug_pieces_done(struct debug_pieces *p)
{
    free(p->items);
    memset(p, 0, sizeof(*p));
}

/* Joins a piece to the one before where nothing but a cut lies between them. */
static bool push(struct debug_pieces *p, const struct debug_piece *piece)
{
    if (piece->start >= piece->end)
        return true;
    struct debug_piece *last = p->count ? &p->items[p->count - 1] : NULL;
    if (last && last->end == piece->start && last->part == piece->part &&
        last->symbol == piece->symbol && last->unit == piece->unit) {
        last->end = piece->end;
        return true;
    }
    void *q = vec_grown(p->items, &p->cap, p->count + 1, sizeof(*piece));
    if (!q)
        return false;
    p->items = q;
    p->items[p->count++] = *piece;
    return true;
}

/* --- functions of units ------------------------------------------------------------------------ */

/* By start; of those that start together the one that shall be seen comes last. */
static int compare_claims(const void *a, const void *b)
{
    const struct claim *x = a, *y = b;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    if (x->worth != y->worth)
        return x->worth < y->worth ? -1 : 1;
    if (x->end != y->end)
        return x->end > y->end ? -1 : 1;
    if (x->unit != y->unit)
        return x->unit > y->unit ? -1 : 1;
    return x->index > y->index ? -1 : x->index < y->index;
}

static bool has_rows(const struct debug_unit *u, const struct debug_part *part)
{
    size_t row = dwarf_lines_at(u->lines.rows, u->lines.row_count, part->end - 1);
    return row != SIZE_MAX &&
           (u->lines.rows[row].file != DWARF_ROW_END || u->lines.rows[row].address > part->start);
}

static uint32_t worth_of(const struct debug_unit *u, const struct debug_part *part)
{
    const struct debug_name *name = &u->names[part->name];
    return (part->name ? 8u : 0u) + (has_rows(u, part) ? 4u : 0u) +
           (part->name && !name->wants_symbol ? 2u : 0u) + (part->inline_count ? 1u : 0u);
}

static struct claim *gather(const struct debug_info *info, size_t *ret_count)
{
    size_t count = 0;
    for (size_t i = 0; i < info->unit_count; i++)
        count += info->units[i].part_count;
    struct claim *claims = malloc((count + 1) * sizeof(*claims));
    if (!claims)
        return NULL;
    size_t n = 0;
    for (size_t i = 0; i < info->unit_count; i++) {
        const struct debug_unit *u = &info->units[i];
        for (size_t k = 0; k < u->part_count; k++) {
            const struct debug_part *part = &u->parts[k];
            claims[n++] =
                (struct claim){part->start, part->end, (uint32_t)i, (uint32_t)k, worth_of(u, part)};
        }
    }
    qsort(claims, count, sizeof(*claims), compare_claims);
    *ret_count = count;
    return claims;
}

static bool push_claim(const struct debug_info *info, const struct claim *c, uint64_t start,
                       uint64_t end, struct debug_pieces *ret)
{
    struct debug_piece piece = {start, end, c->unit, &info->units[c->unit].parts[c->index], NULL};
    return push(ret, &piece);
}

/* The open claims lie on a stack, the last one on top; what ends below another is dropped when it
 * comes to the top. */
static bool settle_claims(const struct debug_info *info, const struct claim *claims, size_t count,
                          struct debug_pieces *ret)
{
    size_t *open = malloc((count + 1) * sizeof(*open));
    size_t open_count = 0;
    uint64_t at = 0;
    bool good = open != NULL;
    for (size_t i = 0; good && i <= count; i++) {
        uint64_t until = i < count ? claims[i].start : UINT64_MAX;
        while (good && open_count > 0 && at < until) {
            const struct claim *top = &claims[open[open_count - 1]];
            uint64_t end = top->end < until ? top->end : until;
            if (end > at) {
                good = push_claim(info, top, at, end, ret);
                at = end;
            }
            if (top->end <= at)
                open_count--;
        }
        if (i < count) {
            at = until;
            open[open_count++] = i;
        }
    }
    free(open);
    return good;
}

/* --- functions of the symbol table ------------------------------------------------------------- */

static int compare_orphans(const void *a, const void *b)
{
    const struct orphan *x = a, *y = b;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    return x->unit < y->unit ? -1 : x->unit > y->unit;
}

static struct orphan *gather_orphans(const struct debug_info *info, size_t *ret_count)
{
    size_t count = 0, n = 0;
    for (size_t i = 0; i < info->unit_count; i++)
        count += info->units[i].orphan_count;
    struct orphan *orphans = malloc((count + 1) * sizeof(*orphans));
    if (!orphans)
        return NULL;
    for (size_t i = 0; i < info->unit_count; i++) {
        const struct debug_unit *u = &info->units[i];
        for (size_t k = 0; k < u->orphan_count; k++)
            orphans[n++] = (struct orphan){u->orphans[k].start, u->orphans[k].end, (uint32_t)i};
    }
    qsort(orphans, count, sizeof(*orphans), compare_orphans);
    *ret_count = count;
    return orphans;
}

/* One function of the symbol table, cut where the rows of a unit begin or end. `*next` is the first
 * orphan that may still matter. */
static bool push_symbol(const struct symtab *t, const struct symtab_function *f,
                        const struct orphan *orphans, size_t count, size_t *next,
                        struct debug_pieces *ret)
{
    struct debug_piece piece = {f->start, 0, DEBUG_NO_UNIT, NULL, &t->symbols[f->symbol]};
    uint64_t at = f->start;
    while (*next < count && orphans[*next].end <= at)
        (*next)++;
    for (size_t i = *next; at < f->end; i++) {
        uint64_t start = i < count && orphans[i].start < f->end ? orphans[i].start : f->end;
        if (start > at) {
            piece.start = at;
            piece.end = start;
            piece.unit = DEBUG_NO_UNIT;
            if (!push(ret, &piece))
                return false;
            at = start;
        }
        if (start == f->end)
            break;
        if (orphans[i].end <= at)
            continue;
        piece.start = at;
        piece.end = orphans[i].end < f->end ? orphans[i].end : f->end;
        piece.unit = orphans[i].unit;
        if (!push(ret, &piece))
            return false;
        at = piece.end;
    }
    return true;
}

/* The first `count` pieces and the others ascend, each by themselves: merges them. */
static bool merge_pieces(struct debug_pieces *p, size_t count)
{
    struct debug_piece *merged = malloc(p->count * sizeof(*merged));
    size_t a = 0, b = count;
    if (!merged)
        return false;
    for (size_t i = 0; i < p->count; i++) {
        bool first = b == p->count || (a < count && p->items[a].start <= p->items[b].start);
        merged[i] = p->items[first ? a++ : b++];
    }
    free(p->items);
    p->items = merged;
    p->cap = p->count;
    return true;
}

static bool add_symbols(const struct debug_info *info, const struct symtab *t,
                        struct debug_pieces *ret)
{
    bool good = false;
    size_t orphan_count = 0, next = 0, known_count = ret->count;
    struct symtab_list list = {0};
    struct orphan *orphans = gather_orphans(info, &orphan_count);
    struct object_range *known = malloc((known_count + 1) * sizeof(*known));
    if (!orphans || !known)
        goto out;
    for (size_t i = 0; i < known_count; i++)
        known[i] = (struct object_range){ret->items[i].start, ret->items[i].end};
    good = symtab_fill(t, known, known_count, &list);
    for (size_t i = 0; good && i < list.count; i++)
        good = push_symbol(t, &list.items[i], orphans, orphan_count, &next, ret);
    if (good && ret->count > known_count)
        good = merge_pieces(ret, known_count);
out:
    free(orphans);
    free(known);
    free(list.items);
    return good;
}

bool debug_pieces_make(const struct debug_info *info, const struct symtab *t,
                       struct debug_pieces *ret)
{
    size_t count = 0;
    struct claim *claims = gather(info, &count);
    bool good = claims && settle_claims(info, claims, count, ret) && add_symbols(info, t, ret);
    free(claims);
    return good;
}
