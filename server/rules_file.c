#include "server/rules_file.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"

/* "line 7: what" becomes "path:7: what", as compilers say it. */
static enum err at_line(const char *path, struct error *err, enum err rc)
{
    static const char word[] = "line ";
    const size_t n = sizeof(word) - 1;
    char *end = NULL;
    if (!err || strncmp(err->text, word, n) != 0)
        return error_prefix(err, "%s", path);
    const struct error said = *err;
    unsigned long line = strtoul(said.text + n, &end, 10);
    if (end == said.text + n || strncmp(end, ": ", 2) != 0)
        return error_prefix(err, "%s", path);
    return error_set(err, rc, "%s:%lu: %s", path, line, end + 2);
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
