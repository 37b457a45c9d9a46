/*
 * door_rig - the door without sockets and threads, for fuzz_request.
 *
 * Purpose: requests go through http_intake and the handlers of all routes over a memory storage
 * that holds a little of everything. The threads behind the door are replaced by functions of the
 * same names that do the work at once, so that one input is one deterministic run.
 *
 * Invariants: what is kept is what rig_fill() wrote, whenever a request begins: one that changed
 * something is followed by that state of the storage again, with new parts around it. What is known of
 * rules and symbol files stays: requests do not change it. Bodies that are streamed (uploads) end at
 * their headers: they have targets of their own (multipart, inflate, archive).
 *
 * Threads: one. Memory: the process's.
 */
#ifndef STALLSYM_TESTS_DOOR_RIG_H
#define STALLSYM_TESTS_DOOR_RIG_H

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <unistd.h>

#define SLOTS 64 /* of apps: the table is made anew often */
#include "server/ingest/admission.c"

#include "base/clock.h"
#include "base/hash.h"
#include "base/log.h"
#include "server/http/http_intake.h"
#include "server/http/http_slots.h"
#include "server/http/http_workers.h"
#include "server/jobs/overlays.h"
#include "server/jobs/resolver_worker.h"
#include "server/stored_state.c" /* the daemon's: no library has it */
#include "storage/memory_state.h"
#include "tests/fuzz/fuzz.h"

#define RIG_TOKEN "admin-token-of-the-target"
#define RIG_BOUND "bound-token-of-the-target"

struct rig {
    struct services services;
    struct http_door *door;
    struct storage_reader *reader;
    struct symbolizer *symbolizer;
    struct arena arena;
    bool changed;
    struct mem_state *filled; /* what rig_fill() wrote, and the texts of its rows */
    struct arena filled_texts;
};

static struct rig rig;
static char rig_folder[] = "/dev/shm/stallsym-fuzz-XXXXXX";

/* --- what works beside the door, at once ------------------------------------------------------ */

bool writer_is_busy(const struct writer *w)
{
    (void)w;
    return false;
}

void writer_problem(struct writer *w, char *text, size_t size)
{
    (void)w;
    snprintf(text, size, "%s", "");
}

enum err writer_submit(struct writer *w, struct write_op *op, struct error *err)
{
    (void)w;
    op->error = (struct error){.code = ERR_OK};
    if (storage_begin(rig.services.storage, err) != ERR_OK)
        return ERR_BUSY;
    op->rc = storage_apply(rig.services.storage, op, &op->error);
    REQUIRE(storage_commit(rig.services.storage, &op->error) == ERR_OK);
    rig.changed |= op->rc == ERR_OK;
    if (op->done)
        op->done(op, op->rc, &op->error);
    else
        write_op_free(op);
    return ERR_OK;
}

enum err readers_submit(struct readers *r, struct read_job *job, struct error *err)
{
    struct error own = {.code = ERR_OK};
    const struct read_tools tools = {.storage = rig.reader,
                                     .symbolizer = rig.symbolizer,
                                     .arena = &rig.arena,
                                     .deadline_mono_ms = INT64_MAX};
    (void)r, (void)err;
    arena_reset(&rig.arena);
    enum err rc = job->run(job, &tools, &own);
    job->done(job, rc, &own);
    return ERR_OK;
}

/* Bodies that take long are read where they arrive. */
enum err http_workers_start(size_t threads, size_t queue, void (*run)(struct http_request *r),
                            struct http_workers **ret, struct error *err)
{
    (void)threads, (void)queue, (void)err;
    REQUIRE(run == http_work_run);
    *ret = NULL;
    return ERR_OK;
}

void http_workers_stop(struct http_workers *w)
{
    (void)w;
}

enum err http_workers_submit(struct http_workers *w, struct http_request *r, struct error *err)
{
    (void)w, (void)err;
    http_work_run(r);
    return ERR_OK;
}

enum err http_slots_new(size_t limit, uint32_t timeout_s, struct metrics *metrics,
                        struct http_slots **ret, struct error *err)
{
    (void)limit, (void)timeout_s, (void)metrics, (void)err;
    *ret = NULL;
    return ERR_OK;
}

void http_slots_free(struct http_slots *s)
{
    (void)s;
}

