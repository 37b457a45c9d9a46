#include "server/rules_file.h"

#include <stdio.h>
#include <string.h>

#include "base/file.h"

/* "line 7: what" becomes "path:7: what", as compilers say it. */
static enum err at_line(const char *path, struct error *err, enum err rc)
{
    unsigned line;
    int skip = 0;
    if (!err || sscanf(err->text, "line %u: %n", &line, &skip) != 1 || skip == 0)
        return error_prefix(err, "%s", path);
    const struct error said = *err;
    return error_set(err, rc, "%s:%u: %s", path, line, said.text + skip);
}

enum err rules_file_read(const char *path, struct rules **ret, struct error *err)
{
    struct buf text;
    if (!path || !*path)
        return rules_new_default(ret, err);
    buf_init(&text, RULES_TEXT_MAX);
    enum err rc = file_read(path, &text, err);
    if (rc != ERR_OK)
        error_prefix(err, "cluster rules");
    else if ((rc = rules_new(text.data ? text.data : "", text.len, ret, err)) != ERR_OK)
        rc = at_line(path, err, rc);
    buf_done(&text);
    return rc;
}
