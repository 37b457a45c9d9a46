#include "symbolizer/dwarf_walk.h"

#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "symbolizer/dwarf_inlines.h"

#define FIRST_SLOTS ((size_t)1024)

/* What the functions below share: one unit at work. */
struct walk {
    struct dwarf *d;
    const struct dwarf_unit *u;
    struct dwarf_walker *w;
    struct debug_unit *out;
    bool scopes;
};

void dwarf_walker_done(struct dwarf_walker *w)
{
    if (!w)
        return;
    dwarf_object_close(w->library);
    dwarf_skim_done(&w->skim);
    free(w->ranges.items);
    free(w->slots);
    free(w->scoped);
    free(w->entries);
    free(w->members);
    free(w->nest);
    debug_unit_done(&w->lent);
    memset(w, 0, sizeof(*w));
}

void debug_unit_done(struct debug_unit *u)
{
    if (!u)
        return;
    free(u->parts);
    free(u->inlines);
    free(u->ranges);
    free(u->names);
    dwarf_lines_done(&u->lines);
    free(u->orphans);
    arena_done(&u->texts);
    free(u->name_ids);
    free(u->file_ids);
    free(u->dir_ids);
    memset(u, 0, sizeof(*u));
}

/* --- names ------------------------------------------------------------------------------------- */

static bool push_name(struct walk *k, const struct dwarf_name *name, uint32_t *ret)
{
    struct debug_unit *out = k->out;
    const char *text = symbol_map_name(k->d->map, name->linkage ? name->linkage : name->name);
    *ret = 0;
    if (!text)
        return true;
    if (!dwarf_spend(k->d, strlen(text))) /* one text may be the name of many */
        return false;
    void *p = vec_grown(out->names, &out->name_cap, out->name_count + 1, sizeof(out->names[0]));
    if (!p)
        return false;
    out->names = p;
    bool scoped = k->scopes && !name->linkage;
    *ret = (uint32_t)out->name_count;
    out->names[out->name_count++] =
        (struct debug_name){text, !name->external && !debug_name_is_unique(text), scoped};
    if (!scoped)
        return true;
    p = vec_grown(k->w->scoped, &k->w->scoped_cap, k->w->scoped_count + 1, sizeof(*k->w->scoped));
    if (!p)
        return false;
    k->w->scoped = p;
    k->w->scoped[k->w->scoped_count++] = (struct dwarf_scoped){name->declaration, text, *ret};
    return true;
}

static size_t slot_of(const struct dwarf_walker *w, uint64_t die)
{
    size_t i = (size_t)((die * 0x9e3779b97f4a7c15u) >> 32) & (w->slot_count - 1);
    while (w->slots[i].unit == w->unit && w->slots[i].die != die)
        i = (i + 1) & (w->slot_count - 1);
    return i;
}

static bool grow_slots(struct dwarf_walker *w)
{
    struct dwarf_name_slot *old = w->slots;
    size_t old_count = w->slot_count;
    size_t want = old_count ? old_count * 2 : FIRST_SLOTS;
    struct dwarf_name_slot *slots = calloc(want, sizeof(*slots));
    if (!slots)
        return false;
    w->slots = slots;
    w->slot_count = want;
    for (size_t i = 0; i < old_count; i++) {
        if (old[i].unit == w->unit)
            w->slots[slot_of(w, old[i].die)] = old[i];
    }
    free(old);
    return true;
}

/* The name of an inlined call: that of what it came from, found once for each of those. */
static bool inline_name(struct walk *k, const struct dwarf_entry *e, uint32_t *ret)
{
    struct dwarf_walker *w = k->w;
    struct dwarf_name name;
    if (!e->origin || e->name || e->linkage) {
        dwarf_name_of(k->d, e, &name);
        return push_name(k, &name, ret);
    }
    if (w->slot_used * 2 >= w->slot_count && !grow_slots(w))
        return false;
    size_t i = slot_of(w, e->origin);
    if (w->slots[i].unit == w->unit) {
        *ret = w->slots[i].name;
        return true;
    }
    dwarf_name_at(k->d, e->origin, &name);
    if (!push_name(k, &name, ret))
        return false;
    w->slots[i] = (struct dwarf_name_slot){e->origin, *ret, w->unit};
    w->slot_used++;
    return true;
}

