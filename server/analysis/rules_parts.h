/*
 * rules_parts - how a rule set is laid out.
 *
 * Purpose: shared by rules.c, which writes it, and rules_match.c, which reads it; nobody else.
 *
 * Threads: written once, then read only. Memory: all of it lives in the set's own arena.
 */
#ifndef STALLSYM_ANALYSIS_RULES_PARTS_H
#define STALLSYM_ANALYSIS_RULES_PARTS_H

#include "base/arena.h"
#include "server/analysis/rules_match.h"

enum pattern_kind {
    PATTERN_IMAGE,
    PATTERN_FILE,
    PATTERN_MODULE,
    PATTERN_FUNCTION,
    PATTERN_KINDS,
};

/* Which pairs of neighbouring bytes a text has, by a hash: one that lacks a pair of a pattern does not
 * match it. */
struct rule_pairs {
    uint64_t bits[4];
};

struct rule_pattern {
    const char *text;
    const char *why[2];        /* of a function pattern: of RULE_FATE and RULE_CLASS */
    struct rule_pattern *next; /* of the same kind in the same rule */
    struct rule_pairs pairs;   /* of a function pattern */
    bool negated;
};

enum tristate {
    TRI_ANY,
    TRI_NO,
    TRI_YES,
};

enum rule_on {
    ON_ANY,
    ON_APP,
    ON_SYSTEM,
    ON_VENDOR,
};

struct rule {
    struct rule_action actions[RULE_KINDS]; /* VALUE_NO without text and label: not there */
    uint32_t kinds;                         /* bit set of enum rule_kind */
    const char *labels[RULE_KINDS];
    struct rule_pattern *patterns[PATTERN_KINDS];
    bool positive[PATTERN_KINDS]; /* has a pattern that is not negated */
    enum rule_on on;
    enum tristate named;
    uint32_t position_from;
    uint32_t position_to;
    uint32_t line;
    uint32_t order;
};

/* One pattern in a table of first bytes. */
struct rule_entry {
    const struct rule *rule;
    const struct rule_pattern *pattern; /* of a function, NULL */
    const struct rule_pattern *image;   /* in by_image: the one that leads here */
    struct rule_entry *next;
};

#define RULES_PREFIX  4 /* first bytes of a pattern that are looked up */
#define RULES_BUCKETS 1024
#define IMAGE_PREFIX  2
#define IMAGE_BUCKETS 256

struct rules {
    struct arena arena;
    struct rule *rules;
    size_t count;
    uint32_t position_cap;
    struct rule_entry
        *buckets[RULES_BUCKETS]; /* patterns that begin with RULES_PREFIX plain bytes, or `?[` */
    struct rule_entry *by_image[IMAGE_BUCKETS]; /* rules of images without function patterns */
    struct rule_entry *loose;                   /* the other ones, and rules without a pattern */
    struct rule_entry *platform;                /* rules of images alone; no frame asks them */
    char version[SHA256_TEXT_SIZE];
};

size_t rules_bucket(const char *first_bytes);
size_t rules_image_bucket(const char *first_bytes);
/* Adds those of a text; a pattern has none beside `*` and `?`. */
void rules_add_pairs(struct rule_pairs *pairs, const char *text, bool pattern);

#endif
