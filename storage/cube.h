/*
 * cube - a cluster's reports by build, day and kind, in little space.
 *
 * Purpose: what a list of one version or of some days shows of a cluster, and what a comparison of
 * versions is made of, without its stacks: some seven bytes a row instead of a row of counters for
 * each stack. Kept with the cluster (storage/sqlite_rollup.h).
 *
 * Invariants: rows by build, day and kind, none that counts nothing once encoded. Days before `floor`
 * are one row (CUBE_OLDER) a build and kind: there are CUBE_DAYS days, fewer when they would be more
 * than CUBE_ROWS rows, so that the floor may depend on the order in which rows came; the sums do not.
 * Adding what was added before with the sign changed gives back the sums that were there. A cube whose
 * older days alone are too many rows is full for ever.
 *
 * Threads: one owner. Memory: cube_done(); a reader borrows the bytes.
 */
#ifndef STALLSYM_STORAGE_CUBE_H
#define STALLSYM_STORAGE_CUBE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/bytes.h"

#define CUBE_DAYS  96
#define CUBE_ROWS  4096
#define CUBE_OLDER INT32_MIN /* in place of a day */
/* More than one encodes to. */
#define CUBE_BYTES (CUBE_ROWS * 64 + 64)

struct cube_row {
    int64_t build_id;
    int32_t day;
    int32_t kind;
    int64_t count, weighted, stall_ms, above_ms; /* as struct figures */
};

/* All zeros: empty. */
struct cube {
    struct cube_row *rows;
    size_t count, cap;
    int32_t floor; /* when `any` */
    bool any;      /* it had a row once */
    bool full;
};

void cube_done(struct cube *c);
/* False without memory. */
bool cube_add(struct cube *c, const struct cube_row *row);
/* Sums with the other sign: what is to be taken away. */
void cube_negate(struct cube_row *row);
bool cube_merge(struct cube *c, const struct cube *other);
/* Takes away what is part of it. */
bool cube_take(struct cube *c, const struct cube *other);
bool cube_encode(const struct cube *c, struct buf *out);
bool cube_is_damaged(const void *data, size_t len);
/* Merges an encoded one in; false for damaged bytes and without memory. */
bool cube_add_encoded(struct cube *c, const void *data, size_t len);

/* The rows of an encoded cube that a filter leaves, one after the other:
 *
 *     cube_read(&r, data, len, &filter);
 *     while (cube_next(&r, &row)) ...
 *     if (r.damaged) ...; if (r.unknown) the cube cannot tell
 */
struct cube_filter {
    int64_t begin, end;    /* days; INT64_MIN and INT64_MAX: open */
    const int64_t *builds; /* NULL: all */
    size_t build_count;
    int kind;  /* below 0: all */
    bool days; /* each row's day is wanted: older ones are unknown, even when all are asked for */
};

struct cube_reader {
    const struct cube_filter *filter;
    struct cursor all, rows; /* the builds that follow; the rows of this one */
    int64_t build_id;
    int64_t day;
    int32_t floor;
    bool damaged;
    bool unknown; /* it is full, or a border lies among its older days */
};

void cube_read(struct cube_reader *r, const void *data, size_t len, const struct cube_filter *f);
bool cube_next(struct cube_reader *r, struct cube_row *ret);

#endif
