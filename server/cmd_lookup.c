#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "server/cmd.h"
#include "symbolizer/gsym_read.h"
#include "symbolizer/sigbus_guard.h"

#define OUT_LIMIT   ((size_t)16 << 20)
#define OUT_FLUSH   ((size_t)256 << 10)
#define INPUT_CHUNK ((size_t)64 << 10)
#define LINE_MAX    64 /* an address and blanks */

/* --- addresses ----------------------------------------------------------------------------- */

static bool digit_of(char c, unsigned base, unsigned *ret)
{
    unsigned d = 16;
    if (c >= '0' && c <= '9')
        d = (unsigned)(c - '0');
    else if (c >= 'a' && c <= 'f')
        d = (unsigned)(c - 'a') + 10;
    else if (c >= 'A' && c <= 'F')
        d = (unsigned)(c - 'A') + 10;
    *ret = d;
    return d < base;
}

/* "0x…" or decimal, blanks around it allowed. */
static bool parse_address(const char *s, size_t len, uint64_t *ret)
{
    while (len > 0 && strchr(" \t\r", s[len - 1]))
        len--;
    while (len > 0 && strchr(" \t", *s))
        s++, len--;
    unsigned base = 10;
    if (len > 2 && s[0] == '0' && (s[1] == 'x' || s[1] == 'X')) {
        base = 16;
        s += 2;
        len -= 2;
    }
    uint64_t v = 0;
    for (size_t i = 0; i < len; i++) {
        unsigned d;
        if (!digit_of(s[i], base, &d) || __builtin_mul_overflow(v, base, &v) ||
            __builtin_add_overflow(v, d, &v))
            return false;
    }
    *ret = v;
    return len > 0;
}

/* --- printing ------------------------------------------------------------------------------ */

static void put_text(struct buf *b, const char *s)
{
    buf_put(b, s, strlen(s));
}

static void put_number(struct buf *b, uint64_t v, unsigned base)
{
    char digits[24];
    size_t at = sizeof(digits);
    do {
        digits[--at] = "0123456789abcdef"[v % base];
        v /= base;
    } while (v > 0);
    buf_put(b, digits + at, sizeof(digits) - at);
}

static void put_frame(struct buf *b, const struct gsym_frame *f)
{
    char path[GSYM_PATH_MAX];
    char display[GSYM_DISPLAY_MAX];
    put_text(b, "{\"function\":");
    buf_json_string(b, gsym_frame_display(f, display));
    put_text(b, ",\"mangled\":");
    buf_json_string(b, f->name);
    put_text(b, ",\"file\":");
    buf_json_string(b, gsym_frame_file(f, path));
    put_text(b, ",\"line\":");
    if (f->line)
        put_number(b, f->line, 10);
    else
        put_text(b, "null");
    put_text(b, f->inlined ? ",\"inlined\":true}" : ",\"inlined\":false}");
}

static bool flush(struct buf *b)
{
    bool ok = !b->failed && (b->len == 0 || fwrite(b->data, 1, b->len, stdout) == b->len);
    ok = fflush(stdout) == 0 && ok;
    buf_clear(b);
    return ok;
}

static void put_answer(struct buf *b, const struct gsym *g, uint64_t address)
{
    struct gsym_frame frames[GSYM_FRAMES_MAX];
    size_t count = gsym_lookup(g, address, frames, GSYM_FRAMES_MAX);
    put_text(b, "{\"address\":\"0x");
    put_number(b, address, 16);
    put_text(b, "\",\"frames\":[");
    for (size_t i = 0; i < count; i++) {
        if (i > 0)
            buf_putc(b, ',');
        put_frame(b, &frames[i]);
    }
    put_text(b, "]}\n");
}

/* --- input --------------------------------------------------------------------------------- */

/* One run of the command. */
struct lookup {
    const struct gsym *g;
    struct buf out;
    uint64_t line; /* of standard input */
};

static enum err answer_line(struct lookup *l, const char *s, size_t len, struct error *err)
{
    uint64_t address;
    l->line++;
    if (strspn(s, " \t\r") >= len)
        return ERR_OK;
    if (len > LINE_MAX || !parse_address(s, len, &address))
        return error_set(err, ERR_INVALID, "standard input, line %" PRIu64 ": not an address: %.*s",
                         l->line, (int)(len < LINE_MAX ? len : LINE_MAX), s);
    put_answer(&l->out, l->g, address);
    if (l->out.len >= OUT_FLUSH && !flush(&l->out))
        return error_set(err, ERR_IO, "cannot write to standard output");
    return ERR_OK;
}

