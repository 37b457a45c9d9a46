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
#include "base/file.h"
#include "base/key_set.h"
#include "base/large_heap.h"
#include "base/parallel.h"
#include "server/child_limits.h"
#include "server/cmd.h"
#include "symbolizer/symbol_index.h"

#define LINE_MAX_BYTES ((size_t)64 << 10)
#define JOBS_MAX       256
#define MAPS_MAX       64
#define KNOWN_BYTES    ((size_t)1 << 30) /* of the list of known objects */

struct arguments {
    const char *file;
    const char *out_dir;
    const char *name;
    size_t jobs;
    const char *maps[MAPS_MAX];
    size_t map_count;
    const char *known; /* a file of digests */
    bool objects;
    bool digested;
    uint8_t sha256[SHA256_SIZE]; /* where `digested` */
    bool keep_maps;
    bool nameless;
    bool limited;
    struct child_limits limits;
};

enum {
    OPT_JOBS = 256,
    OPT_OBJECTS,
    OPT_LIMITS,
    OPT_NAME,
    OPT_SHA256,
    OPT_MAP,
    OPT_KEEP_MAPS,
    OPT_KNOWN,
    OPT_NAMELESS
};

static const struct option OPTIONS[] = {
    {"output", required_argument, NULL, 'o'},
    {"jobs", required_argument, NULL, OPT_JOBS},
    {"objects", no_argument, NULL, OPT_OBJECTS},
    {"limits", required_argument, NULL, OPT_LIMITS},
    {"name", required_argument, NULL, OPT_NAME},
    {"sha256", required_argument, NULL, OPT_SHA256},
    {"symbol-map", required_argument, NULL, OPT_MAP},
    {"keep-maps", no_argument, NULL, OPT_KEEP_MAPS},
    {"known", required_argument, NULL, OPT_KNOWN},
    {"nameless", no_argument, NULL, OPT_NAMELESS},
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
    case OPT_MAP:
        if (a->map_count == MAPS_MAX)
            return cmd_usage(&cmd_index, "--symbol-map at most %d times; a folder of maps is one",
                             MAPS_MAX);
        a->maps[a->map_count++] = value;
        return CMD_OK;
    case OPT_KEEP_MAPS:
        a->keep_maps = true;
        return CMD_OK;
    case OPT_NAMELESS:
        a->nameless = true;
        return CMD_OK;
    case OPT_KNOWN:
        a->known = value;
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

static const char *const STATES[] = {
    [SLICE_INDEXED] = "indexed", [SLICE_FAILED] = "failed", [SLICE_KNOWN] = "known"};

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
               STATES[s->state]);
    buf_json_string(b, s->reason);
    buf_printf(b, ",\"text_vmaddr\":\"0x%" PRIx64 "\",\"text_size\":%" PRIu64, s->text_vmaddr,
               s->text_size);
    buf_puts(b, ",\"object_sha256\":");
    buf_json_string(b, *s->object_sha256 ? s->object_sha256 : NULL);
    buf_printf(b, ",\"object_bytes\":%" PRIu64 ",\"index_file\":", s->object_bytes);
    buf_json_string(b, *s->index_file ? s->index_file : NULL);
    buf_printf(b, ",\"hidden\":%" PRIu64 ",\"member\":", s->hidden);
    buf_json_string(b, s->member);
    buf_puts(b, "}\n");
}

static void print_line(const struct buf *line)
{
    if (!line->failed && fwrite(line->data, 1, line->len, stdout) == line->len)
        fflush(stdout);
}

/* One line, flushed: who reads us learns of each slice at once. */
static void print_slice(void *ctx, const struct slice_report *report)
{
    struct buf *line = ctx;
    buf_clear(line);
    put_slice(line, report);
    print_line(line);
}

/* The last line, when there is more to tell than slices. */
static void print_totals(struct buf *line, const struct symbol_index_totals *t)
{
    if (t->maps == 0 && t->others == 0)
        return;
    buf_clear(line);
    buf_printf(line, "{\"state\":\"totals\",\"maps\":%" PRIu64 ",\"others\":%" PRIu64 "}\n",
               t->maps, t->others);
    print_line(line);
}

/* --- what is there already -------------------------------------------------------------------- */

static bool is_known(void *ctx, const uint8_t sha256[SHA256_SIZE])
{
    return key_set_find(ctx, sha256) != NULL;
}

