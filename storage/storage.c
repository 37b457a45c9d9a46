#include "storage/storage.h"

#include <string.h>

#include "storage/storage_backend.h"

#define RETRY_DAYS_MIN 3
#define RETRY_DAYS_MAX 60

static const struct storage_backend *const backends[] = {
    &storage_backend_sqlite,
    &storage_backend_memory,
};

enum err storage_open(const struct storage_options *options, struct storage **ret,
                      struct error *err)
{
    if (options->retry_days < RETRY_DAYS_MIN || options->retry_days > RETRY_DAYS_MAX)
        return error_set(err, ERR_INVALID, "retry_days must be %d to %d", RETRY_DAYS_MIN,
                         RETRY_DAYS_MAX);
    for (size_t i = 0; i < sizeof(backends) / sizeof(backends[0]); i++) {
        if (strcmp(backends[i]->name, options->backend) == 0)
            return backends[i]->open(options, ret, err);
    }
    return error_set(err, ERR_INVALID, "unknown storage backend `%s`", options->backend);
}

void storage_close(struct storage *s)
{
    if (s)
        s->backend->close(s);
}

enum err storage_begin(struct storage *s, struct error *err)
{
    return s->backend->begin(s, err);
}

enum err storage_apply(struct storage *s, struct write_op *op, struct error *err)
{
    return s->backend->apply(s, op, err);
}

enum err storage_commit(struct storage *s, struct error *err)
{
    return s->backend->commit(s, err);
}

void storage_rollback(struct storage *s)
{
    s->backend->rollback(s);
}

enum err storage_checkpoint(struct storage *s, bool truncate, uint64_t *ret_wal_bytes,
                            struct error *err)
{
    return s->backend->checkpoint(s, truncate, ret_wal_bytes, err);
}

enum err storage_last_checkpoint(struct storage *s, struct error *err)
{
    return s->backend->last_checkpoint(s, err);
}

uint64_t storage_wal_bytes(struct storage *s)
{
    return s->backend->wal_bytes(s);
}

enum err storage_used_bytes(struct storage *s, uint64_t *ret, struct error *err)
{
    return s->backend->used_bytes(s, ret, err);
}

enum storage_trouble storage_trouble(struct storage *s, char *text, size_t size)
{
    return s->backend->trouble(s, text, size);
}

enum err storage_check(struct storage *s, bool (*go_on)(void *ctx), void *ctx, struct error *err)
{
    return s->backend->check(s, go_on, ctx, err);
}

const struct storage_upgrade *storage_upgrade(const struct storage *s)
{
    return s->backend->upgrade(s);
}

enum err storage_reader_open(struct storage *s, struct storage_reader **ret, struct error *err)
{
    return s->backend->reader_open(s, ret, err);
}

void storage_reader_close(struct storage_reader *r)
{
    if (r)
        r->backend->reader_close(r);
}

void storage_reader_deadline(struct storage_reader *r, int64_t deadline_mono_ms)
{
    r->backend->reader_deadline(r, deadline_mono_ms);
}
