/*
 * cluster - rows of named frames in, clusters out, through the very code of the resolver.
 */
#include <errno.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/buf.h"
#include "server/analysis/cluster_key.h"
#include "server/analysis/frame_memo.h"
#include "server/analysis/normalize.h"
#include "server/analysis/similar.h"
#include "server/cmd.h"
#include "server/jobs/json_text.h"
#include "server/rules_file.h"
#include "symbolizer/demangle.h"
#include "symbolizer/demangle_swift.h"

#define ROW_BYTES_MAX    (4u * 1024 * 1024)
#define ROW_FRAMES_MAX   4096
#define ROW_MEMORY_MAX   (64u * 1024 * 1024)
#define ROWS_MEMORY_MAX  (1024u * 1024 * 1024)
#define MEMO_ENTRIES     65536
#define CLUSTER_APP_NAME "stdin" /* stands for the bundle id: one run is one app */

struct cluster_run {
    const struct rules *rules;
    struct key_options options;
    bool merge;
    struct arena arena; /* of the row at hand */
    struct arena kept;  /* ids and what the second stage compares */
    char **ids;
    struct similar_stack *stacks;
    size_t count;
    size_t capacity;
    size_t line;
};

static enum err bad_row(const struct cluster_run *run, struct error *err, const char *what)
{
    return error_set(err, ERR_INVALID, "line %zu: %s", run->line, what);
}

/* `lines` hold "file:line"; the file is part of a frame. */
static const char *file_of(struct cluster_run *run, const json_t *lines, size_t i)
{
    const char *text = json_string_value(json_array_get(lines, i));
    const char *colon = text ? strrchr(text, ':') : NULL;
    return colon && colon > text ? arena_strndup(&run->arena, text, (size_t)(colon - text)) : NULL;
}

/* A linkage name is shown as an index shows it, so that both are one frame. */
static bool demangle_frame(struct cluster_run *run, struct frame *frame)
{
    char shown[DEMANGLE_OUTPUT_MAX];
    if (!demangle(frame->function, shown, sizeof(shown)))
        return true;
    frame->mangled = frame->function;
    frame->function = arena_strdup(&run->arena, shown);
    return frame->function != NULL;
}

static enum err read_frame(struct cluster_run *run, const json_t *row, size_t i,
                           struct resolved_frame *rf, struct error *err)
{
    const json_t *modules = json_object_get(row, "modules");
    const json_t *name = json_array_get(json_object_get(row, "frames"), i);
    const json_t *module = json_array_get(modules, i);
    struct frame *frame = arena_alloc(&run->arena, sizeof(*frame));
    if (!frame)
        return error_set(err, ERR_NO_MEMORY, "line %zu: no memory", run->line);
    if (!json_is_string(name) && !json_is_null(name))
        return bad_row(run, err, "a frame that is no string");
    if (modules && !json_is_string(module) && !json_is_null(module))
        return bad_row(run, err, "a module that is no string");
    rf->image_name = json_string_value(module);
    rf->in_app = !modules || !rules_is_platform(run->rules, rf->image_name);
    rf->status = FRAME_NO_SYMBOLS;
    if (normalize_is_unnamed(json_string_value(name)))
        return ERR_OK;
    frame->function = json_string_value(name);
    if (!demangle_frame(run, frame))
        return error_set(err, ERR_NO_MEMORY, "line %zu: no memory", run->line);
    frame->file = file_of(run, json_object_get(row, "lines"), i);
    rf->status = FRAME_RESOLVED;
    rf->frames = frame;
    rf->frame_count = 1;
    return ERR_OK;
}

