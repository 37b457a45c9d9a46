#include "server/http/fill_text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define CHUNK_FRAMES 512
#define CHUNK_BYTES  ((size_t)64 << 20)
#define MAP_BYTES    ((size_t)64 << 20)

/* A line that waits for its answer. */
struct waiting {
    struct text_line line;
    size_t first, count; /* of its frames */
};

struct fill {
    struct symbolizer *symbolizer;
    const struct image_shelves *shelves;
    const struct apple_text *text;
    struct buf *out;
    struct fill_stats stats;

    struct arena *map_arena; /* of the process at hand */
    const struct text_process *process;
    struct image_map *map;
    uint32_t *by_name; /* its images, sorted; NULL: not yet */

    struct arena *arena; /* of the chunk at hand */
    struct waiting *lines;
    size_t line_count, line_room;
    struct raw_frame *frames;
    size_t *entries; /* which image; SIZE_MAX */
    uint64_t *addresses;
    size_t frame_count, frame_room, entry_room, address_room;
};

/* --- words ------------------------------------------------------------------------------------ */

/* A name from a symbol file: no control character gets into the text. */
static void put_name(struct buf *b, const char *s)
{
    for (const char *p = s; *p;) {
        size_t n = 0;
        while ((unsigned char)p[n] >= ' ' && p[n] != 0x7f)
            n++;
        buf_put(b, p, n);
        p += n;
        if (*p) {
            buf_putc(b, '?');
            p++;
        }
    }
}

static void put_source(struct buf *b, const struct frame *f)
{
    const char *slash = strrchr(f->file, '/');
    put_name(b, slash ? slash + 1 : f->file);
    buf_printf(b, ":%" PRIu32, f->line);
}

static void put_span(struct buf *b, struct text_span t)
{
    buf_put(b, t.s, t.len);
}

/* The calls inlined into the function of a tree's node, outermost first. */
static void put_inlined(struct buf *b, const struct resolved_frame *rf)
{
    for (size_t i = rf->frame_count - 1; i-- > 0;) {
        buf_puts(b, " > ");
        put_name(b, rf->frames[i].function);
        if (rf->frames[i].file) {
            buf_puts(b, " (");
            put_source(b, &rf->frames[i]);
            buf_puts(b, ")");
        }
        buf_puts(b, " [inlined]");
    }
}

/* --- answers ---------------------------------------------------------------------------------- */

static const struct image_entry *entry_of(const struct fill *f, size_t i)
{
    return f->entries[i] == SIZE_MAX ? NULL : &f->process->images[f->entries[i]];
}

static void put_image(struct fill *f, const struct text_line *l, const struct image_entry *entry)
{
    if (entry)
        put_name(f->out, entry->name);
    else
        put_span(f->out, l->image);
}

static bool same_text(struct text_span t, const char *s)
{
    return s && strlen(s) == t.len && memcmp(t.s, s, t.len) == 0;
}

/* Whether the answer tells more than the line does. */
static bool tells_more(const struct text_line *l, const struct resolved_frame *rf)
{
    if (l->has_source || rf->frame_count == 0 || !rf->has_index)
        return false;
    const struct frame *outer = &rf->frames[rf->frame_count - 1];
    return outer->file ||
           !(same_text(l->function, outer->function) || same_text(l->function, outer->mangled));
}

static void put_prefix(struct fill *f, const struct text_line *l)
{
    size_t n = (size_t)(l->cut.s - l->text.s);
    buf_put(f->out, l->text.s, n);
    if (n > 0 && l->text.s[n - 1] != ' ' && l->text.s[n - 1] != '\t')
        buf_putc(f->out, ' ');
}

static void put_suffix(struct fill *f, const struct text_line *l)
{
    size_t end = (size_t)(l->cut.s - l->text.s) + l->cut.len;
    buf_put(f->out, l->text.s + end, l->text.len - end);
}

