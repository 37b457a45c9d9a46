#include "server/http/upload.h"

#include <string.h>

#include "base/log.h"
#include "server/http/media_type.h"
#include "symbolizer/archive.h"
#include "symbolizer/symbol_map.h"

enum err upload_new(struct http_request *r, struct upload **ret, struct error *err)
{
    char boundary[MULTIPART_BOUNDARY_MAX + 2];
    struct upload *u = arena_alloc(&r->arena, sizeof(*u));
    if (!u)
        return error_set(err, ERR_NO_MEMORY, "no memory for an upload");
    pthread_mutex_init(&u->lock, NULL);
    u->r = r;
    u->open = 1;
    r->state = u; /* from here on upload_abort() cleans up */
    if (media_type_is(r->content_type, "multipart/form-data")) {
        if (!media_type_param(r->content_type, "boundary", boundary, sizeof(boundary)))
            return error_set(err, ERR_INVALID, "multipart/form-data without a usable boundary");
        enum err rc = multipart_new(boundary, &u->form, err);
        if (rc != ERR_OK)
            return rc;
    }
    *ret = u;
    return ERR_OK;
}

void upload_remove_file(struct upload *u, struct upload_part *p)
{
    char name[sizeof(p->name)];
    struct error err;
    pthread_mutex_lock(&u->lock);
    memcpy(name, p->name, sizeof(name));
    p->name[0] = 0;
    pthread_mutex_unlock(&u->lock);
    if (name[0] && blob_store_remove_spool(u->r->services->blobs, name, &err) != ERR_OK) {
        char text[sizeof(err.text)];
        log_warn("spool file left behind", "error=%s", log_quote(err.text, text, sizeof(text)));
    }
}

/* --- callbacks of the spooler ----------------------------------------------------------------- */

static void part_drained(void *ctx)
{
    struct upload_part *p = ctx;
    http_wake(p->owner->r);
}

/* One fewer is open; the last one goes on with the request. Gives back the hold of that one. */
static void one_closed(struct upload *u)
{
    struct http_request *r = u->r;
    pthread_mutex_lock(&u->lock);
    bool last = --u->open == 0 && !u->broken;
    enum err rc = u->rc;
    struct error err = u->error;
    pthread_mutex_unlock(&u->lock);
    if (last)
        u->spooled(r, rc, &err);
    else
        http_drop(r);
}

static void part_finished(void *ctx, const struct spool_result *result, enum err rc,
                          const struct error *err)
{
    struct upload_part *p = ctx;
    struct upload *u = p->owner;
    if (!http_enter(u->r))
        return; /* the server stops: the file is swept at the next start */
    struct http_door *door = http_door_ref(u->r->door);
    pthread_mutex_lock(&u->lock);
    bool broken = u->broken;
    if (rc == ERR_OK) {
        size_t len = strlen(result->name);
        memcpy(p->name, result->name, len < sizeof(p->name) ? len + 1 : 0);
        p->size = result->size;
        memcpy(p->sha256, result->sha256, SHA256_SIZE);
    } else if (u->rc == ERR_OK) {
        u->rc = rc;
        u->error = *err;
    }
    pthread_mutex_unlock(&u->lock);
    if (broken)
        upload_remove_file(u, p);
    one_closed(u);
    http_door_leave(door);
    http_door_unref(door);
}

/* --- parts ------------------------------------------------------------------------------------ */

static enum err begin_part(struct upload *u, struct error *err)
{
    if (u->count == UPLOAD_PARTS_MAX)
        return error_set(err, ERR_LIMIT, "more than %d files in one upload", UPLOAD_PARTS_MAX);
    struct upload_part *p = arena_alloc(&u->r->arena, sizeof(*p));
    if (!p)
        return error_set(err, ERR_NO_MEMORY, "no memory for an upload");
    p->owner = u;
    struct spool_callbacks callbacks = {part_drained, part_finished, p};
    enum err rc = spool_begin(u->r->services->spooler, &callbacks, &p->spool, err);
    if (rc == ERR_OK)
        u->parts[u->count++] = p;
    return rc;
}

static struct upload_part *open_part(struct upload *u)
{
    struct upload_part *p = u->count ? u->parts[u->count - 1] : NULL;
    return p && p->spool ? p : NULL;
}

static enum err look_at_head(struct upload_part *p, struct error *err)
{
    p->head_seen = true;
    if (archive_recognize(p->head, p->head_len))
        return ERR_OK;
    if (symbol_map_recognize(p->head, p->head_len))
        return error_set(err, ERR_FORMAT, "%s", SYMBOL_MAP_ALONE);
    return error_set(err, ERR_FORMAT, p->head_len ? ARCHIVE_NOT_RECOGNIZED : "the upload is empty");
}