bool http_slots_full(struct http_slots *s)
{
    (void)s;
    return false;
}

size_t http_slots_relieve(struct http_slots *s, uint64_t bytes, int64_t now_mono_ms)
{
    (void)s, (void)bytes, (void)now_mono_ms;
    return 0;
}

void epochs_ring(struct epochs *e)
{
    (void)e;
}

bool epochs_outdated(struct epochs *e)
{
    (void)e;
    return false;
}

void indexer_ring(struct indexer *x)
{
    (void)x;
}

void indexer_note_use(struct indexer *x, const struct uuid *uuid)
{
    (void)x, (void)uuid;
}

enum err indexer_wait(struct indexer *x, uint64_t upload_id, void (*done)(void *ctx, enum err rc),
                      void *ctx, struct error *err)
{
    (void)x, (void)upload_id, (void)err;
    done(ctx, ERR_OK);
    return ERR_OK;
}

enum err indexer_wait_refits(struct indexer *x, void (*done)(void *ctx, enum err rc), void *ctx,
                             struct error *err)
{
    (void)x, (void)err;
    done(ctx, ERR_OK);
    return ERR_OK;
}

enum err backups_begin(struct backups *b, int64_t now_ms, char ret_id[BACKUP_ID_SIZE],
                       struct error *err)
{
    (void)b, (void)now_ms, (void)ret_id;
    return error_set(err, ERR_UNSUPPORTED, "the storage keeps nothing");
}

void backups_last(struct backups *b, struct backup_status *ret)
{
    (void)b;
    *ret = (struct backup_status){.state = BACKUP_NONE};
}

const char *backups_dir(const struct backups *b)
{
    (void)b;
    return "/nonexistent";
}

/* No request of this target gets there. */
enum err writer_call(struct writer *w, struct write_op *op, struct error *err)
{
    (void)w, (void)op, (void)err;
    abort();
}

enum err spool_begin(struct spooler *s, const struct spool_callbacks *callbacks, struct spool **ret,
                     struct error *err)
{
    (void)s, (void)callbacks, (void)ret, (void)err;
    abort();
}

enum err spool_append(struct spooler *s, const struct spool_callbacks *callbacks,
                      const struct spool_more *more, struct spool **ret, struct error *err)
{
    (void)s, (void)callbacks, (void)more, (void)ret, (void)err;
    abort();
}

enum err spool_write(struct spool *u, const void *data, size_t len, size_t *ret_taken,
                     struct error *err)
{
    (void)u, (void)data, (void)len, (void)ret_taken, (void)err;
    abort();
}

void spool_finish(struct spool *u)
{
    (void)u;
    abort();
}

void spool_abort(struct spool *u)
{
    (void)u;
    abort();
}

/* --- one request ------------------------------------------------------------------------------ */

#define RIG_HEADERS_MAX 32

struct rig_request {
    const char *method, *target;
    const char *names[RIG_HEADERS_MAX], *values[RIG_HEADERS_MAX];
    size_t headers;
    const char *body;
    size_t len;
    char length[32];
};

static void rig_header(struct rig_request *q, const char *name, const char *value)
{
    if (q->headers == RIG_HEADERS_MAX)
        return;
    q->names[q->headers] = name;
    q->values[q->headers++] = value;
}

static const char *find_header(void *ctx, const char *name)
{
    const struct rig_request *q = ctx;
    for (size_t i = 0; i < q->headers; i++) {
        if (strcasecmp(q->names[i], name) == 0)
            return q->values[i];
    }
    return NULL;
}

static const char *find_last_header(void *ctx, const char *name)
{
    const struct rig_request *q = ctx;
    const char *last = NULL;
    for (size_t i = 0; i < q->headers; i++) {
        if (strcasecmp(q->names[i], name) == 0)
            last = q->values[i];
    }
    return last;
}

static size_t count_header(void *ctx, const char *name)
{
    const struct rig_request *q = ctx;
    size_t count = 0;
    for (size_t i = 0; i < q->headers; i++)
        count += strcasecmp(q->names[i], name) == 0;
    return count;
}

static bool has_blank_name(const struct rig_request *q)
{
    for (size_t i = 0; i < q->headers; i++) {
        if (q->names[i][strcspn(q->names[i], " \t")] != 0)
            return true;
    }
    return false;
}

