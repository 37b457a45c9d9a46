/*
 * privacy - what must not be stored, even when a client sends it.
 *
 * Purpose: page names, paths and tags may carry identifiers of people by mistake: e-mail addresses,
 * IP addresses, UUIDs (vendor identifiers). Such a value is replaced whole.
 *
 * Invariants: errs towards removing. Not applied to versions ("1.2.3.4") or device models.
 *
 * Threads: any. Memory: none.
 */
#ifndef STALLSYM_INGEST_PRIVACY_H
#define STALLSYM_INGEST_PRIVACY_H

#include <stdbool.h>
#include <stddef.h>

#define PRIVACY_REMOVED "(removed)"

/* True when the text holds something that looks like an e-mail address, an IPv4 or IPv6 address, a
 * UUID, or a long run of digits (telephone and account numbers). */
bool privacy_is_personal(const char *text, size_t len);

#endif
