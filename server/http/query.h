/*
 * query - the target of a request: path segments and parameters, decoded and checked.
 *
 * Purpose: the raw target ("/v1/clusters/12?limit=5") taken apart here and nowhere else; typed
 * access to parameters.
 *
 * Invariants: every decoded text is UTF-8 without NUL. A path is split before it is decoded, so an
 * encoded slash never makes a segment. A parameter stands at most once. Errors are ERR_INVALID and
 * name the parameter; absent parameters leave `ret` as it was.
 *
 * Threads: a value. Memory: the arena given to query_parse.
 */
#ifndef STALLSYM_HTTP_QUERY_H
#define STALLSYM_HTTP_QUERY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/uuid.h"
#include "storage/storage_read.h"

#define QUERY_SEGMENTS_MAX 12
#define QUERY_PARAMS_MAX   48

/* The names that query_filter() reads. */
#define QUERY_FILTERS                                                                              \
    "bundle_id version build device os_version page kind category since until min_duration_ms "    \
    "state"

struct query_param {
    const char *name;
    const char *value;
};

struct query {
    const char *segments[QUERY_SEGMENTS_MAX];
    size_t segment_count;
    struct query_param params[QUERY_PARAMS_MAX];
    size_t param_count;
};

/* ERR_INVALID: not to be understood. ERR_LIMIT: too many segments or parameters. */
enum err query_parse(const char *target, struct arena *arena, struct query *ret, struct error *err);
/* ERR_INVALID names a parameter that is not one of the blank-separated `names`. */
enum err query_only(const struct query *q, const char *names, struct error *err);

/* NULL when absent. */
const char *query_get(const struct query *q, const char *name);
/* As query_get, "" counts as absent. */
const char *query_text(const struct query *q, const char *name);
enum err query_int(const struct query *q, const char *name, int64_t min, int64_t max, int64_t *ret,
                   struct error *err);
/* "1", "true", "yes", "" (the bare name): true; "0", "false", "no": false. */
enum err query_bool(const struct query *q, const char *name, bool *ret, struct error *err);
/* Epoch milliseconds or RFC 3339. */
enum err query_time(const struct query *q, const char *name, int64_t *ret, struct error *err);
/* One of `names` (`count`); the index is answered. */
enum err query_word(const struct query *q, const char *name, const char *const *names, size_t count,
                    size_t *ret, struct error *err);
/* `limit` (1 … READ_LIMIT_MAX, 50 when absent) and `cursor`. */
enum err query_page(const struct query *q, size_t *ret_limit, const char **ret_cursor,
                    struct error *err);
/* Everything under QUERY_FILTERS; `since` is before `until`. */
enum err query_filter(const struct query *q, struct read_filter *ret, struct error *err);

/* A whole decimal number of at most 18 digits, with an optional minus. */
bool query_parse_int(const char *text, int64_t *ret);

#endif
