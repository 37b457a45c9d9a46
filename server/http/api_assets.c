#include "server/http/api.h"

#include "server/http/asset.h"

void api_get_asset(struct http_request *r)
{
    const struct asset *a = asset_find(r->route->pattern);
    if (!a) {
        http_problem(r, 404, "no such resource");
        return;
    }
    const struct asset_forms *forms = asset_forms(a);
    http_reply(r, 200, a->content_type);
    r->reply.etag = forms->etag;
    r->reply.cacheable = true;
    r->reply.gzipped = r->accepts_gzip && forms->gzip;
    r->reply.borrowed = r->reply.gzipped ? forms->gzip : a->data;
    r->reply.borrowed_len = r->reply.gzipped ? forms->gzip_len : a->len;
}
