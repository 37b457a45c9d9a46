#include "storage/shelf.h"

#include <string.h>

struct uuid shelf_of(const uint8_t secret[SHA256_SIZE], const char *own, const struct uuid *image)
{
    struct sha256 sha;
    uint8_t digest[SHA256_SIZE];
    struct uuid shelf = *image;
    if (!*own || uuid_is_nil(image))
        return shelf;
    sha256_init(&sha);
    sha256_update(&sha, secret, SHA256_SIZE);
    sha256_update(&sha, image->bytes, sizeof(image->bytes));
    sha256_update(&sha, own, strlen(own));
    sha256_final(&sha, digest);
    memcpy(shelf.bytes, digest, sizeof(shelf.bytes));
    return shelf;
}
