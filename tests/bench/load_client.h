/*
 * load_client - what the benches send, over connections that stay open, and ask.
 *
 * Purpose: sends the bodies of a load, at once or as a clock says, and checks every answer: the
 * status, and how many reports were taken.
 *
 * Invariants: a body is sent until it is answered 202; what else is answered than that and 503 ends
 * the bench. Latency counts from when a body was due, not from when there was time for it.
 *
 * Threads: load_send starts LOAD_CONNECTIONS of its own. Memory: none is kept.
 */
#ifndef STALLSYM_BENCH_LOAD_CLIENT_H
#define STALLSYM_BENCH_LOAD_CLIENT_H

#include <stddef.h>
#include <stdint.h>

#include "tests/bench/ingest_load.h"

#define LOAD_CONNECTIONS 16

struct load_times {
    double seconds, p50_ms, p99_ms, max_ms;
    double client_cpu; /* seconds */
    size_t refused;    /* answers 503, sent again */
};

/* `rate`: bodies a second; 0: as fast as they are answered. */
struct load_times load_send(uint16_t port, const struct load *l, double rate);

/* Status of an answer to GET without a token, 0 without one. */
int load_get_status(uint16_t port, const char *path);
/* A number of an answer, by its name: of /v1/stats and the like. */
double load_number(uint16_t port, const char *path, const char *name);
/* A counter of /metrics. */
double load_metric(uint16_t port, const char *name);
/* Uploads a symbol file, or an archive of them, and waits for the indexes. */
void load_upload(uint16_t port, const char *file);
void load_upload_bytes(uint16_t port, const char *what, const void *data, size_t len);
/* Waits until no stack is pending; seconds. */
double load_settle(uint16_t port);

#endif
