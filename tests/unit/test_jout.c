#include "server/http/jout.h"

#include <math.h>
#include <string.h>

#include "tests/support/unit.h"

static struct buf out;
static struct jout j;

static void start(void)
{
    buf_init(&out, 4096);
    jout_init(&j, &out);
}

START_TEST(commas_and_nesting)
{
    start();
    jout_object(&j, NULL);
    jout_array(&j, "a");
    jout_uint(&j, NULL, 1);
    jout_object(&j, NULL);
    jout_end_object(&j);
    jout_array(&j, NULL);
    jout_end_array(&j);
    jout_end_array(&j);
    jout_bool(&j, "b", true);
    jout_null(&j, "c");
    jout_raw(&j, "d", "{\"x\":1}");
    jout_end_object(&j);
    ck_assert_str_eq(out.data, "{\"a\":[1,{},[]],\"b\":true,\"c\":null,\"d\":{\"x\":1}}");
    buf_done(&out);
}
END_TEST

START_TEST(values)
{
    struct uuid nil = {{0}}, uuid;
    uint8_t digest[32] = {0xab};
    start();
    ck_assert(uuid_parse("0285884d3de93051b23a63b48bf99f35", 32, &uuid));
    jout_object(&j, NULL);
    jout_uint(&j, "u", UINT64_MAX);
    jout_int(&j, "i", INT64_MIN);
    jout_known(&j, "k", -1);
    jout_known(&j, "l", 0);
    jout_double(&j, "d", 0.5);
    jout_double(&j, "n", (double)NAN);
    jout_double(&j, "f", (double)INFINITY);
    jout_hex(&j, "h", 0x10011a2db);
    jout_time(&j, "t", 1725123445123);
    jout_time(&j, "v", INT64_MIN);
    jout_time(&j, "z", INT64_MAX);
    jout_uuid(&j, "w", &uuid);
    jout_uuid(&j, "x", &nil);
    jout_uuid(&j, "y", NULL);
    jout_string(&j, "s", "a\"\\\n\x01\xff");
    jout_text(&j, "e", "");
    jout_end_object(&j);
    ck_assert_str_eq(out.data,
                     "{\"u\":18446744073709551615,\"i\":-9223372036854775808,\"k\":null,\"l\":0,"
                     "\"d\":0.5,\"n\":null,\"f\":null,\"h\":\"0x10011a2db\","
                     "\"t\":\"2024-08-31T16:57:25.123Z\",\"v\":null,\"z\":null,"
                     "\"w\":\"0285884D-3DE9-3051-B23A-63B48BF99F35\",\"x\":null,\"y\":null,"
                     "\"s\":\"a\\\"\\\\\\n\\u0001\\ufffd\",\"e\":null}");
    buf_clear(&out);
    jout_init(&j, &out);
    jout_sha256(&j, NULL, digest);
    ck_assert_uint_eq(out.len, 66);
    ck_assert(strncmp(out.data, "\"ab00", 5) == 0);
    buf_done(&out);
}
END_TEST

START_TEST(past_the_limit_fails_for_good)
{
    buf_init(&out, 8);
    jout_init(&j, &out);
    jout_string(&j, NULL, "longer than that");
    jout_uint(&j, NULL, 1);
    ck_assert(out.failed);
    buf_done(&out);
}
END_TEST

UNIT_MAIN("jout", commas_and_nesting, values, past_the_limit_fails_for_good)
