/*
 * admission - which reports of an app may come in: quotas, sampling, and how many apps there are.
 *
 * Purpose: product.md 22 and http-api.md "quota 429". Reports of an app pass a bucket that fills at its
 * rate a minute and one of the UTC day of receipt; slight stalls may be thinned out, by a hash of their id,
 * so that a retry meets the same answer, and count for those that were left out; a token that is bound to
 * no app cannot make apps without end.
 *
 * Invariants: reports pass in the order of the body; those that may not are refused alone, with
 * reason `quota_exceeded` or `too_many_apps`. What passed and was a duplicate is given back. Counts
 * of the day begin anew with the process. Apps past ADMISSION_APPS_MAX share one bucket; an app that
 * was refused, or only asked about, takes no room.
 *
 * Threads: any; one lock, held for a few steps. Memory: admission_new/admission_free.
 */
#ifndef STALLSYM_INGEST_ADMISSION_H
#define STALLSYM_INGEST_ADMISSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "storage/op_quota.h"

#define ADMISSION_APPS_MAX 16384

struct admission_options {
    struct quota standard; /* of apps without one of their own */
    uint32_t apps;         /* that tokens without a binding may bring; 0: no cap */
};

struct admission;

/* NULL without memory. */
struct admission *admission_new(const struct admission_options *options);
void admission_free(struct admission *a);

/* An app that is there already. */
void admission_know(struct admission *a, const char *bundle_id);
/* An app that something other than a report came of; false: it may not be one more. */
bool admission_bring(struct admission *a, const char *bundle_id, bool bound);
/* What is in force for an app; false: the standard one. */
bool admission_get(struct admission *a, const char *bundle_id, struct quota *ret);
/* An app's own quota from now on; NULL: the standard one. */
void admission_set(struct admission *a, const char *bundle_id, const struct quota *quota);

enum admission_verdict { ADMISSION_PASS, ADMISSION_SAMPLED_OUT, ADMISSION_QUOTA, ADMISSION_APPS };

/* One report. `slight` with its 16-byte id hash may be thinned out; `ret_rate` is by how much those
 * that pass were (1: not at all). `ret_wait_s`: when ADMISSION_QUOTA, seconds until it may pass. */
struct admission_report {
    const char *bundle_id;
    bool slight;
    const uint8_t *id_hash;
    bool bound; /* sent with a token of this app */
};
enum admission_verdict admission_ask(struct admission *a, const struct admission_report *report,
                                     int64_t now_ms, double *ret_rate, uint32_t *ret_wait_s);
/* So many of those that passed were known already, or could not be stored. */
void admission_give_back(struct admission *a, const char *bundle_id, uint32_t count);

#endif
