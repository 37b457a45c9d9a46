/*
 * format_json - JSON bodies, for the format_* readers.
 *
 * Purpose: loads a body or a line with jansson (strict: duplicate keys, lone surrogates, invalid
 * UTF-8, trailing bytes are refused; integers of 64 bits unsigned are kept by turning them into
 * hexadecimal strings). What is in it is read by json_fields.h.
 *
 * Threads: one body, one thread. Memory: the caller's.
 */
#ifndef STALLSYM_INGEST_FORMAT_JSON_H
#define STALLSYM_INGEST_FORMAT_JSON_H

#include <jansson.h>
#include <stddef.h>

#include "base/error.h"
#include "server/jobs/json_fields.h"

/* Memory a tree may take: real bodies take 4 to 17 bytes for each of theirs, the worst ("{},{},")
 * 79. Without a cap a few kilobytes of gzip'd brackets would be half a gigabyte. */
#define FORMAT_JSON_BYTES_MIN  ((size_t)1 << 20)
#define FORMAT_JSON_BYTES_EACH ((size_t)20)

/* ERR_FORMAT with line (of several), column and reason, ERR_LIMIT when it takes too much memory. A byte order
 * mark is skipped. The caller json_decref's. */
enum err format_json_load(const char *body, size_t len, json_t **ret, struct error *err);

#endif
