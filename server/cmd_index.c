#include <dirent.h>
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/parallel.h"
#include "server/child_limits.h"
#include "server/cmd.h"
#include "symbolizer/symbol_index.h"

#define LINE_MAX_BYTES ((size_t)64 << 10)
#define JOBS_MAX       256

struct arguments {
    const char *file;
    const char *out_dir;
    const char *name;
    size_t jobs;
    bool objects;
    bool digested;
    uint8_t sha256[SHA256_SIZE]; /* where `digested` */
    bool limited;
    struct child_limits limits;
};

enum { OPT_JOBS = 256, OPT_OBJECTS, OPT_LIMITS, OPT_NAME, OPT_SHA256 };

static const struct option OPTIONS[] = {
    {"output", required_argument, NULL, 'o'},
    {"jobs", required_argument, NULL, OPT_JOBS},
    {"objects", no_argument, NULL, OPT_OBJECTS},
    {"limits", required_argument, NULL, OPT_LIMITS},
    {"name", required_argument, NULL, OPT_NAME},
    {"sha256", required_argument, NULL, OPT_SHA256},
    {NULL, 0, NULL, 0},
};

static bool parse_jobs(const char *text, size_t *ret)
{
    char *end = NULL;
    errno = 0;
    long n = strtol(text, &end, 10);
    if (errno || end == text || *end || n < 1 || n > JOBS_MAX)
        return false;
    *ret = (size_t)n;
    return true;
}

/* CMD_OK, or what run() ends with. */
static int parse_option(int option, const char *value, struct arguments *a)
{
    struct error err;
    switch (option) {
    case 'o':
        a->out_dir = value;
        return CMD_OK;
    case OPT_JOBS:
        if (!parse_jobs(value, &a->jobs))
            return cmd_usage(&cmd_index, "--jobs needs a number from 1 to %d", JOBS_MAX);
        return CMD_OK;
    case OPT_OBJECTS:
        a->objects = true;
        return CMD_OK;
    case OPT_NAME:
        a->name = value;
        return CMD_OK;
    case OPT_SHA256:
        a->digested = sha256_parse(value, a->sha256);
        if (!a->digested)
            return cmd_usage(&cmd_index, "--sha256 needs 64 hexadecimal digits");
        return CMD_OK;
    case OPT_LIMITS:
        a->limited = true;
        if (child_limits_parse(value, &a->limits, &err) != ERR_OK)
            return cmd_usage(&cmd_index, "%s", err.text);
        return CMD_OK;
    default:
        return cmd_usage(&cmd_index, "unknown option");
    }
}

static int parse_arguments(int argc, char **argv, struct arguments *a)
{
    int option;
    optind = 1;
    opterr = 0;
    while ((option = getopt_long(argc, argv, ":o:", OPTIONS, NULL)) != -1) {
        if (option == '?' || option == ':')
            return cmd_usage(&cmd_index, "%s %s",
                             option == '?' ? "unknown option" : "no value given for",
                             argv[optind - 1]);
        int status = parse_option(option, optarg, a);
        if (status != CMD_OK)
            return status;
    }
    if (argc - optind != 1)
        return cmd_usage(&cmd_index, optind == argc ? "no file given" : "one file at a time");
    if (!a->out_dir)
        return cmd_usage(&cmd_index, "no output folder given (-o DIR)");
    a->file = argv[optind];
    return CMD_OK;
}

static void put_slice(struct buf *b, const struct slice_report *s)
{
    char uuid[UUID_TEXT_SIZE];
    bool nil = uuid_is_nil(&s->uuid);
    buf_puts(b, "{\"uuid\":");
    buf_json_string(b, nil ? NULL : uuid_format(&s->uuid, uuid));
    buf_puts(b, ",\"name\":");
    buf_json_string(b, s->name);
    buf_puts(b, ",\"arch\":");
    buf_json_string(b, *s->arch ? s->arch : NULL);
    buf_printf(b,
               ",\"functions\":%" PRIu64 ",\"lines\":%" PRIu64 ",\"inlines\":%" PRIu64
               ",\"has_dwarf\":%s,\"index_bytes\":%" PRIu64 ",\"state\":\"%s\",\"reason\":",
               s->functions, s->lines, s->inlines, s->has_dwarf ? "true" : "false", s->index_bytes,
               s->state == SLICE_INDEXED ? "indexed" : "failed");
    buf_json_string(b, s->reason);
    buf_printf(b, ",\"text_vmaddr\":\"0x%" PRIx64 "\",\"text_size\":%" PRIu64, s->text_vmaddr,
               s->text_size);
    buf_puts(b, ",\"object_sha256\":");
    buf_json_string(b, *s->object_sha256 ? s->object_sha256 : NULL);
    buf_printf(b, ",\"object_bytes\":%" PRIu64 ",\"index_file\":", s->object_bytes);
    buf_json_string(b, *s->index_file ? s->index_file : NULL);
    buf_puts(b, ",\"member\":");
    buf_json_string(b, s->member);
    buf_puts(b, "}\n");
}

/* One line, flushed: who reads us learns of each slice at once. */
static void print_slice(void *ctx, const struct slice_report *report)
{
    struct buf *line = ctx;
    buf_clear(line);
    put_slice(line, report);
    if (!line->failed && fwrite(line->data, 1, line->len, stdout) == line->len)
        fflush(stdout);
}

