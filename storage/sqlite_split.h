/*
 * sqlite_split - rows of figures by the values of one or two dimensions.
 *
 * Purpose: what breakdowns and trends have in common: numbers while rows are added up, texts at the
 * end.
 *
 * Threads: the reader's. Memory: texts in the arena; split_done() for the sums.
 */
#ifndef STALLSYM_STORAGE_SQLITE_SPLIT_H
#define STALLSYM_STORAGE_SQLITE_SPLIT_H

#include "storage/breakdown.h"
#include "storage/sqlite_figures.h"

struct split {
    struct breakdown sums;
    enum breakdown_by by, by2;
    struct arena *arena;
};

/* The entry of a row's values; `key2` in place of the second dimension. NULL (and *err): too many, or
 * no memory. */
struct breakdown_entry *split_at(struct split *s, const struct figure_row *row, int64_t key2,
                                 struct error *err);
int64_t split_key(const struct figure_row *row, enum breakdown_by by);
/* A figure_visit: adds the row. */
enum err split_add(void *ctx, const struct figure_row *row, struct error *err);
/* The text of a value; categories keep the one they have. */
enum err split_text(struct sqlite_reader *r, int64_t key, enum breakdown_by by, struct arena *arena,
                    const char **text, struct error *err);
/* Gives all entries their texts. */
enum err split_names(struct sqlite_reader *r, struct split *s, struct error *err);

#endif
