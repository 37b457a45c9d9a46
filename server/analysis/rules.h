/*
 * rules - conf/cluster.rules, read.
 *
 * Purpose: ordered lines that say what a frame is to a cluster key: drop, keep, app, system,
 * vendor, platform, boundary, plumbing, group=NAME, category=NAME, owner=NAME, depth=K; matched on image,
 * function, file and position. The language is described at the head of conf/cluster.rules.
 *
 * Invariants: the first matching line of each kind of action wins; a rule set is immutable once
 * read, and has a version: the SHA-256 of its text and of the key form's number. The built-in
 * default is the very text of conf/cluster.rules, embedded by the build.
 *
 * Threads: read-only, shared. Memory: rules_new/rules_free.
 */
#ifndef STALLSYM_ANALYSIS_RULES_H
#define STALLSYM_ANALYSIS_RULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/hash.h"

#define RULES_TEXT_MAX     (1024 * 1024)
#define RULES_LINES_MAX    10000 /* rules, and lines of them */
#define RULES_PATTERNS_MAX 100000
#define RULES_PATTERN_MAX  512 /* bytes */
#define RULES_DEPTH_MAX    16

struct rules;

/* Reads a rule text. ERR_INVALID names the line: "line 7: unknown action `drp`". */
enum err rules_new(const char *text, size_t len, struct rules **ret, struct error *err);
/* The embedded default. */
enum err rules_new_default(struct rules **ret, struct error *err);
void rules_free(struct rules *r);

/* Hex SHA-256 of text and key form. */
const char *rules_version(const struct rules *r);

/* Whether an image is the operating system's by its name alone (`platform` rules): for images whose
 * path is not known. The caller that fills resolved_frame.in_app asks this for
 * IMAGE_CLASS_UNKNOWN. */
bool rules_is_platform(const struct rules *r, const char *image_name);

#endif
