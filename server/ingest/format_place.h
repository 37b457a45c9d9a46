/*
 * format_place - which app, on which device: texts that may stand in several places.
 *
 * Purpose: an object ("app", "device") or a flat name, in the entry itself or in the batch around
 * it. Shared by the formats that speak of reports and of usage.
 *
 * Invariants: the entry wins over its batch. A bound token's app stands in where none is named;
 * another one is refused. No app at all is refused. Texts that name something (app, version, OS) are
 * refused when they are too long, those that describe (device, page) are cut.
 *
 * Threads: one body, one thread. Memory: texts are copied into the intake's arena.
 */
#ifndef STALLSYM_INGEST_FORMAT_PLACE_H
#define STALLSYM_INGEST_FORMAT_PLACE_H

#include "server/ingest/intake.h"
#include "server/jobs/json_text.h"

struct place_texts {
    const char *bundle_id;
    const char *version, *build, *device, *os_version, *os_build, *arch; /* "" when not given */
};

/* `batch` may be `entry` itself. False when something was refused. */
bool place_read(struct intake *in, struct fields *f, json_t *entry, json_t *batch,
                struct place_texts *ret);

/* A copy of `s` in the intake's arena; NULL stays NULL. False (refused) without memory. */
bool place_keep(struct intake *in, struct fields *f, const char *s, const char **ret);
/* A text that only describes: any length; the other rules are fields_text's. */
const char *place_words(struct fields *f, json_t *object, const char *at, const char *key);
/* The same as place_keep without what looks like a person (privacy.h) and what is above `max` bytes,
 * which is listed as dropped. */
bool place_keep_clean(struct intake *in, struct fields *f, const char *text, size_t max,
                      const char *at, const char **ret);
/* The same for a page: "" for NULL, REPORT_TEXT_MAX bytes. */
bool place_keep_page(struct intake *in, struct fields *f, const char *text, const char *at,
                     const char **ret);
/* The entry's, else its batch's, else 1. A refused one is 1; one that storage does not tell from a
 * larger one (figures.h) is listed as dropped. */
double place_sample_rate(struct intake *in, struct fields *f, json_t *entry, json_t *batch);
/* Refuses for want of memory; always false. */
bool place_no_memory(struct intake *in, struct fields *f);

#endif
