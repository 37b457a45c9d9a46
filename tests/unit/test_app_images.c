#include "server/jobs/app_images.c"

#include <stdio.h>

#include "tests/support/rig.h"
#include "tests/support/unit.h"

#define APP   "com.example.shop"
#define OTHER "com.example.other"

static struct rig rig;
static struct app_images *images;
static struct uuid group;

static struct uuid uuid_of(uint32_t n)
{
    struct uuid u;
    memset(&u, 0, sizeof(u));
    u.bytes[0] = 7;
    memcpy(u.bytes + 8, &n, sizeof(n));
    return u;
}

static const char RULES[] = "platform image=system*\n";
static struct rules *rules;

static void setup_with(size_t max_entries)
{
    rig_start(&rig);
    group = image_group_id("20G75", "arm64");
    ck_assert_int_eq(rules_new(RULES, strlen(RULES), &rules, NULL), ERR_OK);
    images = app_images_new(rig.reader, rules, max_entries);
    ck_assert_ptr_nonnull(images);
}

static void teardown(void)
{
    app_images_free(images);
    rules_free(rules);
    rig_stop(&rig);
}

/* A report that brings images `from` … `to` of an app into the database. */
static void bring(const char *app, const char *id, uint32_t from, uint32_t to,
                  enum image_class class, bool in_group)
{
    static struct op_image list[1000];
    static char names[1000][32];
    struct raw_frame frame = {
        .image = uuid_of(from), .offset = 0x10, .image_kind = IMAGE_UUID, .kind = FRAME_LEAF};
    for (uint32_t n = from; n <= to; n++) {
        snprintf(names[n - from], sizeof(names[0]), "%.8s%u", app + 12, n);
        list[n - from] = (struct op_image){.id = uuid_of(n),
                                           .kind = IMAGE_UUID,
                                           .class = class,
                                           .name = names[n - from],
                                           .in_group = in_group,
                                           .group = group};
    }
    rig_apply(&rig, ops_report(app, id, &frame, 1, list, to - from + 1));
}

static const char *name_of(const struct image_lookup *lookup, uint32_t n)
{
    struct uuid u = uuid_of(n);
    struct image_facts facts;
    struct error err;
    bool known = lookup->facts(lookup->ctx, &u, &facts);
    ck_assert_msg(app_images_end(images, &err) == ERR_OK, "%s", err.text);
    return known ? facts.name : NULL;
}

/* `bring` names image 7 of com.example.system "system7". */
START_TEST(a_name_gives_a_class_where_there_is_none)
{
    static const char SYSTEM_APP[] = "com.example.system";
    static const struct {
        enum image_class class;
        enum image_class want;
    } CASES[] = {{IMAGE_CLASS_UNKNOWN, IMAGE_CLASS_SYSTEM},
                 {IMAGE_CLASS_APP, IMAGE_CLASS_APP},
                 {IMAGE_CLASS_SYSTEM, IMAGE_CLASS_SYSTEM}};
    setup_with(64);
    for (uint32_t i = 0; i < 3; i++) {
        char id[8];
        snprintf(id, sizeof(id), "c%u", i);
        bring(SYSTEM_APP, id, 7 + i, 7 + i, CASES[i].class, false);
    }
    bring("com.example.own", "o", 20, 20, IMAGE_CLASS_UNKNOWN, false);
    struct image_lookup lookup = app_images_begin(images, 1, SYSTEM_APP);
    for (uint32_t i = 0; i < 3; i++) {
        struct uuid u = uuid_of(7 + i);
        struct image_facts facts;
        ck_assert(lookup.facts(lookup.ctx, &u, &facts));
        ck_assert_int_eq(facts.class, CASES[i].want);
    }
    lookup = app_images_begin(images, 2, "com.example.own");
    struct uuid u = uuid_of(20);
    struct image_facts facts;
    ck_assert(lookup.facts(lookup.ctx, &u, &facts));
    ck_assert_str_eq(facts.name, "own20");
    ck_assert_int_eq(facts.class, IMAGE_CLASS_UNKNOWN);
    teardown();
}
END_TEST

START_TEST(facts_belong_to_an_app)
{
    struct image_facts facts;
    struct uuid u = uuid_of(1);
    setup_with(100);
    bring(APP, "r1", 1, 2, IMAGE_CLASS_APP, false);
    bring(OTHER, "r1", 1, 1, IMAGE_CLASS_SYSTEM, false);
    struct image_lookup lookup = app_images_begin(images, 1, APP);
    ck_assert_str_eq(name_of(&lookup, 1), "shop1");
    ck_assert(lookup.facts(lookup.ctx, &u, &facts));
    ck_assert_int_eq(facts.class, IMAGE_CLASS_APP);
    lookup = app_images_begin(images, 2, OTHER);
    ck_assert_str_eq(name_of(&lookup, 1), "other1");
    ck_assert(lookup.facts(lookup.ctx, &u, &facts));
    ck_assert_int_eq(facts.class, IMAGE_CLASS_SYSTEM);
    ck_assert_ptr_null(name_of(&lookup, 2));
    teardown();
}
END_TEST

