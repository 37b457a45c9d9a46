/*
 * op_usage - WRITE_USAGE: how long and how often an app was used.
 *
 * Purpose: what stall time is divided by. Items are counted once: their ids stand beside those of
 * reports, for as long.
 *
 * Invariants: an item is of one device, build and day. Sampling is undone when it is added up: an
 * item counts `weight` times.
 *
 * Threads, memory: as write_op.h says.
 */
#ifndef STALLSYM_STORAGE_OP_USAGE_H
#define STALLSYM_STORAGE_OP_USAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define USAGE_FOREGROUND_MAX                                                                       \
    ((int64_t)100000000000) /* ms of an item: some thousand days of devices */
#define USAGE_LAUNCHES_MAX ((int64_t)1000000)

struct op_usage_item {
    uint8_t id_hash[16]; /* usage_id_hash() */
    const char *bundle_id;
    int64_t received_ms;
    int32_t day;
    const char *version, *build, *device, *arch, *os_version, *os_build, *page; /* "" */
    double weight;         /* 1 / sample rate, >= 1 */
    int64_t foreground_ms; /* 0 to USAGE_FOREGROUND_MAX */
    int64_t launches;      /* 0 to USAGE_LAUNCHES_MAX */
    bool duplicate;        /* result */
};

struct op_usage {
    struct op_usage_item *items;
    size_t count;
};

/* Of no report, whatever the texts are. */
void usage_id_hash(const char *bundle_id, const char *id, uint8_t out[16]);
/* What an item adds, sampling undone: milliseconds, and launches in millionths. */
int64_t usage_foreground(const struct op_usage_item *item);
int64_t usage_launches(const struct op_usage_item *item);

#endif
