#include "server/ingest/privacy.h"

#include <string.h>

#include "tests/support/unit.h"

START_TEST(personal_values)
{
    static const char *const cases[] = {
        "jane.doe@example.com",
        "mailto:a@b.co",
        "user jane+x@mail.example.org asked",
        "192.168.1.17",
        "from 10.0.0.1:443",
        "2001:db8::ff00:42:8329",
        "2001:0db8:85a3:0000:0000:8a2e:0370:7334",
        "fe80::1%en0",
        "6B1F6B5E-0C1D-4E2F-8A3B-1234567890AB",
        "idfv=6b1f6b5e0c1d4e2f8a3b1234567890ab",
        "+4915112345678",
        "account 123456789",
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        ck_assert_msg(privacy_is_personal(cases[i], strlen(cases[i])), "%s", cases[i]);
}
END_TEST

START_TEST(harmless_values)
{
    static const char *const cases[] = {
        "",
        "HomeViewController",
        "HomePage->DetailPage->CheckoutPage",
        "Shop.FeedView<Swift.Int>",
        "b",
        "7.2.1",
        "17.4",
        "a@b",
        "@objc Feed.reload",
        "std::vector<int>",
        "Feed::reload",
        "1.2.3.4.5",
        "300.1.2.3",
        "12345678",
        "iPhone14,7",
        "CrashProbe: Access a non-object as an object",
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        ck_assert_msg(!privacy_is_personal(cases[i], strlen(cases[i])), "%s", cases[i]);
}
END_TEST

UNIT_MAIN("privacy", personal_values, harmless_values)