static enum err end_part(struct upload *u, struct error *err)
{
    struct upload_part *p = open_part(u);
    if (!p)
        return ERR_OK;
    enum err rc = p->head_seen ? ERR_OK : look_at_head(p, err);
    if (rc != ERR_OK)
        return rc;
    struct spool *spool = p->spool;
    pthread_mutex_lock(&u->lock);
    u->open++;
    pthread_mutex_unlock(&u->lock);
    http_hold(u->r);
    p->spool = NULL;
    spool_finish(spool);
    return ERR_OK;
}

static enum err part_data(struct upload *u, const void *data, size_t len, size_t *ret_taken,
                          struct error *err)
{
    struct upload_part *p = open_part(u);
    size_t taken = 0;
    *ret_taken = 0;
    enum err rc = spool_write(p->spool, data, len, &taken, err);
    if (rc == ERR_BUSY)
        return ERR_OK;
    if (rc != ERR_OK)
        return rc;
    if (!p->head_seen) {
        size_t room = sizeof(p->head) - p->head_len;
        size_t n = taken < room ? taken : room;
        memcpy(p->head + p->head_len, data, n);
        p->head_len += n;
        if (p->head_len == sizeof(p->head) && (rc = look_at_head(p, err)) != ERR_OK)
            return rc;
    }
    *ret_taken = taken;
    return ERR_OK;
}

/* --- the body --------------------------------------------------------------------------------- */

static enum err form_item(struct upload *u, const struct multipart_item *item, size_t *ret_untaken,
                          struct error *err)
{
    size_t taken = item->len;
    enum err rc = ERR_OK;
    *ret_untaken = 0;
    if (item->kind == MULTIPART_PART) {
        u->skipping = !item->filename && strcmp(item->name, "file") != 0;
        return u->skipping ? ERR_OK : begin_part(u, err);
    }
    if (item->kind == MULTIPART_PART_END)
        return u->skipping ? ERR_OK : end_part(u, err);
    if (item->kind == MULTIPART_DATA && !u->skipping)
        rc = part_data(u, item->data, item->len, &taken, err);
    *ret_untaken = item->len - taken;
    return rc;
}

static enum err form_data(struct upload *u, const uint8_t *data, size_t len, size_t *ret_taken,
                          struct error *err)
{
    size_t at = 0;
    while (at < len) {
        struct multipart_item item;
        size_t used = 0, untaken = 0;
        enum err rc = multipart_step(u->form, data + at, len - at, &used, &item, err);
        if (rc == ERR_OK)
            rc = form_item(u, &item, &untaken, err);
        if (rc != ERR_OK)
            return rc;
        at += used;
        if (untaken > 0) {
            at -= multipart_untake(u->form, &item, untaken);
            break;
        }
    }
    *ret_taken = at;
    return ERR_OK;
}

enum err upload_data(struct http_request *r, const void *data, size_t len, size_t *ret_taken,
                     struct error *err)
{
    struct upload *u = r->state;
    enum err rc = u ? ERR_OK : upload_new(r, &u, err);
    if (rc != ERR_OK)
        return rc;
    if (u->form)
        return form_data(u, data, len, ret_taken, err);
    if (u->count == 0 && (rc = begin_part(u, err)) != ERR_OK)
        return rc;
    return part_data(u, data, len, ret_taken, err);
}

static enum err check_end(struct upload *u, struct error *err)
{
    if (u->form && !multipart_is_over(u->form))
        return error_set(err, ERR_FORMAT, "the multipart body ends early");
    if (u->count == 0)
        return error_set(err, ERR_FORMAT, "there is no file in the upload");
    return end_part(u, err);
}

void upload_end(struct upload *u,
                void (*spooled)(struct http_request *r, enum err rc, const struct error *err))
{
    struct error err;
    enum err rc = check_end(u, &err);
    pthread_mutex_lock(&u->lock);
    u->spooled = spooled;
    if (rc != ERR_OK && u->rc == ERR_OK) {
        u->rc = rc;
        u->error = err;
    }
    pthread_mutex_unlock(&u->lock);
    struct upload_part *p = open_part(u);
    if (p) { /* refused at its end */
        spool_abort(p->spool);
        p->spool = NULL;
    }
    multipart_free(u->form);
    u->form = NULL;
    one_closed(u);
}

void upload_abort(struct http_request *r)
{
    struct upload *u = r->state;
    if (!u)
        return;
    struct upload_part *open = open_part(u);
    pthread_mutex_lock(&u->lock);
    u->broken = true;
    pthread_mutex_unlock(&u->lock);
    if (open) {
        spool_abort(open->spool);
        open->spool = NULL;
    }
    for (size_t i = 0; i < u->count; i++)
        upload_remove_file(u, u->parts[i]);
    multipart_free(u->form);
    u->form = NULL;
}
