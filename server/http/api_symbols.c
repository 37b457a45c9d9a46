#include "server/http/api.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "server/http/api_common.h"
#include "server/http/media_type.h"
#include "server/http/symbols_json.h"
#include "server/ingest/format_json.h"

#define CHECK_UUIDS_MAX 10000

/* --- lists ---------------------------------------------------------------------------------- */

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
    for (size_t i = 0; i < count; i++)
        symbols_json_file(&j, &rows[i]);
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

enum err api_check_symbols(struct http_request *r, const struct read_tools *tools,
                           struct error *err)
{
    struct uuid *uuids = NULL;
    size_t count = 0;
    struct jout j;
    if (!media_type_is(r->content_type, TYPE_JSON)) {
        http_problem(r, 415, "Content-Type: application/json is read here");
        return ERR_OK;
    }
    json_t *body = NULL;
    if (format_json_load(r->body.data ? r->body.data : "", r->body.len, &body, err) != ERR_OK) {
        http_reply_error(r, err); /* the client may be at fault */
        return ERR_OK;
    }
    bool good = read_uuids(r, body, tools->arena, &uuids, &count);
    json_decref(body);
    if (!good)
        return ERR_OK;
    bool *present = arena_array(tools->arena, count ? count : 1, sizeof(bool));
    enum err rc = present ? read_symbols_present(tools->storage, uuids, count, present, err)
                          : error_set(err, ERR_NO_MEMORY, "no memory for the UUIDs");
    if (rc != ERR_OK)
        return rc;
    jout_init(&j, http_reply(r, 200, TYPE_JSON));
    jout_object(&j, NULL);
    print_uuids(&j, "present", uuids, present, true, count);
    print_uuids(&j, "missing", uuids, present, false, count);
    jout_end_object(&j);
    return ERR_OK;
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
        rc = read_symbol(tools->storage, &uuid, tools->arena, &rows, &count, err);
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

enum err api_get_symbol(struct http_request *r, const struct read_tools *tools, struct error *err)
{
    struct slice_row *rows = NULL;
    size_t count = 0;
    struct jout j;
    enum err rc = find_objects(r, tools, &rows, &count, err);
    if (rc != ERR_OK)
        return rc;
    jout_init(&j, http_reply(r, 200, TYPE_JSON));
    jout_object(&j, NULL);
    jout_uuid(&j, "uuid", &rows[0].uuid);
    jout_array(&j, "objects");
    for (size_t i = 0; i < count; i++)
        symbols_json_file(&j, &rows[i]);
    jout_end_array(&j);
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

static int open_object(const struct http_request *r, const struct slice_row *row,
                       uint64_t *ret_size)
{
    char path[4096];
    struct stat st;
    if (!blob_store_object_path(r->services->blobs, row->object_sha256, path, sizeof(path)))
        return -1;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
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
    int fd = -1;
    enum err rc = find_objects(r, tools, &rows, &count, err);
    for (size_t i = 0; rc == ERR_OK && i < count && fd < 0; i++) {
        fd = open_object(r, &rows[i], &size);
        if (fd >= 0)
            rows[0] = rows[i];
    }
    if (rc != ERR_OK)
        return rc;
    if (fd < 0)
        return error_set(err, ERR_NOT_FOUND, "the object file is not kept any more");
    http_reply(r, 200, "application/octet-stream");
    r->reply.fd = fd;
    r->reply.fd_size = size;
    r->reply.etag = arena_printf(&r->arena, "\"%s\"", sha256_format(rows[0].object_sha256, digest));
    r->reply.disposition = disposition_of(&r->arena, rows[0].name);
    return ERR_OK;
}

/* --- DELETE --------------------------------------------------------------------------------- */

#define DELETE_OBJECTS_MAX 64

struct deletion {
    struct uuid uuid;
    uint8_t objects[DELETE_OBJECTS_MAX][SHA256_SIZE];
    size_t object_count;
};

/* Whether another UUID's symbols came from the same object file (a fat one). */
static bool is_shared(const struct upload_row *upload, const struct slice_row *row)
{
    for (size_t i = 0; i < upload->slice_count; i++) {
        const struct slice_row *s = &upload->slices[i];
        if (s->indexed && !uuid_equal(&s->uuid, &row->uuid) &&
            memcmp(s->object_sha256, row->object_sha256, SHA256_SIZE) == 0)
            return true;
    }
    return false;
}

/* A token bound to one app deletes what was uploaded for that app alone. */
static enum err may_delete(const struct http_request *r, const struct slice_row *rows, size_t count,
                           struct error *err)
{
    const char *bound = r->identity.bundle_id;
    for (size_t i = 0; bound && i < count; i++) {
        if (strcmp(rows[i].bundle_id, bound) != 0)
            return error_set(err, ERR_DENIED, "the symbol file is not of the token's app alone");
    }
    return ERR_OK;
}

static enum err delete_look(struct http_request *r, const struct read_tools *tools,
                            struct error *err)
{
    struct deletion *d = r->state;
    struct slice_row *rows = NULL;
    size_t count = 0;
    enum err rc = api_uuid(r, 0, &d->uuid, err);
    if (rc == ERR_OK)
        rc = read_symbol(tools->storage, &d->uuid, tools->arena, &rows, &count, err);
    if (rc == ERR_NOT_FOUND)
        return error_set(err, rc, "no symbol file with this UUID");
    if (rc == ERR_OK)
        rc = may_delete(r, rows, count, err);
    for (size_t i = 0; rc == ERR_OK && i < count && d->object_count < DELETE_OBJECTS_MAX; i++) {
        struct upload_row upload = {.slice_count = 0};
        rc = read_upload(tools->storage, rows[i].upload_id, tools->arena, &upload, err);
        if (rc == ERR_NOT_FOUND)
            rc = ERR_OK;
        if (rc == ERR_OK && !is_shared(&upload, &rows[i]))
            memcpy(d->objects[d->object_count++], rows[i].object_sha256, SHA256_SIZE);
    }
    return rc;
}

/* The files go before the rows: what fails or crashes in between can be asked for again, while an
 * index without a row would be used for ever. */
static enum err delete_files(struct http_request *r, const struct read_tools *tools,
                             struct error *err)
{
    const struct deletion *d = r->state;
    enum err rc = delete_look(r, tools, err);
    if (rc != ERR_OK)
        return rc;
    rc = blob_store_remove_index(r->services->blobs, &d->uuid, err);
    for (size_t i = 0; rc == ERR_OK && i < d->object_count; i++)
        rc = blob_store_remove_object(r->services->blobs, d->objects[i], err);
    index_cache_changed(r->services->index_cache, &d->uuid);
    return rc;
}

static void repend(struct http_request *r, const struct op_repend *before);

static void repended(struct http_request *r, struct write_op *op, enum err rc,
                     const struct error *err)
{
    if (rc == ERR_OK && op->u.repend.more) {
        repend(r, &op->u.repend);
        return;
    }
    resolver_ring(r->services->resolver);
    if (rc == ERR_OK)
        http_reply(r, 204, NULL);
    else
        http_reply_failure(r, err);
    http_finish(r);
}

/* Stacks that used the index are resolved anew, chunk after chunk. */
static void repend(struct http_request *r, const struct op_repend *before)
{
    struct error err;
    struct write_op *op = write_op_new(WRITE_REPEND, 4096);
    if (!op) {
        error_set(&err, ERR_NO_MEMORY, "no memory for a write");
        http_reply_failure(r, &err);
        http_finish(r);
        return;
    }
    op->u.repend =
        (struct op_repend){.uuid = before->uuid, .all_users = true, .after_id = before->after_id};
    http_write(r, op, repended);
}

static void rows_deleted(struct http_request *r, struct write_op *op, enum err rc,
                         const struct error *err)
{
    const struct op_repend first = {.uuid = op->u.symbol_delete.uuid};
    if (rc == ERR_OK) {
        repend(r, &first);
        return;
    }
    http_reply_failure(r, err);
    http_finish(r);
}

static void files_deleted(struct http_request *r, enum err rc, const struct error *err)
{
    const struct deletion *d = r->state;
    struct write_op *op = api_op(r, rc, err, WRITE_SYMBOL_DELETE);
    if (!op)
        return;
    op->u.symbol_delete.uuid = d->uuid;
    http_write(r, op, rows_deleted);
}

void api_delete_symbol(struct http_request *r)
{
    r->state = arena_alloc(&r->arena, sizeof(struct deletion));
    if (r->state)
        http_read(r, delete_files, files_deleted);
    else
        http_problem(r, 503, "no memory to spare; try again");
}