static bool qualify_names(struct walk *k)
{
    struct dwarf_walker *w = k->w;
    if (w->scoped_count == 0)
        return true;
    arena_init(&k->out->texts, DWARF_UNIT_TEXTS_MAX);
    if (!dwarf_names_qualify(k->d, w->scoped, w->scoped_count, &k->out->texts))
        return false;
    for (size_t i = 0; i < w->scoped_count; i++)
        k->out->names[w->scoped[i].user].text = w->scoped[i].name;
    return true;
}

/* --- ranges ------------------------------------------------------------------------------------ */

/* The entry's ranges into the walker's list, only those in executable sections, cut there. */
static bool read_ranges(struct walk *k, const struct dwarf_entry *e)
{
    struct dwarf_range_list *list = &k->w->ranges;
    size_t kept = 0;
    list->count = 0;
    if (!dwarf_ranges_of(k->d, k->u, e, list))
        return false;
    if (list->damaged && !k->out->damage)
        k->out->damage = "a range list is damaged";
    list->damaged = false;
    for (size_t i = 0; i < list->count; i++) {
        const struct object_range *code = dwarf_code_at(k->d, list->items[i].start);
        if (!code)
            continue;
        list->items[kept] = list->items[i];
        if (list->items[kept].end > code->end)
            list->items[kept].end = code->end;
        kept++;
    }
    list->count = dwarf_ranges_join(list->items, kept);
    return true;
}

/* --- functions --------------------------------------------------------------------------------- */

static bool push_inline(struct walk *k, const struct dwarf_entry *e, uint32_t depth)
{
    struct debug_unit *out = k->out;
    struct debug_inline node = {.call_line = e->call_line, .depth = depth};
    node.call_file = e->has_call_file ? e->call_file : DEBUG_NO_FILE;
    if (!read_ranges(k, e) || !inline_name(k, e, &node.name))
        return false;
    node.range_count = (uint32_t)k->w->ranges.count;
    if (!debug_unit_add_ranges(out, k->w->ranges.items, k->w->ranges.count, &node.first_range))
        return false;
    void *p = vec_grown(out->inlines, &out->inline_cap, out->inline_count + 1, sizeof(node));
    if (!p)
        return false;
    out->inlines = p;
    out->inlines[out->inline_count++] = node;
    return true;
}

static bool push_part(struct debug_unit *out, const struct debug_part *part)
{
    void *p = vec_grown(out->parts, &out->part_cap, out->part_count + 1, sizeof(*part));
    if (!p)
        return false;
    out->parts = p;
    out->parts[out->part_count++] = *part;
    return true;
}

/* One function: `members` are the entries of its inlined calls, parents before children. */
static bool take_function(struct walk *k, const struct dwarf_entry *e, const uint32_t *members,
                          size_t count)
{
    struct debug_unit *out = k->out;
    struct dwarf_walker *w = k->w;
    struct dwarf_name name;
    struct debug_part part = {.first_inline = out->inline_count};
    size_t first_part = out->part_count;
    if (!read_ranges(k, e))
        return false;
    for (size_t i = 0; i < w->ranges.count; i++) {
        part.start = w->ranges.items[i].start;
        part.end = w->ranges.items[i].end;
        if (!push_part(out, &part))
            return false;
    }
    if (out->part_count == first_part)
        return true;
    dwarf_name_of(k->d, e, &name);
    if (!push_name(k, &name, &part.name))
        return false;
    size_t made = 0;
    for (size_t i = 0; i < count; i++) {
        const struct dwarf_entry *call = &w->skim.entries[members[i]];
        uint32_t outer = w->entries[call->parent].inlined;
        uint32_t depth = outer == DWARF_NO_PARENT ? 1 : w->nest[outer].depth + 1;
        if (depth > DEBUG_INLINE_DEPTH_MAX)
            depth = DEBUG_INLINE_DEPTH_MAX;
        if (!push_inline(k, call, depth))
            return false;
        w->nest[made] = (struct dwarf_nest){outer, DWARF_NO_PARENT, DWARF_NO_PARENT, depth};
        w->entries[members[i]].inlined = (uint32_t)made++;
    }
    if (!dwarf_inlines_settle(out, part.first_inline, w->nest))
        return false;
    for (size_t i = first_part; i < out->part_count; i++) {
        out->parts[i].name = part.name;
        out->parts[i].inline_count = out->inline_count - part.first_inline;
    }
    return true;
}