/* "Feed.reload(_:) (in Shop) (Feed.swift:41)", or " + 12" in place of a file that is not known. */
static void put_crash_answer(struct fill *f, const struct text_line *l,
                             const struct resolved_frame *rf, size_t i,
                             const struct image_entry *entry)
{
    const struct frame *frame = &rf->frames[i];
    put_name(f->out, frame->function);
    buf_puts(f->out, " (in ");
    put_image(f, l, entry);
    buf_puts(f->out, ")");
    if (frame->file) {
        buf_puts(f->out, " (");
        put_source(f->out, frame);
        buf_puts(f->out, ")");
    } else if (rf->has_function_offset && !frame->inlined) {
        buf_printf(f->out, " + %" PRIu64, rf->function_offset);
    }
    if (frame->inlined)
        buf_puts(f->out, " [inlined]");
}

/* An end of line where the text itself has none, at its last byte. */
static void put_break(struct fill *f, const struct text_line *l)
{
    if (l->eol.len > 0)
        put_span(f->out, l->eol);
    else
        buf_putc(f->out, '\n');
}

static void put_crash(struct fill *f, const struct text_line *l, const struct resolved_frame *rf,
                      size_t at)
{
    for (size_t i = 0; i < rf->frame_count; i++) {
        if (i > 0)
            put_break(f, l);
        put_prefix(f, l);
        put_crash_answer(f, l, rf, i, entry_of(f, at));
    }
    put_suffix(f, l);
}

static void put_sample(struct fill *f, const struct text_line *l, const struct resolved_frame *rf,
                       size_t at)
{
    put_prefix(f, l);
    put_crash_answer(f, l, rf, rf->frame_count - 1, entry_of(f, at));
    put_inlined(f->out, rf);
    buf_putc(f->out, ' ');
    put_suffix(f, l);
}

static void put_spindump(struct fill *f, const struct text_line *l, const struct resolved_frame *rf,
                         size_t at)
{
    const struct frame *outer = &rf->frames[rf->frame_count - 1];
    put_prefix(f, l);
    put_name(f->out, outer->function);
    if (!outer->file && rf->has_function_offset)
        buf_printf(f->out, " + %" PRIu64, rf->function_offset);
    buf_puts(f->out, " (");
    if (outer->file) {
        put_source(f->out, outer);
        buf_puts(f->out, " in ");
    }
    put_image(f, l, entry_of(f, at));
    buf_printf(f->out, " + %" PRIu64 ")", f->frames[at].offset);
    put_inlined(f->out, rf);
    put_suffix(f, l);
}

/* A list of addresses as numbered lines. */
static void put_list(struct fill *f, const struct waiting *w, const struct resolved_frame *rf)
{
    for (size_t i = 0; i < w->count; i++) {
        size_t at = w->first + i;
        const struct image_entry *entry = entry_of(f, at);
        size_t rows = rf[i].frame_count > 0 ? rf[i].frame_count : 1;
        for (size_t row = 0; row < rows; row++) {
            if (i + row > 0)
                put_break(f, &w->line);
            buf_printf(f->out, "%-3zu %-30s\t0x%016" PRIx64 " ", i, entry ? entry->name : "???",
                       f->addresses[at]);
            if (rf[i].frame_count > 0)
                put_crash_answer(f, &w->line, &rf[i], row, entry);
            else
                buf_printf(f->out, "0x%" PRIx64 " + %" PRIu64, entry ? entry->load_address : 0,
                           entry ? f->addresses[at] - entry->load_address : f->addresses[at]);
        }
        f->stats.filled += rf[i].frame_count > 0;
    }
}

static void put_line(struct fill *f, const struct waiting *w, const struct resolved_frame *rf)
{
    static void (*const put[])(struct fill *, const struct text_line *,
                               const struct resolved_frame *, size_t) = {
        [TEXT_CRASH] = put_crash, [TEXT_SAMPLE] = put_sample, [TEXT_SPINDUMP] = put_spindump};
    f->stats.frames += w->count;
    if (w->line.form == TEXT_LIST) {
        put_list(f, w, rf);
    } else if (w->line.form != TEXT_OTHER && tells_more(&w->line, rf)) {
        put[w->line.form](f, &w->line, rf, w->first);
        f->stats.filled++;
    } else {
        put_span(f->out, w->line.text);
    }
    put_span(f->out, w->line.eol);
}

