/*
 * suite_ops - write ops as the cases of the suite (suite.h) want them.
 *
 * Purpose: reports, uploads and usage of the suite's world, with defaults for all that a case does
 * not ask about.
 *
 * Threads: one. Memory: ops in arenas of their own; the caller's.
 */
#ifndef STALLSYM_TESTS_SUITE_OPS_H
#define STALLSYM_TESTS_SUITE_OPS_H

#include "base/stack.h"
#include "storage/write_op.h"

#define SUITE_OP_BYTES ((size_t)64 << 20) /* of an op */

#define SUITE_NO_STACK UINT32_MAX

/* Fields that are 0 or NULL take a default; see suite_batch(). */
struct suite_report {
    const char *id;
    uint32_t stack; /* a number, or SUITE_NO_STACK */
    enum report_kind kind;
    int64_t time_ms;     /* SUITE_NOW */
    int64_t received_ms; /* as time_ms */
    int64_t duration_ms; /* 1000; -1: none */
    double weight;       /* 1 */
    const char *version; /* "1.0" */
    const char *build;   /* "100" */
    const char *device;  /* "iPhone14,7" */
    const char *os;      /* "17.1" */
    const char *page;    /* "Home" */
    uint32_t samples;    /* so many, of stacks stack + 1, stack + 2, … */
    uint32_t threads;
    bool rich; /* tags, frame gaps, threshold, device time, path */
};

struct suite_usage {
    const char *id;
    int64_t received_ms;                              /* SUITE_NOW */
    int32_t day;                                      /* of receipt */
    const char *version, *build, *device, *os, *page; /* as of reports */
    double weight;
    int64_t foreground_ms, launches;
};

struct write_op *suite_usage_op(const char *bundle_id, const struct suite_usage *items,
                                size_t count);
struct write_op *suite_batch(const char *bundle_id, const struct suite_report *r, size_t count);
/* Adds an image to the (first) batch of an op. */
struct op_image *suite_image(struct write_op *op, uint32_t n, enum image_kind kind);
struct write_op *suite_upload(uint32_t sha, int64_t now_ms);
/* INDEXED, with one installed slice each. */
struct write_op *suite_indexed(uint64_t upload_id, const uint32_t *images, size_t count,
                               uint64_t richness);
/* Which shelf image `n` of an app's own stands on here: any that is no image's. */
#define SUITE_SHELF       200
#define SUITE_SHELF_OF(n) (SUITE_SHELF + (n))
void suite_own(struct op_slice *slice, uint32_t shelf);

#endif
