#include "tests/support/scarce.h"

#include <stddef.h>

static unsigned left; /* 0: malloc is what it is */
static bool failed;

void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size);

void *__wrap_malloc(size_t size)
{
    if (left > 0 && --left == 0) {
        failed = true;
        return NULL;
    }
    return __real_malloc(size);
}

void scarce_begin(unsigned nth)
{
    left = nth;
    failed = false;
}

bool scarce_end(void)
{
    left = 0;
    return failed;
}