/* --- chunks ----------------------------------------------------------------------------------- */

static bool no_facts(void *ctx, const struct uuid *image, struct image_facts *ret)
{
    (void)ctx;
    (void)image;
    (void)ret;
    return false;
}

static bool no_place(void *ctx, const struct uuid *group, uint64_t unslid, struct uuid *ret_image,
                     uint64_t *ret_offset)
{
    (void)ctx;
    (void)group;
    (void)unslid;
    (void)ret_image;
    (void)ret_offset;
    return false;
}

static enum err flush(struct fill *f, struct error *err)
{
    struct raw_stack raw = {f->frames, f->frame_count};
    struct image_lookup lookup = {.facts = no_facts, .place = no_place};
    if (f->shelves) {
        lookup.shelf = f->shelves->find;
        lookup.ctx = f->shelves->ctx;
    }
    struct symbolized done = {.missing_count = 0};
    enum err rc = ERR_OK;
    if (f->frame_count > 0)
        rc = symbolizer_stack(f->symbolizer, &raw, &lookup, f->arena, &done, err);
    if (rc != ERR_OK)
        return rc;
    for (size_t i = 0; i < f->line_count; i++)
        put_line(f, &f->lines[i], f->lines[i].count ? &done.stack.frames[f->lines[i].first] : NULL);
    arena_reset(f->arena);
    f->lines = NULL;
    f->frames = NULL;
    f->entries = NULL;
    f->addresses = NULL;
    f->line_count = f->line_room = 0;
    f->frame_count = f->frame_room = f->entry_room = f->address_room = 0;
    if (!f->out->failed)
        return ERR_OK;
    return f->out->capped
               ? error_set(err, ERR_LIMIT, "the answer is larger than %zu bytes", f->out->limit)
               : error_set(err, ERR_NO_MEMORY, "no memory for the answer");
}

static enum err no_memory(const struct fill *f, struct error *err)
{
    return f->arena->capped || f->map_arena->capped
               ? error_set(err, ERR_LIMIT, "the text takes too much memory")
               : error_set(err, ERR_NO_MEMORY, "no memory for a text");
}

/* By name, then by UUID. */
static int compare_entries(const void *a, const void *b, void *ctx)
{
    const struct image_entry *images = ctx;
    const struct image_entry *x = &images[*(const uint32_t *)a], *y = &images[*(const uint32_t *)b];
    int c = strcmp(x->name, y->name);
    return c ? c : uuid_compare(&x->uuid, &y->uuid);
}

static bool sort_names(struct fill *f)
{
    size_t count = f->process->image_count;
    f->by_name = arena_array(f->map_arena, count + 1, sizeof(*f->by_name));
    if (!f->by_name)
        return false;
    for (size_t i = 0; i < count; i++)
        f->by_name[i] = (uint32_t)i;
    qsort_r(f->by_name, count, sizeof(*f->by_name), compare_entries, f->process->images);
    return true;
}

