#include "server/ingest/apple_line.h"

#include <string.h>

#define NUMBER_DIGITS_MAX 7 /* of a frame's place or count */
#define FRAME_LINE_MIN    5 /* "(0x1)" */

/* "12" and at least one blank; what follows the blanks, nothing without. */
static struct text_span after_number(struct text_span t, uint64_t *ret)
{
    size_t n = text_number(t, ret);
    struct text_span rest = text_from(t, n);
    size_t blanks = text_blanks(rest);
    if (n == 0 || n > NUMBER_DIGITS_MAX || blanks == 0)
        return text_from(t, t.len);
    return text_from(rest, blanks);
}

/* "main.m:28", "<compiler-generated>:0", "Feed.swift:41,7". */
static bool is_source(struct text_span t)
{
    size_t colon = text_find_last(t, ":");
    uint64_t ignored;
    if (colon == TEXT_NOWHERE || colon == 0)
        return false;
    struct text_span line = text_from(t, colon + 1);
    size_t comma = text_find(line, ",");
    line = text_until(line, comma);
    return text_number(line, &ignored) == line.len && line.len > 0;
}

/* Whether the text ends with "(FILE:LINE)", or is one that an inlined call was marked in. */
static bool ends_with_source(struct text_span t)
{
    static const char mark[] = " [inlined]";
    if (text_ends(t, mark))
        t = text_trim(text_until(t, t.len - strlen(mark)));
    if (!text_ends(t, ")"))
        return false;
    size_t open = text_opening(t);
    return open != TEXT_NOWHERE && is_source(text_from(text_until(t, t.len - 1), open + 1));
}

/* The name of "name + 12", "name (in Shop) + 12" and "name (main.m:28)". */
static struct text_span name_of(struct text_span t)
{
    uint64_t ignored;
    size_t plus = text_find_last(t, " + ");
    if (plus != TEXT_NOWHERE && text_number(text_from(t, plus + 3), &ignored) == t.len - plus - 3)
        t = text_trim(text_until(t, plus));
    for (int i = 0; i < 2 && text_ends(t, ")"); i++) {
        size_t open = text_opening(t);
        struct text_span inside = text_from(t, open == TEXT_NOWHERE ? t.len : open + 1);
        inside = text_until(inside, inside.len - (inside.len > 0));
        if (!text_starts(inside, "in ") && !is_source(inside))
            break;
        t = text_trim(text_until(t, open));
    }
    return t;
}

static struct text_span without_mystery(struct text_span name)
{
    return text_is(name, "???") ? text_until(name, 0) : name;
}

/* --- crash ------------------------------------------------------------------------------------ */

/* What follows the address: nothing, "0x100a00000 + 12048", "0 + 3264", or a name. */
static void read_crash_rest(struct text_line *l, struct text_span rest)
{
    uint64_t base;
    size_t n = text_hex(rest, &base);
    if (n == 0)
        n = text_number(rest, &base);
    if (rest.len == 0 || (n > 0 && text_starts(text_from(rest, n), " + ")))
        return;
    l->has_source = ends_with_source(rest);
    l->function = without_mystery(name_of(rest));
}

static bool read_crash(struct text_line *l, uint64_t *ret_number)
{
    struct text_span t = text_trim(l->text);
    struct text_span body = after_number(t, ret_number);
    size_t at = 0;
    for (size_t next; (next = text_find(text_from(body, at), "0x")) != TEXT_NOWHERE;
         at += next + 2) {
        struct text_span here = text_from(body, at + next);
        size_t n = text_hex(here, &l->address);
        struct text_span after = text_from(here, n);
        struct text_span image = text_until(body, at + next);
        if (n == 0 || (after.len > 0 && text_blanks(after) == 0) || at + next == 0 ||
            text_trim(image).len == image.len)
            continue;
        l->form = TEXT_CRASH;
        l->image = text_trim(image);
        l->cut = text_trim(after);
        if (l->cut.len == 0)
            l->cut = text_from(here, n);
        l->depth = 0;
        read_crash_rest(l, l->cut);
        return true;
    }
    return false;
}

