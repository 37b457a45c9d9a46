/*
 * read_config - remote configurations and their history.
 *
 * Purpose: the read side of op_config.h.
 *
 * Invariants: as storage_read.h says. Threads: one per reader. Memory: the caller's arena.
 */
#ifndef STALLSYM_STORAGE_READ_CONFIG_H
#define STALLSYM_STORAGE_READ_CONFIG_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "storage/storage.h"

struct config_row {
    uint32_t revision;
    const char *body; /* NULL in lists */
    const char *note;
    const char *author; /* name of the token it was written with; NULL: revoked since */
    int64_t created_ms;
};

/* `revision` 0: the one in force. ERR_NOT_FOUND: no such, or none at all. */
enum err read_config(struct storage_reader *r, const char *bundle_id, uint32_t revision,
                     struct arena *arena, struct config_row *ret, struct error *err);
/* All that are kept, newest first. */
enum err read_config_history(struct storage_reader *r, const char *bundle_id, struct arena *arena,
                             struct config_row **ret, size_t *ret_count, struct error *err);

#endif
