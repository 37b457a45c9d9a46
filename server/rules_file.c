#include "server/rules_file.h"

#include "base/file.h"

enum err rules_file_read(const char *path, struct rules **ret, struct error *err)
{
    struct buf text;
    if (!path || !*path)
        return rules_new_default(ret, err);
    buf_init(&text, RULES_TEXT_MAX);
    enum err rc = file_read(path, &text, err);
    if (rc != ERR_OK)
        error_prefix(err, "cluster rules");
    else if (rules_new(text.data ? text.data : "", text.len, ret, err) != ERR_OK)
        rc = error_prefix(err, "%s", path);
    buf_done(&text);
    return rc;
}
