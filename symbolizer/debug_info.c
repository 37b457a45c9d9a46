#include "symbolizer/debug_info.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "symbolizer/debug_info_model.h"
#include "symbolizer/debug_pieces.h"
#include "symbolizer/dwarf_walk.h"
#include "symbolizer/symtab_fill.h"

#define SYMBOL_TEXTS_MAX ((size_t)1 << 34)

/* Units to be read, by whichever worker is free. */
struct unit_job {
    struct dwarf *d;
    struct debug_info *info;
    struct dwarf_walker *walkers;
    atomic_bool failed;
};

static void read_unit(void *ctx, size_t i, size_t worker)
{
    struct unit_job *job = ctx;
    const struct dwarf_unit *u = &job->d->units[i];
    struct debug_unit *out = &job->info->units[i];
    if (atomic_load_explicit(&job->failed, memory_order_relaxed))
        return;
    out->damage = u->damage;
    out->comp_dir = u->comp_dir;
    if (!u->damage && !dwarf_walk_unit(job->d, u, &job->walkers[worker], out))
        atomic_store_explicit(&job->failed, true, memory_order_relaxed);
}

static void note_damage(struct debug_info *info, const struct dwarf *d)
{
    struct debug_info_counts *n = &info->counts;
    n->units = d->unit_count;
    for (size_t i = 0; i < info->unit_count; i++) {
        if (!info->units[i].damage)
            continue;
        if (n->damaged_units++ == 0)
            snprintf(n->warning, sizeof(n->warning), "unit at 0x%llx of .debug_info: %s",
                     (unsigned long long)d->units[i].offset, info->units[i].damage);
    }
    if (!d->damage)
        return;
    n->damaged_units++;
    if (!*n->warning)
        snprintf(n->warning, sizeof(n->warning), "end of .debug_info: %s", d->damage);
}

static void drop_units(struct debug_info *info)
{
    for (size_t i = 0; i < info->unit_count; i++)
        debug_unit_done(&info->units[i]);
    free(info->units);
    info->units = NULL;
    info->unit_count = 0;
}

/* DWARF that costs more work than any real file is dropped as a whole: the symbol table stays. */
static enum err settle_failure(struct debug_info *info, struct dwarf *d, struct error *err)
{
    if (!dwarf_exhausted(d))
        return error_set(err, ERR_NO_MEMORY, "no memory for DWARF");
    drop_units(info);
    info->counts.units = d->unit_count;
    info->counts.damaged_units = d->unit_count;
    snprintf(info->counts.warning, sizeof(info->counts.warning),
             "DWARF sends its reader in circles; the symbol table is used");
    return ERR_OK;
}

static enum err read_units(struct debug_info *info, const struct object *o, struct dwarf *d,
                           const struct parallel_for *parallel, struct error *err)
{
    enum err code = ERR_OK;
    size_t workers = parallel ? parallel->workers : 1;
    struct unit_job job = {.d = d, .info = info};
    job.walkers = calloc(workers, sizeof(*job.walkers));
    info->units = calloc(d->unit_count + 1, sizeof(*info->units));
    if (!job.walkers || !info->units) {
        code = error_set(err, ERR_NO_MEMORY, "no memory for DWARF");
        goto out;
    }
    for (size_t i = 0; i < workers; i++)
        job.walkers[i].object = o;
    info->unit_count = d->unit_count;
    parallel_run(parallel, d->unit_count, read_unit, &job);
    if (atomic_load(&job.failed) || dwarf_exhausted(d))
        code = settle_failure(info, d, err);
    else
        note_damage(info, d);
out:
    for (size_t i = 0; job.walkers && i < workers; i++)
        dwarf_walker_done(&job.walkers[i]);
    free(job.walkers);
    return code;
}

/* --- names ------------------------------------------------------------------------------------- */

/* $s, $S, _T and their kin, Mach-O's underscore taken off already. */
static bool is_swift_symbol(const char *symbol)
{
    return strncmp(symbol, "$s", 2) == 0 || strncmp(symbol, "$S", 2) == 0 ||
           strncmp(symbol, "_T", 2) == 0;
}

/* A mangled symbol says the plain name of DWARF: "3Foo" is in _ZN3FooC2Ev, whose DIE is "Foo". */
static bool symbol_says(const char *symbol, const char *name)
{
    size_t n = strcspn(name, "<");
    const char *plain = *name == '~' ? name + 1 : name;
    n -= (size_t)(plain - name);
    if (strncmp(symbol, "_Z", 2) != 0 && strncmp(symbol, "_R", 2) != 0 && !is_swift_symbol(symbol))
        return false;
    for (const char *at = symbol; n > 0 && (at = strchr(at, *plain)); at++) {
        if (strncmp(at, plain, n) == 0)
            return true;
    }
    return false;
}

