#include "symbolizer/dwarf_object.h"

#include <dwarf.h>
#include <stdlib.h>

/* 20210528 has no version in its header, and other names for the same things. */
#ifdef DW_LIBDWARF_VERSION_MAJOR
typedef Dwarf_Obj_Access_Interface_a access_interface;
typedef Dwarf_Obj_Access_Methods_a access_methods;
typedef Dwarf_Obj_Access_Section_a access_section;
typedef Dwarf_Unsigned section_index;
typedef Dwarf_Unsigned section_count;
typedef Dwarf_Small byte_order;
#else
typedef Dwarf_Obj_Access_Interface access_interface;
typedef Dwarf_Obj_Access_Methods access_methods;
typedef Dwarf_Obj_Access_Section access_section;
typedef Dwarf_Half section_index;
typedef Dwarf_Unsigned section_count;
typedef Dwarf_Endianness byte_order;
#endif

static const char *const section_names[] = {
    ".debug_info",     ".debug_abbrev", ".debug_line",     ".debug_line_str",    ".debug_str",
    ".debug_addr",     ".debug_ranges", ".debug_rnglists", ".debug_str_offsets", ".debug_types",
    ".debug_loclists", ".debug_loc",    ".debug_aranges",
};

#define SECTIONS_MAX (sizeof(section_names) / sizeof(section_names[0]))

struct dwarf_object {
    access_interface interface;
    Dwarf_Debug debug;
    struct object_info info;
    /* [0] is the empty section that libdwarf expects there. */
    const char *names[SECTIONS_MAX + 1];
    struct cursor sections[SECTIONS_MAX + 1];
    size_t count;
};

static int get_section_info(void *self, section_index i, access_section *ret, int *error)
{
    const struct dwarf_object *d = self;
    (void)error;
    if (i >= d->count)
        return DW_DLV_NO_ENTRY;
    access_section s = {0};
#ifdef DW_LIBDWARF_VERSION_MAJOR
    s.as_name = d->names[i];
    s.as_size = cursor_left(&d->sections[i]);
    s.as_addralign = 1;
#else
    s.name = d->names[i];
    s.size = cursor_left(&d->sections[i]);
#endif
    *ret = s;
    return DW_DLV_OK;
}

static byte_order get_byte_order(void *self)
{
    const struct dwarf_object *d = self;
    bool little = (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__) != d->info.swap;
#ifdef DW_LIBDWARF_VERSION_MAJOR
    return little ? DW_END_little : DW_END_big;
#else
    return little ? DW_OBJECT_LSB : DW_OBJECT_MSB;
#endif
}

/* Size of offsets outside of units that say theirs. */
static Dwarf_Small get_length_size(void *self)
{
    (void)self;
    return 4;
}

static Dwarf_Small get_pointer_size(void *self)
{
    const struct dwarf_object *d = self;
    return d->info.address_size;
}

static section_count get_section_count(void *self)
{
    const struct dwarf_object *d = self;
    return d->count;
}

static int load_section(void *self, section_index i, Dwarf_Small **ret, int *error)
{
    const struct dwarf_object *d = self;
    (void)error;
    if (i >= d->count || cursor_left(&d->sections[i]) == 0)
        return DW_DLV_NO_ENTRY;
    /* libdwarf reads only; its interface has no const. */
    *ret = (Dwarf_Small *)(uintptr_t)d->sections[i].p;
    return DW_DLV_OK;
}

#ifdef DW_LIBDWARF_VERSION_MAJOR
static Dwarf_Unsigned get_file_size(void *self)
{
    const struct dwarf_object *d = self;
    Dwarf_Unsigned sum = 0;
    for (size_t i = 0; i < d->count; i++)
        sum += cursor_left(&d->sections[i]);
    return sum;
}

static const access_methods methods = {
    .om_get_section_info = get_section_info,
    .om_get_byte_order = get_byte_order,
    .om_get_length_size = get_length_size,
    .om_get_pointer_size = get_pointer_size,
    .om_get_filesize = get_file_size,
    .om_get_section_count = get_section_count,
    .om_load_section = load_section,
};
#else
static const access_methods methods = {
    .get_section_info = get_section_info,
    .get_byte_order = get_byte_order,
    .get_length_size = get_length_size,
    .get_pointer_size = get_pointer_size,
    .get_section_count = get_section_count,
    .load_section = load_section,
};
#endif

static void take_sections(struct dwarf_object *d, const struct object *o)
{
    d->names[0] = "";
    d->sections[0] = cursor_of("", 0);
    d->count = 1;
    for (size_t i = 0; i < SECTIONS_MAX; i++) {
        if (!object_section(o, section_names[i], &d->sections[d->count]))
            continue;
        d->names[d->count++] = section_names[i];
    }
}

enum err dwarf_object_open(const struct object *o, struct dwarf_object **ret, struct error *err)
{
    struct cursor info;
    if (!object_section(o, ".debug_info", &info))
        return error_set(err, ERR_NOT_FOUND, "no .debug_info");
    struct dwarf_object *d = calloc(1, sizeof(*d));
    if (!d)
        return error_set(err, ERR_NO_MEMORY, "no memory for libdwarf");
    d->info = *object_info(o);
    take_sections(d, o);
#ifdef DW_LIBDWARF_VERSION_MAJOR
    d->interface.ai_object = d;
    d->interface.ai_methods = &methods;
#else
    d->interface.object = d;
    d->interface.methods = &methods;
#endif
    Dwarf_Error error = NULL;
    int result =
        dwarf_object_init_b(&d->interface, NULL, NULL, DW_GROUPNUMBER_ANY, &d->debug, &error);
    if (result != DW_DLV_OK) {
        error_set(err, ERR_FORMAT, "libdwarf: %s",
                  result == DW_DLV_ERROR && error ? dwarf_errmsg(error) : "no DWARF");
        free(d);
        return ERR_FORMAT;
    }
    *ret = d;
    return ERR_OK;
}

void dwarf_object_close(struct dwarf_object *d)
{
    if (!d)
        return;
#ifdef DW_LIBDWARF_VERSION_MAJOR
    dwarf_object_finish(d->debug);
#else
    Dwarf_Error error = NULL;
    dwarf_object_finish(d->debug, &error);
#endif
    free(d);
}

Dwarf_Debug dwarf_object_debug(const struct dwarf_object *d)
{
    return d->debug;
}
