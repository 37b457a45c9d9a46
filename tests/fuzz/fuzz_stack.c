/*
 * fuzz_stack - any bytes are a stored stack, and the addresses beside it.
 *
 * Two bytes say where the stack ends. What must hold: kinds that exist, no NULL where a symbol was
 * said to be, and both encodings give back what was put in.
 */
#include "base/buf.h"
#include "base/stack.h"
#include "tests/fuzz/fuzz.h"

static void check_frames(const struct raw_stack *s)
{
    for (size_t i = 0; i < s->count; i++) {
        REQUIRE(s->frames[i].image_kind <= IMAGE_GROUP);
        REQUIRE(frame_kind_name(s->frames[i].kind) != NULL);
        if (s->frames[i].image_kind == IMAGE_NONE)
            REQUIRE(uuid_is_nil(&s->frames[i].image) && s->frames[i].offset == 0);
    }
}

static void check_round_trip(const struct raw_stack *s, struct arena *arena)
{
    struct buf out;
    struct raw_stack back;
    uint8_t a[STACK_HASH_SIZE], b[STACK_HASH_SIZE];
    buf_init(&out, (size_t)1 << 24);
    REQUIRE(raw_stack_encode(s, &out));
    REQUIRE(raw_stack_decode(out.data, out.len, arena, &back, NULL) == ERR_OK);
    REQUIRE(back.count == s->count);
    for (size_t i = 0; i < s->count; i++) {
        const struct raw_frame *f = &s->frames[i], *g = &back.frames[i];
        REQUIRE(f->image_kind == g->image_kind && f->kind == g->kind && f->offset == g->offset);
        REQUIRE(uuid_equal(&f->image, &g->image) && same_text(f->symbol, g->symbol));
    }
    raw_stack_hash("app", s, a);
    raw_stack_hash("app", &back, b);
    REQUIRE(memcmp(a, b, sizeof(a)) == 0);
    buf_done(&out);
}

static void check_addresses(const struct raw_stack *s, const uint8_t *data, size_t size,
                            struct arena *arena)
{
    struct buf out;
    uint64_t *given = arena_array(arena, s->count + 1, sizeof(*given));
    uint64_t *back = arena_array(arena, s->count + 1, sizeof(*back));
    REQUIRE(given && back);
    buf_init(&out, (size_t)1 << 24);
    stack_addresses_decode(s, data, size, given);
    REQUIRE(stack_addresses_encode(s, given, &out));
    stack_addresses_decode(s, out.data, out.len, back);
    REQUIRE(memcmp(given, back, s->count * sizeof(*given)) == 0);
    buf_done(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena arena;
    struct raw_stack s;
    struct error err = {.code = ERR_OK};
    if (size < 2)
        return 0;
    size_t len = (size_t)(data[0] | data[1] << 8);
    data += 2;
    size -= 2;
    len = len < size ? len : size;
    arena_init(&arena, (size_t)64 << 20);
    enum err rc = raw_stack_decode(data, len, &arena, &s, &err);
    REQUIRE(rc == ERR_OK || (err.code == rc && err.text[0]));
    if (rc == ERR_OK) {
        check_frames(&s);
        check_round_trip(&s, &arena);
        check_addresses(&s, data + len, size - len, &arena);
    }
    arena_done(&arena);
    return 0;
}
