#include "server/jobs/symbol_owner.h"

#include <string.h>

const char *symbol_owner_of(const struct slice_row *rows, size_t count)
{
    const struct slice_row *first = NULL;
    for (size_t i = 0; i < count; i++) {
        if (!first || rows[i].id < first->id)
            first = &rows[i];
    }
    return first ? first->bundle_id : NULL;
}

bool symbol_is_foreign(const char *owner, bool bound, const char *bundle_id)
{
    return owner && bound && strcmp(owner, bundle_id) != 0;
}