static enum err read_row(struct cluster_run *run, const json_t *row, const char **ret_id,
                         struct resolved_stack *ret, struct error *err)
{
    const json_t *frames = json_object_get(row, "frames");
    const json_t *modules = json_object_get(row, "modules");
    const char *id = json_string_value(json_object_get(row, "id"));
    size_t count = json_array_size(frames);
    if (!id || strpbrk(id, "\t\n\r"))
        return bad_row(run, err, "`id` is missing or no plain string");
    if (!json_is_array(frames))
        return bad_row(run, err, "`frames` is missing or no array");
    if (count > ROW_FRAMES_MAX)
        return bad_row(run, err, "too many frames");
    if (modules && (!json_is_array(modules) || json_array_size(modules) != count))
        return bad_row(run, err, "`modules` is not as long as `frames`");
    struct resolved_frame *out = arena_array(&run->arena, count ? count : 1, sizeof(*out));
    if (!out)
        return error_set(err, ERR_NO_MEMORY, "line %zu: no memory", run->line);
    for (size_t i = 0; i < count; i++) {
        enum err e = read_frame(run, row, i, &out[i], err);
        if (e != ERR_OK)
            return e;
    }
    ret->frames = out;
    ret->count = count;
    *ret_id = id;
    return ERR_OK;
}

static void print_row(const char *id, const uint8_t key[CLUSTER_KEY_SIZE])
{
    printf("%s\t", id);
    for (size_t i = 0; i < CLUSTER_KEY_SIZE; i++)
        printf("%02x", key[i]);
    putchar('\n');
}

/* Strings of the row at hand, copied for the second stage. */
static enum err keep_row(struct cluster_run *run, const char *id, const struct similar_stack *row,
                         struct error *err)
{
    if (run->count == run->capacity) {
        size_t capacity = run->capacity ? run->capacity * 2 : 1024;
        char **ids = realloc(run->ids, capacity * sizeof(*ids));
        if (ids)
            run->ids = ids;
        struct similar_stack *stacks = realloc(run->stacks, capacity * sizeof(*stacks));
        if (stacks)
            run->stacks = stacks;
        if (!ids || !stacks)
            return error_set(err, ERR_NO_MEMORY, "line %zu: no memory", run->line);
        run->capacity = capacity;
    }
    struct similar_stack *kept = &run->stacks[run->count];
    *kept = *row;
    kept->at = NULL;
    kept->count = row->count < SIMILAR_FRAMES ? row->count : SIMILAR_FRAMES;
    const char **names = arena_array(&run->kept, kept->count + 1, sizeof(*names));
    run->ids[run->count] = arena_strdup(&run->kept, id);
    kept->operation = arena_strdup(&run->kept, row->operation);
    bool good = names && run->ids[run->count] && kept->operation;
    for (size_t i = 0; good && i < kept->count; i++)
        good = (names[i] = arena_strdup(&run->kept, row->names[i])) != NULL;
    if (!good)
        return error_set(err, ERR_LIMIT, "line %zu: more rows than fit into memory", run->line);
    kept->names = names;
    run->count++;
    return ERR_OK;
}

static enum err cluster_row(struct cluster_run *run, const char *text, size_t len,
                            struct error *err)
{
    struct resolved_stack stack;
    struct cluster_verdict verdict;
    struct similar_stack similar;
    const char *id = NULL;
    json_t *row = NULL;
    enum err e = json_text_load(text, len, &row, err);
    if (e != ERR_OK) {
        error_prefix(err, "line %zu", run->line);
        goto out;
    }
    if (!json_is_object(row)) {
        e = error_set(err, ERR_FORMAT, "line %zu: no JSON object", run->line);
        goto out;
    }
    e = read_row(run, row, &id, &stack, err);
    if (e == ERR_OK)
        e = cluster_key_of(run->rules, &run->options, CLUSTER_APP_NAME, &stack, &run->arena,
                           &verdict, err);
    if (e == ERR_OK && !run->merge)
        print_row(id, verdict.key);
    if (e != ERR_OK || !run->merge)
        goto out;
    e = similar_stack_of(run->rules, &run->options, &stack, &verdict, 1, &run->arena, &similar,
                         err);
    if (e == ERR_OK)
        e = keep_row(run, id, &similar, err);
out:
    json_decref(row);
    arena_reset(&run->arena);
    return e;
}

