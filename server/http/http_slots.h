/*
 * http_slots - who holds the door's connections, and who has to go when there are none left.
 *
 * Purpose: libmicrohttpd stops accepting once its connections are used up, and then the clients who
 * do nothing keep out those who want something. Here every connection is known by what it does; a
 * new one that finds only the reserve free costs the one its place that has done the least for the
 * longest: first those without a whole head (idle, or slow) when they are more than a quarter, then
 * those whose body is thrown away anyway, then those who still send one, then those who still read
 * an answer. What is being worked on is never cut off, but new work is refused before it takes all
 * places (http_slots_full). So it is with memory: when there is little left (http_slots_relieve) those
 * go who have held most for the longest, bytes by time.
 * Once a second those are cut off that are over their time.
 *
 * Invariants: a connection is cut off by shutting its socket down; the library notices, and closes
 * it. `fd` is open from http_slots_open to http_slot_close, so never somebody else's. Each costs at
 * most one other its place.
 *
 * Threads: any; one connection's calls come from one thread at a time. A clock thread of its own.
 * Memory: http_slots_new/http_slots_free; a slot dies with its close.
 */
#ifndef STALLSYM_HTTP_HTTP_SLOTS_H
#define STALLSYM_HTTP_HTTP_SLOTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "server/jobs/metrics.h"

/* A client that reads or sends slower than this (after the time-out) is too slow. */
#define SLOT_BYTES_PER_S 1000
/* Who sends or reads for that long may be cut off for the memory. */
#define SLOT_LONG_MS 2000

struct http_slots;
struct http_slot;

enum slot_state {
    SLOT_IDLE,     /* no request, or its head is not whole */
    SLOT_REFUSED,  /* what it sends is thrown away */
    SLOT_READING,  /* sends a body */
    SLOT_ANSWERED, /* reads its answer */
    SLOT_WORKING,  /* waits for us */
    SLOT_STATES
};

/* `limit` connections; `timeout_s` without a byte is the library's own limit. */
enum err http_slots_new(size_t limit, uint32_t timeout_s, struct metrics *metrics,
                        struct http_slots **ret, struct error *err);
void http_slots_free(struct http_slots *s);

/* NULL without memory: then it is nobody's to cut off. */
struct http_slot *http_slots_open(struct http_slots *s, int fd, int64_t now_mono_ms);
void http_slot_close(struct http_slot *slot);
/* `bytes`: of the answer (SLOT_ANSWERED), which take their time. NULL-safe. */
void http_slot_move(struct http_slot *slot, enum slot_state state, uint64_t bytes,
                    int64_t now_mono_ms);
/* The request holds so many bytes of memory, until it is over. NULL-safe. */
void http_slot_hold(struct http_slot *slot, uint64_t bytes);
/* `bytes` of memory are missing: cuts off who has sent a body or read an answer for SLOT_LONG_MS, until so
 * many are on their way back. Those of clients that were cut off and are not closed yet are, too. How
 * many had to go. */
size_t http_slots_relieve(struct http_slots *s, uint64_t bytes, int64_t now_mono_ms);
/* So many wait for us that the next should come later. */
bool http_slots_full(struct http_slots *s);
/* Cuts off those over their time; the clock calls it. How many. */
size_t http_slots_tick(struct http_slots *s, int64_t now_mono_ms);

#endif
