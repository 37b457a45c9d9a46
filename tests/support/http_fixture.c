#include "tests/support/http_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/hash.h"
#include "base/log.h"
#include "server/http/listen_socket.h"
#include "tests/support/temp_dir.h"

static void must(enum err rc, const struct error *err)
{
    if (rc == ERR_OK)
        return;
    fprintf(stderr, "http_fixture: %s\n", err->text);
    abort();
}

static void make_token(struct http_fixture *f, const char *text, uint32_t scopes,
                       const char *bundle_id)
{
    struct error err;
    struct write_op *op = write_op_new(WRITE_TOKEN, 4096);
    op->u.token = (struct op_token){.scopes = scopes, .name = "test", .bundle_id = bundle_id};
    sha256_of(text, strlen(text), op->u.token.hash);
    must(writer_call(f->services.writer, op, &err), &err);
    write_op_free(op);
}

static bool locate(void *ctx, const struct uuid *uuid, char *path, size_t size)
{
    return blob_store_index_path(ctx, uuid, path, size);
}

static void ring(void *ctx)
{
    const struct services *s = ctx;
    if (s->resolver)
        resolver_ring(s->resolver);
}

static void write_script(const char *path, const char *text)
{
    FILE *out = fopen(path, "w");
    if (!out || fprintf(out, "#!/bin/sh\n%s\n", text) < 0 || fclose(out) != 0 ||
        chmod(path, 0755) != 0)
        abort();
}

static enum err read_rules(void *ctx, struct rules **ret, struct error *err)
{
    (void)ctx;
    return rules_new_default(ret, err);
}

static void on_rules(void *ctx, const struct rules *rules)
{
    struct services *s = ctx;
    resolver_set_rules(s->resolver, rules);
    epochs_set_rules(s->epochs, rules);
}

static void start_parts(struct http_fixture *f, const char *database, const char *child)
{
    static const struct ingest_limits *const limits = &INGEST_LIMITS_DEFAULT;
    struct services *s = &f->services;
    struct error err;
    struct storage_options storage = {.backend = "sqlite",
                                      .path = database,
                                      .busy_ms = 1000,
                                      .retry_days = 3,
                                      .daily_values = 1000,
                                      .migrate = true};
    struct writer_options writer = {.queue_capacity = 1024,
                                    .high_mark = 900,
                                    .group_ops = 512,
                                    .wal_high_bytes = 1 << 30,
                                    .pending_bell = ring,
                                    .bell_ctx = s};
    struct readers_options readers = {.threads = 2,
                                      .queue_capacity = 256,
                                      .deadline_ms = 10000,
                                      .frame_cache_entries = 1000,
                                      .arena_limit = (size_t)64 << 20};
    struct spooler_options spooler = {
        .chunk_bytes = 4096, .chunks = 4, .upload_bytes = (uint64_t)16 << 20};
    struct indexer_options indexer = {
        .program = child, .jobs = 1, .child_wall_s = 60, .keep_objects = true};
    struct epochs_options epochs = {.stacks_max = 1000};
    struct rules *rules = NULL;
    struct resolver_options resolver = {.workers = 1, .page = 512, .frame_cache_entries = 1000};
    s->metrics = metrics_new();
    s->layouts = layouts_new(1000);
    s->ingest_limits = limits;
    must(read_rules(NULL, &rules, &err), &err);
    s->rules = live_rules_new(rules, read_rules, on_rules, s);
    must(blob_store_open(f->dir, &s->blobs, &err), &err);
    must(storage_open(&storage, &s->storage, &err), &err);
    s->index_cache =
        index_cache_new((struct index_locator){.locate = locate, .ctx = s->blobs}, 16, 100);
    must(writer_start(s->storage, &writer, s->metrics, &s->writer, &err), &err);
    must(resolver_start(s->storage, s->writer, s->index_cache, rules, &resolver, s->metrics,
                        &s->resolver, &err),
         &err);
    must(indexer_start(s->storage, s->writer, s->blobs, s->index_cache, s->layouts, &indexer,
                       s->metrics, &s->indexer, &err),
         &err);
    must(epochs_start(s->storage, s->writer, rules, &epochs, &s->epochs, &err), &err);
    must(readers_start(s->storage, s->index_cache, &readers, s->metrics, &s->readers, &err), &err);
    s->piece_locks = piece_locks_new();
    s->stats = stats_memo_new();
    s->open_uploads = 3;
    s->open_upload_bytes = (uint64_t)4 << 20;
    must(spooler_start(s->blobs, &spooler, &s->spooler, &err), &err);
}

void http_fixture_prepare(struct http_fixture *f, const char *child)
{
    char database[512], script[512];
    memset(f, 0, sizeof(*f));
    log_set_level(LOG_ERROR);
    f->dir = temp_dir_new();
    snprintf(database, sizeof(database), "%s/test.db", f->dir);
    snprintf(script, sizeof(script), "%s/child.sh", f->dir);
    write_script(script, child ? child : "echo no symbols here >&2; exit 1");
    /* The path has to outlive the indexer's options. */
    static char kept[512];
    memcpy(kept, script, sizeof(kept));
    start_parts(f, database, kept);
    make_token(f, ADMIN_TOKEN, SCOPE_ADMIN, NULL);
    make_token(f, INGEST_TOKEN, SCOPE_INGEST, NULL);
    make_token(f, SYMBOLS_TOKEN, SCOPE_SYMBOLS, NULL);
    make_token(f, READ_TOKEN, SCOPE_READ, NULL);
    make_token(f, BOUND_INGEST, SCOPE_INGEST, "com.a");
    make_token(f, BOUND_READ, SCOPE_READ, "com.a");
    f->options = (struct http_options){.threads = 2,
                                       .connections = 400,
                                       .connections_per_client = 0,
                                       .uploads = 64,
                                       .timeout_s = 30,
                                       .body_bytes = (size_t)8 << 20,
                                       .upload_bytes = (uint64_t)16 << 20,
                                       .buffered_bytes = (size_t)64 << 20,
                                       .cors_origins = "",
                                       .trusted_proxies = ""};
}

