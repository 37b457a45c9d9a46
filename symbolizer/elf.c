#include "symbolizer/elf.h"

#include <gelf.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "symbolizer/elf_inflate.h"
#include "symbolizer/object_names.h"

#define PAGE_SIZE_MIN 4096
#define PREFIX        ".debug_"
#define GNU_PREFIX    ".zdebug_"

struct debug_section {
    const char *name; /* "info" of ".debug_info" */
    struct cursor bytes;
    uint8_t *owned; /* NULL: the bytes are in the file */
};

/* What symbols need to know of a section, by its index. */
struct place {
    uint64_t start;
    uint64_t end; /* 0 when it holds no code */
};

struct elf {
    Elf *elf;
    const uint8_t *data;
    uint64_t size;
    GElf_Ehdr header;
    struct debug_section *debug;
    size_t debug_count;
    uint64_t inflated;
    struct place *places;
    size_t place_count;
    struct object_range *code;
    size_t code_count;
    Elf_Data *symbols;
    struct cursor strings;
    bool symbols_whole; /* from .symtab, not .dynsym */
    bool text_has_bytes;
    bool has_interpreter;
    uint8_t build_id[OBJECT_BUILD_ID_MAX];
    size_t build_id_len;
    uint64_t base;
    uint64_t text_end;
    char name[OBJECT_NAME_SIZE];
};

struct machine_row {
    unsigned machine;
    int bits; /* 0: any */
    const char *name;
};

static const struct machine_row MACHINES[] = {
    {EM_X86_64, 0, "x86_64"}, {EM_386, 0, "i386"},       {EM_AARCH64, 0, "aarch64"},
    {EM_ARM, 0, "arm"},       {EM_RISCV, 64, "riscv64"}, {EM_RISCV, 32, "riscv32"},
    {EM_PPC64, 0, "ppc64"},   {EM_PPC, 0, "ppc"},        {EM_S390, 0, "s390x"},
    {EM_MIPS, 64, "mips64"},  {EM_MIPS, 32, "mips"},     {EM_LOONGARCH, 64, "loongarch64"},
};

static const char *elf_arch_name(unsigned machine, int bits, char out[OBJECT_ARCH_SIZE])
{
    for (size_t i = 0; i < sizeof(MACHINES) / sizeof(MACHINES[0]); i++) {
        const struct machine_row *row = &MACHINES[i];
        if (row->machine == machine && (row->bits == 0 || row->bits == bits)) {
            snprintf(out, OBJECT_ARCH_SIZE, "%s", row->name);
            return out;
        }
    }
    snprintf(out, OBJECT_ARCH_SIZE, "machine-%u", machine);
    return out;
}

static bool has_prefix(const char *name, const char *prefix)
{
    return strncmp(name, prefix, strlen(prefix)) == 0;
}

static bool elf_recognize(const void *data, uint64_t size)
{
    return size >= SELFMAG && memcmp(data, ELFMAG, SELFMAG) == 0;
}

static enum err elf_slices(const void *data, uint64_t size, struct object_slice *ret,
                           size_t *ret_count, struct error *ret_problem, struct error *err)
{
    (void)data;
    (void)ret_problem;
    (void)err;
    ret[0] = (struct object_slice){0, size};
    *ret_count = 1;
    return ERR_OK;
}

static void elf_close(void *reader)
{
    struct elf *f = reader;
    if (!f)
        return;
    for (size_t i = 0; i < f->debug_count; i++)
        free(f->debug[i].owned);
    free(f->debug);
    free(f->places);
    free(f->code);
    if (f->elf)
        elf_end(f->elf);
    free(f);
}

/* The bytes of a section as they lie in the file; false when they do not. */
static bool section_bytes(const struct elf *f, const GElf_Shdr *s, struct cursor *ret)
{
    return s->sh_type != SHT_NOBITS && bytes_slice(f->data, f->size, s->sh_offset, s->sh_size, ret);
}

