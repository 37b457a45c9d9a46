#include "base/base64.h"

#include <string.h>

#include "tests/support/unit.h"

/* RFC 4648, section 10. */
START_TEST(known_texts)
{
    static const char *const cases[][2] = {{"", ""},
                                           {"f", "Zg=="},
                                           {"fo", "Zm8="},
                                           {"foo", "Zm9v"},
                                           {"foob", "Zm9vYg=="},
                                           {"fooba", "Zm9vYmE="},
                                           {"foobar", "Zm9vYmFy"},
                                           {"\xff\xfe\xfd", "//79"}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct buf b;
        buf_init(&b, 64);
        ck_assert(base64_put(&b, cases[i][0], strlen(cases[i][0])));
        ck_assert_str_eq(b.data ? b.data : "", cases[i][1]);
        buf_done(&b);
    }
    struct buf small;
    buf_init(&small, 3);
    ck_assert(!base64_put(&small, "foo", 3));
    buf_done(&small);
}
END_TEST

UNIT_MAIN("base64", known_texts)
