/*
 * history - a random but repeatable life of a storage.
 *
 * Purpose: ops of every kind, drawn by a seed, applied to two backends alike; after each step both
 * must read the same, and give the same results in their ops.
 *
 * Threads: one. Memory: history_init/history_done.
 */
#ifndef STALLSYM_TESTS_HISTORY_H
#define STALLSYM_TESTS_HISTORY_H

#include "tests/conformance/suite.h"

#define HISTORY_IDS 4096

struct history {
    uint64_t state; /* of the generator */
    int64_t now_ms;
    char (*ids)[24]; /* reports that were ever sent */
    const char **id_list;
    size_t id_count;
    uint32_t next_sha;
    uint64_t living[8]; /* clusters that are there; history_merges.c */
    uint32_t living_count;
};

void history_init(struct history *h, uint64_t seed);
void history_done(struct history *h);
/* One step on both. */
void history_step(struct history *h, struct suite *a, struct suite *b);
/* Below that number, from the history's generator. */
uint32_t history_draw(struct history *h, uint32_t below);
/* Fails the test with the first line that differs. */
void history_compare(struct history *h, struct suite *a, struct suite *b, const char *when);

#endif
