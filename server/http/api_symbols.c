#include "server/http/api.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "server/http/api_common.h"
#include "server/http/symbols_json.h"
#include "storage/read_shelves.h"
#include "storage/read_stand_ins.h"

#define CHECK_UUIDS_MAX 10000

/* --- lists ---------------------------------------------------------------------------------- */

/* A file that the app's reports use was perhaps sent for another app: that it is there is told, what
 * else was said of it is not. */
static void hide_origin(const struct http_request *r, struct slice_row *row)
{
    if (!api_sees(r, row->bundle_id))
        row->bundle_id = row->version = row->build = row->os_build = "";
}

enum err api_get_symbols(struct http_request *r, const struct read_tools *tools, struct error *err)
{
    const char *bundle_id = NULL, *cursor = NULL, *next = NULL;
    size_t limit = 0, count = 0;
    struct slice_row *rows = NULL;
    struct jout j;
    enum err rc = api_bundle(r, &bundle_id, err);
    if (rc == ERR_OK)
        rc = query_page(&r->query, &limit, &cursor, err);
    if (rc == ERR_OK)
        rc = read_symbols(tools->storage, bundle_id, limit, cursor, tools->arena, &rows, &count,
                          &next, err);
    if (rc != ERR_OK)
        return rc;
    api_items_begin(r, &j);
    for (size_t i = 0; i < count; i++) {
        hide_origin(r, &rows[i]);
        symbols_json_file(&j, &rows[i]);
    }
    api_items_end(&j, next);
    return ERR_OK;
}

static void print_missing(struct jout *j, const struct missing_row *m)
{
    static const char *const classes[] = {[IMAGE_CLASS_UNKNOWN] = "unknown",
                                          [IMAGE_CLASS_APP] = "app",
                                          [IMAGE_CLASS_SYSTEM] = "system"};
    jout_object(j, NULL);
    jout_uuid(j, "uuid", &m->uuid);
    jout_text(j, "name", m->name);
    jout_text(j, "arch", m->arch);
    jout_string(j, "kind", classes[m->class]);
    jout_string(j, "bundle_id", m->bundle_id);
    jout_array(j, "versions");
    for (size_t i = 0; i < m->version_count; i++)
        jout_string(j, NULL, m->versions[i]);
    jout_end_array(j);
    jout_array(j, "candidates");
    for (size_t i = 0; i < m->candidate_count; i++) {
        const struct missing_candidate *c = &m->candidates[i];
        jout_object(j, NULL);
        jout_uuid(j, "uuid", &c->uuid);
        jout_string(j, "version", c->version);
        jout_text(j, "build", c->build);
        jout_bool(j, "same_build", c->same_build);
        jout_bool(j, "has_dwarf", c->has_dwarf);
        jout_end_object(j);
    }
    jout_end_array(j);
    if (m->stand_in)
        jout_uuid(j, "stand_in", m->stand_in);
    else
        jout_null(j, "stand_in");
    jout_uint(j, "reports", m->reports);
    jout_uint(j, "frames", m->frames);
    jout_time(j, "first_seen", m->first_seen_ms);
    jout_time(j, "last_seen", m->last_seen_ms);
    jout_end_object(j);
}

enum err api_get_missing(struct http_request *r, const struct read_tools *tools, struct error *err)
{
    const char *bundle_id = NULL, *cursor = NULL, *next = NULL;
    size_t limit = 0, count = 0;
    struct missing_row *rows = NULL;
    struct jout j;
    enum err rc = api_bundle(r, &bundle_id, err);
    if (rc == ERR_OK)
        rc = query_page(&r->query, &limit, &cursor, err);
    if (rc == ERR_OK)
        rc = read_missing(tools->storage, bundle_id, limit, cursor, tools->arena, &rows, &count,
                          &next, err);
    if (rc != ERR_OK)
        return rc;
    api_items_begin(r, &j);
    for (size_t i = 0; i < count; i++)
        print_missing(&j, &rows[i]);
    api_items_end(&j, next);
    return ERR_OK;
}

