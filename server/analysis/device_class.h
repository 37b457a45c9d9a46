/*
 * device_class - how much memory a device has: low, mid or high.
 *
 * Purpose: what tells slow devices from fast ones in a configuration: low up to 2 GB, mid up to 4 GB,
 * high above. By memory where the client says it, else by its model ("iPhone12,8"): models are a
 * table, later ones of a known family are high.
 *
 * Invariants: pure. Threads: any. Memory: none.
 */
#ifndef STALLSYM_ANALYSIS_DEVICE_CLASS_H
#define STALLSYM_ANALYSIS_DEVICE_CLASS_H

#include <stdint.h>

enum device_class {
    DEVICE_CLASS_UNKNOWN = 0,
    DEVICE_CLASS_LOW = 1,
    DEVICE_CLASS_MID = 2,
    DEVICE_CLASS_HIGH = 4,
};

/* "low", "mid", "high"; anything else is unknown. */
enum device_class device_class_parse(const char *name);
/* `memory_mb` 0: not said; `model` may be NULL. */
enum device_class device_class_of(uint32_t memory_mb, const char *model);

#endif