static bool is_swapped(const struct elf *f)
{
    return (f->header.e_ident[EI_DATA] == ELFDATA2MSB) != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
}

/* Walks the notes in `c` (4-byte aligned, gABI) for the GNU build-id. The first one counts. */
static void find_build_id(struct elf *f, struct cursor c)
{
    bool swap = is_swapped(f);
    while (!f->build_id_len && cursor_left(&c) >= 12) {
        uint64_t name_size = cursor_u32(&c, swap);
        uint64_t size = cursor_u32(&c, swap);
        uint32_t type = cursor_u32(&c, swap);
        struct cursor name = c;
        cursor_skip(&c, (name_size + 3) & ~(uint64_t)3);
        struct cursor id = c;
        cursor_skip(&c, (size + 3) & ~(uint64_t)3);
        const uint8_t *owner = cursor_take(&name, 4);
        if (type != NT_GNU_BUILD_ID || name_size != 4 || !owner || memcmp(owner, "GNU", 4) != 0)
            continue;
        size_t len = size < OBJECT_BUILD_ID_MAX ? (size_t)size : OBJECT_BUILD_ID_MAX;
        const uint8_t *bytes = cursor_take(&id, len);
        if (bytes && len) {
            memcpy(f->build_id, bytes, len);
            f->build_id_len = len;
        }
    }
}

/* Where a compressed section's stream begins, and what it says about itself. */
static enum err read_compression(const struct elf *f, bool gnu, struct cursor *c,
                                 uint32_t *ret_algorithm, uint64_t *ret_size, struct error *err)
{
    bool swap = is_swapped(f);
    if (gnu) {
        const uint8_t *magic = cursor_take(c, 4); /* then a big-endian 64-bit size */
        *ret_algorithm = ELFCOMPRESS_ZLIB;
        *ret_size = cursor_u64(c, __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);
        if (!magic || memcmp(magic, "ZLIB", 4) != 0 || c->overrun)
            return error_set(err, ERR_FORMAT, "its compression header is damaged");
        return ERR_OK;
    }
    *ret_algorithm = cursor_u32(c, swap);
    if (f->header.e_ident[EI_CLASS] == ELFCLASS64) {
        cursor_u32(c, swap);
        *ret_size = cursor_u64(c, swap);
        cursor_u64(c, swap);
    } else {
        *ret_size = cursor_u32(c, swap);
        cursor_u32(c, swap);
    }
    return c->overrun ? error_set(err, ERR_FORMAT, "its compression header is cut off") : ERR_OK;
}

static enum err inflate_section(struct elf *f, bool gnu, struct debug_section *d, struct error *err)
{
    struct cursor c = d->bytes;
    uint32_t algorithm = 0;
    uint64_t size = 0;
    enum err e = read_compression(f, gnu, &c, &algorithm, &size, err);
    if (e != ERR_OK)
        return e;
    if (size == 0) {
        d->bytes = cursor_of(f->data, 0);
        return ERR_OK;
    }
    if (size / ELF_RATIO_MAX > cursor_left(&c) || size > ELF_INFLATED_MAX - f->inflated)
        return error_set(err, ERR_LIMIT, "it says it holds %" PRIu64 " bytes", size);
    d->owned = malloc(size);
    if (!d->owned)
        return error_set(err, ERR_NO_MEMORY, "no memory for its %" PRIu64 " bytes", size);
    f->inflated += size;
    d->bytes = cursor_of(d->owned, size);
    return elf_inflate(algorithm, c, d->owned, size, err);
}

