#include "server/jobs/index_tell.h"

#include "base/clock.h"

#define OP_ARENA       ((size_t)1024 * 1024)
#define TURN_BACKS_MAX 1000 /* UUIDs of one look */

struct write_op *index_tell_op(enum write_op_kind kind, struct error *err)
{
    struct write_op *op = write_op_new(kind, OP_ARENA);
    if (!op)
        error_set(err, ERR_NO_MEMORY, "no memory for a change");
    return op;
}

enum err index_tell_send(struct writer *w, struct write_op *op, struct error *err)
{
    enum err rc = writer_call(w, op, err);
    write_op_free(op);
    return rc;
}

enum err index_tell_state(struct writer *w, uint64_t upload_id, enum upload_state state,
                          const char *reason, const struct installed *what, struct error *err)
{
    struct write_op *op = index_tell_op(WRITE_UPLOAD_STATE, err);
    if (!op)
        return ERR_NO_MEMORY;
    op->u.upload_state = (struct op_upload_state){.id = upload_id,
                                                  .state = state,
                                                  .reason = reason,
                                                  .slices = what ? what->slices : NULL,
                                                  .slice_count = what ? what->count : 0,
                                                  .now_ms = clock_wall_ms()};
    return index_tell_send(w, op, err);
}

static enum err turn_back(struct writer *w, const struct uuid *uuids, size_t count, bool all_users,
                          bool settles, struct error *err)
{
    if (count == 0)
        return ERR_OK;
    struct write_op *op = index_tell_op(WRITE_REPEND, err);
    enum err rc = ERR_OK;
    if (!op)
        return ERR_NO_MEMORY;
    op->u.repend = (struct op_repend){.uuid = uuids[0],
                                      .others = uuids + 1,
                                      .other_count = count - 1,
                                      .all_users = all_users,
                                      .settles = settles};
    do {
        op->u.repend.more = false;
        op->u.repend.count = 0;
        rc = writer_call(w, op, err);
    } while (rc == ERR_OK && op->u.repend.more);
    write_op_free(op);
    return rc;
}

enum err index_tell_pending(struct writer *w, const struct uuid *uuids, size_t count,
                            bool all_users, struct error *err)
{
    return turn_back(w, uuids, count, all_users, false, err);
}

/* Those of one look. */
static enum err turn_back_noted(struct writer *w, const struct turn_back_row *rows, size_t count,
                                struct arena *arena, struct error *err)
{
    struct uuid *uuids = arena_array(arena, count + 1, sizeof(*uuids));
    enum err rc = uuids ? ERR_OK : error_set(err, ERR_NO_MEMORY, "no memory for a change");
    for (int all_users = 0; rc == ERR_OK && all_users <= 1; all_users++) {
        size_t n = 0;
        for (size_t i = 0; i < count; i++) {
            if (rows[i].all_users == (all_users != 0))
                uuids[n++] = rows[i].uuid;
        }
        rc = turn_back(w, uuids, n, all_users != 0, true, err);
    }
    return rc;
}

enum err index_tell_turn_backs(struct writer *w, struct storage_reader *reader, struct arena *arena,
                               struct error *err)
{
    struct turn_back_row *rows = NULL;
    size_t count = 0;
    enum err rc = ERR_OK;
    do {
        rc = read_turn_backs(reader, TURN_BACKS_MAX, arena, &rows, &count, err);
        if (rc == ERR_OK)
            rc = turn_back_noted(w, rows, count, arena, err);
    } while (rc == ERR_OK && count == TURN_BACKS_MAX);
    return rc;
}

enum err index_tell_installed(struct writer *w, const struct installed *what, struct arena *arena,
                              struct error *err)
{
    struct uuid *uuids = arena_array(arena, what->count + 1, sizeof(*uuids));
    enum err rc = uuids ? ERR_OK : error_set(err, ERR_NO_MEMORY, "no memory for a change");
    for (int replaced = 0; rc == ERR_OK && replaced <= 1; replaced++) {
        size_t count = 0;
        for (size_t i = 0; i < what->count; i++) {
            if (what->slices[i].installed && what->replaced[i] == (replaced != 0))
                uuids[count++] = what->slices[i].shelf;
        }
        rc = index_tell_pending(w, uuids, count, replaced != 0, err);
    }
    return rc;
}

enum err index_tell_refits(struct writer *w, const struct uuid *shelves, size_t count, bool damaged,
                           struct error *err)
{
    if (count == 0)
        return ERR_OK;
    struct write_op *op = index_tell_op(WRITE_REFIT, err);
    if (!op)
        return ERR_NO_MEMORY;
    op->u.refit = (struct op_refit){.shelves = shelves, .count = count, .all_users = damaged};
    return index_tell_send(w, op, err);
}

enum err index_tell_refitted(struct writer *w, const struct refitted *r, bool all_users,
                             struct error *err)
{
    struct write_op *op = index_tell_op(WRITE_REFITTED, err);
    if (!op)
        return ERR_NO_MEMORY;
    op->u.refitted = r->op;
    op->u.refitted.all_users = all_users;
    return index_tell_send(w, op, err);
}