/* The symbol at the function's start that is this function's linkage name; NULL: none says so. Of
 * folded functions several stand there, and the DWARF name decides which is meant. */
static const struct object_symbol *linkage_symbol(const struct symtab *t, uint64_t start,
                                                  const char *name)
{
    const char *last = strrchr(name, ':');
    const char *plain = last && last > name && last[-1] == ':' ? last + 1 : name;
    size_t count;
    const struct object_symbol *s = symtab_at(t, start, &count);
    const struct object_symbol *found = NULL;
    for (size_t i = 0; i < count; i++) {
        if (strcmp(s[i].name, plain) == 0)
            return &s[i];
        if (!found && symbol_says(s[i].name, plain))
            found = &s[i];
    }
    /* Names that a mangling writes in letters of its own: C++ operators, Swift's init, deinit, get. */
    if (!found && count == 1 &&
        (is_swift_symbol(s->name) ||
         (strncmp(plain, "operator", 8) == 0 && strncmp(s->name, "_Z", 2) == 0)))
        found = s;
    return found;
}

static uint32_t add_name(struct debug_info *info, const char *text, bool local)
{
    uint32_t entry = string_table_borrow(&info->strings, text);
    if (!info->strings.entries[entry].is_name && symbol_map_is_hidden(text))
        info->counts.hidden++;
    info->strings.entries[entry].is_name = true;
    if (local)
        info->strings.entries[entry].is_local = true;
    return entry;
}

/* Name 0 of a unit is the one that cannot be found. */
static uint32_t unit_name(struct debug_info *info, struct debug_unit *u, uint32_t name)
{
    const struct debug_name *n = &u->names[name];
    if (!u->name_ids[name])
        u->name_ids[name] = add_name(info, name ? n->text : DEBUG_UNKNOWN_NAME, n->local);
    return u->name_ids[name];
}

/* Linkage name, else the symbol that is one, else the plain name, else what symbol is there. 0: the
 * function stays without a name. */
static uint32_t function_name(struct debug_info *info, const struct symtab *t,
                              const struct debug_piece *piece)
{
    struct debug_unit *u = piece->unit != DEBUG_NO_UNIT ? &info->units[piece->unit] : NULL;
    const struct object_symbol *s = piece->symbol;
    const struct debug_part *part = piece->part;
    if (part && part->name) {
        const struct debug_name *name = &u->names[part->name];
        if (name->wants_symbol)
            s = linkage_symbol(t, part->start, name->text);
        if (!s || strcmp(s->name, name->text) == 0)
            return unit_name(info, u, part->name);
    } else if (part) {
        s = symtab_around(t, part->start);
    }
    return s ? add_name(info, s->name, !s->external && !debug_name_is_unique(s->name)) : 0;
}

/* --- the whole --------------------------------------------------------------------------------- */

/* Rows and files of one function; its calls' names and files. */
static bool use_rows(struct debug_info *info, struct debug_function *f)
{
    struct debug_unit *u = &info->units[f->unit];
    const struct dwarf_lines *l = &u->lines;
    size_t row = dwarf_lines_at(l->rows, l->row_count, f->start);
    if (row == SIZE_MAX)
        row = 0;
    f->first_row = row;
    uint32_t last = DWARF_ROW_END;
    for (; row < l->row_count && l->rows[row].address < f->end; row++) {
        uint32_t file;
        if (l->rows[row].file == last || l->rows[row].file == DWARF_ROW_END)
            continue;
        last = l->rows[row].file;
        if (!debug_file_id(info, u, last, &file))
            return false;
        info->files[file].uses++;
    }
    f->row_count = row - f->first_row;
    info->counts.lines += f->row_count;
    return true;
}

static bool use_inlines(struct debug_info *info, const struct debug_function *f)
{
    struct debug_unit *u = &info->units[f->unit];
    for (size_t i = 0; i < f->inline_count; i++) {
        const struct debug_inline *node = &u->inlines[f->first_inline + i];
        uint32_t file;
        unit_name(info, u, node->name);
        if (node->call_file == DEBUG_NO_FILE)
            continue;
        if (!debug_file_id(info, u, node->call_file, &file))
            return false;
        info->files[file].uses++;
    }
    info->counts.inlines += f->inline_count;
    return true;
}