/* Room for what is noted for each entry. */
static bool reserve_entries(struct dwarf_walker *w)
{
    size_t count = w->skim.count;
    size_t cap = w->entry_cap;
    void *p = vec_grown(w->entries, &cap, count + 1, sizeof(*w->entries));
    if (!p)
        return false;
    w->entries = p;
    void *q = realloc(w->nest, cap * sizeof(*w->nest));
    if (!q)
        return false;
    w->nest = q;
    void *r = realloc(w->members, cap * sizeof(*w->members));
    if (!r)
        return false;
    w->members = r;
    w->entry_cap = cap;
    return true;
}

/* Functions may lie inside functions: the calls are gathered by the function they belong to, their
 * order kept. */
static bool take_functions(struct walk *k)
{
    struct dwarf_walker *w = k->w;
    const struct dwarf_entry *list = w->skim.entries;
    size_t count = w->skim.count;
    if (!reserve_entries(w))
        return false;
    for (size_t i = 0; i < count; i++) {
        struct dwarf_entry_note *note = &w->entries[i];
        note->root = list[i].inlined ? w->entries[list[i].parent].root : (uint32_t)i;
        note->inlined = DWARF_NO_PARENT;
        note->calls = 0;
        if (list[i].inlined)
            w->entries[note->root].calls++;
    }
    uint32_t place = 0;
    for (size_t i = 0; i < count; i++) {
        w->entries[i].first = place;
        place += w->entries[i].calls;
        w->entries[i].calls = 0;
    }
    for (size_t i = 0; i < count; i++) {
        if (!list[i].inlined)
            continue;
        struct dwarf_entry_note *root = &w->entries[w->entries[i].root];
        w->members[root->first + root->calls++] = (uint32_t)i;
    }
    for (size_t i = 0; i < count; i++) {
        const struct dwarf_entry_note *note = &w->entries[i];
        if (!list[i].inlined && !take_function(k, &list[i], w->members + note->first, note->calls))
            return false;
    }
    return true;
}

/* --- rows without a function --------------------------------------------------------------------- */

static int compare_parts(const void *a, const void *b)
{
    const struct debug_part *x = a, *y = b;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    if (x->end != y->end)
        return x->end > y->end ? -1 : 1;
    return x->name < y->name ? -1 : x->name > y->name;
}

static void sort_parts(struct debug_unit *out)
{
    for (size_t i = 1; i < out->part_count; i++) {
        if (compare_parts(&out->parts[i - 1], &out->parts[i]) > 0) {
            qsort(out->parts, out->part_count, sizeof(out->parts[0]), compare_parts);
            return;
        }
    }
}

/* [start, end) is code without a function; only the gaps between functions have no row of theirs. */
static bool push_orphan(struct debug_unit *out, uint64_t start, uint64_t end)
{
    const struct dwarf_lines *l = &out->lines;
    if (start >= end)
        return true;
    size_t row = dwarf_lines_at(l->rows, l->row_count, end - 1);
    if (row == SIZE_MAX || l->rows[row].address < start || l->rows[row].file == DWARF_ROW_END)
        return true;
    void *p =
        vec_grown(out->orphans, &out->orphan_cap, out->orphan_count + 1, sizeof(out->orphans[0]));
    if (!p)
        return false;
    out->orphans = p;
    out->orphans[out->orphan_count++] = (struct object_range){start, end};
    return true;
}

/* Units of assembly, and of compilers told to write line tables only, have rows but no functions:
 * they wait for the symbol table's. */