/* `name` is ".debug_X", or ".zdebug_X" of GNU's older way, known then as ".debug_X". */
static enum err add_debug(struct elf *f, const GElf_Shdr *s, const char *name, struct error *err)
{
    bool gnu = name[1] == 'z';
    struct debug_section *d = &f->debug[f->debug_count];
    if (s->sh_type == SHT_NOBITS || s->sh_size == 0)
        return ERR_OK; /* the binary beside its .debug file */
    d->name = name + (gnu ? sizeof(GNU_PREFIX) : sizeof(PREFIX)) - 1;
    if (!section_bytes(f, s, &d->bytes))
        return error_set(err, ERR_FORMAT, "section %.64s ends past the end of the file", name);
    f->debug_count++;
    if (!gnu && !(s->sh_flags & SHF_COMPRESSED))
        return ERR_OK;
    enum err e = inflate_section(f, gnu, d, err);
    return e == ERR_OK ? e : error_prefix(err, "section %.64s", name);
}

static enum err take_symbols(struct elf *f, Elf_Scn *scn, const GElf_Shdr *s, struct error *err)
{
    bool whole = s->sh_type == SHT_SYMTAB;
    struct cursor bytes;
    if (s->sh_type == SHT_NOBITS || s->sh_size == 0 || (f->symbols && (f->symbols_whole || !whole)))
        return ERR_OK;
    if (!section_bytes(f, s, &bytes))
        return error_set(err, ERR_FORMAT, "the symbol table ends past the end of the file");
    Elf_Scn *names = elf_getscn(f->elf, s->sh_link);
    GElf_Shdr link;
    struct cursor strings;
    if (!names || !gelf_getshdr(names, &link) || link.sh_type != SHT_STRTAB ||
        !section_bytes(f, &link, &strings))
        return error_set(err, ERR_FORMAT, "the symbol table has no strings in the file");
    Elf_Data *data = elf_getdata(scn, NULL);
    if (!data || !data->d_buf)
        return error_set(err, ERR_FORMAT, "the symbol table is damaged: %s", elf_errmsg(-1));
    f->symbols = data;
    f->strings = strings;
    f->symbols_whole = whole;
    return ERR_OK;
}

static void take_soname(struct elf *f, Elf_Scn *scn, const GElf_Shdr *s)
{
    Elf_Data *data = s->sh_type == SHT_NOBITS ? NULL : elf_getdata(scn, NULL);
    for (int i = 0; data; i++) {
        GElf_Dyn dyn;
        if (!gelf_getdyn(data, i, &dyn) || dyn.d_tag == DT_NULL)
            return;
        if (dyn.d_tag != DT_SONAME)
            continue;
        const char *path = elf_strptr(f->elf, s->sh_link, dyn.d_un.d_val);
        const char *slash = path ? strrchr(path, '/') : NULL;
        if (path)
            snprintf(f->name, sizeof(f->name), "%s", slash ? slash + 1 : path);
        return;
    }
}

static enum err take_code(struct elf *f, size_t index, const GElf_Shdr *s, struct error *err)
{
    if (!(s->sh_flags & SHF_ALLOC) || !(s->sh_flags & SHF_EXECINSTR) || s->sh_size == 0)
        return ERR_OK;
    if (s->sh_size > UINT64_MAX - s->sh_addr)
        return error_set(err, ERR_FORMAT, "section %zu wraps around the address space", index);
    struct object_range range = {s->sh_addr, s->sh_addr + s->sh_size};
    f->code[f->code_count++] = range;
    f->places[index] = (struct place){range.start, range.end};
    if (s->sh_type != SHT_NOBITS)
        f->text_has_bytes = true;
    if (range.end > f->text_end)
        f->text_end = range.end;
    return ERR_OK;
}

