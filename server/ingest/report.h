/*
 * report - a report as it was sent, whatever the format.
 *
 * Purpose: what every format_* turns its bytes into, and what ingest.c reduces to a write op.
 *
 * Invariants: texts are NUL-terminated, hold no NUL and no control characters, and are inside the
 * caps of struct ingest_limits. Frames are innermost first, each with its kind decided. Images are
 * shared: two reports with the same `images` pointer have the same images, and the map over them is
 * built once.
 *
 * Threads: values. Memory: all in one arena, named by who fills it.
 */
#ifndef STALLSYM_INGEST_REPORT_H
#define STALLSYM_INGEST_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/stack.h"
#include "storage/write_op.h"
#include "symbolizer/image_map.h"

#define REPORT_ID_MAX   128
#define REPORT_TEXT_MAX 256 /* bundle id, versions, device, page, names */
#define REPORT_WORD_MAX 64  /* threshold_type, stack_skipped, states of threads */
#define DURATION_MAX_MS ((int64_t)7 * 86400000)

struct report_frame {
    bool has_address;
    bool placed; /* image and offset were given: uuid, offset */
    uint64_t address;
    struct uuid uuid;
    uint64_t offset;
    enum frame_kind kind;
    const char *symbol; /* NULL */
};

struct report_stack {
    const struct report_frame *frames;
    size_t count;
};

struct report_sample {
    int32_t offset_ms;
    uint32_t repeat_count;
    int16_t cpu_usage;        /* -1: not given */
    const char *thread_state; /* NULL */
    struct report_stack stack;
};

struct report_thread {
    int64_t tid;
    const char *name;
    const char *state;
    bool stalled;
    struct report_stack stack;
    const char *queue;       /* label of the dispatch queue it works for, NULL */
    const char *waits_kind;  /* NULL: waits for nothing */
    const char *waits_queue; /* label of the queue it waits for, NULL */
    uint64_t waits_address;
    int64_t owner_tid; /* -1 */
};

/* The images of a batch or report, and the name the client gave them. */
struct report_images {
    struct image_entry *entries;
    size_t count;
    const char *set;    /* image_set, NULL */
    bool defines_set;   /* images stood beside the name: to be remembered */
    const char *set_of; /* bundle id it was noted for last, server/ingest/named_sets.h */
    const void *data;   /* them as bytes, once it was noted */
    size_t len;
    size_t empty_uuids; /* given, and empty or nil; 0 once the sender was told */
    size_t empty_uuid;  /* the first of them */
    size_t cut_texts;   /* names and paths above the cap; 0 once the sender was told */
    size_t cut_of;      /* whose the first is */
    const char *cut_key;
};

struct report {
    uint32_t index; /* over the whole body */
    uint32_t line;  /* NDJSON, else 0 */
    const char *id;
    const char *bundle_id;
    const char *version, *build, *device, *os_version, *os_build, *arch; /* "" when not given */
    enum report_kind kind;
    bool has_timestamp;
    int64_t timestamp_ms;
    int64_t duration_ms; /* -1 */
    double sample_rate;
    const char *threshold_type; /* NULL */
    const char *page;
    const char *path;
    int32_t cpu_usage;         /* -1 */
    int32_t memory_usage;      /* -1 */
    const char *stack_skipped; /* NULL */
    const char *tags;          /* compact JSON, NULL */
    const int32_t *frame_gaps_ms;
    size_t frame_gap_count;
    struct report_images *images; /* NULL: none */
    struct report_stack stack;    /* count 0: none given */
    const struct report_sample *samples;
    size_t sample_count;
    const struct report_thread *threads;
    size_t thread_count;
};

#endif
