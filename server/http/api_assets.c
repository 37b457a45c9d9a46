#include "server/http/api.h"

#include "base/hash.h"
#include "server/http/asset.h"

void api_get_asset(struct http_request *r)
{
    const struct asset *a = asset_find(r->route->pattern);
    uint8_t digest[SHA256_SIZE];
    char text[SHA256_TEXT_SIZE];
    if (!a) {
        http_problem(r, 404, "no such resource");
        return;
    }
    sha256_of(a->data, a->len, digest);
    r->reply.etag = arena_printf(&r->arena, "\"%.32s\"", sha256_format(digest, text));
    r->reply.cacheable = true;
    buf_put(http_reply(r, 200, a->content_type), a->data, a->len);
}