static enum err read_section(struct elf *f, Elf_Scn *scn, const char *name, struct error *err)
{
    GElf_Shdr s;
    if (!gelf_getshdr(scn, &s))
        return error_set(err, ERR_FORMAT, "a section header is damaged: %s", elf_errmsg(-1));
    struct cursor bytes;
    enum err e = ERR_OK;
    switch (s.sh_type) {
    case SHT_NOTE:
        if (section_bytes(f, &s, &bytes))
            find_build_id(f, bytes);
        break;
    case SHT_SYMTAB:
    case SHT_DYNSYM:
        e = take_symbols(f, scn, &s, err);
        break;
    case SHT_DYNAMIC:
        take_soname(f, scn, &s);
        break;
    default:
        break;
    }
    if (e == ERR_OK)
        e = take_code(f, elf_ndxscn(scn), &s, err);
    if (e != ERR_OK || !name)
        return e;
    if (has_prefix(name, PREFIX) || has_prefix(name, GNU_PREFIX))
        return add_debug(f, &s, name, err);
    return ERR_OK;
}

static enum err read_sections(struct elf *f, struct error *err)
{
    size_t count = 0;
    size_t names = 0;
    if (elf_getshdrnum(f->elf, &count) != 0 || elf_getshdrstrndx(f->elf, &names) != 0)
        return error_set(err, ERR_FORMAT, "the section table is damaged: %s", elf_errmsg(-1));
    size_t entry = gelf_fsize(f->elf, ELF_T_SHDR, 1, EV_CURRENT);
    if (f->header.e_shoff &&
        (count == 0 || f->header.e_shentsize != entry || f->header.e_shoff > f->size ||
         count > (f->size - f->header.e_shoff) / entry))
        return error_set(err, ERR_FORMAT, "the section table ends past the end of the file");
    if (count > ELF_SECTIONS_MAX)
        return error_set(err, ERR_LIMIT, "%zu sections, at most %d are read", count,
                         ELF_SECTIONS_MAX);
    f->places = calloc(count + 1, sizeof(*f->places));
    f->code = calloc(count + 1, sizeof(*f->code));
    f->debug = calloc(count + 1, sizeof(*f->debug));
    if (!f->places || !f->code || !f->debug)
        return error_set(err, ERR_NO_MEMORY, "no memory for %zu sections", count);
    f->place_count = count;
    for (size_t i = 1; i < count; i++) {
        Elf_Scn *scn = elf_getscn(f->elf, i);
        GElf_Shdr s;
        if (!scn || !gelf_getshdr(scn, &s))
            return error_set(err, ERR_FORMAT, "section header %zu is damaged", i);
        enum err e = read_section(f, scn, elf_strptr(f->elf, names, s.sh_name), err);
        if (e != ERR_OK)
            return e;
    }
    return ERR_OK;
}

static enum err read_segments(struct elf *f, struct error *err)
{
    size_t count = 0;
    uint64_t lowest = UINT64_MAX;
    if (elf_getphdrnum(f->elf, &count) != 0)
        return error_set(err, ERR_FORMAT, "the program headers are damaged: %s", elf_errmsg(-1));
    for (size_t i = 0; i < count && i < ELF_SECTIONS_MAX; i++) {
        GElf_Phdr p;
        struct cursor notes;
        if (!gelf_getphdr(f->elf, (int)i, &p))
            return error_set(err, ERR_FORMAT, "program header %zu is damaged", i);
        if (p.p_type == PT_INTERP)
            f->has_interpreter = true;
        if (p.p_type == PT_NOTE && bytes_slice(f->data, f->size, p.p_offset, p.p_filesz, &notes))
            find_build_id(f, notes);
        if (p.p_type != PT_LOAD || p.p_memsz > UINT64_MAX - p.p_vaddr)
            continue;
        if (p.p_vaddr < lowest)
            lowest = p.p_vaddr;
        if ((p.p_flags & PF_X) && p.p_vaddr + p.p_memsz > f->text_end)
            f->text_end = p.p_vaddr + p.p_memsz;
    }
    f->base = lowest == UINT64_MAX ? 0 : lowest & ~(uint64_t)(PAGE_SIZE_MIN - 1);
    return ERR_OK;
}

