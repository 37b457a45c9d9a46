#include "server/http/asset.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/hash.h"
#include "server/http/inflate.h"
#include "web_assets.h" /* made by server/web/embed from the files themselves */

const struct asset ASSETS[] = {
    {"/openapi.json", "application/json", (const char *)asset_openapi_json,
     sizeof(asset_openapi_json)},
    {"/upload.sh", "text/x-shellscript; charset=utf-8", (const char *)asset_upload_sh,
     sizeof(asset_upload_sh)},
};
const size_t ASSET_COUNT = sizeof(ASSETS) / sizeof(ASSETS[0]);

static struct asset_forms forms[sizeof(ASSETS) / sizeof(ASSETS[0])];

static void make_forms(void)
{
    for (size_t i = 0; i < ASSET_COUNT; i++) {
        uint8_t digest[SHA256_SIZE];
        char text[SHA256_TEXT_SIZE];
        struct buf packed;
        sha256_of(ASSETS[i].data, ASSETS[i].len, digest);
        snprintf(forms[i].etag, sizeof(forms[i].etag), "\"%.32s\"", sha256_format(digest, text));
        buf_init(&packed, 2 * ASSETS[i].len + 1024);
        if (deflate_gzip(ASSETS[i].data, ASSETS[i].len, &packed)) {
            forms[i].gzip = packed.data;
            forms[i].gzip_len = packed.len;
        } else {
            buf_done(&packed);
        }
    }
}

const struct asset_forms *asset_forms(const struct asset *asset)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, make_forms);
    return &forms[asset - ASSETS];
}

const struct asset *asset_find(const char *path)
{
    for (size_t i = 0; i < ASSET_COUNT; i++) {
        if (strcmp(ASSETS[i].path, path) == 0)
            return &ASSETS[i];
    }
    return NULL;
}
