/*
 * index_tell - what the indexer tells the database.
 *
 * Purpose: the changes that follow an upload or a choice of an index, each a call that waits for its
 * commit: the upload's state, stacks turned back to pending, UUIDs to be looked after.
 *
 * Invariants: doing one again changes nothing twice. Without UUIDs nothing is written.
 *
 * Threads: the indexer's (writer_call). Memory: the caller's arena.
 */
#ifndef STALLSYM_JOBS_INDEX_TELL_H
#define STALLSYM_JOBS_INDEX_TELL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "server/jobs/index_install.h"
#include "server/jobs/index_refit.h"
#include "server/jobs/writer.h"
#include "storage/storage_read.h"

/* A change to be filled in, NULL without memory; and its way, which frees it. */
struct write_op *index_tell_op(enum write_op_kind kind, struct error *err);
enum err index_tell_send(struct writer *w, struct write_op *op, struct error *err);

/* `what` NULL: no slices. */
enum err index_tell_state(struct writer *w, uint64_t upload_id, enum upload_state state,
                          const char *reason, const struct installed *what, struct error *err);
/* Turns the stacks that miss these UUIDs (`all_users`: that have them) back to pending, in chunks. */
enum err index_tell_pending(struct writer *w, const struct uuid *uuids, size_t count,
                            bool all_users, struct error *err);
/* The same for all that the database has noted, until nothing is. */
enum err index_tell_turn_backs(struct writer *w, struct storage_reader *reader, struct arena *arena,
                               struct error *err);
/* The same for the slices that came into use. */
enum err index_tell_installed(struct writer *w, const struct installed *what, struct arena *arena,
                              struct error *err);
/* Shelves whose index is to be chosen anew. `damaged`: whoever used it is resolved anew, too. */
enum err index_tell_refits(struct writer *w, const struct uuid *shelves, size_t count, bool damaged,
                           struct error *err);
enum err index_tell_refitted(struct writer *w, const struct refitted *r, bool all_users,
                             struct error *err);

#endif