static bool add_function(struct debug_info *info, const struct symtab *t,
                         const struct debug_piece *piece)
{
    struct debug_function f = {.start = piece->start, .end = piece->end, .unit = piece->unit};
    f.name = function_name(info, t, piece);
    if (f.name == 0)
        return !info->strings.failed;
    if (piece->part) {
        f.first_inline = piece->part->first_inline;
        f.inline_count = piece->part->inline_count;
    }
    if (f.unit == DEBUG_NO_UNIT && piece->symbol && piece->symbol->file &&
        !debug_file_named(info, piece->symbol->file, &f.file))
        return false;
    if (f.unit != DEBUG_NO_UNIT && (!use_rows(info, &f) || !use_inlines(info, &f)))
        return false;
    void *p = vec_grown(info->functions, &info->function_cap, info->function_count + 1, sizeof(f));
    if (!p)
        return false;
    info->functions = p;
    info->functions[info->function_count++] = f;
    return !info->strings.failed;
}

static bool init_numbers(struct debug_info *info)
{
    for (size_t i = 0; i < info->unit_count; i++) {
        struct debug_unit *u = &info->units[i];
        u->name_ids = calloc(u->name_count + 1, sizeof(*u->name_ids));
        u->file_ids = calloc(u->lines.file_count + 1, sizeof(*u->file_ids));
        u->dir_ids = calloc(u->lines.directory_count + 1, sizeof(*u->dir_ids));
        if (!u->name_ids || !u->file_ids || !u->dir_ids)
            return false;
    }
    info->files = vec_grown(NULL, &info->file_cap, 1, sizeof(*info->files));
    if (!info->files || !string_table_init(&info->strings))
        return false;
    info->files[0] = (struct debug_file){0, 0, 0, 0};
    info->file_count = 1;
    return true;
}

static enum err assemble(struct debug_info *info, const struct symtab *t, struct error *err)
{
    struct debug_pieces pieces = {0};
    bool good = init_numbers(info) && debug_pieces_make(info, t, &pieces);
    for (size_t i = 0; good && i < pieces.count; i++)
        good = add_function(info, t, &pieces.items[i]);
    info->counts.functions = info->function_count;
    debug_pieces_done(&pieces);
    string_table_settle(&info->strings);
    good = good && debug_files_settle(info);
    if (good)
        return ERR_OK;
    return info->strings.failed ? error_set(err, ERR_LIMIT, "names and files pass 4 GB, or memory")
                                : error_set(err, ERR_NO_MEMORY, "no memory for functions");
}

static void release_read(const struct object *o)
{
    static const char *const sections[] = {".debug_info",   ".debug_abbrev",   ".debug_line",
                                           ".debug_ranges", ".debug_rnglists", ".debug_addr"};
    for (size_t i = 0; i < sizeof(sections) / sizeof(sections[0]); i++)
        object_release(o, sections[i]);
}

enum err debug_info_build(const struct object *o, const struct parallel_for *parallel,
                          struct debug_info **ret, struct error *err)
{
    struct dwarf *d = NULL;
    struct debug_info *info = calloc(1, sizeof(*info));
    if (!info)
        return error_set(err, ERR_NO_MEMORY, "no memory for debugging information");
    arena_init(&info->symbol_texts, SYMBOL_TEXTS_MAX);
    struct symtab t = {0};
    t.code = object_code(o, &t.code_count);
    t.unsized_reach = object_info(o)->format == OBJECT_ELF;
    enum err code = dwarf_open(o, parallel, &d, err);
    if (code == ERR_OK)
        code = read_units(info, o, d, parallel, err);
    else if (code == ERR_NOT_FOUND)
        code = ERR_OK;
    if (code)
        goto out;
    /* Names live in the string sections; what names them has been read. */
    release_read(o);
    code = object_symbols(o, &info->symbol_texts, &t.symbols, &t.count, err);
    if (code)
        goto out;
    for (size_t i = 0; i < t.count; i++)
        info->counts.nameless += !*t.symbols[i].name;
    code = assemble(info, &t, err);
out:
    dwarf_close(d);
    if (code)
        debug_info_free(info);
    else
        *ret = info;
    return code;
}

void debug_info_free(struct debug_info *info)
{
    if (!info)
        return;
    drop_units(info);
    free(info->functions);
    string_table_done(&info->strings);
    free(info->files);
    free(info->file_order);
    free(info->file_slots);
    arena_done(&info->symbol_texts);
    free(info);
}

const struct debug_info_counts *debug_info_counts(const struct debug_info *info)
{
    return &info->counts;
}
