/*
 * sqlite_ids - ids of reports, remembered so that a retry counts once.
 *
 * Purpose: an id that is new is a row at the end of new_ids, whatever day and hash it has, and waits in
 * memory (storage/new_ids.h). With each commit a hand goes on over the shelves, as far as a round takes
 * NEW_IDS ids, and puts what waits there into report_ids, which is in the order of days and hashes: a
 * page of it takes several ids at a time. Rows of new_ids from before a round go once it has ended. The
 * hand begins anew with each start: where NEW_IDS_ROUNDS rounds wait, all of it is put away at once.
 *
 * Invariants: an id that was claimed is a row of one of the two tables, or of both, in the transaction
 * that claimed it. What waits in memory is what new_ids has, less what the hand put away; it is read anew
 * when anything of it was rolled back (sqlite_ids_forget()), and what is put away again is there already.
 * Of all ids since the start id_days.h is told.
 *
 * Threads: the writer's. Memory: sqlite_ids_done().
 */
#ifndef STALLSYM_STORAGE_SQLITE_IDS_H
#define STALLSYM_STORAGE_SQLITE_IDS_H

#include "storage/sqlite_storage.h"

/* Ids that come during a round of the hand. Reads look through two to four times as many. */
#define NEW_IDS        65536
#define NEW_IDS_ROUNDS 3

/* Whether the id was counted within the retry window; if not it is remembered now, for `report_id`
 * (0: no report). */
enum err sqlite_claim_id(struct sqlite_storage *s, const uint8_t id_hash[REPORT_ID_HASH_SIZE],
                         int64_t received_ms, int64_t report_id, bool *ret_duplicate,
                         struct error *err);
/* Before a commit: the hand goes on. */
enum err sqlite_ids_put_away(struct sqlite_storage *s, struct error *err);
/* After a commit, which it does not fail: what id_days.h wants to know. */
void sqlite_ids_learn(struct sqlite_storage *s);
/* The days that have ids, from the database. */
enum err sqlite_ids_days(struct sqlite_storage *s, struct error *err);
/* What waits is no longer what new_ids has. */
void sqlite_ids_forget(struct sqlite_storage *s);
void sqlite_ids_done(struct sqlite_storage *s);

#endif
