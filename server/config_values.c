#include "server/config_values.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#define URL_MAX 800 /* a link has room for the path behind it */

static bool is_plain(const char *s, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)s[i];
        if (c <= 0x20 || c >= 0x7f || strchr("\"'<>\\,;", c))
            return false;
    }
    return true;
}

/* Length of "scheme://", 0: none. */
static size_t scheme_length(const char *s, size_t len)
{
    size_t n = 0;
    if (len == 0 || !isalpha((unsigned char)*s))
        return 0;
    while (n < len && (isalnum((unsigned char)s[n]) || strchr("+-.", s[n])))
        n++;
    return n + 3 <= len && memcmp(s + n, "://", 3) == 0 ? n + 3 : 0;
}

/* "host", "host:8443", "[::1]:8443" */
static bool is_authority(const char *s, size_t len)
{
    const char *bracket = len > 0 && *s == '[' ? memchr(s, ']', len) : NULL;
    size_t host = bracket ? (size_t)(bracket - s) + 1 : 0;
    if (len > 0 && *s == '[' && !bracket)
        return false;
    while (!bracket && host < len && s[host] != ':')
        host++;
    if (host == 0 || memchr(s, '@', len))
        return false;
    if (host == len)
        return true;
    if (s[host] != ':' || host + 1 == len || len - host > 6)
        return false;
    for (size_t i = host + 1; i < len; i++) {
        if (!isdigit((unsigned char)s[i]))
            return false;
    }
    return true;
}

static const char *check_origin(const char *s, size_t len)
{
    const size_t scheme = scheme_length(s, len);
    if ((len == 1 && *s == '*') || (len == 4 && memcmp(s, "null", 4) == 0))
        return NULL;
    if (!is_plain(s, len))
        return "origins are separated by blanks, and have letters, digits and signs only";
    if (scheme == 0)
        return "an origin begins with its scheme, like https://board.example.com";
    if (memchr(s + scheme, '/', len - scheme))
        return "an origin has no path, not even a \"/\" at its end";
    return is_authority(s + scheme, len - scheme) ? NULL
                                                  : "an origin is scheme, host and perhaps a port, "
                                                    "like https://board.example.com:8443";
}

const char *config_check_origins(const char *value)
{
    const char *why = NULL;
    for (const char *p = value; !why && *(p += strspn(p, " \t"));) {
        size_t n = strcspn(p, " \t");
        why = check_origin(p, n);
        p += n;
    }
    return why;
}

const char *config_check_url(const char *value)
{
    const size_t len = strlen(value);
    const size_t scheme = strncmp(value, "https://", 8) == 0  ? 8
                          : strncmp(value, "http://", 7) == 0 ? 7
                                                              : 0;
    if (len == 0)
        return NULL;
    if (len > URL_MAX)
        return "it is too long for a link";
    if (scheme == 0)
        return "a URL is wanted that begins with https:// or http://";
    if (!is_plain(value, len) || strpbrk(value, "?#"))
        return "a URL without blanks, quotes, \"?\" and \"#\" is wanted";
    return is_authority(value + scheme, strcspn(value + scheme, "/"))
               ? NULL
               : "a URL is scheme, host and perhaps port and path, like https://stalls.example.com";
}

const char *config_check_address(const char *value)
{
    unsigned char address[sizeof(struct in6_addr)];
    const size_t v6 = strcspn(value, "%"); /* fe80::1%eth0 */
    char text[INET6_ADDRSTRLEN];
    if (v6 < sizeof(text)) {
        memcpy(text, value, v6);
        text[v6] = 0;
        if (inet_pton(AF_INET6, text, address) == 1)
            return NULL;
    }
    for (const char *p = value; *p; p++) {
        if (!isalnum((unsigned char)*p) && !strchr(".-_", *p))
            return "an IP address or a host's name is wanted; the port is a key of its own, and "
                   "IPv6 has no brackets here";
    }
    return NULL;
}
