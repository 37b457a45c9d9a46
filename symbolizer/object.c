#include "symbolizer/object.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "symbolizer/elf.h"
#include "symbolizer/macho.h"
#include "symbolizer/object_ranges.h"
#include "symbolizer/object_reader.h"
#include "symbolizer/radix.h"

struct object {
    const struct object_reader *reader;
    void *file; /* the reader's */
    struct object_info info;
    struct object_range *code;
    size_t code_count;
    const void *data;
    uint64_t size;
    bool mapped;
    struct symbol_map *map;
};

static const struct object_reader *const READERS[] = {&MACHO_READER, &ELF_READER};

static const struct object_reader *find_reader(const void *data, uint64_t size)
{
    for (size_t i = 0; i < sizeof(READERS) / sizeof(READERS[0]); i++) {
        if (READERS[i]->recognize(data, size))
            return READERS[i];
    }
    return NULL;
}

bool object_recognize(const void *data, uint64_t size)
{
    return find_reader(data, size) != NULL;
}

static enum err not_an_object(const void *data, uint64_t size, struct error *err)
{
    if (size >= 8 && memcmp(data, "!<arch>\n", 8) == 0)
        return error_set(err, ERR_UNSUPPORTED, "static library, not a dSYM");
    return error_set(err, ERR_FORMAT, "neither Mach-O nor ELF");
}

enum err object_slices(const void *data, uint64_t size, struct object_slice *ret, size_t *ret_count,
                       struct error *ret_problem, struct error *err)
{
    const struct object_reader *reader = find_reader(data, size);
    if (!reader)
        return not_an_object(data, size, err);
    if (ret_problem)
        *ret_problem = (struct error){.code = ERR_OK};
    return reader->slices(data, size, ret, ret_count, ret_problem, err);
}

static enum err take_code(struct object *o, struct error *err)
{
    size_t count = 0;
    const struct object_range *ranges = o->reader->code(o->file, &count);
    o->code = calloc(count ? count : 1, sizeof(*o->code));
    if (!o->code)
        return error_set(err, ERR_NO_MEMORY, "no memory for %zu sections", count);
    if (count == 0)
        return ERR_OK;
    memcpy(o->code, ranges, count * sizeof(*ranges));
    o->code_count = object_ranges_order(o->code, count);
    return ERR_OK;
}

enum err object_open(const void *data, uint64_t size, struct object **ret, struct error *err)
{
    const struct object_reader *reader = find_reader(data, size);
    if (!reader)
        return not_an_object(data, size, err);
    struct object *o = calloc(1, sizeof(*o));
    if (!o)
        return error_set(err, ERR_NO_MEMORY, "no memory for an object file");
    o->reader = reader;
    o->data = data;
    o->size = size;
    enum err e = reader->open(data, size, &o->info, &o->file, err);
    if (e == ERR_OK)
        e = take_code(o, err);
    if (e != ERR_OK) {
        object_close(o);
        return e;
    }
    *ret = o;
    return ERR_OK;
}

void object_close(struct object *o)
{
    if (!o)
        return;
    o->reader->close(o->file);
    free(o->code);
    free(o);
}

const struct object_info *object_info(const struct object *o)
{
    return &o->info;
}

bool object_section(const struct object *o, const char *name, struct cursor *ret)
{
    return o->reader->section(o->file, name, ret);
}

void object_set_mapped(struct object *o)
{
    o->mapped = true;
}

void object_release(const struct object *o, const char *name)
{
    struct cursor c;
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    if (!o->mapped || !object_section(o, name, &c))
        return;
    /* Not what was decompressed: those bytes are nowhere else. */
    uintptr_t from = (uintptr_t)c.p, end = (uintptr_t)c.end;
    if (from < (uintptr_t)o->data || end > (uintptr_t)o->data + o->size)
        return;
    from = (from + page - 1) / page * page;
    end = end / page * page;
    if (from < end)
        madvise((void *)from, end - from, MADV_DONTNEED);
}

void object_set_symbol_map(struct object *o, struct symbol_map *map)
{
    o->map = map;
    if (o->reader->set_map)
        o->reader->set_map(o->file, map);
}

struct symbol_map *object_symbol_map(const struct object *o)
{
    return o->map;
}

const struct object_range *object_code(const struct object *o, size_t *ret_count)
{
    *ret_count = o->code_count;
    return o->code;
}

static int compare_symbols(const void *a, const void *b)
{
    const struct object_symbol *x = a;
    const struct object_symbol *y = b;
    if (x->address != y->address)
        return x->address < y->address ? -1 : 1;
    int by_name = strcmp(x->name, y->name);
    if (by_name)
        return by_name;
    if (x->external != y->external)
        return x->external ? -1 : 1;
    if (x->size != y->size)
        return x->size > y->size ? -1 : 1;
    return x->place < y->place ? -1 : x->place > y->place;
}

/* By address in a few passes; what shares an address is compared. NULL: no memory. */
static struct object_symbol *sort_symbols(const struct object_symbol *s, size_t count,
                                          struct arena *arena)
{
    struct object_symbol *sorted = arena_array(arena, count + 1, sizeof(*sorted));
    struct radix_item *order = malloc((count + 1) * sizeof(*order));
    for (size_t i = 0; order && i < count; i++)
        order[i] = (struct radix_item){s[i].address, (uint32_t)i};
    if (!sorted || !order || !radix_sort(order, count)) {
        free(order);
        return NULL;
    }
    for (size_t i = 0; i < count; i++)
        sorted[i] = s[order[i].index];
    free(order);
    for (size_t i = 0, end; i < count; i = end) {
        for (end = i + 1; end < count && sorted[end].address == sorted[i].address;)
            end++;
        if (end > i + 1)
            qsort(sorted + i, end - i, sizeof(*sorted), compare_symbols);
    }
    return sorted;
}

/* Drops doubles, and nameless symbols where a named one is (they sort first at an address). */
static size_t prune_symbols(struct object_symbol *s, size_t count)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        bool more = i + 1 < count && s[i + 1].address == s[i].address;
        if (more && !*s[i].name)
            continue;
        if (kept && s[kept - 1].address == s[i].address && !strcmp(s[kept - 1].name, s[i].name))
            continue;
        s[kept++] = s[i];
    }
    return kept;
}

enum err object_symbols(const struct object *o, struct arena *arena,
                        const struct object_symbol **ret, size_t *ret_count, struct error *err)
{
    struct object_symbol *symbols = NULL;
    size_t count = 0;
    enum err e = o->reader->symbols(o->file, arena, &symbols, &count, err);
    if (e != ERR_OK)
        return e;
    for (size_t i = 0; i < count; i++)
        symbols[i].place = (uint32_t)i;
    symbols = sort_symbols(symbols, count, arena);
    if (!symbols)
        return error_set(err, ERR_NO_MEMORY, "no memory for %zu symbols", count);
    *ret_count = prune_symbols(symbols, count);
    *ret = symbols;
    return ERR_OK;
}
