#include "server/http/asset.h"

#include <string.h>

#include "web_assets.h" /* made by server/web/embed from the files themselves */

const struct asset ASSETS[] = {
    {"/openapi.json", "application/json", (const char *)asset_openapi_json,
     sizeof(asset_openapi_json)},
    {"/upload.sh", "text/x-shellscript; charset=utf-8", (const char *)asset_upload_sh,
     sizeof(asset_upload_sh)},
};
const size_t ASSET_COUNT = sizeof(ASSETS) / sizeof(ASSETS[0]);

const struct asset *asset_find(const char *path)
{
    for (size_t i = 0; i < ASSET_COUNT; i++) {
        if (strcmp(ASSETS[i].path, path) == 0)
            return &ASSETS[i];
    }
    return NULL;
}