void http_fixture_open(struct http_fixture *f)
{
    struct error err;
    must(listen_socket_bind("127.0.0.1", 0, &f->options.listen_fd, &err), &err);
    must(http_server_start(&f->options, &f->services, &f->server, &err), &err);
    f->port = http_server_port(f->server);
}

void http_fixture_start(struct http_fixture *f)
{
    http_fixture_prepare(f, NULL);
    http_fixture_open(f);
}

void http_fixture_stop(struct http_fixture *f)
{
    struct services *s = &f->services;
    indexer_quiesce(s->indexer);
    http_server_stop(f->server, 2000); /* NULL when the test did that */
    spooler_stop(s->spooler);
    piece_locks_free(s->piece_locks);
    stats_memo_free(s->stats);
    readers_stop(s->readers);
    indexer_stop(s->indexer);
    epochs_stop(s->epochs);
    resolver_stop(s->resolver);
    writer_stop(s->writer);
    index_cache_free(s->index_cache);
    storage_close(s->storage);
    blob_store_close(s->blobs);
    layouts_free(s->layouts);
    metrics_free(s->metrics);
    live_rules_free(s->rules);
    temp_dir_free(f->dir);
}

void http_fixture_ask(struct http_fixture *f, const char *method, const char *target,
                      const char *token, const char *headers, const void *body, size_t len,
                      struct raw_answer *ret)
{
    int fd = raw_connect(f->port);
    raw_printf(fd, "%s %s HTTP/1.1\r\nHost: x\r\n", method, target);
    if (token)
        raw_printf(fd, "Authorization: Bearer %s\r\n", token);
    raw_puts(fd, headers);
    if (body)
        raw_printf(fd, "Content-Length: %zu\r\n", len);
    raw_puts(fd, "\r\n");
    if (body)
        raw_send(fd, body, len);
    raw_read(fd, strcmp(method, "HEAD") == 0, ret);
    close(fd);
}

/* --- one fixture, one answer ------------------------------------------------------------------ */

struct http_fixture http_fixture;
struct raw_answer http_answer;

void http_stop(void)
{
    raw_answer_done(&http_answer);
    http_fixture_stop(&http_fixture);
}

int http_post(const char *target, const char *token, const char *headers, const void *body,
              size_t len)
{
    raw_answer_done(&http_answer);
    http_fixture_ask(&http_fixture, "POST", target, token, headers, body, len, &http_answer);
    return http_answer.status;
}

int http_post_json(const char *target, const char *token, const char *body)
{
    return http_post(target, token, HTTP_JSON, body, strlen(body));
}

int http_ask(const char *method, const char *target, const char *token)
{
    raw_answer_done(&http_answer);
    http_fixture_ask(&http_fixture, method, target, token, "", NULL, 0, &http_answer);
    return http_answer.status;
}

int http_get(const char *target)
{
    return http_ask("GET", target, ADMIN_TOKEN);
}

json_t *http_json(void)
{
    json_t *o = json_loadb(http_answer.body, http_answer.len, 0, NULL);
    if (!o) {
        fprintf(stderr, "no JSON: %d %s\n", http_answer.status, http_answer.body);
        abort();
    }
    return o;
}

json_int_t http_number(const char *key)
{
    json_t *o = http_json(), *v = json_object_get(o, key);
    if (!json_is_integer(v)) {
        fprintf(stderr, "no %s in %s\n", key, http_answer.body);
        abort();
    }
    json_int_t n = json_integer_value(v);
    json_decref(o);
    return n;
}

const char *http_header(const char *name)
{
    static char value[1024];
    return raw_header(&http_answer, name, value, sizeof(value));
}

void http_expect_problem(int status)
{
    const char *type = http_header("Content-Type");
    if (http_answer.status == status && type && strcmp(type, "application/problem+json") == 0 &&
        http_number("status") == status)
        return;
    fprintf(stderr, "a problem %d is expected, not %d %s\n", status, http_answer.status,
            http_answer.body);
    abort();
}

const char *http_batch(const char *id)
{
    static char text[1024];
    snprintf(text, sizeof(text),
             "{\"app\":{\"bundle_id\":\"com.a\",\"version\":\"1\"},\"images\":[{\"uuid\":"
             "\"4C4C44DC-5555-3144-A100-C10E3A4B6D1E\",\"name\":\"Caf\xc3\xa9\",\"load_address\":"
             "\"0x102f3c000\",\"size\":32768,\"path\":\"/var/containers/Bundle/Application/1/C.app/"
             "C\"}],"
             "\"reports\":[{\"id\":\"%s\",\"kind\":\"stall\",\"duration_ms\":900,\"page\":\"Home\","
             "\"stack\":[\"0x102f4001c\",\"0x102f40038\"]}]}",
             id);
    return text;
}

json_int_t http_stored(void)
{
    if (http_get("/v1/stats?bundle_id=com.a") != 200)
        return -1;
    return http_number("reports");
}
