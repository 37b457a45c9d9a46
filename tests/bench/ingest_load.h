/*
 * ingest_load - seeded batches for the ingest bench, and a client that sends them.
 *
 * Purpose: batches of LOAD_REPORTS reports with LOAD_FRAMES frames; stacks are known ones (drawn by
 * a Zipf law from a pool) or new; images stand in each batch or are named by an image set.
 *
 * Invariants: same seed, same bytes but for the timestamps. Threads: send_load starts its own.
 * Memory: load_make/load_free.
 */
#ifndef STALLSYM_BENCH_INGEST_LOAD_H
#define STALLSYM_BENCH_INGEST_LOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LOAD_CONNECTIONS 16
#define LOAD_REPORTS     20
#define LOAD_FRAMES      40
#define LOAD_IMAGES      250
#define LOAD_SETS        16    /* launches of the app: each its load addresses */
#define LOAD_POOL        20000 /* distinct known stacks */
#define LOAD_TOKEN       "bench-token"

struct load_body {
    char *data;
    size_t len;
};

struct load {
    struct load_body *bodies;
    size_t count;
    size_t reports;
    size_t bytes;
};

enum load_images { LOAD_IMAGES_FULL, LOAD_IMAGES_DEFINE, LOAD_IMAGES_NAMED };

/* `known`: share of known stacks, 0..1; below 0: every stack of the pool once, in order. */
struct load load_make(size_t count, size_t first, enum load_images images, double known);
void load_free(struct load *l);

struct load_times {
    double seconds, p50_ms, p99_ms;
    size_t refused; /* answers 503, sent again */
};

/* Sends all bodies over LOAD_CONNECTIONS connections; each has to be answered 202. */
struct load_times load_send(uint16_t port, const struct load *l);

/* A counter of /metrics. */
double load_metric(uint16_t port, const char *name);

void load_die(const char *fmt, ...) __attribute__((format(printf, 1, 2), noreturn));

#endif
