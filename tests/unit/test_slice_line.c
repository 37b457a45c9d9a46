#include "server/jobs/slice_line.h"

#include <stdio.h>
#include <string.h>

#include "tests/support/unit.h"

#define UUID "0285884D-3DE9-3051-B23A-63B48BF99F35"
#define SHA  "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"
#define WHOLE                                                                                      \
    "{\"state\":\"indexed\",\"uuid\":\"" UUID "\",\"name\":\"Shop\",\"member\":\"a/Shop\","        \
    "\"arch\":\"arm64\",\"reason\":null,\"has_dwarf\":true,\"functions\":39647,\"lines\":143458,"  \
    "\"inlines\":0,\"index_bytes\":18446744073709551615,\"text_vmaddr\":\"0x100000000\","          \
    "\"text_size\":4096,\"object_sha256\":\"" SHA "\",\"object_bytes\":77,"                        \
    "\"index_file\":\"" UUID ".gsym\"}"

static enum err parse(const char *line, struct slice_report *ret, struct error *err)
{
    static struct arena arena; /* each test is a process of its own */
    if (arena.limit == 0)
        arena_init(&arena, 1 << 20);
    return slice_line_parse(line, strlen(line), &arena, ret, err);
}

START_TEST(reads_every_field)
{
    struct slice_report r;
    struct error err;
    char text[UUID_TEXT_SIZE];
    ck_assert_msg(parse(WHOLE, &r, &err) == ERR_OK, "%s", err.text);
    ck_assert_int_eq(r.state, SLICE_INDEXED);
    ck_assert_str_eq(uuid_format(&r.uuid, text), UUID);
    ck_assert_str_eq(r.name, "Shop");
    ck_assert_str_eq(r.member, "a/Shop");
    ck_assert_str_eq(r.arch, "arm64");
    ck_assert_ptr_null(r.reason);
    ck_assert(r.has_dwarf);
    ck_assert_uint_eq(r.functions, 39647);
    ck_assert_uint_eq(r.lines, 143458);
    ck_assert_uint_eq(r.inlines, 0);
    ck_assert_uint_eq(r.index_bytes, UINT64_MAX);
    ck_assert_uint_eq(r.text_vmaddr, 0x100000000);
    ck_assert_uint_eq(r.text_size, 4096);
    ck_assert_str_eq(r.object_sha256, SHA);
    ck_assert_uint_eq(r.object_bytes, 77);
    ck_assert_str_eq(r.index_file, UUID ".gsym");
}
END_TEST

START_TEST(a_failed_slice_needs_little)
{
    struct slice_report r;
    struct error err;
    ck_assert_msg(parse("\t{ \"uuid\" : null , \"reason\":\"no UUID\",\"state\":\"failed\",\"new\":"
                        "\"x\",\"other\":false} \r",
                        &r, &err) == ERR_OK,
                  "%s", err.text);
    ck_assert_int_eq(r.state, SLICE_FAILED);
    ck_assert(uuid_is_nil(&r.uuid));
    ck_assert_str_eq(r.reason, "no UUID");
    ck_assert_str_eq(r.name, "");
    ck_assert_str_eq(r.member, "");
    ck_assert_str_eq(r.arch, "");
    ck_assert_ptr_null(r.index_file);
}
END_TEST

START_TEST(escapes)
{
    struct slice_report r;
    struct error err;
    ck_assert_msg(
        parse("{\"state\":\"failed\",\"name\":\"a\\\"\\\\\\/\\n\\u00e9\\u20AC\\ud83d\\ude00z\"}",
              &r, &err) == ERR_OK,
        "%s", err.text);
    ck_assert_str_eq(r.name, "a\"\\/\n\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80z");
}
END_TEST

/* What any beginning of a good line gives: a refusal, never a half-read slice. */
START_TEST(every_truncation_is_refused)
{
    struct slice_report r;
    struct error err;
    struct arena arena;
    arena_init(&arena, 1 << 20);
    for (size_t n = 0; n < strlen(WHOLE); n++) {
        char *copy = malloc(n ? n : 1); /* its end is the heap's, for the address sanitizer */
        memcpy(copy, WHOLE, n);
        memset(&r, 0x55, sizeof(r));
        struct slice_report before = r;
        ck_assert_msg(slice_line_parse(copy, n, &arena, &r, &err) == ERR_FORMAT, "at %zu", n);
        ck_assert_mem_eq(&r, &before, sizeof(r));
        free(copy);
    }
    arena_done(&arena);
}
END_TEST

START_TEST(every_changed_byte_is_survived)
{
    struct slice_report r;
    struct error err;
    struct arena arena;
    arena_init(&arena, 1 << 20);
    static const char bytes[] = {0, '"', '\\', '}', ',', '9', 'u', (char)0xff};
    for (size_t n = 0; n < strlen(WHOLE); n++) {
        for (size_t b = 0; b < sizeof(bytes); b++) {
            char line[] = WHOLE;
            line[n] = bytes[b];
            arena_reset(&arena);
            if (slice_line_parse(line, sizeof(line) - 1, &arena, &r, &err) != ERR_OK)
                continue;
            ck_assert_ptr_null(strchr(r.index_file, '/'));
            ck_assert(!uuid_is_nil(&r.uuid));
        }
    }
    arena_done(&arena);
}
END_TEST

struct refusal {
    const char *line;
    const char *text;
};

