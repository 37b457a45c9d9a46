#include "server/ingest/apple_text.h"

#include <string.h>

#include "server/ingest/apple_line.h"

/* --- lines ------------------------------------------------------------------------------------ */

/* The line at `at`; where the next one begins. Empty lines in a row are one with a long break: they
 * mean no more, and a text may be nothing else. */
static size_t take_line(struct text_span text, size_t at, struct text_line *ret)
{
    struct text_span rest = text_from(text, at);
    const char *lf = memchr(rest.s, '\n', rest.len);
    size_t len = lf ? (size_t)(lf - rest.s) : rest.len;
    size_t end = lf ? len + 1 : len;
    while (len == 0 && end < rest.len && rest.s[end] == '\n')
        end++;
    if (len > 0 && rest.s[len - 1] == '\r')
        len--;
    *ret = (struct text_line){.text = text_until(rest, len)};
    ret->eol = text_from(text_until(rest, end), len);
    return at + end;
}

static bool is_heading(struct text_span line, const char *word)
{
    return text_starts(text_trim(line), word);
}

/* --- processes -------------------------------------------------------------------------------- */

/* The first pass over a text. */
struct survey {
    struct arena *arena;
    struct apple_text *text;
    size_t process_room, image_room;
    size_t images; /* of all processes */
    bool in_images;
    bool has_frames; /* the process at hand */
    uint64_t target; /* "PID:" */
};

static struct text_process *process_now(struct survey *s)
{
    return &s->text->processes[s->text->process_count - 1];
}

static enum err no_memory(const struct survey *s, struct error *err)
{
    return s->arena->capped ? error_set(err, ERR_LIMIT, "the text takes too much memory")
                            : error_set(err, ERR_NO_MEMORY, "no memory for a text");
}

static enum err begin_process(struct survey *s, size_t start, struct error *err)
{
    struct apple_text *t = s->text;
    if (t->process_count == APPLE_TEXT_PROCESSES_MAX)
        return error_set(err, ERR_LIMIT, "the text has more than %d processes",
                         APPLE_TEXT_PROCESSES_MAX);
    if (!arena_room(s->arena, (void **)&t->processes, t->process_count, &s->process_room,
                    sizeof(*t->processes)))
        return no_memory(s, err);
    t->processes[t->process_count++] = (struct text_process){.start = start};
    s->image_room = 0;
    s->has_frames = false;
    return ERR_OK;
}

/* An image nobody can be in ("0x0 - 0xffffffffffffffff ???") would hold every address. */
static bool is_placeholder(const struct apple_image *i)
{
    return i->start == 0 && i->end == UINT64_MAX;
}

static enum err add_image(struct survey *s, const struct apple_image *from, struct error *err)
{
    struct text_process *p = process_now(s);
    if (is_placeholder(from))
        return ERR_OK;
    if (s->images == APPLE_TEXT_IMAGES_MAX)
        return error_set(err, ERR_LIMIT, "the text has more than %d images", APPLE_TEXT_IMAGES_MAX);
    char *name = arena_strndup(s->arena, from->name.s, from->name.len);
    if (!name || !arena_room(s->arena, (void **)&p->images, p->image_count, &s->image_room,
                             sizeof(*p->images)))
        return no_memory(s, err);
    p->images[p->image_count++] =
        (struct image_entry){.uuid = from->uuid,
                             .name = name,
                             .has_load_address = true,
                             .load_address = from->start,
                             .size = from->end > from->start ? from->end - from->start + 1 : 0};
    s->images++;
    return ERR_OK;
}

/* The number in the line's last brackets: "Process:   Shop [1710]". */
static uint64_t pid_of(struct text_span line)
{
    uint64_t pid = 0;
    size_t open = text_find_last(line, "[");
    if (open != TEXT_NOWHERE)
        (void)text_number(text_from(line, open + 1), &pid);
    return pid;
}

static enum err survey_header(struct survey *s, struct text_span line, size_t start,
                              struct error *err)
{
    enum err rc = ERR_OK;
    bool process = text_starts(line, "Process:");
    if (process || text_starts(line, "Incident Identifier:")) {
        if (s->has_frames || process_now(s)->image_count > 0)
            rc = begin_process(s, start, err);
        if (rc == ERR_OK && process)
            process_now(s)->pid = pid_of(line);
    } else if (text_starts(line, "PID:")) {
        (void)text_number(text_trim(text_from(line, 4)), &s->target);
    }
    return rc;
}

static enum err survey_line(struct survey *s, struct text_line *l, size_t start, struct error *err)
{
    struct apple_image image;
    uint64_t number;
    if (s->in_images) {
        if (text_trim(l->text).len == 0)
            return ERR_OK;
        if (apple_line_image(l->text, &image))
            return add_image(s, &image, err);
        s->in_images = false;
    }
    if (is_heading(l->text, "Binary Images")) {
        s->in_images = true;
        return ERR_OK;
    }
    apple_line_read(l, &number);
    if (l->form == TEXT_OTHER)
        return survey_header(s, l->text, start, err);
    s->text->has_frames = true;
    enum err rc = ERR_OK;
    if (process_now(s)->image_count > 0)
        rc = begin_process(s, start, err);
    s->has_frames = true;
    return rc;
}