static bool read_list(struct text_line *l)
{
    struct text_span t = text_trim(l->text), list;
    uint64_t address;
    if (!text_starts(t, "(0x") || !text_ends(t, ")"))
        return false;
    t = text_from(text_until(t, t.len - 1), 1);
    list = t;
    while (apple_list_next(&list, &address))
        ;
    if (text_trim(list).len > 0)
        return false;
    l->form = TEXT_LIST;
    l->cut = t;
    return true;
}

bool apple_list_next(struct text_span *list, uint64_t *ret_address)
{
    struct text_span t = text_from(*list, text_blanks(*list));
    size_t n = text_hex(t, ret_address);
    struct text_span rest = text_from(t, n);
    if (n == 0 || (rest.len > 0 && text_blanks(rest) == 0))
        return false;
    *list = rest;
    return true;
}

/* --- call trees ------------------------------------------------------------------------------- */

/* A tree's line: lines of the drawing, a count, and the rest; `depth` is the count's column. */
static struct text_span after_count(struct text_span t, size_t *ret_depth)
{
    size_t n = 0;
    uint64_t ignored;
    while (n < t.len && memchr(" \t+!:|*", t.s[n], 7))
        n++;
    *ret_depth = n;
    return after_number(text_from(t, n), &ignored);
}

/* "name  (in Shop) + 12  " and "???  (in Shop)  load address 0x1 + 0x2  ". */
static bool read_sample(struct text_line *l, struct text_span body)
{
    size_t in = text_find_last(body, " (in ");
    if (in == TEXT_NOWHERE)
        return false;
    struct text_span image = text_from(body, in + 5);
    size_t close = 0, depth = 1;
    while (close < image.len && depth > 0) {
        depth += image.s[close] == '(';
        depth -= image.s[close] == ')';
        close++;
    }
    if (depth > 0)
        return false;
    l->form = TEXT_SAMPLE;
    l->image = text_until(image, close - 1);
    l->function = without_mystery(text_trim(text_until(body, in)));
    l->has_source = ends_with_source(text_trim(text_from(image, close)));
    return true;
}

/* "name + 12 (Feed.swift:41 in Shop + 1234)": the parenthesis. */
static void read_spindump_place(struct text_line *l, struct text_span place)
{
    size_t plus = text_find_last(place, " + ");
    if (plus == TEXT_NOWHERE)
        return;
    struct text_span offset = text_from(place, plus + 3);
    struct text_span image = text_until(place, plus);
    size_t in = text_find_last(image, " in ");
    if (text_number(offset, &l->offset) != offset.len || offset.len == 0)
        return;
    if (in != TEXT_NOWHERE) {
        l->has_source = is_source(text_until(image, in));
        image = text_from(image, in + 4);
    }
    l->has_offset = true;
    l->image = image;
    if (text_starts(image, "<") && text_ends(image, ">"))
        l->placed = uuid_parse(image.s + 1, image.len - 2, &l->uuid) && !uuid_is_nil(&l->uuid);
}

static void read_spindump(struct text_line *l, struct text_span body)
{
    struct text_span name = body;
    if (text_ends(body, ")")) {
        size_t open = text_opening(body);
        if (open != TEXT_NOWHERE && open > 0) {
            read_spindump_place(l, text_from(text_until(body, body.len - 1), open + 1));
            if (l->has_offset)
                name = text_trim(text_until(body, open));
        }
    }
    l->form = TEXT_SPINDUMP;
    l->function = without_mystery(name_of(name));
}

static bool read_tree(struct text_line *l)
{
    size_t bracket = text_find_last(l->text, "[0x");
    if (bracket == TEXT_NOWHERE)
        return false;
    struct text_span inside = text_from(l->text, bracket + 1);
    size_t n = text_hex(inside, &l->address);
    struct text_span after = text_from(inside, n);
    if (n == 0 || (!text_starts(after, "]") && !text_starts(after, ",")))
        return false;
    struct text_span body = after_count(text_until(l->text, bracket), &l->depth);
    if (body.len == 0) {
        /* sample(1)'s "Sort by top of stack" has no count in front. */
        body = text_from(text_until(l->text, bracket), l->depth);
        if (!text_starts(body, "???") || text_find(body, "load address") == TEXT_NOWHERE)
            return false;
    }
    struct text_span trimmed = text_trim(body);
    l->cut = body;
    if (!read_sample(l, trimmed)) {
        l->cut = trimmed;
        read_spindump(l, trimmed);
    }
    struct text_span tail = text_from(after, 1);
    size_t close = text_find(after, "]");
    if (close != TEXT_NOWHERE)
        tail = text_trim(text_from(after, close + 1));
    if (l->form == TEXT_SAMPLE && is_source(tail) && text_find(tail, " ") == TEXT_NOWHERE)
        l->has_source = true;
    return true;
}

