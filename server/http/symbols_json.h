/*
 * symbols_json - uploads and symbol files as JSON.
 *
 * Purpose: prints the schemas Upload and SymbolFile of openapi.yaml.
 *
 * Threads, memory: none.
 */
#ifndef STALLSYM_HTTP_SYMBOLS_JSON_H
#define STALLSYM_HTTP_SYMBOLS_JSON_H

#include "server/http/jout.h"
#include "storage/storage_read.h"

/* The members of an upload's state without braces; slices once it is indexed or failed. */
/* Slices above `after` (their ids ascend), at most `limit` of them; next_cursor tells whether there
 * are more. */
#define SYMBOLS_JSON_SLICES_MAX 1000
void symbols_json_upload(struct jout *j, const struct upload_row *row, uint64_t after,
                         size_t limit);
void symbols_json_file(struct jout *j, const struct slice_row *row);

#endif
