#include "symbolizer/demangle_swift_punycode.h"

#include <string.h>

#include "base/utf8.h"

/* RFC 3492 section 5. */
enum {
    BASE = 36,
    T_MIN = 1,
    T_MAX = 26,
    SKEW = 38,
    DAMP = 700,
    INITIAL_BIAS = 72,
    INITIAL_N = 128
};

/* Symbol-unfriendly ASCII lives here. */
#define ASCII_FIRST 0xD800u
#define ASCII_LAST  0xD87Fu

struct points {
    uint32_t *cp;
    size_t count;
    size_t capacity;
};

static int digit_of(char c)
{
    if (c >= 'a' && c <= 'z')
        return c - 'a';
    if (c >= 'A' && c <= 'J')
        return c - 'A' + 26;
    return -1;
}

/* RFC 3492 section 6.1. */
static uint32_t adapt(uint32_t delta, uint32_t count, bool first)
{
    delta = first ? delta / DAMP : delta / 2;
    delta += delta / count;
    uint32_t k = 0;
    for (; delta > ((BASE - T_MIN) * T_MAX) / 2; k += BASE)
        delta /= BASE - T_MIN;
    return k + (BASE - T_MIN + 1) * delta / (delta + SKEW);
}

/* One generalized variable-length integer (section 3.3), added to *i. False when it is cut short,
 * has a foreign digit or does not fit. */
static bool read_delta(const char **p, const char *end, uint32_t bias, uint32_t *i)
{
    uint64_t sum = *i;
    uint64_t weight = 1;
    for (uint32_t k = BASE;; k += BASE) {
        int digit = *p < end ? digit_of(**p) : -1;
        if (digit < 0)
            return false;
        (*p)++;
        sum += (uint64_t)digit * weight;
        if (sum > INT32_MAX)
            return false;
        uint32_t t = k <= bias ? T_MIN : k >= bias + T_MAX ? T_MAX : k - bias;
        if ((uint32_t)digit < t)
            break;
        weight *= BASE - t;
        if (weight > INT32_MAX)
            return false;
    }
    *i = (uint32_t)sum;
    return true;
}

/* Section 6.2: what follows the last delimiter says which points to put in where. An encoding that
 * breaks off leaves what was read so far. */
static bool insert_points(const char *p, const char *end, struct points *out)
{
    uint32_t n = INITIAL_N;
    uint32_t i = 0;
    uint32_t bias = INITIAL_BIAS;
    while (p < end) {
        uint32_t before = i;
        if (!read_delta(&p, end, bias, &i))
            return true;
        uint32_t count = (uint32_t)out->count + 1;
        bias = adapt(i - before, count, before == 0);
        n += i / count;
        i %= count;
        if (out->count == out->capacity)
            return false;
        memmove(out->cp + i + 1, out->cp + i, (out->count - i) * sizeof(*out->cp));
        out->cp[i++] = n;
        out->count++;
    }
    return true;
}

static bool is_scalar(uint32_t c)
{
    return c <= ASCII_LAST || (c >= 0xE000 && c <= 0x1FFFFF);
}

bool swift_punycode_decode(struct swift_arena *a, struct swift_text in, struct swift_text *ret)
{
    struct points out = {NULL, 0, in.len};
    if (in.len > SWIFT_PUNYCODE_MAX)
        return false;
    out.cp = swift_arena_alloc(a, in.len * sizeof(*out.cp) + 1);
    char *utf8 = swift_arena_alloc(a, in.len * 4 + 1);
    if (!out.cp || !utf8)
        return false;

    const char *p = in.s;
    const char *end = in.s + in.len;
    const char *delimiter = memrchr(in.s, '_', in.len);
    bool ascii = true;
    if (delimiter) {
        for (; p < delimiter && ascii; p++) {
            ascii = (unsigned char)*p < 0x80;
            if (ascii)
                out.cp[out.count++] = (unsigned char)*p;
        }
        p = delimiter + 1;
    }
    if (ascii && !insert_points(p, end, &out))
        return false;

    size_t len = 0;
    for (size_t i = 0; i < out.count; i++) {
        uint32_t c = out.cp[i];
        if (!is_scalar(c))
            return false;
        if (c >= ASCII_FIRST && c <= ASCII_LAST)
            c -= ASCII_FIRST;
        len += utf8_encode(c, utf8 + len);
    }
    ret->s = utf8;
    ret->len = len;
    return true;
}
