#include "server/http/inflate.h"

#include <string.h>
#include <zlib.h>
#include <zstd.h>

#include "tests/support/unit.h"

#define TEXT_SIZE 300000

static char text[TEXT_SIZE];
static uint8_t packed[2 * TEXT_SIZE];
static uint8_t out[2 * TEXT_SIZE];
static struct error err;

static void fill_text(void)
{
    unsigned seed = 1;
    for (size_t i = 0; i < TEXT_SIZE; i++) {
        seed = seed * 1103515245 + 12345;
        text[i] = (char)('a' + (seed >> 16) % 26);
    }
}

static size_t pack(enum coding coding, const void *data, size_t len)
{
    if (coding == CODING_ZSTD)
        return ZSTD_compress(packed, sizeof(packed), data, len, 3);
    struct buf b;
    buf_init(&b, (size_t)128 << 20);
    ck_assert(deflate_gzip(data, len, &b));
    ck_assert_uint_le(b.len, sizeof(packed));
    memcpy(packed, b.data, b.len);
    size_t n = b.len;
    buf_done(&b);
    return n;
}

/* Feeds `len` bytes in pieces and collects the output in pieces. */
static enum err unpack(enum coding coding, const uint8_t *data, size_t len, size_t in_piece,
                       size_t out_piece, uint64_t max, size_t *ret_out)
{
    struct inflate *z = NULL;
    size_t at = 0, made = 0;
    ck_assert_int_eq(inflate_new(coding, max, &z, &err), ERR_OK);
    enum err rc = ERR_OK;
    bool full = false;
    while (rc == ERR_OK && (at < len || full)) {
        size_t used = 0, n = 0;
        size_t piece = len - at < in_piece ? len - at : in_piece;
        size_t room = sizeof(out) - made < out_piece ? sizeof(out) - made : out_piece;
        rc = inflate_step(z, data + at, piece, &used, out + made, room, &n, &err);
        if (rc != ERR_OK)
            break;
        at += used;
        made += n;
        full = n == room;
    }
    if (rc == ERR_OK)
        rc = inflate_end(z, &err);
    inflate_free(z);
    *ret_out = made;
    return rc;
}

START_TEST(whole_and_byte_by_byte)
{
    static const enum coding codings[] = {CODING_GZIP, CODING_ZSTD};
    fill_text();
    for (size_t c = 0; c < 2; c++) {
        size_t len = pack(codings[c], text, TEXT_SIZE), made;
        ck_assert_int_eq(unpack(codings[c], packed, len, len, sizeof(out), TEXT_SIZE, &made),
                         ERR_OK);
        ck_assert_uint_eq(made, TEXT_SIZE);
        ck_assert(memcmp(out, text, TEXT_SIZE) == 0);
        memset(out, 0, sizeof(out));
        ck_assert_int_eq(unpack(codings[c], packed, len, 1, 777, TEXT_SIZE, &made), ERR_OK);
        ck_assert_uint_eq(made, TEXT_SIZE);
        ck_assert(memcmp(out, text, TEXT_SIZE) == 0);
    }
}
END_TEST

START_TEST(several_members_are_one_body)
{
    static const enum coding codings[] = {CODING_GZIP, CODING_ZSTD};
    for (size_t c = 0; c < 2; c++) {
        uint8_t both[400];
        size_t one = pack(codings[c], "hello ", 6), made;
        memcpy(both, packed, one);
        size_t two = pack(codings[c], "world", 5);
        memcpy(both + one, packed, two);
        for (size_t piece = 1; piece < one + two; piece++) {
            ck_assert_int_eq(unpack(codings[c], both, one + two, piece, 100, 100, &made), ERR_OK);
            ck_assert_uint_eq(made, 11);
            ck_assert(memcmp(out, "hello world", 11) == 0);
        }
        both[one + two] = 'x';
        ck_assert_int_eq(unpack(codings[c], both, one + two + 1, 1000, 100, 100, &made),
                         ERR_FORMAT);
    }
}
END_TEST

START_TEST(cut_short_or_damaged)
{
    static const enum coding codings[] = {CODING_GZIP, CODING_ZSTD};
    fill_text();
    for (size_t c = 0; c < 2; c++) {
        size_t len = pack(codings[c], text, 2000), made;
        for (size_t cut = 0; cut < len; cut++)
            ck_assert_int_eq(unpack(codings[c], packed, cut, 100, 4000, 4000, &made), ERR_FORMAT);
        packed[0] ^= 0x40;
        ck_assert_int_eq(unpack(codings[c], packed, len, len, 4000, 4000, &made), ERR_FORMAT);
    }
    size_t len = pack(CODING_GZIP, text, 2000), made;
    ck_assert_int_eq(unpack(CODING_GZIP, (const uint8_t *)"{\"a\":1}", 7, 1, 9, 9, &made),
                     ERR_FORMAT);
    ck_assert_str_eq(err.text, "Content-Encoding says gzip, the body is none");
    ck_assert_int_eq(unpack(CODING_ZSTD, (const uint8_t *)"{\"a\":1}", 7, 1, 9, 9, &made),
                     ERR_FORMAT);
    ck_assert_str_eq(err.text, "Content-Encoding says zstd, the body is none");
    packed[len - 6] ^= 1; /* the checksum */
    ck_assert_int_eq(unpack(CODING_GZIP, packed, len, len, 4000, 4000, &made), ERR_FORMAT);
}
END_TEST

