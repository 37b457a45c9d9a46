#include "symbolizer/debug_info_model.h"

#include <string.h>

static bool starts(const char *s, const char *prefix)
{
    return strncmp(s, prefix, strlen(prefix)) == 0;
}

bool debug_name_is_unique(const char *s)
{
    if ((s[0] == '-' || s[0] == '+') && s[1] == '[')
        return true;
    if (starts(s, "__") && (strstr(s, "-[") || strstr(s, "+[")))
        return true;
    if (starts(s, "$s") || starts(s, "$S") || starts(s, "_$s") || starts(s, "_T") ||
        starts(s, "_R"))
        return true;
    size_t n = strlen(s);
    return starts(s, "_ZN") && n > 20 && starts(s + n - 20, "17h") && s[n - 1] == 'E';
}
