#include "symbolizer/macho_fat.h"

#include <inttypes.h>

#include "symbolizer/macho_format.h"

#define HEADER_SIZE 8
#define ENTRY_SIZE  20
#define ENTRY_64    32
/* The second word of a Java class is its version, 45 and up; no universal file has more slices. */
#define JAVA_FIRST_VERSION 45

struct fat {
    bool swap;
    bool is64;
    uint32_t count;
    struct cursor entries;
};

static bool read_header(const void *data, uint64_t size, struct fat *ret)
{
    struct cursor c = cursor_of(data, (size_t)size);
    uint32_t magic = cursor_u32(&c, false);
    bool swap = magic == __builtin_bswap32(FAT_MAGIC) || magic == __builtin_bswap32(FAT_MAGIC_64);
    if (swap)
        magic = __builtin_bswap32(magic);
    if (magic != FAT_MAGIC && magic != FAT_MAGIC_64)
        return false;
    ret->swap = swap;
    ret->is64 = magic == FAT_MAGIC_64;
    ret->count = cursor_u32(&c, swap);
    ret->entries = c;
    return !c.overrun;
}

static bool known_cpu(uint32_t cputype)
{
    uint32_t family = cputype & ~(CPU_ARCH_ABI64 | CPU_ARCH_ABI64_32);
    return family == CPU_TYPE_X86 || family == CPU_TYPE_ARM || family == CPU_TYPE_POWERPC;
}

bool macho_fat_recognize(const void *data, uint64_t size)
{
    struct fat fat;
    if (!read_header(data, size, &fat))
        return false;
    struct cursor c = fat.entries;
    uint32_t cputype = cursor_u32(&c, fat.swap);
    return fat.is64 || fat.count < JAVA_FIRST_VERSION || (!c.overrun && known_cpu(cputype));
}

static bool overlaps(const struct object_slice *slices, size_t count, const struct object_slice *s)
{
    for (size_t i = 0; i < count; i++) {
        if (s->offset < slices[i].offset + slices[i].size && slices[i].offset < s->offset + s->size)
            return true;
    }
    return false;
}

/* NULL when the slice can be used. */
static const char *slice_problem(uint64_t table_end, uint64_t size, const struct object_slice *s)
{
    if (s->size == 0)
        return "is empty";
    if (s->offset < table_end)
        return "lies on the universal header";
    if (s->offset > size || s->size > size - s->offset)
        return "ends past the end of the file";
    return NULL;
}

enum err macho_fat_slices(const void *data, uint64_t size, struct object_slice *ret,
                          size_t *ret_count, struct error *ret_problem, struct error *err)
{
    struct fat fat;
    if (!read_header(data, size, &fat))
        return error_set(err, ERR_FORMAT, "the universal header is cut off");
    if (fat.count == 0)
        return error_set(err, ERR_FORMAT, "the universal header has no slices");
    if (fat.count > OBJECT_SLICES_MAX)
        return error_set(err, ERR_FORMAT,
                         "the universal header says %" PRIu32 " slices, at most %d are read",
                         fat.count, OBJECT_SLICES_MAX);
    uint64_t entry_size = fat.is64 ? ENTRY_64 : ENTRY_SIZE;
    uint64_t table_end = HEADER_SIZE + fat.count * entry_size;
    if (table_end > size)
        return error_set(err, ERR_FORMAT, "the universal header is cut off");
    size_t count = 0;
    struct error problem = {.code = ERR_OK};
    struct cursor c = fat.entries;
    for (uint32_t i = 0; i < fat.count; i++) {
        struct object_slice s = {0};
        cursor_skip(&c, 8); /* cputype, cpusubtype: the slice's own header counts */
        s.offset = fat.is64 ? cursor_u64(&c, fat.swap) : cursor_u32(&c, fat.swap);
        s.size = fat.is64 ? cursor_u64(&c, fat.swap) : cursor_u32(&c, fat.swap);
        cursor_skip(&c, fat.is64 ? 8 : 4); /* align, reserved */
        const char *why = slice_problem(table_end, size, &s);
        if (!why && overlaps(ret, count, &s))
            why = "overlaps another one";
        if (!why)
            ret[count++] = s;
        else if (problem.code == ERR_OK)
            error_set(&problem, ERR_FORMAT, "slice %" PRIu32 " of %" PRIu32 " %s", i, fat.count,
                      why);
    }
    if (count == 0)
        return error_set(err, ERR_FORMAT, "%s", problem.text);
    if (ret_problem)
        *ret_problem = problem;
    *ret_count = count;
    return ERR_OK;
}
