#include "symbolizer/symbol_maps.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "tests/support/files.h"
#include "tests/support/unit.h"

#define BUILT "11111111-2222-3333-4444-555555555555"
#define STORE "AAAAAAAA-2222-3333-4444-555555555555"

static struct uuid id_of(const char *text)
{
    struct uuid u;
    ck_assert(uuid_parse(text, strlen(text), &u));
    return u;
}

START_TEST(files_by_their_names)
{
    static const struct {
        const char *path;
        enum symbol_map_file kind;
    } cases[] = {
        {BUILT ".bcsymbolmap", SYMBOL_FILE_MAP},
        {"App.xcarchive/BCSymbolMaps/" BUILT ".bcsymbolmap", SYMBOL_FILE_MAP},
        {"x/" STORE ".plist", SYMBOL_FILE_LINK},
        {"x/Info.plist", SYMBOL_FILE_OTHER},
        {BUILT, SYMBOL_FILE_OTHER},
        {BUILT ".bcsymbolmap/x", SYMBOL_FILE_OTHER},
        {"00000000-0000-0000-0000-000000000000.plist", SYMBOL_FILE_OTHER},
        {"", SYMBOL_FILE_OTHER},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct uuid u;
        ck_assert_msg(symbol_maps_kind(cases[i].path, &u) == cases[i].kind, "%s", cases[i].path);
    }
    char name[SYMBOL_MAP_FILE_SIZE];
    struct uuid u = id_of(BUILT);
    symbol_maps_file_name(SYMBOL_FILE_MAP, &u, name);
    ck_assert_str_eq(name, BUILT ".bcsymbolmap");
    symbol_maps_file_name(SYMBOL_FILE_LINK, &u, name);
    ck_assert_str_eq(name, BUILT ".plist");
}
END_TEST

START_TEST(links_of_property_lists)
{
    static const struct {
        const char *text;
        enum err code;
    } cases[] = {
        {"<plist><dict><key>DBGOriginalUUID</key>\n\t<string>" BUILT "</string></dict></plist>",
         ERR_OK},
        {"<key>DBGOriginalUUID</key><string>11111111222233334444555555555555</string>", ERR_OK},
        {"<key>DBGOriginalUUID</key><string>zz</string>", ERR_FORMAT},
        {"<key>DBGOriginalUUID</key><string>00000000-0000-0000-0000-000000000000</string>",
         ERR_FORMAT},
        {"<key>DBGOriginalUUID</key><string>" BUILT, ERR_FORMAT},
        {"<key>DBGOriginalUUID</key><integer>1</integer>", ERR_FORMAT},
        {"<key>DBGOriginalUUID</key>", ERR_FORMAT},
        {"<key>CFBundleName</key><string>x</string>", ERR_FORMAT},
        {"bplist00\xd1\x01\x02", ERR_UNSUPPORTED},
        {"", ERR_FORMAT},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct uuid u = {{0}}, wanted = id_of(BUILT);
        struct error err;
        enum err rc = symbol_maps_parse_link(cases[i].text, strlen(cases[i].text), &u, &err);
        ck_assert_msg(rc == cases[i].code, "%zu: %d", i, (int)rc);
        ck_assert(rc != ERR_OK || uuid_equal(&u, &wanted));
    }
}
END_TEST

static void put(const char *folder, const char *name, const char *text)
{
    char path[256];
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    write_file(path, text, strlen(text));
}

static void count_one(void *ctx, const struct uuid *uuid)
{
    struct uuid wanted = id_of(STORE);
    ck_assert(uuid_equal(uuid, &wanted));
    ++*(size_t *)ctx;
}

