#include "server/analysis/swift_module.h"

#include <stddef.h>
#include <string.h>

/* `9Alamofire`: what stands behind it, NULL when there is no plain identifier. */
static const char *identifier(const char *p, const char **ret, size_t *ret_n)
{
    size_t n = 0;
    if (*p < '1' || *p > '9')
        return NULL;
    for (; *p >= '0' && *p <= '9' && n < SWIFT_MODULE_MAX; p++)
        n = n * 10 + (size_t)(*p - '0');
    if (n >= SWIFT_MODULE_MAX || strnlen(p, n) < n)
        return NULL;
    *ret = p;
    *ret_n = n;
    return p + n;
}

/* A type of the system's that an extension may be of: `So7UIImageC`, `SS`, `Sa`; NULL: none. */
static const char *foreign_type(const char *p)
{
    const char *name;
    size_t n;
    if (p[0] != 'S' || !p[1])
        return NULL;
    if (p[1] != 'o')
        return p + 2;
    p = identifier(p + 2, &name, &n);
    return p && *p ? p + 1 : NULL;
}

bool swift_module_of(const char *mangled, char ret[SWIFT_MODULE_MAX])
{
    const char *name;
    size_t n;
    const char *p = mangled;
    if (!p)
        return false;
    p += *p == '_' && p[1] == '$';
    if (strncmp(p, "$s", 2) != 0 && strncmp(p, "$S", 2) != 0)
        return false;
    p += 2;
    const char *extended = foreign_type(p);
    p = identifier(extended ? extended : p, &name, &n);
    if (!p || (extended && *p != 'E'))
        return false;
    memcpy(ret, name, n);
    ret[n] = 0;
    return true;
}
