/*
 * symbolicate_text - the text half of POST /v1/symbolicate.
 *
 * Purpose: a crash, hang, sample or spindump text, or an `.ips` file, comes back as text with its
 * frames filled in.
 *
 * Invariants: which body is a text is told by its content where the type leaves it open: `.ips`
 * files are recognised under application/json, too. A text without a single frame is refused.
 *
 * Threads: a reader's. Memory: the tools' arena, and buffers of its own under the reply's cap.
 */
#ifndef STALLSYM_HTTP_SYMBOLICATE_TEXT_H
#define STALLSYM_HTTP_SYMBOLICATE_TEXT_H

#include "server/http/http_request.h"

#define TYPE_TEXT "text/plain"
#define TYPE_IPS  "application/x-ips"

bool symbolicate_is_text(const struct http_request *r);
enum err symbolicate_text(struct http_request *r, const struct read_tools *tools,
                          struct error *err);

#endif