static bool find_orphans(struct debug_unit *out)
{
    const struct dwarf_lines *l = &out->lines;
    size_t part = 0;
    uint64_t covered = 0; /* no part that begins before this is looked at again */
    for (size_t i = 0; i < l->row_count; i++) {
        uint64_t at = l->rows[i].address;
        while (i < l->row_count && l->rows[i].file != DWARF_ROW_END)
            i++;
        uint64_t end = i < l->row_count ? l->rows[i].address : at;
        if (at < covered)
            at = covered;
        while (part < out->part_count && out->parts[part].start < end) {
            if (!push_orphan(out, at, out->parts[part].start))
                return false;
            if (out->parts[part].end > at)
                at = out->parts[part].end;
            part++;
        }
        if (!push_orphan(out, at, end))
            return false;
        if (at > covered)
            covered = at;
    }
    return true;
}

/* --- the unit ------------------------------------------------------------------------------------ */

/* The lists that a unit is read into, all empty, from one to the other. */
static void move_lists(const struct debug_unit *from, struct debug_unit *to)
{
    to->parts = from->parts;
    to->part_cap = from->part_cap;
    to->inlines = from->inlines;
    to->inline_cap = from->inline_cap;
    to->ranges = from->ranges;
    to->range_cap = from->range_cap;
    to->names = from->names;
    to->name_cap = from->name_cap;
    to->lines.rows = from->lines.rows;
    to->lines.row_cap = from->lines.row_cap;
}

static void *copy_of(const void *list, size_t count, size_t size, bool *good)
{
    void *copy = count > 0 ? malloc(count * size) : NULL;
    if (copy)
        memcpy(copy, list, count * size);
    else if (count > 0)
        *good = false;
    return copy;
}

/* The lists go back to the walker; the unit takes copies without room. False: no memory. */
static bool return_lists(struct dwarf_walker *w, struct debug_unit *out)
{
    bool good = true;
    struct dwarf_lines *l = &out->lines;
    const struct debug_unit full = *out;
    free(l->sequences);
    l->sequences = NULL;
    l->sequence_count = l->sequence_cap = 0;
    move_lists(&full, &w->lent);
    out->parts = copy_of(full.parts, out->part_count, sizeof(out->parts[0]), &good);
    out->inlines = copy_of(full.inlines, out->inline_count, sizeof(out->inlines[0]), &good);
    out->ranges = copy_of(full.ranges, out->range_count, sizeof(out->ranges[0]), &good);
    out->names = copy_of(full.names, out->name_count, sizeof(out->names[0]), &good);
    l->rows = copy_of(full.lines.rows, l->row_count, sizeof(l->rows[0]), &good);
    out->part_cap = out->part_count;
    out->inline_cap = out->inline_count;
    out->range_cap = out->range_count;
    out->name_cap = out->name_count;
    l->row_cap = l->row_count;
    return good;
}

/* The skim, or libdwarf where the skim does not know a form. */
static const char *read_entries(struct walk *k)
{
    struct dwarf_walker *w = k->w;
    const char *damage = dwarf_skim_unit(k->d, k->u, &w->skim);
    if (damage != dwarf_skim_unknown_form)
        return damage;
    if (!w->library && dwarf_object_open(w->object, &w->library, NULL))
        return damage;
    return dwarf_full_unit(w->library, k->u, &w->skim);
}

bool dwarf_walk_unit(struct dwarf *d, const struct dwarf_unit *u, struct dwarf_walker *w,
                     struct debug_unit *ret)
{
    struct walk k = {d, u, w, ret, false};
    const struct dwarf_name none = {.name = ""};
    uint32_t zero;
    if (dwarf_unit_is_type(u))
        return true;
    if (dwarf_exhausted(d) || !dwarf_spend(d, u->end - u->offset))
        return false;
    w->unit++;
    w->slot_used = 0;
    w->scoped_count = 0;
    /* They have grown already. */
    move_lists(&w->lent, ret);
    memset(&w->lent, 0, sizeof(w->lent));
    if (!push_name(&k, &none, &zero)) /* name 0 says "none", and has no scopes */
        return false;
    k.scopes = dwarf_unit_has_scopes(u);
    ret->damage = read_entries(&k);
    if (!dwarf_spend(d, w->skim.work))
        return false;
    if (ret->damage)
        return return_lists(w, ret);
    if (!take_functions(&k) || !qualify_names(&k))
        return false;
    sort_parts(ret);
    const char *damage = dwarf_lines_read(d, u, &ret->lines);
    if (!ret->damage)
        ret->damage = damage;
    return find_orphans(ret) && return_lists(w, ret);
}
