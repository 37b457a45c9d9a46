#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "server/analysis/normalize.h"
#include "server/cmd.h"
#include "symbolizer/demangle.h"
#include "symbolizer/demangle_swift.h"

#define OUT_LIMIT   ((size_t)16 << 20)
#define OUT_FLUSH   ((size_t)256 << 10)
#define INPUT_CHUNK ((size_t)128 << 10) /* a longer line is read in pieces */
#define NAME_BYTES  SWIFT_NAME_MAX
#define TEXT_BYTES  ((size_t)256 << 10)

/* One run of the command. */
struct demangling {
    enum swift_form form;
    struct buf out;
    char name[NAME_BYTES + 1];
    char text[TEXT_BYTES];
};

/* --- one name -------------------------------------------------------------------------------- */

/* Whether the bytes are a mangled name; `text` is then what to print for it. */
static bool demangle_name(struct demangling *d, const char *s, size_t len)
{
    if (len == 0 || len > NAME_BYTES)
        return false;
    memcpy(d->name, s, len);
    d->name[len] = 0;
    if (demangle_swift_is_mangled(d->name))
        return demangle_swift(d->name, d->form, d->text, sizeof(d->text));
    if (!demangle(d->name, d->text, sizeof(d->text)))
        return false;
    if (d->form == SWIFT_KEY) {
        char key[KEY_NAME_MAX];
        if (normalize_function(d->text, NULL, 0, key, sizeof(key)) > 0)
            snprintf(d->text, sizeof(d->text), "%s", key);
    }
    return true;
}

static bool put_name(struct demangling *d, const char *s, size_t len)
{
    if (!demangle_name(d, s, len))
        return false;
    buf_put(&d->out, d->text, strlen(d->text));
    return true;
}

/* --- names in text ----------------------------------------------------------------------------- */

static bool is_name_character(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '$' || c == '.';
}

static size_t span(const char *s, size_t len)
{
    size_t n = 0;
    while (n < len && is_name_character(s[n]))
        n++;
    return n;
}

/* A block of an Objective-C method has the method inside, which has blanks:
 * "__15-[Feed reload:]_block_invoke_2". Its length, or 0. */
static size_t objc_block(const char *s, size_t len)
{
    static const char invoke[] = "_block_invoke";
    size_t at = 0;
    while (at < len && s[at] == '_')
        at++;
    if (at < 2 || at > 3)
        return 0;
    while (at < len && isdigit((unsigned char)s[at]))
        at++;
    if (len - at < 2 || (s[at] != '-' && s[at] != '+') || s[at + 1] != '[')
        return 0;
    const char *end = memchr(s + at, ']', len - at);
    at = end ? (size_t)(end - s) + 1 : len;
    if (len - at < sizeof(invoke) - 1 || memcmp(s + at, invoke, sizeof(invoke) - 1) != 0)
        return 0;
    return at + span(s + at, len - at);
}

/* Where a name that begins here ends: letters, digits, '_', '$' and '.'. An '@' goes on with a Swift
 * name, which has none, so that what only begins like one stays whole; the dots of a sentence do
 * not belong to it. */
static size_t name_length(const char *s, size_t len)
{
    static const char macro[] = "@__swiftmacro_";
    size_t n = objc_block(s, len);
    if (n > 0)
        return n;
    if (len >= sizeof(macro) - 1 && memcmp(s, macro, sizeof(macro) - 1) == 0)
        n = 1;
    n += span(s + n, len - n);
    bool swift = n > 2 && (s[0] == '$' || (s[0] == '_' && (s[1] == '$' || s[1] == 'T')));
    while (swift && n < len && s[n] == '@')
        n += 1 + span(s + n + 1, len - n - 1);
    while (n > 0 && s[n - 1] == '.')
        n--;
    return n;
}

static void put_text(struct demangling *d, const char *s, size_t len)
{
    size_t at = 0;
    while (at < len) {
        size_t n = name_length(s + at, len - at);
        if (n == 0)
            n = 1;
        if (!put_name(d, s + at, n))
            buf_put(&d->out, s + at, n);
        at += n;
    }
}