/* A file of digests, 32 bytes each. */
static enum err load_known(const char *path, struct key_set *set, struct error *err)
{
    struct buf b;
    buf_init(&b, KNOWN_BYTES);
    enum err rc = file_read(path, &b, err);
    for (size_t at = 0; rc == ERR_OK && at + SHA256_SIZE <= b.len; at += SHA256_SIZE) {
        if (!key_set_at(set, b.data + at))
            rc = error_set(err, ERR_NO_MEMORY, "no memory for what is known");
    }
    buf_done(&b);
    return rc;
}

static enum err load_maps(const struct arguments *a, struct symbol_maps *maps, struct error *err)
{
    enum err rc = maps ? ERR_OK : error_set(err, ERR_NO_MEMORY, "no memory for symbol maps");
    for (size_t i = 0; rc == ERR_OK && i < a->map_count; i++)
        rc = symbol_maps_add(maps, a->maps[i], err);
    return rc;
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
    struct symbol_index_totals totals = {0};
    struct symbol_maps *maps = symbol_maps_new();
    struct key_set known;
    const struct symbol_index_options options = {
        .out_dir = a->out_dir,
        .limits = ARCHIVE_LIMITS_DEFAULT,
        .parallel = parallel,
        .keep_objects = a->objects,
        .keep_maps = a->keep_maps,
        .nameless = a->nameless,
        .maps = maps,
        .known = a->known ? is_known : NULL,
        .known_ctx = &known,
        .name = a->name,
        .sha256 = a->digested ? a->sha256 : NULL,
    };
    buf_init(&line, LINE_MAX_BYTES);
    key_set_init(&known, SHA256_SIZE, 0);
    enum err e = load_maps(a, maps, &err);
    if (e == ERR_OK && a->known)
        e = load_known(a->known, &known, &err);
    if (e == ERR_OK)
        e = symbol_index_build(a->file, &options, print_slice, &line, &totals, &err);
    if (e == ERR_OK)
        print_totals(&line, &totals);
    buf_done(&line);
    key_set_done(&known);
    symbol_maps_free(maps);
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
    struct stat st;
    large_heap_prepare(stat(a.file, &st) == 0 ? (size_t)st.st_size : 0);
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
    .synopsis = "FILE -o DIR [--symbol-map FILE|DIR] [--jobs N] [--objects] [OPTION...]",
    .details =
        "FILE: a dSYM (folder), an archive with dSYMs at any depth, or an object file.\n"
        "Writes DIR/UUID.gsym for each architecture slice of each object file in FILE\n"
        "(DIR/UUID.2.gsym for a second object of the same UUID), and one JSON line a slice:\n"
        "uuid, name, arch, functions, lines, inlines, has_dwarf, index_bytes, state (indexed,\n"
        "failed, or known: see --known), reason (or null; beside \"indexed\" it is a warning),\n"
        "text_vmaddr, text_size, object_sha256 (of a bare object null, without --objects and\n"
        "--sha256), object_bytes, index_file, hidden (names that no symbol map restored),\n"
        "member (path in the archive). A last line of the state totals says how many\n"
        "symbol maps and how many files that are nothing were there.\n"
        "\n"
        "Names that the App Store hid (__hidden#12_) are restored by UUID.bcsymbolmap files in\n"
        "FILE (with the UUID.plist of the dSYM, where its UUID is another one), or given:\n"
        "\n"
        "  -o, --output DIR  made when it is not there\n"
        "  --symbol-map PATH UUID.bcsymbolmap, UUID.plist, or a folder of them; more than once\n"
        "  --jobs N          threads (default 1); the result does not depend on it\n"
        "  --objects         also leave each object file in DIR, named by its SHA-256\n"
        "  --sha256 HEX      of FILE, where it is an object and has been hashed already\n"
        "  --name NAME       of a bare object that says none itself (default: FILE's name)\n"
        "  --nameless        index libraries, too, of whose functions only the starts are known\n"
        "  --keep-maps       also leave symbol maps of FILE in DIR\n"
        "  --known FILE      SHA-256 digests, 32 bytes each: such objects are not indexed anew\n"
        "  --limits LIST     data=BYTES,cpu=SECONDS,file=BYTES: give up everything else, as\n"
        "                    the daemon's own child does\n"
        "\n"
        "Exit status: 0 at least one slice was indexed; 1 failed, and what was printed does\n"
        "not count; 2 wrong command line; 3 no object file with a UUID inside; 4 as 1, but\n"
        "the disk or the system is at fault (no room, no descriptors), not FILE.",
    .run = run,
};
