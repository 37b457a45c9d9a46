#include "server/jobs/alert_stored.h"

#include <string.h>
#include <strings.h>

/* Length of the escape of a control character at `p`, 0: none. */
static size_t control_escape(const char *p)
{
    if (p[0] != '\\' || !p[1])
        return 0;
    if (strchr("bfnrt", p[1]))
        return 2;
    if (p[1] != 'u' || strncmp(p + 2, "00", 2) != 0 || !p[4] || !p[5])
        return 0;
    return p[4] == '0' || p[4] == '1' || strncasecmp(p + 4, "7f", 2) == 0 ? 6 : 0;
}

/* Backslashes stand in texts only. */
static char *without_controls(const char *document, struct arena *arena)
{
    char *copy = arena_alloc(arena, strlen(document) + 1), *to = copy;
    if (!copy)
        return NULL;
    for (const char *p = document; *p;) {
        const size_t escape = control_escape(p);
        if (escape > 0) {
            *to++ = '?';
            p += escape;
        } else if (*p == '\\' && p[1]) {
            *to++ = *p++;
            *to++ = *p++;
        } else {
            *to++ = *p == 0x7f ? '?' : *p;
            p++;
        }
    }
    *to = 0;
    return copy;
}

enum err alert_stored_read(const char *document, struct arena *arena, struct alert_rules *ret,
                           struct error *err)
{
    struct alert_rules none = {0};
    struct alert_fault fault;
    *ret = none;
    if (!document)
        return ERR_OK;
    const char *clean = without_controls(document, arena);
    if (!clean)
        return error_set(err, ERR_NO_MEMORY, "no memory for rules of alerts");
    enum err rc = alert_rules_read(clean, strlen(clean), NULL, arena, ret, &fault, err);
    if (rc != ERR_INVALID && rc != ERR_FORMAT)
        return rc;
    *ret = none;
    const struct error why = *err;
    return error_set(err, ERR_INVALID,
                     "the stored rules cannot be used, nothing is sent until they are set anew: %s",
                     why.text);
}
