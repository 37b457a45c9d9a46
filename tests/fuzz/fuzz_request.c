/*
 * fuzz_request - any bytes are a request: its line, its headers, an empty line, its body.
 *
 * Every route is behind it: paths, queries, cursors, headers, tokens, and the body of each. An
 * administrator asks when no token is given. What must hold: an answer, once, that is no fault of
 * ours; JSON where JSON is said; no header that would end a line.
 */
#include <jansson.h>

#include "tests/fuzz/door_rig.h"

static void check_header(const char *value)
{
    for (const char *p = value; p && *p; p++)
        REQUIRE((unsigned char)*p >= 0x20 && *p != 0x7f);
}

static void check_json(const struct http_reply *reply)
{
    json_error_t where;
    const char *text = reply->borrowed ? reply->borrowed : reply->body.data;
    size_t len = reply->borrowed ? reply->borrowed_len : reply->body.len;
    json_t *o = json_loadb(text, len, JSON_DECODE_ANY | JSON_ALLOW_NUL, &where);
    if (!o)
        fprintf(stderr, "%s at %d: %.*s\n", where.text, where.position, (int)len, text);
    REQUIRE(o);
    if (reply->status >= 400)
        REQUIRE(json_integer_value(json_object_get(o, "status")) == reply->status);
    json_decref(o);
}

static void check(struct http_request *r)
{
    const struct http_reply *reply = &r->reply;
    if (reply->status >= 500 && reply->status != 503)
        fprintf(stderr, "%d %.*s\n", reply->status, (int)reply->body.len, reply->body.data);
    REQUIRE(!http_request_aborted(r));
    REQUIRE(reply->status >= 200 && (reply->status < 500 || reply->status == 503));
    REQUIRE(!reply->body.failed && reply->fd < 0);
    check_header(r->id);
    check_header(reply->content_type);
    check_header(reply->etag);
    check_header(reply->location);
    check_header(reply->disposition);
    check_header(reply->allow);
    check_header(reply->upload_offset);
    check_header(r->origin);
    if (reply->content_type && strstr(reply->content_type, "json") && !reply->gzipped)
        check_json(reply);
    http_reply_pack(r);
}

/* The next line, ended; NULL: there is none. */
static char *next_line(char **text, char *end)
{
    char *line = *text, *feed = line < end ? memchr(line, '\n', (size_t)(end - line)) : NULL;
    if (line >= end)
        return NULL;
    *text = feed ? feed + 1 : end;
    *(feed ? feed : end) = 0;
    return line;
}

/* What the library would not let through: a NUL, and the other end of a line. */
static void clean(char *line)
{
    for (; *line; line++) {
        if (*line == '\r')
            *line = ' ';
    }
}

static void read_line(struct rig_request *q, char *line)
{
    char *blank = strchr(line, ' ');
    clean(line);
    q->method = blank ? line : "GET";
    q->target = blank ? blank + 1 : line;
    if (blank)
        *blank = 0;
}

static void read_header(struct rig_request *q, char *line)
{
    char *colon = strchr(line, ':');
    clean(line);
    if (!colon)
        return;
    *colon = 0;
    rig_header(q, line, colon + 1 + strspn(colon + 1, " \t"));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct rig_request q = {.method = "GET"};
    char *copy = malloc(size + 1), *at = copy, *line;
    REQUIRE(copy);
    if (size)
        memcpy(copy, data, size);
    if ((line = next_line(&at, copy + size)))
        read_line(&q, line);
    while ((line = next_line(&at, copy + size)) && *line)
        read_header(&q, line);
    if (q.target && q.headers + 2 < RIG_HEADERS_MAX) {
        q.body = at;
        q.len = (size_t)(copy + size - at);
        snprintf(q.length, sizeof(q.length), "%zu", q.len);
        if (!find_header(&q, "Authorization") && !find_header(&q, "X-Stallsym-Token"))
            rig_header(&q, "Authorization", "Bearer " RIG_TOKEN);
        if (q.len && !find_header(&q, "Content-Length") && !find_header(&q, "Transfer-Encoding"))
            rig_header(&q, "Content-Length", q.length);
        if (!rig.door) {
            log_set_level(LOG_ERROR);
            rig_start();
        }
        rig_ask(&q, check);
        if (rig.changed)
            rig_restart();
    }
    free(copy);
    return 0;
}
