/*
 * rules_match - which rules meet a frame.
 *
 * Purpose: the reading side of rules.h for cluster_key and category: all kinds of action of one
 * frame in one call, found through a table of the patterns' first bytes, so that some thousand
 * patterns cost a few comparisons a frame.
 *
 * Invariants: pure. For each kind of action the first line of the file that matches is the answer.
 *
 * Threads: any. Memory: answers borrow from the rules.
 */
#ifndef STALLSYM_ANALYSIS_RULES_MATCH_H
#define STALLSYM_ANALYSIS_RULES_MATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "server/analysis/rules.h"

enum rule_kind {
    RULE_FATE,  /* drop, keep */
    RULE_CLASS, /* app, system, vendor */
    RULE_PLATFORM,
    RULE_BOUNDARY,
    RULE_PLUMBING,
    RULE_GROUP,
    RULE_SYSTEM_GROUP,
    RULE_CATEGORY,
    RULE_OWNER,
    RULE_DEPTH,
    RULE_KINDS,
};

enum rule_value {
    VALUE_NO,
    VALUE_YES, /* keep, boundary, plumbing, platform */
    VALUE_DROP,
    VALUE_APP,
    VALUE_SYSTEM,
    VALUE_VENDOR,
    VALUE_TEXT, /* group, system_group, category, owner: the text; depth: the number */
};

struct rule_action {
    enum rule_value value;
    const char *text; /* drop's reason, the name of group, category or owner; NULL */
    uint32_t number;  /* depth */
};

struct rule_match {
    const struct rule_action *action; /* NULL: no line matches */
    uint32_t line;                    /* of the file, from 1 */
    uint32_t order;                   /* of the rule in the file */
    const char *label;                /* "drop wait" */
    const char *pattern;              /* function pattern that matched, NULL */
    const char *why;                  /* both: "drop wait: mach_msg*" */
};

/* A frame as the rules see it. Strings may be NULL. */
struct rule_subject {
    const char *image;
    const char *key;   /* normalised function name; "" or NULL: no identity */
    const char *shown; /* function name as it is */
    const char *file;
    const char *module; /* Swift module that the function was written in, where known */
    uint32_t position;  /* 0: innermost */
    bool in_app;        /* class so far, for `on=` */
    bool vendor;
    bool named;
};

/* Returns whether a rule that asks for the position was asked; else every position gives the same. */
bool rules_match(const struct rules *r, const struct rule_subject *subject,
                 struct rule_match ret[RULE_KINDS]);

/* Positions from here on are alike to every rule. */
uint32_t rules_position_cap(const struct rules *r);

/* `*` any run, `?` one byte, everything else itself. */
bool rules_glob(const char *pattern, const char *text);

#endif
