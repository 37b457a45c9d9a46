#include "server/jobs/resolver_worker.h"

#include <string.h>

#include "tests/support/rig.h"
#include "tests/support/unit.h"

#define APP "com.example.shop"

static struct rig rig;
static struct rules *rules;
static struct overlays *overlays;
static struct resolver_worker *worker;
static struct uuid shop;

static void setup(void)
{
    struct error err;
    memset(shop.bytes, 0x51, sizeof(shop.bytes));
    rig_start(&rig);
    ck_assert_int_eq(rules_new_default(&rules, &err), ERR_OK);
    overlays = overlays_new();
    ck_assert_ptr_nonnull(overlays);
    ck_assert_int_eq(resolver_worker_new(rig.storage, rig.cache, rules, 64, &worker, &err), ERR_OK);
}

static void teardown(void)
{
    resolver_worker_free(worker);
    overlays_free(overlays);
    rules_free(rules);
    rig_stop(&rig);
}

/* A report of one frame in an image Shop; `damaged`: its stack's bytes are no stack. */
static void add_report_of(const struct uuid *build, const char *id, uint64_t offset, bool damaged)
{
    const struct raw_frame frame = {
        .image = *build, .offset = offset, .image_kind = IMAGE_UUID, .kind = FRAME_LEAF};
    const struct op_image image = {
        .id = *build, .kind = IMAGE_UUID, .class = IMAGE_CLASS_APP, .name = "Shop"};
    struct write_op *op = ops_report(APP, id, &frame, 1, &image, 1);
    if (damaged) {
        op->u.batches.items[0].stacks[0].raw = "\xff\xff\xff damaged";
        op->u.batches.items[0].stacks[0].raw_len = 11;
    }
    rig_apply(&rig, op);
}

static void add_report(const char *id, uint64_t offset, bool damaged)
{
    add_report_of(&shop, id, offset, damaged);
}

/* What is pending from the `first` on, as one piece of at most `limit`. */
static struct resolver_piece resolve_some(size_t first, size_t limit,
                                          const struct stand_in *stand_ins, size_t stand_in_count)
{
    struct error err;
    struct pending_stack *stacks = NULL;
    struct resolver_piece piece = {.op = NULL};
    const struct resolver_grounds grounds = {
        .overlays = overlays, .stand_ins = stand_ins, .stand_in_count = stand_in_count};
    arena_reset(&rig.arena);
    ck_assert_int_eq(read_pending(rig.reader, 0, 100, &rig.arena, &stacks, &piece.count, &err),
                     ERR_OK);
    ck_assert_uint_gt(piece.count, first);
    piece.stacks = stacks + first;
    piece.count = piece.count - first < limit ? piece.count - first : limit;
    resolver_worker_piece(worker, &grounds, &piece);
    ck_assert_ptr_nonnull(piece.op);
    ck_assert(!piece.incomplete && !piece.starved);
    ck_assert_uint_eq(piece.op->u.resolutions.count, piece.count);
    return piece;
}

static struct resolver_piece resolve(const struct stand_in *stand_ins, size_t stand_in_count)
{
    return resolve_some(0, SIZE_MAX, stand_ins, stand_in_count);
}

START_TEST(a_piece_becomes_one_op)
{
    struct symbolizer_stats stats;
    setup();
    rig_put_index(&rig, &shop, "shop_load");
    add_report("r1", 0x1000, false);
    add_report("bad", 0x1001, true);
    add_report("r2", 0x1002, false);
    struct resolver_piece piece = resolve(NULL, 0);
    const struct op_resolutions *out = &piece.op->u.resolutions;
    ck_assert_uint_eq(out->count, 3);
    ck_assert_str_eq(out->rules_version, rules_version(rules));
    for (size_t i = 0; i < out->count; i++) {
        ck_assert_uint_eq(out->items[i].stack_id, piece.stacks[i].stack_id);
        ck_assert_uint_eq(out->items[i].generation, piece.stacks[i].generation);
    }
    ck_assert_str_eq(out->items[0].function, "shop_load");
    ck_assert_mem_eq(out->items[0].key, out->items[2].key, sizeof(out->items[0].key));
    /* The damaged one has no frames, and a cluster all the same. */
    ck_assert_uint_eq(out->items[1].stack->count, 0);
    ck_assert_ptr_null(out->items[1].function);
    ck_assert_mem_ne(out->items[1].key, out->items[0].key, sizeof(out->items[0].key));
    resolver_worker_stats(worker, &stats);
    ck_assert_uint_eq(stats.frames, 2);
    write_op_free(piece.op);
    teardown();
}
END_TEST

