/*
 * http_fixture - a whole server in the test's process, on a free loopback port.
 *
 * Purpose: real storage, writer, readers, resolver, spooler, indexer and door over a folder of the
 * test's own. The indexer's child is a script of the test's choosing, since the test program cannot
 * be it; what real files become is for the end-to-end tests.
 *
 * Threads: one test. Memory: http_fixture_start/http_fixture_stop.
 */
#ifndef STALLSYM_TESTS_HTTP_FIXTURE_H
#define STALLSYM_TESTS_HTTP_FIXTURE_H

#include <jansson.h>
#include <stdint.h>

#include "server/http/http_server.h"
#include "tests/support/raw_http.h"

#define HTTP_JSON "Content-Type: application/json\r\n"

#define ADMIN_TOKEN   "admin-token-of-the-test"
#define INGEST_TOKEN  "ingest-token-of-the-test"
#define SYMBOLS_TOKEN "symbols-token-of-the-test"
#define READ_TOKEN    "read-token-of-the-test"
#define BOUND_INGEST  "ingest-token-bound-to-com.a"
#define BOUND_READ    "read-token-bound-to-com.a"

struct http_fixture {
    char *dir;
    struct services services;
    struct http_options options; /* changed between http_fixture_prepare and _open */
    struct http_server *server;
    uint16_t port;
};

/* Everything but the door. `child`: shell script of the indexer's child; NULL: one that fails. */
void http_fixture_prepare(struct http_fixture *f, const char *child);
void http_fixture_open(struct http_fixture *f);
/* Both, with nothing changed. */
void http_fixture_start(struct http_fixture *f);
void http_fixture_stop(struct http_fixture *f);

/* The fixture of the tests that have one: `http_fixture`, and the last answer, `http_answer`. */
extern struct http_fixture http_fixture;
extern struct raw_answer http_answer;
void http_stop(void);
/* One request; the status. */
int http_ask(const char *method, const char *target, const char *token);
int http_get(const char *target); /* as admin */
int http_post(const char *target, const char *token, const char *headers, const void *body,
              size_t len);
int http_post_json(const char *target, const char *token, const char *body);
/* The last answer as JSON (json_decref), an integer in it, a header of it. */
json_t *http_json(void);
json_int_t http_number(const char *key);
const char *http_header(const char *name);
/* The last answer is a problem of that status; aborts otherwise, naming what it is. */
void http_expect_problem(int status);
/* A batch of com.a with one report of that id; overwritten by the next call. */
const char *http_batch(const char *id);
/* How many reports com.a has. */
json_int_t http_stored(void);

/* One request on a connection of its own. `token` NULL: none. `headers`: whole lines, or "". */
void http_fixture_ask(struct http_fixture *f, const char *method, const char *target,
                      const char *token, const char *headers, const void *body, size_t len,
                      struct raw_answer *ret);

#endif
