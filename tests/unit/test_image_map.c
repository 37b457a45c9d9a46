#include "symbolizer/image_map.h"

#include <inttypes.h>
#include <string.h>

#include "tests/support/unit.h"

static struct arena arena;

static struct uuid id(int n)
{
    struct uuid u = {{0}};
    u.bytes[0] = (uint8_t)n;
    u.bytes[15] = 0xee;
    return u;
}

/* What the fake layout has learnt: id(n) -> vmaddr. */
struct learnt {
    int n;
    uint64_t vmaddr;
};

static bool layout_vmaddr(void *ctx, const struct uuid *uuid, uint64_t *ret)
{
    for (const struct learnt *l = ctx; l->n; l++) {
        struct uuid u = id(l->n);
        if (uuid_equal(&u, uuid)) {
            *ret = l->vmaddr;
            return true;
        }
    }
    return false;
}

static struct image_map *build(struct image_entry *e, size_t n, const char *arch,
                               struct learnt *learnt)
{
    struct image_map *m = NULL;
    struct error err = {0};
    struct image_layout layout = {layout_vmaddr, learnt};
    arena_done(&arena);
    arena_init(&arena, 16 << 20);
    ck_assert_msg(image_map_build(e, n, "17.4", arch, learnt ? &layout : NULL, &arena, &m, &err) ==
                      ERR_OK,
                  "%s", err.text);
    return m;
}

static struct image_entry loaded(int n, uint64_t load, uint64_t size)
{
    return (struct image_entry){
        .uuid = id(n), .name = "x", .has_load_address = true, .load_address = load, .size = size};
}

static struct image_entry slid(int n, const char *path, uint64_t slide, uint64_t size)
{
    const char *slash = path ? strrchr(path, '/') : NULL;
    return (struct image_entry){.uuid = id(n),
                                .name = slash ? slash + 1 : "Some",
                                .path = path,
                                .has_slide = true,
                                .slide = slide,
                                .size = size};
}

static void wants(const struct image_map *m, uint64_t address, size_t entry, int n, uint64_t offset)
{
    struct raw_frame f = {.kind = FRAME_RETURN};
    struct uuid u = id(n);
    size_t got;
    image_map_find(m, address, &f, &got);
    ck_assert_msg(f.image_kind == IMAGE_UUID && got == entry && uuid_equal(&f.image, &u) &&
                      f.offset == offset,
                  "0x%" PRIx64 ": kind %d entry %zu offset 0x%" PRIx64, address, f.image_kind, got,
                  f.offset);
    ck_assert_int_eq(f.kind, FRAME_RETURN);
}

static void wants_group(const struct image_map *m, uint64_t address, uint64_t unslid)
{
    struct raw_frame f = {0};
    size_t got;
    image_map_find(m, address, &f, &got);
    ck_assert_msg(f.image_kind == IMAGE_GROUP && f.offset == unslid && got == SIZE_MAX,
                  "0x%" PRIx64 ": kind %d offset 0x%" PRIx64, address, f.image_kind, f.offset);
    ck_assert(uuid_equal(&f.image, image_map_group(m)));
}

static void wants_none(const struct image_map *m, uint64_t address)
{
    struct raw_frame f = {.offset = 7, .image = id(9)};
    size_t got = 0;
    image_map_find(m, address, &f, &got);
    ck_assert_msg(f.image_kind == IMAGE_NONE && f.offset == 0 && uuid_is_nil(&f.image) &&
                      got == SIZE_MAX,
                  "0x%" PRIx64 ": kind %d", address, f.image_kind);
}

/* B2: an executable and a dylib, slid and not: offsets count from the load address. */
START_TEST(executable_and_dylib)
{
    struct image_entry e[] = {loaded(1, 0x102f3c000, 32768), loaded(2, 0x10301c000, 32768)};
    struct image_map *m = build(e, 2, "arm64", NULL);
    wants(m, 0x103020010, 1, 2, 0x4010);
    wants(m, 0x102f4001c, 0, 1, 0x401c);
    e[0].load_address = 0x100000000;
    m = build(e, 2, "arm64", NULL);
    wants(m, 0x10000401c, 0, 1, 0x401c);
    wants(m, 0x100000000, 0, 1, 0);
    wants(m, 0x100007fff, 0, 1, 0x7fff);
    wants_none(m, 0x100008000);
    wants_none(m, 0xffffffff);
}
END_TEST

