#include "server/ingest/format_ips.h"

#include <inttypes.h>
#include <jansson.h>
#include <string.h>

#include "server/ingest/text_span.h"
#include "server/jobs/json_text.h"

#define FRAMES_MAX  512 /* of one thread are told apart by number; more are cut */
#define THREADS_MAX 4096

/* --- which body ------------------------------------------------------------------------------- */

/* The bytes after a header line that is a document of its own; 0: none. */
static size_t header_length(struct text_span t)
{
    size_t end = text_find(t, "\n");
    struct text_span line = text_until(t, end);
    if (end == TEXT_NOWHERE || !text_starts(line, "{"))
        return 0;
    while (line.len > 0 && strchr("\r \t", line.s[line.len - 1]))
        line.len--;
    return text_ends(line, "}") ? end + 1 : 0;
}

static struct text_span skip_space(struct text_span t)
{
    while (t.len > 0 && strchr(" \t\r\n", *t.s) && *t.s)
        t = text_from(t, 1);
    return t;
}

bool ips_is(const char *body, size_t len)
{
    struct text_span t = skip_space(text_span_of(body, len));
    struct text_span after = skip_space(text_from(t, header_length(t)));
    if (after.len > 0 && after.len < t.len)
        return text_starts(after, "{");
    return text_starts(t, "{") && text_find(t, "\"usedImages\"") != TEXT_NOWHERE;
}

/* --- words ------------------------------------------------------------------------------------ */

/* A text in one line. */
static void put_line_text(struct buf *b, const char *s)
{
    for (; *s; s++)
        buf_putc(b, (unsigned char)*s < ' ' ? ' ' : *s);
}

static const char *text_of(json_t *object, const char *key)
{
    return json_string_value(json_object_get(object, key));
}

static bool number_of(json_t *object, const char *key, uint64_t *ret)
{
    return json_address(json_object_get(object, key), ret);
}

/* "Path:                /a/b" */
static void put_field(struct buf *b, const char *label, const char *value)
{
    if (!value)
        return;
    buf_printf(b, "%-20s ", label);
    put_line_text(b, value);
    buf_putc(b, '\n');
}

/* The same with a number in brackets, or a text in parentheses, after it. */
static void put_field_id(struct buf *b, const char *label, const char *value, json_t *id)
{
    uint64_t number;
    if (!value)
        return;
    buf_printf(b, "%-20s ", label);
    put_line_text(b, value);
    if (json_is_string(id)) {
        buf_puts(b, " (");
        put_line_text(b, json_string_value(id));
        buf_puts(b, ")");
    } else if (json_address(id, &number)) {
        buf_printf(b, " [%" PRIu64 "]", number);
    }
    buf_putc(b, '\n');
}

/* --- head ------------------------------------------------------------------------------------- */

static void put_head(struct buf *b, json_t *d)
{
    json_t *bundle = json_object_get(d, "bundleInfo");
    json_t *os = json_object_get(d, "osVersion");
    const char *identifier = text_of(bundle, "CFBundleIdentifier");
    const char *version = text_of(bundle, "CFBundleShortVersionString");
    put_field(b, "Incident Identifier:", text_of(d, "incident"));
    put_field(b, "CrashReporter Key:", text_of(d, "crashReporterKey"));
    put_field(b, "Hardware Model:", text_of(d, "modelCode"));
    put_field_id(b, "Process:", text_of(d, "procName"), json_object_get(d, "pid"));
    put_field(b, "Path:", text_of(d, "procPath"));
    put_field(b, "Identifier:", identifier ? identifier : text_of(d, "procName"));
    put_field_id(b, "Version:", version ? version : "???",
                 json_object_get(bundle, "CFBundleVersion"));
    put_field(b, "Code Type:", text_of(d, "cpuType"));
    put_field(b, "Role:", text_of(d, "procRole"));
    put_field_id(b, "Parent Process:", text_of(d, "parentProc"), json_object_get(d, "parentPid"));
    put_field_id(b, "Coalition:", text_of(d, "coalitionName"), json_object_get(d, "coalitionID"));
    buf_putc(b, '\n');
    put_field(b, "Date/Time:", text_of(d, "captureTime"));
    put_field(b, "Launch Time:", text_of(d, "procLaunch"));
    put_field_id(b, "OS Version:", text_of(os, "train"), json_object_get(os, "build"));
    put_field(b, "Release Type:", text_of(os, "releaseType"));
    put_field(b, "Report Version:", "104");
    buf_putc(b, '\n');
}

