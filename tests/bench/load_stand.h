/*
 * load_stand - what the ingest benches begin with.
 *
 * Purpose: a daemon that has the app's indexes, the image sets and the pool of known stacks, all of
 * them resolved; and the storage library alone, to write the same batches with.
 *
 * Invariants: stand_check() ends the bench unless the database holds exactly what was acknowledged:
 * reports, distinct stacks, and the sums over them.
 *
 * Threads: one, load_storage_parse() aside. Memory: stand_drop(), load_storage_close().
 */
#ifndef STALLSYM_BENCH_LOAD_STAND_H
#define STALLSYM_BENCH_LOAD_STAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "server/ingest/ingest.h"
#include "tests/bench/load_client.h"
#include "tests/bench/load_daemon.h"

#define LOAD_GROUP_MAX 512

struct load_app {
    char *const *files; /* symbol files, ended by NULL */
    size_t file_count;
    struct load_images images;
};

struct stand {
    struct load_daemon daemon;
    struct load_plan plan;
    struct load sets, warm;
};

void load_app_read(struct load_app *app, char *const *files);

void stand_raise(struct stand *st, const char *program, const struct load_app *app);
/* The first reports came so many days ago: ids of reports are kept since then. */
void stand_raise_old(struct stand *st, const char *program, const struct load_app *app, int days);
/* Without the index of the largest image, and with no stacks but those that the sets came with. */
void stand_raise_late(struct stand *st, const char *program, const struct load_app *app);
void stand_check(const struct stand *st);
void stand_drop(struct stand *st);

struct load_storage;

struct load_ops {
    struct ingest_result *results; /* one a body */
    size_t count;
};

/* `sync`: commits are on disk, as the daemon's. */
struct load_storage *load_storage_open(const char *path, bool sync);
/* The load as ops; they may refer to its bodies. `now_ms`: when it was received; 0: now. May
 * run beside load_storage_apply() of another load. */
struct load_ops load_storage_parse(struct load_storage *s, const struct load *l, int64_t now_ms);
/* Seconds it took; `group` batches a commit. Frees the ops. */
double load_storage_apply(struct load_storage *s, struct load_ops *ops, size_t group);
/* Both; the seconds are those of the second. */
double load_storage_write(struct load_storage *s, const struct load *l, size_t group,
                          int64_t now_ms);
/* Makes the file larger by about so much, with image sets that nobody uses. */
void load_storage_fill(struct load_storage *s, double bytes);
void load_storage_close(struct load_storage *s);

#endif
