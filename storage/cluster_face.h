/*
 * cluster_face - what a cluster shows of its culprit.
 *
 * Purpose: stacks with one key may say slightly different things (a function, its blocks, its thunk
 * for Objective-C). The cluster shows what comes first in an order of them, not the stack that came
 * first: reports and symbol files give the same clusters in whatever order they arrive.
 *
 * The order: a function before none, the shorter before the longer (the function before "closure #1
 * in" it), then by bytes: function, file, image, title, category, owner.
 *
 * Threads: any. Memory: borrows.
 */
#ifndef STALLSYM_STORAGE_CLUSTER_FACE_H
#define STALLSYM_STORAGE_CLUSTER_FACE_H

struct cluster_face {
    const char *function; /* NULL; so file, image, owner */
    const char *file, *image, *title, *category, *owner;
};

/* What a resolution has to show. */
struct op_resolution;
struct cluster_face cluster_face_of(const struct op_resolution *r);
/* Below zero: `a` comes first. */
int cluster_face_order(const struct cluster_face *a, const struct cluster_face *b);

/* Widens the releases a cluster was seen in. What is no version (base/app_version.h) does not. */
struct cluster_row;
void cluster_release(struct cluster_row *c, const char *version, const char *build);

#endif
