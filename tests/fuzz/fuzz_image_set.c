/*
 * fuzz_image_set - any bytes are an image set that was remembered.
 *
 * What must hold: names are there, encoding gives the same images back, and any images make a map
 * whose answers are inside the image they name.
 */
#include "server/ingest/image_set.h"
#include "tests/fuzz/fuzz.h"

#define IMAGES_ASKED 4096

static void check_round_trip(const struct image_entry *entries, size_t count, struct arena *arena)
{
    struct buf out;
    struct image_entry *back = NULL;
    size_t n = 0;
    buf_init(&out, (size_t)1 << 24);
    REQUIRE(image_set_encode(entries, count, &out));
    REQUIRE(image_set_decode(out.data, out.len, arena, &back, &n, NULL) == ERR_OK);
    REQUIRE(n == count);
    for (size_t i = 0; i < n; i++) {
        const struct image_entry *a = &entries[i], *b = &back[i];
        REQUIRE(uuid_equal(&a->uuid, &b->uuid) && same_text(a->name, b->name));
        REQUIRE(same_text(a->path, b->path) && same_text(a->arch, b->arch));
        REQUIRE(a->has_slide == b->has_slide && a->slide == b->slide);
        REQUIRE(a->has_load_address == b->has_load_address && a->size == b->size);
        REQUIRE(a->load_address == b->load_address);
    }
    buf_done(&out);
}

static void ask(const struct image_map *m, const struct image_entry *entries, size_t count,
                uint64_t address)
{
    struct raw_frame f;
    size_t at = 0;
    memset(&f, 0, sizeof(f));
    image_map_find(m, address, &f, &at);
    REQUIRE(at == SIZE_MAX || at < count);
    switch (f.image_kind) {
    case IMAGE_NONE:
        REQUIRE(at == SIZE_MAX);
        break;
    case IMAGE_UUID:
        REQUIRE(at < count && uuid_equal(&f.image, &entries[at].uuid));
        break;
    case IMAGE_NAMED:
        REQUIRE(at < count && uuid_is_nil(&entries[at].uuid) && !uuid_is_nil(&f.image));
        break;
    case IMAGE_GROUP:
        REQUIRE(!uuid_is_nil(image_map_group(m)) && uuid_equal(&f.image, image_map_group(m)));
        break;
    }
}

static void check_map(struct image_entry *entries, size_t count, struct arena *arena)
{
    struct image_map *m = NULL;
    REQUIRE(image_map_build(entries, count, "22A1", "arm64", NULL, arena, &m, NULL) == ERR_OK);
    for (size_t i = 0; i < count && i < IMAGES_ASKED; i++) {
        const struct image_entry *e = &entries[i];
        uint64_t start = e->has_load_address ? e->load_address : e->slide;
        ask(m, entries, count, start);
        ask(m, entries, count, start - 1);
        ask(m, entries, count, start + e->size);
        ask(m, entries, count, start + e->size - 1);
        ask(m, entries, count, start | (uint64_t)0x7f << 52);
        (void)image_map_in_group(m, i);
    }
    ask(m, entries, count, 0);
    ask(m, entries, count, UINT64_MAX);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena arena;
    struct image_entry *entries = NULL;
    size_t count = 0;
    struct error err = {.code = ERR_OK};
    arena_init(&arena, (size_t)128 << 20);
    enum err rc = image_set_decode(data, size, &arena, &entries, &count, &err);
    REQUIRE(rc == ERR_OK || (err.code == rc && err.text[0]));
    if (rc == ERR_OK) {
        for (size_t i = 0; i < count; i++)
            REQUIRE(entries[i].name != NULL);
        check_round_trip(entries, count, &arena);
        check_map(entries, count, &arena);
    }
    arena_done(&arena);
    return 0;
}