/* --- check ---------------------------------------------------------------------------------- */

/* False when the request is answered: `uuids` are refused, or there is no memory. */
static bool read_uuids(struct http_request *r, json_t *body, struct arena *arena, struct uuid **ret,
                       size_t *ret_count)
{
    char path[40];
    json_t *array = json_object_get(body, "uuids");
    size_t count = json_array_size(array);
    const char *wrong = !json_is_array(array)     ? "an array of UUIDs is expected"
                        : count > CHECK_UUIDS_MAX ? "more than 10000"
                                                  : NULL;
    if (wrong) {
        http_refuse_shape(r, "uuids", wrong);
        return false;
    }
    struct uuid *uuids = arena_array(arena, count ? count : 1, sizeof(*uuids));
    if (!uuids) {
        http_problem(r, 503, "no memory for the UUIDs");
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        const json_t *item = json_array_get(array, i);
        const char *text = json_string_value(item);
        if (text && uuid_parse(text, json_string_length(item), &uuids[i]))
            continue;
        snprintf(path, sizeof(path), "uuids[%zu]", i);
        http_refuse_shape(r, path, "not a UUID");
        return false;
    }
    *ret = uuids;
    *ret_count = count;
    return true;
}

static void print_uuids(struct jout *j, const char *key, const struct uuid *uuids,
                        const bool *present, bool wanted, size_t count)
{
    jout_array(j, key);
    for (size_t i = 0; i < count; i++) {
        if (present[i] == wanted)
            jout_uuid(j, NULL, &uuids[i]);
    }
    jout_end_array(j);
}

/* What serves single apps alone, each app of a UUID once. */
static enum err find_owned(const struct read_tools *tools, const struct uuid *image,
                           struct slice_row **ret, size_t *ret_count, struct error *err)
{
    struct slice_row *rows = NULL;
    size_t count = 0, owned = 0;
    enum err rc = read_symbol_files(tools->storage, NULL, image, tools->arena, &rows, &count, err);
    if (rc != ERR_OK && rc != ERR_NOT_FOUND)
        return rc;
    for (size_t i = 0; i < count; i++) {
        bool listed = !rows[i].bound || !rows[i].current;
        for (size_t k = 0; k < owned && !listed; k++)
            listed = strcmp(rows[k].bundle_id, rows[i].bundle_id) == 0;
        if (!listed)
            rows[owned++] = rows[i];
    }
    *ret = rows;
    *ret_count = owned;
    return ERR_OK;
}

/* Of those that are missing to a token of no app; only there when there are any. */
static enum err print_owned(const struct read_tools *tools, struct jout *j,
                            const struct uuid *uuids, const bool *present, size_t count,
                            struct error *err)
{
    bool any = false;
    for (size_t i = 0; i < count; i++) {
        struct slice_row *rows = NULL;
        size_t owned = 0;
        enum err rc = present[i] ? ERR_OK : find_owned(tools, &uuids[i], &rows, &owned, err);
        if (rc != ERR_OK)
            return rc;
        if (owned > 0 && !any)
            jout_array(j, "own");
        any = any || owned > 0;
        for (size_t k = 0; k < owned; k++) {
            jout_object(j, NULL);
            jout_uuid(j, "uuid", &uuids[i]);
            jout_string(j, "bundle_id", rows[k].bundle_id);
            jout_end_object(j);
        }
    }
    if (any)
        jout_end_array(j);
    return ERR_OK;
}

