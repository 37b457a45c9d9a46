/*
 * fuzz_symbol_map - any bytes are a .bcsymbolmap, and a property list that links to one.
 *
 * What must hold: every number has an answer, which is UTF-8 and never empty; what is not hidden
 * stays as it is; a failure says why.
 */
#include "base/utf8.h"
#include "symbolizer/symbol_maps.h"
#include "tests/fuzz/fuzz.h"

static void ask(struct symbol_map *m, size_t number)
{
    char name[64];
    for (int underscores = 2; underscores <= 3; underscores++) {
        snprintf(name, sizeof(name), "%.*shidden#%zu_", underscores, "___", number);
        REQUIRE(symbol_map_is_hidden(name));
        const char *symbol = symbol_map_symbol(m, name);
        REQUIRE(symbol && *symbol && utf8_valid(symbol, strlen(symbol)));
    }
    snprintf(name, sizeof(name), "__hidden#%zu_", number);
    const char *text = symbol_map_name(m, name);
    REQUIRE(text && *text && utf8_valid(text, strlen(text)));
    REQUIRE(number < symbol_map_count(m) || strcmp(text, name) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct symbol_map *m = NULL;
    struct uuid original;
    struct error err = {.code = ERR_OK};
    enum err rc = symbol_map_parse(data, size, &m, &err);
    REQUIRE(rc == ERR_OK || (!m && err.code == rc && err.text[0]));
    if (rc == ERR_OK) {
        size_t count = symbol_map_count(m);
        REQUIRE(count > 0);
        for (size_t i = 0; i < count && i < 100; i++)
            ask(m, i);
        ask(m, count - 1);
        ask(m, count);
        ask(m, SIZE_MAX);
        symbol_map_free(m);
    }
    rc = symbol_maps_parse_link(data, size, &original, &err);
    REQUIRE(rc != ERR_OK || !uuid_is_nil(&original));
    return 0;
}
