/*
 * exercise_object - everything that can be asked of an object file, for the fuzz targets.
 *
 * Purpose: opens each slice and looks at every part of it; aborts when a promise of object.h does
 * not hold. The sanitizers watch for the rest.
 *
 * Threads: one. Memory: none kept.
 */
#ifndef STALLSYM_TESTS_EXERCISE_OBJECT_H
#define STALLSYM_TESTS_EXERCISE_OBJECT_H

#include "symbolizer/object.h"
#include "tests/fuzz/fuzz.h"

static uint64_t touch(struct cursor c)
{
    uint64_t sum = 0;
    while (cursor_left(&c) > 0)
        sum += cursor_u8(&c);
    return sum;
}

static void exercise_symbols(const struct object *o)
{
    struct arena arena;
    const struct object_symbol *s = NULL;
    size_t count = 0;
    arena_init(&arena, (size_t)64 << 20);
    if (object_symbols(o, &arena, &s, &count, NULL) == ERR_OK) {
        for (size_t i = 0; i < count; i++) {
            REQUIRE(strlen(s[i].name) < (size_t)1 << 30);
            REQUIRE(i == 0 || s[i - 1].address <= s[i].address);
        }
    }
    arena_done(&arena);
}

static void exercise_slice(const uint8_t *data, uint64_t size)
{
    static const char *const sections[] = {".debug_info",
                                           ".debug_line",
                                           ".debug_str",
                                           ".debug_loc",
                                           ".debug_str_offsets",
                                           ".eh_frame",
                                           ""};
    static volatile uint64_t sink;
    struct object *o = NULL;
    struct error err = {.code = ERR_OK};
    if (object_open(data, size, &o, &err) != ERR_OK) {
        REQUIRE(err.code != ERR_OK && err.text[0]);
        return;
    }
    const struct object_info *info = object_info(o);
    REQUIRE(!uuid_is_nil(&info->uuid) && info->arch[0]);
    REQUIRE(info->address_size == 4 || info->address_size == 8);
    for (size_t i = 0; i < sizeof(sections) / sizeof(sections[0]); i++) {
        struct cursor c;
        if (object_section(o, sections[i], &c)) {
            REQUIRE(cursor_left(&c) > 0);
            sink += touch(c);
        }
    }
    (void)sink;
    size_t count = 0;
    uint64_t end = 0;
    const struct object_range *code = object_code(o, &count);
    for (size_t i = 0; i < count; i++) {
        REQUIRE(code[i].start >= end && code[i].end > code[i].start);
        end = code[i].end;
    }
    exercise_symbols(o);
    object_close(o);
}

static void exercise_object(const uint8_t *data, size_t size)
{
    struct object_slice slices[OBJECT_SLICES_MAX];
    size_t count = 0;
    struct error problem;
    bool known = object_recognize(data, size);
    enum err e = object_slices(data, size, slices, &count, &problem, NULL);
    REQUIRE(known || e != ERR_OK);
    if (e != ERR_OK)
        return;
    REQUIRE(count > 0 && count <= OBJECT_SLICES_MAX);
    for (size_t i = 0; i < count; i++) {
        REQUIRE(slices[i].offset <= size && slices[i].size <= size - slices[i].offset);
        exercise_slice(data + slices[i].offset, slices[i].size);
    }
}

#endif
