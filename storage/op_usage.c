#include "storage/op_usage.h"

#include <string.h>

#include "base/hash.h"
#include "storage/figures.h"

/* No bundle id has a NUL before its end, so no report's hash is made of the same bytes. */
#define USAGE_MARK "\0usage"

void usage_id_hash(const char *bundle_id, const char *id, uint8_t out[16])
{
    struct sha256 h;
    uint8_t digest[SHA256_SIZE];
    sha256_init(&h);
    sha256_update(&h, USAGE_MARK, sizeof(USAGE_MARK));
    sha256_update(&h, bundle_id, strlen(bundle_id) + 1);
    sha256_update(&h, id, strlen(id));
    sha256_final(&h, digest);
    memcpy(out, digest, 16);
}

int64_t usage_foreground(const struct op_usage_item *item)
{
    return (int64_t)((__int128)item->foreground_ms * figures_weight(item->weight) /
                     FIGURES_WEIGHT_ONE);
}

int64_t usage_launches(const struct op_usage_item *item)
{
    return item->launches * figures_weight(item->weight);
}
