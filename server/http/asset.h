/*
 * asset - files built into the program: openapi.json, upload.sh.
 *
 * Purpose: the table that the build fills (web_assets.h).
 *
 * Invariants: they are asked for without a token, so that an answer costs no copy, no hash and no
 * compression: what is the same each time is made once.
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

/* Made at the first call, and kept. */
struct asset_forms {
    char etag[36];    /* quoted */
    const char *gzip; /* NULL without memory */
    size_t gzip_len;
};

/* NULL when there is none. */
const struct asset *asset_find(const char *path);
const struct asset_forms *asset_forms(const struct asset *asset);

#endif