void apple_line_read(struct text_line *l, uint64_t *ret_number)
{
    struct text_line blank = {.text = l->text, .eol = l->eol};
    *l = blank;
    *ret_number = 0;
    if (l->text.len < FRAME_LINE_MIN || l->text.len > APPLE_TEXT_LINE_MAX || read_tree(l))
        return;
    *l = blank;
    if (read_crash(l, ret_number))
        return;
    *l = blank;
    if (!read_list(l))
        *l = blank;
}

/* --- images ----------------------------------------------------------------------------------- */

/* "0x1000 - 0x2fff" or "0x1000 - ???"; what follows, nothing when it is none. */
static struct text_span after_range(struct text_span t, struct apple_image *image)
{
    struct text_span none = text_from(t, t.len);
    size_t n = text_hex(t, &image->start);
    if (n == 0)
        return none;
    t = text_trim(text_from(t, n));
    if (!text_starts(t, "-"))
        return none;
    t = text_trim(text_from(t, 1));
    if (text_starts(t, "???"))
        return text_trim(text_from(t, 3));
    n = text_hex(t, &image->end);
    return n == 0 ? none : text_trim(text_from(t, n));
}

/* Where "<UUID>" begins and what it says; TEXT_NOWHERE. */
static size_t find_uuid(struct text_span t, struct uuid *ret, size_t *ret_end)
{
    for (size_t at = 0, next; (next = text_find(text_from(t, at), "<")) != TEXT_NOWHERE;) {
        at += next + 1;
        struct text_span inside = text_from(t, at);
        size_t close = text_find(text_until(inside, UUID_TEXT_SIZE), ">");
        if (close != TEXT_NOWHERE && uuid_parse(inside.s, close, ret)) {
            *ret_end = at + close + 1;
            return at - 1;
        }
    }
    return TEXT_NOWHERE;
}

static struct text_span base_name(struct text_span path)
{
    size_t slash = text_find_last(path, "/");
    return slash == TEXT_NOWHERE ? path : text_from(path, slash + 1);
}

/* "+Shop arm64 (1.0 - 7)": up to the version, or to the architecture. */
static struct text_span name_before(struct text_span t)
{
    static const char *const archs[] = {" arm64",  " arm64e", " arm64_32", " armv7", " armv7s",
                                        " armv7k", " x86_64", " x86_64h",  " i386",  " armv6"};
    if (text_starts(t, "+"))
        t = text_from(t, 1);
    t = text_until(t, text_find(t, " ("));
    t = text_trim(t);
    for (size_t i = 0; i < sizeof(archs) / sizeof(archs[0]); i++) {
        if (text_ends(t, archs[i]))
            return text_trim(text_until(t, t.len - strlen(archs[i])));
    }
    return t;
}

bool apple_line_image(struct text_span line, struct apple_image *ret)
{
    struct apple_image image = {.end = 0};
    size_t end = 0;
    struct text_span t = text_trim(line);
    if (line.len > APPLE_TEXT_LINE_MAX)
        return false;
    if (text_starts(t, "*"))
        t = text_from(t, 1);
    t = after_range(t, &image);
    if (t.len == 0)
        return false;
    size_t open = find_uuid(t, &image.uuid, &end);
    if (open == TEXT_NOWHERE) {
        image.uuid = (struct uuid){{0}};
        open = text_find(t, " /");
        end = open == TEXT_NOWHERE ? t.len : open;
    }
    image.path = text_trim(text_from(t, end));
    image.name = base_name(image.path);
    if (image.name.len == 0 || text_is(image.name, "???"))
        image.name = name_before(text_until(t, open));
    *ret = image;
    return true;
}
