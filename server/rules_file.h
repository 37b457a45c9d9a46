/*
 * rules_file - cluster rules from where [clusters] rules says.
 *
 * Purpose: the one reader of rule files, so that check-config refuses what `run` would refuse.
 *
 * Invariants: an error names the file, and the line where there is one.
 *
 * Threads: any. Memory: the caller frees with rules_free().
 */
#ifndef STALLSYM_SERVER_RULES_FILE_H
#define STALLSYM_SERVER_RULES_FILE_H

#include "base/error.h"
#include "server/analysis/rules.h"

/* NULL and "" are the built-in rules. */
enum err rules_file_read(const char *path, struct rules **ret, struct error *err);

#endif
