#include "symbolizer/gsym_read.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "base/bytes.h"
#include "symbolizer/demangle.h"
#include "symbolizer/gsym_format.h"
#include "symbolizer/gsym_inline.h"
#include "symbolizer/gsym_lines.h"
#include "symbolizer/sigbus_guard.h"

/* A table of equal records inside the file; its bounds were checked when the file was opened. */
struct table {
    const uint8_t *data;
    uint32_t count;
};

/* Strings one after another, the last byte a NUL: any offset inside is a C string. */
struct strings {
    const char *data;
    uint32_t size;
};

struct gsym {
    struct gsym_info info;
    const uint8_t *data;
    bool mapped;
    uint8_t offset_size;
    uint64_t base;
    struct table offsets; /* of offset_size bytes each */
    struct table records; /* u32 */
    struct table files;   /* 2 u32 */
    struct strings names;
    uint32_t locals; /* names from here on are not external */
    uint32_t crc;
};

static inline uint32_t table_u32(const struct table *t, size_t i)
{
    uint32_t v;
    memcpy(&v, t->data + i * sizeof(v), sizeof(v));
    return v;
}

/* One load where `size` is a constant. */
static inline __attribute__((always_inline)) uint64_t offset_at(const struct table *t, size_t i,
                                                                size_t size)
{
    uint64_t v = 0;
    memcpy(&v, t->data + i * size, size);
    return v;
}

static uint64_t function_offset(const struct gsym *g, size_t i)
{
    switch (g->offset_size) {
    case 1:
        return offset_at(&g->offsets, i, 1);
    case 2:
        return offset_at(&g->offsets, i, 2);
    case 4:
        return offset_at(&g->offsets, i, 4);
    default:
        return offset_at(&g->offsets, i, 8);
    }
}

static inline const char *strings_at(const struct strings *s, uint32_t offset)
{
    return offset < s->size ? s->data + offset : "";
}

static size_t align_up(size_t at, size_t to)
{
    return (at + to - 1) / to * to;
}

/* --- opening ------------------------------------------------------------------------------- */

/* `count` records of `size` bytes at *at, which moves behind them. */
static bool take_table(const struct gsym *g, size_t *at, uint32_t count, size_t size,
                       struct table *ret)
{
    struct cursor c;
    if (!bytes_slice(g->data, g->info.size, *at, (uint64_t)count * size, &c))
        return false;
    ret->data = c.p;
    ret->count = count;
    *at += (size_t)count * size;
    return true;
}

static bool take_strings(const struct gsym *g, uint64_t at, uint32_t size, struct strings *ret)
{
    struct cursor c;
    if (!bytes_slice(g->data, g->info.size, at, size, &c) || (size > 0 && c.end[-1] != 0))
        return false;
    ret->data = (const char *)c.p;
    ret->size = size;
    return true;
}

/* Mach-O's UUID is 16 bytes in its own order; an ELF build-id (often 20) becomes one as everywhere
 * else. */
static struct uuid header_uuid(const uint8_t *bytes, uint8_t size)
{
    struct uuid u = {{0}};
    if (size == sizeof(u.bytes))
        memcpy(u.bytes, bytes, sizeof(u.bytes));
    else
        u = uuid_from_build_id(bytes, size);
    return u;
}

static enum err read_header(struct gsym *g, struct error *err)
{
    struct cursor c = cursor_of(g->data, (size_t)g->info.size);
    uint32_t magic = cursor_u32(&c, false);
    uint16_t version = cursor_u16(&c, false);
    g->offset_size = cursor_u8(&c);
    uint8_t uuid_size = cursor_u8(&c);
    g->base = cursor_u64(&c, false);
    uint32_t count = cursor_u32(&c, false);
    uint32_t strings_offset = cursor_u32(&c, false);
    uint32_t strings_size = cursor_u32(&c, false);
    const uint8_t *uuid = cursor_take(&c, GSYM_UUID_MAX);
    if (c.overrun)
        return error_set(err, ERR_FORMAT, "index: shorter than its header");
    if (magic != GSYM_MAGIC)
        return error_set(err, ERR_FORMAT, "index: not a GSYM file of this byte order");
    if (version != GSYM_VERSION)
        return error_set(err, ERR_FORMAT, "index: GSYM version %u", version);
    uint8_t size = g->offset_size;
    if (size == 0 || size > 8 || (size & (size - 1)) != 0)
        return error_set(err, ERR_FORMAT, "index: address offsets of %u bytes", size);
    if (uuid_size > GSYM_UUID_MAX)
        return error_set(err, ERR_FORMAT, "index: UUID of %u bytes", uuid_size);
    g->info.uuid = header_uuid(uuid, uuid_size);
    g->info.functions = count;

