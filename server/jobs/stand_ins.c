#include "server/jobs/stand_ins.h"

#include "base/log.h"
#include "storage/storage_read.h"

#define PAGE     500
#define OP_ARENA ((size_t)4096)
#define ARENA    ((size_t)64 * 1024 * 1024)

static bool is_due(const struct missing_row *m, int64_t before_ms)
{
    return m->class != IMAGE_CLASS_SYSTEM && !m->stand_in && m->first_seen_ms < before_ms &&
           m->candidate_count > 0 && m->candidates[0].same_build;
}

static enum err choose(struct writer *writer, const struct missing_row *m, int64_t now_ms,
                       size_t *chosen, struct error *err)
{
    char uuid[UUID_TEXT_SIZE], other[UUID_TEXT_SIZE];
    struct write_op *op = write_op_new(WRITE_STAND_IN, OP_ARENA);
    if (!op)
        return error_set(err, ERR_NO_MEMORY, "no memory for a stand-in");
    op->u.stand_in = (struct op_stand_in){.uuid = m->uuid,
                                          .stand_in = m->candidates[0].uuid,
                                          .bundle_id = m->bundle_id,
                                          .on = true,
                                          .now_ms = now_ms};
    enum err rc = writer_call(writer, op, err);
    bool changed = rc == ERR_OK && op->u.stand_in.changed;
    write_op_free(op);
    if (changed) {
        ++*chosen;
        log_info("symbol file of the same build stands in", "uuid=%s stand_in=%s",
                 uuid_format(&m->uuid, uuid), uuid_format(&m->candidates[0].uuid, other));
    }
    /* Things changed since the list was read: looked at again the next time. */
    return rc == ERR_CONFLICT || rc == ERR_NOT_FOUND ? ERR_OK : rc;
}

enum err stand_ins_choose(struct storage *storage, struct writer *writer, int64_t before_ms,
                          int64_t now_ms, size_t *ret_chosen, struct error *err)
{
    struct storage_reader *reader = NULL;
    struct missing_row *rows = NULL;
    const char *cursor = NULL;
    size_t count = 0;
    *ret_chosen = 0;
    struct arena *arena = arena_new(ARENA);
    if (!arena)
        return error_set(err, ERR_NO_MEMORY, "no memory for stand-ins");
    enum err rc = storage_reader_open(storage, &reader, err);
    for (int page = 0; page < STAND_IN_PAGES && rc == ERR_OK; page++) {
        rc = read_missing(reader, NULL, PAGE, cursor, arena, &rows, &count, &cursor, err);
        for (size_t i = 0; rc == ERR_OK && i < count; i++) {
            if (is_due(&rows[i], before_ms))
                rc = choose(writer, &rows[i], now_ms, ret_chosen, err);
        }
        if (!cursor)
            break;
    }
    storage_reader_close(reader);
    arena_free(arena);
    return rc;
}