/* The body as the library would hand it over: of the length that was said, in two pieces. */
static enum http_step send_body(struct http_request *r, const struct rig_request *q)
{
    size_t len = r->chunked || r->declared > q->len ? q->len : (size_t)r->declared;
    size_t at = 0, used = 0;
    enum http_step step = STEP_READ;
    for (size_t end = len / 2; at < len && step == STEP_READ; end = len) {
        while (at < end && step == STEP_READ) {
            step = http_intake_body(r, q->body + at, end - at, &used);
            REQUIRE(used <= end - at && (used || step != STEP_READ));
            at += used;
        }
    }
    return step == STEP_READ && !r->chunked && r->declared > q->len ? STEP_CLOSE : step;
}

static bool is_upload(const struct http_request *r)
{
    return r->route && r->route->body == BODY_STREAMED && r->body_state != BODY_DISCARDED;
}

/* Calls `check` with what is answered, if anything is. */
static void rig_ask(const struct rig_request *q, void (*check)(struct http_request *r))
{
    struct sockaddr_in peer = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    const struct http_head head = {.blank_in_name = has_blank_name(q),
                                   .method = q->method,
                                   .header = find_header,
                                   .last = find_last_header,
                                   .count = count_header,
                                   .ctx = (void *)(uintptr_t)q,
                                   .peer = (const struct sockaddr *)&peer};
    struct http_request *r = http_request_new(rig.door, q->target, &rig);
    REQUIRE(r);
    r->head_seen = true;
    enum http_step step = http_intake_head(r, &head);
    if (step == STEP_READ && r->has_body && !is_upload(r))
        step = send_body(r, q);
    if (step == STEP_READ && !is_upload(r)) {
        step = http_intake_end(r);
        if (step == STEP_WAIT)
            step = http_intake_end(r);
        REQUIRE(step == STEP_ANSWER);
    }
    if (step == STEP_ANSWER)
        check(r);
    rig.changed |= r->reply.status == 401; /* wrong tokens are counted */
    http_request_over(r);
}

/* --- what is there ---------------------------------------------------------------------------- */

static void ignore_connection(void *connection)
{
    REQUIRE(connection == &rig);
}

static bool locate_nothing(void *ctx, const struct uuid *uuid, char *path, size_t size)
{
    (void)ctx, (void)uuid, (void)path, (void)size;
    return false;
}

static enum err read_rules(void *ctx, struct rules **ret, struct error *err)
{
    (void)ctx;
    return rules_new_default(ret, err);
}

static void hear_of_rules(void *ctx, const struct rules *rules)
{
    (void)ctx, (void)rules;
}

static void make_token(const char *text, uint32_t scopes, const char *bundle_id)
{
    struct error err;
    struct write_op *op = write_op_new(WRITE_TOKEN, 4096);
    REQUIRE(op);
    op->u.token = (struct op_token){.scopes = scopes, .name = "one", .bundle_id = bundle_id};
    sha256_of(text, strlen(text), op->u.token.hash);
    REQUIRE(writer_submit(NULL, op, &err) == ERR_OK);
}

static void check_filled(struct http_request *r)
{
    if (r->reply.status >= 300)
        fprintf(stderr, "%s: %d %.*s\n", r->route ? r->route->pattern : "", r->reply.status,
                (int)r->reply.body.len, r->reply.body.data ? r->reply.body.data : "");
    REQUIRE(r->reply.status < 300);
}

static void seed(const char *method, const char *target, const char *body)
{
    struct rig_request q = {.method = method, .target = target, .body = body, .len = strlen(body)};
    snprintf(q.length, sizeof(q.length), "%zu", q.len);
    rig_header(&q, "Authorization", "Bearer " RIG_TOKEN);
    rig_header(&q, "Content-Type", "application/json");
    rig_header(&q, "Content-Length", q.length);
    rig_ask(&q, check_filled);
}

