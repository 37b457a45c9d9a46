#include "server/ingest/format_body.h"

#include <stdio.h>
#include <string.h>

static enum err read_json(struct intake *in, const struct format_body *body, struct error *err)
{
    json_t *root = NULL;
    enum err rc = json_text_load(in->request->body, in->request->len, &root, err);
    if (rc != ERR_OK)
        return rc;
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

static void read_line(struct intake *in, const struct format_body *body, const char *line,
                      size_t len, uint32_t number)
{
    json_t *root = NULL;
    struct error err;
    enum err rc = json_text_load(line, len, &root, &err);
    in->no_memory = in->no_memory || rc == ERR_NO_MEMORY;
    if (rc != ERR_OK) {
        intake_refuse_line(in, number, "", err.text);
        return;
    }
    if (body->read(in, root, "", number, &err) != ERR_OK)
        intake_refuse_line(in, number, "", err.text);
    json_decref(root);
}

static enum err read_ndjson(struct intake *in, const struct format_body *body, struct error *err)
{
    const char *p = in->request->body, *end = p + in->request->len;
    for (uint32_t number = 1; p < end && !in->no_memory; number++) {
        const char *nl = memchr(p, '\n', (size_t)(end - p));
        size_t len = (size_t)((nl ? nl : end) - p);
        size_t blank = 0;
        while (blank < len && strchr(" \t\r", p[blank]) && p[blank])
            blank++;
        if (blank < len)
            read_line(in, body, p, len, number);
        if (in->next_index > in->limits->reports)
            break;
        p = nl ? nl + 1 : end;
    }
    if (in->next_index == 0 && !in->no_memory)
        return error_set(err, ERR_FORMAT, "the body holds no line");
    return ERR_OK;
}

enum err format_body_read(struct intake *in, const struct format_body *body, struct error *err)
{
    return in->request->media == INGEST_NDJSON ? read_ndjson(in, body, err)
                                               : read_json(in, body, err);
}