static enum err check_type(const struct elf *f, struct error *err)
{
    switch (f->header.e_type) {
    case ET_EXEC:
    case ET_DYN:
        return ERR_OK;
    case ET_REL:
        return error_set(err, ERR_UNSUPPORTED, "object file, not a linked image");
    case ET_CORE:
        return error_set(err, ERR_UNSUPPORTED, "core file, not a linked image");
    default:
        return error_set(err, ERR_UNSUPPORTED, "ELF file of type %u", f->header.e_type);
    }
}

static bool elf_section(const void *reader, const char *name, struct cursor *ret)
{
    const struct elf *f = reader;
    if (!has_prefix(name, PREFIX))
        return false;
    name += sizeof(PREFIX) - 1;
    for (size_t i = 0; i < f->debug_count; i++) {
        if (strcmp(f->debug[i].name, name) == 0 && cursor_left(&f->debug[i].bytes) > 0) {
            *ret = f->debug[i].bytes;
            return true;
        }
    }
    return false;
}

static enum object_type type_of(const struct elf *f, bool has_dwarf)
{
    if (!f->text_has_bytes && (has_dwarf || f->symbols_whole))
        return OBJECT_DEBUG;
    return f->header.e_type == ET_EXEC || f->has_interpreter ? OBJECT_EXECUTABLE : OBJECT_DYLIB;
}

static void fill_info(const struct elf *f, struct object_info *ret)
{
    struct cursor info;
    bool is64 = f->header.e_ident[EI_CLASS] == ELFCLASS64;
    memset(ret, 0, sizeof(*ret));
    ret->format = OBJECT_ELF;
    ret->has_dwarf = elf_section(f, ".debug_info", &info);
    ret->type = type_of(f, ret->has_dwarf);
    ret->uuid = uuid_from_build_id(f->build_id, f->build_id_len);
    memcpy(ret->build_id, f->build_id, f->build_id_len);
    ret->build_id_len = f->build_id_len;
    elf_arch_name(f->header.e_machine, is64 ? 64 : 32, ret->arch);
    memcpy(ret->name, f->name, sizeof(ret->name));
    ret->address_size = is64 ? 8 : 4;
    ret->swap = is_swapped(f);
    ret->thumb = f->header.e_machine == EM_ARM;
    ret->text_vmaddr = f->base;
    ret->text_size = f->text_end > f->base ? f->text_end - f->base : 0;
}

static enum err check_build_id(const struct elf *f, struct error *err)
{
    struct uuid uuid = uuid_from_build_id(f->build_id, f->build_id_len);
    if (f->build_id_len == 0)
        return error_set(err, ERR_INVALID, "no build-id (link with --build-id)");
    if (uuid_is_nil(&uuid))
        return error_set(err, ERR_INVALID, "the build-id is zero");
    return ERR_OK;
}

static enum err elf_open(const void *data, uint64_t size, struct object_info *ret_info, void **ret,
                         struct error *err)
{
    enum err e = ERR_OK;
    struct elf *f = calloc(1, sizeof(*f));
    if (!f)
        return error_set(err, ERR_NO_MEMORY, "no memory for an ELF file");
    f->data = data;
    f->size = size;
    elf_version(EV_CURRENT);
    /* libelf reads only; its prototype does not say so. */
    f->elf = elf_memory((char *)(uintptr_t)data, (size_t)size);
    if (!f->elf || elf_kind(f->elf) != ELF_K_ELF || !gelf_getehdr(f->elf, &f->header)) {
        e = error_set(err, ERR_FORMAT, "the ELF header is damaged");
        goto out;
    }
    e = check_type(f, err);
    if (e == ERR_OK)
        e = read_segments(f, err);
    if (e == ERR_OK)
        e = read_sections(f, err);
    if (e == ERR_OK)
        e = check_build_id(f, err);
    if (e != ERR_OK)
        goto out;
    fill_info(f, ret_info);
    *ret = f;
    f = NULL;
out:
    elf_close(f);
    return e;
}

