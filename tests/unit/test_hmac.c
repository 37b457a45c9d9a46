#include "base/hmac.h"

#include <string.h>

#include "tests/support/unit.h"

/* RFC 4231, test cases 1, 2, 3, 4, 6, 7. */
START_TEST(known_signatures)
{
    uint8_t key[131], data[50], out[SHA256_SIZE];
    char text[SHA256_TEXT_SIZE];
    memset(key, 0x0b, 20);
    hmac_sha256_of(key, 20, "Hi There", 8, out);
    ck_assert_str_eq(sha256_format(out, text),
                     "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
    hmac_sha256_of("Jefe", 4, "what do ya want for nothing?", 28, out);
    ck_assert_str_eq(sha256_format(out, text),
                     "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
    memset(key, 0xaa, sizeof(key));
    memset(data, 0xdd, sizeof(data));
    hmac_sha256_of(key, 20, data, sizeof(data), out);
    ck_assert_str_eq(sha256_format(out, text),
                     "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe");
    hmac_sha256_of(key, 131, "Test Using Larger Than Block-Size Key - Hash Key First", 54, out);
    ck_assert_str_eq(sha256_format(out, text),
                     "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
    static const char large[] = "This is a test using a larger than block-size key and a larger "
                                "than block-size data. The key needs to be hashed before being "
                                "used by the HMAC algorithm.";
    hmac_sha256_of(key, 131, large, sizeof(large) - 1, out);
    ck_assert_str_eq(sha256_format(out, text),
                     "9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2");
    hmac_sha256_of("", 0, "", 0, out);
    ck_assert_str_eq(sha256_format(out, text),
                     "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad");
}
END_TEST

START_TEST(pieces_do_not_matter)
{
    uint8_t whole[SHA256_SIZE], pieces[SHA256_SIZE];
    struct hmac_sha256 h;
    hmac_sha256_of("key", 3, "1725123445.{}", 13, whole);
    hmac_sha256_init(&h, "key", 3);
    hmac_sha256_update(&h, "1725123445", 10);
    hmac_sha256_update(&h, ".", 1);
    hmac_sha256_update(&h, "{}", 2);
    hmac_sha256_final(&h, pieces);
    ck_assert_mem_eq(whole, pieces, sizeof(whole));
}
END_TEST

UNIT_MAIN("hmac", known_signatures, pieces_do_not_matter)
