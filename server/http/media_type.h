/*
 * media_type - what a Content-Type header says.
 *
 * Purpose: type and parameters (RFC 9110, 8.3.1), compared without case.
 *
 * Threads, memory: none.
 */
#ifndef STALLSYM_HTTP_MEDIA_TYPE_H
#define STALLSYM_HTTP_MEDIA_TYPE_H

#include <stdbool.h>
#include <stddef.h>

/* The header's type is `type`, and its charset, if one is given, is UTF-8. NULL matches nothing. */
bool media_type_is(const char *header, const char *type);
/* A parameter's value, unquoted, into `out`; false when it is absent or does not fit. */
bool media_type_param(const char *header, const char *name, char *out, size_t size);

#endif