/* What a resolver does with the stacks of the first batch. */
static void resolve(void)
{
    struct error err;
    struct resolver_worker *w = NULL;
    struct overlays *overlays = overlays_new();
    struct pending_stack *stacks = NULL;
    struct resolver_piece piece = {.op = NULL};
    const struct resolver_grounds grounds = {.overlays = overlays};
    const struct rules *rules = live_rules_now(rig.services.rules);
    REQUIRE(resolver_worker_new(rig.services.storage, rig.services.index_cache, rules, 100, &w,
                                &err) == ERR_OK);
    REQUIRE(read_pending(rig.reader, 0, 100, &rig.arena, &stacks, &piece.count, &err) == ERR_OK);
    REQUIRE(piece.count > 0);
    piece.stacks = stacks;
    resolver_worker_begin(w, rules);
    resolver_worker_piece(w, &grounds, &piece);
    REQUIRE(piece.op && writer_submit(NULL, piece.op, &err) == ERR_OK);
    resolver_worker_free(w);
    overlays_free(overlays);
}

#define RIG_SHOP "/v1/apps/com.example.shop"

static void rig_fill(void)
{
    seed("POST", "/v1/reports",
         "{\"app\":{\"bundle_id\":\"com.example.shop\",\"version\":\"7.2.1\",\"build\":\"1\"},"
         "\"images\":[{\"uuid\":\"4C4C44DC-5555-3144-A100-C10E3A4B6D1E\",\"name\":\"Shop\","
         "\"load_address\":\"0x100000000\",\"size\":65536,\"path\":"
         "\"/private/var/containers/Bundle/Application/1/Shop.app/Shop\"}],"
         "\"reports\":[{\"id\":\"one\",\"kind\":"
         "\"stall\",\"duration_ms\":900,\"page\":\"Home\",\"stack\":[{\"address\":\"0x100001000\","
         "\"symbol\":\"-[Feed load]\"},\"0x100002000\"]},{\"id\":\"two\",\"kind\":\"hang\","
         "\"samples\":[{\"offset_ms\":0,\"stack\":[{\"address\":\"0x100003000\",\"symbol\":"
         "\"-[Cart sum]\"}]},{\"offset_ms\":90,\"stack\":[{\"address\":"
         "\"0x100004000\",\"symbol\":\"-[Cart all]\"}]}]},{\"id\":\"three\","
         "\"stack\":[{\"address\":\"0x100005000\",\"symbol\":\"parse\"}]}]}");
    resolve();
    seed("POST", "/v1/usage",
         "{\"app\":{\"bundle_id\":\"com.example.shop\",\"version\":\"7.2.1\"},\"items\":[{\"id\":"
         "\"1\",\"page\":\"Home\",\"foreground_ms\":60000,\"launches\":1}]}");
    seed("PUT", RIG_SHOP "/config",
         "{\"rules\":[{\"name\":\"a\",\"if\":{\"version\":\">=7\"},"
         "\"set\":{\"sample_rate\":0.5}}]}");
    seed("PUT", RIG_SHOP "/quota", "{\"reports_per_minute\":1000}");
    seed("PUT", "/v1/alerts",
         "{\"targets\":[{\"name\":\"all\",\"url\":\"https://hooks.example.com/x\","
         "\"secret\":\"s\"}],\"rules\":[{\"to\":[\"all\"]}]}");
    seed("PUT", "/v1/symbols/protected?bundle_id=com.example.shop&version=7.2.1&build=1", "");
    seed("POST", "/v1/symbols/uploads",
         "{\"size\":9,\"sha256\":"
         "\"0000000000000000000000000000000000000000000000000000000000000000\"}");
    seed("POST", "/v1/clusters/merge", "{\"into\":1,\"from\":[2]}");
    seed("PATCH", "/v1/clusters/1", "{\"state\":\"resolved\",\"resolved_in\":\"7.3\"}");
}

static bool keep_none(void *ctx, const char *name)
{
    (void)ctx, (void)name;
    return false;
}

/* The other folders of a store are empty. */
static void remove_store(void)
{
    static const char *const folders[] = {"/spool", "/work", "/symbols", "/objects", "/maps", ""};
    char path[sizeof(rig_folder) + 16];
    struct error err;
    blob_store_sweep_spool(rig.services.blobs, keep_none, NULL, &err);
    blob_store_close(rig.services.blobs);
    for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
        snprintf(path, sizeof(path), "%s%s", rig_folder, folders[i]);
        rmdir(path);
    }
}

