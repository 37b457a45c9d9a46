#include "symbolizer/macho.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "symbolizer/macho_fat.h"
#include "symbolizer/macho_format.h"
#include "symbolizer/object_names.h"
#include "symbolizer/object_ranges.h"

#define NAME_SIZE      16 /* of segment and section names, without a NUL when they fill it */
#define SECTION_SIZE   68 /* of struct section, struct section_64 */
#define SECTION_64     80
#define DYLIB_SIZE     24 /* of struct dylib_command; its name stands behind it */
#define NLIST_SIZE     12
#define NLIST_64       16
#define DSYM_SEGMENT   "__DWARF"
#define REDACTED       "<redacted>"
#define FOUR_GIGABYTES ((uint64_t)1 << 32)

struct dwarf_section {
    char name[NAME_SIZE];
    struct cursor bytes;
};

struct macho {
    const uint8_t *data;
    uint64_t size;
    bool swap;
    bool is64;
    bool thumb;
    uint32_t file_type;
    uint32_t sections; /* seen so far: symbols count them from 1 */
    bool has_uuid;
    bool has_text;
    uint64_t text_vmaddr;
    uint64_t text_size;
    struct uuid uuid;
    char name[OBJECT_NAME_SIZE];
    struct dwarf_section *dwarf;
    size_t dwarf_count;
    uint64_t dwarf_end; /* where the last of them ended in the file */
    struct object_range *code;
    size_t code_count;     /* in order once the file is open */
    struct cursor symbols; /* the nlist entries */
    struct cursor strings;
    struct cursor starts; /* LC_FUNCTION_STARTS */
    struct symbol_map *map;
};

struct section {
    const char *section_name; /* 16 bytes */
    const char *segment_name;
    uint64_t address;
    uint64_t size;
    uint32_t offset;
    uint32_t flags;
};

struct arch_row {
    uint32_t type;
    uint32_t subtype;
    const char *name;
};

static const struct arch_row ARCHS[] = {
    {CPU_TYPE_ARM64, 2, "arm64e"},
    {CPU_TYPE_ARM64, CPU_SUBTYPE_DEFAULT, "arm64"},
    {CPU_TYPE_ARM64_32, CPU_SUBTYPE_DEFAULT, "arm64_32"},
    {CPU_TYPE_X86_64, 8, "x86_64h"},
    {CPU_TYPE_X86_64, CPU_SUBTYPE_DEFAULT, "x86_64"},
    {CPU_TYPE_X86, CPU_SUBTYPE_DEFAULT, "i386"},
    {CPU_TYPE_ARM, 5, "armv4t"},
    {CPU_TYPE_ARM, 6, "armv6"},
    {CPU_TYPE_ARM, 7, "armv5"},
    {CPU_TYPE_ARM, 8, "xscale"},
    {CPU_TYPE_ARM, 9, "armv7"},
    {CPU_TYPE_ARM, 10, "armv7f"},
    {CPU_TYPE_ARM, 11, "armv7s"},
    {CPU_TYPE_ARM, 12, "armv7k"},
    {CPU_TYPE_ARM, 13, "armv8"},
    {CPU_TYPE_ARM, 14, "armv6m"},
    {CPU_TYPE_ARM, 15, "armv7m"},
    {CPU_TYPE_ARM, 16, "armv7em"},
    {CPU_TYPE_ARM, CPU_SUBTYPE_DEFAULT, "arm"},
    {CPU_TYPE_POWERPC64, CPU_SUBTYPE_DEFAULT, "ppc64"},
    {CPU_TYPE_POWERPC, CPU_SUBTYPE_DEFAULT, "ppc"},
};

