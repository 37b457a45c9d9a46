#include "server/ingest/format_body.h"

#include <stdio.h>
#include <string.h>

/* --- the other media type --------------------------------------------------------------------- */

/* Where the first line with something in it from `p` on begins, NULL: there is none; counts it. */
static const char *next_line(const char *p, const char *end, size_t *ret_len, uint32_t *number)
{
    while (p < end) {
        const char *nl = memchr(p, '\n', (size_t)(end - p));
        size_t len = (size_t)((nl ? nl : end) - p), blank = 0;
        ++*number;
        while (blank < len && p[blank] && strchr(" \t\r", p[blank]))
            blank++;
        if (blank < len) {
            *ret_len = len;
            return p;
        }
        p = nl ? nl + 1 : end;
    }
    return NULL;
}

static bool is_json(const char *text, size_t len)
{
    json_t *root = NULL;
    bool is = json_text_load(text, len, &root, NULL) == ERR_OK;
    json_decref(root);
    return is;
}

/* A body that is no JSON document: does another one begin where the first line ends? */
static enum err explain_lines(const struct intake *in, enum err rc, struct error *err)
{
    const char *p = in->request->body, *end = p + in->request->len;
    uint32_t number = 0;
    size_t len = 0;
    const char *first = next_line(p, end, &len, &number);
    if (rc != ERR_FORMAT || !first || len == (size_t)(end - first) || !is_json(first, len) ||
        !next_line(first + len + 1, end, &len, &number))
        return rc;
    error_set(err, rc,
              "a second document follows in line %u: lines of JSON (NDJSON) need Content-Type: "
              "application/x-ndjson",
              (unsigned)number);
    if (err)
        err->line = number;
    return rc;
}

/* --- documents -------------------------------------------------------------------------------- */

static enum err read_json(struct intake *in, const struct format_body *body, struct error *err)
{
    json_t *root = NULL;
    enum err rc = json_text_load(in->request->body, in->request->len, &root, err);
    if (rc != ERR_OK)
        return explain_lines(in, rc, err);
    if (json_is_array(root)) {
        for (size_t i = 0; i < json_array_size(root) && !in->no_memory; i++) {
            char at[32];
            struct error why;
            snprintf(at, sizeof(at), "[%zu]", i);
            if (body->read(in, json_array_get(root, i), at, 0, &why) != ERR_OK)
                intake_refuse_line(in, 0, at, body->neither);
            if (in->next_index > in->limits->reports)
                break;
        }
        if (in->next_index == 0 && !in->no_memory)
            rc = error_set(err, ERR_INVALID, "an array without batches");
    } else {
        rc = body->read(in, root, "", 0, err);
        if (rc == ERR_OK && in->next_index == 0 && !in->no_memory)
            rc = error_set(err, ERR_INVALID, "%s", body->empty);
    }
    json_decref(root);
    return rc;
}

/* False: it is no JSON. */
static bool read_line(struct intake *in, const struct format_body *body, const char *line,
                      size_t len, uint32_t number)
{
    json_t *root = NULL;
    struct error err;
    enum err rc = json_text_load(line, len, &root, &err);
    in->no_memory = in->no_memory || rc == ERR_NO_MEMORY;
    if (rc == ERR_OK && json_is_array(root))
        rc = error_set(&err, ERR_INVALID,
                       "an array: a line holds one document, an array needs Content-Type: "
                       "application/json");
    else if (rc == ERR_OK)
        rc = body->read(in, root, "", number, &err);
    if (rc != ERR_OK)
        intake_refuse_line(in, number, "", err.text);
    const bool is = root != NULL;
    json_decref(root);
    return is;
}

static enum err read_ndjson(struct intake *in, const struct format_body *body, struct error *err)
{
    const char *p = in->request->body, *end = p + in->request->len;
    uint32_t number = 0;
    size_t len = 0;
    enum err rc = json_text_check(p, in->request->len, err);
    if (rc != ERR_OK)
        return rc;
    for (bool first = true; (p = next_line(p, end, &len, &number)) && !in->no_memory;
         first = false) {
        if (!read_line(in, body, p, len, number) && first && !in->no_memory &&
            is_json(in->request->body, in->request->len))
            return error_set(err, ERR_FORMAT,
                             "one JSON document over several lines needs Content-Type: "
                             "application/json; NDJSON has a document a line");
        if (in->next_index > in->limits->reports)
            break;
        p += len < (size_t)(end - p) ? len + 1 : len;
    }
    return ERR_OK;
}

enum err format_body_read(struct intake *in, const struct format_body *body, struct error *err)
{
    return in->request->media == INGEST_NDJSON ? read_ndjson(in, body, err)
                                               : read_json(in, body, err);
}
