/*
 * ingest - from a request body to a write op.
 *
 * Purpose: bytes (already inflated) in the native format become one WRITE_BATCHES op and a list of
 * what was refused, with position and reason. Design: http-api.md "Ingest", architecture.md 6.
 *
 * Invariants: accepted + duplicates + rejected = reports in the body (a damaged NDJSON line counts
 * as one). A refused report burns no id and loses nothing else. Every value stored is one of the
 * known fields, inside the caps of struct ingest_limits; what was cut or left out to stay inside
 * them is listed under `dropped`. No clock: `now_ms` is a parameter; equal bodies give equal ops.
 *
 * Threads: one struct ingest may be shared by all threads of the door (read-only); a request has
 * one thread. Memory: the op's arena holds the op and the result; write_op_free() ends both.
 */
#ifndef STALLSYM_INGEST_INGEST_H
#define STALLSYM_INGEST_INGEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "server/ingest/admission.h"
#include "server/jobs/layouts.h"
#include "storage/storage_read.h"
#include "storage/write_op.h"

struct ingest_limits {
    size_t reports;     /* in a body */
    size_t frames;      /* of a stack */
    size_t images;      /* of a batch or report */
    size_t samples;     /* of a report */
    size_t threads;     /* of a report */
    size_t path_bytes;  /* page path */
    size_t tags;        /* of a report */
    size_t arena_bytes; /* memory one body may cost, parsed */
};
extern const struct ingest_limits INGEST_LIMITS_DEFAULT;

enum ingest_media { INGEST_JSON, INGEST_NDJSON };

struct ingest_request {
    const char *body;
    size_t len;
    enum ingest_media media;
    const char *bundle_id; /* the token's binding, NULL */
    int64_t now_ms;
    const struct ingest_limits *limits;
    struct layouts *layouts;
    struct storage_reader *reader; /* for image sets sent before */
    struct admission *admission;   /* NULL: all may come in */
};

struct ingest_rejected {
    uint32_t index;   /* over the whole body */
    uint32_t line;    /* NDJSON line, 1-based; 0 in a JSON body */
    const char *path; /* "reports[7].stack[3]", "" for the report as a whole */
    const char *reason;
};

struct ingest_dropped {
    uint32_t index;
    const char *path;
    const char *reason;
};

/* A field that is not read, server/ingest/format_names.h. */
struct ingest_ignored {
    const char *path; /* "reports[].duration"; "(other)" for all that are not listed */
    uint64_t count;   /* how often it came */
    uint64_t place;   /* of the list itself: by what an entry is found again */
    char key[64];
};

struct ingest_result {
    struct write_op *op; /* with at least one report (or item); NULL when all were refused */
    uint32_t reports;    /* in the op */
    const struct ingest_rejected *rejected;
    size_t rejected_count;
    const struct ingest_dropped *dropped;
    size_t dropped_count;
    const struct ingest_ignored *ignored;
    size_t ignored_count;
    uint32_t sampled_out;   /* slight stalls that were left out; the others stand for them */
    uint32_t retry_after_s; /* some were refused for a quota: until then; 0: none was */
    const char **need_image_sets;
    size_t need_image_set_count;
    struct arena *arena; /* holds all of the above; the op's own arena when there is an op, else
                            the caller frees it */
};

/* ERR_FORMAT: the body is no JSON (the text says where): 400. ERR_INVALID: JSON, but no batch, no
 * array of batches, no report: 422. ERR_LIMIT: too many reports or too much memory: 413. ERR_OK
 * otherwise, even when every report was refused. */
enum err ingest_body(const struct ingest_request *request, struct ingest_result *ret,
                     struct error *err);
void ingest_result_done(struct ingest_result *r);

/* An op that was not applied, or whose reports were known: they count in no quota. */
void ingest_give_back(struct admission *admission, const struct write_op *op, bool applied);

/* Of an op that was applied. */
struct ingest_counts {
    uint32_t accepted, duplicates;
    uint32_t stacks_dropped; /* reports above the cap of new stacks, storage/stack_budget.h */
};
struct ingest_counts ingest_count(const struct write_op *op);

#endif
