#include "symbolizer/index_run.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "symbolizer/debug_info.h"
#include "symbolizer/gsym_write.h"

#define INDEX_NAME (UUID_TEXT_SIZE + 16) /* "UUID.65536.gsym" */

bool index_path(const struct index_run *r, const char *name, char out[INDEX_PATH_SIZE])
{
    int len = snprintf(out, INDEX_PATH_SIZE, "%s/%s", r->options->out_dir, name);
    return len > 0 && len < INDEX_PATH_SIZE;
}

void index_name_of(const char *path, char out[OBJECT_NAME_SIZE])
{
    static const char *const endings[] = {".gz", ".debug", ".dbg", ".dSYM"};
    const char *slash = strrchr(path, '/');
    snprintf(out, OBJECT_NAME_SIZE, "%s", slash ? slash + 1 : path);
    for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++) {
        size_t len = strlen(out);
        size_t ending = strlen(endings[i]);
        if (len > ending && strcmp(out + len - ending, endings[i]) == 0)
            out[len - ending] = 0;
    }
}

void index_fallback_name(const struct index_run *r, const char *member, char out[OBJECT_NAME_SIZE])
{
    if (!*member && r->options->name)
        snprintf(out, OBJECT_NAME_SIZE, "%s", r->options->name);
    else
        index_name_of(*member ? member : r->path, out);
}

static void settle_hash(struct index_source *s)
{
    parallel_wait(s->hashing->parallel);
    s->hashing->parallel = NULL;
    if (!s->hashing->unwanted)
        sha256_format(s->hashing->digest, s->sha256);
}

static void report(struct index_run *r, struct index_source *s, struct slice_report *slice)
{
    settle_hash(s);
    if (s->hashing->code != ERR_OK)
        return; /* ends the whole */
    slice->member = s->member;
    if (!slice->name || !*slice->name)
        slice->name = s->name;
    if (!slice->arch)
        slice->arch = "";
    if (!slice->index_file)
        slice->index_file = "";
    slice->object_bytes = s->size;
    snprintf(slice->object_sha256, sizeof(slice->object_sha256), "%s", s->sha256);
    r->reports++;
    r->slice(r->ctx, slice);
}

static void refuse(struct index_run *r, struct index_source *s, struct slice_report *slice,
                   const struct error *why)
{
    slice->state = SLICE_FAILED;
    slice->reason = why->text;
    if (r->first.code == ERR_OK && *s->member)
        error_set(&r->first, why->code, "%s: %s", s->member, why->text);
    else if (r->first.code == ERR_OK)
        r->first = *why;
    report(r, s, slice);
}

/* "UUID.gsym", or "UUID.2.gsym" for the second object of one UUID. */
static void next_index_name(const struct index_run *r, const struct uuid *uuid,
                            char out[INDEX_NAME])
{
    char text[UUID_TEXT_SIZE];
    const uint64_t *before = key_set_find(&r->uuids, uuid);
    size_t n = 1 + (before ? (size_t)*before : 0);
    uuid_format(uuid, text);
    if (n == 1)
        snprintf(out, INDEX_NAME, "%s.gsym", text);
    else
        snprintf(out, INDEX_NAME, "%s.%zu.gsym", text, n);
}

/* Why names are hidden still. */
static void tell_hidden(const struct index_run *r, const struct object *o, uint64_t hidden,
                        char *out, size_t size)
{
    char text[UUID_TEXT_SIZE];
    const struct uuid original = symbol_maps_original(r->maps, &object_info(o)->uuid);
    const struct symbol_map *map = object_symbol_map(o);
    uuid_format(&original, text);
    if (!map)
        snprintf(out, size,
                 "%" PRIu64 " names are hidden: %s.bcsymbolmap of the app's own build has them",
                 hidden, text);
    else
        snprintf(out, size,
                 "%" PRIu64 " names stay hidden: %s.bcsymbolmap has %zu names and not these; it is "
                 "of another build?",
                 hidden, text, symbol_map_count(map));
}

/* The map of the object's names. One that is none is a warning: all else is good. */
static enum err use_map(struct index_run *r, struct object *o, char *warning, size_t size,
                        struct error *err)
{
    struct symbol_map *map = NULL;
    enum err e = symbol_maps_get(r->maps, &object_info(o)->uuid, &map, err);
    if (e == ERR_OK)
        object_set_symbol_map(o, map);
    else if (e != ERR_NOT_FOUND && e != ERR_IO)
        snprintf(warning, size, "the symbol map cannot be used: %.200s", err->text);
    return e == ERR_IO ? e : ERR_OK;
}

/* Puts a slice off to the end of the archive, when all its maps are known. */
static enum err put_off(struct index_run *r, struct index_source *s,
                        const struct object_slice *part, struct error *err)
{
    settle_hash(s);
    void *p = vec_grown(r->later, &r->later_cap, r->later_count + 1, sizeof(r->later[0]));
    char *member = strdup(s->member);
    if (p)
        r->later = p;
    if (!p || !member) {
        free(member);
        return error_set(err, ERR_NO_MEMORY, "no memory to index");
    }
    struct index_later *l = &r->later[r->later_count++];
    *l = (struct index_later){.part = *part, .member = member};
    memcpy(l->digest, s->hashing->digest, SHA256_SIZE);
    return ERR_OK;
}

static enum err count_uuid(struct index_run *r, const struct uuid *uuid, struct error *err)
{
    uint64_t *count = key_set_at(&r->uuids, uuid);
    if (!count)
        return error_set(err, ERR_NO_MEMORY, "no memory to index");
    ++*count;
    r->indexed++;
    return ERR_OK;
}

