/*
 * api_common - what several handlers do the same way.
 *
 * Purpose: filters bound to the token's app, pages, JSON bodies, figures, stacks as they are shown.
 *
 * Invariants: a bound token reads its own app only: another one in the filter is ERR_DENIED, rows of
 * another one are as if they were not there.
 *
 * Threads: a reader's. Memory: the tools' arena.
 */
#ifndef STALLSYM_HTTP_API_COMMON_H
#define STALLSYM_HTTP_API_COMMON_H

#include "server/http/http_request.h"
#include "server/http/jout.h"
#include "server/jobs/json_text.h"

#define API_BUNDLE_MAX 256 /* bytes of a bundle id */

/* The page and filter of the request. */
struct api_list {
    struct read_filter filter;
    size_t limit;
    const char *cursor;
};
enum err api_list_read(const struct http_request *r, struct api_list *ret, struct error *err);

/* `bundle_id` of the query, or of the token; NULL: any. */
enum err api_bundle(const struct http_request *r, const char **ret, struct error *err);
/* Whether the token may see something of that app ("" and NULL: of no app in particular). */
bool api_sees(const struct http_request *r, const char *bundle_id);

/* Path parameter `index` as a number; ERR_NOT_FOUND when it is none. */
enum err api_id(const struct http_request *r, size_t index, uint64_t *ret, struct error *err);
/* Path parameter `index` as a UUID; ERR_INVALID when it is none. */
enum err api_uuid(const struct http_request *r, size_t index, struct uuid *ret, struct error *err);

/* Path parameter 0 as an app of the token's: ERR_INVALID, ERR_DENIED. */
enum err api_app(const struct http_request *r, const char **ret, struct error *err);

/* The request's own `size` bytes, zeroed, which r->state points to; NULL: answered. */
void *api_state(struct http_request *r, size_t size);
/* The body as a JSON object without other members than `known` (NULL at the end; NULL itself: any),
 * and `f` to read it with; NULL: answered. The caller json_decref's. */
json_t *api_body(struct http_request *r, const char *const *known, struct fields *f);

/* The name of the request's token, for what is remembered of a change; NULL: no token was needed. */
enum err api_who(struct http_request *r, const struct read_tools *tools, const char **ret,
                 struct error *err);

/* "history":[…] of a cluster, newest first (api_life.c). */
enum err api_print_history(struct jout *j, const struct read_tools *tools, uint64_t cluster_id,
                           size_t limit, struct error *err);

/* An op, once what came before it went well (`rc`, `err`); else the answer says why not, and NULL. */
struct write_op *api_op(struct http_request *r, enum err rc, const struct error *err,
                        enum write_op_kind kind);

/* Opens {"items":[ ; closes ],"next_cursor":…}. */
void api_items_begin(struct http_request *r, struct jout *j);
void api_items_end(struct jout *j, const char *next_cursor);

/* "version", "device", …; false for what is none. */
bool api_dimension(const char *name, enum breakdown_by *ret);
/* NULL for BY_NONE. */
const char *api_dimension_name(enum breakdown_by by);

/* "usage_hours" and "stall_rate", seconds of stall an hour of use, sampling undone on both sides;
 * null where nothing is known, the rate also without any use. */
void api_print_rate(struct jout *j, uint64_t weighted_stall_ms, bool known, uint64_t foreground_ms);
void api_print_figures(struct jout *j, const struct duration_figures *f);

/* "stack":[RAW_FRAME…]. A stack the resolver has not seen yet is shown with the names of its
 * images. `explain`: see frames_json_print. */
enum err api_print_stack(struct http_request *r, const struct read_tools *tools, struct jout *j,
                         const char *key, const struct stack_row *stack, const uint64_t *addresses,
                         bool explain, struct error *err);

#endif