START_TEST(a_folder_of_maps_and_links)
{
    char folder[64], path[256];
    struct error err;
    struct symbol_map *map = NULL;
    struct uuid built = id_of(BUILT), store = id_of(STORE);
    struct symbol_maps *m = symbol_maps_new();
    scratch_make(folder, sizeof(folder));
    put(folder, BUILT ".bcsymbolmap", "BCSymbolMap Version: 2.0\nfirst\n");
    put(folder, STORE ".plist", "<key>DBGOriginalUUID</key><string>" BUILT "</string>");
    put(folder, "BBBBBBBB-2222-3333-4444-555555555555.plist", "<plist/>");
    put(folder, "Info.plist", "<plist/>");
    ck_assert_msg(symbol_maps_add(m, folder, &err) == ERR_OK, "%s", err.text);
    ck_assert_int_eq(symbol_maps_get(m, &store, &map, &err), ERR_OK);
    ck_assert_str_eq(symbol_map_name(map, "__hidden#0_"), "first");
    ck_assert_int_eq(symbol_maps_get(m, &built, &map, &err), ERR_OK);
    struct uuid other = id_of("BBBBBBBB-2222-3333-4444-555555555555");
    ck_assert_int_eq(symbol_maps_get(m, &other, &map, &err), ERR_NOT_FOUND);
    struct uuid original = symbol_maps_original(m, &store);
    ck_assert(uuid_equal(&original, &built));
    size_t linked = 0;
    symbol_maps_linked(m, &built, count_one, &linked);
    ck_assert_uint_eq(linked, 1);
    /* The same map once more, better: it counts from now on. */
    put(folder, BUILT ".bcsymbolmap", "BCSymbolMap Version: 2.0\nsecond\n");
    snprintf(path, sizeof(path), "%s/%s.bcsymbolmap", folder, BUILT);
    ck_assert_int_eq(symbol_maps_add(m, path, &err), ERR_OK);
    ck_assert_int_eq(symbol_maps_get(m, &store, &map, &err), ERR_OK);
    ck_assert_str_eq(symbol_map_name(map, "__hidden#0_"), "second");
    symbol_maps_free(m);
    scratch_remove(folder);
}
END_TEST

/* Each is found among many, and what came later counts. */
START_TEST(many_links)
{
    enum { COUNT = 2000 };
    char folder[64], name[64], text[128];
    struct error err;
    struct symbol_maps *m = symbol_maps_new();
    struct uuid built = id_of(BUILT);
    size_t linked = 0;
    scratch_make(folder, sizeof(folder));
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < COUNT; i++) {
            snprintf(name, sizeof(name), "%08X-2222-3333-4444-555555555555.plist", i + 1);
            snprintf(text, sizeof(text),
                     "<key>DBGOriginalUUID</key><string>%08X-0000-0000-0000-00000000000%d</string>",
                     i + 1, round);
            put(folder, name, text);
        }
        ck_assert_msg(symbol_maps_add(m, folder, &err) == ERR_OK, "%s", err.text);
    }
    for (int i = 0; i < COUNT; i++) {
        snprintf(name, sizeof(name), "%08X-2222-3333-4444-555555555555", i + 1);
        snprintf(text, sizeof(text), "%08X-0000-0000-0000-000000000001", i + 1);
        struct uuid image = id_of(name), wanted = id_of(text);
        struct uuid original = symbol_maps_original(m, &image);
        ck_assert_msg(uuid_equal(&original, &wanted), "%s", name);
    }
    symbol_maps_linked(m, &built, count_one, &linked);
    ck_assert_uint_eq(linked, 0);
    struct uuid stranger = id_of(STORE), original = symbol_maps_original(m, &stranger);
    ck_assert(uuid_equal(&original, &stranger));
    symbol_maps_free(m);
    scratch_remove(folder);
}
END_TEST

START_TEST(what_cannot_be_added)
{
    char folder[64], path[256];
    struct error err;
    struct symbol_map *map = NULL;
    struct uuid built = id_of(BUILT);
    struct symbol_maps *m = symbol_maps_new();
    scratch_make(folder, sizeof(folder));
    snprintf(path, sizeof(path), "%s/Feed.bcsymbolmap", folder);
    ck_assert_int_ne(symbol_maps_add(m, path, &err), ERR_OK);
    write_file(path, "BCSymbolMap Version: 2.0\na\n", 27);
    ck_assert_int_eq(symbol_maps_add(m, path, &err), ERR_INVALID);
    ck_assert(strstr(err.text, "UUID") != NULL);
    /* Damage is found when the map is asked for. */
    snprintf(path, sizeof(path), "%s/%s.bcsymbolmap", folder, BUILT);
    write_file(path, "BCSymbolMap Version: 2.0\n\xff\n", 27);
    ck_assert_int_eq(symbol_maps_add(m, path, &err), ERR_OK);
    ck_assert_int_eq(symbol_maps_get(m, &built, &map, &err), ERR_FORMAT);
    symbol_maps_free(m);
    scratch_remove(folder);
}
END_TEST

UNIT_MAIN("symbol_maps", files_by_their_names, links_of_property_lists, a_folder_of_maps_and_links,
          many_links, what_cannot_be_added)
