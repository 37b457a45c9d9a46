/*
 * shelf_lookup - which index of an image serves whoever asks, for one request.
 *
 * Purpose: answers symbolize.h's struct image_lookup (`shelf`) out of the database
 * (storage/read_shelves.h), each image once as a rule: stacks of a request have the same few.
 *
 * Invariants: a question that could not be asked is remembered in `rc` and `error`: the answer must
 * not be given then.
 *
 * Threads: a reader's. Memory: none.
 */
#ifndef STALLSYM_HTTP_SHELF_LOOKUP_H
#define STALLSYM_HTTP_SHELF_LOOKUP_H

#include "base/error.h"
#include "base/uuid.h"
#include "storage/storage.h"

#define SHELF_LOOKUP_SLOTS 256

struct shelf_lookup {
    struct storage_reader *reader;
    const char *bundle_id; /* the app; NULL: any */
    enum err rc;
    struct error error;
    struct {
        struct uuid image, shelf; /* nil: none */
    } slots[SHELF_LOOKUP_SLOTS];
};

void shelf_lookup_init(struct shelf_lookup *l, struct storage_reader *reader,
                       const char *bundle_id);
/* `ctx` is a struct shelf_lookup. */
void shelf_lookup_find(void *ctx, const struct uuid *image, struct uuid *ret);

#endif
