#include "base/near_name.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

static bool same(char a, char b)
{
    return tolower((unsigned char)a) == tolower((unsigned char)b);
}

size_t near_name(const char *a, const char *b)
{
    size_t rows[3][NEAR_NAME_LEN_MAX + 1]; /* of the prefixes of `a`: this one, the two before */
    const size_t n = strlen(a), m = strlen(b);
    if (n > NEAR_NAME_LEN_MAX || m > NEAR_NAME_LEN_MAX)
        return NEAR_NAME_FAR;
    for (size_t k = 0; k <= m; k++)
        rows[0][k] = k;
    for (size_t i = 1; i <= n; i++) {
        size_t *now = rows[i % 3];
        const size_t *last = rows[(i + 2) % 3], *before = rows[(i + 1) % 3];
        now[0] = i;
        for (size_t k = 1; k <= m; k++) {
            now[k] = least(last[k - 1] + !same(a[i - 1], b[k - 1]), least(last[k], now[k - 1]) + 1);
            if (i > 1 && k > 1 && same(a[i - 1], b[k - 2]) && same(a[i - 2], b[k - 1]))
                now[k] = least(now[k], before[k - 2] + 1);
        }
    }
    const size_t slips = rows[n % 3][m];
    return slips * 2 <= least(n, m) ? least(slips, NEAR_NAME_FAR) : NEAR_NAME_FAR;
}
