#include "base/uuid.h"

#include <string.h>

#include "tests/support/unit.h"

START_TEST(spellings)
{
    static const struct {
        const char *text;
        bool valid;
    } cases[] = {
        {"4C4C44DC-5555-3144-A100-C10E3A4B6D1E", true},
        {"4c4c44dc-5555-3144-a100-c10e3a4b6d1e", true},
        {"4C4C44DC55553144A100C10E3A4B6D1E", true},
        {"4c4c44dc55553144a100c10e3a4b6d1e", true},
        {"<4c4c44dc55553144a100c10e3a4b6d1e>", false},
        {"4C4C44DC55553144A100C10E3A4B6D1E0", false},
        {"4C4C44DC-5555-3144-A100-C10E3A4B6D1", false},
        {"4C4C44DC-5555-3144-A100C-10E3A4B6D1E", false},
        {"4C4C44DG-5555-3144-A100-C10E3A4B6D1E", false},
        {"", false},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct uuid u;
        char text[UUID_TEXT_SIZE];
        ck_assert_msg(uuid_parse(cases[i].text, strlen(cases[i].text), &u) == cases[i].valid, "%s",
                      cases[i].text);
        if (cases[i].valid)
            ck_assert_str_eq(uuid_format(&u, text), "4C4C44DC-5555-3144-A100-C10E3A4B6D1E");
    }
}
END_TEST

START_TEST(build_ids)
{
    static const uint8_t id[20] = {0x73, 0x57, 0x4d, 0x41, 0xcb, 0xf3, 0x40, 0x76, 0xb8, 0x8a,
                                   0x92, 0xe4, 0x0e, 0xf0, 0x3f, 0x79, 0x4e, 0x17, 0x75, 0xec};
    char text[UUID_TEXT_SIZE];
    struct uuid u = uuid_from_build_id(id, sizeof(id));
    ck_assert_str_eq(uuid_format(&u, text), "414D5773-F3CB-7640-B88A-92E40EF03F79");
    u = uuid_from_build_id(id, 4);
    ck_assert_str_eq(uuid_format(&u, text), "414D5773-0000-0000-0000-000000000000");
    u = uuid_from_build_id(id, 0);
    ck_assert(uuid_is_nil(&u));
}
END_TEST

START_TEST(lists)
{
    const struct uuid list[] = {{{1}}, {{2}}}, other = {{3}};
    ck_assert(uuid_is_in(list, 2, &list[0]) && uuid_is_in(list, 2, &list[1]));
    ck_assert(!uuid_is_in(list, 1, &list[1]) && !uuid_is_in(list, 2, &other));
    ck_assert(!uuid_is_in(NULL, 0, &other));
}
END_TEST

UNIT_MAIN("uuid", spellings, build_ids, lists)
