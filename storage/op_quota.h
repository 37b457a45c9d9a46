/*
 * op_quota - how much an app may send.
 *
 * Purpose: an app's own quota; none: that of the configuration (server/ingest/admission.h).
 *
 * Threads, memory: as write_op.h says.
 */
#ifndef STALLSYM_STORAGE_OP_QUOTA_H
#define STALLSYM_STORAGE_OP_QUOTA_H

#include <stdbool.h>
#include <stdint.h>

struct quota {
    uint32_t reports_per_minute; /* 0: any number */
    uint32_t reports_per_day;
    double slight_sample_rate; /* of slight stalls that are kept, above 0 to 1 */
};

struct op_quota {
    const char *bundle_id;
    bool remove;
    struct quota quota;
};

#endif