enum err api_check_symbols(struct http_request *r, const struct read_tools *tools,
                           struct error *err)
{
    struct uuid *uuids = NULL;
    size_t count = 0;
    struct jout j;
    struct fields f;
    json_t *body = api_body(r, NULL, &f);
    if (!body)
        return ERR_OK;
    bool good = read_uuids(r, body, tools->arena, &uuids, &count);
    json_decref(body);
    if (!good)
        return ERR_OK;
    bool *present = arena_array(tools->arena, count ? count : 1, sizeof(bool));
    const char *bound = r->identity.bundle_id; /* to others what an app owns is not there */
    enum err rc = present ? read_symbols_present(tools->storage, bound ? bound : "", uuids, count,
                                                 present, err)
                          : error_set(err, ERR_NO_MEMORY, "no memory for the UUIDs");
    if (rc != ERR_OK)
        return rc;
    jout_init(&j, http_reply(r, 200, TYPE_JSON));
    jout_object(&j, NULL);
    print_uuids(&j, "present", uuids, present, true, count);
    print_uuids(&j, "missing", uuids, present, false, count);
    if (!bound)
        rc = print_owned(tools, &j, uuids, present, count, err);
    jout_end_object(&j);
    return rc;
}

/* --- one UUID ------------------------------------------------------------------------------- */

/* The objects of the path's UUID that the token may see. */
static enum err find_objects(struct http_request *r, const struct read_tools *tools,
                             struct slice_row **ret, size_t *ret_count, struct error *err)
{
    struct uuid uuid;
    struct slice_row *rows = NULL;
    size_t count = 0, seen = 0;
    enum err rc = api_uuid(r, 0, &uuid, err);
    if (rc == ERR_OK)
        rc = read_symbol_files(tools->storage, r->identity.bundle_id, &uuid, tools->arena, &rows,
                               &count, err);
    if (rc != ERR_OK && rc != ERR_NOT_FOUND)
        return rc;
    for (size_t i = 0; i < count; i++) {
        if (api_sees(r, rows[i].bundle_id))
            rows[seen++] = rows[i];
    }
    if (seen == 0)
        return error_set(err, ERR_NOT_FOUND, "no symbol file with this UUID");
    *ret = rows;
    *ret_count = seen;
    return ERR_OK;
}

/* The one that counts for the app, NULL: the first. */
static const struct stand_in_row *stand_in_for(const char *bundle_id,
                                               const struct stand_in_row *rows, size_t count)
{
    const struct stand_in_row *found = NULL;
    for (size_t i = 0; i < count; i++) {
        bool counts =
            !bundle_id || !*rows[i].bundle_id || strcmp(rows[i].bundle_id, bundle_id) == 0;
        if (counts && (!found || bundle_id))
            found = &rows[i]; /* the app's own is behind that of all */
    }
    return found;
}

/* The stand-in of the path's UUID, which the token may see when it sees the file. */
static enum err find_stand_in(struct http_request *r, const struct read_tools *tools,
                              struct stand_in_row *ret, bool *ret_found, struct error *err)
{
    struct uuid uuid;
    struct stand_in_row *rows = NULL;
    const struct stand_in_row *row = NULL;
    struct slice_row *objects = NULL;
    size_t count = 0, object_count = 0;
    enum err rc = api_uuid(r, 0, &uuid, err);
    if (rc == ERR_OK)
        rc = read_stand_ins(tools->storage, &uuid, tools->arena, &rows, &count, err);
    if (rc == ERR_OK)
        row = stand_in_for(r->identity.bundle_id, rows, count);
    if (row)
        rc = read_symbol_files(tools->storage, r->identity.bundle_id, &row->stand_in, tools->arena,
                               &objects, &object_count, err);
    *ret_found = false;
    for (size_t i = 0; rc == ERR_OK && i < object_count && !*ret_found; i++)
        *ret_found = api_sees(r, objects[i].bundle_id);
    if (*ret_found)
        *ret = *row;
    return rc == ERR_NOT_FOUND ? ERR_OK : rc;
}

static void print_stand_in(struct jout *j, const struct stand_in_row *row)
{
    jout_object(j, "stand_in");
    jout_uuid(j, "uuid", &row->stand_in);
    jout_bool(j, "by_hand", row->by_hand);
    jout_time(j, "created_at", row->created_ms);
    jout_end_object(j);
}

