/*
 * shelf - under which UUID the symbol store keeps the indexes of an image.
 *
 * Purpose: UUIDs can be read in every shipped binary, so a UUID alone neither grants names nor says
 * whose they are. What serves every app lies on the shelf of the image's own UUID. What a token bound
 * to an app sent is that app's own and lies on another one, for each app and image: a UUID made of both
 * and a secret of the database, which no report and no request can name. All that the store keys by a
 * UUID - index files, their cache, slices, refits, turn-backs, which of several objects is used - it
 * keys by the shelf, so what two apps own of one image never meets. In structs it is a `shelf` there; in
 * the columns `uuid` of slices, layouts and refits. Of turn_backs, and where stacks are turned back, a
 * `uuid` may be a slide group, too.
 *
 * Invariants: pure. No answer shows the shelf of an own index, and no line of the log
 * (server/jobs/shelf_text.h).
 *
 * Threads: any. Memory: none.
 */
#ifndef STALLSYM_STORAGE_SHELF_H
#define STALLSYM_STORAGE_SHELF_H

#include <stdint.h>

#include "base/hash.h"
#include "base/uuid.h"

/* `own` "": of what serves all, which is `image` itself; so is that of nil. */
struct uuid shelf_of(const uint8_t secret[SHA256_SIZE], const char *own, const struct uuid *image);

#endif
