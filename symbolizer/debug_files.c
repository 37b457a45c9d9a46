/*
 * The files of a debug_info: from a unit's file number to one file of the whole, its name joined
 * with its directory and the directory the compiler ran in.
 */
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "symbolizer/debug_info_model.h"

#define FIRST_SLOTS    ((size_t)1024)
#define DEBUG_PATH_MAX ((size_t)4096)

static bool is_absolute(const char *path)
{
    if (path[0] == '/' || path[0] == '\\')
        return true;
    bool letter = (path[0] >= 'a' && path[0] <= 'z') || (path[0] >= 'A' && path[0] <= 'Z');
    return letter && path[1] == ':' && (path[2] == '/' || path[2] == '\\');
}

/* "<compiler-generated>" and the like are no files and stand in no directory. */
static bool is_pseudo(const char *name)
{
    size_t n = strlen(name);
    return n > 2 && name[0] == '<' && name[n - 1] == '>';
}

struct path {
    char text[DEBUG_PATH_MAX];
    size_t length;
};

static void path_clear(struct path *p)
{
    p->length = 0;
    p->text[0] = 0;
}

/* Joins; an absolute piece takes the place of all before it. Too long a path is cut. */
static void path_join(struct path *p, const char *piece, size_t n)
{
    if (n == 0)
        return;
    if (is_absolute(piece))
        p->length = 0;
    if (p->length > 0 && p->text[p->length - 1] != '/' && p->length < DEBUG_PATH_MAX - 1)
        p->text[p->length++] = '/';
    if (n > DEBUG_PATH_MAX - 1 - p->length)
        n = DEBUG_PATH_MAX - 1 - p->length;
    memcpy(p->text + p->length, piece, n);
    p->length += n;
    p->text[p->length] = 0;
}

/* Directory `number` of the unit's line table. */
static void path_directory(struct path *p, const struct debug_unit *u, uint32_t number)
{
    const struct dwarf_lines *l = &u->lines;
    path_clear(p);
    if (u->comp_dir)
        path_join(p, u->comp_dir, strlen(u->comp_dir));
    if (l->directory_count > 0 && l->directories[0] && l->directories[0] != u->comp_dir)
        path_join(p, l->directories[0], strlen(l->directories[0]));
    if (number > 0 && number < l->directory_count && l->directories[number])
        path_join(p, l->directories[number], strlen(l->directories[number]));
    while (p->length > 1 && p->text[p->length - 1] == '/')
        p->text[--p->length] = 0;
}

/* The directory's entry of the string table, found once for each of the unit's directories. */
static uint32_t directory_entry(struct debug_info *d, struct debug_unit *u, uint32_t number)
{
    struct path p;
    if (number >= u->lines.directory_count)
        number = 0;
    if (u->dir_ids && u->dir_ids[number])
        return u->dir_ids[number] - 1;
    path_directory(&p, u, number);
    uint32_t entry = string_table_add(&d->strings, p.text, p.length);
    if (u->dir_ids)
        u->dir_ids[number] = entry + 1;
    return entry;
}

static size_t slot_hash(uint32_t directory, uint32_t base)
{
    uint64_t key = (uint64_t)directory << 32 | base;
    return (size_t)((key * 0x9e3779b97f4a7c15u) >> 32);
}

static bool grow_slots(struct debug_info *d)
{
    size_t want = d->file_slot_count ? d->file_slot_count * 2 : FIRST_SLOTS;
    uint32_t *slots = calloc(want, sizeof(*slots));
    if (!slots)
        return false;
    for (size_t f = 1; f < d->file_count; f++) {
        size_t i = slot_hash(d->files[f].directory, d->files[f].base) & (want - 1);
        while (slots[i])
            i = (i + 1) & (want - 1);
        slots[i] = (uint32_t)f;
    }
    free(d->file_slots);
    d->file_slots = slots;
    d->file_slot_count = want;
    return true;
}

