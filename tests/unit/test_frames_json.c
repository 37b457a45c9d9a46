#include "server/http/frames_json.h"

#include <string.h>

#include "tests/support/unit.h"

static struct uuid shop;
static const struct frame shop_frames[] = {
    {.function = "inner()",
     .mangled = "_Z5innerv",
     .file = "/src/a.cpp",
     .line = 7,
     .inlined = true},
    {.function = "outer()", .mangled = "_Z5outerv", .file = "", .line = 0},
};
static const struct frame device_frame[] = {{.function = "objc_msgSend"}};

static void expect(const struct resolved_stack *stack, const uint64_t *addresses,
                   const struct cluster_verdict *verdict, bool explain, const char *json)
{
    struct buf out;
    struct jout j;
    buf_init(&out, 65536);
    jout_init(&j, &out);
    frames_json_print(&j, NULL, stack, addresses, verdict, explain);
    ck_assert_str_eq(out.data, json);
    buf_done(&out);
}

static struct resolved_frame shop_frame(void)
{
    ck_assert(uuid_parse("0285884d3de93051b23a63b48bf99f35", 32, &shop));
    return (struct resolved_frame){
        .raw = {.image = shop, .offset = 0x1262db, .image_kind = IMAGE_UUID},
        .status = FRAME_RESOLVED,
        .in_app = true,
        .image_name = "Shop",
        .image = shop,
        .offset = 0x1262db,
        .frames = shop_frames,
        .frame_count = 2,
    };
}

START_TEST(a_resolved_frame)
{
    struct resolved_frame f = shop_frame();
    struct resolved_stack stack = {&f, 1};
    uint64_t address = 0x10061a2db;
    f.has_function_offset = true;
    f.function_offset = 0x2b;
    expect(
        &stack, &address, NULL, false,
        "[{\"address\":\"0x10061a2db\",\"image\":\"Shop\","
        "\"uuid\":\"0285884D-3DE9-3051-B23A-63B48BF99F35\",\"offset\":\"0x1262db\","
        "\"function_offset\":\"0x2b\",\"status\":\"resolved\",\"approximate\":false,\"frames\":["
        "{\"function\":\"inner()\",\"full\":null,\"mangled\":\"_Z5innerv\",\"file\":\"/src/a.cpp\","
        "\"line\":7,\"inlined\":true,\"in_app\":true},"
        "{\"function\":\"outer()\",\"full\":null,\"mangled\":\"_Z5outerv\",\"file\":null,\"line\":"
        "null,"
        "\"inlined\":false,\"in_app\":true}]}]");
}
END_TEST

/* Details have modules and types of Swift names, as far as what is shown has not. */
START_TEST(swift_in_full)
{
    static const struct frame frames[] = {
        {.function = "closure #1 in Feed.reload(force:)",
         .mangled = "$s4Shop4FeedC6reload5forceySb_tFyycfU_",
         .line = 3},
        {.function = "$s4Shop4Fee", .mangled = "$s4Shop4Fee", .line = 1},
        {.function = "Shop.one : Swift.Int", .mangled = "$s4Shop3oneSivp", .line = 1},
        {.function = "main", .mangled = "main", .line = 1},
    };
    struct resolved_frame f = shop_frame();
    f.frames = frames;
    f.frame_count = 4;
    struct resolved_stack stack = {&f, 1};
    expect(&stack, NULL, NULL, false,
           "[{\"address\":null,\"image\":\"Shop\","
           "\"uuid\":\"0285884D-3DE9-3051-B23A-63B48BF99F35\",\"offset\":\"0x1262db\","
           "\"status\":\"resolved\",\"approximate\":false,\"frames\":["
           "{\"function\":\"closure #1 in Feed.reload(force:)\",\"full\":\"closure #1 () -> () in "
           "Shop.Feed.reload(force: Swift.Bool) -> ()\",\"mangled\":"
           "\"$s4Shop4FeedC6reload5forceySb_tFyycfU_\",\"file\":null,\"line\":3,\"inlined\":false,"
           "\"in_app\":true},"
           "{\"function\":\"$s4Shop4Fee\",\"full\":null,\"mangled\":\"$s4Shop4Fee\",\"file\":null,"
           "\"line\":1,\"inlined\":false,\"in_app\":true},"
           "{\"function\":\"Shop.one : Swift.Int\",\"full\":null,\"mangled\":\"$s4Shop3oneSivp\","
           "\"file\":null,\"line\":1,\"inlined\":false,\"in_app\":true},"
           "{\"function\":\"main\",\"full\":null,\"mangled\":\"main\",\"file\":null,\"line\":1,"
           "\"inlined\":false,\"in_app\":true}]}]");
}
END_TEST

