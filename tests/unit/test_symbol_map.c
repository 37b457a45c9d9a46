#include "symbolizer/symbol_map.h"

#include <stdio.h>
#include <string.h>

#include "tests/support/files.h"
#include "tests/support/unit.h"

static struct symbol_map *parsed(const char *text)
{
    struct symbol_map *m = NULL;
    struct error err;
    ck_assert_msg(symbol_map_parse(text, strlen(text), &m, &err) == ERR_OK, "%s", err.text);
    return m;
}

START_TEST(what_is_hidden)
{
    static const struct {
        const char *name;
        bool hidden;
    } cases[] = {
        {"__hidden#0_", true},
        {"__hidden#8730_", true},
        {"___hidden#8730_", true},
        {"_hidden#0_", false},
        {"____hidden#0_", false},
        {"__hidden#_", false},
        {"__hidden#1", false},
        {"__hidden#1_x", false},
        {"__hidden#x1_", false},
        {"__hidden#-1_", false},
        {"__hidden", false},
        {"", false},
        {"_", false},
        {"__hidden#99999999999999999999_", true},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        ck_assert_msg(symbol_map_is_hidden(cases[i].name) == cases[i].hidden, "%s", cases[i].name);
}
END_TEST

START_TEST(names_by_number)
{
    struct symbol_map *m =
        parsed("BCSymbolMap Version: 2.0\n-[Feed reload]\n_main\r\n\n\1-[Feed poll]\n/src/Feed.m");
    ck_assert_uint_eq(symbol_map_count(m), 5);
    ck_assert_str_eq(symbol_map_name(m, "__hidden#0_"), "-[Feed reload]");
    ck_assert_str_eq(symbol_map_name(m, "__hidden#00_"), "-[Feed reload]");
    ck_assert_str_eq(symbol_map_name(m, "__hidden#1_"), "_main");
    ck_assert_str_eq(symbol_map_name(m, "__hidden#3_"), "-[Feed poll]");
    ck_assert_str_eq(symbol_map_name(m, "__hidden#4_"), "/src/Feed.m");
    /* An empty line is no name; numbers past the end are none either, however long. */
    ck_assert_str_eq(symbol_map_name(m, "__hidden#2_"), "__hidden#2_");
    ck_assert_str_eq(symbol_map_name(m, "__hidden#5_"), "__hidden#5_");
    ck_assert_str_eq(symbol_map_name(m, "__hidden#4294967296_"), "__hidden#4294967296_");
    ck_assert_str_eq(symbol_map_name(m, "__hidden#18446744073709551616_"),
                     "__hidden#18446744073709551616_");
    ck_assert_str_eq(symbol_map_name(m, "plain"), "plain");
    ck_assert_str_eq(symbol_map_name(NULL, "__hidden#0_"), "__hidden#0_");
    ck_assert_ptr_null(symbol_map_name(m, NULL));
    symbol_map_free(m);
}
END_TEST

/* The symbol table's underscore: on names that were never hidden, on hidden ones, in the map. */
START_TEST(symbols_of_both_versions)
{
    static const char names[] = "_poll\n\1-[Feed poll]\n__ZN4Feed4pollEv\n\1_poll\n_\n";
    char text[128];
    snprintf(text, sizeof(text), "BCSymbolMap Version: 2.0\n%s", names);
    struct symbol_map *m = parsed(text);
    ck_assert_str_eq(symbol_map_symbol(m, "_main"), "main");
    ck_assert_str_eq(symbol_map_symbol(m, "start"), "start");
    ck_assert_str_eq(symbol_map_symbol(m, "__hidden#0_"), "poll");
    ck_assert_str_eq(symbol_map_symbol(m, "___hidden#0_"), "poll");
    ck_assert_str_eq(symbol_map_symbol(m, "___hidden#1_"), "-[Feed poll]");
    ck_assert_str_eq(symbol_map_symbol(m, "___hidden#2_"), "_ZN4Feed4pollEv");
    ck_assert_str_eq(symbol_map_symbol(m, "___hidden#4_"), "_");
    ck_assert_str_eq(symbol_map_symbol(m, "___hidden#5_"), "__hidden#5_");
    symbol_map_free(m);
    /* 1.0: the underscore is the symbol table's alone. */
    snprintf(text, sizeof(text), "BCSymbolMap Version: 1.0\n%s", names);
    m = parsed(text);
    ck_assert_str_eq(symbol_map_symbol(m, "___hidden#0_"), "_poll");
    ck_assert_str_eq(symbol_map_symbol(m, "___hidden#1_"), "-[Feed poll]");
    ck_assert_str_eq(symbol_map_symbol(m, "___hidden#3_"), "poll");
    ck_assert_str_eq(symbol_map_symbol(m, "__hidden#0_"), "poll");
    symbol_map_free(m);
    /* Without a map the key stays whole: one underscore less would be another name. */
    ck_assert_str_eq(symbol_map_symbol(NULL, "__hidden#0_"), "__hidden#0_");
    ck_assert_str_eq(symbol_map_symbol(NULL, "___hidden#0_"), "__hidden#0_");
    ck_assert_str_eq(symbol_map_symbol(NULL, "_"), "");
}
END_TEST

START_TEST(faults_are_named)
{
    static const struct {
        const char *text;
        size_t len; /* 0: of the text */
        enum err code;
        const char *word;
    } cases[] = {
        {"", 0, ERR_FORMAT, "line 1"},
        {"BCSymbolMap", 0, ERR_FORMAT, "line 1"},
        {"_main\n_exit\n", 0, ERR_FORMAT, "line 1"},
        {"BCSymbolMap Version: 2.0", 0, ERR_FORMAT, "no names"},
        {"BCSymbolMap Version: 2.0\n", 0, ERR_FORMAT, "no names"},
        {"BCSymbolMap Version: 3.0\na\n", 0, ERR_UNSUPPORTED, "3.0"},
        {"BCSymbolMap Version: 2.0.1\na\n", 0, ERR_UNSUPPORTED, "2.0.1"},
        {"BCSymbolMap Version:\na\n", 0, ERR_UNSUPPORTED, "version"},
        {"BCSymbolMap Version: 2.0\na\n\xff\n", 0, ERR_FORMAT, "line 3"},
        {"BCSymbolMap Version: 2.0\na\0b\n", 29, ERR_FORMAT, "line 2"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct symbol_map *m = NULL;
        struct error err = {.code = ERR_OK};
        size_t len = cases[i].len ? cases[i].len : strlen(cases[i].text);
        ck_assert_int_eq(symbol_map_parse(cases[i].text, len, &m, &err), cases[i].code);
        ck_assert_ptr_null(m);
        ck_assert_msg(strstr(err.text, cases[i].word) != NULL, "%zu: %s", i, err.text);
    }
}
END_TEST

START_TEST(too_many_names)
{
    struct symbol_map *m = NULL;
    struct error err;
    size_t len = SYMBOL_MAP_NAMES_MAX + 64;
    char *text = malloc(len);
    memset(text, '\n', len);
    memcpy(text, "BCSymbolMap Version: 2.0", 24);
    ck_assert_int_eq(symbol_map_parse(text, len, &m, &err), ERR_LIMIT);
    free(text);
}
END_TEST

START_TEST(from_a_file)
{
    char folder[64], path[128];
    struct symbol_map *m = NULL;
    struct error err;
    scratch_make(folder, sizeof(folder));
    snprintf(path, sizeof(path), "%s/map", folder);
    ck_assert_int_ne(symbol_map_open(path, &m, &err), ERR_OK);
    write_file(path, "BCSymbolMap Version: 2.0\na\nb\n", 29);
    ck_assert_int_eq(symbol_map_open(path, &m, &err), ERR_OK);
    ck_assert_uint_eq(symbol_map_count(m), 2);
    symbol_map_free(m);
    scratch_remove(folder);
}
END_TEST

UNIT_MAIN("symbol_map", what_is_hidden, names_by_number, symbols_of_both_versions, faults_are_named,
          too_many_names, from_a_file)