static const struct object_range *elf_code(const void *reader, size_t *ret_count)
{
    const struct elf *f = reader;
    *ret_count = f->code_count;
    return f->code;
}

/* "$x", "$d.12" and the like tell data from code to a disassembler; they name nothing. */
static bool is_mapping_symbol(const char *name)
{
    return name[0] == '$' && name[1] && strchr("adtx", name[1]) && (!name[2] || name[2] == '.');
}

/* Without `ret` its name is not looked at. */
static bool read_symbol(const struct elf *f, size_t index, struct object_names *names,
                        struct object_symbol *ret)
{
    GElf_Sym sym;
    if (!gelf_getsym(f->symbols, (int)index, &sym))
        return false;
    unsigned type = GELF_ST_TYPE(sym.st_info);
    if (type != STT_FUNC && type != STT_GNU_IFUNC && type != STT_NOTYPE)
        return false;
    if (sym.st_shndx == SHN_UNDEF || sym.st_shndx >= f->place_count)
        return false; /* reserved ones and SHN_XINDEX, too: no image has 65,280 sections */
    uint64_t address = sym.st_value;
    if (f->header.e_machine == EM_ARM)
        address &= ~(uint64_t)1;
    const struct place *place = &f->places[sym.st_shndx];
    if (address < place->start || address >= place->end)
        return false;
    if (!ret)
        return true;
    const char *name = object_names_at(names, sym.st_name);
    if (!name || !*name || (type == STT_NOTYPE && is_mapping_symbol(name)))
        return false;
    uint64_t room = place->end - address;
    uint64_t symbol_size = sym.st_size < room ? sym.st_size : room;
    *ret = (struct object_symbol){.address = address,
                                  .size = symbol_size,
                                  .name = name,
                                  .external = GELF_ST_BIND(sym.st_info) != STB_LOCAL};
    return true;
}

/* The file whose local symbols follow; NULL: symbol `index` names none. */
static const char *read_file_symbol(const struct elf *f, size_t index, struct object_names *names)
{
    GElf_Sym sym;
    if (!gelf_getsym(f->symbols, (int)index, &sym) || GELF_ST_TYPE(sym.st_info) != STT_FILE)
        return NULL;
    return object_names_at(names, sym.st_name);
}

static enum err elf_symbols(const void *reader, struct arena *arena, struct object_symbol **ret,
                            size_t *ret_count, struct error *err)
{
    const struct elf *f = reader;
    struct object_symbol s;
    struct object_names names;
    size_t entry =
        f->header.e_ident[EI_CLASS] == ELFCLASS64 ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym);
    size_t entries = f->symbols ? f->symbols->d_size / entry : 0;
    size_t count = 0; /* too many where names are missing */
    object_names_begin(&names, f->strings);
    for (size_t i = 0; i < entries; i++)
        count += read_symbol(f, i, &names, NULL);
    if (count > OBJECT_SYMBOLS_MAX)
        return error_set(err, ERR_LIMIT, "%zu function symbols, at most %zu are read", count,
                         OBJECT_SYMBOLS_MAX);
    struct object_symbol *symbols = arena_array(arena, count ? count : 1, sizeof(*symbols));
    if (!symbols)
        return error_set(err, ERR_NO_MEMORY, "no memory for %zu symbols", count);
    size_t n = 0;
    const char *file = NULL;
    for (size_t i = 0; i < entries; i++) {
        const char *next = read_file_symbol(f, i, &names);
        if (next)
            file = *next ? next : NULL;
        if (!read_symbol(f, i, &names, &s))
            continue;
        s.file = s.external ? NULL : file;
        symbols[n++] = s;
    }
    *ret = symbols;
    *ret_count = n;
    return object_names_check(&names, err);
}

const struct object_reader ELF_READER = {
    .recognize = elf_recognize,
    .slices = elf_slices,
    .open = elf_open,
    .close = elf_close,
    .section = elf_section,
    .code = elf_code,
    .symbols = elf_symbols,
};