START_TEST(forgets_when_told)
{
    setup_with(100);
    struct image_lookup lookup = app_images_begin(images, 1, APP);
    ck_assert_ptr_null(name_of(&lookup, 5));
    bring(APP, "r1", 5, 5, IMAGE_CLASS_APP, false);
    lookup = app_images_begin(images, 1, APP);
    ck_assert_ptr_null(name_of(&lookup, 5)); /* of this pass */
    app_images_forget(images);
    lookup = app_images_begin(images, 1, APP);
    ck_assert_str_eq(name_of(&lookup, 5), "shop5");
    teardown();
}
END_TEST

/* More images than it keeps, in one stack and over many: every answer is right all the same. */
START_TEST(is_bounded)
{
    char wanted[32];
    setup_with(50);
    bring(APP, "r1", 1, 500, IMAGE_CLASS_APP, false);
    struct image_lookup lookup = app_images_begin(images, 1, APP);
    for (int round = 0; round < 3; round++) {
        for (uint32_t n = 1; n <= 500; n++) {
            snprintf(wanted, sizeof(wanted), "shop%u", n);
            ck_assert_str_eq(name_of(&lookup, n), wanted);
            ck_assert_uint_le(images->count, 100);
        }
    }
    lookup = app_images_begin(images, 1, APP);
    ck_assert_uint_eq(images->count, 0);
    ck_assert_str_eq(name_of(&lookup, 7), "shop7");
    teardown();
}
END_TEST

static void place_known(uint32_t n, uint64_t vmaddr, uint64_t size)
{
    struct error err;
    struct op_slice slice = {.shelf = uuid_of(n),
                             .name = "x",
                             .member = "",
                             .arch = "arm64",
                             .indexed = true,
                             .installed = true,
                             .text_vmaddr = vmaddr,
                             .text_size = size};
    struct write_op *op = write_op_new(WRITE_UPLOAD, 4096);
    op->u.upload = (struct op_upload){
        .spool_file = "1-x.part", .bundle_id = "", .version = "", .build = "", .os_build = ""};
    ck_assert_int_eq(rig_call(&rig, op, &err), ERR_OK);
    struct write_op *state = write_op_new(WRITE_UPLOAD_STATE, 4096);
    state->u.upload_state.id = op->u.upload.id;
    state->u.upload_state.state = UPLOAD_INDEXED;
    state->u.upload_state.slices = &slice;
    state->u.upload_state.slice_count = 1;
    rig_apply(&rig, state);
    write_op_free(op);
}

/* "n+offset", "" when not placed. */
static const char *placed(const struct image_lookup *lookup, uint64_t unslid)
{
    static char out[64];
    struct uuid image;
    uint64_t offset;
    uint32_t n;
    if (!lookup->place(lookup->ctx, &group, unslid, &image, &offset))
        return "";
    memcpy(&n, image.bytes + 8, sizeof(n));
    snprintf(out, sizeof(out), "%u+%llx", n, (unsigned long long)offset);
    return out;
}

START_TEST(addresses_are_placed_inside_known_members_only)
{
    setup_with(50);
    bring(APP, "r1", 1, 4, IMAGE_CLASS_SYSTEM, true);
    struct image_lookup lookup = app_images_begin(images, 1, APP);
    ck_assert_str_eq(placed(&lookup, 0x180000000), ""); /* nobody's place is known */
    place_known(2, 0x180000000, 0x1000);
    place_known(1, 0x180004000, 0x1000);
    place_known(3, UINT64_MAX - 0xfff, 0x1000); /* up to the last address */
    app_images_forget(images);
    lookup = app_images_begin(images, 1, APP);
    ck_assert_str_eq(placed(&lookup, 0x17fffffff), "");
    ck_assert_str_eq(placed(&lookup, 0x180000000), "2+0");
    ck_assert_str_eq(placed(&lookup, 0x180000fff), "2+fff");
    ck_assert_str_eq(placed(&lookup, 0x180001000), ""); /* between two: of somebody else */
    ck_assert_str_eq(placed(&lookup, 0x180003fff), "");
    ck_assert_str_eq(placed(&lookup, 0x180004000), "1+0");
    ck_assert_str_eq(placed(&lookup, 0x180005000), "");
    ck_assert_str_eq(placed(&lookup, UINT64_MAX), "3+fff");
    struct uuid nobody = uuid_of(99), image;
    uint64_t offset;
    ck_assert(!lookup.place(lookup.ctx, &nobody, 0x180000000, &image, &offset));
    teardown();
}
END_TEST

