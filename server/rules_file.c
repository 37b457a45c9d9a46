#include "server/rules_file.h"

#include <errno.h>
#include <stdio.h>

#include "base/buf.h"

static enum err read_all(FILE *f, const char *path, struct buf *text, struct error *err)
{
    char chunk[16384];
    size_t n;
    while ((n = fread(chunk, 1, sizeof(chunk), f)) > 0) {
        if (!buf_put(text, chunk, n))
            return error_set(err, ERR_LIMIT, "the cluster rules %s have more than %d bytes", path,
                             RULES_TEXT_MAX);
    }
    if (ferror(f))
        return error_errno(err, errno, "cannot read the cluster rules %s", path);
    return ERR_OK;
}

enum err rules_file_read(const char *path, struct rules **ret, struct error *err)
{
    struct buf text;
    if (!path || !*path)
        return rules_new_default(ret, err);
    FILE *f = fopen(path, "re");
    if (!f)
        return error_errno(err, errno, "cannot open the cluster rules %s", path);
    buf_init(&text, RULES_TEXT_MAX);
    enum err rc = read_all(f, path, &text, err);
    fclose(f);
    if (rc == ERR_OK && rules_new(text.data ? text.data : "", text.len, ret, err) != ERR_OK)
        rc = error_prefix(err, "%s", path);
    buf_done(&text);
    return rc;
}
