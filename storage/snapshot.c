#include "storage/snapshot.h"

#include "storage/storage_backend.h"

enum err snapshot_open(struct storage *s, struct snapshot **ret, struct error *err)
{
    if (!s->backend->snapshot_open)
        return error_set(err, ERR_UNSUPPORTED, "the storage backend %s keeps nothing",
                         s->backend->name);
    return s->backend->snapshot_open(s, ret, err);
}

void snapshot_close(struct snapshot *s)
{
    if (s)
        s->backend->snapshot_close(s);
}

uint64_t snapshot_bytes(const struct snapshot *s)
{
    return s->backend->snapshot_bytes(s);
}

enum err snapshot_write(struct snapshot *s, const char *path, const struct snapshot_watch *watch,
                        struct error *err)
{
    return s->backend->snapshot_write(s, path, watch, err);
}
