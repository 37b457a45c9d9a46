/*
 * cmd_symbolicate - `stallsymd symbolicate`: a crash text filled in without a daemon.
 */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "server/cmd.h"
#include "server/http/fill_text.h"
#include "server/ingest/apple_text.h"
#include "server/ingest/format_ips.h"
#include "symbolizer/index_cache.h"
#include "symbolizer/sigbus_guard.h"

#define TEXT_LIMIT   ((size_t)256 << 20)
#define OUT_LIMIT    ((size_t)1 << 30)
#define ARENA_LIMIT  ((size_t)512 << 20)
#define FRAME_CACHE  32768
#define OPEN_INDEXES 256
#define MISSES       65536

struct symbolicating {
    const char *path;
    const char *folder;
    enum text_callers callers;
};

/* FOLDER/UUID.gsym, as `index -o` writes them, or FOLDER/ab/UUID.gsym, as the daemon does. */
static bool locate(void *ctx, const struct uuid *uuid, char *path, size_t size)
{
    const char *folder = ctx;
    char name[UUID_TEXT_SIZE];
    uuid_format(uuid, name);
    int n = snprintf(path, size, "%s/%s.gsym", folder, name);
    if (n > 0 && (size_t)n < size && access(path, R_OK) == 0)
        return true;
    n = snprintf(path, size, "%s/%c%c/%s.gsym", folder, tolower((unsigned char)name[0]),
                 tolower((unsigned char)name[1]), name);
    return n > 0 && (size_t)n < size && access(path, R_OK) == 0;
}

static enum err fill(const struct symbolicating *s, const struct buf *in, struct arena *arena,
                     struct buf *out, struct fill_stats *ret, struct error *err)
{
    struct apple_text text;
    struct index_locator locator = {.locate = locate, .ctx = (void *)s->folder};
    struct index_cache *cache = index_cache_new(locator, OPEN_INDEXES, MISSES);
    struct symbolizer *symbolizer = cache ? symbolizer_new(cache, FRAME_CACHE) : NULL;
    enum err rc = symbolizer ? ERR_OK : error_set(err, ERR_NO_MEMORY, "no memory");
    if (rc == ERR_OK)
        rc = apple_text_read(in->data ? in->data : "", in->len, arena, &text, err);
    if (rc == ERR_OK)
        rc = fill_text(&text, s->callers, symbolizer, NULL, out, ret, err);
    symbolizer_free(symbolizer);
    index_cache_free(cache);
    return rc;
}

/* Without it nothing would be filled in, and nobody told why. */
static enum err check_folder(const char *folder, struct error *err)
{
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return error_errno(err, errno, "cannot open --index %s", folder);
    close(fd);
    return ERR_OK;
}

static int symbolicate(const struct symbolicating *s)
{
    struct error err = {0};
    struct buf in, text, out;
    struct fill_stats stats = {0};
    struct arena *arena = arena_new(ARENA_LIMIT);
    buf_init(&in, TEXT_LIMIT);
    buf_init(&text, TEXT_LIMIT);
    buf_init(&out, OUT_LIMIT);
    enum err rc = arena ? sigbus_guard_install(&err) : error_set(&err, ERR_NO_MEMORY, "no memory");
    if (rc == ERR_OK)
        rc = check_folder(s->folder, &err);
    if (rc == ERR_OK)
        rc = file_read(s->path, &in, &err);
    bool ips = rc == ERR_OK && ips_is(in.data ? in.data : "", in.len);
    if (ips)
        rc = ips_to_text(in.data, in.len, &text, &err);
    if (rc == ERR_OK)
        rc = fill(s, ips ? &text : &in, arena, &out, &stats, &err);
    if (rc == ERR_OK && fwrite(out.data ? out.data : "", 1, out.len, stdout) != out.len)
        rc = error_set(&err, ERR_IO, "cannot write to standard output");
    if (rc == ERR_OK)
        fprintf(stderr, "stallsymd symbolicate: %zu of %zu frames filled in\n", stats.filled,
                stats.frames);
    buf_done(&in);
    buf_done(&text);
    buf_done(&out);
    arena_free(arena);
    if (rc != ERR_OK)
        return cmd_failed(&cmd_symbolicate, &err);
    return stats.frames > 0 ? CMD_OK : CMD_NOTHING;
}

static int run(int argc, char **argv)
{
    static const struct option options[] = {
        {"index", required_argument, NULL, 'i'}, {"callers", required_argument, NULL, 'c'}, {0}};
    struct symbolicating s = {.path = "/dev/stdin", .callers = CALLERS_BY_FORM};
    opterr = 0;
    optind = 1;
    for (int c; (c = getopt_long(argc, argv, "i:", options, NULL)) != -1;) {
        if (c == 'i')
            s.folder = optarg;
        else if (c == 'c' && strcmp(optarg, "return") == 0)
            s.callers = CALLERS_RETURN;
        else if (c == 'c' && strcmp(optarg, "exact") == 0)
            s.callers = CALLERS_EXACT;
        else if (c == 'c')
            return cmd_usage(&cmd_symbolicate, "--callers is return or exact");
        else
            return cmd_usage(&cmd_symbolicate, "unknown option, or one without its value: \"%s\"",
                             argv[optind - 1]);
    }
    if (!s.folder)
        return cmd_usage(&cmd_symbolicate, "--index DIR is missing");
    if (argc - optind > 1)
        return cmd_usage(&cmd_symbolicate, "one file at a time");
    if (optind < argc && strcmp(argv[optind], "-") != 0)
        s.path = argv[optind];
    return symbolicate(&s);
}

const struct cmd cmd_symbolicate = {
    .name = "symbolicate",
    .help = "fills in the frames of a crash, hang, sample or spindump text",
    .synopsis = "[FILE] --index DIR [--callers return|exact]",
    .details = "FILE (standard input without one, or \"-\") is a .crash, .ips, hang, sample or\n"
               "spindump text; it is printed with names, files and lines in the frames that\n"
               "an index knows. How many that were is said on standard error.\n"
               "  --index DIR   indexes of `stallsymd index -o DIR`, or symbols/ of a daemon\n"
               "  --callers     how addresses of callers are looked up: \"return\" is one byte\n"
               "                before, \"exact\" as they stand. Default: exact in sample(1)'s\n"
               "                texts, as Apple's tools do, return in all others.\n"
               "Exit status 3: no frame is in it.",
    .run = run,
};