/* B3: bits are removed only where the raw address lies in no image. */
START_TEST(pointer_authentication)
{
    struct image_entry e[] = {loaded(1, 0x102f3c000, 32768), loaded(2, 0x10301c000, 32768),
                              loaded(3, 0x7ff815f5e000, 229376)};
    struct image_map *m = build(e, 3, "arm64e", NULL);
    wants(m, 0x103020010, 1, 2, 0x4010);
    wants(m, 0x9b0ea28102f4001c, 0, 1, 0x401c);
    wants(m, 0x3be30102f40038, 0, 1, 0x4038);
    wants(m, 0x7ff815f5f0ee, 2, 3, 0x10ee);
    wants_none(m, 0x9b0ea28202f4001c);
}
END_TEST

/* B11: sizes that reach into others, no sizes, no order, twins, the ends of the address space. */
START_TEST(overlapping_and_unordered)
{
    struct image_entry e[] = {
        loaded(1, 0x200000000, 0x1000), loaded(2, 0x100000000, 0xffffffffff),
        loaded(3, 0x180000000, 0),      loaded(4, 0x180004000, 0x1000),
        loaded(5, 0x180008000, 0),      loaded(6, UINT64_MAX - 0xff, 0x1000),
        loaded(7, 0x200000000, 0x1000),
    };
    e[0].uuid = (struct uuid){{0}};
    struct image_map *m = build(e, 7, "arm64", NULL);
    wants(m, 0x100000000, 1, 2, 0);
    wants(m, 0x17fffffff, 1, 2, 0x7fffffff);
    wants(m, 0x180000000, 2, 3, 0);
    wants(m, 0x180003fff, 2, 3, 0x3fff);
    wants(m, 0x180004fff, 3, 4, 0xfff);
    wants_none(m, 0x180005000); /* in a gap, though image 2 claims all of it */
    wants(m, 0x1ffffffff, 4, 5, 0x7fff7fff);
    wants(m, 0x200000010, 6, 7, 0x10); /* of twins the one with a UUID */
    wants_none(m, 0x200001000);
    wants_none(m, 0);
    wants(m, UINT64_MAX - 1, 5, 6, 0xfe);
    wants_none(m, 0xffffffff);
}
END_TEST

START_TEST(size_caps)
{
    struct image_entry e[] = {loaded(1, 0x100000000, 0), loaded(2, 0x7f0000000000, 0)};
    struct image_map *m = build(e, 2, NULL, NULL);
    wants(m, 0x100000000 + IMAGE_SIZE_CAP - 1, 0, 1, IMAGE_SIZE_CAP - 1);
    wants_none(m, 0x100000000 + IMAGE_SIZE_CAP);
    m = build(NULL, 0, NULL, NULL);
    wants_none(m, 0x100000000);
    ck_assert(uuid_is_nil(image_map_group(m)));
}
END_TEST

/* B25: no UUID is a name, and never another image's. */
START_TEST(without_uuid)
{
    struct image_entry e[] = {loaded(1, 0x100000000, 0x8000), loaded(2, 0x100010000, 0x8000)};
    e[0].uuid = e[1].uuid = (struct uuid){{0}};
    e[0].name = "Feed";
    e[1].name = "Plug";
    struct image_map *m = build(e, 2, "arm64", NULL);
    struct raw_frame a, b;
    image_map_find(m, 0x10000401c, &a, NULL);
    image_map_find(m, 0x10001401c, &b, NULL);
    struct uuid feed = image_named_id("Feed");
    ck_assert_int_eq(a.image_kind, IMAGE_NAMED);
    ck_assert(uuid_equal(&a.image, &feed));
    ck_assert_uint_eq(a.offset, 0x401c);
    ck_assert_int_eq(b.image_kind, IMAGE_NAMED);
    ck_assert(!uuid_equal(&a.image, &b.image));
}
END_TEST

#define APP "/private/var/containers/Bundle/Application/F4262F54/Shop.app/"

START_TEST(slide_alone_with_paths)
{
    struct image_entry e[] = {
        slid(1, "/usr/lib/libobjc.A.dylib", 0x5430000, 0x20000),
        slid(2, APP "Frameworks/Lib.framework/Lib", 0x104540000, 0x10000),
        slid(3, APP "Shop", 0x4f4000, 0x10000),
        slid(4, "/System/Library/Frameworks/UIKit.framework/UIKit", 0x5430000, 0x100000),
        slid(5, APP "PlugIns/Share.appex/Share", 0xf4000, 0x1000),
        slid(6, APP "Shop.debug.dylib", 0x105000000, 0x1000),
    };
    struct image_map *m = build(e, 6, "arm64", NULL);
    wants(m, 0x1004f4010, 2, 3, 0x10);
    wants(m, 0x104540020, 1, 2, 0x20);
    wants(m, 0x1000f4030, 4, 5, 0x30);
    wants(m, 0x105000030, 5, 6, 0x30);
    wants_group(m, 0x18a2b4000, 0x18a2b4000 - 0x5430000);
    ck_assert(image_map_in_group(m, 0) && image_map_in_group(m, 3));
    ck_assert(!image_map_in_group(m, 1) && !image_map_in_group(m, 2));
    struct uuid group = image_group_id("17.4", "arm64");
    ck_assert(uuid_equal(image_map_group(m), &group));
    ck_assert_int_eq(e[3].class, IMAGE_CLASS_SYSTEM);
    ck_assert_int_eq(e[1].class, IMAGE_CLASS_APP);
    wants_none(m, 0);
    wants_none(m, UINT64_MAX);
}
END_TEST

