/*
 * memory_numbers - the memory backend's side of read_hours.h and what belongs to it.
 *
 * Purpose: declares what memory_read_hours.c, memory_write_hours.c and
 * memory_read_stack_weights.c define.
 *
 * Threads, memory: as memory_read.h and memory_state.h say.
 */
#ifndef STALLSYM_STORAGE_MEMORY_NUMBERS_H
#define STALLSYM_STORAGE_MEMORY_NUMBERS_H

#include "storage/memory_read.h"
#include "storage/read_compare.h"
#include "storage/read_context.h"
#include "storage/read_hours.h"
#include "storage/read_stack_weights.h"
#include "storage/read_trend.h"

enum err mem_write_usage(struct mem_storage *m, struct write_op *op, struct error *err);
enum err mem_write_hours_expire(struct mem_storage *m, struct write_op *op, struct error *err);

/* A fact's value, NULL for BY_NONE, and the number that stands for a text. */
const char *mem_dimension(const struct mem_state *s, const struct mem_fact *f, enum breakdown_by by,
                          struct arena *arena);
int64_t mem_text_number(const char *text);
/* Usage as if it was a fact (of its day's first millisecond, weighing its launches), and what of a
 * filter it answers to beside figures from `beside`. */
struct mem_fact mem_fact_of_usage(const struct mem_usage *u);
struct read_filter mem_usage_filter(const struct mem_state *s, enum read_source beside,
                                    const struct read_filter *f);

enum err mem_read_hours(struct storage_reader *r, uint64_t cluster_id, const struct read_filter *f,
                        int64_t begin, size_t count, struct arena *arena, struct hour_row **ret,
                        int64_t *ret_known, struct error *err);
enum err mem_read_trend(struct storage_reader *r, const struct read_filter *f,
                        const struct trend_query *q, struct arena *arena, struct trend *ret,
                        struct error *err);
enum err mem_read_totals(struct storage_reader *r, const struct read_filter *f,
                         struct totals_row *ret, struct error *err);

enum err mem_read_stack_weights(struct storage_reader *r, uint64_t cluster_id,
                                const struct read_filter *filters, size_t filter_count,
                                struct arena *arena, stack_weight_visit *visit, void *ctx,
                                struct breakdown_scope *ret_scopes, struct error *err);
enum err mem_read_context(struct storage_reader *r, uint64_t cluster_id,
                          const struct read_filter *f, enum breakdown_by by, enum breakdown_by by2,
                          struct arena *arena, struct context *ret, struct error *err);
enum err mem_read_compare(struct storage_reader *r, const struct read_filter *f,
                          const char *const versions[2], struct arena *arena,
                          struct compare_cell **ret, size_t *ret_count, struct error *err);

#endif
