/*
 * memory_write_batch - what other writers share with batches of reports.
 *
 * Purpose: apps, values under their daily caps, ids of clients.
 *
 * Threads, memory: as memory_state.h says.
 */
#ifndef STALLSYM_STORAGE_MEMORY_WRITE_BATCH_H
#define STALLSYM_STORAGE_MEMORY_WRITE_BATCH_H

#include "storage/memory_state.h"

/* Makes the app when it is new. */
enum err mem_app(struct mem_storage *m, const char *bundle_id, size_t *ret, struct error *err);
/* What is above a cap is stored as. */
#define MEM_OTHER "(other)"
/* Replaces a pair of texts by what it is stored as: equal ones are the same pointers. */
enum err mem_value_of(struct mem_storage *m, size_t app, enum mem_value_kind kind, int32_t day,
                      const char **value, const char **value2, struct error *err);
/* Whether the id was counted within the retry window; if not it is remembered now. */
enum err mem_claim_id(struct mem_storage *m, const uint8_t id_hash[REPORT_ID_HASH_SIZE],
                      int64_t received_ms, uint64_t report_id, bool *ret_duplicate,
                      struct error *err);

#endif