const char *macho_arch_name(uint32_t cputype, uint32_t cpusubtype, char out[OBJECT_ARCH_SIZE])
{
    uint32_t subtype = cpusubtype & ~CPU_SUBTYPE_MASK;
    for (size_t i = 0; i < sizeof(ARCHS) / sizeof(ARCHS[0]); i++) {
        const struct arch_row *row = &ARCHS[i];
        if (row->type == cputype &&
            (row->subtype == subtype || row->subtype == CPU_SUBTYPE_DEFAULT)) {
            snprintf(out, OBJECT_ARCH_SIZE, "%s", row->name);
            return out;
        }
    }
    snprintf(out, OBJECT_ARCH_SIZE, "cpu-0x%08" PRIx32, cputype);
    return out;
}

/* Segment and section names are compared over all 16 bytes: they may have no NUL. */
static bool name_is(const char *name, const char *text)
{
    size_t len = strlen(text);
    return len <= NAME_SIZE && memcmp(name, text, len) == 0 && (len == NAME_SIZE || !name[len]);
}

static uint64_t read_word(struct cursor *c, const struct macho *m)
{
    return m->is64 ? cursor_u64(c, m->swap) : cursor_u32(c, m->swap);
}

static bool has_bytes(const struct section *s)
{
    uint32_t type = s->flags & SECTION_TYPE_MASK;
    return s->size > 0 && type != S_ZEROFILL && type != S_GB_ZEROFILL &&
           type != S_THREAD_LOCAL_ZEROFILL;
}

static enum err add_dwarf(struct macho *m, const struct section *s, struct error *err)
{
    if (!has_bytes(s))
        return ERR_OK;
    struct dwarf_section d = {.bytes = {0}};
    memcpy(d.name, s->section_name, NAME_SIZE);
    if (!bytes_slice(m->data, m->size, s->offset, s->size, &d.bytes))
        return error_set(err, ERR_FORMAT, "section %.16s ends past the end of the file",
                         s->section_name);
    if (m->size > FOUR_GIGABYTES && s->offset < m->dwarf_end)
        return error_set(err, ERR_UNSUPPORTED,
                         "section %.16s lies beyond 4 GB, where its 32-bit offset has wrapped",
                         s->section_name);
    m->dwarf_end = s->offset + s->size;
    m->dwarf[m->dwarf_count++] = d;
    return ERR_OK;
}

static enum err add_section(struct macho *m, const struct section *s, struct error *err)
{
    if (m->sections == MACHO_SECTIONS_MAX)
        return error_set(err, ERR_LIMIT, "more than %d sections", MACHO_SECTIONS_MAX);
    m->sections++;
    if (name_is(s->segment_name, DSYM_SEGMENT))
        return add_dwarf(m, s, err);
    if ((s->flags & (S_ATTR_PURE_INSTRUCTIONS | S_ATTR_SOME_INSTRUCTIONS)) && s->size) {
        if (s->size > UINT64_MAX - s->address)
            return error_set(err, ERR_FORMAT, "section %.16s wraps around the address space",
                             s->section_name);
        struct object_range range = {s->address, s->address + s->size};
        m->code[m->code_count++] = range;
    }
    return ERR_OK;
}

/* struct segment_command(_64) after cmd and cmdsize, and its sections. */
static enum err read_segment(struct macho *m, struct cursor *c, bool is64, struct error *err)
{
    if (is64 != m->is64)
        return error_set(err, ERR_FORMAT, "a segment of %d bits in a file of %d", is64 ? 64 : 32,
                         m->is64 ? 64 : 32);
    const char *name = (const char *)cursor_take(c, NAME_SIZE);
    uint64_t vmaddr = read_word(c, m);
    uint64_t vmsize = read_word(c, m);
    uint64_t file_offset = read_word(c, m);
    read_word(c, m);
    cursor_skip(c, 8); /* maxprot, initprot */
    uint32_t count = cursor_u32(c, m->swap);
    cursor_u32(c, m->swap);
    if (c->overrun)
        return error_set(err, ERR_FORMAT, "a segment's load command is too short");
    if (count > cursor_left(c) / (is64 ? SECTION_64 : SECTION_SIZE))
        return error_set(err, ERR_FORMAT, "segment %.16s says it has %" PRIu32 " sections", name,
                         count);
    if (name_is(name, "__TEXT") && !m->has_text) {
        if (vmsize > UINT64_MAX - vmaddr)
            return error_set(err, ERR_FORMAT, "__TEXT wraps around the address space");
        m->has_text = true;
        m->text_vmaddr = vmaddr;
        m->text_size = vmsize;
    }
    if (name_is(name, DSYM_SEGMENT) && m->size > FOUR_GIGABYTES && file_offset > m->dwarf_end)
        m->dwarf_end = file_offset;
    for (uint32_t i = 0; i < count; i++) {
        struct section s = {0};
        s.section_name = (const char *)cursor_take(c, NAME_SIZE);
        s.segment_name = (const char *)cursor_take(c, NAME_SIZE);
        s.address = read_word(c, m);
        s.size = read_word(c, m);
        s.offset = cursor_u32(c, m->swap);
        cursor_skip(c, 12); /* align, reloff, nreloc */
        s.flags = cursor_u32(c, m->swap);
        cursor_skip(c, is64 ? 12 : 8);
        enum err e = add_section(m, &s, err);
        if (e != ERR_OK)
            return e;
    }
    return ERR_OK;
}

