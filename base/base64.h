/*
 * base64 - bytes as text (RFC 4648, section 4).
 *
 * Purpose: signatures of webhooks in headers and URLs.
 *
 * Threads: any. Memory: appends to the caller's buffer.
 */
#ifndef STALLSYM_BASE_BASE64_H
#define STALLSYM_BASE_BASE64_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

/* With padding. False when the buffer failed. */
bool base64_put(struct buf *b, const void *data, size_t len);

#endif