/* Frames of another op may lie where those of the one before lay. */
START_TEST(an_op_remembers_nothing_of_another)
{
    uint8_t keys[2][PART_KEY_SIZE];
    setup();
    struct uuid later = shop;
    later.bytes[15]++;
    rig_put_index(&rig, &shop, "shop_load");
    rig_put_index(&rig, &later, "shop_save");
    add_report_of(&shop, "r1", 0x1000, false);
    add_report_of(&later, "r2", 0x1000, false);
    for (size_t i = 0; i < 8; i++) {
        struct resolver_piece piece = resolve_some(i % 2, 1, NULL, 0);
        const struct op_resolution *r = &piece.op->u.resolutions.items[0];
        ck_assert_str_eq(r->function, i % 2 ? "shop_save" : "shop_load");
        if (i < 2)
            memcpy(keys[i], r->key, sizeof(keys[i]));
        ck_assert_mem_eq(r->key, keys[i % 2], sizeof(keys[0]));
        write_op_free(piece.op);
    }
    ck_assert_mem_ne(keys[0], keys[1], sizeof(keys[0]));
    teardown();
}
END_TEST

START_TEST(a_stand_in_is_of_the_grounds)
{
    setup();
    struct stand_in stand_in = {.uuid = shop, .app = ""};
    memset(stand_in.stand_in.bytes, 0x5a, sizeof(stand_in.stand_in.bytes));
    rig_put_index(&rig, &stand_in.stand_in, "other_load");
    add_report("r1", 0x1000, false);
    struct resolver_piece piece = resolve(NULL, 0);
    ck_assert(piece.op->u.resolutions.items[0].provisional);
    ck_assert_uint_eq(piece.op->u.resolutions.items[0].missing_count, 1);
    write_op_free(piece.op);
    piece = resolve(&stand_in, 1);
    ck_assert(piece.op->u.resolutions.items[0].approximate);
    ck_assert_str_eq(piece.op->u.resolutions.items[0].function, "other_load");
    write_op_free(piece.op);
    teardown();
}
END_TEST

START_TEST(a_pass_has_rules_of_its_own)
{
    static const char text[] = "vendor image=Shop\n";
    struct rules *others = NULL;
    struct error err;
    setup();
    rig_put_index(&rig, &shop, "shop_load");
    add_report("r1", 0x1000, false);
    struct resolver_piece piece = resolve(NULL, 0);
    ck_assert_str_eq(piece.op->u.resolutions.rules_version, rules_version(rules));
    write_op_free(piece.op);
    ck_assert_int_eq(rules_new(text, sizeof(text) - 1, &others, &err), ERR_OK);
    resolver_worker_begin(worker, others);
    piece = resolve(NULL, 0);
    ck_assert_str_eq(piece.op->u.resolutions.rules_version, rules_version(others));
    ck_assert_str_ne(rules_version(others), rules_version(rules));
    write_op_free(piece.op);
    resolver_worker_free(worker);
    worker = NULL;
    rules_free(others);
    teardown();
}
END_TEST

UNIT_MAIN("resolver_worker", a_piece_becomes_one_op, an_op_remembers_nothing_of_another,
          a_stand_in_is_of_the_grounds, a_pass_has_rules_of_its_own)
