#include "server/analysis/device_class.h"
#include "tests/support/unit.h"

START_TEST(by_memory_then_by_model)
{
    static const struct {
        uint32_t memory_mb;
        const char *model;
        enum device_class class;
    } rows[] = {
        {1024, NULL, DEVICE_CLASS_LOW},
        {1990, "iPhone17,1", DEVICE_CLASS_LOW},
        {2048, "", DEVICE_CLASS_LOW},
        {2960, NULL, DEVICE_CLASS_MID},
        {3850, NULL, DEVICE_CLASS_MID},
        {5700, NULL, DEVICE_CLASS_HIGH},
        {0, "iPhone7,2", DEVICE_CLASS_LOW},   /* 6 */
        {0, "iPhone8,4", DEVICE_CLASS_LOW},   /* SE */
        {0, "iPhone9,1", DEVICE_CLASS_LOW},   /* 7 */
        {0, "iPhone9,4", DEVICE_CLASS_MID},   /* 7 Plus */
        {0, "iPhone10,4", DEVICE_CLASS_LOW},  /* 8 */
        {0, "iPhone10,6", DEVICE_CLASS_MID},  /* X */
        {0, "iPhone11,8", DEVICE_CLASS_MID},  /* XR */
        {0, "iPhone12,1", DEVICE_CLASS_MID},  /* 11 */
        {0, "iPhone13,2", DEVICE_CLASS_MID},  /* 12 */
        {0, "iPhone13,3", DEVICE_CLASS_HIGH}, /* 12 Pro */
        {0, "iPhone14,5", DEVICE_CLASS_MID},  /* 13 */
        {0, "iPhone14,7", DEVICE_CLASS_HIGH}, /* 14 */
        {0, "iPhone16,1", DEVICE_CLASS_HIGH},
        {0, "iPhone25,3", DEVICE_CLASS_HIGH}, /* one to come */
        {0, "iPad7,11", DEVICE_CLASS_MID},    /* 7th */
        {0, "iPad7,5", DEVICE_CLASS_LOW},     /* 6th */
        {0, "iPad13,4", DEVICE_CLASS_HIGH},
        {0, "iPhone", DEVICE_CLASS_UNKNOWN},
        {0, "iPhone14", DEVICE_CLASS_UNKNOWN},
        {0, "iPhone14,", DEVICE_CLASS_UNKNOWN},
        {0, "iPhone14,7x", DEVICE_CLASS_UNKNOWN},
        {0, "iPhone 14", DEVICE_CLASS_UNKNOWN},
        {0, "Watch6,1", DEVICE_CLASS_UNKNOWN},
        {0, "", DEVICE_CLASS_UNKNOWN},
        {0, NULL, DEVICE_CLASS_UNKNOWN},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        ck_assert_msg(device_class_of(rows[i].memory_mb, rows[i].model) == rows[i].class, "%u %s",
                      rows[i].memory_mb, rows[i].model);
}
END_TEST

START_TEST(names)
{
    ck_assert_int_eq(device_class_parse("low"), DEVICE_CLASS_LOW);
    ck_assert_int_eq(device_class_parse("high"), DEVICE_CLASS_HIGH);
    ck_assert_int_eq(device_class_parse("High"), DEVICE_CLASS_UNKNOWN);
    ck_assert_int_eq(device_class_parse("mid"), DEVICE_CLASS_MID);
    ck_assert_int_eq(device_class_parse(""), DEVICE_CLASS_UNKNOWN);
}
END_TEST

UNIT_MAIN("device_class", by_memory_then_by_model, names)