static enum err merge_rows(struct cluster_run *run, struct error *err)
{
    struct similar_result result;
    struct arena arena;
    arena_init(&arena, ROWS_MEMORY_MAX);
    enum err e = similar_of(run->stacks, run->count, &arena, &result, err);
    for (size_t i = 0; e == ERR_OK && i < run->count; i++) {
        const struct similar_part *part = &result.parts[result.part_of[i]];
        print_row(run->ids[i], result.parts[part->into].key);
    }
    arena_done(&arena);
    return e;
}

static enum err cluster_all(struct cluster_run *run, FILE *in, struct error *err)
{
    char *line = NULL;
    size_t cap = 0;
    ssize_t n;
    enum err e = ERR_OK;
    while (e == ERR_OK && (n = getline(&line, &cap, in)) >= 0) {
        run->line++;
        size_t len = (size_t)n;
        while (len > 0 && (line[len - 1] == '\n' || line[len - 1] == '\r'))
            len--;
        if (len > ROW_BYTES_MAX)
            e = bad_row(run, err, "longer than 4 MiB");
        else if (len > 0)
            e = cluster_row(run, line, len, err);
    }
    if (e == ERR_OK && ferror(in))
        e = error_errno(err, errno, "standard input");
    free(line);
    return e;
}

static int run_cluster(int argc, char **argv)
{
    const char *rules_path = NULL;
    struct rules *rules = NULL;
    struct error err = {0};
    struct cluster_run run = {
        .options = {.skip_unresolved = true, .linkage_key = demangle_swift_key}, .merge = true};
    for (int i = 1; i < argc; i++) {
        bool last = i + 1 == argc;
        if (strcmp(argv[i], "--rules") == 0 && !last)
            rules_path = argv[++i];
        else if (strcmp(argv[i], "--app-image") == 0 && !last)
            run.options.app_image = argv[++i];
        else if (strcmp(argv[i], "--no-merge") == 0)
            run.merge = false;
        else
            return cmd_usage(&cmd_cluster, "unexpected \"%s\"", argv[i]);
    }
    enum err e = rules_file_read(rules_path, &rules, &err);
    if (e != ERR_OK)
        return cmd_failed(&cmd_cluster, &err);
    run.rules = rules;
    run.options.memo = frame_memo_new(rules, MEMO_ENTRIES);
    arena_init(&run.arena, ROW_MEMORY_MAX);
    arena_init(&run.kept, ROWS_MEMORY_MAX);
    e = cluster_all(&run, stdin, &err);
    if (e == ERR_OK && run.merge)
        e = merge_rows(&run, &err);
    arena_done(&run.arena);
    arena_done(&run.kept);
    free(run.ids);
    free(run.stacks);
    frame_memo_free(run.options.memo);
    rules_free(rules);
    return e == ERR_OK ? CMD_OK : cmd_failed(&cmd_cluster, &err);
}

const struct cmd cmd_cluster = {
    .name = "cluster",
    .help = "tells which rows of named frames have one cause",
    .synopsis = "[--rules FILE] [--app-image NAME] [--no-merge] < ROWS.jsonl",
    .details =
        "Reads one JSON object a line, {\"id\", \"frames\": [name, …], \"modules\": [image, …],\n"
        "\"lines\": [\"file:line\", …]}, frames innermost first, and prints id, tab, cluster for\n"
        "each. Without `modules` every frame is the app's; with them, those in no system image.\n"
        "\n"
        "  --rules FILE       rules in place of the built-in conf/cluster.rules\n"
        "  --app-image NAME   only frames of this image are the app's\n"
        "  --no-merge         keys alone, without the merging of clusters that are alike",
    .run = run_cluster,
};
