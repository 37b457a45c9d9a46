/*
 * sqlite_write_batch - what other writers share with batches of reports.
 *
 * Purpose: ids of clients, remembered so that a retry counts once.
 *
 * Threads: the writer's. Memory: none.
 */
#ifndef STALLSYM_STORAGE_SQLITE_WRITE_BATCH_H
#define STALLSYM_STORAGE_SQLITE_WRITE_BATCH_H

#include "storage/sqlite_storage.h"

/* Whether the id was counted within the retry window; if not it is remembered now, for `report_id`
 * (0: no report). */
enum err sqlite_claim_id(struct sqlite_storage *s, const uint8_t id_hash[REPORT_ID_HASH_SIZE],
                         int64_t received_ms, int64_t report_id, bool *ret_duplicate,
                         struct error *err);

#endif
