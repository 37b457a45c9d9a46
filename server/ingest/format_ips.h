/*
 * format_ips - an `.ips` crash report (JSON) as the text that people read.
 *
 * Purpose: Apple's crash reports are a line of JSON (what it is) and a document (threads as image
 * index and offset). They become a crash text, with what the device knew of its frames; apple_text
 * reads that one as any other.
 *
 * Invariants: a text of one process; every name in it is one line. Unknown members are left out.
 *
 * Threads: one body, one thread. Memory: the text goes to `out`, under its cap.
 */
#ifndef STALLSYM_INGEST_FORMAT_IPS_H
#define STALLSYM_INGEST_FORMAT_IPS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/error.h"

/* Whether the body is such a file, by its first bytes and its most telling member. A header line
 * before a text (`.ips` files of hangs) is none. */
bool ips_is(const char *body, size_t len);
/* ERR_FORMAT: no JSON. ERR_INVALID: no threads in it. ERR_LIMIT: too large. */
enum err ips_to_text(const char *body, size_t len, struct buf *out, struct error *err);

#endif
