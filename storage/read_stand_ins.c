#include "storage/read_stand_ins.h"

#include "storage/storage_backend.h"

enum err read_stand_ins(struct storage_reader *r, const struct uuid *uuid, struct arena *arena,
                        struct stand_in_row **ret, size_t *ret_count, struct error *err)
{
    return READ_WITHIN(r, err, read_stand_ins(r, uuid, arena, ret, ret_count, err));
}