/* Processes without a list of images get another one's. */
static void lend_images(struct apple_text *t, uint64_t target)
{
    const struct text_process *named = NULL, *last = NULL;
    for (size_t i = 0; i < t->process_count && target > 0; i++) {
        if (!named && t->processes[i].pid == target && t->processes[i].image_count > 0)
            named = &t->processes[i];
    }
    for (size_t i = t->process_count; i-- > 0;) {
        struct text_process *p = &t->processes[i];
        if (p->image_count > 0) {
            last = p;
            continue;
        }
        const struct text_process *from = p->pid == 0 && named ? named : last;
        if (from) {
            p->images = from->images;
            p->image_count = from->image_count;
        }
    }
    for (size_t i = 1; i < t->process_count; i++) {
        struct text_process *p = &t->processes[i];
        if (p->image_count == 0) {
            p->images = p[-1].images;
            p->image_count = p[-1].image_count;
        }
    }
}

enum err apple_text_read(const char *text, size_t len, struct arena *arena, struct apple_text *ret,
                         struct error *err)
{
    struct apple_text t = {.text = text_span_of(text, len)};
    struct survey s = {.arena = arena, .text = &t};
    enum err rc = begin_process(&s, 0, err);
    for (size_t at = 0, start = 0; rc == ERR_OK && at < len; start = at) {
        struct text_line l;
        at = take_line(t.text, at, &l);
        rc = survey_line(&s, &l, start, err);
    }
    if (rc != ERR_OK)
        return rc;
    lend_images(&t, s.target);
    *ret = t;
    return ERR_OK;
}

/* --- one line after the other ----------------------------------------------------------------- */

void apple_lines_begin(struct apple_lines *l, const struct apple_text *text,
                       enum text_callers callers)
{
    *l = (struct apple_lines){.text = text, .callers = callers};
}

/* Headings that tell what the frames after them are. */
static void note_heading(struct apple_lines *l, struct text_span line)
{
    if (is_heading(line, "Last Exception Backtrace") ||
        is_heading(line, "Application Specific Backtrace"))
        l->in_exception = true;
    else if (text_starts(line, "Thread "))
        l->in_exception = false;
    l->heaviest = is_heading(line, "Heaviest stack") || (l->heaviest && line.len > 0);
}

static enum frame_kind kind_of_crash(struct apple_lines *l, const struct text_line *line,
                                     uint64_t number)
{
    bool after_signal = l->after_signal;
    l->after_signal = text_is(line->function, "_sigtramp");
    if (l->callers == CALLERS_EXACT)
        return FRAME_EXACT;
    if (after_signal && number > 0)
        return FRAME_EXACT;
    return number == 0 && !l->in_exception ? FRAME_LEAF : FRAME_RETURN;
}

static enum frame_kind kind_of_tree(const struct apple_lines *l, const struct text_line *line)
{
    bool exact =
        line->form == TEXT_SAMPLE ? l->callers != CALLERS_RETURN : l->callers == CALLERS_EXACT;
    if (exact)
        return FRAME_EXACT;
    bool tree_goes_on =
        l->ahead_there && (l->ahead.form == TEXT_SAMPLE || l->ahead.form == TEXT_SPINDUMP);
    bool calls = tree_goes_on && (l->heaviest || l->ahead.depth > line->depth);
    return calls ? FRAME_RETURN : FRAME_LEAF;
}

/* Reads the line after the one at hand, which says whether that one calls. */
static uint64_t read_ahead(struct apple_lines *l)
{
    uint64_t number = 0;
    l->ahead_there = l->at < l->text->text.len;
    if (l->ahead_there) {
        l->ahead_start = l->at;
        l->at = take_line(l->text->text, l->at, &l->ahead);
        apple_line_read(&l->ahead, &number);
    }
    return number;
}

bool apple_lines_next(struct apple_lines *l, struct text_line *ret)
{
    if (l->at == 0)
        l->ahead_number = read_ahead(l);
    if (!l->ahead_there)
        return false;
    struct text_line line = l->ahead;
    size_t start = l->ahead_start;
    uint64_t number = l->ahead_number;
    while (l->process + 1 < l->text->process_count &&
           l->text->processes[l->process + 1].start <= start)
        l->process++;
    l->ahead_number = read_ahead(l);
    if (line.form == TEXT_OTHER) {
        note_heading(l, line.text);
        l->after_signal = false;
    } else if (line.form == TEXT_CRASH) {
        line.kind = kind_of_crash(l, &line, number);
    } else {
        line.kind = line.form == TEXT_LIST ? FRAME_RETURN : kind_of_tree(l, &line);
    }
    *ret = line;
    return true;
}