START_TEST(learnt_vmaddrs)
{
    struct learnt learnt[] = {{4, 0x18f000000}, {3, 0x100000000}, {2, 0x40000}, {0, 0}};
    struct image_entry e[] = {
        slid(1, "/usr/lib/libobjc.A.dylib", 0x5430000, 0x20000),
        slid(2, APP "Frameworks/Lib.framework/Lib", 0x104500000, 0x10000),
        slid(3, APP "Shop", 0x4f4000, 0x10000),
        slid(4, "/System/Library/Frameworks/UIKit.framework/UIKit", 0x5430000, 0x100000),
    };
    struct image_map *m = build(e, 4, "arm64", learnt);
    wants(m, 0x18f000000 + 0x5430000 + 0x88, 3, 4, 0x88);
    wants_group(m, 0x18f100000 + 0x5430000, 0x18f100000);
    wants(m, 0x104540020, 1, 2, 0x20); /* not linked at 0 */
    wants(m, 0x1004f4010, 2, 3, 0x10);
    ck_assert(!image_map_in_group(m, 3) && image_map_in_group(m, 0));
    /* Without a size it would swallow its unknown neighbours: it stays with the group. */
    e[3].size = 0;
    m = build(e, 4, "arm64", learnt);
    wants_group(m, 0x18f000000 + 0x5430000 + 0x88, 0x18f000088);
    /* With no unknown ones there is no group, and nobody to swallow. */
    m = build(e + 1, 3, "arm64", learnt);
    ck_assert(uuid_is_nil(image_map_group(m)));
    wants(m, 0x18f000000 + 0x5430000 + 0x88, 2, 4, 0x88);
}
END_TEST

START_TEST(slide_alone_without_paths)
{
    struct image_entry e[] = {
        slid(1, NULL, 0x4f4000, 0),  slid(2, NULL, 0x5430000, 0),   slid(3, NULL, 0x104540000, 0),
        slid(4, NULL, 0x5430000, 0), slid(5, NULL, 0x104640000, 0),
    };
    struct image_map *m = build(e, 5, "arm64e", NULL);
    wants(m, 0x1004f4010, 0, 1, 0x10);
    wants(m, 0x104540020, 2, 3, 0x20);
    wants(m, 0x104640020, 4, 5, 0x20);
    wants_group(m, 0x18a2b4000, 0x18a2b4000 - 0x5430000); /* images without size end before it */
    wants_group(m, 0x9b0ea2818a2b4000, 0x18a2b4000 - 0x5430000); /* signed */
    ck_assert(image_map_in_group(m, 1) && image_map_in_group(m, 3));
}
END_TEST

/* No slide at all (0): the first image is the executable, equal slides or not. */
START_TEST(slide_zero)
{
    struct image_entry e[] = {slid(1, NULL, 0, 0x10000), slid(2, NULL, 0, 0), slid(3, NULL, 0, 0)};
    struct image_map *m = build(e, 3, "arm64", NULL);
    wants(m, 0x100000010, 0, 1, 0x10);
    wants_group(m, 0x18a2b4000, 0x18a2b4000);
}
END_TEST

/* Recorders that cut addresses to 32 bits give slides below zero. */
START_TEST(negative_slide)
{
    struct image_entry e[] = {
        slid(1, APP "Shop", 0xe4000 - 0x100000000, 0x10000),
        slid(2, "/usr/lib/libobjc.A.dylib", (uint64_t)-0x80000000ll, 0x1000),
        slid(3, "/usr/lib/libc.dylib", (uint64_t)-0x80000000ll, 0x1000),
        slid(4, APP "Frameworks/Lib.framework/Lib", 0x280000, 0x1000),
    };
    struct image_map *m = build(e, 4, "arm64", NULL);
    wants(m, 0xe4010, 0, 1, 0x10);
    wants(m, 0x280010, 3, 4, 0x10);
    wants_group(m, 0x8052d000, 0x10052d000);
}
END_TEST