static enum err read_uuid(struct macho *m, struct cursor *c, struct error *err)
{
    const uint8_t *bytes = cursor_take(c, sizeof(m->uuid.bytes));
    if (!bytes)
        return error_set(err, ERR_FORMAT, "LC_UUID is too short");
    if (!m->has_uuid) { /* the first one counts */
        memcpy(m->uuid.bytes, bytes, sizeof(m->uuid.bytes));
        m->has_uuid = true;
    }
    return ERR_OK;
}

static enum err read_symtab(struct macho *m, struct cursor *c, struct error *err)
{
    uint32_t symbols = cursor_u32(c, m->swap);
    uint32_t count = cursor_u32(c, m->swap);
    uint32_t strings = cursor_u32(c, m->swap);
    uint32_t strings_size = cursor_u32(c, m->swap);
    if (c->overrun)
        return error_set(err, ERR_FORMAT, "LC_SYMTAB is too short");
    if (count == 0)
        return ERR_OK;
    uint64_t bytes = (uint64_t)count * (m->is64 ? NLIST_64 : NLIST_SIZE);
    if (!bytes_slice(m->data, m->size, symbols, bytes, &m->symbols))
        return error_set(err, ERR_FORMAT, "the symbol table ends past the end of the file");
    if (!bytes_slice(m->data, m->size, strings, strings_size, &m->strings))
        return error_set(err, ERR_FORMAT, "the string table ends past the end of the file");
    return ERR_OK;
}

/* In a dSYM the command may be left over from the binary, whose bytes are not here. */
static enum err read_starts(struct macho *m, struct cursor *c, struct error *err)
{
    uint32_t offset = cursor_u32(c, m->swap);
    uint32_t size = cursor_u32(c, m->swap);
    if (c->overrun)
        return error_set(err, ERR_FORMAT, "LC_FUNCTION_STARTS is too short");
    if (m->file_type == MH_DSYM)
        return ERR_OK;
    if (!bytes_slice(m->data, m->size, offset, size, &m->starts))
        return error_set(err, ERR_FORMAT, "the function starts end past the end of the file");
    return ERR_OK;
}

static void read_dylib_name(struct macho *m, struct cursor command, struct cursor *c)
{
    uint32_t offset = cursor_u32(c, m->swap);
    cursor_skip(c, DYLIB_SIZE - 12); /* time and versions */
    if (c->overrun || offset < DYLIB_SIZE)
        return; /* it would begin in the command itself */
    cursor_skip(&command, offset);
    const char *path = cursor_cstr(&command);
    if (!path)
        return; /* a name without its NUL is no name; the file is good for all else */
    const char *slash = strrchr(path, '/');
    snprintf(m->name, sizeof(m->name), "%s", slash ? slash + 1 : path);
}

