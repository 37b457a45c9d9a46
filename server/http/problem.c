#include "server/http/problem.h"

#include <stddef.h>

static const struct {
    int status;
    const char *title;
} TITLES[] = {
    {400, "Bad Request"},
    {401, "Unauthorized"},
    {403, "Forbidden"},
    {404, "Not Found"},
    {405, "Method Not Allowed"},
    {408, "Request Timeout"},
    {409, "Conflict"},
    {410, "Gone"},
    {413, "Content Too Large"},
    {415, "Unsupported Media Type"},
    {422, "Unprocessable Content"},
    {429, "Too Many Requests"},
    {500, "Internal Server Error"},
    {501, "Not Implemented"},
    {503, "Service Unavailable"},
    {507, "Insufficient Storage"},
};

/* What becomes of each error code; a NULL text shows the error's own. */
static const struct {
    enum err code;
    int status;
    const char *detail;
} ERRORS[] = {
    {ERR_NOT_FOUND, 404, NULL},
    {ERR_INVALID, 400, NULL},
    {ERR_FORMAT, 400, NULL},
    {ERR_LIMIT, 413, NULL},
    {ERR_UNSUPPORTED, 415, NULL},
    {ERR_CONFLICT, 409, NULL},
    {ERR_DENIED, 403, NULL},
    {ERR_BUSY, 503, "the server is busy; try again"},
    {ERR_NO_MEMORY, 503, "the server has no memory to spare; try again"},
    {ERR_IO, 503, "the server cannot reach its storage; try again"},
};

const char *problem_title(int status)
{
    for (size_t i = 0; i < sizeof(TITLES) / sizeof(TITLES[0]); i++) {
        if (TITLES[i].status == status)
            return TITLES[i].title;
    }
    return "";
}

void problem_begin(struct jout *j, int status, const char *detail)
{
    jout_object(j, NULL);
    jout_string(j, "type", "about:blank");
    jout_string(j, "title", problem_title(status));
    jout_int(j, "status", status);
    jout_string(j, "detail", detail);
}

void problem_print(struct buf *out, int status, const char *detail,
                   const struct problem_place *place)
{
    struct jout j;
    jout_init(&j, out);
    problem_begin(&j, status, detail);
    if (place && (place->path || place->line > 0)) {
        jout_array(&j, "errors");
        jout_object(&j, NULL);
        if (place->path)
            jout_string(&j, "path", place->path);
        else
            jout_uint(&j, "line", place->line);
        jout_string(&j, "reason", place->reason);
        jout_end_object(&j);
        jout_end_array(&j);
    }
    jout_end_object(&j);
}

int problem_from_error(const struct error *err, const char **ret_detail, bool *ret_log)
{
    for (size_t i = 0; i < sizeof(ERRORS) / sizeof(ERRORS[0]); i++) {
        if (ERRORS[i].code == err->code) {
            *ret_detail = ERRORS[i].detail ? ERRORS[i].detail : err->text;
            *ret_log = err->code == ERR_IO || err->code == ERR_NO_MEMORY;
            return ERRORS[i].status;
        }
    }
    *ret_detail = "the server failed to do this; its log has the reason";
    *ret_log = true;
    return 500;
}