START_TEST(what_is_not_known_is_null)
{
    struct resolved_frame frames[4] = {
        {.status = FRAME_NO_IMAGE, .frames = device_frame, .frame_count = 1},
        {.raw = {.image = image_named_id("libx"), .offset = 0x10, .image_kind = IMAGE_NAMED},
         .status = FRAME_NO_SYMBOLS,
         .image = image_named_id("libx"),
         .offset = 0x10,
         .image_name = "libx"},
        {.raw = {.image = image_group_id("20G75", "arm64"),
                 .offset = 0x180001000,
                 .image_kind = IMAGE_GROUP},
         .status = FRAME_NO_SYMBOLS,
         .image = image_group_id("20G75", "arm64"),
         .offset = 0x180001000},
        shop_frame(),
    };
    frames[3].frame_count = 0;
    frames[3].status = FRAME_OUT_OF_RANGE;
    frames[3].approximate = true;
    struct resolved_stack stack = {frames, 4};
    /* The last one was given as an offset: nobody reported an address. */
    uint64_t addresses[4] = {0xdead, 0x5010, 0x1a0001000, 0x1262db};
    expect(&stack, addresses, NULL, false,
           "[{\"address\":\"0xdead\",\"image\":null,\"uuid\":null,\"offset\":null,"
           "\"status\":\"no_image\",\"approximate\":false,\"frames\":[{\"function\":"
           "\"objc_msgSend\",\"full\":null,\"mangled\":null,\"file\":null,\"line\":null,"
           "\"inlined\":false,"
           "\"in_app\":false}]},"
           "{\"address\":\"0x5010\",\"image\":\"libx\",\"uuid\":null,\"offset\":\"0x10\","
           "\"status\":\"no_symbols\",\"approximate\":false,\"frames\":[]},"
           "{\"address\":\"0x1a0001000\",\"image\":null,\"uuid\":null,\"offset\":null,"
           "\"status\":\"no_symbols\",\"approximate\":false,\"frames\":[]},"
           "{\"address\":null,\"image\":\"Shop\",\"uuid\":"
           "\"0285884D-3DE9-3051-B23A-63B48BF99F35\",\"offset\":\"0x1262db\","
           "\"status\":\"out_of_range\",\"approximate\":true,\"frames\":[]}]");
}
END_TEST

START_TEST(a_placed_group_frame_is_its_image)
{
    struct resolved_frame f = shop_frame();
    f.raw = (struct raw_frame){.image = image_group_id("20G75", "arm64"),
                               .offset = 0x1801262db,
                               .image_kind = IMAGE_GROUP};
    f.frame_count = 0;
    struct resolved_stack stack = {&f, 1};
    expect(&stack, NULL, NULL, false,
           "[{\"address\":null,\"image\":\"Shop\",\"uuid\":"
           "\"0285884D-3DE9-3051-B23A-63B48BF99F35\",\"offset\":\"0x1262db\","
           "\"status\":\"resolved\",\"approximate\":false,\"frames\":[]}]");
}
END_TEST

START_TEST(rules_are_explained)
{
    struct resolved_frame frames[2] = {shop_frame(), shop_frame()};
    frames[0].frame_count = 0;
    struct frame_fate fates[] = {
        {.raw_index = 0, .frame_index = 0, .rule = "beyond \"x\""},
        {.raw_index = 1, .frame_index = 0, .kept = false, .in_app = false, .rule = "drop"},
        {.raw_index = 1, .frame_index = 1, .kept = true, .in_app = true, .rule = "first"},
    };
    struct cluster_verdict verdict = {.fates = fates, .fate_count = 3};
    struct resolved_stack stack = {frames, 2};
    expect(
        &stack, NULL, &verdict, true,
        "[{\"address\":null,\"image\":\"Shop\",\"uuid\":"
        "\"0285884D-3DE9-3051-B23A-63B48BF99F35\",\"offset\":\"0x1262db\","
        "\"status\":\"resolved\",\"approximate\":false,\"kept\":false,"
        "\"rule\":\"beyond \\\"x\\\"\",\"frames\":[]},"
        "{\"address\":null,\"image\":\"Shop\",\"uuid\":"
        "\"0285884D-3DE9-3051-B23A-63B48BF99F35\",\"offset\":\"0x1262db\","
        "\"status\":\"resolved\",\"approximate\":false,\"frames\":["
        "{\"function\":\"inner()\",\"full\":null,\"mangled\":\"_Z5innerv\",\"file\":\"/src/a.cpp\","
        "\"line\":7,\"inlined\":true,\"in_app\":false,\"kept\":false,\"rule\":\"drop\"},"
        "{\"function\":\"outer()\",\"full\":null,\"mangled\":\"_Z5outerv\",\"file\":null,\"line\":"
        "null,"
        "\"inlined\":false,\"in_app\":true,\"kept\":true,\"rule\":\"first\"}]}]");
}
END_TEST

START_TEST(nothing_is_an_empty_list)
{
    struct resolved_stack stack = {NULL, 0};
    expect(&stack, NULL, NULL, true, "[]");
}
END_TEST

UNIT_MAIN("frames_json", a_resolved_frame, swift_in_full, what_is_not_known_is_null,
          a_placed_group_frame_is_its_image, rules_are_explained, nothing_is_an_empty_list)