static enum err read_command(struct macho *m, uint32_t cmd, struct cursor command,
                             struct error *err)
{
    struct cursor c = command;
    cursor_skip(&c, 8); /* cmd, cmdsize */
    switch (cmd) {
    case LC_SEGMENT:
    case LC_SEGMENT_64:
        return read_segment(m, &c, cmd == LC_SEGMENT_64, err);
    case LC_UUID:
        return read_uuid(m, &c, err);
    case LC_SYMTAB:
        return read_symtab(m, &c, err);
    case LC_FUNCTION_STARTS:
        return read_starts(m, &c, err);
    case LC_ID_DYLIB:
        read_dylib_name(m, command, &c);
        return ERR_OK;
    default:
        return ERR_OK;
    }
}

static enum err read_commands(struct macho *m, struct cursor c, uint32_t count, struct error *err)
{
    if (count > MACHO_COMMANDS_MAX)
        return error_set(err, ERR_LIMIT, "%" PRIu32 " load commands, at most %d are read", count,
                         MACHO_COMMANDS_MAX);
    for (uint32_t i = 0; i < count; i++) {
        struct cursor head = c;
        uint32_t cmd = cursor_u32(&head, m->swap);
        uint32_t size = cursor_u32(&head, m->swap);
        if (head.overrun || size < 8 || size > cursor_left(&c))
            return error_set(err, ERR_FORMAT,
                             "load command %" PRIu32 " of %" PRIu32 " does not fit its header", i,
                             count);
        struct cursor command = cursor_of(c.p, size);
        cursor_skip(&c, size);
        enum err e = read_command(m, cmd, command, err);
        if (e != ERR_OK)
            return e;
    }
    return ERR_OK;
}

struct type_row {
    uint32_t file_type;
    enum object_type type;
    const char *refused; /* NULL: read */
};

static const struct type_row TYPES[] = {
    {MH_EXECUTE, OBJECT_EXECUTABLE, NULL},
    {MH_DYLIB, OBJECT_DYLIB, NULL},
    {MH_BUNDLE, OBJECT_DYLIB, NULL},
    {MH_DSYM, OBJECT_DSYM, NULL},
    {MH_OBJECT, OBJECT_OTHER, "object file, not a dSYM"},
    {MH_CORE, OBJECT_OTHER, "core file, not a dSYM"},
    {MH_FILESET, OBJECT_OTHER, "kernel collection, not a dSYM"},
};

static const struct type_row *find_type(uint32_t file_type)
{
    static const struct type_row other = {0, OBJECT_OTHER, NULL};
    for (size_t i = 0; i < sizeof(TYPES) / sizeof(TYPES[0]); i++) {
        if (TYPES[i].file_type == file_type)
            return &TYPES[i];
    }
    return &other;
}

static bool read_magic(const void *data, uint64_t size, bool *ret_swap, bool *ret_64)
{
    struct cursor c = cursor_of(data, size < 4 ? (size_t)size : 4);
    uint32_t magic = cursor_u32(&c, false);
    bool swap = magic == __builtin_bswap32(MH_MAGIC) || magic == __builtin_bswap32(MH_MAGIC_64);
    if (swap)
        magic = __builtin_bswap32(magic);
    if (c.overrun || (magic != MH_MAGIC && magic != MH_MAGIC_64))
        return false;
    *ret_swap = swap;
    *ret_64 = magic == MH_MAGIC_64;
    return true;
}

static bool macho_recognize(const void *data, uint64_t size)
{
    bool swap, is64;
    return read_magic(data, size, &swap, &is64) || macho_fat_recognize(data, size);
}

static enum err macho_slices(const void *data, uint64_t size, struct object_slice *ret,
                             size_t *ret_count, struct error *ret_problem, struct error *err)
{
    if (macho_fat_recognize(data, size))
        return macho_fat_slices(data, size, ret, ret_count, ret_problem, err);
    ret[0] = (struct object_slice){0, size};
    *ret_count = 1;
    return ERR_OK;
}

static void macho_close(void *reader)
{
    struct macho *m = reader;
    if (!m)
        return;
    free(m->dwarf);
    free(m->code);
    free(m);
}

