#include "server/ingest/privacy.h"

#include <stdio.h>
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
        "+1 (415) 555-2671",
        "call +49 30 1234-5678 now",
        "Bearer abcdef12345",
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln",
        "key=sk_live_4eC39HqLyjWDarjtT1zdp7dc",
        "ghp_abcdefghijklmnop1234",
        "push 740f4707bebcf74f9b7c25d48e3358945f6aa01da5ddb387462c7eaf61bb78ad",
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
        "eyJunkView",
        "Bearer",
        "C++",
        "+[Feed load]",
        "Feed+1234567",
        "com.example.feed.queue-12",
        "com.apple.root.default-qos",
        "deadbeefdeadbeef",
        "facadefacadefacadefacadefacade",
        "memcpy@GLIBC_2.2.5",
        "https://example.com/feed",
        "CrashProbe: Access a non-object as an object",
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        ck_assert_msg(!privacy_is_personal(cases[i], strlen(cases[i])), "%s", cases[i]);
}
END_TEST

START_TEST(names_of_functions_keep_their_numbers)
{
    static const char *const harmless[] = {
        "$s4Shop4Feed33_8A1F0C527D8E3D0FA5AC0A4C0F0D6A10LLC6reloadyyF",
        "core::ptr::h0123456789abcdef",
        "bad::dead::face",
        "_ZN3abc3defEv123456789012",
        "memcpy@GLIBC_2.2.5",
    };
    for (size_t i = 0; i < sizeof(harmless) / sizeof(harmless[0]); i++)
        ck_assert_msg(!privacy_is_secret(harmless[i], strlen(harmless[i])), "%s", harmless[i]);
    ck_assert(privacy_is_secret("open jane.doe@example.com", 25));
    ck_assert(privacy_is_secret("Bearer abcdef12345", 18));
}
END_TEST

static void trims_to(const char *from, const char *to)
{
    char text[128];
    snprintf(text, sizeof(text), "%s", from);
    ck_assert_int_eq(privacy_trim_url(text), strstr(from, "://") != NULL);
    ck_assert_str_eq(text, to);
}

START_TEST(addresses_lose_user_and_query)
{
    trims_to("https://jane:secret@shop.example/cart?token=abc#x", "https://shop.example/cart");
    trims_to("shop://product/7?user=jane", "shop://product/7");
    trims_to("https://a@b@host/p@th", "https://host/p@th");
    trims_to("web https://host#me", "web https://host");
    trims_to("https://?q", "https://");
    trims_to("https://me@", "https://");
    trims_to("HomeView?x", "HomeView?x");
    trims_to("", "");
}
END_TEST

UNIT_MAIN("privacy", personal_values, harmless_values, names_of_functions_keep_their_numbers,
          addresses_lose_user_and_query)
