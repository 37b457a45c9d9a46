#include "server/analysis/device_class.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define LOW_MB 2500 /* sold as 2 GB; systems tell a little more or less */
#define MID_MB 4500

static const struct {
    const char *name;
    enum device_class class;
} NAMES[] = {{"low", DEVICE_CLASS_LOW}, {"mid", DEVICE_CLASS_MID}, {"high", DEVICE_CLASS_HIGH}};

/* Gigabytes of the models that iOS 12 and later run on. `minor` 0: all others of that generation. */
static const struct {
    const char *family;
    unsigned generation, minor, gigabytes;
} MODELS[] = {
    {"iPhone", 6, 0, 1},  {"iPhone", 7, 0, 1},  {"iPhone", 8, 0, 2},  {"iPhone", 9, 2, 3},
    {"iPhone", 9, 4, 3},  {"iPhone", 9, 0, 2},  {"iPhone", 10, 1, 2}, {"iPhone", 10, 4, 2},
    {"iPhone", 10, 0, 3}, {"iPhone", 11, 8, 3}, {"iPhone", 11, 0, 4}, {"iPhone", 12, 8, 3},
    {"iPhone", 12, 0, 4}, {"iPhone", 13, 3, 6}, {"iPhone", 13, 4, 6}, {"iPhone", 13, 0, 4},
    {"iPhone", 14, 4, 4}, {"iPhone", 14, 5, 4}, {"iPhone", 14, 6, 4}, {"iPhone", 14, 0, 6},
    {"iPad", 4, 0, 1},    {"iPad", 5, 1, 1},    {"iPad", 5, 2, 1},    {"iPad", 5, 0, 2},
    {"iPad", 6, 7, 4},    {"iPad", 6, 8, 4},    {"iPad", 6, 0, 2},    {"iPad", 7, 5, 2},
    {"iPad", 7, 6, 2},    {"iPad", 7, 11, 3},   {"iPad", 7, 12, 3},   {"iPad", 7, 0, 4},
    {"iPad", 8, 4, 6},    {"iPad", 8, 8, 6},    {"iPad", 8, 0, 4},    {"iPad", 11, 6, 3},
    {"iPad", 11, 7, 3},   {"iPad", 11, 0, 3},   {"iPad", 12, 1, 3},   {"iPad", 12, 2, 3},
    {"iPad", 13, 1, 4},   {"iPad", 13, 2, 4},   {"iPad", 13, 18, 4},  {"iPad", 13, 19, 4},
    {"iPad", 14, 1, 4},   {"iPad", 14, 2, 4},   {"iPod", 7, 0, 1},    {"iPod", 9, 0, 2},
};

/* Generations above the last that the table knows whole have more. */
static const struct {
    const char *family;
    unsigned generation;
} HIGH_FROM[] = {{"iPhone", 15}, {"iPad", 13}};

enum device_class device_class_parse(const char *name)
{
    for (size_t i = 0; i < sizeof(NAMES) / sizeof(NAMES[0]); i++) {
        if (strcmp(NAMES[i].name, name) == 0)
            return NAMES[i].class;
    }
    return DEVICE_CLASS_UNKNOWN;
}

static enum device_class by_memory(uint32_t mb)
{
    return mb <= LOW_MB ? DEVICE_CLASS_LOW : mb <= MID_MB ? DEVICE_CLASS_MID : DEVICE_CLASS_HIGH;
}

/* "iPhone14,7": family, 14, 7. */
static bool split(const char *model, size_t *ret_family, unsigned *ret_generation,
                  unsigned *ret_minor)
{
    *ret_family = strcspn(model, "0123456789");
    char *end;
    const char *number = model + *ret_family;
    unsigned long generation = strtoul(number, &end, 10);
    if (end == number || *end != ',' || generation > 1000)
        return false;
    number = end + 1;
    unsigned long minor = strtoul(number, &end, 10);
    if (end == number || *end || minor > 1000)
        return false;
    *ret_generation = (unsigned)generation;
    *ret_minor = (unsigned)minor;
    return true;
}

static bool is_family(const char *model, size_t len, const char *family)
{
    return strlen(family) == len && memcmp(model, family, len) == 0;
}

static enum device_class by_model(const char *model)
{
    size_t family = 0;
    unsigned generation = 0, minor = 0;
    if (!split(model, &family, &generation, &minor))
        return DEVICE_CLASS_UNKNOWN;
    for (size_t i = 0; i < sizeof(MODELS) / sizeof(MODELS[0]); i++) {
        if (MODELS[i].generation == generation &&
            (MODELS[i].minor == minor || MODELS[i].minor == 0) &&
            is_family(model, family, MODELS[i].family))
            return by_memory(MODELS[i].gigabytes * 1024);
    }
    for (size_t i = 0; i < sizeof(HIGH_FROM) / sizeof(HIGH_FROM[0]); i++) {
        if (generation >= HIGH_FROM[i].generation && is_family(model, family, HIGH_FROM[i].family))
            return DEVICE_CLASS_HIGH;
    }
    return DEVICE_CLASS_UNKNOWN;
}

enum device_class device_class_of(uint32_t memory_mb, const char *model)
{
    if (memory_mb > 0)
        return by_memory(memory_mb);
    return model ? by_model(model) : DEVICE_CLASS_UNKNOWN;
}
