/*
 * named_sets - what the names of images (image_set) stand for in one body.
 *
 * Purpose: images that stand beside a name are noted; a report with the name alone gets what was noted
 * or stored before.
 *
 * Invariants: a name of an app stands for one list of images, which may grow (image_set.h). Once two
 * lists differ, here or against the stored one, the name stands for none: its user is asked for the
 * images, as with a name nobody knows. Reports that bring images keep their own.
 *
 * Threads: one body, one thread. Memory: the intake's arena; a pointer to a struct named_set holds
 * until the next call.
 */
#ifndef STALLSYM_INGEST_NAMED_SETS_H
#define STALLSYM_INGEST_NAMED_SETS_H

#include "server/ingest/intake.h"

struct named_set {
    const char *bundle_id, *name;
    struct report_images *images; /* the longest list so far */
    const void *data;             /* it as bytes */
    size_t len;                   /* 0: the name stands for several lists */
    bool defined;                 /* by this body */
    bool asked;                   /* the stored list is regarded, too */
};

/* Images that stand beside their name, in a report of that app. False: without memory. */
bool named_set_note(struct intake *in, const char *bundle_id, struct report_images *images);
/* The images of a name that came alone; NULL: they are needed. */
struct report_images *named_set_images(struct intake *in, const char *bundle_id, const char *name);
/* NULL: not spoken of in this body. */
struct named_set *named_set_find(const struct intake *in, const char *bundle_id, const char *name);

#endif
