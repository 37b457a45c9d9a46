/*
 * privacy - what must not be stored, even when a client sends it.
 *
 * Purpose: page names, paths, tags, names of threads and queues, models and like texts may carry
 * identifiers of people by mistake: e-mail and IP addresses, UUIDs (vendor identifiers), telephone
 * and account numbers, tokens. Such a value is replaced whole; addresses of pages lose what follows
 * the path, and the user in them.
 *
 * Invariants: errs towards removing. Not applied to versions ("1.2.3.4") and builds.
 *
 * Threads: any. Memory: none.
 */
#ifndef STALLSYM_INGEST_PRIVACY_H
#define STALLSYM_INGEST_PRIVACY_H

#include <stdbool.h>
#include <stddef.h>

#define PRIVACY_REMOVED "(removed)"

/* True when the text holds something that looks like an e-mail address, an IPv4 or IPv6 address, a
 * UUID, a telephone number or another long run of digits or hexadecimal ones, or a secret. */
bool privacy_is_personal(const char *text, size_t len);
/* An e-mail address, a bearer or JSON web token, an API key: for names of functions and images, in
 * which numbers, digests and "::" are no wonder. */
bool privacy_is_secret(const char *text, size_t len);
/* Takes user, query and fragment out of an address with "://", in place. False: it is none. */
bool privacy_trim_url(char *text);

#endif