static void put_exception(struct buf *b, json_t *d)
{
    json_t *exception = json_object_get(d, "exception");
    json_t *end = json_object_get(d, "termination");
    uint64_t code, thread;
    put_field_id(b, "Exception Type:", text_of(exception, "type"),
                 json_object_get(exception, "signal"));
    put_field(b, "Exception Subtype:", text_of(exception, "subtype"));
    put_field(b, "Exception Codes:", text_of(exception, "codes"));
    if (text_of(end, "namespace") && number_of(end, "code", &code)) {
        const char *indicator = text_of(end, "indicator");
        buf_printf(b, "%-20s ", "Termination Reason:");
        put_line_text(b, text_of(end, "namespace"));
        buf_printf(b, " %" PRIu64 " ", code);
        put_line_text(b, indicator ? indicator : "");
        buf_putc(b, '\n');
    }
    put_field_id(b, "Terminating Process:", text_of(end, "byProc"), json_object_get(end, "byPid"));
    if (number_of(d, "faultingThread", &thread))
        buf_printf(b, "\nTriggered by Thread:  %" PRIu64 "\n", thread);
    buf_putc(b, '\n');
}

/* What libraries left to say: texts by the name of the library. */
static void put_information(struct buf *b, json_t *d)
{
    json_t *asi = json_object_get(d, "asi");
    if (!json_is_object(asi) || json_object_size(asi) == 0)
        return;
    buf_puts(b, "Application Specific Information:\n");
    for (void *at = json_object_iter(asi); at; at = json_object_iter_next(asi, at)) {
        json_t *texts = json_object_iter_value(at);
        for (size_t i = 0; i < json_array_size(texts); i++) {
            const char *text = json_string_value(json_array_get(texts, i));
            if (text) {
                put_line_text(b, text);
                buf_putc(b, '\n');
            }
        }
    }
    buf_putc(b, '\n');
}

/* --- frames ----------------------------------------------------------------------------------- */

struct ips_image {
    const char *name;
    uint64_t base;
    bool known;
};

static struct ips_image image_of(json_t *images, json_t *frame)
{
    struct ips_image image = {.name = "???"};
    uint64_t index;
    if (!number_of(frame, "imageIndex", &index) || index >= json_array_size(images))
        return image;
    json_t *entry = json_array_get(images, (size_t)index);
    image.known = number_of(entry, "base", &image.base);
    if (text_of(entry, "name") && *text_of(entry, "name"))
        image.name = text_of(entry, "name");
    return image;
}

static void put_frame_name(struct buf *b, json_t *frame, const char *symbol)
{
    const char *file = text_of(frame, "sourceFile");
    uint64_t at;
    put_line_text(b, symbol);
    if (number_of(frame, "symbolLocation", &at))
        buf_printf(b, " + %" PRIu64, at);
    if (file) {
        uint64_t line = 0;
        (void)number_of(frame, "sourceLine", &line);
        buf_puts(b, " (");
        put_line_text(b, file);
        buf_printf(b, ":%" PRIu64 ")", line);
    }
    if (json_is_true(json_object_get(frame, "inline")))
        buf_puts(b, " [inlined]");
}

static void put_frames(struct buf *b, json_t *frames, json_t *images)
{
    size_t i;
    json_t *frame;
    json_array_foreach(frames, i, frame)
    {
        uint64_t offset = 0;
        char address[24];
        struct ips_image image = image_of(images, frame);
        const char *symbol = text_of(frame, "symbol");
        if (i == FRAMES_MAX) {
            buf_printf(b, "... %zu more frames left out\n", json_array_size(frames) - i);
            break;
        }
        (void)number_of(frame, "imageOffset", &offset);
        snprintf(address, sizeof(address), "0x%" PRIx64, image.base + offset);
        buf_printf(b, "%-3zu ", i);
        put_line_text(b, image.name);
        for (size_t pad = strlen(image.name); pad < 30; pad++)
            buf_putc(b, ' ');
        buf_printf(b, "\t%18s ", address);
        if (symbol)
            put_frame_name(b, frame, symbol);
        else
            buf_printf(b, "0x%" PRIx64 " + %" PRIu64, image.base, offset);
        buf_putc(b, '\n');
    }
}

/* --- threads ---------------------------------------------------------------------------------- */

/* Registers in rows of four; the numbered ones first. */
struct registers {
    struct buf *b;
    size_t count;
};

