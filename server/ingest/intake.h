/*
 * intake - what one body is read into: reports, refusals, and what was left out.
 *
 * Purpose: shared by the format readers (which fill it) and ingest.c (which empties it).
 *
 * Invariants: next_index counts everything that was sent, kept or refused. Lists grow inside the
 * arena, up to the caps of the limits.
 *
 * Threads: one. Memory: the arena's.
 */
#ifndef STALLSYM_INGEST_INTAKE_H
#define STALLSYM_INGEST_INTAKE_H

#include "server/ingest/ingest.h"
#include "server/ingest/report.h"

#define DROPPED_MAX 1000 /* entries listed; more are counted in silence */

struct intake {
    const struct ingest_request *request;
    const struct ingest_limits *limits;
    struct arena *arena;
    uint32_t next_index;
    struct report *reports;
    size_t report_count, report_room;
    struct ingest_rejected *rejected;
    size_t rejected_count, rejected_room;
    struct ingest_dropped *dropped;
    size_t dropped_count, dropped_room;
    struct ingest_ignored *ignored;
    size_t ignored_count;
    struct named_set *sets; /* image sets this body speaks of, server/ingest/named_sets.h */
    size_t set_count, set_room;
    const char **need_sets;
    size_t need_set_count, need_set_room;
    struct op_usage_item *usage; /* of a body of usage */
    size_t usage_count, usage_room;
    uint32_t sampled_out, retry_after_s;
    bool no_memory; /* sticky: the body cost more than the arena's limit, or malloc failed */
};

void intake_init(struct intake *in, const struct ingest_request *request, struct arena *arena);

/* What `no_memory` means: ERR_LIMIT for a body that is too large, ERR_NO_MEMORY (send it again) when
 * the machine had none. */
enum err intake_no_memory(const struct intake *in, struct error *err);

/* A new report to fill, numbered; NULL past the cap on reports or memory (no_memory tells). */
struct report *intake_report(struct intake *in, uint32_t line);
/* Takes the newest report back and lists it as refused. */
void intake_refuse(struct intake *in, const char *path, const char *reason);
/* Lists one that was read as refused. */
void intake_refuse_report(struct intake *in, const struct report *r, const char *reason);
/* Lists something as refused that never became a report. */
void intake_refuse_line(struct intake *in, uint32_t line, const char *path, const char *reason);
/* Lists a value of the newest report (before the first: as of index 0) that was cut or left out. */
void intake_drop(struct intake *in, const char *path, const char *reason);
/* The same of the report or item with that index. */
void intake_drop_of(struct intake *in, uint32_t index, const char *path, const char *reason);
/* The lists, into a result without an op. */
void ingest_publish(const struct intake *in, struct ingest_result *ret);
void intake_need_set(struct intake *in, const char *set);

#endif
