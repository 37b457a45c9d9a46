#include "base/error.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static const char *const names[] = {
    [ERR_OK] = "ok",
    [ERR_NOT_FOUND] = "not_found",
    [ERR_INVALID] = "invalid",
    [ERR_FORMAT] = "format",
    [ERR_LIMIT] = "limit",
    [ERR_UNSUPPORTED] = "unsupported",
    [ERR_CONFLICT] = "conflict",
    [ERR_BUSY] = "busy",
    [ERR_DENIED] = "denied",
    [ERR_NO_MEMORY] = "no_memory",
    [ERR_IO] = "io",
    [ERR_INTERNAL] = "internal",
};

const char *err_name(enum err code)
{
    if ((size_t)code >= sizeof(names) / sizeof(names[0]))
        return "unknown";
    return names[code];
}

enum err error_set(struct error *err, enum err code, const char *fmt, ...)
{
    if (err) {
        va_list ap;
        va_start(ap, fmt);
        err->code = code;
        err->line = 0;
        vsnprintf(err->text, sizeof(err->text), fmt, ap);
        va_end(ap);
    }
    return code;
}

enum err error_errno(struct error *err, int errnum, const char *fmt, ...)
{
    enum err code = errnum == ENOMEM ? ERR_NO_MEMORY : errnum == EFBIG ? ERR_LIMIT : ERR_IO;
    if (err) {
        char reason[128];
        va_list ap;
        va_start(ap, fmt);
        err->code = code;
        err->line = 0;
        int n = vsnprintf(err->text, sizeof(err->text), fmt, ap);
        va_end(ap);
        if (n >= 0 && (size_t)n < sizeof(err->text))
            snprintf(err->text + n, sizeof(err->text) - (size_t)n, ": %s",
                     strerror_r(errnum, reason, sizeof(reason)));
    }
    return code;
}

enum err error_prefix(struct error *err, const char *fmt, ...)
{
    if (!err)
        return ERR_INTERNAL;
    char head[256];
    char tail[sizeof(err->text)];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(head, sizeof(head), fmt, ap);
    va_end(ap);
    memcpy(tail, err->text, sizeof(tail));
    snprintf(err->text, sizeof(err->text), "%s: %.*s", head, (int)(sizeof(tail) - sizeof(head) - 3),
             tail);
    return err->code;
}
