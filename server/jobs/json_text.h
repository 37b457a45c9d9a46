/*
 * json_text - texts that become JSON trees: the one place where jansson reads.
 *
 * Purpose: loads a body or a line (strict: duplicate keys, lone surrogates, invalid UTF-8, trailing
 * bytes are refused; a NUL in a text is not: who reads the text refuses it, by its place; integers
 * of 64 bits unsigned are kept by turning them into hexadecimal strings). What is in it is read by
 * json_fields.h.
 *
 * Invariants: what is loaded is what was written. jansson alone goes on without a byte of a text
 * that it had no memory for; `make lint` sees that nobody else calls it to load.
 *
 * Threads: one body, one thread. Memory: the caller's.
 */
#ifndef STALLSYM_JOBS_JSON_TEXT_H
#define STALLSYM_JOBS_JSON_TEXT_H

#include <jansson.h>
#include <stddef.h>

#include "base/error.h"
#include "server/jobs/json_fields.h"

/* Memory a tree may take: real bodies take 4 to 17 bytes for each of theirs, the worst ("{},{},")
 * 79. Without a cap a few kilobytes of gzip'd brackets would be half a gigabyte. */
#define JSON_TEXT_BYTES_MIN  ((size_t)1 << 20)
#define JSON_TEXT_BYTES_EACH ((size_t)20)

/* ERR_FORMAT when the first bytes are of something else (compressed, UTF-16), or there are none:
 * in words for who sent it. */
enum err json_text_check(const char *body, size_t len, struct error *err);
/* ERR_FORMAT with line (of several), column and reason, ERR_LIMIT when it takes too much memory,
 * ERR_NO_MEMORY. A byte order mark is skipped. The caller json_decref's. */
enum err json_text_load(const char *body, size_t len, json_t **ret, struct error *err);

#endif