    size_t at = align_up(GSYM_HEADER_SIZE, size);
    if (!take_table(g, &at, count, size, &g->offsets))
        return error_set(err, ERR_FORMAT, "index: address table is cut off");
    at = align_up(at, 4);
    if (!take_table(g, &at, count, 4, &g->records))
        return error_set(err, ERR_FORMAT, "index: table of records is cut off");
    struct cursor files;
    at = align_up(at, 4);
    if (!bytes_slice(g->data, g->info.size, at, 4, &files))
        return error_set(err, ERR_FORMAT, "index: file table is cut off");
    at += 4;
    if (!take_table(g, &at, cursor_u32(&files, false), 8, &g->files))
        return error_set(err, ERR_FORMAT, "index: file table is cut off");
    if (!take_strings(g, strings_offset, strings_size, &g->names))
        return error_set(err, ERR_FORMAT, "index: string table is cut off");
    return ERR_OK;
}

static enum err read_footer(struct gsym *g, struct error *err)
{
    struct cursor c;
    if (g->info.size < GSYM_HEADER_SIZE + GSYM_FOOTER_SIZE ||
        !bytes_slice(g->data, g->info.size, g->info.size - GSYM_FOOTER_SIZE, GSYM_FOOTER_SIZE, &c))
        return ERR_OK;
    if (cursor_u32(&c, false) != GSYM_FOOTER_MAGIC)
        return ERR_OK;
    uint16_t version = cursor_u16(&c, false);
    if (version != GSYM_FOOTER_VERSION)
        return error_set(err, ERR_UNSUPPORTED, "index: footer version %u", version);
    uint16_t flags = cursor_u16(&c, false);
    uint32_t blocks = cursor_u32(&c, false);
    g->info.text_vmaddr = cursor_u64(&c, false);
    g->info.text_size = cursor_u64(&c, false);
    g->crc = cursor_u32(&c, false);
    g->info.has_footer = true;
    g->info.has_dwarf = (flags & GSYM_FLAG_HAS_DWARF) != 0;

    struct cursor block;
    if (!bytes_slice(g->data, g->info.size - GSYM_FOOTER_SIZE, blocks, 4, &block))
        return error_set(err, ERR_FORMAT, "index: our block is cut off");
    g->locals = cursor_u32(&block, false);
    return ERR_OK;
}

static enum err check_order(const struct gsym *g, struct error *err)
{
    uint64_t before = 0;
    for (uint32_t i = 0; i < g->offsets.count; i++) {
        uint64_t offset = function_offset(g, i);
        if (offset < before)
            return error_set(err, ERR_FORMAT, "index: address %" PRIu32 " is out of order", i);
        before = offset;
    }
    return ERR_OK;
}

static enum err read_all(struct gsym *g, struct error *err)
{
    struct sigbus_guard guard;
    if (sigbus_guard_enter(&guard) != 0)
        return error_set(err, ERR_IO, "index: its bytes cannot be read");
    enum err rc = read_header(g, err);
    if (rc == ERR_OK)
        rc = read_footer(g, err);
    if (rc == ERR_OK)
        rc = check_order(g, err);
    sigbus_guard_leave(&guard);
    return rc;
}

static enum err open_bytes(const void *data, size_t size, bool mapped, struct gsym **ret,
                           struct error *err)
{
    struct gsym *g = calloc(1, sizeof(*g));
    if (!g)
        return error_set(err, ERR_NO_MEMORY, "index: no memory for a handle");
    g->data = data;
    g->info.size = size;
    g->locals = UINT32_MAX;
    enum err rc = read_all(g, err);
    if (rc != ERR_OK) {
        gsym_close(g);
        return rc;
    }
    g->mapped = mapped;
    *ret = g;
    return ERR_OK;
}

enum err gsym_open_memory(const void *data, size_t size, struct gsym **ret, struct error *err)
{
    return open_bytes(data, size, false, ret, err);
}

enum err gsym_open(const char *path, struct gsym **ret, struct error *err)
{
    enum err rc;
    struct stat st;
    void *map = MAP_FAILED;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 && (errno == ENOENT || errno == ENOTDIR))
        return error_set(err, ERR_NOT_FOUND, "%s: no such file", path);
    if (fd < 0 && (errno == EMFILE || errno == ENFILE))
        return error_set(err, ERR_BUSY, "%s: no descriptor to be had", path);
    if (fd < 0)
        return error_errno(err, errno, "cannot open index %s", path);
    if (fstat(fd, &st) != 0) {
        rc = error_errno(err, errno, "cannot read index %s", path);
        goto out;
    }
    if (!S_ISREG(st.st_mode) || st.st_size < GSYM_HEADER_SIZE) {
        rc = error_set(err, ERR_FORMAT, "%s: not an index file", path);
        goto out;
    }
    map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_SHARED, fd, 0);
    if (map == MAP_FAILED) {
        rc = error_errno(err, errno, "cannot map index %s", path);
        goto out;
    }
    rc = open_bytes(map, (size_t)st.st_size, true, ret, err);
    if (rc != ERR_OK) {
        munmap(map, (size_t)st.st_size);
        error_prefix(err, "%s", path);
    }