static bool macho_section(const void *reader, const char *name, struct cursor *ret)
{
    const struct macho *m = reader;
    /* ".debug_str_offsets" is "__debug_str_offs" here: two underscores, 16 bytes. */
    char macho_name[NAME_SIZE + 1];
    if (name[0] != '.')
        return false;
    snprintf(macho_name, sizeof(macho_name), "__%s", name + 1);
    for (size_t i = 0; i < m->dwarf_count; i++) {
        if (name_is(m->dwarf[i].name, macho_name)) {
            *ret = m->dwarf[i].bytes;
            return true;
        }
    }
    return false;
}

static void fill_info(const struct macho *m, uint32_t cputype, uint32_t cpusubtype,
                      struct object_info *ret)
{
    struct cursor info;
    memset(ret, 0, sizeof(*ret));
    ret->format = OBJECT_MACHO;
    ret->type = find_type(m->file_type)->type;
    ret->uuid = m->uuid;
    macho_arch_name(cputype, cpusubtype, ret->arch);
    memcpy(ret->name, m->name, sizeof(ret->name));
    ret->address_size = m->is64 ? 8 : 4;
    ret->swap = m->swap;
    ret->has_dwarf = macho_section(m, ".debug_info", &info);
    ret->thumb = m->thumb;
    ret->text_vmaddr = m->text_vmaddr;
    ret->text_size = m->text_size;
}

static enum err check_whole(const struct macho *m, struct error *err)
{
    if (!m->has_uuid)
        return error_set(err, ERR_INVALID, "no LC_UUID");
    if (uuid_is_nil(&m->uuid))
        return error_set(err, ERR_INVALID, "LC_UUID is zero");
    if (!m->has_text)
        return error_set(err, ERR_FORMAT, "no __TEXT segment");
    return ERR_OK;
}

static enum err macho_open(const void *data, uint64_t size, struct object_info *ret_info,
                           void **ret, struct error *err)
{
    enum err e = ERR_OK;
    struct macho *m = calloc(1, sizeof(*m));
    if (!m)
        return error_set(err, ERR_NO_MEMORY, "no memory for a Mach-O file");
    m->data = data;
    m->size = size;
    if (!read_magic(data, size, &m->swap, &m->is64)) {
        e = error_set(err, ERR_FORMAT, "not a Mach-O file");
        goto out;
    }
    m->dwarf = calloc(MACHO_SECTIONS_MAX, sizeof(*m->dwarf));
    m->code = calloc(MACHO_SECTIONS_MAX, sizeof(*m->code));
    if (!m->dwarf || !m->code) {
        e = error_set(err, ERR_NO_MEMORY, "no memory for a Mach-O file");
        goto out;
    }
    struct cursor c = cursor_of(data, (size_t)size);
    cursor_skip(&c, 4);
    uint32_t cputype = cursor_u32(&c, m->swap);
    uint32_t cpusubtype = cursor_u32(&c, m->swap);
    m->file_type = cursor_u32(&c, m->swap);
    uint32_t count = cursor_u32(&c, m->swap);
    uint32_t commands_size = cursor_u32(&c, m->swap);
    cursor_skip(&c, m->is64 ? 8 : 4);
    m->thumb = cputype == CPU_TYPE_ARM;
    const uint8_t *commands = cursor_take(&c, commands_size);
    if (!commands) {
        e = error_set(err, ERR_FORMAT, "the load commands end past the end of the file");
        goto out;
    }
    const struct type_row *type = find_type(m->file_type);
    if (type->refused) {
        e = error_set(err, ERR_UNSUPPORTED, "%s", type->refused);
        goto out;
    }
    e = read_commands(m, cursor_of(commands, commands_size), count, err);
    if (e == ERR_OK)
        e = check_whole(m, err);
    if (e != ERR_OK)
        goto out;
    m->code_count = object_ranges_order(m->code, m->code_count);
    fill_info(m, cputype, cpusubtype, ret_info);
    *ret = m;
    m = NULL;
out:
    macho_close(m);
    return e;
}

