/*
 * sqlite_storage - the SQLite backend's own structs.
 *
 * Purpose: shared by sqlite_backend.c, sqlite_write*.c and sqlite_read*.c, nobody else.
 *
 * Invariants: the writer's connection, caches and arena belong to the thread that writes. Each
 * reader has a connection of its own. Caches are emptied whenever anything is rolled back.
 *
 * Threads: see storage.h; the checkpointer's connection and `log_pages` may be used by any.
 */
#ifndef STALLSYM_STORAGE_SQLITE_STORAGE_H
#define STALLSYM_STORAGE_SQLITE_STORAGE_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/arena.h"
#include "base/buf.h"
#include "storage/frames_blob.h"
#include "storage/id_cache.h"
#include "storage/id_days.h"
#include "storage/new_ids.h"
#include "storage/resolved_set.h"
#include "storage/sqlite_files.h"
#include "storage/sqlite_log_pages.h"
#include "storage/sqlite_stmt.h"
#include "storage/storage_backend.h"
#include "storage/writeback.h"

#define STACK_PENDING  0
#define STACK_RESOLVED 1
#define STACK_APP      2 /* not a stack: counts the whole app */

/* In reports.flags: the kind; findings are wanted (op_findings.h); the device told its time, and it is
 * the report's. */
#define REPORT_FLAGS_KIND       7
#define REPORT_FLAG_FINDING     128
#define REPORT_FLAG_DEVICE_TIME 256

#define OTHER_VALUE "(other)"

/* sqlite_seen.h */
#define SEEN_LISTS 1024
enum seen_end { SEEN_FIRST, SEEN_LAST, SEEN_ENDS };

struct fold;
struct rolled_report;
struct seen_list;

/* sqlite_ids.h; numbers are rows of new_ids */
struct sqlite_ids {
    bool known; /* all that follows is what the database has */
    struct new_ids waiting;
    int64_t next_seq;
    size_t shelf;       /* the hand's next */
    int64_t steps;      /* of the hand that are due, times ids of a round */
    int64_t came;       /* since the last commit */
    int64_t round_from; /* rows below it are put away when the round ends */
    int64_t away_below; /* rows below it are */
    int64_t kept_from;  /* rows below it are gone */
};

struct sqlite_storage {
    struct storage base;
    char *path;
    struct sql_conn_options conn_options;
    struct sqlite_files files;
    struct storage_health health;
    bool synchronous_full;
    uint32_t daily_values, daily_stacks;
    uint32_t rollup_lag, rollup_stacks; /* sqlite_rollup.h */
    uint32_t new_ids;                   /* sqlite_ids.h */
    struct storage_upgrade upgrade;

    struct sql_conn conn; /* the writer's; db NULL when a commit failed and reopening did too */
    bool in_group;
    uint32_t log_mark; /* of the commit that is under way, sqlite_log_pages.h */
    bool group_lost;   /* SQLite rolled the group back by itself */
    struct error group_error;
    struct arena scratch;    /* emptied before each op */
    struct fold *group_fold; /* sums of the open group, sqlite_counters.h */
    struct arena fold_arena;
    struct buf blob; /* for encoding, one value at a time */
    struct id_cache values;
    struct id_cache names;
    struct frames_memo *frames;      /* numbers of `names` */
    struct resolved_set resolved;    /* sqlite_life.h */
    int64_t next_report, next_stack; /* written to `sequences` at commit */
    int64_t stored_report, stored_stack;
    struct id_days id_days;
    struct sqlite_ids ids;
    struct seen_list *seen[SEEN_ENDS][SEEN_LISTS];

    pthread_mutex_t checkpoint_lock;
    struct sql_conn checkpoint_conn;
    struct writeback writeback; /* of the database file; with checkpoint_lock */
    struct sqlite_log_pages log_pages;
    int64_t page_size;
    int64_t log_kept; /* bytes: a commit that begins a longer log anew cuts it to that */
};

struct sqlite_reader {
    struct storage_reader base;
    struct sqlite_storage *storage;
    struct sql_conn conn;
    int64_t deadline_mono_ms;
    /* Reports that are in no roll-up yet, sqlite_rolled.h. */
    struct rolled_report *later;
    size_t later_count, later_cap;
    bool later_known;
};

static inline struct sqlite_storage *sqlite_of(struct storage *s)
{
    return (struct sqlite_storage *)s;
}

static inline struct sqlite_reader *sqlite_reader_of(struct storage_reader *r)
{
    return (struct sqlite_reader *)r;
}

/* sqlite_backend.c */
/* Before anything is written: are the files still there? A log without a name is brought home. */
enum err sqlite_look_at_files(struct sqlite_storage *s, struct error *err);

/* sqlite_write.c */
enum err sqlite_writer_open(struct sqlite_storage *s, struct error *err);
enum err sqlite_begin(struct storage *s, struct error *err);
enum err sqlite_apply(struct storage *s, struct write_op *op, struct error *err);
enum err sqlite_commit(struct storage *s, struct error *err);
void sqlite_rollback(struct storage *s);

