#include "base/vec.h"

#include <stdlib.h>

#define FIRST_CAP ((size_t)16)

void *vec_grown(void *data, size_t *cap, size_t want, size_t size)
{
    if (want <= *cap)
        return data;
    size_t next = *cap + *cap / 2;
    if (next < FIRST_CAP)
        next = FIRST_CAP;
    if (next < want)
        next = want;
    if (next > VEC_BYTES_MAX / size)
        return NULL;
    void *p = realloc(data, next * size);
    if (p)
        *cap = next;
    return p;
}
