/*
 * rig - a database, its writer and the files beside it, for tests of the threads that need them.
 *
 * Purpose: what server/daemon.c puts together, without the door: SQLite in a folder of its own, blob
 * store, index cache, layouts, metrics, writer. A resolver or an indexer is started by the test; the
 * writer's bell rings `resolver` once it is set.
 *
 * Threads: main; `resolver` is set before the ops that shall ring it. Memory: rig_start/rig_stop.
 */
#ifndef STALLSYM_TESTS_RIG_H
#define STALLSYM_TESTS_RIG_H

#include <stdatomic.h>

#include "server/jobs/layouts.h"
#include "server/jobs/metrics.h"
#include "server/jobs/resolver.h"
#include "server/jobs/writer.h"
#include "storage/blob_store.h"
#include "storage/storage.h"
#include "storage/storage_read.h"
#include "symbolizer/index_cache.h"
#include "tests/support/ops.h"

struct rig {
    char *dir;
    struct storage *storage;
    struct blob_store *blobs;
    struct index_cache *cache;
    struct layouts *layouts;
    struct metrics *metrics;
    struct writer *writer;
    struct storage_reader *reader; /* the test's own */
    struct arena arena;            /* of what it reads */
    _Atomic(struct resolver *) resolver;
    atomic_int rings;
};

void rig_start(struct rig *r);
void rig_stop(struct rig *r);
/* Writer and database again over the same folder, as after a restart. */
void rig_restart(struct rig *r);
/* Applies an op and wants it to succeed; frees it. */
void rig_apply(struct rig *r, struct write_op *op);
/* Sends an op through and gives it back with its results. */
enum err rig_call(struct rig *r, struct write_op *op, struct error *err);
/* An index file of one function [0x1000, 0x1100) of an image at vmaddr 0x100000000, put where the
 * store has it; the cache is told. */
void rig_put_index(struct rig *r, const struct uuid *uuid, const char *function);
/* An app's own index of an image, as the database has it: on that shelf. */
void rig_own(struct rig *r, const char *bundle_id, const struct uuid *image,
             const struct uuid *shelf);

#endif
