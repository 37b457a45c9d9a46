/*
 * asset - files built into the program: openapi.json, upload.sh.
 *
 * Purpose: the table that the build fills (web_assets.h).
 *
 * Threads: read-only. Memory: static.
 */
#ifndef STALLSYM_HTTP_ASSET_H
#define STALLSYM_HTTP_ASSET_H

#include <stddef.h>

struct asset {
    const char *path; /* "/upload.sh" */
    const char *content_type;
    const char *data;
    size_t len;
};

extern const struct asset ASSETS[];
extern const size_t ASSET_COUNT;

/* NULL when there is none. */
const struct asset *asset_find(const char *path);

#endif