START_TEST(thirty_two_bits)
{
    struct image_entry e[] = {
        slid(1, APP "Shop", 0xce000, 0x10000),
        slid(2, APP "Frameworks/Lib.framework/Lib", 0x280000, 0),
        slid(3, "/usr/lib/libobjc.A.dylib", 0x2e000, 0),
    };
    struct image_map *m = build(e, 3, "armv7", NULL);
    wants(m, 0xd2010, 0, 1, 0x10);
    wants(m, 0x280010, 1, 2, 0x10);
    wants_group(m, 0x20032000, 0x20004000);
    e[0].arch = "arm64_32";
    m = build(e, 3, NULL, NULL);
    wants(m, 0xd2010, 0, 1, 0x10);
}
END_TEST

/* A system image outside the cache (dyld, a simulator's frameworks) is linked at 0. */
START_TEST(system_images_outside_the_cache)
{
    struct image_entry e[] = {
        slid(1, APP "Shop", 0x4f4000, 0x10000),
        slid(2, "/usr/lib/dyld", 0x104600000, 0x60000),
        slid(3, "/usr/lib/libc.dylib", 0x5430000, 0),
    };
    struct image_map *m = build(e, 3, "arm64", NULL);
    wants(m, 0x104600010, 1, 2, 0x10);
    ck_assert(!image_map_in_group(m, 1) && image_map_in_group(m, 2));
}
END_TEST

START_TEST(both_fields_teach_a_vmaddr)
{
    struct image_entry e[] = {loaded(1, 0x1890000000, 0x1000), slid(2, NULL, 1, 0),
                              loaded(3, 5, 5)};
    e[0].has_slide = true;
    e[0].slide = 0x10000000;
    build(e, 3, "arm64", NULL);
    ck_assert(e[0].has_vmaddr);
    ck_assert_uint_eq(e[0].vmaddr, 0x1880000000);
    ck_assert(!e[1].has_vmaddr && !e[2].has_vmaddr);
}
END_TEST

/* B73: a slide given as load address lies outside, it names no other function. */
START_TEST(slide_given_as_load_address)
{
    struct image_entry e[] = {loaded(1, 0x4f4000, 0x10000)};
    struct image_map *m = build(e, 1, "arm64", NULL);
    wants_none(m, 0x1004f4010);
}
END_TEST

START_TEST(without_any_place)
{
    struct image_entry e[] = {{.uuid = id(1), .name = "x", .size = 0x1000}};
    struct image_map *m = build(e, 1, "arm64", NULL);
    wants_none(m, 0x100);
    ck_assert(!image_map_in_group(m, 0));
}
END_TEST

START_TEST(classes_of_paths)
{
    static const struct {
        const char *path;
        enum image_class want;
    } cases[] = {
        {NULL, IMAGE_CLASS_UNKNOWN},
        {"", IMAGE_CLASS_UNKNOWN},
        {"Shop", IMAGE_CLASS_UNKNOWN},
        {APP "Shop", IMAGE_CLASS_APP},
        {APP "Frameworks/libswiftCore.dylib", IMAGE_CLASS_APP},
        {"/Users/x/Library/Developer/CoreSimulator/Devices/1/data/Containers/Bundle/Application/2/"
         "Shop.app/Shop",
         IMAGE_CLASS_APP},
        {"/private/var/mobile/Containers/Data/Application/1/tmp/x.dylib", IMAGE_CLASS_APP},
        {"/System/Library/Frameworks/UIKit.framework/UIKit", IMAGE_CLASS_SYSTEM},
        {"/System/Library/CoreServices/SpringBoard.app/SpringBoard", IMAGE_CLASS_SYSTEM},
        {"/usr/lib/system/libdyld.dylib", IMAGE_CLASS_SYSTEM},
        {"/Developer/usr/lib/libBacktraceRecording.dylib", IMAGE_CLASS_SYSTEM},
        {"/private/preboot/Cryptexes/OS/usr/lib/libobjc.A.dylib", IMAGE_CLASS_SYSTEM},
        {"/Applications/Xcode.app/Contents/Developer/Platforms/iPhoneSimulator.platform/x/"
         "RuntimeRoot"
         "/usr/lib/libobjc.A.dylib",
         IMAGE_CLASS_SYSTEM},
        {"/Library/Developer/CoreSimulator/Profiles/Runtimes/iOS 17.simruntime/Contents/Resources/"
         "RuntimeRoot/System/Library/Frameworks/UIKit.framework/UIKit",
         IMAGE_CLASS_SYSTEM},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        ck_assert_msg(image_class_of_path(cases[i].path) == cases[i].want, "%s", cases[i].path);
}
END_TEST

UNIT_MAIN("image_map", executable_and_dylib, pointer_authentication, overlapping_and_unordered,
          size_caps, without_uuid, slide_alone_with_paths, learnt_vmaddrs,
          slide_alone_without_paths, slide_zero, negative_slide, thirty_two_bits,
          system_images_outside_the_cache, both_fields_teach_a_vmaddr, slide_given_as_load_address,
          without_any_place, classes_of_paths)