static void open_store(void)
{
    struct error err;
    REQUIRE(mkdtemp(rig_folder));
    REQUIRE(blob_store_open(rig_folder, &rig.services.blobs, &err) == ERR_OK);
    atexit(remove_store);
}

/* What a request may leave behind in memory; taught what the daemon learns at its start. */
static void rig_open(void)
{
    static const struct http_options options = {.timeout_s = 3600,
                                                .uploads = 8,
                                                .body_bytes = 65536,
                                                .upload_bytes = 65536,
                                                .buffered_bytes = (size_t)64 << 20,
                                                .cors_origins = "https://board.example.com",
                                                .trusted_proxies = "127.0.0.0/8"};
    static const struct http_io io = {ignore_connection, ignore_connection};
    struct services *s = &rig.services;
    struct error err;
    s->metrics = metrics_new();
    s->layouts = layouts_new(100);
    s->piece_locks = piece_locks_new();
    s->stats = stats_memo_new();
    s->admission = admission_new(&(struct admission_options){.apps = 100});
    const struct stored_state_taker taker = {
        .blobs = s->blobs, .layouts = s->layouts, .layout_count = 100, .admission = s->admission};
    REQUIRE(stored_state_load(s->storage, &taker, &err) == ERR_OK);
    REQUIRE(http_door_new(&options, s, &io, &rig.door, &err) == ERR_OK);
    rig.changed = false;
}

static void rig_close(void)
{
    struct services *s = &rig.services;
    http_door_close(rig.door);
    http_door_close_readers(rig.door);
    http_door_unref(rig.door);
    admission_free(s->admission);
    stats_memo_free(s->stats);
    piece_locks_free(s->piece_locks);
    layouts_free(s->layouts);
    metrics_free(s->metrics);
}

/* What is written from now on has its texts in an arena of its own. */
static void keep_filled(void)
{
    struct mem_storage *m = (struct mem_storage *)rig.services.storage;
    rig.filled = mem_state_copy(m->published);
    REQUIRE(rig.filled);
    rig.filled_texts = m->arena;
    arena_init(&m->arena, m->arena.limit);
}

static void restore_spool(void)
{
    char path[sizeof(rig_folder) + 256];
    for (size_t i = 0; i < rig.filled->opens_count; i++) {
        const char *name = rig.filled->opens[i].row.spool_file;
        REQUIRE(blob_store_spool_path(rig.services.blobs, name, path, sizeof(path)));
        int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
        REQUIRE(fd >= 0);
        close(fd);
    }
}

static void restore_filled(void)
{
    struct mem_storage *m = (struct mem_storage *)rig.services.storage;
    mem_state_free(m->work);
    mem_state_free(m->published);
    arena_done(&m->arena);
    m->work = mem_state_copy(rig.filled);
    m->published = mem_state_copy(rig.filled);
    REQUIRE(m->work && m->published);
    restore_spool();
}

static void rig_restart(void)
{
    rig_close();
    restore_filled();
    rig_open();
}

static void rig_start(void)
{
    static const struct storage_options storage = {
        .backend = "memory", .retry_days = 3, .daily_values = 1000, .migrate = true};
    struct services *s = &rig.services;
    struct rules *rules = NULL;
    struct error err;
    open_store();
    s->ingest_limits = &INGEST_LIMITS_DEFAULT;
    s->open_uploads = 3;
    s->open_upload_bytes = (uint64_t)1 << 20;
    REQUIRE(read_rules(NULL, &rules, &err) == ERR_OK);
    s->rules = live_rules_new(rules, read_rules, hear_of_rules, NULL);
    s->index_cache = index_cache_new((struct index_locator){.locate = locate_nothing}, 4, 100);
    rig.symbolizer = symbolizer_new(s->index_cache, 100);
    REQUIRE(storage_open(&storage, &s->storage, &err) == ERR_OK);
    REQUIRE(storage_reader_open(s->storage, &rig.reader, &err) == ERR_OK);
    arena_init(&rig.arena, (size_t)64 << 20);
    make_token(RIG_TOKEN, SCOPE_ADMIN, NULL);
    make_token(RIG_BOUND, SCOPE_READ | SCOPE_INGEST, "com.example.other");
    rig_open();
    rig_fill();
    keep_filled();
    rig_restart();
}

#endif
