#include "base/hash.h"

#include <string.h>

#include "tests/support/unit.h"

/* FIPS 180-4's examples, and lengths around the block border. */
START_TEST(known_digests)
{
    static const struct {
        const char *text;
        size_t repeat;
        const char *digest;
    } cases[] = {
        {"", 1, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
        {"abc", 1, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
        {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 1,
         "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
        {"a", 1000000, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct sha256 s;
        uint8_t digest[SHA256_SIZE];
        char text[SHA256_TEXT_SIZE];
        sha256_init(&s);
        for (size_t k = 0; k < cases[i].repeat; k++)
            sha256_update(&s, cases[i].text, strlen(cases[i].text));
        sha256_final(&s, digest);
        ck_assert_str_eq(sha256_format(digest, text), cases[i].digest);
        uint8_t back[SHA256_SIZE];
        ck_assert(sha256_parse(text, back));
        ck_assert_mem_eq(back, digest, SHA256_SIZE);
        text[i] = 'g';
        ck_assert(!sha256_parse(text, back));
        text[i] = 0;
        ck_assert(!sha256_parse(text, back));
    }
}
END_TEST

START_TEST(pieces_do_not_matter)
{
    uint8_t data[300], whole[SHA256_SIZE], pieces[SHA256_SIZE];
    for (size_t i = 0; i < sizeof(data); i++)
        data[i] = (uint8_t)(i * 7);
    for (size_t len = 0; len < sizeof(data); len++) {
        sha256_of(data, len, whole);
        for (size_t step = 1; step < 70; step += 13) {
            struct sha256 s;
            sha256_init(&s);
            for (size_t at = 0; at < len; at += step)
                sha256_update(&s, data + at, len - at < step ? len - at : step);
            sha256_final(&s, pieces);
            ck_assert_int_eq(memcmp(whole, pieces, sizeof(whole)), 0);
        }
    }
}
END_TEST

START_TEST(hash64_spreads)
{
    enum { BUCKETS = 1024, KEYS = 100000 };
    static unsigned counts[BUCKETS];
    for (uint32_t i = 0; i < KEYS; i++)
        counts[hash64(&i, sizeof(i), 42) % BUCKETS]++;
    for (size_t i = 0; i < BUCKETS; i++) {
        ck_assert_uint_gt(counts[i], KEYS / BUCKETS / 2);
        ck_assert_uint_lt(counts[i], KEYS / BUCKETS * 2);
    }
    ck_assert(hash64("a", 1, 1) != hash64("a", 1, 2));
}
END_TEST

/* Every byte of a text of any length counts, and so does the length. */
START_TEST(hash64_reads_all)
{
    uint8_t text[48] = {0};
    for (size_t len = 0; len < sizeof(text); len++) {
        uint64_t plain = hash64(text, len, 7);
        ck_assert(plain != hash64(text, len + 1, 7));
        for (size_t i = 0; i < len; i++) {
            for (unsigned bit = 0; bit < 8; bit++) {
                text[i] = (uint8_t)(1u << bit);
                ck_assert(plain != hash64(text, len, 7));
            }
            text[i] = 0;
        }
    }
    ck_assert(hash64(NULL, 0, 1) != hash64(NULL, 0, 2));
}
END_TEST

UNIT_MAIN("hash", known_digests, pieces_do_not_matter, hash64_spreads, hash64_reads_all)
