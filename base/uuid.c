#include "base/uuid.h"

#include <string.h>

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}

bool uuid_parse(const char *text, size_t len, struct uuid *ret)
{
    struct uuid u;
    bool dashes = len == 36;
    if (!dashes && len != 32)
        return false;
    size_t i = 0;
    for (size_t byte = 0; byte < 16; byte++) {
        if (dashes && (byte == 4 || byte == 6 || byte == 8 || byte == 10)) {
            if (text[i++] != '-')
                return false;
        }
        int hi = hex_digit(text[i]);
        int lo = hi < 0 ? -1 : hex_digit(text[i + 1]);
        if (lo < 0)
            return false;
        u.bytes[byte] = (uint8_t)(hi << 4 | lo);
        i += 2;
    }
    *ret = u;
    return true;
}

const char *uuid_format(const struct uuid *u, char out[UUID_TEXT_SIZE])
{
    static const char digits[] = "0123456789ABCDEF";
    char *p = out;
    for (size_t byte = 0; byte < 16; byte++) {
        if (byte == 4 || byte == 6 || byte == 8 || byte == 10)
            *p++ = '-';
        *p++ = digits[u->bytes[byte] >> 4];
        *p++ = digits[u->bytes[byte] & 15];
    }
    *p = 0;
    return out;
}

bool uuid_is_nil(const struct uuid *u)
{
    static const struct uuid nil;
    return memcmp(u, &nil, sizeof(nil)) == 0;
}

int uuid_compare(const struct uuid *a, const struct uuid *b)
{
    return memcmp(a, b, sizeof(*a));
}

struct uuid uuid_from_build_id(const uint8_t *id, size_t len)
{
    uint8_t in[16] = {0};
    memcpy(in, id, len < sizeof(in) ? len : sizeof(in));
    static const uint8_t order[16] = {3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15};
    struct uuid u;
    for (size_t i = 0; i < sizeof(u.bytes); i++)
        u.bytes[i] = in[order[i]];
    return u;
}