/* The first place in `by_name` whose name is not before (`past`: is behind) `name`. */
static size_t name_bound(const struct fill *f, struct text_span name, bool past)
{
    size_t low = 0, high = f->process->image_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const char *s = f->process->images[f->by_name[middle]].name;
        size_t len = strlen(s);
        int c = memcmp(s, name.s, len < name.len ? len : name.len);
        if (c == 0)
            c = (len > name.len) - (len < name.len);
        if (c < 0 || (past && c == 0))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The image whose file has that name, if it is one alone; SIZE_MAX. */
static size_t entry_named(struct fill *f, struct text_span name)
{
    if (name.len == 0 || (!f->by_name && !sort_names(f)))
        return SIZE_MAX;
    size_t first = name_bound(f, name, false), end = name_bound(f, name, true);
    if (first == end)
        return SIZE_MAX;
    const struct uuid *a = &f->process->images[f->by_name[first]].uuid;
    const struct uuid *b = &f->process->images[f->by_name[end - 1]].uuid;
    return uuid_is_nil(a) || !uuid_equal(a, b) ? SIZE_MAX : f->by_name[first];
}

/* Where the frame lies: by UUID and offset, by its address, by name and offset. */
static void place(struct fill *f, const struct text_line *l, uint64_t address, size_t at)
{
    struct raw_frame *raw = &f->frames[at];
    f->addresses[at] = address;
    f->entries[at] = SIZE_MAX;
    if (l->placed) {
        raw->image = l->uuid;
        raw->offset = l->offset;
        raw->image_kind = IMAGE_UUID;
    } else {
        image_map_find(f->map, address, raw, &f->entries[at]);
    }
    if (raw->image_kind == IMAGE_NONE && l->has_offset) {
        size_t entry = entry_named(f, l->image);
        if (entry != SIZE_MAX) {
            f->entries[at] = entry;
            raw->image = f->process->images[entry].uuid;
            raw->offset = l->offset;
            raw->image_kind = IMAGE_UUID;
        }
    }
    raw->kind = l->kind;
    raw->symbol = NULL;
}

static bool frame_place(struct fill *f)
{
    return arena_room(f->arena, (void **)&f->frames, f->frame_count, &f->frame_room,
                      sizeof(*f->frames)) &&
           arena_room(f->arena, (void **)&f->entries, f->frame_count, &f->entry_room,
                      sizeof(*f->entries)) &&
           arena_room(f->arena, (void **)&f->addresses, f->frame_count, &f->address_room,
                      sizeof(*f->addresses));
}

static enum err add_line(struct fill *f, const struct text_line *l, struct error *err)
{
    struct waiting w = {.line = *l, .first = f->frame_count};
    struct text_span list = l->cut;
    uint64_t address = l->address;
    if (!arena_room(f->arena, (void **)&f->lines, f->line_count, &f->line_room, sizeof(*f->lines)))
        return no_memory(f, err);
    while (l->form != TEXT_OTHER) {
        if (l->form == TEXT_LIST && !apple_list_next(&list, &address))
            break;
        if (!frame_place(f))
            return no_memory(f, err);
        place(f, l, address, f->frame_count++);
        w.count++;
        if (l->form != TEXT_LIST)
            break;
    }
    f->lines[f->line_count++] = w;
    return f->frame_count + f->line_count / 8 >= CHUNK_FRAMES ? flush(f, err) : ERR_OK;
}

/* The images of another process, if these are others. */
static enum err enter_process(struct fill *f, const struct text_process *p, struct error *err)
{
    bool same = f->process && f->process->images == p->images;
    enum err rc = f->process && !same ? flush(f, err) : ERR_OK;
    if (rc == ERR_OK && !same) {
        arena_reset(f->map_arena);
        f->by_name = NULL;
        rc = image_map_build(p->images, p->image_count, "", "", NULL, f->map_arena, &f->map, err);
    }
    f->process = p;
    return rc;
}

enum err fill_text(const struct apple_text *text, enum text_callers callers, struct symbolizer *s,
                   const struct image_shelves *shelves, struct buf *out, struct fill_stats *ret,
                   struct error *err)
{
    struct fill f = {.symbolizer = s, .shelves = shelves, .text = text, .out = out};
    struct apple_lines lines;
    struct text_line line;
    enum err rc = ERR_OK;
    f.arena = arena_new(CHUNK_BYTES);
    f.map_arena = arena_new(MAP_BYTES);
    if (!f.arena || !f.map_arena) {
        rc = error_set(err, ERR_NO_MEMORY, "no memory for a text");
        goto out;
    }
    apple_lines_begin(&lines, text, callers);
    while (rc == ERR_OK && apple_lines_next(&lines, &line)) {
        rc = enter_process(&f, &text->processes[lines.process], err);
        if (rc == ERR_OK)
            rc = add_line(&f, &line, err);
    }
    if (rc == ERR_OK)
        rc = flush(&f, err);
    if (rc == ERR_OK)
        *ret = f.stats;
out:
    arena_free(f.arena);
    arena_free(f.map_arena);
    return rc;
}