out:
    close(fd);
    return rc;
}

void gsym_close(struct gsym *g)
{
    if (!g)
        return;
    if (g->mapped)
        munmap((void *)(uintptr_t)g->data, (size_t)g->info.size);
    free(g);
}

const struct gsym_info *gsym_info(const struct gsym *g)
{
    return &g->info;
}

bool gsym_hides_names(const struct gsym *g)
{
    static const char hidden[] = "__hidden#";
    return g->names.size > 0 && memmem(g->names.data, g->names.size, hidden, sizeof(hidden) - 1);
}

/* --- lookup -------------------------------------------------------------------------------- */

/* How many of the functions start at `offset` or before. */
static inline __attribute__((always_inline)) size_t count_until(const struct table *t,
                                                                uint64_t offset, size_t size)
{
    size_t from = 0;
    size_t n = t->count;
    while (n > 0) {
        size_t half = n / 2;
        bool right = offset_at(t, from + half, size) <= offset;
        from = right ? from + half + 1 : from;
        n = right ? n - half - 1 : half;
    }
    return from;
}

/* The last function that starts at `offset` or before; false when there is none. */
static bool find_function(const struct gsym *g, uint64_t offset, size_t *ret)
{
    size_t before;
    switch (g->offset_size) {
    case 2:
        before = count_until(&g->offsets, offset, 2);
        break;
    case 4:
        before = count_until(&g->offsets, offset, 4);
        break;
    case 8:
        before = count_until(&g->offsets, offset, 8);
        break;
    default:
        before = count_until(&g->offsets, offset, 1);
        break;
    }
    *ret = before - 1;
    return before > 0;
}

/* The parts of a FunctionInfo record; empty cursors for those it has not. */
struct record {
    uint32_t size;
    uint32_t name;
    struct cursor lines;
    struct cursor inlines;
    bool ended; /* the end marker was met */
};

static bool read_record(const struct gsym *g, size_t i, struct record *ret)
{
    struct cursor c;
    uint32_t at = table_u32(&g->records, i);
    if (at > g->info.size || !bytes_slice(g->data, g->info.size, at, g->info.size - at, &c))
        return false;
    memset(ret, 0, sizeof(*ret));
    ret->size = cursor_u32(&c, false);
    ret->name = cursor_u32(&c, false);
    while (!c.overrun) {
        uint32_t type = cursor_u32(&c, false);
        uint32_t length = cursor_u32(&c, false);
        if (type == GSYM_INFO_END)
            break;
        const uint8_t *payload = cursor_take(&c, length);
        if (payload && type == GSYM_INFO_LINE_TABLE)
            ret->lines = cursor_of(payload, length);
        else if (payload && type == GSYM_INFO_INLINE)
            ret->inlines = cursor_of(payload, length);
    }
    ret->ended = !c.overrun;
    return true;
}

static void set_name(const struct gsym *g, uint32_t name, struct gsym_frame *f)
{
    f->name = strings_at(&g->names, name);
    f->local = name >= g->locals;
}

static void set_position(const struct gsym *g, uint32_t file, uint32_t line, struct gsym_frame *f)
{
    f->directory = NULL;
    f->base = NULL;
    f->line = 0;
    if (file == 0 || file >= g->files.count)
        return;
    const char *base = strings_at(&g->names, table_u32(&g->files, 2 * (size_t)file + 1));
    if (!base[0])
        return;
    f->base = base;
    f->directory = strings_at(&g->names, table_u32(&g->files, 2 * (size_t)file));
    f->line = line;
}

/* llvm-gsymutil writes size 0 where Mach-O's symbol table knows none: such a function ends where the
 * next one starts, and the last one has no end, so nothing is said about what comes after it. */
static uint64_t function_size(const struct gsym *g, size_t i, const struct record *r)
{
    if (r->size != 0 || g->info.has_footer)
        return r->size;
    return i + 1 < g->offsets.count ? function_offset(g, i + 1) - function_offset(g, i) : 1;
}

