#include "server/http/symbolicate_text.h"

#include "server/http/fill_text.h"
#include "server/http/media_type.h"
#include "server/http/shelf_lookup.h"
#include "server/ingest/apple_text.h"
#include "server/ingest/format_ips.h"

#define TRANSLATION_MAX ((size_t)64 << 20) /* an .ips file as text */

static const char *const CALLERS[] = {
    [CALLERS_BY_FORM] = "by_form", [CALLERS_RETURN] = "return", [CALLERS_EXACT] = "exact"};

bool symbolicate_is_text(const struct http_request *r)
{
    if (media_type_is(r->content_type, TYPE_TEXT) || media_type_is(r->content_type, TYPE_IPS))
        return true;
    return media_type_is(r->content_type, TYPE_JSON) && r->body.data &&
           ips_is(r->body.data, r->body.len);
}

/* The request's text; an .ips file becomes one in `translated`. */
static enum err take_text(const struct http_request *r, struct buf *translated,
                          struct text_span *ret, struct error *err)
{
    struct text_span body = text_span_of(r->body.data ? r->body.data : "", r->body.len);
    enum err rc = ERR_OK;
    if (ips_is(body.s, body.len)) {
        rc = ips_to_text(body.s, body.len, translated, err);
        body = text_span_of(translated->data ? translated->data : "", translated->len);
    }
    if (rc == ERR_OK)
        *ret = body;
    return rc;
}

/* Whatever is wrong with the text is told as such; ERR_OK then, with the answer made. */
static enum err refuse_text(struct http_request *r, enum err rc, struct error *err)
{
    if (rc == ERR_INVALID)
        http_refuse_shape(r, "", err->text);
    else if (rc == ERR_FORMAT || rc == ERR_LIMIT)
        http_reply_error(r, err);
    else
        return rc;
    return ERR_OK;
}

enum err symbolicate_text(struct http_request *r, const struct read_tools *tools, struct error *err)
{
    struct text_span text = {0};
    struct apple_text parsed;
    struct fill_stats stats;
    struct buf translated;
    size_t callers = CALLERS_BY_FORM;
    buf_init(&translated, TRANSLATION_MAX);
    enum err rc = query_word(&r->query, "callers", CALLERS, sizeof(CALLERS) / sizeof(CALLERS[0]),
                             &callers, err);
    if (rc != ERR_OK)
        goto out; /* a parameter is at fault, not the text */
    rc = take_text(r, &translated, &text, err);
    if (rc == ERR_OK)
        rc = apple_text_read(text.s, text.len, tools->arena, &parsed, err);
    if (rc == ERR_OK && !parsed.has_frames)
        rc = error_set(err, ERR_INVALID,
                       "no frame of a crash, hang, sample or spindump text is in it");
    if (rc != ERR_OK) {
        rc = refuse_text(r, rc, err);
        goto out;
    }
    struct buf *reply = http_reply(r, 200, TYPE_TEXT "; charset=utf-8");
    struct shelf_lookup shelves;
    shelf_lookup_init(&shelves, tools->storage, r->identity.bundle_id);
    const struct image_shelves found = {shelf_lookup_find, &shelves};
    rc = fill_text(&parsed, (enum text_callers)callers, tools->symbolizer, &found, reply, &stats,
                   err);
    if (rc == ERR_OK && shelves.rc != ERR_OK)
        rc = error_set(err, shelves.rc, "%s", shelves.error.text);
    if (rc == ERR_LIMIT)
        rc = refuse_text(r, rc, err);
out:
    buf_done(&translated);
    return rc;
}
