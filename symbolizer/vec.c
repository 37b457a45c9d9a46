#include "symbolizer/vec.h"

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

void *vec_trimmed(void *data, size_t *cap, size_t count, size_t size)
{
    if (count == 0) {
        free(data);
        *cap = 0;
        return NULL;
    }
    void *p = count < *cap ? realloc(data, count * size) : NULL;
    if (!p)
        return data;
    *cap = count;
    return p;
}