size_t gsym_lookup(const struct gsym *g, uint64_t address, struct gsym_frame *ret, size_t max)
{
    struct record r;
    size_t index;
    struct gsym_call calls[GSYM_FRAMES_MAX + 1];
    if (max == 0 || address < g->base || !find_function(g, address - g->base, &index) ||
        !read_record(g, index, &r))
        return 0;
    uint64_t function = g->base + function_offset(g, index);
    if (address - function >= function_size(g, index, &r))
        return 0;
    if (max > GSYM_FRAMES_MAX)
        max = GSYM_FRAMES_MAX;

    struct gsym_row row = {0};
    size_t depth = 0;
    if (r.inlines.p)
        depth = gsym_inline_find(r.inlines, function, address, calls, max - 1);
    if (depth > max - 1) {
        /* No room for the deepest ones: the chain ends with a call instead of a row. */
        row = (struct gsym_row){calls[max - 1].call_file, calls[max - 1].call_line};
        depth = max - 1;
    } else if (r.lines.p) {
        gsym_lines_find(r.lines, function, address, &row);
    }

    size_t count = 0;
    for (size_t i = depth; i > 0; i--) {
        const struct gsym_call *call = &calls[i - 1];
        /* A call without a name is no frame: its caller stands where it was called. */
        if (strings_at(&g->names, call->name)[0]) {
            struct gsym_frame *f = &ret[count++];
            set_name(g, call->name, f);
            set_position(g, row.file, row.line, f);
            f->inlined = true;
            f->from_start = address - function;
        }
        row = (struct gsym_row){call->call_file, call->call_line};
    }
    if (!strings_at(&g->names, r.name)[0]) {
        /* A function without a name bounds its neighbours and is itself nothing. */
        if (count > 0)
            ret[count - 1].inlined = false;
        return count;
    }
    struct gsym_frame *f = &ret[count++];
    set_name(g, r.name, f);
    set_position(g, row.file, row.line, f);
    f->inlined = false;
    f->from_start = address - function;
    return count;
}

const char *gsym_frame_display(const struct gsym_frame *f, char out[GSYM_DISPLAY_MAX])
{
    return demangle(f->name, out, GSYM_DISPLAY_MAX) ? out : f->name;
}

const char *gsym_frame_file(const struct gsym_frame *f, char out[GSYM_PATH_MAX])
{
    if (!f->base)
        return NULL;
    bool alone = !f->directory || !f->directory[0] || f->base[0] == '/' || f->base[0] == '<';
    if (alone)
        return f->base;
    size_t n = strlen(f->directory);
    const char *slash = f->directory[n - 1] == '/' ? "" : "/";
    int len = snprintf(out, GSYM_PATH_MAX, "%s%s%s", f->directory, slash, f->base);
    return len > 0 && len < GSYM_PATH_MAX ? out : f->base;
}

/* --- checking ------------------------------------------------------------------------------ */

static enum err check_record(const struct gsym *g, uint32_t i, struct error *err)
{
    struct record r;
    const char *fault = NULL;
    if (!read_record(g, i, &r) || !r.ended)
        return error_set(err, ERR_FORMAT, "index: function %" PRIu32 ": record is cut off", i);
    if (r.name >= g->names.size)
        return error_set(err, ERR_FORMAT, "index: function %" PRIu32 ": no such name", i);
    if (r.lines.p)
        fault = gsym_lines_check(r.lines, g->files.count);
    if (!fault && r.inlines.p)
        fault = gsym_inline_check(r.inlines, g->files.count, g->names.size);
    if (fault)
        return error_set(err, ERR_FORMAT, "index: function %" PRIu32 ": %s", i, fault);
    return ERR_OK;
}

static enum err check_all(const struct gsym *g, struct error *err)
{
    if (g->info.has_footer) {
        uLong crc = crc32_z(0, g->data, (size_t)g->info.size - 4);
        if ((uint32_t)crc != g->crc)
            return error_set(err, ERR_FORMAT, "index: checksum is wrong");
    }
    if (g->names.size == 0)
        return error_set(err, ERR_FORMAT, "index: no string table");
    for (uint32_t i = 0; i < g->files.count; i++) {
        if (table_u32(&g->files, 2 * (size_t)i) >= g->names.size ||
            table_u32(&g->files, 2 * (size_t)i + 1) >= g->names.size)
            return error_set(err, ERR_FORMAT, "index: file %" PRIu32 ": no such name", i);
    }
    for (uint32_t i = 0; i < g->offsets.count; i++) {
        enum err rc = check_record(g, i, err);
        if (rc != ERR_OK)
            return rc;
    }
    if (g->info.has_footer && g->locals > g->names.size)
        return error_set(err, ERR_FORMAT, "index: local names begin behind the last name");
    return ERR_OK;
}

enum err gsym_check(const struct gsym *g, struct error *err)
{
    struct sigbus_guard guard;
    if (sigbus_guard_enter(&guard) != 0)
        return error_set(err, ERR_IO, "index: its bytes cannot be read");
    enum err rc = check_all(g, err);
    sigbus_guard_leave(&guard);
    return rc;
}
