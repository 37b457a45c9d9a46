/*
 * fuzz_dwarf - an object file's bytes in, its debugging information out.
 *
 * Any object is opened, its DWARF read, its functions encoded as for an index; what debug_info.h
 * promises is checked. libdwarf, which reads units with forms we do not know, is left out by the
 * definitions below: it is not what is tested here.
 */
#include "symbolizer/debug_info_model.h"
#include "symbolizer/dwarf_full.h"
#include "symbolizer/gsym_encode.h"
#include "tests/fuzz/fuzz.h"

const char *dwarf_full_unit(const struct dwarf_object *o, const struct dwarf_unit *u,
                            struct dwarf_skim *s)
{
    (void)o;
    (void)u;
    s->count = 0;
    return "not read here";
}

enum err dwarf_object_open(const struct object *o, struct dwarf_object **ret, struct error *err)
{
    (void)o;
    (void)ret;
    return error_set(err, ERR_UNSUPPORTED, "not read here");
}

void dwarf_object_close(struct dwarf_object *d)
{
    (void)d;
}

/* A symbol without a size reaches over the borders of sections in ELF (symtab_fill.h). */
static bool in_code(const struct object *o, const struct debug_function *f)
{
    size_t count;
    const struct object_range *code = object_code(o, &count);
    bool reaches = f->unit == DEBUG_NO_UNIT && object_info(o)->format == OBJECT_ELF;
    for (size_t i = 0; i < count; i++) {
        if (f->start >= code[i].start && f->start < code[i].end)
            return f->end <= (reaches ? code[count - 1].end : code[i].end);
    }
    return count == 0;
}

static void check_inlines(const struct debug_info *d, const struct debug_function *f)
{
    const struct debug_unit *u = &d->units[f->unit];
    for (size_t i = 0; i < f->inline_count; i++) {
        const struct debug_inline *node = &u->inlines[f->first_inline + i];
        REQUIRE(node->depth >= 1 && node->depth <= DEBUG_INLINE_DEPTH_MAX);
        REQUIRE(node->range_count > 0);
        for (size_t k = 0; k < node->range_count; k++) {
            const struct object_range *r = &u->ranges[node->first_range + k];
            REQUIRE(r->start < r->end);
            REQUIRE(k == 0 || r[-1].end < r->start);
        }
    }
}

static void check(const struct debug_info *d, const struct object *o)
{
    struct gsym_rows rows = {0};
    struct buf out;
    uint64_t last = 0;
    buf_init(&out, (size_t)1 << 30);
    for (size_t i = 0; i < d->function_count; i++) {
        const struct debug_function *f = &d->functions[i];
        REQUIRE(f->start < f->end && f->start >= last && f->name != 0);
        REQUIRE(in_code(o, f));
        last = f->end;
        REQUIRE(gsym_rows_of(d, f, &rows));
        for (size_t k = 0; k < rows.count; k++) {
            REQUIRE(rows.items[k].address >= f->start && rows.items[k].address < f->end);
            REQUIRE(k == 0 || rows.items[k - 1].address < rows.items[k].address);
        }
        buf_clear(&out);
        if (rows.count)
            gsym_encode_lines(&rows, f->start, &out);
        if (f->unit != DEBUG_NO_UNIT)
            check_inlines(d, f);
        gsym_encode_inlines(d, f, &out);
    }
    gsym_rows_done(&rows);
    buf_done(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct object *o = NULL;
    struct debug_info *d = NULL;
    if (object_open(data, size, &o, NULL))
        return 0;
    if (debug_info_build(o, NULL, &d, NULL) == ERR_OK)
        check(d, o);
    debug_info_free(d);
    object_close(o);
    return 0;
}