START_TEST(the_cap_holds_to_the_byte)
{
    size_t len = pack(CODING_GZIP, text, 1000), made;
    ck_assert_int_eq(unpack(CODING_GZIP, packed, len, len, 4000, 1000, &made), ERR_OK);
    ck_assert_int_eq(unpack(CODING_GZIP, packed, len, len, 4000, 999, &made), ERR_LIMIT);
}
END_TEST

START_TEST(a_bomb_is_noticed_early)
{
    enum { SIZE = 64 << 20 };
    char *zeros = calloc(1, SIZE);
    uint8_t window[65536];
    static const enum coding codings[] = {CODING_GZIP, CODING_ZSTD};
    for (size_t c = 0; c < 2; c++) {
        size_t len = pack(codings[c], zeros, SIZE), at = 0;
        uint64_t made = 0;
        struct inflate *z = NULL;
        enum err rc = inflate_new(codings[c], (uint64_t)1 << 40, &z, &err);
        while (rc == ERR_OK && made < SIZE) {
            size_t used = 0, n = 0;
            rc = inflate_step(z, packed + at, len - at, &used, window, sizeof(window), &n, &err);
            at += used;
            made += n;
        }
        ck_assert_int_eq(rc, ERR_LIMIT);
        ck_assert_uint_lt(made, INFLATE_RATIO_FROM + INFLATE_RATIO * len + sizeof(window));
        inflate_free(z);
    }
    free(zeros);
}
END_TEST

START_TEST(a_huge_window_is_refused)
{
    ZSTD_CCtx *cctx = ZSTD_createCCtx();
    size_t made;
    fill_text();
    ZSTD_CCtx_setParameter(cctx, ZSTD_c_windowLog, INFLATE_WINDOW_LOG + 1);
    ZSTD_CCtx_setParameter(cctx, ZSTD_c_contentSizeFlag, 0);
    ZSTD_inBuffer src = {text, TEXT_SIZE, 0};
    ZSTD_outBuffer dst = {packed, sizeof(packed), 0};
    ck_assert_uint_eq(ZSTD_compressStream2(cctx, &dst, &src, ZSTD_e_flush), 0);
    ck_assert_uint_eq(ZSTD_compressStream2(cctx, &dst, &src, ZSTD_e_end), 0);
    ZSTD_freeCCtx(cctx);
    ck_assert_int_eq(unpack(CODING_ZSTD, packed, dst.pos, dst.pos, sizeof(out), TEXT_SIZE, &made),
                     ERR_FORMAT);
    ck_assert_ptr_nonnull(strstr(err.text, "damaged zstd body"));
}
END_TEST

START_TEST(header_values)
{
    enum coding c;
    ck_assert(coding_parse(NULL, &c) && c == CODING_NONE);
    ck_assert(coding_parse("", &c) && c == CODING_NONE);
    ck_assert(coding_parse("identity", &c) && c == CODING_NONE);
    ck_assert(coding_parse(" GZip ", &c) && c == CODING_GZIP);
    ck_assert(coding_parse("x-gzip", &c) && c == CODING_GZIP);
    ck_assert(coding_parse("zstd", &c) && c == CODING_ZSTD);
    ck_assert(!coding_parse("br", &c));
    ck_assert(!coding_parse("deflate", &c));
    ck_assert(!coding_parse("gzip, gzip", &c));
    ck_assert(coding_accepts_gzip("gzip"));
    ck_assert(coding_accepts_gzip("br, gzip;q=0.5, *;q=0"));
    ck_assert(coding_accepts_gzip("*"));
    ck_assert(!coding_accepts_gzip(NULL));
    ck_assert(!coding_accepts_gzip(""));
    ck_assert(!coding_accepts_gzip("identity"));
    ck_assert(!coding_accepts_gzip("gzip;q=0"));
    ck_assert(!coding_accepts_gzip("gzip; q=0.000, br"));
    ck_assert(coding_accepts_gzip("gzip; q=0.001"));
    ck_assert(!coding_accepts_gzip("gzip;q=0, *"));
    ck_assert(!coding_accepts_gzip("notgzip"));
}
END_TEST

UNIT_MAIN("inflate", whole_and_byte_by_byte, several_members_are_one_body, cut_short_or_damaged,
          the_cap_holds_to_the_byte, a_bomb_is_noticed_early, a_huge_window_is_refused,
          header_values)