static void macho_set_map(void *reader, struct symbol_map *map)
{
    struct macho *m = reader;
    m->map = map;
}

static const struct object_range *macho_code(const void *reader, size_t *ret_count)
{
    const struct macho *m = reader;
    *ret_count = m->code_count;
    return m->code;
}

static bool in_code(const struct macho *m, uint64_t address)
{
    return object_ranges_hold(m->code, m->code_count, address);
}

/* The next entry, if it is a function; `c` stands behind it in any case. Without `ret` its name is not
 * looked at. */
static bool read_symbol(const struct macho *m, struct cursor *c, struct object_names *names,
                        struct object_symbol *ret)
{
    uint32_t name = cursor_u32(c, m->swap);
    uint8_t type = cursor_u8(c);
    cursor_u8(c); /* n_sect: the address says it better */
    cursor_u16(c, m->swap);
    uint64_t address = read_word(c, m);
    if ((type & N_STAB) || (type & N_TYPE) != N_SECT)
        return false;
    if (m->thumb)
        address &= ~(uint64_t)1;
    if (!in_code(m, address))
        return false;
    if (!ret)
        return true;
    const char *text = object_names_at(names, name);
    if (!text)
        return false;
    if (strcmp(text, REDACTED) == 0) {
        /* A local function of the shared cache: it bounds its neighbours. */
        *ret = (struct object_symbol){.address = address, .name = ""};
        return true;
    }
    text = symbol_map_symbol(m->map, text);
    if (!*text)
        return false;
    *ret = (struct object_symbol){
        .address = address, .name = text, .external = (type & (N_EXT | N_PEXT)) != 0};
    return true;
}

/* The next function start; false at the end of the list. */
static bool read_start(struct cursor *c, uint64_t *address)
{
    if (cursor_left(c) == 0)
        return false;
    uint64_t delta = cursor_uleb(c);
    *address += delta;
    return delta != 0 && !c->overrun;
}

/* The first pass counts, too many where names are missing; the second (`ret` not NULL) keeps. */
static size_t each_symbol(const struct macho *m, struct object_names *names,
                          struct object_symbol *ret)
{
    struct object_symbol s;
    size_t n = 0;
    struct cursor c = m->symbols;
    while (cursor_left(&c) > 0) {
        if (read_symbol(m, &c, names, ret ? &s : NULL)) {
            if (ret)
                ret[n] = s;
            n++;
        }
    }
    uint64_t address = m->text_vmaddr;
    c = m->starts;
    while (read_start(&c, &address)) {
        uint64_t start = m->thumb ? address & ~(uint64_t)1 : address;
        if (!in_code(m, start))
            continue;
        if (ret)
            ret[n] = (struct object_symbol){.address = start, .name = ""};
        n++;
    }
    return n;
}

static enum err macho_symbols(const void *reader, struct arena *arena, struct object_symbol **ret,
                              size_t *ret_count, struct error *err)
{
    const struct macho *m = reader;
    struct object_names names;
    object_names_begin(&names, m->strings);
    size_t count = each_symbol(m, &names, NULL);
    if (count > OBJECT_SYMBOLS_MAX)
        return error_set(err, ERR_LIMIT, "%zu function symbols, at most %zu are read", count,
                         OBJECT_SYMBOLS_MAX);
    struct object_symbol *symbols = arena_array(arena, count ? count : 1, sizeof(*symbols));
    if (!symbols)
        return error_set(err, ERR_NO_MEMORY, "no memory for %zu symbols", count);
    *ret_count = each_symbol(m, &names, symbols);
    *ret = symbols;
    return object_names_check(&names, err);
}

const struct object_reader MACHO_READER = {
    .recognize = macho_recognize,
    .slices = macho_slices,
    .open = macho_open,
    .close = macho_close,
    .set_map = macho_set_map,
    .section = macho_section,
    .code = macho_code,
    .symbols = macho_symbols,
};