enum err api_get_symbol(struct http_request *r, const struct read_tools *tools, struct error *err)
{
    struct slice_row *rows = NULL;
    struct stand_in_row stand_in;
    bool has_stand_in = false;
    struct uuid uuid;
    size_t count = 0;
    struct jout j;
    enum err found = find_objects(r, tools, &rows, &count, err);
    if (found != ERR_OK && found != ERR_NOT_FOUND)
        return found;
    struct error own;
    enum err rc = find_stand_in(r, tools, &stand_in, &has_stand_in, &own);
    if (rc == ERR_OK)
        rc = api_uuid(r, 0, &uuid, &own);
    if (rc != ERR_OK) {
        *err = own;
        return rc;
    }
    if (found != ERR_OK && !has_stand_in)
        return found;
    jout_init(&j, http_reply(r, 200, TYPE_JSON));
    jout_object(&j, NULL);
    jout_uuid(&j, "uuid", &uuid);
    jout_array(&j, "objects");
    for (size_t i = 0; i < count; i++)
        symbols_json_file(&j, &rows[i]);
    jout_end_array(&j);
    if (has_stand_in)
        print_stand_in(&j, &stand_in);
    else
        jout_null(&j, "stand_in");
    jout_end_object(&j);
    return ERR_OK;
}

/* attachment; filename="Shop.sym" out of a name that came from a stranger's file. */
static const char *disposition_of(struct arena *arena, const char *name)
{
    char safe[64];
    size_t n = 0;
    for (const char *p = name ? name : ""; *p && n + 1 < sizeof(safe); p++) {
        char c = *p;
        bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                     c == '.' || c == '-' || c == '_';
        safe[n++] = plain ? c : '_';
    }
    safe[n] = 0;
    return arena_printf(arena, "attachment; filename=\"%s\"", n ? safe : "object");
}

/* -1: it is not there; *ret_errno: or cannot be opened now, which is no reason to say so. */
static int open_object(const struct http_request *r, const struct slice_row *row,
                       uint64_t *ret_size, int *ret_errno)
{
    char path[4096];
    struct stat st;
    if (!blob_store_object_path(r->services->blobs, row->object_sha256, path, sizeof(path)))
        return -1;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 && errno != ENOENT)
        *ret_errno = errno;
    if (fd >= 0 && (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))) {
        close(fd);
        fd = -1;
    }
    if (fd >= 0)
        *ret_size = (uint64_t)st.st_size;
    return fd;
}

enum err api_get_symbol_file(struct http_request *r, const struct read_tools *tools,
                             struct error *err)
{
    struct slice_row *rows = NULL;
    size_t count = 0;
    uint64_t size = 0;
    char digest[SHA256_TEXT_SIZE];
    int fd = -1, trouble = 0;
    enum err rc = find_objects(r, tools, &rows, &count, err);
    for (size_t i = 0; rc == ERR_OK && i < count && fd < 0; i++) {
        fd = open_object(r, &rows[i], &size, &trouble);
        if (fd >= 0)
            rows[0] = rows[i];
    }
    if (rc != ERR_OK)
        return rc;
    if (fd < 0 && trouble)
        return error_errno(err, trouble, "an object file cannot be opened");
    if (fd < 0) {
        http_problem(
            r, 410,
            "the object file is not kept: by configuration, or retention dropped it after it "
            "was of no use for long, or to save space; its index is still used");
        return ERR_OK;
    }
    indexer_note_use(r->services->indexer, &rows[0].shelf);
    http_reply(r, 200, "application/octet-stream");
    r->reply.fd = fd;
    r->reply.fd_size = size;
    r->reply.etag = arena_printf(&r->arena, "\"%s\"", sha256_format(rows[0].object_sha256, digest));
    r->reply.disposition = disposition_of(&r->arena, rows[0].name);
    return ERR_OK;
}
