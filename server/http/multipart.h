/*
 * multipart - multipart/form-data (RFC 7578), parsed as it comes.
 *
 * Purpose: turns pieces of a body into parts: where one begins, its bytes, where it ends.
 *
 * Invariants: nothing of a part's data is kept but what may be the beginning of a delimiter; header
 * lines of a part are capped (MULTIPART_HEADERS_MAX). Bytes before the first delimiter and after the
 * last one are passed over. Data is never altered.
 *
 * Threads: one owner. Memory: multipart_new/multipart_free; items point into the input or into the
 * parser and live until its next step.
 */
#ifndef STALLSYM_HTTP_MULTIPART_H
#define STALLSYM_HTTP_MULTIPART_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

#define MULTIPART_BOUNDARY_MAX 70 /* RFC 2046, 5.1.1 */
#define MULTIPART_HEADERS_MAX  4096
#define MULTIPART_NAME_MAX     256

enum multipart_kind {
    MULTIPART_NONE, /* input is used up */
    MULTIPART_PART, /* `name` and `filename` of a part that begins */
    MULTIPART_DATA,
    MULTIPART_PART_END,
};

struct multipart_item {
    enum multipart_kind kind;
    const char *name;     /* "" when not given */
    const char *filename; /* NULL when not given */
    const void *data;
    size_t len;
    bool spilled; /* data stands in the parser, not in the input */
};

struct multipart;

/* ERR_INVALID: no usable boundary. */
enum err multipart_new(const char *boundary, struct multipart **ret, struct error *err);
void multipart_free(struct multipart *m);
/* One step: uses up some of `in`, fills one item. ERR_FORMAT, ERR_LIMIT. */
enum err multipart_step(struct multipart *m, const void *in, size_t len, size_t *ret_used,
                        struct multipart_item *ret, struct error *err);
/* The last `n` bytes of the DATA item just answered come again with the next step; the answer is
 * how many bytes of the input are to be given again. */
size_t multipart_untake(struct multipart *m, const struct multipart_item *item, size_t n);
/* The closing delimiter was seen. */
bool multipart_is_over(const struct multipart *m);

#endif
