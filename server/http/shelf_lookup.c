#include "server/http/shelf_lookup.h"

#include <string.h>

#include "storage/read_shelves.h"

void shelf_lookup_init(struct shelf_lookup *l, struct storage_reader *reader, const char *bundle_id)
{
    memset(l, 0, sizeof(*l));
    l->reader = reader;
    l->bundle_id = bundle_id;
    l->rc = ERR_OK;
}

void shelf_lookup_find(void *ctx, const struct uuid *image, struct uuid *ret)
{
    struct shelf_lookup *l = ctx;
    struct error err;
    size_t at = image->bytes[0] % SHELF_LOOKUP_SLOTS;
    *ret = *image;
    if (uuid_is_nil(image))
        return;
    if (!uuid_equal(&l->slots[at].image, image)) {
        enum err rc = read_shelf_for(l->reader, l->bundle_id, image, ret, &err);
        if (rc != ERR_OK && l->rc == ERR_OK) {
            l->rc = rc;
            l->error = err;
        }
        if (rc != ERR_OK)
            return;
        l->slots[at].image = *image;
        l->slots[at].shelf = *ret;
    }
    *ret = l->slots[at].shelf;
}
