#include "server/http/media_type.h"

#include <string.h>
#include <strings.h>

static const char *skip_blank(const char *p)
{
    return p + strspn(p, " \t");
}

/* The value at `p` into `out` (NULL: nowhere), and where it ends; NULL when it is broken. */
static const char *read_value(const char *p, char *out, size_t size, bool *ret_fits)
{
    size_t n = 0;
    bool quoted = *p == '"';
    if (quoted)
        p++;
    for (; *p && (quoted ? *p != '"' : !strchr("; \t", *p)); p++) {
        if (quoted && *p == '\\' && p[1])
            p++;
        if (n + 1 < size)
            out[n] = *p;
        n++;
    }
    if (quoted && *p != '"')
        return NULL;
    *ret_fits = n + 1 <= size;
    if (size > 0)
        out[n < size ? n : size - 1] = 0;
    return p + quoted;
}

bool media_type_param(const char *header, const char *name, char *out, size_t size)
{
    const char *p = header ? header + strcspn(header, ";") : "";
    while (*p == ';') {
        char value[256];
        bool fits = false;
        p = skip_blank(p + 1);
        size_t len = strcspn(p, "=; \t");
        const char *key = p;
        p += len;
        if (*p != '=')
            continue;
        p = read_value(p + 1, value, sizeof(value), &fits);
        if (!p)
            return false;
        if (len == strlen(name) && strncasecmp(key, name, len) == 0) {
            size_t n = strlen(value);
            if (!fits || n + 1 > size)
                return false;
            memcpy(out, value, n + 1);
            return true;
        }
        p = skip_blank(p);
    }
    return false;
}

bool media_type_is(const char *header, const char *type)
{
    char charset[32];
    if (!header)
        return false;
    header = skip_blank(header);
    size_t len = strcspn(header, "; \t");
    if (len != strlen(type) || strncasecmp(header, type, len) != 0)
        return false;
    if (!media_type_param(header, "charset", charset, sizeof(charset)))
        return true;
    return strcasecmp(charset, "utf-8") == 0 || strcasecmp(charset, "utf8") == 0 ||
           strcasecmp(charset, "us-ascii") == 0;
}