/* A line that is one name may have any characters; in any other text names are looked for. */
static void put_line(struct demangling *d, const char *s, size_t len)
{
    size_t end = len;
    while (end > 0 && strchr(" \t\r", s[end - 1]) != NULL && s[end - 1] != 0)
        end--;
    if (memchr(s, ' ', end) == NULL && put_name(d, s, end))
        buf_put(&d->out, s + end, len - end);
    else
        put_text(d, s, len);
}

/* --- input ----------------------------------------------------------------------------------------- */

static bool flush(struct buf *b)
{
    bool ok = !b->failed && (b->len == 0 || fwrite(b->data, 1, b->len, stdout) == b->len);
    ok = fflush(stdout) == 0 && ok;
    buf_clear(b);
    return ok;
}

/* The whole lines of `chunk`; how many bytes they were. */
static size_t put_lines(struct demangling *d, const char *chunk, size_t have, bool *ok)
{
    size_t at = 0;
    const char *newline;
    while (*ok && (newline = memchr(chunk + at, '\n', have - at)) != NULL) {
        size_t len = (size_t)(newline - chunk) - at;
        put_line(d, chunk + at, len);
        buf_putc(&d->out, '\n');
        at += len + 1;
        if (d->out.len >= OUT_FLUSH)
            *ok = flush(&d->out);
    }
    return at;
}

/* What was read is answered before more is waited for, so that a program can ask line by line. */
static enum err demangle_input(struct demangling *d, struct error *err)
{
    static char chunk[INPUT_CHUNK];
    size_t have = 0;
    for (;;) {
        ssize_t n = read(STDIN_FILENO, chunk + have, sizeof(chunk) - have);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return error_errno(err, errno, "cannot read standard input");
        have += (size_t)n;
        bool ok = true;
        size_t done = put_lines(d, chunk, have, &ok);
        if (done < have && (n == 0 || have - done == sizeof(chunk))) {
            put_line(d, chunk + done, have - done);
            done = have;
        }
        have -= done;
        memmove(chunk, chunk + done, have);
        if (!flush(&d->out) || !ok)
            return error_set(err, ERR_IO, "cannot write to standard output");
        if (n == 0)
            return ERR_OK;
    }
}

static const struct option OPTIONS[] = {
    {"full", no_argument, NULL, SWIFT_FULL},
    {"simplified", no_argument, NULL, SWIFT_SIMPLIFIED},
    {"key", no_argument, NULL, SWIFT_KEY},
    {NULL, 0, NULL, 0},
};

static int run(int argc, char **argv)
{
    static struct demangling d = {.form = SWIFT_SIMPLIFIED};
    struct error err = {0};
    int option;
    optind = 1;
    opterr = 0;
    while ((option = getopt_long(argc, argv, "", OPTIONS, NULL)) != -1) {
        if (option == '?')
            return cmd_usage(&cmd_demangle, "unknown option \"%s\"", argv[optind - 1]);
        d.form = (enum swift_form)option;
    }
    if (optind < argc)
        return cmd_usage(&cmd_demangle, "names come on standard input, not as arguments");
    buf_init(&d.out, OUT_LIMIT);
    enum err rc = demangle_input(&d, &err);
    buf_done(&d.out);
    return rc == ERR_OK ? CMD_OK : cmd_failed(&cmd_demangle, &err);
}

const struct cmd cmd_demangle = {
    .name = "demangle",
    .help = "mangled names in text become readable ones",
    .synopsis = "[--full | --simplified | --key] < TEXT",
    .details = "Reads standard input, replaces names of Swift, C++, Rust and of Objective-C\n"
               "blocks wherever they stand in a line, and leaves all other text as it is.\n"
               "  --full        Swift as `swift-demangle` prints it\n"
               "  --simplified  Swift as `swift-demangle -simplified` does (the default)\n"
               "  --key         the function a name belongs to: what clusters are keyed by\n"
               "C++, Rust and Objective-C have one form besides the key.",
    .run = run,
};