/* Answers are written before more input is waited for, so that a program can ask one by one. */
static enum err answer_input(struct lookup *l, struct error *err)
{
    static char chunk[INPUT_CHUNK + 1];
    size_t have = 0;
    enum err rc = ERR_OK;
    while (rc == ERR_OK) {
        if (!flush(&l->out))
            return error_set(err, ERR_IO, "cannot write to standard output");
        ssize_t n = read(STDIN_FILENO, chunk + have, INPUT_CHUNK - have);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return error_errno(err, errno, "cannot read standard input");
        have += (size_t)n;
        chunk[have] = 0;
        char *at = chunk;
        char *newline;
        while (rc == ERR_OK && (newline = memchr(at, '\n', have - (size_t)(at - chunk))) != NULL) {
            rc = answer_line(l, at, (size_t)(newline - at), err);
            at = newline + 1;
        }
        have -= (size_t)(at - chunk);
        memmove(chunk, at, have + 1);
        if (rc == ERR_OK && have > 0 && (n == 0 || have > LINE_MAX)) {
            rc = answer_line(l, chunk, have, err);
            have = 0;
        }
        if (n == 0)
            break;
    }
    return rc;
}

static enum err answer_all(struct lookup *l, int count, char **addresses, struct error *err)
{
    struct sigbus_guard guard;
    if (sigbus_guard_enter(&guard) != 0)
        return error_set(err, ERR_IO, "index: its bytes cannot be read");
    enum err rc = ERR_OK;
    for (int i = 0; i < count; i++) {
        uint64_t address = 0;
        (void)parse_address(addresses[i], strlen(addresses[i]), &address);
        put_answer(&l->out, l->g, address);
    }
    if (count == 0)
        rc = answer_input(l, err);
    sigbus_guard_leave(&guard);
    if (!flush(&l->out) && rc == ERR_OK)
        rc = error_set(err, ERR_IO, "cannot write to standard output");
    return rc;
}

static int run(int argc, char **argv)
{
    struct error err = {0};
    struct gsym *g = NULL;
    int first = argc > 1 && strcmp(argv[1], "--") == 0 ? 2 : 1;
    if (argc <= first)
        return cmd_usage(&cmd_lookup, "an index file is missing");
    if (first == 1 && argv[1][0] == '-')
        return cmd_usage(&cmd_lookup, "unknown option \"%s\"", argv[1]);
    for (int i = first + 1; i < argc; i++) {
        uint64_t ignored;
        if (!parse_address(argv[i], strlen(argv[i]), &ignored))
            return cmd_usage(&cmd_lookup, "not an address: \"%s\"", argv[i]);
    }
    if (sigbus_guard_install(&err) != ERR_OK || gsym_open(argv[first], &g, &err) != ERR_OK)
        return cmd_failed(&cmd_lookup, &err);
    struct lookup l = {.g = g};
    buf_init(&l.out, OUT_LIMIT);
    enum err rc = answer_all(&l, argc - first - 1, argv + first + 1, &err);
    buf_done(&l.out);
    gsym_close(g);
    return rc == ERR_OK ? CMD_OK : cmd_failed(&cmd_lookup, &err);
}

const struct cmd cmd_lookup = {
    .name = "lookup",
    .help = "functions, files and lines of addresses, from an index file",
    .synopsis = "INDEX.gsym [ADDRESS...]",
    .details = "Addresses are those the linker gave (address - slide), hexadecimal with 0x\n"
               "or decimal (digits alone are decimal), as arguments or one a line\n"
               "on standard input. Each gives one\n"
               "JSON line, innermost frame first, \"frames\" empty where nothing is:\n"
               "  {\"address\":\"0x1000\",\"frames\":[{\"function\":\"net::poll(int)\",\n"
               "   \"mangled\":\"_ZN3net4pollEi\",\"file\":\"/src/net.cc\",\"line\":41,\n"
               "   \"inlined\":false}]}\n"
               "Reads indexes of `stallsymd index` and of llvm-gsymutil (GSYM version 1).\n"
               "\n"
               "An address where nothing is has an answer, too: the exit status is 0, as that\n"
               "of llvm-symbolizer and addr2line. 1: the index or an address of the input\n"
               "cannot be read; 2: a mistake in the arguments.",
    .run = run,
};