static bool add_file(struct debug_info *d, uint32_t directory, uint32_t base, uint32_t *ret)
{
    if (d->file_count * 2 >= d->file_slot_count && !grow_slots(d))
        return false;
    size_t mask = d->file_slot_count - 1;
    size_t i = slot_hash(directory, base) & mask;
    for (; d->file_slots[i]; i = (i + 1) & mask) {
        const struct debug_file *f = &d->files[d->file_slots[i]];
        if (f->directory == directory && f->base == base) {
            *ret = d->file_slots[i];
            return true;
        }
    }
    void *p = vec_grown(d->files, &d->file_cap, d->file_count + 1, sizeof(d->files[0]));
    if (!p || d->file_count >= UINT32_MAX - 1)
        return false;
    d->files = p;
    d->files[d->file_count] = (struct debug_file){directory, base, 0, 0};
    d->file_slots[i] = (uint32_t)d->file_count;
    *ret = (uint32_t)d->file_count++;
    return true;
}

/* Splits at the last slash: what stands before it belongs to the directory. */
static bool make_file(struct debug_info *d, struct debug_unit *u, const struct dwarf_file *file,
                      uint32_t *ret)
{
    const char *name = file->name;
    const char *slash = strrchr(name, '/');
    uint32_t directory;
    if (is_pseudo(name))
        return add_file(d, 0, string_table_borrow(&d->strings, name), ret);
    if (!slash) {
        directory = is_absolute(name) ? 0 : directory_entry(d, u, file->directory);
    } else {
        struct path p;
        path_clear(&p);
        if (!is_absolute(name))
            path_directory(&p, u, file->directory);
        size_t n = (size_t)(slash - name);
        path_join(&p, name, n > 0 ? n : 1);
        directory = string_table_add(&d->strings, p.text, p.length);
        name = slash + 1;
    }
    uint32_t base = string_table_borrow(&d->strings, name);
    *ret = 0;
    return base == 0 ? !d->strings.failed : add_file(d, directory, base, ret);
}

bool debug_file_named(struct debug_info *d, const char *name, uint32_t *ret)
{
    const char *slash = strrchr(name, '/');
    const char *base = slash ? slash + 1 : name;
    uint32_t directory = slash ? string_table_add(&d->strings, name, (size_t)(slash - name)) : 0;
    uint32_t entry = string_table_borrow(&d->strings, base);
    *ret = 0;
    return !d->strings.failed && (entry == 0 || add_file(d, directory, entry, ret));
}

bool debug_file_id(struct debug_info *d, struct debug_unit *u, uint32_t number, uint32_t *ret)
{
    const struct dwarf_file *file = dwarf_lines_file(&u->lines, number);
    *ret = 0;
    if (!file || !file->name || !*file->name || !u->file_ids)
        return true;
    uint32_t *known = &u->file_ids[file - u->lines.files];
    if (*known) {
        *ret = *known - 1;
        return true;
    }
    if (!make_file(d, u, file, ret))
        return false;
    *known = *ret + 1;
    return !d->strings.failed;
}

/* Most used first: small numbers take fewer bytes. */
static int compare_uses(const void *a, const void *b, void *ctx)
{
    const struct debug_file *files = ctx;
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    if (files[x].uses != files[y].uses)
        return files[x].uses > files[y].uses ? -1 : 1;
    return x < y ? -1 : x > y;
}

bool debug_files_settle(struct debug_info *d)
{
    d->file_order = malloc(d->file_count * sizeof(*d->file_order));
    if (!d->file_order)
        return false;
    for (size_t i = 0; i < d->file_count; i++)
        d->file_order[i] = (uint32_t)i;
    /* File 0 is none, and stays where it is. */
    qsort_r(d->file_order + 1, d->file_count - 1, sizeof(*d->file_order), compare_uses, d->files);
    for (size_t i = 0; i < d->file_count; i++)
        d->files[d->file_order[i]].place = (uint32_t)i;
    return true;
}
