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
void symbols_json_upload(struct jout *j, const struct upload_row *row);
void symbols_json_file(struct jout *j, const struct slice_row *row);

#endif