static enum err write_index(struct index_run *r, const struct object *o, struct slice_report *slice,
                            char index_file[INDEX_NAME], char *warning, size_t warning_size,
                            struct error *err)
{
    char path[INDEX_PATH_SIZE];
    struct debug_info *d = NULL;
    const struct object_info *info = object_info(o);
    next_index_name(r, &info->uuid, index_file);
    enum err e = debug_info_build(o, r->options->parallel, &d, err);
    if (e != ERR_OK)
        return e;
    const struct debug_info_counts *counts = debug_info_counts(d);
    slice->functions = counts->functions;
    slice->lines = counts->lines;
    slice->inlines = counts->inlines;
    slice->hidden = counts->hidden;
    if (!*warning)
        snprintf(warning, warning_size, "%s", counts->warning);
    if (counts->functions == 0 && counts->nameless > 0 && !*warning)
        snprintf(warning, warning_size,
                 "no symbol table: its %" PRIu64 " functions have no names; addresses are placed, "
                 "not named",
                 counts->nameless);
    if (counts->hidden > 0 && !*warning)
        tell_hidden(r, o, counts->hidden, warning, warning_size);
    if (counts->hidden > 0 && r->more_to_come && !object_symbol_map(o))
        e = error_set(err, ERR_BUSY, "a symbol map may follow");
    else if (counts->functions == 0 && !(r->options->nameless && counts->nameless > 0))
        e = error_set(err, ERR_INVALID, "no functions: neither debug information nor symbols%s%s",
                      *warning ? ": " : "", warning);
    else if (!index_path(r, index_file, path))
        e = error_set(err, ERR_INVALID, "the path of the output folder is too long");
    else
        e = gsym_write(d, info, path, &slice->index_bytes, err);
    debug_info_free(d);
    return e;
}

enum err index_one_slice(struct index_run *r, struct index_source *s,
                         const struct object_slice *part, struct error *ret_err)
{
    char index_file[INDEX_NAME] = "";
    char warning[256] = "";
    struct error err = {.code = ERR_OK};
    struct slice_report slice = {.state = SLICE_INDEXED};
    struct object *o = NULL;
    if (object_open(s->data + part->offset, part->size, &o, &err) != ERR_OK) {
        refuse(r, s, &slice, &err);
        return ERR_OK;
    }
    object_set_mapped(o);
    const struct object_info *info = object_info(o);
    slice.uuid = info->uuid;
    slice.name = info->name;
    slice.arch = info->arch;
    slice.has_dwarf = info->has_dwarf;
    slice.text_vmaddr = info->text_vmaddr;
    slice.text_size = info->text_size;
    enum err e = use_map(r, o, warning, sizeof(warning), &err);
    if (e == ERR_OK)
        e = write_index(r, o, &slice, index_file, warning, sizeof(warning), &err);
    if (e == ERR_OK)
        e = count_uuid(r, &info->uuid, &err);
    if (e == ERR_OK) {
        slice.index_file = index_file;
        slice.reason = *warning ? warning : NULL;
        report(r, s, &slice);
    } else if (e == ERR_BUSY) {
        e = put_off(r, s, part, &err);
    } else if (e != ERR_IO) {
        refuse(r, s, &slice, &err);
        e = ERR_OK;
    }
    object_close(o);
    return e == ERR_OK ? ERR_OK : error_set(ret_err, e, "%s", err.text);
}

static bool is_known(struct index_run *r, struct index_source *s)
{
    const struct symbol_index_options *o = r->options;
    if (!o->known || s->hashing->unwanted)
        return false;
    settle_hash(s);
    return s->hashing->code == ERR_OK && o->known(o->known_ctx, s->hashing->digest);
}

/* A slice of an object whose index the caller has. */
static enum err tell_known(struct index_run *r, struct index_source *s,
                           const struct object_slice *part, struct error *ret_err)
{
    struct object *o = NULL;
    struct error err;
    struct slice_report slice = {.state = SLICE_KNOWN};
    if (object_open(s->data + part->offset, part->size, &o, &err) != ERR_OK) {
        slice.state = SLICE_FAILED;
        refuse(r, s, &slice, &err);
        return ERR_OK;
    }
    const struct object_info *info = object_info(o);
    slice.uuid = info->uuid;
    slice.name = info->name;
    slice.arch = info->arch;
    slice.has_dwarf = info->has_dwarf;
    slice.text_vmaddr = info->text_vmaddr;
    slice.text_size = info->text_size;
    r->indexed++;
    report(r, s, &slice);
    object_close(o);
    return s->hashing->code == ERR_OK
               ? ERR_OK
               : error_set(ret_err, s->hashing->code, "%s", s->hashing->error.text);
}

enum err index_whole_object(struct index_run *r, struct index_source *s, struct error *err)
{
    struct object_slice slices[OBJECT_SLICES_MAX];
    size_t count = 0;
    struct error problem = {.code = ERR_OK};
    struct error refused = {.code = ERR_OK};
    if (object_slices(s->data, s->size, slices, &count, &problem, &refused) != ERR_OK)
        problem = refused;
    if (r->reports + count + 1 > SYMBOL_INDEX_SLICES_MAX)
        return error_set(err, ERR_LIMIT, "more than %d slices in one upload",
                         SYMBOL_INDEX_SLICES_MAX);
    if (problem.code != ERR_OK) {
        struct slice_report slice = {.state = SLICE_FAILED};
        refuse(r, s, &slice, &problem);
    }
    enum err e = ERR_OK;
    bool known = count > 0 && is_known(r, s);
    for (size_t i = 0; i < count && e == ERR_OK; i++)
        e = known ? tell_known(r, s, &slices[i], err) : index_one_slice(r, s, &slices[i], err);
    return e;
}