/* sqlite_check.c */
enum storage_trouble sqlite_trouble(struct storage *base, char *text, size_t size);
enum err sqlite_check(struct storage *base, bool (*go_on)(void *ctx), void *ctx, struct error *err);

/* sqlite_snapshot.c */
enum err sqlite_snapshot_open(struct storage *base, struct snapshot **ret, struct error *err);
void sqlite_snapshot_close(struct snapshot *base);
uint64_t sqlite_snapshot_bytes(const struct snapshot *base);
enum err sqlite_snapshot_write(struct snapshot *base, const char *path,
                               const struct snapshot_watch *watch, struct error *err);

/* One function an op kind, inside the op's savepoint. */
enum err sqlite_write_batches(struct sqlite_storage *s, struct write_op *op, struct error *err);
enum err sqlite_write_resolutions(struct sqlite_storage *s, struct write_op *op, struct error *err);
enum err sqlite_write_upload(struct sqlite_storage *s, struct write_op *op, struct error *err);
enum err sqlite_write_upload_state(struct sqlite_storage *s, struct write_op *op,
                                   struct error *err);
enum err sqlite_write_repend(struct sqlite_storage *s, struct write_op *op, struct error *err);
enum err sqlite_write_symbol_delete(struct sqlite_storage *s, struct write_op *op,
                                    struct error *err);
enum err sqlite_write_token(struct sqlite_storage *s, struct write_op *op, struct error *err);
enum err sqlite_write_token_revoke(struct sqlite_storage *s, struct write_op *op,
                                   struct error *err);
enum err sqlite_write_expire(struct sqlite_storage *s, struct write_op *op, struct error *err);
enum err sqlite_write_give_up(struct sqlite_storage *s, struct write_op *op, struct error *err);
enum err sqlite_write_usage(struct sqlite_storage *s, struct write_op *op, struct error *err);
enum err sqlite_write_hours_expire(struct sqlite_storage *s, struct write_op *op,
                                   struct error *err);
enum err sqlite_write_rekey(struct sqlite_storage *s, struct write_op *op, struct error *err);
enum err sqlite_write_cluster_rule(struct sqlite_storage *s, struct write_op *op,
                                   struct error *err);
enum err sqlite_write_cluster_rule_undo(struct sqlite_storage *s, struct write_op *op,
                                        struct error *err);
enum err sqlite_write_epoch(struct sqlite_storage *s, struct write_op *op, struct error *err);
enum err sqlite_write_cluster_carry(struct sqlite_storage *s, struct write_op *op,
                                    struct error *err);
enum err sqlite_write_cluster_work(struct sqlite_storage *s, struct write_op *op,
                                   struct error *err);
/* sqlite_stand_ins.c */
enum err sqlite_write_stand_in(struct sqlite_storage *s, struct write_op *op, struct error *err);
/* The true file came. */
enum err sqlite_stand_in_end(struct sqlite_storage *s, const struct uuid *uuid, struct error *err);
/* The index of `uuid` changed: stacks it stood in for are resolved anew. */
enum err sqlite_stand_in_changed(struct sqlite_storage *s, const struct uuid *uuid,
                                 struct error *err);
/* sqlite_write_store.c */
enum err sqlite_protect(struct sqlite_storage *s, const char *bundle_id, const char *version,
                        const char *build, const char *os_build, int64_t now_ms, struct error *err);
enum err sqlite_queue_refit(struct sqlite_storage *s, const struct uuid *uuid, bool deleted,
                            struct error *err);
/* An image whose index cannot be used: of the app's own, and of what serves all. */
enum err sqlite_queue_gone(struct sqlite_storage *s, int64_t app_id, const struct uuid *image,
                           struct error *err);
enum err sqlite_queue_turn_back(struct sqlite_storage *s, const struct uuid *uuid, bool all_users,
                                struct error *err);
enum err sqlite_write_upload_delete(struct sqlite_storage *s, struct write_op *op,
                                    struct error *err);
enum err sqlite_write_refit(struct sqlite_storage *s, struct write_op *op, struct error *err);
enum err sqlite_write_refitted(struct sqlite_storage *s, struct write_op *op, struct error *err);
enum err sqlite_write_objects(struct sqlite_storage *s, struct write_op *op, struct error *err);
enum err sqlite_write_protect(struct sqlite_storage *s, struct write_op *op, struct error *err);
enum err sqlite_write_open_upload(struct sqlite_storage *s, struct write_op *op, struct error *err);
enum err sqlite_write_piece(struct sqlite_storage *s, struct write_op *op, struct error *err);
enum err sqlite_write_open_drop(struct sqlite_storage *s, struct write_op *op, struct error *err);
enum err sqlite_write_findings(struct sqlite_storage *s, struct write_op *op, struct error *err);
enum err sqlite_write_cluster_state(struct sqlite_storage *s, struct write_op *op,
                                    struct error *err);

#endif
