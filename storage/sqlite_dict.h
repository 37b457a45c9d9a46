/*
 * sqlite_dict - from texts to row ids, for the writer.
 *
 * Purpose: apps, the values clients send again and again (with their daily caps), and the names of
 * resolved frames.
 *
 * Invariants: above the daily cap of an app and kind a new value is stored as "(other)"; "" and
 * "(other)" are free. Ids come from the caches of struct sqlite_storage where they are known.
 *
 * Threads: the writer's. Memory: none.
 */
#ifndef STALLSYM_STORAGE_SQLITE_DICT_H
#define STALLSYM_STORAGE_SQLITE_DICT_H

#include "storage/sqlite_storage.h"

/* Stored numbers. */
enum dict_kind {
    DICT_BUILD = 1,     /* version, build */
    DICT_DEVICE = 2,    /* model, arch */
    DICT_OS = 3,        /* version, build */
    DICT_PAGE = 4,      /* page, "" */
    DICT_PATH = 5,      /* path, "" */
    DICT_THRESHOLD = 6, /* threshold type, "" */
    /* Only counted in dict_days: */
    DICT_IMAGE = 7,
    DICT_IMAGE_SET = 8,
    DICT_LAYOUT = 9,
    DICT_MEMBER = 10,
    DICT_STACK = 11,
    DICT_STACK_DROPPED = 12, /* reports that lost one for the cap */
    DICT_USAGE_DEVICE = 13,  /* new rows of usage_devices, */
    DICT_USAGE_PAGE = 14,    /* of usage_pages */
    DICT_PAIR_DEVICE = 15,   /* new pairs of reports, see sqlite_pairs.h */
    DICT_PAIR_PAGE = 16,
    DICT_PAIR_DROPPED = 17, /* reports that lost device or page for the cap */
};

struct dict_app {
    int64_t id;
    int64_t total_id; /* its row of stacks that counts everything */
};

/* Makes the app when it is new; `day` is the day of receipt. */
enum err sqlite_app(struct sqlite_storage *s, const char *bundle_id, struct dict_app *ret,
                    struct error *err);
enum err sqlite_value(struct sqlite_storage *s, int64_t app_id, enum dict_kind kind, int32_t day,
                      const char *value, const char *value2, int64_t *ret, struct error *err);
/* What was counted of a kind on a day, and so many more. */
enum err sqlite_day_get(struct sqlite_storage *s, int64_t app_id, enum dict_kind kind, int32_t day,
                        int64_t *ret, struct error *err);
enum err sqlite_day_add(struct sqlite_storage *s, int64_t app_id, enum dict_kind kind, int32_t day,
                        int64_t count, struct error *err);
/* Counts one more new value of the kind; *ret_allowed false (and nothing counted) above the cap. */
enum err sqlite_daily(struct sqlite_storage *s, int64_t app_id, enum dict_kind kind, int32_t day,
                      bool *ret_allowed, struct error *err);
/* The id of a name of a frame. */
enum err sqlite_name(struct sqlite_storage *s, const char *name, int64_t *ret, struct error *err);

#endif