/* A dSYM as a build leaves it is a folder: the one file in it. */
static enum err find_in_bundle(const char *folder, char path[PATH_MAX], struct error *err)
{
    struct stat st;
    size_t count = 0;
    const struct dirent *entry;
    if (stat(folder, &st) != 0 || !S_ISDIR(st.st_mode)) {
        snprintf(path, PATH_MAX, "%s", folder);
        return ERR_OK;
    }
    char place[PATH_MAX];
    if (snprintf(place, sizeof(place), "%s/Contents/Resources/DWARF", folder) >= (int)sizeof(place))
        return error_set(err, ERR_LIMIT, "%.200s…: too long a path", folder);
    DIR *dir = opendir(place);
    if (!dir)
        return error_set(err, ERR_INVALID,
                         "%s is a folder without Contents/Resources/DWARF: zip it, or give a file",
                         folder);
    while ((entry = readdir(dir)) != NULL) {
        if (entry->d_name[0] == '.')
            continue;
        count++;
        if (snprintf(path, PATH_MAX, "%s/%s", place, entry->d_name) >= PATH_MAX)
            break;
    }
    closedir(dir);
    if (count != 1)
        return error_set(err, ERR_INVALID, "%s has %zu files: zip it, or give one of them", place,
                         count);
    return ERR_OK;
}

static int index_with(const struct arguments *a, const struct parallel_for *parallel)
{
    struct buf line;
    struct error err = {.code = ERR_OK};
    const struct symbol_index_options options = {
        .out_dir = a->out_dir,
        .limits = ARCHIVE_LIMITS_DEFAULT,
        .parallel = parallel,
        .keep_objects = a->objects,
        .name = a->name,
        .sha256 = a->digested ? a->sha256 : NULL,
    };
    buf_init(&line, LINE_MAX_BYTES);
    enum err e = symbol_index_build(a->file, &options, print_slice, &line, &err);
    buf_done(&line);
    if (e == ERR_OK)
        return CMD_OK;
    cmd_failed(&cmd_index, &err);
    if (e == ERR_IO)
        return CMD_SYSTEM;
    return e == ERR_NOT_FOUND ? CMD_NOTHING : CMD_FAILED;
}

static int run(int argc, char **argv)
{
    struct arguments a = {.jobs = 1};
    struct error err, missing;
    char path[PATH_MAX];
    int status = parse_arguments(argc, argv, &a);
    if (status != CMD_OK)
        return status;
    if (find_in_bundle(a.file, path, &err) != ERR_OK)
        return cmd_failed(&cmd_index, &err);
    a.file = path;
    if (mkdir(a.out_dir, 0777) != 0 && errno != EEXIST) {
        error_errno(&err, errno, "cannot make the folder %s", a.out_dir);
        return cmd_failed(&cmd_index, &err);
    }
    if (a.limited && child_limits_apply(&a.limits, &missing, &err) != ERR_OK) {
        cmd_failed(&cmd_index, &err);
        return CMD_SYSTEM;
    }
    if (a.limited && missing.code != ERR_OK)
        fprintf(stderr, "stallsymd index: going on with %s\n", missing.text);
    struct parallel_for *parallel = a.jobs > 1 ? parallel_new(a.jobs) : NULL;
    if (a.jobs > 1 && !parallel)
        fprintf(stderr, "stallsymd index: no threads to be had, going on with one\n");
    status = index_with(&a, parallel);
    parallel_free(parallel);
    return status;
}

const struct cmd cmd_index = {
    .name = "index",
    .help = "symbol files to index files: dSYM, Mach-O, ELF; bare, zip, tar, gzip",
    .synopsis = "FILE -o DIR [--jobs N] [--objects] [--sha256 HEX] [--name NAME] [--limits LIST]",
    .details =
        "FILE: a dSYM (folder), an archive with dSYMs at any depth, or an object file.\n"
        "Writes DIR/UUID.gsym for each architecture slice of each object file in FILE\n"
        "(DIR/UUID.2.gsym for a second object of the same UUID), and one JSON line a slice:\n"
        "uuid, name, arch, functions, lines, inlines, has_dwarf, index_bytes, state (indexed\n"
        "or failed), reason (or null; beside \"indexed\" it is a warning), text_vmaddr,\n"
        "text_size, object_sha256 (of a bare object null, without --objects and --sha256),\n"
        "object_bytes, index_file, member (path in the archive).\n"
        "\n"
        "  -o, --output DIR  made when it is not there\n"
        "  --jobs N          threads (default 1); the result does not depend on it\n"
        "  --objects         also leave each object file in DIR, named by its SHA-256\n"
        "  --sha256 HEX      of FILE, where it is an object and has been hashed already\n"
        "  --name NAME       of a bare object that says none itself (default: FILE's name)\n"
        "  --limits LIST     data=BYTES,cpu=SECONDS,file=BYTES: give up everything else, as\n"
        "                    the daemon's own child does\n"
        "\n"
        "Exit status: 0 at least one slice was indexed; 1 failed, and what was printed does\n"
        "not count; 2 wrong command line; 3 no object file with a UUID inside; 4 as 1, but\n"
        "the disk or the system is at fault (no room, no descriptors), not FILE.",
    .run = run,
};