/* One OS, one group; what each app's reports named of it. */
START_TEST(members_of_a_group_belong_to_an_app)
{
    setup_with(50);
    bring(APP, "r1", 1, 2, IMAGE_CLASS_SYSTEM, true);
    bring("com.example.other", "r2", 2, 3, IMAGE_CLASS_SYSTEM, true);
    for (uint32_t n = 1; n <= 3; n++)
        place_known(n, 0x180000000 + n * 0x1000u, 0x1000);
    for (int round = 0; round < 2; round++) {
        struct image_lookup lookup = app_images_begin(images, 1, APP);
        ck_assert_str_eq(placed(&lookup, 0x180001004), "1+4");
        ck_assert_str_eq(placed(&lookup, 0x180002004), "2+4");
        ck_assert_str_eq(placed(&lookup, 0x180003004), "");
        lookup = app_images_begin(images, 2, "com.example.other");
        ck_assert_str_eq(placed(&lookup, 0x180001004), "");
        ck_assert_str_eq(placed(&lookup, 0x180002004), "2+4");
        ck_assert_str_eq(placed(&lookup, 0x180003004), "3+4");
    }
    teardown();
}
END_TEST

static void own_image(const char *app, uint32_t n, uint32_t shelf)
{
    const struct uuid image = uuid_of(n), at = uuid_of(shelf);
    rig_own(&rig, app, &image, &at);
}

static bool served_by(const struct image_lookup *lookup, uint32_t n, uint32_t shelf)
{
    struct uuid image = uuid_of(n), want = uuid_of(shelf), found;
    struct error err;
    lookup->shelf(lookup->ctx, &image, &found);
    ck_assert_int_eq(app_images_end(images, &err), ERR_OK);
    return uuid_equal(&found, &want);
}

/* Which index serves is asked once a page: what comes later turns the page's stacks back. */
START_TEST(an_app_is_served_by_its_own_index)
{
    struct error err;
    setup_with(50);
    bring(APP, "r1", 1, 1, IMAGE_CLASS_APP, false);
    app_images_turn(images, 1);
    struct image_lookup lookup = app_images_begin(images, 1, APP);
    ck_assert(served_by(&lookup, 1, 1));
    own_image(APP, 1, 100);
    ck_assert(served_by(&lookup, 1, 1));
    app_images_turn(images, 1);
    ck_assert(served_by(&lookup, 1, 1));
    app_images_turn(images, 2);
    ck_assert(served_by(&lookup, 1, 100));
    ck_assert(served_by(&lookup, 2, 2)); /* no report named it */
    own_image(APP, 2, 101);
    app_images_turn(images, 3);
    ck_assert(served_by(&lookup, 2, 101));
    ck_assert(served_by(&lookup, 1, 100));
    lookup = app_images_begin(images, 2, OTHER);
    ck_assert(served_by(&lookup, 1, 1));
    storage_reader_deadline(rig.reader, 0);
    lookup = app_images_begin(images, 3, "com.example.third");
    struct uuid image = uuid_of(1), found;
    lookup.shelf(lookup.ctx, &image, &found);
    ck_assert_int_eq(app_images_end(images, &err), ERR_LIMIT);
    storage_reader_deadline(rig.reader, INT64_MAX);
    teardown();
}
END_TEST

START_TEST(a_failing_database_is_not_an_unknown_image)
{
    struct image_facts facts;
    struct uuid u = uuid_of(1);
    struct error err;
    setup_with(50);
    bring(APP, "r1", 1, 1, IMAGE_CLASS_APP, false);
    storage_reader_deadline(rig.reader, 0); /* long over: every query fails */
    struct image_lookup lookup = app_images_begin(images, 1, APP);
    ck_assert(!lookup.facts(lookup.ctx, &u, &facts));
    ck_assert_int_eq(app_images_end(images, &err), ERR_LIMIT);
    storage_reader_deadline(rig.reader, INT64_MAX);
    lookup = app_images_begin(images, 1, APP);
    ck_assert_str_eq(name_of(&lookup, 1), "shop1");
    teardown();
}
END_TEST

UNIT_MAIN("app_images", a_name_gives_a_class_where_there_is_none, facts_belong_to_an_app,
          forgets_when_told, is_bounded, addresses_are_placed_inside_known_members_only,
          members_of_a_group_belong_to_an_app, an_app_is_served_by_its_own_index,
          a_failing_database_is_not_an_unknown_image)