START_TEST(says_what_is_wrong)
{
    static const struct refusal table[] = {
        {"", "no object at byte 0"},
        {"warning: odd", "no object at byte 0"},
        {"[]", "no object at byte 0"},
        {"{}", "no key at byte 1"},
        {"{\"state\"}", "no colon at byte 8"},
        {"{\"state\":}", "no text, number, true, false or null at byte 9"},
        {"{\"state\":{}}", "no text, number, true, false or null at byte 9"},
        {"{\"state\":-1}", "no text, number, true, false or null at byte 9"},
        {"{\"state\":\"failed\"} x", "something after the object at byte 19"},
        {"{\"state\":\"failed\"}{}", "something after the object at byte 18"},
        {"{\"state\":\"failed\",}", "no key at byte 18"},
        {"{\"state\":\"failed\" \"a\":1}", "no closing brace at byte 18"},
        {"{\"state\":\"failed\",\"state\":\"failed\"}", "a key twice at byte 34"},
        {"{\"state\":\"done\"}", "\"state\" has a value of the wrong kind"},
        {"{\"state\":1}", "\"state\" has a value of the wrong kind"},
        {"{\"name\":\"x\"}", "\"state\" is missing"},
        {"{\"state\":\"failed\",\"lines\":18446744073709551616}", "number too large at byte 45"},
        {"{\"state\":\"failed\",\"lines\":1.5}", "number that is no integer at byte 27"},
        {"{\"state\":\"failed\",\"lines\":01}", "number with a leading zero at byte 26"},
        {"{\"state\":\"failed\",\"lines\":\"0x\"}", "\"lines\" has a value of the wrong kind"},
        {"{\"state\":\"failed\",\"lines\":\"0x12345678123456789\"}",
         "\"lines\" has a value of the wrong kind"},
        {"{\"state\":\"failed\",\"name\":3}", "\"name\" has a value of the wrong kind"},
        {"{\"state\":\"failed\",\"has_dwarf\":null}",
         "\"has_dwarf\" has a value of the wrong kind"},
        {"{\"state\":\"failed\",\"uuid\":\"12\"}", "\"uuid\" has a value of the wrong kind"},
        {"{\"state\":\"failed\",\"object_sha256\":\"12\"}",
         "\"object_sha256\" has a value of the wrong kind"},
        {"{\"state\":\"failed\",\"name\":\"a\tb\"}", "control character in a text at byte 28"},
        {"{\"state\":\"failed\",\"name\":\"\\u0000\"}", "bad escape at byte 32"},
        {"{\"state\":\"failed\",\"name\":\"\\ud800\"}", "bad escape at byte 32"},
        {"{\"state\":\"failed\",\"name\":\"\\x\"}", "bad escape at byte 28"},
        {"{\"state\":\"failed\",\"name\":\"ab", "end inside a text at byte 28"},
        {"{\"state\":\"indexed\",\"index_file\":\"" UUID ".gsym\"}",
         "an indexed slice without a UUID"},
        {"{\"state\":\"indexed\",\"uuid\":\"" UUID "\"}",
         "an index file that is not named by its UUID"},
    };
    struct slice_report r;
    struct error err;
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        ck_assert_msg(parse(table[i].line, &r, &err) == ERR_FORMAT, "%s", table[i].line);
        ck_assert_msg(strcmp(err.text, table[i].text) == 0, "%s\n%s", table[i].line, err.text);
    }
}
END_TEST

START_TEST(index_files_are_names_of_their_uuid)
{
    static const char *const good[] = {UUID ".gsym", UUID ".2.gsym", UUID ".123456.gsym"};
    static const char *const bad[] = {
        UUID,
        "../" UUID ".gsym",
        UUID "/x.gsym",
        UUID ".gsym/",
        UUID "..gsym",
        UUID ".1234567.gsym",
        UUID ".2",
        UUID ".2.2.gsym",
        UUID ".gsym.tmp",
        "0285884D-3DE9-3051-B23A-63B48BF99F36.gsym",
        "0285884d-3de9-3051-b23a-63b48bf99f35.gsym",
        "",
    };
    char line[512];
    struct slice_report r;
    struct error err;
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        snprintf(line, sizeof(line),
                 "{\"state\":\"indexed\",\"uuid\":\"" UUID "\",\"index_file\":\"%s\"}", good[i]);
        ck_assert_msg(parse(line, &r, &err) == ERR_OK, "%s: %s", good[i], err.text);
    }
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        snprintf(line, sizeof(line),
                 "{\"state\":\"indexed\",\"uuid\":\"" UUID "\",\"index_file\":\"%s\"}", bad[i]);
        ck_assert_msg(parse(line, &r, &err) == ERR_FORMAT, "%s", bad[i]);
    }
}
END_TEST

START_TEST(texts_are_capped)
{
    static char line[SLICE_TEXT_MAX * 2];
    struct slice_report r;
    struct error err;
    for (size_t n = SLICE_TEXT_MAX - 8; n < SLICE_TEXT_MAX + 8; n++) {
        static char name[SLICE_TEXT_MAX + 8];
        memset(name, 'n', n);
        name[n] = 0;
        snprintf(line, sizeof(line), "{\"state\":\"failed\",\"name\":\"%s\"}", name);
        if (n <= SLICE_TEXT_MAX) {
            ck_assert_msg(parse(line, &r, &err) == ERR_OK, "%zu: %s", n, err.text);
            ck_assert_uint_eq(strlen(r.name), n);
        } else {
            ck_assert_msg(parse(line, &r, &err) == ERR_FORMAT, "%zu", n);
        }
    }
}
END_TEST

UNIT_MAIN("slice_line", reads_every_field, a_failed_slice_needs_little, escapes,
          every_truncation_is_refused, every_changed_byte_is_survived, says_what_is_wrong,
          index_files_are_names_of_their_uuid, texts_are_capped)