static void put_register(struct registers *r, const char *name, json_t *holder)
{
    uint64_t value;
    if (!json_is_object(holder) || !number_of(holder, "value", &value))
        return;
    if (strlen(name) > 16)
        return;
    buf_printf(r->b, "%s%6s: 0x%016" PRIx64, r->count % 4 ? " " : "  ", name, value);
    if (++r->count % 4 == 0)
        buf_putc(r->b, '\n');
}

static void put_state(struct buf *b, size_t thread, json_t *state)
{
    struct registers r = {.b = b};
    const char *flavor = text_of(state, "flavor");
    json_t *numbered = json_object_get(state, "x");
    if (!json_is_object(state))
        return;
    buf_printf(b, "\nThread %zu crashed with ", thread);
    put_line_text(b, flavor ? flavor : "Thread State");
    buf_puts(b, ":\n");
    for (size_t i = 0; i < json_array_size(numbered); i++) {
        char name[24];
        snprintf(name, sizeof(name), "x%zu", i);
        put_register(&r, name, json_array_get(numbered, i));
    }
    for (void *at = json_object_iter(state); at; at = json_object_iter_next(state, at))
        put_register(&r, json_object_iter_key(at), json_object_iter_value(at));
    if (r.count % 4)
        buf_putc(b, '\n');
}

static void put_thread(struct buf *b, size_t i, json_t *thread, json_t *images)
{
    const char *name = text_of(thread, "name"), *queue = text_of(thread, "queue");
    bool triggered = json_is_true(json_object_get(thread, "triggered"));
    if (name || queue) {
        buf_printf(b, "Thread %zu name:  ", i);
        put_line_text(b, name ? name : "");
        if (queue) {
            buf_puts(b, name ? "  Dispatch queue: " : " Dispatch queue: ");
            put_line_text(b, queue);
        }
        buf_putc(b, '\n');
    }
    buf_printf(b, "Thread %zu%s:\n", i, triggered ? " Crashed" : "");
    put_frames(b, json_object_get(thread, "frames"), images);
    if (triggered)
        put_state(b, i, json_object_get(thread, "threadState"));
    buf_putc(b, '\n');
}

static void put_images(struct buf *b, json_t *images)
{
    size_t i;
    json_t *image;
    buf_puts(b, "Binary Images:\n");
    json_array_foreach(images, i, image)
    {
        uint64_t base = 0, size = 0;
        char from[24], to[24];
        const char *name = text_of(image, "name"), *arch = text_of(image, "arch");
        const char *uuid = text_of(image, "uuid"), *path = text_of(image, "path");
        if (!number_of(image, "base", &base))
            continue;
        (void)number_of(image, "size", &size);
        snprintf(from, sizeof(from), "0x%" PRIx64, base);
        snprintf(to, sizeof(to), "0x%" PRIx64, size ? base + size - 1 : base);
        buf_printf(b, "%18s - %18s ", from, to);
        put_line_text(b, name ? name : "???");
        buf_putc(b, ' ');
        put_line_text(b, arch ? arch : "");
        buf_puts(b, "  <");
        put_line_text(b, uuid ? uuid : "");
        buf_puts(b, "> ");
        put_line_text(b, path ? path : "");
        buf_putc(b, '\n');
    }
}

static enum err put_report(struct buf *b, json_t *d, struct error *err)
{
    json_t *threads = json_object_get(d, "threads"), *images = json_object_get(d, "usedImages");
    json_t *last = json_object_get(d, "lastExceptionBacktrace"), *thread;
    size_t i;
    if (!json_is_array(threads))
        return error_set(err, ERR_INVALID, "the .ips file has no threads");
    put_head(b, d);
    put_exception(b, d);
    put_information(b, d);
    if (json_is_array(last)) {
        buf_puts(b, "Last Exception Backtrace:\n");
        put_frames(b, last, images);
        buf_putc(b, '\n');
    }
    json_array_foreach(threads, i, thread)
    {
        if (i == THREADS_MAX)
            break;
        put_thread(b, i, thread, images);
    }
    put_images(b, images);
    return b->failed ? error_set(err, ERR_LIMIT, "the .ips file is too large") : ERR_OK;
}

enum err ips_to_text(const char *body, size_t len, struct buf *out, struct error *err)
{
    struct text_span t = skip_space(text_span_of(body, len));
    json_t *document = NULL;
    struct text_span after = skip_space(text_from(t, header_length(t)));
    if (after.len > 0) /* a document of one line has nothing after it */
        t = after;
    enum err rc = json_text_load(t.s, t.len, &document, err);
    if (rc == ERR_OK)
        rc = put_report(out, document, err);
    json_decref(document);
    return rc;
}
